"""``blankets plan``: how many rows or labels, how much power; ``planner``: a page for it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from blankets.cli._arguments import json_option, number_of
from blankets.cli._output import show_json


@click.command()
@click.option("--effect", metavar="NATS|WORD", help="Effect in nats (information), or small, medium, large.")
@click.option("--effect-w", metavar="W", help="The effect as Cohen's w instead.")
@click.option("--correlation", metavar="R", help="For a number: the effect as its correlation with the target.")
@click.option("--difference", metavar="D", help="For a number: the effect as Cohen's d between two classes.")
@click.option("--power", metavar="P", help="Probability of finding the effect.")
@click.option("--alpha", metavar="P", help="Significance level; default: 0.01. Write '--alpha solve' to ask for it.")
@click.option("--arity", metavar="N", help="Levels of the feature; default: 2.")
@click.option("--dof", metavar="N", help="Degrees of freedom of the test instead.")
@click.option("--rows", metavar="N", help="Rows, labeled or not.")
@click.option("--labels", metavar="REGIME", help="supervised (default), pu, mcar, mar-c, noisy or predicted.")
@click.option(
    "--labeled",
    metavar="SHARE|N",
    help="Labels as a share of all rows (0.05) or a number (54); for mar-c positives=0.05 and negatives=0.1.",
    multiple=True,
)
@click.option("--prior", metavar="P", help="p(y=1): a number, '<0.4', 0.1-0.3, or 'Beta(mode=0.2, low=0.1, high=0.4)'.")
@click.option("--sampling", metavar="HOW", help="For pu: one-sample (default) or case-control.")
@click.option("--false-positive", metavar="P", help="For noisy: how often a negative is labeled positive.")
@click.option("--false-negative", metavar="P", help="For noisy: how often a positive is labeled negative.")
@click.option(
    "--accuracy", metavar="P", help="For predicted: how often the machine is right, or its sensitivity,specificity."
)
@click.option("--surrogate", metavar="NAME", help="What is counted in place of the target: y0, y1, ym or listwise.")
@click.option("--target-arity", type=int, metavar="N", help="Levels of the target; default: 2.")
@click.option("--strata", metavar="N", help="Strata: combinations of values that the test conditions on; default: 1.")
@click.option("--design-effect", metavar="D|M,ICC", help="Of groups and weights; or rows in a group, correlation.")
@click.option("--missing", type=float, metavar="SHARE", help="Share of rows without a value that the test needs.")
@click.option("--shape", metavar="HOW", help="For pu: effects in any level (default), or spread over the levels.")
@click.option("--assurance", type=float, metavar="P", help="With an uncertain prior: how sure to be; default: 0.9.")
@click.option("--seed", "rng", type=int, help="Seed for draws from an uncertain prior.")
@json_option
def plan(*, labeled: tuple[str, ...], as_json: bool, **choices: Any) -> None:
    """Solve for what is not given: rows, labels, power, effect, level or number of levels.

    Values separated by commas make a table.

    \b
    Examples:
      blankets plan --effect medium --power 0.95
      blankets plan --effect 0.045 --power 0.95 --alpha 0.01 --labels pu --prior 0.2 --rows 3000
      blankets plan --effect 0.053 --power 0.99 --labels pu --prior 0.2 --labeled 0.05
      blankets plan --correlation 0.2 --power 0.9
      blankets plan --effect small,medium,large --power 0.8,0.9,0.95 --arity 10
      blankets plan --effect medium --power 0.9 --rows 2000 --labels pu --prior 0.1-0.3 --seed 1
      blankets plan --effect small --power 0.9 --rows 5000 --labels predicted --accuracy 0.9 --prior 0.2
    """
    from blankets.planning import plan as plan_one
    from blankets.planning import planning_table

    question = {name: _read(name, value) for name, value in choices.items() if value is not None}
    if labeled:
        question["labeled"] = _labeled(labeled)
    _with_errors(question)
    many = any(isinstance(value, list) for value in question.values())
    answer = planning_table(**question) if many else plan_one(**question)
    if as_json:
        show_json(answer.to_dict())
    else:
        click.echo(repr(answer))


def _with_errors(question: dict[str, Any]) -> None:
    """Put what is known of errors into the regime of labels."""
    how = {name: question.pop(name) for name in ("false_positive", "false_negative", "accuracy") if name in question}
    if how:
        from blankets.regimes import regime_from

        word = question.get("labels") or ("predicted" if "accuracy" in how else "noisy")
        question["labels"] = regime_from(word, prior=question.pop("prior", None), **how)


def _read(name: str, value: Any) -> Any:
    """Return a number or a text, or a list of these if there are commas."""
    if name == "alpha" and value == "solve":
        return None
    if not isinstance(value, str) or name in ("labels", "prior", "sampling", "surrogate"):
        return value
    values = [number_of(text.strip()) for text in value.split(",")]
    if name == "design_effect":
        return tuple(values) if len(values) > 1 else values[0]
    return values if len(values) > 1 else values[0]


def _labeled(parts: tuple[str, ...]) -> Any:
    """Return an amount, a list of amounts, or amounts by class (``positives=0.05``)."""
    if not any("=" in part for part in parts):
        return _read("labeled", ",".join(parts))
    pairs = [pair.partition("=") for part in parts for pair in part.split(",")]
    return {name.strip(): number_of(amount.strip()) for name, _, amount in pairs}


@click.command()
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("planner.html"),
    show_default=True,
    help="The file to write.",
)
@click.option("--open/--no-open", "show", default=None, help="Open it in the browser; default: at a terminal.")
def planner(*, output: Path, show: bool | None) -> None:
    """Write a page with sliders for sample size and labels; it works offline and can be sent by mail.

    \b
    Examples:
      blankets planner
      blankets planner -o study.html --no-open
    """
    from blankets.report import planner as write

    file = write(output)
    click.echo(str(file))
    if sys.stdout.isatty() if show is None else show:
        click.launch(file.absolute().as_uri())
