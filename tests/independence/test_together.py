"""Joint tests of columns that belong together, against the likelihood ratio of their combinations."""

import networkx as nx
import numpy as np
import pytest
from scipy.stats import chi2
from statsmodels.regression.linear_model import OLS

from blankets.counting import MemoryCounter
from blankets.data import Frame
from blankets.independence import (
    DSeparation,
    PartialCorrelation,
    TableTests,
    TieredTests,
    TogetherTests,
    check_test,
)


@pytest.fixture(scope="module")
def codes():
    rng = np.random.default_rng(11)
    codes = rng.integers(0, 2, (900, 6))
    codes[:, 5] = np.where(rng.random(900) < 0.2, codes[:, 0] ^ codes[:, 1], codes[:, 5])
    codes[:, 3] = np.where(rng.random(900) < 0.5, codes[:, 2], codes[:, 3])
    return codes


def g_of(x, y, strata):
    """Return the likelihood ratio of independence within strata, and its degrees of freedom."""
    g = free = 0.0
    for s in np.unique(strata):
        table = np.array([[np.sum((x == a) & (y == b) & (strata == s)) for b in np.unique(y)] for a in np.unique(x)])
        expected = table.sum(1, keepdims=True) * table.sum(0) / table.sum()
        seen = table > 0
        g += 2 * np.sum(table[seen] * np.log(table[seen] / expected[seen]))
        free += (table.any(1).sum() - 1) * (table.any(0).sum() - 1)
    return g, free


def test_the_chain_is_the_likelihood_ratio_of_the_combinations(codes):
    tests = TogetherTests(TableTests(MemoryCounter(Frame.from_codes(codes))), {0: (0, 1)})
    for given, strata in (((), np.zeros(900)), ((3,), codes[:, 3])):
        evidence = tests.test(0, 5, given)
        g, free = g_of(codes[:, 0] * 2 + codes[:, 1], codes[:, 5], strata)
        assert evidence.given == given
        assert evidence.statistic == pytest.approx(g)
        assert evidence.dof == free
        assert evidence.log_p == pytest.approx(chi2.logsf(g, free), rel=1e-6)
        assert evidence.effect == pytest.approx(g / 1800)
    assert tests.test(5, 0).statistic == pytest.approx(
        g_of(codes[:, 5], codes[:, 0] * 2 + codes[:, 1], np.zeros(900))[0]
    )


def test_an_exclusive_or_is_seen_by_the_group_only(codes):
    inner = TableTests(MemoryCounter(Frame.from_codes(codes)))
    assert not inner.scan([0, 1], 5).dependent(0.01).any()
    assert TogetherTests(inner, {0: (0, 1)}).test(0, 5).dependent(0.01)


def test_two_groups_against_each_other(codes):
    tests = TogetherTests(TableTests(MemoryCounter(Frame.from_codes(codes))), {0: (0, 1), 2: (2, 5)})
    g, free = g_of(codes[:, 0] * 2 + codes[:, 1], codes[:, 2] * 2 + codes[:, 5], np.zeros(900))
    evidence = tests.test(0, 2)
    assert (evidence.statistic, evidence.dof) == (pytest.approx(g), free)


def test_a_column_of_combinations_takes_the_place_of_the_chain(codes):
    wider = np.column_stack([codes, codes[:, 0] * 2 + codes[:, 1]])
    inner = TableTests(MemoryCounter(Frame.from_codes(wider)))
    tests = TogetherTests(inner, {0: (6,)}, 6)
    assert tests.names == inner.names[:6]
    assert tests.test(0, 5, [3]).statistic == inner.test(6, 5, [3]).statistic
    assert tests.test(2, 3, [0]).log_p == inner.test(2, 3, [6]).log_p
    assert tests.rows_for(2, 3, [0]) == inner.rows_for(2, 3, [6]) == 5 * 4
    assert tests.deepest([2], 3, [0, 4]) == 2
    found = tests.separate([0], 5, [2, 3])[0]
    assert found.log_p == max(inner.test(6, 5, z).log_p for z in ((), (2,), (3,), (2, 3)))


def test_numbers_are_tested_jointly_as_in_a_regression():
    rng = np.random.default_rng(3)
    values = rng.normal(size=(400, 4))
    values[:, 3] += 0.15 * values[:, 0] + 0.1 * values[:, 1] + 0.5 * values[:, 2]
    evidence = TogetherTests(PartialCorrelation(values, list("abcd")), {0: (0, 1)}).test(0, 3, [2])
    whole = OLS(values[:, 3], np.column_stack([np.ones(400), values[:, :3]])).fit()
    part = OLS(values[:, 3], np.column_stack([np.ones(400), values[:, 2]])).fit()
    # Fisher's z and the likelihood ratio agree to first order in the squared partial correlations.
    assert evidence.log_p == pytest.approx(chi2.logsf(2 * (whole.llf - part.llf), 2), rel=0.03)
    assert evidence.dof == 2
    assert evidence.method == "2 tests of columns that belong together, combined"


def test_an_untested_link_leaves_the_group_untested():
    codes = np.random.default_rng(0).integers(0, 3, (30, 3))
    tests = TogetherTests(TableTests(MemoryCounter(Frame.from_codes(codes, arities=[3] * 3))), {0: (0, 1)})
    assert not tests.test(0, 2).reliable  # the second link needs 60 rows


def test_layers_keep_the_contract(codes):
    inner = TableTests(MemoryCounter(Frame.from_codes(codes)), reliability=0.0)
    check_test(TogetherTests(inner, {0: (0, 1)}))
    check_test(TieredTests(inner, {}, lambda a, b: False))


def test_later_columns_do_not_separate_earlier_ones():
    graph = nx.DiGraph([("a", "b"), ("b", "c"), ("c", "d")])  # columns 0 to 3
    tests = TieredTests(DSeparation(graph), {0: 0, 2: 0, 1: 1}, lambda a, b: False)  # wrongly: b comes after a and c
    both = tests.separate([0, 3], 2, [1], stop_at=0.01)
    assert both.xs.tolist() == [0, 3]
    assert both.dependent(0.01).tolist() == [True, True]
    assert tests.separate([0], 2, [1], containing=1)[0].given == (1,)  # another question: all sets are tried
    assert tests.separate([0], 3, [1, 2])[0].given == (1,)  # nothing is known of d
    assert len(tests.separate([], 2, [1])) == 0
