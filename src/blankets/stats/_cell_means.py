"""Tests and information from the share of positives in each cell (z, x), known with some variance.

Where labels are more than counts (a machine's labels beside a few gold ones, labels with known propensities), what is
known is, in each cell, an unbiased estimate m of p(y=1 | x, z) and its variance. Independence given z means that the
means of a stratum are equal. With propensities the test compares them with the variance that they would then have:

    T = Σ_z Σ_x (m_xz - m_z)² / v⁰_xz,  with one degree of freedom less than cells in each stratum,

which is near Pearson's X² where m is a share of counted rows, v⁰ = m_z (1 - m_z) / n. With a machine T is a ratio of
likelihoods (methods, section 14). With few labels T is not chi-square; its law is that of tables that are drawn under
independence. The information is that of q₁ = p(x,z) m and q₀ = p(x,z) (1 - m), with p(x,z) from all rows.

`RowScores` holds what is summed over the rows of a cell, how the sums become means and variances, and what fits them
best under independence.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from blankets.stats._estimate import InformationEstimate, divided
from blankets.stats._information import Loss, checked_loss, derivative, information
from blankets.stats._special import chi2_isf
from blankets.stats._tail import chi2_sf, log_chi2_sf

Floats = NDArray[np.float64]

_CELLS = (-2, -1)
# Tables that are drawn under independence, and between which p-values that leaves a doubt. With 1,000 draws the
# critical value at 1% is so uncertain that tests lose 0.006 of power (methods, section 14).
_DRAWS = ((100, 0.0, 0.15), (1000, 2e-3, 0.03), (4000, 0.0, 0.0))
_AT_ONCE = 1000  # tables that are fitted at once
_TAIL = 0.01  # smaller p-values follow from the shape of the tail of the draws
_SHAPE = 0.03  # the largest of the draws, which tell that shape
_FAR = 1e-4  # where the tail of a ratio of likelihoods falls as chi-square; measured down to 1e-5
_LEAST = 10.0  # rows that tell the class, in a cell that is tested by itself; chosen by simulation
_HALVES = 50  # of the interval that holds a critical value
_FLOOR = 0.1  # of the mean statistic: none is expected to be smaller
_CLEAR = math.log(0.4)  # a test with a larger p-value by the chi-square law is not looked at again


class Cells(NamedTuple):
    """What is known of each cell; all arrays have shape (..., strata, levels of x)."""

    rows: Floats  # rows, labeled or not
    mean: Floats  # m, the estimated share of positives
    variance: Floats  # of m
    null_variance: Floats  # of m, if x is independent of y given z
    known: NDArray[np.bool_]  # whether there is a mean


class Fitted(NamedTuple):
    """What fits sums under independence; of shape (...) if the sums have the shape (sums, ..., strata, levels)."""

    statistic: Floats
    dof: Floats
    open: Floats  # a count on which the law of the statistic depends; 1 if it depends on none
    draw: Callable[[np.random.RandomState, int], Floats]  # (generator, n) -> (sums, n, ..., strata, levels): such sums


@dataclass(frozen=True, slots=True, eq=False)
class RowScores:
    """Numbers of each row, whose sums over a cell tell the share of positives in it."""

    values: Floats  # (sums, rows)
    from_sums: Callable[[Floats], Cells]  # of arrays of shape (sums, ..., strata, levels of x)
    fitted: Callable[[Floats], Fitted]  # of such arrays: what fits them under independence
    telling: Callable[[Floats], Floats]  # of such sums: in each cell, how many rows tell the class, or will on average
    informative: NDArray[np.bool_]  # (rows,): rows that say something of the class by themselves
    worth: Callable[[float, float], float]  # (degrees of freedom, effect in nats or NaN) -> κ
    positives: float  # estimated p(y=1)
    explained: float = 0.0  # share of the variance of the class that a machine's labels explain
    least: float = _LEAST  # rows that tell the class, in a cell that is tested by itself
    of_likelihoods: bool = False  # whether the statistic is a ratio of likelihoods

    def kappa(self, dof: float = 1.0, effect: float = math.nan) -> float:
        """Return κ without a conditioning set: each row counts as much as κ rows with full labels.

        ``dof``: degrees of freedom of the test. ``effect``: nats with the class; by default one that is found with
        probability 0.8.
        """
        return self.worth(dof if dof > 0.0 else 1.0, effect)

    def take(self, rows: NDArray[np.int64]) -> RowScores:
        """Return the scores of some rows."""
        return replace(self, values=self.values[:, rows], informative=self.informative[rows])

    def sums(self, x: NDArray[np.int64], strata: NDArray[np.int64], rows: NDArray[np.bool_]) -> Floats:
        """Return the sums over the cells of a column within strata, from some of the rows."""
        levels, n_strata = int(x.max(initial=0)) + 1, int(strata.max(initial=0)) + 1
        cell = (strata * levels + x)[rows]
        sums = np.array([np.bincount(cell, row[rows], n_strata * levels) for row in self.values], float)
        return sums.reshape(len(sums), n_strata, levels)

    def cells(self, x: NDArray[np.int64], strata: NDArray[np.int64], rows: NDArray[np.bool_]) -> Cells:
        """Return what is known of the cells of a column within strata, from some of the rows."""
        return self.from_sums(self.sums(x, strata, rows))

    def test(self, sums: Floats) -> tuple[float, float, float]:
        """Return the statistic of equal means within strata, its degrees of freedom, and the logarithm of the p-value.

        Rare levels of x are tested as one. Where the chi-square law leaves a doubt, the law is that of tables drawn
        under independence, each of which is fitted and drawn once more.
        """
        sums = self.merged(sums)
        found = self.fitted(sums)
        statistic, dof = float(found.statistic), float(found.dof)
        log_p = float(log_chi2_sf(statistic, dof))
        if not dof or log_p > _CLEAR:
            return statistic, dof, log_p
        # The table is the seed: it has the same p-value again, and other tables do not share its luck. A RandomState
        # draws the same in all versions of NumPy, which a Generator does not.
        rng = np.random.RandomState((np.rint(np.abs(sums)) % 2.0**32).astype(np.uint32).ravel())
        for n_draws, low, high in _DRAWS:
            law = drawn_law(found, *self._drawn(found, rng, n_draws))
            log_p = log_p_among(statistic, dof, law, of_likelihoods=self.of_likelihoods)
            if not low <= math.exp(log_p) < high:
                break
        return statistic, dof, log_p

    def merged(self, sums: Floats) -> Floats:
        """Return sums in which the rare levels of x are one level; with propensities, of strata that have several.

        Strata of one level compare nothing; where many columns are given, nearly all are such. With a machine's labels
        they stay: the law was measured with them (`Fitted.open` counts their rows, too).
        """
        sums = merged_levels(sums, self.telling(sums), self.least)
        sums = sums[..., sums[0].any(axis=0)]
        return np.asarray(sums if self.of_likelihoods else sums[:, np.count_nonzero(sums[0], axis=-1) > 1])

    def _drawn(self, found: Fitted, rng: np.random.RandomState, n_draws: int) -> tuple[Fitted, Fitted]:
        """Draw tables from what fits under independence, and one more from each of them; return their fits."""
        first, second = [], []
        for start in range(0, n_draws, _AT_ONCE):
            first.append(self.fitted(found.draw(rng, min(_AT_ONCE, n_draws - start))))
            second.append(self.fitted(first[-1].draw(rng, 1)))
        return _joined(first), _joined(second)


def _joined(fits: list[Fitted]) -> Fitted:
    """Return several fits as one, which draws as the first does."""
    statistic, dof, open_ = (
        np.concatenate([np.ravel(part) for part in parts])
        for parts in zip(*((fit.statistic, fit.dof, fit.open) for fit in fits), strict=True)
    )
    return Fitted(statistic, dof, open_, fits[0].draw)


def drawn_law(found: Fitted, first: Fitted, second: Fitted) -> Floats:
    """Return statistics under independence, from tables that were drawn from a fit, and from these fitted once more.

    ``first``: tables drawn from ``found``. ``second``: one table drawn from each of ``first``, which tells two things.
    How large statistics are depends on the fit; their mean is a line in the root of `Fitted.open`, and each statistic
    is divided by it. And by as much as the second are then smaller on average than the first, these are smaller than
    they should be, because a fit is a little too good (methods, section 14).
    """
    root, mean = np.sqrt(first.open), second.statistic.mean()
    off = root - root.mean()
    slope = divided((off * second.statistic).sum(), (off**2).sum())

    def expected(fit: Fitted) -> Floats:
        within = np.clip(np.sqrt(fit.open), root.min(), root.max()) - root.mean()
        return np.asarray(np.maximum(mean + slope * within, _FLOOR * mean))

    once, twice = (divided(fit.statistic, expected(fit)) for fit in (first, second))
    return np.asarray(expected(found) * once * divided(once.mean(), twice.mean()))


def merged_levels(sums: Floats, telling: Floats, least: float) -> Floats:
    """Merge the rare levels of x in each stratum: those with less than ``least`` rows that tell the class.

    They become one level, with the next rare one if they are still too few. Which rows tell the class does not depend
    on the class if x is independent of it, so that the test stays valid.

    ``sums``, of shape (sums, strata, levels of x). The result has one level more, the first: the rare ones together.

    Examples
    --------
    >>> gold = np.array([[40.0, 3.0, 12.0, 4.0]])
    >>> merged_levels(gold[np.newaxis], gold, 10)[0]
    array([[19., 40.,  0.,  0.,  0.]])
    """
    order = np.argsort(telling, axis=-1, kind="stable")
    counts = np.take_along_axis(telling, order, axis=-1)
    before = np.cumsum(counts, axis=-1) - counts
    rare = (counts < least) | ((before > 0.0) & (before < least))
    by_count = np.take_along_axis(sums, np.broadcast_to(order, sums.shape), axis=-1)
    together = np.where(rare, by_count, 0.0).sum(axis=-1, keepdims=True)
    return np.concatenate([together, np.where(rare, 0.0, by_count)[..., ::-1]], axis=-1)


def equal_means(cells: Cells) -> tuple[Floats, Floats]:
    """Return the statistics of equal means within strata, methods (14.9), and their degrees of freedom.

    Examples
    --------
    If every row is labeled it is Pearson's X²; here four cells, of which rows and positives are known:

    >>> rows, mean = np.array([[40.0, 60.0]]), np.array([[10 / 40, 30 / 60]])
    >>> under_independence = 0.4 * 0.6 / rows
    >>> cells = Cells(rows, mean, mean * (1 - mean) / rows, under_independence, rows > 0)
    >>> [round(float(number), 4) for number in equal_means(cells)]  # scipy.stats.chi2_contingency: 6.25
    [6.25, 1.0]
    """
    usable = cells.known & (cells.null_variance > 0)
    weight = np.where(usable, divided(np.ones(()), cells.null_variance), 0.0)
    center = divided((weight * cells.mean).sum(axis=-1, keepdims=True), weight.sum(axis=-1, keepdims=True))
    statistic = (weight * (cells.mean - center) ** 2).sum(axis=_CELLS)
    return statistic, np.maximum(usable.sum(axis=-1) - 1.0, 0.0).sum(axis=-1)


def log_p_among(statistic: float, dof: float, drawn: Floats, *, of_likelihoods: bool = False) -> float:
    """Return the logarithm of the p-value of a statistic among statistics that were drawn under independence.

    It is their share that is as large, down to 1%. There the tail of the chi-square distribution goes on, stretched so
    that its largest 3% have the mean excess of the largest 3% of the draws, but never compressed. A ratio of
    likelihoods is stretched down to 0.01% only: far out it falls as fast as chi-square (methods, section 14), and the
    stretch, which a few draws tell, is not carried on.

    Examples
    --------
    >>> drawn = np.random.default_rng(0).chisquare(2, 100_000)
    >>> [round(log_p_among(t, 2.0, drawn), 1) for t in (2.0, 40.0)]  # chi-square: -1.0, -20.0
    [-1.0, -20.0]
    """
    as_large = int(np.count_nonzero(drawn >= statistic * (1.0 - 1e-9)))
    if as_large >= _TAIL * len(drawn):
        return math.log((as_large + 1.0) / (len(drawn) + 1.0))
    start, shape = (float(np.quantile(drawn, 1.0 - share)) for share in (_TAIL, _SHAPE))
    quantile = float(chi2_isf(_SHAPE, dof))
    expected = dof * float(chi2_sf(quantile, dof + 2.0)) / _SHAPE - quantile  # E[χ² - quantile | χ² > quantile]
    beyond = drawn[drawn > shape]
    stretch = max(1.0, (float(beyond.mean()) - shape) / expected) if len(beyond) else 1.0
    point, last = (float(chi2_isf(share, dof)) for share in (_TAIL, _FAR))
    far = max(0.0, statistic - start - stretch * (last - point)) if of_likelihoods else 0.0
    return float(log_chi2_sf(point + (statistic - start - far) / stretch + far, dof))


def critical_value(log_p_of: Callable[[float], float], alpha: float, drawn: Floats) -> float:
    """Return the smallest statistic whose p-value among those that were drawn is at most alpha."""
    low, high = 0.0, 4.0 * float(drawn.max()) + 4.0 * abs(math.log(alpha))
    for _ in range(_HALVES):
        middle = (low + high) / 2.0
        low, high = (low, middle) if log_p_of(middle) <= math.log(alpha) else (middle, high)
    return high


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
