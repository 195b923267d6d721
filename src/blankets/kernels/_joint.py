"""Tests of each member given all the others, from one table of them all."""

from __future__ import annotations

from typing import Any

from blankets.kernels._answers import Answers, answer
from blankets.kernels._formula import Formula, Table
from blankets.kernels._questions import TOO_LARGE, checked
from blankets.kernels._room import Room, given_back, taken
from blankets.kernels._rows import count_columns, join_seen
from blankets.kernels._statistics import share_strata
from blankets.kernels._types import *

JOINT_COUNTS: int64 = 1 << 14  # a joint table of this size is counted whole; then each member's table is a view of it
ROWS_A_COUNT: int64 = 16  # or of one count for so many rows


@inner
def _count_joint(table: Table, members: Ints, n_cells: int64, n_y: int64, y: int64, room: Room) -> int64:
    """Set the second table to the counts of all combinations of levels: those of ``y`` vary slowest.

    Rows without a value of one of them are left out; return how many are there.
    """
    n_joint: int64 = 1
    n_seen: int64 = 0
    for r in range(table.n_rows):
        room.cells[0, r] = 0
    for i in range(members.shape[0]):
        arity: int64 = table.arities[members[i]]
        join_seen(room.cells, 0, n_joint, arity, table.codes, members[i], arity, 1, room.cells, 0)
        n_joint *= arity
    room.x_first[0] = y
    count_columns(
        table.codes, room.x_first, 0, 1, table.arities, 1, room.cells, n_cells + 1, room.lanes, room.tables, 0
    )
    for level in range(n_y):
        for c in range(n_cells):
            room.tables[1, level * n_cells + c] = room.tables[0, level * (n_cells + 1) + c]
            n_seen += room.tables[0, level * (n_cells + 1) + c]
    return n_seen


@inner
def _table_from_joint(table: Table, members: Ints, i: int64, n_y: int64, room: Room) -> void:
    """Set the first table to that of a member given the others, from the joint one behind it.

    Its axes y, members before, x, members after become x, y, the others.
    """
    n_x: int64 = table.arities[members[i]]
    before: int64 = 1
    after: int64 = 1
    for k in range(members.shape[0]):
        if k < i:
            before *= table.arities[members[k]]
        elif k > i:
            after *= table.arities[members[k]]
    at: int64 = 0
    for level in range(n_y):
        for b in range(before):
            for x in range(n_x):
                for a in range(after):
                    room.tables[0, ((x * n_y + level) * before + b) * after + a] = room.tables[1, at]
                    at += 1


@door
def drop_each(table: Table, formula: Formula, members: Ints, y: int64) -> tuple[int, Any, Any, Any, Any, Any, Any]:
    """Test each of ``members``, in ascending order, against ``y`` given all the others, from their joint table.

    Answers are those of `test_columns`, and the rows that each test had, all of which are the same: those with a value
    of all columns. There are -1 tests if the joint table would be large.
    """
    checked(table, members, y, members)
    n: int64 = members.shape[0]
    n_y: int64 = table.arities[y]
    answers: Answers = Answers(n)
    cells: float64 = 1.0
    for i in range(n):
        cells *= table.arities[members[i]]
    if cells * n_y > max(JOINT_COUNTS, table.n_rows // ROWS_A_COUNT) or table.codes.shape[0] == 0:
        return TOO_LARGE, *answers.as_arrays()
    n_cells: int64 = whole(cells)
    room: Room = taken(formula, table, n, 1)
    widest: int64 = 1
    for i in range(n):
        widest = max(widest, table.arities[members[i]])
    room.grow(2, (n_cells + 1) * (n_y + 1), 0, n_cells, widest, n_y)
    n_tests: int64 = 0
    n_seen: int64 = -1
    with nogil:
        for i in range(n):
            n_x: int64 = table.arities[members[i]]
            free: float64 = (cells / n_x) * ((n_x - 1) * (n_y - 1))
            performed: bint = table.n_rows >= formula.reliability * free
            if performed and n_seen < 0:
                n_seen = _count_joint(table, members, n_cells, n_y, y, room)
            if performed:
                answers.rows[i] = n_seen
                performed = n_seen > 0 and n_seen >= formula.reliability * free
            answers.reliable[i] = performed
            answers.dof[i] = free if performed else 0.0
            if performed:
                n_tests += 1
                _table_from_joint(table, members, i, n_y, room)
                share_strata(room.tables, 0, n_x, n_y, n_cells // n_x, formula, room)
                answer(i, 0, n_x, n_y, n_cells // n_x, formula, room, answers)
    given_back(formula, room)
    return n_tests, *answers.as_arrays()
