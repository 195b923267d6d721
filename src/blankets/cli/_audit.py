"""``blankets audit``: what is odd about a file, before anything is asked of it."""

from __future__ import annotations

from typing import Any

import click

from blankets.cli._labels import chosen, reading_options, value_of
from blankets.cli._output import notes
from blankets.progress import told

__all__ = ["audit"]


@click.command()
@click.argument("file", type=click.Path(exists=True))
@click.option("-t", "--target", metavar="NAME", help="The column whose blanket will be wanted.")
@click.option("--labels", metavar="REGIME", help="Missing labels: auto (default), pu, mcar, mar-f, mar-c.")
@click.option("--positive", metavar="CLASS", help="The positive class, where labels are missing.")
@click.option("--unlabeled-marker", metavar="VALUE", help="A value that means unlabeled, beside blanks and -1.")
@reading_options
@click.option("--threads", "n_jobs", type=click.IntRange(min=1), metavar="N", help="Number of threads.")
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
    given = chosen(choices)
    for name in ("positive", "unlabeled_marker"):
        if name in given:
            given[name] = value_of(given[name])
    with notes(quiet=quiet), told("reading the data", quiet=quiet) as progress:
        import blankets

        found = blankets.audit(file, **given, progress=progress or False)
    click.echo(found.to_json() if as_json else repr(found))
