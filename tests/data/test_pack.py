"""A table that comes in chunks becomes the codes, levels and report that it would have in memory."""

import errno
import json
import os
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import blankets as bl
from blankets.data import Reading, Store, _chunks, _summary, ingest, open_chunks, pack_chunks
from blankets.data._store_writer import StoreWriter
from blankets.errors import DataError, EngineError, MissingValuesError, ParameterError, ReadingWarning, TargetError


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(_chunks, "MOST_ROWS", 64)
    monkeypatch.setattr(_chunks, "FEWEST_ROWS", 7)
    monkeypatch.setattr(_chunks, "CSV_BLOCK", 600)


def random_table(seed, n):
    """Columns of every kind, with gaps, constants, copies and identifiers among them."""
    rng = np.random.default_rng(seed)
    few = rng.integers(0, rng.integers(1, 30), n)
    texts = np.array(["a", "b", "c", "missing", "é"])[rng.integers(0, 5, n)]
    gaps = rng.random(n) < rng.choice([0, 0.1, 0.5])
    columns = {
        "few": few,
        "copy": few,
        "offset": few - 7,
        "measured": rng.normal(size=n).round(rng.integers(0, 6)),
        "skewed": rng.exponential(size=n) ** 4,
        "gappy": np.where(gaps, np.nan, rng.integers(0, 40, n)),
        "fractions": rng.integers(0, 12, n) / 4,
        "text": texts,
        "gappy text": np.where(rng.random(n) < 0.1, None, texts),
        "flag": rng.random(n) < 0.2,
        "row": np.arange(n) + 100,
        "name": [f"n{i}" for i in range(n)],
        "codes": rng.integers(0, 60, n).astype(str),
        "one": np.full(n, 3),
        "big": rng.integers(0, 10**12, n),
        "kind": pd.Categorical(texts, categories=["é", "b", "a", "c", "missing", "never"]),
        "y": rng.integers(0, 2, n),
    }
    names = rng.permutation(list(columns)).tolist()
    return pd.DataFrame({name: columns[name] for name in names})


def outcome(read):
    """Return what comes of reading: the codes, or the error, and the warnings."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            done = read()
        except DataError as error:
            return type(error), str(error)
    frame = done.frame
    codes = [frame.column(j).tolist() for j in range(frame.n_columns)]
    labels = {name: label for name, label in done.encoder.missing_labels.items() if name in frame.names}
    gaps = None if done.unlabeled is None else done.unlabeled.tolist()
    sentences = [str(warning.message) for warning in said]
    return frame.names, frame.levels, codes, done.target, done.report, labels, gaps, sentences


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    database=None,
)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 400),
    kind=st.sampled_from(["csv", "parquet"]),
    missing=st.sampled_from(["error", "level", "drop"]),
    rule=st.sampled_from(
        ["sturges", "equal-width", "equal-frequency", "supervised", "none", {"big": [5e11], "few": "categorical"}]
    ),
    target=st.sampled_from(["y", "text", "gappy text", "measured", None]),
)
def test_chunks_give_what_memory_gives(tmp_path, seed, n, kind, missing, rule, target):
    if rule == "supervised" and target is None:
        target = "y"
    path = tmp_path / f"table.{kind}"
    table = random_table(seed, n)
    table.to_csv(path, index=False) if kind == "csv" else table.to_parquet(path, index=False)
    reading = {"discretize": rule, "missing": missing, "exclude": ["offset"], "keep": ["one"] if seed % 2 else []}

    def packed():
        store = pack_chunks(open_chunks(path), tmp_path / f"store{seed}", target, reading=Reading.of(reading))
        return ingest(store, target)

    assert outcome(packed) == outcome(lambda: ingest(path, target, reading=Reading.of(reading)))


def test_partitions_may_have_levels_of_their_own(tmp_path):
    pd.DataFrame({"a": ["x", "y"] * 20, "b": [1, 2] * 20}).to_parquet(tmp_path / "1.parquet")
    pd.DataFrame({"b": [2.0, 7.0] * 20, "a": ["z", "x"] * 20}).to_parquet(tmp_path / "2.parquet")
    frame = bl.pack(tmp_path, tmp_path / "store").frame
    assert frame.names == ("a", "b")
    assert frame.levels == (("x", "y", "z"), (1, 2, 7))
    assert frame.column(0).tolist() == [0, 1] * 20 + [2, 0] * 20
    assert frame.column(1).tolist() == [0, 1] * 20 + [1, 2] * 20


def test_types_of_csv_columns_widen_with_the_values(tmp_path):
    rows = 400
    table = pd.DataFrame({"a": ["1"] * rows, "b": ["7"] * rows, "c": [""] * rows, "d": ["1", "2"] * (rows // 2)})
    table.loc[rows - 1, ["a", "b"]] = ["2.5", "word"]
    table.loc[rows - 3 :, "c"] = "5"
    path = tmp_path / "late.csv"
    table.to_csv(path, index=False)
    frame = bl.pack(path, tmp_path / "store", missing="level", keep=["a", "b", "c"]).frame
    assert dict(zip(frame.names, frame.levels, strict=True)) == {
        "a": (1, 2.5),
        "b": ("7", "word"),
        "c": (5, "missing"),
        "d": (1, 2),
    }
    assert frame.column(2).tolist() == [1] * (rows - 3) + [0] * 3


def test_too_many_levels_are_an_identifier(tmp_path, monkeypatch):
    monkeypatch.setattr(_summary, "MOST_LEVELS", 60)
    table = pd.DataFrame({"word": [f"w{i % 70}" for i in range(700)], "y": [0, 1] * 350})
    table.to_parquet(tmp_path / "t.parquet")
    with pytest.warns(bl.errors.IdLikeColumnWarning, match="'word'"):
        assert bl.pack(tmp_path / "t.parquet", tmp_path / "store").frame.names == ("y",)
    with pytest.raises(DataError, match="'word' has more than 60 levels, too many for a table that is read in chunks"):
        bl.pack(tmp_path / "t.parquet", tmp_path / "store", keep=["word"])


# The store


@pytest.fixture
def source(tmp_path):
    pd.DataFrame({"a": [0, 1, 1, 0] * 30, "b": ["u", "v", "v", "v"] * 30}).to_parquet(tmp_path / "t.parquet")
    return tmp_path / "t.parquet"


def test_a_store_is_used_again_until_source_or_settings_change(source, tmp_path, monkeypatch):
    store = tmp_path / "store"
    bl.pack(source, store)
    made = (store / "meta.json").stat().st_ino
    bl.pack(source, store)
    assert (store / "meta.json").stat().st_ino == made
    again = bl.pack(source, store, exclude=[], discretize="equal-width", n_bins=3)
    assert (store / "meta.json").stat().st_ino != made
    pd.DataFrame({"a": [0, 1] * 50, "c": ["u", "v", "v", "v", "u"] * 20}).to_parquet(source)
    renewed = bl.pack(source, store, discretize="equal-width", n_bins=3)
    assert again.frame.names == ("a", "b")
    assert renewed.frame.names == Store.open(store).frame.names == ("a", "c")


def test_nothing_but_a_store_is_replaced(source, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(DataError, match="exists and is not a store; give another path"):
        bl.pack(source, tmp_path / "mine")
    with pytest.raises(DataError, match=r"there is no folder .* to put the store into"):
        bl.pack(source, tmp_path / "no" / "store")
    assert (tmp_path / "mine" / "letter.txt").read_text() == "dear"


def test_a_full_disk_is_an_error_and_leaves_nothing(source, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(DataError, match=r"cannot write the store .*: the disk is full; give a path on another disk"):
        bl.pack(source, tmp_path / "store")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["t.parquet"]


def test_a_disk_that_is_too_small_is_told_before_writing(source, tmp_path, monkeypatch):
    usage = type("usage", (), {"free": 100})
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage)
    with pytest.raises(DataError, match=r"the packed codes need 0\.00 GB, but there are 0\.00 GB left"):
        bl.pack(source, tmp_path / "store")


def test_a_store_holds_as_many_rows_as_can_be_counted(tmp_path):
    with pytest.raises(DataError, match="at most 2,147,483,647 rows, and the table has 2,147,483,648"):
        StoreWriter(tmp_path / "store", 1 << 31, [False])


def test_damaged_stores_are_refused(source, tmp_path):
    store = tmp_path / "store"
    bl.pack(source, store)
    codes = (store / "codes.u8").read_bytes()
    (store / "codes.u8").write_bytes(codes[:-1])
    with pytest.raises(EngineError, match=r"is damaged: 'codes\.u8' has 239 bytes, not 240; pack the table again"):
        Store.open(store)
    (store / "codes.u8").unlink()
    with pytest.raises(EngineError, match=r"lacks its file 'codes\.u8'"):
        Store.open(store)
    meta = json.loads((store / "meta.json").read_text())
    (store / "meta.json").write_text(json.dumps({**meta, "schema": 99}))
    with pytest.raises(DataError, match=r"packed by another version \(schema 99, this one reads 3\)"):
        Store.open(store)
    (store / "meta.json").write_text("{")
    with pytest.raises(DataError, match="is not a store of packed codes"):
        Store.open(store)


# The files


def test_files_with_other_columns_are_refused(source, tmp_path):
    pd.DataFrame({"a": [0, 1], "z": [1, 2]}).to_parquet(tmp_path / "u.parquet")
    with pytest.raises(DataError, match=r"same columns, but .*u\.parquet' lacks 'b' and also has 'z', unlike"):
        bl.pack(tmp_path, tmp_path / "store")


def test_files_with_other_types_are_refused(source, tmp_path):
    pd.DataFrame({"a": ["p", "q"], "b": ["u", "v"]}).to_parquet(tmp_path / "u.parquet")
    said = "'a' holds numbers in some of the rows and texts in others"
    with pytest.warns(ReadingWarning, match=f"Left out: {said}"):
        bl.pack(tmp_path, tmp_path / "store")
    with pytest.raises(DataError, match=said):
        bl.pack(tmp_path, tmp_path / "store", keep=["a"])


def test_files_that_are_not_there_or_not_whole(source, tmp_path):
    with pytest.raises(DataError, match=r"there is no file .*did you mean 't\.parquet'"):
        bl.pack(tmp_path / "tt.parquet", tmp_path / "store")
    with pytest.raises(DataError, match="no file matches"):
        bl.pack(str(tmp_path / "*.csv"), tmp_path / "store")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="has no CSV or Parquet files"):
        bl.pack(tmp_path / "empty", tmp_path / "store")
    source.write_bytes(source.read_bytes()[:-20])
    with pytest.raises(DataError, match=r"t\.parquet' cannot be read"):
        bl.pack(source, tmp_path / "store")
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="not a mixture of CSV and Parquet"):
        bl.pack(tmp_path, tmp_path / "store")
    (tmp_path / "t.csv").write_text("a,b\n1,2\n1,2,3\n")
    with pytest.raises(DataError, match=r"t\.csv' cannot be read: .*Expected 2 columns, got 3"):
        bl.pack(tmp_path / "t.csv", tmp_path / "store")


@pytest.mark.parametrize("what", ["vanishes", "changes"])
def test_a_file_that_vanishes_or_changes_in_the_middle(source, tmp_path, what):
    def meddle(sentence):
        if sentence.startswith("packing: 64") and source.exists():
            source.unlink() if what == "vanishes" else os.utime(source, (1, 1))

    with pytest.raises(DataError, match="there is no file" if what == "vanishes" else "changed while they were read"):
        bl.pack(source, tmp_path / "store", progress=meddle)
    assert not (tmp_path / "store").exists()


def test_what_cannot_be_used_is_said_as_in_memory(source, tmp_path):
    with pytest.raises(TargetError, match="there is no target column 'bb'; did you mean 'b'"):
        bl.pack(source, tmp_path / "store", target="bb")
    with pytest.raises(ParameterError, match="needs a target to look at"):
        bl.pack(source, tmp_path / "store", discretize="supervised")
    pd.DataFrame({"a": [0, None, 1] * 9, "b": ["u", "v", "v"] * 9}).to_parquet(source)
    with pytest.raises(MissingValuesError, match=r"values are missing in 'a' \(9 rows\)"):
        bl.pack(source, tmp_path / "store", missing="error")
    pd.DataFrame({"a": [0], "b": ["u"]}).to_parquet(source)
    with pytest.raises(DataError, match="the table has a single row"):
        bl.pack(source, tmp_path / "store")


def test_progress_is_told_in_rows(source, tmp_path):
    told = []
    bl.pack(source, tmp_path / "store", progress=told.append)
    assert told[0] == "learning levels: 64 rows"
    assert told[-1] == "packing: 120 of 120 rows"


TYPES = {
    "small": lambda v: pa.array(v.astype(np.int8)),
    "whole": lambda v: pa.array(v.astype(np.int64)),
    "floating": lambda v: pa.array(v.astype(float)),
    "text": lambda v: pa.array([f"l{i}" for i in v]),
    "large text": lambda v: pa.array([f"l{i}" for i in v], pa.large_string()),
    "category": lambda v: pa.array([f"l{i}" for i in v]).dictionary_encode(),
    "nothing": lambda v: pa.nulls(len(v)),
}


def of_two_types(folder, first, second, name):
    """Write two files, in which one column is of different types."""
    codes = np.arange(60) % 3
    for k, kind in enumerate((first, second)):
        columns = {"x": pa.array(codes[::-1]), "y": pa.array(codes % 2)} | {name: TYPES[kind](codes)}
        pq.write_table(pa.table(columns), folder / f"part-{k}.parquet")
    return folder


@pytest.mark.parametrize("name", ["x", "y"])
@pytest.mark.parametrize(
    ("first", "second", "levels"),
    [
        ("small", "whole", (0, 1, 2)),
        ("whole", "floating", (0, 1, 2)),
        ("text", "large text", ("l0", "l1", "l2")),
        ("category", "text", ("l0", "l1", "l2")),
    ],
)
def test_files_whose_types_can_be_joined(tmp_path, first, second, levels, name):
    store = bl.pack(of_two_types(tmp_path, first, second, name), tmp_path / "store", target="y")
    at = store.frame.names.index(name)
    assert store.frame.levels[at] == levels
    assert np.array_equal(store.frame.column(at), np.tile(np.arange(60) % 3, 2))


def test_files_whose_types_cannot_be_joined(tmp_path):
    with pytest.raises(TargetError, match="the target 'y' is of type int64 in some of the files and string in others"):
        bl.pack(of_two_types(tmp_path, "whole", "text", "y"), tmp_path / "store", target="y")
    with pytest.raises(DataError, match="column 'x' holds numbers in some of the rows and texts in others"):
        bl.pack(of_two_types(tmp_path, "whole", "text", "x"), tmp_path / "store", target="y")
    with pytest.raises(MissingValuesError, match=r"values are missing in 'x' \(60 rows\)"):
        bl.pack(of_two_types(tmp_path, "whole", "nothing", "x"), tmp_path / "store", target="y", missing="error")


def test_a_file_without_usable_features_is_the_same_by_every_road(tmp_path):
    """'a', 'a ' and ' a' are one value, so that nothing is left to search."""
    path = tmp_path / "t.csv"
    values = [f"{['a', 'a ', ' a'][i % 3]},{['u', 'w'][i * 7 % 2]}\n" for i in range(400)]
    path.write_text("v,y\n" + "".join(values))
    with pytest.warns(bl.errors.ConstantColumnWarning):
        store = bl.pack(path, tmp_path / "s.store", target="y")
    blankets = []
    for source in (path, [path], store):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bl.errors.ConstantColumnWarning)
            blankets.append(bl.discover(source, "y"))
    assert [blanket.members for blanket in blankets] == [()] * 3
    assert [list(blanket.excluded) for blanket in blankets] == [["v"]] * 3
    with pytest.raises(DataError, match="no feature columns besides the target"):
        bl.discover({"y": [0, 1] * 10}, "y")
