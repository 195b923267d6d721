import math

import numpy as np
import pytest

from blankets.errors import ParameterError
from blankets.stats import Admission, expected_false_members
from blankets.stats._by_chance import by_functions, by_tables


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


def test_a_search_that_looks_again_has_more_chances():
    log_p = np.log(np.linspace(0.0125, 0.9875, 40))  # half of them above one half
    once, again = (
        expected_false_members(log_p, np.ones(40), 0.05, how=Admission(deepest=deepest)) for deepest in (0, 5)
    )
    assert once.expected == pytest.approx(1 - math.exp(-2))  # one look, after which the strongest enters
    assert again.expected > 2.5  # see test_by_chance.py
    for found in (once, again):
        assert found.at_most == pytest.approx(2 * (1 + found.expected))  # a look more for each that enters
    assert expected_false_members(log_p, np.ones(40), 0.05, n_chances=200).at_most == pytest.approx(10.0)


def test_tables_and_functions_have_laws_of_their_own():
    alpha, n = 0.05, 40
    log_p, half = np.log(np.linspace(0.0125, 0.9875, n)), np.arange(n) % 2 == 0
    how = Admission(ends=2, n_rows=500)
    both = expected_false_members(log_p, np.where(half, 1, 2), alpha, how=how, functions=half).expected
    assert both == pytest.approx(by_functions(20, 1.0, alpha, how, n) + by_tables(20, 2.0, alpha, how, n))
