"""A stand-in for tools written in C and C++ that cannot be installed everywhere: one table at a time.

Plain compiled loops over 32-bit codes: for every table the stratum of each row is worked out anew from the
conditioning columns and one count is raised, as such tools do. Everything above the counts is ours, so that the
answers are the same and only the way of counting differs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numba import njit
from numpy.typing import NDArray

from blankets.counting import Counter, TableBlock
from blankets.data import Frame

Columns = NDArray[np.int64]


@njit(nogil=True, cache=True)
def count_one(
    codes: NDArray[np.int32],
    arities: Columns,
    x: int,
    y: int,
    given: Columns,
    counts: NDArray[np.int32],
) -> None:
    """Count one table of shape (levels of x, levels of y, strata)."""
    counts[:] = 0
    for r in range(codes.shape[1]):
        stratum = 0
        for z in given:
            stratum = stratum * arities[z] + codes[z, r]
        counts[codes[x, r], codes[y, r], stratum] += 1


@njit(nogil=True, cache=True)
def count_each(
    codes: NDArray[np.int32],
    arities: Columns,
    xs: Columns,
    y: int,
    given: Columns,
    counts: NDArray[np.int32],
) -> None:
    """Count the tables of ``xs`` one after the other."""
    for i in range(len(xs)):
        count_one(codes, arities, xs[i], y, given, counts[i])


class OneTableAtATime(Counter):
    """Counts the tables of a request one after the other, each from scratch."""

    def __init__(self, frame: Frame) -> None:
        self.names, self.arities, self.n_rows = frame.names, frame.arities, frame.n_rows
        self.codes = np.array([frame.column(j) for j in range(frame.n_columns)], np.int32)

    def tables(self, xs: NDArray[np.int64] | list[int], y: int, given: object = ()) -> Iterator[TableBlock]:  # type: ignore[override]
        """Yield all tables in one block."""
        columns, conditioning = np.asarray(xs, np.int64), np.asarray(given, np.int64)
        if not len(columns):
            return
        n_strata = math.prod(self.arities[conditioning].tolist())
        shape = len(columns), int(self.arities[columns].max()), int(self.arities[y]), n_strata
        counts = np.empty(shape, np.int32)
        count_each(self.codes, self.arities, columns, y, conditioning, counts)
        yield TableBlock(np.arange(len(columns)), counts)
