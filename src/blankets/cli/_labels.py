"""Options that commands about a target share, and how they become arguments."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from glob import has_magic
from typing import Any, TypeVar

import click

from blankets.errors import RegimeWarning

__all__ = [
    "about_labels",
    "Source",
    "chosen",
    "engine_options",
    "label_options",
    "reading_options",
    "search_options",
    "surrogate_options",
    "value_of",
]

Command = TypeVar("Command", bound=Callable[..., Any])

_WORDS = {"true": True, "false": False, "none": None}

_LABELS = (
    click.option("--labels", metavar="REGIME", help="Missing labels: auto (default), pu, mcar, mar-f, mar-c."),
    click.option(
        "--prior",
        metavar="P",
        help="p(y=1): a number, '<0.4', a range 0.1-0.3, 'Beta(mode=0.2, low=0.1, high=0.4)', or 'estimate' "
        "(also estimate:tice, estimate:elkan-noto).",
    ),
    click.option(
        "--sampling",
        type=click.Choice(["one-sample", "case-control"]),
        help="For pu: labels in one sample (default), or positives collected apart.",
    ),
    click.option("--positive", metavar="CLASS", help="The positive class, where labels are missing."),
    click.option("--unlabeled-marker", metavar="VALUE", help="A value that means unlabeled, beside blanks and -1."),
)
_SURROGATE = (
    click.option(
        "--surrogate", metavar="NAME", help="What stands in for the target: listwise, ym, y0, y1; pairwise to compare."
    ),
    click.option("--force", is_flag=True, default=None, help="Use a surrogate that is not valid; the result says so."),
)
_READING = (
    click.option("--discretize", metavar="RULE", help="How continuous columns are cut into levels; default: sturges."),
    click.option("--bins", type=int, metavar="N", help="Number of levels for continuous columns."),
    click.option("--missing", metavar="POLICY", help="Missing feature values: error (default), level or drop."),
    click.option("--keep", multiple=True, metavar="COLUMN", help="Use this column even if it looks like an id."),
    click.option("--exclude", multiple=True, metavar="COLUMN", help="Do not use this column."),
)
_SEARCH = (
    click.option(
        "-a", "--algorithm", metavar="NAME", help="Which algorithm (see 'blankets algorithms'); default: auto."
    ),
    click.option("--alpha", type=float, help="Significance level of the tests; default: 0.01."),
    click.option("--test", metavar="NAME", help="Test of independence: auto (default, calibrated), g, x2 or fisher-z."),
    click.option("--dof", metavar="RULE", help="Degrees of freedom of g and x2: adjusted (to empty cells) or nominal."),
    click.option("--reliability", type=float, metavar="H", help="Rows wanted for each degree of freedom; default: 5."),
    click.option("--strength", metavar="MEASURE", help="How candidates are compared: p-value or information."),
    click.option(
        "--given-drivers/--no-given-drivers",
        default=None,
        help="For mar-f: condition on what drives labeling (default), or do not.",
    ),
)
_ENGINE = (
    click.option("--engine", metavar="NAME", help="Where rows are counted: auto, memory or dask (a cluster)."),
    click.option("--address", metavar="URL", help="The scheduler of the Dask cluster; default: a new one here."),
    click.option(
        "--memory-limit", metavar="SIZE", help="Memory for reading, as '2 GB'; larger files go through the disk."
    ),
)
_READ = ("discretize", "bins", "missing", "keep", "exclude")


class Source(click.Path):
    """A path that exists, or a pattern of paths in quotes."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Check that the path exists, unless it is a pattern."""
        return value if has_magic(str(value)) else super().convert(value, param, ctx)


def _with(options: tuple[Callable[[Command], Command], ...], command: Command) -> Command:
    for option in reversed(options):  # the last decorator is the first in the help
        command = option(command)
    return command


def label_options(command: Command) -> Command:
    """Add what can be known of missing labels."""
    return _with(_LABELS, command)


def surrogate_options(command: Command) -> Command:
    """Add the choice of what stands in for the target."""
    return _with(_SURROGATE, command)


def reading_options(command: Command) -> Command:
    """Add how the table is read."""
    return _with(_READING, command)


def engine_options(command: Command) -> Command:
    """Add where rows are counted."""
    return _with(_ENGINE, command)


def search_options(command: Command) -> Command:
    """Add how blankets are searched."""
    return _with(_SEARCH, command)


def value_of(text: str) -> Any:
    """Return what a text on the command line means: a number, true, false, none, or itself.

    >>> [value_of(text) for text in ("2", "0.5", "true", "none", "yes")]
    [2, 0.5, True, None, 'yes']
    """
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def chosen(choices: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the user chose; the rest is left to the library, where the defaults live."""
    return {name: value for name, value in choices.items() if value is not None and value != ()}


def about_labels(file: str, target: str, choices: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a library function, from the options above and any others.

    Classes become numbers where they look like numbers; ``--sampling`` makes a regime; ``--prior estimate``
    is estimated from the file.
    """
    given = chosen(choices)
    for name in ("positive", "unlabeled_marker"):
        if name in given:
            given[name] = value_of(given[name])
    sampling = given.pop("sampling", None)
    if str(given.get("prior", "")).partition(":")[0] == "estimate":
        given["prior"] = _estimated(file, target, given, sampling)
    if sampling is not None:
        from blankets.regimes import regime_from

        given["labels"] = regime_from(given.get("labels", "pu"), prior=given.pop("prior", None), sampling=sampling)
    return given


def _estimated(file: str, target: str, given: Mapping[str, Any], sampling: Any) -> Any:
    from blankets import estimate_prior

    method = given["prior"].partition(":")[2] or "roc"
    wanted = {name: given[name] for name in (*_READ, "positive", "unlabeled_marker") if name in given}
    # The same file gives the same prior.
    prior = estimate_prior(file, target, method=method, sampling=sampling or "one-sample", rng=0, **wanted)
    warnings.warn(f"p(y=1) is {prior}", RegimeWarning, stacklevel=2)  # the command makes it a note
    return prior
