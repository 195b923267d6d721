"""Effects of a treatment given columns to adjust for: doubly robust, with predictions from other rows.

With predictions m_a(z) of the outcome in each arm and e(z) of the treatment, fitted on other rows, the mean of
m_1 - m_0 + t (y - m_1)/e - (1 - t)(y - m_0)/(1 - e) estimates the effect if one of the two models is right (Robins,
Rotnitzky & Zhao 1994; Chernozhukov et al. 2018). Of a number as a treatment the effect of one unit is the slope of what
z leaves of the outcome on what it leaves of the treatment (Robinson 1988). See methods, section 18.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from blankets.stats._regression import odds_regression, told_by_others

FOLDS = 5
# Crump et al. (2009): beyond propensities of 0.1 and 0.9 an average effect mostly rests on few rows. At 0.01 a row
# counts a hundred times, and no row counts more.
OVERLAP, FARTHEST = 0.1, 0.01

Floats = NDArray[np.float64]
Predict = Callable[[Floats, Floats, Floats], Floats]  # columns and values of some rows, columns of others: predictions


@dataclass(frozen=True, slots=True, eq=False)
class TreatmentEffect:
    """An effect with its 95% interval, and where the classes of the treatment overlap."""

    difference: tuple[float, float, float]  # estimate, low, high: of the mean of the outcome
    ratio: tuple[float, float, float] | None = None  # the same of the risks, where the outcome is 0 or 1
    propensities: Floats | None = None  # of each row, where the treatment has two classes


def predict_linear(columns: Floats, values: Floats, others: Floats) -> Floats:
    """Predict by least squares, or by logistic regression where values are 0 and 1 alone.

    >>> x = np.arange(8.0)[:, np.newaxis]
    >>> predict_linear(x, 2.0 * x[:, 0], np.array([[10.0]])).round(6).tolist()
    [20.0]
    """
    free = ~told_by_others(columns) if columns.shape[1] else np.zeros(0, bool)
    known, asked = columns[:, free], others[:, free]
    if np.isin(values, (0.0, 1.0)).all():
        if values.min() == values.max():
            return np.full(len(others), values[0])
        beta = odds_regression(known, values).coefficients
        return np.asarray(1.0 / (1.0 + np.exp(-np.clip(beta[0] + asked @ beta[1:], -30.0, 30.0))))
    line = np.linalg.lstsq(np.column_stack([np.ones(len(known)), known]), values, rcond=None)[0]
    return np.asarray(line[0] + asked @ line[1:], np.float64)


def treatment_effect(
    y: Floats,
    t: Floats,
    columns: Floats,
    *,
    of_outcome: Predict = predict_linear,
    of_treatment: Predict = predict_linear,
    groups: NDArray[np.int64] | None = None,
    rng: np.random.Generator,
) -> TreatmentEffect:
    """Estimate the effect of a treatment (0 and 1, or a number) on an outcome, given columns.

    ``groups``: rows that belong together; they are in one fold, and are one draw.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=4000)
    >>> t = (rng.random(4000) < 1 / (1 + np.exp(-z))).astype(float)
    >>> found = treatment_effect(2.0 * t + z + rng.normal(size=4000), t, z[:, np.newaxis], rng=rng)
    >>> found.difference[1] < 2.0 < found.difference[2]
    True
    """
    draws = np.arange(len(y)) if groups is None else np.unique(groups, return_inverse=True)[1].ravel()
    fold = rng.permutation(int(draws.max()) + 1)[draws] % FOLDS
    two = bool(np.isin(t, (0.0, 1.0)).all())
    expected, chance = np.empty((2, len(y))), np.empty(len(y))
    for k in range(FOLDS):
        rest, here = fold != k, fold == k
        chance[here] = of_treatment(columns[rest], t[rest], columns[here])
        for arm in (0, 1):
            at = rest & (t == arm) if two else rest
            expected[arm, here] = of_outcome(columns[at], y[at], columns[here])
    if not two:
        return TreatmentEffect(_slope(y - expected[0], t - chance, draws))
    e = np.clip(chance, FARTHEST, 1.0 - FARTHEST)
    one = expected[1] + t * (y - expected[1]) / e
    none = expected[0] + (1.0 - t) * (y - expected[0]) / (1.0 - e)
    mean = float((one - none).mean())
    difference = _interval(mean, _error(one - none - mean, draws))
    ratio = None
    if np.isin(y, (0.0, 1.0)).all() and one.mean() > 0 and none.mean() > 0:
        logs = one / one.mean() - none / none.mean()  # the delta method
        low, high = (float(np.exp(v)) for v in _interval(np.log(one.mean() / none.mean()), _error(logs, draws))[1:])
        ratio = (float(one.mean() / none.mean()), low, high)
    return TreatmentEffect(difference, ratio, chance)


def _slope(y: Floats, t: Floats, draws: NDArray[np.int64]) -> tuple[float, float, float]:
    t = t - t.mean()
    slope = float(t @ y / (t @ t))
    left = y - y.mean() - slope * t
    return _interval(slope, _error(t * left / (t @ t / len(t)), draws))


def _error(each: Floats, draws: NDArray[np.int64]) -> float:
    """Return the standard error of a mean, from sums over draws."""
    sums = np.bincount(draws, each)
    few = len(sums) / max(len(sums) - 1, 1)
    return float(np.sqrt(few * (sums @ sums))) / len(each)


def _interval(estimate: float, error: float) -> tuple[float, float, float]:
    half = float(ndtri(0.975)) * error
    return float(estimate), float(estimate - half), float(estimate + half)


def e_value(ratio: float) -> float:
    """Return how strongly a hidden column must go with treatment and outcome to explain a risk ratio away.

    VanderWeele & Ding (2017), as a risk ratio with both; 1 where nothing is to be explained.

    Examples
    --------
    Smoking and lung cancer, their first example:

    >>> round(e_value(10.73), 2)
    20.95
    """
    r = max(ratio, 1.0 / ratio) if ratio > 0 else np.inf
    return float(r + np.sqrt(r * (r - 1.0)))
