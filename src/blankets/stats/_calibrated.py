"""The distribution of G under independence, given the margins of every stratum.

Given its margins, a stratum of size n is a draw from the (multivariate) hypergeometric distribution, and a
cell with margins r and c is hypergeometric. G is a sum over cells of 2 (o ln(o/e) - (o - e)), so that

* its mean is a sum of expectations of single cells, and
* its variance follows from the expansion of each cell's part in the polynomials that are orthogonal under
  the cell's distribution. Those of degree k of two cells (i, j) and (l, m) have the correlation
  A_k(i, l) B_k(j, m), where A_k(i, i) = 1 and A_k(i, l)² = (r_i)_k (r_l)_k / ((n - r_i)_k (n - r_l)_k) with
  the sign (-1)^k, (r)_k = r (r-1) ... (r-k+1), and B_k likewise of the columns; polynomials of different
  degree do not correlate. (X² is of degree 2 throughout: Haldane 1940 and Dawson 1954 give its variance.)

In a stratum whose smallest expected count is `LARGE` or more, Bartlett's corrected chi-square does: its mean
is d + (n Σ1/r - 1)(n Σ1/c - 1) / 6n for d degrees of freedom (Lawley 1956; Williams 1976).
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numba import njit
from numpy.typing import NDArray

from blankets.stats._contingency import _MOST_TERMS, _entropy_terms
from blankets.stats._tail import log_chi2_sf

__all__ = ["LARGE", "log_p_from_moments", "moments_of_block"]

LARGE = 5.0  # expected counts from here on are large
_DEGREES = 4  # polynomials of degree 1, 2, 3; what is left counts as degree 4
_TABLED = 32  # strata of up to this many rows are looked up
_NEGLIGIBLE = 1e-13  # probabilities below this share of the largest are left out

Moments = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]


def moments_of_block(counts: NDArray[np.int32]) -> Moments:
    """Return what the margins of tables say about G under independence.

    Parameters
    ----------
    counts : ndarray of int32 of shape (n, levels of x, levels of y, strata)
        Tables of different x with the same y in the same strata.

    Returns
    -------
    mean, variance : ndarray of shape (n,)
        Of G, over all tables with these margins.
    least : ndarray of shape (n,)
        The smallest expected count of a level seen in a stratum that can vary; infinite if none can.
    movable : ndarray of shape (n,)
        How many rows have to be drawn to permute x in all strata: those outside the largest level of x, or
        of y where that is less.

    Examples
    --------
    >>> table = np.array([[[[2], [0]], [[0], [2]]]], np.int32)  # G is 0 or, with probability 1/3, 8 ln 2 = 5.545
    >>> [float(values[0].round(3)) for values in moments_of_block(table)]
    [1.848, 6.833, 1.0, 2.0]
    """
    flat = np.ascontiguousarray(counts).reshape(len(counts), -1)
    return _block_moments(flat, counts.shape[1:], _small_strata(), _entropy_terms(_MOST_TERMS))


def log_p_from_moments(
    statistic: NDArray[np.float64], mean: NDArray[np.float64], variance: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return log p-values of a multiple of chi-square with this mean and variance, in nats.

    Without variance there is nothing to test, and p is 1.

    Examples
    --------
    >>> log_p_from_moments(np.array([3.841459, 7.682918, 9.0]), np.array([1.0, 2.0, 9.0]), np.array([2.0, 8.0, 0.0]))
    array([-2.995732..., -2.995732..., 0. ])
    """
    varies = variance > 1e-12 * np.maximum(mean * mean, 1.0)
    by = np.where(varies, variance, 1.0)
    return log_chi2_sf(statistic * (2.0 * mean / by), np.where(varies, 2.0 * mean * mean / by, 0.0))


@njit(nogil=True, cache=True)
def _block_moments(
    tables: NDArray[np.int32], shape: tuple[int, int, int], small: NDArray[np.float64], terms: NDArray[np.float64]
) -> Moments:
    """Return mean, variance, least expected count and movable rows of flat tables with the same y and strata."""
    n_x, n_y, n_z = shape
    mean, variance, movable = np.zeros(len(tables)), np.zeros(len(tables)), np.zeros(len(tables))
    least = np.full(len(tables), np.inf)
    rows, columns = np.empty((n_z, n_x), np.int64), np.empty((n_z, n_y), np.int64)
    r, c = np.empty(n_x, np.int64), np.empty(n_y, np.int64)
    part = np.empty((_DEGREES, n_x, n_y))
    for i in range(len(tables)):
        rows[:], columns[:] = 0, 0
        for x in range(n_x):
            for y in range(n_y):
                for z in range(n_z):
                    rows[z, x] += tables[i, (x * n_y + y) * n_z + z]
                    columns[z, y] += tables[i, (x * n_y + y) * n_z + z]
        for z in range(n_z):
            n_c, n = _seen(columns[z], c)
            n_r, n = _seen(rows[z], r)
            if n_r > 1 and n_c > 1:
                m, v, e = _stratum_moments(r[:n_r], c[:n_c], n, part, small, terms)
                mean[i] += m
                variance[i] += v
                least[i] = min(least[i], e)
                movable[i] += n - max(r[:n_r].max(), c[:n_c].max())
    return mean, variance, least, movable


@njit(nogil=True, cache=True)
def _seen(margin: NDArray[np.int64], out: NDArray[np.int64]) -> tuple[int, int]:
    """Put the levels that occur into ``out``; return how many there are, and their sum."""
    k, n = 0, 0
    for m in margin:
        if m > 0:
            out[k] = m
            k += 1
            n += m
    return k, n


@njit(nogil=True, cache=True)
def _stratum_moments(
    r: NDArray[np.int64],
    c: NDArray[np.int64],
    n: int,
    part: NDArray[np.float64],
    small: NDArray[np.float64],
    terms: NDArray[np.float64],
) -> tuple[float, float, float]:
    """Return mean and variance of G of a stratum with all margins positive, and its least expected count."""
    least = r.min() * c.min() / n
    free = float((len(r) - 1) * (len(c) - 1))
    if least >= LARGE:
        mean = free + (n * (1.0 / r).sum() - 1.0) * (n * (1.0 / c).sum() - 1.0) / (6.0 * n)
        return mean, 2.0 * mean * mean / free, least
    if len(r) == 2 and len(c) == 2:
        if n <= _TABLED:
            known = small[n, r[0], c[0]]
            return known[-2], known[-1], least
        mean, variance = _fourfold_moments(r[0], c[0], n, terms)
        return mean, variance, least
    mean = variance = 0.0
    for i in range(len(r)):
        for j in range(len(c)):
            if n <= _TABLED:
                mean += small[n, r[i], c[j], 0]
                for k in range(_DEGREES):
                    part[k, i, j] = small[n, r[i], c[j], k + 1]
            else:
                mean += _cell_expansion(r[i], c[j], n, part[:, i, j], terms)
    for k in range(_DEGREES):
        variance += _variance_of_degree(k + 1, part[k], r, c, n)
    return mean, variance, least


@njit(nogil=True, cache=True)
def _variance_of_degree(
    degree: int, part: NDArray[np.float64], r: NDArray[np.int64], c: NDArray[np.int64], n: int
) -> float:
    """Return Σ part[i, j] A[i, l] B[j, m] part[l, m]; A and B are diagonal but for ± a product s[i] s[l]."""
    sign = -1.0 if degree % 2 else 1.0
    whole = of_rows = of_cells = 0.0
    for i in range(len(r)):
        a = _falling_ratio(r[i], n, degree)
        along = 0.0
        for j in range(len(c)):
            b = _falling_ratio(c[j], n, degree)
            along += part[i, j] * math.sqrt(b)
            of_cells += part[i, j] * part[i, j] * (1.0 - sign * a) * (1.0 - sign * b)
        of_rows += (1.0 - sign * a) * along * along
        whole += along * math.sqrt(a)
    of_columns = 0.0
    for j in range(len(c)):
        along = 0.0
        for i in range(len(r)):
            along += part[i, j] * math.sqrt(_falling_ratio(r[i], n, degree))
        of_columns += (1.0 - sign * _falling_ratio(c[j], n, degree)) * along * along
    return of_cells + sign * (of_rows + of_columns) + whole * whole


@njit(nogil=True, cache=True)
def _falling_ratio(margin: int, n: int, degree: int) -> float:
    """Return (m)_k / (n - m)_k, and 0 where cells of this margin have no polynomial of degree k."""
    if n - margin < degree or margin < degree:
        return 0.0
    ratio = 1.0
    for k in range(degree):
        ratio *= (margin - k) / (n - margin - k)
    return ratio


@lru_cache(maxsize=1)
def _small_strata() -> NDArray[np.float64]:
    """Return, for each n, r and c, the mean of a cell, its parts by degree, and mean and variance of 2 x 2."""
    return _tabled(_TABLED, _entropy_terms(_MOST_TERMS))


@njit(nogil=True, cache=True)
def _tabled(most: int, terms: NDArray[np.float64]) -> NDArray[np.float64]:
    out = np.zeros((most + 1, most + 1, most + 1, _DEGREES + 3))
    for n in range(2, most + 1):
        for r in range(1, n):
            for c in range(1, n):
                out[n, r, c, 0] = _cell_expansion(r, c, n, out[n, r, c, 1 : _DEGREES + 1], terms)
                out[n, r, c, -2], out[n, r, c, -1] = _fourfold_moments(r, c, n, terms)
    return out


@njit(nogil=True, cache=True)
def _fourfold_moments(r: int, c: int, n: int, terms: NDArray[np.float64]) -> tuple[float, float]:
    """Return mean and variance of G of a two by two table, by enumeration."""
    fixed = _n_log_n(n, terms) - _n_log_n(r, terms) - _n_log_n(n - r, terms)
    fixed -= _n_log_n(c, terms) + _n_log_n(n - c, terms)
    low, high = max(0, r + c - n), min(r, c)
    mode, step = _mode_and_step(r, c, n)
    total = mean = square = 0.0
    for way in (-1, 1):
        o, weight = mode, 1.0
        while True:
            if (o - mode) % step == 0 and not (way < 0 and o == mode):
                g = fixed + _n_log_n(o, terms) + _n_log_n(r - o, terms)
                g = 2.0 * (g + _n_log_n(c - o, terms) + _n_log_n(n - r - c + o, terms))
                total += weight
                mean += weight * g
                square += weight * g * g
            if weight < _NEGLIGIBLE or o == (low if way < 0 else high):
                break
            weight *= _next_weight(o, way, r, c, n)
            o += way
    mean /= total
    return mean, max(square / total - mean * mean, 0.0)


@njit(nogil=True, cache=True)
def _cell_expansion(r: int, c: int, n: int, part: NDArray[np.float64], terms: NDArray[np.float64]) -> float:
    """Return the mean of a cell's part of G, and put its standard deviations by degree into ``part``."""
    e = r * c / n
    log_e, scale = math.log(e), math.sqrt(e * (n - r) * (n - c) / (n * (n - 1.0)))
    low, high = max(0, r + c - n), min(r, c)
    mode, step = _mode_and_step(r, c, n)
    m0 = m2 = m3 = m4 = m5 = m6 = 0.0  # moments of u, the standardised count
    d0 = d1 = d2 = d3 = square = 0.0  # moments of the cell's part of G with powers of u
    for way in (-1, 1):
        o, weight = mode, 1.0
        while True:
            if (o - mode) % step == 0 and not (way < 0 and o == mode):
                u = (o - e) / scale
                w, wd = weight, weight * 2.0 * (_n_log_n(o, terms) - o * log_e - (o - e))
                square += wd * wd / weight
                m0, d0, w, wd = m0 + w, d0 + wd, w * u, wd * u
                d1, w, wd = d1 + wd, w * u, wd * u
                m2, d2, w, wd = m2 + w, d2 + wd, w * u, wd * u
                m3, d3, w = m3 + w, d3 + wd, w * u
                m4, w = m4 + w, w * u
                m5, m6 = m5 + w, m6 + w * u
            if weight < _NEGLIGIBLE or o == (low if way < 0 else high):
                break
            weight *= _next_weight(o, way, r, c, n)
            o += way
    moments = np.array([m0, m2, m3, m4, m5, m6, d0, d1, d2, d3, square]) / m0
    _project(moments, high - low, part)
    return float(moments[6])


@njit(nogil=True, cache=True)
def _mode_and_step(r: int, c: int, n: int) -> tuple[int, int]:
    """Return the most probable count of a cell, and the step at which sums over counts need to be taken.

    A sum over a smooth bell is exact to all digits at five points for two standard deviations.
    """
    mode = min(max(((r + 1) * (c + 1)) // (n + 2), r + c - n, 0), r, c)
    spread = math.sqrt(r * c / n * (n - r) / n * (n - c) / max(n - 1, 1))
    return mode, max(1, int(spread / 2.5))


@njit(nogil=True, cache=True)
def _next_weight(o: int, way: int, r: int, c: int, n: int) -> float:
    """Return the probability of count o + way over that of count o."""
    if way < 0:
        return o * (n - r - c + o) / ((r - o + 1.0) * (c - o + 1.0))
    return (r - o) * (c - o) / ((o + 1.0) * (n - r - c + o + 1.0))


@njit(nogil=True, cache=True)
def _project(moments: NDArray[np.float64], span: int, part: NDArray[np.float64]) -> None:
    """Orthogonalise 1, u, u², u³ and project the cell's part of G on them; the rest goes to the last degree."""
    _, m2, m3, m4, m5, m6, d0, d1, d2, d3, square = moments
    left = max(square - d0 * d0, 0.0)
    norm2 = m4 - m3 * m3 / m2 - m2 * m2
    along2 = d2 - m3 / m2 * d1 - m2 * d0
    shared = (m5 - m3 / m2 * m4 - m2 * m3) / norm2 if norm2 > 0.0 else 0.0
    norm3 = m6 - shared * shared * norm2 - m4 * m4 / m2 - m3 * m3
    along3 = d3 - shared * along2 - m4 / m2 * d1 - m3 * d0
    norms, alongs = (m2, norm2, norm3), (d1, along2, along3)
    for k in range(_DEGREES - 1):
        part[k] = 0.0
        if span > k and norms[k] > 0.0:  # k + 2 counts are possible
            # Rounding must not find more than there is.
            part[k] = math.copysign(min(abs(alongs[k]) / math.sqrt(norms[k]), math.sqrt(left)), alongs[k])
            left = max(left - part[k] * part[k], 0.0)
    part[_DEGREES - 1] = math.sqrt(left) if span >= _DEGREES else 0.0


@njit(nogil=True, cache=True)
def _n_log_n(n: int, terms: NDArray[np.float64]) -> float:
    """Return n ln n, from the table where it reaches that far."""
    return terms[n] if n < len(terms) else n * math.log(n)
