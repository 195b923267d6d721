"""A store is private, replaces nothing but a store, and is refused if it is damaged."""

import json
import os
import pickle
import signal
import stat
import subprocess
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest

import blankets as bl
from blankets.counting._dask import StoredRows
from blankets.data import Store, is_store
from blankets.data._store import checksum, signed
from blankets.data._store_writer import StoreWriter
from blankets.errors import BlanketsError, DataError, EngineError


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    wide = rng.integers(0, 300, 3000)
    return {
        "wide": np.array([f"k{i}" for i in wide]),
        "b": wide % 3,
        "c": rng.integers(0, 3, 3000),
        "t": ((wide % 3 > 0) ^ (rng.random(3000) < 0.1)).astype(int),
    }


@pytest.fixture
def store(table, tmp_path):
    with pytest.warns(bl.errors.ManyLevelsWarning):
        return bl.pack(table, tmp_path / "store", target="t").path


def test_a_folder_of_the_users_is_not_replaced_whatever_its_files_are_called(table, tmp_path):
    mine = tmp_path / "study"
    mine.mkdir()
    (mine / "meta.json").write_text('{"author": "me"}')
    (mine / "thesis.txt").write_text("three years of work")
    assert not is_store(mine)
    with pytest.raises(DataError, match="exists and is not a store; give another path"):
        bl.pack({"b": table["b"], "t": table["t"]}, mine)
    assert sorted(p.name for p in mine.iterdir()) == ["meta.json", "thesis.txt"]


def test_a_store_with_other_files_in_it_is_not_replaced(store, table):
    (store / "thesis.txt").write_text("three years of work")
    with pytest.raises(DataError, match=r"also holds 'thesis\.txt', which would be lost"):
        bl.pack({"b": table["b"], "t": table["t"]}, store)
    (store / "thesis.txt").unlink()
    assert bl.pack({"b": table["b"], "t": table["t"]}, store).frame.names == ("b", "t")


def test_a_link_stays_and_what_it_leads_to_is_replaced(store, table, tmp_path):
    (tmp_path / "link").symlink_to(store)
    bl.pack({"b": table["b"], "t": table["t"]}, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert Store.open(store).frame.names == ("b", "t")
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(DataError, match="cannot write the store"):
        bl.pack({"b": table["b"], "t": table["t"]}, loop)


def test_stores_are_private(store):
    assert stat.S_IMODE(store.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in store.iterdir()} == {0o600}


def test_a_store_pickles_as_its_path(store):
    content = pickle.dumps(Store.open(store))
    assert len(content) < 200 + len(str(store))
    assert pickle.loads(content).frame.fingerprint() == Store.open(store).frame.fingerprint()


def changed(path, at, value, dtype=np.uint8):
    codes = np.fromfile(path, dtype)
    codes[at] = value
    codes.tofile(path)


@pytest.mark.parametrize(
    ("file", "dtype", "value"),
    [("codes.u8", np.uint8, 255), ("codes.i32", np.int32, 2_000_000_000), ("codes.i32", np.int32, -1)],
)
def test_a_code_beyond_its_levels_is_never_counted(store, file, dtype, value):
    changed(store / file, 7, value, dtype)
    with pytest.raises(EngineError, match=r"is damaged: the codes of .* are not those that were packed"):
        bl.discover(store, "t", algorithm="iamb")
    with pytest.raises(EngineError, match="has codes beyond its levels"):
        StoredRows(str(store), 0, 100).load()


def test_a_code_that_could_be_one_is_seen_by_the_sum(store):
    codes = np.fromfile(store / "codes.u8", np.uint8)
    changed(store / "codes.u8", 11, (codes[11] + 1) % 2)
    with pytest.raises(EngineError, match="is damaged: the codes of 'b' are not those"):
        Store.open(store).frame  # noqa: B018


def test_codes_that_change_places_are_seen_by_the_hash(store):
    codes = np.fromfile(store / "codes.u8", np.uint8)
    words = codes.view(np.uint32)
    first = next(k for k in range(1, 700) if words[k] != words[0])
    words[[0, first]] = words[[first, 0]]
    codes.tofile(store / "codes.u8")
    assert Store.open(store).frame.n_rows == 3000
    with pytest.raises(EngineError, match="is damaged: the codes of 'b' are not those"):
        Store.open(store).verify()


@pytest.mark.parametrize("seed", range(10))
def test_a_sum_is_that_of_whole_numbers_in_any_number_of_bytes(seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 256, int(rng.integers(0, 40))).astype(np.uint8)
    content = codes.tobytes() + b"\0" * (-len(codes) % 4)
    words = [int.from_bytes(content[k : k + 4], "little") for k in range(0, len(content), 4)]
    assert checksum(5, codes) == (5 * 1_000_003 + sum(words)) % (2**61 - 1)


def edited(meta, change):
    change(meta)
    return meta


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.update(n_rows=3001),
        lambda m: m.update(n_rows="3000"),
        lambda m: m.update(n_rows=-1),
        lambda m: m["columns"][1].update(at=99),
        lambda m: m["columns"][1].update(at=-1),
        lambda m: m["columns"][0].update(wide=False),
        lambda m: m["columns"][1].update(name="wide"),
        lambda m: m["columns"].pop(),
        lambda m: m["columns"][1].update(levels=[{"a": 1}, 2, 3]),
        lambda m: m["columns"][1].update(levels=[]),
        lambda m: m["columns"][1].update(digest="zz"),
        lambda m: m["columns"][1].update(digest="00"),
        lambda m: m["columns"][1].pop("sum"),
        lambda m: m.update(target="nobody"),
        lambda m: m.update(report=None),
        lambda m: m["report"].update(n_columns=9),
        lambda m: m.update(gaps=True),
        lambda m: m.pop("fingerprint"),
    ],
)
def test_a_description_that_is_not_as_it_was_written_is_refused(store, change):
    meta = json.loads((store / "meta.json").read_text())
    del meta["hash"]
    (store / "meta.json").write_bytes(signed(json.dumps(edited(meta, change)).encode()))
    with pytest.raises(EngineError, match=r"is damaged: .*; pack the table again"):
        Store.open(store)


def test_a_name_that_has_become_another_one_is_seen(store):
    text = (store / "meta.json").read_text()
    (store / "meta.json").write_text(text.replace('"wide"', '"wade"', 1))
    with pytest.raises(EngineError, match=r"'meta.json' is not as it was written; pack the table again"):
        Store.open(store)


@pytest.mark.parametrize("change", ["cut off", "written to", "replaced"])
@pytest.mark.parametrize("mapped", [False, True])
def test_a_store_that_changes_while_it_is_open(tmp_path, monkeypatch, change, mapped):
    """A file that is cut off while it is mapped would end the process; one that is written to changes answers."""
    if mapped:
        monkeypatch.setattr("blankets.data._store.MAPPED", 0)
    rng = np.random.default_rng(0)
    table = {"a": rng.integers(0, 3, 5000), "t": rng.integers(0, 2, 5000)}
    bl.pack(table, tmp_path / "s")
    store = bl.Store.open(tmp_path / "s")
    before = bl.test(store, "a", "t")
    codes = tmp_path / "s" / "codes.u8"
    if change == "replaced":
        bl.pack({"a": [0, 1] * 20, "t": [0, 1, 1, 0] * 10}, tmp_path / "s")
    elif change == "cut off":
        os.truncate(codes, 100)
    else:
        with codes.open("r+b") as file:
            file.write(bytes(4000))
            os.utime(file.fileno(), ns=(0, 0))
    if mapped and change != "replaced":
        with pytest.raises(EngineError, match=r"'codes\.u8' has changed since it was opened; pack the table again"):
            bl.test(store, "a", "t")
    else:
        assert bl.test(store, "a", "t").log_p == before.log_p


def test_rows_without_a_label_that_are_others_are_seen(tmp_path):
    bl.pack({"a": [0, 1] * 50, "t": [0, 1, None, 1] * 25}, tmp_path / "s", target="t")
    marks = np.fromfile(tmp_path / "s" / "unlabeled.u8", np.uint8)
    assert marks.tolist() == [0, 0, 1, 0] * 25
    np.roll(marks, 1).tofile(tmp_path / "s" / "unlabeled.u8")
    with pytest.raises(EngineError, match=r"what 'unlabeled.u8' says of rows has changed; pack the table again"):
        Store.open(tmp_path / "s")


@pytest.mark.parametrize("seed", range(40))
def test_bytes_that_are_flipped_give_our_errors_or_the_same_codes(store, seed):
    rng = np.random.default_rng(seed)
    clean = Store.open(store).frame
    codes = [clean.column(j).tolist() for j in range(clean.n_columns)]
    path = store / rng.choice(["meta.json", "codes.u8", "codes.i32"])
    content = bytearray(path.read_bytes())
    for at in rng.integers(0, len(content), int(rng.integers(1, 4))):
        content[at] ^= 1 << int(rng.integers(0, 8))
    path.write_bytes(content[: len(content) - int(rng.integers(0, 2))])
    try:
        frame = Store.open(store).verify().frame
    except BlanketsError:
        return
    assert [frame.column(j).tolist() for j in range(frame.n_columns)] == codes


def test_threads_that_pack_to_one_path_do_not_mix_their_stores(tmp_path):
    rng = np.random.default_rng(0)
    tables = [{f"c{i}": rng.integers(0, 3, 20_000) for i in range(4)} for _ in range(2)]
    expected = [bl.pack(table, tmp_path / f"alone{k}").frame.fingerprint() for k, table in enumerate(tables)]
    for _ in range(15):
        together = [threading.Thread(target=bl.pack, args=(table, tmp_path / "store")) for table in tables * 2]
        for thread in together:
            thread.start()
        for thread in together:
            thread.join()
        assert Store.open(tmp_path / "store").verify().frame.fingerprint() in expected
    assert sorted(path.name for path in tmp_path.iterdir()) == ["alone0", "alone1", "store"]


def test_what_a_killed_writer_leaves_is_swept(tmp_path):
    table = pd.DataFrame({"a": np.arange(4000) % 3, "b": np.arange(4000) % 2})
    table.to_parquet(tmp_path / "t.parquet")
    code = """
import sys, time
import blankets as bl
def slow(sentence):
    if sentence.startswith("packing"):
        print("now", flush=True)
        time.sleep(60)
bl.pack(sys.argv[1], sys.argv[2], progress=slow)
"""
    arguments = [sys.executable, "-c", code, str(tmp_path / "t.parquet"), str(tmp_path / "store")]
    writer = subprocess.Popen(arguments, stdout=subprocess.PIPE)
    assert writer.stdout.readline().strip() == b"now"
    bl.pack(table, tmp_path / "store")  # does not touch what somebody is writing
    assert len(list(tmp_path.glob(".store.*.part"))) == 1
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    writer.stdout.close()
    bl.pack(table.iloc[1:], tmp_path / "store")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["store", "t.parquet"]


def test_a_store_that_was_about_to_be_replaced_comes_back(store, table, tmp_path):
    os.rename(store, tmp_path / ".store.xyz.old")  # killed between two steps
    with StoreWriter(store, 5, [False]):
        assert Store.open(store).verify().frame.n_rows == 3000


@pytest.mark.parametrize("path", ["a\0b", "x" * 300])
def test_paths_that_cannot_be(path, table):
    with pytest.raises(BlanketsError):
        bl.pack({"b": table["b"], "t": table["t"]}, path)
    with pytest.raises(BlanketsError):
        bl.discover(f"{path}.csv", "t")


def test_a_source_that_has_changed_is_packed_again_even_if_its_times_are_the_same(tmp_path):
    source = tmp_path / "t.csv"
    source.write_text("a,b\n" + "0,1\n1,0\n" * 50)
    state = source.stat()
    first = bl.pack(source, tmp_path / "store")
    time.sleep(0.02)
    source.write_text("a,b\n" + "1,1\n0,0\n" * 50)
    os.utime(source, ns=(state.st_atime_ns, state.st_mtime_ns))
    second = bl.pack(source, tmp_path / "store", keep=["b"])
    assert first.fingerprint != second.fingerprint
    assert second.frame.column(0).tolist() == [1, 0] * 50
