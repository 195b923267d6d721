"""Frequency weights: every question answers as it does for the table in which rows are repeated."""

import json

import numpy as np
import pandas as pd
import pytest

import blankets as bl
from blankets.cli._main import run
from blankets.errors import DataError, NotAnswerableError, ParameterError
from blankets.stats import survey_test


@pytest.fixture(scope="module")
def tables():
    """An aggregated table with a column of counts, and the table of its rows, in the same order."""
    rng = np.random.default_rng(4)
    n = 1500
    z = rng.integers(0, 3, n)
    table = pd.DataFrame(
        {
            "z": np.array(["low", "mid", "high"])[z],
            "x": (z > 0) ^ (rng.random(n) < 0.2),
            "dose": rng.normal(size=n) + z,
            "gap": np.where(rng.random(n) < 0.3, np.nan, z % 2),
            "y": ((z == 2) ^ (rng.random(n) < 0.15)).astype(int),
        }
    )
    weights = rng.integers(0, 4, n)
    return table.assign(count=weights), table.loc[table.index.repeat(weights)].reset_index(drop=True)


def plain(result):
    """Return a result without what may differ: time, the call, how large the table was."""
    kept = {name: value for name, value in vars(result).items() if name not in ("call", "seconds", "data", "_later")}
    if "settings" in kept:
        kept["settings"] = {name: value for name, value in kept["settings"].items() if name != "sample_weight"}
    return {name: repr(value) for name, value in kept.items()}


QUESTIONS = {
    "discover": lambda t, **w: bl.discover(t, "y", roles=True, rng=0, **w).tell(),
    "x2": lambda t, **w: bl.discover(t, "y", algorithm="hiton-mb", test="x2", **w).tell(),
    "fisher-z": lambda t, **w: bl.discover(t, "y", columns=["dose", "x", "y"], test="fisher-z", **w).tell(),
    "frequencies": lambda t, **w: bl.discover(t, "y", discretize="equal-frequency", n_bins=4, **w).tell(),
    "drop": lambda t, **w: bl.discover(t, "y", missing="drop", **w).tell(),
    "test": lambda t, **w: bl.test(t, "gap", "y", given=["z", "dose"], rng=0, **w),
    "rank": lambda t, **w: bl.rank(t, "y", **w),
    "select": lambda t, **w: bl.select(t, "y", k=3, **w),
    "mutual_information": lambda t, **w: bl.mutual_information(t, "dose", "y", **w),
    "stability": lambda t, **w: bl.stability(t, "y", n_resamples=4, rng=1, **w),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_answer_is_that_for_the_repeated_rows(name, tables):
    counted, repeated = tables
    ask = QUESTIONS[name]
    assert plain(ask(counted, sample_weight="count")) == plain(ask(repeated))
    beside = ask(counted.drop(columns="count"), sample_weight=counted["count"].to_numpy())
    assert plain(beside) == plain(ask(repeated))


def test_labels_of_the_repeated_rows(tables):
    known = {"labels": "pu", "prior": 0.5}
    hidden = [t.assign(y=t["y"].where((t["y"] == 1) & (t["dose"].round(2) * 100 % 2 == 0))) for t in tables]
    assert plain(bl.rank(hidden[0], "y", sample_weight="count", **known)) == plain(bl.rank(hidden[1], "y", **known))


def test_a_column_of_weights_is_no_feature(tables):
    counted, _ = tables
    assert "count" not in bl.discover(counted, "y", sample_weight="count").columns
    assert "count" not in bl.discover_all(counted, ["y"], sample_weight="count")["y"].columns


@pytest.mark.parametrize(
    ("weights", "error", "said"),
    [
        ("cuont", DataError, "names a column that is not there; did you mean 'count'"),
        ([1, 2], DataError, "has 2 values, and the table has 1,500 rows"),
        (np.full(1500, 0.5), DataError, "holds fractions"),
        (np.full(1500, -1), DataError, "must hold numbers that are 0 or more"),
        (np.r_[np.nan, np.ones(1499)], DataError, "is missing in 1 rows"),
        (np.zeros(1500), DataError, "holds only zeros"),
        (["a"] * 1500, DataError, "must hold numbers"),
        (np.ones((1500, 2)), ParameterError, "one value for each row"),
        ("y", ParameterError, "the target 'y' is also named as groups or weights"),
    ],
)
def test_what_cannot_be_a_weight(tables, weights, error, said):
    with pytest.raises(error, match=said):
        bl.rank(tables[0], "y", sample_weight=weights)


def test_rows_that_are_not_in_memory(tables, tmp_path):
    counted, _ = tables
    for k in range(2):
        counted[k::2].to_parquet(tmp_path / f"{k}.parquet")
    expected = bl.discover(counted, "y", sample_weight="count")
    found = bl.discover(str(tmp_path / "*.parquet"), "y", sample_weight="count")
    assert found.members == expected.members
    assert found.n_rows == expected.n_rows == counted["count"].sum()
    query = bl.SqlTable(f"SELECT * FROM '{tmp_path}/0.parquet'")
    with pytest.raises(ParameterError, match="sample_weight= is not built for engine='sql'"):
        bl.discover(query, "y", sample_weight="count", engine="sql")


def test_survey_weights_answer_for_the_population():
    """Of a population in which x and y are independent, rows with x = y are drawn five times as often."""
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 2, (2, 4000))
    z = y ^ (rng.random(4000) < 0.2)
    drawn = rng.random(4000) < np.where(x == y, 0.5, 0.1)
    table = pd.DataFrame({"x": x, "z": z, "y": y, "w": np.where(x == y, 2.5, 12.5)})[drawn]
    assert bl.discover(table.drop(columns="w"), "y").members == ("x", "z")
    blanket = bl.discover(table, "y", survey_weight="w")
    assert blanket.members == ("z",)
    assert "w" not in blanket.columns
    assert "Rows have the weights of a survey" in repr(blanket)
    found = bl.test(table.drop(columns="w"), "x", "y", survey_weight=table["w"])
    expected = survey_test(*(table[name].to_numpy() for name in "xy"), np.zeros(len(table), int), table["w"].to_numpy())
    assert found.log_p == pytest.approx(expected.log_p, rel=1e-12)
    assert found.method.startswith("weighted table")
    with pytest.raises(NotAnswerableError, match="survey_weight= and missing='weighted' are built for discover"):
        bl.select(table, "y", survey_weight="w")
    with pytest.raises(ParameterError, match="not both"):
        bl.discover(table, "y", survey_weight="w", sample_weight="w")
    with pytest.raises(DataError, match="survey_weight= must hold numbers that are 0 or more"):
        bl.discover(table, "y", survey_weight=-table["w"])
    with pytest.raises(ParameterError, match="test='g' counts every row alike"):
        bl.discover(table, "y", survey_weight="w", test="g")


def test_estimators_take_weights(tables):
    counted, repeated = tables
    columns = ["z", "x", "dose", "gap"]
    for one in (bl.MarkovBlanketSelector(), bl.InformationSelector(k=2)):
        weighted = one.fit(counted[columns], counted["y"], sample_weight=counted["count"]).get_support()
        assert weighted.tolist() == one.fit(repeated[columns], repeated["y"]).get_support().tolist()


def test_weights_are_routed_through_a_pipeline(tables):
    from sklearn import config_context
    from sklearn.pipeline import make_pipeline

    counted, repeated = tables
    columns = ["x", "dose", "gap"]
    with config_context(enable_metadata_routing=True):
        selector = bl.MarkovBlanketSelector().set_fit_request(sample_weight=True)
        pipe = make_pipeline(selector).fit(counted[columns], counted["y"], sample_weight=counted["count"])
    assert pipe[0].blanket_.n_rows == len(repeated)


def test_the_command_line_takes_a_column_of_weights(tables, tmp_path, capsys):
    counted, repeated = tables
    counted.to_csv(tmp_path / "t.csv", index=False)
    assert run(["test", str(tmp_path / "t.csv"), "x", "-t", "y", "--weight", "count", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["n_rows"] == len(repeated)


def test_only_ratios_of_survey_weights_matter(tables):
    """Squares of large weights are infinite, and equal weights are those of a sample drawn at random."""
    rng = np.random.default_rng(1)
    table = tables[1].assign(w=rng.integers(1, 4, len(tables[1])))
    expected = bl.test(table, "z", "y", survey_weight="w").log_p
    for unit in (1e155, 1e-155):
        assert bl.test(table.assign(w=table["w"] * unit), "z", "y", survey_weight="w").log_p == pytest.approx(expected)
    plainly = bl.discover(tables[1], "y")
    assert bl.discover(tables[1], "y", survey_weight=np.full(len(table), 2.5)).members == plainly.members
