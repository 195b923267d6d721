"""An uncertain prior: the answer at its quantiles, and the draws that show the distribution."""

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from blankets.errors import NotAnswerableError, ParameterError
from blankets.planning import plan, planning_table
from blankets.regimes import Beta, greater_than, less_than

PU = {"effect": 0.053, "power": 0.99, "alpha": 0.01, "arity": 2, "labels": "pu"}


# Noncentrality at which a test with one degree of freedom at 0.01 has power 0.99: (2.5758 + 2.3263)².
NEEDED = (stats.norm.isf(0.005) + stats.norm.isf(0.01)) ** 2


def answer_at(prior, **question):
    return plan(**(PU | question), prior=float(prior)).answer


@pytest.mark.parametrize("question", [{"labeled": 0.05}, {"rows": 1000}], ids=["rows", "labels"])
def test_quantiles_of_the_answer_are_answers_at_quantiles_of_the_prior(question):
    prior = Beta(mode=0.2, low=0.1, high=0.4)
    found = plan(**PU, **question, prior=prior, n_draws=4000, rng=3)
    for q in (0.1, 0.5, 0.9):
        assert found.quantile(q) == answer_at(prior.ppf(q), **question)
        # The draws say the same, but for the error of 4000 of them.
        spread = 4 * math.sqrt(q * (1 - q) / 4000)
        low, high = (answer_at(prior.ppf(p), **question) for p in (q - spread, q + spread))
        assert low <= np.quantile(found.draws, q, method="inverted_cdf") <= high
    assert found.answer == found.quantile(0.9)


@pytest.mark.parametrize(("labels", "surrogate"), [("pu", "y0"), *product(("mar-c", "mcar"), ("y0", "y1"))])
@pytest.mark.parametrize("unknown", ["rows", "labeled", "power", "effect", "alpha", "dof"])
def test_every_answer_rises_or_falls_with_the_prior(labels, surrogate, unknown):
    """What makes quantiles carry over."""
    question = {"effect": 0.02, "power": 0.9, "alpha": 0.01, "dof": 2, "rows": 9000, "labeled": 0.1}
    question[unknown] = None
    priors = np.linspace(0.12, 0.88, 77)[:: 1 if surrogate == "y0" else -1]
    answers = [plan(**question, labels=labels, surrogate=surrogate, prior=float(p)).answer for p in priors]
    sign = -1 if unknown in ("power", "dof") else 1
    costs = [math.inf if answer is None else sign * answer for answer in answers]
    assert costs == sorted(costs)
    assert costs[0] < costs[-1]
    assert math.isfinite(costs[0])


def test_the_answer_does_not_depend_on_the_draws():
    prior = stats.beta(4, 16)
    answers = {plan(**PU, labeled=0.05, prior=prior, rng=rng, n_draws=n).answer for rng in (1, 2) for n in (1, 100)}
    assert len(answers) == 1


def test_the_answer_serves_the_wanted_share_of_the_prior():
    prior = stats.beta(4, 16)
    found = plan(**PU, labeled=0.05, prior=prior, assurance=0.8)
    given = stats.uniform(0.05, 0.95)  # labels show that p(y=1) is at least 0.05
    above = float(prior.sf(given.ppf(0.0)))

    def served(rows):
        # Power is enough while κ = (1-p)/p · 0.05/0.95 is: solve for p, then ask the prior.
        kappa = NEEDED / (2 * 0.053 * rows)
        odds = 0.05 / 0.95 / kappa
        return 1 - prior.sf(odds / (1 + odds)) / above

    assert served(found.answer) >= 0.8 > served(found.answer - 1)
    assert found.assurance == 0.8


def test_power_is_the_one_that_can_be_counted_on():
    prior = Beta(mean=0.25, low=0.1, high=0.5)
    question = {"effect": 0.053, "alpha": 0.01, "labels": "pu", "labeled": 0.05, "rows": 800}
    found = plan(**question, prior=prior, n_draws=4000, rng=1)
    # The larger p(y=1), the smaller the power: nine tenths of the prior lie below its 0.9 quantile.
    low, high = (plan(**question, prior=float(prior.ppf(q))).answer for q in (0.92, 0.88))
    assert low <= found.answer <= high


def test_the_same_seed_gives_the_same_answer():
    prior = stats.beta(4, 16)
    draws = [plan(**PU, labeled=0.05, prior=prior, rng=rng).draws for rng in (9, 9, np.random.default_rng(9), 10)]
    np.testing.assert_array_equal(draws[0], draws[1])
    np.testing.assert_array_equal(draws[0], draws[2])
    assert not np.array_equal(draws[0], draws[3])


def test_a_narrow_prior_gives_the_answer_of_its_value():
    found = plan(**PU, labeled=0.05, prior=stats.uniform(0.2 - 1e-9, 2e-9), rng=0)
    assert found.answer == 1077


def test_a_bound_is_planned_for_at_its_costly_end():
    assert plan(**PU, labeled=0.05, prior=less_than(0.4)).answer == answer_at(0.4, labeled=0.05)
    assert plan(**PU, labeled=0.05, prior="<0.4").draws is None


def test_a_bound_on_the_wrong_side_is_not_enough():
    with pytest.raises(NotAnswerableError, match=r"which is above 0.1; give 'prior' as .* an upper bound"):
        plan(**PU, labeled=0.05, prior=greater_than(0.1))
    mar_c = PU | {"labels": "mar-c", "surrogate": "y1"}
    with pytest.raises(NotAnswerableError, match=r"which is below 0.4; give 'prior' as .* a lower bound"):
        plan(**mar_c, labeled=0.05, prior=less_than(0.4))


def test_a_bound_leaves_the_surrogate_that_it_serves():
    found = plan(**(PU | {"labels": "mar-c"}), rows=2000, prior=less_than(0.4))
    assert (found.surrogate, found.alternatives) == ("y0", ())


def test_labels_that_the_prior_cannot_explain_are_left_out():
    prior = stats.uniform(0.0, 0.2)
    found = plan(**PU, labeled=0.05, prior=prior, n_draws=4000, rng=2)
    assert found.prior_draws.min() >= 0.05 - 1e-9
    assert found.prior_draws.shape == (4000,)
    assert found.answer == answer_at(0.05 + 0.9 * 0.15, labeled=0.05)
    assert "25.0% of the prior contradicts the share already labeled" in repr(found)
    with pytest.raises(
        ParameterError, match=r"0.3 of all rows are labeled positives, but with p\(y=1\) = 0.2 no more than 0.2 can be"
    ):
        plan(**PU, labeled=0.3, prior=prior, rng=2)


def test_labels_of_both_classes_bound_the_prior_from_both_sides():
    labeled = {"positives": 0.2, "negatives": 0.3}
    found = plan(effect=0.05, rows=400, labels="mar-c", labeled=labeled, prior=stats.uniform(0.01, 0.98), rng=2)
    assert found.prior_draws.min() >= 0.2 - 1e-9
    assert found.prior_draws.max() <= 0.7 + 1e-9


def test_where_the_goal_is_out_of_reach_the_answer_is_infinite():
    # Positives collected apart: at best κ = (1-p)/p / 4, so that 300 rows reach the goal up to some p(y=1).
    study = PU | {"sampling": "case-control", "rows": 300}
    limit = 1 / (1 + 4 * NEEDED / (2 * 0.053 * 300))
    prior = stats.uniform(0.05, 0.5)
    found = plan(**study, prior=prior, n_draws=4000, rng=4)
    np.testing.assert_array_equal(np.isfinite(found.draws), found.prior_draws < limit)
    share = float(prior.cdf(limit))
    assert found.reachable_share == pytest.approx(share, abs=4 * math.sqrt(share * (1 - share) / 4000))
    assert found.to_dict()["uncertain_prior"]["reachable_share"] == found.reachable_share
    assert found.to_dict()["uncertain_prior"]["quantiles"]["0.95"] is None
    assert found.answer is None
    assert "out of reach with p(y=1) = 0.5, the value to plan for at assurance 0.9. The best power" in repr(found)
    enough = plan(**study, prior=prior, assurance=share - 0.01)
    assert enough.reachable
    assert "and out of reach)." in repr(enough)
    assert not plan(**study, prior=prior, assurance=share + 0.01).reachable


def test_a_surrogate_whose_answer_neither_rises_nor_falls_goes_by_its_draws():
    prior = Beta(mode=0.5, low=0.2, high=0.8)
    question = {"effect": 0.05, "power": 0.9, "alpha": 0.01, "labels": "mar-c", "surrogate": "listwise"}
    found = plan(**question, labeled={"positives": 0.1, "negatives": 0.15}, prior=prior, n_draws=4000, rng=4)
    # κ = a b / ((a+b) p (1-p)) is least in the middle: the rows needed go by p (1-p).
    at = found.prior_draws * (1 - found.prior_draws)
    kappa = 0.1 * 0.15 / 0.25 / np.quantile(at, 0.9, method="inverted_cdf")
    needed = (stats.norm.isf(0.005) + stats.norm.isf(0.1)) ** 2
    assert found.answer == math.ceil(needed / (2 * 0.05 * kappa))
    assert found.quantile(0.9) == found.answer
    curve = found.power_curve([found.answer - 1])
    assert curve["low"][0] < 0.9 < curve["high"][0]


def test_says_which_side_is_safe_and_what_is_likely():
    found = plan(**PU, labeled=0.05, prior=Beta(mode=0.2, low=0.1, high=0.4), rng=3)
    assert found.safe_side == "overestimate"
    text = repr(found)
    assert "The safe side is to overestimate p(y=1)" in text
    assert "enough with probability 0.9 over the prior (median " in text
    content = found.to_dict()["uncertain_prior"]
    assert content["quantiles"]["0.5"] == found.quantile(0.5)
    assert (content["n_draws"], content["assurance"]) == (2000, 0.9)
    assert content["quantiles"]["0.05"] <= content["quantiles"]["0.5"] <= content["quantiles"]["0.95"]


def test_overestimating_is_safe_for_positives_and_underestimating_for_negatives():
    question = PU | {"labels": "mar-c"}
    for surrogate, safe in (("y0", 0.35), ("y1", 0.15)):
        needed = plan(**question, rows=3000, prior=0.25, surrogate=surrogate)
        assert plan(**question, rows=3000, prior=safe, surrogate=surrogate).answer > needed.answer
        assert needed.safe_side == ("overestimate" if safe > 0.25 else "underestimate")


def test_where_labels_are_missing_at_random_the_prior_plays_no_part():
    found = plan(**(PU | {"labels": "mcar"}), rows=1000, prior=stats.beta(4, 16), rng=1)
    assert (found.answer, found.draws, found.safe_side) == (227, None, "")


def test_one_surrogate_is_kept_for_all_draws():
    found = plan(**(PU | {"labels": "mar-c"}), rows=3000, prior=Beta(mode=0.3, low=0.1, high=0.9), rng=1)
    assert found.surrogate in ("y0", "y1")
    assert found.draws.shape == (2000,)


def test_power_curve_has_a_band():
    found = plan(**PU, labeled=0.05, prior=Beta(mode=0.2, low=0.1, high=0.4), rng=3)
    curve = found.power_curve([300, 1000, 3000])
    assert (curve["low"] <= curve["high"]).all()
    ends = [
        stats.ncx2.sf(stats.chi2.isf(0.01, 1), 1, 2 * 1000 * 0.053 * (1 - p) / p * 0.05 / 0.95)
        for p in Beta(mode=0.2, low=0.1, high=0.4).ppf([0.95, 0.05])
    ]
    assert [curve["low"][1], curve["high"][1]] == pytest.approx(ends, abs=1e-9)


def test_a_table_uses_the_same_draws_in_all_cells():
    table = planning_table(
        power=[0.9, 0.9],
        effect=[0.05],
        labels="pu",
        labeled=0.05,
        prior=stats.beta(4, 16),
        rng=np.random.default_rng(1),
    )
    assert table.answers[0, 0] == table.answers[1, 0]
