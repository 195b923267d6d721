"""`Encoder`: codes new rows with the same levels and cut points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from blankets.data._binning import bin_codes
from blankets.data._blocks import NumberColumn
from blankets.data._builder import FrameBuilder
from blankets.data._coding import by_levels
from blankets.data._columns import Column, Numbers, Refused, present
from blankets.data._data_report import Binning
from blankets.data._findings import Findings
from blankets.data._frame import Frame
from blankets.data._sparse import note_gaps, recode_sparse
from blankets.data._tables import Table, open_table
from blankets.data._texts import UNTYPED, understood
from blankets.errors import BlanketsWarning, DataError, did_you_mean, listed, warn
from blankets.records import Count, refuse


@dataclass(frozen=True, eq=False)
class Encoder:
    """Stores how a table was turned into codes, and does the same to new rows."""

    names: tuple[str, ...]  # columns of the frame
    levels: tuple[tuple[Any, ...], ...]  # their levels
    binned: Mapping[str, Binning]  # cut points of the continuous ones
    target: str | None  # name of the target; new rows may come without it
    # the policy for missing values; new rows are never dropped, so "drop" is an error here
    missing: Annotated[str, Literal["testwise", "level", "drop", "error"]]
    missing_labels: Mapping[str, str]  # name of the level that means "missing", for columns that have one
    # For tables without column names: the number of columns. New rows must have as many, or all but the last if
    # that was the target.
    n_columns_in: Count | None = None

    def _check(self) -> None:
        if len(self.names) != len(self.levels) or len(set(self.names)) < len(self.names):
            refuse("'names' and 'levels' in 'encoder' differ in number, or a name is there twice")
        if not all(isinstance(level, str | int | float) for some in self.levels for level in some):
            refuse("'levels' in 'encoder' hold values that are neither texts nor numbers")

    def transform(self, new_data: Any) -> Frame:
        """Return new rows as codes of the same levels.

        Columns are matched by name (by number in matrices) and may be in another order; other columns
        are ignored. The target may be absent; then the frame has only the features. A new level gets
        a code after all known ones, and a warning says how many rows have a new level.

        ``new_data``: any container that `ingest` accepts.

        Examples
        --------
        >>> from blankets.data import ingest
        >>> first = ingest({"dose": ["low", "high", "low", "high"], "cured": [0, 1, 1, 0]}, "cured")
        >>> frame = first.encoder.transform({"dose": ["high", "low"]})
        >>> frame.names, frame.levels, frame.column(0).tolist()
        (('dose',), (('high', 'low'),), [0, 1])
        """
        table = open_table(new_data)
        wanted = self._columns_in(table)
        gaps = self.missing == "testwise" and table.sparse is not None and bool(np.isnan(table.sparse.data).any())
        if table.sparse is not None and not gaps and all(self.levels[k][:1] == (0,) for k in wanted):
            return self._transform_sparse(table, wanted)
        findings, new_rows = Findings(), dict[str, int]()
        builder = FrameBuilder(table.n_rows, len(wanted))
        for k, j in wanted.items():
            name = self.names[k]
            try:
                column = self._as_before(k, table.read(j))
                if endless := column.n_infinite:
                    findings.infinite[name] = endless
                if isinstance(column, Numbers) and not self.levels[k]:
                    if column.missing is not None and name != self.target and self.missing != "testwise":
                        findings.missing[name] = column.n_missing
                    builder.add_number(name, NumberColumn.of(column), holes=column.missing is not None)
                    continue
                codes, levels = self._recode(k, column, findings, new_rows)
            except Refused as reason:
                findings.refuse(name, reason)
                continue
            holes = self.missing == "testwise" and column.missing is not None and name != self.target
            builder.add(name, codes, levels, holes=holes)
        findings.check(missing="error")
        _warn_of_new_levels(new_rows)
        return builder.frame()

    def _columns_in(self, table: Table) -> dict[int, int]:
        """Return, for each column of the frame, its number in the new table."""
        n, before = len(table.names), self.n_columns_in
        if before is not None and table.positional and n != before:
            if n != before - 1 or self.target != f"x{n}":
                raise DataError(
                    f"the new rows have {n} columns, but there were {before}; columns are matched by number here"
                )
        index = table.index
        absent = [name for name in self.names if name not in index and name != self.target]
        if absent:
            near = did_you_mean(absent[0], table.names)
            raise DataError(f"the new rows lack the columns {listed(absent)}{near}")
        return {k: index[name] for k, name in enumerate(self.names) if name in index}

    def _as_before(self, k: int, column: Column) -> Column:
        """Return texts as numbers, where the column held numbers before."""
        if self.levels[k] and self.names[k] not in self.binned:
            return column
        numbers = understood(column, UNTYPED)
        if not isinstance(numbers, Numbers):
            raise Refused("held numbers before and does not now")
        return numbers

    def _recode(
        self, k: int, column: Column, findings: Findings, new_rows: dict[str, int]
    ) -> tuple[NDArray[np.integer[Any]], tuple[object, ...]]:
        """Return codes by the known levels, and the levels with new ones appended."""
        name, levels = self.names[k], self.levels[k]
        if isinstance(column, Numbers) and name in self.binned:
            codes: NDArray[np.integer[Any]] = bin_codes(column.values, np.array(self.binned[name].cuts))
        else:
            codes, added = by_levels(column, levels)
            levels = (*levels, *added)
            if added:
                new_rows[name] = int(np.count_nonzero(present(codes, column.missing) >= len(self.levels[k])))
        if column.missing is None:
            return codes, levels
        if name == self.target:
            return np.where(column.missing, 0, codes), levels
        if self.missing == "testwise":
            return np.where(column.missing, len(levels), codes), levels
        if self.missing != "level":
            findings.missing[name] = column.n_missing
            return codes, levels
        label = self.missing_labels.get(name, "missing")
        if label not in levels:
            new_rows[name] = new_rows.get(name, 0) + column.n_missing
            levels = (*levels, label)
        return np.where(column.missing, levels.index(label), codes), levels

    def _transform_sparse(self, table: Table, wanted: dict[int, int]) -> Frame:
        """Recode a sparse matrix without making it dense."""
        from scipy.sparse import csc_array

        matrix = csc_array(table.sparse[:, list(wanted.values())])
        findings = Findings()
        names = [self.names[k] for k in wanted]
        note_gaps(matrix, names, findings)
        findings.check(missing="level" if self.missing == "level" else "error")
        block, levels, new_rows = recode_sparse(matrix, [self.levels[k] for k in wanted])
        _warn_of_new_levels({names[j]: n for j, n in new_rows.items()})
        where = np.arange(len(names), dtype=np.int64)
        return Frame(tuple(names), tuple(levels), table.n_rows, (block,), np.zeros_like(where), where)


def _warn_of_new_levels(new_rows: dict[str, int]) -> None:
    """Warn of new levels, all columns in one warning."""
    if new_rows:
        counts = ", ".join(f"{name!r} ({n} rows)" for name, n in list(new_rows.items())[:8])
        more = f" and {len(new_rows) - 8} more columns" if len(new_rows) > 8 else ""
        warn(f"new levels, not seen before: {counts}{more}", BlanketsWarning)
