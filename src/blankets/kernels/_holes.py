"""Whole questions about columns of which some rows have no value: each test counts the rows that have all it needs.

Such rows have the code beyond the levels of a column, and the joint code beyond those of the strata. They are counted
in a slice and a stratum of their own, which are left out before the statistic. So the tables of different candidates
have different rows, and share neither margins nor the number that reliability asks for.
"""

from __future__ import annotations

from typing import Any

from blankets.kernels._answers import Answers, answer
from blankets.kernels._bits import bits_of, common_bits, split_cells, whole_mask
from blankets.kernels._formula import Formula, Table
from blankets.kernels._questions import (
    MOST_COUNTS,
    NO_MEMORY,
    TOO_LARGE,
    cells_of_bits,
    checked,
    extend_strata,
    in_order,
    room_for_bits,
)
from blankets.kernels._room import Room, given_back, has_room, taken
from blankets.kernels._rows import SLOTS_PAY, count_columns, group_of, join_seen, slots_of
from blankets.kernels._statistics import share_strata
from blankets.kernels._types import *


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
def _count_seen(
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
def _answer_seen(
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


@inner
def _seen_by_bits(
    table: Table,
    formula: Formula,
    xs: Ints,
    n: int64,
    y: int64,
    given: Ints,
    n_given: int64,
    n_cells: int64,
    room: Room,
    answers: Answers,
) -> int64:
    """Answer the questions at the first ``n`` places in ``room.at`` by counting bits; return the number of tests."""
    n_y: int64 = table.arities[y]
    n_z: int64 = n_cells // n_y
    size: int64 = room_for_bits(table, xs, n, y, given, n_given, n_cells, room)
    if size < 0:
        return size
    performed: int64 = 0
    shares: bint = False
    done: int64 = 0
    while done < n:
        m: int64 = min(size, n - done)
        _count_seen(table, xs, y, given, n_given, n_cells, done, m, room)
        for k in range(m):
            i: int64 = room.at[done + k]
            x: int64 = xs[i]
            hole: bint = table.holes[x]
            n_x: int64 = table.arities[x]
            performed += _answer_seen(i, k, shares and not hole, n_x, n_y, n_z, formula, room, answers)
            shares = not hole
        done += m
    return performed


@inner
def _leave_out(room: Room, k: int64, n_x: int64, n_cells: int64) -> void:
    """Move the counts of a table together, without the last cell of each level and without the last level."""
    for x in range(1, n_x):
        for c in range(n_cells):
            room.tables[k, x * n_cells + c] = room.tables[k, x * (n_cells + 1) + c]


@inner
def test_seen(
    table: Table,
    formula: Formula,
    xs: Ints,
    y: int64,
    given: Ints,
    n_given: int64,
    room: Room,
    answers: Answers,
) -> int64:
    """Do what `test_each` does for a table with holes, and fill in the rows that each test had."""
    n_bits: int64 = in_order(table, formula, xs, y, given, n_given, room, answers)
    n: int64 = room.start[0]
    n_y: int64 = table.arities[y]
    performed: int64 = 0
    if n_bits > 0:
        n_cells: int64 = cells_of_bits(table, y, given, n_given)
        performed = _seen_by_bits(table, formula, xs, n_bits, y, given, n_given, n_cells, room, answers)
    if n == n_bits or performed < 0:
        return performed
    n_z: int64 = extend_strata(table, given, n_given, room)
    if n_z < 0:
        return n_z
    n_cells = n_y * n_z
    join_seen(room.codes, room.depth, n_z, 1, table.codes, y, n_y, n_z, room.cells, 0)
    for k in range(n):
        room.x_first[k] = xs[room.at[k]]
    shares: bint = False
    room.lanes.n_slots = 0
    done: int64 = n_bits
    while done < n:
        m: int64 = group_of(room.x_first, done, n - done, table.arities, 1, n_cells + 1)
        widest: int64 = table.arities[room.x_first[done + m - 1]] + 1
        if (n_cells + 1) * widest > MOST_COUNTS:
            return TOO_LARGE
        if not has_room(room, m, (n_cells + 1) * widest, n_cells + 1, n_z, widest, n_y):
            return NO_MEMORY
        if room.lanes.n_slots == 0 and n - done >= SLOTS_PAY:
            slots_of(room.cells, table.codes.shape[1], n_cells + 1, room.lanes)
        count_columns(
            table.codes, room.x_first, done, m, table.arities, 1, room.cells, n_cells + 1, room.lanes, room.tables, 0
        )
        for k in range(m):
            i: int64 = room.at[done + k]
            n_x: int64 = table.arities[xs[i]]
            hole: bint = table.holes[xs[i]]
            _leave_out(room, k, n_x, n_cells)
            performed += _answer_seen(i, k, shares and not hole, n_x, n_y, n_z, formula, room, answers)
            shares = not hole
        done += m
    return performed


@door
def test_seen_columns(
    table: Table, formula: Formula, xs: Ints, y: int64, given: Ints
) -> tuple[int, Any, Any, Any, Any, Any, Any]:
    """Test each of ``xs`` against ``y`` given a set, in ascending order, where columns may have holes.

    Returns what `test_columns` does, and the rows that each test had (NaN where none was tried).
    """
    checked(table, xs, y, given)
    n: int64 = xs.shape[0]
    n_given: int64 = given.shape[0]
    answers: Answers = Answers(n)
    room: Room = taken(formula, table, n, n_given)
    n_tests: int64 = 0
    with nogil:
        for i in range(n):
            room.skip[i] = 0
        n_tests = test_seen(table, formula, xs, y, given, n_given, room, answers)
    given_back(formula, room)
    if n_tests == NO_MEMORY:
        raise MemoryError
    return n_tests, *answers.as_arrays()
