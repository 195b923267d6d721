"""The score of products of residuals: its statistic, its law, groups, weights, and the combination of questions."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from blankets import kernels
from blankets.stats import Draws, Score, cauchy_combined


def test_the_statistic_is_compared_with_the_spread_that_products_show():
    rng = np.random.default_rng(2)
    u, taken = rng.normal(size=(2, 60)), rng.uniform(0, 0.3, 60)
    total, spread = np.zeros(2), np.zeros((2, 2))
    for i in range(60):
        total += u[:, i]
        spread += np.outer(u[:, i], u[:, i]) / (1 - taken[i])
    score = Score(u, taken)
    assert score.dof == 2
    assert score.statistic == pytest.approx(total @ np.linalg.solve(spread, total), rel=1e-9)
    assert score.direction @ total == pytest.approx(score.statistic, rel=1e-9)


def test_of_one_product_it_is_the_t_test():
    """T² = n t² / (n - 1 + t²); p-values differ by what the fourth moment of 2,000 normal draws is off."""
    for seed in range(10):
        u = np.random.default_rng(seed).normal(0.03, 1.0, 2000)
        t, p = stats.ttest_1samp(u, 0.0)
        score = Score(u[None], np.zeros(2000))
        assert score.statistic == pytest.approx(2000 * t**2 / (1999 + t**2), rel=1e-9)
        assert np.exp(score.log_p) == pytest.approx(p, rel=0.02, abs=1e-4)


@pytest.mark.parametrize(("k", "free"), [(1, 30.0), (2, 97.0), (4, 500.0)])
def test_the_law_for_normal_products_is_hotellings(k, free):
    for statistic in (0.5, 4.0, 15.0):
        expected = stats.f.sf(statistic / k * (free - k) / (free - statistic), k, free - k)
        squares = k * (k + 2) / (free + 2)
        assert np.exp(kernels.log_p_under_signs(statistic, k, free, squares)) == pytest.approx(expected, rel=1e-9)


def test_mean_and_variance_under_random_signs_are_those_of_all_signs():
    rng = np.random.default_rng(3)
    u = rng.standard_t(3, size=(2, 12))
    drawn = np.array([Score(u * signs, np.zeros(12)).statistic for signs in product([-1.0, 1.0], repeat=12)])
    inverse = np.linalg.inv(u @ u.T)
    weights = np.einsum("in,ij,jn->n", u, inverse, u)
    assert drawn.mean() == pytest.approx(2.0)
    assert drawn.var() == pytest.approx(2 * (2 - weights @ weights))


def test_p_values_of_heavy_tailed_products_are_shares_of_signs():
    rng = np.random.default_rng(4)
    errors = []
    for _ in range(12):
        u = rng.standard_t(3, size=(1, 80))
        score = Score(u, np.zeros(80))
        signs = rng.choice([-1.0, 1.0], (20_000, 80))
        far = (signs @ u[0]) ** 2 / (u[0] @ u[0]) >= score.statistic
        errors.append(np.exp(score.log_p) - far.mean())
    # Standard errors are at most .0035. Two moments are not the whole law where one or two rows are most of a sum.
    assert np.median(np.abs(errors)) < 0.01
    assert np.abs(errors).max() < 0.05


def test_what_other_products_tell_is_not_counted():
    u = np.random.default_rng(5).normal(size=(2, 100))
    three = Score(np.vstack([u, u[0] - 2 * u[1]]), np.zeros(100))
    two = Score(u, np.zeros(100))
    assert (three.dof, two.dof) == (2, 2)
    assert three.statistic == pytest.approx(two.statistic, rel=1e-6)
    assert Score(np.zeros((1, 100)), np.zeros(100)).log_p == 0.0


def test_scales_of_products_change_nothing():
    u = np.random.default_rng(6).normal(0.1, 1.0, size=(3, 200))
    plain, scaled = Score(u, np.zeros(200)), Score(u * np.array([[1e-8], [1.0], [1e9]]), np.zeros(200))
    assert scaled.log_p == pytest.approx(plain.log_p, rel=1e-6)


def test_a_draw_that_the_fit_takes_whole_is_left_out():
    u = np.random.default_rng(7).normal(size=(1, 50))
    taken = np.zeros(50)
    taken[3] = 0.999
    rest = np.delete(u, 3, axis=1)
    assert Score(u, taken).statistic == pytest.approx(Score(rest, np.zeros(49)).statistic, rel=1e-12)


def test_p_values_of_normal_products_are_even():
    rng = np.random.default_rng(8)
    p = [np.exp(Score(rng.normal(size=(4, 60)), np.zeros(60)).log_p) for _ in range(600)]
    assert stats.kstest(p, "uniform").pvalue > 0.001


def test_questions_are_combined_as_cauchy_draws():
    for p, weights in [
        ((0.01, 0.9), (1, 1)),
        ((0.3, 0.2, 0.7), (2, 1, 1)),
        ((1e-9, 0.4), (1, 3)),
        ((0.999, 0.5), (1, 1)),
    ]:
        share = np.array(weights) / sum(weights)
        expected = stats.cauchy.sf(share @ stats.cauchy.isf(p))
        assert np.exp(cauchy_combined(np.log(p), weights)) == pytest.approx(expected, rel=1e-6)


def test_very_small_p_values_are_sums_of_reciprocals():
    """Far out the tangent is 1 / (π p): 1 / p = (w / p₁ + (1 - w) / p₂)."""
    assert cauchy_combined([-900.0, -900.0 + np.log(2.0)], [1.0, 1.0]) == pytest.approx(-900.0 + np.log(4 / 3))
    near, far = (cauchy_combined([p, -5.0, -3.0], [0.5, 0.25, 0.25]) for p in (-372.0, -373.0))
    assert near - far == pytest.approx(1.0, abs=1e-9)  # both ways to compute it meet


def test_draws_of_groups_are_sums_and_their_number_is_what_they_are_worth():
    groups = np.repeat([0, 1, 2, 3], [1, 2, 3, 4])
    draws = Draws(10, groups=groups)
    values = np.arange(20.0).reshape(2, 10)
    assert draws.summed(values).tolist() == [[values[k, groups == g].sum() for g in range(4)] for k in range(2)]
    assert draws.worth == pytest.approx(10**2 / (1 + 4 + 9 + 16))
    weights = np.array([1.0, 2.0, 5.0, 1.0])
    of_weights = Draws(4, root=np.sqrt(weights / weights.mean()))
    assert of_weights.worth == pytest.approx(9**2 / 31)  # Kish 1965: (Σw)² / Σw²
    assert of_weights.unweighted(of_weights.weighted(values[:, :4])) == pytest.approx(values[:, :4])


def test_what_a_fit_takes_of_rows_is_their_leverage():
    basis = np.linalg.qr(np.random.default_rng(9).normal(size=(30, 4)))[0].T
    assert Draws(30).taken(basis) == pytest.approx(np.diag(basis.T @ basis))
    alone = Draws(30, groups=np.arange(30))
    assert alone.taken(basis) == pytest.approx(np.diag(basis.T @ basis))
