"""``blankets audit``: what is odd about a file, before anything is asked of it."""

from __future__ import annotations

from typing import Any

import click

from blankets.cli._arguments import arguments, jobs_option, reading_options
from blankets.cli._output import notes
from blankets.progress import told

__all__ = ["audit"]


@click.command()
@click.argument("file", type=click.Path(exists=True))
@click.option("-t", "--target", metavar="NAME", help="The target: the column whose blanket you want.")
@click.option("--labels", metavar="REGIME", help="Why labels are missing: auto (default), pu, mcar, mar-f, mar-c.")
@reading_options
@jobs_option
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON document.")
@click.option("-q", "--quiet", is_flag=True, help="No progress and no notes.")
def audit(*, file: str, as_json: bool, quiet: bool, **choices: Any) -> None:
    """Say what is odd about FILE (CSV or Parquet): leaks, near-duplicates, identifiers, shifted columns, ...

    \b
    Examples:
      blankets audit patients.csv --target readmitted
      blankets audit patients.csv -t smoker --labels pu
      blankets audit patients.csv -t readmitted --json | jq '.findings[] | {kind, columns}'
    """
    with notes(quiet=quiet), told("reading the data", quiet=quiet) as progress:
        import blankets

        found = blankets.audit(file, **arguments(file, choices["target"], choices), progress=progress or False)
    click.echo(found.to_json() if as_json else repr(found))
