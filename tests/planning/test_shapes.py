"""Effects that are not weak: what G keeps where one level carries the effect."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import xlogy
from scipy.stats import chi2, ncx2, norm

from blankets import plan
from blankets.errors import ParameterError
from blankets.planning._shapes import least_power

PU = {"labels": "pu", "prior": 0.15, "labeled": 0.045}


def table(p, w, levels):
    """A class of probability p that is w times as likely at the first of some equally frequent levels."""
    ratio = np.full(levels, (levels - w) / (levels - 1))
    ratio[0] = w
    return np.stack([1 - p * ratio, p * ratio]) / levels


def log_ratio(q):
    return np.log(q / np.outer(q.sum(axis=1), q.sum(axis=0)))


@pytest.mark.parametrize(
    ("effect", "prior", "share", "levels", "rows"), [(0.05, 0.15, 0.045, 10, 979), (0.1, 0.4, 0.2, 5, 277)]
)
def test_least_power_is_that_of_the_table_with_its_own_variance(effect, prior, share, levels, rows):
    w = brentq(
        lambda w: (table(prior, w, levels) * log_ratio(table(prior, w, levels))).sum() - effect, 1.001, 0.99 / prior
    )
    q = table(share, w, levels)
    mean = (q * log_ratio(q)).sum()
    spread = np.sqrt(((q * log_ratio(q) ** 2).sum() - mean**2) / (2 * mean))
    assert spread > 1
    plain = ncx2.sf(chi2.isf(0.01, levels - 1), levels - 1, 2 * rows * mean)
    found = least_power(effect, prior, share, rows, levels - 1, 0.01)
    assert found == pytest.approx(norm.cdf(norm.ppf(plain) / spread), abs=1e-9)


def test_weak_effects_have_the_power_of_the_limit_and_one_level_need_not_carry_more_than_it_can():
    kappa = 0.05 / 0.95 * 0.8 / 0.2
    rows = 12 / (kappa * 1e-8)
    assert least_power(1e-8, 0.2, 0.05, rows, 4, 0.01) == pytest.approx(ncx2.sf(chi2.isf(0.01, 4), 4, 24), rel=1e-3)
    assert 0 < least_power(0.6, 0.2, 0.05, 100, 4, 0.01) <= 1  # log 5 / 5 and less is what one of five can carry


def test_a_plan_holds_where_one_level_carries_the_effect():
    found = plan(effect=0.05, power=0.9, arity=10, **PU)
    q = table(0.15, brentq(lambda w: (table(0.15, w, 10) * log_ratio(table(0.15, w, 10))).sum() - 0.05, 1.001, 6), 10)
    rng = np.random.default_rng(1)

    def g(p):
        t = rng.multinomial(found.answer, p.ravel(), 3000).reshape(-1, 2, 10).astype(float)
        e = t.sum(axis=1, keepdims=True) * t.sum(axis=2, keepdims=True) / found.answer
        return 2 * xlogy(t, t / np.where(e > 0, e, 1)).sum(axis=(1, 2))

    counted = np.stack([q[0] + 0.7 * q[1], 0.3 * q[1]])
    at = np.quantile(g(np.outer(counted.sum(axis=1), counted.sum(axis=0))), 0.99)
    assert (g(counted) > at).mean() >= 0.88 - 2 * np.sqrt(0.9 * 0.1 / 3000)


def test_plans_say_which_levels_they_take_to_carry_the_effect():
    worst, spread = (plan(effect=0.05, power=0.9, arity=10, shape=shape, **PU) for shape in ("any", "spread"))
    assert spread.answer == 979  # the noncentral chi-square distribution alone: 2 κ 979 · 0.05 is enough for 0.9
    kappa = 0.045 / 0.955 * 0.85 / 0.15
    even = ncx2.sf(chi2.isf(0.01, 9), 9, 2 * kappa * worst.answer * 0.05)
    said = f"in which one of the 10 levels carries the whole effect; it is about {even:.2f} where"
    assert said in " ".join(worst.assumptions)
    assert "where one of the 10 carries all of it, the power is about 0.82" in " ".join(spread.assumptions)
    for same in ({"arity": 2, **PU}, {"dof": 9, **PU}, {"arity": 10}, {"arity": 3, "strata": 4, **PU}):
        any_, even = (plan(effect=0.05, power=0.9, shape=shape, **same) for shape in ("any", "spread"))
        assert any_.answer == even.answer
        assert "one of the" not in " ".join(any_.assumptions)
    with pytest.raises(ParameterError, match="unknown shape 'flat'; choose from any, spread"):
        plan(effect=0.05, power=0.9, shape="flat")


@pytest.mark.parametrize("unknown", ["effect", "alpha", "labeled", "power"])
def test_every_unknown_is_solved_for_the_same_power(unknown):
    known = {"effect": 0.05, "power": 0.9, "alpha": 0.01, "rows": 1300, "labeled": 0.045}
    known[unknown] = None
    found = plan(arity=10, labels="pu", prior=0.15, **known)
    full = {**known, unknown: found.answer, "power": None}
    again = plan(arity=10, labels="pu", prior=0.15, **full).answer
    assert again == pytest.approx(found.power, rel=1e-9)
    if unknown != "power":  # one more label adds less than 0.01
        assert found.power == pytest.approx(0.9, abs=0.01 if unknown == "labeled" else 1e-9)
