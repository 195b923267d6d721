"""How a table is read: one object, checked once; what a column is, decided once."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import blankets as bl
from blankets.counting import SqlCounter
from blankets.data import Reading, SqlTable, Summary, decide, ingest, ingest_numeric, open_chunks, pack_chunks
from blankets.data._coding import Coding, LeftOut
from blankets.data._readers import from_any
from blankets.errors import DataError, ParameterError


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"missing": "dorp"}, "unknown policy for missing values 'dorp'"),
        ({"discretize": "sturgess"}, "unknown rule for binning 'sturgess'"),
        ({"discretize": 3}, "'discretize' must be the name of a rule, or a mapping"),
        ({"discretize": {"a": []}}, "'discretize' must be the name of a rule or a list of finite cut points"),
        ({"n_bins": 1, "discretize": "equal-width"}, "'n_bins' must be a whole number of at least 2, but it is 1"),
        ({"n_bins": 3}, "'n_bins' is for the rules 'equal-width' and 'equal-frequency'"),
        ({"exclude": 3}, "'exclude' must be a list of column names"),
        ({"bins": 3}, "there is no argument 'bins'"),
    ],
)
def test_options_are_checked_when_they_are_given(options, message):
    with pytest.raises(ParameterError, match=message):
        Reading.of(options)


def test_a_reading_is_made_of_one_of_a_mapping_or_of_nothing():
    reading = Reading(missing="drop", exclude="id", discretize={"dose": [3, 1]})
    assert Reading.of(reading) is reading
    assert Reading.of({"missing": "drop", "exclude": ["id"], "discretize": {"dose": (1.0, 3.0)}}) == reading
    assert Reading.of(None) == Reading()
    assert Reading().options == {}
    assert reading.options == {"missing": "drop", "exclude": ("id",), "discretize": {"dose": (1.0, 3.0)}}


def test_columns_are_chosen_wherever_a_table_is_read(tmp_path):
    rng = np.random.default_rng(2)
    table = pd.DataFrame(rng.integers(0, 3, (90, 4)), columns=list("abcd"))
    table.to_parquet(tmp_path / "t.parquet")
    chosen = Reading(columns=["b", "a"])
    assert ingest(table, "d", reading=chosen).frame.names == ("a", "b", "d")
    assert ingest_numeric(table, "d", reading=chosen).names == ("a", "b", "d")
    packed = pack_chunks(open_chunks(tmp_path / "t.parquet"), tmp_path / "store", "d", reading=chosen)
    assert packed.frame.names == ("a", "b", "d")
    query = SqlTable(f"SELECT * FROM '{tmp_path / 't.parquet'}'")
    assert SqlCounter(query, "d", reading=chosen).names == ("a", "b", "d")
    with pytest.raises(DataError, match="there is no column 'e'"):
        SqlCounter(query, "d", reading=Reading(columns=["e"]))


def decision(values, parts=1, **options):
    """Decide about a column that comes in so many parts."""
    column = from_any(values)
    summary = Summary.asked("x", Reading(**options), parts=parts > 1)
    for rows in np.array_split(np.arange(len(column)), parts):
        mask = np.zeros(len(column), bool)
        mask[rows] = True
        summary.add(column.take(mask) if parts > 1 else column)
    return decide("x", summary, Reading(**options), lambda: column, keep=False)


@pytest.mark.parametrize("parts", [1, 7])
def test_a_decision_says_what_kind_of_column_it_is(parts):
    rng = np.random.default_rng(8)
    sizes = pd.Categorical(rng.choice(["s", "m", "l"], 200), categories=["s", "m", "l"], ordered=True)
    assert decision(pd.Series(sizes), parts).kind == "ordered"
    assert decision(pa.array(rng.choice(["s", "m"], 200)), parts).kind == "category"
    assert decision(rng.integers(0, 5, 200), parts).kind == "category"
    assert decision(rng.normal(size=200), parts).kind == "number"


@pytest.mark.parametrize("parts", [1, 2, 9])
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.zeros(60), LeftOut.CONSTANT),
        (np.arange(60), LeftOut.IDENTIFIER),
        (np.arange(60)[::-1] * 4, LeftOut.IDENTIFIER),
        (np.arange(60) * 6, Coding),  # within six times their number: chance may have made them all different
        (np.r_[np.arange(59), 0], Coding),  # one occurs twice, perhaps in another part
        ([f"n{k}" for k in range(60)], LeftOut.IDENTIFIER),
        (np.r_[np.ones(59), np.inf], LeftOut.INFINITE),
        (np.r_[np.arange(59) % 3, np.nan], Coding),
    ],
)
def test_the_rules_are_the_same_for_a_column_that_comes_in_parts(values, expected, parts):
    found = decision(values, parts)
    assert found is expected if isinstance(expected, LeftOut) else isinstance(found, expected)


@pytest.mark.parametrize("seed", range(20))
def test_summaries_of_parts_add_up(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 120))
    values = [
        rng.integers(0, rng.integers(1, 60), n),
        rng.normal(size=n).round(int(rng.integers(0, 3))),
        rng.choice(list("abcdefg"), n),
    ][seed % 3]
    one, several = decision(values, missing="level"), decision(values, int(rng.integers(2, 6)), missing="level")
    if isinstance(one, LeftOut):
        assert several is one
    else:
        assert (several.kind, several.levels, several.binning) == (one.kind, one.levels, one.binning)


def test_packing_takes_the_options_of_reading(tmp_path):
    with pytest.raises(ParameterError, match="'n_bins' is for the rules"):
        bl.pack({"a": [0, 1] * 9, "b": [1, 0] * 9}, tmp_path / "store", n_bins=4)
