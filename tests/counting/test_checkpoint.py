"""A checkpoint keeps answers of its own data only, and replaces nothing that is not one."""

import json
import os
import stat
import warnings

import numpy as np
import pandas as pd
import pytest

import blankets as bl
from blankets.counting import Checkpoint
from blankets.errors import BlanketsError, BlanketsWarning, DataError, EngineError


@pytest.fixture
def path(tmp_path):
    kept = Checkpoint(tmp_path / "run.jsonl", {"data": "abc"})
    for k in range(5):
        kept.put(f"question {k}", (np.array([k, k / 2]), np.array([float(k)])))
    return tmp_path / "run.jsonl"


def again(path):
    return Checkpoint(path, {"data": "abc"})


def test_answers_come_back_as_they_were(path):
    kept = again(path)
    assert len(kept) == 5
    assert [part.tolist() for part in kept.get("question 3")] == [[3.0, 1.5], [3.0]]


@pytest.mark.parametrize(
    "content", ['{"precious": [1, 2, 3]}', "dear diary", "\n", "a\nb\n", '{"about": {"data": "abc"}}\n']
)
def test_a_file_that_is_not_ours_stays_as_it_is(tmp_path, content):
    file = tmp_path / "results.json"
    file.write_text(content)
    with pytest.raises(DataError, match="is not a checkpoint; give another path"):
        again(file)
    assert file.read_text() == content


def test_what_is_not_a_file_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path):
        with pytest.raises(DataError, match="is not a file; give another path"):
            again(path)


@pytest.mark.parametrize("cut", [1, 5, 40])
def test_a_last_line_that_was_cut_off_is_dropped_and_said(path, cut):
    content = path.read_bytes()
    path.write_bytes(content[:-cut])
    with pytest.warns(BlanketsWarning, match=r"the last line of the checkpoint .* was cut off"):
        kept = again(path)
    assert len(kept) == 4
    kept.put("question 4", (np.array([4.0, 2.0]), np.array([4.0])))
    assert path.read_bytes() == content


def test_a_first_line_that_was_cut_off_is_written_again(path):
    content = path.read_bytes()
    for cut in (0, 1, 20):
        path.write_bytes(content[:cut])
        assert len(again(path)) == 0
        assert path.read_bytes() == content.splitlines(keepends=True)[0]


def test_every_flipped_bit_is_seen(path):
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    clean = {key: [part.tolist() for part in again(path).get(key)] for key in again(path)._known}
    for at in rng.choice(len(content), 150, replace=False):
        damaged = bytearray(content)
        damaged[at] ^= 1 << int(rng.integers(0, 8))
        path.write_bytes(damaged)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                kept = again(path)
            except (DataError, EngineError):
                assert path.read_bytes() == damaged
                continue
        assert "was cut off" in str(said[0].message)
        found = {key: [part.tolist() for part in kept.get(key)] for key in kept._known}
        assert found == dict(list(clean.items())[: len(found)])
        assert len(found) >= 3  # a line break that is gone makes one line of two


def test_a_damaged_line_is_named(path):
    lines = path.read_bytes().splitlines(keepends=True)
    lines[2] = lines[2].replace(b"question", b"Question")
    path.write_bytes(b"".join(lines))
    with pytest.raises(EngineError, match="is damaged in line 3; delete it or give another path"):
        again(path)


def test_checkpoints_are_private(path):
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def written(path, source, seed):
    duckdb = pytest.importorskip("duckdb")
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 2, (2, 5000))
    cause = {"a": a, "b": b}[source]
    frame = pd.DataFrame({"a": a, "b": b, "t": np.where(rng.random(5000) < 0.2, 1 - cause, cause)})
    with duckdb.connect(str(path)) as made:
        made.register("d", frame)
        made.execute("CREATE OR REPLACE TABLE x AS SELECT * FROM d")


def test_a_checkpoint_of_a_database_that_has_changed_is_refused(tmp_path):
    database, kept = tmp_path / "q.duckdb", tmp_path / "q.jsonl"

    def ask(**options):
        table = bl.SqlTable("SELECT * FROM x", database)
        try:
            return bl.discover(table, "t", engine=bl.Engine("sql", **options)).members
        finally:
            table._connection.close()

    written(database, "a", 1)
    assert ask(checkpoint=kept) == ask(checkpoint=kept) == ("a",)
    written(database, "b", 2)
    assert ask() == ("b",)
    with pytest.raises(BlanketsError, match=r"belongs to another run \(data: "):
        ask(checkpoint=kept)


def test_a_first_line_is_one_of_json_after_its_checksum(path):
    checksum, _, text = path.read_text().splitlines()[0].partition(" ")
    assert len(checksum) == 8
    assert json.loads(text)["about"]["data"] == "abc"
