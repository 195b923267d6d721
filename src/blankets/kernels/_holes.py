"""Columns of which some rows have no value: each test counts the rows that have all it needs.

Such rows have the code beyond the levels of a column, and the joint code beyond those of the strata. They are counted
in a slice and a cell of their own, which are left out before the statistic. So the tables of different candidates have
different rows, and share neither margins nor the number that reliability asks for.
"""

from __future__ import annotations

from blankets.kernels._answers import Answers, answer
from blankets.kernels._bits import bits_of, common_bits, split_cells, whole_mask
from blankets.kernels._formula import Formula, Table
from blankets.kernels._room import Room
from blankets.kernels._statistics import share_strata
from blankets.kernels._types import *


@inner
def has_gaps(table: Table, xs: Ints, y: int64, given: Ints, n_given: int64) -> bint:
    """Whether some column of the tests has holes."""
    if not table.holey:
        return False
    if table.holes[y]:
        return True
    for d in range(n_given):
        if table.holes[given[d]]:
            return True
    for i in range(xs.shape[0]):
        if table.holes[xs[i]]:
            return True
    return False


@inner
def _mask_seen(table: Table, chunk: int64, y: int64, given: Ints, n_given: int64, room: Room) -> void:
    """Fill the masks of the cells with the rows of a chunk that have a value of y and of all that is given."""
    words: int64 = table.planes.shape[2]
    whole_mask(table.n_rows - 64 * words * chunk, room.masks)
    for d in range(n_given + 1):
        z: int64 = y if d == 0 else given[d - 1]
        if table.holes[z]:
            hole: int64 = table.first[z] + table.arities[z] - 1
            for w in range(words):
                room.masks[0, w] &= ~table.planes[chunk, hole, w]
    split_cells(table.planes, chunk, room.cell_first, room.cell_arity, n_given + 1, room.masks)


@inner
def count_seen(
    table: Table, xs: Ints, y: int64, given: Ints, n_given: int64, n_cells: int64, begin: int64, n: int64, room: Room
) -> void:
    """Fill the tables of ``n`` candidates, from the place ``begin`` on, by bits.

    The masks of a single chunk are those of the call before, unless ``begin`` is 0.
    """
    for k in range(n):
        for c in range(n_cells * table.arities[xs[room.at[begin + k]]]):
            room.tables[k, c] = 0
    for chunk in range(table.planes.shape[0]):
        if begin == 0 or table.planes.shape[0] > 1:
            _mask_seen(table, chunk, y, given, n_given, room)
            for c in range(n_cells):
                room.in_chunk[c] = bits_of(room.masks, c)
        for k in range(n):
            x: int64 = xs[room.at[begin + k]]
            arity: int64 = table.arities[x]
            for c in range(n_cells):
                left: int64 = room.in_chunk[c]
                if left == 0:
                    continue
                for level in range(1, arity + table.holes[x]):
                    found: int64 = common_bits(table.planes, chunk, table.first[x] + level - 1, room.masks, c)
                    left -= found
                    if level < arity:
                        room.tables[k, level * n_cells + c] += found
                room.tables[k, c] += left


@inner
def leave_out(room: Room, k: int64, n_x: int64, n_cells: int64) -> void:
    """Move the counts of a table together, without the last cell of each level and without the last level."""
    for x in range(1, n_x):
        for c in range(n_cells):
            room.tables[k, x * n_cells + c] = room.tables[k, x * (n_cells + 1) + c]


@inner
def answer_seen(
    i: int64,
    k: int64,
    shares: bint,
    n_x: int64,
    n_y: int64,
    n_z: int64,
    formula: Formula,
    room: Room,
    answers: Answers,
) -> int64:
    """Fill in the answer to question ``i`` if its table has rows enough; return whether it has."""
    if not shares:
        share_strata(room.tables, k, n_x, n_y, n_z, formula, room)
    n: int64 = 0
    for z in range(n_z):
        n += room.size[z]
    answers.rows[i] = n
    if n == 0 or n < formula.reliability * answers.dof[i]:
        answers.reliable[i] = 0
        answers.dof[i] = 0.0
        return 0
    answer(i, k, n_x, n_y, n_z, formula, room, answers)
    return 1
