"""Rows that belong together: every question that knows groups allows for them, the others refuse them."""

import warnings

import numpy as np
import pandas as pd
import pytest

import blankets as bl
from blankets.errors import DataError, NotAnswerableError, ParameterError, TooFewRowsWarning
from blankets.stats import detectable_effect
from blankets.study._groups import groups_drawn, order_by_groups


def visits(n_patients=60, n_visits=10, seed=0):
    """Return visits of patients: ``drug`` helps at each visit, ``letter`` is a trait of patients that means nothing."""
    rng = np.random.default_rng(seed)
    patient = np.repeat(np.arange(n_patients), n_visits)
    frail = np.repeat(rng.normal(size=n_patients), n_visits)
    drug = rng.integers(0, 2, len(patient))
    ill = frail + 1.5 * drug + rng.normal(size=len(patient)) > 0.75
    letters = {f"letter{k}": np.repeat(rng.choice(list("abc"), n_patients), n_visits) for k in range(8)}
    return pd.DataFrame({"patient": patient, "drug": drug, **letters, "ill": ill.astype(int)})


@pytest.fixture(scope="module")
def table():
    return visits()


def test_what_is_made_up_is_not_found(table):
    plain = bl.discover(table.drop(columns="patient"), "ill")
    assert any(name.startswith("letter") for name in plain.members)
    blanket = bl.discover(table, "ill", groups="patient")
    assert blanket.members == ("drug",)
    assert "patient" not in blanket.columns
    assert (blanket.settings["groups"], blanket.settings["n_groups"]) == ("patient", 60)
    assert "600 rows belong to 60 groups (patient)" in repr(blanket)
    assert bl.Blanket.from_json(blanket.to_json()) == blanket
    beside = bl.discover(table.drop(columns="patient"), "ill", groups=table["patient"].to_numpy())
    assert beside.strengths == blanket.strengths


@pytest.mark.parametrize("algorithm", ["iamb", "hiton-mb", "pcmb", "fbed"])
def test_algorithms_do_not_see_groups(table, algorithm):
    assert "drug" in bl.discover(table, "ill", groups="patient", algorithm=algorithm)


def test_a_test_says_what_it_did(table):
    found = bl.test(table, "letter0", "ill", given=["drug"], groups="patient")
    assert found.method.startswith("scores summed up within groups")
    assert found.estimate is None
    assert not found.powers
    assert any("60 groups" in note for note in found.notes)


def test_holes_and_groups(table):
    rng = np.random.default_rng(1)
    gaps = table.assign(drug=table["drug"].where(rng.random(len(table)) > 0.3))
    found = bl.test(gaps, "drug", "ill", groups="patient")
    rest = bl.test(gaps.dropna(), "drug", "ill", groups="patient")
    assert (found.statistic, found.n_rows) == (rest.statistic, len(gaps.dropna()))


def test_labels_and_groups(table):
    hidden = table.assign(ill=table["ill"].where(table["ill"] == 1).where(np.arange(len(table)) % 2 == 0))
    assert bl.discover(hidden, "ill", labels="pu", prior=0.4, groups="patient").members == ("drug",)


def test_draws_are_of_groups(table):
    groups = table["patient"].to_numpy()
    for method in ("subsample", "pairs", "bootstrap"):
        for rows in groups_drawn(groups, 4, method, 0.5, np.random.default_rng(0)):
            counts = np.bincount(groups[rows], minlength=60)
            assert set(counts % 10) == {0}
    one, other = groups_drawn(groups, 2, "pairs", 0.5, np.random.default_rng(0))
    assert not set(groups[one]) & set(groups[other])
    order = order_by_groups(groups, np.random.default_rng(0))
    assert sorted(order) == list(range(len(groups)))
    assert all(len(set(groups[order[groups == g]])) == 1 for g in range(60))


def test_stability_and_refutation_draw_groups(table, monkeypatch):
    monkeypatch.setattr("blankets.questions.refute.second_opinion", lambda *_: None)  # it takes seconds
    assert bl.stability(table, "ill", groups="patient", n_resamples=4, rng=0)["drug"] == 1.0
    blanket = bl.discover(table, "ill", groups="patient")
    trials = {trial.name: trial for trial in blanket.refute(table, n_resamples=3, rng=0).trials}
    assert trials["same data"].verdict == "passed"
    assert trials["permuted target"].verdict == "passed"


def test_few_groups_are_told():
    with pytest.warns(TooFewRowsWarning, match="'patient' makes 12 groups of the rows"):
        bl.discover(visits(12), "ill", groups="patient")


def test_a_single_group_is_refused(table):
    with pytest.raises(DataError, match=r"'groups' puts all rows into one group.*or leave groups= out"):
        bl.discover(table, "ill", groups=np.zeros(len(table)))


def test_what_could_have_been_missed_counts_a_group_as_a_row(table):
    blanket = bl.discover(table, "ill", groups="patient")
    for row in blanket.could_have_missed():
        assert row["effect_80"] == pytest.approx(float(detectable_effect(0.8, 60, row["dof"], 0.01)))


def test_who_does_not_know_groups_refuses_them(table):
    for ask in (bl.select, bl.sensitivity, bl.advise, bl.discover_latent):
        with pytest.raises(NotAnswerableError, match="groups=, survey_weight= and missing='weighted' are built for"):
            ask(table, "ill", groups="patient")
    with pytest.raises(ParameterError, match="groups= is not built for test='fisher-z'"):
        bl.discover(table[["patient", "drug", "ill"]], "ill", groups="patient", test="fisher-z")
    with pytest.raises(ParameterError, match="test='g' takes rows for independent draws"):
        bl.discover(table, "ill", groups="patient", test="g")
    with pytest.raises(DataError, match="groups='patent' names a column that is not there; did you mean 'patient'"):
        bl.discover(table, "ill", groups="patent")


def test_missing_groups(table):
    gaps = table.assign(patient=table["patient"].where(table["patient"] > 0))
    with pytest.raises(DataError, match="groups= is missing in 10 rows"):
        bl.discover(gaps, "ill", groups="patient")


def test_weights_and_groups(table):
    weights = np.random.default_rng(0).integers(0, 3, len(table))
    repeated = table.loc[table.index.repeat(weights)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one = bl.test(table, "drug", "ill", groups="patient", sample_weight=weights)
    assert one.statistic == bl.test(repeated, "drug", "ill", groups="patient").statistic
