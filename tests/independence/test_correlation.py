import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import norm

from blankets.errors import DataError, ParameterError
from blankets.independence import PartialCorrelation


@pytest.fixture(scope="module")
def values():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(300, 6))
    x[:, 1] += 0.5 * x[:, 0]
    x[:, 2] += 0.4 * x[:, 1] - 0.3 * x[:, 0]
    return x * [1, 10, 0.1, 1e6, 1, 1] + [0, 5, 0, -1e7, 0, 0]


@pytest.mark.parametrize("given", [(), (0,), (0, 3, 4)])
def test_equals_correlation_of_least_squares_residuals(values, given):
    tests = PartialCorrelation(values, list("abcdef"))
    design = sm.add_constant(values[:, list(given)]) if given else np.ones((300, 1))
    for evidence in tests.scan([2, 5], 1, given):
        residuals = [sm.OLS(values[:, j], design).fit().resid for j in (evidence.x, 1)]
        r = np.corrcoef(residuals)[0, 1]
        z = np.sqrt(300 - len(given) - 3) * np.arctanh(r)
        assert evidence.statistic == pytest.approx(z**2, rel=1e-8)
        assert evidence.log_p == pytest.approx(np.log(2) + norm.logsf(abs(z)), rel=1e-8)
        assert evidence.effect == pytest.approx(-0.5 * np.log(1 - r**2), rel=1e-8)


def test_column_determined_by_the_given_ones_is_independent(values):
    more = np.column_stack([values, values[:, 0] + 2 * values[:, 4]])
    tests = PartialCorrelation(more, list("abcdefg"))
    assert tests.test(6, 1, given=[0, 4]).statistic == 0.0


def test_a_multiple_of_the_target_has_a_finite_statistic(values):
    tests = PartialCorrelation(np.column_stack([values[:, 0], 3 * values[:, 0]]), ["a", "b"])
    evidence = tests.test(0, 1)
    assert np.isfinite(evidence.statistic)
    assert evidence.dependent(1e-12)


def test_too_few_rows_are_unreliable(values):
    tests = PartialCorrelation(values[:10], list("abcdef"))
    assert tests.test(0, 1, given=[2, 3]).reliable  # 10 - 2 - 3 = 5
    assert not tests.test(0, 1, given=[2, 3, 4]).reliable
    assert tests.n_tests == 1


def test_constant_column_is_refused(values):
    values = values.copy()
    values[:, 3] = 1.0
    with pytest.raises(DataError, match="not so in 'd'"):
        PartialCorrelation(values, list("abcdef"))


def test_size_under_independence():
    rng = np.random.default_rng(9)
    tests = PartialCorrelation(rng.normal(size=(100, 4001)), [str(j) for j in range(4001)])
    rejected = tests.scan(range(1, 4001), 0).dependent(0.05).mean()
    assert rejected == pytest.approx(0.05, abs=4 * np.sqrt(0.05 * 0.95 / 4000))


@pytest.mark.parametrize("unit", [1e-300, 1e300])
def test_units_do_not_matter(unit):
    values = np.random.default_rng(3).normal(size=(100, 3)) @ np.array([[1, 0.5, 0], [0, 1, 0.5], [0, 0, 1]])
    usual, scaled = (PartialCorrelation(values * factor, "abc").test(0, 2, given=[1]) for factor in (1, unit))
    assert scaled.statistic == pytest.approx(usual.statistic, rel=1e-12)


def test_very_large_and_very_small_numbers(values):
    usual, extreme = (
        PartialCorrelation(values * scale, list("abcdef")).test(2, 1, given=[0])
        for scale in (1.0, [1e301, 1e-300, 1e300, 1, 1, 1])
    )
    assert extreme.statistic == pytest.approx(usual.statistic, rel=1e-8)


@pytest.mark.parametrize("wrong", [-1, float("nan"), "many", None])
def test_reliability_is_a_number(wrong):
    with pytest.raises(ParameterError, match="'reliability' must be a number of rows to spare, >= 0, but it is"):
        PartialCorrelation(np.random.default_rng(0).normal(size=(20, 2)), "ab", reliability=wrong)


def test_columns_without_variation_are_refused_by_name():
    with pytest.raises(DataError, match="correlation needs finite values that vary; not so in 'b'"):
        PartialCorrelation(np.array([[1.0, 2.0], [2.0, 2.0], [4.0, 2.0]]), ["a", "b"])
