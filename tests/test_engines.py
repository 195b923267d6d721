"""The same blanket, wherever the rows are: in memory, on disk, on a cluster, in a database, after a kill."""

import os
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pandas as pd
import pytest

import blankets as bl
from blankets.counting import DaskCounter, DaskTable, MemoryCounter, _dask, connect
from blankets.data import Frame, ingest
from blankets.errors import BlanketsWarning, DataError, EngineError, ParameterError, TargetError
from blankets.study._engine import Place


@pytest.fixture(scope="module")
def table():
    """A target with two parents, a child, a spouse of mixed kinds, and noise."""
    rng = np.random.default_rng(11)
    n = 6000
    a, b, spouse = rng.integers(0, 3, n), rng.normal(size=n), rng.choice(["low", "mid", "high"], n)
    ill = rng.random(n) < 1 / (1 + np.exp(-(a - 1 + 1.5 * b)))
    child = np.where(rng.random(n) < 0.2, rng.integers(0, 2, n), ill ^ (spouse == "low"))
    noise = {f"noise{j}": rng.integers(0, 2 + j, n) for j in range(6)}
    return pd.DataFrame({"a": a, "b": b, "spouse": spouse, "child": child, **noise, "ill": ill})


@pytest.fixture(scope="module")
def folder(table, tmp_path_factory):
    """Return the table in four Parquet files, one of them empty, and one CSV file."""
    folder = tmp_path_factory.mktemp("table")
    for number, (start, stop) in enumerate([(0, 1000), (1000, 1000), (1000, 4500), (4500, 6000)]):
        table.iloc[start:stop].to_parquet(folder / f"part{number}.parquet", index=False)
    return folder


@pytest.fixture(scope="module")
def expected(table):
    return bl.discover(table, "ill", algorithm="hiton-mb", discretize="sturges")


def same(one, two):
    assert one.members == two.members
    assert one.n_rows == two.n_rows
    for part in ("strengths", "decisions", "passed_over"):
        assert one.to_dict()[part] == two.to_dict()[part]
    return True


def test_folders_globs_and_lists_of_files_are_one_table(folder, expected):
    for source in (folder, str(folder / "*.parquet"), sorted(folder.glob("*.parquet"))):
        assert same(bl.discover(source, "ill", algorithm="hiton-mb", discretize="sturges"), expected)


@pytest.mark.parametrize("ending", ["csv", "parquet", "csv.gz"])
def test_a_file_larger_than_the_limit_is_packed_and_nothing_is_left(table, ending, expected, tmp_path, monkeypatch):
    path = tmp_path / f"table.{ending}"
    table.to_parquet(path, index=False) if ending == "parquet" else table.to_csv(path, index=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    told = []
    found = bl.discover(
        path,
        "ill",
        algorithm="hiton-mb",
        discretize="sturges",
        progress=told.append,
        engine=bl.Engine(memory_limit="100 kB"),
    )
    assert same(found, expected)
    assert any("packing: 6,000 of 6,000 rows" in sentence for sentence in told)
    assert list(tmp_path.iterdir()) == [path]
    told.clear()
    bl.discover(path, "ill", progress=told.append, engine=bl.Engine(memory_limit="1 GB"))
    assert not any("packing" in sentence for sentence in told)


def test_a_store_answers_every_question(table, folder, expected, tmp_path):
    store = bl.pack(folder, tmp_path / "store", target="ill")
    assert same(bl.discover(store, "ill", algorithm="hiton-mb", discretize="sturges"), expected)
    assert same(bl.discover(tmp_path / "store", "ill", algorithm="hiton-mb", discretize="sturges"), expected)
    cut = {"discretize": "sturges"}
    assert bl.rank(store, "ill", **cut).table() == bl.rank(table, "ill", **cut).table()
    everything = bl.discover_all(store, ["a", "child"], algorithm="iamb", discretize="sturges")
    by_hand = bl.discover_all(table, ["a", "child"], algorithm="iamb", discretize="sturges")
    assert {t: b.members for t, b in everything.items()} == {t: b.members for t, b in by_hand.items()}


def test_partly_labeled_targets_are_packed_with_their_gaps(table, tmp_path):
    hidden = table.assign(ill=table["ill"].astype(object).where(np.arange(len(table)) % 3 == 0, None))
    hidden.to_parquet(tmp_path / "hidden.parquet", index=False)
    store = bl.pack(tmp_path / "hidden.parquet", tmp_path / "store", target="ill")
    in_memory = bl.discover(hidden, "ill", labels="mcar", algorithm="iamb", discretize="sturges")
    assert same(bl.discover(store, "ill", labels="mcar", algorithm="iamb", discretize="sturges"), in_memory)
    with pytest.raises(TargetError, match="packed for the target 'ill', which is missing in 4000 rows"):
        bl.discover(store, "a")


def test_memory_limits_are_sizes(table):
    with pytest.raises(ParameterError, match="'memory_limit' must be a number of bytes"):
        bl.discover(table, "ill", engine=bl.Engine(memory_limit="much"))


def test_engines_are_checked(table):
    with pytest.raises(ParameterError, match="unknown engine 'dusk'; did you mean 'dask'"):
        bl.discover(table, "ill", engine="dusk")
    with pytest.raises(ParameterError, match="'address' is that of a Dask cluster"):
        bl.discover(table, "ill", engine=bl.Engine(address="tcp://127.0.0.1:1"))
    with pytest.raises(ParameterError, match=r"give the data as bl\.SqlTable"):
        bl.discover(table, "ill", engine="sql")
    with pytest.raises(ParameterError, match="a cluster, a database and checkpoints are for counts"):
        bl.discover(table[["a", "b", "child"]], "b", test="fisher-z", engine="dask")


def test_tall_stores_are_counted_slice_by_slice(folder, expected, tmp_path, monkeypatch):
    monkeypatch.setattr("blankets.study._engine.TALL", 1000)
    monkeypatch.setattr("blankets.counting._partition.FEWEST_ROWS", 700)
    monkeypatch.setattr("blankets.counting._partition.SLICE_BYTES", 1)
    monkeypatch.setattr(MemoryCounter, "summarize", None)  # nobody counts in one piece
    assert same(
        bl.discover(bl.pack(folder, tmp_path / "store"), "ill", algorithm="hiton-mb", discretize="sturges"), expected
    )


# SQL


def test_a_query_is_packed_or_counted_in_place(folder, expected):
    query = bl.SqlTable(f"SELECT * FROM read_parquet('{folder}/*.parquet')")
    assert same(bl.discover(query, "ill", algorithm="hiton-mb", discretize="sturges"), expected)
    assert same(bl.discover(query, "ill", algorithm="hiton-mb", discretize="sturges", engine="sql"), expected)


def test_names_of_columns_are_not_sql(table, expected, tmp_path):
    import duckdb

    odd = {"a": 'a"; DROP TABLE rows; --', "b": "{table}", "child": "sel ect 'x'"}
    renamed = table.rename(columns=odd)
    with duckdb.connect() as connection:
        connection.register("given", renamed)
        connection.execute("CREATE TABLE rows AS SELECT * FROM given")
        found = bl.discover(
            bl.SqlTable("SELECT * FROM rows", connection),
            "ill",
            algorithm="hiton-mb",
            discretize="sturges",
            engine="sql",
        )
        assert connection.execute("SELECT count(*) FROM rows").fetchall() == [(6000,)]
    assert found.members == tuple(odd.get(name, name) for name in expected.members)


def test_what_the_database_says_is_passed_on(tmp_path):
    with pytest.raises(EngineError, match=r"the database says: .*nowhere"):
        bl.SqlTable("SELECT * FROM nowhere")
    with pytest.raises(DataError, match="there is no database"):
        bl.SqlTable("SELECT 1", tmp_path / "none.duckdb")
    with pytest.raises(TargetError, match="there is no target column 'il'; did you mean 'ill'"):
        bl.discover(bl.SqlTable("SELECT range AS ill, 1 AS one FROM range(9)"), "il", engine="sql")
    with pytest.raises(ParameterError, match="filter them in the WHERE of the query"):
        bl.discover(bl.SqlTable("SELECT range % 2 AS ill FROM range(9)"), "ill", engine="sql", missing="drop")
    query = bl.SqlTable("SELECT range % 2 AS ill, range * 99 AS n FROM range(99)")
    with pytest.raises(ParameterError, match="'n' would have to leave the database"):
        bl.discover(query, "ill", engine="sql", discretize="equal-frequency")


# Checkpoints


class Killed(BaseException):
    pass


def test_a_killed_run_continues_and_gives_the_same_blanket(table, expected, tmp_path, monkeypatch):
    path = tmp_path / "run.jsonl"
    count, asked = MemoryCounter.summarize, []

    def summarize(self, *request):
        asked.append(request)
        if len(asked) > deadline:
            raise Killed
        return count(self, *request)

    monkeypatch.setattr(MemoryCounter, "summarize", summarize)
    deadline = 7
    with pytest.raises(Killed):
        bl.discover(table, "ill", algorithm="hiton-mb", discretize="sturges", engine=bl.Engine(checkpoint=path))
    with path.open("ab") as file:
        file.write(b'["half a li')  # killed while writing
    asked.clear()
    deadline = 10**9
    with pytest.warns(BlanketsWarning, match=r"the last line of the checkpoint .* was cut off"):
        assert same(
            bl.discover(table, "ill", algorithm="hiton-mb", discretize="sturges", engine=bl.Engine(checkpoint=path)),
            expected,
        )
    needed = len(asked)
    asked.clear()
    bl.discover(
        table, "ill", algorithm="hiton-mb", discretize="sturges", engine=bl.Engine(checkpoint=tmp_path / "whole.jsonl")
    )
    assert needed == len(asked) - 7
    asked.clear()
    assert same(
        bl.discover(table, "ill", algorithm="hiton-mb", discretize="sturges", engine=bl.Engine(checkpoint=path)),
        expected,
    )
    assert not asked


def test_a_run_that_is_killed_from_outside_continues(table, expected, tmp_path):
    table.to_parquet(tmp_path / "table.parquet", index=False)
    code = """
import os, signal, sys
import blankets as bl
from blankets.counting import Checkpoint
keep, n = Checkpoint.put, []
def put(self, *answer):
    keep(self, *answer)
    n.append(1)
    if len(n) == 9:
        os.kill(os.getpid(), signal.SIGKILL)
Checkpoint.put = put
bl.discover(sys.argv[1], "ill", algorithm="hiton-mb", discretize="sturges", engine=bl.Engine(checkpoint=sys.argv[2]))
"""
    arguments = str(tmp_path / "table.parquet"), str(tmp_path / "run.jsonl")
    killed = subprocess.run([sys.executable, "-c", code, *arguments], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert len((tmp_path / "run.jsonl").read_text().splitlines()) == 1 + 9
    assert same(
        bl.discover(
            arguments[0], "ill", algorithm="hiton-mb", discretize="sturges", engine=bl.Engine(checkpoint=arguments[1])
        ),
        expected,
    )


def test_a_checkpoint_belongs_to_its_data_and_settings(table, tmp_path):
    path = tmp_path / "run.jsonl"
    bl.discover(table, "ill", algorithm="iamb", discretize="sturges", engine=bl.Engine(checkpoint=path))
    with pytest.raises(ParameterError, match=r"belongs to another run \(alpha: 0.01 then, 0.05 now\)"):
        bl.discover(table, "ill", algorithm="iamb", discretize="sturges", alpha=0.05, engine=bl.Engine(checkpoint=path))
    with pytest.raises(ParameterError, match=r"belongs to another run \(data: .* delete it or give another path"):
        bl.discover(table.iloc[1:], "ill", algorithm="iamb", discretize="sturges", engine=bl.Engine(checkpoint=path))
    (tmp_path / "notes.txt").write_text("dear diary\n")
    with pytest.raises(DataError, match="is not a checkpoint; give another path"):
        bl.discover(table, "ill", engine=bl.Engine(checkpoint=tmp_path / "notes.txt"))
    with pytest.raises(DataError, match=r"checkpoint .* cannot be used"):
        bl.discover(table, "ill", engine=bl.Engine(checkpoint=tmp_path / "no" / "run.jsonl"))


# Dask


@pytest.fixture(scope="module")
def cluster():
    """Two worker processes on this machine."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", processes=True) as made:
        yield made


def test_a_cluster_gives_the_same_blanket(cluster, table, folder, expected, tmp_path):
    address = cluster.scheduler_address
    found = bl.discover(
        folder, "ill", algorithm="hiton-mb", discretize="sturges", engine=bl.Engine("dask", address=address)
    )
    assert same(found, expected)
    store = bl.pack(folder, tmp_path / "store")
    assert same(
        bl.discover(
            store, "ill", algorithm="hiton-mb", discretize="sturges", engine=bl.Engine("dask", address=address)
        ),
        expected,
    )
    uncut = bl.discover(store, "ill", algorithm="hiton-mb", engine=bl.Engine("dask", address=address))
    assert same(uncut, bl.discover(table, "ill", algorithm="hiton-mb"))  # rows of numbers come from the store
    hidden = table.assign(ill=table["ill"].astype(object).where(np.arange(len(table)) % 3 == 0, None))
    on_cluster = bl.discover(
        hidden, "ill", labels="mcar", algorithm="iamb", discretize="sturges", engine=bl.Engine("dask", address=address)
    )
    assert same(on_cluster, bl.discover(hidden, "ill", labels="mcar", algorithm="iamb", discretize="sturges"))


def test_a_replaced_column_and_rows_left_out_need_no_second_store(cluster, tmp_path):
    from distributed import Client

    rng = np.random.default_rng(4)
    frame = Frame.from_codes(rng.integers(0, 3, (500, 6)), arities=[3] * 6)
    surrogate, rows = rng.integers(0, 300, 500), rng.random(500) < 0.6
    with Client(cluster.scheduler_address) as client:
        table = DaskTable(client, tmp_path)
        table.counter(frame)
        for changed in (
            frame.with_column("x2", surrogate, tuple(range(300))),
            frame.with_column("new", surrogate % 2, (0, 1)).select([6, 1, 0]),
            frame,
        ):
            for taken in (None, rows):
                counter = table.counter(changed, taken)
                reference = MemoryCounter(changed if taken is None else changed.take(taken))
                assert counter.names == reference.names
                assert counter.n_rows == reference.n_rows
                ours, theirs = next(counter.tables([0], 2, [1])), next(reference.tables([0], 2, [1]))
                assert np.array_equal(ours.counts, theirs.counts)
    assert [path.name for path in tmp_path.iterdir()] == ["table0"]


def test_a_worker_killed_in_mid_run_is_a_warning_and_the_counts_are_the_same(folder, tmp_path):
    store = bl.pack(folder, tmp_path / "store")
    reference = MemoryCounter(store.frame)
    y = store.frame.index("ill")
    xs = [x for x in range(len(reference.names)) if x != y]
    with connect(n_workers=2) as client:
        counter = DaskCounter(client, store, n_blocks=6)
        pids = list(client.run(os.getpid).values())
        rounds = [((), None), ((0,), None), ((0, 1), pids[0]), ((1,), None), ((2,), None)]
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            for given, victim in rounds:
                if victim is not None:
                    os.kill(victim, signal.SIGKILL)
                ours = {x: c for b in counter.tables(xs, y, given) for x, c in zip(b.at, b.counts, strict=True)}
                theirs = {x: c for b in reference.tables(xs, y, given) for x, c in zip(b.at, b.counts, strict=True)}
                for x in ours:
                    levels = min(len(ours[x]), len(theirs[x]))
                    assert np.array_equal(ours[x][:levels], theirs[x][:levels])
                    assert ours[x].sum() == theirs[x].sum() == 6000
    lost = [str(w.message) for w in said if issubclass(w.category, BlanketsWarning)]
    assert len(lost) == 1
    assert "1 Dask worker(s) were lost" in lost[0]


def listening():
    """Where this process and its children wait for connections."""
    import psutil  # comes with distributed

    own = psutil.Process()
    sockets = [socket for each in (own, *own.children(recursive=True)) for socket in each.net_connections("inet")]
    return {tuple(socket.laddr) for socket in sockets if socket.status == psutil.CONN_LISTEN}


def test_a_cluster_of_ones_own_listens_on_this_machine_only():
    before = listening()
    with connect(n_workers=1):
        new = listening() - before
    assert {address for address, _ in new} == {"127.0.0.1"}


def test_a_cluster_that_is_not_there_is_an_error():
    with (
        pytest.raises(EngineError, match=r"there is no Dask cluster at 'tcp://127\.0\.0\.1:9'"),
        connect("tcp://127.0.0.1:9", timeout=1.0),
    ):
        pass


def test_a_worker_that_ends_slowly_does_not_take_the_answer_away(monkeypatch):
    class Slow:
        closed = False

        def close(self):
            self.closed = True
            raise TimeoutError

    monkeypatch.setattr(_dask, "_client", lambda *_: Slow())
    with connect() as client:
        pass
    assert client.closed


def test_a_cluster_whose_workers_see_no_store_says_so(cluster, folder, tmp_path):
    import shutil

    from distributed import Client

    store = bl.pack(folder, tmp_path / "store")
    shutil.move(tmp_path / "store", tmp_path / "elsewhere")
    with Client(cluster.scheduler_address) as client:
        counter = DaskCounter(client, store)
        with pytest.raises(DataError, match="keep stores on a disk that all workers share"):
            list(counter.tables([0], 1))


def test_a_cluster_without_workers_is_given_up(folder, tmp_path, monkeypatch):
    from distributed import LocalCluster

    monkeypatch.setattr("blankets.counting._dask.PATIENCE", 1.0)
    monkeypatch.setattr("blankets.counting._dask.LOOK", 0.2)
    store = bl.pack(folder, tmp_path / "store")
    with LocalCluster(n_workers=0, dashboard_address=":0") as empty, empty.get_client() as client:
        began = time.monotonic()
        with pytest.raises(EngineError, match="has had no workers for 1 seconds"):
            list(DaskCounter(client, store).tables([0], 1))
        assert time.monotonic() - began < 10


def test_importing_the_package_imports_no_engine():
    engines = {"dask", "distributed", "duckdb", "pyarrow"}
    code = f"import sys, blankets.questions.discover; print({engines} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_numbers_are_not_counted():
    frame = ingest({"age": np.linspace(0, 1, 50), "ill": [0, 1] * 25}, "ill", numbers=True).frame
    with pytest.raises(ParameterError, match="this question counts levels, but 'age' are numbers; cut them with"):
        Place().counter(frame)
