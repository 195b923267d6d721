"""Format for reading: p-values (also tiny ones), sizes of effects, lists of names."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any

from blankets.errors import MissingPackageError
from blankets.independence import NUMBER_METHODS, SCORED_METHODS

NATS = (
    "Information, in nats: how much the column tells about the target. 0 is nothing, 0.005 small, 0.045 medium, 0.125 "
    "large (Cohen)."
)
"""What information is, for readers who know p-values and odds ratios."""

SYMBOLS = {"auto": "G", "g": "G", "x2": "X²", "fisher-z": "z²"}
"""How the statistic of a test is written."""


def cut_sentence(binned: Mapping[str, Mapping[str, object]]) -> str:
    """Say which columns were cut into levels, and by which rule.

    >>> cut_sentence({"age": {"rule": "sturges", "cuts": [40.0]}})
    'Continuous, cut into levels by the rule sturges: age.'
    """
    rules = tuple(dict.fromkeys(str(how.get("rule")) for how in binned.values()))
    rule = f"the rule {rules[0]}" if len(rules) == 1 else f"the rules {joined(rules)}"
    return f"Continuous, cut into levels by {rule}: {joined(tuple(binned))}."


def symbol_of(test: str, method: str = "") -> str:
    """Return how the statistic of a test is written, by the test's word and how its p-value was found.

    >>> symbol_of("auto"), symbol_of("auto", "products of residuals")
    ('G', 'χ²')
    """
    if method and method in SCORED_METHODS:
        return "T"
    return "χ²" if method and method in NUMBER_METHODS else SYMBOLS.get(test, "statistic")


_COHEN = ((0.1, "very small"), (0.3, "small"), (0.5, "medium"))


def w_of(effect: float) -> str:
    """Return an effect in nats as Cohen's w = sqrt(2 effect).

    >>> [w_of(effect) for effect in (0.005, 0.045, math.nan)]
    ['0.1', '0.3', '?']
    """
    return digits(math.sqrt(2 * max(effect, 0.0)))


def size_of(effect: float) -> str:
    """Return Cohen's word for an effect in nats, by w = sqrt(2 effect): 0.1 small, 0.3 medium, 0.5 large.

    >>> [size_of(effect) for effect in (0.001, 0.01, 0.05, 0.2)]
    ['very small', 'small', 'medium', 'large']
    """
    if math.isnan(effect):
        return "unknown"
    w = math.sqrt(2 * max(effect, 0.0))
    return next((word for below, word in _COHEN if w < below), "large")


def format_p(log_p: float) -> str:
    """Return the p-value as text, from its natural logarithm; it is never shown as 0.

    >>> format_p(math.log(0.0314)), format_p(math.log(9.6e-6)), format_p(-2707.02), format_p(math.nan)
    ('0.031', '9.6e-06', '< 1e-99', 'not known')
    """
    if math.isnan(log_p):
        return "not known"
    log10 = log_p / math.log(10)
    return "< 1e-99" if log10 < -99 else f"{10**log10:.2g}" if log10 >= -3 else f"{10**log10:.1e}"


def p_is(log_p: float) -> str:
    """Return "p = 0.031" or "p < 1e-99".

    >>> p_is(math.log(0.0314)), p_is(-2707.02)
    ('p = 0.031', 'p < 1e-99')
    """
    return f"p {'' if log_p / math.log(10) < -99 else '= '}{format_p(log_p)}"


def digits(value: float, digits: int = 3) -> str:
    """Return a number with a few significant digits, and without an exponent if possible.

    >>> digits(23.14159), digits(0.0123456), digits(48213.7), digits(math.nan)
    ('23.1', '0.0123', '48214', '?')
    """
    if math.isnan(value):
        return "?"
    if abs(value) >= 10**digits:
        return f"{value:.0f}"
    return f"{value:.{digits}g}"


def joined(names: Sequence[str], most: int = 8, width: int = 40) -> str:
    """Return names joined as in a sentence, at most ``most`` of them, each cut to ``width``.

    >>> joined(["age"]), joined(["age", "smoker"]), joined(["a", "b", "c", "d"], most=2)
    ('age', 'age and smoker', 'a, b and 2 more')
    """
    cut = [shown(name, width) for name in names[:most]]
    if len(names) > most:
        return f"{', '.join(cut)} and {len(names) - most} more"
    return " and ".join(filter(None, [", ".join(cut[:-1]), *cut[-1:]]))


def count_of(count: float, singular: str, plural: str | None = None) -> str:
    """Return a count with its noun.

    >>> count_of(1, "degree of freedom", "degrees of freedom"), count_of(12345, "row")
    ('1 degree of freedom', '12,345 rows')
    """
    figure = f"{count:,.0f}" if float(count).is_integer() else f"{count:.4g}"
    return f"{figure} {singular if count == 1 else plural or singular + 's'}"


def why_not_tested(method: str, n_rows: int) -> str:
    """Say why a test was not made: for what its method says, or else for want of rows.

    >>> why_not_tested("", 20)
    '20 rows are too few for a reliable test'
    """
    return method.partition("not performed: ")[2] or f"{count_of(n_rows, 'row')} are too few for a reliable test"


def format_seconds(seconds: float) -> str:
    """Return a duration as text.

    >>> format_seconds(0.0213), format_seconds(4.21), format_seconds(130.0)
    ('21 ms', '4.2 s', '2 min 10 s')
    """
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{seconds // 60:.0f} min {seconds % 60:.0f} s"


def shown(name: str, width: int = 40) -> str:
    r"""Return a column's name fit for a terminal: no control characters, cut to ``width``, in quotes if it is blank.

    >>> shown("age"), shown("a\x1b[31mb"), shown("a" * 50, width=8), shown("")
    ('age', 'a\\x1b[31mb', 'aaaaaaa…', "''")
    """
    clean = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)
    if not clean.strip():
        clean = f"'{clean}'"
    return clean if len(clean) <= width else clean[: width - 1] + "…"


def wrapped(text: str, first: str = "") -> str:
    """Return a sentence as lines of at most 100 characters, the first after a prefix, the others below it.

    >>> print(wrapped("a note " * 18, "  - "))
      - a note a note a note a note a note a note a note a note a note a note a note a note a note
        a note a note a note a note a note
    """
    return fill(text, 100, initial_indent=first, subsequent_indent=" " * len(first), break_on_hyphens=False)


def as_frame(rows: Sequence[Mapping[str, object]], what: str) -> Any:
    """Return the rows of a table as a pandas data frame."""
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingPackageError(
            f"{what} as a data frame needs the package 'pandas'; install it, or use table()"
        ) from error

    return pd.DataFrame(list(rows))
