"""Power of chi-square tests, and its inverses, from the noncentral chi-square distribution.

Under dependence G (and X²) is approximately noncentral chi-square with noncentrality λ = 2 κ N I: N rows, an
effect of I nats, and κ, by which each row counts as κ rows with full labels (1 if all rows are labeled). The
test rejects above the critical value of its level, so power = P(χ²(dof, λ) > critical value). It rises with λ
and alpha and falls with dof, and each of the four follows from the other three.

All functions work elementwise on arrays. The approximation is that of local alternatives: λ is exact in
the limit of small effects and many rows (methods, section 1; errata B2).

References
----------
Cohen (1988), Statistical Power Analysis for the Behavioral Sciences, chapter 7.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from blankets.stats._special import chi2_isf, noncentral_chi2_cdf
from blankets.stats._tail import chi2_sf

Floats = NDArray[np.float64]

EFFECT_SIZES: Mapping[str, float] = MappingProxyType({"small": 0.005, "medium": 0.045, "large": 0.125})
"""Cohen's conventional effects w = 0.1, 0.3, 0.5 in nats of mutual information, w²/2."""


def effect_from_w(w: ArrayLike) -> Floats:
    """Return the information in nats of Cohen's effect size w, I = w²/2.

    Examples
    --------
    >>> round(float(effect_from_w(0.3)), 6)
    0.045
    """
    return np.asarray(np.square(np.asarray(w, float)) / 2.0)


def w_from_effect(effect: ArrayLike) -> Floats:
    """Return Cohen's w = √(2 I) of an information in nats.

    Examples
    --------
    >>> round(float(w_from_effect(0.125)), 6)
    0.5
    """
    return np.sqrt(2.0 * np.asarray(effect, float))


def noncentrality(effect: ArrayLike, n_rows: ArrayLike, kappa: ArrayLike = 1.0) -> Floats:
    """Return λ = 2 κ N I.

    ``effect``: (Conditional) mutual information with the fully observed target, in nats. ``n_rows``: rows in the
    sample. ``kappa``: each row counts as this many rows with full labels; 1 with full labels.

    Examples
    --------
    >>> float(noncentrality(0.045, 200))
    18.0
    """
    return np.asarray(2.0 * np.asarray(kappa, float) * np.asarray(n_rows, float) * np.asarray(effect, float))


def critical_value(dof: ArrayLike, alpha: ArrayLike) -> Floats:
    """Return the value that a chi-square variable exceeds with probability ``alpha``.

    Examples
    --------
    >>> round(float(critical_value(1, 0.05)), 4)
    3.8415
    """
    return np.asarray(chi2_isf(alpha, dof))


def attained_power(noncentrality: ArrayLike, dof: ArrayLike, alpha: ArrayLike) -> Floats:
    """Return the probability that the test rejects, elementwise.

    ``noncentrality``: λ = 2 κ N I; at 0 the power is ``alpha``. ``dof``: degrees of freedom; a test with 0 of them
    never rejects, and its power is 0. ``alpha``: level of the test.

    Examples
    --------
    A medium effect, 198 rows, a binary feature at the 1% level (Sechidis 2015, Table 7.1a):

    >>> round(float(attained_power(2 * 198 * 0.045, 1, 0.01)), 4)
    0.9501
    """
    dof = np.asarray(dof, float)
    at_least_one = np.maximum(dof, np.finfo(float).tiny)
    beyond = 1.0 - noncentral_chi2_cdf(critical_value(at_least_one, alpha), at_least_one, noncentrality)
    return np.where(dof > 0, beyond, 0.0)


def needed_noncentrality(power: ArrayLike, dof: ArrayLike, alpha: ArrayLike) -> Floats:
    """Return the smallest λ with which the test reaches ``power``; 0 if ``alpha`` is at least that.

    Examples
    --------
    >>> round(float(needed_noncentrality(0.95, 1, 0.01)), 3)
    17.814
    """
    from scipy.special import chndtrinc

    power, dof, alpha = np.broadcast_arrays(*(np.asarray(a, float) for a in (power, dof, alpha)))
    above = power > alpha
    target = np.where(above, power, (1.0 + alpha) / 2.0)  # any value with an inverse, where the result is not used
    return np.where(above, chndtrinc(critical_value(dof, alpha), dof, 1.0 - target), 0.0)


def needed_alpha(power: ArrayLike, dof: ArrayLike, noncentrality: ArrayLike) -> Floats:
    """Return the smallest level at which the test has ``power``.

    Examples
    --------
    >>> round(float(needed_alpha(0.95, 1, 17.814164)), 6)
    0.01
    """
    from scipy.special import chndtrix

    dof = np.asarray(dof, float)
    quantile = chndtrix(1.0 - np.asarray(power, float), dof, np.asarray(noncentrality, float))
    return chi2_sf(quantile, dof)


def detectable_effect(
    power: ArrayLike, n_rows: ArrayLike, dof: ArrayLike, alpha: ArrayLike, kappa: ArrayLike = 1.0
) -> Floats:
    """Return the smallest effect in nats that the test finds with probability ``power``; where none is found, infinity.

    Examples
    --------
    >>> round(float(detectable_effect(0.95, 198, 1, 0.01)), 4)
    0.045
    """
    with np.errstate(divide="ignore"):
        return np.asarray(needed_noncentrality(power, dof, alpha) / noncentrality(1.0, n_rows, kappa))
