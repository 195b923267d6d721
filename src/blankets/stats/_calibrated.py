"""The distribution of G under independence, given the margins of every stratum.

Given its margins, a stratum of size n is a draw from the (multivariate) hypergeometric distribution. G is a sum
over cells of 2 (o ln(o/e) - (o - e)), so that

* its mean is a sum of expectations of single cells, and
* its variance follows from the expansion of each cell's part in the polynomials that are orthogonal under
  the cell's distribution. Those of degree k of two cells (i, j) and (l, m) have the correlation
  A_k(i, l) B_k(j, m), where A_k(i, i) = 1 and A_k(i, l)² = (r_i)_k (r_l)_k / ((n - r_i)_k (n - r_l)_k) with
  the sign (-1)^k, (r)_k = r (r-1) ... (r-k+1), and B_k likewise of the columns; polynomials of different
  degree do not correlate. (X² is of degree 2 throughout: Haldane 1940 and Dawson 1954 give its variance.)

In a stratum whose smallest expected count is `LARGE` or more, Bartlett's corrected chi-square is good enough: its
mean is d + (n Σ1/r - 1)(n Σ1/c - 1) / 6n for d degrees of freedom (Lawley 1956; Williams 1976).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from blankets import kernels
from blankets.kernels import DEGREES, LARGE
from blankets.stats._calibrated_cells import exact_cells

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Moments = tuple[Floats, Floats, Floats, Floats]


def moments_of_block(counts: NDArray[np.int32]) -> Moments:
    """Return the moments of G under independence given the margins of tables, by enumeration of every cell.

    ``counts``, of shape (n, levels of x, levels of y, strata): tables of different x with the same y in the same
    strata.

    Returns
    -------
    mean, variance : ndarray of shape (n,)
        Of G, over all tables with these margins.
    least : ndarray of shape (n,)
        The smallest expected count of a level seen, over strata that can vary; infinite if none can.
    movable : ndarray of shape (n,)
        Number of rows to draw to permute x in all strata: those outside the largest level of x, or of y if
        that is less.

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
    """Turn √((m)_k / (n - m)_k) into that of the next degree; 0 if cells of this margin have no such polynomial."""
    rest = n[:, np.newaxis] - margin
    some = np.minimum(margin, rest) >= degree
    return root * np.sqrt(np.where(some, (margin - degree + 1.0) / np.where(some, rest - degree + 1.0, 1.0), 0.0))


def log_p_from_moments(statistic: float, mean: float, variance: float) -> float:
    """Return the log p-value of a multiple of chi-square with this mean and variance, in nats.

    Without variance there is nothing to test, and p is 1.

    Examples
    --------
    >>> [round(log_p_from_moments(*numbers), 4) for numbers in ((3.841459, 1.0, 2.0), (7.682918, 2.0, 8.0), (9, 9, 0))]
    [-2.9957, -2.9957, 0.0]
    """
    return kernels.moments_tail(statistic, mean, variance)
