"""Tests of independence for weighted rows of a survey (Rao & Scott 1981, 1984).

X² of the weighted table is not chi-square distributed, but like a sum of chi-square variables with weights λ, the
design effects. With their mean (first order), or with mean and variance (second order), it is corrected: methods
(12.3) and (12.4). The results are those of svychisq of R's package survey.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from blankets.stats._clusters import log_f_sf
from blankets.stats._estimate import InformationEstimate

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Surveyed(NamedTuple):
    """The test of one table."""

    pearson: float  # X² of the weighted table, as if there were as many rows as were drawn
    dof: float  # contrasts of the table
    design_effect: float  # the mean of the design effects
    freedom: float  # degrees of freedom of the second order
    log_p: float  # second order, F distribution
    information: float  # of the weighted table, in nats
    variance: float  # of the information, by linearization: methods (12.7)

    @property
    def statistic(self) -> float:
        """X² divided by the mean design effect."""
        return self.pearson / self.design_effect if self.dof else 0.0


def survey_test(x: Ints, y: Ints, strata: Ints, weights: Floats, groups: Ints | None = None) -> Surveyed:
    """Test x and y given the strata, where rows have weights and may come in groups.

    ``x``, ``y``, ``strata``, ``groups``, of shape (rows,): codes. ``weights``: above 0.

    Examples
    --------
    With equal weights X² is Pearson's:

    >>> x, y = np.array([0, 0, 0, 1, 1, 1] * 20), np.array([0, 0, 1, 0, 1, 1] * 20)
    >>> found = survey_test(x, y, np.zeros(120, int), np.ones(120))
    >>> round(found.pearson, 4), found.dof, round(found.design_effect, 4)
    (13.3333, 1.0, 1.0084)
    """
    n, total = len(x), float(weights.sum())
    if not n:
        return Surveyed(0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0)
    shape = tuple(int(codes.max()) + 1 for codes in (strata, x, y))
    cell = np.ravel_multi_index((strata, x, y), shape)
    p = np.bincount(cell, weights, int(np.prod(shape))).reshape(shape) / total
    of_x, of_y, of_z = p.sum(axis=2, keepdims=True), p.sum(axis=1, keepdims=True), p.sum(axis=(1, 2), keepdims=True)
    expected = np.divide(of_x * of_y, of_z, out=np.zeros_like(p), where=of_z > 0)
    pearson = n * float(np.divide((p - expected) ** 2, expected, out=np.zeros_like(p), where=expected > 0).sum())
    told = float(xlogy(p, np.divide(p, expected, out=np.ones_like(p), where=p > 0)).sum())
    contrasts = _contrasts(p)
    if not contrasts.shape[1]:
        return Surveyed(0.0, 0.0, 1.0, 0.0, 0.0, told, 0.0)
    flat = p.ravel()
    scaled = np.divide(contrasts, flat[:, np.newaxis], out=np.zeros_like(contrasts), where=flat[:, np.newaxis] > 0)
    variance, nu = _variance(scaled, flat, cell, weights, groups)
    each = np.log(np.divide(p, expected, out=np.ones_like(p), where=p > 0)).reshape(-1, 1)
    of_information = max(float(_variance(each, flat, cell, weights, groups)[0][0, 0]), 0.0)  # not below by rounding
    effects = np.linalg.lstsq(contrasts.T @ scaled / n, variance, rcond=None)[0]
    trace, squares = float(np.trace(effects)), float(np.trace(effects @ effects))
    dof = float(contrasts.shape[1])
    if not (trace > 0 and squares > 0 and nu > 0):
        return Surveyed(pearson, dof, np.nan, np.nan, np.nan, told, of_information)
    freedom = trace**2 / squares
    log_p = log_f_sf(pearson / trace, freedom, freedom * nu)
    return Surveyed(pearson, dof, trace / dof, freedom, log_p, told, of_information)


def survey_information(
    x: Ints, y: Ints, strata: Ints, weights: Floats, groups: Ints | None = None
) -> InformationEstimate:
    """Estimate the information of x about y given the strata; the arguments are those of `survey_test`.

    Near independence 2 n I, divided by the mean design effect, is a noncentral chi-square variable (first order);
    elsewhere the variance is that of linearization.

    Examples
    --------
    >>> x, y = np.array([0, 0, 0, 1, 1, 1] * 20), np.array([0, 0, 1, 0, 1, 1] * 20)
    >>> found = survey_information(x, y, np.zeros(120, int), np.ones(120))
    >>> round(float(found.value), 4), [round(float(end), 3) for end in found.interval(0.9)]
    (0.0566, [0.017, 0.116])
    """
    found, n = survey_test(x, y, strata, weights, groups), max(len(x), 1)
    scale = found.design_effect / (2.0 * n)
    return InformationEstimate(
        value=np.array(found.information),
        variance=np.array(found.variance),
        statistic=np.array(found.information / scale if found.dof else 0.0),
        dof=np.array(found.dof),
        scale=np.array(scale),
        estimator="weighted plug-in" if groups is None else "plug-in, errors by groups",
    )


def _contrasts(p: Floats) -> Floats:
    """Return, as columns, what is 0 under independence: of each stratum (a - last level) x (b - last level)."""
    columns = []
    for z, table in enumerate(p):
        a, b = np.flatnonzero(table.sum(axis=1) > 0), np.flatnonzero(table.sum(axis=0) > 0)
        for i in a[:-1]:
            for j in b[:-1]:
                column = np.zeros(p.shape)
                column[z, i, j] = column[z, a[-1], b[-1]] = 1.0
                column[z, i, b[-1]] = column[z, a[-1], j] = -1.0
                columns.append(column.ravel())
    return np.array(columns).T if columns else np.zeros((p.size, 0))


def _variance(scaled: Floats, p: Floats, cell: Ints, weights: Floats, groups: Ints | None) -> tuple[Floats, int]:
    """Return the variance of combinations of the weighted shares of cells, by linearization, and its freedom."""
    n, total = len(cell), float(weights.sum())
    if groups is not None:
        _, group = np.unique(groups, return_inverse=True)
        c = int(group.max()) + 1
        sums = np.bincount(group * len(p) + cell, weights, c * len(p)).reshape(c, len(p))
        parts = (sums - sums.sum(axis=1, keepdims=True) * p) @ scaled / total
        return parts.T @ parts * (c / max(c - 1, 1)), c - 1
    squares = np.bincount(cell, weights**2, len(p))
    mean, along = scaled.T @ p, scaled.T @ squares
    both = (scaled * squares[:, np.newaxis]).T @ scaled - np.outer(mean, along) - np.outer(along, mean)
    return (both + squares.sum() * np.outer(mean, mean)) * (n / max(n - 1, 1)) / total**2, n - 1
