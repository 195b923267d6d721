"""``blankets select``: features of a file in order of an information criterion."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from blankets.cli import _arguments as common
from blankets.cli._output import ask, show


@click.command()
@click.argument("file", type=common.Source(exists=True))
@common.target_option
@click.option("-c", "--criterion", metavar="NAME", help="mim, jmi (default), cmi, mrmr, mifs, cife, cmim, disr, ...")
@click.option("-k", "--number", "k", type=int, metavar="N", help="How many features; default: 10.")
@common.label_options
@click.option("--beta", type=float, metavar="W", help="Weight of redundancy, for mifs and linear.")
@click.option("--gamma", type=float, metavar="W", help="Weight of redundancy given the class, for linear.")
@common.reading_options
@common.engine_options
@common.jobs_option
@common.json_options
def select(*, file: str, target: str, as_json: bool, save: Path | None, quiet: bool, **choices: Any) -> None:
    """Select the features of FILE with the most information about a column.

    FILE is CSV or Parquet; also a folder or 'a*.pattern' of these, or a store.

    \b
    Examples:
      blankets select patients.csv --target readmitted
      blankets select patients.csv -t readmitted --criterion mrmr -k 20
      blankets select patients.csv -t smoker --labels pu --prior 0.2
      blankets select visits.packed -t readmitted --engine dask
      blankets select patients.csv -t readmitted --json | jq .names
    """
    show(ask("select", file, target, choices, quiet=quiet, save=save), as_json=as_json)
