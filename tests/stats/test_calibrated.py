import math

import numpy as np
import pytest
from scipy.stats import gamma, hypergeom, random_table

from blankets import kernels
from blankets.stats import METHODS, calibrated_of_block, formula_of
from blankets.stats._calibrated import cell_tables
from blankets.stats._calibrated_block import law_at
from blankets.stats._contingency import flat_tables, table_statistics
from tables_with_margins import distribution, g_of, tables

SPARSE = [
    ((3, 4), (2, 5)),
    ((1, 20), (1, 20)),
    ((2, 2, 3), (3, 4)),
    ((1, 1, 1, 2), (1, 1, 3)),
    ((1, 11), (3, 4, 5)),
    ((2, 3, 7), (1, 3, 8)),
    ((4, 4, 4), (4, 4, 4)),
    ((10, 15), (2, 3, 20)),
    ((1, 1, 10), (2, 2, 8)),
    ((2, 2, 2, 2), (2, 2, 4)),
]


def table_with(rows, columns):
    """Some table with these margins."""
    return np.array(next(tables(list(rows), list(columns))))


def block_of(*strata):
    """One table of shape (1, x, y, strata) from tables of different shapes."""
    shape = np.max([s.shape for s in strata], axis=0)
    padded = [np.pad(s, [(0, n - k) for n, k in zip(shape, s.shape, strict=True)]) for s in strata]
    return np.stack(padded, axis=-1)[np.newaxis].astype(np.int32)


def moments_of_block(counts):
    """Mean, variance, least expected count and movable rows of each table."""
    return kernels.block_moments(*flat_tables(counts), cell_tables())


def permutations_of_block(n_rows, seed, most, enough, level=0.0):
    """What counts the permutations of tables with a G as large, a larger one, and all that were drawn."""
    return lambda counts: kernels.permute(*flat_tables(counts), formula_of(n_rows, seed=seed), most, enough, level)


def doubtful_tests(statistic, dof, level=None):
    """The places of those G whose p-value may be near the level."""
    return kernels.doubtful_of(statistic, dof, law_at(level))


@pytest.mark.parametrize(("rows", "columns"), SPARSE)
def test_moments_of_sparse_tables_equal_enumeration(rows, columns):
    g, p = distribution(rows, columns)
    mean, variance, least, movable = moments_of_block(block_of(table_with(rows, columns)))
    exact = (p * g).sum()
    assert p.sum() == pytest.approx(1.0, rel=1e-10)
    assert mean[0] == pytest.approx(exact, rel=1e-10)
    assert variance[0] == pytest.approx((p * (g - exact) ** 2).sum(), rel=1e-7)
    assert least[0] == pytest.approx(min(rows) * min(columns) / sum(rows))
    assert movable[0] == sum(rows) - max(*rows, *columns)


def test_moments_add_up_over_strata_and_ignore_those_that_cannot_vary():
    strata = [table_with(*margins) for margins in SPARSE]
    fixed = [np.array([[3, 4]]), np.array([[5], [1]]), np.zeros((2, 2), int)]
    together = moments_of_block(block_of(*strata, *fixed))
    alone = np.array([[values[0] for values in moments_of_block(block_of(s))] for s in strata])
    assert together[0][0] == pytest.approx(alone[:, 0].sum())
    assert together[1][0] == pytest.approx(alone[:, 1].sum())
    assert together[2][0] == alone[:, 2].min()
    assert together[3][0] == alone[:, 3].sum()
    nothing = [values[0] for values in moments_of_block(block_of(*fixed))]
    assert nothing == [0.0, 0.0, math.inf, 0.0]


def test_moments_of_large_counts_are_bartletts_and_near_the_truth():
    for rows, columns in [((12, 20), (13, 19)), ((30, 40), (25, 45)), ((12, 14, 10), (16, 20))]:
        g, p = distribution(rows, columns)
        mean, variance, _, _ = moments_of_block(block_of(table_with(rows, columns)))
        n, free = sum(rows), (len(rows) - 1) * (len(columns) - 1)
        correction = (n * sum(1 / r for r in rows) - 1) * (n * sum(1 / c for c in columns) - 1) / (6 * n)
        if min(rows) * min(columns) / n >= 5:
            assert mean[0] == pytest.approx(free + correction)
        exact = (p * g).sum()
        assert mean[0] == pytest.approx(exact, rel=0.03)
        assert variance[0] == pytest.approx((p * (g - exact) ** 2).sum(), rel=0.08)


def test_moments_of_a_wide_table_agree_with_draws():
    rows, columns = (40, 12, 9, 5, 3, 2, 1, 1), (30, 20, 10, 6, 4, 2, 1)
    drawn = random_table(rows, columns).rvs(20_000, random_state=np.random.default_rng(2))
    g = table_statistics(drawn[..., np.newaxis])[0]
    mean, variance, _, _ = moments_of_block(drawn[:1, :, :, np.newaxis].astype(np.int32))
    # 72 rows are too many for the table of small strata: 1% for the binomial cells.
    assert g.mean() == pytest.approx(mean[0], abs=4 * math.sqrt(variance[0] / len(g)) + 0.01 * mean[0])
    spread = ((g - g.mean()) ** 2).std() / math.sqrt(len(g))
    assert g.var() == pytest.approx(variance[0], abs=4 * spread + 0.03 * variance[0])


def test_moments_of_a_table_with_large_and_small_counts():
    # o13 is 0, 1, 2 or 3; given it, o11 is hypergeometric among the other columns. This is every table.
    rows, columns = (1500, 2003), (2000, 1500, 3)
    p, g = [], []
    for o13 in range(4):
        o11 = np.arange(3, 1498 + 3 - o13)
        weight = hypergeom.pmf(o13, 3503, 3, 1500) * hypergeom.pmf(o11, 3500, 2000, 1500 - o13)
        top = np.stack([o11, 1500 - o13 - o11, np.full(len(o11), o13)], axis=1)
        g.append(table_statistics(np.stack([top, columns - top], axis=1)[..., np.newaxis])[0])
        p.append(weight)
    p, g = np.concatenate(p), np.concatenate(g)
    mean, variance, least, _ = moments_of_block(block_of(table_with(rows, columns)))
    exact = (p * g).sum()
    assert p.sum() == pytest.approx(1.0, rel=1e-9)
    assert least[0] < 5
    assert mean[0] == pytest.approx(exact, rel=0.002)
    assert variance[0] == pytest.approx((p * (g - exact) ** 2).sum(), rel=0.01)


@pytest.mark.parametrize("rows", [(40, 3), (60, 25), (200, 2), (3000, 40), (500, 300)])
@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
def test_moments_of_fourfold_tables_with_rare_levels_equal_enumeration(rows, share):
    n = sum(rows)
    c = max(1, round(share * n) if share < 0.99 else n - 2)
    o = np.arange(max(0, rows[0] + c - n), min(rows[0], c) + 1)
    p = hypergeom.pmf(o, n, rows[0], c)
    counts = np.stack([o, rows[0] - o, c - o, n - rows[0] - c + o], axis=1).reshape(-1, 2, 2, 1)
    g = table_statistics(counts)[0]
    mean, variance, _, _ = moments_of_block(counts[:1].astype(np.int32))
    exact = (p * g).sum()
    assert mean[0] == pytest.approx(exact, rel=0.03)
    # The variance of strata that are hardly too large for the table of small ones is the least exact.
    assert variance[0] == pytest.approx((p * (g - exact) ** 2).sum(), rel=0.1 if n > 50 else 0.25)


@pytest.mark.parametrize("levels", [4, 9])  # with more than four, levels of x are remembered, and not strata
def test_moments_of_tables_together_equal_those_of_each_alone(levels):
    rng = np.random.default_rng(0)
    y, z = rng.integers(0, levels - 1, 90), rng.integers(0, 5, 90)
    counts = np.zeros((20, levels, levels - 1, 5), np.int32)
    for i in range(20):
        np.add.at(counts[i], (rng.integers(0, levels - i % 3, 90), y, z), 1)
    together = moments_of_block(counts)
    for i in range(20):
        alone = moments_of_block(counts[i : i + 1])
        assert [values[i] for values in together] == [values[0] for values in alone]


@pytest.mark.parametrize("level", [None, 0.01])
def test_the_answer_depends_on_neither_order_nor_number_of_empty_levels(level):
    rng = np.random.default_rng(5)
    y, z = rng.integers(0, 3, 400), rng.integers(0, 30, 400)
    counts = np.zeros((12, 4, 3, 30), np.int32)
    for i in range(12):
        np.add.at(counts[i], (rng.integers(0, 2 + i % 3, 400), y, z), 1)
    wider = np.zeros((12, 9, 3, 30), np.int32)
    wider[:, [7, 0, 3, 4]] = counts[:, [2, 0, 3, 1]]
    judged = calibrated_of_block(400, level=level)
    again = judged(counts[:6])  # strata that were seen before have the moments that they had
    for block in (counts, counts[:, ::-1], wider):
        log_p, method = judged(block)
        assert method.tolist() == judged(counts)[1].tolist()
        np.testing.assert_array_equal(log_p, judged(counts)[0])
        np.testing.assert_array_equal(log_p[:6], again[0])


def test_log_p_from_moments_is_the_gamma_tail():
    rng = np.random.default_rng(1)
    mean, variance = 10.0 ** rng.uniform(-2, 4, 200), 10.0 ** rng.uniform(-2, 4, 200)
    g = mean * 10.0 ** rng.uniform(-1, 0.7, 200)
    expected = gamma.logsf(g, mean**2 / variance, scale=variance / mean)
    usual = expected > -500
    found = np.array([kernels.moments_tail(*numbers) for numbers in zip(g, mean, variance, strict=True)])
    np.testing.assert_allclose(found[usual], expected[usual], rtol=1e-6, atol=1e-9)


def test_nothing_to_test_has_p_one():
    assert [kernels.moments_tail(g, g, 0.0) for g in (0.0, 7.0)] == [0.0, 0.0]


@pytest.mark.parametrize(("rows", "columns"), SPARSE)
def test_permutations_equal_enumeration(rows, columns):
    g, p = distribution(rows, columns)
    every = [np.array(table) for table in tables(list(rows), list(columns))]
    observed = every[int(np.argsort(g)[3 * len(g) // 4])]
    at_least, above = p[g >= g_of(observed) - 1e-9].sum(), p[g > g_of(observed) + 1e-9].sum()
    most = 20_000
    permute = permutations_of_block(sum(rows), seed=5, most=most, enough=most + 1)
    equal_or_larger, larger, drawn = permute(block_of(observed))
    assert drawn[0] == most
    for share, truth in ((equal_or_larger[0] / most, at_least), (larger[0] / most, above)):
        assert share == pytest.approx(truth, abs=4 * math.sqrt(truth * (1 - truth) / most) + 1e-9)


def test_permutations_add_strata():
    # Two strata of four rows: G of each is 8 ln 2 with probability 1/3 and 0 otherwise.
    diagonal, even = np.array([[2, 0], [0, 2]]), np.array([[1, 1], [1, 1]])
    permute = permutations_of_block(8, seed=2, most=20_000, enough=20_001)
    for strata, at_least, above in (([diagonal, diagonal], 1 / 9, 0), ([diagonal, even], 5 / 9, 1 / 9)):
        equal_or_larger, larger, drawn = permute(block_of(*strata))
        assert equal_or_larger[0] / drawn[0] == pytest.approx(at_least, abs=4 * math.sqrt(0.25 / 20_000))
        assert larger[0] / drawn[0] == pytest.approx(above, abs=4 * math.sqrt(0.1 / 20_000))


@pytest.mark.compiled
def test_permutations_depend_on_nothing_but_margins_and_seed():
    rng = np.random.default_rng(4)
    table = rng.multinomial(60, rng.dirichlet(np.ones(3 * 4 * 5))).reshape(1, 3, 4, 5).astype(np.int32)
    permute = permutations_of_block(60, seed=9, most=500, enough=100)
    outcome = [values.tolist() for values in permute(table)]
    levels, strata = rng.permutation(4), rng.permutation(5)
    padded = np.pad(table, ((0, 0), (0, 3), (0, 1), (0, 2)))
    for same in (table.swapaxes(1, 2), table[:, ::-1], table[:, :, levels], table[..., strata], padded):
        assert [values.tolist() for values in permute(np.ascontiguousarray(same))] == outcome
    other = [permutations_of_block(60, seed=s, most=20_000, enough=20_001)(table)[0][0] for s in range(8)]
    assert len(set(other)) > 1


def test_permutations_stop_when_enough_were_as_large():
    table = block_of(np.array([[5, 5], [5, 5]]))  # every arrangement has a G as large
    equal_or_larger, larger, drawn = permutations_of_block(20, seed=0, most=1000, enough=30)(table)
    assert (equal_or_larger[0], drawn[0]) == (30, 30)
    assert larger[0] < 30


@pytest.mark.parametrize(
    ("level", "table", "above"), [(0.01, [[5, 5], [5, 5]], True), (0.05, [[20, 0], [0, 20]], False)]
)
def test_permutations_stop_when_the_decision_at_a_level_cannot_change(level, table, above):
    block = block_of(np.array(table))
    (hits,), _, (drawn,) = permutations_of_block(40, 0, most=5000, enough=5000, level=level)(block)
    assert drawn < 15 / level
    assert (hits / drawn > level) == above
    assert permutations_of_block(40, 0, most=500, enough=5000)(block)[2].tolist() == [500]


@pytest.mark.compiled
def test_decisions_by_permutations_that_stop_early_are_those_of_all_permutations():
    # 200 tables with p around the level; at most a few in a hundred may differ, those within the error of 999 draws.
    rng = np.random.default_rng(6)
    level, differ, decided = 0.05, 0, 0
    for _ in range(200):
        block = rng.multinomial(24, rng.dirichlet(np.full(9, 3.0))).reshape(1, 3, 3, 1).astype(np.int32)
        (hits,), _, (drawn,) = permutations_of_block(24, 1, most=4000, enough=4001)(block)
        if not 0.5 * level < hits / drawn < 2 * level:
            (early,), _, (few,) = permutations_of_block(24, 2, most=999, enough=1000, level=level)(block)
            differ += (hits / drawn <= level) != ((early + 1) / (few + 1) <= level)
            decided += 1
    assert decided > 100
    assert differ <= 2


@pytest.mark.parametrize("table", [[[9, 1], [2, 8]], [[30, 10], [4, 3]], [[50, 0], [3, 2]], [[1, 0], [0, 1]]])
def test_fourfold_tables_are_enumerated(table):
    counts = np.array(table)
    (r, _), (c, _), n = counts.sum(axis=1), counts.sum(axis=0), counts.sum()
    o = np.arange(max(0, r + c - n), min(r, c) + 1)
    every = np.stack([o, r - o, c - o, n - r - c + o], axis=1).reshape(-1, 2, 2, 1)
    g, p = table_statistics(every)[0], hypergeom.pmf(o, n, r, c)
    observed = g[o == counts[0, 0]]
    a, b = p[g >= observed - 1e-9].sum(), p[g > observed + 1e-9].sum()
    log_p, method = calibrated_of_block(int(n))(block_of(counts))
    if METHODS[int(method[0])].startswith("exact"):
        assert math.exp(log_p[0]) == pytest.approx(max((a + b) / 2, a / 1.1), rel=1e-9)
    else:  # by moments, and clearly large or small
        assert METHODS[int(method[0])].startswith("adjusted chi-square")
        assert max((a + b) / 2, a / 1.1) > 0.2


def test_what_is_far_from_the_level_is_so_by_every_law():
    # Strata of two rows in which x and y vary have G = 4 ln 2 for one degree of freedom, whatever the rows are.
    thin = np.tile(np.array([[1, 0], [0, 1]])[np.newaxis, :, :, np.newaxis], (1, 1, 1, 60)).astype(np.int32)
    g, free = table_statistics(thin)
    assert (g[0], free[0]) == (pytest.approx(60 * 4 * math.log(2)), 60)
    assert doubtful_tests(g, free, 0.01).tolist() == [0]
    log_p, _ = calibrated_of_block(120, level=0.01)(thin)
    assert log_p[0] == 0.0
    # Three hits in forty cells that expect 0.004 each: p = 0.0006, and G is below its degrees of freedom.
    assert doubtful_tests(np.array([32.0]), np.array([40.0]), 0.01).tolist() == [0]
    assert doubtful_tests(np.array([0.5, 3.0, 60.0]), np.array([1.0, 4.0, 1.0]), 0.01).tolist() == []
    assert doubtful_tests(np.array([0.5, 0.0]), np.array([1.0, 0.0])).tolist() == [0]  # without a level all are


@pytest.mark.parametrize("level", [1e-15, 1e-40, 1e-300])
def test_levels_next_to_nothing(level):
    """By moderate deviations the limits lie near 2 ln(1/level); warnings are errors here."""
    near = 2 * math.log(1 / level)
    assert doubtful_tests(np.array([1.0, near, 5 * near]), np.ones(3), level).tolist() == [1]


def test_permutations_of_more_rows_than_are_tabled():
    # 100,000 rows, of which 3 have the rare level; one count decides.
    table = np.array([[79_998, 19_999], [0, 3]])
    equal_or_larger, _, drawn = permutations_of_block(100_000, 0, most=20_000, enough=20_001)(block_of(table))
    truth = hypergeom.pmf(3, 100_000, 20_002, 3)
    assert equal_or_larger[0] / drawn[0] == pytest.approx(truth, abs=4 * math.sqrt(truth / 20_000))


def test_p_from_permutations():
    # ten draws, no stop: the data count as one more; a = 4/11, b = 1/11, 5/22 is less than a / 1.1 = 40/121
    assert kernels.permutation_p(3, 1, 10, 30) == pytest.approx(40 / 121)
    # without ties: a = 4/11, b = 3/11, mid-p 7/22 is less than 40/121
    assert kernels.permutation_p(3, 3, 10, 30) == pytest.approx(40 / 121)
    # stopped: a = 30/100, b = 29/100, mid-p 0.295
    assert kernels.permutation_p(30, 29, 100, 30) == pytest.approx(0.295)


@pytest.mark.parametrize(("rows", "columns"), SPARSE)
def test_p_of_coarse_tables_keeps_its_bound_and_reaches_the_exact_test(rows, columns):
    g, p = distribution(rows, columns)
    many = 1e12  # permutations: shares are probabilities
    at_least = np.array([p[g >= value - 1e-9].sum() for value in g])
    above = np.array([p[g > value + 1e-9].sum() for value in g])
    p_value = np.array(
        [kernels.permutation_p(a * many, b * many, many, 30) for a, b in zip(at_least, above, strict=True)]
    )
    for alpha in np.unique(np.concatenate([p_value, at_least, [0.001, 0.01, 0.05]])):
        size = p[p_value <= alpha + 1e-12].sum()
        assert size <= 1.1 * alpha + 1e-9
        assert size >= p[at_least <= alpha - 1e-9].sum()
