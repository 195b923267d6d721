"""Power against SciPy's noncentral chi-square, statsmodels, 30-digit sums, and simulation."""

import math
import time

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.power import GofChisquarePower

from blankets.stats._power import (
    EFFECT_SIZES,
    attained_power,
    critical_value,
    detectable_effect,
    effect_from_w,
    needed_alpha,
    needed_noncentrality,
    noncentrality,
    w_from_effect,
)
from blankets.stats._special import noncentral_chi2_cdf

dofs = st.integers(1, 200)
alphas = st.floats(1e-6, 0.2)
lambdas = st.floats(0.01, 300.0)
powers = st.floats(0.3, 0.999)


@pytest.mark.parametrize("dof", [1, 2, 9, 100])
@pytest.mark.parametrize("alpha", [0.001, 0.01, 0.1])
def test_against_scipy(dof, alpha):
    lam = np.array([0.5, 5.0, 24.0, 80.0, 1000.0])
    expected = stats.ncx2.sf(stats.chi2.isf(alpha, dof), dof, lam)
    np.testing.assert_allclose(attained_power(lam, dof, alpha), expected, rtol=1e-10)


@pytest.mark.parametrize(("w", "n", "n_bins"), [(0.1, 500, 2), (0.3, 150, 4), (0.5, 40, 10)])
def test_against_statsmodels(w, n, n_bins):
    # Its one-way test with n_bins bins has n_bins - 1 degrees of freedom and noncentrality n w².
    expected = GofChisquarePower().power(w, n, 0.05, n_bins=n_bins)
    got = attained_power(noncentrality(effect_from_w(w), n), n_bins - 1, 0.05)
    assert float(got) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("dof", "lam", "alpha"), [(1, 24.0, 0.01), (9, 3.0, 0.05), (40, 60.0, 1e-4)])
def test_against_a_poisson_mixture_in_30_digits(dof, lam, alpha):
    with mpmath.workdps(30):
        x = mpmath.mpf(float(stats.chi2.isf(alpha, dof)))
        half = mpmath.mpf(lam) / 2
        cdf = mpmath.nsum(
            lambda j: mpmath.exp(-half) * half**j / mpmath.factorial(j)
            * mpmath.gammainc(mpmath.mpf(dof) / 2 + j, 0, x / 2, regularized=True),
            [0, 400],
            method="direct",
        )  # fmt: skip
        expected = float(1 - cdf)
    assert float(attained_power(lam, dof, alpha)) == pytest.approx(expected, rel=1e-9)


def test_at_independence_the_power_is_the_level():
    np.testing.assert_allclose(attained_power(0.0, [1, 5, 80], 0.03), 0.03, rtol=1e-9)


def test_nothing_to_test_is_never_rejected():
    assert float(attained_power(50.0, 0, 0.05)) == 0.0


def test_critical_value_against_scipy():
    assert float(critical_value(7, 1e-5)) == pytest.approx(stats.chi2.isf(1e-5, 7), rel=1e-12)


def test_cohens_effects():
    np.testing.assert_allclose(w_from_effect(list(EFFECT_SIZES.values())), [0.1, 0.3, 0.5])
    assert list(EFFECT_SIZES) == ["small", "medium", "large"]
    np.testing.assert_allclose(effect_from_w(w_from_effect([0.02, 0.3])), [0.02, 0.3])


@given(powers, dofs, alphas)
@settings(max_examples=60, deadline=None)
def test_needed_noncentrality_is_where_scipys_power_is_met(power, dof, alpha):
    lam = float(needed_noncentrality(power, dof, alpha))
    assert stats.ncx2.sf(stats.chi2.isf(alpha, dof), dof, lam) == pytest.approx(power, abs=1e-8)


def test_no_noncentrality_is_needed_below_the_level():
    np.testing.assert_array_equal(needed_noncentrality([0.01, 0.05], 3, 0.05), [0.0, 0.0])


@given(powers, dofs, lambdas)
@settings(max_examples=60, deadline=None)
def test_needed_alpha_gives_the_power_back(power, dof, lam):
    alpha = float(needed_alpha(power, dof, lam))
    if 1e-250 < alpha < 1 - 1e-9:
        assert stats.ncx2.sf(stats.chi2.isf(alpha, dof), dof, lam) == pytest.approx(power, abs=1e-7)


@given(lambdas, st.floats(1.0, 3.0), dofs, st.integers(0, 50), alphas, st.floats(1.0, 4.0))
@settings(max_examples=100, deadline=None)
def test_rises_with_noncentrality_and_level_and_falls_with_dof(lam, stretch, dof, more, alpha, looser):
    power = float(attained_power(lam, dof, alpha))
    slack = 1e-9
    assert float(attained_power(lam * stretch, dof, alpha)) >= power - slack
    assert float(attained_power(lam, dof, alpha * looser)) >= power - slack
    assert float(attained_power(lam, dof + more, alpha)) <= power + slack


def test_detectable_effect_inverts_the_sample_size():
    # Sechidis (2015), Table 7.1a: 0.95 power for w = 0.1 needs 1782 rows, so at 1782 rows slightly less is found.
    effect = float(detectable_effect(0.95, 1782, 1, 0.01))
    assert 0.005 * 1781 / 1782 < effect <= 0.005
    assert float(detectable_effect(0.95, 1782, 1, 0.01, kappa=0.25)) == pytest.approx(4 * effect)


def test_against_simulated_tables():
    """2x3 tables with a known effect: the share rejected, within four standard errors and the local limit."""
    rng = np.random.default_rng(11)
    joint = np.array([[0.21, 0.18, 0.11], [0.13, 0.17, 0.20]])
    effect = float((joint * np.log(joint / (joint.sum(1, keepdims=True) * joint.sum(0)))).sum())
    n, draws, alpha = 300, 4000, 0.05
    counts = rng.multinomial(n, joint.ravel(), size=draws).reshape(draws, 2, 3)
    expected = counts.sum(2, keepdims=True) * counts.sum(1, keepdims=True) / n
    g = 2 * (counts * np.log(np.where(counts > 0, counts, 1) / expected)).sum((1, 2))
    rejected = float((g > stats.chi2.isf(alpha, 2)).mean())
    power = float(attained_power(noncentrality(effect, n), 2, alpha))
    assert rejected == pytest.approx(power, abs=4 * math.sqrt(power * (1 - power) / draws) + 0.01)


def test_large_noncentralities_take_no_time_and_are_right():
    for large in (2.9e5, 3.1e5, 1e7, 3e8):  # both sides of the limit at which the formula takes over
        for dof in (1.0, 40.0):
            at = dof + large + np.sqrt(2 * (dof + 2 * large)) * np.array([-4.0, -1.0, 0.0, 1.5])
            expected = stats.ncx2.cdf(at, dof, large)
            assert noncentral_chi2_cdf(at, dof, large) == pytest.approx(expected, abs=1e-9)
    began = time.process_time()
    far = np.array([1e18, 1e30, 1e300])
    deviations = 1e18 + 2e9 * np.array([-1.0, 0.0, 2.0])
    assert noncentral_chi2_cdf(far, 2.0, far) == pytest.approx([0.5, 0.5, 0.5], abs=1e-6)
    assert noncentral_chi2_cdf(deviations, 2.0, 1e18) == pytest.approx(stats.norm.cdf([-1.0, 0.0, 2.0]), abs=1e-6)
    assert noncentral_chi2_cdf(5.0, 2.0, np.inf) == 0.0
    assert time.process_time() - began < 1.0
