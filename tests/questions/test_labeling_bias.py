"""How biased labeling would have to be to explain members, and what labels say of labeling at random."""

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import StratifiedTable

import blankets as bl
from blankets.results import LabelBias
from blankets.stats import labeling_bias


def table_of(rng, n=4000, bias=1.0, p=0.3, rate=0.4):
    y = rng.random(n) < p
    cough, ward = np.where(rng.random(n) < np.where(y, 0.6, 0.2), "yes", "no"), rng.integers(0, 2, n)
    chance = np.where(ward == 1, rate, rate / bias)
    return {"cough": cough, "ward": ward, "seen": np.where(y & (rng.random(n) < chance), 1.0, np.nan)}


def test_one_stratum_is_the_relative_risk_of_scipy():
    rng = np.random.default_rng(0)
    x, labeled = rng.integers(0, 2, 500), rng.random(500) < 0.3
    labeled |= (x == 1) & (rng.random(500) < 0.3)
    found = labeling_bias(labeled, x)
    risk = stats.contingency.relative_risk(
        int(labeled[x == 1].sum()), int((x == 1).sum()), int(labeled[x == 0].sum()), int((x == 0).sum())
    )
    assert found.level == 1
    assert found.ratio == pytest.approx(risk.relative_risk, rel=1e-12)
    # Two levels, each one-sided at 0.025: SciPy's 95% interval.
    assert found.gamma == pytest.approx(risk.confidence_interval(0.95).low, rel=1e-9)


def test_positives_collected_apart_have_the_odds_ratio_of_statsmodels():
    """statsmodels 0.15: StratifiedTable(tables).oddsratio_pooled, oddsratio_pooled_confint(0.05)."""
    cells = [[[20, 40], [10, 60]], [[15, 25], [12, 80]]]  # by stratum: (x = 1, x = 0) by (labeled, background)
    rows = [(s, x, j) for s in (0, 1) for x in (0, 1) for j in (0, 1) for _ in range(cells[s][1 - x][j])]
    strata, x, background = np.array(rows).T
    found = labeling_bias(background == 0, x, strata, apart=True)
    table = StratifiedTable([np.array(one).astype(float) for one in cells])
    assert found.level == 1
    assert found.ratio == pytest.approx(table.oddsratio_pooled, rel=1e-9)
    assert found.gamma == pytest.approx(table.oddsratio_pooled_confint(0.05)[0], rel=1e-9)


def test_gamma_is_rarely_above_the_bias_that_explains_a_column():
    rng, above = np.random.default_rng(1), 0
    for _ in range(400):
        z = rng.integers(0, 2, 1500)
        x = rng.integers(0, 3, 1500)
        y = rng.random(1500) < np.where(z == 1, 0.5, 0.2)
        labeled = y & (rng.random(1500) < np.where(x == 2, 0.6, 0.3))  # twice as likely where x = 2
        above += labeling_bias(labeled, x, z).gamma > 2.0
    assert above <= 400 * 0.05 + 4 * np.sqrt(400 * 0.05)


def test_blankets_reports_and_sensitivity_say_what_bias_would_explain():
    table = table_of(np.random.default_rng(2))
    found = bl.discover(table, "seen", labels="pu")
    labeled = ~np.isnan(table["seen"])
    yes = table["cough"] == "yes"
    risk = stats.contingency.relative_risk(
        int(labeled[yes].sum()), int(yes.sum()), int(labeled[~yes].sum()), int((~yes).sum())
    )
    bias = found.label_bias["cough"]
    assert (bias.level, bias.gamma) == ("yes", pytest.approx(risk.confidence_interval(0.95).low, rel=1e-9))
    assert bias.words("cough") in str(found).replace("\n        ", " ")
    assert found.table()[0]["label_bias"] == bias.gamma
    assert any("explain members away" in note for note in bl.sensitivity(table, "seen", labels="pu").notes)
    assert bl.Blanket.from_json(found.to_json()).label_bias == found.label_bias
    known = bl.PositiveUnlabeled(propensity=np.full(4000, 0.4))
    assert not bl.discover(table, "seen", labels=known).label_bias


def labeling(table, **known):
    (found,) = [one for one in bl.audit(table, "seen", labels="pu", **known).findings if one.kind == "labeling"]
    return found


def test_audit_finds_labeling_that_cannot_be_at_random():
    biased = table_of(np.random.default_rng(3), n=20_000, bias=8.0, p=0.6, rate=0.9)
    found = labeling(biased, prior=0.6)
    assert found.weight == "act"
    assert "Positives do not all have the same chance of a label" in found.what
    # Where ward = 1, 0.54 of the rows are labeled; of all rows 0.30375 are: p(y=1) would be at most 0.5625.
    assert found.columns == ("ward",)
    assert 0.5625 < found.figures["ward"] < 0.6  # an upper limit
    assert "cannot be tested without knowing" in labeling(biased).what


def test_audit_does_not_contradict_labeling_at_random():
    rng = np.random.default_rng(4)
    wrong = sum(labeling(table_of(rng, n=1000), prior=0.3).weight == "act" for _ in range(40))
    assert wrong == 0  # 0.01 each, at most


@pytest.mark.parametrize("apart", [False, True])
def test_where_all_labeled_rows_have_one_level(apart):
    """Each of 12 labeled rows is there with probability γ / (γ + 3): γ = 3q / (1 - q) with q to the 12th = 0.025."""
    x = np.repeat([0, 1], [300, 112 if apart else 100])
    labeled = np.zeros(len(x), bool)
    labeled[300:312] = True
    q = 0.025 ** (1 / 12)
    found = labeling_bias(labeled, x, apart=apart)
    assert (found.level, found.gamma) == (1, pytest.approx(3 * q / (1 - q)))
    assert labeling_bias(labeled, x, np.zeros(len(x), np.int64), apart=apart) == found
    assert "hardly any" not in LabelBias(level="1", ratio=found.ratio, gamma=found.gamma).words("x")
