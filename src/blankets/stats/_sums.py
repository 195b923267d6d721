"""The law of a weighted sum of draws, each there or not with a probability of its own, given how many are."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from blankets.stats._tail import chi2_sf

_CELLS = 32  # of the grid, for the largest weight
_SMALL = 1 / 8  # of the largest weight: draws with smaller ones are normal together
_FAR = 9.0  # standard deviations, beside three of the largest weights, beyond which sums are not looked at

Floats = NDArray[np.float64]


def log_p_of_sum(weight: Floats, probability: Floats, off: float, number: int, more: float = 0.0) -> float:
    """Return the log probability that a sum is as far from its mean as ``off``; what is as far counts half.

    ``weight``, ``probability``, of shape (draws,): what a draw adds if it is there, and how probable that is.
    ``number``: so many are there in all. ``more``: a variance of the sum beside that of the draws. Draws with large
    weights are on a grid, between two of whose cells each is divided so that its mean is right. The sum of all others,
    given their number, is normal.

    Examples
    --------
    Two of 100 draws are there; both are among the first five in 10 of 4,950 cases.

    >>> weight = np.repeat([1.0, 0.0], [5, 95])
    >>> p = np.exp(log_p_of_sum(weight, np.full(100, 0.02), 1.9, 2))
    >>> bool(np.isclose(p, 0.5 * 10 / 4950, rtol=0.01))
    True
    """
    most = float(np.abs(weight).max(initial=0.0))
    if not most:
        return 0.0
    variance = probability * (1.0 - probability)
    large = np.abs(weight) > _SMALL * most
    of_large, small, cell = weight[large], ~large, most / _CELLS
    chance, zero = _on_a_grid(of_large / cell, probability[large], number)
    # The others: how many there are, and what their sum is given that.
    mean, spread = float(probability[small].sum()), float(variance[small].sum())
    left = number - np.arange(chance.shape[0])
    chance = chance * _chance_of(left, mean, spread)[:, None]
    along = float(weight[small] @ variance[small]) / max(spread, 1e-300)
    center = (np.arange(chance.shape[1]) - zero) * cell + (along * (left - mean))[:, None]
    center -= float(of_large @ probability[large])
    others = max(float(weight[small] ** 2 @ variance[small]) - along**2 * spread, 0.0)
    root = max(math.sqrt(others + more), cell / 4.0)
    tails = _upper_tail((center - abs(off)) / root) + _upper_tail((-abs(off) - center) / root)
    beyond = float((chance * tails).sum()) / max(float(chance.sum()), 1e-300)
    return math.log(min(max(beyond, 1e-300), 1.0))


def _on_a_grid(weight: Floats, probability: Floats, number: int) -> tuple[Floats, int]:
    """Return the chances of each number of draws and value of their sum, in cells, and the cell of the value 0."""
    mean = float(weight @ probability)
    reach = _FAR * math.sqrt(float(weight**2 @ (probability * (1.0 - probability)))) + 3.0 * _CELLS
    low = min(max(float(np.minimum(weight, 0.0).sum()), mean - reach), 0.0)
    high = max(min(float(np.maximum(weight, 0.0).sum()), mean + reach), 0.0)
    zero = math.ceil(-low) + 1
    expected = float(probability.sum())
    most = min(number, len(weight), math.ceil(expected + _FAR * math.sqrt(expected) + 3.0))
    chance = np.zeros((most + 1, zero + math.ceil(high) + 2))
    chance[0, zero] = 1.0
    for w, p in zip(weight.tolist(), probability.tolist(), strict=True):
        cells = math.floor(w)
        next_one = (w - cells) * p
        there = chance * (1.0 - p)
        for k, share in ((cells, p - next_one), (cells + 1, next_one)):
            if k > 0:
                there[1:, k:] += share * chance[:-1, :-k]
            elif k < 0:
                there[1:, :k] += share * chance[:-1, -k:]
            else:
                there[1:] += share * chance[:-1]
        chance = there
    return chance, zero


def _chance_of(count: NDArray[np.int64], mean: float, variance: float) -> Floats:
    """Return the chances of numbers of draws by the binomial law with a mean and variance."""
    if mean <= 0.0:
        return np.asarray(count == 0, np.float64)
    draws = mean**2 / max(mean - variance, 1e-9 * mean)
    each = min(mean / draws, 1.0 - 1e-12)
    log_chance = [
        math.lgamma(draws + 1.0)
        - math.lgamma(k + 1.0)
        - math.lgamma(draws - k + 1.0)
        + k * math.log(each)
        + (draws - k) * math.log1p(-each)
        if k <= draws
        else -math.inf
        for k in count.tolist()
    ]
    return np.asarray(np.exp(log_chance))


def _upper_tail(x: Floats) -> Floats:
    """Return how probable it is that a standard normal number is above minus x."""
    half = 0.5 * chi2_sf(x**2, 1.0)
    return np.where(x > 0.0, 1.0 - half, half)
