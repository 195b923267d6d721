"""`Summary`: what is known of a column before its coding is decided. Summaries of parts can be added.

A column that comes whole, in chunks or from a database has the same summary, and the rules use only the
summary. These are the rules:

**Continuous or categorical.** A column of numbers with at most 20 distinct values is categorical. With
more, fractions or whole numbers, it is a measurement and is binned: the tests are about categories, and
each category needs several rows. In short tables numbers are a measurement already if there are at least
10 distinct ones, and fewer than five rows for each.

**Identifiers.** A column of categories is an identifier if it has more than 50 levels and more than one
for every five rows. Whole numbers are an identifier if all are different although they are in a narrow
range (five times their number), where chance would have repeated some: n draws from m values are all
different with probability below exp(-n(n-1)/2m), here exp(-n/10). Dates are none: a day is no name of a row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from blankets.data._columns import FEW_VALUES, PLAIN, Categories, Column, Numbers, Origin, Refused, distinct, factorize
from blankets.data._reading import Reading

# So many distinct numbers are a measurement if they have few rows each: a convention (docs/howto/numbers.md).
SEVERAL_VALUES = 10
MANY_LEVELS = 50
# A column with fewer rows per level, on average, is an identifier, or a measurement: as many as the rule of Cochran
# (1954) asks for in each cell.
ROWS_PER_LEVEL = 5
MOST_LEVELS = 100_000  # a column in chunks with more levels is an identifier, whatever its number of rows

Whole = Callable[[], Column]
Count = TypeVar("Count", int, NDArray[np.int64])


def is_constant(seen: Count, gaps: Count) -> Any:
    """Tell whether a column is constant, from its numbers of levels and missing values; also for arrays."""
    return (seen + (gaps > 0) < 2) | (seen == 0)


def is_identifier(seen: Count, n: Count | int) -> Any:
    """Tell whether a column is an identifier, from its numbers of levels and rows; also for arrays."""
    return (seen > MANY_LEVELS) & (seen * ROWS_PER_LEVEL > n)


@dataclass(slots=True, eq=False)
class Summary:
    """What is known of one column after reading some or all of its rows."""

    most_numbers: int | None = FEW_VALUES  # most distinct numbers that are levels; None: all
    most_levels: int | None = None  # most levels that are stored
    # n_rows, n_missing, n_infinite: rows so far, and how many of them are missing or infinite
    n_rows: int = 0
    n_missing: int = 0
    n_infinite: int = 0
    kind: str | None = None  # what the values are; None before the first value
    # declared, ordered: whether the container declared the levels, and whether their order has a meaning
    declared: bool = False
    ordered: bool = False
    # levels of categories and of few numbers, in order; None once there are too many
    levels: tuple[object, ...] | None = ()
    counts: Any = ()  # (levels,): rows of each; for numbers only 0 or not 0 has a meaning
    # low, high: range of numbers
    low: Any = None
    high: Any = None
    whole: bool = True  # whether all numbers are whole
    # whether some whole number occurs twice; None: not within a part, and parts were not compared
    repeats: bool | None = False
    origin: Origin = PLAIN  # what the values were before they were understood
    words_said: bool = False  # whether the user said which words mean that a value is missing

    @classmethod
    def asked(cls, name: str, reading: Reading, *, parts: bool = False) -> Summary:
        """Return the empty summary of a column, by the user's rule for it; ``parts``: it comes in several parts."""
        rule, by_name = reading.rule_for(name)
        most = MOST_LEVELS if parts else None
        if rule == "categorical":
            return cls(most, most, words_said=reading.says_words)
        few = 0 if by_name and rule not in ("auto", "none") else FEW_VALUES
        return cls(few, most, words_said=reading.says_words)

    def add(self, column: Column) -> Column:
        """Add some rows; return them as categories if there are few distinct numbers, or as they are."""
        self.n_rows += len(column)
        self.n_missing += column.n_missing
        if column.origin is not PLAIN:
            self._came_from(column.origin)
        if isinstance(column, Categories):
            if column.levels:
                self._is("texts" if isinstance(column.levels[0], str) else "categories")
                self.declared |= column.declared
                self.ordered |= column.ordered
                self._merge(column, self.most_levels)
        elif len(values := column.present):
            self._is("numbers")
            if endless := column.n_infinite:
                self.n_infinite += endless
                return column
            return self._add_numbers(column, values)
        return column

    def _came_from(self, origin: Origin) -> None:
        """Note what some rows were before."""
        missing = tuple(dict.fromkeys([*self.origin.missing, *origin.missing]))
        self.origin = replace(origin if origin.kind else self.origin, missing=missing)

    def _is(self, kind: str) -> None:
        if self.kind not in (None, kind):
            raise Refused(f"holds {self.kind} in some of the rows and {kind} in others")
        self.kind = kind

    def _merge(self, column: Categories, most: int | None) -> None:
        """Add the counts of levels, and new levels."""
        if self.levels is None:
            return
        if not self.levels:
            self.levels, self.counts = column.levels, column.counts()
        elif self.levels == column.levels:
            self.counts = self.counts + column.counts()
        else:
            known = dict(zip(self.levels, self.counts.tolist(), strict=True))
            for level, count in zip(column.levels, column.counts().tolist(), strict=True):
                known[level] = known.get(level, 0) + count
            self.levels = tuple(known) if self.declared else tuple(sorted(known))  # type: ignore[type-var]
            self.counts = np.array([known[level] for level in self.levels], np.int64)
        if most is not None and len(self.levels) > most:
            self.levels = None

    def _add_numbers(self, column: Numbers, values: NDArray[np.number[Any]]) -> Column:
        first, found = self.low is None, None
        if self.levels is not None and not self._has_all(values):
            found = factorize(column, self.most_numbers)
            if found is None:
                self.levels = None
        again: bool | None = None
        if found is not None:
            self._merge(found, self.most_numbers)
            low: Any = found.levels[0]
            high: Any = found.levels[-1]
            self.whole &= values.dtype.kind != "f" or not any(isinstance(level, float) for level in found.levels)
            again = len(found.levels) < len(values)
        else:
            low, high = values.min().item(), values.max().item()
            if self.whole and values.dtype.kind == "f":
                self.whole = bool(values[0] == np.floor(values[0]) and np.all(values == np.floor(values)))
            dense = high - low < ROWS_PER_LEVEL * len(values)
            if not self.repeats and self.whole and (dense or self.most_levels is not None):  # all parts may be dense
                again = len(distinct(values)) < len(values)
        self.low, self.high = (low, high) if first else (min(self.low, low), max(self.high, high))
        self.repeats = True if self.repeats or again else again if first else None
        return column if found is None else found

    def _has_all(self, values: NDArray[np.number[Any]]) -> bool:
        """Tell whether all integers of this range are known levels, so that each need not be checked."""
        if not self.levels or values.dtype.kind not in "iu":
            return False
        low, high = int(values.min()), int(values.max())
        return high - low < len(self.levels) and set(range(low, high + 1)) <= set(self.levels)

    @property
    def n(self) -> int:
        """Rows with a value."""
        return self.n_rows - self.n_missing

    @property
    def seen(self) -> int:
        """Number of levels that occur in rows."""
        return int(np.count_nonzero(self.counts))

    @property
    def continuous(self) -> bool:
        """Whether the numbers are a measurement: many distinct ones, or several in few rows."""
        if self.kind != "numbers" or self.most_numbers is None or self.most_numbers > FEW_VALUES:
            return False
        if self.levels is None:
            return True
        return len(self.levels) >= SEVERAL_VALUES and ROWS_PER_LEVEL * len(self.levels) > self.n

    @property
    def dense(self) -> bool:
        """Whether there are many whole numbers in a range so narrow that chance would have repeated some."""
        if not self.continuous or not self.whole or self.n <= MANY_LEVELS:
            return False
        return bool(self.high - self.low < ROWS_PER_LEVEL * self.n)

    def is_constant(self, *, missing_counts: bool) -> bool:
        """Tell whether there is at most one value; "missing" counts as a value if it is a level."""
        if self.levels is None:
            seen = 1 + int(self.low != self.high) if self.continuous else 2
        else:
            seen = self.seen
        return bool(is_constant(seen, self.n_missing if missing_counts else 0))

    def is_identifier(self, column: Whole) -> bool:
        """Tell whether the column is an identifier of rows; ``column`` reads the whole column, if needed."""
        if self.levels is not None:
            return len(self.levels) > MANY_LEVELS and bool(is_identifier(self.seen, self.n))
        if not self.continuous:
            return True
        if not self.dense or self.repeats or self.origin.kind in ("date", "time", "duration"):
            return False
        if self.repeats is None:
            values = column()
            self.repeats = not isinstance(values, Numbers) or len(distinct(values.present)) < self.n
        return not self.repeats
