"""Effects that are not weak: what G keeps where one level carries the effect."""

import numpy as np
import pytest
from scipy.stats import ncx2

from blankets import plan
from blankets.planning._shapes import least_kappa


def information(q):
    return float((q * np.log(q / np.outer(q.sum(axis=1), q.sum(axis=0)))).sum())


@pytest.mark.parametrize(("prior", "share", "w", "levels"), [(0.15, 0.045, 3.0, 10), (0.4, 0.2, 1.7, 3)])
def test_kappa_is_the_ratio_of_informations_of_the_two_tables(prior, share, w, levels):
    ratio = np.full(levels, (levels - w) / (levels - 1))
    ratio[0] = w

    def table(p):
        return np.stack([1 - p * ratio, p * ratio]) / levels

    found = least_kappa(information(table(prior)), prior, share, levels)
    assert found == pytest.approx(information(table(share)) / information(table(prior)), rel=1e-9)


def test_weak_effects_have_the_kappa_of_the_limit_and_too_strong_ones_none():
    assert least_kappa(1e-9, 0.2, 0.05, 5) == pytest.approx(0.05 / 0.95 * 0.8 / 0.2, rel=1e-3)
    assert np.isnan(least_kappa(0.6, 0.2, 0.05, 2))


def test_plans_say_what_is_left_where_one_level_carries_the_effect():
    found = plan(effect=0.05, power=0.9, arity=10, labels="pu", prior=0.15, labeled=0.045)
    kappa = least_kappa(0.05, 0.15, 0.045, 10)
    critical = 21.665994333461924  # chi-square, 9 degrees of freedom, 0.01
    left = ncx2.sf(critical, 9, 2 * kappa * 979 * 0.05)
    rows = int(np.ceil(979 * found.kappa / kappa))
    said = " ".join(found.assumptions)
    assert (
        f"Where one of the 10 levels carries the whole effect κ is only {kappa:.3f}, and the power {left:.2f}" in said
    )
    assert f"{rows:,} rows would make up for it" in said
    assert ncx2.sf(critical, 9, 2 * kappa * rows * 0.05) >= 0.9
    assert "Where one of" not in " ".join(plan(effect=0.05, power=0.9, arity=10).assumptions)
    conditional = plan(effect=0.05, power=0.9, arity=3, strata=4)
    assert "each of the 4 strata" in " ".join(conditional.assumptions)
