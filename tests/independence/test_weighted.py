"""Numbers in rows that are not equal and independent draws: groups, weights of a survey, weights for gaps."""

import numpy as np
import pytest
from scipy import stats

from blankets.data import Frame, ingest
from blankets.independence import SeenBlocks, SeenModel, Units, WeightedBlocks
from blankets.stats import Drawn
from blankets.stats._drawn import _Refitted


def numbers(**columns):
    return ingest(columns, numbers=True).frame


def naive_statistic(x, y, weights, groups):
    """T² of two centered columns, group by group, by the formula and nothing else."""
    share = weights / weights.sum()
    x, y = x - share @ x, y - share @ y
    total, spread = 0.0, 0.0
    for group in np.unique(groups):
        at = groups == group
        own = share[at].sum()  # also the leverage of the group: the weighted mean alone was fitted
        plain = (share[at] * x[at] * y[at]).sum()
        common = (share[at] @ x[at]) * (share[at] @ y[at]) / own
        total += plain
        spread += (plain + common * (1 / np.sqrt(1 - own) - 1)) ** 2
    return total**2 / spread


@pytest.mark.parametrize("grouped", [True, False])
def test_statistic_is_the_formula(grouped):
    rng = np.random.default_rng(3)
    x, y = rng.integers(0, 2, (2, 300))
    weights, groups = rng.uniform(0.5, 4.0, 300), rng.integers(0, 40, 300)
    frame = Frame.from_codes(np.column_stack([x, y]))
    found = WeightedBlocks(frame, Units(frame, weights, groups if grouped else None)).test(0, 1)
    expected = naive_statistic(x, y, weights, groups if grouped else np.arange(300))
    assert (found.statistic, found.dof, found.n_rows) == (pytest.approx(expected, rel=1e-9), 1, 300)


def test_one_row_groups_and_equal_weights_change_nothing():
    rng = np.random.default_rng(1)
    z = rng.normal(size=250)
    frame = numbers(x=z + rng.normal(size=250), y=np.exp(z + rng.normal(size=250)), z=z, c=rng.integers(0, 3, 250))
    plain = SeenBlocks(frame)
    for weights, groups in ((None, None), (np.full(250, 2.5), None), (None, np.arange(250)[::-1].copy())):
        tests = WeightedBlocks(frame, Units(frame, weights, groups))
        for x, y, given in ((0, 1, (2,)), (0, 3, ()), (3, 1, (0, 2))):
            by_rows = plain.test(x, y, given)
            if by_rows.log_p > np.log(0.3):  # decided from inner products there
                continue
            widths_may_differ = groups is not None and given
            assert widths_may_differ or tests.test(x, y, given).log_p == pytest.approx(by_rows.log_p, rel=1e-6)


def test_size_for_numbers_in_groups():
    rng, group = np.random.default_rng(5), np.repeat(np.arange(30), 10)
    rejected = plain = 0
    for _ in range(80):
        x, y = rng.normal(size=(2, 30))[:, group] + rng.normal(size=(2, 300))
        frame = numbers(x=x, y=y)
        rejected += WeightedBlocks(frame, Units(frame, groups=group)).test(0, 1).p <= 0.05
        plain += WeightedBlocks(frame, Units(frame)).test(0, 1).p <= 0.05
    assert rejected <= stats.binom.ppf(0.999, 80, 0.05 * 1.3)
    assert plain > stats.binom.ppf(0.999, 80, 0.05 * 1.3)


def test_law_of_a_fit_that_takes_much_of_the_groups():
    """Signs of all residuals of a group, a new regression of every row, T² by the formula: as in the wild bootstrap."""
    rng = np.random.default_rng(8)
    groups, weights = np.repeat(np.arange(14), 3), rng.uniform(0.5, 2.0, 42)
    share = weights / weights.sum()
    design = np.column_stack([np.ones(42), rng.normal(size=14)[groups], rng.normal(size=42)])
    fit = design @ np.linalg.solve((design.T * share) @ design, design.T * share)
    x, y = (f - f @ fit.T for f in (rng.normal(size=(2, 42)), rng.normal(size=(1, 42))))
    basis = np.linalg.qr(np.sqrt(share)[:, None] * design)[0].T[1:]
    own = np.array([share[groups == g].sum() for g in range(14)])
    left = 1.0 - np.array([share[at] @ fit[np.ix_(at, at)].sum(1) for at in (groups == g for g in range(14))]) / own

    def by_groups(one, other):
        """Products of residuals of each group, and what its rows have in common of them."""
        sums = np.array([[(share * a * b)[groups == g].sum() for g in range(14)] for a in one for b in other])
        means = [np.array([[(share * a)[groups == g].sum() for g in range(14)] for a in f]) / own for f in (one, other)]
        return sums, np.array([a * b for a in means[0] for b in means[1]]) * own

    def redrawn(one, other, signs):
        """T² of all pairs, if rows of the other get signs."""
        means = np.array([[(share * b)[groups == g].sum() / own[g] for g in range(14)] for b in other])
        drawn = (other + (means * (1 / np.sqrt(left) - 1))[:, groups]) * signs[groups]
        sums, common = by_groups(one, drawn - drawn @ fit.T)
        scaled = sums + common * (1 / np.sqrt(left) - 1)
        return sums.sum(1) @ np.linalg.solve(scaled @ scaled.T, sums.sum(1))

    unit = np.sqrt(share)
    law = _Refitted(x * unit, y * unit, basis, np.sqrt(left), Drawn(unit, groups))
    every = np.random.default_rng(0).choice([-1.0, 1.0], (256, 14))
    expected = [redrawn(one, other, signs) for one, other in ((x, y), (y, x)) for signs in every]
    sums, common = by_groups(x, y)
    scaled = sums + common * (1 / np.sqrt(left) - 1)
    root = np.linalg.inv(np.linalg.cholesky(scaled @ scaled.T)) @ scaled
    plain = ((every @ root.T) ** 2).sum(1)  # T² of signs alone, whose mean 2 and variance are known
    variance = np.var(expected) - np.var(plain) + 2 * (2 - ((root**2).sum(0) ** 2).sum())
    found = law.moments(np.linalg.inv(np.linalg.cholesky(scaled @ scaled.T)))
    assert found == pytest.approx((np.mean(expected) - np.mean(plain) + 2, variance), rel=1e-9)


def test_few_groups_leave_fewer_functions_or_none():
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(16), 10)
    frame = numbers(x=rng.normal(size=160), y=rng.normal(size=160), c=rng.integers(0, 6, 160).astype(str))
    tests = WeightedBlocks(frame, Units(frame, groups=group))
    assert tests.test(0, 1).dof == 1  # four pairs of functions would need 20 groups
    assert not tests.test(0, 2).reliable  # five levels beside the first would need 25
    assert np.isfinite(tests.scan([0], 2, even_if_unreliable=True).statistic[0])
    assert tests.rows_for(0, 1, [2]) == 5.0 * (5 + 1)


def test_survey_weights_are_those_of_the_population():
    """x and y are independent, but drawn five times as often where they have the same sign."""
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(2, 3000))
    drawn = rng.random(3000) < np.where(x * y > 0, 0.5, 0.1)
    frame = numbers(x=x[drawn], y=y[drawn])
    weights = np.where(x * y > 0, 2.0, 10.0)[drawn]
    assert WeightedBlocks(frame, Units(frame)).test(0, 1).dependent(1e-9)
    found = WeightedBlocks(frame, Units(frame, weights)).test(0, 1)
    assert not found.dependent(0.05)
    assert found.method.startswith("products of residuals, weighted")


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
    tests = WeightedBlocks(frame, Units(frame, model=SeenModel(frame)))
    assert not tests.test(0, 1, (3,)).reliable
    assert tests.test(1, 2).reliable


@pytest.mark.parametrize("grouped", [True, False])
def test_a_column_that_does_not_vary_among_the_rows_of_a_test_tells_nothing(grouped):
    rng = np.random.default_rng(6)
    x, gap = rng.normal(size=200), np.arange(200) < 80
    frame = numbers(x=x, y=np.where(gap, np.nan, x + rng.normal(size=200)), c=np.where(gap, x, 1.0))
    groups = np.repeat(np.arange(50), 4) if grouped else None
    found = WeightedBlocks(frame, Units(frame, rng.uniform(1.0, 2.0, 200), groups)).test(2, 1)
    assert (found.n_rows, found.dof, found.p) == (120, 0.0, 1.0)
