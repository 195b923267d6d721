"""How much likelier labeling would have to be at some level of a column to explain its relation to labels.

If only positives are labeled, with probability e(x), and x is independent of the class given z, then
P(labeled | x, z) / P(labeled | x', z) = e(x) / e(x'): the ratio of labeled shares is that of labeling itself. So the
lower confidence limit Γ of the ratio is the bias that labeling must have at least to explain it (methods (13.6); in
the manner of Smith & VanderWeele 2019). The ratio is Mantel and Haenszel's over the strata of z, its variance that of
Greenland & Robins (1985). Where positives were collected apart from a background sample, how many of the rows are
labeled is a choice, and the ratio is that of odds, labeled to background rows; its variance is that of Robins, Breslow
& Greenland (1986).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from blankets.stats._estimate import divided

Floats = NDArray[np.float64]

_MISS = 0.05  # probability that Γ is above the true ratio


class LabelingBias(NamedTuple):
    """The level at which labeling would have to be the most likelier."""

    level: int  # code of the level
    ratio: float  # labeled share at the level, divided by that at the others
    gamma: float  # lower confidence limit of the ratio, at least 1


def labeling_bias(
    labeled: NDArray[np.bool_], x: NDArray[np.int64], strata: NDArray[np.int64] | None = None, *, apart: bool = False
) -> LabelingBias:
    """Return the largest lower limit of the ratio of labeled shares over the levels of a column (Bonferroni).

    ``apart``: whether labeled rows were collected apart from the others, so that odds are compared.

    Examples
    --------
    >>> labeled, x = np.repeat([True, False, True, False], [40, 60, 20, 80]), np.repeat([1, 0], 100)
    >>> level, ratio, gamma = labeling_bias(labeled, x)
    >>> level, round(ratio, 3), round(gamma, 3)  # ln 2 ± 1.96 √(0.6/40 + 0.8/20)
    (1, 2.0, 1.263)
    """
    z = np.zeros(len(x), np.int64) if strata is None else strata
    n_levels, n_strata = int(x.max(initial=0)) + 1, int(z.max(initial=0)) + 1
    cell = z * n_levels + x
    seen, rows = (
        np.bincount(cell, weights, n_strata * n_levels).reshape(n_strata, n_levels).astype(float)
        for weights in (labeled, None)
    )
    total, of_all = rows.sum(axis=1, keepdims=True), seen.sum(axis=1, keepdims=True)
    n = np.maximum(total, 1.0)
    if apart:
        up, down, variance = _odds(seen, rows - seen, of_all - seen, total - of_all - (rows - seen), n)
    else:
        up = (seen * (total - rows) / n).sum(axis=0)
        down = ((of_all - seen) * rows / n).sum(axis=0)
        spread = ((of_all * rows * (total - rows) - seen * (of_all - seen) * total) / n**2).sum(axis=0)
        variance = divided(spread, up * down)
    only = np.flatnonzero((up > 0) & (down == 0))
    if len(only):
        return _all_there(int(only[0]), seen, rows - (seen if apart else 0.0))
    usable = (up > 0) & (down > 0)
    if not usable.any():
        return LabelingBias(0, float("nan"), 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(usable, up / down, 0.0)
        low = np.log(ratio) + ndtri(_MISS / max(int(usable.sum()), 1)) * np.sqrt(variance)
    at = int(np.argmax(np.where(usable, low, -np.inf)))
    return LabelingBias(at, float(ratio[at]), float(max(np.exp(low[at]), 1.0)))


def _all_there(level: int, seen: Floats, rows: Floats) -> LabelingBias:
    """Return the bias where all labeled rows have one level, in every stratum that has other rows.

    Given how many are labeled, each is there with probability γr / (γr + o), with r rows of the level in its stratum
    and o others. Γ is the γ with which all of them are with probability 5%, divided by the levels. For the ratio, half
    a row elsewhere counts as labeled.
    """
    there, others = rows[:, level], rows.sum(axis=1) - rows[:, level]
    at = (others > 0) & (seen[:, level] > 0)
    m, odds = seen[at, level], there[at] / others[at]
    low, high = -50.0, 50.0
    for _ in range(80):
        middle = (low + high) / 2.0
        enough = -(m @ np.log1p(1.0 / (np.exp(middle) * np.maximum(odds, 1e-300)))) < np.log(_MISS / rows.shape[1])
        low, high = (middle, high) if enough else (low, middle)
    gamma = float(max(np.exp(low), 1.0))
    return LabelingBias(level, max(float(2.0 * m.sum() * others[at].sum() / max(there[at].sum(), 1.0)), gamma), gamma)


def _odds(a: Floats, b: Floats, c: Floats, d: Floats, n: Floats) -> tuple[Floats, Floats, Floats]:
    """Return both parts of Mantel and Haenszel's odds ratio over strata, and the variance of its logarithm.

    ``a``, ``b``: labeled and other rows of the level; ``c``, ``d``: those of the other levels; ``n``: all.
    """
    same, crossed, up, down = (a + d) / n, (b + c) / n, a * d / n, b * c / n
    first, second = up.sum(axis=0), down.sum(axis=0)
    variance = (
        divided((same * up).sum(axis=0), 2.0 * first**2)
        + divided((same * down + crossed * up).sum(axis=0), 2.0 * first * second)
        + divided((crossed * down).sum(axis=0), 2.0 * second**2)
    )
    return first, second, variance
