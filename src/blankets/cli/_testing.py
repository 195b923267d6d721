"""``blankets test``: does a column depend on the target?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from blankets.cli import _arguments as common
from blankets.cli._output import notes, progress_line, show_json, show_table

if TYPE_CHECKING:
    from blankets.results import TestResult


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.argument("tested", nargs=-1, required=True, metavar="COLUMN...")
@common.target_option
@click.option("-g", "--given", multiple=True, metavar="COLUMN", help="Condition on this column; may be repeated.")
@common.test_options
@common.knowledge_option
@common.label_options
@common.reading_options
@common.json_option
@common.quiet_option
def test(
    *,
    file: str,
    tested: tuple[str, ...],
    target: str,
    given: tuple[str, ...],
    as_json: bool,
    quiet: bool,
    **choices: Any,
) -> None:
    """Test whether each COLUMN of FILE (CSV or Parquet) depends on the target, given others.

    \b
    Examples:
      blankets test patients.csv bmi --target smoker
      blankets test patients.csv bmi cough --target smoker --given age
      blankets test patients.csv bmi -t smoker --labels pu --prior 0.2
      blankets test patients.csv bmi -t smoker --labels mar-c --prior '<0.4' --json | jq '.[0].p'
    """
    with notes(quiet=quiet), progress_line("reading the data", quiet=quiet):
        import blankets
        from blankets.data import read_table

        how = common.arguments(file, target, choices)
        table = read_table(file, **{name: how[name] for name in common.OF_FILES if name in how})
        results = [blankets.test(table, column, target, given, **how) for column in tested]
    if as_json:
        show_json([result.to_dict() for result in results])
        return
    _show(results)


def _show(results: list[TestResult]) -> None:
    """Print a table of all tests, and below it the notes of each."""
    from blankets.results import digits, format_p, shown, symbol_of

    first = results[0]
    symbols = {symbol_of(result.test, result.method) for result in results}
    symbol = symbols.pop() if len(symbols) == 1 else "statistic"
    heads = ["column", symbol, "dof", "p", f"dependent at {first.alpha:g}", "information", "90% interval"]
    rows = []
    for result in results:
        verdict = ("yes" if result.dependent() else "no") if result.reliable else "not tested"
        verdict = "nothing to compare" if result.is_empty() else verdict
        known = result.estimate
        strength = ["?", "?"]
        if known is not None:
            strength = [digits(known.corrected), " to ".join(digits(end) for end in known.interval())]
        p = format_p(result.log_p) if result.reliable else "-"
        rows.append([shown(result.x), digits(result.statistic), f"{result.dof:g}", p, verdict, *strength])
    show_table([*heads, "power (medium)"], [[*row, _power(r)] for row, r in zip(rows, results, strict=True)])
    for result in results:
        click.echo(f"\n{result!r}")


def _power(result: TestResult) -> str:
    from blankets.results import power_words

    return power_words(result, "medium") if "medium" in result.powers else "?"
