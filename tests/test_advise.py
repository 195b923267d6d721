"""`advise` against the noncentral chi-square distribution, with searches by hand; and what it says."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2, ncx2

import blankets as bl
from blankets.errors import ConstantColumnWarning, DataError, LabelError, ParameterError, RegimeWarning, TargetError

EFFECTS = {"small": 0.005, "medium": 0.045, "large": 0.125}
N = 4000


def study(seed=0):
    """Features of 2, 3 and 3 levels; a quarter of the rows positive."""
    rng = np.random.default_rng(seed)
    y = rng.random(N) < 0.25
    return pd.DataFrame(
        {
            "cough": np.where(rng.random(N) < np.where(y, 0.6, 0.25), "yes", "no"),
            "age": rng.integers(0, 3, N),
            "ward": rng.integers(0, 3, N),
            "smoker": y.astype(float),
        }
    )


def hidden(mechanism, seed=1):
    table = study()
    y, u = table["smoker"], np.random.default_rng(seed).random(N)
    keep = {"pu": (y == 1) & (u < 0.1), "mcar": u < 0.05, "mar-c": u < np.where(y == 1, 0.1, 0.02)}[mechanism]
    return table.assign(smoker=y.where(keep))


def power(effect, kappa, n=N, dof=2, alpha=0.01):
    return ncx2.sf(chi2.isf(alpha, dof), dof, 2 * kappa * n * effect)


def smallest(enough, low, high):
    """Smallest whole number that is enough, by halving; None if none is."""
    if not enough(high):
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    return low


def y0_kappa(labeled, rows, prior):
    a = labeled / rows
    return (1 - prior) / prior * a / (1 - a)


def check_goals(advice, kappa_now, of_labels, most, have):
    """Compare every goal with a search over κ as written out in the test."""
    for goal in advice.goals:
        effect = EFFECTS[goal.effect]
        rows = smallest(lambda n, e=effect, g=goal: power(e, kappa_now, n) >= g.power, 1, 10**7)
        assert goal.more_rows == max(0, rows - N)
        for kind, kappa in of_labels.items():
            if goal.more_rows == 0:
                assert goal.more_labels[kind] == 0
                continue
            needed = smallest(lambda k, e=effect, g=goal, f=kappa: power(e, f(k)) >= g.power, 1, most[kind])
            assert goal.more_labels[kind] == (None if needed is None else max(0, needed - have[kind]))


def test_positive_unlabeled():
    table = hidden("pu")
    advice = bl.advise(table, "smoker", labels="pu", prior=0.25)
    have = int(table["smoker"].notna().sum())
    kappa = y0_kappa(have, N, 0.25)
    assert (advice.surrogate, advice.estimator, advice.regime) == ("y0", "Pos (labeled positives with the prior)", "pu")
    assert (advice.levels, advice.dof) == (3, 2)  # the median of 2, 3 and 3
    assert advice.kappa == pytest.approx(kappa)
    assert advice.powers == pytest.approx({size: power(effect, kappa) for size, effect in EFFECTS.items()}, rel=1e-8)
    kind = "labeled positives"
    check_goals(advice, kappa, {kind: lambda k: y0_kappa(k, N, 0.25)}, {kind: N // 4}, {kind: have})
    assert advice.goal("small", 0.8).more_labels[kind] > 0
    assert advice.goal("large", 0.95).more_labels[kind] == 0
    assert advice.unanswerable == {}
    assert advice.safe_side == "overestimate"
    assert advice.assurance is None


def test_labels_out_of_reach():
    table = hidden("pu")[:400]
    advice = bl.advise(table, "smoker", labels="pu", prior=0.25)
    goal = advice.goal("small", 0.95)
    assert power(0.005, 1.0, 400) < 0.95  # not even with every positive labeled
    assert goal.more_labels == {"labeled positives": None}
    assert goal.more_rows > 0
    assert "out of reach" in repr(advice)


def test_positives_collected_apart():
    table = hidden("pu")
    have, background = int(table["smoker"].notna().sum()), int(table["smoker"].isna().sum())
    advice = bl.advise(table, "smoker", labels=bl.PositiveUnlabeled(0.25, "case-control"))
    a = have / N
    assert advice.kappa == pytest.approx(3 * a * (1 - a))

    def enough(positives, effect, wanted):  # beside the background that is there
        n = positives + background
        share = positives / n
        return power(effect, 3 * share * (1 - share), n) >= wanted

    for goal in advice.goals:
        if goal.more_rows:
            needed = smallest(lambda k, g=goal: enough(k, EFFECTS[g.effect], g.power), 1, 10**6)
            assert goal.more_labels == {"labeled positives": needed - have}
    assert advice.goal("small", 0.8).more_labels["labeled positives"] > 0
    few = pd.concat([table[table["smoker"].notna()], table[table["smoker"].isna()][:200]])
    scarce = bl.advise(few, "smoker", labels=bl.PositiveUnlabeled(0.25, "case-control"))
    assert scarce.goal("small", 0.95).more_labels == {"labeled positives": None}


def test_missing_completely_at_random():
    table = hidden("mcar")
    have = int(table["smoker"].notna().sum())
    advice = bl.advise(table, "smoker", labels="mcar")
    assert (advice.surrogate, advice.estimator) == ("listwise", "MCAR (labeled rows, x from all rows)")
    kind = "labeled rows"
    check_goals(advice, have / N, {kind: lambda k: k / N}, {kind: N}, {kind: have})
    assert advice.safe_side == ""


def test_depending_on_the_class():
    table = hidden("mar-c")
    a, b = (int((table["smoker"] == k).sum()) for k in (1, 0))
    advice = bl.advise(table, "smoker", labels="mar-c", prior=0.25)
    assert advice.surrogate == "y0"
    kinds = {
        "labeled positives": lambda k: y0_kappa(k, N, 0.25),
        "labeled negatives": lambda k: y0_kappa(k, N, 0.75),
    }
    most = {"labeled positives": N // 4, "labeled negatives": 3 * N // 4}
    check_goals(advice, y0_kappa(a, N, 0.25), kinds, most, {"labeled positives": a, "labeled negatives": b})
    high = bl.advise(table, "smoker", labels="mar-c", prior=">0.7")
    assert (high.surrogate, high.safe_side) == ("y1", "underestimate")


def test_full_labels_and_a_target_of_three_classes():
    table = study()[:300]
    advice = bl.advise(table, "smoker")
    assert (advice.surrogate, advice.estimator, advice.kappa) == ("full", "plug-in", 1.0)
    for goal in advice.goals:
        rows = smallest(lambda n, g=goal: power(EFFECTS[g.effect], 1.0, n) >= g.power, 1, 10**6)
        assert (goal.more_rows, goal.more_labels) == (max(0, rows - 300), {})
    three = bl.advise(table.drop(columns="smoker"), "age", alpha=0.05)
    assert three.dof == 2  # levels 2 and 3: the lower median has 2; (2 - 1)(3 - 1)
    assert three.powers["small"] == pytest.approx(power(0.005, 1.0, 300, 2, 0.05), rel=1e-8)


def test_without_knowledge_of_the_prior():
    advice = bl.advise(hidden("pu"), "smoker", labels="pu")
    assert advice.estimator is None
    assert (advice.powers, advice.goals, advice.kappa) == ({}, (), None)
    assert set(advice.unanswerable) == {"how strong a dependence is", "the power of the tests"}
    assert all("give prior=" in text for text in advice.unanswerable.values())
    assert "test" in advice.recommendations
    assert "loss='squared'" in advice.recommendations["rank"]
    assert "Not known, the power of the tests: power cannot be computed without p(y=1)" in repr(advice)
    semi = bl.advise(hidden("mar-c"), "smoker", labels="mar-c")
    assert semi.surrogate == "ym"
    a, b = ((hidden("mar-c")["smoker"] == k).mean() for k in (1, 0))
    threshold = 1 / (1 + np.sqrt((1 - a) * b / (a * (1 - b))))  # methods (3.7)
    assert f"below {threshold:.3g}" in semi.unanswerable["which test is the most powerful"]


def test_a_bound_unlocks_power_but_no_estimate():
    table = hidden("pu")
    advice = bl.advise(table, "smoker", labels="pu", prior="<0.4")
    assert set(advice.unanswerable) == {"how strong a dependence is"}
    have = int(table["smoker"].notna().sum())
    low, high = advice.power_ranges["medium"]
    assert low == pytest.approx(power(0.045, y0_kappa(have, N, 0.4)), rel=0.01)
    assert high > 0.999
    worst = smallest(lambda k: power(0.045, y0_kappa(k, N, 0.4)) >= 0.95, 1, N - 1)
    assert advice.goal("medium", 0.95).more_labels == {"labeled positives": worst - have}  # the safe end is planned for
    above = bl.advise(table, "smoker", labels="pu", prior=">0.2")
    assert "an upper bound" in above.unanswerable["how many labels are needed"]
    assert above.goals == ()
    assert set(above.powers) == set(EFFECTS)


def test_an_uncertain_prior_is_drawn_from_with_a_seed():
    table = hidden("pu")
    have = int(table["smoker"].notna().sum())
    advice = bl.advise(table, "smoker", labels="pu", prior=(0.2, 0.4), rng=3)
    assert advice.to_dict() == bl.advise(table, "smoker", labels="pu", prior=(0.2, 0.4), rng=3).to_dict()
    # Nine tenths of the values are below 0.38; 2,000 draws place that quantile to within 0.0013 (one standard error).
    needed = [smallest(lambda k, p=p: power(0.005, y0_kappa(k, N, p)) >= 0.8, 1, N - 1) for p in (0.3748, 0.3852)]
    assert needed[0] <= have + advice.goal("small", 0.8).more_labels["labeled positives"] <= needed[1]
    assert "enough with probability 0.9" in repr(advice)
    assert advice.powers["small"] == pytest.approx(power(0.005, y0_kappa(have, N, 0.3)), rel=1e-6)


def test_an_estimated_prior_says_so():
    table = hidden("pu")
    prior = bl.estimate_prior(table, "smoker", n_resamples=5, rng=0)
    advice = bl.advise(table, "smoker", labels="pu", prior=prior)
    assert "estimated by roc assuming that some recognizable group of rows is all positive" in advice.prior
    assert advice.goals
    assert advice.assurance == 0.9


def test_depending_on_features():
    advice = bl.advise(hidden("mcar"), "smoker", labels="mar-f")
    assert (advice.surrogate, advice.valid, advice.estimator) == (
        "listwise",
        ("listwise",),
        "MAR-F (labeled rows weighted by x)",
    )
    assert set(advice.unanswerable) == {"the power of the tests"}
    assert any("No feature was found on which labeling depends" in caution for caution in advice.cautions)


@pytest.mark.filterwarnings("ignore::blankets.errors.ManyLevelsWarning")
def test_cautions_about_few_labels_and_many_levels():
    table = hidden("pu")
    table["postcode"] = np.random.default_rng(0).integers(0, 1000, N).astype(str)
    few = table["smoker"].where(table["smoker"].notna().cumsum() <= 20)
    advice = bl.advise(table.assign(smoker=few), "smoker", labels="pu", prior=0.25, keep=["postcode"])
    assert any("With only 20 labels the power is rough" in caution for caution in advice.cautions)
    assert any("1 of 4 features have so many levels that 4,000 rows are too few" in text for text in advice.cautions)


def test_prints_and_travels():
    hostile = "<script>alert(1)</script>"
    table = hidden("pu").rename(columns={"smoker": hostile})
    for prior in (None, 0.25, (0.2, 0.4), "<0.4"):
        advice = bl.advise(table, hostile, labels="pu", prior=prior)
        again = json.loads(advice.to_json())
        assert (again["schema"], again["schema_version"]) == ("blankets/advice", 4)
        assert len(again["goals"]) == len(advice.goals)
        assert "<script>" not in advice._repr_html_()
        assert max(len(line) for line in repr(advice).splitlines()) <= 130
    text = repr(bl.advise(hidden("pu"), "smoker", labels="pu", prior=0.25))
    assert re.search(r"small +0\.1 +0\.1\d +0\.8 +\d+ +[\d,]+\n +0\.95 +\d+ +[\d,]+", text)
    assert "If you are not sure of p(y=1), overestimate it" in text


def test_refusals():
    table = hidden("mar-c")
    with pytest.raises(LabelError, match="say how labels went missing"):
        bl.advise(table, "smoker")
    with pytest.warns(RegimeWarning, match="read as positive-unlabeled"):
        bl.advise(hidden("pu"), "smoker")
    with pytest.raises(ParameterError, match=r"'alpha' must be between 0 and 0\.8"):
        bl.advise(table, "smoker", labels="mar-c", alpha=0.9)
    with pytest.raises(TargetError, match="no target was named"):
        bl.advise(study())
    with pytest.raises(LabelError, match=r"said to be 0\.001, but the labels show"):
        bl.advise(hidden("pu"), "smoker", labels="pu", prior=0.001)
    with (
        pytest.warns(ConstantColumnWarning),
        pytest.raises(DataError, match="no feature is left beside the target 'smoker'"),
    ):
        bl.advise(table[["smoker"]].assign(ward=1), "smoker", labels="mar-c")
