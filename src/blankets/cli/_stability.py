"""``blankets stability``: how often each column is in the blanket when the rows are drawn again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from blankets.cli import _arguments as common
from blankets.cli._output import ask, show


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@common.target_option
@click.option("-n", "--draws", "n_resamples", type=int, metavar="N", help="Number of draws; default: 100.")
@click.option("--method", metavar="NAME", help="How rows are drawn: subsample (default), pairs or bootstrap.")
@click.option("--fraction", type=float, metavar="F", help="Share of the rows in a subsample; default: 0.5.")
@common.search_options
@common.knowledge_option
@common.reading_options
@common.label_options
@click.option("--seed", "rng", type=int, help="Seed of the draws.")
@common.jobs_option
@common.json_options
def stability(*, file: str, target: str, as_json: bool, save: Path | None, quiet: bool, **choices: Any) -> None:
    """Find out how stable the Markov blanket of a column of FILE (CSV or Parquet) is.

    \b
    Examples:
      blankets stability patients.csv --target readmitted --seed 1
      blankets stability patients.csv -t readmitted --method pairs --draws 50 --algorithm iamb
      blankets stability patients.csv -t smoker --labels pu --prior 0.2 --json | jq .stable
    """
    show(ask("stability", file, target, choices, quiet=quiet, save=save), as_json=as_json)
