"""``blankets select``: features of a file in order of an information criterion."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from blankets.cli._labels import (
    Source,
    about_labels,
    engine_options,
    label_options,
    reading_options,
    surrogate_options,
)
from blankets.cli._output import check_folder, notes, write_json
from blankets.progress import told

__all__ = ["select"]


@click.command()
@click.argument("file", type=Source(exists=True))
@click.option("-t", "--target", required=True, metavar="NAME", help="The column that the features are to tell about.")
@click.option("-c", "--criterion", metavar="NAME", help="mim, jmi (default), cmi, mrmr, mifs, cife, cmim, disr, ...")
@click.option("-k", "--number", "k", type=int, metavar="N", help="How many features; default: 10.")
@label_options
@surrogate_options
@click.option("--beta", type=float, metavar="W", help="Weight of redundancy, for mifs and linear.")
@click.option("--gamma", type=float, metavar="W", help="Weight of redundancy given the class, for linear.")
@reading_options
@engine_options
@click.option("--threads", "n_jobs", type=click.IntRange(min=1), metavar="N", help="Number of threads.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON document.")
@click.option("--save", type=click.Path(dir_okay=False, path_type=Path), help="Write the result to this JSON file.")
@click.option("-q", "--quiet", is_flag=True, help="No progress and no notes.")
def select(*, file: str, target: str, as_json: bool, save: Path | None, quiet: bool, **choices: Any) -> None:
    """Select the features of FILE that tell the most about a column.

    FILE is CSV or Parquet; also a folder or 'a*.pattern' of these, or a store.

    \b
    Examples:
      blankets select patients.csv --target readmitted
      blankets select patients.csv -t readmitted --criterion mrmr -k 20
      blankets select patients.csv -t smoker --labels pu --prior 0.2
      blankets select visits.packed -t readmitted --engine dask
      blankets select patients.csv -t readmitted --json | jq .names
    """
    check_folder(save, "--save")
    with notes(quiet=quiet) as said, told("reading the data", quiet=quiet) as progress:
        from blankets.questions.select import select as run

        selection = run(file, target, **about_labels(file, target, choices), progress=progress or False)
        said.discard_all(selection.warnings)
    if save is not None:
        write_json(selection, save)
    click.echo(selection.to_json() if as_json else repr(selection))
