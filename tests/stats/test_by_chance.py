"""How many columns enter by chance: the laws against integrals by SciPy and simulations of what they describe."""

import math

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from scipy.stats import chi2, t

from blankets.stats import Admission
from blankets.stats._by_chance import _again_by_functions, _by_closing, by_functions, by_tables


def again(p, dof, alpha):
    """How likely a test with this p-value is wrong again, given a column of two levels more than ``dof`` less one."""
    return chi2.sf(max(chi2.isf(alpha, dof + dof**2) - chi2.isf(p, dof), 0.0), dof**2)


@pytest.mark.parametrize(("ends", "n_true", "dof"), [(1, 0, 1), (2, 0, 2), (2, 3, 1)])
def test_searches_by_subsets_leave_what_no_subset_separates(ends, n_true, dof):
    # The same by SciPy, as a differential equation: those who stay, from the strongest G of a wrong test down.
    alpha, n = 0.05, 40

    def slope(p, stayed):
        s = again(p, dof, alpha)
        return [n * s**n_true * math.exp(-e * stayed[0] * (1 - s)) for e in (1, ends)]

    at_one_end_and_all = solve_ivp(slope, (0, alpha), [0.0, 0.0], rtol=1e-8, atol=1e-10, max_step=alpha / 200).y[:, -1]
    found = by_tables(n, dof, alpha, Admission(ends=ends, n_true=n_true), n)
    assert found == pytest.approx(at_one_end_and_all[1], rel=5e-3)


def test_those_that_leave_together_meet_all_others():
    alpha, n, dof = 0.05, 40, 2
    stay = quad(lambda p: n * math.exp(-2 * alpha * n * (1 - again(p, dof, alpha))), 0, alpha)[0]
    assert by_tables(n, dof, alpha, Admission(ends=2, together=True), n) == pytest.approx(stay, rel=5e-3)


def test_levels_of_columns_are_those_left_by_the_classes_of_the_target():
    # Four degrees of freedom: five levels beside two classes, or three beside three.
    five, three = (by_tables(40, 4.0, 0.05, Admission(ends=2, target_dof=dof), 40) for dof in (1.0, 2.0))
    assert five < three < 2.0  # more levels have more new strata, and more tests become right


def grown(rng, n, dof, levels, alpha, deepest):
    """Let the strongest column enter while one depends; G of the others grows by a chi-square for the new strata."""
    g, entered = rng.chisquare(dof, n), 0
    while (g > chi2.isf(alpha, dof)).any():
        g[np.argmax(g)] = -np.inf  # a member
        entered += 1
        if entered > deepest:
            break
        g, dof = g + rng.chisquare(dof * (levels - 1), n), dof * levels
    return entered


@pytest.mark.parametrize(
    ("n", "dof", "levels", "alpha", "deepest"),
    [(40, 1, 2, 0.05, 5), (40, 2, 3, 0.05, 4), (40, 1, 2, 0.01, 5), (150, 1, 2, 0.01, 7), (40, 2, 2, 0.05, 3)],
)
def test_a_search_that_grows_looks_again(n, dof, levels, alpha, deepest):
    rng, draws = np.random.default_rng(1), 1000
    entered = [grown(rng, n, dof, levels, alpha, deepest) for _ in range(draws)]
    found = by_tables(n, dof, alpha, Admission(deepest=deepest, target_dof=dof / (levels - 1)), n)
    # The law takes the number of those that depend at a look for a Poisson number; that costs less than 5%.
    assert found == pytest.approx(np.mean(entered), abs=4 * np.std(entered) / math.sqrt(draws) + 0.05 * found)


def test_closing_lets_in_as_many_as_its_level_says():
    # With one member the level is 2 α / m for each of m columns, then 3 α / m, ..., at most five times.
    alpha = 0.1
    more = 0.2 * (1 + 0.3 * (1 + 0.4 * (1 + 0.5 * (1 + 0.6))))
    assert _by_closing(np.array([0.0, 1.0]), alpha, 0) == pytest.approx(more)
    assert _by_closing(np.array([1.0]), alpha, 1) == pytest.approx(more)
    alone, closed = (by_tables(40, 1.0, 0.01, Admission(ends=2, n_true=3, closes=c), 80) for c in (False, True))
    # Half of 80 columns have nothing to do with the target; three members, and seldom one more.
    assert closed - alone == pytest.approx(0.5 * 0.04, rel=0.3)
    assert closed - alone > 0.5 * 0.04


@pytest.mark.compiled
def test_wrong_tests_of_functions_are_mostly_wrong_again():
    # Pairs of columns that both have a wrong test with the target: one given the other, by partial correlations.
    rng, alpha, n = np.random.default_rng(0), 0.05, 400
    critical = t.isf(alpha / 2, [n - 2, n - 3])
    critical /= np.sqrt([n - 2, n - 3] + critical**2)  # of correlations
    stayed = []
    for _ in range(1500):
        r = np.corrcoef(rng.normal(size=(41, n)))
        wrong = 1 + np.flatnonzero(np.abs(r[0, 1:]) > critical[0])
        pairs, of_y = r[np.ix_(wrong, wrong)], r[0, wrong]
        np.fill_diagonal(pairs, 0.0)
        given = (of_y[:, None] - pairs * of_y) / np.sqrt((1 - pairs**2) * (1 - of_y**2))
        stayed.extend(np.abs(given[~np.eye(len(wrong), dtype=bool)]) > critical[1])
    # 6,000 pairs, of which those of a table share columns: a standard error of about 0.005. The law is that of the
    # largest term; the next ones are smaller by one over the root of the rows.
    assert _again_by_functions(1.0, alpha, n, 1.0).mean() == pytest.approx(np.mean(stayed), abs=0.03)


def test_with_few_rows_subsets_separate_some_functions():
    few, many, once = (
        by_functions(40, 4.0, 0.05, how, 40)
        for how in (Admission(ends=2, n_rows=200), Admission(ends=2, n_rows=20_000), Admission())
    )
    assert few < many < once == pytest.approx(2.0)
