"""``blankets audit``: what is unusual about a file, before any other question."""

from __future__ import annotations

from typing import Any

import click

from blankets.cli._arguments import jobs_option, json_option, quiet_option, reading_options
from blankets.cli._output import ask, show, show_next


@click.command()
@click.argument("file", type=click.Path(exists=True))
@click.option("-t", "--target", metavar="NAME", help="The target: the column whose blanket you want.")
@click.option("--labels", metavar="REGIME", help="Why labels are missing: auto (default), pu, mcar, mar-f, mar-c.")
@reading_options
@jobs_option
@json_option
@quiet_option
def audit(*, file: str, target: str | None, as_json: bool, quiet: bool, **choices: Any) -> None:
    """Say what is unusual about FILE (CSV or Parquet): leaks, near-duplicates, identifiers, shifted columns, ...

    \b
    Examples:
      blankets audit patients.csv --target readmitted
      blankets audit patients.csv -t smoker --labels pu
      blankets audit patients.csv -t readmitted --json | jq '.findings[] | {kind, columns}'
    """
    found = ask("audit", file, target, choices, quiet=quiet)
    show(found, as_json=as_json)
    if target is not None and not as_json:
        show_next(found.findings, "discover")
