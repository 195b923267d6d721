"""Tables whose G takes few values: all fourfold tables with the same margins, or permutations within the strata.

The distribution of G depends only on the margins. Those of each stratum are first sorted (levels by size; the margin
that is faster to permute comes first), then the strata, and the random numbers depend on this order and the seed. So
the answer is the same for every order of rows, levels, columns and strata, with x and y exchanged, on any number of
threads and from any counter.
"""

from __future__ import annotations

from math import exp, lgamma, log, sqrt

import numpy as np

from blankets.kernels._formula import Formula
from blankets.kernels._room import DRAWN_AT_ONCE, MOST_KNOWN, Room, given_back
from blankets.kernels._statistics import are_counts, mixed, put_margins, put_y, term
from blankets.kernels._types import *

EXACT: int64 = 5  # how a p-value was found, as in `_moments`
PERMUTATION: int64 = 6
# Permutations as large as observed after which no more are drawn: p is then known to 1/√30 = 18% (Besag & Clifford
# 1991, sequential Monte Carlo p-values).
ENOUGH: int64 = 30
# The test never rejects more than this times the level, even with ties (methods, section 1.5).
CAP: float64 = 1.1
# Sums of n ln n that are equal differ by less than this share: each n ln n is rounded to 1e-16 of its size.
TIE: float64 = 1e-12


@inner
def _largest_first(margins: NewInts2, z: int64, n: int64) -> void:
    """Sort the first ``n`` numbers of a row, the largest first."""
    for k in range(n):
        m: int64 = margins[z, k]
        j: int64 = k
        while j > 0 and margins[z, j - 1] < m:
            margins[z, j] = margins[z, j - 1]
            j -= 1
        margins[z, j] = m


@inner
def _set_strata(tables: Counts2, i: int64, n_x: int64, n_y: int64, n_z: int64, formula: Formula, room: Room) -> void:
    """Sort the margins of each stratum that can vary, and set the order of these strata.

    Set also what is observed, Σ o ln o over these strata, and the first state of the generator.
    """
    room.observed = 0
    for z in range(room.n_varying):
        for cell in range(n_x * n_y):
            room.observed += term(max(tables[i, cell * n_z + room.order[z]], 0), formula.terms, formula.unit)
        for y in range(n_y):
            room.margins[z, y] = room.of_y[room.order[z], y]
    for z in range(room.n_varying):
        _largest_first(room.rows, z, n_x)
        _largest_first(room.margins, z, n_y)
        turned: int64 = 0  # positive: the margin of y comes first
        key: uint64 = 0
        for k in range(max(n_x, n_y)):
            r: int64 = room.rows[z, k] if k < n_x else 0
            c: int64 = room.margins[z, k] if k < n_y else 0
            if turned == 0:
                turned = c - r
            room.rows[z, k] = c if turned > 0 else r
            room.margins[z, k] = r if turned > 0 else c
            if r + c > 0:
                key = mixed(mixed(key, room.rows[z, k]), room.margins[z, k])
        room.keys[z] = key
        place: int64 = z
        while place > 0 and room.keys[room.order[place - 1]] > key:
            room.order[place] = room.order[place - 1]
            place -= 1
        room.order[place] = z
    room.state = mixed(0, formula.seed)
    for k in range(room.n_varying):
        room.state = mixed(room.state, room.keys[room.order[k]])


@inner
def _decided(hits: int64, expected: float64) -> bint:
    """Whether more draws would hardly change the decision at the level that expects so many hits.

    The chance of rejection stays within 0.002 of that with all draws, whatever the true p-value; its mean within 0.1%.
    """
    spread: float64 = 2.0 * sqrt(expected)
    return hits > expected + 1.5 + spread or hits < expected - spread


@inner
def _permuted(width: int64, k: int64, formula: Formula, room: Room) -> int64:
    """Return Σ o ln o of one permutation of the strata, by the random numbers of state ``k``.

    Rows are drawn by their place among those that are left, sorted by columns: a place below the sum of the first
    columns takes one from this sum. The generator is xorshift64 (Marsaglia 2003), whose upper half is used.
    `draw_strata` does the same, faster.
    """
    every: uint64 = 0xFFFFFFFFFFFFFFFF
    total: int64 = 0
    for at in range(room.n_varying):
        z: int64 = room.order[at]
        left: int64 = 0
        n_columns: int64 = 0
        while n_columns < width and room.margins[z, n_columns] > 0:
            left += room.margins[z, n_columns]
            room.sums[n_columns] = left
            n_columns += 1
        for i in range(1, width):
            for j in range(n_columns):
                room.before[j] = room.sums[j]
            for _ in range(room.rows[z, i]):
                state: uint64 = room.states[k]
                state = (state ^ (state << 13)) & every
                state ^= state >> 7
                state = (state ^ (state << 17)) & every
                room.states[k] = state
                place: int64 = ((state >> 32) * left) >> 32
                for j in range(n_columns):
                    room.sums[j] -= place < room.sums[j]
                left -= 1
            last: int64 = 0
            for j in range(n_columns):
                drawn: int64 = room.before[j] - room.sums[j]
                total += term(drawn - last, formula.terms, formula.unit)
                last = drawn
        last = 0
        for j in range(n_columns):
            total += term(room.sums[j] - last, formula.terms, formula.unit)
            last = room.sums[j]
    return total


@inner
def _draw(width: int64, most: int64, enough: int64, level: float64, formula: Formula, room: Room) -> void:
    """Permute the strata; set how many permutations were as large as observed, how many larger, how many drawn.

    Drawing stops after ``most``, or when ``enough`` were as large as observed, or, if the level is not 0, when the
    decision there is clear.
    """
    slack: int64 = whole(TIE * room.observed) + 1
    for k in range(DRAWN_AT_ONCE):
        room.states[k] = max(mixed(room.state, k), 1)  # zero would stay zero
    room.hits = room.larger = room.n_drawn = 0
    if not cython.compiled:
        while room.n_drawn < most and room.hits < enough:
            total = _permuted(width, room.n_drawn % DRAWN_AT_ONCE, formula, room)
            room.n_drawn += 1
            room.hits += total >= room.observed - slack
            room.larger += total > room.observed + slack
            if level > 0.0 and _decided(room.hits, level * room.n_drawn):
                break
        return
    draw_strata(
        cython.address(room.rows[0, 0]),
        cython.address(room.margins[0, 0]),
        cython.address(room.order[0]),
        room.n_varying,
        width,
        room.rows.shape[1],
        cython.address(room.states[0]),
        cython.address(room.sums[0]),
        cython.address(room.before[0]),
        cython.address(formula.terms[0]),
        formula.terms.shape[0] - 1,
        formula.unit,
        room.observed,
        slack,
        most,
        enough,
        level,
        cython.address(room.hits),
        cython.address(room.larger),
        cython.address(room.n_drawn),
    )


@inner
def _capped(a: float64, b: float64) -> float64:
    """Return the larger of the mid-p and a / 1.1, from the chances of a G as large as observed, and of a larger one."""
    return max(0.5 * (a + b), a / CAP)


@inner
def _p_of(hits: float64, larger: float64, drawn: float64, enough: float64) -> float64:
    """Return the p-value: if drawing did not stop because there were enough hits, the data count as one more."""
    extra: float64 = 0.0 if hits >= enough else 1.0
    return _capped((hits + extra) / (drawn + extra), larger / (drawn + extra))


@door
def permutation_p(hits: float64, larger: float64, drawn: float64, enough: float64) -> float:
    """Return that of one table."""
    return _p_of(hits, larger, drawn, enough)


@inner
def _fourfold_p(formula: Formula, room: Room) -> float64:
    """Return the p-value of the only stratum that can vary, one of two by two, from all tables with its margins."""
    r: int64 = room.rows[0, 1]
    c: int64 = room.margins[0, 1]
    rest: int64 = room.rows[0, 0] - c  # of the cell opposite to o, without o
    slack: int64 = whole(TIE * room.observed) + 1
    sums: float64 = 0.0
    as_large: float64 = 0.0
    larger: float64 = 0.0
    low: int64 = max(0, -rest)
    middle: int64 = max(low, min(min(r, c), whole((r + 1.0) * (c + 1.0) / (r + c + rest + 2.0))))  # the likeliest o
    scale: float64 = lgamma(middle + 1.0) + lgamma(r - middle + 1.0) + lgamma(c - middle + 1.0)
    scale += lgamma(rest + middle + 1.0)
    for o in range(low, min(r, c) + 1):
        weight: float64 = lgamma(o + 1.0) + lgamma(r - o + 1.0) + lgamma(c - o + 1.0) + lgamma(rest + o + 1.0)
        weight = exp(scale - weight)
        total: int64 = term(o, formula.terms, formula.unit) + term(r - o, formula.terms, formula.unit)
        total += term(c - o, formula.terms, formula.unit) + term(rest + o, formula.terms, formula.unit)
        sums += weight
        as_large += weight if total >= room.observed - slack else 0.0
        larger += weight if total > room.observed + slack else 0.0
    return _capped(as_large / sums, larger / sums)


@inner
def closely(tables: Counts2, i: int64, n_x: int64, n_y: int64, n_z: int64, formula: Formula, room: Room) -> int64:
    """Set the log p-value of a table whose G takes few values, and return how it was found.

    Its margins and `Room.free` are known, and its p-value by moments: that is used if no permutation reached the
    observed G.
    """
    _set_strata(tables, i, n_x, n_y, n_z, formula, room)
    if room.free == 1:
        room.log_p = log(_fourfold_p(formula, room))
        return EXACT
    level: uint64 = whole(formula.law.level * 1e15)  # formulas of several levels may share the room
    key: uint64 = mixed(mixed(mixed(room.state, room.observed), level), formula.draws)
    place: int64 = key % MOST_KNOWN
    if room.known[place] == key:
        room.log_p = room.known_p[place]
        return PERMUTATION
    _draw(max(n_x, n_y), formula.draws, ENOUGH, formula.law.level, formula, room)
    log_p: float64 = log(_p_of(room.hits, room.larger, room.n_drawn, ENOUGH))
    room.log_p = min(log_p, room.log_p) if room.hits == 0 else log_p
    room.known[place] = key
    room.known_p[place] = room.log_p
    return PERMUTATION


@door
def permute(
    tables: Counts2, n_x: int64, n_y: int64, n_z: int64, formula: Formula, most: int64, enough: int64, level: float64
) -> Ints2:
    """Return how many permutations of flat tables were as large as observed, how many larger, how many were drawn.

    Drawing stops after ``most``, when ``enough`` were as large as observed, or, if the level is not 0, when the
    decision at this level is clear.
    """
    n: int64 = tables.shape[0]
    if not are_counts(tables, n_x, n_y, n_z):
        raise ValueError("the tables do not have this shape, or a count is negative")
    found = np.empty((3, n), np.int64)
    out: NewInts2 = view(found)
    room: Room = formula.rooms.pop() if formula.rooms else Room()
    room.grow(0, 0, 0, n_z, n_x, n_y)
    with nogil:
        for i in range(n):
            put_y(tables, i, n_x, n_y, n_z, True, room)
            put_margins(tables, i, n_x, n_y, n_z, room)
            _set_strata(tables, i, n_x, n_y, n_z, formula, room)
            _draw(max(n_x, n_y), most, enough, level, formula, room)
            out[0, i] = room.hits
            out[1, i] = room.larger
            out[2, i] = room.n_drawn
    given_back(formula, room)
    return found
