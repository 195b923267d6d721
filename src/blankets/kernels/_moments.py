"""Mean and variance of G given the margins of every stratum, and what they say about a p-value.

The formulas are those of `blankets.stats` (``_calibrated``, ``_calibrated_cells``, ``_calibrated_block``). A table that
moments cannot settle leaves as *open* (its cells have to be enumerated) or *coarse* (G takes few values).
"""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from blankets.kernels._room import Cells, Formula, Law, Room, given_back
from blankets.kernels._statistics import share_strata, statistic_of
from blankets.kernels._tail import log_tail
from blankets.kernels._types import *

# How a p-value was found; `blankets.stats.METHODS` has the words, and two more.
COARSE: int64 = -1
OPEN: int64 = 0
NOTHING: int64 = 1
ASYMPTOTIC: int64 = 2
FAR: int64 = 3
MOMENTS: int64 = 4

LARGE: float64 = 5.0  # expected counts from here on are large
DENSE: float64 = 1.0  # from here on G is nearly chi-square in its tails
RARE: float64 = 1.0  # an expected count below this is rare
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
MARGIN: float64 = 0.7  # nearer to the level than this in log p, moments of interpolated cells are not good enough
BELOW: float64 = 0.95  # a G below this share of its mean is far from any level; interpolated means are within 3%

DEGREES: int64 = 4  # polynomials of degree 1, 2, 3; what is left counts as degree 4
SMALL: int64 = 32  # rows of a stratum whose cells are looked up exactly
TABLED: int64 = 48  # draws of the binomial counts by which the others are
STEPS: int64 = 128  # of the square root of their probability
SERIES: float64 = 8.0  # from this expected count on there is a series


@inner
def put_root(m: int64, n: int64, out: NewReals2, at: int64) -> void:
    """Put √((m)_k / (n - m)_k) of a margin m of a stratum into ``out[at, k]``, for k = 1 to `DEGREES`."""
    root: float64 = 1.0
    for k in range(1, DEGREES + 1):
        root *= 0.0 if min(m, n - m) < k else sqrt((m - k + 1.0) / (n - m - k + 1.0))
        out[at, k] = root


@door
def fill_roots(n: int64, out: NewReals2) -> None:
    """Put those of all margins from 0 to n of a stratum of n rows into ``out``."""
    if out.shape[0] <= n or out.shape[1] <= DEGREES:
        raise ValueError("there is no room for all roots")
    for m in range(n + 1):
        put_root(m, n, out, m)


@inner
def put_cell(r: int64, c: int64, n: int64, degrees: int64, binomials: Reals3, out: NewReals2, at: int64) -> void:
    """Put the mean of a cell of a stratum of more than `SMALL` rows, and its coefficients, into ``out[at]``."""
    rows: float64 = n
    x: float64 = r / rows
    y: float64 = c / rows
    product: float64 = r * c
    e: float64 = product / rows
    kept: float64 = (1.0 - x) * (1.0 - y) * rows / (rows - 1.0)  # the variance over e
    if e >= SERIES:
        skew: float64 = (1.0 - 2.0 * r / rows) * (1.0 - 2.0 * c / rows)
        root: float64 = sqrt(kept / e)
        mean: float64 = kept + (0.5 * kept * kept - kept * skew / 3.0) / e
        out[at, 0] = mean
        out[at, 1] = root * (skew - kept)
        out[at, 2] = sqrt(2.0) * mean
        out[at, 3] = -sqrt(6.0) / 3.0 * kept * root
        out[at, 4] = sqrt(24.0) / 6.0 * kept * kept / e
        return
    scale: float64 = 1.0
    a: float64 = 1.0 - kept
    if e > TABLED * a:
        scale = kept / (1.0 - e / TABLED)
        a = e / TABLED
    draws: float64 = e / a
    step: float64 = sqrt(a) * STEPS
    m: int64 = min(max(whole(draws), 1), TABLED - 1)
    j: int64 = min(max(whole(step), 0), STEPS - 1)
    more: float64 = min(draws - m, 1.0)
    right: float64 = step - j
    for k in range(degrees + 1):
        fewer: float64 = (1.0 - right) * binomials[m, j, k] + right * binomials[m, j + 1, k]
        other: float64 = (1.0 - right) * binomials[m + 1, j, k] + right * binomials[m + 1, j + 1, k]
        out[at, k] = scale * ((1.0 - more) * fewer + more * other)


@inner
def tail_of_moments(statistic: float64, mean: float64, variance: float64) -> float64:
    """Return the log p-value of a multiple of chi-square with this mean and variance; without variance p is 1."""
    if variance <= 1e-12 * max(mean * mean, 1.0):
        return 0.0
    return log_tail(statistic * 2.0 * mean / variance, 2.0 * mean * mean / variance)


@door
def moments_tail(statistic: float64, mean: float64, variance: float64) -> float:
    """Return that of one statistic."""
    return tail_of_moments(statistic, mean, variance)


@inner
def set_moments(n_x: int64, n_y: int64, n_z: int64, degrees: int64, cells: Cells, room: Room) -> void:
    """Set mean and variance of G with cells looked up, and whether any was interpolated.

    ``degrees`` is `DEGREES`, or 0 to leave out the variance, which takes most of the time.
    """
    room.mean = room.variance = 0.0
    room.interpolated = False
    for z in range(n_z):
        n: int64 = 0
        seen_r: int64 = 0
        seen_c: int64 = 0
        few_r: int64 = 1 << 62
        few_c: int64 = 1 << 62
        inverse_r: float64 = 0.0
        inverse_c: float64 = 0.0
        for i in range(n_x):
            if room.rows[z, i] > 0:
                n += room.rows[z, i]
                seen_r += 1
                few_r = min(few_r, room.rows[z, i])
                inverse_r += 1.0 / room.rows[z, i]
        for j in range(n_y):
            if room.margins[z, j] > 0:
                seen_c += 1
                few_c = min(few_c, room.margins[z, j])
                inverse_c += 1.0 / room.margins[z, j]
        if seen_r < 2 or seen_c < 2:
            continue
        n_all: float64 = n
        rarest: float64 = few_r * few_c
        if rarest / n_all >= LARGE:
            free: float64 = (seen_r - 1) * (seen_c - 1)
            own: float64 = free + (n_all * inverse_r - 1.0) * (n_all * inverse_c - 1.0) / (6.0 * n_all)
            room.mean += own
            room.variance += 2.0 * own * own / free
            continue
        if n > SMALL:
            room.interpolated = True
        if degrees == 0 and n <= SMALL:
            for i in range(n_x):
                for j in range(n_y):
                    room.mean += cells.means[n, room.rows[z, i], room.margins[z, j]]
            continue
        room.mean += _put_cells(n_x, n_y, z, n, degrees, cells, room)
        if degrees > 0:
            room.variance += _variance(n_x, n_y, z, n, cells, room)


@inner
def _put_cells(n_x: int64, n_y: int64, z: int64, n: int64, degrees: int64, cells: Cells, room: Room) -> float64:
    """Put the cells of a stratum into ``room.part`` and return the mean of their sum."""
    mean: float64 = 0.0
    at: int64 = 0
    for i in range(n_x):
        for j in range(n_y):
            r: int64 = room.rows[z, i]
            c: int64 = room.margins[z, j]
            if n > SMALL and r > 0 and c > 0:
                put_cell(r, c, n, degrees, cells.binomials, room.part, at)
            else:  # the table has zeros where a margin is zero
                for k in range(DEGREES + 1):
                    room.part[at, k] = cells.small[n, r, c, k] if n <= SMALL else 0.0
            mean += room.part[at, 0]
            at += 1
    return mean


@inner
def _variance(n_x: int64, n_y: int64, z: int64, n: int64, cells: Cells, room: Room) -> float64:
    """Return the variance of G of a stratum: Σ part[i, j] A[i, l] B[j, m] part[l, m] by degree."""
    total: float64 = 0.0
    sign: float64 = 1.0
    a: int64 = n_x * n_y  # where in ``part`` the roots are kept
    b: int64 = n_x * n_y + n_x
    for i in range(n_x + n_y):
        m: int64 = room.rows[z, i] if i < n_x else room.margins[z, i - n_x]
        if n > SMALL:
            put_root(m, n, room.part, a + i)
        else:
            for k in range(1, DEGREES + 1):
                room.part[a + i, k] = cells.roots[n, m, k]
    for k in range(1, DEGREES + 1):
        sign = -sign
        both: float64 = 0.0
        for i in range(n_x):
            along: float64 = 0.0
            own: float64 = 0.0
            for j in range(n_y):
                p: float64 = room.part[i * n_y + j, k]
                root: float64 = room.part[b + j, k]
                along += p * root
                own += p * p * (1.0 - sign * root * root)
            root = room.part[a + i, k]
            total += (own + sign * along * along) * (1.0 - sign * root * root)
            both += along * root
        for j in range(n_y):
            across: float64 = 0.0
            root = room.part[b + j, k]
            for i in range(n_x):
                across += room.part[i * n_y + j, k] * room.part[a + i, k]
            total += sign * (1.0 - sign * root * root) * across * across
        total += both * both
    return total


@inner
def is_doubtful(statistic: float64, free: int64, law: Law) -> bint:
    """Whether a G with something to test is not far from the level, by any law that it may have."""
    if free <= 0 or statistic != statistic:
        return False
    near: bint = free >= law.limits.shape[0] or law.limits[free, 2] <= statistic <= law.limits[free, 3]
    return near


@inner
def put_margins(tables: Counts2, i: int64, n_x: int64, n_y: int64, n_z: int64, room: Room) -> void:
    """Set the margins of x and y in each stratum; the smallest expected count of levels seen, in strata that can
    vary, and how many rows can be moved.
    """
    room.least = INFINITY
    room.movable = 0
    for z in range(n_z):
        n: int64 = 0
        seen_r: int64 = 0
        seen_c: int64 = 0
        few_r: int64 = 1 << 62
        few_c: int64 = 1 << 62
        most: int64 = 0
        for y in range(n_y):
            room.margins[z, y] = 0
        for x in range(n_x):
            r: int64 = 0
            for y in range(n_y):
                o: int64 = max(tables[i, (x * n_y + y) * n_z + z], 0)  # what is looked up is there for any table
                r += o
                room.margins[z, y] += o
            room.rows[z, x] = r
            n += r
            if r > 0:
                seen_r += 1
                few_r = min(few_r, r)
                most = max(most, r)
        for y in range(n_y):
            c: int64 = room.margins[z, y]
            if c > 0:
                seen_c += 1
                few_c = min(few_c, c)
                most = max(most, c)
        if seen_r > 1 and seen_c > 1:
            rarest: float64 = few_r * few_c
            n_all: float64 = n
            room.least = min(room.least, rarest / n_all)
            room.movable += n - most


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


@door
def moments_enough(
    log_p: float64, g: float64, mean: float64, variance: float64, least: float64, movable: int64, law: Law
) -> bool:
    """Tell that of one table."""
    return moments_do(log_p, g, mean, variance, least, movable, law)


@inner
def judged(
    tables: Counts2, i: int64, n_x: int64, n_y: int64, n_z: int64, g: float64, formula: Formula, room: Room
) -> int64:
    """Return how the p-value of a table with `Room.free` degrees of freedom was found, as far as moments do.

    Its logarithm is set; NaN where the chi-square tail is meant.
    """
    d: int64 = room.free
    room.log_p = NAN
    if formula.screens:
        if d <= 0:
            return NOTHING
        if not is_doubtful(g, d, formula.law):
            return FAR
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
    if formula.law.level > 0.0:
        set_moments(n_x, n_y, n_z, 0, formula.cells, room)
        if g < BELOW * room.mean:
            room.log_p = tail_of_moments(g, room.mean, 2.0 * room.mean)
            return ASYMPTOTIC if large else MOMENTS
    set_moments(n_x, n_y, n_z, DEGREES, formula.cells, room)
    log_p: float64 = tail_of_moments(g, room.mean, room.variance)
    room.log_p = log_p
    if large:
        return ASYMPTOTIC
    if room.interpolated and (formula.law.level == 0.0 or abs(log_p - log(formula.law.level)) < MARGIN):
        return OPEN
    if moments_do(log_p, g, room.mean, room.variance, room.least, room.movable, formula.law):
        return MOMENTS
    return COARSE


@door
def doubtful_of(statistic: Reals, dof: Reals, law: Law) -> Ints:
    """Return the positions of those G that are not far from the level, by any law that they may have."""
    if statistic.shape[0] != dof.shape[0]:
        raise ValueError("every statistic has its degrees of freedom")
    found = np.empty(statistic.shape[0], np.int64)
    at: NewInts = view(found)
    n: int64 = 0
    with nogil:
        for i in range(statistic.shape[0]):
            free: int64 = whole(dof[i])
            if is_doubtful(statistic[i], free, law):
                at[n] = i
                n += 1
    return found[:n]


@door
def block_statistics(
    tables: Counts2, n_x: int64, n_y: int64, n_z: int64, formula: Formula, apart: bint = False
) -> tuple[Reals, Reals, Reals, Reals]:
    """Return statistics, adjusted degrees of freedom, log p-values and methods of flat tables.

    The tables share their y and their strata, unless they are ``apart``: of different rows. The last two are NaN unless
    the formula judges.
    """
    n: int64 = tables.shape[0]
    if n_x < 1 or n_y < 1 or n_z < 0 or tables.shape[1] != n_x * n_y * n_z:
        raise ValueError("the tables do not have this shape")
    statistic, dof, log_p, method = np.full((4, n), np.nan)
    g: NewReals = view(statistic)
    free: NewReals = view(dof)
    better: NewReals = view(log_p)
    how: NewReals = view(method)
    room: Room = formula.rooms.pop() if formula.rooms else Room()
    room.grow(0, 0, 0, n_z, n_x, n_y)
    with nogil:
        for i in range(n):
            if i == 0 or apart:
                share_strata(tables, i, n_x, n_y, n_z, formula, room)
            g[i] = statistic_of(tables, i, n_x, n_y, n_z, formula, room)
            free[i] = room.free
            if formula.judges:
                how[i] = judged(tables, i, n_x, n_y, n_z, g[i], formula, room)
                better[i] = room.log_p
    given_back(formula, room)
    return statistic, dof, log_p, method
