"""The same table with other rows: drawn again, its target shuffled, or with columns of noise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from blankets.data import Frame, NumericTable

MOST_CLASSES = 20  # a target with more distinct values is a measurement, not classes

Rows = Frame | NumericTable


def strata_of(target: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the classes by which rows are drawn: the values of the target if these are few, otherwise none."""
    values, codes = np.unique(target, return_inverse=True)
    return codes.astype(np.int64) if len(values) <= MOST_CLASSES else np.zeros(len(target), np.int64)


def taken(table: Rows, target: int, rows: NDArray[np.int64]) -> tuple[Rows, int]:
    """Return some rows and the target's column; of numbers, without features that are constant in these rows."""
    if isinstance(table, Frame):
        return table.take(rows), target
    values = np.asfortranarray(table.values[rows])
    varied = np.ptp(values, axis=0) > 0
    varied[target] = True
    names = tuple(name for name, varies in zip(table.names, varied, strict=True) if varies)
    at = int(np.count_nonzero(varied[:target]))
    return replace(table, names=names, values=values[:, varied], target=at), at


def permuted(table: Rows, target: int, order: NDArray[np.int64]) -> Rows:
    """Return the table with the values of its target in another order."""
    if isinstance(table, Frame):
        return table.reordered(target, order)
    values = table.values.copy(order="F")
    values[:, target] = values[order, target]
    return replace(table, values=values)


def with_noise(table: Rows, columns: Mapping[str, int], order: Callable[[], NDArray[np.int64]]) -> Rows:
    """Return the table with copies of some columns, each in another order of the rows, under new names."""
    if isinstance(table, Frame):
        noisy = table
        for name, x in columns.items():
            noisy = noisy.reordered(x, order(), name)
        return noisy
    noise = [table.values[order(), x] for x in columns.values()]
    return replace(table, names=(*table.names, *columns), values=np.column_stack([table.values, *noise]))
