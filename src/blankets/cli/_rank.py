"""``blankets rank``: features of a file by their information about a column."""

from __future__ import annotations

from typing import Any

import click

from blankets.cli._arguments import (
    Source,
    arguments,
    engine_options,
    jobs_option,
    label_options,
    reading_options,
    target_option,
)
from blankets.cli._output import notes
from blankets.progress import told

__all__ = ["rank"]


@click.command()
@click.argument("file", type=Source(exists=True))
@target_option
@click.option("--loss", metavar="NAME", help="log (mutual information, default) or squared.")
@label_options
@reading_options
@engine_options
@jobs_option
@click.option("--json", "as_json", is_flag=True, help="Print the ranking as one JSON document.")
@click.option("-q", "--quiet", is_flag=True, help="No progress and no notes.")
def rank(*, file: str, target: str, as_json: bool, quiet: bool, **choices: Any) -> None:
    """Rank the features of FILE by their information about a column.

    FILE is CSV or Parquet; also a folder or 'a*.pattern' of these, or a store.
    Features of one group cannot be told apart from the first of the group.

    \b
    Examples:
      blankets rank patients.csv --target readmitted
      blankets rank patients.csv -t smoker --labels pu --prior 0.2
      blankets rank patients.csv -t smoker --labels pu --prior estimate
      blankets rank records.csv -t present --labels pu --sampling case-control --prior 0.1-0.3
      blankets rank patients.csv -t smoker --labels pu --surrogate y0
      blankets rank visits/ -t readmitted --engine dask --address tcp://scheduler:8786
      blankets rank patients.csv -t readmitted --json | jq '.features[].name'
    """
    with notes(quiet=quiet), told("reading the data", quiet=quiet) as progress:
        import blankets

        ranking = blankets.rank(file, target, **arguments(file, target, choices), progress=progress or False)
    if as_json:
        import json

        click.echo(json.dumps(ranking.to_dict(), ensure_ascii=False, allow_nan=False))
    else:
        click.echo(repr(ranking))
