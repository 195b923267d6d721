"""Consistent estimates of I(X;Y|Z) if most labels are missing (methods, section 4).

A *label table* has shape (..., strata, 3, levels of x); its middle axis is negative, positive, unlabeled
(the target as it was recorded, with "unlabeled" as a third level). It has all that these estimators need:
p̂(x, z) from all rows, and the labeled cells.

====================  ==========================================  =========================
estimator             assumes of labeling                        also needs
====================  ==========================================  =========================
`mcar_information`    depends on nothing                          labels of both classes
`mar_f_information`   depends on x (and z) alone                  labels of both classes
`ss_information`      depends on the class alone                  both classes, p(y=1)
`pos_information`     depends on the class alone                  labeled positives, p(y=1)
`neg_information`     depends on the class alone                  labeled negatives, p(y=1)
====================  ==========================================  =========================

Notation: P = p̂(x,z) of all rows; n_y = p̂(x,z,y,s=1); r_y = n_y / Σ n_y = p̂(x,z|y,s=1); t_y = n_y / Σ_y n_y
= p̂(y|x,z,s=1). Each estimator's φ, the derivative for its variance, is in its Notes.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from blankets.errors import ParameterError
from blankets.stats._estimate import InformationEstimate, divided
from blankets.stats._information import (
    Loss,
    as_tables,
    checked_loss,
    delta_variance,
    derivative,
    information,
    log_of_ratio,
    plug_in,
    seen_dof_by_stratum,
)
from blankets.stats._level_law import LevelLaw
from blankets.stats._scored_estimate import (
    CELLS,
    IMPOSSIBLE,
    NEGATIVE,
    POSITIVE,
    UNLABELED,
    frequencies,
    one_law,
    pooled,
    scored_information,
)

Floats = NDArray[np.float64]
Sampling = Literal["one-sample", "case-control"]

_ONE_CLASS = {POSITIVE: "Pos (labeled positives with the prior)", NEGATIVE: "Neg (labeled negatives with the prior)"}


def mcar_information(counts: ArrayLike) -> InformationEstimate:
    """Estimate I(X;Y|Z) if labels are missing completely at random, methods (4.4).

    Σ P t_y ln(p̂(x|y,z,s=1) / p̂(x|z)). Levels of x without a labeled row are left out and flagged; the
    estimate can be negative (errata D4).

    ``counts``, of shape (..., strata, 3, levels of x): label tables: negative, positive, unlabeled. With three axes the
    first is that of the strata, so that n tables without strata have shape (n, 1, 3, levels of x).

    Notes
    -----
    With R_y the logarithm above and l = Σ_y n_y, φ = Σ_y t_y R_y for an unlabeled row, and for a labeled
    one of class y this plus (P/l)(R_y - Σ t R) + P/l - Σ_x P t_y / Σ_x n_y. Near independence the estimate
    is no chi-square but a difference of two (it trades bias for spread, errata D5): the information of the labeled
    rows less that between their x and the x of all rows. So the interval is that of the labeled rows, which is also
    the narrower one in small samples.

    Examples
    --------
    >>> table = [[20, 20], [10, 30], [100, 140]]
    >>> estimate = mcar_information(table)
    >>> float(estimate.value.round(6)), float(estimate.standard_error.round(6))
    (0.032901, 0.029994)
    """
    tables, n_rows, p = frequencies(counts)
    labeled, everyone = p[..., :UNLABELED, :], p.sum(axis=-2, keepdims=True)
    l = labeled.sum(axis=-2, keepdims=True)
    t = divided(labeled, l)
    in_class = labeled.sum(axis=-1, keepdims=True)
    x_given_z = divided(everyone, everyone.sum(axis=-1, keepdims=True))
    r = log_of_ratio(divided(labeled, in_class), x_given_z)
    value = (everyone * t * r).sum(axis=CELLS)

    mean = (t * r).sum(axis=-2, keepdims=True)
    inflation = divided(everyone, l)
    q_y = (everyone * t).sum(axis=-1, keepdims=True)
    phi = np.concatenate([mean + inflation * (r - mean) + inflation - divided(q_y, in_class), mean], axis=-2)
    rows = plug_in(tables[..., :UNLABELED, :])
    return InformationEstimate(
        value=np.where(rows.scale > 0, value, np.nan),
        variance=delta_variance(p, phi, n_rows),
        statistic=rows.statistic,
        dof=rows.dof,
        scale=rows.scale,
        repaired=_without_label(l, everyone),
        estimator="MCAR (labeled rows, x from all rows)",
        law_variance=rows.variance,
    )


def mar_f_information(counts: ArrayLike, *, loss: Loss = "log") -> InformationEstimate:
    """Estimate I(X;Y|Z) if labeling depends only on x and z, methods (4.5), or on drivers w as well, methods (4.17).

    The information of q(x,y,z) = Σ_w p(x,w,z) p(y|x,w,z,s=1). Where a level of x has no labeled row at one w, the
    labeled rows with this w stand in; where these are none, all labeled rows of the level. Levels of x without any are
    left out, the others renormalized, and the estimate flagged (errata D4).

    ``counts``, of shape (..., strata, 3 K, levels of x): label tables: negative, positive, unlabeled, each at the K
    values of the drivers. ``loss``: Shannon's information or the squared-loss one.

    Notes
    -----
    With L_y = ∂I/∂q_y, φ = Σ_y t_y L_y for an unlabeled row, and for a labeled one of class y this plus
    (P/l)(L_y - Σ t L), all at the row's x and w. Near independence the estimate is a sum of chi-squares with weights,
    methods (4.11); the one chi-square with its mean and variance stands for it; intervals have the law of methods
    (4.13), in which a level's share is that of as many rows as have its variance.

    Examples
    --------
    >>> table = [[20, 20], [10, 30], [100, 140]]
    >>> float(mar_f_information(table).value.round(6))
    0.034824

    x and y are independent; rows in which they are equal (w = 1) are labeled nine times as often.

    >>> equal, other = np.diag([90, 90]), np.diag([10, 10])[::-1]
    >>> counts = np.stack([other, equal], axis=1).reshape(4, 2)  # negative, positive; each at w = 0, 1
    >>> counts = np.concatenate([counts, [[90, 90], [10, 10]]])  # unlabeled
    >>> float(mar_f_information(counts).value.round(6))
    0.0
    """
    checked_loss(loss)
    tables = as_tables(counts)
    n_rows = tables.sum(axis=CELLS)
    p = divided(tables, n_rows[..., None, None, None])
    p = p.reshape(*p.shape[:-2], 3, -1, p.shape[-1])  # (..., strata, labels, values of w, levels of x)
    labeled, everyone = p[..., :UNLABELED, :, :], p.sum(axis=-3, keepdims=True)
    l = labeled.sum(axis=-3, keepdims=True)
    t = divided(labeled, l)
    for over in (-1, -2):  # all levels of x at this w; all w at this level of x
        wider = labeled.sum(axis=over, keepdims=True)
        wider = divided(wider, wider.sum(axis=-3, keepdims=True))
        t = np.where(t.sum(axis=-3, keepdims=True) > 0, t, wider)
    rows_of_x = l.sum(axis=-2, keepdims=True) * n_rows[..., None, None, None, None]
    kept = np.where(rows_of_x > 0, everyone, 0.0)
    kept = divided(kept, kept.sum(axis=(-4, -3, -2, -1), keepdims=True))
    q = (kept * t).sum(axis=-2)
    value, slope = information(q, loss), derivative(q, loss)[..., np.newaxis, :]
    mean = (t * slope).sum(axis=-3, keepdims=True)
    phi = np.concatenate([mean + divided(kept, l) * (slope - mean), np.broadcast_to(mean, l.shape)], axis=-3)
    masses = np.concatenate([labeled, kept - l], axis=-3)
    flat = (*tables.shape[:-3], -1, 1, 1)
    of_x = kept[..., 0, :, :].sum(axis=-2)
    share = divided(q[..., POSITIVE, :], of_x)
    ends = np.zeros_like(n_rows), np.ones_like(n_rows)
    rows = _rows_behind(kept, l, t, share, rows_of_x[..., 0, 0, :], n_rows)
    law = LevelLaw(of_x, share, rows, ends, n_rows, loss)
    scale, freedom = one_law(*law.null_sums())
    return InformationEstimate(
        value=np.where(l.sum(axis=(-4, -3, -2, -1)) > 0, value, np.nan),
        variance=delta_variance(masses.reshape(flat), phi.reshape(flat), n_rows),
        statistic=divided(value, scale),
        dof=freedom,
        scale=scale,
        repaired=((l == 0) & (everyone > 0)).any(axis=(-4, -3, -2, -1)),
        estimator="MAR-F (labeled rows weighted by x" + (" and what drives labeling)" if l.shape[-2] > 1 else ")"),
        curve=law.curves(value, freedom > 0),
    )


def _rows_behind(kept: Floats, l: Floats, t: Floats, share: Floats, rows_of_x: Floats, n_rows: Floats) -> Floats:
    """Return for each level of x of how many labeled rows its share of positives has the variance, methods (4.18).

    Within each w the share is that of its labeled rows, with one row more that has the share of the level: where few
    rows all have one class, their own share would say that there is no variance. And w itself is drawn.
    """
    n = n_rows[..., None, None, None]
    if l.shape[-2] == 1:
        return rows_of_x
    w_of_x = divided(kept, kept.sum(axis=-2, keepdims=True))[..., 0, :, :]
    behind, level = l[..., 0, :, :] * n, share[..., np.newaxis, :]
    one_more = (t[..., POSITIVE, :, :] * behind + level) / (behind + 1.0)
    within = (w_of_x**2 * one_more * (1.0 - one_more) / np.maximum(behind, 1.0)).sum(axis=-2)
    between = (w_of_x * (t[..., POSITIVE, :, :] - level) ** 2).sum(axis=-2)
    variance = within + divided(between, kept.sum(axis=(-3, -2)) * n[..., 0])
    mixed = (share > 0) & (share < 1) & (rows_of_x > 0)
    return np.where(mixed, divided(share * (1.0 - share), np.where(mixed, variance, 1.0)), rows_of_x)


def behind_mar_f(counts: ArrayLike) -> tuple[int, int] | None:
    """Return the level of x that tells more than half of the MAR-F estimate of one table, and its labeled rows.

    None if no level of a stratum tells as much. Intervals that rest on fewer than ten rows cover too seldom.

    >>> behind_mar_f([[2, 60, 55], [5, 30, 28], [90, 100, 110]])
    (0, 7)
    """
    tables = as_tables(counts)
    tables = tables.reshape(*tables.shape[:-2], 3, -1, tables.shape[-1]).sum(axis=-2)
    p = tables / max(tables.sum(), 1.0)
    labeled = tables[..., :UNLABELED, :]
    rows = labeled.sum(axis=-2)
    share, everyone = divided(labeled[..., POSITIVE, :], rows), p.sum(axis=-2) * (rows > 0)
    whole = divided((everyone * share).sum(axis=-1), everyone.sum(axis=-1))[..., np.newaxis]
    told = everyone * (log_of_ratio(share, whole) * share + log_of_ratio(1.0 - share, 1.0 - whole) * (1.0 - share))
    at = int(told.argmax())
    if not told.flat[at] > 0.5 * told.sum():
        return None
    return at % rows.shape[-1], int(rows.flat[at])


def ss_information(counts: ArrayLike, prior: ArrayLike) -> InformationEstimate:
    """Estimate I(X;Y|Z) if labeling depends only on the class, from both classes, methods (4.6).

    Σ p(y) r_y ln(p̂(x|y,z,s=1) / p̂(x|z)).

    ``counts``, of shape (..., strata, 3, levels of x): label tables: negative, positive, unlabeled. ``prior``: p(y=1),
    one for all or one for each table of the batch.

    Notes
    -----
    With R_y the logarithm above, φ = Σ_y p(y) (r_y(z)/P(z) - r_y/P) for an unlabeled row, and for a
    labeled one of class y this plus (p(y) / n_y)(R_y - Σ r_y R_y). Near independence it is a sum of
    chi-squares of two scales, methods (4.12); the one chi-square with its mean and variance stands for it.

    Examples
    --------
    >>> table = [[20, 20], [10, 30], [100, 140]]
    >>> float(ss_information(table, prior=0.4).value.round(6))
    0.03227
    """
    tables, n_rows, p = frequencies(counts)
    positive = _checked_prior(prior)
    weight = np.concatenate([1.0 - positive, positive], axis=-2)
    labeled, everyone = p[..., :UNLABELED, :], p.sum(axis=-2, keepdims=True)
    in_class = labeled.sum(axis=(-3, -1), keepdims=True)
    r = divided(labeled, in_class)
    r_z, p_z = r.sum(axis=-1, keepdims=True), everyone.sum(axis=-1, keepdims=True)
    ratio = log_of_ratio(divided(r, r_z), divided(everyone, p_z))
    value = (weight * r * ratio).sum(axis=CELLS)

    shared = (weight * (divided(r_z, p_z) - divided(r, everyone))).sum(axis=-2, keepdims=True)
    centered = ratio - (r * ratio).sum(axis=(-3, -1), keepdims=True)
    phi = np.concatenate([shared + divided(weight, in_class) * centered, shared], axis=-2)

    scale, dof = _scale_of_both(tables, weight * r_z)
    return InformationEstimate(
        value=np.where((in_class > 0).all(axis=CELLS), value, np.nan),
        variance=delta_variance(p, phi, n_rows),
        statistic=divided(value, scale),
        dof=dof,
        scale=scale,
        estimator="SS (both labeled classes with the prior)",
    )


def _scale_of_both(tables: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Return scale and degrees of freedom of methods (4.6) near independence, methods (4.12).

    In a stratum r₀ - P̂ and r₁ - P̂ have the variances P (1/n_y - 1/N) and, as both are compared with the same P̂, the
    covariance -P/N. ``weight``: p(y) r_y(z), shape (..., strata, 2, 1).
    """
    labeled, everyone = tables[..., :UNLABELED, :], tables.sum(axis=-2)
    free = np.maximum((everyone > 0).sum(axis=-1) - 1.0, 0.0)
    one = np.ones(())
    share = weight[..., 0]
    rest = divided(one, everyone.sum(axis=-1))[..., np.newaxis]
    spread = np.maximum(divided(one, labeled.sum(axis=-1)) - rest, 0.0) * (labeled.sum(axis=-1) > 0)
    first = (0.5 * share * spread).sum(axis=-1)
    second = ((0.5 * share * spread) ** 2).sum(axis=-1) + 0.5 * share.prod(axis=-1) * rest[..., 0] ** 2
    return one_law((first * free).sum(axis=-1), (second * free).sum(axis=-1))


def pos_information(
    counts: ArrayLike, prior: ArrayLike, *, sampling: Sampling = "one-sample", loss: Loss = "log"
) -> InformationEstimate:
    """Estimate I(X;Y|Z) from labeled positives and p(y=1), methods (4.7); the estimator of positive-unlabeled data.

    The information of q₁ = p(y=1) r₁ and q₀ = P - q₁. Cells of q₀ below 0 are clipped, the others
    renormalized to p(y=0), and the estimate flagged; it has no delta-method variance then (errata D3).

    ``counts``, of shape (..., strata, 3, levels of x): label tables: negative (not used except for p̂(x)), positive,
    unlabeled. ``prior``: p(y=1), one for all or one for each table of the batch. ``sampling``: whether the labeled rows
    are part of the sample, or positives collected separately from a background sample; then p̂(x) comes from the
    unlabeled rows only. ``loss``: Shannon's information or the squared-loss one. The latter is exactly Î₂(X;Ỹ0) / κ
    without a conditioning set.

    Notes
    -----
    With L_y = ∂I/∂q_y, D = L₁ - L₀ and a the labeled share, φ = L₀ for other rows and
    L₀ + (p₁/a)(D - Σ r D) for labeled positives, methods (4.9).
    In case-control sampling the two samples are independent: Var = Var_P(L₀) / n₀ + p₁² Var_r(D) / n₁.

    Examples
    --------
    >>> table = [[0, 0], [10, 30], [120, 160]]
    >>> estimate = pos_information(table, prior=0.3)
    >>> float(estimate.value.round(6)), float(estimate.standard_error.round(6))
    (0.022566, 0.019381)
    """
    if sampling not in ("one-sample", "case-control"):
        raise ParameterError.not_one_of("sampling", sampling, ("one-sample", "case-control"))
    if sampling == "case-control":
        return _collected_apart(counts, _checked_prior(prior), loss)
    return _one_class(counts, _checked_prior(prior), POSITIVE, loss)


def neg_information(counts: ArrayLike, prior: ArrayLike, *, loss: Loss = "log") -> InformationEstimate:
    """Estimate I(X;Y|Z) from labeled negatives and p(y=1), methods (4.7): `pos_information` with classes exchanged.

    ``counts``, of shape (..., strata, 3, levels of x): label tables: negative, positive (not used except for p̂(x)),
    unlabeled. ``prior``: p(y=1), one for all or one for each table of the batch. ``loss``: Shannon's information or the
    squared-loss one.

    Examples
    --------
    >>> mirrored = [[10, 30], [0, 0], [120, 160]]
    >>> float(neg_information(mirrored, prior=0.7).value.round(6))
    0.022566
    """
    return _one_class(counts, 1.0 - _checked_prior(prior), NEGATIVE, loss)


def _one_class(counts: ArrayLike, share: Floats, known: int, loss: Loss) -> InformationEstimate:
    """Return the estimate from one labeled class, ``known``, whose prior is ``share``: a row of it counts share / a."""
    _, _, p = frequencies(counts)
    a = p[..., known, :].sum(axis=(-2, -1))
    each = divided(share[..., 0, 0, 0], a)
    score, slope = np.zeros((*each.shape, 3)), np.zeros((*each.shape, 3, 3))
    score[..., known], slope[..., known, known] = each, -divided(each, a)
    if known == NEGATIVE:
        score, slope = 1.0 - score, -slope
    return scored_information(counts, score, slope, loss=loss, estimator=_ONE_CLASS[known])


def _collected_apart(counts: ArrayLike, share: Floats, loss: Loss) -> InformationEstimate:
    """Return the estimate from positives that were collected separately: p̂(x) comes from the unlabeled rows only.

    Within a stratum the estimate is ½ π/(1-π) Σ (r - P)²/P near independence, and r - P has the variance
    P (1/n₁ + 1/n₀).
    """
    checked_loss(loss)
    tables, _, _ = frequencies(counts)
    labeled, others = tables[..., POSITIVE : POSITIVE + 1, :], tables[..., UNLABELED:, :]
    n_labeled, n_others = labeled.sum(axis=CELLS), others.sum(axis=CELLS)
    big_p = divided(others, n_others[..., None, None, None])
    r = divided(labeled, n_labeled[..., None, None, None])
    rest = big_p - share * r
    repaired = ((rest < 0) | ((rest == 0) & (others > 0))).any(axis=CELLS)
    clipped = np.maximum(rest, 0.0)
    clipped = clipped * divided(1.0 - share, clipped.sum(axis=CELLS, keepdims=True))
    q = np.concatenate([np.where(repaired[..., None, None, None], clipped, rest), share * r], axis=-2)
    derived, value = derivative(q, loss), information(q, loss)
    contrast = derived[..., 1:, :] - derived[..., :1, :]
    variance = delta_variance(big_p, derived[..., :1, :], n_others) + delta_variance(r, share * contrast, n_labeled)

    n1, n0, q_z, one = labeled.sum(axis=(-2, -1)), others.sum(axis=(-2, -1)), q.sum(axis=-1), np.ones(())
    odds = divided(q_z[..., 1], q_z[..., 0])
    by_stratum = 0.5 * odds * (divided(one, n1) + divided(one, n0)) * q_z.sum(axis=-1)
    scale, dof = pooled(by_stratum, seen_dof_by_stratum(np.concatenate([others, labeled], axis=-2)))

    noise = divided(big_p * (1.0 - big_p), n_others[..., None, None, None])
    noise = noise + divided(share**2 * r * (1.0 - r), n_labeled[..., None, None, None])
    n_cells = np.maximum((big_p > 0).sum(axis=CELLS, keepdims=True), 1)
    usable = (n_labeled > 0) & (n_others > 0)
    return InformationEstimate(
        value=np.where(usable, value, np.nan),
        variance=np.where(repaired | ~usable, np.nan, variance),
        statistic=divided(value, scale),
        dof=dof,
        scale=scale,
        repaired=repaired,
        contradicts_prior=np.asarray((rest < ndtri(IMPOSSIBLE / n_cells) * np.sqrt(noise)).any(axis=CELLS)),
        estimator=_ONE_CLASS[POSITIVE],
    )


def _checked_prior(prior: ArrayLike) -> Floats:
    """Return p(y=1) in a shape that broadcasts with tables."""
    value = np.asarray(prior, float)
    if not np.all((value > 0) & (value < 1)):
        raise ParameterError.out_of_range("prior", prior, "a probability between 0 and 1, both excluded")
    return value[..., None, None, None]


def _without_label(l: Floats, everyone: Floats) -> NDArray[np.bool_]:
    """Tell whether some level of x occurs only in unlabeled rows."""
    return np.asarray(((l == 0) & (everyone > 0)).any(axis=CELLS))
