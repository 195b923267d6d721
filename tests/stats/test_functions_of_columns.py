"""Tests of functions of columns (methods, section 10), against statsmodels, SciPy, enumeration and slow sums."""

from itertools import combinations, product

import mpmath
import numpy as np
import pytest
import statsmodels.api as sm
from scipy import optimize, stats
from statsmodels.multivariate.cancorr import CanCorr

from blankets import kernels
from blankets.counting import functions_of_levels, functions_of_number
from blankets.counting._functions import orthonormal
from blankets.stats import (
    Basis,
    canonical_test,
    fitted_levels,
    meetings_test,
    rows_tests,
    score_test,
    spread_number,
    spread_test,
    whitening,
    wide_log_lambda,
)
from blankets.stats._canonical import combined
from blankets.stats._products import log_p_under_signs, products_test, rows_test
from blankets.stats._rare import gamma_log_p, of_fit, score_law
from blankets.stats._sums import log_p_of_sum


def three_columns(n=200, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    x, y = z + rng.normal(size=n), z**2 + rng.normal(size=n)
    return functions_of_number(x, 2).values, functions_of_number(y, 2).values, functions_of_number(z).values


def from_products(x, y, z):
    root = whitening(z @ z.T)
    basis = root.T @ z
    return canonical_test((basis @ x.T)[None], basis @ y.T, (x @ y.T)[None], x.shape[1]), basis


def left_by_lstsq(f, z):
    design = np.column_stack([np.ones(z.shape[1]), z.T])
    return f.T - design @ np.linalg.lstsq(design, f.T, rcond=None)[0]


def test_information_is_that_of_the_canonical_correlations_of_residuals():
    x, y, z = three_columns()
    (statistic, dof, information), _ = from_products(x, y, z)
    r = CanCorr(left_by_lstsq(y, z), left_by_lstsq(x, z)).cancorr
    twice = -np.log(1 - r**2).sum()
    assert information[0] == pytest.approx(twice / 2, rel=1e-8)
    assert statistic[0] == pytest.approx((200 - 1 - 8 - 2.5) * twice, rel=1e-8)  # Bartlett 1938
    assert dof[0] == 4


def test_many_functions_of_one_column_against_canonical_correlations_of_residuals():
    x, _, z = three_columns(400)
    levels = np.random.default_rng(1).integers(0, 40, 400)
    y = functions_of_levels(np.where(x[0] > 0, levels // 2, levels)).values
    basis = whitening(z @ z.T).T @ z
    r = CanCorr(left_by_lstsq(x, z), left_by_lstsq(y, z)).cancorr
    twice = wide_log_lambda(basis @ x.T, basis @ y.T, x @ y.T)
    assert twice == pytest.approx(-np.log(1 - r**2).sum(), rel=1e-8)
    assert np.isnan(wide_log_lambda(basis @ z.T, basis @ y.T, z @ y.T))  # nothing of z is left


def test_functions_that_the_given_columns_determine_are_not_counted():
    x, y, z = three_columns()
    doubled = orthonormal(np.vstack([z[:1], y[:1]]))  # the first function is one of the given
    (statistic, dof, _), _ = from_products(x, doubled, z)
    (alone, fewer, _), _ = from_products(x, y[:1], z)
    assert (dof[0], fewer[0]) == (2, 2)
    assert statistic[0] == pytest.approx(alone[0], rel=1e-6)


def test_zeros_that_pad_a_batch_change_nothing():
    x, y, z = three_columns()
    (statistic, dof, information), basis = from_products(x, y, z)
    padded = np.vstack([x, np.zeros(x.shape[1])])
    again = canonical_test((basis @ padded.T)[None], basis @ y.T, (padded @ y.T)[None], x.shape[1], np.array([1.0]))
    assert [each[0] for each in again] == pytest.approx([statistic[0], dof[0], information[0]], rel=1e-10)


def test_products_are_compared_with_the_spread_that_they_show():
    rng = np.random.default_rng(2)
    x, y, leverage = rng.normal(size=(2, 60)), rng.normal(size=(1, 60)), rng.uniform(0, 0.3, 60)
    total, spread = np.zeros(2), np.zeros((2, 2))
    for i in range(60):
        u = x[:, i] * y[0, i]
        total += u
        spread += np.outer(u, u) / (1 - leverage[i])
    log_p, statistic, dof = products_test(x, y, leverage)
    assert dof == 2
    assert statistic == pytest.approx(total @ np.linalg.solve(spread, total), rel=1e-9)
    assert log_p < 0


def test_mean_and_variance_under_random_signs_are_those_of_all_signs():
    rng = np.random.default_rng(3)
    u = rng.standard_t(3, size=(2, 12))
    inverse = np.linalg.inv(u @ u.T)
    drawn = [(u @ np.array(signs)) @ inverse @ (u @ np.array(signs)) for signs in product([-1, 1], repeat=12)]
    weights = np.einsum("in,ij,jn->n", u, inverse, u)
    assert np.mean(drawn) == pytest.approx(2.0)
    assert np.var(drawn) == pytest.approx(2 * (2 - weights @ weights))


@pytest.mark.parametrize(("k", "free"), [(1, 30.0), (2, 97.0), (4, 500.0)])
def test_the_law_for_normal_products_is_hotellings(k, free):
    for statistic in (0.5, 4.0, 15.0):
        expected = stats.f.sf(statistic / k * (free - k) / (free - statistic), k, free - k)
        squares = k * (k + 2) / (free + 2)
        assert np.exp(log_p_under_signs(statistic, k, free, squares)) == pytest.approx(expected, rel=1e-9)


def test_p_values_are_combined_as_cauchy_draws():
    for p, q in [(0.01, 0.9), (0.3, 0.2), (1e-9, 0.4), (1e-200, 1e-5), (0.999, 0.5)]:
        with mpmath.workdps(250):
            mean = (mpmath.cot(mpmath.pi * mpmath.mpf(p)) + mpmath.cot(mpmath.pi * mpmath.mpf(q))) / 2
            expected = mpmath.log(mpmath.mpf(1) / 2 - mpmath.atan(mean) / mpmath.pi)
        got = combined(np.log([p]), np.log([q]))[0]
        assert got == pytest.approx(float(expected), rel=1e-6, abs=1e-9)


def test_probabilities_of_levels_maximize_the_penalized_likelihood():
    rng = np.random.default_rng(4)
    z = functions_of_number(rng.normal(size=150), 2).values
    there = rng.random(150) < 0.1

    def loss(beta):
        eta = beta[0] + beta[1:] @ z * np.sqrt(150)
        return np.logaddexp(0, eta).sum() - eta @ there + ((beta[1:] / 2.5) ** 2).sum() / 2

    beta = optimize.minimize(loss, np.zeros(3), tol=1e-12).x
    expected = 1 / (1 + np.exp(-(beta[0] + beta[1:] @ z * np.sqrt(150))))
    assert fitted_levels(there.astype(int), 2, z).probability[1] == pytest.approx(expected, abs=1e-5)


def test_the_score_of_a_rare_level_is_that_of_logistic_regression():
    rng = np.random.default_rng(5)
    n = 4000
    z, x = rng.normal(size=(2, n))
    there = rng.random(n) < 1 / (1 + np.exp(4 - z))
    x = x + 0.6 * there
    basis = functions_of_number(z, 1).values
    functions = functions_of_levels(there.astype(int)).values
    by_level = np.array([functions[:, ~there][:, 0], functions[:, there][:, 0]]).T
    fitted = fitted_levels(there.astype(int), 2, basis)
    of_x = functions_of_number(x, 1).values
    _, statistic, dof = score_test(of_x, by_level, there.astype(int), fitted, basis, (1, 1))
    null = sm.GLM(there.astype(float), sm.add_constant(z), family=sm.families.Binomial()).fit()
    expected = null.score_test(exog_extra=x[:, None])[0]
    assert dof == 1
    assert statistic == pytest.approx(float(np.squeeze(expected)), rel=0.03)  # the prior and the bent part differ


def test_mean_and_variance_of_the_score_are_those_of_all_draws():
    rng = np.random.default_rng(6)
    left, by_level = rng.normal(size=(2, 6)), rng.normal(size=(1, 3))
    probability = rng.dirichlet([1, 1, 1], size=6).T
    inverse, k, variance = score_law(left, by_level, probability)
    mean = by_level @ probability
    first = second = 0.0
    for levels in product(range(3), repeat=6):
        chance = np.prod([probability[b, i] for i, b in enumerate(levels)])
        total = (left * (by_level[0, list(levels)] - mean[0])).sum(axis=1)
        statistic = total @ inverse @ total
        first, second = first + chance * statistic, second + chance * statistic**2
    assert k == pytest.approx(first)
    assert variance == pytest.approx(second - first**2)


@pytest.mark.parametrize("power", [1, 3])  # normal functions, and heavy-tailed ones
def test_variance_of_the_score_with_as_many_rows_of_the_rare_level(power):
    # Six of 200 rows have the level. Drawn with so many rows always, the statistic varies less than methods (10.9).
    rng = np.random.default_rng(8)
    left = rng.normal(size=(2, 200)) ** power
    left -= left.mean(axis=1, keepdims=True)
    by_level, fitted = np.array([[0.0, 1.0]]), fitted_levels((np.arange(200) < 6).astype(int), 2, np.zeros((0, 200)))
    inverse, _, variance = score_law(left, by_level, fitted.probability)
    totals = np.array([left[:, rng.choice(200, 6, replace=False)].sum(axis=1) for _ in range(20_000)])
    drawn = np.einsum("ri,ij,rj->r", totals, inverse, totals).var()
    assert variance - of_fit(left, by_level, fitted, inverse) == pytest.approx(drawn, rel=0.1)
    assert variance > (1.3 if power == 1 else 1.05) * drawn


def test_variance_of_the_score_with_as_many_rows_of_the_level_in_each_half():
    # 4 of 100 rows have the level, and 20 of the 100 others: the fit knows both numbers, and so neither varies.
    rng = np.random.default_rng(8)
    half, codes = np.arange(200) < 100, np.isin(np.arange(200), [*range(4), *range(100, 120)]).astype(int)
    fitted = fitted_levels(codes, 2, np.where(half, 1.0, -1.0)[None] / np.sqrt(200))
    left = rng.normal(size=(2, 200)) * np.where(half, 6.0, 1.0)
    for rows in (half, ~half):
        left[:, rows] -= left[:, rows].mean(axis=1, keepdims=True)
    by_level = np.array([[0.0, 1.0]])
    inverse, _, variance = score_law(left, by_level, fitted.probability)
    rows = [[*rng.choice(100, 4, replace=False), *(100 + rng.choice(100, 20, replace=False))] for _ in range(20_000)]
    totals = left[:, rows].sum(axis=2).T
    drawn = np.einsum("ri,ij,rj->r", totals, inverse, totals).var()
    assert variance - of_fit(left, by_level, fitted, inverse) == pytest.approx(drawn, rel=0.1)
    number = of_fit(left, by_level, fitted._replace(basis=np.zeros((0, 200))), inverse)
    assert variance - number > 1.2 * drawn  # the number of rows in both halves together is not all that is known


def test_one_row_that_makes_most_of_the_variance_does_not_make_all_others_evidence():
    # One row of 200 has 1,000 times the weight of the others, and seldom the level. By the gamma law with the right
    # mean and variance alone, p was below .05 in all draws in which it has not.
    rng = np.random.default_rng(4)
    chance = np.where(np.arange(200) == 0, 1e-5, 0.05)
    left = np.where(np.arange(200) == 0, 1000.0, rng.choice([-1.0, 1.0], 200))[None]
    by_level, probability = np.array([[0.0, 1.0]]), np.vstack([1 - chance, chance])
    inverse, k, variance = score_law(left, by_level, probability)
    assert variance > 5000 * k
    total = ((rng.random((4000, 200)) < chance) - chance) @ left[0]
    p = np.exp([gamma_log_p(statistic, k, variance) for statistic in inverse[0, 0] * total**2])
    for level in (0.01, 0.05, 0.2):
        assert (p < level).mean() < level + 3 * np.sqrt(level / len(p))


def test_variance_of_draws_from_fitted_probabilities_is_made_up_for_by_leverage():
    rng = np.random.default_rng(9)
    basis = functions_of_number(rng.normal(size=300), 6).values
    chance = 1 / (1 + np.exp(2.7 - np.array([1.0, -0.4]) @ basis[:2] * np.sqrt(300)))
    there = rng.random((1000, 300)) < chance
    fits = [fitted_levels(each.astype(int), 2, basis) for each in there]
    variance = np.array([f.probability[0] * f.probability[1] for f in fits])
    leverage = np.array([f.leverage for f in fits])
    # What more or fewer rows of the level than expected change, to first order, has mean 0.
    luck = (there - chance) @ (1 - 2 * chance)
    plain, raised = variance.sum(axis=1) - luck, (variance / (1 - leverage)).sum(axis=1) - luck
    expected, error = (chance * (1 - chance)).sum(), raised.std() / np.sqrt(len(raised))
    assert raised.mean() == pytest.approx(expected, abs=3 * error + 0.01 * expected)
    assert plain.mean() < 0.98 * expected - 3 * error


@pytest.mark.parametrize("number", [1, 2, 4])
def test_the_law_of_a_sum_of_draws_given_their_number_equals_enumeration(number):
    rng = np.random.default_rng(7)
    probability, weight = rng.uniform(0.02, 0.4, 14), np.r_[rng.uniform(0.5, 1.0, 6), rng.uniform(-0.3, -0.2, 8)]
    rows = np.array([np.isin(np.arange(14), some) for some in combinations(range(14), number)])
    chance = np.prod(np.where(rows, probability, 1 - probability), axis=1)
    chance /= chance.sum()
    far = np.abs(rows @ weight - weight @ probability)
    for off in np.quantile(far, [0.1, 0.5, 0.9, 0.97]):
        # Values within a cell of the grid, 1/32 of the largest weight, count in part.
        low, high = chance[far > off + 1 / 24].sum(), chance[far > off - 1 / 24].sum()
        assert low - 1e-3 <= np.exp(log_p_of_sum(weight, probability, off, number)) <= high + 1e-3


def test_small_weights_are_normal_together_in_the_law_of_a_sum():
    rng = np.random.default_rng(5)
    z = rng.normal(size=200)
    probability = 1 / (1 + np.exp(3 - 1.2 * z))
    number = round(probability.sum())
    weight = (np.arange(200) < 9) - 0.04 * np.exp(0.5 * z)
    draws = rng.random((200_000, 200), np.float32) < probability
    far = np.abs(draws[draws.sum(axis=1) == number] @ weight - weight @ probability)
    for off in np.quantile(far, [0.5, 0.95, 0.99]):
        share = (far > off).mean()
        error = np.sqrt(share * (1 - share) / len(far))
        assert np.exp(log_p_of_sum(weight, probability, off, number)) == pytest.approx(share, rel=0.1, abs=4 * error)


def test_no_meeting_of_two_rare_levels_is_no_evidence_where_none_was_expected():
    # A gamma law with the right mean and variance had p below .05 in one of seven such tables.
    for seed in range(20):
        rng = np.random.default_rng(seed)
        z = rng.normal(size=300)
        x, y = (v > np.sort(v)[-7] for v in (z + 0.7 * rng.logistic(size=300), -z + 0.7 * rng.logistic(size=300)))
        if (x & y).any():
            continue
        basis = (z - z.mean())[None] / np.linalg.norm(z - z.mean())
        of_x = (x - x.mean())[None] / np.linalg.norm(x - x.mean())
        assert np.exp(meetings_test(of_x, y, fitted_levels(y.astype(int), 2, basis), basis)) > 0.05


def test_a_number_and_a_rare_level_by_the_law_of_the_number_is_a_weighted_regression():
    rng = np.random.default_rng(4)
    z, there = np.resize([1.0, -1.0], 600), (np.arange(600) % 40 < 1).astype(float)
    there[5::80] = 1.0
    x = 0.5 * z + np.exp(0.8 * z) * rng.normal(size=600)
    one, given = np.full((1, 600), 600**-0.5), z[None] / 600**0.5
    number = spread_number(x[None], np.vstack([one, given]), given)
    log_p, statistic, dof = spread_test(number, there[None] - there.mean(), (1, 1))
    # Rows of equal variance count alike: the level shifts the number by so many standard deviations.
    size = np.where(z > 0, x[z > 0].std(), x[z < 0].std())  # the prior hardly moves these
    fit = sm.WLS(x, np.column_stack([np.ones(600), z, there * size]), size**-2.0).fit()
    assert dof == 1
    assert statistic == pytest.approx(fit.tvalues[2] ** 2, rel=0.05)
    assert np.exp(log_p) == pytest.approx(fit.pvalues[2], rel=0.1)


def test_rows_do_not_reject_where_variances_move_together():
    rejected_rows = rejected_products = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        z = rng.normal(size=300)
        scale = np.exp(0.7 * z)
        x, y = (functions_of_number(scale * rng.normal(size=300), 2).values for _ in range(2))
        given = functions_of_number(z).values
        rejected_rows += np.exp(rows_test(x, y, (1, 1), given)[0]) <= 0.05
        (statistic, dof, _), _ = from_products(x, y, given)
        rejected_products += stats.chi2.sf(statistic[0], dof[0]) <= 0.05
    assert rejected_rows <= 19  # 99.5% of binomial(200, 0.05) draws are at most 19
    assert rejected_products >= 20  # which is why rows decide


@pytest.mark.parametrize(("n", "size"), [(90, 0), (300, 3), (701, 6), (1300, 2)])
def test_many_columns_are_judged_as_one_by_one(n, size):
    rng = np.random.default_rng(n)
    z = rng.normal(size=(size, n))
    basis = _apart(z) if size else np.zeros((0, n))
    index = z[:2].sum(axis=0)
    widths, firsts = np.array([1, 3, 2, 12]), np.array([1, 2, 1, 12])
    y = _apart(np.array([(index + rng.normal(size=n)) ** power for power in (1, 2, 3)]))
    xs = [_apart(np.array([np.tanh(index + (k + 1) * rng.normal(size=n)) for k in range(w)])) for w in widths]
    log_p, statistic, dof = rows_tests(xs, firsts, y, 2, Basis.of(basis))
    for i, x in enumerate(xs):
        expected = rows_test(x, y, (int(firsts[i]), 2), basis)
        assert (log_p[i], statistic[i], dof[i]) == pytest.approx(expected, rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("noise", [0.02, 0.1, 0.5])
@pytest.mark.parametrize("kind", ["levels", "numbers", "functions alike"])
def test_columns_are_judged_alike_where_squares_of_predictions_tell_each_other(kind, noise):
    # Given two levels each, all squares are one product. Of a strong common index they are almost the same, those of
    # both columns, or already those of two functions of y.
    rng = np.random.default_rng(8)
    z = rng.normal(size=(2, 900))
    z = np.sign(z) if kind == "levels" else z
    index = z.sum(axis=0) + noise * rng.normal(size=(20, 2, 900))
    if kind != "functions alike":
        index = np.array([_apart((f[0] + 3) ** np.array([[1], [2]])) for f in index])
        index += 1e-3 * rng.normal(size=index.shape)
    y, *xs = (index - index.mean(axis=2, keepdims=True)) / 30
    found = rows_tests(xs, np.ones(19, np.int64), y, 1, Basis.of(_apart(z)))
    for i, x in enumerate(xs):
        assert found[:, i] == pytest.approx(rows_test(x, y, (1, 1), _apart(z)), rel=1e-6, abs=1e-8)
        alone = rows_tests([x], np.ones(1, np.int64), y, 1, Basis.of(_apart(z)))
        assert found[:, i].tolist() == alone[:, 0].tolist()  # whoever is asked beside it


def test_bases_are_combinations_of_the_functions_of_columns():
    rng = np.random.default_rng(9)
    functions, weights = [rng.normal(size=(k, 301)) for k in (3, 0, 2)], rng.normal(size=(5, 4))
    basis, expected = Basis.combined(functions, weights, 301), weights.T @ np.vstack(functions)
    np.testing.assert_allclose(basis.rows, np.vstack([np.full((1, 301), 301**-0.5), expected]), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(basis.leverage, 1 / 301 + (expected**2).sum(axis=0), rtol=1e-12)


def test_scans_are_canonical_tests_one_by_one():
    rng = np.random.default_rng(5)
    rows = _apart(rng.normal(size=(9, 200)) + 0.5 * rng.normal(size=200))
    start, first = np.array([0, 2, 3, 6, 7]), np.array([1, 1, 3, 1])
    basis, tested = _apart(rng.normal(size=(2, 200)) + rows[7:9]), rows[:7].copy()
    tested[:] = [tested[0], tested[1], tested[2], *_apart(rng.normal(size=(3, 200)) + tested[0]), tested[6]]
    explained, across = basis @ tested.T, tested[3:6] @ tested.T
    found = kernels.scan_functions(explained, across, np.array([0, 1, 3]), start, first, 2, 200)
    for i, x in enumerate([0, 1, 3]):
        of = slice(start[x], start[x + 1])
        some = slice(start[x], start[x] + first[x])
        parts = [
            canonical_test(explained[:, s][None], explained[:, 3:6], (tested[s] @ tested[3:6].T)[None], 200)
            for s in (of, some)
        ]
        assert found[[0, 1, 3], i] == pytest.approx([each[0] for each in parts[0]], rel=1e-9)
        tails = [stats.chi2.logsf(each[0][0], each[1][0]) for each in parts]
        expected = tails[0] if first[x] == start[x + 1] - start[x] else combined(tails[:1], tails[1:])[0]
        assert found[2, i] == pytest.approx(expected, rel=1e-8)


def test_probabilities_add_up_where_plain_newton_steps_would_not_end():
    rng = np.random.default_rng(5)
    z = rng.normal(size=(2, 3000))
    basis = np.vstack([functions_of_number(f, 6).values for f in z])
    there = z.sum(axis=0) + rng.logistic(size=3000) > np.quantile(z.sum(axis=0) + rng.logistic(size=3000), 0.985)
    fitted = fitted_levels(there.astype(int), 2, basis).probability[1]
    assert fitted.sum() == pytest.approx(there.sum(), rel=1e-5)  # the constant has no prior
    assert np.corrcoef(fitted, 1 / (1 + np.exp(-z.sum(axis=0) + 4.5)))[0, 1] > 0.85


def _apart(functions):
    return np.linalg.qr((functions - functions.mean(axis=1, keepdims=True)).T)[0].T.copy()


def test_whitening_of_many_functions_keeps_all_directions_but_determined_ones():
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(100, 400)) / 20
    rows[-1] = rows[0]
    for functions, rank in ((rows[:-1], 99), (rows, 99)):  # by Cholesky's factor, and where that is not safe
        basis = whitening(functions @ functions.T).T @ functions
        np.testing.assert_allclose(basis @ basis.T, np.eye(rank), atol=1e-9)
        np.testing.assert_allclose(basis.T @ (basis @ functions.T), functions.T, atol=1e-9)
