"""Mean and variance of G given the margins of every stratum, and what they say about a p-value.

The formulas are those of `blankets.stats` (``_calibrated``, ``_calibrated_block``). A table that
moments cannot settle is *coarse* (G takes few values): it is permuted, or left for a closer look.
"""

from __future__ import annotations

from math import log

import numpy as np

from blankets.kernels._cells import DEGREES, SMALL, put_cell, put_root
from blankets.kernels._formula import Cells, Formula, Law
from blankets.kernels._permute import closely
from blankets.kernels._room import EACH_DEGREE, FEW_LEVELS, LAST_KNOWN, ROW_PARTS, Room, grow_known
from blankets.kernels._statistics import (
    are_counts,
    is_doubtful,
    mixed,
    put_margins,
    put_y,
)
from blankets.kernels._tail import tail_of_moments
from blankets.kernels._types import *

# How a p-value was found; `blankets.stats.METHODS` has the words, and two more.
COARSE: int64 = -1
NOTHING: int64 = 1
ASYMPTOTIC: int64 = 2
FAR: int64 = 3
MOMENTS: int64 = 4

# The rule of Cochran (1954): expected counts from here on are large, and the mean of G is that of methods (1.7).
LARGE: float64 = 5.0
# `python benchmarks/calibration.py size` checks these, down to `BELOW`: over its grid of sparse tables the test rejects
# at most 1.2 times its level, and at least .8 of it or what is reachable. From `DENSE` on G is nearly chi-square in its
# tails; an expected count below `RARE` is rare.
DENSE: float64 = 1.0
RARE: float64 = 1.0
# G takes few values if fewer rows than the first can change places; with less than `FEW_DEGREES` degrees of freedom
# also if fewer than the second can, or the third where levels are rare; and so if most of G is the same for all tables
# (its variance is below `STIFF` of the mean; twice the mean in chi-square) and fewer than the second can.
FEW_ROWS: int64 = 30
SOME_ROWS: int64 = 100
SOME_IF_RARE: int64 = 300
FEW_DEGREES: float64 = 10.0
STIFF: float64 = 0.5
# The same with more degrees of freedom where levels are very rare.
VERY_RARE: float64 = 0.3
SOME_DEGREES: float64 = 100.0
# Nearer to the level than this in log p, moments of interpolated cells are not good enough.
MARGIN: float64 = 0.7
# A G below this share of its mean is far from any level; interpolated means are within 3%.
BELOW: float64 = 0.95
OF_Y: int64 = 4  # in parts of cells, after those of a cell, of a level of x, and their sums: the roots of y


@inner
def set_moments(n_x: int64, degrees: int64, exact: bint, cells: Cells, room: Room) -> void:
    """Set mean and variance of G, and whether any cell was interpolated (none is if they are to be ``exact``).

    Strata of few levels are remembered by their margins: in a scan many are alike.
    ``degrees`` is `DEGREES`, or 0 to leave out the variance, which takes most of the time.
    """
    mean: float64 = 0.0
    variance: float64 = 0.0
    if room.n_known > room.known_strata.shape[0] and room.shift > 64 - LAST_KNOWN:
        grow_known(room)
    room.mean = room.variance = 0.0  # of large strata
    room.interpolated = False
    for z in range(room.n_varying):
        at: int64 = room.order[z]
        n: int64 = room.size[at]
        key: float64 = room.keys[z] >> 11  # which is exact
        place: int64 = room.keys[z] >> room.shift
        if room.rarest[z] >= LARGE * n:
            _add_large(_seen(n_x, z, room.rows), room.y_seen[at], z, at, n, room)
            continue
        room.interpolated = room.interpolated or (n > SMALL and not exact)
        known: bint = room.keys[z] != 0 and not exact
        if known and room.known_strata[place, 0] == key:
            mean += room.known_strata[place, 1]
            variance += room.known_strata[place, 2]
            continue
        if not (known and _looked_up(n_x, z, at, n, cells, room)):
            _add_rows(n_x, z, at, n, DEGREES if known else degrees, exact, cells, room)
        mean += room.across[0]
        variance += room.across[1]
        if known:
            room.known_strata[place, 0] = key
            room.known_strata[place, 1] = room.across[0]
            room.known_strata[place, 2] = room.across[1]
            room.n_known += 1
    room.mean += mean
    room.variance += variance


@inner
def _looked_up(n_x: int64, z: int64, at: int64, n: int64, cells: Cells, room: Room) -> bint:
    """Do what `_add_rows` does, in the same order, for a small stratum of few levels; tell whether it was one."""
    if not cython.compiled:
        return False
    done: int64 = 0
    if n <= SMALL:
        done = moments_of_stratum(
            cython.address(room.rows[z, 0]),
            n_x,
            cython.address(room.y_values[at, 0]),
            cython.address(room.y_times[at, 0]),
            room.y_kinds[at],
            cython.address(cells.small[n, 0, 0, 0]),
            cython.address(cells.roots[n, 0, 0]),
            cython.address(room.across[0]),
        )
    return done != 0


@inner
def _seen(n_x: int64, z: int64, rows: Ints2) -> int64:
    """Return how many levels of x there are in a stratum."""
    n: int64 = 0
    while n < n_x and rows[z, n] > 0:
        n += 1
    return n


@inner
def _add_large(n_x: int64, n_y: int64, z: int64, at: int64, n: int64, room: Room) -> void:
    """Add mean and variance of a stratum whose expected counts are all large, by Bartlett's correction."""
    inverse_r: float64 = 0.0
    inverse_c: float64 = 0.0
    for i in range(n_x):
        inverse_r += 1.0 / room.rows[z, i]
    for j in range(n_y):
        inverse_c += 1.0 / room.of_y[at, j]
    n_all: float64 = n
    free: float64 = (n_x - 1) * (n_y - 1)
    own: float64 = free + (n_all * inverse_r - 1.0) * (n_all * inverse_c - 1.0) / (6.0 * n_all)
    room.mean += own
    room.variance += 2.0 * own * own / free


@inner
def _add_rows(n_x: int64, z: int64, at: int64, n: int64, degrees: int64, exact: bint, cells: Cells, room: Room) -> void:
    """Set ``room.across`` to mean and variance of G of a stratum, and to sums over the levels of x.

    The variance is Σ part[i, j] A[i, l] B[j, m] part[l, m] by degree. What a level of x adds follows from its margin
    and those of y. In a scan many levels are alike, so this is remembered (`_put_row`), unless whole strata are, and
    quickly computed.
    """
    n_sums: int64 = ROW_PARTS + EACH_DEGREE * room.y_kinds[at] if degrees > 0 else 1
    slot: int64 = 0
    rooted: bint = False
    room.across[1] = 0.0
    for q in range(n_sums):
        room.across[q] = 0.0
    for i in range(n_x):
        r: int64 = room.rows[z, i]
        if r == 0:
            break
        key: uint64 = mixed(room.y_keys[at], 2 * r + exact) | 1 if room.keys[z] == 0 or n > SMALL else 0
        slot = key >> room.row_shift
        known: bint = key != 0 and room.row_keys[slot] == key
        if not known or (degrees > 0 and room.row_parts[slot, 1] != room.row_parts[slot, 1]):
            room.row_keys[slot] = key
            for j in range(room.y_kinds[at] if degrees > 0 and not rooted else 0):
                _put_root(room.y_values[at, j], n, cells, room, OF_Y + j)
            rooted = True
            _put_row(slot, r, at, n, degrees, exact, cells, room)
        for q in range(n_sums):
            room.across[q] += room.row_parts[slot, q]
    for q in range(2, n_sums):
        weight: float64 = 1.0 if q < ROW_PARTS else room.row_parts[slot, q + EACH_DEGREE * room.y_kinds[at]]
        room.across[1] += weight * room.across[q] * room.across[q]


@inner
def _put_row(slot: int64, r: int64, at: int64, n: int64, degrees: int64, exact: bint, cells: Cells, room: Room) -> void:
    """Remember what a level of x with margin ``r`` adds to the moments of G in a stratum.

    Its mean; what it adds to the variance by itself (NaN without degrees); and by degree what is squared after the
    levels of x are added up: a sum over y, and a part for each different margin of y, then the weights of its square.
    """
    mean: float64 = 0.0
    alone: float64 = 0.0
    if degrees > 0:
        _put_root(r, n, cells, room, 1)
        for k in range(1, DEGREES + 1):
            room.part[2, k] = room.part[3, k] = 0.0
    for j in range(room.y_kinds[at]):
        c: int64 = room.y_values[at, j]
        times: float64 = room.y_times[at, j]
        if n > SMALL:
            put_cell(r, c, n, degrees, exact, cells.binomials, room.part, 0)
        else:
            for k in range(degrees + 1):
                room.part[0, k] = cells.small[n, r, c, k]
        mean += times * room.part[0, 0]
        if degrees > 0:
            _put_parts(slot, j, room.y_kinds[at], times, room)
    sign: float64 = 1.0
    for k in range(1, degrees + 1):
        sign = -sign
        own: float64 = room.part[2, k] + sign * room.part[3, k] * room.part[3, k]
        alone += own * (1.0 - sign * room.part[1, k] * room.part[1, k])
        room.row_parts[slot, k + 1] = room.part[3, k] * room.part[1, k]
    room.row_parts[slot, 0] = mean
    room.row_parts[slot, 1] = alone if degrees > 0 else NAN


@inner
def _put_parts(slot: int64, j: int64, n_y: int64, times: float64, room: Room) -> void:
    """Put the parts of a cell, and the weights of their squares; add them to those of its level of x."""
    first: int64 = ROW_PARTS + EACH_DEGREE * j
    sign: float64 = 1.0
    for k in range(1, DEGREES + 1):
        sign = -sign
        p: float64 = room.part[0, k]
        root: float64 = room.part[OF_Y + j, k]
        left: float64 = 1.0 - sign * root * root
        room.part[2, k] += times * p * p * left
        room.part[3, k] += times * p * root
        room.row_parts[slot, first + k - 1] = p * room.part[1, k]
        room.row_parts[slot, first + EACH_DEGREE * n_y + k - 1] = times * sign * left


@inner
def _put_root(m: int64, n: int64, cells: Cells, room: Room, at: int64) -> void:
    """Put the roots of a margin (see `put_root`) into ``room.part[at]``."""
    if n > SMALL:
        put_root(m, n, room.part, at)
        return
    for k in range(1, DEGREES + 1):
        room.part[at, k] = cells.roots[n, m, k]


@inner
def moments_do(
    log_p: float64, g: float64, mean: float64, variance: float64, least: float64, movable: int64, law: Law
) -> bint:
    """Whether the p-value by moments will do: it is far from the level, or G can take many values."""
    if log_p > law.large or (log_p < law.small and ((g - mean) * (g - mean) >= law.far * variance or least >= RARE)):
        return True
    few: int64 = FEW_ROWS
    if 2.0 * mean * mean < FEW_DEGREES * variance:
        few = SOME_IF_RARE if least < RARE else SOME_ROWS
    elif variance < STIFF * mean:
        few = SOME_ROWS
    elif least < VERY_RARE and 2.0 * mean * mean < SOME_DEGREES * variance:
        few = SOME_IF_RARE
    return movable >= few


@inner
def judged(
    tables: Counts2, i: int64, n_x: int64, n_y: int64, n_z: int64, g: float64, formula: Formula, room: Room
) -> int64:
    """Return how the p-value of a table with `Room.free` degrees of freedom was found, as far as moments do.

    Its logarithm is set; NaN where the chi-square tail is meant. After a table of the same scan that is far below the
    level, its p-value may not be needed, and is left for later unless the formula draws.
    """
    d: int64 = room.free
    room.log_p = NAN
    if formula.screens:
        if d <= 0:
            return NOTHING
        if not is_doubtful(g, d, formula.law):
            return FAR
    if room.strong and formula.draws == 0:
        return COARSE
    put_margins(tables, i, n_x, n_y, n_z, room)
    large: bint = room.least >= LARGE
    if room.movable == 0:
        room.log_p = 0.0
        return NOTHING
    if (
        d < formula.law.limits.shape[0]
        and room.least >= DENSE
        and (g < formula.law.limits[d, 0] or g > formula.law.limits[d, 1])
    ):
        return ASYMPTOTIC if large else FAR
    set_moments(n_x, 0 if formula.law.level > 0.0 and n_x > FEW_LEVELS else DEGREES, False, formula.cells, room)
    if formula.law.level > 0.0 and g < BELOW * room.mean:
        room.log_p = tail_of_moments(g, room.mean, 2.0 * room.mean)
        return ASYMPTOTIC if large else MOMENTS
    if formula.law.level > 0.0 and n_x > FEW_LEVELS:
        set_moments(n_x, DEGREES, False, formula.cells, room)
    log_p: float64 = tail_of_moments(g, room.mean, room.variance)
    room.log_p = log_p
    if large:
        return ASYMPTOTIC
    if room.interpolated and (formula.law.level == 0.0 or abs(log_p - log(formula.law.level)) < MARGIN):
        set_moments(n_x, DEGREES, True, formula.cells, room)
        log_p = tail_of_moments(g, room.mean, room.variance)
        room.log_p = log_p
    if moments_do(log_p, g, room.mean, room.variance, room.least, room.movable, formula.law):
        return MOMENTS
    return closely(tables, i, n_x, n_y, n_z, formula, room) if formula.draws > 0 else COARSE


@door
def block_moments(tables: Counts2, n_x: int64, n_y: int64, n_z: int64, cells: Cells) -> Reals2:
    """Return mean and variance of G, the least expected count and the rows that can be moved, of flat tables."""
    n: int64 = tables.shape[0]
    if not are_counts(tables, n_x, n_y, n_z):
        raise ValueError("the tables do not have this shape, or a count is negative")
    found = np.empty((4, n))
    out: NewReals2 = view(found)
    room: Room = Room()
    room.grow(0, 0, 0, n_z, n_x, n_y)
    with nogil:
        for i in range(n):
            put_y(tables, i, n_x, n_y, n_z, True, room)
            put_margins(tables, i, n_x, n_y, n_z, room)
            set_moments(n_x, DEGREES, True, cells, room)
            out[0, i] = room.mean
            out[1, i] = room.variance
            out[2, i] = room.least
            out[3, i] = room.movable
    return found
