"""What is fitted of a number that is drawn beside a rare level (methods, section 10.4)."""

import numpy as np
import pytest

from blankets.stats import spread_number


def orthonormal(functions):
    left = functions - functions.mean(axis=1, keepdims=True)
    return np.linalg.qr(left.T)[0].T


def test_the_variance_of_a_count_moves_with_its_mean_through_a_product_of_given_columns():
    rng = np.random.default_rng(5)
    n = 4000
    one, other = rng.normal(size=(2, n))
    mean = 2.0 + (one + other) ** 2  # a Poisson count's variance too; a trend of each column tells nothing of it
    given = orthonormal(np.vstack([one, other]))
    basis = np.vstack([np.full((1, n), n**-0.5), orthonormal(np.vstack([one, other, one**2, other**2]))])
    root = spread_number(orthonormal(rng.poisson(mean)[None]), basis, given).root[0]
    low, high = mean < np.quantile(mean, 0.3), mean > np.quantile(mean, 0.8)
    fitted = np.log((root[high] ** 2).mean() / (root[low] ** 2).mean())
    assert fitted == pytest.approx(np.log(mean[high].mean() / mean[low].mean()), abs=0.3)


def test_fourth_cumulants_are_those_of_students_law():
    rng = np.random.default_rng(6)
    n, freedom = 200_000, 16
    drawn = rng.normal(size=(3, n)) / np.sqrt(rng.chisquare(freedom, n) / freedom)
    found = spread_number(drawn / n**0.5, np.full((1, n), n**-0.5), np.zeros((0, n))).fourth
    k = np.arange(1, 4)
    # The fourth moment of the length of k of them is that of normal ones times (freedom - 2) / (freedom - 4).
    assert found == pytest.approx(k * (k + 2) * ((freedom - 2) / (freedom - 4) - 1), rel=0.1)


def test_functions_that_go_together_here_and_against_each_other_there_are_still_normal():
    rng = np.random.default_rng(7)
    n = 50_000
    sign = np.resize([1.0, -1.0], n)
    one, other = rng.normal(size=(2, n))
    drawn = np.vstack([one, 0.9 * sign * one + np.sqrt(1 - 0.81) * other])
    basis = np.vstack([np.ones(n), sign]) / n**0.5
    number = spread_number(drawn / n**0.5, basis, basis[1:])
    size = np.sqrt(number.together[0, 0] * number.together[1, 1])
    assert (number.together[0, 1] / size)[:2] == pytest.approx([0.9, -0.9], abs=0.02)
    assert number.fourth == pytest.approx([0.0, 0.0], abs=0.15)  # standard errors .02 and .04
