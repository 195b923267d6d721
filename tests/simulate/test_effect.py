"""Variables of a given effect: the information is summed by hand."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import chisquare

from blankets.errors import ParameterError
from blankets.simulate import most_information, sample_given_class, variable_with_information


def summed(prior: list[float], table: np.ndarray) -> float:
    """Return I(X; Y), term by term with compensated sums."""
    p_x = [math.fsum(p * row[x] for p, row in zip(prior, table, strict=True)) for x in range(table.shape[1])]
    return math.fsum(
        p * row[x] * math.log(row[x] / p_x[x])
        for p, row in zip(prior, table, strict=True)
        for x in range(len(row))
        if p * row[x] > 0
    )


@pytest.mark.parametrize("prior", [[0.8, 0.2], [0.5, 0.5], [0.99, 0.01], [0.2, 0.5, 0.3], [0.1, 0.2, 0.3, 0.4]])
@pytest.mark.parametrize("arity", [2, 3, 10])
@pytest.mark.parametrize("share", [1e-6, 0.01, 0.3, 0.9, 0.999, 1.0])
def test_the_information_is_what_was_asked_for(prior, arity, share):
    wanted = share * most_information(prior, arity)
    for seed in range(5):
        table = variable_with_information(prior, arity, wanted, rng=seed)
        assert table.shape == (len(prior), arity)
        assert np.all(table >= 0)
        np.testing.assert_allclose(table.sum(axis=1), 1, atol=1e-12)
        assert summed(prior, table) == pytest.approx(wanted, abs=1e-10)


def test_no_information_is_independence():
    table = variable_with_information(0.3, 4, 0.0, rng=0)
    assert np.array_equal(table[0], table[1])


def test_draws_differ_and_repeat_with_the_seed():
    one, two = (variable_with_information(0.2, 3, 0.05, rng=seed) for seed in (0, 1))
    assert not np.allclose(one, two)
    assert np.array_equal(one, variable_with_information(0.2, 3, 0.05, rng=0))


def test_a_number_is_the_prior_of_class_one():
    table = variable_with_information(0.2, 3, 0.05, rng=0)
    assert np.array_equal(table, variable_with_information([0.8, 0.2], 3, 0.05, rng=0))


@pytest.mark.parametrize("prior", [[0.7, 0.3], [0.4, 0.3, 0.2, 0.1], [0.05, 0.05, 0.3, 0.6]])
@pytest.mark.parametrize("arity", [1, 2, 3, 5])
def test_the_most_possible_is_that_of_the_best_function_of_the_class(prior, arity):
    # Information is convex in p(x|y): its maximum is at a deterministic table. All of them are tried here.
    best = 0.0
    for function in product(range(arity), repeat=len(prior)):
        best = max(best, summed(prior, np.eye(arity)[list(function)]))
    assert most_information(prior, arity) == pytest.approx(best, abs=1e-14)


def test_many_classes_are_merged_greedily():
    # 12 equal classes into 3 groups of 4: ln 3; into 12 levels: ln 12.
    assert most_information([1 / 12] * 12, 3) == pytest.approx(math.log(3), abs=1e-14)
    assert most_information([1 / 12] * 12, 12) == pytest.approx(math.log(12), abs=1e-14)
    table = variable_with_information([1 / 12] * 12, 3, 0.9 * math.log(3), rng=0)
    assert summed([1 / 12] * 12, table) == pytest.approx(0.9 * math.log(3), abs=1e-10)


def test_impossible_effects_are_refused_with_the_most_possible():
    with pytest.raises(ParameterError, match=r"between 0 and 0\.500402 nats, the most for 3 levels and this prior"):
        variable_with_information(0.2, 3, 0.51)  # the entropy of (0.8, 0.2) is 0.500402...
    with pytest.raises(ParameterError, match="'information' must be between 0 and"):
        variable_with_information(0.2, 3, -0.01)
    with pytest.raises(ParameterError, match="'arity' must be at least 1, but it is 0"):
        variable_with_information(0.2, 0, 0.0)
    for prior in (1.2, [0.5, 0.4], [1.0], [[0.5, 0.5]], [1.5, -0.5]):
        with pytest.raises(ParameterError, match="'prior' must be p\\(y=1\\) or the probabilities of the classes"):
            variable_with_information(prior, 2, 0.0)


def test_samples_follow_the_table():
    table = variable_with_information([0.3, 0.5, 0.2], 4, 0.2, rng=0)
    y = np.repeat([0, 1, 2], 3000)
    x = sample_given_class(y, table, rng=1)
    for k in range(3):
        assert chisquare(np.bincount(x[y == k], minlength=4), 3000 * table[k]).pvalue > 1e-3
    assert np.array_equal(x, sample_given_class(y.astype(np.uint8), table, rng=1))


@pytest.mark.parametrize("y", [[0, 3], [-1, 0], [0.5, 1.0], ["a"]])
def test_classes_outside_the_table_are_refused(y):
    with pytest.raises(ParameterError, match="'y' must hold class codes from 0 to 2, one row of the table each"):
        sample_given_class(y, np.full((3, 2), 0.5))
