"""Positives that are labeled with known probabilities: shares of positives in cells (methods, section 13)."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from blankets.stats._cell_means import Cells, Fitted, Floats, RowScores, equal_means
from blankets.stats._estimate import divided
from blankets.stats._information import information, on_a_line

_LEAST = 1e-9
_MOST_DOF = 11.0  # more levels change nothing in κ


def weighted_scores(labeled: NDArray[np.bool_], propensity: Floats) -> RowScores:
    """Return the scores of positives that are labeled with known probabilities: 1/e for labeled rows, 0 for others."""
    inverse = 1.0 / np.asarray(propensity, float)
    score = np.where(labeled, inverse, 0.0)
    values = np.stack([np.ones(len(score)), score, score**2, inverse, inverse**2])
    whole = weighted_cells(values.sum(axis=1)[:, np.newaxis, np.newaxis])
    p = float(np.clip(whole.mean[0, 0], 1e-9, 1.0 - 1e-9))
    kappa = p * (1.0 - p) / (len(score) * max(float(whole.null_variance[0, 0]), 1e-300))
    every = np.ones(len(score), bool)
    worth = partial(_worth, kappa, p)
    return RowScores(values, weighted_cells, weighted_fitted, _expected_labels, every, worth, p)


def _worth(kappa: float, positives: float, dof: float, effect: float) -> float:
    """Return κ for an effect, methods (13.9): the statistic is Pearson's, and nats are half of it in the limit only."""
    if np.isnan(effect) or not 0.0 < positives < 1.0:
        return kappa
    levels = int(min(dof, _MOST_DOF)) + 1
    shares, reached = on_a_line(np.full((1, 1), effect), np.full((1, 1), positives), levels)
    return kappa * float(divided(information(np.moveaxis(shares, 1, 0), "squared"), reached[0])[0])


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
    """Draw sums under independence.

    In each cell labeled rows of one weight a = Σ 1/e² / Σ 1/e, Poisson in number, stand for the rows of many weights:
    Σ w then has the right mean and variance, and nearly the right skewness.
    """
    total, w, squares, inverse, second = sums
    ratio = divided(squares.sum(axis=-1), inverse.sum(axis=-1))[..., np.newaxis]
    mean = divided(w.sum(axis=-1), total.sum(axis=-1))[..., np.newaxis] * total
    weight = divided(second, inverse)
    expected = divided(_null_spread(sums), weight**2)
    more = rng.poisson(expected, (n_draws, *expected.shape)) - expected
    drawn = (mean + weight * more, np.maximum(ratio * inverse + weight**2 * more, _LEAST * inverse))
    return np.stack(np.broadcast_arrays(total, *drawn, inverse, second))
