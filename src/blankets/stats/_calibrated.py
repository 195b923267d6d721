"""The distribution of G under independence, given the margins of every stratum.

Given its margins, a stratum of size n is a draw from the (multivariate) hypergeometric distribution. G is a sum
over cells of 2 (o ln(o/e) - (o - e)), so that

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

from blankets.stats._calibrated_cells import (
    DEGREES,
    ROOM,
    SMALL,
    Cells,
    cell_tables,
    put_cell,
    put_exact_cell,
    put_small_cell,
)
from blankets.stats._tail import log_chi2_tail

__all__ = ["LARGE", "log_p_from_moments", "moments_of_block", "moments_of_table"]

LARGE = 5.0  # expected counts from here on are large

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Moments = tuple[Floats, Floats, Floats, Floats]


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
    margins = [counts.sum(axis=axis, dtype=np.int64).transpose(0, 2, 1) for axis in (2, 1)]
    found = [
        moments_of_table(rows, columns, cell_tables(), enumerate_cells=True)
        for rows, columns in zip(*margins, strict=True)
    ]
    mean, variance, least, movable = np.array(found, float).reshape(-1, 4).T
    return mean, variance, least, movable


@njit(nogil=True, cache=True)
def log_p_from_moments(statistic: float, mean: float, variance: float) -> float:
    """Return the log p-value of a multiple of chi-square with this mean and variance, in nats.

    Without variance there is nothing to test, and p is 1.

    Examples
    --------
    >>> [round(log_p_from_moments(*numbers), 4) for numbers in ((3.841459, 1.0, 2.0), (7.682918, 2.0, 8.0), (9, 9, 0))]
    [-2.9957, -2.9957, 0.0]
    """
    if variance <= 1e-12 * max(mean * mean, 1.0):
        return 0.0
    return log_chi2_tail(statistic * 2.0 * mean / variance, 2.0 * mean * mean / variance)


@njit(nogil=True, cache=True)
def moments_of_table(
    rows: Ints,
    columns: Ints,
    cells: Cells,
    enumerate_cells: bool,  # noqa: FBT001
) -> tuple[float, float, float, float]:
    """Return mean and variance of G, the least expected count and the movable rows.

    Parameters
    ----------
    rows, columns : ndarray of int64 of shape (strata, levels)
        Margins of x and y in each stratum.
    cells : tuple of ndarray
        What `cell_tables` returns.
    enumerate_cells : bool
        Whether cells of strata that are too large for the table of small ones are enumerated; it takes ten times
        as long.
    """
    mean = variance = movable = 0.0
    least = np.inf
    r, c = np.empty(rows.shape[1], np.int64), np.empty(columns.shape[1], np.int64)
    part, roots = np.empty((DEGREES + 1, len(r) * len(c))), np.empty((2, max(len(r), len(c))))
    for z in range(len(rows)):
        n_c, n, most_c, fewest_c = _seen(columns[z], c)
        n_r, n, most_r, fewest_r = _seen(rows[z], r)
        if n_r > 1 and n_c > 1:
            smallest = fewest_r * fewest_c / n
            if smallest >= LARGE:
                m, v = _bartlett(r[:n_r], c[:n_c], n)
            else:
                m, v = _sparse_moments(r[:n_r], c[:n_c], n, part, roots, cells, enumerate_cells)
            mean += m
            variance += v
            least = min(least, smallest)
            movable += n - max(most_r, most_c)
    return mean, variance, least, movable


@njit(nogil=True, cache=True)
def _seen(margin: Ints, out: Ints) -> tuple[int, int, int, int]:
    """Put the levels that occur into ``out``; return how many there are, their sum, the largest and smallest."""
    k, n, most, fewest = 0, 0, 0, 1 << 62
    for m in margin:
        if m > 0:
            out[k] = m
            k += 1
            n += m
            most, fewest = max(most, m), min(fewest, m)
    return k, n, most, fewest


@njit(nogil=True, cache=True)
def _bartlett(r: Ints, c: Ints, n: int) -> tuple[float, float]:
    """Return mean and variance of G where all expected counts are large."""
    free = float((len(r) - 1) * (len(c) - 1))
    of_r = of_c = 0.0
    for m in r:
        of_r += 1.0 / m
    for m in c:
        of_c += 1.0 / m
    mean = free + (n * of_r - 1.0) * (n * of_c - 1.0) / (6.0 * n)
    return mean, 2.0 * mean * mean / free


@njit(nogil=True, cache=True)
def _sparse_moments(
    r: Ints,
    c: Ints,
    n: int,
    part: Floats,
    roots: Floats,
    cells: Cells,
    enumerate_cells: bool,  # noqa: FBT001
) -> tuple[float, float]:
    """Return mean and variance of G of a stratum with all margins positive."""
    small, binomials, terms, small_roots = cells
    weights = np.empty(ROOM) if enumerate_cells and n > SMALL else terms[:0]
    mean = 0.0
    for i in range(len(r)):
        for j in range(len(c)):
            at = i * len(c) + j
            if n <= SMALL:
                put_small_cell(r[i], c[j], n, small, part, at)
            elif enumerate_cells:
                put_exact_cell(r[i], c[j], n, terms, weights, part, at)
            else:
                put_cell(r[i], c[j], n, binomials, part, at)
            mean += part[0, at]
    variance = 0.0
    roots[:] = 1.0
    for k in range(1, DEGREES + 1):
        _next_roots(roots[0], r, n, k, small_roots)
        _next_roots(roots[1], c, n, k, small_roots)
        variance += _variance_of_degree(part[k], roots[0, : len(r)], roots[1, : len(c)], -1.0 if k % 2 else 1.0)
    return mean, variance


@njit(nogil=True, cache=True)
def _next_roots(root: Floats, margin: Ints, n: int, degree: int, small_roots: Floats) -> None:
    """Turn √((m)_k / (n - m)_k) into that of the next degree; 0 where cells of this margin have no such polynomial."""
    for i in range(len(margin)):
        m = margin[i]
        if n <= SMALL:
            root[i] = small_roots[degree - 1, n, m]
            continue
        root[i] *= 0.0 if min(m, n - m) < degree else math.sqrt((m - degree + 1.0) / (n - m - degree + 1.0))


@njit(nogil=True, cache=True)
def _variance_of_degree(part: Floats, a: Floats, b: Floats, sign: float) -> float:
    """Return Σ part[i, j] A[i, l] B[j, m] part[l, m]; A and B are diagonal but for ± a product a[i] a[l]."""
    of_cells = of_rows = of_columns = whole = 0.0
    for i in range(len(a)):
        along = own = 0.0
        for j in range(len(b)):
            p = part[i * len(b) + j]
            along += p * b[j]
            own += p * p * (1.0 - sign * b[j] * b[j])
        of_cells += own * (1.0 - sign * a[i] * a[i])
        of_rows += (1.0 - sign * a[i] * a[i]) * along * along
        whole += along * a[i]
    for j in range(len(b)):
        along = 0.0
        for i in range(len(a)):
            along += part[i * len(b) + j] * a[i]
        of_columns += (1.0 - sign * b[j] * b[j]) * along * along
    return of_cells + sign * (of_rows + of_columns) + whole * whole
