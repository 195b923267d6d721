"""The columns that the user asked for, and the target: a column of the table, or given separately."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from blankets.data._columns import Column, Refused
from blankets.data._readers import from_any
from blankets.data._reading import Reading
from blankets.data._tables import Table, is_data_frame, open_table
from blankets.data._units import Units
from blankets.errors import DataError, ParameterError, TargetError, did_you_mean, listed
from blankets.voice import option


@dataclass(frozen=True, slots=True, eq=False)
class AskedColumns:
    """The columns of a table that the user wants."""

    table: Table  # the table
    reading: Reading  # how it is read
    order: list[int]  # the columns in use, the target included, in the order of the table
    place: int | None  # the target's column in the table
    target: str | None  # the name of the target
    beside: Column | None  # the target, if it was given separately
    keep: frozenset[str]  # features that are kept in any case
    units: Units = field(default_factory=Units)  # weights and groups of the rows

    @classmethod
    def of(cls, table: Table, target: str | int | None, y: Any, reading: Reading) -> AskedColumns:
        """Find the wanted columns, or say which do not exist."""
        if target is not None and y is not None:
            raise ParameterError("give the target as a column name or as y, not both")
        check_size(table)
        place = None if target is None else find_column(table, target, TargetError)
        keep = frozenset(table.names[find_column(table, name)] for name in reading.keep)
        if reading.discretize == "supervised" and target is None and y is None:
            raise ParameterError(f"{option(discretize='supervised')} needs a target to look at")
        units = Units.of(table, reading)
        if place in units.places:
            raise ParameterError(
                f"the target {table.names[place]!r} is also named as groups or weights; name another one"
            )
        order = chosen_columns(table, place, reading, units.places)
        name, beside = (None, None) if y is None else separate_target(table, order, y)
        name = table.names[place] if place is not None else name
        _check_rules(reading, table, name)
        return cls(table, reading, order, place, name, beside, keep, units)

    @property
    def named(self) -> frozenset[str]:
        """Features that the user named, so that they must not be left out."""
        columns = [self.table.names[find_column(self.table, name)] for name in self.reading.columns or ()]
        rules = () if isinstance(self.reading.discretize, str) else self.reading.discretize
        return frozenset([*self.keep, *columns, *rules, *(self.reading.ordered or ())])

    @property
    def features(self) -> list[int]:
        """The columns in use, without the target."""
        return [j for j in self.order if j != self.place]


def _check_rules(reading: Reading, table: Table, target: str | None) -> None:
    """Refuse rules for columns that do not exist or are sparse."""
    for name in reading.ordered or ():
        if name not in table.index and name != target:
            raise ParameterError(f"'ordered' names {name!r}, which is not a column{did_you_mean(name, table.names)}")
    for name in () if isinstance(reading.discretize, str) else reading.discretize:
        if name == target:
            continue
        if name not in table.index:
            raise ParameterError(
                f"'discretize' names {name!r}, which is not a column{did_you_mean(str(name), table.names)}"
            )
        if table.sparse is not None:
            raise ParameterError(f"'discretize' names {name!r}, but sparse columns are not binned; do it before")


def check_size(table: Table) -> None:
    """Refuse tables that are too small for any test."""
    if not table.names:
        raise DataError("the table has no columns")
    check_rows(table.n_rows)


def check_rows(n_rows: int) -> None:
    """Refuse tables with too few rows for any test."""
    if n_rows < 2:
        rows = "no rows" if n_rows == 0 else "a single row"
        raise DataError(f"the table has {rows}; at least two are needed")


def find_column(table: Table, name: str | int, error: type[DataError] = DataError) -> int:
    """Return the number of a column given by name, or by number in matrices."""
    if isinstance(name, str):
        if name in table.index:
            return table.index[name]
        what = "target column" if error is TargetError else "column"
        raise error(f"there is no {what} {name!r}{did_you_mean(name, table.names) or ';'} {_offered(table)}")
    if getattr(name, "ndim", 0) or (isinstance(name, list) and len(name) == table.n_rows > 1):
        raise error(
            f"give a column by its name or number, but this is a {type(name).__name__} of values; "
            f"if the target is not in the table, give it as y=..."
        )
    if isinstance(name, list | tuple | set) and name not in table.labels:
        raise error(
            f"give one column by its name, but this is a {type(name).__name__}: {name!r}; for several targets there is "
            f"bl.discover_all(data, targets=[...])"
        )
    n = len(table.names)
    if table.positional:
        if isinstance(name, int | np.integer) and -n <= name < n:
            return int(name) % n
        raise error(f"there is no column number {name!r}; the table has columns 0 to {n - 1}")
    if isinstance(name, int | np.integer) and name in table.labels:
        return table.labels.index(name)
    raise error(f"there is no column {name!r}; columns of this table are called by name: {_offered(table)}")


def _offered(table: Table) -> str:
    """List the existing columns."""
    return f"the columns are {listed(table.names)}"


def chosen_columns(table: Table, place: int | None, reading: Reading, never: frozenset[int] = frozenset()) -> list[int]:
    """Return the columns in use, the target included, in the order of the table; ``never`` are no features."""
    columns = reading.columns
    wanted = set(range(len(table.names))) if columns is None else {find_column(table, name) for name in columns}
    unwanted = never | {find_column(table, name) for name in reading.exclude}
    if place is not None:
        if place in unwanted:
            raise ParameterError(f"'exclude' names the target {table.names[place]!r}")
        wanted.add(place)
    chosen = sorted(wanted - unwanted)
    if not table.emptied and not [j for j in chosen if j != place]:
        raise DataError("the table has no feature columns" + (" besides the target" if place is not None else ""))
    return chosen


def separate_target(table: Table, order: Sequence[int], y: Any) -> tuple[str, Column]:
    """Read a target that was given separately, and name it."""
    y, called = _one_column(y)
    if len(y) != table.n_rows:
        raise DataError(f"y has {len(y)} rows, the table has {table.n_rows}")
    taken = {table.names[j] for j in order}
    if called in taken:
        raise DataError(
            f"y is called {called!r}, and the table has such a column too; "
            f"leave that out with {option(exclude=[called])} or rename y"
        )
    made_up = ("target", "y", *(f"target_{k}" for k in range(len(taken))))
    name = called or next(free for free in made_up if free not in taken)
    try:
        return name, from_any(y)
    except Refused as reason:
        raise TargetError(f"the target {name!r} {reason}") from None


def _one_column(y: Any) -> tuple[Any, str | None]:
    """Return the target as one series, array or list, and its name."""
    if isinstance(y, str):
        raise ParameterError(f"y is the target itself, an array; for the column {y!r} of the table use target={y!r}")
    called = getattr(y, "name", None)
    if is_data_frame(y) or getattr(y, "ndim", 1) == 2:
        beside = open_table(y)
        if len(beside.names) != 1:
            raise TargetError(f"y must be one column, but it has {len(beside.names)}")
        called = None if beside.positional else beside.names[0]
        y = y.ravel() if isinstance(y, np.ndarray) else y[beside.labels[0]]
    if getattr(y, "ndim", 1) != 1 or not hasattr(y, "__len__"):
        raise TargetError(f"y must be one column, but it is a {type(y).__name__}")
    return y, called if isinstance(called, str) and called else None
