"""Scans given nothing, from bits to statistics in one pass: the widest scans there are, at the speed of memory.

Sums are taken as elsewhere, so that the numbers are the same to the last bit.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from blankets.counting import BitTable, MemoryCounter, cell_masks, common_bits, popcount
from blankets.independence._fused import Formula
from blankets.stats import fill_statistics, strata_of_table

__all__ = ["Statistics", "statistics_by_bits"]

Statistics = tuple[NDArray[np.float64], ...]
_BLOCK = 4096  # columns whose tables stay in the second-level cache


def statistics_by_bits(
    counter: MemoryCounter, bits: BitTable, formula: Formula, xs: NDArray[np.int64], y: int
) -> Statistics:
    """Return statistics and adjusted degrees of freedom of ``xs`` with ``y``, on several threads if that pays."""
    statistic, dof = np.empty(len(xs)), np.empty(len(xs))
    share = -(-len(xs) // counter.threads_for_scan(len(xs))) or 1

    def work(start: int) -> None:
        part = slice(start, start + share)
        _fill_by_bits(bits, formula, xs[part], y, statistic[part], dof[part])

    others = [counter.pool.submit(work, start) for start in range(share, len(xs), share)]
    work(0)
    for other in others:
        other.result()
    return statistic, dof


@njit(nogil=True, cache=True)
def _fill_by_bits(
    bits: BitTable,
    formula: Formula,
    xs: NDArray[np.int64],
    y: int,
    statistic: NDArray[np.float64],
    dof: NDArray[np.float64],
) -> None:
    """Fill in the answers, block by block."""
    terms, n_y, widest, most = formula.terms, bits.arities[y], bits.widest, min(_BLOCK, len(xs))
    masks, of_y = np.empty((n_y, bits.planes.shape[1]), np.uint64), np.empty(n_y, np.int32)
    cell_masks(bits.planes, bits.first[y : y + 1], bits.arities[y : y + 1], bits.n_rows, masks)
    for c in range(n_y):
        of_y[c] = common_bits(masks[c], masks[c])
    shared, in_pairs = strata_of_table(of_y, (1, n_y, 1), terms), n_y == widest == 2 and not formula.want_x2
    tables, places, some, free = np.empty((most, widest * n_y), np.int32), np.empty(most, np.int64), dof, dof
    for start in range(0, len(xs), _BLOCK):
        here = slice(start, min(start + _BLOCK, len(xs)))
        if in_pairs:
            of_pairs = shared[1][0], shared[3], statistic[here], dof[here]
            n = _fill_pairs(bits, terms, xs[here], masks[1], *of_pairs, places, tables)
            some, free = np.empty(n), np.empty(n)
        else:
            n, some, free = len(xs[here]), statistic[here], dof[here]
            for k in range(n):
                _count_one(bits, xs[start + k], masks, of_y, tables[k])
        fill_statistics(tables[:n], (widest, n_y, 1), terms, shared, formula.want_x2, some, free)
        if in_pairs:
            for k in range(n):
                statistic[start + places[k]], dof[start + places[k]] = some[k], free[k]


@njit(nogil=True, cache=True)
def _fill_pairs(
    bits: BitTable,
    terms: NDArray[np.int64],
    xs: NDArray[np.int64],
    mask: NDArray[np.uint64],
    of_y: int,
    enough: float,
    statistic: NDArray[np.float64],
    dof: NDArray[np.float64],
    places: NDArray[np.int64],
    tables: NDArray[np.int32],
) -> int:
    """Fill in G of columns of at most two levels with a column of two: the tables never leave the registers.

    Returns how many are left to do, with their places and tables: constant columns, and those whose G is too small
    for a sum of tabled n ln n.
    """
    n, c, unit = np.uint32(bits.n_rows), np.uint32(common_bits(mask, mask)), 2.0 ** (1 - terms[-1])
    planes, firsts, totals, n_left = bits.planes, bits.first, bits.totals, 0
    for i in range(len(xs)):
        first, found = firsts[xs[i]], np.uint64(0)
        for w in range(len(mask)):
            found += popcount(planes[first, w] & mask[w])
        a, r = np.uint32(found), np.uint32(totals[first])
        part = of_y + terms[a] + terms[r - a] + terms[c - a] + terms[n + a - r - c] - terms[r] - terms[n - r]
        g = unit * part
        statistic[i], dof[i] = g, 1.0
        if not (g >= enough and np.uint32(0) < r < n):
            places[n_left], table = i, tables[n_left]
            table[0], table[1], table[2], table[3] = n + a - r - c, c - a, r - a, a
            n_left += 1
    return n_left


@njit(nogil=True, cache=True)
def _count_one(
    bits: BitTable, x: int, masks: NDArray[np.uint64], of_y: NDArray[np.int32], table: NDArray[np.int32]
) -> None:
    """Fill the flat table of one column; its first level, and the first cell of the others, are what is left."""
    n_y, first = len(of_y), bits.first[x]
    for k in range(len(table)):
        table[k] = of_y[k] if k < n_y else 0
    for level in range(1, bits.arities[x]):
        plane, left = bits.planes[first + level - 1], bits.totals[first + level - 1]
        for c in range(1, n_y):
            found = common_bits(plane, masks[c])
            table[level * n_y + c] = found
            table[c] -= found
            left -= found
        table[level * n_y] = left
        table[0] -= left
