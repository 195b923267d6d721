"""Decide the coding of a column from its summary: the same decision for every source.

A column is left out (`LeftOut` says why), refused (`Refused` says why), or coded by a `Coding`, which
turns rows into codes: rows of the column itself, of its chunks, or new rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blankets.data._binning import COUNTED_RULES, bin_codes, bin_labels, cut_points, equal_width, sturges_bins
from blankets.data._columns import Categories, Column, Mask, Numbers, Refused, factorize, present
from blankets.data._data_report import Binning
from blankets.data._reading import Reading, Rule, given_cuts
from blankets.data._summary import ROWS_PER_LEVEL, Summary, Whole
from blankets.errors import listed
from blankets.voice import option

SMALL_TARGET = 10  # a target may have this many classes even with few rows
OF_LEVELS = ("categorical", "none", "auto")  # rules under which numbers may be levels
UNCUT = ("auto", "none", "number")  # rules under which numbers may stay numbers
CHANGED = "has new levels at the second reading: its source has changed"


class LeftOut(Enum):
    """Why a column is not coded."""

    CONSTANT = "it has one value"
    IDENTIFIER = "almost every row has its own level"
    NO_CUT = "binning finds no cut"
    INFINITE = "it has infinite values"
    MISSING = "it has missing values, which were to be refused"
    CONTINUOUS = "it is continuous, and was not to be binned"


@dataclass(frozen=True, slots=True, eq=False)
class Coding:
    """How one column is coded."""

    kind: str  # what the column is; numbers are cut when they are counted
    levels: tuple[object, ...]  # what the codes mean
    binning: Binning | None = None  # cut points of a number
    missing_label: str | None = None  # the level that means "missing", if there is one; it is the last
    unused: tuple[object, ...] = ()  # declared levels that no row has
    checked: bool = True  # whether each bin is known to have rows; otherwise see `without_empty_bins`
    holes: bool = False  # whether missing values have a code of their own that is no level: the number of levels

    @property
    def is_number(self) -> bool:
        """Whether the column stays a number: it has values and no codes."""
        return self.kind == "number" and self.binning is None

    @property
    def known(self) -> tuple[object, ...]:
        """The levels without the one for missing values."""
        return self.levels if self.missing_label is None else self.levels[:-1]

    def codes(self, column: Column) -> NDArray[np.integer[Any]]:
        """Return the codes of some rows; 0 if the value is missing and there is no code for that."""
        codes: NDArray[np.integer[Any]]
        if self.binning is None:
            codes, added = by_levels(column, self.known)
            if added:
                raise Refused(CHANGED)
        elif isinstance(column, Numbers):
            codes = bin_codes(column.values, np.array(self.binning.cuts))
        elif column.n_missing < len(column):
            raise Refused("holds numbers in some of the rows only")
        else:
            codes = np.zeros(len(column), np.int64)
        if column.missing is None:
            return codes
        missing = len(self.levels) if self.holes else 0 if self.missing_label is None else len(self.levels) - 1
        return np.where(column.missing, missing, codes)

    @property
    def width(self) -> int:
        """Number of codes: the levels, and one for holes."""
        return len(self.levels) + self.holes

    def without_empty_bins(self, counts: NDArray[np.integer[Any]]) -> tuple[Coding | LeftOut, NDArray[np.int32] | None]:
        """Join each bin without rows with its neighbor, given the number of rows of each code.

        Returns the coding with the remaining cuts, and the new code of each old one (None: no change). Bins given by
        the user stay as they are.
        """
        if self.binning is None or self.checked:
            return self, None
        rule, cuts = self.binning.rule, np.array(self.binning.cuts)
        filled = counts[: len(cuts) + 1] > 0
        if np.count_nonzero(filled) < 2:
            return LeftOut.NO_CUT, None
        if rule == "given":
            return replace(self, unused=tuple(self.levels[k] for k in np.flatnonzero(~filled)), checked=True), None
        if filled.all():
            return replace(self, checked=True), None
        cuts = cuts[filled[:-1]] if filled[-1] else cuts[filled[:-1]][:-1]
        labels = bin_labels(cuts)
        new = np.append(np.cumsum(filled) - 1, len(labels)).clip(0).astype(np.int32)
        levels = labels if self.missing_label is None else (*labels, self.missing_label)
        return replace(self, levels=levels, binning=Binning(rule, tuple(cuts.tolist())), checked=True), new


def by_levels(column: Column, known: tuple[object, ...]) -> tuple[NDArray[np.integer[Any]], tuple[object, ...]]:
    """Return the codes of rows by known levels, and their new levels, which get the next codes."""
    if isinstance(column, Numbers):
        if (at := _found(column, known)) is not None:
            return at, ()
        column = factorize(column)
    if column.levels is known or column.levels == known:
        return column.codes, ()
    book = {level: code for code, level in enumerate(known)}
    there = column.counts() > 0
    added = tuple(
        level for level, seen in zip(column.levels, there.tolist(), strict=True) if seen and level not in book
    )
    book |= {level: len(known) + k for k, level in enumerate(added)}
    translate = np.array([*(book.get(level, 0) for level in column.levels), 0], np.int64)
    return translate[column.codes], added


def _found(column: Numbers, known: tuple[object, ...]) -> NDArray[np.int64] | None:
    """Return the positions of numbers among sorted levels, if all are there: faster than sorting the numbers."""
    levels = np.array(known)
    if column.values.dtype.kind != "f" or levels.dtype.kind not in "iuf" or not len(levels):
        return None
    if np.any(levels[:-1] > levels[1:]):  # in an order of the user
        return None
    at = np.searchsorted(levels, column.values).clip(max=len(levels) - 1)
    there = levels[at] == column.values
    return at if np.all(there if column.missing is None else there | column.missing) else None


def left_out(summary: Summary, reading: Reading, whole: Whole, *, keep: bool) -> LeftOut | None:
    """Return why a feature is left out because of its values, or None; parameters as for `decide`."""
    if summary.n_infinite:
        return LeftOut.INFINITE
    if keep and (summary.n or reading.missing == "level"):  # a column without any value has no level
        return None
    if summary.is_constant(missing_counts=reading.missing == "level"):
        return LeftOut.CONSTANT
    return LeftOut.IDENTIFIER if summary.is_identifier(whole) else None


def decide(
    name: str,
    summary: Summary,
    reading: Reading,
    whole: Whole,
    classes: Categories | None = None,
    *,
    keep: bool,
    numbers: bool = False,
) -> Coding | LeftOut:
    """Return how a feature is coded, or why it is left out.

    ``name``: the column. ``summary``: what is known of it. ``reading``: the user's options. ``whole``: reads all of
    its rows, for rules that need all values at once. ``classes``: the target, for rules that use it. ``keep``:
    whether to keep it even if it is constant or an identifier. ``numbers``: whether it may stay a number.
    """
    if (why := left_out(summary, reading, whole, keep=keep)) is not None:
        return why
    if summary.n_missing and reading.missing == "error":
        return LeftOut.MISSING
    rule, asked = reading.rule_for(name)
    if summary.continuous and numbers and rule in UNCUT and not (summary.n_missing and reading.missing == "level"):
        coding: Coding | LeftOut = Coding("number", ())
    elif summary.continuous and reading.order_of(name):
        raise Refused(
            f"is named in {option('ordered')} with its levels, but it holds many different numbers; leave it out there"
        )
    elif summary.continuous:  # a number with a level for missing values is cut as well
        coding = _cut(summary, rule, reading.n_bins, whole, classes)
    elif asked and rule not in OF_LEVELS:
        raise Refused("is named in discretize, but it does not hold numbers")
    else:
        coding = _categories(name, summary, reading)
    if not summary.n_missing or isinstance(coding, LeftOut):
        return coding
    if reading.leaves_holes:
        return replace(coding, holes=True)
    label = "missing" if "missing" not in coding.levels else "(missing)"
    return replace(coding, levels=(*coding.levels, label), missing_label=label)


def decide_target(
    name: str, summary: Summary, reading: Reading, whole: Whole, *, numbers: bool = False
) -> Coding | LeftOut:
    """Return how the target is coded; raise `Refused` if it cannot be used. Missing values get no level."""
    rule, _ = reading.rule_for(name)
    if not summary.n:
        raise Refused(f"is missing in all of the {summary.n_rows} rows")
    if summary.n_infinite:
        raise Refused(f"is infinite in {summary.n_infinite} rows")
    if summary.is_constant(missing_counts=True):
        raise Refused("has the same value in all rows; nothing can depend on it")
    if summary.continuous and not summary.is_identifier(whole):
        if numbers and rule in UNCUT:
            return Coding("number", ())
        return _cut(summary, "sturges" if rule == "supervised" else rule, reading.n_bins, whole)
    n_classes = summary.n if summary.levels is None else summary.seen
    if n_classes > max(summary.n / ROWS_PER_LEVEL, SMALL_TARGET):
        raise Refused(
            f"has {n_classes} classes in {summary.n} labeled rows, like an identifier; merge classes, bin it or choose "
            f"another target"
        )
    return _categories(name, summary, reading)


def _categories(name: str, summary: Summary, reading: Reading) -> Coding:
    """Return the coding of a column whose values are its levels."""
    if summary.levels is None:
        raise Refused(f"has more than {summary.most_levels:,} levels, too many for a table that is read in chunks")
    order = reading.order_of(name)
    if order:
        return _in_order(summary, order)
    if order is not None and not summary.ordered and summary.kind != "numbers":
        example = ", ".join(repr(level) for level in summary.levels[:3])
        raise Refused(
            f"has levels without an order of their own; say which it is: ordered={{{name!r}: [{example}, ...]}}"
        )
    kind = "ordered" if summary.ordered or order is not None else "category"
    if not summary.declared:
        return Coding(kind, summary.levels)
    return Coding(kind, summary.levels, unused=tuple(summary.levels[k] for k in np.flatnonzero(summary.counts == 0)))


def _in_order(summary: Summary, order: tuple[object, ...]) -> Coding:
    """Return the coding by the user's order of levels, which may name numbers as texts and levels that no row has."""
    known = {str(level): level for level in summary.levels or ()}
    seen = {str(level) for level, n in zip(summary.levels or (), summary.counts, strict=True) if n}
    if unnamed := [known[text] for text in known if text in seen and text not in map(str, order)]:
        raise Refused(
            f"has values that {option('ordered')} does not name: {listed(unnamed)}; name all of them, lowest first"
        )
    levels = tuple(known.get(str(level), level) for level in order)
    return Coding("ordered", levels, unused=tuple(level for level in levels if str(level) not in seen))


def _cut(
    summary: Summary, rule: Rule, n_bins: int | None, whole: Whole, classes: Categories | None = None
) -> Coding | LeftOut:
    """Cut a continuous column by its rule."""
    if rule in ("none", "number"):
        return LeftOut.CONTINUOUS
    if not isinstance(rule, str):
        cuts, checked = given_cuts(rule), False
    elif rule in ("equal-frequency", "supervised"):
        cuts, checked = _cuts_of_values(whole(), rule, n_bins, classes), True
        if not len(cuts):
            return LeftOut.NO_CUT
    else:
        rule = "sturges" if rule == "auto" else rule
        wanted = n_bins if rule in COUNTED_RULES and n_bins is not None else sturges_bins(summary.n)
        cuts, checked = equal_width(np.array([summary.low, summary.high], np.float64), wanted), False
    binning = Binning(rule if isinstance(rule, str) else "given", tuple(cuts.tolist()))
    return Coding("number", bin_labels(cuts), binning, checked=checked)


def _cuts_of_values(column: Column, rule: str, n_bins: int | None, classes: Categories | None) -> NDArray[np.float64]:
    """Return cuts that depend on all values, or also on the target."""
    if not isinstance(column, Numbers):
        raise Refused(CHANGED)
    if rule != "supervised" or classes is None:
        return cut_points(column.present, rule, n_bins if rule in COUNTED_RULES else None)
    known = ~(_gaps(column) | _gaps(classes))
    return cut_points(column.values[known], rule, None, classes.codes[known])


def _gaps(column: Column) -> Mask:
    return np.zeros(len(column), dtype=bool) if column.missing is None else column.missing


def code(
    coding: Coding | LeftOut, column: Column, settled: Column
) -> tuple[Coding | LeftOut, NDArray[np.integer[Any]]]:
    """Return the codes of a whole column, and its coding without empty bins.

    ``settled`` is the column as its summary returned it: few distinct numbers are codes already.
    """
    if isinstance(coding, LeftOut) or coding.is_number:
        return coding, np.zeros(0, np.int64)
    codes = coding.codes(settled if coding.binning is None else column)
    if coding.checked:
        return coding, codes
    done, new = coding.without_empty_bins(np.bincount(present(codes, column.missing), minlength=len(coding.levels)))
    return done, codes if new is None else new[codes]
