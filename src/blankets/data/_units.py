"""What rows stand for: how many they are (``sample_weight``), and which of them belong together (``groups``).

Either is a column of the table, by its name, or values beside it. Such a column says something of rows and nothing of
what they hold, so it is never a feature.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blankets.data._columns import Categories, Column, Mask, Numbers, Refused, factorize
from blankets.data._readers import from_any
from blankets.data._reading import OF_ROWS, Reading, not_both
from blankets.data._room import check_room
from blankets.data._tables import Table
from blankets.errors import DataError, ParameterError, did_you_mean
from blankets.voice import option

MOST_ROWS = (1 << 31) - 1  # counts are 32-bit numbers


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """What the rows of a table stand for."""

    weights: NDArray[np.int64] | None = None  # (rows,): how many rows each stands for
    survey: NDArray[np.float64] | None = None  # (rows,): how many of a population each stands for
    groups: NDArray[np.int64] | None = None  # (rows,): the number of the group that each belongs to
    # the options that said so, and the columns that they name
    names: Mapping[str, str] = field(default_factory=dict)
    places: frozenset[int] = frozenset()  # columns of the table that say this

    @classmethod
    def of(cls, table: Table, reading: Reading) -> Units:
        """Read what the user gave, or say what is wrong with it."""
        read = {which: _beside(table, which, getattr(reading, which)) for which in OF_ROWS}
        weights, groups, survey = (read[which][0] for which in OF_ROWS)
        places = {which: place for which, (_, place) in read.items() if place is not None}
        return cls(
            None if weights is None else frequencies(weights),
            None if survey is None or not np.ptp(weighed := survey_weights(survey)) else weighed,  # equal: no weights
            None if groups is None else group_codes(groups),
            {which: table.names[place] for which, place in places.items()},
            frozenset(places.values()),
        )

    def instead_of(self, before: Units) -> Units:
        """Return the units of rows of which something was known before; what is said now counts."""
        if self.weights is not None and before.survey is not None:
            raise not_both()
        survey, groups, names = self.survey, self.groups, dict(before.names)
        if groups is None:
            groups = before.groups
        else:
            names.pop("groups", None)
        survey = before.survey if survey is None else survey
        return replace(self, survey=survey, groups=groups, names={**names, **self.names})

    def chosen(self, kept: Mask | None, n_rows: int) -> NDArray[np.int64] | None:
        """Return the rows that are used, each as often as its weight says; None for all of them, once."""
        if self.weights is None:
            return None if kept is None else np.flatnonzero(kept)
        weights = self.weights if kept is None else np.where(kept, self.weights, 0)
        check_room(int(weights.sum()), 2, 8)  # the numbers of rows, and what is made of them
        return np.repeat(np.arange(n_rows), weights)

    def of_rows(self, rows: NDArray[np.int64] | NDArray[np.bool_] | None) -> Units:
        """Return what the rows that are used stand for, once they are as often there as their weights say."""
        groups = self.groups if self.groups is None or rows is None else self.groups[rows]
        survey = self.survey if self.survey is None or rows is None else self.survey[rows]
        return replace(self, weights=None, groups=groups, survey=survey)

    @property
    def group_name(self) -> str:
        """What the user calls groups."""
        return self.names.get("groups", "groups")

    def n_rows(self, n_rows: int) -> int:
        """Return how many rows a table of so many stands for."""
        return n_rows if self.weights is None else int(self.weights.sum())


def _beside(table: Table, which: str, value: object) -> tuple[Column | None, int | None]:
    """Return the column that an option means, and where it is in the table, if it is there."""
    return (None, None) if value is None else column_for(table, which, value)


def column_for(table: Table, which: str, value: object) -> tuple[Column, int | None]:
    """Return the column that a value names, or that it holds, and where it is in the table, if it is there."""
    if isinstance(value, str) or (isinstance(value, int | np.integer) and not isinstance(value, bool)):
        labels: tuple[Any, ...] = table.names if isinstance(value, str) else table.labels
        if value not in labels:
            near = did_you_mean(str(value), table.names)
            raise DataError(f"{option(**{which: value})} names a column that is not there{near}")
        place = labels.index(value)
        return _read(which, lambda: table.read(place)), place
    if getattr(value, "ndim", 1) != 1 or not hasattr(value, "__len__"):
        raise ParameterError.out_of_range(which, value, "the name of a column, or one value for each row")
    if len(value) != table.n_rows:
        raise DataError(f"{option(which)} has {len(value):,} values, and the table has {table.n_rows:,} rows")
    return _read(which, lambda: from_any(value)), None


def _read(which: str, read: Any) -> Column:
    try:
        column: Column = read()
    except Refused as reason:
        raise DataError(f"{option(which)} {reason}") from None
    if column.n_missing:
        raise DataError(f"{option(which)} is missing in {column.n_missing:,} rows; every row needs one")
    return column


def refuse_units(reading: Reading, what: str, instead: str) -> None:
    """Refuse options that say what rows stand for, where rows cannot be told one by one."""
    for name in ("sample_weight", "groups", "survey_weight"):
        if getattr(reading, name) is not None:
            raise ParameterError(f"{option(name)} is not built for {what}; {instead}")


def frequencies(column: Column) -> NDArray[np.int64]:
    """Return weights as whole numbers, or say why they are none.

    >>> frequencies(Numbers(np.array([1.0, 0.0, 3.0]))).tolist()
    [1, 0, 3]
    """
    values = numbers_of(column)
    if values is None or not np.all(np.isfinite(values)) or np.any(values < 0):
        raise DataError(f"{option('sample_weight')} must hold numbers that are 0 or more")
    if np.any(values != np.floor(values)):
        raise DataError(
            f"{option('sample_weight')} holds fractions, but it says how many equal rows a row stands for; give "
            f"the weights of a "
            f"survey as {option('survey_weight')}"
        )
    total = float(values.sum())
    if total == 0:
        raise DataError(f"{option('sample_weight')} holds only zeros: no row has a weight")
    if not 2 <= total <= MOST_ROWS:
        raise DataError(
            f"{option('sample_weight')} adds up to {total:,.0f} rows; there must be from 2 to {MOST_ROWS:,}"
        )
    return values.astype(np.int64)


def survey_weights(column: Column) -> NDArray[np.float64]:
    """Return the weights of a survey, or say why they are none."""
    values = numbers_of(column)
    if values is None or not np.all(np.isfinite(values)) or np.any(values < 0) or not np.any(values > 0):
        raise DataError(f"{option('survey_weight')} must hold numbers that are 0 or more, and some above 0")
    return np.asarray(values / values.max())  # only ratios matter, and squares of large numbers are infinite


def numbers_of(column: Column) -> NDArray[np.float64] | None:
    """Return a column as numbers; None if it holds something else."""
    if isinstance(column, Numbers):
        return column.values.astype(np.float64)
    if not all(isinstance(level, bool | int | float) for level in column.levels):
        return None
    levels = np.array([float(level) for level in column.levels], np.float64)  # type: ignore[arg-type]
    return np.asarray(levels[column.codes])


def group_codes(column: Column) -> NDArray[np.int64]:
    """Return the number of the group of each row, from 0 on in the order of the rows, whatever groups are called.

    >>> group_codes(Numbers(np.array([7.0, 3.0, 7.0, 5.0]))).tolist()
    [0, 1, 0, 2]
    """
    categories: Categories = factorize(column) if isinstance(column, Numbers) else column
    _, first, group = np.unique(categories.codes, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[group], np.int64)
