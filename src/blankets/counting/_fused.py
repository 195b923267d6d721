"""Counting for compiled calls that answer whole questions about a dense table.

A search on thousands of rows asks thousands of small questions, and going through blocks and arrays costs more than
counting. These parts are put together with the statistics in `blankets.independence`, so that codes go in and answers
come out. Columns that are conditioned on come in ascending order, as the order of the strata follows from theirs.
"""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numba import njit
from numpy.typing import NDArray

from blankets.counting import _kernels as kernels
from blankets.counting._contract import Counter
from blankets.counting._memory import BITS_WIN_BELOW, BITS_WIN_LONG, LONG, RENUMBER_ABOVE, MemoryCounter
from blankets.counting._planes import on_disk
from blankets.data import DenseColumns, Frame, free_memory

__all__ = [
    "DenseTable",
    "Strata",
    "by_bits",
    "count_four",
    "count_one",
    "dense_table",
    "extend_strata",
    "joint_counts",
    "no_strata",
]

TOGETHER = 4  # columns that are counted together
MOST_STRATA = 1 << 20  # and four for each row; more are left to the counter
# Bytes of codes that are copied, where they do not lie in one block already: these, or an eighth of free memory.
MOST_COPIED = 64 << 20
MOST_OF_SPARSE = 256 << 20  # the same of sparse columns

_COPIED: WeakKeyDictionary[Frame, NDArray[np.uint8]] = WeakKeyDictionary()


class DenseTable(NamedTuple):
    """A table of narrow codes in memory, and the rules by which it is counted.

    Attributes
    ----------
    codes : ndarray of uint8 of shape (columns, rows)
    arities : ndarray of int64 of shape (columns,)
    planes, totals : ndarray of uint64, ndarray of int32
        Bits of all levels but the first, of the columns that have them, and how many are set.
    first_plane : ndarray of int64 of shape (columns,)
        Number of each column's first plane; -1 for columns that have none.
    bits_win_below : int
        Cells x (levels - 1) up to which bits are counted.
    renumber_above : int
        Number of joint codes above which strata are renumbered to those that occur.
    """

    codes: NDArray[np.uint8]
    arities: NDArray[np.int64]
    planes: NDArray[np.uint64]
    totals: NDArray[np.int32]
    first_plane: NDArray[np.int64]
    bits_win_below: int
    renumber_above: int


class Strata(NamedTuple):
    """Joint codes of a conditioning set and of its leading parts, from which those of the next set are extended.

    Attributes
    ----------
    codes : ndarray of uint32 of shape (depth + 1, rows)
        Row d holds the joint code of the first d columns.
    n_codes, columns : ndarray of int64
        How many codes there are at each depth; the columns.
    depth : ndarray of int64 of shape (1,)
        How many columns are in use.
    """

    codes: NDArray[np.uint32]
    n_codes: NDArray[np.int64]
    columns: NDArray[np.int64]
    depth: NDArray[np.int64]


def dense_table(counter: Counter, *, copy_sparse: bool = False) -> DenseTable | None:
    """Return the table behind a counter, if it has narrow columns only and lies in memory.

    Sparse columns may be copied as dense ones, up to 256 MB.
    """
    codes = _codes_of(counter.frame, copy_sparse=copy_sparse) if type(counter) is MemoryCounter else None
    if codes is None or not isinstance(counter, MemoryCounter):
        return None
    planes, totals = counter._planes
    below = BITS_WIN_BELOW if counter.n_rows <= LONG else BITS_WIN_LONG
    most = max(int(RENUMBER_ABOVE * counter.n_rows), 1)
    return DenseTable(codes, counter.arities, planes, totals, counter._first_plane, below, most)


def _codes_of(frame: Frame, *, copy_sparse: bool) -> NDArray[np.uint8] | None:
    """Return the codes of all columns in their order, if all are narrow and in memory."""
    if not frame.n_rows or on_disk(frame) or any(block.codes.dtype != np.uint8 for block in frame.blocks):
        return None
    first = frame.blocks[0]
    if len(frame.blocks) == 1 and isinstance(first, DenseColumns):
        if np.array_equal(frame.position, np.arange(len(first))):
            return np.ascontiguousarray(first.codes, np.uint8)
    all_dense = all(isinstance(block, DenseColumns) for block in frame.blocks)
    most = max(MOST_COPIED, free_memory() // 8) if all_dense else MOST_OF_SPARSE if copy_sparse else 0
    if frame.n_columns * frame.n_rows > most:
        return None
    if frame not in _COPIED:
        _COPIED[frame] = np.array([frame.column(x) for x in range(frame.n_columns)], np.uint8)
    return _COPIED[frame]


def no_strata(table: DenseTable, depth: int) -> Strata:
    """Return room for the joint codes of up to ``depth`` columns."""
    codes, n_codes = np.empty((depth + 1, table.codes.shape[1]), np.uint32), np.ones(depth + 1, np.int64)
    codes[0] = 0
    return Strata(codes, n_codes, np.empty(depth, np.int64), np.zeros(1, np.int64))


@njit(nogil=True, cache=True)
def extend_strata(table: DenseTable, given: NDArray[np.int64], strata: Strata) -> bool:
    """Make the joint codes those of ``given``, from the part that is there; tell whether they are few enough."""
    n_rows = table.codes.shape[1]
    d = 0
    while d < min(strata.depth[0], len(given)) and strata.columns[d] == given[d]:
        d += 1
    while d < len(given):
        arity, column = np.uint32(table.arities[given[d]]), table.codes[given[d]]
        n_joint = strata.n_codes[d] * table.arities[given[d]]
        if n_joint > 4 * n_rows + MOST_STRATA:
            strata.depth[0] = d
            return False
        before, after = strata.codes[d], strata.codes[d + 1]
        for r in range(n_rows):
            after[r] = before[r] * arity + np.uint32(column[r])
        if n_joint > table.renumber_above:
            n_joint = kernels.renumber(after, n_joint)
        strata.columns[d], strata.n_codes[d + 1] = given[d], n_joint
        d += 1
    strata.depth[0] = d
    return True


@njit(nogil=True, cache=True)
def by_bits(table: DenseTable, y: int, given: NDArray[np.int64]) -> int:
    """Return the number of cells of ``y`` in the strata if bits may count them, else a number too large for that."""
    too_many = table.bits_win_below + 1
    n_cells = table.arities[y] if table.first_plane[y] >= 0 else too_many
    for z in given:
        n_cells = n_cells * table.arities[z] if table.first_plane[z] >= 0 else too_many
        if n_cells >= too_many:
            return too_many
    return n_cells


@njit(nogil=True, cache=True)
def count_four(
    codes: NDArray[np.uint8],
    four: tuple[int, int, int, int],
    cells: NDArray[np.uint32],
    n_cells: int,
    tables: NDArray[np.int32],
) -> None:
    """Fill the tables of four columns in one pass.

    An increment waits for the one before it if both hit the same count, as they often do in skewed data; those of the
    other columns run meanwhile.
    """
    a, b, c, d = codes[four[0]], codes[four[1]], codes[four[2]], codes[four[3]]
    of_a, of_b, of_c, of_d = tables[0], tables[1], tables[2], tables[3]
    tables[:] = 0
    one, level = np.int32(1), np.uint32(n_cells)
    for r in range(len(cells)):
        cell = cells[r]
        of_a[cell + level * np.uint32(a[r])] += one
        of_b[cell + level * np.uint32(b[r])] += one
        of_c[cell + level * np.uint32(c[r])] += one
        of_d[cell + level * np.uint32(d[r])] += one


@njit(nogil=True, cache=True)
def count_one(column: NDArray[np.uint8], cells: NDArray[np.uint32], n_cells: int, tables: NDArray[np.int32]) -> None:
    """Fill the first table with the counts of one column, of which each quarter of the rows has a table of its own."""
    quarter = len(cells) // 4
    p, q, s = quarter, 2 * quarter, 3 * quarter
    of_a, of_b, of_c, of_d = tables[0], tables[1], tables[2], tables[3]
    tables[:] = 0
    one, level = np.int32(1), np.uint32(n_cells)
    for r in range(quarter):
        of_a[cells[r] + level * np.uint32(column[r])] += one
        of_b[cells[p + r] + level * np.uint32(column[p + r])] += one
        of_c[cells[q + r] + level * np.uint32(column[q + r])] += one
        of_d[cells[s + r] + level * np.uint32(column[s + r])] += one
    for r in range(4 * quarter, len(cells)):
        of_a[cells[r] + level * np.uint32(column[r])] += one
    for k in range(tables.shape[1]):
        of_a[k] += of_b[k] + of_c[k] + of_d[k]


@njit(nogil=True, cache=True)
def joint_counts(table: DenseTable, members: NDArray[np.int64], y: int) -> NDArray[np.int32]:
    """Return the counts of all combinations of levels, those of ``y`` slowest, those of the last member fastest."""
    cells, n_cells = np.zeros(table.codes.shape[1], np.uint32), 1
    for x in members:
        arity, column = np.uint32(table.arities[x]), table.codes[x]
        for r in range(len(cells)):
            cells[r] = cells[r] * arity + np.uint32(column[r])
        n_cells *= table.arities[x]
    tables = np.empty((TOGETHER, n_cells * table.arities[y]), np.int32)
    count_one(table.codes[y], cells, n_cells, tables)
    joint: NDArray[np.int32] = tables[0]
    return joint
