"""How much likelier labeling would have to be at some level of a column to explain its relation to labels.

If only positives are labeled, with probability e(x), and x is independent of the class given z, then
P(labeled | x, z) / P(labeled | x', z) = e(x) / e(x'): the ratio of labeled shares is that of labeling itself. So the
lower confidence limit Γ of the ratio is the bias that labeling must have at least to explain it (methods (13.6); in
the manner of Smith & VanderWeele 2019). The ratio is Mantel and Haenszel's over the strata of z, its variance that of
Greenland & Robins (1985).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from blankets.stats._special import normal_ppf

_MISS = 0.05  # probability that Γ is above the true ratio


class LabelingBias(NamedTuple):
    """The level at which labeling would have to be the most likelier."""

    level: int  # code of the level
    ratio: float  # labeled share at the level, divided by that at the others
    gamma: float  # lower confidence limit of the ratio, at least 1


def labeling_bias(
    labeled: NDArray[np.bool_], x: NDArray[np.int64], strata: NDArray[np.int64] | None = None
) -> LabelingBias:
    """Return the largest lower limit of the ratio of labeled shares over the levels of a column (Bonferroni).

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
    seen, rows = (np.bincount(cell, w, n_strata * n_levels).reshape(n_strata, n_levels) for w in (labeled, None))
    total, of_all = rows.sum(axis=1, keepdims=True), seen.sum(axis=1, keepdims=True)
    others = np.maximum(total, 1.0)
    up = (seen * (total - rows) / others).sum(axis=0)
    down = ((of_all - seen) * rows / others).sum(axis=0)
    spread = ((of_all * rows * (total - rows) - seen * (of_all - seen) * total) / others**2).sum(axis=0)
    usable = (up > 0) & (down > 0)
    if not usable.any():
        return LabelingBias(0, float("nan"), 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(usable, up / down, 0.0)
        low = np.log(ratio) + normal_ppf(_MISS / max(int(usable.sum()), 1)) * np.sqrt(spread / (up * down))
    at = int(np.argmax(np.where(usable, low, -np.inf)))
    return LabelingBias(at, float(ratio[at]), float(max(np.exp(low[at]), 1.0)))
