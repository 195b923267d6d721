"""A stand-in for tools written in C and C++ that cannot be installed everywhere: one table at a time.

Plain loops over 32-bit codes: for every table the stratum of each row is worked out anew from the
conditioning columns and one count is raised, as such tools do. Everything above the counts is ours, so that the
answers are the same and only the way of counting differs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from blankets import kernels
from blankets.counting import Counter, TableBlock
from blankets.data import Frame

Columns = NDArray[np.int64]


def count_each(
    codes: NDArray[np.int32],
    arities: Columns,
    xs: Columns,
    y: int,
    given: Columns,
    counts: NDArray[np.int32],
) -> None:
    """Count the tables of ``xs``, of shape (levels of x, levels of y, strata), one after the other."""
    for x, table in zip(xs, counts, strict=True):
        cells = codes[y].astype(np.uint32)
        for z in given:
            cells = cells * np.uint32(arities[z]) + codes[z].astype(np.uint32)
        kernels.count_wide(codes[x], cells.reshape(1, -1), table[0].size, table.reshape(-1))


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
