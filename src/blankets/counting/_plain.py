"""Kernels of dense codes as plain NumPy: for small tables, before they are compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["NS_ROW", "cells_of", "count_dense", "extend_codes", "renumber"]

NS_ROW = 6.0  # what a row of a column takes


def count_dense(
    codes: NDArray[np.integer],
    xs: NDArray[np.int64],
    cells: NDArray[np.uint32],
    n_cells: int,
    counts: NDArray[np.int32],
) -> None:
    """Count columns ``xs`` of dense codes, shape (columns, rows)."""
    for i, x in enumerate(xs):
        counts[i] = np.bincount(cells + n_cells * codes[x].astype(np.int64), minlength=counts.shape[1])


def extend_codes(codes: NDArray[np.uint32], column: NDArray[np.integer], arity: int) -> NDArray[np.uint32]:
    """Return joint codes ``codes * arity + column``."""
    return codes * np.uint32(arity) + column.astype(np.uint32)


def cells_of(codes: NDArray[np.uint32], column: NDArray[np.integer], n_strata: int) -> NDArray[np.uint32]:
    """Return the cell of each row: level of y times the number of strata, plus its stratum."""
    return codes + np.uint32(n_strata) * column.astype(np.uint32)


def renumber(codes: NDArray[np.uint32], n_codes: int) -> int:
    """Renumber joint codes in place as 0, 1, ... in the order of the codes that occur; return how many."""
    seen = np.flatnonzero(np.bincount(codes, minlength=n_codes))
    new = np.zeros(n_codes, np.uint32)
    new[seen] = np.arange(len(seen))
    codes[:] = new[codes]
    return len(seen)
