"""The logarithms of chi-square and beta probabilities, and which of many tests is the strongest or the weaker.

The tail is a series below the mean and a continued fraction above it (Abramowitz & Stegun 6.5.29 and 6.5.31), both on
the logarithmic scale, where nothing underflows. With very many degrees of freedom both would take very many steps, and
Temme's expansion takes their place.
"""

from __future__ import annotations

from math import erfc, exp, lgamma, log, log1p, sqrt

import numpy as np

from blankets.kernels._types import *

EPSILON: float64 = 1e-16
TINY: float64 = 1e-300
MOST_STEPS: float64 = 10000.0
MANY_DEGREES: float64 = 1e6  # half the degrees of freedom from which on Temme's first term is right to 1e-10
ROOT_PI: float64 = 1.7724538509055159


@inner
def gamma_series(a: float64, x: float64) -> float64:
    """Return the sum of x^n / (a (a+1) ... (a+n)): P(a, x) is x^a e^-x / Gamma(a) times that."""
    term: float64 = 1.0 / a
    total: float64 = term
    n: float64 = a
    while term > total * EPSILON:
        n += 1.0
        term *= x / n
        total += term
    return total


@inner
def log_large(a: float64, x: float64, upper: bint) -> float64:
    """Return log Q(a, x), or log P(a, x), for large a, by the first term of Temme's expansion (DLMF 8.12.3, 8.12.4)."""
    if x == INFINITY:
        return -INFINITY if upper else 0.0
    off: float64 = (x - a) / a
    square: float64 = max(off - log1p(off), 0.0)
    eta: float64 = sqrt(2.0 * square)
    eta = eta if off > 0.0 else -eta
    small: bint = abs(eta) < 0.01
    c: float64 = -1.0 / 3.0 + eta / 12.0 - eta * eta * 2.0 / 135.0 if small else 1.0 / off - 1.0 / eta
    c = c / (ROOT_PI * sqrt(2.0 * a)) if off > 0.0 else -c / (ROOT_PI * sqrt(2.0 * a))
    z: float64 = sqrt(a * square)
    scaled: float64 = 0.0  # erfc(z) e^(z^2)
    if z < 20.0:
        scaled = erfc(z) * exp(z * z)
    else:
        half: float64 = 0.5 / (z * z)
        scaled = (1.0 - half * (1.0 - 3.0 * half * (1.0 - 5.0 * half))) / (z * ROOT_PI)
    log_p: float64 = min(log(0.5 * scaled + c) - z * z, 0.0)  # of the tail on the side of x
    return log_p if (off > 0.0) == upper else log1p(-exp(log_p))


@inner
def log_tail(statistic: float64, dof: float64) -> float64:
    """Return log P(chi-square with ``dof`` degrees of freedom >= ``statistic``)."""
    if statistic != statistic:
        return statistic
    if dof <= 0.0 or statistic <= 0.0:
        return 0.0
    a: float64 = 0.5 * dof
    x: float64 = 0.5 * statistic
    if a > MANY_DEGREES:
        return log_large(a, x, True)
    log_front: float64 = a * log(x) - x - lgamma(a)
    if x < a + 1.0:
        return log1p(-gamma_series(a, x) * exp(log_front))
    # Q(a, x) = x^a e^-x / Gamma(a) * 1/(x+1-a- 1(1-a)/(x+3-a- ...)), by Lentz's method
    b: float64 = x + 1.0 - a
    c: float64 = 1.0 / TINY
    d: float64 = 1.0 / b
    fraction: float64 = d
    delta: float64 = 0.0
    i: float64 = 0.0
    while abs(delta - 1.0) >= EPSILON * 4.0 and i <= MOST_STEPS:
        i += 1.0
        step: float64 = -i * (i - a)
        b += 2.0
        d = step * d + b
        d = 1.0 / (d if abs(d) > TINY else TINY)
        c = b + step / c
        c = c if abs(c) > TINY else TINY
        delta = d * c
        fraction *= delta
    return log_front + log(fraction)


@inner
def tail_of_moments(statistic: float64, mean: float64, variance: float64) -> float64:
    """Return the log p-value of a multiple of chi-square with this mean and variance; without variance p is 1."""
    if variance <= 1e-12 * max(mean * mean, 1.0):
        return 0.0
    return log_tail(statistic * 2.0 * mean / variance, 2.0 * mean * mean / variance)


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
def moments_tail(statistic: float64, mean: float64, variance: float64) -> float:
    """Return that of one statistic."""
    return tail_of_moments(statistic, mean, variance)


@door
def chi2_tail(statistic: float64, dof: float64) -> float:
    """Return the log p-value of one statistic."""
    return log_tail(statistic, dof)


@door
def log_beta_below(a: float64, b: float64, x: float64) -> float:
    """Return the log probability that a beta variable is below x."""
    return log_beta(a, b, x)


@door
def chi2_tails(statistic: Reals, dof: Reals) -> Reals:
    """Return the log p-values of many."""
    if statistic.shape[0] != dof.shape[0]:
        raise ValueError("every statistic has its degrees of freedom")
    found = np.empty(statistic.shape[0])
    out: NewReals = view(found)
    with nogil:
        for i in range(out.shape[0]):
            out[i] = log_tail(statistic[i], dof[i])
    return found


@door
def settle(
    statistic: Reals,
    dof: Reals,
    performed: Bytes,
    better: Reals,
    how: Reals,
    log_p: NewReals,
    method: NewBytes,
) -> int:
    """Set the log p-values and methods of many tests (see `blankets.stats`); return how many methods are coarse,
    below 0.
    """
    n = statistic.shape[0]
    if n != dof.shape[0] or n != performed.shape[0] or n != better.shape[0] or n != how.shape[0]:
        raise ValueError("every statistic has its degrees of freedom")
    if n != log_p.shape[0] or n != method.shape[0]:
        raise ValueError("there is to be room for all answers")
    n_coarse: int64 = 0
    with nogil:
        for i in range(n):
            tried: bint = performed[i] != 0
            known: bint = tried and better[i] == better[i]
            coarse: bint = tried and how[i] < 0.0
            log_p[i] = better[i] if known else log_tail(statistic[i], dof[i])
            method[i] = whole(how[i]) if tried and how[i] > 0.0 else 0
            n_coarse += coarse
    return n_coarse


@inner
def is_weaker(log_p: float64, statistic: float64, than_log_p: float64, than_statistic: float64) -> bint:
    """Whether evidence is weaker: the larger p-value, then the smaller statistic."""
    return log_p > than_log_p or (log_p == than_log_p and statistic < than_statistic)


@door
def weaker_of(log_p: Reals, statistic: Reals, than_log_p: Reals, than_statistic: Reals, out: NewBytes) -> None:
    """Set which evidence is weaker than its counterpart, where both are there (not NaN)."""
    n = out.shape[0]
    if n != log_p.shape[0] or n != statistic.shape[0] or n != than_log_p.shape[0] or n != than_statistic.shape[0]:
        raise ValueError("there are to be as many tests as others")
    for i in range(n):
        out[i] = is_weaker(log_p[i], statistic[i], than_log_p[i], than_statistic[i])


@inner
def _strongest(statistic: Reals, dof: Reals, performed: Bytes, columns: Ints) -> int64:
    """Return the place of the strongest test.

    A statistic that is not larger on degrees of freedom that are not fewer needs no p-value: it is not the strongest.
    """
    best: int64 = -1
    fewer: int64 = 0
    largest: float64 = -INFINITY
    for i in range(statistic.shape[0]):  # most are smaller, or not a number
        if statistic[i] >= largest and performed[i]:
            if best < 0 or statistic[i] > largest or columns[i] < columns[best]:
                best = i
                largest = statistic[i]
    if best < 0:
        return best
    free: float64 = dof[best]
    for i in range(statistic.shape[0]):
        fewer += (dof[i] < free) & (dof[i] > 0.0)
    if fewer == 0:
        return best
    least: float64 = log_tail(statistic[best], dof[best])
    for i in range(statistic.shape[0]):
        if i == best or not performed[i]:
            continue
        if statistic[i] <= statistic[best] and dof[i] >= dof[best]:
            if statistic[i] == statistic[best] and dof[i] == dof[best] and columns[i] < columns[best]:
                best = i
            continue
        log_p: float64 = log_tail(statistic[i], dof[i])
        same: bint = log_p == least and statistic[i] == statistic[best]
        if is_weaker(least, statistic[best], log_p, statistic[i]) or (same and columns[i] < columns[best]):
            best = i
            least = log_p
    return best


@door
def strongest_of(statistic: Reals, dof: Reals, performed: Bytes, columns: Ints) -> int:
    """Return the place of the smallest p-value, -1 if no test was performed; ties go to the larger statistic, then
    to the smaller column.
    """
    n = statistic.shape[0]
    if dof.shape[0] != n or performed.shape[0] != n or columns.shape[0] != n:
        raise ValueError("every test has a statistic, degrees of freedom and a column")
    best: int64 = -1
    with nogil:
        best = _strongest(statistic, dof, performed, columns)
    return best
