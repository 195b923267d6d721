"""Positives that are labeled with known probabilities: shares of positives in cells (methods, section 13)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from blankets.stats._cell_means import Cells, Fitted, Floats, RowScores, critical_value, equal_means, log_p_among
from blankets.stats._estimate import divided
from blankets.stats._special import chi2_isf

_LEAST = 1e-9
_EVERY = 5  # levels of which all sets may be what stands out; of more, single levels and all but one
_ENDS, _DRAWS, _UNDER = 3, 4000, 20_000  # shapes drawn at each end, tables of each, and tables without any effect


def weighted_scores(labeled: NDArray[np.bool_], propensity: Floats) -> RowScores:
    """Return the scores of positives that are labeled with known probabilities: 1/e for labeled rows, 0 for others."""
    inverse = 1.0 / np.asarray(propensity, float)
    score = np.where(labeled, inverse, 0.0)
    values = np.stack([np.ones(len(score)), score, score**2, inverse, inverse**2])
    whole = weighted_cells(values.sum(axis=1)[:, np.newaxis, np.newaxis])
    p = float(np.clip(whole.mean[0, 0], 1e-9, 1.0 - 1e-9))
    kappa = p * (1.0 - p) / (len(score) * max(float(whole.null_variance[0, 0]), 1e-300))
    every = np.ones(len(score), bool)
    return RowScores(values, weighted_cells, weighted_fitted, _expected_labels, every, lambda dof, effect: kappa, p)


def weighted_cells(sums: Floats) -> Cells:
    """Return shares of positives from labels with known propensities e, methods (13.3) and (13.4).

    m = Σ w / n with w = 1/e for labeled rows and 0 for others (Bekker, Robberts & Davis 2019). Under independence its
    variance is (R Σ 1/e - n m_z²) / n², with R = Σ w² / Σ 1/e of the stratum: the share of positives among rows
    weighted by 1/e. All rows, labeled or not, tell of Σ 1/e, so that it does not depend on a few labels.

    ``sums``, of shape (5, ..., strata, levels of x): rows, w, w², 1/e, 1/e².
    """
    total, w, squares = sums[:3]
    mean = divided(w, total)
    own = divided(np.maximum(squares - total * mean**2, 0.0), total**2)
    return Cells(total, mean, own, divided(_null_spread(sums), total**2), total > 0)


def _null_spread(sums: Floats) -> Floats:
    """Return the variance of Σ w under independence."""
    total, w, squares, inverse = sums[:4]
    pooled = divided(w.sum(axis=-1), total.sum(axis=-1))[..., np.newaxis]
    ratio = divided(squares.sum(axis=-1), inverse.sum(axis=-1))[..., np.newaxis]
    return np.asarray(np.maximum(ratio * inverse - total * pooled**2, 0.0))


def _expected_labels(sums: Floats) -> Floats:
    """Return how many labels of equal weight a cell has on average under independence."""
    total, w, squares = sums[:3]
    worth = divided(w.sum(axis=-1) ** 2, squares.sum(axis=-1))[..., np.newaxis]
    return np.asarray(worth * divided(total, total.sum(axis=-1, keepdims=True)))


def weighted_fitted(sums: Floats) -> Fitted:
    """Return the statistic of equal means, and sums that are drawn under independence, methods (13.5)."""
    statistic, dof = equal_means(weighted_cells(sums))
    return Fitted(statistic, dof, np.ones_like(statistic), partial(_null_sums, sums))


def _null_sums(sums: Floats, rng: np.random.RandomState, n_draws: int) -> Floats:
    """Draw sums under independence."""
    pooled = divided(sums[1].sum(axis=-1), sums[0].sum(axis=-1))[..., np.newaxis]
    return _sums_with(sums, pooled, rng, n_draws)


def _sums_with(sums: Floats, positives: Floats, rng: np.random.RandomState, n_draws: int) -> Floats:
    """Draw sums for shares of positives, methods (13.5).

    In each cell labeled rows of one weight a = Σ 1/e² / Σ 1/e, Poisson in number, stand for the rows of many weights:
    Σ w then has the right mean and variance, and nearly the right skewness.
    """
    total, _, _, inverse, second = sums
    mean, ratio = positives * total, positives * _of_weights(sums)
    weight = divided(second, inverse)
    expected = divided(np.maximum(ratio * inverse - total * positives**2, 0.0), weight**2)
    more = rng.poisson(expected, (n_draws, *expected.shape)) - expected
    drawn = (mean + weight * more, np.maximum(ratio * inverse + weight**2 * more, _LEAST * inverse))
    return np.stack(np.broadcast_arrays(total, *drawn, inverse, second))


def _of_weights(sums: Floats) -> Floats:
    """Return by how much a stratum's share of positives is larger among rows weighted by 1/e than among all."""
    total, w, squares, inverse = (part.sum(axis=-1)[..., np.newaxis] for part in sums[:4])
    return divided(divided(squares, inverse), divided(w, total))


def weighted_powers(sums: Floats, effect: float, alpha: float) -> tuple[float, float]:
    """Return the power of the test for effects of the shapes that are the hardest and the easiest to find, (13.9).

    In each stratum some levels of x have one share of positives and the others another one. ``sums``: those of the
    test, of shape (5, strata, levels); the frequencies of levels are those that they have. ``effect``: nats. NaN if no
    shape has so large an effect.

    Examples
    --------
    Half of 4,000 rows have each of two levels, 20% are positive, and half of these are labeled.

    >>> sums = np.array([2000.0, 400.0, 800.0, 4000.0, 8000.0])[:, np.newaxis, np.newaxis] * np.ones((5, 1, 2))
    >>> least, greatest = weighted_powers(sums, 0.005, 0.01)
    >>> bool(0.85 < least <= greatest < 0.95)
    True
    """
    sums = sums[..., sums[0].any(axis=0)]
    rng, dof = np.random.RandomState(0), float(weighted_fitted(sums).dof)
    shapes = [found for chosen in _standing_out(sums.shape[-1]) if (found := _shaped(sums, chosen, effect)) is not None]
    if not shapes or not dof:
        return math.nan, math.nan
    shapes.sort(key=lambda positives: _ease(sums, positives, dof, alpha))
    under = weighted_fitted(_null_sums(sums, rng, _UNDER)).statistic
    critical = critical_value(partial(log_p_among, dof=dof, drawn=under), alpha, under)
    ends = [*shapes[:_ENDS], *shapes[_ENDS:][-_ENDS:]]
    drawn = (weighted_fitted(_sums_with(sums, shape, rng, _DRAWS)).statistic for shape in ends)
    powers = [float(np.mean(statistic >= critical)) for statistic in drawn]
    return min(powers), max(powers)


def _standing_out(levels: int) -> Iterator[list[int]]:
    """Yield sets of levels."""
    sizes = range(1, levels) if levels <= _EVERY else (1, levels - 1)
    yield from (list(chosen) for size in sizes for chosen in combinations(range(levels), size))


def _shaped(sums: Floats, chosen: list[int], effect: float) -> Floats | None:
    """Return shares of positives, of shape (strata, levels), of which some levels have larger ones; None if none do."""
    total, w = sums[:2]
    rows = total.sum(axis=-1, keepdims=True)
    p = np.clip(divided(w.sum(axis=-1, keepdims=True), rows), _LEAST, 1.0 - _LEAST)
    part = divided(total[:, chosen].sum(axis=-1, keepdims=True), rows)
    step = np.where(np.isin(np.arange(total.shape[-1]), chosen), 1.0 - part, -part)
    most = np.where((part > 0.0) & (part < 1.0), np.minimum(divided(1.0 - p, 1.0 - part), divided(p, part)), 0.0)

    def nats(size: float) -> float:
        q = np.clip(p + size * most * step, _LEAST, 1.0 - _LEAST)
        return float((total * (q * np.log(q / p) + (1.0 - q) * np.log((1.0 - q) / (1.0 - p)))).sum() / total.sum())

    low, high = 0.0, 1.0
    if nats(high) < effect:
        return None
    for _ in range(40):
        middle = (low + high) / 2.0
        low, high = (middle, high) if nats(middle) < effect else (low, middle)
    return np.asarray(p + high * most * step)


def _ease(sums: Floats, positives: Floats, dof: float, alpha: float) -> float:
    """Return how far the mean of the statistic is above what it must exceed, in standard deviations, nearly."""
    total, w, _, inverse = sums[:4]
    p = divided(w.sum(axis=-1, keepdims=True), total.sum(axis=-1, keepdims=True))
    spread = positives * _of_weights(sums) * inverse - total * positives**2
    ratio = divided(spread, _null_spread(sums))
    away = divided(((positives - p) * total) ** 2, _null_spread(sums))
    mean, variance = float((away + ratio).sum()), float((2.0 * ratio**2 + 4.0 * ratio * away).sum())
    return (mean - float(chi2_isf(alpha, dof))) / math.sqrt(max(variance, _LEAST))
