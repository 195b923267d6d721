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

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import chdtri

from blankets.stats._calibrated import LARGE, log_p_from_moments, moments_of_table
from blankets.stats._calibrated_cells import Cells, cell_tables
from blankets.stats._contingency import _entropy_terms, statistics_of_block
from blankets.stats._permutation import capped_p, permutation_p, permuted_table

__all__ = ["FAR", "METHODS", "NOTHING", "calibrated_of_block", "doubtful_tests"]

METHODS = (
    "not performed",
    "nothing to test: no rows can change places within the strata",
    f"asymptotic: every expected count is at least {LARGE:g}",
    "asymptotic: far from the level, however sparse the table",
    f"moments: some expected counts are below {LARGE:g}",
    "exact: every table with these margins was looked at",
    "permutation: too few rows can change places within the strata for a formula",
)
_, NOTHING, _ASYMPTOTIC, FAR, _MOMENTS, _EXACT, _PERMUTATION = range(len(METHODS))

DENSE = 1.0
RARE = 1.0  # an expected count below this is rare
# G takes few values if fewer rows than the first can change places; with less than `FEW_DEGREES` degrees of freedom
# also if fewer than the second can, or the third where levels are rare; and so if most of G is the same for all tables
# (its variance is below `STIFF` of the mean; twice the mean in chi-square) and fewer than the second can.
FEW, SOME, SOME_RARE = 30, 100, 300
FEW_DEGREES, STIFF = 10.0, 0.5
# The same with more degrees of freedom where levels are very rare.
VERY_RARE, SOME_DEGREES = 0.3, 100.0
MARGIN = 0.7  # of log p, for the moments that are read off tables
MOST, ENOUGH = 1999, 30  # permutations, and those as large as observed
_SCREENED = 512  # degrees of freedom beyond which tables are not screened
_TIE = 1e-9

Floats = NDArray[np.float64]
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
    (0.303, 'exact: every table with these margins was looked at')
    """
    statistics, terms = statistics_of_block(n_rows), _entropy_terms(n_rows)
    limits, near = _limits(level), _near(level)
    at = 0.0 if level is None else level

    def calibrated(counts: NDArray[np.int32]) -> Judged:
        statistic, dof = statistics(counts)
        return _judged_block(counts, statistic, dof, limits, near, cell_tables(), terms, seed, at)

    return calibrated


def doubtful_tests(statistic: Floats, dof: Floats, level: float | None = None) -> NDArray[np.int64]:
    """Return the positions of those G that are not far from the level, by any law that they may have.

    Examples
    --------
    >>> doubtful_tests(np.array([3.0, 9.0, 50.0]), np.array([1.0, 1.0, 1.0]), level=0.01)
    array([1])
    """
    return _doubtful(statistic, dof, _limits(level))


@lru_cache(maxsize=32)
def _limits(level: float | None) -> Floats:
    """Return, by degrees of freedom, the G that is far below and above the level: of dense tables, and of any table."""
    if level is None:
        return np.zeros((0, 4))
    free = np.arange(_SCREENED + 1, dtype=float)
    free[0] = 1.0
    large, small = min(3.0 * level, 0.5), 0.1 * level
    dense_low, high = chdtri(free, large), chdtri(free, small)
    # So many hits among d rare cells have the probability ``large``; each adds 2 (ln 1/e - 1 + e), the others 2 e.
    hits = np.arange(1.0, 65.0)[:, np.newaxis]
    e = chdtri(2.0 * hits, 1.0 - large) / 2.0 / free
    rare = 2.0 * hits * (-np.log(e) - 1.0 + e) + 2.0 * (free - hits) * e
    rare = np.where((hits <= free) & (e < 0.5), rare, np.inf).min(axis=0)
    return np.stack([dense_low, 1.2 * high, np.minimum(0.9 * rare, dense_low), 2.8 * high], axis=1)


def _near(level: float | None) -> tuple[float, float, float]:
    """Return the log p-values by moments that are near the level, and the distance from the mean that is far."""
    if level is None:
        return math.log(1e-5), math.log(0.25), 1000.0
    return math.log(0.3 * level), math.log(min(2.5 * level, 0.5)), 1.0 / level


@njit(nogil=True, cache=True)
def _judged_block(
    counts: NDArray[np.int32],
    statistic: Floats,
    dof: Floats,
    limits: Floats,
    near: tuple[float, float, float],
    cells: Cells,
    terms: Floats,
    seed: int,
    level: float,
) -> tuple[Floats, Floats]:
    """Return log p-values and methods of tables that share their y and strata."""
    _, n_x, n_y, n_z = counts.shape
    log_p, method = np.full(len(counts), np.nan), np.full(len(counts), float(FAR))
    rows, columns = np.empty((n_z, n_x), np.int64), np.empty((n_z, n_y), np.int64)
    for i in range(len(counts)):
        d = int(dof[i])
        if i == 0:
            _margins_of(counts[i], columns, 1)
        _margins_of(counts[i], rows, 0)
        if d < len(limits) and (statistic[i] < limits[d, 0] or statistic[i] > limits[d, 1]):
            least = _least(rows, columns)
            if least >= DENSE:
                method[i] = _ASYMPTOTIC if least >= LARGE else FAR
                continue
        log_p[i], method[i] = _judged(counts[i], statistic[i], d, rows, columns, near, cells, terms, seed, level)
    return log_p, method


@njit(nogil=True, cache=True)
def _doubtful(statistic: Floats, dof: Floats, limits: Floats) -> NDArray[np.int64]:
    """Return the positions of tests with something to test that no law of G settles."""
    at, k = np.empty(len(statistic), np.int64), 0
    for i in range(len(statistic)):
        d = int(dof[i])
        if d > 0 and (d >= len(limits) or limits[d, 2] <= statistic[i] <= limits[d, 3]):
            at[k] = i
            k += 1
    return at[:k]


@njit(nogil=True, cache=True)
def _margins_of(table: NDArray[np.int32], out: NDArray[np.int64], axis: int) -> None:
    """Put the margins of x (axis 0) or y (axis 1) in each stratum into ``out``."""
    out[:] = 0
    n_x, n_y, n_z = table.shape
    for x in range(n_x):
        for y in range(n_y):
            for z in range(n_z):
                out[z, y if axis else x] += table[x, y, z]


@njit(nogil=True, cache=True)
def _least(rows: NDArray[np.int64], columns: NDArray[np.int64]) -> float:
    """Return the smallest expected count of levels seen, in strata that can vary."""
    least = np.inf
    for z in range(len(rows)):
        n, n_r, n_c, r, c = 0, 0, 0, np.inf, np.inf
        for m in rows[z]:
            if m > 0:
                n, n_r, r = n + m, n_r + 1, min(r, m)
        for m in columns[z]:
            if m > 0:
                n_c, c = n_c + 1, min(c, m)
        if n_r > 1 and n_c > 1:
            least = min(least, r * c / n)
    return least


@njit(nogil=True, cache=True)
def _judged(
    table: NDArray[np.int32],
    g: float,
    d: int,
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    near: tuple[float, float, float],
    cells: Cells,
    terms: Floats,
    seed: int,
    level: float,
) -> tuple[float, int]:
    """Return the log p-value of one table and how it was found."""
    small, large, far = near
    mean, variance, least, movable = moments_of_table(rows, columns, cells, enumerate_cells=level == 0.0)
    if movable == 0:
        return 0.0, NOTHING
    log_p = log_p_from_moments(g, mean, variance)
    if level > 0.0 and least < LARGE and small - MARGIN < log_p < large + MARGIN:
        mean, variance, least, movable = moments_of_table(rows, columns, cells, enumerate_cells=True)
        log_p = log_p_from_moments(g, mean, variance)
    if least >= LARGE:
        return log_p, _ASYMPTOTIC
    clearly_small = log_p < small and ((g - mean) ** 2 >= far * variance or least >= RARE)
    few = FEW
    if 2.0 * mean * mean < FEW_DEGREES * variance:
        few = SOME_RARE if least < RARE else SOME
    elif variance < STIFF * mean:
        few = SOME
    elif least < VERY_RARE and 2.0 * mean * mean < SOME_DEGREES * variance:
        few = SOME_RARE
    if log_p > large or clearly_small or movable >= few:
        return log_p, _MOMENTS
    if d == 1:
        return math.log(_fourfold_p(*_fourfold_of(table, rows, columns))), _EXACT
    most = MOST if level == 0.0 else min(MOST, math.ceil(10.0 / level) - 1)
    hits, larger, drawn = permuted_table(table, terms, seed, most, ENOUGH, level)
    p = math.log(permutation_p(hits, larger, drawn, ENOUGH))
    # Where no permutation reached the data, the moments tell by how far.
    return (min(p, log_p) if hits == 0 else p), _PERMUTATION


@njit(nogil=True, cache=True)
def _fourfold_of(
    table: NDArray[np.int32], rows: NDArray[np.int64], columns: NDArray[np.int64]
) -> tuple[np.int64, np.int64, np.int64, np.int64]:
    """Return a count, its margins and the size of the only stratum that can vary, one of two by two."""
    for z in range(len(rows)):
        n = rows[z].sum()
        x, y = np.argmax(rows[z] > 0), np.argmax(columns[z] > 0)
        if rows[z, x] < n and columns[z, y] < n:
            break
    return np.int64(table[x, y, z]), rows[z, x], columns[z, y], n


@njit(nogil=True, cache=True)
def _fourfold_p(observed: np.int64, r: np.int64, c: np.int64, n: np.int64) -> float:
    """Return the p-value of a two by two table from the probabilities of all counts of its first cell."""
    low, high = max(0, r + c - n), min(r, c)
    total, as_large, larger = 1.0, 1.0, 0.0
    here = _fourfold_g(observed, r, c, n)
    for way in (-1, 1):
        o, weight = observed, 1.0
        while o != (low if way < 0 else high):
            if way < 0:
                weight *= o * (n - r - c + o) / ((r - o + 1.0) * (c - o + 1.0))
            else:
                weight *= (r - o) * (c - o) / ((o + 1.0) * (n - r - c + o + 1.0))
            o += way
            g = _fourfold_g(o, r, c, n)
            total += weight
            as_large += weight if g >= here - _TIE * (1.0 + here) else 0.0
            larger += weight if g > here + _TIE * (1.0 + here) else 0.0
    return capped_p(as_large / total, larger / total)


@njit(nogil=True, cache=True)
def _fourfold_g(o: np.int64, r: np.int64, c: np.int64, n: np.int64) -> float:
    """Return half of G but for what all tables with these margins share."""
    total = 0.0
    for m in (o, r - o, c - o, n - r - c + o):
        total += m * math.log(m) if m > 0 else 0.0
    return total
