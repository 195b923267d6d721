import math

import numpy as np
import pytest
from scipy.stats import chi2

from blankets import kernels
from blankets.counting import MemoryCounter
from blankets.data import Frame
from blankets.errors import ParameterError
from blankets.independence import TableTests, _tables
from count_twins import g_test

ARITIES = [2, 3, 4, 2, 3, 5]


@pytest.fixture(scope="module")
def codes():
    rng = np.random.default_rng(11)
    table = np.column_stack([rng.integers(0, a, 900) for a in ARITIES])
    table[:, 1] = (table[:, 0] + (rng.random(900) < 0.3)) % 3
    table[:, 3] = (table[:, 1] > 0) ^ (rng.random(900) < 0.2)
    return table


def answers_on(codes, **options):
    return TableTests(MemoryCounter(Frame.from_codes(codes, arities=ARITIES)), **options)


@pytest.mark.parametrize(("statistic", "lambda_"), [("g", "log-likelihood"), ("x2", "pearson")])
@pytest.mark.parametrize("given", [(), (2,), (2, 5), (0, 2, 4)])
def test_scan_equals_scipy(codes, statistic, lambda_, given):
    tests = answers_on(codes, statistic=statistic, reliability=0)
    xs = [x for x in range(6) if x != 3 and x not in given]
    for evidence in tests.scan(xs, 3, given):
        reference, dof = g_test(codes, ARITIES, evidence.x, 3, given, lambda_)
        assert evidence.statistic == pytest.approx(reference, rel=1e-10)
        assert evidence.dof == dof
        assert evidence.log_p == pytest.approx(chi2.logsf(reference, dof), rel=1e-10)
        assert evidence.effect == pytest.approx(reference / (2 * 900), rel=1e-10)
        assert (evidence.n_rows, evidence.given, evidence.reliable) == (900, given, True)


def test_nominal_dof_is_the_textbook_product(codes):
    evidence = answers_on(codes, dof="nominal", reliability=0).test(1, 3, given=[2, 4])
    assert evidence.dof == (3 - 1) * (2 - 1) * 4 * 3
    assert evidence.log_p == pytest.approx(chi2.logsf(evidence.statistic, 24), rel=1e-10)


def test_symmetric_in_x_and_y(codes):
    tests = answers_on(codes)
    for given in ((), (2,), (0, 4)):
        one, other = tests.test(1, 3, given), tests.test(3, 1, given)
        assert one.statistic == pytest.approx(other.statistic, rel=1e-12)
        assert one.dof == other.dof


def test_reliability_counts_rows_per_nominal_degree_of_freedom(codes):
    # 900 rows; x1 (3 levels) and x3 (2 levels) given x2 (4) and x5 (5): 2 · 1 · 4 · 5 = 40 degrees of freedom.
    assert answers_on(codes, reliability=900 / 40).test(1, 3, given=[2, 5]).reliable
    unreliable = answers_on(codes, reliability=900 / 40 + 0.01).test(1, 3, given=[2, 5])
    assert not unreliable.reliable
    assert not unreliable.dependent(0.05)
    assert not unreliable.independent(0.05)
    assert math.isnan(unreliable.statistic)


def test_unreliable_tests_are_not_performed_unless_asked_for(codes):
    tests = answers_on(codes, reliability=100)
    batch = tests.scan([0, 5], 2)  # 3 and 12 degrees of freedom against 9 allowed
    assert batch.reliable.tolist() == [True, False]
    assert tests.n_tests == 1
    forced = tests.scan([0, 5], 2, even_if_unreliable=True)
    assert np.isfinite(forced.statistic).all()
    assert forced.reliable.tolist() == [True, False]


def test_a_test_is_counted_once_and_remembered(codes):
    tests = answers_on(codes)
    first, second = tests.scan([1, 2], 0, [3, 4]), tests.scan([1, 2], 0, [4, 3])
    assert tests.n_tests == 2
    assert second.statistic.tolist() == first.statistic.tolist()


def test_the_cache_is_bounded(codes, monkeypatch):
    monkeypatch.setattr(_tables, "_CACHED_TESTS", 10)
    tests = answers_on(codes)
    for x in range(1, 6):
        tests.scan([z for z in range(6) if z not in (0, x)], 0, [x])
    assert sum(len(batch) for batch in tests._kept.values()) <= 10


def test_strongest_by_p_value_and_by_information(codes):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    wide = rng.integers(0, 120, 600)  # noise, but of many levels
    narrow = (y + (rng.random(600) < 0.38)) % 2
    frame = Frame.from_codes(np.column_stack([y, wide, narrow]))
    by_p, by_effect = (TableTests(MemoryCounter(frame), reliability=0, strength=s) for s in ("p-value", "information"))
    batch = by_p.scan([1, 2], 0)
    assert batch.effect[0] > batch.effect[1]  # more levels, more plug-in information ...
    assert batch.log_p[0] > batch.log_p[1]  # ... and yet less significant
    assert by_p.scan([1, 2], 0).strongest(0.05).x == 2
    assert by_effect.scan([1, 2], 0).strongest(0.9999).x == 1
    # errata F1: the largest information is not significant; the significant one must still be found.
    assert not by_effect.scan([1, 2], 0).dependent(0.001)[0]
    assert by_effect.scan([1, 2], 0).strongest(0.001).x == 2


def test_ties_go_to_the_earlier_column():
    column = np.array([0, 1] * 50)
    codes = np.column_stack([column, column, column])
    tests = TableTests(MemoryCounter(Frame.from_codes(codes)))
    assert tests.scan([2, 1], 0).strongest(0.01).x == 1


def test_p_values_far_below_the_smallest_float_still_rank():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 20_000)
    good, better = ((y + (rng.random(20_000) < p)) % 2 for p in (0.1, 0.05))
    tests = TableTests(MemoryCounter(Frame.from_codes(np.column_stack([y, good, better]))))
    batch = tests.scan([1, 2], 0)
    assert [e.p for e in batch] == [0.0, 0.0]
    assert batch.strongest(0.01).x == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"statistic": "chi"}, "unknown statistic 'chi'"),
        ({"dof": "ajusted"}, "did you mean 'adjusted'"),
        ({"strength": "size"}, "unknown strength"),
        ({"reliability": -1}, "'reliability' must be"),
    ],
)
def test_wrong_options(codes, options, message):
    with pytest.raises(ParameterError, match=message):
        answers_on(codes, **options)


@pytest.mark.compiled
def test_size_of_the_test_under_independence():
    # 4000 independent pairs with three levels in two strata: the share of p <= 0.05 is binomial.
    rng = np.random.default_rng(5)
    codes = np.column_stack([rng.integers(0, 2, 1000), rng.integers(0, 3, 1000), rng.integers(0, 3, (1000, 4000))])
    tests = TableTests(MemoryCounter(Frame.from_codes(codes)))
    rejected = tests.scan(range(2, 4002), 1, [0]).dependent(0.05).mean()
    assert rejected == pytest.approx(0.05, abs=4 * math.sqrt(0.05 * 0.95 / 4000))


def test_the_strongest_is_found_without_all_p_values():
    rng = np.random.default_rng(6)
    for trial in range(40):
        arities = rng.choice([2, 3, 4], 60)
        codes = np.column_stack([rng.integers(0, a, 300) for a in (2, *arities)])
        codes[:, 7] = np.where(rng.random(300) < 0.02 * trial, codes[:, 0], codes[:, 7])
        codes[:, 9] = codes[:, 3]  # a tie, and often one for the first place
        tests = TableTests(MemoryCounter(Frame.from_codes(codes)))
        xs = rng.permutation(np.arange(1, 61))
        fast, slow = tests.scan(xs, 0).strongest(0.5), tests.scan(xs[::-1].copy(), 0)
        order = np.lexsort((slow.xs, -slow.statistic, chi2.logsf(slow.statistic, slow.dof).round(9)))
        assert fast.x == slow.xs[order[0]]
        assert tests.scan(xs, 0).strongest(1e-200) is None


@pytest.mark.parametrize("dof", ["adjusted", "nominal"])
def test_drop_one_from_a_joint_table_is_what_single_tests_say(codes, dof):
    for reliability in (0, 5, 20):
        tests = answers_on(codes, reliability=reliability, dof=dof)
        for members in ((1, 0), (4, 1, 2), (0, 5, 2, 4, 1)):
            batch = tests.drop_one(members, 3)
            for evidence, x in zip(batch, members, strict=True):
                single = tests.test(x, 3, [z for z in members if z != x])
                assert evidence.given == tuple(z for z in members if z != x)
                assert evidence.reliable == single.reliable
                if single.reliable:
                    assert (evidence.statistic, evidence.dof, evidence.log_p) == (
                        single.statistic,
                        single.dof,
                        single.log_p,
                    )


def test_drop_one_falls_back_where_the_joint_table_is_large():
    codes = np.random.default_rng(0).integers(0, [30, 30, 30, 2], (2000, 4))
    tests = TableTests(MemoryCounter(Frame.from_codes(codes)), reliability=0.0)
    assert kernels.drop_each(tests._table, tests._formula, np.arange(3), 3)[0] == -1
    for evidence in tests.drop_one((0, 1, 2), 3):
        reference, _ = g_test(codes, [30, 30, 30, 2], evidence.x, 3, evidence.given, "log-likelihood")
        assert evidence.statistic == pytest.approx(reference, rel=1e-10)
