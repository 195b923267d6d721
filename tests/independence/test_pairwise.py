"""Pairwise deletion against sums written out cell by cell, and what its statistic is distributed like."""

import math
from itertools import product

import numpy as np
import pytest

from blankets.counting import MemoryCounter
from blankets.data import Frame
from blankets.independence import PairwiseTests, RoutedTests, TableTests

TARGET = 2


def table(seed=0, n=800):
    """Three-level features and a target that is labeled where it is 0 or 1, and unlabeled where it is 2."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, (n, 5))
    codes[:, TARGET] = (codes[:, 0] + rng.integers(0, 2, n)) % 2
    codes[rng.random(n) < 0.5, TARGET] = 2
    return codes


def pairwise(codes, **options):
    known = codes[codes[:, TARGET] < 2]
    arities = [3, 3, 2, 3, 3]
    labeled = TableTests(MemoryCounter(Frame.from_codes(known, arities=arities)), **options)
    everyone = MemoryCounter(Frame.from_codes(codes, arities=[3] * 5))
    return PairwiseTests(TARGET, everyone, labeled), labeled


def naive_g(codes, x, given):
    """Errata A5, cell by cell."""
    labeled = codes[codes[:, TARGET] < 2]
    total = 0.0
    for z in product(range(3), repeat=len(given)):
        in_all = codes[(codes[:, given] == z).all(axis=1)]
        here = labeled[(labeled[:, given] == z).all(axis=1)]
        for level, y in product(range(3), range(2)):
            cell = int(((here[:, x] == level) & (here[:, TARGET] == y)).sum())
            if cell:
                share = cell / int((here[:, TARGET] == y).sum())
                total += 2 * cell * math.log(share / ((in_all[:, x] == level).sum() / len(in_all)))
    return total


@pytest.mark.parametrize("given", [[], [1], [1, 3], [1, 3, 4]])
def test_the_statistic_is_that_of_the_formula(given):
    codes = table()
    tests, labeled = pairwise(codes, reliability=0)
    evidence = tests.test(0, TARGET, given)
    assert evidence.statistic == pytest.approx(naive_g(codes, 0, given), rel=1e-12)
    assert evidence.n_rows == (codes[:, TARGET] < 2).sum()
    # By Gibbs' inequality it is never below the G of the labeled rows.
    assert evidence.statistic >= labeled.test(0, TARGET, given).statistic


def test_the_target_may_stand_on_either_side():
    tests, _ = pairwise(table())
    one, other = tests.test(0, TARGET, [1]), tests.scan([TARGET], 0, [1])[0]
    assert (one.statistic, one.dof, one.log_p) == (other.statistic, other.dof, other.log_p)
    assert (other.x, other.y) == (TARGET, 0)


def test_given_the_target_only_labeled_rows_count():
    tests, labeled = pairwise(table())
    assert tests.test(0, 1, [TARGET]).statistic == labeled.test(0, 1, [TARGET]).statistic


def test_reliability_and_degrees_of_freedom_are_those_of_the_labeled_rows():
    codes = table(n=300)
    n_labeled = int((codes[:, TARGET] < 2).sum())
    dof = 2 * 1 * 3 * 3  # nominal: three levels, two classes, nine strata
    enough, too_much = n_labeled / dof, (n_labeled + 1) / dof
    assert pairwise(codes, reliability=enough)[0].test(0, TARGET, [1, 3]).reliable
    tests, labeled = pairwise(codes, reliability=too_much)
    refused = tests.test(0, TARGET, [1, 3])
    assert not refused.reliable
    assert math.isnan(refused.statistic)
    assert tests.n_tests == 0
    assert tests.deepest([0], TARGET, [1, 3]) == labeled.deepest([0], TARGET, [1, 3])
    assert not math.isnan(tests.scan([0], TARGET, [1, 3], even_if_unreliable=True).statistic[0])
    nominal = pairwise(codes, dof="nominal", reliability=1)[0].test(0, TARGET, [1, 3])
    assert nominal.dof == dof


def test_empty_levels_cost_degrees_of_freedom():
    codes = table()
    codes = codes[~((codes[:, 1] == 0) & (codes[:, 0] == 2))]  # in the first stratum x has two levels
    codes = codes[~((codes[:, 1] == 1) & (codes[:, TARGET] == 1))]  # in the second one class is labeled
    assert pairwise(codes)[0].test(0, TARGET, [1]).dof == 1 + 0 + 2


@pytest.mark.compiled
def test_it_is_not_chi_square():
    """With labels missing at random G is the χ² of the labeled rows plus (1 - share labeled) χ²(|X| - 1)."""
    rng = np.random.default_rng(1)
    n, n_labeled, n_draws = 2000, 400, 600
    statistics = []
    for _ in range(n_draws):
        codes = np.zeros((n, 5), np.int64)
        codes[:, 0] = rng.integers(0, 3, n)
        codes[:, TARGET] = np.where(np.arange(n) < n_labeled, rng.integers(0, 2, n), 2)
        statistics.append(pairwise(codes)[0].test(0, TARGET).statistic)
    expected = 2 + (1 - n_labeled / n) * 2
    error = math.sqrt((2 * 2 + (1 - n_labeled / n) ** 2 * 2 * 2) / n_draws)
    assert abs(np.mean(statistics) - expected) < 4 * error


def test_two_phase_searches_can_use_it():
    codes = table()
    tests, _ = pairwise(codes)
    features = TableTests(MemoryCounter(Frame.from_codes(codes, arities=[3] * 5)))
    routed = RoutedTests(TARGET, tests, features)
    batch = routed.separate([0, 3], TARGET, [1, 4])
    assert batch.reliable.all()
    assert routed.test(0, 1).n_rows == len(codes)
