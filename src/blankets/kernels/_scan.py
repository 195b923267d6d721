"""The scan of columns against another given nothing, all by bits."""

from __future__ import annotations

from blankets.kernels._answers import Answers, answer
from blankets.kernels._bits import bits_of, cell_masks, common_bits
from blankets.kernels._formula import Formula, Table
from blankets.kernels._moments import FAR
from blankets.kernels._questions import NO_MEMORY, by_bits
from blankets.kernels._room import Room, given_back, has_masks, has_room, taken
from blankets.kernels._statistics import is_doubtful, share_strata
from blankets.kernels._types import *

PAIRS: int64 = 1 << 12  # columns of two levels that are answered together: 64 KiB of answers


@inner
def _answer_pair(
    table: Table,
    xs: Ints,
    i: int64,
    c: int64,
    formula: Formula,
    room: Room,
    answers: Answers,
) -> void:
    """Answer question ``i``, about two columns of two levels, from their table; ``c`` rows have the mask."""
    plane: int64 = table.first[xs[i]]
    a: int64 = common_bits(table.planes, 0, plane, room.masks, 1)
    r: int64 = table.totals[plane]
    room.tables[0, 0] = table.n_rows + a - r - c
    room.tables[0, 1] = c - a
    room.tables[0, 2] = r - a
    room.tables[0, 3] = a
    answer(i, 0, 2, 2, 1, formula, room, answers)


@inner
def _answer_pairs(
    table: Table,
    xs: Ints,
    formula: Formula,
    room: Room,
    answers: Answers,
) -> void:
    """Answer all questions about pairs of two levels, one chunk of bits: no table unless it is needed."""
    n: int64 = table.n_rows
    cell_masks(table.planes, 0, room.cell_first, room.cell_arity, 1, n, room.masks)
    c: int64 = bits_of(room.masks, 1)
    room.tables[0, 0] = n - c
    room.tables[0, 1] = c
    share_strata(room.tables, 0, 1, 2, 1, formula, room)
    tabled: bint = cython.compiled and n < formula.terms.shape[0] - 1
    enough: float64 = room.enough if room.y_seen[0] == 2 else INFINITY
    for start in range(0, xs.shape[0], PAIRS):
        m: int64 = min(PAIRS, xs.shape[0] - start)
        n_left: int64 = m
        if tabled:
            n_left = answer_pairs(
                cython.address(table.planes[0, 0, 0]),
                table.planes.shape[2],
                cython.address(table.first[0]),
                cython.address(table.totals[0]),
                cython.address(xs[start]),
                m,
                cython.address(room.masks[1, 0]),
                c,
                n,
                cython.address(formula.terms[0]),
                room.y_part[0],
                2.0 * formula.unit,
                enough,
                cython.address(answers.statistic[start]),
                cython.address(answers.dof[start]),
                cython.address(room.at[0]),
            )
        else:
            for k in range(m):
                room.at[k] = k
                answers.dof[start + k] = 1.0
        for k in range(n_left):
            _answer_pair(table, xs, start + room.at[k], c, formula, room, answers)
        if formula.judges and n_left < m:
            for i in range(start, start + m):
                g: float64 = answers.statistic[i]
                if not g >= enough or answers.method[i] == answers.method[i]:
                    continue  # answered
                if is_doubtful(g, 1, formula.law):
                    _answer_pair(table, xs, i, c, formula, room, answers)
                else:
                    answers.method[i] = FAR
                    room.strong = room.strong or g > formula.law.limits[1, 3]


@door
def scan_bits(
    table: Table,
    formula: Formula,
    xs: Ints,
    y: int64,
    statistic: NewReals,
    dof: NewReals,
    log_p: NewReals,
    method: NewReals,
) -> None:
    """Fill in the answers about ``xs`` and ``y`` given nothing, all of them by bits, reliable or not.

    Only a formula that judges has log p-values and methods; others need no room for them.
    """
    n: int64 = xs.shape[0]
    n_columns: int64 = table.arities.shape[0]
    unknown: int64 = not 0 <= y < n_columns
    wrong: int64 = unknown == 0 and table.first[y] < 0
    others: int64 = 0
    for i in range(n):
        if 0 <= xs[i] < n_columns:
            wrong += table.first[xs[i]] < 0
            others += table.arities[xs[i]] != 2
        else:
            unknown += 1
    if unknown:
        raise IndexError("no such column")
    if wrong:
        raise ValueError("not all of these columns have bits")
    judged: int64 = n if formula.judges else 0
    if n != statistic.shape[0] or n != dof.shape[0] or judged > log_p.shape[0] or judged > method.shape[0]:
        raise ValueError("there is to be room for all answers")
    # Pairs of two levels need no list of questions: that would take as long as to count them.
    pairs: bint = others == 0 and table.arities[y] == 2 and table.planes.shape[0] == 1 and not formula.want_x2
    answers: Answers = Answers.__new__(Answers)  # those of the caller, no new ones
    answers.statistic, answers.dof, answers.log_p, answers.method = statistic, dof, log_p, method
    room: Room = taken(formula, table, min(n, PAIRS) if pairs else n, 0)
    found: int64 = 0
    free: float64 = table.arities[y] - 1
    with nogil:
        for i in range(judged):
            log_p[i] = method[i] = NAN
        if pairs:
            room.cell_first[0] = table.first[y]
            room.cell_arity[0] = 2
            if has_masks(room, 2, table.planes.shape[2]) and has_room(room, 1, 4, 0, 1, 2, 2):
                _answer_pairs(table, xs, formula, room, answers)
            else:
                found = NO_MEMORY
        else:
            for i in range(n):
                room.at[i] = i
                dof[i] = (table.arities[xs[i]] - 1) * free
            found = by_bits(table, formula, xs, n, y, xs, 0, table.arities[y], room, answers)
    given_back(formula, room)
    if found < 0:
        raise MemoryError
