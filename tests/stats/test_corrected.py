"""The printed size: too large as often as too small, inside of its interval, and only where a test was performed."""

import numpy as np
import pytest
from scipy import stats

import blankets as bl
from blankets.stats import correlation_information, plug_in


def tables(p: np.ndarray, n: int, draws: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.multinomial(n, p.ravel(), size=draws).reshape(draws, *p.shape).astype(float)


def true_information(p: np.ndarray) -> float:
    expected = p.sum(axis=-2, keepdims=True) * p.sum(axis=-1, keepdims=True) / p.sum(axis=(-2, -1), keepdims=True)
    return float((p * np.log(p / expected)).sum())


def test_the_point_is_in_its_interval():
    """3 x 3 tables in four strata, no dependence: the measured point was outside in 81% of draws and more."""
    estimate = plug_in(tables(np.full((4, 3, 3), 1 / 36), 200, 2000, 1))
    low, high = estimate.interval(0.9)
    assert (estimate.corrected >= low).all()
    assert (estimate.corrected <= high).all()
    assert np.mean(estimate.value > high) > 0.5  # what was measured is no size of anything


@pytest.mark.parametrize("tilt", [0.0, 0.3, 0.6])
def test_it_is_too_large_as_often_as_too_small(tilt):
    p = np.full((2, 2, 3), 1 / 12)
    p[:, 0, 0] *= 1 + tilt
    p[:, 1, 0] *= 1 - tilt
    draws = 2000
    found = plug_in(tables(p / p.sum(), 400, draws, 2)).corrected
    truth = true_information(p / p.sum())
    above = np.mean(found > truth + 1e-12)
    assert abs(above - 0.5) < 0.03 + 3 * np.sqrt(0.25 / draws)  # 0.03: the law is an approximation


def test_no_interval_without_a_test():
    rng = np.random.default_rng(3)
    table = {name: rng.integers(0, 12, 60).astype(str) for name in "xyz"}
    result = bl.test(table, "x", "y", given=["z"])
    assert not result.reliable
    assert result.estimate is None


def test_many_levels_alone_do_not_rank_first():
    """A column of 30 random levels measures more than a real one of two."""
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 300)
    table = {
        "levels": rng.integers(0, 30, 300).astype(str),
        "cause": np.where(rng.random(300) < 0.62, y, 1 - y),
        "y": y,
    }
    ranking = bl.rank(table, "y")
    measured = dict(zip(ranking.names, ranking.information, strict=True))
    assert measured["levels"] > measured["cause"]
    assert ranking.names == ("cause", "levels")


def test_information_of_a_correlation():
    """Ends by Fisher's z, whose variance is 1 / n: both are first-order, so that they differ by 0.01 at most here."""
    for r, n in ((0.1, 400), (0.5, 100), (0.9, 150)):
        low, high = correlation_information(-0.5 * np.log(1 - r**2), n - 3).interval(0.95)
        ends = np.tanh(np.arctanh(r) + np.array([-1, 1]) * stats.norm.ppf(0.975) / np.sqrt(n - 3))
        assert np.sqrt(-np.expm1(-2 * np.array([low, high]))) == pytest.approx(ends, abs=0.01)


def test_partial_correlation_of_two_columns():
    rng = np.random.default_rng(5)
    z = rng.normal(size=300)
    x, y = z + rng.normal(size=300), z + rng.normal(size=300)
    result = bl.test({"x": x, "y": y, "z": z}, "x", "y", given=["z"], test="fisher-z")
    residuals = [v - np.polyval(np.polyfit(z, v, 1), z) for v in (x, y)]
    r = stats.pearsonr(*residuals).statistic
    assert result.statistic == pytest.approx((300 - 1 - 3) * np.arctanh(r) ** 2)
    assert result.p == pytest.approx(2 * stats.norm.sf(abs(np.arctanh(r)) * np.sqrt(296)))
    low, high = result.estimate.interval()
    assert low <= result.estimate.corrected <= high
