"""One answer from several completed tables (multiple imputation; Rubin 1987).

p-values are never averaged. Statistics are pooled, and the pooled one is made smaller by as much as the completed
tables differ: by D3 (Meng & Rubin 1992, as Chan & Meng 2022 compute it) where a likelihood ratio of all tables together
is known, and by D2 (Li, Meng, Raghunathan & Rubin 1991) from the statistics of single tables alone.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from blankets.stats._clusters import log_f_sf
from blankets.stats._regression import Regression, student_quantile

Floats = NDArray[np.float64]


def pooled_d2(statistics: Floats, dof: float) -> tuple[float, float, float]:
    """Return the log p-value, D2 times the degrees of freedom, and r; see methods (11.4).

    ``statistics``, of shape (tables,): chi-square statistics with ``dof`` degrees of freedom. r: the variance between
    tables as a multiple of that within.

    Examples
    --------
    Tables that agree are pooled to what each of them says, on many tables' worth of freedom:

    >>> from scipy.stats import chi2
    >>> bool(np.isclose(np.exp(pooled_d2(np.full(5, 6.0), 2.0)[0]), chi2.sf(6.0, 2)))
    True
    """
    m = len(statistics)
    root = np.sqrt(np.maximum(statistics, 0.0))
    r = (1.0 + 1.0 / m) * float(root.var(ddof=1))
    pooled = max((float(np.mean(statistics)) / dof - (m + 1.0) / (m - 1.0) * r) / (1.0 + r), 0.0)
    if r <= 0:
        return _of_f(pooled, dof, math.inf), pooled * dof, 0.0
    return _of_f(pooled, dof, dof ** (-3.0 / m) * (m - 1.0) * (1.0 + 1.0 / r) ** 2), pooled * dof, r


def pooled_d3(statistics: Floats, together: float, dof: float) -> tuple[float, float, float]:
    """Return the log p-value, D3 times the degrees of freedom, and r; see methods (11.3).

    ``statistics``, of shape (tables,): likelihood-ratio statistics. ``together``: that of all tables as one, divided
    by their number.

    Examples
    --------
    >>> round(pooled_d3(np.array([8.0, 10.0, 12.0]), 9.0, 1.0)[1], 3)  # r = (10 - 9) * 4 / 2
    3.0
    """
    m = len(statistics)
    r = max(float(np.mean(statistics)) - together, 0.0) * (m + 1.0) / (dof * (m - 1.0))
    pooled = max(together, 0.0) / (dof * (1.0 + r))
    if r <= 0:
        return _of_f(pooled, dof, math.inf), pooled * dof, 0.0
    t = dof * (m - 1.0)
    if t > 4:
        rest = 4.0 + (t - 4.0) * (1.0 + (1.0 - 2.0 / t) / r) ** 2
    else:
        rest = t * (1.0 + 1.0 / dof) * (1.0 + 1.0 / r) ** 2 / 2.0
    return _of_f(pooled, dof, rest), pooled * dof, r


def _of_f(value: float, dof: float, rest: float) -> float:
    return log_f_sf(value, dof, min(rest, 1e7))


def pooled_regressions(fits: list[Regression], level: float = 0.95) -> Regression:
    """Return one regression from those of completed tables, by Rubin's rules; see methods (11.5).

    Examples
    --------
    >>> one, other = (Regression(np.array([b]), np.ones(1), np.zeros(1), np.zeros(1)) for b in (1.0, 3.0))
    >>> pooled_regressions([one, other]).errors.tolist()  # sqrt(1 + 1.5 * 2)
    [2.0]
    """
    m, best = len(fits), np.mean([fit.coefficients for fit in fits], axis=0)
    within = np.mean([fit.errors**2 for fit in fits], axis=0)
    between = (1.0 + 1.0 / m) * np.var([fit.coefficients for fit in fits], axis=0, ddof=1)
    errors = np.sqrt(within + between)
    freedom = (m - 1.0) * (1.0 + within / np.maximum(between, 1e-12 * within + 1e-300)) ** 2
    reach = errors * np.array([student_quantile(min(nu, 1e6), level) for nu in freedom])
    return Regression(best, errors, best - reach, best + reach)
