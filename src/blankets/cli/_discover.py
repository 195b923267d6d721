"""``blankets discover``: find the blanket of a column of a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from blankets.cli import _arguments as common
from blankets.cli._output import check_folder, notes, progress_line, show_blanket, show_json, show_next

if TYPE_CHECKING:
    from blankets.results import Blanket, Explanation

    Runs = tuple[tuple[float, tuple[str, ...]], ...]


@click.command()
@click.argument("file", type=common.Source(exists=True))
@common.target_option
@common.search_options
@common.knowledge_option
@common.reading_options
@click.option("--roles", is_flag=True, help="Also find parents, children and spouses, where the data show them.")
@click.option("--close/--no-close", default=None, help="Check the answer against the definition, and repair it.")
@click.option("--audit/--no-audit", default=None, help="Look the answer over for leaks, identifiers, lost rows.")
@common.label_options
@common.engine_options
@click.option("--seed", "rng", type=int, help="Seed, for algorithms that draw random numbers.")
@common.jobs_option
@click.option("-v", "--verbose", is_flag=True, help="Explain the table: what it says, how it was found.")
@click.option("--explain", "asked", multiple=True, metavar="COLUMN", help="Say why this column is in or out.")
@click.option("--report", type=click.Path(dir_okay=False, path_type=Path), help="Write a report to this HTML file.")
@common.json_options
def discover(
    *,
    file: str,
    target: str,
    asked: tuple[str, ...],
    verbose: bool,
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
      blankets discover patients.csv -t readmitted --knowledge known.toml
      blankets discover patients.csv -t readmitted --labels pu --prior 0.2
      blankets discover patients.csv -t readmitted --json | jq .members
      blankets discover visits/ -t readmitted --engine dask --address tcp://scheduler:8786
    """
    check_folder(save, "--save")
    check_folder(report, "--report")
    with notes(quiet=quiet) as elsewhere, progress_line("reading the data", quiet=quiet) as progress:
        import blankets

        given = common.arguments(file, target, choices)
        blanket = blankets.discover(file, target=target, **given, progress=progress or False)
        elsewhere.update(blanket.warnings)
        runs = None if report is None else _over_priors(blanket, file, target, given)
    explanations = [blanket.explain(column) for column in (*([None] * verbose), *asked)]
    if save is not None:
        blanket.to_json(save, indent=2)
    if report is not None:
        blanket.report(report, source=file, sensitivity=runs)
    _print(blanket, explanations, as_json=as_json)


def _over_priors(blanket: Blanket, file: str, target: str, given: Mapping[str, Any]) -> Runs | None:
    """Return the blanket under other priors, for a report on data whose labels depend on the class."""
    from blankets.regimes import Regime

    decided = isinstance(given.get("labels"), Regime) and given["labels"].surrogate is not None
    if blanket.settings.get("labels") not in ("pu", "mar-c") or decided or "engine" in given:
        return None
    from blankets import sensitivity

    anything = {name: value for name, value in given.items() if name not in ("prior", "roles")}
    return sensitivity(file, target, **anything).runs


def _print(blanket: Blanket, explanations: list[Explanation], *, as_json: bool) -> None:
    if as_json:
        content = blanket.to_dict()
        if explanations:
            content["explanations"] = [explanation.to_dict() for explanation in explanations]
        show_json(content)
        return
    show_blanket(blanket)
    for explanation in explanations:
        click.echo(f"\n{explanation}")
    show_next(blanket.checks)
