"""Quantiles and distribution functions that every question needs.

SciPy has them all; loading it takes longer than most questions do. Its functions are the reference in the tests.
"""

from __future__ import annotations

from math import erfc, exp, floor, lgamma, log, log1p, sqrt

import numpy as np

from blankets.kernels._tail import EPSILON, MANY_DEGREES, MOST_STEPS, TINY, gamma_series, log_large, log_tail
from blankets.kernels._types import *

ROOT_2: float64 = 1.4142135623730951
ROOT_2_PI: float64 = 2.5066282746310002
MANY_TERMS: float64 = 3e5  # noncentrality from which on sums of its terms are slower and no better than a formula


@inner
def _normal_quantile(p: float64) -> float64:
    """Return where the standard normal distribution function is ``p``.

    Acklam's rational approximation, and one step of Halley's method with the exact distribution function.
    """
    if not 0.0 < p < 1.0:
        return -INFINITY if p == 0.0 else INFINITY if p == 1.0 else NAN
    upper: bint = p > 0.5
    tail: float64 = 1.0 - p if upper else p
    z: float64 = 0.0
    if tail < 0.02425:
        q: float64 = sqrt(-2.0 * log(tail))
        over: float64 = (-0.007784894002430293 * q - 0.3223964580411365) * q - 2.400758277161838
        over = ((over * q - 2.549732539343734) * q + 4.374664141464968) * q + 2.938163982698783
        under: float64 = ((0.007784695709041462 * q + 0.3224671290700398) * q + 2.445134137142996) * q
        z = over / ((under + 3.754408661907416) * q + 1.0)
    else:
        d: float64 = tail - 0.5
        r: float64 = d * d
        top: float64 = (-39.69683028665376 * r + 220.9460984245205) * r - 275.9285104469687
        top = ((top * r + 138.3577518672690) * r - 30.66479806614716) * r + 2.506628277459239
        low: float64 = ((-54.47609879822406 * r + 161.5858368580409) * r - 155.6989798598866) * r
        z = top * d / (((low + 66.80131188771972) * r - 13.28068155288572) * r + 1.0)
    if tail < 1e-300:  # beyond, the step would overflow
        return -z if upper else z
    step: float64 = (0.5 * erfc(-z / ROOT_2) - tail) * ROOT_2_PI * exp(0.5 * z * z)
    z -= step / (1.0 + 0.5 * z * step)
    return -z if upper else z


@inner
def _log_head(x: float64, dof: float64) -> float64:
    """Return log P(chi-square <= x)."""
    a: float64 = 0.5 * dof
    t: float64 = 0.5 * x
    if a > MANY_DEGREES:
        return log_large(a, t, False)
    if t < a + 1.0:
        return a * log(t) - t - lgamma(a) + log(gamma_series(a, t))
    return log1p(-exp(log_tail(x, dof)))


@inner
def _chi2_quantile(p: float64, dof: float64, upper: bint) -> float64:
    """Return the value that a chi-square variable exceeds (``upper``), or does not, with probability ``p``.

    Newton's method on the logarithm of the probability, from the guess of Wilson & Hilferty (1931); kept inside a
    bracket.
    """
    if not 0.0 < p < 1.0 or dof <= 0.0:
        if p != p or p < 0.0 or p > 1.0:
            return NAN
        return INFINITY if p == (0.0 if upper else 1.0) and dof > 0.0 else 0.0
    a: float64 = 0.5 * dof
    wanted: float64 = log(p)
    z: float64 = _normal_quantile(p)
    root: float64 = 1.0 - 2.0 / (9.0 * dof) + (-z if upper else z) * sqrt(2.0 / (9.0 * dof))
    x: float64 = dof * root * root * root
    if root < 0.37:  # far below the mean P(a, x/2) is about (x/2)^a / Gamma(a + 1)
        x = 2.0 * exp(((log1p(-p) if upper else wanted) + lgamma(a + 1.0)) / a)
    if x == 0.0:
        return x
    low: float64 = 0.0
    high: float64 = INFINITY
    for _ in range(200):
        log_p: float64 = log_tail(x, dof) if upper else _log_head(x, dof)
        if (log_p > wanted) == upper:
            low = x
        else:
            high = x
        flat: float64 = 2.0 * exp(min(lgamma(a) + 0.5 * x - (a - 1.0) * log(0.5 * x) + log_p, 700.0))
        new: float64 = x + (log_p - wanted) * (flat if upper else -flat)
        if not low < new < high:
            new = 0.5 * (low + high) if high < INFINITY else 2.0 * x
        if abs(new - x) <= 4.0 * EPSILON * x:
            return new
        x = new
    return x


@inner
def _nearly_normal(x: float64, dof: float64, noncentrality: float64) -> float64:
    """Return P(noncentral chi-square <= x) by Sankaran's power of it (1959), right to 1e-9 if it is large."""
    mean: float64 = dof + noncentrality
    part: float64 = 1.0 / (1.0 + noncentrality / mean)  # dof + 2 noncentrality = mean / part; no squares of large ones
    h: float64 = 1.0 - 2.0 / 3.0 * part * part * (1.0 + 2.0 * noncentrality / mean)
    p: float64 = 1.0 / (part * mean)
    m: float64 = (h - 1.0) * (1.0 - 3.0 * h)
    middle: float64 = 1.0 + h * p * (h - 1.0 - 0.5 * (2.0 - h) * m * p)
    z: float64 = (exp(h * log(x / mean)) - middle) / (h * sqrt(2.0 * p) * (1.0 + 0.5 * m * p))
    return 0.5 * erfc(-z / ROOT_2)


@inner
def _noncentral(x: float64, dof: float64, noncentrality: float64) -> float64:
    """Return P(noncentral chi-square <= x): central ones, weighted by a Poisson law, from its largest weight on.

    P(a + 1, x) = P(a, x) - x^a e^-x / Gamma(a + 1) leads from one to the next.
    """
    if x != x or dof != dof or noncentrality != noncentrality:
        return NAN
    if x <= 0.0 or noncentrality == INFINITY:
        return 0.0
    if noncentrality > MANY_TERMS:
        return _nearly_normal(x, dof, noncentrality)
    h: float64 = 0.5 * noncentrality
    t: float64 = 0.5 * x
    j: float64 = floor(h)
    a: float64 = 0.5 * dof + j
    first: float64 = exp(j * log(h) - h - lgamma(j + 1.0)) if h > 0.0 else 1.0
    share: float64 = exp(_log_head(x, 2.0 * a))
    step: float64 = exp(a * log(t) - t - lgamma(a + 1.0))
    total: float64 = first * share
    weight: float64 = first
    p: float64 = share
    gap: float64 = step
    k: float64 = j
    while h > 0.0:
        p -= gap
        k += 1.0
        gap *= t / (0.5 * dof + k)
        weight *= h / k
        if p <= 0.0 or weight < EPSILON * total or weight < TINY:
            break
        total += weight * p
    weight = first
    p = share
    gap = step
    k = j
    while k > 0.0:
        gap *= (0.5 * dof + k) / t
        p += gap
        weight *= k / h
        k -= 1.0
        if weight < EPSILON * total:
            break
        total += weight * min(p, 1.0)
    return min(total, 1.0)


@inner
def log_beta(a: float64, b: float64, x: float64) -> float64:
    """Return the logarithm of the incomplete beta function I_x(a, b), by its continued fraction (DLMF 8.17.22)."""
    if not 0.0 < x < 1.0:
        return -INFINITY if x == 0.0 else 0.0 if x == 1.0 else NAN
    if x > (a + 1.0) / (a + b + 2.0):
        return log1p(-exp(_log_beta_below(b, a, 1.0 - x)))
    return _log_beta_below(a, b, x)


@inner
def _log_beta_below(a: float64, b: float64, x: float64) -> float64:
    front: float64 = lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)
    c: float64 = 1.0
    d: float64 = 1.0 - (a + b) * x / (a + 1.0)
    d = 1.0 / (d if abs(d) > TINY else TINY)
    fraction: float64 = d
    m: float64 = 0.0
    delta: float64 = 0.0
    while abs(delta - 1.0) >= EPSILON * 4.0 and m <= MOST_STEPS:
        m += 1.0
        even: float64 = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        odd: float64 = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        d = 1.0 + even * d
        d = 1.0 / (d if abs(d) > TINY else TINY)
        c = 1.0 + even / c
        c = c if abs(c) > TINY else TINY
        fraction *= d * c
        d = 1.0 + odd * d
        d = 1.0 / (d if abs(d) > TINY else TINY)
        c = 1.0 + odd / c
        c = c if abs(c) > TINY else TINY
        delta = d * c
        fraction *= delta
    return front + log(fraction) - log(a)


@door
def normal_quantiles(p: Reals) -> Reals:
    """Return the quantiles of the standard normal distribution."""
    found = np.empty(p.shape[0])
    out: NewReals = view(found)
    with nogil:
        for i in range(out.shape[0]):
            out[i] = _normal_quantile(p[i])
    return found


@door
def chi2_quantiles(p: Reals, dof: Reals, upper: int64) -> Reals:
    """Return what chi-square variables exceed (``upper`` is 1), or do not (0), with probability ``p``."""
    if p.shape[0] != dof.shape[0]:
        raise ValueError("every probability has its degrees of freedom")
    found = np.empty(p.shape[0])
    out: NewReals = view(found)
    with nogil:
        for i in range(out.shape[0]):
            out[i] = _chi2_quantile(p[i], dof[i], upper != 0)
    return found


@door
def noncentral_chi2(x: Reals, dof: Reals, noncentrality: Reals) -> Reals:
    """Return P(noncentral chi-square <= x)."""
    if x.shape[0] != dof.shape[0] or x.shape[0] != noncentrality.shape[0]:
        raise ValueError("every value has its degrees of freedom and its noncentrality")
    found = np.empty(x.shape[0])
    out: NewReals = view(found)
    with nogil:
        for i in range(out.shape[0]):
            out[i] = _noncentral(x[i], dof[i], noncentrality[i])
    return found


@door
def log_beta_below(a: float64, b: float64, x: float64) -> float:
    """Return the log probability that a beta variable is below x."""
    return log_beta(a, b, x)
