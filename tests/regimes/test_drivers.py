"""Positives that are labeled depending on known columns: tests given these, what is said of them, what is refused."""

import math

import numpy as np
import pytest
from scipy import stats

import blankets as bl
from blankets.errors import DataError, LabelError, NotAnswerableError, ParameterError
from blankets.study import independence_tests
from studies import study_of

DRIVEN = bl.PositiveUnlabeled(prior=0.3, drivers=["road"])


def world(rng, n, kind="levels", n_null=0):
    """A child of the class, and columns that follow the driver (correlation 0.8) but not the class."""
    y, d = rng.random(n) < 0.3, rng.normal(size=n)
    null = (0.8 * d + 0.6 * rng.normal(size=(max(n_null, 1), n)) > 0).astype(int)
    road = {"levels": (d > 0).astype(int), "number": d, "many": [f"v{int(4 * (v + 4))}" for v in d]}[kind]
    rate = np.where(d > 0, 0.8, 0.2) if kind == "levels" else 1 / (1 + np.exp(-1.5 * d))
    child = (rng.random(n) < np.where(y, 0.7, 0.3)).astype(int)
    columns = {f"x{j}": column for j, column in enumerate(null)}
    return {**columns, "child": child, "road": road, "seen": np.where(y & (rng.random(n) < rate), 1.0, np.nan)}


def test_level_given_the_driver_and_without():
    rng, alpha, n_draws = np.random.default_rng(5), 0.05, 2000
    p = {"pu": [], "driven": []}
    for _ in range(n_draws // 100):
        table = world(rng, 1000, n_null=100)
        for name, labels in (("pu", "pu"), ("driven", DRIVEN)):
            study = study_of(table, "seen", labels=labels)
            p[name].append(independence_tests(study, study.stand_in()).scan(range(100), study.target).log_p)
    share = {name: np.mean(np.exp(np.concatenate(values)) <= alpha) for name, values in p.items()}
    assert abs(share["driven"] - alpha) < 0.2 * alpha + 4 * math.sqrt(alpha * (1 - alpha) / n_draws)
    assert share["pu"] > 10 * alpha


def test_the_test_is_that_of_the_surrogate_within_levels_of_the_driver():
    table = world(np.random.default_rng(0), 2000)
    labeled = ~np.isnan(table["seen"])
    g = 0.0
    for level in (0, 1):
        rows = table["road"] == level
        counts = np.histogram2d(table["x0"][rows], labeled[rows], bins=2)[0]
        g += stats.chi2_contingency(counts, correction=False, lambda_="log-likelihood")[0]
    found = bl.test(table, "x0", "seen", labels=DRIVEN)
    assert found.statistic == pytest.approx(g, rel=1e-9)
    assert found.dof == 2
    assert "depend on 'road' alone; every test with the target is given that too" in found.notes[0]


@pytest.mark.parametrize("kind", ["levels", "number", "many"])
def test_drivers_are_neither_in_nor_out(kind):
    table = world(np.random.default_rng(1), 3000, kind)
    plain = bl.discover(table, "seen", labels="pu", algorithm="iamb")
    assert "road" in plain.members or "x0" in plain.members
    found = bl.discover(table, "seen", labels=DRIVEN, algorithm="iamb")
    assert found.members == ("child",)
    assert "road" not in found.undecided
    assert "these labels cannot tell whether it belongs to the blanket" in found.excluded["road"]
    assert found.settings["drivers"] == ["road"]
    assert "Not searched: road" in str(found)


def test_a_copy_of_a_column_may_be_named_as_driver():
    table = world(np.random.default_rng(1), 2000)
    with pytest.warns(bl.errors.DuplicateColumnWarning):
        found = bl.discover({"first": table["road"], **table}, "seen", labels=DRIVEN, algorithm="iamb")
    assert found.members == ("child",)
    assert "first" in found.excluded


def test_rankings_and_filters_are_given_the_driver():
    table = world(np.random.default_rng(2), 4000)
    rank = bl.rank(table, "seen", labels=DRIVEN)
    assert rank.names == ("child", "x0")
    assert rank.p[1] > 0.001
    labeled, wanted = ~np.isnan(table["seen"]), 0.0
    for level in (0, 1):
        rows = table["road"] == level
        p = np.histogram2d(table["child"][rows], labeled[rows], bins=2)[0] / 4000
        wanted += (p * np.log(p * p.sum() / np.outer(p.sum(axis=1), p.sum(axis=0)))).sum()
    assert rank.information[0] == pytest.approx(wanted, rel=1e-9)
    for criterion in ("mim", "jmi", "disr", "cmi", "cmim"):
        assert bl.select(table, "seen", criterion=criterion, k=1, labels=DRIVEN).names == ("child",)


def test_what_cannot_be_told():
    table = world(np.random.default_rng(3), 500)
    with pytest.raises(NotAnswerableError, match="'road' cannot be told from these labels"):
        bl.test(table, "road", "seen", labels=DRIVEN)
    with pytest.raises(NotAnswerableError, match=r"information cannot be estimated where labeling depends on 'road'"):
        bl.mutual_information(table, "child", "seen", labels=DRIVEN)
    advice = " ".join(str(bl.advise(table, "seen", labels=DRIVEN)).split())
    assert "power cannot be computed where labeling depends on 'road'" in advice
    with pytest.raises(DataError, match="no column 'raod'"):
        bl.test(table, "child", "seen", labels=bl.PositiveUnlabeled(drivers="raod"))
    with pytest.raises(ParameterError, match="drivers= holds the target 'seen'"):
        bl.test(table, "child", "seen", labels=bl.PositiveUnlabeled(drivers="seen"))


def test_several_classes_of_which_some_are_labeled():
    rng = np.random.default_rng(6)
    kind = rng.integers(0, 4, 600)
    table = {"x": rng.integers(0, 2, 600), "kind": [None if k > 1 else "ab"[k] for k in kind]}
    with pytest.raises(LabelError, match=r"labels='pu' is for one labeled class, but .* rows are labeled 'a'"):
        bl.test(table, "x", "kind", labels="pu")
    # One class against all else: rows of the other labeled class tell no more than unlabeled ones.
    found = bl.test(table, "x", "kind", labels="pu", positive="a", test="g")
    counts = np.histogram2d(table["x"], kind == 0, bins=2)[0]
    assert found.statistic == pytest.approx(stats.chi2_contingency(counts, False, lambda_="log-likelihood")[0])
    assert "rows labeled 'b' count as unlabeled ones do" in found.notes[0]
    with pytest.raises(LabelError, match="no row is labeled 'd'"):
        bl.test(table, "x", "kind", labels="pu", positive="d")
    table["kind"] = [None if k == 3 else "abc"[k] for k in kind]
    with pytest.raises(LabelError, match=r"3 classes, and some rows are unlabeled: say which class is the positive"):
        bl.test(table, "x", "kind", labels="pu")


def test_a_plan_given_drivers_is_on_the_safe_side():
    """κ of as many labels at one chance is at most that of the strata, methods (13.8): here 0.4118 and 0.4429."""
    p, chances = 0.3, np.array([0.8, 0.2])
    share = p * chances.mean()
    found = bl.plan(effect=0.0026, rows=3000, labeled=share, strata=2, labels=DRIVEN)
    exact = np.mean((1 - p) * chances / (1 - p * chances))
    assert found.kappa == pytest.approx(share * (1 - p) / (p * (1 - share)), rel=1e-9)
    assert found.kappa < exact
    critical = stats.chi2.isf(0.01, 2)  # one degree of freedom in each of two strata
    assert found.power == pytest.approx(stats.ncx2.sf(critical, 2, 2 * 3000 * 0.0026 * found.kappa), rel=1e-6)
    assert "How often a positive is labeled depends only on the drivers" in str(found)
    assert bl.Plan.from_json(found.to_json()) == found
    with pytest.raises(NotAnswerableError, match=r"power cannot be computed without p\(y=1\)"):
        bl.plan(effect=0.0026, rows=3000, labeled=share, labels=bl.PositiveUnlabeled(drivers=["road"]))
    with pytest.raises(NotAnswerableError, match="plan for rows with one value at a time"):
        bl.plan(effect=0.01, rows=300, labeled=0.1, labels=bl.PositiveUnlabeled(0.3, "case-control", drivers="road"))
