"""Intervals of what was chosen because it was large, against SciPy's truncated laws and simulation."""

import numpy as np
import pytest
from scipy import stats

from blankets.stats import cut_of_one, selected_effect, selected_noncentrality


@pytest.mark.parametrize(("z", "cut"), [(2.7, 2.58), (3.4, 2.58), (5.0, 2.58), (4.0, 3.29), (-3.1, 2.0)])
def test_the_ends_are_quantiles_of_the_truncated_law(z, cut):
    """P(Z > |z|) given |Z| > cut, by SciPy's normal law, is .025, .5 and .975 at the ends and the estimate."""
    low, middle, high = (float(end) for end in selected_effect(abs(z), cut))
    for mu, probability in ((low, 0.025), (middle, 0.5), (high, 0.975)):
        chosen = stats.norm.sf(cut, mu) + stats.norm.cdf(-cut, mu)
        assert stats.norm.sf(abs(z), mu) / chosen == pytest.approx(probability, rel=1e-6)
    if z < 0:
        assert [float(end) for end in selected_effect(z, cut)] == pytest.approx([-high, -middle, -low])


@pytest.mark.parametrize(("z", "cut"), [(1.2, 2.58), (-40.0, 2.58), (300.0, 6.0), (0.0, 0.0)])
def test_what_was_not_chosen_by_it_or_is_far_beyond_keeps_the_plain_interval(z, cut):
    assert np.array(selected_effect(z, cut)) == pytest.approx(z + stats.norm.ppf([0.025, 0.5, 0.975]), abs=1e-3)


@pytest.mark.parametrize("mu", [0.5, 1.8, 3.0, 5.0])
def test_chosen_effects_are_covered(mu):
    rng = np.random.default_rng(7)
    z = rng.normal(mu, 1, 60_000)
    z = z[np.abs(z) > 2.58][:4_000]
    low, middle, high = selected_effect(z, 2.58)
    allowed = 3 * np.sqrt(0.95 * 0.05 / len(z))
    assert abs(np.mean((low <= mu) & (mu <= high)) - 0.95) < allowed
    assert abs(np.mean(middle > mu) - 0.5) < 3 * np.sqrt(0.25 / len(z))
    if mu < 2:  # the plain interval, of the same draws, does not
        assert np.mean(np.abs(z - mu) <= 1.96) < 0.9


def test_one_of_several_effects_given_the_others():
    """Three independent effects are chosen if the sum of their squares is large; each is then covered."""
    rng = np.random.default_rng(8)
    mu = np.array([0.0, 1.5, 3.0])
    z = rng.normal(mu, 1, (40_000, 3))
    squares = (z**2).sum(axis=1)
    z, squares = z[squares > stats.chi2.isf(0.01, 3)][:600], squares[squares > stats.chi2.isf(0.01, 3)][:600]
    covered = []
    for row, w in zip(z, squares, strict=True):
        cut = cut_of_one(row, float(stats.chi2.logsf(w, 3)), 3.0, np.log(0.01))
        low, _, high = selected_effect(row, cut)
        covered.append((low <= mu) & (mu <= high))
    assert np.mean(covered, axis=0) == pytest.approx([0.95] * 3, abs=3 * np.sqrt(0.95 * 0.05 / 600))


@pytest.mark.parametrize(("statistic", "dof", "cut"), [(7.0, 1, 6.63), (12.0, 2, 9.21), (60.0, 4, 13.3), (9.0, 3, 0.0)])
def test_noncentralities_are_quantiles_of_the_truncated_law(statistic, dof, cut):
    for probability in (0.05, 0.5, 0.95):
        found = selected_noncentrality(statistic, dof, cut, probability)

        def beyond(value, found=found):
            return stats.ncx2.sf(value, dof, found) if found else stats.chi2.sf(value, dof)

        share = beyond(statistic) / beyond(cut)
        assert share == pytest.approx(probability, rel=1e-5) if found else share >= probability
