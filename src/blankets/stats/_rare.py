"""Is a category with rare levels independent of another column given a set? By the law of its own draws.

The spread of a category is known from its probabilities, so that it need not be estimated from the few rows of a rare
level (methods, section 10.4). Given the other column and z, the sum of its residual functions over the rows is a sum of
independent draws: its variance and fourth moments follow. Where both columns have two levels and both are rare, the
law of the sum itself is computed.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from blankets.stats._canonical import combined_two
from blankets.stats._products import MOST_LEVERAGE, bent_basis, residuals
from blankets.stats._sums import log_p_of_sum
from blankets.stats._tail import log_p_of

RARE = 40  # rows expected to have the rarest levels of both columns, below which these are rare
MOST_LEVELS = 8  # levels of a category for which this is worth its time
# Rows of the rarest level for each function of its probability. Of two levels the leverage makes up for what the fit
# takes; of several levels fits keep to the usual rule of five (Vittinghoff & McCulloch 2007).
ROWS_A_FUNCTION, ROWS_A_FUNCTION_OF_SEVERAL = 1, 5
# Weights of the prior of logistic coefficients next to the rows: normal, standard deviation 2.5; of several levels 1,
# because there nothing makes up for what a wider one lets the fit take.
_RIDGE, _RIDGE_OF_SEVERAL = 0.16, 1.0
_STEPS, _GAIN = 25, 1e-10  # of a fit: at most so many, and until one gains so little (a step of 1e-5 standard errors)
_LEAST_SPREAD = 0.3  # share of the variance of a chi-square, below which it is not believed
_UNDERFLOW = math.log(1e-280)

Floats = NDArray[np.float64]
Codes = NDArray[np.integer]


class FittedLevels(NamedTuple):
    """How probable the levels of a category were."""

    probability: Floats  # (levels, rows): of each level in each row
    basis: Floats  # (functions, rows): the functions that they depend on
    leverage: Floats  # (rows,): the share of a row's variance that the fit has taken


def fitted_levels(codes: Codes, n_levels: int, basis: Floats) -> FittedLevels:
    """Return the probability of each level in each row by logistic regressions on a basis.

    Each level is fitted against all others; then the probabilities of a row are brought to the sum 1.

    Examples
    --------
    >>> fitted_levels(np.repeat([0, 1], [30, 10]), 2, np.zeros((0, 40))).probability[1, 0].round(6)
    np.float64(0.25)
    """
    if n_levels == 2:
        second = logistic_fit(codes == 1, basis)
        return FittedLevels(np.vstack([1.0 - second, second]), basis, _leverage(second, basis))
    each = np.array([logistic_fit(codes == level, basis, _RIDGE_OF_SEVERAL) for level in range(n_levels)])
    # One projection serves all levels, and takes out less of each score than its fit does: variances are not too small.
    return FittedLevels(np.asarray(each / each.sum(axis=0)), basis, np.zeros(basis.shape[1]))


def _leverage(share: Floats, basis: Floats) -> Floats:
    """Return the variance of fitted probabilities as a share of that of the draws.

    By so much the variances of draws from fitted probabilities are too small, methods (10.17).
    """
    design, weight = _design(basis), share * (1.0 - share)
    inverse, information = _solved(design, weight)
    taken = weight * np.einsum("ij,ij->j", design, (inverse @ information @ inverse) @ design)
    return np.asarray(np.minimum(taken, MOST_LEVERAGE))


def _design(basis: Floats) -> Floats:
    """Return the constant and the functions of a basis, with mean square 1."""
    return np.vstack([np.ones(basis.shape[1]), basis * math.sqrt(basis.shape[1])])


def _prior(size: int, ridge: float) -> Floats:
    """Return the weights of the prior of so many coefficients; the constant, which is the first, has none."""
    weights = np.full(size, ridge)
    weights[0] = 0.0
    return weights


def _solved(design: Floats, weight: Floats, ridge: float = _RIDGE) -> tuple[Floats, Floats]:
    """Return the inverse of the information of a fit with its prior, and the information without."""
    information = (design * weight) @ design.T
    return np.asarray(np.linalg.inv(information + np.diag(_prior(len(design), ridge))), np.float64), information


def logistic_fit(there: NDArray[np.bool_], basis: Floats, ridge: float = _RIDGE) -> Floats:
    """Return fitted probabilities of a two-valued column; a weak prior, ``ridge``, keeps coefficients finite."""
    n = len(there)
    design = _design(basis)
    share = min(max(float(there.mean()), 0.5 / n), 1.0 - 0.5 / n)
    prior = _prior(len(design), ridge)
    beta = np.zeros(len(design))
    beta[0] = math.log(share / (1.0 - share))
    index, short = beta @ design, design.astype(np.float32)
    loss = _loss(index, there, beta, prior)
    for _ in range(_STEPS):
        p = 1.0 / (1.0 + np.exp(-index))
        # Four-byte numbers, and one array times itself, are four times as fast; the gradient says where the optimum is.
        half = short * np.sqrt(np.maximum(p * (1.0 - p), 1e-10)).astype(np.float32)
        step = np.linalg.solve((half @ half.T).astype(float) + np.diag(prior), design @ (there - p) - prior * beta)
        along, size = step @ design, 1.0
        while True:
            new = beta + size * step
            new_loss = _loss(index + size * along, there, new, prior)
            if new_loss <= loss or size <= 1e-6:
                break
            size /= 2.0  # Newton's step alone may leave the optimum further and further behind
        if new_loss > loss:
            break
        beta, index, loss, gain = new, index + size * along, new_loss, loss - new_loss
        if gain < _GAIN:
            break
    return np.asarray(np.clip(1.0 / (1.0 + np.exp(-index)), 1e-9, 1.0 - 1e-9))


def _loss(index: Floats, there: NDArray[np.bool_], beta: Floats, prior: Floats) -> float:
    """Return minus the penalized log-likelihood."""
    return float(np.logaddexp(0.0, index).sum() - index[there].sum() + 0.5 * (prior * beta) @ beta)


def score_test(
    x: Floats, by_level: Floats, codes: Codes, fitted: FittedLevels, basis: Floats, first: tuple[int, int]
) -> tuple[float, float, float]:
    """Return log p, statistic and degrees of freedom of a column and a category with rare levels.

    See methods (10.8).

    ``x``, of shape (functions, rows): functions of the column. ``by_level``, of shape (functions, levels): functions of
    the category, by its levels. ``codes``, ``fitted``: its levels, and how probable each was. ``basis``: of the given
    functions. ``first``: how many functions of each are tested alone too.

    Examples
    --------
    >>> rng = np.random.default_rng(3)
    >>> codes = (np.arange(400) < 12).astype(np.int64)
    >>> x, none = rng.normal(size=(1, 400)) / 20, np.zeros((0, 400))
    >>> answer = score_test(x, np.array([[-0.01, 0.3]]), codes, fitted_levels(codes, 2, none), none, (1, 1))
    >>> bool(answer[0] > np.log(0.01)), answer[2]
    (True, 1.0)
    """
    left = _left_by_fit(x, fitted, basis)
    log_p, statistic, dof = _score(left, by_level, codes, fitted)
    if first == (len(x), len(by_level)) or not dof:
        return log_p, statistic, dof
    alone, _, some = _score(left[: first[0]], by_level[: first[1]], codes, fitted)
    if not 0 < some < dof:
        return log_p, statistic, dof
    return combined_two(log_p, alone), statistic, dof


def _left_by_fit(x: Floats, fitted: FittedLevels, basis: Floats) -> Floats:
    """Return what the given functions, and the fit of the probabilities, leave of the other column."""
    left = residuals(residuals(x, basis), bent_basis(x, x, basis))
    # The fit of the probabilities takes out what is along its functions, by their own weights.
    design = _design(fitted.basis)
    weighted = design * np.maximum((fitted.probability * (1.0 - fitted.probability)).sum(axis=0), 1e-12)
    return np.asarray(left - (np.linalg.lstsq(weighted @ design.T, weighted @ left.T, rcond=None)[0]).T @ design)


def meetings_test(x: Floats, there: NDArray[np.bool_], fitted: FittedLevels, basis: Floats) -> float:
    """Return log p of two columns with two levels each, both rare, by the law of the score; see methods (10.10).

    ``x``, of shape (1, rows): the function of one. ``there``: which rows have the second level of the other.
    ``fitted``: how probable its levels were. ``basis``: of the given functions.

    Examples
    --------
    Two rows are both among five of 100: ten of the 4,950 pairs are, and what is as rare counts half.

    >>> two, five = np.isin(np.arange(100), [3, 50]), np.isin(np.arange(100), [3, 50, 70, 80, 90])
    >>> none = np.zeros((0, 100))
    >>> round(float(np.exp(meetings_test(five[None] / 2.0, two, fitted_levels(two * 1, 2, none), none))), 4)
    0.001
    """
    left = _left_by_fit(x, fitted, basis)[0]
    chance = fitted.probability[1]
    more = float(left**2 @ (chance * (1.0 - chance) * fitted.leverage))  # the variance that fitted probabilities lack
    return log_p_of_sum(left, chance, float(left @ (there - chance)), int(np.count_nonzero(there)), more)


def _score(left: Floats, by_level: Floats, codes: Codes, fitted: FittedLevels) -> tuple[float, float, float]:
    """Return log p, statistic and degrees of freedom: a gamma law with the mean and variance of the statistic."""
    total = (left @ (by_level[:, codes] - by_level @ fitted.probability).T).ravel()
    left = left / np.sqrt(1.0 - fitted.leverage)
    inverse, k, variance = score_law(left, by_level, fitted.probability)
    if not k:
        return 0.0, 0.0, 0.0
    statistic = float(total @ inverse @ total)
    return gamma_log_p(statistic, k, variance - of_fit(left, by_level, fitted, inverse)), statistic, float(k)


def gamma_log_p(statistic: float, k: int, variance: float) -> float:
    """Return the log p-value of a statistic of mean k by the gamma law with its variance.

    >>> bool(np.isclose(gamma_log_p(3.0, 2, 4.0), -1.5))  # chi-square with two degrees of freedom
    True
    """
    variance = max(variance, 2.0 * _LEAST_SPREAD * k)
    # Where single rows make most of the variance, all other draws would be near 0 by this law: the p-value counts that
    # is the largest of any variance up to this one.
    log_p = max(_gamma_log_p(statistic, k, v) for v in _up_to(variance, 2.0 * k))
    return log_p if log_p > _UNDERFLOW else log_p_of(statistic, float(k))


def _gamma_log_p(statistic: float, k: int, variance: float) -> float:
    return log_p_of(2.0 * statistic * k / variance, 2.0 * k * k / variance)


def _up_to(variance: float, least: float) -> list[float]:
    """Return a variance and, if it is more than four times the least, each half of it down to that."""
    halves = [variance]
    while variance > 4.0 * least and halves[-1] > least:
        halves.append(max(halves[-1] / 2.0, least))
    return halves


def score_law(left: Floats, by_level: Floats, probability: Floats) -> tuple[Floats, int, float]:
    """Return the inverse of the score's variance, its rank (the statistic's mean) and the statistic's variance.

    See methods (10.9).

    ``left``, of shape (functions, rows): residual functions of the other column; the rest is as for `score_test`.

    Examples
    --------
    >>> left, by_level = np.array([[1.0, -1.0]]), np.array([[0.0, 1.0]])
    >>> score_law(left, by_level, np.full((2, 2), 0.5))[1:]  # the statistic is 0 or 2, as likely as not
    (1, 1.0)
    """
    (kx, n), (ky, levels) = left.shape, by_level.shape
    mean = by_level @ probability
    squares = (by_level[:, None] * by_level).reshape(ky * ky, levels)
    both = (left[:, None] * mean).reshape(kx * ky, n)
    drawn = squares @ np.array([(left * p) @ left.T for p in probability]).reshape(levels, kx * kx)
    drawn = drawn.reshape(ky, ky, kx, kx).transpose(2, 0, 3, 1).reshape(kx * ky, kx * ky)
    size, vectors = np.linalg.eigh(drawn - both @ both.T)
    use = size > 1e-8 * max(float(size[-1]), 1e-300)
    k = int(np.count_nonzero(use))
    inverse = (vectors[:, use] / size[use]) @ vectors[:, use].T
    # In each row the statistic is a quadratic form of what was drawn less its mean.
    forms = np.empty((ky, ky, n))
    for i in range(ky):
        for j in range(i + 1):
            forms[i, j] = forms[j, i] = ((inverse[i::ky, j::ky] @ left) * left).sum(axis=0)
    turned = (forms * mean).sum(axis=1)
    of_level = squares.T @ forms.reshape(ky * ky, n) - 2.0 * by_level.T @ turned + (mean * turned).sum(axis=0)
    once, twice = (probability * of_level).sum(axis=0), (probability * of_level**2).sum(axis=0)
    spread = (squares @ probability).reshape(ky, ky, n) - mean[:, None] * mean
    product = forms.transpose(2, 0, 1) @ spread.transpose(2, 0, 1)
    fourth = float((twice - once**2).sum() - 2.0 * (product * product.transpose(0, 2, 1)).sum())
    return inverse, k, 2.0 * k + fourth


def of_fit(left: Floats, by_level: Floats, fitted: FittedLevels, inverse: Floats) -> float:
    """Return the part of the statistic's variance that is due to which rows have the rarest level, as far as fitted.

    The probabilities are fitted to the number of these rows and to the sums of the functions over them, so that these
    vary no more, or less if the prior holds them, methods (10.16).

    ``inverse``: of the score's variance; the rest is as for `score_law`.

    Examples
    --------
    Four of 40 rows have the level, and half of all rows are 1, half -1: over the 91,390 ways to place them the
    statistic has the variance 1.66. With a number that varies it has more.

    >>> left, by_level = np.resize([1.0, -1.0], (1, 40)), np.array([[0.0, 1.0]])
    >>> fitted = fitted_levels((np.arange(40) < 4).astype(np.int64), 2, np.zeros((0, 40)))
    >>> inverse, _, variance = score_law(left, by_level, fitted.probability)
    >>> round(variance, 2), round(variance - of_fit(left, by_level, fitted, inverse), 2)
    (2.13, 1.59)
    """
    probability, kx, ky = fitted.probability, len(left), len(by_level)
    rarest = int(probability.sum(axis=1).argmin())
    share, mean, design = probability[rarest], by_level @ probability, _design(fitted.basis)
    ridge = _RIDGE if len(probability) == 2 else _RIDGE_OF_SEVERAL
    solved, information = _solved(design, share * (1.0 - share), ridge)
    size, vectors = np.linalg.eigh(2.0 * solved - solved @ information @ solved)
    known = (vectors * np.sqrt(np.maximum(size, 0.0))).T @ design
    off = by_level[:, rarest, np.newaxis] - mean
    third = np.empty((len(known), kx * ky, kx * ky))
    for i in range(ky):
        for j in range(i + 1):
            spread = (by_level[i] * by_level[j]) @ probability - mean[i] * mean[j]
            along = known * (share * (off[i] * off[j] - spread))
            both = np.empty((len(known), kx, kx))
            # One function after the other: products of all pairs of hundreds of levels have no room in memory.
            for a in range(kx):
                both[:, a, a:] = both[:, a:, a] = along @ (left[a] * left[a:]).T
            third[:, i::ky, j::ky] = third[:, j::ky, i::ky] = both
    turned = inverse @ third
    return float((np.trace(turned, axis1=1, axis2=2) ** 2).sum() + 2.0 * (turned * turned.transpose(0, 2, 1)).sum())
