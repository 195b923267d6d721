"""What the readers return: a column is either numbers or categories, from any container.

`Numbers` will become categories (few distinct values) or bins (many); `Categories` already are codes
with levels. Both have a mask of missing rows, or None if nothing is missing. A column that can be
neither raises `Refused` with the reason, so that all bad columns can be reported together.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]

# Numbers with at most this many distinct values are categories: a convention (docs/howto/numbers.md has the cost).
FEW_VALUES = 20
LOOKUP = 65_536  # integers within a range this small are counted, not sorted


class Refused(Exception):
    """A column cannot be used; the message is the end of a sentence that begins with its name."""


@dataclass(frozen=True, slots=True)
class Origin:
    """What a column was before it was understood, for notes to the user."""

    # "date" (now days since 1970), "duration" (days), "time" (of day, as a part of it), "number" (stored as text),
    # "labels" (numbers, some of which have a label), "as text" (numbers in a file that says they are text); empty if
    # nothing had to be understood
    kind: str = ""
    example: str = ""  # one of the texts, and what became of it
    missing: tuple[str, ...] = ()  # texts that were taken for missing values although they could be values


PLAIN = Origin()


@dataclass(frozen=True, slots=True, eq=False)
class Categories:
    """Codes and levels of a categorical column."""

    # (rows,): ``levels[codes[i]]`` is the value of row i; meaningless where ``missing``
    codes: NDArray[np.integer[Any]]
    levels: tuple[object, ...]  # all levels, in declared order, or sorted if none was declared
    missing: Mask | None = None  # which rows have no value
    # declared, ordered: whether the container itself declared the levels (then some may be unused), and whether
    # their order has a meaning
    declared: bool = False
    ordered: bool = False
    origin: Origin = PLAIN
    _counts: list[NDArray[np.int64]] = field(default_factory=list, repr=False)

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def n_missing(self) -> int:
        """Number of rows without a value."""
        return _count(self.missing)

    @property
    def n_infinite(self) -> int:
        """Number of infinite values."""
        return 0

    def take(self, rows: Mask | NDArray[np.int64]) -> Categories:
        """Return the column with only some rows; text levels without rows are removed."""
        missing = _some(self.missing, rows)
        part = Categories(self.codes[rows], self.levels, missing, self.declared, self.ordered, self.origin)
        if self.declared or not (self.levels and isinstance(self.levels[0], str)):
            return part
        seen = part.counts() > 0
        levels = tuple(level for level, there in zip(self.levels, seen.tolist(), strict=True) if there)
        return Categories((np.cumsum(seen) - 1).clip(0)[part.codes], levels, part.missing, origin=self.origin)

    def counts(self) -> NDArray[np.int64]:
        """Return how many rows have each level, shape (levels,); counted once."""
        if not self._counts:
            self._counts.append(np.bincount(present(self.codes, self.missing), minlength=len(self.levels)))
        return self._counts[0]


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """Integers or floating-point numbers; ``values`` is meaningless where ``missing``."""

    values: NDArray[np.number[Any]]
    missing: Mask | None = None
    origin: Origin = PLAIN
    lasting: NDArray[np.float64] | None = None  # the same values in a large array of the user, which is not copied

    def __len__(self) -> int:
        return len(self.values)

    @property
    def n_missing(self) -> int:
        """Number of rows without a value."""
        return _count(self.missing)

    @property
    def n_infinite(self) -> int:
        """Number of infinite values."""
        return int(np.count_nonzero(np.isinf(self.present))) if self.values.dtype.kind == "f" else 0

    def take(self, rows: Mask | NDArray[np.int64]) -> Numbers:
        """Return the column with only some rows."""
        return Numbers(self.values[rows], _some(self.missing, rows), self.origin)

    def floats(self) -> NDArray[np.float64]:
        """Return the values as floating-point numbers, NaN where they are missing."""
        if self.missing is not None:
            return np.where(self.missing, np.nan, self.values.astype(np.float64))
        return self.values.astype(np.float64, copy=self.lasting is None)

    @property
    def present(self) -> NDArray[np.number[Any]]:
        """The values of the rows that have one."""
        return present(self.values, self.missing)


Column = Categories | Numbers


def is_a(data: object, package: str, *types: str) -> bool:
    """Tell whether an object is of some types of a package, which is not loaded for it: then it is none.

    >>> is_a({}, "pandas", "DataFrame", "Series"), is_a(np.ma.array([1]), "numpy.ma", "MaskedArray")
    (False, True)
    """
    loaded = sys.modules.get(package)
    return any(isinstance(kind := getattr(loaded, name, None), type) and isinstance(data, kind) for name in types)


def present(values: NDArray[Any], missing: Mask | None) -> NDArray[Any]:
    """Return the values of the rows that have one."""
    return values if missing is None else values[~missing]


def mask_of(missing: NDArray[Any]) -> Mask | None:
    """Return the mask, or None if nothing is missing."""
    return missing.astype(bool, copy=False) if missing.any() else None


def either(missing: Mask, more: Mask | None) -> Mask | None:
    """Return the rows that at least one of two masks marks; None if there are none."""
    return mask_of(missing if more is None else missing | more)


def _count(missing: Mask | None) -> int:
    """Return the number of rows that a mask marks."""
    return 0 if missing is None else int(np.count_nonzero(missing))


def _some(missing: Mask | None, rows: Mask | NDArray[np.int64]) -> Mask | None:
    """Return the mask of the chosen rows, None if nothing is missing among them."""
    return None if missing is None else mask_of(missing[rows])


def distinct(values: NDArray[np.number[Any]]) -> NDArray[np.number[Any]]:
    """Return the distinct values in ascending order."""
    low = _lowest_of_few(values)
    if low is None:
        there = np.sort(values)  # numpy.unique takes three times as long for few values
        return there[np.concatenate([[True], there[1:] != there[:-1]])] if len(there) else there
    return np.asarray(np.flatnonzero(np.bincount(_offset(values, low))).astype(values.dtype) + values.dtype.type(low))


@overload
def factorize(numbers: Numbers) -> Categories: ...
@overload
def factorize(numbers: Numbers, at_most: int | None) -> Categories | None: ...
def factorize(numbers: Numbers, at_most: int | None = None) -> Categories | None:
    """Turn each distinct number into a category, in numerical order; None if there are more than ``at_most``.

    Whole numbers become integer levels, so that a container that stores them as floats (because integers
    cannot be missing) gives the same levels as one that stores integers.

    >>> factorize(Numbers(np.array([2.0, 0.5, 2.0]))).levels
    (0.5, 2)
    """
    values, missing = numbers.values, numbers.missing
    low = _lowest_of_few(values) if missing is None else None
    if low is not None:
        return _counted(values, low, at_most)
    present = numbers.present
    if at_most is not None and len(distinct(present[: max(256, 4 * at_most)])) > at_most:  # mostly enough
        return None
    found = distinct(present)
    if at_most is not None and len(found) > at_most:
        return None
    levels = tuple(int(v) if float(v).is_integer() else float(v) for v in found.tolist())
    return Categories(np.searchsorted(found, values), levels, missing)


def _counted(values: NDArray[np.number[Any]], low: int, at_most: int | None) -> Categories | None:
    """Turn integers within a small range into categories by counting them."""
    offset = _offset(values, low)
    counts = np.bincount(offset)
    found = counts.nonzero()[0]
    n, first = len(found), int(found[0])
    if at_most is not None and n > at_most:
        return None
    levels = tuple(v + low for v in found.tolist())
    if found[-1] - first == n - 1:  # no gaps: the numbers are codes already, up to a shift
        codes: Any = values if levels[0] == 0 else offset - first if first else offset
        return Categories(codes, levels, None, _counts=[counts[first:]])
    rank = np.zeros(len(counts), np.int32)
    rank[found] = np.arange(n)
    return Categories(rank[offset], levels, None, _counts=[counts[found]])


def _lowest_of_few(values: NDArray[np.number[Any]]) -> int | None:
    """Return the smallest of integers within a small range, or a number below it; None for all others."""
    if values.dtype.kind not in "iu" or not len(values):
        return None
    if values.dtype.itemsize == 1:
        return 0 if values.dtype.kind == "u" else -128
    low, high = int(values.min()), int(values.max())
    return low if high - low < LOOKUP else None


def _offset(values: NDArray[np.number[Any]], low: int) -> NDArray[np.int64]:
    """Return integers minus ``low``, without overflow of narrow types."""
    wide = values if values.dtype.itemsize == 8 else values.astype(np.int64)
    return (wide - wide.dtype.type(low)).astype(np.int64, copy=False)


def sorted_categories(codes: NDArray[np.integer[Any]], labels: Sequence[Any], missing: Mask | None) -> Categories:
    """Renumber codes so that levels are in sorted order, whatever the order of rows."""
    order = sorted(range(len(labels)), key=labels.__getitem__)
    rank = np.empty(len(labels) + 1, np.int32)
    rank[order] = np.arange(len(labels))
    rank[-1] = 0  # some readers write -1 for missing
    return Categories(rank[codes], tuple(labels[k] for k in order), missing)


def level_names(levels: Iterable[Any]) -> tuple[object, ...]:
    """Return levels as plain Python values; all but numbers, booleans and text are converted to text."""
    unwrapped = (v.item() if isinstance(v, np.generic) else v for v in levels)
    return tuple(v if isinstance(v, bool | int | float | str) else str(v) for v in unwrapped)
