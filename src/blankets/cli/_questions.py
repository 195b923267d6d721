"""Commands that ask one question about a file or a result and print the answer: ``audit``, ``rank``, and others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from blankets.cli import _arguments as common
from blankets.cli._output import ask, check_folder, notes, progress_line, show, show_json, show_next


@click.command()
@click.argument("file", type=click.Path(exists=True))
@click.option("-t", "--target", metavar="NAME", help="The target: the column whose blanket you want.")
@click.option("--labels", metavar="REGIME", help="Why labels are missing: auto (default), pu, mcar, mar-f, mar-c.")
@common.reading_options
@common.jobs_option
@common.json_option
@common.quiet_option
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
        show_next(found.findings)


@click.command()
@click.argument("file", type=common.Source(exists=True))
@common.target_option
@click.option("--loss", metavar="NAME", help="log (mutual information, default) or squared.")
@common.label_options
@common.reading_options
@common.engine_options
@common.jobs_option
@common.json_option
@common.quiet_option
def rank(*, file: str, target: str, as_json: bool, quiet: bool, **choices: Any) -> None:
    """Rank the features of FILE by their information about a column.

    FILE is CSV or Parquet; also a folder or 'a*.pattern' of these, or a store.
    The features of one group do not differ significantly from the first of the group.

    \b
    Examples:
      blankets rank patients.csv --target readmitted
      blankets rank patients.csv -t smoker --labels pu --prior 0.2
      blankets rank patients.csv -t smoker --labels pu --prior estimate
      blankets rank records.csv -t present --labels pu --sampling case-control --prior 0.1-0.3
      blankets rank patients.csv -t smoker --labels pu --surrogate y0
      blankets rank visits/ -t readmitted --engine dask --address tcp://scheduler:8786
      blankets rank patients.csv -t readmitted --json | jq '.names[]'
    """
    show(ask("rank", file, target, choices, quiet=quiet), as_json=as_json)


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


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@common.target_option
@click.option(
    "--at",
    "priors",
    type=float,
    multiple=True,
    metavar="P",
    help="Show power and members at this value; may be repeated.",
)
@common.search_options
@common.knowledge_option
@common.reading_options
@common.label_options
@click.option("--seed", "rng", type=int, help="Seed, for algorithms that draw random numbers.")
@common.jobs_option
@common.json_option
@common.quiet_option
def sensitivity(*, file: str, target: str, as_json: bool, quiet: bool, **choices: Any) -> None:
    """Find the Markov blanket of a partly labeled column of FILE as a function of p(y=1).

    --prior limits the range of p(y=1); without it the range is what the labels allow.

    \b
    Examples:
      blankets sensitivity patients.csv --target smoker --labels mar-c
      blankets sensitivity patients.csv -t smoker --labels mar-c --prior 0.1-0.4
      blankets sensitivity patients.csv -t smoker --labels mar-c --json | jq '.ranges[].members'
    """
    found = ask("sensitivity", file, target, choices, quiet=quiet)
    show(found, as_json=as_json)
    for row in found.table() if choices["priors"] and not as_json else []:
        click.echo(
            f"  At p(y=1) = {row['prior']:g}: each row counts as {row['kappa']:.3g} rows with full labels (κ), "
            f"members {', '.join(row['members']) or '-'}"
        )


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@common.target_option
@click.option("-n", "--draws", "n_resamples", type=int, metavar="N", help="Number of draws; default: 100.")
@click.option("--method", metavar="NAME", help="How rows are drawn: subsample (default), pairs or bootstrap.")
@click.option("--fraction", type=float, metavar="F", help="Share of the rows in a subsample; default: 0.5.")
@common.search_options
@common.knowledge_option
@common.reading_options
@common.label_options
@click.option("--seed", "rng", type=int, help="Seed of the draws.")
@common.jobs_option
@common.json_options
def stability(*, file: str, target: str, as_json: bool, save: Path | None, quiet: bool, **choices: Any) -> None:
    """Find out how stable the Markov blanket of a column of FILE (CSV or Parquet) is.

    \b
    Examples:
      blankets stability patients.csv --target readmitted --seed 1
      blankets stability patients.csv -t readmitted --method pairs --draws 50 --algorithm iamb
      blankets stability patients.csv -t smoker --labels pu --prior 0.2 --json | jq .stable
    """
    show(ask("stability", file, target, choices, quiet=quiet, save=save), as_json=as_json)


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@common.target_option
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
@common.reading_options
@click.option("--seed", "rng", type=int, help="Seed of the random starts.")
@common.jobs_option
@common.json_options
def latent(*, file: str, target: str, as_json: bool, save: Path | None, quiet: bool, **choices: Any) -> None:
    """Look for a latent variable near a column of FILE (CSV or Parquet).

    \b
    Examples:
      blankets latent survey.csv --target "sick leave"
      blankets latent survey.csv -t readmitted --restarts 20 --seed 1 --json
      blankets latent survey.csv -t readmitted --labels mcar --exclude name
    """
    show(ask("discover_latent", file, target, choices, quiet=quiet, save=save), as_json=as_json)


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@common.target_option
@click.option("--alpha", type=float, help="Significance level of the tests; default: 0.01.")
@common.label_options
@common.reading_options
@click.option("--assurance", type=float, metavar="P", help="With an uncertain prior: how sure to be; default: 0.9.")
@click.option("--seed", "rng", type=int, help="Seed for draws from an uncertain prior.")
@common.json_option
@common.quiet_option
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

        advice = blankets.advise(file, target, **common.arguments(file, target, choices))
    show(advice, as_json=as_json)


@click.command()
@click.argument("result", type=click.Path(exists=True, dir_okay=False))
@click.argument("file", type=click.Path(exists=True))
@click.option("-n", "--draws", "n_resamples", type=int, metavar="N", help="Draws for each trial; default: 20.")
@click.option("--prior", metavar="P", help="p(y=1), if the result does not have it.")
@click.option("--positive", metavar="CLASS", help="The positive class, if the result does not have it.")
@click.option("--seed", "rng", type=int, help="Seed of the draws.")
@common.jobs_option
@common.json_options
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
        tried = blankets.refute(
            blanket, file, **common.arguments(file, blanket.target, choices), progress=progress or False
        )
    if save is not None:
        tried.to_json(save, indent=2)
    show(tried, as_json=as_json)


@click.command()
@click.argument("result", type=click.Path(exists=True, dir_okay=False))
@click.argument("columns", nargs=-1, required=True, metavar="COLUMN...")
@common.json_option
def explain(result: str, columns: tuple[str, ...], *, as_json: bool) -> None:
    """Say why a COLUMN is in a blanket or not.

    RESULT is a file written by 'blankets discover --save'.

    \b
    Examples:
      blankets explain result.json age
      blankets explain result.json age postcode --json
    """
    from blankets.results import Blanket

    blanket = Blanket.load(result)
    explanations = [blanket.explain(column) for column in columns]
    if as_json:
        show_json([explanation.to_dict() for explanation in explanations])
        return
    for explanation in explanations:
        click.echo(str(explanation))
