"""p-values of G that are right in sparse tables too, at the least cost.

Each table goes through these stages, until one settles it:

1. *screening*: G is so small or so large for its degrees of freedom that it is far from the level by any law that
   it may have. In dense tables (every expected count at least `DENSE`) that is nearly chi-square; in others the
   extremes are those of rare cells, whose counts are Poisson, and of strata of two rows, in which G is 2.77 for one
   degree of freedom. The p-value is left to chi-square.
2. *moments*: a multiple of chi-square with mean and variance of G given the margins (with Bartlett's correction,
   where every expected count is at least `LARGE`).
3. *enumeration* of a table of two by two that has no strata, or *permutation* of x within the strata, where so few
   rows can change places that G takes few values, and the p-value by moments is near the level.

Without a level every p-value is to be trusted: nothing is screened, and more is permuted.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import chdtri, gammaincinv, gammaln, xlogy

from blankets.compiling import cheapest
from blankets.stats._calibrated import LARGE, log_p_from_moments, moments_of_block, moments_of_margins
from blankets.stats._calibrated_cells import DEGREES, Cells, cell_tables
from blankets.stats._contingency import _entropy_terms, statistics_of_block
from blankets.stats._permutation import capped_p, permutation_p, permuted_table
from blankets.stats._tail import NS_TAIL

__all__ = ["FAR", "METHODS", "NOTHING", "calibrated_of_block", "doubtful_tests"]

METHODS = (
    "not performed",
    "nothing to test: within each stratum one of the two has a single value",
    f"chi-square: every expected count is at least {LARGE:g}",
    "chi-square: far from the level even if the table is sparse",
    f"adjusted chi-square: some expected counts are below {LARGE:g}",
    "exact: all tables with the same totals were counted",
    "permutation: the strata have too few rows for a formula",
)
_OPEN, NOTHING, _ASYMPTOTIC, FAR, _MOMENTS, _EXACT, _PERMUTATION = range(len(METHODS))
_COARSE = -1  # moments are known, but will not do

DENSE = 1.0
RARE = 1.0  # an expected count below this is rare
# G takes few values if fewer rows than the first can change places; with less than `FEW_DEGREES` degrees of freedom
# also if fewer than the second can, or the third where levels are rare; and so if most of G is the same for all tables
# (its variance is below `STIFF` of the mean; twice the mean in chi-square) and fewer than the second can.
FEW, SOME, SOME_RARE = 30, 100, 300
FEW_DEGREES, STIFF = 10.0, 0.5
# The same with more degrees of freedom where levels are very rare.
VERY_RARE, SOME_DEGREES = 0.3, 100.0
MARGIN = 0.7  # nearer to the level than this in log p, moments of interpolated cells are not good enough
_BELOW = 0.95  # a G below this share of its mean is far from any level; interpolated means are within 3%
MOST, ENOUGH = 1999, 30  # permutations, and those as large as observed
_SCREENED = 512  # degrees of freedom beyond which tables are not screened
_TIE = 1e-9
_NS_CELL, _NS_TEST = 10_000.0, 1000.0  # in plain Python

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Judged = tuple[Floats, Floats]


def calibrated_of_block(
    n_rows: int, *, level: float | None = None, seed: int = 0
) -> Callable[[NDArray[np.int32]], Judged]:
    """Return the function from a block of tables to log p-values and methods.

    Parameters
    ----------
    n_rows : int
        At least the number of rows counted.
    level : float, optional
        The level that p-values will be compared with: those far from it are settled cheaply. By default every
        p-value is to be trusted.
    seed : int
        Of the permutations.

    Returns
    -------
    callable
        From counts of shape (n, levels of x, levels of y, strata) to two arrays: log p-values in nats (NaN where the
        chi-square tail is meant) and positions in `METHODS`.

    Examples
    --------
    >>> table = np.array([[[[2], [0]], [[0], [2]]]], np.int32)  # as large in one arrangement of three
    >>> log_p, method = calibrated_of_block(4)(table)
    >>> round(float(np.exp(log_p[0])), 3), METHODS[int(method[0])]
    (0.303, 'exact: all tables with the same totals were counted')
    """
    statistics, terms, law = statistics_of_block(n_rows), _entropy_terms(n_rows), _law(level)

    def calibrated(counts: NDArray[np.int32]) -> Judged:
        statistic, dof = statistics(counts)
        flat = counts.reshape(len(counts), -1)
        judged = cheapest(_judged_block, _NS_CELL * counts.size)
        log_p, method = judged(flat, counts.shape[1:], statistic, dof, law, cell_tables())
        if (left := np.flatnonzero(method == _OPEN)).size:
            log_p[left], method[left] = _judged_exactly(counts[left], statistic[left], law)
        for i in np.flatnonzero(method == _COARSE):
            log_p[i], method[i] = _judged_closely(counts[i], float(dof[i]), float(log_p[i]), law, terms, seed)
        return log_p, method

    return calibrated


def doubtful_tests(statistic: Floats, dof: Floats, level: float | None = None) -> NDArray[np.int64]:
    """Return the positions of those G that are not far from the level, by any law that they may have.

    Examples
    --------
    >>> doubtful_tests(np.array([3.0, 9.0, 50.0]), np.array([1.0, 1.0, 1.0]), level=0.01)
    array([1])
    """
    doubtful = cheapest(_doubtful, _NS_TEST * len(dof))
    return doubtful(statistic, dof, _law(level).limits)  # type: ignore[no-any-return]


class Law(NamedTuple):
    """What decides how closely a G is looked at.

    Attributes
    ----------
    limits : ndarray of shape (degrees of freedom, 4)
        The G that is far below and far above the level: in dense tables, and in any table.
    small, large : float
        Log p-values by moments below and above which a table of few rows is not near the level.
    far : float
        Squared distance from the mean, in variances, that is far.
    level : float
        0 if every p-value is to be trusted.
    """

    limits: Floats
    small: float
    large: float
    far: float
    level: float


@lru_cache(maxsize=32)
def _law(level: float | None) -> Law:
    """Return how G is judged at a level."""
    if level is None:
        return Law(np.zeros((0, 4)), math.log(1e-5), math.log(0.25), 1000.0, 0.0)
    return Law(_limits(level), math.log(0.3 * level), math.log(min(2.5 * level, 0.5)), 1.0 / level, level)


def _limits(level: float) -> Floats:
    """Return, by degrees of freedom, the G that is far below and above the level: of dense tables, and of any table."""
    free = np.arange(_SCREENED + 1, dtype=float)
    free[0] = 1.0
    large, small = min(3.0 * level, 0.5), 0.1 * level
    dense_low, high = chdtri(free, large), chdtri(free, small)
    # So many hits among d rare cells have the probability ``large``; each adds 2 (ln 1/e - 1 + e), the others 2 e.
    hits = np.arange(1.0, 65.0)[:, np.newaxis]
    e = gammaincinv(hits, large) / free
    rare = 2.0 * hits * (-np.log(e) - 1.0 + e) + 2.0 * (free - hits) * e
    rare = np.where((hits <= free) & (e < 0.5), rare, np.inf).min(axis=0)
    return np.stack([dense_low, 1.2 * high, np.minimum(0.9 * rare, dense_low), 2.8 * high], axis=1)


@njit(nogil=True, cache=True)
def _doubtful(statistic: Floats, dof: Floats, limits: Floats) -> Ints:
    """Return the positions of tests with something to test that no law of G settles."""
    at, k = np.empty(len(statistic), np.int64), 0
    for i in range(len(statistic)):
        d = int(dof[i])
        if d > 0 and (d >= len(limits) or limits[d, 2] <= statistic[i] <= limits[d, 3]):
            at[k] = i
            k += 1
    return at[:k]


@njit(nogil=True, cache=True)
def _judged_block(
    tables: NDArray[np.int32],
    shape: tuple[int, int, int],
    statistic: Floats,
    dof: Floats,
    law: Law,
    cells: Cells,
) -> Judged:
    """Return log p-values and methods of flat tables that share their y and strata, as far as moments do."""
    # Numbers passed on are of one type: a plain 0 would be another one, and all below it compiled once more.
    n_x, n_y, n_z = shape
    log_p, method = np.empty(len(tables)), np.empty(len(tables))
    rows, columns = np.empty((n_z, n_x), np.int64), np.empty((n_z, n_y), np.int64)
    part = np.empty((n_x * n_y + n_x + n_y, DEGREES + 1))
    for i in range(len(tables)):
        if i == 0:
            _put_margins(tables[i], shape, columns, np.int64(1))
        _put_margins(tables[i], shape, rows, np.int64(0))
        log_p[i], method[i] = _judged(rows, columns, statistic[i], int(dof[i]), law, cells, part)
    return log_p, method


@njit(nogil=True, cache=True)
def _put_margins(table: NDArray[np.int32], shape: tuple[int, int, int], out: Ints, axis: np.int64) -> None:
    """Put the margins of x (axis 0) or y (axis 1) in each stratum into ``out``."""
    n_x, n_y, n_z = shape
    for z in range(n_z):
        for level in range(n_y if axis else n_x):
            out[z, level] = 0
    for x in range(n_x):
        for y in range(n_y):
            for z in range(n_z):
                out[z, y if axis else x] += table[(x * n_y + y) * n_z + z]


@njit(nogil=True, cache=True)
def _judged(rows: Ints, columns: Ints, g: float, d: int, law: Law, cells: Cells, part: Floats) -> tuple[float, int]:
    """Return the log p-value of a table with these margins and how it was found, as far as moments do."""
    least, movable = _room(rows, columns)
    if movable == 0:
        return 0.0, NOTHING
    if d < len(law.limits) and least >= DENSE and (g < law.limits[d, 0] or g > law.limits[d, 1]):
        return np.nan, _ASYMPTOTIC if least >= LARGE else FAR
    if law.level > 0.0:
        mean = moments_of_margins(rows, columns, np.int64(0), cells, part)[0]
        if g < _BELOW * mean:
            return log_p_from_moments(g, mean, 2.0 * mean), _ASYMPTOTIC if least >= LARGE else _MOMENTS
    mean, variance, interpolated = moments_of_margins(rows, columns, np.int64(DEGREES), cells, part)
    log_p = log_p_from_moments(g, mean, variance)
    if least >= LARGE:
        return log_p, _ASYMPTOTIC
    if interpolated and (law.level == 0.0 or abs(log_p - math.log(law.level)) < MARGIN):
        return log_p, _OPEN
    return log_p, _MOMENTS if moments_do(log_p, g, mean, variance, least, movable, law) else _COARSE


@njit(nogil=True, cache=True)
def _room(rows: Ints, columns: Ints) -> tuple[float, int]:
    """Return the smallest expected count of levels seen, in strata that can vary, and how many rows can be moved."""
    least, movable = np.inf, 0
    for z in range(len(rows)):
        n, seen_r, seen_c, few_r, few_c, most = 0, 0, 0, np.inf, np.inf, 0
        for i in range(rows.shape[1]):
            m = rows[z, i]
            if m > 0:
                n, seen_r, few_r, most = n + m, seen_r + 1, min(few_r, m), max(most, m)
        for j in range(columns.shape[1]):
            m = columns[z, j]
            if m > 0:
                seen_c, few_c, most = seen_c + 1, min(few_c, m), max(most, m)
        if seen_r > 1 and seen_c > 1:
            least, movable = min(least, few_r * few_c / n), movable + n - most
    return least, movable


@njit(nogil=True, cache=True)
def moments_do(log_p: float, g: float, mean: float, variance: float, least: float, movable: int, law: Law) -> bool:
    """Whether the p-value by moments will do: it is far from the level, or G can take many values."""
    if log_p > law.large or (log_p < law.small and ((g - mean) * (g - mean) >= law.far * variance or least >= RARE)):
        return True
    few = FEW
    if 2.0 * mean * mean < FEW_DEGREES * variance:
        few = SOME_RARE if least < RARE else SOME
    elif variance < STIFF * mean:
        few = SOME
    elif least < VERY_RARE and 2.0 * mean * mean < SOME_DEGREES * variance:
        few = SOME_RARE
    return movable >= few


def _judged_exactly(counts: NDArray[np.int32], statistic: Floats, law: Law) -> Judged:
    """Return log p-values and methods from moments for which every cell was enumerated."""
    log_p, method = np.empty(len(counts)), np.full(len(counts), float(_MOMENTS))
    for i, (g, mean, variance, least, movable) in enumerate(zip(statistic, *moments_of_block(counts), strict=True)):
        log_p[i] = cheapest(log_p_from_moments, NS_TAIL)(g, mean, variance)
        if not cheapest(moments_do, _NS_TEST)(log_p[i], g, mean, variance, least, int(movable), law):
            method[i] = _COARSE
    return log_p, method


def _judged_closely(
    table: NDArray[np.int32], dof: float, by_moments: float, law: Law, terms: Floats, seed: int
) -> tuple[float, int]:
    """Return the log p-value and the method of a table whose G takes few values."""
    if dof == 1.0:
        return math.log(_fourfold_p(table)), _EXACT
    most = MOST if law.level == 0.0 else min(MOST, math.ceil(10.0 / law.level) - 1)
    hits, larger, drawn = permuted_table(table, terms, seed, most, ENOUGH, law.level)
    p = math.log(permutation_p(hits, larger, drawn, ENOUGH))
    # Where no permutation reached the data, the moments tell by how far.
    return (min(p, by_moments) if hits == 0 else p), _PERMUTATION


def _fourfold_p(table: NDArray[np.int32]) -> float:
    """Return the p-value of the only stratum that can vary, one of two by two, from all tables with its margins."""
    rows, columns = table.sum(axis=1, dtype=np.int64), table.sum(axis=0, dtype=np.int64)
    z = int(np.flatnonzero(((rows > 0).sum(axis=0) > 1) & ((columns > 0).sum(axis=0) > 1))[0])
    x, y = int(np.argmax(rows[:, z] > 0)), int(np.argmax(columns[:, z] > 0))
    r, c, n = int(rows[x, z]), int(columns[y, z]), int(rows[:, z].sum())
    o = np.arange(max(0, r + c - n), min(r, c) + 1)
    log_weight = -(gammaln(o + 1) + gammaln(r - o + 1) + gammaln(c - o + 1) + gammaln(n - r - c + o + 1))
    g = xlogy(o, o) + xlogy(r - o, r - o) + xlogy(c - o, c - o) + xlogy(n - r - c + o, n - r - c + o)
    weight, here = np.exp(log_weight - log_weight.max()), g[int(table[x, y, z]) - o[0]]
    slack = _TIE * (1.0 + here)
    as_large, larger = weight[g >= here - slack].sum(), weight[g > here + slack].sum()
    return capped_p(as_large / weight.sum(), larger / weight.sum())
