"""``blankets stability``: how often each column is in the blanket when the rows are drawn again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from blankets.cli._discover import parsed_options
from blankets.cli._labels import about_labels, label_options, reading_options, search_options, surrogate_options
from blankets.cli._output import check_folder, notes, write_json
from blankets.errors import Interrupted
from blankets.progress import told

__all__ = ["stability"]


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option("-t", "--target", required=True, metavar="NAME", help="The column whose blanket is wanted.")
@click.option("-n", "--draws", "n_draws", type=int, metavar="N", help="Number of draws; default: 100.")
@click.option("--method", metavar="NAME", help="How rows are drawn: subsample (default), pairs or bootstrap.")
@click.option("--fraction", type=float, metavar="F", help="Share of the rows in a subsample; default: 0.5.")
@search_options
@reading_options
@label_options
@surrogate_options
@click.option("--option", "pairs", multiple=True, metavar="NAME=VALUE", help="An option of the algorithm, as k=2.")
@click.option("--seed", "rng", type=int, help="Seed of the draws.")
@click.option("--threads", "n_jobs", type=click.IntRange(min=1), metavar="N", help="Number of threads.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON document.")
@click.option("--save", type=click.Path(dir_okay=False, path_type=Path), help="Write the result to this JSON file.")
@click.option("-q", "--quiet", is_flag=True, help="No progress and no notes.")
def stability(
    *,
    file: str,
    target: str,
    pairs: tuple[str, ...],
    as_json: bool,
    save: Path | None,
    quiet: bool,
    **choices: Any,
) -> None:
    """Find out how stable the Markov blanket of a column of FILE (CSV or Parquet) is.

    \b
    Examples:
      blankets stability patients.csv --target readmitted --seed 1
      blankets stability patients.csv -t readmitted --method pairs --draws 50 --algorithm iamb
      blankets stability patients.csv -t smoker --labels pu --prior 0.2 --json | jq .stable
    """
    check_folder(save, "--save")
    options = parsed_options(pairs)
    with notes(quiet=quiet) as said, told("reading the data", quiet=quiet) as progress:
        import blankets

        arguments = about_labels(file, target, choices)
        try:
            found = blankets.stability(file, target, **arguments, **options, progress=progress or False)
        except Interrupted as stopped:
            click.echo("" if stopped.found is None else repr(stopped.found))
            raise
        said.discard_all(found.warnings)
    if save is not None:
        write_json(found, save)
    click.echo(found.to_json() if as_json else repr(found))
