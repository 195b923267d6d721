"""What is given is held fixed: what is taken out, the level that follows, and the third answer."""

import math

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats

from blankets.stats import Draws, GivenFunctions, GivenSet, Pair, Side, Values, held_fixed_test


def columns_of(*columns):
    return [Values(np.asarray(c), is_number=np.asarray(c).dtype.kind == "f") for c in columns]


def asked(z, x, y, *, level=0.05, draws=None, check=True):
    """Return the verdict of x and y given z."""
    data = columns_of(*z, x, y)
    given = GivenSet(GivenFunctions(data.__getitem__, Draws(len(x)) if draws is None else draws), range(len(z)))
    return held_fixed_test(given, Side(given, len(z)), Side(given, len(z) + 1), level=level, check=check)


def of_mean(mean, n, seed, noise=1.0):
    """Return z, x and y with one mean given z."""
    rng = np.random.default_rng(seed)
    z, m = mean(n, rng)
    return z, *(m + noise * rng.normal(size=(2, n)))


def product(n, rng):
    z = rng.normal(size=(2, n))
    return list(z), z[0] * z[1]


def cells(n, rng):
    a, b = rng.integers(0, 6, (2, n))
    return [a, b], np.random.default_rng(4).normal(size=(6, 6))[a, b]


def season(n, rng):
    day = np.sort(rng.integers(0, int(3 * 365.25), n)).astype(float)
    return [day], np.sin(2 * np.pi * day / 365.25)


def age_and_sex(n, rng):
    sex, age = rng.integers(0, 2, n), rng.normal(size=n)
    return [sex, age], age * sex


def forty(n, rng):
    site = rng.integers(0, 40, n)
    return [site], rng.normal(size=40)[site]


def three(n, rng):
    z = rng.normal(size=(3, n))
    return list(z), z.sum(axis=0)


def eight(n, rng):
    z = rng.normal(size=(8, n))
    return list(z), z.sum(axis=0) / math.sqrt(2)


DESIGNS = {
    "sum of three": three,
    "sum of eight": eight,
    "product": product,
    "age and sex": age_and_sex,
    "cells": cells,
    "season of three years": season,
    "forty levels": forty,
}


def share_rejected(mean, n, draws, level, seed=0):
    """Return how many are rejected, and how often z was not held fixed."""
    rejected = unheld = 0
    for k in range(draws):
        verdict = asked(*of_mean(mean, n, [seed, k]))
        rejected += verdict.held and verdict.log_p <= math.log(level)
        unheld += not verdict.held
    return rejected, unheld


@pytest.mark.parametrize("name", DESIGNS)
def test_a_true_independence_is_rejected_as_seldom_as_the_level_says(name):
    """Least squares on the columns alone reject all, or almost all, of these."""
    draws = 40
    rejected, unheld = share_rejected(DESIGNS[name], 600, draws, 0.05)
    assert rejected <= stats.binom.ppf(0.9999, draws, 0.06)
    assert unheld <= stats.binom.ppf(0.9999, draws, 0.1)


@pytest.mark.slow
@pytest.mark.parametrize("n", [300, 1000, 3000])
@pytest.mark.parametrize("name", DESIGNS)
def test_the_level_over_many_draws(name, n):
    draws = 400
    for level in (0.01, 0.05):
        rejected, unheld = share_rejected(DESIGNS[name], n, draws, level, seed=n)
        assert rejected <= stats.binom.ppf(0.999, draws, 1.2 * level)
        assert unheld <= stats.binom.ppf(0.999, draws, 0.1)


@pytest.mark.parametrize("name", ["product", "age and sex", "cells", "season of three years"])
def test_first_functions_of_the_given_columns_alone_would_reject(name):
    """The same scores, with nothing taken out beside the base: what the test is for."""
    z, x, y = of_mean(DESIGNS[name], 600, 1)
    data = columns_of(*z, x, y)
    given = GivenSet(GivenFunctions(data.__getitem__, Draws(600)), range(len(z)))
    alone = Pair(given, Side(given, len(z), alone=True), Side(given, len(z) + 1, alone=True)).verdict()
    assert alone.log_p < math.log(1e-4)
    assert asked(z, x, y).log_p > math.log(1e-3)


@pytest.mark.parametrize(
    ("name", "block"),
    [
        ("product", ("product", (0, 1))),
        ("cells", ("cells", (0, 1))),
        ("season of three years", ("curve 15", (0,))),
        ("age and sex", ("slopes", (1, 0))),
    ],
)
def test_what_is_taken_out_is_what_matters(name, block):
    assert block in asked(*of_mean(DESIGNS[name], 1000, 2)).taken


def test_nothing_is_taken_out_where_nothing_matters():
    rng = np.random.default_rng(3)
    taken = [asked(*(rng.normal(size=(4, 300)),), *rng.normal(size=(2, 300))).taken for _ in range(30)]
    # Chance takes about three functions in 300 rows, many of them in one block.
    assert np.mean([len(some) for some in taken]) < 2


@pytest.mark.parametrize("k", [0, 1, 3])
def test_the_plain_question_is_that_of_residuals_of_least_squares(k):
    """Of two normal columns with a linear mean: the statistic of products of statsmodels' residuals."""
    rng = np.random.default_rng(4)
    z, n = rng.normal(size=(k, 500)), 500
    x, y = z.sum(axis=0) + rng.normal(size=(2, n))
    data = columns_of(*z, x, y)
    given = GivenSet(GivenFunctions(data.__getitem__, Draws(n)), range(k))
    pair = Pair(given, Side(given, k, alone=True), Side(given, k + 1, alone=True))
    _, a, b = next(iter(pair.questions()))
    design = np.column_stack([np.ones(n), *z])
    fits = [sm.OLS((v - v.mean()) / v.std(), design).fit() for v in (x, y)]
    assert a[0] == pytest.approx(fits[0].resid, abs=1e-8)
    assert b[0] == pytest.approx(fits[1].resid, abs=1e-8)
    assert pair.fit.leverage() == pytest.approx(fits[0].get_influence().hat_matrix_diag, abs=1e-8)


def test_power_for_a_line_is_near_that_of_fishers_z():
    """Three normal columns given, a partial correlation of .119: no test has more power than Fisher's z here."""
    ours = theirs = 0
    draws, n = 60, 1000
    for k in range(draws):
        rng = np.random.default_rng([5, k])
        z, e = rng.normal(size=(3, n)), rng.normal(size=n)
        x, y = z.sum(axis=0) + e, z.sum(axis=0) + 0.12 * e + rng.normal(size=n)
        ours += asked(z, x, y).log_p <= math.log(0.01)
        design = np.column_stack([np.ones(n), *z])
        r = np.corrcoef(*(sm.OLS(v, design).fit().resid for v in (x, y)))[0, 1]
        theirs += 2 * stats.norm.sf(abs(np.arctanh(r)) * math.sqrt(n - 6)) <= 0.01
    assert theirs > 0.75 * draws
    assert ours >= 0.85 * theirs - 3 * math.sqrt(0.1 * draws)  # at most one in ten tables decided differently by chance


def test_effects_that_differ_between_parts_are_found():
    """x helps in one half and harms in the other: its correlation with y given z is 0."""
    found, draws = 0, 20
    for k in range(draws):
        rng = np.random.default_rng([6, k])
        z, x = rng.normal(size=(2, 1000))
        verdict = asked([z], x, 0.3 * x * np.sign(z) + rng.normal(size=1000))
        found += verdict.log_p <= math.log(0.01)
        assert verdict.log_p > math.log(0.01) or verdict.question == 2
    # For z known it is a correlation of .29 in 1,000 rows: z of 9.
    assert found >= 0.9 * draws


def test_a_square_of_what_is_x_alone_is_found():
    rng = np.random.default_rng(7)
    z, e = rng.normal(size=(2, 1000))
    verdict = asked([z], z + e, z + 0.3 * e**2 + rng.normal(size=1000))
    assert verdict.log_p < math.log(1e-3)


def test_who_asks_and_the_order_of_rows_and_columns_change_nothing():
    z, x, y = of_mean(cells, 500, 8)
    extra = np.random.default_rng(9).normal(size=500)
    order = np.random.default_rng(10).permutation(500)
    one = asked([*z, extra], x, y, level=1e-9)
    for other in (
        asked([*z, extra], y, x, level=1e-9),
        asked([extra, z[1], z[0]], x, y, level=1e-9),
        asked([v[order] for v in (*z, extra)], x[order], y[order], level=1e-9),
    ):
        assert other.log_p == pytest.approx(one.log_p, rel=1e-6)
        assert len(other.taken) == len(one.taken)


def test_rows_that_are_too_few_do_not_hold_crossed_categories_fixed():
    """Two categories of 12 levels, each pair with a mean of its own, 300 rows: two rows for each of 144 means."""
    unheld = 0
    for k in range(10):
        rng = np.random.default_rng([11, k])
        a, b = rng.integers(0, 12, (2, 300))
        m = 2 * rng.normal(size=(12, 12))[a, b]
        verdict = asked([a, b], m + 0.5 * rng.normal(size=300), m + 0.5 * rng.normal(size=300))
        assert verdict.log_p < math.log(0.05)  # by products of residuals they depend on each other
        unheld += not verdict.held
    assert unheld >= 9


def test_true_dependence_is_not_called_unheld():
    """What x and y share of their own does not go with the neighbors of a row."""
    unheld = 0
    for k in range(40):
        rng = np.random.default_rng([12, k])
        z, (e, f) = rng.normal(size=(2, 500)), rng.normal(size=(2, 500))
        verdict = asked(list(z), z[0] + e, z[1] + 0.5 * e + f)
        assert verdict.log_p < math.log(1e-6)
        unheld += not verdict.held
    assert unheld <= stats.binom.ppf(0.999, 40, 0.03)


def test_the_check_is_made_only_up_to_the_level():
    z, x, y = of_mean(product, 600, 13)
    assert asked(z, x, y, level=1e-12).held
    assert asked(z, x, y, level=1e-12) == asked(z, x, y, level=1e-12, check=False)


def test_columns_that_the_given_ones_determine_have_nothing_to_test():
    z = np.random.default_rng(14).normal(size=300)
    verdict = asked([z], 2.0 * z + 1.0, z + np.random.default_rng(15).normal(size=300))
    assert (verdict.dof, verdict.log_p, verdict.held) == (0, 0.0, True)


def test_information_is_that_of_the_partial_correlation():
    rng = np.random.default_rng(16)
    z, e = rng.normal(size=(2, 3000))
    x, y = z + e, z + 0.7 * e + rng.normal(size=3000)
    rho2 = 0.49 / 1.49
    verdict = asked([z], x, y)
    # The standard error of r is (1 - r²)/√n, of -½ log(1 - r²) r/√n.
    assert verdict.information == pytest.approx(-0.5 * math.log(1 - rho2), abs=4 * math.sqrt(rho2 / 3000))


def groups_of(n_groups, size):
    return np.repeat(np.arange(n_groups), size)


@pytest.mark.parametrize("n_groups", [20, 40])
def test_rows_of_groups_keep_the_level(n_groups):
    """Rows of a group share much of x and of y: as if rows were independent, half of these are rejected at .05."""
    groups, rejected, naive, draws = groups_of(n_groups, 15), 0, 0, 60
    n = len(groups)
    for k in range(draws):
        rng = np.random.default_rng([17, n_groups, k])
        z = rng.normal(size=n)
        x, y = z + rng.normal(size=(2, n_groups))[:, groups] + rng.normal(size=(2, n))
        rejected += (v := asked([z], x, y, draws=Draws(n, groups=groups))).held and v.log_p <= math.log(0.05)
        naive += asked([z], x, y).log_p <= math.log(0.05)
    assert rejected <= stats.binom.ppf(0.999, draws, 0.06)
    assert naive > stats.binom.ppf(0.999, draws, 0.06)


def test_weights_undo_how_rows_were_drawn():
    """x and y are independent given z, but rows where both residuals have one sign were drawn four times as often."""
    weighted = plain = 0
    for k in range(30):
        rng = np.random.default_rng([18, k])
        z, e, f = rng.normal(size=(3, 3000))
        chance = np.where(e * f > 0, 0.6, 0.15)
        at = rng.random(3000) < chance
        x, y, given, w = (z + e)[at], (z + f)[at], z[at], 1 / chance[at]
        draws = Draws(int(at.sum()), root=np.sqrt(w / w.mean()))
        weighted += (v := asked([given], x, y, draws=draws)).held and v.log_p <= math.log(0.05)
        plain += asked([given], x, y).log_p <= math.log(1e-6)
    assert plain == 30
    assert weighted <= stats.binom.ppf(0.999, 30, 0.06)


def test_equal_weights_and_groups_of_one_row_are_rows():
    z, x, y = of_mean(product, 400, 19)
    plain = asked(z, x, y)
    for draws in (Draws(400, root=np.ones(400)), Draws(400, groups=np.arange(400))):
        # What blocks gain is compared with the spread that rows show, instead of one variance: nearly the same.
        assert asked(z, x, y, draws=draws).log_p == pytest.approx(plain.log_p, abs=0.7)
