"""`Counter`: count tables of many x at once, given y and a conditioning set.

A request is answered in blocks of candidates small enough for the cache. One kernel counts a block, another
turns it into statistics, so that 139,351 candidates never become 139,351 objects. Counts from parts of the
rows can be added, which is all that a distributed backend needs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Columns = Sequence[int] | NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class TableBlock:
    """Counts of a block of candidates."""

    at: NDArray[np.int64]  # (k,): positions of the candidates in the request
    # (k, levels of x, levels of y, strata): only strata that occur are needed, in any order. The axis of x is as
    # long as the largest number of levels in the block; levels that a column does not have count 0. Rows without a
    # value of x, of y or of a given column are not counted, so the totals of the tables of a block may differ.
    counts: NDArray[np.int32]


class Counter(ABC):
    """Counts rows of a table, in memory or elsewhere."""

    names: tuple[str, ...]
    arities: NDArray[np.int64]  # (columns,)
    n_rows: int
    holes: frozenset[int] = frozenset()  # columns of which some rows have no value

    @abstractmethod
    def tables(self, xs: Columns, y: int, given: Columns = ()) -> Iterator[TableBlock]:
        """Yield the tables of each of ``xs`` with ``y`` in the strata of ``given``, block by block."""

    def summarize(
        self,
        summary: Callable[[NDArray[np.int32]], tuple[NDArray[np.float64], ...]],
        xs: Columns,
        y: int,
        given: Columns = (),
    ) -> tuple[NDArray[np.float64], ...]:
        """Apply a function of count tables to every block; return its arrays in the order of ``xs``."""
        parts = [(block.at, summary(block.counts)) for block in self.tables(xs, y, given)]
        return gathered(parts, len(xs))


def gathered(
    parts: Sequence[tuple[NDArray[np.int64] | slice, tuple[NDArray[np.float64], ...]]], n: int
) -> tuple[NDArray[np.float64], ...]:
    """Put the arrays of all blocks back into the order of the request."""
    width = len(parts[0][1]) if parts else 2
    out = tuple(np.empty(n) for _ in range(width))
    for at, values in parts:
        for whole, part in zip(out, values, strict=True):
            whole[at] = part
    return out
