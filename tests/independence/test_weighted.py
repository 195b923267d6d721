"""Numbers in rows that are not equal and independent draws: groups, weights of a survey, weights for gaps."""

import numpy as np
import pytest
from scipy import stats

from blankets.data import ingest
from blankets.independence import NumberTests, SeenModel, Units


def numbers(**columns):
    return ingest(columns, numbers=True).frame


def test_one_row_groups_and_equal_weights_change_little():
    """What blocks gain is compared with the spread that rows show, instead of one variance: nearly the same."""
    rng = np.random.default_rng(1)
    z = rng.normal(size=250)
    frame = numbers(x=z + rng.normal(size=250), y=np.exp(z + rng.normal(size=250)), z=z, c=rng.integers(0, 3, 250))
    plain = NumberTests(frame)
    for weights, groups in ((np.full(250, 2.5), None), (None, np.arange(250)[::-1].copy())):
        tests = NumberTests(frame, units=Units(frame, weights, groups))
        for x, y, given in ((0, 1, (2,)), (0, 3, ()), (3, 1, (0, 2))):
            found = tests.test(x, y, given)
            assert found.log_p == pytest.approx(plain.test(x, y, given).log_p, abs=0.7)
            assert found.reliable


def test_size_for_numbers_in_groups():
    rng, group = np.random.default_rng(5), np.repeat(np.arange(30), 10)
    rejected = plain = 0
    for _ in range(80):
        x, y = rng.normal(size=(2, 30))[:, group] + rng.normal(size=(2, 300))
        frame = numbers(x=x, y=y)
        rejected += NumberTests(frame, units=Units(frame, groups=group)).test(0, 1).p <= 0.05
        plain += NumberTests(frame).test(0, 1).p <= 0.05
    assert rejected <= stats.binom.ppf(0.999, 80, 0.05 * 1.3)
    assert plain > stats.binom.ppf(0.999, 80, 0.05 * 1.3)


def test_few_groups_leave_fewer_functions_or_none():
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(16), 10)
    frame = numbers(x=rng.normal(size=160), y=rng.normal(size=160), c=rng.integers(0, 6, 160).astype(str))
    tests = NumberTests(frame, units=Units(frame, groups=group))
    assert tests.test(0, 1).reliable
    assert not tests.test(0, 2).reliable  # five levels beside the first would need 25 groups
    assert np.isfinite(tests.scan([0], 2, even_if_unreliable=True).statistic[0])
    assert tests.rows_for(0, 1, [2]) == 5.0 * (1 + 5 + 1)


def test_survey_weights_are_those_of_the_population():
    """x and y are independent, but drawn five times as often where they have the same sign."""
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(2, 3000))
    drawn = rng.random(3000) < np.where(x * y > 0, 0.5, 0.1)
    frame = numbers(x=x[drawn], y=y[drawn])
    weights = np.where(x * y > 0, 2.0, 10.0)[drawn]
    assert NumberTests(frame).test(0, 1).dependent(1e-9)
    found = NumberTests(frame, units=Units(frame, weights)).test(0, 1)
    assert not found.dependent(0.05)


def gappy(n=1500, slope=0.7, seed=0):
    """Return x (from u and z), y (from z), u and z; x is missing where u and y are high."""
    rng = np.random.default_rng(seed)
    u, z = rng.normal(size=(2, n))
    x, y = u + z + rng.normal(size=n), z + rng.normal(size=n)
    x[rng.random(n) < 1 / (1 + np.exp(-slope * (u + y)))] = np.nan
    return numbers(x=x, y=y, u=u, z=z)


def test_gaps_that_depend_on_another_column_are_weighed():
    model = SeenModel(gappy())
    assert set(model.telling[0]) >= {1, 2}
    weights = model.of(0, 1, (3,))
    assert weights is not None
    assert model.of(1, 2, ()) is None  # both complete
    assert model.of(0, 1, (2, 3)) is None  # given u, the gaps of x depend on y and u alone
    frame = model.frame
    # The weighted rows look like all rows: their mean of u is that of the table, which rows with x have not.
    seen = ~frame.gaps(0)
    u = frame.numbers[2].values
    by_all = model.of_rows([0])
    assert abs(u[seen].mean() - u.mean()) > 0.1
    assert np.average(u[seen], weights=by_all[seen]) == pytest.approx(u.mean(), abs=0.05)


def test_weights_that_are_too_unequal_make_no_test():
    frame = gappy(slope=4.0)
    tests = NumberTests(frame, units=Units(frame, model=SeenModel(frame)))
    assert not tests.test(0, 1, (3,)).reliable
    assert tests.test(1, 2).reliable


@pytest.mark.parametrize("grouped", [True, False])
def test_a_column_that_does_not_vary_among_the_rows_of_a_test_tells_nothing(grouped):
    rng = np.random.default_rng(6)
    x, gap = rng.normal(size=200), np.arange(200) < 80
    frame = numbers(x=x, y=np.where(gap, np.nan, x + rng.normal(size=200)), c=np.where(gap, x, 1.0))
    groups = np.repeat(np.arange(50), 4) if grouped else None
    found = NumberTests(frame, units=Units(frame, rng.uniform(1.0, 2.0, 200), groups)).test(2, 1)
    assert (found.n_rows, found.dof, found.p) == (120, 0.0, 1.0)
