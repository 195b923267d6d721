import math

import mpmath
import numpy as np
import pytest
from scipy.stats import chi2

from blankets.stats import log_chi2_sf


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
