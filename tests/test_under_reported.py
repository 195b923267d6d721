"""Under-reported features: the feature takes the place of the target."""

import math

import numpy as np
import pytest

import blankets as bl
from blankets.errors import NotAnswerableError, ParameterError
from blankets.regimes import Surrogate, kappa_of


def clinic(n=5000, seed=0, effect=0.25, admits=0.4):
    """Smoking, which two smokers in five admit, makes ill; so does exposure, which is seen in full."""
    rng = np.random.default_rng(seed)
    smoker = rng.random(n) < 0.3
    exposed = rng.random(n) < 0.3
    ill = rng.random(n) < 0.2 + effect * smoker + 0.15 * exposed
    recorded = smoker & (rng.random(n) < admits)
    return {"smoker": recorded.astype(int), "exposed": exposed.astype(int), "ill": ill.astype(int)}, smoker


def test_a_test_is_that_of_the_exchanged_roles():
    table, _ = clinic()
    here = bl.test(table, "smoker", "ill", ["exposed"], under_reported={"smoker": 0.3})
    there = bl.test(table, "ill", "smoker", ["exposed"], labels="pu", prior=0.3)
    assert (here.x, here.target, here.surrogate) == ("smoker", "ill", "y0")
    for name in ("statistic", "dof", "log_p", "n_rows", "kappa", "powers"):
        assert getattr(here, name) == getattr(there, name)
    assert (here.estimate.x, here.estimate.target) == ("smoker", "ill")
    assert here.estimate.value == there.estimate.value
    assert "'smoker' is assumed to be under-reported" in here.notes[0]
    # Without the share of smokers there is a test, but no power.
    unknown = bl.test(table, "smoker", "ill", ["exposed"], under_reported="smoker")
    assert unknown.statistic == here.statistic
    assert unknown.kappa is None
    assert unknown.estimate is None


WORDS = [("no", "yes"), ("0", "1"), ("Nein", "Ja"), ("not smoking", "smoking")]


@pytest.mark.parametrize(
    "values",
    [
        lambda r: np.where(r == 1, 1.0, np.nan),
        lambda r: r == 1,
        lambda r: r,
        *(lambda r, words=words: np.where(r == 1, words[1], words[0]) for words in WORDS),
    ],
)
def test_not_admitted_may_be_missing_or_no(values):
    table, _ = clinic()
    expected = bl.test(table, "smoker", "ill", under_reported="smoker").statistic
    table["smoker"] = values(table["smoker"])
    assert bl.test(table, "smoker", "ill", under_reported="smoker").statistic == expected


def test_the_level_holds():
    n_draws, alpha = 600, 0.05
    rejected = sum(
        bl.test(clinic(600, seed, effect=0.0)[0], "smoker", "ill", under_reported=["smoker"]).p <= alpha
        for seed in range(n_draws)
    )
    assert abs(rejected / n_draws - alpha) < 4 * math.sqrt(alpha * (1 - alpha) / n_draws) + 0.005


def test_information_is_that_of_the_true_feature():
    table, smoker = clinic(60_000)
    truth = bl.mutual_information({**table, "smoker": smoker}, "smoker", "ill")
    estimate = bl.mutual_information(table, "smoker", "ill", under_reported={"smoker": 0.3})
    recorded = bl.mutual_information(table, "smoker", "ill")
    assert abs(estimate.value - truth.value) < 4 * math.hypot(estimate.standard_error, truth.standard_error)
    # As recorded, it is less by about κ.
    kappa = float(kappa_of(Surrogate.Y0, 0.3, positives=0.3 * 0.4))
    assert recorded.value == pytest.approx(kappa * truth.value, rel=0.15)
    assert (estimate.x, estimate.target) == ("smoker", "ill")


def test_a_ranking_puts_the_feature_where_it_belongs():
    table, smoker = clinic(20_000, admits=0.25)
    assert bl.rank({**table, "smoker": smoker}, "ill").names == ("smoker", "exposed")
    assert bl.rank(table, "ill").names == ("exposed", "smoker")
    ranking = bl.rank(table, "ill", under_reported={"smoker": 0.3})
    assert ranking.names == ("smoker", "exposed")
    alone = bl.mutual_information(table, "smoker", "ill", under_reported={"smoker": 0.3})
    assert ranking.information[0] == alone.value
    assert (ranking.interval()[0][0], ranking.interval()[1][0]) == alone.interval()
    assert "Pos" in ranking.estimator
    assert "smoker" not in ranking.excluded
    with pytest.raises(NotAnswerableError, match="information cannot be estimated without p"):
        bl.rank(table, "ill", under_reported="smoker")


def test_other_under_reported_columns_do_not_get_in_the_way():
    table, _ = clinic()
    table["smoker"] = np.where(table["smoker"] == 1, 1.0, np.nan)
    expected = bl.test({k: v for k, v in table.items() if k != "smoker"}, "exposed", "ill").statistic
    assert bl.test(table, "exposed", "ill", under_reported="smoker").statistic == expected
    estimate = bl.mutual_information(table, "exposed", "ill", under_reported="smoker")
    assert estimate.value == pytest.approx(expected / (2 * 5000))


def test_what_cannot_be_answered_is_refused():
    table, _ = clinic(200)
    with pytest.raises(NotAnswerableError, match="a test cannot condition on 'smoker', which is under-reported"):
        bl.test(table, "exposed", "ill", ["smoker"], under_reported="smoker")
    with pytest.raises(NotAnswerableError, match="the target's labels are missing too"):
        bl.test(table, "smoker", "ill", labels="pu", under_reported="smoker")
    with pytest.raises(ParameterError, match="'ill' is the target: say that it is under-reported with labels='pu'"):
        bl.test(table, "smoker", "ill", under_reported=["smoker", "ill"])
    with pytest.raises(ParameterError, match="'target' must be the name of a column"):
        bl.test({"smoker": table["smoker"]}, "smoker", y=table["ill"], under_reported="smoker")
