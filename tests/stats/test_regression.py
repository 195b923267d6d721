"""Regressions against statsmodels, and limits under separation against a closed form and a slow search."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import chi2, norm

from blankets.stats import number_regression, odds_regression, risk_regression, told_by_others

RNG = np.random.default_rng(3)
N = 400
X = np.column_stack([RNG.normal(size=N), RNG.random(N) < 0.3, RNG.random(N) < 0.2]).astype(float)
FULL = sm.add_constant(X)
INDEX = 0.3 + X @ [0.7, -0.5, 0.4]
BINARY = (RNG.random(N) < 1 / (1 + np.exp(-INDEX))).astype(int)
GROUPS = RNG.integers(0, 60, N)


def assert_close(found, coefficients, errors):
    np.testing.assert_allclose(found.coefficients, coefficients, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(found.errors, errors, rtol=1e-6, atol=1e-8)


class TestOdds:
    def test_two_classes(self):
        theirs = sm.Logit(BINARY, FULL).fit(disp=0)
        found = odds_regression(X, BINARY == 1)
        assert_close(found, theirs.params, theirs.bse)
        np.testing.assert_allclose(np.stack([found.low, found.high], 1), theirs.conf_int(), rtol=1e-6)

    def test_rows_that_stand_for_several(self):
        times = RNG.integers(1, 4, N)
        again = np.repeat(np.arange(N), times)
        one, other = (
            odds_regression(X, BINARY == 1, weights=times.astype(float)),
            odds_regression(X[again], BINARY[again] == 1),
        )
        assert_close(one, other.coefficients, other.errors)

    def test_groups(self):
        theirs = sm.GLM(BINARY, FULL, sm.families.Binomial()).fit(cov_type="cluster", cov_kwds={"groups": GROUPS})
        assert_close(odds_regression(X, BINARY == 1, groups=GROUPS), theirs.params, theirs.bse)

    def test_weights_of_a_survey(self):
        weights = RNG.uniform(0.5, 3.0, N)
        found = odds_regression(X, BINARY == 1, weights=weights, robust=True)
        fit = sm.GLM(BINARY, FULL, sm.families.Binomial(), freq_weights=weights).fit()
        scores = FULL * (weights * (BINARY - fit.fittedvalues))[:, None]
        bread = fit.cov_params()
        meat = scores.T @ scores * N / (N - FULL.shape[1])
        assert_close(found, fit.params, np.sqrt(np.diag(bread @ meat @ bread)))


class TestSeparation:
    def table(self, n0, n1, m):
        """Return rows without x in both classes, and m rows with x, all of class 1."""
        return np.repeat([0.0, 0.0, 1.0], [n0, n1, m])[:, None], np.repeat([False, True, True], [n0, n1, m])

    def test_lower_limit_is_that_of_the_likelihood_ratio(self):
        # Given b the odds a of class 1 without x maximize the likelihood of n0, n1 and m rows; the largest of all is
        # that of a = n1/n0 alone, because with x every row is of class 1.
        n0, n1, m = 30, 30, 20

        def minus(log_a, b):
            p, q = 1 / (1 + np.exp(-log_a)), 1 / (1 + np.exp(-log_a - b))
            return -(n0 * np.log1p(-p) + n1 * np.log(p) + m * np.log(q))

        top = n0 * np.log(n0 / (n0 + n1)) + n1 * np.log(n1 / (n0 + n1))
        limit = chi2.isf(0.05, 1)
        expected = brentq(lambda b: 2 * (top + minimize_scalar(minus, args=(b,)).fun) - limit, 0.01, 8)
        found = odds_regression(*self.table(n0, n1, m))
        np.testing.assert_allclose(found.low[1], expected, atol=0.01)
        assert found.high[1] == np.inf

    def test_it_goes_both_ways(self):
        x, y = self.table(30, 30, 20)
        one, other = odds_regression(x, y), odds_regression(x, ~y)
        np.testing.assert_allclose(other.high[1], -one.low[1], atol=0.01)
        assert other.low[1] == -np.inf

    def test_nothing_is_known_beside_a_column_that_tells_all(self):
        y = np.arange(60) % 2
        found = odds_regression(np.column_stack([y, np.arange(60) % 3 == 0]).astype(float), y == 1)
        assert found.low[1] > 2
        assert found.high[1] == np.inf
        assert (found.low[2], found.high[2]) == (-np.inf, np.inf)

    def test_groups_under_separation_say_nothing(self):
        found = odds_regression(*self.table(30, 30, 20), groups=np.arange(80) // 2)
        assert (found.low[1], found.high[1]) == (-np.inf, np.inf)


def test_risk_ratios():
    theirs = sm.GLM(BINARY, FULL, sm.families.Poisson()).fit(cov_type="HC0")
    errors = theirs.bse * np.sqrt(N / (N - 4))  # ours are corrected for the number of coefficients
    found = risk_regression(X, BINARY == 1)
    assert_close(found, theirs.params, errors)
    half = norm.isf(0.025) * errors
    np.testing.assert_allclose(found.high, theirs.params + half, rtol=1e-6)


class TestNumbers:
    y = INDEX + RNG.normal(size=N) * (1 + X[:, 1])

    def test_variances_that_differ(self):
        theirs = sm.OLS(self.y, FULL).fit(cov_type="HC3", use_t=True)
        found = number_regression(X, self.y)
        assert_close(found, theirs.params, theirs.bse)
        np.testing.assert_allclose(np.stack([found.low, found.high], 1), theirs.conf_int(), rtol=1e-6)

    def test_groups(self):
        theirs = sm.OLS(self.y, FULL).fit(cov_type="cluster", cov_kwds={"groups": GROUPS}, use_t=True)
        found = number_regression(X, self.y, groups=GROUPS)
        assert_close(found, theirs.params, theirs.bse)
        np.testing.assert_allclose(np.stack([found.low, found.high], 1), theirs.conf_int(), rtol=1e-6)

    def test_weights_of_a_survey(self):
        weights = RNG.uniform(0.5, 3.0, N)
        theirs = sm.WLS(self.y, FULL, weights=weights).fit(cov_type="HC1")
        assert_close(number_regression(X, self.y, weights=weights), theirs.params, theirs.bse)


@pytest.mark.parametrize("weights", [None, np.ones(N)])
def test_columns_that_others_tell(weights):
    more = np.column_stack([X, X[:, 1] + 2 * X[:, 2], np.full(N, 3.0), X[:, 0] + 0.01 * RNG.normal(size=N)])
    assert told_by_others(more, weights).tolist() == [False, False, False, True, True, False]
