"""Whole questions about a table in memory, from codes or bits to answers, without Python's lock.

Sums are taken as elsewhere, so that the numbers are the same to the last bit. Columns that are conditioned on come in
ascending order, as the order of the strata follows from theirs. Answers are statistics, degrees of freedom, log
p-values and methods (see `blankets.kernels._moments`), and which tests were performed.
"""

from __future__ import annotations

from typing import Any

from blankets.kernels._answers import Answers, judge_table, measure_table
from blankets.kernels._bits import count_by_bits
from blankets.kernels._formula import MOST_LEVELS, Formula, Table
from blankets.kernels._holes import answer_seen, count_seen, has_gaps, leave_out
from blankets.kernels._room import Room, given_back, has_codes, has_masks, has_room, taken
from blankets.kernels._rows import (
    SLOTS_PAY,
    count_columns,
    count_weighted,
    group_of,
    join,
    join_seen,
    known_columns,
    renumber_row,
    slots_of,
)
from blankets.kernels._statistics import share_strata
from blankets.kernels._types import *

BLOCK: int64 = 1 << 13  # counts of candidates that are counted together: 32 KiB, as large as a first-level cache
LANED_BITS: int64 = 32  # cells up to which bits are faster than lanes with AVX2; with AVX-512 they are up to 64
MOST_STRATA: int64 = 1 << 20  # and four for each row; more are left to the counter
MOST_COUNTS: int64 = 1 << 20  # of one table; larger ones are left to the counter
MOST_FEWER: int64 = 1 << 24  # the same of a table that the counter would make larger
MANY: int64 = 16  # questions from which cells are renumbered sooner
ROWS_A_CELL: int64 = 8  # so soon
TOO_LARGE: int64 = -1
NO_MEMORY: int64 = -2


@inner
def nominal_without_x(table: Table, y: int64, given: Ints, n_given: int64) -> float64:
    """Return the nominal degrees of freedom for each degree of x; the product over 100 columns fits only a float."""
    free: float64 = table.arities[y] - 1
    for d in range(n_given):
        free *= table.arities[given[d]]
    return free


@inner
def _cells_of_bits(table: Table, y: int64, given: Ints, n_given: int64) -> int64:
    """Return the number of cells of ``y`` in the strata if bits may count them, else a number too large for that."""
    too_many: int64 = table.bits_win_below + 1
    n_cells: int64 = table.arities[y] if table.first[y] >= 0 else too_many
    for d in range(n_given):
        if n_cells >= too_many or table.first[given[d]] < 0:
            return too_many
        n_cells *= table.arities[given[d]]
    return min(n_cells, too_many)


@inner
def extend_strata(table: Table, given: Ints, n_given: int64, room: Room) -> int64:
    """Make the joint codes those of ``given``, from the part that is there; return how many there are.

    Rows without a value of all of them have the code beyond these.
    """
    d: int64 = 0
    while d < min(room.depth, n_given) and room.columns[d] == given[d]:
        d += 1
    while d < n_given:
        arity: int64 = table.arities[given[d]]
        n_joint: int64 = room.n_codes[d] * arity
        room.depth = d
        if n_joint > 4 * table.n_rows + MOST_STRATA:
            return TOO_LARGE
        gone: int64 = 0
        if table.holey:
            n_gone: int64 = join_seen(
                room.codes, d, room.n_codes[d], arity, table.codes, given[d], arity, 1, room.codes, d + 1
            )
            gone = n_gone > 0
        else:
            join(room.codes, d, arity, table.codes, given[d], 1, n_joint, room.codes, d + 1)
        if n_joint > table.renumber_above:
            if not has_codes(room, n_joint + gone):
                return NO_MEMORY
            n_joint = renumber_row(room.codes, d + 1, table.codes.shape[1], n_joint + gone, room.new) - gone
        room.columns[d] = given[d]
        room.n_codes[d + 1] = n_joint
        d += 1
    room.depth = d
    found: int64 = room.n_codes[d]
    return found


@inner
def _fewer_cells(n_rows: int64, n_y: int64, n_z: int64, n_xs: int64, room: Room) -> bint:
    """Renumber the levels of y in each stratum to those that occur, and make one of all strata in which it is constant.

    No statistic changes, but sparse tables of many levels become much smaller. The numbers of levels and strata are
    set; tell whether there is memory enough.
    """
    room.n_levels = n_y
    room.n_strata = n_z
    few: int64 = n_rows if n_xs < MANY else n_rows // ROWS_A_CELL
    if not few < n_y * n_z <= MOST_COUNTS:
        return True
    if not has_codes(room, n_y * n_z):
        return False
    for c in range(n_y * n_z):
        room.new[c] = 0
    for r in range(n_rows):
        room.new[room.cells[0, r]] = 1
    room.n_levels = room.n_strata = 1
    for z in range(n_z):
        seen: int64 = 0
        for y in range(n_y):
            seen += room.new[y * n_z + z]
        room.n_levels = max(room.n_levels, seen)
        room.n_strata += seen > 1
    place: int64 = 0
    for z in range(n_z):
        seen = 0
        for y in range(n_y):
            seen += room.new[y * n_z + z]
        place += seen > 1
        level: int64 = 0
        for y in range(n_y):
            if room.new[y * n_z + z] > 0:
                room.new[y * n_z + z] = level * room.n_strata + place if seen > 1 else 0
                level += 1
    for r in range(n_rows):
        room.cells[0, r] = room.new[room.cells[0, r]]
    return True


@inner
def _in_order(
    table: Table,
    formula: Formula,
    xs: Ints,
    y: int64,
    given: Ints,
    n_given: int64,
    room: Room,
    answers: Answers,
) -> int64:
    """Set the places of the candidates that can be tested, first those by bits, and return how many these are.

    Those of like arity come together. Answers are filled in as if no test were performed, but nominal degrees of
    freedom where one will be. ``room.start[0]`` is the number of all tests.
    """
    free: float64 = nominal_without_x(table, y, given, n_given)
    n_cells: int64 = _cells_of_bits(table, y, given, n_given)
    most: int64 = LANED_BITS if xs.shape[0] >= SLOTS_PAY else table.bits_win_below
    n: int64 = 0
    n_bits: int64 = 0
    fewest: int64 = room.start.shape[0] - 1  # kinds that there are, from the first to the last
    largest: int64 = 0
    for i in range(xs.shape[0]):
        arity: int64 = table.arities[xs[i]]
        nominal: float64 = (arity - 1) * free
        performed: bint = not room.skip[i] and table.n_rows >= formula.reliability * nominal
        answers.reliable[i] = performed
        answers.statistic[i] = NAN
        answers.dof[i] = nominal if performed else 0.0
        bits: bint = table.first[xs[i]] >= 0 and n_cells <= most and n_cells * (arity - 1) <= table.bits_win_below
        room.kind[i] = arity if bits else arity + MOST_LEVELS + 1
        if performed:
            fewest = min(fewest, room.kind[i])
            largest = max(largest, room.kind[i])
            n += 1
            n_bits += bits
    for k in range(fewest, largest + 2):
        room.start[k] = 0
    for i in range(xs.shape[0]):
        if answers.reliable[i]:
            room.start[room.kind[i] + 1] += 1
    for k in range(fewest + 1, largest + 1):
        room.start[k] += room.start[k - 1]
    for i in range(xs.shape[0]):
        if answers.reliable[i]:
            room.at[room.start[room.kind[i]]] = i
            room.start[room.kind[i]] += 1
    room.start[0] = n
    return n_bits


@inner
def _room_for_bits(
    table: Table, xs: Ints, n: int64, y: int64, given: Ints, n_given: int64, n_cells: int64, room: Room
) -> int64:
    """Set where the bits are that the first ``n`` questions in ``room.at`` need; return how many to answer at once."""
    room.cell_first[0] = table.first[y]
    room.cell_arity[0] = table.arities[y]
    for d in range(n_given):
        room.cell_first[d + 1] = table.first[given[d]]
        room.cell_arity[d + 1] = table.arities[given[d]]
    widest: int64 = 1
    for k in range(n):
        room.x_first[k] = table.first[xs[room.at[k]]]
        room.x_arity[k] = table.arities[xs[room.at[k]]]
        widest = max(widest, room.x_arity[k])
    size: int64 = max(1, BLOCK // (n_cells * widest))
    if not has_masks(room, n_cells, table.planes.shape[2]):
        return NO_MEMORY
    n_z: int64 = n_cells // table.arities[y]
    if not has_room(room, min(size, n), n_cells * widest, 0, n_z, max(widest, 2), table.arities[y]):
        return NO_MEMORY
    return size


@inner
def _answered(
    table: Table,
    formula: Formula,
    xs: Ints,
    begin: int64,
    n: int64,
    first: bint,
    gaps: bint,
    n_y: int64,
    n_z: int64,
    room: Room,
    answers: Answers,
) -> int64:
    """Answer ``n`` questions from the place ``begin`` on, whose tables were counted; return the number of tests.

    Without gaps all tables share their y and their strata, which the ``first`` call looks at.
    """
    performed: int64 = 0
    shares: bint = not first and not gaps
    for k in range(n):
        i: int64 = room.at[begin + k]
        n_x: int64 = table.arities[xs[i]]
        if gaps:
            shares = shares and not table.holes[xs[i]]
            performed += answer_seen(i, k, shares, n_x, n_y, n_z, formula, room, answers)
            shares = not table.holes[xs[i]]
            continue
        if not shares:
            share_strata(room.tables, 0, n_x, n_y, n_z, formula, room)
            shares = True
        measure_table(room.tables, i, k, n_x, n_y, n_z, formula, room, answers)
    if gaps:
        return performed
    for k in range(n if formula.judges else 0):
        i = room.at[begin + k]
        n_x = table.arities[xs[i]]
        judge_table(room.tables, i, k, n_x, n_y, n_z, formula, room, answers)
    return n


@inner
def _by_bits(
    table: Table,
    formula: Formula,
    xs: Ints,
    n: int64,
    y: int64,
    given: Ints,
    n_given: int64,
    n_cells: int64,
    gaps: bint,
    room: Room,
    answers: Answers,
) -> int64:
    """Answer the questions at the first ``n`` places in ``room.at`` by counting bits; return the number of tests."""
    n_y: int64 = table.arities[y]
    n_z: int64 = n_cells // n_y
    size: int64 = _room_for_bits(table, xs, n, y, given, n_given, n_cells, room)
    if size < 0:
        return size
    performed: int64 = 0
    done: int64 = 0
    while done < n:
        m: int64 = min(size, n - done)
        if gaps:
            count_seen(table, xs, y, given, n_given, n_cells, done, m, room)
        else:
            count_by_bits(
                table.planes,
                table.totals,
                table.n_rows,
                n_cells,
                n_given + 1,
                room.x_first,
                room.x_arity,
                done,
                m,
                room,
                room.tables,
            )
        performed += _answered(table, formula, xs, done, m, done == 0, gaps, n_y, n_z, room, answers)
        done += m
    return performed


@inner
def test_each(
    table: Table,
    formula: Formula,
    xs: Ints,
    y: int64,
    given: Ints,
    n_given: int64,
    room: Room,
    answers: Answers,
) -> int64:
    """Test each of ``xs`` that is not to be skipped against ``y`` given a set; return the number of tests performed.

    It is `TOO_LARGE` if tables are too large for this. The room may have the strata of another set, from which these
    are extended.
    """
    gaps: bint = has_gaps(table, xs, y, given, n_given)
    n_bits: int64 = _in_order(table, formula, xs, y, given, n_given, room, answers)
    n: int64 = room.start[0]
    n_y: int64 = table.arities[y]
    performed: int64 = 0
    if n_bits > 0:
        n_cells: int64 = _cells_of_bits(table, y, given, n_given)
        performed = _by_bits(table, formula, xs, n_bits, y, given, n_given, n_cells, gaps, room, answers)
    if n == n_bits or performed < 0:
        return performed
    if table.codes.shape[0] == 0:
        return TOO_LARGE
    n_z: int64 = extend_strata(table, given, n_given, room)
    if n_z < 0:
        return n_z
    fewer: bint = False
    if gaps:
        join_seen(room.codes, room.depth, n_z, 1, table.codes, y, n_y, n_z, room.cells, 0)
    else:
        join(room.codes, room.depth, 1, table.codes, y, n_z, n_y * n_z, room.cells, 0)
        if not _fewer_cells(table.codes.shape[1], n_y, n_z, n - n_bits, room):
            return NO_MEMORY
        fewer = n_y * n_z > max(table.codes.shape[1], room.n_levels * room.n_strata)
        n_y = room.n_levels
        n_z = room.n_strata
    most: int64 = MOST_FEWER if fewer else MOST_COUNTS
    more: int64 = 1 if gaps else 0  # a cell, and a level, for rows without a value
    n_cells = n_y * n_z + more
    for k in range(n):
        room.x_first[k] = xs[room.at[k]]
    room.lanes.n_slots = 0
    done: int64 = n_bits
    while done < n:
        m: int64 = group_of(room.x_first, done, n - done, table.arities, more, n_cells)
        widest: int64 = table.arities[room.x_first[done + m - 1]] + more
        if n_cells * widest > most:
            return TOO_LARGE
        if not has_room(room, m, n_cells * widest, n_cells, n_z, widest, n_y):
            return NO_MEMORY
        if table.weights.shape[0] > 0:
            for k in range(m):
                x: int64 = room.x_first[done + k]
                count_weighted(table.codes, table.weights, x, room.cells, n_cells, table.arities[x], room.tables, k)
        else:
            if room.lanes.n_slots == 0 and n - done >= SLOTS_PAY:
                slots_of(room.cells, table.codes.shape[1], n_cells, room.lanes)
            count_columns(
                table.codes, room.x_first, done, m, table.arities, more, room.cells, n_cells, room.lanes, room.tables, 0
            )
        for k in range(m if gaps else 0):
            leave_out(room, k, table.arities[room.x_first[done + k]], n_y * n_z)
        performed += _answered(table, formula, xs, done, m, done == n_bits, gaps, n_y, n_z, room, answers)
        done += m
    return performed


def checked(table: Table, xs: Ints, y: int64, given: Ints) -> None:
    """Refuse columns that are not there."""
    n = table.arities.shape[0]
    if table.codes.shape[0] not in (0, n) or not known_columns(xs, n) or not known_columns(given, n) or not 0 <= y < n:
        raise IndexError("no such column")


@door
def test_columns(
    table: Table, formula: Formula, xs: Ints, y: int64, given: Ints
) -> tuple[int, Any, Any, Any, Any, Any, Any]:
    """Test each of ``xs`` against ``y`` given a set, in ascending order.

    Returns the number of tests (-1: tables are too large for this, or not all columns have bits and there are no
    codes), statistics, degrees of freedom, log p-values, methods, which tests were performed, and the rows that they
    had. Log p-values and methods are NaN unless the formula judges; rows are, unless some column has holes.
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
        n_tests = test_each(table, formula, xs, y, given, n_given, room, answers)
    given_back(formula, room)
    if n_tests == NO_MEMORY:
        raise MemoryError
    return n_tests, *answers.as_arrays()
