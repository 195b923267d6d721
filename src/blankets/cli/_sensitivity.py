"""``blankets sensitivity``: the blanket as a function of p(y=1)."""

from __future__ import annotations

from typing import Any

import click

from blankets.cli import _arguments as common
from blankets.cli._output import ask, show


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@common.target_option
@click.option("--at", "priors", type=float, multiple=True, metavar="P", help="Show κ at this value; may be repeated.")
@common.search_options
@common.knowledge_option
@common.reading_options
@common.label_options
@click.option("--seed", "rng", type=int, help="Seed, for algorithms that draw random numbers.")
@common.jobs_option
@common.json_option
@common.quiet_option
def sensitivity(*, file: str, target: str, as_json: bool, quiet: bool, **choices: Any) -> None:
    """Find the Markov blanket of a partly labeled column of FILE as a function of p(y=1).

    --prior limits the range of p(y=1); without it the range is what the labels allow.

    \b
    Examples:
      blankets sensitivity patients.csv --target smoker --labels mar-c
      blankets sensitivity patients.csv -t smoker --labels mar-c --prior 0.1-0.4
      blankets sensitivity patients.csv -t smoker --labels mar-c --json | jq '.ranges[].members'
    """
    found = ask("sensitivity", file, target, choices, quiet=quiet)
    show(found, as_json=as_json)
    for row in found.table() if choices["priors"] and not as_json else []:
        click.echo(
            f"  At p(y=1) = {row['prior']:g}: κ = {row['kappa']:.3g}, members {', '.join(row['members']) or '-'}"
        )
