"""Tests for rows in groups: Student's t and Hotelling's T² of the groups' sums, and their level."""

import numpy as np
import pytest
from scipy import stats

from blankets.stats import clustered_test
from blankets.stats._clusters import hotelling_log_p


def grouped(rng, n_groups=40, size=10, arity=2, icc=0.3):
    """Return two independent columns whose levels are alike within a group, with the given intraclass correlation."""
    columns = []
    for _ in range(2):
        shares = rng.dirichlet([(1 / icc - 1) / arity] * arity, n_groups)
        draws = rng.random((n_groups, size, 1)) > np.cumsum(shares, axis=1)[:, np.newaxis]
        columns.append(np.minimum(draws.sum(axis=2), arity - 1).ravel())
    return (*columns, np.repeat(np.arange(n_groups), size))


def cells_of(x, y, z, group, arities):
    """Return counts (levels of x, levels of y, cells), and the stratum and the group of each cell."""
    pairs, cell = np.unique(np.column_stack([z, group]), axis=0, return_inverse=True)
    counts = np.zeros((*arities, len(pairs)), np.int32)
    np.add.at(counts, (x, y, cell.ravel()), 1)
    return counts, pairs[:, 0], pairs[:, 1]


def sums_of_groups(x, y, z, group, arities):
    """Return Σ (1[x = a] - p(a|z)) (1[y = b] - p(b|z)) of each group, for all strata and all levels but the last."""
    columns = []
    for stratum in np.unique(z):
        here = z == stratum
        for a in range(arities[0] - 1):
            for b in range(arities[1] - 1):
                score = (x == a) - np.mean(x[here] == a), (y == b) - np.mean(y[here] == b)
                columns.append(np.bincount(group, here * score[0] * score[1], minlength=group.max() + 1))
    return np.column_stack(columns)


def test_two_levels_are_students_t_of_the_sums_of_groups():
    x, y, group = grouped(np.random.default_rng(1))
    found = clustered_test(*cells_of(x, y, np.zeros_like(x), group, (2, 2)))
    expected = stats.ttest_1samp(sums_of_groups(x, y, np.zeros_like(x), group, (2, 2))[:, 0], 0.0)
    assert found.statistic == pytest.approx(expected.statistic**2, rel=1e-9)
    assert found.log_p == pytest.approx(np.log(expected.pvalue), rel=1e-9)
    assert (found.dof, found.n_groups, found.summed) == (1.0, 40, False)


@pytest.mark.parametrize("arities", [(3, 2), (3, 3)])
def test_more_levels_and_strata_are_hotellings_statistic(arities):
    rng = np.random.default_rng(2)
    x, y, group = grouped(rng, n_groups=80, arity=3)
    y, z = np.minimum(y, arities[1] - 1), rng.integers(0, 2, len(x))
    found = clustered_test(*cells_of(x, y, z, group, arities))
    sums = sums_of_groups(x, y, z, group, arities)
    c, d = sums.shape
    t2 = c * sums.mean(axis=0) @ np.linalg.solve(np.cov(sums, rowvar=False), sums.mean(axis=0))
    assert found.statistic == pytest.approx(t2, rel=1e-8)
    assert found.dof == d
    assert np.exp(found.log_p) == pytest.approx(stats.f.sf(t2 * (c - d) / (d * (c - 1)), d, c - d), rel=1e-8)


def test_with_few_groups_strata_are_summed_up():
    rng = np.random.default_rng(3)
    x, y, group = grouped(rng, n_groups=12)
    z = rng.integers(0, 8, len(x))
    found = clustered_test(*cells_of(x, y, z, group, (2, 2)))
    expected = stats.ttest_1samp(sums_of_groups(x, y, z, group, (2, 2)).sum(axis=1), 0.0)
    assert (found.summed, found.dof) == (True, 1.0)
    assert found.log_p == pytest.approx(np.log(expected.pvalue), rel=1e-9)


def test_too_few_groups_are_told():
    x, y, group = grouped(np.random.default_rng(4), n_groups=6, arity=3)
    table = cells_of(x, y, np.zeros_like(x), group, (3, 3))
    assert np.isnan(clustered_test(*table).statistic)
    assert clustered_test(*table, always=True).dof == 4


def test_nothing_to_test():
    x, y, group = np.zeros(20, int), np.arange(20) % 2, np.repeat(np.arange(10), 2)
    found = clustered_test(*cells_of(x, y, np.zeros_like(x), group, (2, 2)))
    assert (found.statistic, found.dof, found.log_p) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(("statistic", "dof", "n_groups"), [(1e4, 1, 300), (5e6, 2, 2000), (12.0, 3, 40)])
def test_p_values_that_no_float_holds(statistic, dof, n_groups):
    mpmath = pytest.importorskip("mpmath")
    mpmath.mp.dps = 40
    rest = n_groups - dof
    f = mpmath.mpf(statistic) * rest / (dof * (n_groups - 1))
    x = rest / (rest + dof * f)
    expected = mpmath.log(mpmath.betainc(mpmath.mpf(rest) / 2, mpmath.mpf(dof) / 2, 0, x, regularized=True))
    assert hotelling_log_p(statistic, dof, n_groups) == pytest.approx(float(expected), rel=1e-10)


@pytest.mark.parametrize(("arity", "icc"), [(2, 0.5), (3, 0.1)])
def test_the_level_holds_with_thirty_groups_of_ten_rows(arity, icc):
    rng = np.random.default_rng(5)
    draws = 300
    log_p = []
    for _ in range(draws):
        x, y, group = grouped(rng, 30, 10, arity, icc)
        log_p.append(clustered_test(*cells_of(x, y, np.zeros_like(x), group, (arity, arity))).log_p)
    rejected = np.mean(np.array(log_p) <= np.log(0.05)) / 0.05
    assert 0.7 - 2 * np.sqrt(19 / draws) < rejected < 1.3 + 2 * np.sqrt(19 / draws)
