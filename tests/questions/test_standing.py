"""Rows that stand for others, from the questions' side: groups and weights of numbers, gaps, completed tables."""

import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn import config_context
from sklearn.model_selection import GroupKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

import blankets as bl
from blankets.errors import BlanketsWarning, DataError, IdLikeColumnWarning, NotAnswerableError, ParameterError
from blankets.study import open_study


def visits(seed=0, n_patients=60, n_visits=10):
    """Return visits: the dose acts at each visit, ``trait`` is a number of patients that means nothing."""
    rng = np.random.default_rng(seed)
    patient = np.repeat(np.arange(n_patients), n_visits)
    dose = rng.normal(size=len(patient))
    pressure = 2 * rng.normal(size=n_patients)[patient] + dose + rng.normal(size=len(patient))
    traits = {f"trait {k}": rng.normal(size=n_patients)[patient] for k in range(4)}
    return pd.DataFrame({"patient": patient, "dose": dose, **traits, "pressure": pressure})


def gaps(n=2000, seed=1):
    """Return a table in which ``x`` is missing where ``u`` and ``y`` are high; x and y have nothing in common."""
    rng = np.random.default_rng(seed)
    u, y = rng.integers(0, 2, (2, n))
    x = np.where(rng.random(n) < 0.8, u, 1 - u).astype(float)
    x[rng.random(n) < 0.05 + 0.6 * (u & y)] = np.nan
    return pd.DataFrame({"x": x, "u": u, "y": y})


def test_numbers_in_groups():
    table = visits()
    assert min(bl.test(table, f"trait {k}", "pressure", exclude=["patient"]).p for k in range(4)) < 1e-3
    with warnings.catch_warnings():
        warnings.simplefilter("error", BlanketsWarning)  # nothing is cut
        blanket = bl.discover(table, "pressure", groups="patient")
    assert blanket.members == ("dose",)
    assert "Numbers, tested without cutting" in str(blanket.explain())
    assert "dose" in repr(bl.stability(table, "pressure", groups="patient", n_resamples=2))
    weighed = bl.discover(table, "pressure", groups="patient", survey_weight=np.linspace(1.0, 2.0, len(table)))
    assert weighed.members == ("dose",)


def test_noise_columns_keep_groups_together():

    table = visits(n_patients=40, n_visits=5)
    with open_study(table, "pressure", reading={"groups": "patient"}, numbers=True, knows_groups=True) as study:
        noisy = study.with_noise({"noise": study.index("trait 0")}, np.random.default_rng(0)).frame
    copied = noisy.numbers[noisy.index("noise")].values
    assert len(np.unique(copied.reshape(40, 5), axis=0)) == 40
    assert all(len(set(rows)) == 1 for rows in copied.reshape(40, 5))


def test_gaps_that_another_column_tells_of():
    table = gaps()
    assert bl.test(table, "x", "y").dependent(0.001)
    found = bl.test(table, "x", "y", missing="weighted")
    assert not found.dependent(0.05)
    assert not found.powers
    assert any("weighted by complete columns that tell of the gaps, in x (by" in note for note in found.notes)
    assert bl.discover(table, "y", missing="weighted").members == ()
    assert bl.test(table, "x", "y", given=["u"], missing="weighted").p == bl.test(table, "x", "y", given=["u"]).p
    cells = table.dropna().groupby(["u", "y"]).size() / table.groupby(["u", "y"]).size()
    seen = table.dropna()
    weights = 1 / cells.loc[list(zip(seen["u"], seen["y"], strict=True))].to_numpy()
    share = pd.crosstab(seen["x"], seen["y"], values=weights, aggfunc="sum").to_numpy() / weights.sum()
    expected = np.sum(share * np.log(share / np.outer(share.sum(axis=1), share.sum(axis=0))))
    estimate = bl.mutual_information(table, "x", "y", missing="weighted")
    assert estimate.value == pytest.approx(expected, abs=2e-4)  # the model has no product of u and y
    with pytest.raises(NotAnswerableError, match="missing='weighted' are built for discover"):
        bl.select(table, "y", missing="weighted")
    with pytest.raises(ParameterError, match="test='g' counts every row alike"):
        bl.discover(table, "y", missing="weighted", test="g")


def test_few_rows_do_not_stand_for_very_many():
    rng = np.random.default_rng(0)
    u, y = rng.normal(size=(2, 1000))
    x = np.where(rng.random(1000) < 1 / (1 + np.exp(-2 * (u + y))), np.nan, u)
    table = pd.DataFrame({"x": x, "u": u, "y": y})
    assert bl.test(table, "x", "y").reliable
    found = bl.test(table, "x", "y", missing="weighted")
    assert not found.reliable
    assert "A test in which few rows would stand for very many is not made" in " ".join(repr(found).split())
    assert "x and y: not tested, few rows would stand for many that have no value" in repr(found)
    blanket = bl.discover(table, "y", missing="weighted")
    assert "gaps, weights or groups leave too little of the 1,000 rows to test it" in " ".join(
        str(blanket.explain("x")).split()
    )
    assert "missing='testwise' would test it, without weights" in " ".join(str(blanket.explain("x")).split())


def test_discover_says_that_gaps_depend_on_the_target():
    table = gaps()
    assert [one.columns for one in bl.discover(table, "u").checks if one.kind == "missing by target"] == [("x",)]
    assert not [one for one in bl.discover(table, "u", missing="weighted").checks if one.kind == "missing by target"]


def test_no_column_tells_of_gaps():
    table = gaps()
    table["x"] = table["u"].where(np.random.default_rng(2).random(len(table)) < 0.7)
    blanket = bl.discover(table, "y", missing="weighted")
    assert "No complete column tells where values are missing" in repr(blanket)
    assert blanket.strengths == bl.discover(table, "y").strengths


def test_effects_are_weighted():
    """The slope is 1 in all rows; high y are missing, so that the rows with x have a smaller one."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=3000)
    table = pd.DataFrame({"x": x, "y": x + rng.normal(size=3000)})
    table.loc[rng.random(3000) < 1 / (1 + np.exp(-2 * table["y"])), "x"] = np.nan
    per_unit = {}
    for missing in ("testwise", "weighted"):
        (effect,) = bl.discover(table, "y", missing=missing).effects.contrasts["x"]
        per_unit[missing] = effect.estimate / table["x"].std()
    assert per_unit["testwise"] < 0.9
    assert per_unit["weighted"] == pytest.approx(1.0, abs=0.1)


def test_information_of_a_survey_and_of_groups():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 800)
    table = pd.DataFrame({"x": (y + (rng.random(800) < 0.3)) % 2, "b": rng.integers(0, 3, 800), "y": y})
    table["w"] = rng.uniform(0.2, 3.0, 800)
    share = pd.crosstab(table["x"], y, values=table["w"], aggfunc="sum").to_numpy() / table["w"].sum()
    expected = np.sum(share * np.log(share / np.outer(share.sum(axis=1), share.sum(axis=0))))
    found = bl.mutual_information(table, "x", "y", survey_weight="w")
    assert found.value == pytest.approx(expected, rel=1e-12)
    low, high = found.interval(0.9)
    plain = bl.mutual_information(table.drop(columns="w"), "x", "y").interval(0.9)
    assert low < expected < high
    assert high - low > plain[1] - plain[0]  # weights cost rows
    ranking = bl.rank(table, "y", survey_weight="w")
    assert ranking.names == ("x", "b")
    assert ranking.information[0] == found.value
    # Each row four times, as a group: the variance is that of the rows once.
    four = pd.concat([table.drop(columns="w").assign(g=np.arange(800))] * 4)
    again = bl.mutual_information(four, "x", "y", groups="g")
    once = bl.mutual_information(table.drop(columns="w"), "x", "y")
    assert again.value == pytest.approx(once.value, rel=1e-9)
    assert again.standard_error == pytest.approx(once.standard_error, rel=2e-3)
    assert again.interval(0.9) == pytest.approx(once.interval(0.9), rel=1e-2)
    numbers = table.assign(x=rng.normal(size=800))
    with pytest.raises(NotAnswerableError, match="estimated for categories, complete labels and loss='log' only"):
        bl.mutual_information(table, "x", "y", survey_weight="w", loss="squared")
    assert bl.rank(numbers, "y", survey_weight="w").names  # numbers are cut


# --- completed tables -------------------------------------------------------------------------------------------------


def completed(n_tables=5, n=600, seed=0):
    """Return completed tables: y depends on b and c; 30% of b was drawn again from rows with the same a, c and y."""
    rng = np.random.default_rng(seed)
    a, c = rng.integers(0, 2, (2, n))
    b = (a + (rng.random(n) < 0.2)) % 2
    y = (rng.random(n) < 0.1 + 0.5 * b + 0.3 * c).astype(int)
    table = pd.DataFrame({"id": [f"p{i}" for i in range(n)], "a": a, "b": b, "c": c, "y": y})
    gone, cell = rng.random(n) < 0.3, a * 4 + c * 2 + y
    tables = []
    for _ in range(n_tables):
        drawn = b.copy()
        for k in range(8):
            here = np.flatnonzero(gone & (cell == k))
            drawn[here] = rng.choice(b[~gone & (cell == k)], len(here))
        tables.append(table.assign(b=drawn))
    return tables


@pytest.fixture(scope="module")
def tables():
    return completed()


def test_completed_tables_are_pooled(tables):
    with pytest.warns(IdLikeColumnWarning, match="left out, because almost every row has its own level"):
        one = bl.discover(tables[0], "y")
    blanket = bl.discover(tables, "y")
    assert set(blanket.members) == {"b", "c"}
    assert blanket.n_rows == 600
    assert "tests of 5 completed tables are pooled" in repr(blanket)
    assert "id" not in blanket.columns
    assert bl.Blanket.from_json(blanket.to_json()).members == blanket.members
    pooled, alone = (found.effects.contrasts["b"][0] for found in (blanket, one))
    assert np.log(pooled.high / pooled.low) > np.log(alone.high / alone.low)  # imputed values are not known
    found = bl.test(tables, "b", "y")
    assert found.method.endswith("pooled (D3)")
    assert found.log_p > np.mean([bl.test(table, "b", "y", exclude=["id"]).log_p for table in tables])
    assert bl.stability(tables, "y", n_resamples=2).n_rows == 600
    assert set(bl.discover_all(tables, targets=["y"])["y"].members) == {"b", "c"}
    groups = np.arange(600) // 2
    assert "b" in bl.discover(tables, "y", groups=groups)
    with_numbers = [table.assign(b=table["b"] + np.linspace(0.0, 0.1, 600)) for table in tables]
    assert bl.test(with_numbers, "b", "y").method.endswith("pooled (D2)")


def test_blankets_of_completed_tables_are_put_to_the_test(tables):
    blanket = bl.discover(tables[:2], "y", exclude=["id"])
    found = bl.refute(blanket, tables[:2], n_resamples=2, rng=0)
    assert {trial.name: trial.verdict for trial in found.trials}["same data"] == "passed"
    # Whatever is shuffled is shuffled alike in all tables: the target was the same in each, and still is.
    for changed in ("shuffled", "with_noise"):
        with open_study(tables[:2], "y", reading={"exclude": ["id"]}, pools=True) as study:
            rng = np.random.default_rng(0)
            drawn = study.shuffled(rng) if changed == "shuffled" else study.with_noise({"new": study.target}, rng)
        column = drawn.frame.column(drawn.frame.index("y" if changed == "shuffled" else "new"))
        assert (column[:600] == column[600:]).all()
        assert not (column[:600] == tables[0]["y"].to_numpy()).all()


@pytest.mark.filterwarnings("ignore::blankets.errors.BlanketsWarning")
def test_completed_tables_of_other_libraries(tables, monkeypatch):
    """They are put together by the library that they come from: nobody needs another one for it."""
    monkeypatch.setitem(sys.modules, "narwhals", None)
    members = bl.discover(tables, "y").members
    assert bl.discover([pl.from_pandas(table) for table in tables], "y").members == members
    assert bl.discover([pa.Table.from_pandas(table) for table in tables], "y").members == members
    with pytest.raises(DataError, match="completed tables must all be data frames of pandas, or all of polars"):
        bl.discover([tables[0], pl.from_pandas(tables[1])], "y")
    texts = pl.from_pandas(tables[1]).with_columns(pl.col("a").cast(pl.String))
    with pytest.raises(DataError, match=r"completed tables cannot be put below each other: .* equal types"):
        bl.discover([pl.from_pandas(tables[0]), texts], "y")


def test_completed_tables_that_are_none(tables):
    with pytest.raises(NotAnswerableError, match="a list of completed tables is pooled by discover"):
        bl.rank(tables, "y")
    with pytest.raises(DataError, match="table 2 differs from the first"):
        bl.discover([tables[0], tables[1].iloc[:-1]], "y")
    with pytest.raises(DataError, match="holds one table"):
        bl.discover(tables[:1], "y")
    with pytest.raises(DataError, match="completed tables still have missing values, in 'a'"):
        bl.discover([table.assign(a=table["a"].where(table["c"] > 0)) for table in tables], "y")
    with pytest.raises(ParameterError, match="pooled with test='auto' only"):
        bl.discover(tables, "y", test="g")
    with pytest.raises(ParameterError, match="is for a table with gaps"):
        bl.discover(tables, "y", missing="drop")
    with pytest.raises(ParameterError, match="completed tables are pooled in memory"):
        bl.discover(tables, "y", engine="sql")


# --- scikit-learn -----------------------------------------------------------------------------------------------------


def test_groups_are_routed_to_the_selector():
    table = visits()
    X, y = table.drop(columns=["patient", "pressure"]), table["pressure"]
    alone = bl.MarkovBlanketSelector().fit(X, y, groups=table["patient"])
    assert list(alone.get_feature_names_out()) == ["dose"]
    with config_context(enable_metadata_routing=True):
        selector = bl.MarkovBlanketSelector().set_fit_request(groups=True)
        pipeline = make_pipeline(selector, GaussianNB()).fit(X, y > 0, groups=table["patient"])
    assert pipeline[0].blanket_.settings["n_groups"] == 60


def test_the_wrapper_splits_by_groups():
    table = visits()
    X, y = table.drop(columns=["patient", "pressure"]), (table["pressure"] > 0).astype(int)
    seen = []

    class Recording(GaussianNB):
        def fit(self, X, y):
            seen.append(set(X.index))
            return super().fit(X, y)

    bl.HitonWrapper(Recording(), cv=3).fit(X, y, groups=table["patient"])
    patients = [set(table["patient"][sorted(rows)]) for rows in seen]
    assert all(len(rows) == 10 * len(ids) for rows, ids in zip(seen, patients, strict=True))
    folds = GroupKFold(2)
    assert bl.HitonWrapper(GaussianNB(), cv=folds).fit(X, y, groups=table["patient"]).get_support().any()


# --- the command line and the page ------------------------------------------------------------------------------------


def test_the_command_line_and_the_report(tmp_path, capsys):
    from blankets.cli._main import run

    gappy, page = tmp_path / "gaps.csv", tmp_path / "page.html"
    gaps(n=1200).to_csv(gappy, index=False)
    visits().to_csv(tmp_path / "visits.csv", index=False)
    assert run(["discover", str(gappy), "--target", "y", "--missing", "weighted"]) == 0
    assert "weighted by complete columns" in " ".join(capsys.readouterr().out.split())
    of_visits = ["discover", str(tmp_path / "visits.csv"), "--target", "pressure", "--groups", "patient"]
    assert run([*of_visits, "--report", str(page)]) == 0
    assert "600 rows belong to 60 groups (patient)" in " ".join(capsys.readouterr().out.split())
    assert "60 groups" in page.read_text()
    blanket = bl.discover(gaps(n=1200), "u")
    evidence = blanket.strengths["x"]
    blanket.report(page)
    assert evidence.n_rows == int(gaps(n=1200)["x"].notna().sum())
    assert f"{evidence.n_rows:,} rows" in page.read_text()
