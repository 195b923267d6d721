"""Questions about functions of columns from inner products, and laws of scores (methods, section 10)."""

from __future__ import annotations

from math import atan, exp, log, tan

import numpy as np

from blankets.kernels._tail import log_beta, log_tail
from blankets.kernels._types import *

PI: float64 = 3.141592653589793
LOG_2: float64 = 0.6931471805599453
LOG_TINY: float64 = -18.420680743952367  # of 1e-8: below, the tangent is its argument
UNDERFLOW: float64 = -644.7238260383328  # of 1e-280
LEAST_SPREAD: float64 = 0.3  # share of the variance for normal products, below which too few rows decide to believe it
PLAIN: float64 = 1e-6  # a determinant above this leaves no direction that the given columns determine


@inner
def cauchy(log_p: float64, other: float64) -> float64:
    """Return the Cauchy combination of two p-values for one hypothesis, as a logarithm."""
    a: float64 = min(log_p, 0.0)
    b: float64 = min(other, 0.0)
    low: float64 = min(a, b)
    high: float64 = max(a, b)
    if low < LOG_TINY:
        return LOG_2 + low - log(1.0 + exp(low - high))
    p: float64 = min(max(exp(a), 1e-300), 1.0 - 1e-15)
    q: float64 = min(max(exp(b), 1e-300), 1.0 - 1e-15)
    share: float64 = 0.5 - atan(0.5 / tan(PI * p) + 0.5 / tan(PI * q)) / PI
    return log(min(max(share, 1e-300), 1.0))


@door
def combined_tails(log_p: Reals, other: Reals) -> Reals:
    """Return the Cauchy combination of each two p-values, as logarithms."""
    if log_p.shape[0] != other.shape[0]:
        raise ValueError("p-values are combined in pairs")
    found = np.empty(log_p.shape[0])
    out: NewReals = view(found)
    with nogil:
        for i in range(out.shape[0]):
            out[i] = cauchy(log_p[i], other[i])
    return found


@inner
def under_signs(statistic: float64, k: float64, free: float64, squares: float64) -> float64:
    """Return the log p-value of T² by the beta law with the mean and variance that random signs give it."""
    if k < 1.0 or free <= k + 1.0:
        return 0.0
    variance: float64 = max(2.0 * (k - squares), LEAST_SPREAD * 2.0 * k * (free - k) / (free + 2.0)) / (free * free)
    mean: float64 = k / free
    both: float64 = mean * (1.0 - mean) / variance - 1.0
    log_p: float64 = log_beta((1.0 - mean) * both, mean * both, 1.0 - min(statistic / free, 1.0))
    return log_p if log_p > UNDERFLOW else log_tail(statistic, k)


@door
def log_p_under_signs(statistic: float64, k: float64, free: float64, squares: float64) -> float:
    """Return that of one statistic."""
    return under_signs(statistic, k, free, squares)


@inner
def _reduced(a: NewReals2, begin: int64, end: int64) -> float64:
    """Eliminate rows ``begin`` to ``end`` of a symmetric matrix, of which the lower half is used, from those below.

    Return the product of the pivots; 0 if one is not positive.
    """
    product: float64 = 1.0
    for p in range(begin, end):
        pivot: float64 = a[p, p]
        product *= pivot
        if not pivot > 0.0:
            return 0.0
        for i in range(p + 1, a.shape[0]):
            share: float64 = a[i, p] / pivot
            for j in range(p + 1, i + 1):
                a[i, j] -= share * a[j, p]
    return product


@inner
def _wilks(
    explained: Reals2,
    across: Reals2,
    x: int64,
    k: int64,
    y: int64,
    k_y: int64,
    of_y: float64,
    a: NewReals2,
) -> float64:
    """Return minus the logarithm of Wilks' lambda of the functions from ``x`` and from ``y`` on; NaN if it is unsure.

    ``of_y``: the determinant of what is left of y; 0 to have it returned, with no x (``k`` is 0). ``a``: room.
    """
    for i in range(k + k_y):
        for j in range(i + 1):
            a[i, j] = 1.0 if i == j else 0.0
    for i in range(k_y):
        for j in range(k):
            a[k + i, j] = across[i, x + j]
    for e in range(explained.shape[0]):
        for i in range(k + k_y):
            here: float64 = explained[e, x + i] if i < k else explained[e, y + i - k]
            for j in range(min(i + 1, k)):
                a[i, j] -= here * explained[e, x + j]
            for j in range(k, i + 1):
                a[i, j] -= here * explained[e, y + j - k]
    for i in range(k + k_y, a.shape[0]):
        for j in range(k + k_y):
            a[i, j] = 0.0
    of_x: float64 = _reduced(a, 0, k)
    rest: float64 = _reduced(a, k, k + k_y)
    if of_y == 0.0:
        return rest
    if of_x < PLAIN or not rest > PLAIN * of_y:
        return NAN
    return max(-log(rest / of_y), 0.0)


@door
def scan_functions(
    explained: Reals2, across: Reals2, xs: Ints, start: Ints, first: Ints, y: int64, n_rows: int64
) -> Reals2:
    """Return statistic, degrees of freedom, log p and information of columns with y, shape (4, columns).

    ``explained``, of shape (size, functions): inner products of an orthonormal basis of the given functions with those
    of all columns; ``across``: those of y with these. ``start``, of shape (columns + 1,): where each column's functions
    begin; ``first``: how many are tested alone too. NaN where the given functions tell almost all of a direction.
    """
    found = np.full((4, xs.shape[0]), NAN)
    n_columns: int64 = first.shape[0]
    fits: bint = start.shape[0] == n_columns + 1 and 0 <= y < n_columns and explained.shape[1] == across.shape[1]
    fits = fits and n_columns > 0 and start[0] == 0 and start[n_columns] == across.shape[1]
    most: int64 = 0
    if fits:
        for c in range(n_columns):
            fits = fits and start[c] <= start[c + 1] and 0 <= first[c]
            most = max(most, start[c + 1] - start[c])
        for c in range(xs.shape[0]):
            fits = fits and 0 <= xs[c] < n_columns
        fits = fits and across.shape[0] == start[y + 1] - start[y]
    if not fits:
        raise ValueError("inner products do not fit the columns")
    out: NewReals2 = view(found)
    room: NewReals2 = view(np.empty((most + across.shape[0], most + across.shape[0])))
    with nogil:
        k_y: int64 = across.shape[0]
        few_y: int64 = min(first[y], k_y)
        of_y: float64 = _wilks(explained, across, 0, 0, start[y], k_y, 0.0, room)
        of_first_y: float64 = _wilks(explained, across, 0, 0, start[y], few_y, 0.0, room)
        for c in range(xs.shape[0]):
            x: int64 = start[xs[c]]
            k: int64 = start[xs[c] + 1] - x
            few: int64 = min(first[xs[c]], k)
            if k == 0 or k_y == 0:
                for i in range(4):
                    out[i, c] = 0.0
                continue
            if of_y < PLAIN or of_first_y < PLAIN:
                continue
            twice: float64 = _wilks(explained, across, x, k, start[y], k_y, of_y, room)
            left: float64 = n_rows - 1 - explained.shape[0]
            out[0, c] = max(left - (k + k_y + 1) / 2.0, 0.0) * twice
            out[1, c] = k * k_y
            log_p: float64 = log_tail(out[0, c], out[1, c])
            if 0 < few * few_y < k * k_y:
                alone: float64 = _wilks(explained, across, x, few, start[y], few_y, of_first_y, room)
                simple: float64 = max(left - (few + few_y + 1) / 2.0, 0.0) * alone
                log_p = cauchy(log_p, log_tail(simple, few * few_y)) if alone == alone else NAN
            out[2, c] = log_p
            out[3, c] = 0.5 * twice
            if twice != twice or log_p != log_p:
                out[1, c] = NAN
    return found
