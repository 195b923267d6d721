"""``blankets sensitivity``: the blanket as a function of p(y=1)."""

from __future__ import annotations

from typing import Any

import click

from blankets.cli._arguments import (
    arguments,
    jobs_option,
    label_options,
    reading_options,
    search_options,
    target_option,
)
from blankets.cli._output import notes
from blankets.progress import told

__all__ = ["sensitivity"]


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@target_option
@click.option("--at", "priors", type=float, multiple=True, metavar="P", help="Show κ at this value; may be repeated.")
@search_options
@reading_options
@label_options
@click.option("--seed", "rng", type=int, help="Seed, for algorithms that draw random numbers.")
@jobs_option
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON document.")
@click.option("-q", "--quiet", is_flag=True, help="No progress and no notes.")
def sensitivity(*, file: str, target: str, as_json: bool, quiet: bool, **choices: Any) -> None:
    """Find the Markov blanket of a partly labeled column of FILE as a function of p(y=1).

    --prior limits the range of p(y=1); without it the range is what the labels allow.

    \b
    Examples:
      blankets sensitivity patients.csv --target smoker --labels mar-c
      blankets sensitivity patients.csv -t smoker --labels mar-c --prior 0.1-0.4
      blankets sensitivity patients.csv -t smoker --labels mar-c --json | jq '.ranges[].members'
    """
    with notes(quiet=quiet), told("reading the data", quiet=quiet) as progress:
        import blankets

        given = arguments(file, target, choices)
        found = blankets.sensitivity(file, target, **given, progress=progress or False)
    if as_json:
        click.echo(found.to_json())
        return
    click.echo(repr(found))
    for row in found.table() if choices["priors"] else []:
        click.echo(
            f"  At p(y=1) = {row['prior']:g}: κ = {row['kappa']:.3g}, members {', '.join(row['members']) or '-'}"
        )
