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

import numpy as np
from numba import njit
from numpy.typing import NDArray

from blankets.stats._contingency import _cell
from blankets.stats._tail import log_chi2_sf

__all__ = ["LARGE", "log_p_from_moments", "moments_of_block"]

LARGE = 5.0  # expected counts from here on are large
_DEGREES = 4  # polynomials of degree 1, 2, 3; what is left counts as degree 4
_G = False  # as opposed to X²
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
    return _block_moments(np.ascontiguousarray(counts).reshape(len(counts), -1), counts.shape[1:])


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
def _block_moments(tables: NDArray[np.int32], shape: tuple[int, int, int]) -> Moments:
    """Return mean, variance, least expected count and movable rows of flat tables with the same y and strata."""
    n_x, n_y, n_z = shape
    mean, variance, movable = np.zeros(len(tables)), np.zeros(len(tables)), np.zeros(len(tables))
    least = np.full(len(tables), np.inf)
    rows, columns = np.empty((n_z, n_x), np.int64), np.empty((n_z, n_y), np.int64)
    r, c = np.empty(n_x, np.int64), np.empty(n_y, np.int64)
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
                m, v, e = _stratum_moments(r[:n_r], c[:n_c], n)
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
def _stratum_moments(r: NDArray[np.int64], c: NDArray[np.int64], n: int) -> tuple[float, float, float]:
    """Return mean and variance of G of a stratum with all margins positive, and its least expected count."""
    least = r.min() * c.min() / n
    free = float((len(r) - 1) * (len(c) - 1))
    if least >= LARGE:
        mean = free + (n * (1.0 / r).sum() - 1.0) * (n * (1.0 / c).sum() - 1.0) / (6.0 * n)
        return mean, 2.0 * mean * mean / free, least
    if len(r) == 2 and len(c) == 2:
        mean, variance = _fourfold_moments(r[0], c[0], n)
        return mean, variance, least
    part = np.empty((_DEGREES, len(r), len(c)))
    mean = 0.0
    for i in range(len(r)):
        for j in range(len(c)):
            mean += _cell_expansion(r[i], c[j], n, part[:, i, j])
    variance = 0.0
    for k in range(_DEGREES):
        variance += _correlated(part[k], _correlations(r, n, k + 1), _correlations(c, n, k + 1))
    return mean, variance, least


@njit(nogil=True, cache=True)
def _correlated(part: NDArray[np.float64], a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Return Σ part[i, j] a[i, l] b[j, m] part[l, m]."""
    total = 0.0
    for i in range(len(a)):
        for m in range(len(b)):
            left = right = 0.0
            for l in range(len(a)):
                left += a[i, l] * part[l, m]
            for j in range(len(b)):
                right += part[i, j] * b[j, m]
            total += left * right
    return total


@njit(nogil=True, cache=True)
def _correlations(margin: NDArray[np.int64], n: int, degree: int) -> NDArray[np.float64]:
    """Return the correlations of the polynomials of one degree between the levels of a margin."""
    ratio = np.zeros(len(margin))
    for i in range(len(margin)):
        if n - margin[i] >= degree:
            ratio[i] = 1.0
            for k in range(degree):
                ratio[i] *= (margin[i] - k) / (n - margin[i] - k)
    sign = -1.0 if degree % 2 else 1.0
    out = sign * np.sqrt(np.outer(ratio, ratio))
    for i in range(len(margin)):
        out[i, i] = 1.0
    return out


@njit(nogil=True, cache=True)
def _distribution(r: int, c: int, n: int) -> tuple[int, NDArray[np.float64]]:
    """Return the hypergeometric distribution of a cell: the first count that matters, and probabilities."""
    low, high = max(0, r + c - n), min(r, c)
    mode = min(max(((r + 1) * (c + 1)) // (n + 2), low), high)
    first, weight, total = mode, 1.0, 1.0
    while first > low and weight > _NEGLIGIBLE:
        weight *= first * (n - r - c + first) / ((r - first + 1.0) * (c - first + 1.0))
        total += weight
        first -= 1
    last, up = mode, 1.0
    while last < high and up > _NEGLIGIBLE:
        up *= (r - last) * (c - last) / ((last + 1.0) * (n - r - c + last + 1.0))
        total += up
        last += 1
    p = np.empty(last - first + 1)
    p[mode - first] = 1.0 / total
    for o in range(mode, first, -1):
        p[o - first - 1] = p[o - first] * (o * (n - r - c + o) / ((r - o + 1.0) * (c - o + 1.0)))
    for o in range(mode, last):
        p[o - first + 1] = p[o - first] * ((r - o) * (c - o) / ((o + 1.0) * (n - r - c + o + 1.0)))
    return first, p


@njit(nogil=True, cache=True)
def _fourfold_moments(r: int, c: int, n: int) -> tuple[float, float]:
    """Return mean and variance of G of a two by two table, by enumeration."""
    first, p = _distribution(r, c, n)
    e = np.array([r * c / n, r * (n - c) / n, (n - r) * c / n, (n - r) * (n - c) / n])
    mean = square = 0.0
    for k in range(len(p)):
        o = first + k
        g = _cell(float(o), e[0], _G) + _cell(float(r - o), e[1], _G)
        g += _cell(float(c - o), e[2], _G) + _cell(float(n - r - c + o), e[3], _G)
        mean += p[k] * g
        square += p[k] * g * g
    return mean, max(square - mean * mean, 0.0)


@njit(nogil=True, cache=True)
def _cell_expansion(r: int, c: int, n: int, part: NDArray[np.float64]) -> float:
    """Return the mean of a cell's part of G, and put its standard deviations by degree into ``part``.

    The polynomials come from their three-term recurrence (Stieltjes' procedure).
    """
    first, p = _distribution(r, c, n)
    e = r * c / n
    mean = square = 0.0
    value, before, now = np.empty(len(p)), np.zeros(len(p)), np.ones(len(p))
    for k in range(len(p)):
        value[k] = _cell(float(first + k), e, _G)
        mean += p[k] * value[k]
        square += p[k] * value[k] * value[k]
    left = max(square - mean * mean, 0.0)
    norm_before, norm = 1.0, 1.0
    for degree in range(_DEGREES - 1):
        part[degree] = 0.0
        if degree + 1 >= len(p):
            continue
        shift = 0.0
        for k in range(len(p)):
            shift += p[k] * (first + k - e) * now[k] * now[k]
        shift /= norm
        back = norm / norm_before if degree > 0 else 0.0
        norm_before, norm, along = norm, 0.0, 0.0
        for k in range(len(p)):
            new = (first + k - e - shift) * now[k] - back * before[k]
            before[k], now[k] = now[k], new
            norm += p[k] * new * new
            along += p[k] * new * value[k]
        if norm <= 0.0:
            norm = 1.0
            continue
        part[degree] = along / math.sqrt(norm)
        left -= part[degree] * part[degree]
    part[_DEGREES - 1] = math.sqrt(max(left, 0.0))
    return mean
