"""An uncertain prior: the distribution of the answer against the answer at its quantiles."""

import math

import numpy as np
import pytest
from scipy import stats

from blankets.errors import NotAnswerableError, ParameterError
from blankets.planning import plan, planning_table
from blankets.regimes import Beta, greater_than, less_than

PU = {"effect": 0.053, "power": 0.99, "alpha": 0.01, "arity": 2, "labels": "pu"}


def answer_at(prior, **question):
    return plan(**(PU | question), prior=float(prior)).answer


@pytest.mark.parametrize("question", [{"labelled": 0.05}, {"rows": 1000}], ids=["rows", "labels"])
def test_quantiles_of_the_answer_are_answers_at_quantiles_of_the_prior(question):
    """The answer rises with p(y=1), so quantiles carry over; what is left is the error of 4000 draws."""
    prior = Beta(mode=0.2, low=0.1, high=0.4)
    found = plan(**PU, **question, prior=prior, n_draws=4000, rng=3)
    for q in (0.1, 0.5, 0.9):
        spread = 4 * math.sqrt(q * (1 - q) / 4000)
        low, high = (answer_at(prior.ppf(p), **question) for p in (q - spread, q + spread))
        assert low <= found.quantile(q) <= high
    assert found.answer == found.quantile(0.9)


def test_the_answer_serves_the_wanted_share_of_the_prior():
    prior = stats.beta(4, 16)
    found = plan(**PU, labelled=0.05, prior=prior, assurance=0.8, n_draws=4000, rng=5)
    kappa = (1 - found.prior_draws) / found.prior_draws * 0.05 / 0.95
    lam = 2 * kappa * found.answer * 0.053
    served = (stats.ncx2.sf(stats.chi2.isf(0.01, 1), 1, lam) >= 0.99 - 1e-9).mean()
    assert 0.8 <= served <= 0.8 + 1 / 1000
    assert found.assurance == 0.8


def test_power_is_the_one_that_can_be_counted_on():
    prior = Beta(mean=0.25, low=0.1, high=0.5)
    question = {"effect": 0.053, "alpha": 0.01, "labels": "pu", "labelled": 0.05, "rows": 800}
    found = plan(**question, prior=prior, n_draws=4000, rng=1)
    # The larger p(y=1), the smaller the power: nine tenths of the prior lie below its 0.9 quantile.
    low, high = (plan(**question, prior=float(prior.ppf(q))).answer for q in (0.92, 0.88))
    assert low <= found.answer <= high


def test_the_same_seed_gives_the_same_answer():
    prior = stats.beta(4, 16)
    draws = [plan(**PU, labelled=0.05, prior=prior, rng=rng).draws for rng in (9, 9, np.random.default_rng(9), 10)]
    np.testing.assert_array_equal(draws[0], draws[1])
    np.testing.assert_array_equal(draws[0], draws[2])
    assert not np.array_equal(draws[0], draws[3])


def test_a_narrow_prior_gives_the_answer_of_its_value():
    found = plan(**PU, labelled=0.05, prior=stats.uniform(0.2 - 1e-9, 2e-9), rng=0)
    assert found.answer == 1077


def test_a_bound_is_planned_for_at_its_costly_end():
    assert plan(**PU, labelled=0.05, prior=less_than(0.4)).answer == answer_at(0.4, labelled=0.05)
    assert plan(**PU, labelled=0.05, prior="<0.4").draws is None


def test_a_bound_on_the_wrong_side_is_not_enough():
    with pytest.raises(NotAnswerableError, match=r"which is above 0.1; give 'prior' as .* an upper bound"):
        plan(**PU, labelled=0.05, prior=greater_than(0.1))
    mar_c = PU | {"labels": "mar-c", "surrogate": "y1"}
    with pytest.raises(NotAnswerableError, match=r"which is below 0.4; give 'prior' as .* a lower bound"):
        plan(**mar_c, labelled=0.05, prior=less_than(0.4))


def test_a_bound_leaves_the_surrogate_that_it_serves():
    found = plan(**(PU | {"labels": "mar-c"}), rows=2000, prior=less_than(0.4))
    assert (found.surrogate, found.alternatives) == ("y0", ())


def test_labels_that_the_prior_cannot_explain_are_left_out():
    prior = stats.uniform(0.0, 0.2)
    found = plan(**PU, labelled=0.05, prior=prior, n_draws=4000, rng=2)
    assert found.prior_draws.min() >= 0.05
    dropped = 1 - len(found.prior_draws) / 4000
    assert dropped == pytest.approx(0.25, abs=4 * math.sqrt(0.25 * 0.75 / 4000))
    assert f"{dropped:.1%} of the prior contradicts the share already labelled" in repr(found)
    with pytest.raises(
        ParameterError, match=r"0.3 of all rows are labelled positives, but with p\(y=1\) = 0.\d+ no more"
    ):
        plan(**PU, labelled=0.3, prior=prior, rng=2)


def test_labels_of_both_classes_bound_the_prior_from_both_sides():
    labelled = {"positives": 0.2, "negatives": 0.3}
    found = plan(effect=0.05, rows=400, labels="mar-c", labelled=labelled, prior=stats.uniform(0.01, 0.98), rng=2)
    assert found.prior_draws.min() >= 0.2
    assert found.prior_draws.max() <= 0.7


def test_draws_without_an_answer_count_as_infinite():
    # 227 rows with full labels: of 230 rows nearly all positives must be labelled, and ⌊230 p⌋ of them decides.
    found = plan(**PU, rows=230, prior=stats.uniform(0.05, 0.9), rng=4)
    alone = [plan(**PU, rows=230, prior=p).reachable for p in found.prior_draws[:200]]
    assert np.isfinite(found.draws[:200]).tolist() == alone
    assert 0 < found.reachable_share < 1
    assert found.to_dict()["uncertain_prior"]["reachable_share"] == found.reachable_share
    assert found.to_dict()["uncertain_prior"]["quantiles"]["0.95"] is None
    assert f"out of reach for {1 - found.reachable_share:.0%} of the prior" in repr(found)
    enough = plan(**PU, rows=230, prior=stats.uniform(0.05, 0.9), assurance=0.5, rng=4)
    assert enough.reachable
    assert "and out of reach)." in repr(enough)


def test_says_which_side_is_safe_and_what_is_likely():
    found = plan(**PU, labelled=0.05, prior=Beta(mode=0.2, low=0.1, high=0.4), rng=3)
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
    found = plan(**PU, labelled=0.05, prior=Beta(mode=0.2, low=0.1, high=0.4), rng=3)
    curve = found.power_curve([300, 1000, 3000])
    assert (curve["low"] <= curve["high"]).all()
    ends = [
        stats.ncx2.sf(stats.chi2.isf(0.01, 1), 1, 2 * 1000 * 0.053 * np.quantile(k, q))
        for k in [(1 - found.prior_draws) / found.prior_draws * 0.05 / 0.95]
        for q in (0.05, 0.95)
    ]
    assert [curve["low"][1], curve["high"][1]] == pytest.approx(ends, abs=1e-3)


def test_a_table_uses_the_same_draws_in_all_cells():
    table = planning_table(
        power=[0.9, 0.9],
        effect=[0.05],
        labels="pu",
        labelled=0.05,
        prior=stats.beta(4, 16),
        rng=np.random.default_rng(1),
    )
    assert table.answers[0, 0] == table.answers[1, 0]
