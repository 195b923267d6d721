"""Pooling over completed tables, against the formulas of the papers with SciPy's distributions."""

import numpy as np
import pytest
from scipy import stats

from blankets.stats import pooled_d2, pooled_d3, pooled_regressions
from blankets.stats._regression import Regression

STATISTICS = np.array([9.1, 12.4, 7.7, 10.3, 15.2])


@pytest.mark.parametrize("k", [1.0, 2.0, 6.0])
def test_d2_is_that_of_li_and_others(k):
    m, d = len(STATISTICS), STATISTICS
    r = (1 + 1 / m) * np.sum((np.sqrt(d) - np.sqrt(d).mean()) ** 2) / (m - 1)
    pooled = (d.mean() / k - (m + 1) / (m - 1) * r) / (1 + r)
    nu = k ** (-3 / m) * (m - 1) * (1 + 1 / r) ** 2
    log_p, statistic, found = pooled_d2(d, k)
    assert (np.exp(log_p), statistic, found) == pytest.approx((stats.f.sf(pooled, k, nu), pooled * k, r), rel=1e-9)


@pytest.mark.parametrize("k", [1.0, 2.0, 6.0])
def test_d3_is_that_of_meng_and_rubin(k):
    m, d, together = len(STATISTICS), STATISTICS, 8.4
    r = (m + 1) / (k * (m - 1)) * (d.mean() - together)
    pooled, t = together / (k * (1 + r)), k * (m - 1)
    nu = 4 + (t - 4) * (1 + (1 - 2 / t) / r) ** 2 if t > 4 else t * (1 + 1 / k) * (1 + 1 / r) ** 2 / 2
    log_p, statistic, found = pooled_d3(d, together, k)
    assert (np.exp(log_p), statistic, found) == pytest.approx((stats.f.sf(pooled, k, nu), pooled * k, r), rel=1e-9)


def test_tables_that_agree_are_one_table():
    same = np.full(4, 7.3)
    assert np.exp(pooled_d2(same, 3.0)[0]) == pytest.approx(stats.chi2.sf(7.3, 3), rel=1e-5)
    assert np.exp(pooled_d3(same, 7.3, 3.0)[0]) == pytest.approx(stats.chi2.sf(7.3, 3), rel=1e-5)


def test_coefficients_by_rubins_rules():
    best, errors = np.array([[1.0, 2.0], [1.4, 2.2], [0.9, 1.7]]), np.array([[0.3, 0.2], [0.31, 0.25], [0.28, 0.2]])
    fits = [Regression(b, e, b - e, b + e) for b, e in zip(best, errors, strict=True)]
    within, between = (errors**2).mean(axis=0), best.var(axis=0, ddof=1) * 4 / 3
    nu = 2 * (1 + within / between) ** 2
    found = pooled_regressions(fits)
    reach = stats.t.ppf(0.975, nu) * np.sqrt(within + between)
    assert found.coefficients == pytest.approx(best.mean(axis=0))
    assert found.errors == pytest.approx(np.sqrt(within + between))
    assert found.high - found.coefficients == pytest.approx(reach, rel=1e-6)
