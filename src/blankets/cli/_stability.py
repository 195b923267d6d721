"""``blankets stability``: how often each column is in the blanket when the rows are drawn again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from blankets.cli._arguments import (
    arguments,
    jobs_option,
    json_options,
    label_options,
    reading_options,
    search_options,
    target_option,
)
from blankets.cli._output import check_folder, notes, write_json
from blankets.errors import Interrupted
from blankets.progress import told

__all__ = ["stability"]


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@target_option
@click.option("-n", "--draws", "n_resamples", type=int, metavar="N", help="Number of draws; default: 100.")
@click.option("--method", metavar="NAME", help="How rows are drawn: subsample (default), pairs or bootstrap.")
@click.option("--fraction", type=float, metavar="F", help="Share of the rows in a subsample; default: 0.5.")
@search_options
@reading_options
@label_options
@click.option("--seed", "rng", type=int, help="Seed of the draws.")
@jobs_option
@json_options
def stability(*, file: str, target: str, as_json: bool, save: Path | None, quiet: bool, **choices: Any) -> None:
    """Find out how stable the Markov blanket of a column of FILE (CSV or Parquet) is.

    \b
    Examples:
      blankets stability patients.csv --target readmitted --seed 1
      blankets stability patients.csv -t readmitted --method pairs --draws 50 --algorithm iamb
      blankets stability patients.csv -t smoker --labels pu --prior 0.2 --json | jq .stable
    """
    check_folder(save, "--save")
    with notes(quiet=quiet) as said, told("reading the data", quiet=quiet) as progress:
        import blankets

        given = arguments(file, target, choices)
        try:
            found = blankets.stability(file, target, **given, progress=progress or False)
        except Interrupted as stopped:
            click.echo("" if stopped.found is None else repr(stopped.found))
            raise
        said.discard_all(found.warnings)
    if save is not None:
        write_json(found, save)
    click.echo(found.to_json() if as_json else repr(found))
