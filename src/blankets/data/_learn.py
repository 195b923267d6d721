"""What chunks of a column teach about it: levels or range, and from these how to code it.

The rules are those of `blankets.data._coding`, restated for counts instead of rows. Where a rule looks at
all values at once (quantiles, supervised cuts, numbers that may be identifiers), the column is read whole,
by itself, and goes the same way as in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blankets.data._audit import Audit
from blankets.data._binning import bin_codes, bin_labels, equal_width, sturges_bins
from blankets.data._coding import (
    FEW_VALUES,
    MANY_LEVELS,
    ROWS_PER_LEVEL,
    SEVERAL_VALUES,
    Coding,
    Settings,
    encode_feature,
    given_cuts,
    id_like_levels,
    infinite,
    n_missing,
)
from blankets.data._columns import Categories, Column, Numbers, Refused, distinct, factorize
from blankets.data._report import Binning

__all__ = ["Recipe", "Summary", "decide", "joined_bins", "leave_out", "recipe_from"]

MOST_LEVELS = 100_000  # a column with more is taken for an identifier here, however many rows there are
LOOKUP = 1 << 16


@dataclass(slots=True, eq=False)
class Summary:
    """What is known of one column after some chunks.

    Attributes
    ----------
    n_rows, n_missing, n_infinite : int
        Rows so far, and how many of them lack a value or are infinite.
    levels : dict of level to count, or None
        Categories, or numbers while there are few; None once there are too many. Of numbers only whether a count
        is 0 means something.
    low, high : number
        Range of numbers.
    """

    every_number: bool = False
    n_rows: int = 0
    n_missing: int = 0
    n_infinite: int = 0
    kind: str | None = None
    declared: bool = False
    levels: dict[object, int] | None = field(default_factory=dict)
    low: Any = None
    high: Any = None
    whole: bool = True
    all_different: bool = True

    @property
    def n(self) -> int:
        """Rows with a value."""
        return self.n_rows - self.n_missing

    def add(self, column: Column) -> None:
        """Take in a chunk."""
        self.n_rows += len(column)
        self.n_missing += n_missing(column)
        self.n_infinite += infinite(column)
        if isinstance(column, Categories):
            if column.levels:
                self._is("texts" if isinstance(column.levels[0], str) else "categories")
                self.declared |= column.declared
                self._add_levels(column)
        elif len(values := column.present):
            self._is("numbers")
            self._add_numbers(values)

    def _is(self, kind: str) -> None:
        if self.kind not in (None, kind):
            raise Refused(f"holds {self.kind} in some of the rows and {kind} in others")
        self.kind = kind

    def _add_levels(self, column: Categories) -> None:
        if self.levels is None:
            return
        for level, count in zip(column.levels, column.counts().tolist(), strict=True):
            self.levels[level] = self.levels.get(level, 0) + count
        if len(self.levels) > MOST_LEVELS:
            self.levels = None

    def _add_numbers(self, values: NDArray[np.number[Any]]) -> None:
        low, high = values.min().item(), values.max().item()
        self.low = low if self.low is None else min(self.low, low)
        self.high = high if self.high is None else max(self.high, high)
        at_most = MOST_LEVELS if self.every_number else FEW_VALUES
        if self.levels is not None and not self._has_all(low, high, values.dtype.kind):
            found = factorize(Numbers(values), at_most)
            if found is not None:
                for level, count in zip(found.levels, found.counts().tolist(), strict=True):
                    self.levels[level] = self.levels.get(level, 0) + count
            if found is None or len(self.levels) > at_most:
                self.levels = None
        if self.whole and values.dtype.kind == "f":
            self.whole = bool(np.all(values == np.floor(values)))
        if self.all_different:
            n = len(values)
            self.all_different = self.whole and high - low + 1 >= n and len(distinct(values)) == n

    def _has_all(self, low: Any, high: Any, kind: str) -> bool:
        """Tell whether integers of this range are all known, so that a look at each of them is spared."""
        levels = self.levels or {}
        return kind in "iu" and high - low < len(levels) and all(level in levels for level in range(low, high + 1))

    @property
    def continuous(self) -> bool:
        """Whether these are numbers to be binned: many, or fractions that hardly repeat."""
        if self.kind != "numbers":
            return False
        if self.levels is None:
            return True
        several = len(self.levels) >= SEVERAL_VALUES and 2 * len(self.levels) > self.n
        return several and not self.every_number and any(isinstance(level, float) for level in self.levels)

    @property
    def may_be_identifier(self) -> bool:
        """Whether continuous whole numbers could all be different although they lie densely."""
        dense = self.kind == "numbers" and self.high - self.low < ROWS_PER_LEVEL * self.n
        return self.all_different and self.whole and dense and self.n > MANY_LEVELS

    def is_constant(self, *, missing_counts: bool) -> bool:
        """Tell whether there is at most one value, a missing one included if that is to be a level."""
        seen = 2 if self.levels is None else sum(count > 0 for count in self.levels.values())
        if self.continuous:
            seen = 1 + int(self.low != self.high)
        return seen == 0 or seen + (self.n_missing > 0 and missing_counts) < 2


@dataclass(frozen=True, slots=True, eq=False)
class Recipe:
    """How to code one column.

    Attributes
    ----------
    levels : tuple
        What the codes mean.
    binning : Binning or None
        Cut points of a continuous column.
    missing_label : str or None
        The level that stands for "missing", where there is one.
    checked : bool
        Whether each bin is known to have rows. Where it is not, bins without rows are joined afterwards.
    """

    levels: tuple[object, ...]
    binning: Binning | None = None
    missing_label: str | None = None
    checked: bool = True

    def codes(self, column: Column) -> NDArray[Any]:
        """Return the codes of a chunk."""
        dtype = np.uint8 if len(self.levels) <= LOOKUP >> 8 else np.int32
        if self.binning is not None:
            if not isinstance(column, Numbers):
                if n_missing(column) < len(column):
                    raise Refused("holds numbers in some of the rows only")
                codes = np.zeros(len(column), dtype)
            else:
                codes = bin_codes(column.values, np.array(self.binning.cuts)).astype(dtype)
        elif isinstance(column, Numbers):
            codes = self._of_numbers(column, dtype)
        else:
            book = self._book()
            known = [book.get(level, -1) for level in column.levels]
            if -1 in known and any(c and k < 0 for c, k in zip(column.counts().tolist(), known, strict=True)):
                raise Refused("has new levels at the second reading: its file has changed")
            codes = np.array([*known, 0], np.int64).astype(dtype)[column.codes]
        if column.missing is not None and self.missing_label is not None:
            codes[column.missing] = len(self.levels) - 1
        return codes

    def _book(self) -> dict[object, int]:
        known = self.levels if self.missing_label is None else self.levels[:-1]
        return {level: code for code, level in enumerate(known)}

    def _of_numbers(self, column: Numbers, dtype: type[np.generic]) -> NDArray[Any]:
        """Look numbers up: integers of a small range in an array, others by searching the sorted levels."""
        known = np.array(self.levels if self.missing_label is None else self.levels[:-1])
        values = column.values
        if values.dtype.kind in "iu" and known.dtype.kind in "iu" and int(known[-1]) - int(known[0]) < LOOKUP:
            low, high = int(known[0]), int(known[-1])
            table = np.zeros(high - low + 1, dtype)
            table[known - low] = np.arange(len(known))
            inside = values if column.missing is None else np.where(column.missing, low, values)
            if len(inside) and (int(inside.min()) < low or int(inside.max()) > high):
                raise Refused("has new levels at the second reading: its file has changed")
            if high - low == len(known) - 1:  # no gaps: a subtraction does
                return (inside if low == 0 else inside.astype(np.int64) - low).astype(dtype)
            found: NDArray[Any] = table[inside if low == 0 else inside.astype(np.int64) - low]
            return found
        return np.minimum(np.searchsorted(known, values), len(known) - 1).astype(dtype)


def recipe_from(coding: Coding) -> Recipe:
    """Return the recipe by which a whole column was coded."""
    return Recipe(coding.levels, coding.binning, coding.missing_label)


def decide(
    name: str,
    summary: Summary,
    settings: Settings,
    audit: Audit,
    whole: Callable[[], Column],
    classes: Categories | None = None,
) -> Recipe | None:
    """Return how to code a feature, or None if it is left out or unusable (the audit knows why)."""
    rule, asked = settings.rule_for(name)
    if summary.n_infinite:
        audit.infinite[name] = summary.n_infinite
        return None
    forced = summary.kind == "numbers" and asked and rule not in ("categorical", "none")
    continuous = summary.continuous or forced
    if continuous and (summary.may_be_identifier or rule in ("equal-frequency", "supervised")):
        coding = encode_feature(name, whole(), settings, audit, classes)
        return None if coding is None else recipe_from(coding)
    if leave_out(name, summary, settings, audit, continuous=continuous):
        return None
    if summary.n_missing:
        audit.missing[name] = summary.n_missing
        if settings.missing == "error":
            return None
    if continuous:
        return _binned(name, summary, settings, audit)
    if asked and rule not in ("categorical", "none"):
        audit.refuse(name, "is named in discretize, but it does not hold numbers")
        return None
    levels = summary.levels or {}
    if summary.declared and (unused := tuple(level for level, count in levels.items() if not count)):
        audit.unused_levels[name] = unused
    ordered = tuple(levels) if summary.declared else tuple(sorted(levels))  # type: ignore[type-var]
    return _finished(name, ordered, None, summary, audit)


def leave_out(
    name: str, summary: Summary, settings: Settings, audit: Audit | None, *, continuous: bool | None = None
) -> bool:
    """Tell whether a feature is left out as constant or as an identifier, and note it."""
    continuous = summary.continuous if continuous is None else continuous
    if summary.levels is None and not continuous and name in settings.keep:
        raise Refused(f"has more than {MOST_LEVELS:,} levels, too many for a table that is read in chunks")
    if name in settings.keep:
        return False
    if summary.is_constant(missing_counts=settings.missing == "level"):
        reasons = None if audit is None else audit.constant
    elif not continuous and (summary.levels is None or id_like_levels(_seen(summary), summary.n)):
        reasons = None if audit is None else audit.id_like
    else:
        return False
    if reasons is not None:
        reasons.append(name)
    return True


def _seen(summary: Summary) -> int:
    return sum(count > 0 for count in (summary.levels or {}).values())


def _binned(name: str, summary: Summary, settings: Settings, audit: Audit) -> Recipe | None:
    """Cut a continuous column into bins of equal width, or at the given points."""
    rule, _ = settings.rule_for(name)
    if rule == "none":
        audit.continuous.append(name)
        return None
    if isinstance(rule, str):
        bins = settings.bins if rule == "equal-width" else None
        ends = np.array([summary.low, summary.high], dtype=np.float64)
        cuts, called = equal_width(ends, sturges_bins(summary.n) if bins is None else bins), rule
    else:
        cuts, called = given_cuts(rule), "given"
    audit.binned[name] = Binning(called, tuple(cuts.tolist()))
    return _finished(name, bin_labels(cuts), audit.binned[name], summary, audit)


def _finished(name: str, levels: tuple[object, ...], binning: Binning | None, summary: Summary, audit: Audit) -> Recipe:
    """Add the level of the missing values, if there are any."""
    label = None
    if summary.n_missing:
        label = "missing" if "missing" not in levels else "(missing)"
        levels = (*levels, label)
    if len(levels) > MANY_LEVELS:
        audit.many_levels[name] = len(levels)
    return Recipe(levels, binning, label, checked=binning is None)


def joined_bins(
    name: str, recipe: Recipe, counts: NDArray[np.integer[Any]], audit: Audit
) -> tuple[Recipe | None, NDArray[np.int32] | None]:
    """Join each bin without rows with its neighbor, given the rows of each code.

    Returns
    -------
    Recipe or None
        With the cuts that remain; None if one bin remains, and the column is left out.
    ndarray or None
        The new code of each old one; None: codes stay.
    """
    if recipe.binning is None:
        return recipe, None
    cuts, rule = np.array(recipe.binning.cuts), recipe.binning.rule
    bins = counts[: len(cuts) + 1]
    if np.count_nonzero(bins) < 2:
        audit.without_cut.append(name)
        audit.binned.pop(name)
        return None, None
    if rule == "given":  # the user's bins stay, as declared levels
        if unused := tuple(recipe.levels[k] for k in np.flatnonzero(bins == 0)):
            audit.unused_levels[name] = unused
        return recipe, None
    if bins.all():
        return recipe, None
    cuts = cuts[bins[:-1] > 0] if bins[-1] else cuts[bins[:-1] > 0][:-1]
    levels: tuple[object, ...] = bin_labels(cuts)
    new = np.append(np.cumsum(bins > 0) - 1, len(levels)).clip(0).astype(np.int32)
    levels = levels if recipe.missing_label is None else (*levels, recipe.missing_label)
    audit.binned[name] = Binning(rule, tuple(cuts.tolist()))
    if len(levels) <= MANY_LEVELS:
        audit.many_levels.pop(name, None)
    return Recipe(levels, audit.binned[name], recipe.missing_label), new
