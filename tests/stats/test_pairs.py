"""Pairs of columns that act only together, against statsmodels, slow sums and simulation."""

from itertools import combinations

import numpy as np
import pytest
import scipy.stats
import statsmodels.api as sm

from blankets.stats import Draws, GivenFunctions, GivenSet, Side, Values, strongest_pair
from blankets.stats._pairs import _standardized_sums


def asked(table, given, target, columns, level=0.01, categories=(), draws=None):
    values = [Values(v, is_number=j not in categories) for j, v in enumerate(table)]
    known = GivenSet(GivenFunctions(values.__getitem__, draws or Draws(len(table[0]))), given)
    return strongest_pair(known, Side(known, target), columns, level)


def test_sums_are_those_of_loops():
    rng = np.random.default_rng(0)
    f, r = rng.normal(size=(4, 60)), rng.normal(size=60)
    found = _standardized_sums(f, r)
    for i, j in combinations(range(4), 2):
        product = f[i] * f[j] - (f[i] * f[j]).mean()
        assert found[i, j] == pytest.approx((r * product).sum() / np.sqrt((r**2 * product**2).sum()), rel=1e-12)


def test_the_p_value_is_that_of_the_product_in_a_regression():
    rng = np.random.default_rng(1)
    table = rng.normal(size=(5, 8000))
    table[4] += table[0] + 0.05 * table[1] * table[3] + 0.3 * table[2]
    found = asked(table, (0,), 4, [1, 2, 3])
    assert (found.one, found.other) == (1, 3)
    design = sm.add_constant(np.column_stack([*table[:4], table[1] * table[3]]))
    t = sm.OLS(table[4], design).fit(cov_type="HC3").tvalues[-1]
    mine = -scipy.stats.norm.ppf(np.exp(found.log_p) / 3 / 2)  # three products were compared
    assert mine == pytest.approx(abs(t), rel=0.1)


def test_an_exclusive_or_of_categories():
    rng = np.random.default_rng(2)
    table = [rng.normal(size=1000), *rng.integers(0, 2, size=(6, 1000))]
    y = table[0] + (table[2] ^ table[5]) + rng.normal(size=1000)
    found = asked([*table, y], (0,), 7, range(1, 7), categories=range(1, 7))
    assert (found.one, found.other) == (2, 5)


@pytest.mark.parametrize("grouped", [False, True])
def test_level(grouped):
    """Columns that go with each other and with what is given, a target with another spread for each: 5 in 100."""
    n, tables, found = 300, 150, 0
    groups = np.repeat(np.arange(n // 3), 3) if grouped else None
    for seed in range(tables):
        rng = np.random.default_rng([seed, grouped])
        z, noise = rng.normal(size=n), rng.normal(size=n)
        if grouped:
            z, noise = (rng.normal(size=n // 3)[groups] + 0.5 * rng.normal(size=n) for _ in range(2))
        columns = 0.7 * z + rng.normal(size=(8, n))
        columns[::3] = np.exp(columns[::3])
        if grouped:
            columns = columns + rng.normal(size=(8, n // 3))[:, groups]
        y = z + z**2 + (1 + 0.5 * np.abs(z)) * noise
        draws = Draws(n, groups=groups)
        found += asked([z, *columns, y], (0,), 9, range(1, 9), level=0.05, draws=draws) is not None
    assert found <= scipy.stats.binom.ppf(0.999, tables, 0.05)


def test_nothing_to_compare():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 200))
    assert asked([x, y], (), 1, [0]) is None  # a single column
    assert asked([x, x.copy(), y], (0,), 2, [1]) is None  # told by what is given
