"""Several completed tables in place of one with missing values (multiple imputation)."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np

from blankets.data._reading import OF_ROWS, Reading
from blankets.errors import DataError, ParameterError
from blankets.voice import option


def completed_tables(data: Any) -> tuple[Any, ...] | None:
    """Return the tables if they are several data frames, in a list or a tuple; None for anything else.

    >>> completed_tables([[0, 1], [1, 0]]) is None
    True
    """
    several = isinstance(data, list | tuple) and len(data) > 0 and all(hasattr(table, "columns") for table in data)
    if not several:
        return None
    if len(data) < 2:
        raise DataError("a list of completed tables holds one table; pooling needs at least two, better ten or more")
    return tuple(data)


def stacked(tables: tuple[Any, ...]) -> Any:
    """Return all completed tables below each other, as one data frame."""
    first = _names(tables[0])
    for number, table in enumerate(tables[1:], start=2):
        if _names(table) != first or len(table) != len(tables[0]):
            raise DataError(
                f"completed tables must have the same columns and rows; table {number} differs from the first: "
                f"{len(table):,} rows and {len(table.columns)} columns, not {len(tables[0]):,} and {len(first)}"
            )
    home = sys.modules[type(tables[0]).__module__.partition(".")[0]]
    put_together = getattr(home, "concat", None) or getattr(home, "concat_tables", None)  # Arrow has its own word
    if put_together is None or any(type(table) is not type(tables[0]) for table in tables):
        raise DataError("completed tables must all be data frames of pandas, or all of polars, or all Arrow tables")
    try:
        return put_together(list(tables))
    except Exception as error:  # noqa: BLE001  # each library has its own errors
        said = str(error).partition("\n")[0]
        raise DataError(
            f"completed tables cannot be put below each other: {said}; do columns have equal types?"
        ) from None


def _names(table: Any) -> list[str]:
    return [str(name) for name in getattr(table, "column_names", table.columns)]  # the former for Arrow


def repeated(values: Any, times: int) -> Any:
    """Return one value for each row as often as there are tables; names of columns, and None, stay as they are.

    >>> repeated([1, 2], 2).tolist(), repeated("w", 2)
    ([1, 2, 1, 2], 'w')
    """
    if values is None or isinstance(values, str | int):
        return values
    return np.tile(np.asarray(values), times)


def repeated_reading(reading: Reading, times: int) -> Reading:
    """Return how so many tables are read as one: values for each row are repeated."""
    if reading.missing not in ("testwise", "error"):
        raise ParameterError(
            f"{option(missing=reading.missing)} is for a table with gaps, but these tables are completed"
        )
    return replace(reading, **{name: repeated(getattr(reading, name), times) for name in OF_ROWS})
