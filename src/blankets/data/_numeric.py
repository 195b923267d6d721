"""Numbers that stay numbers, for tests of continuous data."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blankets.arguments import one_of
from blankets.data._audit import Audit
from blankets.data._coding import infinite, is_constant, n_missing
from blankets.data._columns import Column, Mask, Numbers, Refused
from blankets.data._frame import digest
from blankets.data._report import DataReport
from blankets.data._request import check_size, chosen_columns, find_column, separate_target
from blankets.data._room import check_room
from blankets.data._tables import Table, open_table
from blankets.errors import ParameterError, TargetError

__all__ = ["NumericTable", "ingest_numeric"]


@dataclass(frozen=True, eq=False)
class NumericTable:
    """A table of floating-point numbers.

    Attributes
    ----------
    names : tuple of str
        One name a column.
    values : ndarray of shape (rows, columns)
        The numbers, each column contiguous in memory.
    target : int or None
        Number of the target's column.
    report : DataReport
        What was done.
    """

    names: tuple[str, ...]
    values: NDArray[np.float64]
    target: int | None
    report: DataReport

    def fingerprint(self) -> str:
        """Return a hash of names and numbers, to tell whether two tables are the same."""
        made = hashlib.sha256(repr((self.values.shape, self.names)).encode("utf-8", "surrogatepass"))
        for column in self.values.T:
            made.update(digest(column))
        return made.hexdigest()


def ingest_numeric(
    data: Any,
    target: str | int | None = None,
    *,
    y: Any = None,
    missing: str = "error",
    columns: Iterable[str | int] | None = None,
    exclude: Iterable[str | int] = (),
) -> NumericTable:
    """Turn any table of numbers into one matrix, without binning.

    Truth values become 0 and 1. Constant columns and columns that repeat an earlier one are left out
    with a warning, because no correlation with or beside them exists.

    Parameters
    ----------
    data, target, y, columns, exclude
        As for `ingest`; every column must hold numbers or truth values.
    missing : {"error", "drop"}
        An error that names the columns, or delete rows with missing values (of the target too).

    Returns
    -------
    NumericTable
        Names, values and the number of the target.

    Examples
    --------
    >>> table = ingest_numeric({"a": [1.0, 2.5, 4.0], "b": [3, 1, 2]}, "b")
    >>> table.names, table.values.tolist(), table.target
    (('a', 'b'), [[1.0, 3.0], [2.5, 1.0], [4.0, 2.0]], 1)
    """
    if target is not None and y is not None:
        raise ParameterError("give the target as a column name or as y, not both")
    one_of("policy for missing values of numbers", missing, ("error", "drop"))
    table = open_table(data)
    check_size(table)
    place = None if target is None else find_column(table, target, TargetError)
    order = chosen_columns(table, place, columns, exclude)
    name, column = (None, None) if y is None else separate_target(table, order, y)
    wanted: list[tuple[str, Column | int]] = [(table.names[j], j) for j in order]
    if name is not None and column is not None:
        wanted.append((name, column))
    else:
        name = None if place is None else table.names[place]
    return _Matrix(table, wanted, name, missing, Audit()).run()


@dataclass(slots=True)
class _Matrix:
    """The way of one table of numbers."""

    table: Table
    wanted: list[tuple[str, Column | int]]
    target: str | None
    missing: str
    audit: Audit

    def run(self) -> NumericTable:
        """Read the columns, delete rows or complain, and put the columns side by side."""
        check_room(self.table.n_rows, len(self.wanted), bytes_each=8)
        values = np.empty((len(self.wanted), self.table.n_rows))
        kept = np.ones(self.table.n_rows, dtype=bool)
        names: list[str] = []
        for name, where in self.wanted:
            column = self._numbers(name, where)
            if column is not None:
                values[len(names)] = column.values
                if column.missing is not None:
                    kept &= ~column.missing
                names.append(name)
        self.audit.check(missing=self.missing)
        values = values[: len(names)] if kept.all() else values[: len(names), kept]
        varied = self._varied(names, values)
        self.audit.check(missing=self.missing)
        self.audit.warn()
        names = [names[k] for k in varied]
        values = values if len(varied) == len(values) else values[varied]
        target = None if self.target is None else names.index(self.target)
        return NumericTable(tuple(names), values.T, target, self._report(names, kept))

    def _numbers(self, name: str, where: Column | int) -> Numbers | None:
        """Read one column as numbers; None if it cannot be used."""
        try:
            column = self.table.read(where) if isinstance(where, int) else where
        except Refused as reason:
            self.audit.refuse(name, reason)
            return None
        if not isinstance(column, Numbers):
            if column.levels not in ((), (False, True)):
                self.audit.refuse(
                    name, "does not hold numbers; encode it as numbers, or leave it out with exclude=[...]"
                )
                return None
            column = Numbers(column.codes, column.missing)
        if endless := infinite(column):
            self.audit.infinite[name] = endless
        if is_constant(column, missing_counts=False) and name != self.target:
            self.audit.constant.append(name)
            return None
        if gaps := n_missing(column):
            self.audit.missing[name] = gaps
        return column

    def _varied(self, names: list[str], values: NDArray[np.float64]) -> list[int]:
        """Return the columns that vary and repeat no earlier one; a target that does not vary is an error."""
        seen: dict[bytes, str] = {}
        varied = []
        for k, name in enumerate(names):
            if not values.shape[1] or values[k].min() == values[k].max():
                if name == self.target:
                    self.audit.target.append(f"the target {name!r} has the same value in all rows, or none")
                else:
                    self.audit.constant.append(name)
                continue
            earlier = name if name == self.target else seen.setdefault(digest(values[k]), name)
            if earlier == name:
                varied.append(k)
            else:
                self.audit.duplicates.setdefault(earlier, []).append(name)
        return varied

    def _report(self, names: list[str], kept: Mask) -> DataReport:
        """Put on record what was done."""
        return DataReport(
            n_rows=int(np.count_nonzero(kept)),
            n_columns=len(names),
            n_rows_given=self.table.n_rows,
            n_columns_given=len(self.wanted),
            dropped_rows=int(np.count_nonzero(~kept)),
            constant=tuple(self.audit.constant),
            duplicates={name: tuple(copies) for name, copies in self.audit.duplicates.items()},
            missing=self.audit.missing,
            missing_policy=self.missing,
        )
