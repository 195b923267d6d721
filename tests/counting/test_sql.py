"""Counting in place decides about columns as reading does, and counts the same."""

import numpy as np
import pandas as pd
import pytest

from blankets.counting import MemoryCounter, SqlCounter
from blankets.data import Reading, SqlTable, ingest
from blankets.errors import DataError, MissingValuesError, ParameterError, ReadingWarning, TargetError


@pytest.fixture
def path(tmp_path):
    rng = np.random.default_rng(4)
    n = 700
    table = pd.DataFrame(
        {
            "measured": rng.normal(size=n).round(3),
            "skewed": rng.exponential(size=n) ** 5,
            "gappy": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "few": np.where(rng.random(n) < 0.1, np.nan, rng.integers(0, 4, n) / 2),
            "word": np.where(rng.random(n) < 0.1, None, rng.choice(["nan", "missing", "it's"], n)),
            "whole": rng.integers(-5, 9, n),
            "flag": rng.random(n) < 0.3,
            "row": np.arange(n),
            "one": 1,
            "y": rng.integers(0, 2, n),
        }
    )
    table.to_parquet(tmp_path / "t.parquet", index=False)
    return tmp_path / "t.parquet"


def tables(counter, x, y, given):
    (block,) = counter.tables([x], y, given)
    strata = np.moveaxis(block.counts[0], -1, 0)
    return sorted(table.tolist() for table in strata if table.any())


@pytest.mark.filterwarnings("ignore::blankets.errors.BlanketsWarning")
@pytest.mark.parametrize("rule", ["sturges", {"measured": [-1.0, 0.0, 50.0], "whole": "categorical", "few": [0.7]}])
def test_in_place_and_in_memory_are_the_same(path, rule):
    done = ingest(path, reading=Reading(discretize=rule, missing="level"))
    counter = SqlCounter(SqlTable(f"SELECT * FROM '{path}'"), "y", reading=Reading(discretize=rule, missing="level"))
    assert counter.names == done.frame.names
    assert counter.levels == done.frame.levels
    assert counter.report == done.report
    reference = MemoryCounter(done.frame)
    n = len(counter.names)
    for x in range(n):
        y, z = (x + 1) % n, (x + 2) % n
        assert tables(counter, x, y, [z]) == tables(reference, x, y, [z])


def test_what_cannot_be_counted_in_place(path):
    table = SqlTable(f"SELECT * FROM '{path}'")
    with pytest.raises(MissingValuesError, match="values are missing in 'gappy'"):
        SqlCounter(table, reading=Reading(missing="error"))
    with pytest.raises(TargetError, match="the target 'word' has missing values; where labels are missing, pack"):
        SqlCounter(table, "word")
    with pytest.raises(TargetError, match="the target 'one' has the same value in all rows"):
        SqlCounter(table, "one", reading=Reading(exclude=["gappy", "few", "word"]))
    dated = SqlTable("SELECT range % 2 AS a, DATE '2020-01-01' AS day FROM range(9)")
    with pytest.warns(ReadingWarning, match="Left out: 'day' is of type DATE; convert it to text or numbers"):
        SqlCounter(dated)
    with pytest.raises(DataError, match="'day' is of type DATE; convert it to text or numbers in the query"):
        SqlCounter(dated, reading=Reading(keep=["day"]))
    with pytest.raises(ParameterError, match=r"na= is not built for engine='sql'; write nullif\(column, 'word'\)"):
        SqlCounter(table, reading=Reading(na=["it's"]))
    with pytest.raises(DataError, match="the table has no rows"):
        SqlCounter(SqlTable("SELECT 1 AS a WHERE false"))


def test_a_query_may_end_in_a_comment():
    table = SqlTable("SELECT range % 2 AS a FROM range(9) -- every second one;")
    assert SqlCounter(table).n_rows == 9
