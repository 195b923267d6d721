"""Intervals and estimates of what was chosen because it was large, methods (17.4).

A member was chosen on the same rows: its statistic was beyond the point at which a column enters. What is seen is its
law *given that*: plain intervals of weak members do not cover, and their estimates are too large.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_ndtr

from blankets.stats._special import chi2_isf
from blankets.stats._tail import log_chi2_sf

Floats = NDArray[np.float64]

_HALVINGS = 60
_ROUNDING = 1e-13  # probabilities from one less a distribution function are not known below
_REACH = 10.0  # standard errors beyond the statistic, on both sides of 0, that no end of an interval reaches


def selected_effect(z: ArrayLike, cut: ArrayLike, level: float = 0.95) -> tuple[Floats, Floats, Floats]:
    """Return lower end, estimate and upper end of an effect, in standard errors, of which |z| > cut is known.

    Z ~ N(mu, 1) given |Z| > cut; the ends solve P(Z > z) = (1 - level)/2 and (1 + level)/2, the estimate ½, so that it
    is too large as often as too small. An effect that is not beyond the cut was not chosen by this statistic: its
    interval is the plain one.

    Examples
    --------
    >>> [round(float(end), 2) for end in selected_effect(3.0, 2.58)]  # plain: 1.04, 3.0, 4.96
    [-0.37, 1.64, 4.76]
    >>> [round(float(end), 2) for end in selected_effect(-8.0, 2.58)]
    [-9.96, -8.0, -6.04]
    """
    z, cut = np.broadcast_arrays(np.asarray(z, float), np.asarray(cut, float))
    size = np.abs(z)
    cut = np.where(cut < size, cut, 0.0)

    def at(probability: float) -> Floats:
        low, high = -size - _REACH, size + _REACH
        for _ in range(_HALVINGS):
            mu = (low + high) / 2.0
            chosen = np.logaddexp(log_ndtr(mu - cut), log_ndtr(-cut - mu))
            below = log_ndtr(mu - size) - chosen < np.log(probability)
            low, high = np.where(below, mu, low), np.where(below, high, mu)
        return np.asarray((low + high) / 2.0)

    ends = [at(p) for p in ((1.0 - level) / 2.0, 0.5, (1.0 + level) / 2.0)]
    low, middle, high = (np.where(z < 0, -other, one) for one, other in zip(ends, ends[::-1], strict=True))
    return low, middle, high


def cut_of_one(z: ArrayLike, log_p: float, dof: float, log_level: float) -> Floats:
    """Return the point that one of several effects had to pass, given the others: √(c - (W - z²)₊).

    ``log_p``: of the test of all of them together, on ``dof`` degrees of freedom, so that W is the chi-square with this
    p-value; it had to pass c, that of the level. NaN: of all that is known nothing is shown by others.

    Examples
    --------
    Alone it is the normal quantile; what others show beyond doubt was not chosen by this one:

    >>> [float(cut_of_one(4.0, p, dof, np.log(0.01)).round(2)) for p, dof in ((-9.0, 1.0), (-9.0, 3.0), (-50.0, 3.0))]
    [2.58, 2.58, 0.0]
    """
    needed, shown = (float(chi2_isf(np.exp(max(each, -700.0)), dof)) for each in (log_level, log_p))
    others = np.maximum(shown - np.square(np.asarray(z, float)), 0.0) if dof > 1.0 and np.isfinite(shown) else 0.0
    return np.asarray(np.sqrt(np.maximum(needed - others, 0.0)))


def selected_noncentrality(statistic: float, dof: float, cut: float, probability: float) -> float:
    """Return the noncentrality at which P(χ² > statistic, given χ² > cut) is ``probability``; 0 if it is more at 0.

    Examples
    --------
    >>> selected_noncentrality(12.0, 2, 9.21, 0.05), round(selected_noncentrality(12.0, 2, 9.21, 0.5), 2)
    (0.0, 4.03)
    """
    from scipy.special import chndtr

    if not cut < statistic:
        cut = 0.0

    def above(x: float, noncentrality: float) -> float:
        return float(1.0 - chndtr(x, dof, noncentrality)) if noncentrality else float(np.exp(log_chi2_sf(x, dof)))

    def more(noncentrality: float) -> bool:
        beyond = above(statistic, noncentrality)
        return beyond > _ROUNDING and beyond >= probability * above(cut, noncentrality)

    if more(0.0):
        return 0.0
    low, high = 0.0, statistic + _REACH**2
    while not more(high):
        high *= 2.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (low, middle) if more(middle) else (middle, high)
    return (low + high) / 2.0
