"""Regressions of a target on columns: odds ratios, risk ratios and differences (methods, section 17).

A design has shape (rows, columns) and no constant: that is added here, first. Coefficients have shape (1 + columns,).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from blankets.stats._clusters import log_f_sf

RIDGE = 1e-9  # penalty for each row, on squared coefficients: the equations can be solved under separation too
STEPS = 60  # of Newton; under separation a coefficient grows by about 1 with each
PRECISE, ROUGH = 1e-8, 5e-3  # a step that gains less log-likelihood is the last one; for limits the rough one does
FARTHEST = float(np.log(100_000))  # coefficients are not told apart beyond an odds ratio of 100,000
UNSURE = 3.0  # standard error from which the limits of a coefficient come from the likelihood and not from its curve
MOST_LIMITS = 6  # coefficients of one regression whose limits come from the likelihood; each takes several fits
ALIASED = 1e-7  # share of a column's variance that the columns before it must leave

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Regression:
    """Coefficients with their standard errors and the ends of their intervals."""

    # coefficients, errors, low, high (1 + columns,): an end is infinite where the data set no limit
    coefficients: Floats
    errors: Floats
    low: Floats
    high: Floats

    def take(self, at: list[int]) -> Regression:
        """Return some of the coefficients."""
        return Regression(self.coefficients[at], self.errors[at], self.low[at], self.high[at])


class _Model(Protocol):
    """A log-likelihood of coefficients."""

    @property
    def design(self) -> Floats:
        """The columns with the constant, (rows, 1 + columns)."""

    @property
    def weights(self) -> Floats:
        """How many rows each stands for, (rows,)."""

    def at(self, coefficients: Floats) -> tuple[float, Floats, Floats]:
        """Return the log-likelihood, its slope and minus its curvature."""

    def scores(self, coefficients: Floats) -> Floats:
        """Return the slope of each row, shape (rows, coefficients)."""


@dataclass(frozen=True, slots=True, eq=False)
class _Odds:
    """Logistic regression."""

    design: Floats
    target: Floats  # (rows,): 0 or 1, or a share
    weights: Floats

    def at(self, coefficients: Floats) -> tuple[float, Floats, Floats]:
        index = self.design @ coefficients
        minus = np.logaddexp(0.0, index)  # minus the log-likelihood of a row that is not positive
        risk = np.exp(index - minus)
        value = float(self.weights @ (self.target * index - minus))
        slope = (self.weights * (self.target - risk)) @ self.design
        each = self.weights * risk * (1.0 - risk)
        return value, slope, (self.design * each[:, np.newaxis]).T @ self.design

    def scores(self, coefficients: Floats) -> Floats:
        risk = 1.0 / (1.0 + np.exp(-np.clip(self.design @ coefficients, -700.0, 700.0)))
        return np.asarray(self.design * (self.weights * (self.target - risk))[:, np.newaxis])


@dataclass(frozen=True, slots=True, eq=False)
class _Risks:
    """Poisson regression of an indicator, whose coefficients are logarithms of risk ratios (Zou 2004)."""

    design: Floats
    target: Floats  # (rows,): 0 or 1, or a number of this mean
    weights: Floats

    def at(self, coefficients: Floats) -> tuple[float, Floats, Floats]:
        index = np.minimum(self.design @ coefficients, 50.0)
        mean = self.weights * np.exp(index)
        value = float((self.weights * self.target) @ index - mean.sum())
        slope = (self.weights * self.target - mean) @ self.design
        return value, slope, (self.design * mean[:, np.newaxis]).T @ self.design

    def scores(self, coefficients: Floats) -> Floats:
        left = self.target - np.exp(np.minimum(self.design @ coefficients, 50.0))
        return np.asarray(self.design * (self.weights * left)[:, np.newaxis])


def odds_regression(
    design: Floats,
    positive: NDArray[np.bool_] | Floats,
    *,
    weights: Floats | None = None,
    groups: NDArray[np.int64] | None = None,
    level: float = 0.95,
    robust: bool = False,
) -> Regression:
    """Regress an indicator on columns: coefficients are logarithms of odds ratios.

    ``positive`` may also be the share of positives, where a row stands for several with the same values. ``weights``:
    how many rows each row stands for. ``groups``: rows that belong together; then, and with ``robust`` (weights of a
    survey), standard errors are those of the sandwich. Otherwise the ends of a coefficient with a standard error above
    3, as under separation, come from the likelihood ratio; one without a limit is infinite. That takes time: of more
    than six such coefficients the later ones get no limits.

    Examples
    --------
    All of the 20 rows with x are positive, so that the odds ratio has a lower limit only:

    >>> x, y = np.repeat([0.0, 0.0, 1.0], [30, 30, 20]), np.repeat([False, True, True], [30, 30, 20])
    >>> found = odds_regression(x[:, np.newaxis], y)
    >>> round(float(np.exp(found.low[1])), 1), float(found.high[1])
    (9.3, inf)
    """
    model = _Odds(_with_constant(design), positive.astype(float), _ones(weights, len(design)))
    if robust or groups is not None:
        return _by_sandwich(model, groups, level)
    top = _maximized(model, _start(model), enough=ROUGH)
    errors = _errors(top)
    if errors.max() <= UNSURE:
        top = _maximized(model, top.at)
        errors = _errors(top)
    best = top.at
    low, high = _ends(best, errors, float(ndtri((1.0 + level) / 2.0)))
    unsure = (errors > UNSURE) | (np.abs(best) > FARTHEST)
    low[unsure], high[unsure] = -np.inf, np.inf
    for j in np.flatnonzero(unsure[1:])[:MOST_LIMITS].tolist():  # nobody asks for the constant
        low[j + 1], high[j + 1] = (_limit(model, top, j + 1, side, level) for side in (-1.0, 1.0))
    return Regression(best, errors, low, high)


def risk_regression(
    design: Floats,
    positive: NDArray[np.bool_] | Floats,
    *,
    weights: Floats | None = None,
    groups: NDArray[np.int64] | None = None,
    level: float = 0.95,
) -> Regression:
    """Regress an indicator on columns: coefficients are logarithms of risk ratios, errors those of the sandwich.

    ``positive`` may also be a number with the mean of the indicator, such as 1/propensity for labeled positives. The
    end of a coefficient without positives, if rows count alike, comes from Poisson's likelihood ratio, which is wider
    than the one of the indicator.

    Examples
    --------
    None of 40 rows with x is positive, and 30 of the 100 others: 60 ln(1 + 40 r / 100) = 3.84 at the limit r.

    >>> x, y = np.repeat([0.0, 0.0, 1.0], [70, 30, 40]), np.repeat([False, True, False], [70, 30, 40])
    >>> found = risk_regression(x[:, np.newaxis], y)
    >>> float(found.low[1]), round(float(np.exp(found.high[1])), 3)
    (-inf, 0.165)
    """
    model = _Risks(_with_constant(design), positive.astype(float), _ones(weights, len(design)))
    found = _by_sandwich(model, groups, level)
    separated = np.flatnonzero(np.abs(found.coefficients[1:]) > FARTHEST)[:MOST_LIMITS] + 1
    if len(separated) and groups is None and weights is None and positive.dtype == bool:
        top = _maximized(model, np.zeros(model.design.shape[1]))
        for j in separated.tolist():
            found.low[j], found.high[j] = (_limit(model, top, j, side, level) for side in (-1.0, 1.0))
    return found


def number_regression(
    design: Floats,
    y: Floats,
    *,
    weights: Floats | None = None,
    groups: NDArray[np.int64] | None = None,
    level: float = 0.95,
    taken: Floats | None = None,
) -> Regression:
    """Regress a number on columns by least squares: coefficients are differences.

    Variances may differ between rows: standard errors are HC3 (MacKinnon and White 1985); with groups or weights they
    are those of the sandwich. ``taken``: the share of each row that what the columns predict has taken before.

    Examples
    --------
    >>> x, y = np.repeat([0.0, 1.0], 3), np.array([1.0, 2.0, 3.0, 5.0, 6.0, 7.0])
    >>> number_regression(x[:, np.newaxis], y).coefficients.round(6).tolist()
    [2.0, 4.0]
    """
    full, w = _with_constant(design), _ones(weights, len(design))
    largest = float(np.abs(y).max(initial=0.0)) or 1.0  # squares of very large numbers are infinite
    y = y / largest
    inverse = np.linalg.pinv((full * w[:, np.newaxis]).T @ full, hermitian=True)
    best = inverse @ (full.T @ (w * y))
    left = y - full @ best
    before = np.zeros(len(y)) if taken is None else taken
    freedom = max(len(y) - full.shape[1] - int(before.sum()), 1)
    if weights is None and groups is None:
        leverage = ((full @ inverse) * full).sum(axis=1) + before
        scores = full * (left / np.maximum(1.0 - leverage, 1e-6))[:, np.newaxis]
        meat = scores.T @ scores
    else:
        meat = _meat(full * (w * left)[:, np.newaxis], groups)
        freedom = freedom if groups is None else max(len(np.unique(groups)) - 1, 1)
    errors = np.sqrt(np.maximum(np.diag(inverse @ meat @ inverse), 0.0))
    low, high = _ends(best, errors, student_quantile(freedom, level))
    return Regression(*(largest * part for part in (best, errors, low, high)))


def told_by_others(design: Floats, weights: Floats | None = None) -> Mask:
    """Tell which columns are constant, or are told exactly by the columns before them.

    >>> x = np.arange(6.0)
    >>> told_by_others(np.column_stack([x, x % 2, 2 * x - 1])).tolist()
    [False, False, True]
    """
    w = _ones(weights, len(design))
    centered = design - (w @ design) / w.sum()
    rest = (centered * w[:, np.newaxis]).T @ centered
    whole = np.diag(rest).copy()
    told = np.zeros(len(rest), bool)
    for j in range(len(rest)):
        told[j] = rest[j, j] <= ALIASED * whole[j] or whole[j] <= 0.0
        if not told[j]:
            rest = rest - np.outer(rest[:, j], rest[j]) / rest[j, j]
    return told


def _with_constant(design: Floats) -> Floats:
    return np.column_stack([np.ones(len(design)), design])


def _ones(weights: Floats | None, n: int) -> Floats:
    return np.ones(n) if weights is None else np.asarray(weights, np.float64)


def _ends(best: Floats, errors: Floats, quantile: float) -> tuple[Floats, Floats]:
    return best - quantile * errors, best + quantile * errors


def student_quantile(freedom: float, level: float) -> float:
    """Return the quantile of Student's t for an interval, by halving: t² is F on 1 and ``freedom`` degrees."""
    low, high, tail = 0.0, 1000.0, float(np.log1p(-level))
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if log_f_sf(middle**2, 1.0, freedom) > tail else (low, middle)
    return high


def _penalized(model: _Model, coefficients: Floats, ridge: float) -> tuple[float, Floats, Floats]:
    """Return the log-likelihood less the penalty, its slope and minus its curvature."""
    value, slope, curve = model.at(coefficients)
    value -= ridge / 2.0 * float(coefficients @ coefficients)
    curve.flat[:: len(coefficients) + 1] += ridge
    return value, slope - ridge * coefficients, curve


@dataclass(frozen=True, slots=True, eq=False)
class _Top:
    """Coefficients of the largest likelihood, that likelihood, its slope and minus its curvature there."""

    at: Floats
    value: float
    slope: Floats  # 0 but for a coefficient that is fixed
    curve: Floats


def _start(model: _Odds) -> Floats:
    """Return coefficients near the best: least squares of log odds, half a row added to both classes (Berkson 1944)."""
    share = (model.weights * model.target + 0.5) / (model.weights + 1.0)
    scaled = model.design * (model.weights * share * (1.0 - share))[:, np.newaxis]
    curve = scaled.T @ model.design
    curve.flat[:: len(curve) + 1] += RIDGE * float(model.weights.sum())
    return np.asarray(np.linalg.solve(curve, np.log(share / (1.0 - share)) @ scaled))


def _maximized(model: _Model, start: Floats, fixed: int | None = None, enough: float = PRECISE) -> _Top:
    """Climb to the largest likelihood by Newton's steps; the coefficient that is fixed stays."""
    free = np.flatnonzero(np.arange(len(start)) != fixed)
    best, ridge = start.copy(), RIDGE * float(model.weights.sum())
    value, slope, curve = _penalized(model, best, ridge)
    for _ in range(STEPS):
        step = np.linalg.solve(curve if fixed is None else curve[free[:, np.newaxis], free], slope[free])
        gain = float(step @ slope[free])
        if gain <= enough and enough >= ROUGH:  # the last step would gain half of that
            return _Top(best, value + gain / 2.0, slope - curve[:, free] @ step, curve)
        step = step * min(1.0, FARTHEST / 3.0 / max(float(np.abs(step).max(initial=0.0)), 1e-300))
        for _ in range(30):
            tried = best.copy()
            tried[free] += step
            found = _penalized(model, tried, ridge)
            if found[0] >= value - enough:
                break
            step = step / 2.0
        best, (value, slope, curve) = tried, found
        if gain <= enough:
            break
    return _Top(best, value, slope, curve)


def _errors(top: _Top) -> Floats:
    return np.asarray(np.sqrt(np.maximum(np.diag(np.linalg.inv(top.curve)), 0.0)))


def _by_sandwich(model: _Model, groups: NDArray[np.int64] | None, level: float) -> Regression:
    top = _maximized(model, np.zeros(model.design.shape[1]))
    best, bread = top.at, np.linalg.inv(top.curve)
    errors = np.sqrt(np.maximum(np.diag(bread @ _meat(model.scores(best), groups) @ bread), 0.0))
    low, high = _ends(best, errors, float(ndtri((1.0 + level) / 2.0)))
    beyond = np.abs(best) > FARTHEST  # separated: the sandwich knows nothing of the likelihood there
    low[beyond], high[beyond] = -np.inf, np.inf
    return Regression(best, errors, low, high)


def _meat(scores: Floats, groups: NDArray[np.int64] | None) -> Floats:
    """Return the sum over groups of outer products of their scores, corrected for few groups."""
    n, p = scores.shape
    n_groups = n
    if groups is not None:
        at = np.unique(groups, return_inverse=True)[1]
        n_groups = int(at.max()) + 1
        sums = np.zeros((n_groups, p))
        np.add.at(sums, at, scores)
        scores = sums
    few = n_groups / max(n_groups - 1, 1) * (n - 1) / max(n - p, 1)
    return np.asarray(few * (scores.T @ scores))


def _limit(model: _Model, top: _Top, j: int, side: float, level: float) -> float:
    """Return an end of the interval of a coefficient by the likelihood ratio; infinite if there is none."""
    best = top.at
    if side * best[j] >= FARTHEST:
        return float(side * np.inf)
    most = float(ndtri((1.0 + level) / 2.0)) ** 2
    separated = abs(float(best[j])) > FARTHEST
    last, free = top, np.flatnonzero(np.arange(len(best)) != j)

    def beyond(value: float) -> tuple[float, float]:
        """Return how far the likelihood ratio is beyond its limit, and how fast that grows with the coefficient.

        On a scale on which it is nearly a straight line.
        """
        nonlocal last
        # The others are where the curvature says that they move to.
        moved = np.linalg.solve(last.curve[free[:, np.newaxis], free], last.curve[free, j]) * (last.at[j] - value)
        start = last.at.copy()
        start[j] = value
        start[free] += moved * min(1.0, FARTHEST / 3.0 / max(float(np.abs(moved).max(initial=0.0)), 1e-300))
        last = _maximized(model, start, j, ROUGH)
        ratio, grows = max(2.0 * (top.value - last.value), 2.0 * ROUGH), -2.0 * float(last.slope[j])
        if separated:
            return float(np.log(ratio / most)), grows / ratio
        return float(np.sqrt(ratio) - np.sqrt(most)), grows / 2.0 / float(np.sqrt(ratio))

    near = float(np.clip(best[j], -FARTHEST, FARTHEST))  # on this side of the end; ``far`` is on the other
    here = near if separated else side * FARTHEST
    if side * near < 0.0 and not separated:  # far below 0 the likelihood of an estimate so unsure loses e times per 1
        here = near + side * float(np.log(most / 2.0 / ROUGH))
    far = side * np.inf
    for _ in range(40):
        over, grows = beyond(here)
        if abs(over) < 2.0 * ROUGH:
            break
        if over < 0:
            if side * here >= FARTHEST:
                return float(side * np.inf)
            near = here
        elif separated and here == near:
            return near  # the end is farther away than that
        else:
            far = here
        here = side * min(_nearer(near, far, here, over / grows if side * grows > 0.0 else np.inf, side), FARTHEST)
    return here


def _nearer(near: float, far: float, here: float, over: float, side: float) -> float:
    """Return the next guess, times ``side``, of an end between two points: Newton's, or else one by halves."""
    if side * near < side * (here - over) < side * far:
        return side * (here - over)
    return side * (near + far) / 2.0 if np.isfinite(far) else side * near + 4.0
