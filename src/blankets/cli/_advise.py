"""``blankets advise``: what can be done with the present labels."""

from __future__ import annotations

from typing import Any

import click

from blankets.cli._arguments import arguments, json_option, label_options, quiet_option, reading_options, target_option
from blankets.cli._output import notes, progress_line, show


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@target_option
@click.option("--alpha", type=float, help="Significance level of the tests; default: 0.01.")
@label_options
@reading_options
@click.option("--assurance", type=float, metavar="P", help="With an uncertain prior: how sure to be; default: 0.9.")
@click.option("--seed", "rng", type=int, help="Seed for draws from an uncertain prior.")
@json_option
@quiet_option
def advise(*, file: str, target: str, as_json: bool, quiet: bool, **choices: Any) -> None:
    """Say which test and estimator fit the labels of FILE, their power, and what more labels would gain.

    \b
    Examples:
      blankets advise patients.csv --target smoker --labels pu
      blankets advise patients.csv -t smoker --labels pu --prior '<0.4'
      blankets advise patients.csv -t smoker --labels pu --prior estimate
      blankets advise patients.csv -t smoker --labels mar-c --prior 0.2 --json | jq .goals
    """
    with notes(quiet=quiet), progress_line("reading the data", quiet=quiet):
        import blankets

        advice = blankets.advise(file, target, **arguments(file, target, choices))
    show(advice, as_json=as_json)
