"""Distinct rows with weights: the form in which structure learning and EM see the data.

Rows that are equal in the columns at hand are one row with a weight. A blanket of six binary columns and
its target has at most 128 different rows, however many patients were measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from blankets.data import Frame

__all__ = ["Codes", "Floats", "Ints", "Rows", "distinct_rows", "refine"]

Codes = NDArray[np.int32]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Weighted rows of categorical codes."""

    codes: NDArray[np.int32]  # one contiguous run of codes a column
    arities: NDArray[np.int64]  # number of declared levels of each column
    weights: NDArray[np.float64]  # how many rows of the data each row stands for; need not be whole numbers

    @property
    def total(self) -> float:
        """Sum of the weights: the number of rows of the data."""
        return float(self.weights.sum())


@njit(nogil=True, cache=True)
def refine(ids: Ints, n_groups: int, codes: NDArray[np.integer], arity: int, slots: Ints, used: Ints, out: Ints) -> int:
    """Split groups of rows by one more column; return how many groups there are then.

    ``ids`` holds the group of each row (0 ... n_groups - 1); ``out`` receives the finer groups, numbered
    by first appearance. ``slots`` is scratch of at least n_groups * arity entries, all -1 before and after.
    """
    found = 0
    for i in range(len(ids)):
        key = ids[i] * arity + codes[i]
        group = slots[key]
        if group < 0:
            group = found
            slots[key] = group
            used[found] = key
            found += 1
        out[i] = group
    for k in range(found):
        slots[used[k]] = -1
    return found


def distinct_rows(
    frame: Frame, columns: Sequence[int], weights: NDArray[np.float64] | None = None
) -> tuple[Rows, NDArray[np.int64]]:
    """Return the distinct rows of some columns, and for each row of the frame which of them it is.

    Examples
    --------
    >>> frame = Frame.from_codes([[0, 1], [1, 1], [0, 1]])
    >>> rows, which = distinct_rows(frame, [0, 1])
    >>> rows.codes.tolist(), rows.weights.tolist(), which.tolist()
    ([[0, 1], [1, 1]], [2.0, 1.0], [0, 1, 0])
    """
    arities = frame.arities[list(columns)]
    ids = np.zeros(frame.n_rows, np.int64)
    finer, used = np.empty_like(ids), np.empty_like(ids)
    n_groups = min(1, frame.n_rows)
    slots = np.full(max(frame.n_rows, 1) * int(arities.max(initial=1)), -1, np.int64)
    for j in columns:
        n_groups = refine(ids, n_groups, frame.column(j), frame.arities[j], slots, used, finer)
        ids, finer = finer, ids
    first = np.full(n_groups, frame.n_rows, np.int64)
    np.minimum.at(first, ids, np.arange(frame.n_rows))
    codes = np.array([frame.column(j)[first] for j in columns], np.int32).reshape(len(columns), n_groups)
    return Rows(codes, arities, np.bincount(ids, weights, minlength=n_groups).astype(np.float64)), ids
