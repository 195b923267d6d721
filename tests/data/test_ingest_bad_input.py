"""What a good statistician's assistant says about bad tables."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from blankets.data import Frame, Reading, ingest
from blankets.errors import (
    ConstantColumnWarning,
    DataError,
    DuplicateColumnWarning,
    IdLikeColumnWarning,
    ManyLevelsWarning,
    MissingValuesError,
    ParameterError,
    ReadingWarning,
    TargetError,
    TooFewRowsWarning,
)

RNG = np.random.default_rng(7)
N = 400
GOOD = {"a": RNG.integers(0, 3, N), "b": RNG.integers(0, 2, N), "t": RNG.integers(0, 2, N)}


# Size and names


@pytest.mark.parametrize("table", [pd.DataFrame(), pl.DataFrame(), {}, np.empty((3, 0))])
def test_no_columns(table):
    with pytest.raises(DataError, match="the table has no columns"):
        ingest(table)


@pytest.mark.parametrize(("n", "said"), [(0, "no rows"), (1, "a single row")])
def test_too_few_rows(n, said):
    with pytest.raises(DataError, match=f"the table has {said}"):
        ingest(pd.DataFrame(GOOD).head(n), "t")


def test_target_only():
    with pytest.raises(DataError, match="no feature columns besides the target"):
        ingest({"t": [0, 1]}, "t")
    with pytest.raises(DataError, match=r"no feature columns$"):
        ingest({"t": [0, 1]}, reading=Reading(exclude=["t"]))


def test_duplicate_names_are_told_with_their_positions():
    frame = pd.DataFrame([[0, 1, 0], [1, 0, 1]], columns=["a", "b", "a"])
    with pytest.raises(DataError, match=r"'a' \(columns 0 and 2\) occur more than once; rename"):
        ingest(frame, "b")


def test_names_that_are_not_texts():
    frame = pd.DataFrame([[0, 1], [1, 0]], columns=["a", 5])
    with pytest.raises(DataError, match=r"not text: 5; rename them.*df.columns = \[str\(name\)"):
        ingest(frame, "a")


def test_odd_names_are_fine():
    names = ["größe in cm", "<b>bold</b>", "=1+1", "", "x;y"]
    frame = pd.DataFrame(RNG.integers(0, 2, (50, 5)), columns=names)
    assert ingest(frame, "<b>bold</b>").frame.names == tuple(names)


# Target


def test_unknown_target_suggests_the_nearest():
    with pytest.raises(TargetError, match=r"no target column 'readmited'; did you mean 'readmitted'.*the columns are"):
        ingest({"readmitted": [0, 1], "age": [0, 1]}, "readmited")
    with pytest.raises(TargetError, match=r"give one column by its name, but this is a list: \['a'\]; for several tar"):
        ingest({"a": [0, 1], "b": [0, 1]}, ["a"])
    with pytest.raises(TargetError, match="no column number 7; the table has columns 0 to 1"):
        ingest(np.eye(2), 7)
    with pytest.raises(
        TargetError, match="no column 1; columns of this table are called by name: the columns are 'a', 'b', 't'"
    ):
        ingest(GOOD, 1)


def test_constant_target():
    with pytest.raises(TargetError, match="the target 't' has the same value in all rows"):
        ingest(GOOD | {"t": ["yes"] * N}, "t")
    with pytest.raises(TargetError, match="the target 't' has the same value in all rows"):
        ingest(GOOD | {"t": np.full(N, 2.5)}, "t", reading=Reading(discretize={"t": "equal-width"}, n_bins=3))


@pytest.mark.parametrize("column", [[None] * N, np.full(N, np.nan), pl.Series([None] * N, dtype=pl.String)])
def test_target_without_values(column):
    with pytest.raises(TargetError, match="the target 't' is missing in all of the 400 rows"):
        ingest(GOOD | {"t": column}, "t")


@pytest.mark.parametrize(
    "column", [[f"patient {k}" for k in range(N)], np.arange(N)[::-1], [f"p{k // 4}" for k in range(N)]]
)
def test_target_like_an_identifier(column):
    with pytest.raises(TargetError, match=r"has \d+ classes in 400 labeled rows, like an identifier"):
        ingest(GOOD | {"t": column}, "t")


def test_small_data_may_have_several_classes():
    assert ingest({"a": [0, 1, 0, 1, 1, 0], "t": list("uvwuvw")}, "t").frame.arities.tolist() == [2, 3]


def test_many_classes_are_warned_of():
    with pytest.warns(ManyLevelsWarning, match="the target 't' has 60 classes"):
        ingest(GOOD | {"t": [f"c{k % 60}" for k in range(N)]}, "t")


def test_infinite_target():
    with pytest.raises(TargetError, match="the target 't' is infinite in 2 rows"):
        ingest(GOOD | {"t": np.r_[np.inf, -np.inf, np.zeros(N - 2)]}, "t")


@pytest.mark.parametrize("missing", ["error", "level", "drop"])
def test_rows_without_a_label_are_marked_and_not_refused(missing):
    labels = [None if k % 3 == 0 else "no" if k % 3 == 1 else "yes" for k in range(N)]
    done = ingest(GOOD | {"t": labels}, "t", reading=Reading(missing=missing))
    assert done.frame.n_rows == N
    assert done.frame.levels[2] == ("no", "yes")
    assert done.unlabeled is not None
    assert np.array_equal(done.unlabeled, np.arange(N) % 3 == 0)
    assert done.frame.column(2)[1::3].max() == 0
    assert done.frame.column(2)[2::3].min() == 1
    assert set(done.frame.column(2)[::3].tolist()) == {0}
    assert done.report.unlabeled == 134
    assert done.report.missing == {}


def test_one_class_beside_rows_without_a_label_is_let_through():
    done = ingest(GOOD | {"t": ["yes" if k % 2 else None for k in range(N)]}, "t")
    assert done.frame.levels[2] == ("yes",)
    assert done.unlabeled is not None
    assert done.unlabeled.sum() == 200


def test_continuous_target_is_binned_and_its_gaps_are_kept():
    y = np.linspace(0, 8, 16)
    y[3] = np.nan
    done = ingest({"a": [0, 1] * 8, "t": y}, "t", reading=Reading(discretize={"t": [2.0, 4.0]}))
    assert done.frame.levels[1] == ("< 2", "[2, 4)", ">= 4")
    assert done.unlabeled is not None
    assert np.flatnonzero(done.unlabeled).tolist() == [3]
    assert done.report.binned["t"].rule == "given"


# y beside the table


def test_y_takes_its_own_name_or_a_free_one():
    features = {"a": GOOD["a"], "b": GOOD["b"]}
    assert ingest(features, y=pd.Series(GOOD["t"], name="cured")).frame.names == ("a", "b", "cured")
    assert ingest(features, y=pl.Series("cured", GOOD["t"])).frame.names == ("a", "b", "cured")
    assert ingest(features, y=pd.DataFrame({"cured": GOOD["t"]})).frame.names == ("a", "b", "cured")
    assert ingest(features, y=pd.DataFrame({0: GOOD["t"]})).frame.names == ("a", "b", "0")
    assert ingest(features, y=pl.DataFrame({"cured": GOOD["t"]})).frame.names == ("a", "b", "cured")
    assert ingest(features, y=GOOD["t"]).frame.names == ("a", "b", "target")
    assert ingest(features, y=GOOD["t"][:, np.newaxis]).frame.names == ("a", "b", "target")
    done = ingest({"target": GOOD["a"], "y": GOOD["b"]}, y=GOOD["t"].tolist())
    assert done.frame.names == ("target", "y", "target_0")
    assert done.target == 2
    assert np.array_equal(done.frame.column(2), GOOD["t"])


def test_y_of_another_length():
    with pytest.raises(DataError, match="y has 3 rows, the table has 400"):
        ingest(GOOD, y=[0, 1, 0])


def test_y_that_is_also_in_the_table():
    table = pd.DataFrame(GOOD)
    with pytest.raises(DataError, match=r"y is called 't', and the table has such a column too.*exclude=\['t'\]"):
        ingest(table, y=table["t"])
    assert ingest(table, y=table["t"], reading=Reading(exclude=["t"])).frame.names == ("a", "b", "t")


def test_y_that_is_no_column():
    with pytest.raises(ParameterError, match=r"y is the target itself, an array; .* use target='t'"):
        ingest(GOOD, y="t")
    with pytest.raises(ParameterError, match="not both"):
        ingest(GOOD, "t", y=GOOD["t"])
    with pytest.raises(TargetError, match="y must be one column, but it has 2"):
        ingest(GOOD, y=np.zeros((N, 2)))
    with pytest.raises(TargetError, match="y must be one column, but it is a ndarray"):
        ingest(GOOD, y=np.zeros((N, 1, 1)))
    with pytest.raises(TargetError, match="y must be one column, but it is a int"):
        ingest(GOOD, y=1)
    with pytest.raises(TargetError, match="the target 'target' mixes kinds"):
        ingest({"a": [0, 1, 1]}, y=[0, "a", 1])


# Columns that are left out


def test_constant_columns_are_left_out():
    with pytest.warns(ConstantColumnWarning, match="single value, or none: 'c', 'd'$"):
        done = ingest(GOOD | {"c": np.ones(N), "d": ["x"] * N}, "t")
    assert done.frame.names == ("a", "b", "t")
    assert done.report.constant == ("c", "d")
    assert done.report.left_out == {"c": "it has a single value, or none", "d": "it has a single value, or none"}
    assert ingest(GOOD | {"c": np.ones(N)}, "t", reading=Reading(keep=["c"])).frame.names == ("a", "b", "t", "c")


def test_a_constant_with_gaps_is_informative_only_as_a_level():
    column = [None if k % 5 == 0 else "x" for k in range(N)]
    assert ingest(GOOD | {"c": column}, "t", reading=Reading(missing="level")).frame.levels[3] == ("x", "missing")
    with pytest.warns(ConstantColumnWarning, match="'c'"):
        assert ingest(GOOD | {"c": column}, "t", reading=Reading(missing="drop")).frame.n_rows == N
    with pytest.warns(ConstantColumnWarning, match="'c'"):
        assert ingest(GOOD | {"c": column}, "t").frame.n_columns == 3


def test_one_warning_for_all_columns():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ingest(GOOD | {f"c{k}": np.full(N, k) for k in range(30)}, "t")
    assert len(caught) == 1
    assert "'c7' and 22 more" in str(caught[0].message)


def test_duplicate_columns_are_left_out_but_the_first():
    copies = {"a2": GOOD["a"], "a3": np.array(["x", "y", "z"])[GOOD["a"]], "b2": GOOD["b"]}
    with pytest.warns(DuplicateColumnWarning, match=r"'a2', 'a3' \(same as 'a'\), 'b2' \(same as 'b'\)"):
        done = ingest(GOOD | copies, "t")
    assert done.frame.names == ("a", "b", "t")
    assert done.report.duplicates == {"a": ("a2", "a3"), "b": ("b2",)}
    assert done.report.left_out["a3"] == "it repeats 'a'"
    assert ingest(GOOD | {"a2": GOOD["a"]}, "t", reading=Reading(keep=["a2"])).frame.names == ("a", "b", "t", "a2")


def test_many_groups_of_duplicates_in_one_warning():
    columns = {f"c{k}": RNG.integers(0, 2, N) for k in range(10)}
    with pytest.warns(DuplicateColumnWarning, match=r"'d7' \(same as 'c7'\) and copies of 2 further columns"):
        done = ingest(columns | {f"d{k}": columns[f"c{k}"] for k in range(10)})
    assert done.report.lines()[-1] == "Left out too, copies of 2 further columns."


def test_scaled_copies_are_duplicates_after_binning_and_are_not_reported_as_binned():
    celsius = RNG.normal(20, 5, N)
    with pytest.warns(DuplicateColumnWarning, match=r"'fahrenheit' \(same as 'celsius'\)"):
        done = ingest(GOOD | {"celsius": celsius, "fahrenheit": celsius * 2 + 32}, "t")
    assert set(done.report.binned) == {"celsius"}


def test_a_copy_of_the_target_is_kept_and_told():
    with pytest.warns(DuplicateColumnWarning, match=r"equal to the target in all rows: 'leak'.*exclude=\[...\]"):
        done = ingest(GOOD | {"leak": np.array(["n", "y"])[GOOD["t"]]}, "t")
    assert done.frame.names == ("a", "b", "t", "leak")
    assert done.report.copies_of_target == ("leak",)


def test_identifiers_are_left_out():
    columns = {"name": [f"Mr {k}" for k in range(N)], "row": np.arange(1, N + 1), "shuffled": RNG.permutation(N) * 1.0}
    with pytest.warns(IdLikeColumnWarning, match=r"'name', 'row', 'shuffled'; keep=\[...\] keeps them"):
        done = ingest(GOOD | columns, "t")
    assert done.frame.names == ("a", "b", "t")
    assert done.report.id_like == ("name", "row", "shuffled")


def test_whole_measurements_are_no_identifiers():
    income = RNG.permutation(np.arange(N)) * 97 + 12_000  # all different, but spread out
    repeated = np.r_[0, np.arange(N - 1)]  # dense, but not all different
    done = ingest(GOOD | {"income": income, "repeated": repeated}, "t")
    assert set(done.report.binned) == {"income", "repeated"}


def test_keep_forces_identifiers():
    with pytest.warns(ManyLevelsWarning, match=r"'name' \(400 levels\)"):
        done = ingest(GOOD | {"name": [f"Mr {k}" for k in range(N)]}, "t", reading=Reading(keep=["name"]))
    assert done.frame.arities[3] == N
    assert (
        ingest(GOOD | {"row": np.arange(N)}, "t", reading=Reading(keep=["row"])).report.binned["row"].rule == "sturges"
    )
    with pytest.raises(DataError, match="no column 'nmae'; did you mean 'name'"):
        ingest({"name": [0, 1], "t": [0, 1]}, reading=Reading(keep=["nmae"]))


def test_ten_thousand_levels():
    levels = [f"z{k:04}" for k in range(10_000)]
    few_rows = np.repeat(levels, 3)
    binary = RNG.integers(0, 2, (2, 60_000))
    with pytest.warns(IdLikeColumnWarning, match="'zip'"):
        ingest({"zip": few_rows, "a": binary[0, :30_000], "t": binary[1, :30_000]}, "t")
    enough = np.tile(levels, 6)
    with pytest.warns(ManyLevelsWarning, match=r"few tests will be reliable: 'zip' \(10000 levels\)"):
        done = ingest({"zip": enough, "a": binary[0], "t": binary[1]}, "t")
    assert done.report.many_levels == {"zip": 10_000}
    assert np.array_equal(done.frame.column(0), np.tile(np.arange(10_000), 6))


# Values


def test_missing_values_are_an_error_that_names_columns_and_choices():
    gaps = {"c": [None, *"xy" * 199, "x"], "d": np.r_[np.nan, np.nan, GOOD["a"][2:]]}
    with pytest.raises(
        MissingValuesError,
        match=r"missing in 'c' \(1 rows\), 'd' \(2 rows\); choose missing='testwise'.*missing='drop'.*missing='level'",
    ):
        ingest(GOOD | gaps, "t", reading=Reading(missing="error"))


def test_missing_values_are_holes():
    gaps = {"c": [None, *"xy" * 199, "x"], "d": np.r_[np.nan, np.nan, np.linspace(0, 9, N - 2)]}
    done = ingest(GOOD | gaps, "t")
    c, d = (done.frame.index(name) for name in "cd")
    assert done.frame.holes == {c, d}
    assert done.frame.levels[c] == ("x", "y")
    assert done.frame.column(c)[:3].tolist() == [2, 0, 1]
    assert np.flatnonzero(done.frame.gaps(d)).tolist() == [0, 1]
    assert (done.report.missing, done.report.complete_rows, done.report.n_rows) == ({"c": 1, "d": 2}, N - 2, N)
    assert any(f"{N - 2} rows are complete" in line for line in done.report.lines())
    new = done.encoder.transform(GOOD | gaps)
    assert new.holes == done.frame.holes
    assert new.fingerprint() == done.frame.fingerprint()


def test_a_level_for_missing_values_says_what_it_does():
    done = ingest(GOOD | {"c": [None, *"xy" * 199, "x"]}, "t", reading=Reading(missing="level"))
    assert any("what it confounds stays confounded" in line for line in done.report.lines())


def test_dropping_most_rows_is_told_loudly():
    gaps = {"c": [None] * 250 + ["x", "y"] * 75}
    with pytest.warns(TooFewRowsWarning, match="has deleted 250 of 400 rows"):
        ingest(GOOD | gaps, "t", reading=Reading(missing="drop"))


def test_missing_values_dropped():
    gaps = {"c": [None, *"xy" * 199, "x"], "d": np.r_[np.nan, np.nan, GOOD["a"][:1:-1]]}
    done = ingest(GOOD | gaps, "t", reading=Reading(missing="drop"))
    assert done.frame.n_rows == N - 2
    assert done.report.dropped_rows == 2
    assert done.report.missing == {"c": 1, "d": 2}
    assert np.array_equal(done.frame.column(2), GOOD["t"][2:])
    assert "2 of 400 rows were deleted for missing values in 'c', 'd'." in done.report.lines()


def test_a_column_that_cannot_be_used_is_left_out_unless_it_was_named():
    table = GOOD | {"c": [1, "x"] * 200, "d": [[1]] * N}
    for missing in ("drop", "testwise"):
        with pytest.warns(ReadingWarning, match=r"Left out: 'c' mixes kinds of values: .*; convert the column"):
            done = ingest(table, "t", reading=Reading(missing=missing, exclude="d"))
        assert done.frame.names == ("a", "b", "t")
        assert set(done.report.unusable) == {"c"}
        assert done.report.left_out["c"].startswith("it mixes kinds")
    for named in ({"keep": ["c"]}, {"columns": ["a", "c"]}, {"discretize": {"c": "sturges"}}, {"ordered": ["c"]}):
        with pytest.raises(DataError, match="column 'c' mixes kinds"):
            ingest({name: table[name] for name in "abct"}, "t", reading=Reading(**named))
    with pytest.raises(DataError, match="column 'd' is nested"):
        ingest({"d": table["d"], "t": GOOD["t"]}, "t")  # nothing else is left


def test_columns_left_out_anyway_do_not_cost_rows():
    cabin = [f"cabin {k}" if k % 2 else None for k in range(N)]
    with pytest.warns(IdLikeColumnWarning, match="cabin"):
        done = ingest(GOOD | {"cabin": cabin}, "t", reading=Reading(missing="drop"))
    assert done.frame.n_rows == N


def test_dropping_nearly_all_rows():
    with pytest.raises(DataError, match="missing='drop' leaves 0 of 4 rows; choose missing='testwise'"):
        ingest(
            {"a": [None, 1, None, 2], "b": [1, None, 2, None], "t": [0, 1, 0, 1]}, "t", reading=Reading(missing="drop")
        )


def test_the_missing_level_gets_another_name_if_its_own_is_taken():
    reading = Reading(missing="level", na=[])
    done = ingest({"a": ["missing", None, "x", "x"], "t": [0, 1, 1, 1]}, "t", reading=reading)
    assert done.frame.levels[0] == ("missing", "x", "(missing)")


def test_a_missing_level_beside_bins():
    values = np.r_[np.linspace(0, 1, 39), np.nan]
    done = ingest(
        {"a": values, "t": [0, 1] * 20}, "t", reading=Reading(missing="level", discretize="equal-width", n_bins=2)
    )
    assert done.frame.levels[0] == ("< 0.5", ">= 0.5", "missing")
    assert np.bincount(done.frame.column(0)).tolist() == [19, 20, 1]
    assert done.report.lines()[1].startswith("Missing is a level of 'a'. Given such a column, rows without a value")


@pytest.mark.parametrize("missing", ["error", "level", "drop"])
def test_columns_with_infinite_values_are_left_out_unless_they_were_named(missing):
    table = GOOD | {"c": np.r_[np.inf, -np.inf, np.nan, GOOD["a"][3:]]}
    with pytest.warns(ReadingWarning, match="Left out: 'c' holds infinite values in 2 rows; replace them or mark them"):
        assert ingest(table, "t", reading=Reading(missing=missing)).frame.names == ("a", "b", "t")
    with pytest.raises(DataError, match=r"infinite values: 'c' \(2\)"):
        ingest(table, "t", reading=Reading(missing=missing, keep=["c"]))


@pytest.mark.parametrize("values", [pd.Series(GOOD["t"]), np.array(GOOD["t"]), list(GOOD["t"])])
@pytest.mark.parametrize("table", [pd.DataFrame(GOOD), np.zeros((N, 2))])
def test_values_where_a_name_is_meant(table, values):
    with pytest.raises(
        TargetError, match=f"but this is a {type(values).__name__} of values; if the target is not in the table"
    ):
        ingest(table, values)


def test_names_that_differ_to_the_machine_only():
    table = {"caf\u00e9": GOOD["t"], "Age ": GOOD["t"], "wage": GOOD["t"]}
    with pytest.raises(TargetError, match=r"there is no target column 'cafe\u0301'; did you mean 'caf\\xe9'\?"):
        ingest(table, "cafe\u0301")
    with pytest.raises(TargetError, match=r"did you mean 'Age '\?"):
        ingest(table, "age")


def test_all_problems_are_told_together():
    bad = {
        "when": [[1], [2]] * 200,
        "then": [[1], [2]] * 200,
        "mix": [1, "x"] * 200,
        "far": np.r_[np.inf, np.zeros(N - 1)],
        "gap": [None, "x"] + ["y"] * (N - 2),
        "t": ["same"] * N,
    }
    with pytest.raises(DataError) as caught:
        ingest(GOOD | bad, "t", reading=Reading(missing="error", keep=["when", "then", "mix", "far"]))
    message = str(caught.value)
    assert type(caught.value) is DataError
    assert message.startswith("the table cannot be used as it is:\n- the target 't' has the same value")
    assert "- each of the columns 'when', 'then' is nested" in message
    assert "- column 'mix' mixes kinds" in message
    assert "- infinite values: 'far' (1)" in message
    assert "- values are missing in 'gap' (1 rows)" in message
    assert message.count("\n- ") == 5


# Arguments


def test_unknown_policies_and_rules():
    with pytest.raises(ParameterError, match="unknown policy for missing values 'levels'; did you mean 'level'"):
        ingest(GOOD, "t", reading=Reading(missing="levels"))
    with pytest.raises(ParameterError, match="unknown rule for binning 'sturgis'; did you mean 'sturges'"):
        ingest(GOOD, "t", reading=Reading(discretize="sturgis"))
    with pytest.raises(ParameterError, match="unknown rule for binning 'categorical'"):
        ingest(GOOD, "t", reading=Reading(discretize="categorical"))
    with pytest.raises(ParameterError, match="unknown rule for binning 'mdlp'"):
        ingest(GOOD, "t", reading=Reading(discretize={"a": "mdlp"}))
    with pytest.raises(ParameterError, match="'discretize' names 'bb', which is not a column; did you mean 'b'"):
        ingest(GOOD, "t", reading=Reading(discretize={"bb": "sturges"}))
    with pytest.raises(ParameterError, match="'n_bins' must be a whole number of at least 2, but it is 1"):
        ingest(GOOD, "t", reading=Reading(discretize="equal-width", n_bins=1))
    with pytest.raises(ParameterError, match="'n_bins' is for the rules 'equal-width' and 'equal-frequency'"):
        ingest(GOOD, "t", reading=Reading(n_bins=4))
    with pytest.raises(ParameterError, match="'exclude' names the target 't'"):
        ingest(GOOD, "t", reading=Reading(exclude=["t"]))


def test_columns_and_exclude():
    assert ingest(GOOD, "t", reading=Reading(columns=["b"])).frame.names == ("b", "t")
    assert ingest(GOOD, "t", reading=Reading(exclude=["b"])).frame.names == ("a", "t")
    assert ingest(np.eye(4), 0, reading=Reading(columns=[2, 3])).frame.names == ("x0", "x2", "x3")
    with pytest.raises(DataError, match="no column 'aa'; did you mean 'a'"):
        ingest(GOOD, "t", reading=Reading(columns=["aa"]))


def test_report_as_data_and_as_sentences():
    import json

    table = pd.DataFrame(GOOD | {"age": RNG.normal(50, 10, N), "c": "x"})
    table["grade"] = pd.Categorical(["b"] * 200 + ["a"] * 200, categories=["a", "b", "z"])
    with pytest.warns(ConstantColumnWarning):
        report = ingest(table, "t").report
    plain = json.loads(json.dumps(report.to_dict()))
    assert plain["n_rows"] == N
    assert plain["n_columns"] == 5
    assert plain["n_columns_given"] == 6
    assert plain["constant"] == ["c"]
    assert plain["unused_levels"] == {"grade": ["z"]}
    assert plain["binned"]["age"]["rule"] == "sturges"
    assert report.lines() == [
        "400 rows and 5 columns are used.",
        "Left out, a single value or none: 'c'.",
        "Continuous, cut into bins by the rule 'sturges': 'age'.",
        "Declared levels that no row has: in 'grade'.",
    ]


def test_no_target_at_all():
    done = ingest(GOOD)
    assert done.target is None
    assert done.unlabeled is None
    assert isinstance(done.frame, Frame)
    assert done.frame.names == ("a", "b", "t")


def test_a_target_of_more_than_256_classes():
    classes = np.arange(1600) % 300
    with pytest.warns(ManyLevelsWarning, match="the target 't' has 300 classes"):
        done = ingest({"a": np.arange(1600) % 7, "t": classes.astype(str)}, "t")
    assert np.array_equal(np.array(done.frame.levels[1])[done.frame.column(1)], classes.astype(str))
