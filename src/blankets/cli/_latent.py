"""``blankets latent``: a hidden variable in the blanket of a column."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from blankets.cli._arguments import jobs_option, json_options, reading_options, target_option
from blankets.cli._output import ask, show


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@target_option
@click.option("--method", metavar="NAME", help="lmb-csem (default), sem or scsem.")
@click.option("-a", "--algorithm", metavar="NAME", help="Finds the observed blanket; default: iamb at level 0.05.")
@click.option("--score", metavar="NAME", help="How to choose between places: mi (default), bic, error or cll.")
@click.option("--arity", type=click.IntRange(min=2), metavar="N", help="Levels of a latent; default: 2.")
@click.option(
    "--restarts",
    "n_restarts",
    type=click.IntRange(min=1),
    metavar="N",
    help="Random starts for each place of a latent.",
)
@click.option("--max-latents", type=click.IntRange(min=1), metavar="N", help="At most this many latents.")
@click.option("--labels", metavar="REGIME", help="Why labels are missing, if some are: mcar or mar-f.")
@reading_options
@click.option("--seed", "rng", type=int, help="Seed of the random starts.")
@jobs_option
@json_options
def latent(*, file: str, target: str, as_json: bool, save: Path | None, quiet: bool, **choices: Any) -> None:
    """Look for a latent variable near a column of FILE (CSV or Parquet).

    \b
    Examples:
      blankets latent survey.csv --target "sick leave"
      blankets latent survey.csv -t readmitted --restarts 20 --seed 1 --json
      blankets latent survey.csv -t readmitted --labels mcar --exclude name
    """
    show(ask("discover_latent", file, target, choices, quiet=quiet, save=save), as_json=as_json)
