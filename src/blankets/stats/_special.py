"""Quantiles and laws of SciPy, also where SciPy has none: no degrees of freedom, or very many."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtri, chndtr, gammaincinv, ndtr, ndtri

Floats = NDArray[np.float64]

# Degrees of freedom from which on SciPy's quantiles are off by more than 1e-5 standard deviations (a third of one at
# 1e12), and the cube of Wilson & Hilferty (1931) by less than 2e-4 where p is above 1e-200 (tests/stats/test_tail.py).
_MANY_DEGREES = 3e6
# Noncentrality from which on SciPy's sums are slow (4 ms at 1e8) and later fail, and the formula is right to 1e-9
# (tests/stats/test_power.py compares the two on both sides).
_MANY_TERMS = 3e5


def chi2_isf(p: ArrayLike, dof: ArrayLike) -> Floats:
    """Return the value that a chi-square variable exceeds with probability ``p``; 0 without degrees of freedom.

    >>> round(float(chi2_isf(0.05, 1)), 4)
    3.8415
    """
    return _quantiles(dof, chdtri(dof, p), -ndtri(p))


def chi2_ppf(p: ArrayLike, dof: ArrayLike) -> Floats:
    """Return the value that a chi-square variable does not exceed with probability ``p``; 0 without degrees of freedom.

    >>> round(float(chi2_ppf(0.95, 1)), 4)
    3.8415
    """
    return _quantiles(dof, 2.0 * gammaincinv(np.divide(dof, 2.0), p), ndtri(p))


def _quantiles(dof: ArrayLike, quantile: Floats, z: Floats) -> Floats:
    """Return the quantiles of SciPy where they hold; ``z``: those of the normal distribution."""
    dof = np.asarray(dof, float)
    one = 2.0 / (9.0 * np.maximum(dof, _MANY_DEGREES))
    return np.where(dof == 0.0, 0.0, np.where(dof > _MANY_DEGREES, dof * (1.0 - one + z * np.sqrt(one)) ** 3, quantile))


def noncentral_chi2_cdf(x: ArrayLike, dof: ArrayLike, noncentrality: ArrayLike) -> Floats:
    """Return P(noncentral chi-square <= ``x``).

    >>> round(float(noncentral_chi2_cdf(6.634896601021217, 1, 17.814)), 4)
    0.05
    """
    x, dof, noncentrality = np.broadcast_arrays(*(np.asarray(v, float) for v in (x, dof, noncentrality)))
    large = noncentrality > _MANY_TERMS
    found = np.asarray(chndtr(x, dof, np.where(large, 0.0, noncentrality)))
    found[large] = _nearly_normal(x[large], dof[large], noncentrality[large])
    found[x <= 0.0] = 0.0
    return found


def _nearly_normal(x: Floats, dof: Floats, noncentrality: Floats) -> Floats:
    """Return P(noncentral chi-square <= x) by Sankaran's power of it (1959)."""
    mean = dof + noncentrality
    # dof + 2 noncentrality = mean / part; no squares of large ones
    with np.errstate(invalid="ignore"):  # an infinite noncentrality
        part = 1.0 / (1.0 + noncentrality / mean)
        h = 1.0 - 2.0 / 3.0 * part * part * (1.0 + 2.0 * noncentrality / mean)
        p = 1.0 / (part * mean)
        m = (h - 1.0) * (1.0 - 3.0 * h)
        middle = 1.0 + h * p * (h - 1.0 - 0.5 * (2.0 - h) * m * p)
        z = (np.maximum(x / mean, 0.0) ** h - middle) / (h * np.sqrt(2.0 * p) * (1.0 + 0.5 * m * p))
    return np.where(np.isinf(noncentrality), 0.0, ndtr(z))
