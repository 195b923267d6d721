"""Whole numbers at and beyond 64 bits are kept apart, or refused."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import blankets as bl
from blankets.counting import SqlCounter
from blankets.data import Reading, SqlTable, ingest
from blankets.errors import BlanketsError, DataError, EngineError, ParameterError

THREE = np.arange(300) % 3
T = (THREE > 0).astype(int)
KEEP = Reading(keep=["a"])


@pytest.mark.parametrize("low", [2**63 - 1, 2**63, 2**64 - 3])
@pytest.mark.parametrize(
    "container",
    [
        lambda values: {"a": values, "t": T},
        lambda values: pd.DataFrame({"a": pd.Series(values, dtype="UInt64"), "t": T}),
        lambda values: pl.DataFrame({"a": pl.Series(values, dtype=pl.UInt64), "t": T}),
        lambda values: pa.table({"a": pa.array(values, pa.uint64()), "t": T}),
        lambda values: {"a": np.array(values, np.uint64), "t": T},
    ],
)
def test_numbers_of_64_bits_are_exact(low, container):
    frame = ingest(container([low + int(k) for k in THREE]), "t", reading=KEEP).frame
    assert frame.levels[0] == (low, low + 1, low + 2)
    assert frame.column(0).tolist() == THREE.tolist()


def test_numbers_beyond_64_bits_are_exact_or_refused():
    wide = {"a": [2**70 * int(k) for k in THREE], "t": T}
    assert ingest(wide, "t").frame.levels[0] == (0, 2**70, 2**71)
    near = {"a": [2**64 + int(k) for k in THREE], "t": T}
    assert ingest(near, "t").frame.levels[0] == (2**64, 2**64 + 1, 2**64 + 2)
    assert bl.discover(near, "t", algorithm="iamb").members == ("a",)
    mixed = {"a": [2**53 + 1, 0.5, None] * 100, "t": T}
    assert ingest(mixed, "t", reading=Reading(missing="level")).frame.levels[0] == (0.5, 2**53 + 1, "missing")
    for values in ([2**64 + k for k in range(300)], [10**400 if k else 1 for k in THREE]):
        with pytest.raises(DataError, match="too large to be told apart as numbers; subtract what they have in common"):
            ingest({"a": values, "t": T}, "t")


@pytest.mark.parametrize("arrow", [True, False])
@pytest.mark.parametrize("low", [2**53, 2**63 - 1, 2**63, 2**64, -(2**63) - 9, 10**30])
def test_numbers_in_text_are_exact(low, arrow, tmp_path, monkeypatch):
    monkeypatch.setattr("blankets.data._files.SMALL", -1 if arrow else 2**20)
    values = [low + int(k) for k in THREE]
    write_csv(tmp_path / "t.csv", values)
    frame = ingest(tmp_path / "t.csv", "t", reading=KEEP).frame
    assert frame.levels[0] == (low, low + 1, low + 2)
    assert frame.column(0).tolist() == THREE.tolist()
    packed = bl.pack(tmp_path / "t.csv", tmp_path / "store", target="t").frame  # which reads it in chunks
    assert [int(packed.levels[0][code]) for code in packed.column(0)] == values


@pytest.mark.parametrize("arrow", [True, False])
def test_large_numbers_in_text_that_are_not_whole_are_numbers(arrow, tmp_path, monkeypatch):
    monkeypatch.setattr("blankets.data._files.SMALL", -1 if arrow else 2**20)
    write_csv(tmp_path / "t.csv", ["1e30" if k == 1 else "0.5" for k in THREE])
    assert ingest(tmp_path / "t.csv", "t", reading=KEEP).frame.levels[0] == (0.5, 1e30)
    assert bl.pack(tmp_path / "t.csv", tmp_path / "store").frame.levels[0] == (0.5, 1e30)
    write_csv(tmp_path / "t.csv", [2**64 + k for k in range(300)])
    with pytest.raises(DataError, match="too large to be told apart as numbers; subtract what they have in common"):
        ingest(tmp_path / "t.csv", "t")


def write_csv(path, values):
    path.write_text("a,t\n" + "".join(f"{value},{t}\n" for value, t in zip(values, T, strict=True)))


def test_numbers_of_128_bits():
    values = pl.Series((2**100 * THREE.astype(object)).tolist(), dtype=pl.Int128)
    assert ingest(pl.DataFrame({"a": values, "t": T}), "t").frame.levels[0] == (0, 2**100, 2**101)


def test_files_of_one_table_may_hold_numbers_of_both_signs_or_large_ones(tmp_path):
    y = pa.array([0, 1] * 30)
    small = pa.table({"y": y, "t": pa.array([0, 1, 2] * 20, pa.int8())})
    large = pa.table({"y": y, "t": pa.array([0, 1, 2**63] * 20, pa.uint64())})
    for name, table in (("1", small), ("2", large)):
        pq.write_table(table, tmp_path / f"{name}.parquet")
    assert bl.pack(tmp_path, tmp_path / "store", target="t").frame.levels[1] == (0, 1, 2, 2**63)
    negative = pa.table({"y": y, "t": pa.array([0, -1, 2] * 20, pa.int8())})
    pq.write_table(negative, tmp_path / "1.parquet")
    with pytest.raises(
        DataError,
        match="the target 't' is of type uint64 in some of the files, and others hold numbers that do not fit",
    ):
        bl.pack(tmp_path, tmp_path / "store", target="t")


# The same within a database


@pytest.fixture
def connection():
    duckdb = pytest.importorskip("duckdb")
    made = duckdb.connect()
    made.execute("CREATE TABLE d AS SELECT range % 3 AS a, (range % 3 > 0)::INT AS t, range % 5 AS b FROM range(900)")
    return made


@pytest.mark.parametrize(
    ("expression", "levels"),
    [
        ("CASE a WHEN 0 THEN -0.0::DOUBLE WHEN 1 THEN 0.0::DOUBLE ELSE 1.0::DOUBLE END", (0, 1)),
        ("a::UBIGINT + 18446744073709551000::UBIGINT", tuple(18446744073709551000 + k for k in range(3))),
        ("a::HUGEINT + 170141183460469231731687303715884105000", tuple(2**127 - 728 + k for k in range(3))),
        ("(a / 4)::DECIMAL(9, 3)", (0, 0.25, 0.5)),
    ],
)
def test_levels_in_a_database(connection, expression, levels):
    counter = SqlCounter(SqlTable(f"SELECT {expression} AS a, b, t FROM d", connection), "t")
    assert counter.levels[0] == levels
    (block,) = counter.tables([0], 2)
    by_a = [[300 if (k > 0) == y else 0 for y in (False, True)] for k in range(3)]
    expected = by_a if len(levels) == 3 else [[300, 300], [0, 300]]
    assert block.counts[0, ..., 0].tolist() == expected


def test_a_level_that_appears_midway_is_said(connection):
    counter = SqlCounter(SqlTable("SELECT * FROM d", connection), "t")
    connection.execute("INSERT INTO d VALUES (7, 1, 1)")
    with pytest.raises(EngineError, match="column 'a' has the value '7', which was not there when its levels"):
        list(counter.tables([0], 1))


def test_a_frame_that_is_registered_on_an_open_connection(connection):
    connection.register("mine", pd.DataFrame({"a": THREE, "t": T}))
    table = SqlTable("SELECT * FROM mine", connection)
    assert SqlCounter(table, "t").levels == ((0, 1, 2), (0, 1))
    assert bl.discover(table, "t", algorithm="iamb", engine="sql").members == ("a",)


def test_a_database_is_a_path_or_a_connection(tmp_path):
    with pytest.raises(ParameterError, match="'database' must be the path of a DuckDB file, or an open connection"):
        SqlTable("SELECT 1", 5)
    with pytest.raises(BlanketsError, match="there is no database"):
        SqlTable("SELECT 1", tmp_path / "none.duckdb")


def test_the_fingerprint_of_a_query_sees_its_rows():
    duckdb = pytest.importorskip("duckdb")
    seen = set()
    for order in (1, -1):
        rows = pd.DataFrame({"a": THREE[::order].copy(), "t": T[::order].copy()})
        with duckdb.connect() as made:
            made.register("x", rows)
            seen.add(SqlCounter(SqlTable("SELECT * FROM x", made)).fingerprint)
    assert len(seen) == 1  # the order of rows means nothing
    with duckdb.connect() as made:
        made.register("x", pd.DataFrame({"a": THREE, "t": T[::-1].copy()}))
        seen.add(SqlCounter(SqlTable("SELECT * FROM x", made)).fingerprint)
    assert len(seen) == 2
