"""``blankets rank``: features of a file by their information about a column."""

from __future__ import annotations

from typing import Any

import click

from blankets.cli import _arguments as common
from blankets.cli._output import ask, show


@click.command()
@click.argument("file", type=common.Source(exists=True))
@common.target_option
@click.option("--loss", metavar="NAME", help="log (mutual information, default) or squared.")
@common.label_options
@common.reading_options
@common.engine_options
@common.jobs_option
@common.json_option
@common.quiet_option
def rank(*, file: str, target: str, as_json: bool, quiet: bool, **choices: Any) -> None:
    """Rank the features of FILE by their information about a column.

    FILE is CSV or Parquet; also a folder or 'a*.pattern' of these, or a store.
    The features of one group do not differ significantly from the first of the group.

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
    show(ask("rank", file, target, choices, quiet=quiet), as_json=as_json)
