import math

import mpmath
import numpy as np
import pytest
from scipy.stats import chi2

from blankets.stats import log_chi2_sf
from blankets.stats._special import chi2_isf, chi2_ppf


@pytest.mark.parametrize("dof", [1, 2, 3, 4, 7, 10, 31, 100, 333, 500, 999, 1000])
def test_agrees_with_fifty_digits(dof):
    with mpmath.workdps(50):
        for statistic in [0.01, 0.5, 1, 4, 20, 100, 0.9 * dof, dof, dof + 2, 1.1 * dof, 2 * dof, 1425, 5e3, 1e5]:
            upper = mpmath.gammainc(mpmath.mpf(dof) / 2, mpmath.mpf(statistic) / 2, mpmath.inf, regularized=True)
            exact = mpmath.log(upper)
            if abs(exact) > mpmath.mpf(10) ** -30:  # below that, 50 digits of 1 - tiny are not enough themselves
                assert float(log_chi2_sf(statistic, dof)) == pytest.approx(float(exact), rel=1e-10)


def test_agrees_with_scipy_where_scipy_works():
    statistic = np.linspace(0.1, 60, 200)
    for dof in (1, 2, 5, 30):
        np.testing.assert_allclose(log_chi2_sf(statistic, dof), chi2.logsf(statistic, dof), rtol=1e-10, atol=1e-16)


def test_does_not_underflow_where_scipy_does():
    assert chi2.logsf(2000, 4) == -math.inf
    assert float(log_chi2_sf(2000, 4)) == pytest.approx(-993.0912, abs=5e-5)  # R: pchisq(2000, 4, lower=F, log=T)


def test_nothing_to_test_has_p_one_and_nan_stays_nan():
    assert log_chi2_sf([0.0, 3.0, -1e-12], [3, 0, 2]).tolist() == [0.0, 0.0, 0.0]
    assert np.isnan(log_chi2_sf(np.nan, 1))


def test_is_monotone():
    statistic = np.linspace(0, 3000, 30_001)
    for dof in (1, 6, 200):
        assert (np.diff(log_chi2_sf(statistic, dof)) <= 0).all()


@pytest.mark.parametrize("z", [-5.0, -1.0, 0.0, 0.5, 3.0, 8.0, 26.0])
@pytest.mark.parametrize("dof", [2.1e6, 1e9, 1e12])
def test_very_many_degrees_of_freedom(dof, z):
    x = dof + z * math.sqrt(2.0 * dof)
    with mpmath.workdps(40):  # the density, integrated outwards from x in units of its width
        a, at, width = mpmath.mpf(dof) / 2, mpmath.mpf(x) / 2, mpmath.sqrt(mpmath.mpf(dof) / 2)
        peak = mpmath.exp((a - 1) * mpmath.log(a) - a - mpmath.loggamma(a)) * width
        way = 1 if z >= 0 else -1

        def density(u):
            t = at + way * u * width
            return peak * mpmath.exp((a - 1) * mpmath.log(t / a) - (t - a))

        tail = mpmath.quad(density, [0, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 20])
        log_upper = mpmath.log(tail if z >= 0 else 1 - tail)
    assert float(log_chi2_sf(x, dof)) == pytest.approx(float(log_upper), rel=1e-9)
    quantile = chi2_isf if z >= 0 else chi2_ppf
    if float(tail) > 0.0:
        assert float(quantile(float(tail), dof)) == pytest.approx(x, abs=2e-4 * math.sqrt(2.0 * dof))


def test_any_number_of_degrees_of_freedom_has_an_answer():
    p = np.array([0.999, 0.5, 0.01, 1e-100])
    np.testing.assert_allclose(chi2_isf(p, 1e30), 1e30, rtol=1e-12)
    assert log_chi2_sf(np.inf, 1e9) == -np.inf
