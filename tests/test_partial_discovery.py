"""Searches under partial labels: rivals, what drives labeling, and what could have been missed."""

import json
import warnings

import numpy as np
import pytest
from scipy import stats

import blankets as bl
from blankets.errors import LabelError, NotAnswerableError, ParameterError, TooFewRowsWarning
from blankets.regimes import Surrogate, kappa_of, read_labels


def clinic(n=3000, seed=0):
    """Two causes and an effect of being ill, a column that an effect explains, and noise."""
    rng = np.random.default_rng(seed)
    age, dose = rng.integers(0, 2, (2, n))
    ill = (rng.random(n) < np.where(age == 1, 0.35, 0.08)).astype(int)
    cough = (rng.random(n) < np.where(ill == 1, 0.7, 0.15)).astype(int)
    syrup = (rng.random(n) < np.where(cough == 1, 0.8, 0.1)).astype(int)
    return {"age": age, "dose": dose, "cough": cough, "syrup": syrup, "moon": rng.integers(0, 4, n), "ill": ill}


def hidden(table, rate, seed=1):
    """Hide labels: ``rate`` gives p(labeled) for negatives and positives."""
    rng = np.random.default_rng(seed)
    labeled = rng.random(len(table["ill"])) < np.array(rate)[table["ill"]]
    return {**table, "ill": np.where(labeled, table["ill"], np.nan)}


def needed(power, dof, alpha):
    """Noncentrality by bisection over scipy's distribution."""
    critical, low, high = stats.chi2.isf(alpha, dof), 0.0, 1000.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if stats.ncx2.sf(critical, dof, middle) < power else (low, middle)
    return low


@pytest.mark.parametrize("algorithm", ["iamb", "pcmb", "hiton-mb"])
def test_what_could_have_been_missed_with_all_labels(algorithm):
    blanket = bl.discover(clinic(), "ill", algorithm=algorithm, alpha=0.01)
    assert set(blanket.members) == {"age", "cough"}
    rows = {row["column"]: row for row in blanket.could_have_missed()}
    assert set(rows) == {"dose", "syrup", "moon"}
    for name, row in rows.items():
        explanation = blanket.explain(name)
        for power in (0.8, 0.95):
            expected = needed(power, row["dof"], 0.01) / (2 * 3000)
            assert row[f"effect_{100 * power:g}"] == pytest.approx(expected, rel=1e-6)
            assert explanation.detectable[power] == pytest.approx(expected, rel=1e-6)
        assert "a weaker one could have been missed" in explanation.lines[-1]
        assert " on what is counted in place" not in str(explanation)
    assert blanket.explain("age").detectable == {}


def test_missing_labels_make_larger_effects_escape():
    table = hidden(clinic(), (0.0, 0.5))
    share = np.nanmean(np.isfinite(table["ill"]))
    known = bl.discover(table, "ill", labels="pu", prior=0.215, algorithm="iamb")
    kappa = float(kappa_of(Surrogate.Y0, 0.215, positives=share))
    assert known.settings["kappa"] == pytest.approx(kappa)
    assert known.settings["effective_rows"] == pytest.approx(kappa * 3000)
    row = known.could_have_missed(powers=(0.8,))[0]
    assert row["effect_80"] == pytest.approx(needed(0.8, row["dof"], 0.01) / (2 * kappa * 3000), rel=1e-6)

    unknown = bl.discover(table, "ill", labels="pu", algorithm="iamb")
    assert "kappa" not in unknown.settings
    assert unknown.could_have_missed(powers=(0.8,))[0]["effect_80"] == pytest.approx(row["effect_80"] * kappa)
    assert "an effect on what is counted in place of the target of" in " ".join(unknown.explain("dose").lines)


def test_labeled_rows_alone_are_what_counts_when_labels_are_missing_at_random():
    table = hidden(clinic(), (0.3, 0.3))
    n_labeled = int(np.isfinite(table["ill"]).sum())
    blanket = bl.discover(table, "ill", labels="mcar", algorithm="iamb")
    assert blanket.settings["effective_rows"] == pytest.approx(n_labeled)
    row = blanket.could_have_missed()[0]
    assert row["n_rows"] == n_labeled
    assert row["effect_80"] == pytest.approx(needed(0.8, row["dof"], 0.01) / (2 * n_labeled), rel=1e-6)


def test_json_groups_columns_by_what_their_tests_would_find():
    blanket = bl.discover(clinic(), "ill", algorithm="iamb")
    content = json.loads(blanket.to_json())
    rows = {row["column"]: row for row in blanket.could_have_missed()}
    groups = content["could_have_missed"]
    assert sorted(content["columns"][x] for group in groups for x in group["columns"]) == sorted(rows)
    for group in groups:
        for x in group["columns"]:
            assert group["effect_95"] == pytest.approx(rows[content["columns"][x]]["effect_95"])
    explained = blanket.explain("moon").to_dict()["detectable"]
    assert explained == {"0.8": rows["moon"]["effect_80"], "0.95": rows["moon"]["effect_95"]}
    assert type(blanket).from_dict(content) == blanket


def test_an_untested_column_has_no_detectable_effect():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TooFewRowsWarning)
        nothing = bl.discover(clinic(n=300), "ill", algorithm="iamb", test=bl.Testing(reliability=1000.0), close=False)
    assert nothing.could_have_missed() == []
    assert nothing.explain("moon").detectable == {}


@pytest.mark.parametrize("algorithm", ["iamb", "gs", "pcmb", "mmmb", "hiton-mb", "pc"])
@pytest.mark.parametrize("surrogate", ["listwise", "pairwise"])
def test_the_rivals_run_with_every_algorithm(algorithm, surrogate):
    table = hidden(clinic(), (0.4, 0.8))
    blanket = bl.discover(table, "ill", algorithm=algorithm, labels=bl.SemiSupervised("mar-c", surrogate=surrogate))
    assert "cough" in blanket.members
    assert blanket.settings["surrogate"] == surrogate
    assert blanket.settings["surrogate_is_valid"] == (surrogate == "listwise")
    assert ("not chi-square in general; it is a baseline" in blanket.warnings[0]) == (surrogate == "pairwise")


def test_bassum_is_hiton_with_pairwise_deletion():
    table = hidden(clinic(), (0.4, 0.8))
    bassum = bl.discover(table, "ill", labels="mcar", algorithm="bassum", close=False)
    pairwise = bl.SemiSupervised("mcar", surrogate="pairwise")
    hiton = bl.discover(table, "ill", algorithm="hiton-mb", labels=pairwise, close=False)
    assert bassum.settings["surrogate"] == "pairwise"
    assert (bassum.members, bassum.roles, bassum.n_tests) == (hiton.members, hiton.roles, hiton.n_tests)
    assert [s.evidence for s in bassum.decisions] == [s.evidence for s in hiton.decisions]
    assert (
        bl.discover(table, "ill", algorithm="bassum", labels=bl.SemiSupervised("mcar", surrogate="ym")).settings[
            "surrogate"
        ]
        == "ym"
    )
    assert bl.discover(clinic(), "ill", algorithm="bassum").settings["surrogate"] == "full"


def test_pairwise_deletion_says_where_it_cannot_be_used():
    table = hidden(clinic(), (0.0, 0.5))
    with pytest.raises(LabelError, match="only one class is labeled"):
        bl.discover(table, "ill", labels="pu", algorithm="bassum")
    with pytest.raises(LabelError, match="no row is unlabeled, but labels='mcar' needs some"):
        bl.discover(clinic(), "ill", labels=bl.SemiSupervised("mcar", surrogate="pairwise"))
    both = hidden(clinic(), (0.4, 0.8))
    with pytest.raises(ParameterError, match="pairwise deletion is defined for test='g', but test='x2'"):
        bl.discover(both, "ill", test="x2", labels=bl.SemiSupervised("mcar", surrogate="pairwise"))
    result = bl.test(both, "cough", "ill", labels=bl.SemiSupervised("mcar", surrogate="pairwise"))
    assert not result.valid
    assert result.kappa is None
    with pytest.raises(NotAnswerableError, match="the power of pairwise deletion is not known"):
        bl.SemiSupervised("mcar").kappa(read_labels(both["ill"]), "pairwise")


def test_drivers_can_be_left_out():
    table = clinic()
    rng = np.random.default_rng(3)
    labeled = rng.random(3000) < np.where(table["syrup"] == 1, 0.9, 0.3)
    table["ill"] = np.where(labeled, table["ill"], np.nan)
    given = bl.discover(table, "ill", labels="mar-f")
    assert given.settings["drivers"] == ["syrup"]
    assert set(given.members) == {"age", "cough"}
    assert "given syrup" in str(given.explain("dose")) or "and syrup" in str(given.explain("dose"))
    assert "an effect among the labeled rows of" in " ".join(given.explain("dose").lines)
    plain = bl.discover(table, "ill", labels=bl.SemiSupervised("mar-f", given_drivers=False))
    assert "drivers" not in plain.settings
    assert "drivers" not in bl.discover(table, "ill", labels="mcar").settings


def test_drivers_with_too_many_levels_are_said_to_be_too_many():
    rng = np.random.default_rng(0)
    ward, age, ill = rng.integers(0, 40, 4000), rng.integers(0, 2, 4000), rng.integers(0, 2, 4000)
    labeled = rng.random(4000) < np.where(ward % 2 == 0, 0.06, 0.005)
    table = {"ward": ward.astype(str), "age": age, "ill": np.where(labeled, ill, np.nan)}
    with (
        pytest.warns(TooFewRowsWarning, match="132 rows are too few to test 'ward'"),
        pytest.warns(TooFewRowsWarning, match="have 40 joint levels, so many that the .* labeled rows are too few"),
    ):
        bl.discover(table, "ill", labels="mar-f", algorithm="iamb")
