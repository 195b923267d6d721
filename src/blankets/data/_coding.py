"""From the summary of a column to its coding: one decision, wherever the column comes from.

A column is left out (`LeftOut` says why), refused (`Refused` says why), or coded by a `Coding`, which
turns rows into codes: those of the column itself, of its chunks, or new ones.
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

SMALL_TARGET = 10  # classes that a target may have however few the rows
OF_LEVELS = ("categorical", "none", "auto")  # rules under which numbers may be levels
UNCUT = ("auto", "none", "number")  # rules under which numbers may stay numbers
CHANGED = "has new levels at the second reading: its source has changed"


class LeftOut(Enum):
    """Why a column is not coded."""

    CONSTANT = "it has one value"
    IDENTIFIER = "almost every row has its own level"
    NO_CUT = "binning finds no cut"
    INFINITE = "it has infinite values"
    MISSING = "it has missing values, and missing='error' refuses them"
    CONTINUOUS = "it is continuous, and discretize='none' forbids binning"


@dataclass(frozen=True, slots=True, eq=False)
class Coding:
    """How one column is coded."""

    kind: str  # What the column is. Numbers are cut where they are counted.
    levels: tuple[object, ...]  # what the codes mean
    binning: Binning | None = None  # cut points of a number
    missing_label: str | None = None  # the level that stands for "missing", the last one, where there is one
    unused: tuple[object, ...] = ()  # declared levels that no row has
    checked: bool = True  # whether each bin is known to have rows; otherwise see `without_empty_bins`

    @property
    def is_number(self) -> bool:
        """Whether the column stays a number: it has values and no codes."""
        return self.kind == "number" and self.binning is None

    @property
    def known(self) -> tuple[object, ...]:
        """The levels without that of missing values."""
        return self.levels if self.missing_label is None else self.levels[:-1]

    def codes(self, column: Column) -> NDArray[np.integer[Any]]:
        """Return the codes of some rows; 0 where values are missing and no level stands for that."""
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
        return np.where(column.missing, 0 if self.missing_label is None else len(self.levels) - 1, codes)

    def without_empty_bins(self, counts: NDArray[np.integer[Any]]) -> tuple[Coding | LeftOut, NDArray[np.int32] | None]:
        """Join each bin without rows with its neighbor, given the rows of each code.

        Returns the coding with the cuts that remain, and the new code of each old one (None: codes stay). Bins that
        the user gave stay as they are.
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
    """Return the codes of rows by known levels, and the levels that they have besides, whose codes follow."""
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
    """Return where numbers are among sorted levels, if all are there: quicker than to sort these first."""
    levels = np.array(known)
    if column.values.dtype.kind != "f" or levels.dtype.kind not in "iuf" or not len(levels):
        return None
    at = np.searchsorted(levels, column.values).clip(max=len(levels) - 1)
    there = levels[at] == column.values
    return at if np.all(there if column.missing is None else there | column.missing) else None


def left_out(summary: Summary, reading: Reading, whole: Whole, *, keep: bool) -> LeftOut | None:
    """Return why a feature is left out for its values, if it is; parameters are those of `decide`."""
    if summary.n_infinite:
        return LeftOut.INFINITE
    if keep:
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

    ``name``: the column. ``summary``: what is known of it. ``reading``: what the user wishes. ``whole``: reads all of
    its rows, for rules that look at all values at once. ``classes``: the target, for cuts that look at it. ``keep``:
    whether it is kept although it is constant or an identifier. ``numbers``: whether it may stay a number.
    """
    if (why := left_out(summary, reading, whole, keep=keep)) is not None:
        return why
    if summary.n_missing and reading.missing == "error":
        return LeftOut.MISSING
    rule, asked = reading.rule_for(name)
    if summary.continuous and numbers and rule in UNCUT and not summary.n_missing:
        coding: Coding | LeftOut = Coding("number", ())
    elif summary.continuous:  # a number with a level for missing values is cut as well
        coding = _cut(summary, rule, reading.n_bins, whole, classes)
    elif asked and rule not in OF_LEVELS:
        raise Refused("is named in discretize, but it does not hold numbers")
    else:
        coding = _categories(summary)
    if not summary.n_missing or isinstance(coding, LeftOut):
        return coding
    label = "missing" if "missing" not in coding.levels else "(missing)"
    return replace(coding, levels=(*coding.levels, label), missing_label=label)


def decide_target(
    name: str, summary: Summary, reading: Reading, whole: Whole, *, numbers: bool = False
) -> Coding | LeftOut:
    """Return how the target is coded; raise `Refused` if it cannot be one. Its missing values are no level."""
    rule, _ = reading.rule_for(name)
    if not summary.n:
        raise Refused(f"is missing in all of the {summary.n_rows} rows")
    if summary.n_infinite:
        raise Refused(f"is infinite in {summary.n_infinite} rows")
    if summary.is_constant(missing_counts=True):
        raise Refused("has the same value in all rows; nothing can depend on it")
    if summary.continuous and not summary.is_identifier(whole):
        if numbers and rule in UNCUT and not summary.n_missing:
            return Coding("number", ())
        return _cut(summary, "sturges" if rule == "supervised" else rule, reading.n_bins, whole)
    n_classes = summary.n if summary.levels is None else summary.seen
    if n_classes > max(summary.n / ROWS_PER_LEVEL, SMALL_TARGET):
        raise Refused(
            f"has {n_classes} classes in {summary.n} labeled rows, like an identifier; merge classes, bin it or choose "
            f"another target"
        )
    return _categories(summary)


def _categories(summary: Summary) -> Coding:
    """Return the coding of a column whose values are its levels."""
    if summary.levels is None:
        raise Refused(f"has more than {summary.most_levels:,} levels, too many for a table that is read in chunks")
    kind = "ordered" if summary.ordered else "category"
    if not summary.declared:
        return Coding(kind, summary.levels)
    return Coding(kind, summary.levels, unused=tuple(summary.levels[k] for k in np.flatnonzero(summary.counts == 0)))


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
    """Return cuts that depend on all values, or on the target beside them."""
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
    """Return the codes of a whole column, and its coding without bins that no row is in.

    ``settled`` is what its summary made of it: few numbers are codes already.
    """
    if isinstance(coding, LeftOut) or coding.is_number:
        return coding, np.zeros(0, np.int64)
    codes = coding.codes(settled if coding.binning is None else column)
    if coding.checked:
        return coding, codes
    done, new = coding.without_empty_bins(np.bincount(present(codes, column.missing), minlength=len(coding.levels)))
    return done, codes if new is None else new[codes]
