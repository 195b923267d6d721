import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.stats import chi2, t

from blankets.errors import ParameterError
from blankets.stats import expected_false_members


def test_without_members_the_expected_number_is_alpha_times_the_number_tested():
    # 1000 uniform p-values: twice those above one half estimates 1000, with standard deviation sqrt(1000).
    rng = np.random.default_rng(0)
    found = expected_false_members(np.log(rng.random(1000)), np.ones(1000), 0.05)
    assert (found.n_tested, found.at_most) == (1000, pytest.approx(50.0))
    assert found.expected == pytest.approx(50.0, abs=0.05 * 4 * math.sqrt(1000))


def test_members_are_not_counted_as_true_hypotheses():
    log_p = np.concatenate([np.full(60, -50.0), np.log(np.linspace(0.005, 0.995, 100))])
    found = expected_false_members(log_p, np.ones(160), 0.01)
    assert found.at_most == pytest.approx(1.6)
    assert found.expected == pytest.approx(1.0)
    assert found.share_of(61) == pytest.approx(1 / 61)
    assert found.share_of(0) == 0.0


def test_tests_that_were_not_performed_or_had_nothing_to_test_do_not_count():
    log_p, dof = np.array([np.nan, 0.0, -9.0, math.log(0.7)]), np.array([4.0, 0.0, 1.0, 1.0])
    found = expected_false_members(log_p, dof, 0.1)
    assert (found.n_tested, found.at_most, found.expected) == (2, pytest.approx(0.2), pytest.approx(0.2))
    nothing = expected_false_members(np.array([np.nan]), np.zeros(1), 0.1)
    assert (nothing.n_tested, nothing.at_most, nothing.expected) == (0, 0.0, 0.0)


@pytest.mark.compiled
def test_it_predicts_the_false_members_of_a_search():
    # A target that nothing depends on, 60 candidates, grow by one test each given nothing: errors are binomial.
    from blankets.counting import MemoryCounter
    from blankets.data import Frame
    from blankets.independence import CalibratedTests

    rng = np.random.default_rng(4)
    stated, counted = [], []
    for _ in range(60):
        codes = rng.integers(0, 3, (400, 61))
        batch = CalibratedTests(MemoryCounter(Frame.from_codes(codes))).scan(range(1, 61), 0)
        stated.append(expected_false_members(batch.log_p, batch.dof, 0.05).expected)
        counted.append(np.count_nonzero(batch.dependent(0.05)))
    assert np.mean(stated) == pytest.approx(np.mean(counted), abs=4 * math.sqrt(60 * 0.05 / 60))


def test_wrong_level():
    with pytest.raises(ParameterError, match="'alpha' must be a significance level"):
        expected_false_members(np.zeros(1), np.ones(1), 0.0)


@pytest.mark.parametrize(("ends", "n_true", "dof"), [(1, 0, 1), (2, 0, 2), (2, 3, 1)])
def test_searches_by_subsets_leave_what_no_subset_separates(ends, n_true, dof):
    # The same by SciPy, as a differential equation: those who stay, from the strongest G of a wrong test down.
    alpha, n = 0.05, 40
    log_p = np.log(np.linspace(0.0125, 0.9875, n))  # half of them above one half
    deeper = chi2.isf(alpha, dof + dof**2)

    def slope(p, stayed):
        s = chi2.sf(max(deeper - chi2.isf(p, dof), 0.0), dof**2)
        return [n * s**n_true * math.exp(-e * stayed[0] * (1 - s)) for e in (1, ends)]

    at_one_end_and_all = solve_ivp(slope, (0, alpha), [0.0, 0.0], rtol=1e-8, atol=1e-10, max_step=alpha / 200).y[:, -1]
    found = expected_false_members(log_p, np.full(n, dof), alpha, ends=ends, n_true=n_true)
    assert found.expected == pytest.approx(at_one_end_and_all[1], rel=5e-3)


def test_what_functions_of_columns_admit_by_chance_no_subset_separates():
    alpha, n = 0.05, 40
    log_p = np.log(np.linspace(0.0125, 0.9875, n))
    every, half = np.ones(n, bool), np.arange(n) % 2 == 0

    def expected(of, **how):
        return expected_false_members(of, np.ones(len(of)), alpha, ends=2, **how).expected

    assert expected(log_p, by_functions=every) == pytest.approx(alpha * n)
    by_tables = np.log(np.linspace(0.025, 0.975, n // 2))  # as many as are not tested by functions
    assert expected(log_p, by_functions=half) == pytest.approx(alpha * n / 2 + expected(by_tables))
    # Given one more unrelated column, a wrong test of two numbers is mostly wrong again.
    rng = np.random.default_rng(0)
    x, y, z = (v - v.mean(axis=1, keepdims=True) for v in rng.normal(size=(3, 20_000, 300)))
    x, y, z = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (x, y, z))
    xy, xz, yz = ((a * b).sum(axis=1) for a, b in ((x, y), (x, z), (y, z)))
    critical = t.isf(0.005, [298, 297])
    critical = critical / np.sqrt([298, 297] + critical**2)  # of correlations
    wrong = np.abs(xy) > critical[0]
    again = np.abs(xy - xz * yz) / np.sqrt((1 - xz**2) * (1 - yz**2)) > critical[1]
    assert again[wrong].mean() > 0.85  # about 0.95; by (16.2), for tables of two levels, 0.43
