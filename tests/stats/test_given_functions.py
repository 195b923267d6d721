"""What may be taken out: functions of columns, splines, blocks, and bases of them."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import optimize, stats
from scipy.interpolate import BSpline

from blankets.stats import Draws, GivenFunctions, Values, logistic_fit
from blankets.stats._given_functions import SHARE, beside, independent, normal_scores, orthonormal, spline, unit

N = 600


def functions_of(*columns, n=N, draws=None):
    made = [Values(np.asarray(c), is_number=np.asarray(c).dtype.kind == "f") for c in columns]
    return GivenFunctions(made.__getitem__, Draws(n) if draws is None else draws)


def explained(functions, values):
    """Return the share of the variance of values that least squares explain."""
    return sm.OLS(values, sm.add_constant(functions.T)).fit().rsquared


@pytest.mark.parametrize("knots", [5, 15, 40])
def test_splines_span_those_of_scipy(knots):
    x = np.random.default_rng(0).normal(size=N)
    at = np.quantile(x, np.linspace(0, 1, knots + 2))
    theirs = BSpline.design_matrix(x, np.r_[[at[0]] * 3, at, [at[-1]] * 3], 3).toarray()
    ours = spline(x, knots)
    assert ours.shape == (knots + 3, N)
    basis = np.column_stack([np.ones(N), ours.T])
    left = theirs - basis @ np.linalg.lstsq(basis, theirs, rcond=None)[0]
    assert np.abs(left).max() < 1e-9


def test_a_column_of_few_values_has_an_indicator_for_each():
    x = np.random.default_rng(1).integers(0, 7, N).astype(float)
    expected = (x == np.arange(7)[:, None]).astype(float)
    made = np.vstack([np.ones(N), spline(x, 5)])
    assert np.linalg.matrix_rank(made) == np.linalg.matrix_rank(np.vstack([made, expected])) == 7


def test_normal_scores_are_quantiles_of_middle_ranks():
    x = np.random.default_rng(2).integers(0, 40, N)
    expected = stats.norm.ppf((stats.rankdata(x) - 0.5) / N)
    assert normal_scores(x) == pytest.approx(expected, abs=1e-9)


def test_numbers_with_heavy_tails_are_scores_and_others_are_values():
    rng = np.random.default_rng(3)
    plain, skewed = rng.normal(size=N), np.exp(2 * rng.normal(size=N))
    made = functions_of(plain, skewed)
    assert made.first(0)[0] == pytest.approx((plain - plain.mean()) / plain.std())
    assert np.corrcoef(made.first(1)[0], stats.norm.ppf((stats.rankdata(skewed) - 0.5) / N))[0, 1] == pytest.approx(1.0)


def test_levels_with_too_few_rows_are_a_block_of_their_own():
    levels = np.r_[np.zeros(300, int), np.ones(292, int), [2, 2, 2, 3, 3, 4, 4, 4]]
    made = functions_of(levels)
    assert len(made.first(0)) == 2  # two levels with five rows, and the others are all rows beside
    (block,) = made.blocks([0])
    assert block.key == ("rare levels", (0,))
    assert len(block.rows) == 2  # three levels, of which the base leaves two: their sum is known
    assert block.rows @ block.rows.T == pytest.approx(np.eye(2), abs=1e-9)


def test_levels_in_order_have_a_trend_first():
    size = np.random.default_rng(4).integers(0, 5, N)
    ordered = GivenFunctions(lambda _: Values(size, is_number=False, is_ordered=True), Draws(N))
    assert ordered.leading(0) == 1
    assert np.corrcoef(ordered.first(0)[0], stats.rankdata(size))[0, 1] == pytest.approx(1.0)
    assert len(ordered.first(0)) == 4  # with the indicators it spans all levels


def test_blocks_hold_what_they_are_named_after():
    rng = np.random.default_rng(5)
    a, b, c = *rng.normal(size=(2, N)), rng.integers(0, 4, N)
    d = rng.integers(0, 3, N)
    made = functions_of(a, b, c, d)
    blocks = {block.key: block for block in made.blocks((0, 1, 2, 3))}
    own = {
        ("product", (0, 1)): a * b,
        ("sums", (0, 1)): (a + b) ** 2,
        ("slopes", (0, 2)): a * (c == 1),
        ("curves by level", (1, 3)): b**3 * (d == 1),
        ("cells", (2, 3)): (c == 1) * (d == 2),
        ("curve 5", (0,)): a**3,
    }
    for key, values in own.items():
        base = np.vstack([made.first(j) for j in key[1]])
        rows = blocks[key].rows
        # Of curves by level the curve of all levels together, which is a block of its own, is not in it.
        assert explained(np.vstack([base, rows]), values * 1.0) > (0.95 if key[0] == "curves by level" else 0.99)
        assert explained(base, values * 1.0) < 0.95
        assert rows @ rows.T == pytest.approx(np.eye(len(rows)), abs=1e-8)
        assert rows @ base.T == pytest.approx(0.0, abs=1e-6)
    assert ("triple", (0, 1, 3)) in blocks


def test_cells_that_rows_do_not_allow_are_told_and_not_made():
    cell = np.arange(300) // 2  # 150 cells of two rows
    a, b = cell % 15, cell // 15
    found = {block.key: block.rows for block in functions_of(a, b, n=300).blocks((0, 1))}
    assert len(np.unique(cell)) > 300 / SHARE
    assert found["cells", (0, 1)] is None


def test_pairs_are_of_the_columns_asked_for():
    made = functions_of(*np.random.default_rng(7).normal(size=(4, N)))
    pairs = {block.key[1] for block in made.blocks((0, 1, 2, 3), paired=[0, 2]) if len(block.key[1]) == 2}
    assert pairs == {(0, 2)}


def test_splits_are_halves_and_parts():
    rng = np.random.default_rng(8)
    number, level = rng.normal(size=N), rng.integers(0, 3, N)
    splits = functions_of(number, level).splits((0, 1))
    assert splits[0].tolist() == np.where(number > np.median(number), 1.0, -1.0).tolist()
    assert splits[1:].mean(axis=1) == pytest.approx(0.0, abs=1e-12)
    assert len(splits) == 3


def test_a_basis_beside_another_is_what_that_leaves():
    rng = np.random.default_rng(9)
    one, more = rng.normal(size=(5, N)), rng.normal(size=(4, N))
    basis = orthonormal(one)
    made = beside(np.vstack([more, one[0] + one[1]]), basis)
    assert len(made) == 4
    both = np.vstack([basis, made])
    assert both @ both.T == pytest.approx(np.eye(9), abs=1e-9)
    left = sm.OLS(more[2], one.T).fit().resid
    assert (more[2] - (more[2] @ basis.T) @ basis) == pytest.approx(left, abs=1e-9)


def test_functions_that_those_before_tell_are_left_out():
    a, b = np.random.default_rng(10).normal(size=(2, N))
    assert independent(unit(np.vstack([a, 2 * a + 1, b, a - b]))) == pytest.approx(unit(np.vstack([a, b])))


def test_weighted_functions_are_those_of_weighted_least_squares():
    rng = np.random.default_rng(11)
    a, weights = rng.normal(size=N), rng.uniform(0.2, 4.0, N)
    y = a**2 + rng.normal(size=N)
    draws = Draws(N, root=np.sqrt(weights / weights.mean()))
    made = functions_of(a, draws=draws)
    curve = next(block.rows for block in made.blocks((0,)))
    basis = orthonormal(np.vstack([draws.constant[None], draws.weighted(made.first(0)), curve]))
    weighted = draws.weighted(y[None])
    left = draws.unweighted(weighted - (weighted @ basis.T) @ basis)[0]
    expected = sm.WLS(y, sm.add_constant(spline(made.first(0)[0], 5).T), weights).fit().resid
    assert left == pytest.approx(expected, abs=1e-6)


def test_probabilities_maximize_the_penalized_likelihood():
    rng = np.random.default_rng(4)
    z = orthonormal(unit(rng.normal(size=(2, 150))))
    there = rng.random(150) < 0.1

    def loss(beta):
        eta = beta[0] + beta[1:] @ z * np.sqrt(150)
        return np.logaddexp(0, eta).sum() - eta @ there + ((beta[1:] / 2.5) ** 2).sum() / 2

    beta = optimize.minimize(loss, np.zeros(3), tol=1e-12).x
    expected = 1 / (1 + np.exp(-(beta[0] + beta[1:] @ z * np.sqrt(150))))
    assert logistic_fit(there, z) == pytest.approx(expected, abs=1e-5)


def test_probabilities_add_up_where_plain_newton_steps_would_not_end():
    rng = np.random.default_rng(5)
    z = rng.normal(size=(2, 3000))
    basis = orthonormal(np.vstack([spline(f, 3) for f in z]))
    told = z.sum(axis=0) + rng.logistic(size=3000)
    there = told > np.quantile(told, 0.985)
    fitted = logistic_fit(there, basis)
    assert fitted.sum() == pytest.approx(there.sum(), rel=1e-5)  # the constant has no prior
    assert np.corrcoef(fitted, 1 / (1 + np.exp(-z.sum(axis=0) + 4.5)))[0, 1] > 0.85
