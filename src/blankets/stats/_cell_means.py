"""Tests and information from the share of positives in each cell (z, x), known with some variance.

Where labels are more than counts (a machine's labels beside a few gold ones, labels with known propensities), what is
known is, in each cell, an unbiased estimate m of p(y=1 | x, z) and its variance. Independence given z means that the
means of a stratum are equal. The test compares them with the variance that they would then have (methods, section 14):

    T = Σ_z Σ_x (m_xz - m_z)² / v⁰_xz  ~  χ², one degree of freedom less than cells in each stratum,

which is near Pearson's X² where m is a share of counted rows, v⁰ = m_z (1 - m_z) / n. The information is that of
q₁ = p(x,z) m and q₀ = p(x,z) (1 - m), with p(x,z) from all rows.

`RowScores` holds what is summed over the rows of a cell, and how the sums become means and variances.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from blankets.stats._clusters import log_f_sf
from blankets.stats._estimate import InformationEstimate, divided
from blankets.stats._information import Loss, checked_loss, derivative, information
from blankets.stats._tail import log_p_of

Floats = NDArray[np.float64]

_CELLS = (-2, -1)
# Gold rows that a cell borrows from the others for its variance: 5 of 0, 5, 10, 20, 50 came nearest to the level in
# simulated tables (benchmarks/labels.py, size).
_SHARED = 5.0


class Cells(NamedTuple):
    """What is known of each cell; all arrays have shape (..., strata, levels of x)."""

    rows: Floats  # rows, labeled or not
    mean: Floats  # m, the estimated share of positives
    variance: Floats  # of m
    null_variance: Floats  # of m, if x is independent of y given z
    known: NDArray[np.bool_]  # whether there is a mean
    freedom: Floats  # degrees of freedom of the variance


@dataclass(frozen=True, slots=True, eq=False)
class RowScores:
    """Numbers of each row, whose sums over a cell tell the share of positives in it."""

    values: Floats  # (sums, rows)
    from_sums: Callable[[Floats], Cells]  # of arrays of shape (sums, ..., strata, levels of x)
    informative: NDArray[np.bool_]  # (rows,): rows that say something of the class by themselves
    kappa: float  # each row counts as much as κ rows with full labels, without a conditioning set
    positives: float  # estimated p(y=1)

    def take(self, rows: NDArray[np.int64]) -> RowScores:
        """Return the scores of some rows."""
        return replace(self, values=self.values[:, rows], informative=self.informative[rows])

    def cells(self, x: NDArray[np.int64], strata: NDArray[np.int64], rows: NDArray[np.bool_]) -> Cells:
        """Return what is known of the cells of a column within strata, from some of the rows."""
        levels, n_strata = int(x.max(initial=0)) + 1, int(strata.max(initial=0)) + 1
        cell = (strata * levels + x)[rows]
        sums = np.array([np.bincount(cell, row[rows], n_strata * levels) for row in self.values], float)
        return self.from_sums(sums.reshape(len(sums), n_strata, levels))


def machine_scores(gold: NDArray[np.int16], machine: Floats) -> RowScores:
    """Return the scores of a machine's labels in all rows beside gold labels in some.

    ``gold``: 0, 1, or -1 where there is no gold label. ``machine``: the machine's labels, or its probabilities.
    """
    known = gold >= 0
    y, f = np.where(known, gold, 0).astype(float), np.asarray(machine, float)
    values = np.stack([np.ones(len(f)), known, y, known * f, known * f**2, y * f, f]).astype(float)
    whole = machine_cells(values.sum(axis=1)[:, np.newaxis, np.newaxis])
    p = float(np.clip(whole.mean[0, 0], 1e-9, 1.0 - 1e-9))
    kappa = p * (1.0 - p) / (len(f) * max(float(whole.null_variance[0, 0]), 1e-300))
    return RowScores(values, machine_cells, known, kappa, p)


def machine_cells(sums: Floats) -> Cells:
    """Return prediction-powered shares of positives, methods (14.5) and (14.6).

    m = mean of gold - λ (mean of the machine on gold rows - mean of the machine on all rows). λ is one number for all
    cells: the slope of gold labels on the machine's within cells, which makes the variance the least (Angelopoulos,
    Duchi & Zrnic 2023). With λ = 0 it is the share among gold rows. No assumption is made on the machine's errors.

    ``sums``, of shape (7, ..., strata, levels of x): rows, gold rows, gold positives, and sums over gold rows of the
    machine's label f, f², f times gold; over all rows of f.

    Examples
    --------
    The machine is right on all gold rows: then the share is that of the machine in all rows.

    >>> gold, machine = np.array([0, 1, 0, 1, -1, -1, -1, -1]), np.array([0, 1, 0, 1, 1, 1, 1, 0])
    >>> float(machine_scores(gold, machine).positives)
    0.625
    """
    total, n, y, f, ff, yf, f_all = sums
    mean_y, mean_f, mean_all = divided(y, n), divided(f, n), divided(f_all, total)
    of_gold, of_machine, of_both = y - n * mean_y**2, ff - n * mean_f**2, yf - n * mean_y * mean_f  # within cells
    slope = divided(of_both.sum(axis=_CELLS, keepdims=True), of_machine.sum(axis=_CELLS, keepdims=True))
    mean = mean_y - slope * (mean_f - mean_all)

    # What gold labels leave open is the spread of gold - λ machine; a cell with few gold rows borrows some.
    left = np.maximum(of_gold - 2.0 * slope * of_both + slope**2 * of_machine, 0.0)
    free = n.sum(axis=_CELLS, keepdims=True) - (n > 0).sum(axis=_CELLS, keepdims=True) - 1.0
    pooled = divided(left.sum(axis=_CELLS, keepdims=True), np.maximum(free, 1.0))
    spread = divided(left + _SHARED * pooled, np.maximum(n - 1.0, 0.0) + _SHARED)
    one = np.ones(())
    of_labels = (divided(one, n) - divided(one, total)) * spread

    share = np.clip(mean, 0.0, 1.0)
    in_stratum = np.clip(divided((n * mean).sum(axis=-1), n.sum(axis=-1)), 0.0, 1.0)[..., np.newaxis]
    own, null = (divided(p * (1.0 - p) * np.ones_like(mean), total) for p in (share, in_stratum))
    return Cells(total, mean, of_labels + own, of_labels + null, n > 0, np.maximum(n - 1.0, 0.0) + _SHARED)


def predicted_share(gold: NDArray[np.int16], machine: Floats) -> tuple[float, float]:
    """Return the share of positives by gold and machine labels, and its standard error (PPI++).

    The gold share is corrected by λ times the difference of the machine's mean between the other rows and the gold
    rows, with the λ of Angelopoulos, Duchi & Zrnic (2023), between 0 and 1. ``gold``: 0, 1, or -1 where there is none.

    Examples
    --------
    >>> gold, machine = np.array([0, 1, 0, 1, -1, -1, -1, -1]), np.array([0, 1, 0, 1, 1, 1, 1, 0])
    >>> [round(number, 4) for number in predicted_share(gold, machine)]
    [0.6167, 0.1673]
    """
    known = gold >= 0
    y, f, others = gold[known].astype(float), np.asarray(machine, float)[known], np.asarray(machine, float)[~known]
    n, rest = len(y), len(others)
    spread = float(np.var(np.concatenate([f, others]), ddof=1))
    slope = float(np.mean((y - y.mean()) * (f - f.mean()))) / ((1.0 + n / rest) * spread) if spread else 0.0
    slope = min(max(slope, 0.0), 1.0)
    estimate = float(y.mean() + slope * (others.mean() - f.mean()))
    return estimate, float(np.sqrt(slope**2 * others.var() / rest + (y - slope * f).var() / n))


def weighted_scores(labeled: NDArray[np.bool_], propensity: Floats) -> RowScores:
    """Return the scores of positives that are labeled with known probabilities: 1/e for labeled rows, 0 for others."""
    inverse = 1.0 / np.asarray(propensity, float)
    score = np.where(labeled, inverse, 0.0)
    values = np.stack([np.ones(len(score)), score, score**2, inverse, score**4])
    whole = weighted_cells(values.sum(axis=1)[:, np.newaxis, np.newaxis])
    p = float(np.clip(whole.mean[0, 0], 1e-9, 1.0 - 1e-9))
    kappa = p * (1.0 - p) / (len(score) * max(float(whole.null_variance[0, 0]), 1e-300))
    return RowScores(values, weighted_cells, np.ones(len(score), bool), kappa, p)


def weighted_cells(sums: Floats) -> Cells:
    """Return shares of positives from labels with known propensities e, methods (13.3) and (13.4).

    m = Σ w / n with w = 1/e for labeled rows and 0 for others (Bekker, Robberts & Davis 2019). Under independence its
    variance is (R Σ 1/e - n m_z²) / n², with R = Σ w² / Σ 1/e of the stratum: the share of positives among rows
    weighted by 1/e. All rows, labeled or not, tell of Σ 1/e, so that it does not depend on a few labels.

    ``sums``, of shape (5, ..., strata, levels of x): rows, w, w², 1/e, w⁴.
    """
    total, w, squares, inverse, fourth = sums
    mean = divided(w, total)
    pooled = divided(w.sum(axis=-1), total.sum(axis=-1))[..., np.newaxis]
    ratio = divided(squares.sum(axis=-1), inverse.sum(axis=-1))[..., np.newaxis]
    null = divided(np.maximum(ratio * inverse - total * pooled**2, 0.0), total**2)
    own = divided(np.maximum(squares - total * mean**2, 0.0), total**2)
    # Few large weights make Σ w² uncertain: its relative variance is Σ w⁴ / (Σ w²)².
    worth = divided(squares.sum(axis=-1) ** 2, fourth.sum(axis=-1))[..., np.newaxis]
    return Cells(total, mean, own, null, total > 0, 2.0 * worth * np.ones_like(mean))


def equal_means(cells: Cells) -> tuple[float, float, float]:
    """Return the statistic of equal means within strata, its degrees of freedom, and the logarithm of the p-value.

    As variances are estimated, the statistic divided by c has an F distribution (Welch 1951, Johansen 1980): with
    A = Σ (1 - share of the weight)² / degrees of freedom of the variance, c = d + 2A - 6A/(d+2) and F(d, d(d+2)/3A).

    Examples
    --------
    If every row is labeled it is Pearson's X²:

    >>> x, gold = np.repeat([0, 1], [40, 60]), np.array([1] * 10 + [0] * 30 + [1] * 30 + [0] * 30)
    >>> cells = machine_scores(gold, np.zeros(100)).cells(x, np.zeros(100, int), np.ones(100, bool))
    >>> [round(number, 4) for number in equal_means(cells)[:2]]  # scipy.stats.chi2_contingency: 6.25
    [6.25, 1.0]
    """
    usable = cells.known & (cells.null_variance > 0)
    weight = np.where(usable, divided(np.ones(()), cells.null_variance), 0.0)
    total = weight.sum(axis=-1, keepdims=True)
    center = divided((weight * cells.mean).sum(axis=-1, keepdims=True), total)
    statistic = float((weight * (cells.mean - center) ** 2).sum())
    dof = float(np.maximum(usable.sum(axis=-1) - 1.0, 0.0).sum())
    if not dof:
        return 0.0, 0.0, 0.0
    several = usable & (usable.sum(axis=-1, keepdims=True) > 1)
    a = float(np.where(several, divided((1.0 - divided(weight, total)) ** 2, cells.freedom), 0.0).sum())
    if a <= 0.0:
        return statistic, dof, log_p_of(statistic, dof)
    scale = dof + 2.0 * a - 6.0 * a / (dof + 2.0)
    return statistic, dof, log_f_sf(statistic / scale, dof, dof * (dof + 2.0) / (3.0 * a))


def means_information(cells: Cells, *, loss: Loss = "log", estimator: str = "") -> InformationEstimate:
    """Estimate I(X;Y|Z) from the shares of positives in cells; levels of x without a mean are left out.

    Notes
    -----
    With L_y = ∂I/∂q_y and D = L₁ - L₀, the variance is Var(L₀ + m D) / N over rows, plus Σ p(x,z)² D² v over cells.
    Near independence the estimate is a sum of chi-squares with weights, methods (4.11).
    """
    checked_loss(loss)
    kept = np.where(cells.known, cells.rows, 0.0)
    n_rows = kept.sum(axis=_CELLS)
    p = divided(kept, n_rows[..., None, None])
    m = np.clip(cells.mean, 0.0, 1.0)
    q = np.stack([p * (1.0 - m), p * m], axis=-2)
    slope, value = derivative(q, loss), information(q, loss)
    rest, contrast = slope[..., 0, :], slope[..., 1, :] - slope[..., 0, :]
    along = rest + m * contrast
    mean = (p * along).sum(axis=_CELLS, keepdims=True)
    variance = divided((p * (along - mean) ** 2).sum(axis=_CELLS), n_rows)
    variance = variance + (p**2 * contrast**2 * np.where(cells.known, cells.variance, 0.0)).sum(axis=_CELLS)

    p_z = p.sum(axis=-1, keepdims=True)
    positive = divided((p * m).sum(axis=-1, keepdims=True), p_z)
    x_given_z = divided(p, p_z)
    weight = 0.5 * p * divided(np.where(cells.known, cells.null_variance, 0.0), positive * (1.0 - positive))
    first = (weight * (1.0 - x_given_z)).sum(axis=_CELLS)
    squares = (weight**2 * (1.0 - 2.0 * x_given_z)).sum(axis=-1) + (weight * x_given_z).sum(axis=-1) ** 2
    second = squares.sum(axis=-1)
    scale = divided(second, first)
    return InformationEstimate(
        value=np.where(n_rows > 0, value, np.nan),
        variance=variance,
        statistic=divided(value, scale),
        dof=divided(first**2, second),
        scale=scale,
        repaired=np.asarray((((cells.rows > 0) & ~cells.known) | (m != cells.mean)).any(axis=_CELLS)),
        estimator=estimator,
    )
