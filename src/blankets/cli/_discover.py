"""``blankets discover``: from a file to a blanket."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from blankets.cli._labels import (
    Source,
    about_labels,
    engine_options,
    label_options,
    reading_options,
    search_options,
    surrogate_options,
    value_of,
)
from blankets.cli._output import check_folder, notes, show_blanket, write_json
from blankets.progress import told

if TYPE_CHECKING:
    from blankets.results import Blanket, Explanation

__all__ = ["discover", "parsed_options"]


def parsed_options(pairs: tuple[str, ...]) -> dict[str, Any]:
    """Return ``("k=2", "symmetric=true")`` as a dict; values are numbers, true, false, none or text.

    >>> parsed_options(("k=2", "level=0.5", "symmetric=true", "max_given=none", "order=as-is"))
    {'k': 2, 'level': 0.5, 'symmetric': True, 'max_given': None, 'order': 'as-is'}
    """
    options = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not (key and equals):
            raise click.BadParameter(f"{pair!r} is not of the form NAME=VALUE", param_hint="'--option'")
        options[key.replace("-", "_")] = value_of(text)
    return options


@click.command()
@click.argument("file", type=Source(exists=True))
@click.option("-t", "--target", required=True, metavar="NAME", help="The column whose blanket is wanted.")
@search_options
@reading_options
@click.option("--roles", is_flag=True, help="Also tell parents, children and spouses apart, where it can be done.")
@label_options
@surrogate_options
@click.option("--option", "pairs", multiple=True, metavar="NAME=VALUE", help="An option of the algorithm, as k=2.")
@engine_options
@click.option("--checkpoint", type=click.Path(dir_okay=False), help="Keep answers in this file, to continue if killed.")
@click.option("--seed", "rng", type=int, help="Seed, for algorithms that draw random numbers.")
@click.option("--threads", "n_jobs", type=click.IntRange(min=1), metavar="N", help="Number of threads.")
@click.option("--explain", "asked", multiple=True, metavar="COLUMN", help="Say why this column is in or out.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON document.")
@click.option("--save", type=click.Path(dir_okay=False, path_type=Path), help="Write the result to this JSON file.")
@click.option("--report", type=click.Path(dir_okay=False, path_type=Path), help="Write a report to this HTML file.")
@click.option("-q", "--quiet", is_flag=True, help="No progress and no notes.")
def discover(
    *,
    file: str,
    target: str,
    pairs: tuple[str, ...],
    asked: tuple[str, ...],
    as_json: bool,
    save: Path | None,
    report: Path | None,
    quiet: bool,
    **choices: Any,
) -> None:
    """Find the Markov blanket of a column of FILE (CSV or Parquet; also a folder or 'a*.pattern' of these, or a store).

    \b
    Examples:
      blankets discover patients.csv --target readmitted
      blankets discover patients.csv --target readmitted --explain age --explain postcode
      blankets discover patients.csv -t readmitted -a fbed --option k=2 --alpha 0.001
      blankets discover patients.csv -t readmitted --missing level --save result.json
      blankets discover patients.csv -t readmitted --roles --report readmitted.html
      blankets discover patients.csv -t readmitted --labels pu --prior 0.2
      blankets discover patients.csv -t readmitted --json | jq .members
      blankets discover visits/ -t readmitted --engine dask --address tcp://scheduler:8786
    """
    check_folder(save, "--save")
    check_folder(report, "--report")
    options = parsed_options(pairs)
    with notes(quiet=quiet) as said, told("reading the data", quiet=quiet) as progress:
        import blankets

        arguments = about_labels(file, target, choices)
        blanket = blankets.discover(file, target=target, **arguments, **options, progress=progress or False)
        said.discard_all(blanket.warnings)
        details = {} if report is None else _over_priors(blanket, file, {"target": target, **arguments, **options})
    explanations = [blanket.explain(column) for column in asked]
    if save is not None:
        write_json(blanket, save)
    if report is not None:
        blanket.report(report, source=file, **details)
    _print(blanket, explanations, as_json=as_json)


def _over_priors(blanket: Blanket, file: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return, for a report on data whose labels depend on the class, the blanket under other priors."""
    chosen_otherwise = {"surrogate", "force", "engine", "address", "checkpoint", "memory_limit"} & arguments.keys()
    if blanket.settings.get("labels") not in ("pu", "mar-c") or chosen_otherwise:
        return {}
    from blankets import sensitivity

    anything = {name: value for name, value in arguments.items() if name != "prior"}
    return {"sensitivity": sensitivity(file, **anything).runs}


def _print(blanket: Blanket, explanations: list[Explanation], *, as_json: bool) -> None:
    if as_json:
        import json

        content = blanket.to_dict()
        if explanations:
            content["explanations"] = [explanation.to_dict() for explanation in explanations]
        click.echo(json.dumps(content, ensure_ascii=False, allow_nan=False))
        return
    show_blanket(blanket)
    for explanation in explanations:
        click.echo(f"\n{explanation}")
