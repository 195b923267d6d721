import numpy as np
import pytest
from scipy.stats import chi2_contingency, power_divergence

from blankets.stats._contingency import table_statistics


@pytest.mark.parametrize(("kind", "lambda_"), [("g", "log-likelihood"), ("x2", "pearson")])
@pytest.mark.parametrize("rows", [12, 60, 1000, 200_000])
def test_statistic_equals_scipy_per_stratum(kind, lambda_, rows):
    rng = np.random.default_rng(rows)
    for _ in range(30):
        shape = (rng.integers(2, 6), rng.integers(2, 6), rng.integers(1, 5))
        cells = rng.dirichlet(np.full(np.prod(shape), 0.7))
        table = rng.multinomial(rows, cells).reshape(shape)
        expected_statistic, expected_dof = 0.0, 0
        for z in range(shape[2]):
            seen = table[:, :, z]
            seen = seen[seen.sum(axis=1) > 0][:, seen.sum(axis=0) > 0]
            if seen.size:
                expected = np.outer(seen.sum(axis=1), seen.sum(axis=0)) / seen.sum()
                expected_statistic += power_divergence(seen.ravel(), expected.ravel(), lambda_=lambda_).statistic
                expected_dof += (seen.shape[0] - 1) * (seen.shape[1] - 1)
        statistic, dof = table_statistics(table[np.newaxis], kind)
        assert statistic[0] == pytest.approx(expected_statistic, rel=1e-10, abs=1e-9)
        assert dof[0] == expected_dof


def test_full_table_equals_chi2_contingency_without_correction():
    table = np.array([[7, 3, 12], [4, 9, 2]])
    for kind, lambda_ in (("g", "log-likelihood"), ("x2", "pearson")):
        reference = chi2_contingency(table, correction=False, lambda_=lambda_)
        statistic, dof = table_statistics(table[np.newaxis, :, :, np.newaxis], kind)
        assert statistic[0] == pytest.approx(reference.statistic, rel=1e-12)
        assert dof[0] == reference.dof


def test_nearly_independent_table_keeps_its_digits():
    # Rows (a, b) and (c, d) that differ by one count among 10^8: G from 50-digit arithmetic.
    import mpmath

    table = [[25_000_001, 25_000_000], [25_000_000, 25_000_000]]
    with mpmath.workdps(50):
        n = mpmath.mpf(sum(map(sum, table)))
        r = [mpmath.mpf(sum(row)) for row in table]
        c = [mpmath.mpf(sum(col)) for col in zip(*table, strict=True)]
        exact = 2 * sum(table[i][j] * mpmath.log(table[i][j] * n / (r[i] * c[j])) for i in range(2) for j in range(2))
    statistic, _ = table_statistics(np.array(table)[np.newaxis, :, :, np.newaxis])
    assert statistic[0] == pytest.approx(float(exact), rel=1e-10)


@pytest.mark.parametrize("rows", [2, 3, 40, 2_000, 5_000, 65_536, 65_537, 300_000])
def test_every_digit_of_small_statistics_is_right(rows):
    # Tables near independence, with and without strata, against 50-digit arithmetic.
    import mpmath

    rng = np.random.default_rng(rows)
    for n_z in (1, 1, 1, 3):
        shares = np.array([0.5, 0.5]), rng.dirichlet([5.0, 5.0]), rng.dirichlet(np.full(n_z, 9.0))
        expected = rows * np.einsum("x,y,z->xyz", *shares)
        table = np.rint(expected + rng.normal(0, 0.3, expected.shape) * np.sqrt(expected)).clip(0).astype(int)
        with mpmath.workdps(50):
            exact = mpmath.mpf(0)
            for cell in np.ndindex(table.shape):
                if table[cell]:
                    x, y, z = cell
                    n, o = int(table[:, :, z].sum()), int(table[cell])
                    r, c = int(table[x, :, z].sum()), int(table[:, y, z].sum())
                    exact += 2 * o * mpmath.log(mpmath.mpf(o) * n / (mpmath.mpf(r) * c))
        statistic, _ = table_statistics(table[np.newaxis])
        assert statistic[0] == pytest.approx(float(exact), rel=1e-10, abs=1e-13)


def test_empty_cells_levels_and_strata_are_ordinary():
    table = np.zeros((1, 3, 2, 4), int)
    assert [a.tolist() for a in table_statistics(table)] == [[0.0], [0.0]]
    table[0, 0, 0, 1] = 5  # one cell: nothing to compare with
    assert [a.tolist() for a in table_statistics(table)] == [[0.0], [0.0]]
    table[0, 2, 1, 1] = 5  # two cells of a 2 x 2 diagonal: G = 2 · 10 ln 2, X² = 10
    statistic, dof = table_statistics(table)
    assert statistic[0] == pytest.approx(20 * np.log(2))
    assert dof[0] == 1
    assert table_statistics(table, "x2")[0][0] == pytest.approx(10.0)


def test_levels_that_do_not_occur_change_nothing():
    table = np.random.default_rng(3).integers(0, 9, (1, 3, 3, 2))
    padded = np.pad(table, ((0, 0), (0, 2), (0, 1), (0, 3)))
    for kind in ("g", "x2"):
        for mine, theirs in zip(table_statistics(table, kind), table_statistics(padded, kind), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-12)


def test_g_is_twice_the_rows_times_the_plug_in_information():
    table = np.random.default_rng(5).integers(1, 40, (4, 3, 2))
    p = table / table.sum()
    p_z = p.sum(axis=(0, 1), keepdims=True)
    information = (p * np.log(p * p_z / (p.sum(axis=1, keepdims=True) * p.sum(axis=0, keepdims=True)))).sum()
    assert table_statistics(table[np.newaxis])[0][0] == pytest.approx(2 * table.sum() * information, rel=1e-12)
