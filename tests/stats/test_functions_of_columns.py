"""Tests of functions of columns from inner products (methods, section 10), against statsmodels and SciPy."""

import mpmath
import numpy as np
import pytest
from scipy import stats
from statsmodels.multivariate.cancorr import CanCorr

from blankets import kernels
from blankets.counting import functions_of_levels, functions_of_number
from blankets.counting._functions import orthonormal
from blankets.stats import canonical_test, combined, whitening, wide_log_lambda


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


def test_p_values_are_combined_as_cauchy_draws():
    for p, q in [(0.01, 0.9), (0.3, 0.2), (1e-9, 0.4), (1e-200, 1e-5), (0.999, 0.5)]:
        with mpmath.workdps(250):
            mean = (mpmath.cot(mpmath.pi * mpmath.mpf(p)) + mpmath.cot(mpmath.pi * mpmath.mpf(q))) / 2
            expected = mpmath.log(mpmath.mpf(1) / 2 - mpmath.atan(mean) / mpmath.pi)
        got = combined(np.log([p]), np.log([q]))[0]
        assert got == pytest.approx(float(expected), rel=1e-6, abs=1e-9)


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
