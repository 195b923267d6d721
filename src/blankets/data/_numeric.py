"""Tables that stay numbers, for tests of continuous data."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blankets.arguments import one_of
from blankets.data._blocks import digest
from blankets.data._columns import Column, Numbers, Refused
from blankets.data._data_report import DataReport
from blankets.data._findings import Findings, Repeats, warn_of_dropping
from blankets.data._reading import DEFAULT, Reading
from blankets.data._request import AskedColumns
from blankets.data._room import check_room
from blankets.data._tables import open_table
from blankets.errors import ParameterError
from blankets.voice import option


@dataclass(frozen=True, eq=False)
class NumericTable:
    """A table of floating-point numbers."""

    names: tuple[str, ...]  # one name per column
    values: NDArray[np.float64]  # (rows, columns): the numbers, each column contiguous in memory
    target: int | None  # number of the target's column
    report: DataReport  # what was done

    def fingerprint(self) -> str:
        """Return a hash of names and numbers, to tell whether two tables are the same."""
        made = hashlib.sha256(repr((self.values.shape, self.names)).encode("utf-8", "surrogatepass"))
        for column in self.values.T:
            made.update(digest(column))
        return made.hexdigest()


def ingest_numeric(
    data: Any, target: str | int | None = None, *, y: Any = None, reading: Reading = DEFAULT
) -> NumericTable:
    """Turn any table of numbers into one matrix, without binning.

    Booleans become 0 and 1. Constant columns and columns that repeat an earlier one are left out
    with a warning, because correlations with them, or given them, do not exist.

    ``data``, ``target``, ``y``: as for `ingest`; every column must hold numbers or truth values. ``reading``: which
    columns are read, and whether rows with missing values (of the target too) are an error or deleted.

    Examples
    --------
    >>> table = ingest_numeric({"a": [1.0, 2.5, 4.0], "b": [3, 1, 2]}, "b")
    >>> table.names, table.values.tolist(), table.target
    (('a', 'b'), [[1.0, 3.0], [2.5, 1.0], [4.0, 2.0]], 1)
    """
    one_of("policy for missing values of numbers", reading.missing, ("testwise", "error", "drop"))
    for name in ("groups", "survey_weight"):
        if getattr(reading, name) is not None:
            raise ParameterError(
                f"{option(name)} is not built for {option(test='fisher-z')}; take {option(test='auto')}, which "
                f"cuts numbers"
            )
    asked = AskedColumns.of(open_table(data, reading.of_files), target, y, reading)
    findings, table = Findings(notes=list(asked.table.notes)), asked.table
    wanted: list[tuple[str, Column | int]] = [(table.names[j], j) for j in asked.order]
    if asked.target is not None and asked.beside is not None:
        wanted.append((asked.target, asked.beside))
    check_room(table.n_rows, len(wanted), bytes_each=8)
    values, kept = np.empty((len(wanted), table.n_rows)), np.ones(table.n_rows, dtype=bool)
    names: list[str] = []
    for name, where in wanted:
        column = _numbers(asked, name, where, findings)
        if column is not None:
            values[len(names)] = column.values
            if column.missing is not None:
                kept &= ~column.missing
            names.append(name)
    findings.check(missing=reading.missing, of_numbers=True)
    rows, n_given = asked.units.chosen(None if kept.all() else kept, table.n_rows), asked.units.n_rows(table.n_rows)
    values = values[: len(names)] if rows is None else np.ascontiguousarray(values[: len(names), rows])
    varied = _varied(asked, names, values, findings)
    findings.check(missing=reading.missing, of_numbers=True)
    findings.warn()
    names = [names[k] for k in varied]
    values = values if len(varied) == len(values) else values[varied]
    warn_of_dropping(values.shape[1], n_given)
    report = findings.report(
        n_rows=values.shape[1],
        n_columns=len(names),
        n_rows_given=n_given,
        n_columns_given=len(wanted),
        dropped_rows=n_given - values.shape[1],
        missing_policy=reading.missing,
    )
    return NumericTable(tuple(names), values.T, None if asked.target is None else names.index(asked.target), report)


def _numbers(asked: AskedColumns, name: str, where: Column | int, findings: Findings) -> Numbers | None:
    """Read one column as numbers; None if it cannot be used."""
    try:
        column = asked.table.read(where) if isinstance(where, int) else where
    except Refused as reason:
        findings.refuse(name, reason)
        return None
    if not isinstance(column, Numbers):
        if column.levels not in ((), (False, True)):
            findings.refuse(
                name, f"does not hold numbers; encode it as numbers, or leave it out with {option(exclude=...)}"
            )
            return None
        column = Numbers(column.codes, column.missing)
    if endless := column.n_infinite:
        findings.infinite[name] = endless
    values = column.present
    if name != asked.target and (not len(values) or values.min() == values.max()):
        findings.constant.append(name)
        return None
    if gaps := column.n_missing:
        findings.missing[name] = gaps
    return column


def _varied(asked: AskedColumns, names: list[str], values: NDArray[np.float64], findings: Findings) -> list[int]:
    """Return the columns that vary and repeat no earlier one; a constant target is an error."""
    repeats, varied = Repeats(findings, frozenset(), None), []
    for k, name in enumerate(names):
        if values.shape[1] and values[k].min() < values[k].max():
            varied += [k] if name == asked.target or repeats.new(name, digest(values[k])) else []
        elif name == asked.target:
            findings.target.append(f"the target {name!r} has the same value in all rows, or none")
        else:
            findings.constant.append(name)
    return varied
