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

import numpy as np
from numba import njit
from numpy.typing import NDArray

from blankets.stats._calibrated_cells import DEGREES, SMALL, Cells, exact_cells, put_cell, put_roots
from blankets.stats._tail import log_chi2_tail

__all__ = ["LARGE", "log_p_from_moments", "moments_of_block", "moments_of_margins"]

LARGE = 5.0  # expected counts from here on are large

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Moments = tuple[Floats, Floats, Floats, Floats]


def moments_of_block(counts: NDArray[np.int32]) -> Moments:
    """Return what the margins of tables say about G under independence, every cell enumerated.

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
    r = counts.sum(axis=2, dtype=np.int64).transpose(0, 2, 1)  # (n, strata, levels)
    c = counts.sum(axis=1, dtype=np.int64).transpose(0, 2, 1)
    n = r.sum(axis=2)
    seen_r, seen_c = (r > 0).sum(axis=2), (c > 0).sum(axis=2)
    varies = (seen_r > 1) & (seen_c > 1)
    fewest = [np.where(m > 0, m, np.iinfo(np.int64).max).min(axis=2) for m in (r, c)]
    smallest = np.where(varies, fewest[0] * 1.0 * fewest[1] / np.maximum(n, 1), np.inf)
    mean, variance = np.zeros(n.shape), np.zeros(n.shape)
    large = varies & (smallest >= LARGE)
    free = ((seen_r - 1) * (seen_c - 1))[large]
    inverse = [np.where(m > 0, 1.0 / np.maximum(m, 1), 0.0).sum(axis=2)[large] for m in (r, c)]
    mean[large] = free + (n[large] * inverse[0] - 1.0) * (n[large] * inverse[1] - 1.0) / (6.0 * n[large])
    variance[large] = 2.0 * mean[large] ** 2 / free
    sparse = varies & ~large
    mean[sparse], variance[sparse] = _sparse_moments(r[sparse], c[sparse], n[sparse])
    movable = np.where(varies, n - np.maximum(r.max(axis=2), c.max(axis=2)), 0).sum(axis=1)
    return mean.sum(axis=1), variance.sum(axis=1), smallest.min(axis=1, initial=np.inf), movable.astype(float)


def _sparse_moments(r: Ints, c: Ints, n: Ints) -> tuple[Floats, Floats]:
    """Return mean and variance of G of strata with these margins, shape (strata, levels), from all their cells."""
    seen = (r[:, :, np.newaxis] > 0) & (c[:, np.newaxis, :] > 0)
    z, i, j = np.nonzero(seen)
    part = np.zeros((*seen.shape, DEGREES + 1))
    part[seen] = exact_cells(r[z, i], c[z, j], n[z])
    variance = np.zeros(len(n))
    a, b = np.ones(r.shape), np.ones(c.shape)
    for k in range(1, DEGREES + 1):
        a, b, sign = _next_roots(a, r, n, k), _next_roots(b, c, n, k), -1.0 if k % 2 else 1.0
        left_a, left_b, own = 1.0 - sign * a * a, 1.0 - sign * b * b, part[..., k]
        along, across = np.einsum("zij,zj->zi", own, b), np.einsum("zij,zi->zj", own, a)
        # Σ own[i, j] A[i, l] B[j, m] own[l, m]; A and B are diagonal but for ± a product a[i] a[l].
        variance += np.einsum("zij,zij,zi,zj->z", own, own, left_a, left_b)
        variance += sign * ((left_a * along**2).sum(axis=1) + (left_b * across**2).sum(axis=1))
        variance += (along * a).sum(axis=1) ** 2
    return part[..., 0].sum(axis=(1, 2)), variance


def _next_roots(root: Floats, margin: Ints, n: Ints, degree: int) -> Floats:
    """Turn √((m)_k / (n - m)_k) into that of the next degree; 0 where cells of this margin have no such polynomial."""
    rest = n[:, np.newaxis] - margin
    some = np.minimum(margin, rest) >= degree
    return root * np.sqrt(np.where(some, (margin - degree + 1.0) / np.where(some, rest - degree + 1.0, 1.0), 0.0))


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
def moments_of_margins(
    rows: Ints, columns: Ints, degrees: np.int64, cells: Cells, part: Floats
) -> tuple[float, float, bool]:
    """Return mean and variance of G with cells looked up, and whether any was interpolated.

    Parameters
    ----------
    rows, columns : ndarray of int64 of shape (strata, levels)
        Margins of x and y in each stratum.
    degrees : int
        `DEGREES`, or 0 to leave out the variance, which takes most of the time.
    cells : Cells
    part : ndarray of shape (levels of x * levels of y + levels of both, DEGREES + 1)
        Room to work in.
    """
    mean, variance, interpolated = 0.0, 0.0, False
    for z in range(len(rows)):
        n, seen_r, few_r = _about(rows, z)
        n, seen_c, few_c = _about(columns, z)
        if seen_r < 2 or seen_c < 2:
            continue
        if few_r * few_c / n >= LARGE:
            free = float((seen_r - 1) * (seen_c - 1))
            own = free + (n * _inverse(rows, z) - 1.0) * (n * _inverse(columns, z) - 1.0) / (6.0 * n)
            mean, variance = mean + own, variance + 2.0 * own * own / free
            continue
        interpolated |= n > SMALL
        if degrees == 0 and n <= SMALL:
            for i in range(rows.shape[1]):
                for j in range(columns.shape[1]):
                    mean += np.float64(cells.means[n, rows[z, i], columns[z, j]])
            continue
        mean += _put_cells(rows, columns, z, n, degrees, cells, part)
        if degrees > 0:
            variance += _variance(rows, columns, z, n, cells, part)
    return mean, variance, interpolated


@njit(nogil=True, cache=True)
def _about(margins: Ints, z: int) -> tuple[int, int, int]:
    """Return the size of a stratum, its levels seen and the rows of the rarest."""
    n, seen, fewest = 0, 0, 1 << 62
    for k in range(margins.shape[1]):
        m = margins[z, k]
        if m > 0:
            n, seen, fewest = n + m, seen + 1, min(fewest, m)
    return n, seen, fewest


@njit(nogil=True, cache=True)
def _inverse(margins: Ints, z: int) -> float:
    """Return the sum of the inverses of a margin."""
    total = 0.0
    for k in range(margins.shape[1]):
        if margins[z, k] > 0:
            total += 1.0 / margins[z, k]
    return total


@njit(nogil=True, cache=True)
def _put_cells(rows: Ints, columns: Ints, z: int, n: int, degrees: np.int64, cells: Cells, part: Floats) -> float:
    """Put the cells of a stratum into ``part`` and return the mean of their sum."""
    mean, at = 0.0, np.int64(0)
    for i in range(rows.shape[1]):
        for j in range(columns.shape[1]):
            r, c = rows[z, i], columns[z, j]
            if n > SMALL and r > 0 and c > 0:
                put_cell(r, c, n, degrees, cells.binomials, part, at)
            else:  # the table has zeros where a margin is zero
                for k in range(DEGREES + 1):
                    part[at, k] = cells.small[n, r, c, k] if n <= SMALL else 0.0
            mean += part[at, 0]
            at += 1
    return mean


@njit(nogil=True, cache=True)
def _variance(rows: Ints, columns: Ints, z: int, n: int, cells: Cells, part: Floats) -> float:
    """Return the variance of G of a stratum: Σ part[i, j] A[i, l] B[j, m] part[l, m] by degree."""
    n_r, n_c, total, sign = rows.shape[1], columns.shape[1], 0.0, 1.0
    a, b = n_r * n_c, n_r * n_c + n_r  # where in ``part`` the roots are kept
    if n > SMALL:
        put_roots(rows[z], n, part[a:b])
        put_roots(columns[z], n, part[b : b + n_c])
    else:
        for i in range(n_r + n_c):
            m = rows[z, i] if i < n_r else columns[z, i - n_r]
            for k in range(1, DEGREES + 1):
                part[a + i, k] = cells.roots[n, m, k]
    for k in range(1, DEGREES + 1):
        sign, whole = -sign, 0.0
        for i in range(n_r):
            along = own = 0.0
            for j in range(n_c):
                p, root = part[i * n_c + j, k], part[b + j, k]
                along += p * root
                own += p * p * (1.0 - sign * root * root)
            root = part[a + i, k]
            total += (own + sign * along * along) * (1.0 - sign * root * root)
            whole += along * root
        for j in range(n_c):
            across, root = 0.0, part[b + j, k]
            for i in range(n_r):
                across += part[i * n_c + j, k] * part[a + i, k]
            total += sign * (1.0 - sign * root * root) * across * across
        total += whole * whole
    return total
