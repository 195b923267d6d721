"""The law of estimates that are sums over levels, against SciPy and against simulated estimates."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize_scalar

from blankets.regimes._knowledge import averaged
from blankets.stats import (
    mar_f_information,
    mixed_curves,
    neg_information,
    pos_information,
    scored_information,
)
from blankets.stats._level_law import LevelLaw, _binomial, pearson_cdf

N_DRAWS = 20_000
ONE = np.ones(1)


def test_sums_over_counts_have_the_moments_of_the_binomial_law():
    for rows, share in ((3, 0.4), (40, 0.02), (500, 0.37), (20_000, 0.9)):
        counts, chance = _binomial(np.array([float(rows)]), np.array([share]))
        law = stats.binom(rows, share)
        mean = (chance * counts).sum()
        variance, third = ((chance * (counts - mean) ** k).sum() for k in (2, 3))
        assert mean == pytest.approx(law.mean(), rel=1e-3)
        assert variance == pytest.approx(law.var(), rel=3e-3)
        assert third / variance**1.5 == pytest.approx(law.stats("s"), abs=0.02)


@pytest.mark.parametrize("skewness", [-1.3, -0.2, 0.0, 0.005, 0.4, 2.0])
def test_pearson_law_is_that_of_scipy(skewness):
    z = np.linspace(-3, 3, 13)
    told = pearson_cdf(z, np.full(13, skewness))
    np.testing.assert_allclose(told, stats.pearson3.cdf(z, skewness), atol=1e-3 if abs(skewness) < 0.01 else 1e-9)


def _agree(told, values, *, skewness=True):
    """Compare a law's mean, variance and skewness with those of simulated estimates."""
    _, mean, variance, third = (float(each[0]) for each in told)
    deviation = values.std()
    assert mean == pytest.approx(values.mean(), abs=0.06 * deviation)
    assert math.sqrt(variance) == pytest.approx(deviation, rel=0.05)
    if skewness:
        assert third / variance**1.5 == pytest.approx(stats.skew(values), abs=0.3)


@pytest.mark.compiled
@pytest.mark.parametrize("loss", ["log", "squared"])
@pytest.mark.parametrize("t", [(0.3, 0.3, 0.3, 0.3), (0.05, 0.6, 0.3, 0.35)])
def test_mar_f_law_has_the_moments_of_a_simulation_with_few_labels_in_a_level(t, loss):
    # The labeled rows of a level are given. Shares of levels are almost known (a million unlabeled rows).
    rng, n_labeled, x = np.random.default_rng(3), np.array([5, 8, 40, 60]), np.array([0.3, 0.2, 0.2, 0.3])
    positive = rng.binomial(n_labeled, t, (N_DRAWS, 4))
    tables = np.stack([n_labeled - positive, positive, np.broadcast_to(1e6 * x, positive.shape)], axis=1)
    values = mar_f_information(tables[:, None], loss=loss).value
    p = (1e6 * x + n_labeled) / (1e6 + n_labeled.sum())
    law = LevelLaw(p[None, None], np.array(t)[None, None], n_labeled[None, None] * 1.0, (0 * ONE, ONE), 1e6 * ONE, loss)
    # With the squared loss the estimate is divided by the stratum's variance: that is in the mean and variance only.
    _agree(law.moments(np.array(t)[None, None]), values, skewness=loss == "log")


@pytest.mark.compiled
@pytest.mark.parametrize("known", [0, 1])
@pytest.mark.parametrize("t", [(0.4, 0.4, 0.4), (0.07, 0.3, 0.7), (0.12, 0.55)])
def test_laws_of_one_class_have_the_moments_of_a_simulation_with_cells_below_zero(t, known):
    # 40% of one class are labeled; with 300 rows the cells that this implies for the other are often below 0.
    rng, n, t = np.random.default_rng(4), 300, np.array(t)
    x = np.full(len(t), 1 / len(t))
    prior = float(x @ t)
    class_ = t if known else 1 - t
    p = np.stack([0.4 * x * class_, x - 0.4 * x * class_])
    drawn = rng.multinomial(n, p.ravel(), N_DRAWS).reshape(N_DRAWS, 2, -1)
    tables = np.zeros((N_DRAWS, 1, 3, len(t)))
    tables[:, 0, known], tables[:, 0, 2] = drawn[:, 0], drawn[:, 1]
    values = (pos_information if known else neg_information)(tables, prior).value
    support = (0 * ONE, ONE / 0.4) if known else (ONE - 1 / 0.4, ONE)
    pivot = 0 * ONE if known else ONE
    law = LevelLaw(x[None, None], t[None, None], n * x[None, None], support, n * ONE, "log", pivot)
    _agree(law.moments(t[None, None]), values)


@pytest.mark.parametrize(
    ("t", "n"),
    [
        ((0.066, 0.486), 2000),
        ((0.01, 0.04, 0.64, 0.87, 0.6, 0.18, 0.77, 0.15), 500),
        ((0.3, 0.33, 0.36, 0.4) * 2, 200),
        ((0.12, 0.03, 0.8, 0.33, 0.56), 5000),  # a level about one standard error from 0
        ((0.03, 0.5, 0.5), 5000),
    ],
)
def test_intervals_from_negatives_cover_where_implied_cells_are_below_zero(t, n):
    # With the law near independence in the first three tables 0.84, 0.97 and 0.95 covered; with a path on which a share
    # that was measured as 0 stays there 0.84 and 0.75 in the others.
    rng, t = np.random.default_rng(8), np.array(t)
    x = np.full(len(t), 1 / len(t))
    prior = float(x @ t)
    p = np.stack([0.25 * x * (1 - t), 0 * x, x - 0.25 * x * (1 - t)])
    true = float((x * (t * np.log(t / prior) + (1 - t) * np.log((1 - t) / (1 - prior)))).sum())
    tables = rng.multinomial(n, p.ravel(), 2000).reshape(2000, 1, 3, len(t))
    low, high = neg_information(tables, prior).interval(0.9)
    assert 0.87 - 0.02 < ((low <= true) & (true <= high)).mean() < 0.93 + 0.01


def _few(rng, n=60):
    """Return label tables of few rows in five levels."""
    return rng.multinomial(90, rng.dirichlet(np.ones(15)), n).reshape(n, 1, 3, 5)


def _noisy(tables):
    tables = tables * np.array([1, 1, 0])[:, None]
    return scored_information(tables, [-0.1 / 0.7, 0.9 / 0.7, 0.0])


@pytest.mark.parametrize(
    "estimator",
    [mar_f_information, lambda t: pos_information(t, 0.4), lambda t: neg_information(t, 0.4), _noisy],
)
def test_intervals_are_nested_and_those_of_each_table(estimator):
    tables = _few(np.random.default_rng(2))
    found = estimator(tables)
    assert (found.law() == "levels").any()
    levels = (0.1, 0.5, 0.8, 0.9, 0.99)
    lows, highs = (np.stack(ends) for ends in zip(*(found.interval(level) for level in levels), strict=True))
    assert (lows >= 0).all()
    assert (lows <= highs).all()
    assert (np.diff(lows, axis=0) <= 1e-12).all()
    assert (np.diff(highs, axis=0) >= -1e-12).all()
    each = np.array([np.ravel(estimator(table[None]).interval(0.9)) for table in tables])
    np.testing.assert_allclose(each, np.stack(found.interval(0.9), axis=-1), rtol=1e-9, atol=1e-12)


def test_positives_and_negatives_mirror_each_other():
    tables = _few(np.random.default_rng(6))
    pos, neg = pos_information(tables, 0.35), neg_information(tables[:, :, [1, 0, 2]], 0.65)
    for one, other in zip(pos.interval(0.9), neg.interval(0.9), strict=True):
        # wide laws are summed over every second or third count, from the low end
        np.testing.assert_allclose(one, other, rtol=0.02, atol=1e-9)


def test_a_curve_mixed_with_itself_is_the_same_and_with_others_wider():
    table = [[0, 0, 0], [10, 30, 5], [120, 100, 90]]
    at = [pos_information(table, prior) for prior in (0.3, 0.4)]
    alone = averaged(lambda p: pos_information(table, p), [(0.0, (0.3,)), (0.5, (0.3,)), (0.5, (0.3,))])
    np.testing.assert_allclose(alone.interval(0.9), at[0].interval(0.9), rtol=0.03)
    both = mixed_curves(np.stack([one.curve for one in at]), np.array([0.5, 0.5]))
    assert both.shape == at[0].curve.shape
    mixed = averaged(lambda p: pos_information(table, p), [(0.0, (0.35,)), (0.5, (0.3,)), (0.5, (0.4,))])
    (low, high), ends = mixed.interval(0.9), [one.interval(0.9) for one in at]
    assert min(e[0] for e in ends) <= low <= max(e[0] for e in ends)
    assert min(e[1] for e in ends) <= high <= max(e[1] for e in ends)
    assert high - low > np.mean([e[1] - e[0] for e in ends])


@pytest.mark.parametrize("known", [0, 1])
def test_tables_of_the_path_have_the_known_share_of_positives_up_to_what_was_measured(known):
    rng = np.random.default_rng(3)
    t, x, prior = rng.uniform(-0.1, 0.8, (40, 1, 4)), np.full((40, 1, 4), 0.25), 0.35
    pivot = np.full(40, 0.0 if known else 1.0)
    t = pivot[:, None, None] + (t - pivot[:, None, None]) * (prior - pivot[0]) / (t.mean() - pivot[0])
    t += prior - t.mean(axis=-1, keepdims=True)
    ends = (0 * pivot, 0 * pivot + 1 / 0.4) if known else (0 * pivot + 1 - 1 / 0.4, 0 * pivot + 1)
    law = LevelLaw(x, t, 400 * x, ends, np.full(40, 400.0), "log", pivot)
    near = law._path(law._log_odds(law._mild()) - law._log_odds(law.center))[:12]
    np.testing.assert_allclose(near.mean(axis=-1), prior, atol=0.005)


def test_shares_measured_below_zero_leave_it_by_the_likelihood():
    # The log likelihood of a level less a multiple of the effect; SciPy finds its largest value.
    x, raw, rows = np.full(3, 1 / 3), np.array([-0.02, 0.55, 0.52]), np.full(3, 500.0)
    law = LevelLaw(x[None, None], raw[None, None], rows[None, None], (ONE - 4, ONE), 1500 * ONE, "log", ONE)
    away = law._log_odds(law._mild()) - law._log_odds(law.center)
    mu, center = 100.0, float(law.center[0, 0, 0])
    moved = law._share(law._nearer(away, np.full((1, 1), mu)))[0, 0]
    for k in range(3):

        def lost(t, k=k):
            part = (raw[k] + 3) / 4
            likely = rows[k] * (part * np.log((t + 3) / 4) + (1 - part) * np.log((1 - t) / 4))
            return mu * x[k] * (t * np.log(t / center) + (1 - t) * np.log((1 - t) / (1 - center))) - likely

        best = minimize_scalar(lost, bounds=(1e-9, 1 - 1e-9), method="bounded", options={"xatol": 1e-10}).x
        assert moved[k] == pytest.approx(best, abs=1e-5)
