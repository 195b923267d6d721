"""Files are written whole: what a killed process leaves is swept, and files of others are not."""

import os
import signal
import sys
import threading
import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import blankets as bl
from blankets.errors import DataError
from blankets.records import write_whole


def test_old_parts_of_the_same_file_are_swept(tmp_path):
    names = [
        ".r.json.0123456789abcdef.part",
        ".r.json.fedcba9876543210.part",
        ".r.json.mine.part",
        ".s.json.0123456789abcdef.part",
    ]
    for name in names:
        (tmp_path / name).write_text("{")
        os.utime(tmp_path / name, (0, 0))
    os.utime(tmp_path / names[1])  # another process may be at work
    write_whole(tmp_path / "r.json", "{}")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*names[1:], "r.json"])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_a_killed_process_leaves_the_old_file_or_the_new_one(tmp_path):
    path, texts = tmp_path / "r.json", {letter * 200_000 for letter in "ab"}
    write_whole(path, "a" * 200_000)
    rng = np.random.default_rng(0)
    for _ in range(20):
        child = os.fork()
        if child == 0:
            while True:
                for text in texts:
                    write_whole(path, text)
        time.sleep(float(rng.random() * 0.02))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        assert path.read_text() in texts
    for part in tmp_path.glob(".*.part"):
        os.utime(part, (0, 0))
    write_whole(path, "{}")
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]


@pytest.mark.parametrize("description", [b'{"index_columns": [', b"\xff\xfe", b"[1]", b'{"index_columns": 5}'])
def test_a_parquet_file_whose_description_by_pandas_is_damaged(description, tmp_path):
    table = pa.Table.from_pandas(pd.DataFrame({"a": [0, 1] * 50, "t": [0, 0, 1, 1] * 25}))
    parquet.write_table(table.replace_schema_metadata({b"pandas": description}), tmp_path / "t.parquet")
    with pytest.raises(DataError, match="damaged where pandas describes its columns"):
        bl.discover(tmp_path / "t.parquet", "t")


@pytest.mark.parametrize("kind", [pa.ArrowNotImplementedError, pa.ArrowKeyError, pa.ArrowTypeError, pa.ArrowException])
def test_whatever_arrow_says_of_a_damaged_file_is_passed_on(kind, tmp_path, monkeypatch):
    def fails(self, *args, **options):
        raise kind("Integers of 65 bits")

    pd.DataFrame({"a": [0, 1] * 50, "t": [0, 0, 1, 1] * 25}).to_parquet(tmp_path / "t.parquet")
    for place in ("__init__", "read"):
        monkeypatch.setattr(parquet.ParquetFile, place, fails)
        with pytest.raises(DataError, match=r"t\.parquet' cannot be read: .*Integers of 65 bits"):
            bl.discover(tmp_path / "t.parquet", "t")
        monkeypatch.undo()


def test_a_parquet_file_whose_columns_are_shorter_than_it_says(tmp_path, monkeypatch):
    pd.DataFrame({"a": [0, 1] * 50, "t": [0, 0, 1, 1] * 25}).to_parquet(tmp_path / "t.parquet")
    whole = parquet.ParquetFile.read
    monkeypatch.setattr(parquet.ParquetFile, "read", lambda self, **options: whole(self, **options).slice(4))
    with pytest.raises(DataError, match=r"t\.parquet' is damaged: column 't' has 96 rows, the file says 100"):
        bl.discover(tmp_path / "t.parquet", "t")


@pytest.mark.skipif(sys.platform != "linux", reason="folders change names in one step on Linux only")
def test_a_store_that_is_replaced_is_there_at_any_moment(tmp_path):
    tables = [{"a": [0, 1] * 50, "t": [0, 0, 1, 1] * 25}, {"b": [0, 1] * 50, "t": [0, 0, 1, 1] * 25}]
    path, stop, seen = tmp_path / "store", threading.Event(), set()
    bl.pack(tables[0], path)

    def look():
        while not stop.is_set():
            seen.add((path / "meta.json").exists())

    thread = threading.Thread(target=look)
    thread.start()
    for number in range(60):
        bl.pack(tables[number % 2], path)
    stop.set()
    thread.join()
    assert seen == {True}
    assert [each.name for each in tmp_path.iterdir()] == ["store"]


def test_arrays_of_every_numpy_are_read():
    blanket = bl.discover({"a": [0, 1] * 50, "b": [0, 1, 1, 0, 1] * 20, "t": [0, 0, 1, 1] * 25}, "t")
    assert bl.Blanket.from_json(blanket.to_json()).to_json() == blanket.to_json()
