"""``blankets pack``: write files as packed codes on disk."""

from __future__ import annotations

from typing import Any

import click

from blankets.cli._arguments import arguments, jobs_option, quiet_option, reading_options
from blankets.cli._output import notes, progress_line


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True))
@click.option("-o", "--output", required=True, metavar="FOLDER", help="The folder to make.")
@click.option("-t", "--target", metavar="NAME", help="A column whose values are labels, some of which may be missing.")
@reading_options
@jobs_option
@quiet_option
def pack(*, files: tuple[str, ...], output: str, quiet: bool, **choices: Any) -> None:
    """Write FILES (CSV or Parquet, or folders of these) as packed codes, which are faster to read again.

    \b
    Examples:
      blankets pack visits/*.parquet -o visits.packed
      blankets discover visits.packed --target readmitted
    """
    with notes(quiet=quiet), progress_line("reading the data", quiet=quiet) as progress:
        import blankets

        store = blankets.pack(list(files), output, **arguments(output, None, choices), progress=progress or False)
    if not quiet:
        click.echo(f"packed {store.frame.n_rows:,} rows of {store.frame.n_columns} columns into {output}", err=True)
