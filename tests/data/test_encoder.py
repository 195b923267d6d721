"""The same levels and cut points on new rows."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from blankets.data import Reading, ingest
from blankets.errors import BlanketsWarning, DataError, MissingValuesError

RNG = np.random.default_rng(5)
N = 200
TABLE = pd.DataFrame(
    {
        "color": RNG.choice(["red", "green", "blue"], N),
        "age": RNG.normal(50, 10, N),
        "t": RNG.choice(["no", "yes"], N),
        "children": RNG.integers(0, 4, N),
        "smoker": RNG.random(N) < 0.3,
    }
)
DONE = ingest(TABLE, "t")


@pytest.mark.parametrize(
    "change", [lambda t: t, pl.from_pandas, lambda t: t[t.columns[::-1]], lambda t: t.assign(new=1)]
)
def test_the_same_rows_get_the_same_codes(change):
    assert DONE.encoder.transform(change(TABLE)).fingerprint() == DONE.frame.fingerprint()


def test_encoders_can_be_pickled():
    encoder = pickle.loads(pickle.dumps(DONE.encoder))
    assert encoder.transform(TABLE).fingerprint() == DONE.frame.fingerprint()


def test_the_target_may_be_absent():
    frame = DONE.encoder.transform(TABLE.drop(columns="t").head(7))
    assert frame.names == ("color", "age", "children", "smoker")
    assert frame.column(0).tolist() == DONE.frame.column(0)[:7].tolist()


def test_values_beyond_the_range_fall_into_the_outer_bins():
    new = TABLE.head(2).assign(age=[-1e9, 1e9])
    frame = DONE.encoder.transform(new)
    assert frame.column(1).tolist() == [0, len(frame.levels[1]) - 1]


def test_new_levels_come_after_the_known_ones():
    new = TABLE.head(4).assign(color=["mauve", "red", "cyan", "mauve"], children=[0, 99, 1, 2])
    with pytest.warns(BlanketsWarning, match=r"not seen before: 'color' \(3 rows\), 'children' \(1 rows\)"):
        frame = DONE.encoder.transform(new)
    assert frame.levels[0] == ("blue", "green", "red", "cyan", "mauve")
    assert frame.column(0).tolist() == [4, 2, 3, 4]
    assert frame.levels[3] == (0, 1, 2, 3, 99)


def test_declared_but_absent_new_levels_are_no_news():
    colors = pd.Categorical(TABLE["color"], categories=["mauve", "red", "green", "blue"])
    assert DONE.encoder.transform(TABLE.assign(color=colors)).levels == DONE.frame.levels


def test_numbers_and_truth_values_are_recognized_in_other_types():
    new = TABLE.astype({"children": float, "smoker": int})
    assert DONE.encoder.transform(new).fingerprint() == DONE.frame.fingerprint()


def test_missing_columns_are_named():
    with pytest.raises(DataError, match="the new rows lack the columns 'color', 'age'; did you mean 'colors'"):
        DONE.encoder.transform(TABLE.drop(columns="age").rename(columns={"color": "colors"}))


def test_gaps_in_new_rows():
    new = TABLE.head(3).assign(color=["red", None, "red"], t=[None, "no", "yes"])
    with pytest.raises(MissingValuesError, match=r"'color' \(1 rows\)"):
        ingest(TABLE, "t", reading=Reading(missing="error")).encoder.transform(new)
    frame = DONE.encoder.transform(new)
    assert frame.levels[0] == ("blue", "green", "red")
    assert (frame.column(0).tolist(), frame.holes) == ([2, 3, 2], {0})
    lenient = ingest(TABLE, "t", reading=Reading(missing="level")).encoder
    with pytest.warns(BlanketsWarning, match=r"'color' \(1 rows\)"):
        frame = lenient.transform(new)
    assert frame.levels[0] == ("blue", "green", "red", "missing")
    assert frame.column(0).tolist() == [2, 3, 2]
    assert frame.column(2).tolist()[1:] == [0, 1]
    gaps = TABLE.assign(color=TABLE["color"].where(TABLE["color"] != "blue"), age=TABLE["age"].where(TABLE["age"] > 40))
    known = ingest(gaps, "t", reading=Reading(missing="level"))
    assert known.encoder.transform(gaps).fingerprint() == known.frame.fingerprint()


def test_bad_new_rows():
    with pytest.raises(DataError, match="column 'age' held numbers before and does not now"):
        DONE.encoder.transform(TABLE.assign(age="old"))
    with pytest.raises(DataError, match=r"infinite values: 'age' \(200\)"):
        DONE.encoder.transform(TABLE.assign(age=np.inf))


def test_matrices_go_by_number():
    matrix = RNG.integers(0, 3, (50, 4))
    beside, within, last = ingest(matrix[:, :3], y=matrix[:, 3]), ingest(matrix, 0), ingest(matrix, 3)
    assert beside.encoder.transform(matrix[:9, :3]).names == ("x0", "x1", "x2")
    assert within.encoder.transform(matrix).fingerprint() == within.frame.fingerprint()
    assert last.encoder.transform(matrix[:, :3]).names == ("x0", "x1", "x2")
    with pytest.raises(
        DataError, match="the new rows have 3 columns, but there were 4; columns are matched by number here"
    ):
        within.encoder.transform(matrix[:, 1:])
    with pytest.raises(DataError, match="the new rows have 4 columns, but there were 3"):
        beside.encoder.transform(matrix)


def test_columns_left_out_are_not_asked_for():
    table = TABLE.assign(constant="x")
    with pytest.warns(BlanketsWarning, match="constant"):
        done = ingest(table, "t")
    assert done.encoder.transform(TABLE).names == DONE.frame.names


def test_more_new_levels_than_a_list_shows():
    table = {f"c{k}": RNG.integers(0, 2, 50) for k in range(10)}
    done = ingest(table)
    with pytest.warns(BlanketsWarning, match=r"'c7' \(1 rows\) and 2 more columns"):
        done.encoder.transform({name: [0, 5] for name in table})


@pytest.mark.parametrize("convert", [lambda t: t, pl.from_pandas, lambda t: pa.table({c: pa.array(t[c]) for c in t})])
def test_no_new_rows_at_all(convert):
    empty = DONE.encoder.transform(convert(TABLE.astype({"color": "category"}).head(0)))
    assert empty.n_rows == 0
    assert empty.levels == DONE.frame.levels


def test_an_arrow_column_without_chunks():
    none = pa.chunked_array([], type=pa.dictionary(pa.int32(), pa.string()))
    done = ingest({"a": ["x", "y", "x"], "t": [0, 1, 1]}, "t")
    assert done.encoder.transform(pa.table({"a": none})).levels == (("x", "y"),)
