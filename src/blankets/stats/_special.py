"""Special functions that every question needs, elementwise, as SciPy has them.

Loading `scipy.special` takes longer than most questions do, so these come from `blankets.kernels`; SciPy's are the
reference in the tests. Rarer ones are imported from SciPy where they are used.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from blankets import kernels
from blankets.stats._tail import log_chi2_sf

Floats = NDArray[np.float64]


def _elementwise(kernel: Callable[..., Floats], *values: ArrayLike) -> Floats:
    arrays = np.broadcast_arrays(*(np.asarray(v, float) for v in values))
    return kernel(*(np.ascontiguousarray(a).ravel() for a in arrays)).reshape(arrays[0].shape)


def chi2_sf(statistic: ArrayLike, dof: ArrayLike) -> Floats:
    """Return P(chi-square > ``statistic``).

    >>> round(float(chi2_sf(3.841458820694124, 1)), 12)
    0.05
    """
    return np.exp(log_chi2_sf(statistic, dof))


def chi2_isf(p: ArrayLike, dof: ArrayLike) -> Floats:
    """Return the value that a chi-square variable exceeds with probability ``p``.

    >>> round(float(chi2_isf(0.05, 1)), 4)
    3.8415
    """
    return _elementwise(lambda p, dof: kernels.chi2_quantiles(p, dof, 1), p, dof)


def chi2_ppf(p: ArrayLike, dof: ArrayLike) -> Floats:
    """Return the value that a chi-square variable does not exceed with probability ``p``.

    >>> round(float(chi2_ppf(0.95, 1)), 4)
    3.8415
    """
    return _elementwise(lambda p, dof: kernels.chi2_quantiles(p, dof, 0), p, dof)


def noncentral_chi2_cdf(x: ArrayLike, dof: ArrayLike, noncentrality: ArrayLike) -> Floats:
    """Return P(noncentral chi-square <= ``x``).

    >>> round(float(noncentral_chi2_cdf(6.634896601021217, 1, 17.814)), 4)
    0.05
    """
    return _elementwise(kernels.noncentral_chi2, x, dof, noncentrality)


def normal_ppf(p: ArrayLike) -> Floats:
    """Return the quantiles of the standard normal distribution.

    >>> round(float(normal_ppf(0.975)), 6)
    1.959964
    """
    return _elementwise(kernels.normal_quantiles, p)


def log_beta_cdf(x: float, a: float, b: float) -> float:
    """Return log P(beta variable <= ``x``), which does not underflow.

    >>> import math
    >>> round(math.exp(log_beta_cdf(0.5, 2.0, 2.0)), 12)
    0.5
    """
    return kernels.log_beta_below(a, b, x)


def xlogy(x: ArrayLike, y: ArrayLike) -> Floats:
    """Return x log y, and 0 where x is 0.

    >>> xlogy([0.0, 2.0], [0.0, 1.0]).tolist()
    [0.0, 0.0]
    """
    x, y = np.asarray(x, float), np.asarray(y, float)
    return np.asarray(x * np.log(np.where(x == 0.0, 1.0, y)))
