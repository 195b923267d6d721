"""An estimate of I(X;Y|Z) from scores of labels, and what estimates from label tables share."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from blankets.stats._estimate import InformationEstimate, divided
from blankets.stats._information import (
    Loss,
    as_tables,
    checked_loss,
    delta_variance,
    derivative,
    information,
)
from blankets.stats._level_law import LevelLaw, pivot_of, two_values

NEGATIVE, POSITIVE, UNLABELED = 0, 1, 2
CELLS = (-3, -2, -1)
_FEW = 20.0  # expected rows of a kind in a level below which laws of few rows are used
IMPOSSIBLE = 0.001  # with a smaller p-value a negative cell contradicts the prior

Floats = NDArray[np.float64]


def scored_information(
    counts: ArrayLike,
    score: ArrayLike,
    slope: ArrayLike = 0.0,
    *,
    loss: Loss = "log",
    estimator: str = "scores of labels",
) -> InformationEstimate:
    """Estimate I(X;Y|Z) from a score w of labels with E[w | y] = y: the information of q₁ = Σ w p̂, methods (14.3).

    Cells of q₁ or q₀ = P - q₁ below 0 are clipped, the others of the class renormalized, and the estimate flagged; it
    has no delta-method variance then (errata D3).

    ``counts``, of shape (..., strata, 3, levels of x): label tables: negative, positive, unlabeled. ``score``, of shape
    (..., 3): w of each label. ``slope``, of shape (..., 3, 3): ∂w/∂(share of a label), if w was computed from the
    shares of labels in the sample. ``loss``: Shannon's information or the squared-loss one.

    Notes
    -----
    With L_y = ∂I/∂q_y and D = L₁ - L₀, φ = L₀ + w D + Σ_l (∂w_l/∂share) Σ p_l D, methods (14.4). Near independence the
    estimate is, in each stratum, a chi-square with the scale Var(w) / (2 n p(y=1) p(y=0)): 1/(2nκ).

    Examples
    --------
    Labels of which a tenth of the negatives and a fifth of the positives are wrong:

    >>> from blankets.stats import plug_in
    >>> table = [[60, 30], [25, 45], [0, 0]]
    >>> w = [(label - 0.1) / 0.7 for label in (0, 1)]
    >>> float(scored_information(table, [*w, 0]).value.round(4)), float(plug_in(table[:2]).value.round(4))
    (0.0984, 0.048)
    """
    checked_loss(loss)
    tables, n_rows, p = frequencies(counts)
    w, gradient = np.asarray(score, float), np.broadcast_to(np.asarray(slope, float), (*np.shape(score), 3))
    by_class = np.stack([1.0 - w, w], axis=-2)[..., np.newaxis, :, :]  # (..., 1, class, label)
    q, size = by_class @ p, np.abs(by_class) @ p
    bad = (q < 0) | ((q == 0) & (size > 0))
    repaired = bad.any(axis=CELLS)
    clipped = np.maximum(q, 0.0)
    total = np.maximum(q.sum(axis=(-3, -1), keepdims=True), 0.0)
    clipped = clipped * divided(total, clipped.sum(axis=(-3, -1), keepdims=True))
    whole = np.where(repaired[..., None, None, None], clipped, q)

    derived, value = derivative(whole, loss), information(whole, loss)
    contrast = derived[..., 1:, :] - derived[..., :1, :]
    moved = (p * contrast).sum(axis=(-3, -1))[..., np.newaxis, :] @ gradient  # of each share of a label
    phi = derived[..., :1, :] + w[..., np.newaxis, :, np.newaxis] * contrast
    phi = phi + np.swapaxes(moved, -1, -2)[..., np.newaxis, :, :]
    scale, dof = _scored_scale(tables, p, whole, w)
    shares, everyone = p.sum(axis=(-3, -1)), p.sum(axis=-2)
    usable = _varies(shares, w)
    share = divided(q[..., 1, :], everyone)
    law = LevelLaw(
        everyone, share, tables.sum(axis=-2), two_values(shares, w), n_rows, loss, pivot_of(shares, w, gradient)
    )
    return InformationEstimate(
        value=np.where(usable, value, np.nan),
        variance=np.where(repaired | ~usable, np.nan, delta_variance(p, phi, n_rows)),
        statistic=divided(value, scale),
        dof=dof,
        scale=scale,
        repaired=repaired,
        contradicts_prior=_contradicted(q, p, by_class, gradient, n_rows),
        estimator=estimator,
        curve=law.curves(value, usable & (dof > 0) & law.is_small(_FEW)),
    )


def _varies(labels: Floats, w: Floats) -> NDArray[np.bool_]:
    """Tell whether labels of different scores were seen; ``labels``, of shape (..., 3): their shares."""
    seen = labels > 0
    return np.asarray(np.where(seen, w, -np.inf).max(axis=-1) > np.where(seen, w, np.inf).min(axis=-1))


def _scored_scale(tables: Floats, p: Floats, q: Floats, w: Floats) -> tuple[Floats, Floats]:
    """Return scale and degrees of freedom near independence: Var(w) / (2 n p(y=1|z) p(y=0|z)) by stratum, pooled."""
    labels, of_class = p.sum(axis=-1), q.sum(axis=-1)
    p_z, n_z = labels.sum(axis=-1), tables.sum(axis=(-2, -1))
    positive = divided(of_class[..., 1], of_class.sum(axis=-1))
    mean = divided((w[..., np.newaxis, :] * labels).sum(axis=-1), p_z)
    spread = divided((w[..., np.newaxis, :] ** 2 * labels).sum(axis=-1), p_z) - mean**2
    levels = (tables.sum(axis=-2) > 0).sum(axis=-1)
    dof = np.maximum(levels - 1.0, 0.0) * _varies(labels, w[..., np.newaxis, :])
    return pooled(0.5 * p_z * divided(divided(spread, positive * (1.0 - positive)), n_z), dof)


def _contradicted(q: Floats, p: Floats, by_class: Floats, gradient: Floats, n_rows: Floats) -> NDArray[np.bool_]:
    """Tell whether a cell of q is below 0 by more than chance (Bonferroni over the cells).

    A cell's φ is its weight of the label, 1 - w or w, in the cell itself, and everywhere the change of the weights with
    the shares of labels.
    """
    shares = p.sum(axis=(-3, -1))[..., np.newaxis, np.newaxis, :, np.newaxis]
    moved = np.swapaxes(gradient, -1, -2)[..., np.newaxis, :, :] @ p  # (..., z, share, x): of w
    noise = []
    for k, sign in enumerate((-1.0, 1.0)):
        weight, along = by_class[..., k, :, np.newaxis], sign * moved
        squares = (p * (weight**2 + 2.0 * weight * along)).sum(axis=-2) + (shares[..., 0, :, :] * along**2).sum(axis=-2)
        mean = (p * weight).sum(axis=-2) + (shares[..., 0, :, :] * along).sum(axis=-2)
        noise.append(divided(np.maximum(squares - mean**2, 0.0), n_rows[..., None, None]))
    n_cells = np.maximum((p.sum(axis=-2, keepdims=True) > 0).sum(axis=CELLS, keepdims=True), 1)
    return np.asarray((q < ndtri(IMPOSSIBLE / n_cells) * np.sqrt(np.stack(noise, axis=-2))).any(axis=CELLS))


def pooled(weights: Floats, dof: Floats) -> tuple[Floats, Floats]:
    """Return scale and dof of the one chi-square that has the mean and variance of a sum of scaled ones."""
    return one_law((weights * dof).sum(axis=-1), (weights**2 * dof).sum(axis=-1))


def one_law(first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Return scale and dof of the chi-square whose mean is ``first`` and whose variance is twice ``second``."""
    return divided(second, first), divided(first**2, second)


def frequencies(counts: ArrayLike) -> tuple[Floats, Floats, Floats]:
    """Return label tables, their numbers of rows and their frequencies."""
    tables = as_tables(counts, n_y=3)
    n_rows = tables.sum(axis=CELLS)
    return tables, n_rows, divided(tables, n_rows[..., None, None, None])
