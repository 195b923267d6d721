"""``blankets refute``: try to refute a saved blanket."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from blankets.cli._arguments import arguments, jobs_option, json_options
from blankets.cli._output import check_folder, notes, progress_line, show


@click.command()
@click.argument("result", type=click.Path(exists=True, dir_okay=False))
@click.argument("file", type=click.Path(exists=True))
@click.option("-n", "--draws", "n_resamples", type=int, metavar="N", help="Draws for each trial; default: 20.")
@click.option("--prior", metavar="P", help="p(y=1), if the result does not have it.")
@click.option("--positive", metavar="CLASS", help="The positive class, if the result does not have it.")
@click.option("--seed", "rng", type=int, help="Seed of the draws.")
@jobs_option
@json_options
def refute(*, result: str, file: str, as_json: bool, save: Path | None, quiet: bool, **choices: Any) -> None:
    """Try to refute a blanket: search again in data where it must be found, and in data where it must not.

    RESULT is a file written by 'blankets discover --save', FILE the table it came from. The search is repeated with
    the target shuffled, with columns of noise, on subsets of the rows and, if labels are missing, with other values
    of p(y=1) and with fewer labels.

    \b
    Examples:
      blankets refute result.json patients.csv --seed 1
      blankets refute result.json patients.csv --draws 100 --json | jq .stands
    """
    check_folder(save, "--save")
    with notes(quiet=quiet), progress_line("reading the data", quiet=quiet) as progress:
        import blankets

        blanket = blankets.Blanket.load(result)
        tried = blankets.refute(blanket, file, **arguments(file, blanket.target, choices), progress=progress or False)
    if save is not None:
        tried.to_json(save, indent=2)
    show(tried, as_json=as_json)
