import math

import mpmath
import numpy as np
import pytest
from scipy import special, stats

from blankets import kernels
from blankets.stats._special import chi2_isf, chi2_ppf, noncentral_chi2_cdf
from blankets.stats._tail import chi2_sf


def test_chi_square_quantiles_at_the_ends():
    assert chi2_ppf([0.0, 1.0, 0.5], [3.0, 3.0, 0.0]).tolist() == [0.0, math.inf, 0.0]
    assert chi2_isf([0.0, 1.0, 0.5], [3.0, 3.0, 0.0]).tolist() == [math.inf, 0.0, 0.0]
    assert np.isnan(chi2_isf([np.nan, 2.0], 1.0)).all()


def test_chi_square_tails_are_those_of_scipy():
    statistic = np.linspace(0.0, 300.0, 61)
    np.testing.assert_allclose(chi2_sf(statistic, 7), stats.chi2.sf(statistic, 7), rtol=1e-11)


@pytest.mark.parametrize("noncentrality", [0.0, 1e-9, 0.4, 3.0, 40.0, 999.0, 30_000.0])
@pytest.mark.parametrize("dof", [0.5, 1.0, 4.0, 64.0, 2000.0])
def test_noncentral_chi_square_is_that_of_scipy(dof, noncentrality):
    mean, spread = dof + noncentrality, math.sqrt(2.0 * (dof + 2.0 * noncentrality))
    x = np.maximum(mean + spread * np.linspace(-5.0, 6.0, 45), 0.0)
    expected = stats.ncx2.cdf(x, dof, noncentrality) if noncentrality else stats.chi2.cdf(x, dof)
    np.testing.assert_allclose(noncentral_chi2_cdf(x, dof, noncentrality), expected, atol=2e-10)


def by_fifty_digits(x, dof, noncentrality):
    """Return the noncentral chi-square law as a sum of central ones."""
    with mpmath.workdps(50):
        h, a, t = mpmath.mpf(noncentrality) / 2, mpmath.mpf(dof) / 2, mpmath.mpf(x) / 2
        weights = (mpmath.exp(-h) * h**j / mpmath.factorial(j) for j in range(400))
        return float(sum(w * mpmath.gammainc(a + j, 0, t, regularized=True) for j, w in enumerate(weights)))


@pytest.mark.parametrize(("x", "dof", "noncentrality"), [(12.0, 3, 7.5), (250.0, 5, 180.0), (0.3, 1, 2.0)])
def test_noncentral_chi_square_by_fifty_digits(x, dof, noncentrality):
    exact = by_fifty_digits(x, dof, noncentrality)
    assert float(noncentral_chi2_cdf(x, dof, noncentrality)) == pytest.approx(exact, abs=1e-13)


def test_noncentral_chi_square_of_nothing():
    assert np.isnan(noncentral_chi2_cdf([np.nan, 1.0, 1.0], [1.0, np.nan, 1.0], [1.0, 1.0, np.nan])).all()
    assert noncentral_chi2_cdf(-1.0, 2.0, 3.0) == 0.0


@pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (2.0, 3.0), (40.0, 0.5), (0.5, 900.0), (5000.0, 4000.0)])
def test_the_beta_law_is_that_of_scipy(a, b):
    for x in (1e-6, 0.01, 0.3, 0.5, 0.55, 0.9, 0.9999):
        expected = special.betainc(a, b, x)
        if expected > 1e-290:
            assert math.exp(kernels.log_beta_below(a, b, x)) == pytest.approx(float(expected), rel=1e-9)


def test_the_beta_law_does_not_underflow():
    with mpmath.workdps(50):
        exact = float(mpmath.log(mpmath.betainc(900, 0.5, 0, mpmath.mpf("0.1"), regularized=True)))
    assert exact < -2000.0
    assert kernels.log_beta_below(900.0, 0.5, 0.1) == pytest.approx(exact, rel=1e-12)
    assert kernels.log_beta_below(2.0, 2.0, 0.0) == -math.inf
    assert kernels.log_beta_below(2.0, 2.0, 1.0) == 0.0
    assert math.isnan(kernels.log_beta_below(2.0, 2.0, math.nan))
