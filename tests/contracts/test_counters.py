"""One suite over every backend: the same integers, wherever the rows live."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from blankets.counting import (
    Checkpoint,
    DaskCounter,
    MemoryCounter,
    RememberingCounter,
    SlicedCounter,
    SqlCounter,
    _partition,
)
from blankets.data import Frame, Reading, SqlTable, Store, ingest, open_chunks, pack_chunks, pack_ingested
from blankets.stats import statistics_of_block


def levels_of(arities):
    return [tuple(f"v{code:03}" for code in range(arity)) for arity in arities]


MISSING = 299  # in columns of fewer levels: no value


def frame_of(codes, arities):
    gaps = (codes == MISSING) & (np.asarray(arities) <= MISSING)
    columns = np.where(gaps, arities, codes).T
    holes = frozenset(np.flatnonzero(gaps.any(axis=0)).tolist())
    names = [f"x{j}" for j in range(codes.shape[1])]
    return Frame.from_columns(list(columns), names, levels_of(arities), len(codes), holes)


def table_of(codes, arities):
    """Return the same rows as texts."""
    words = np.array([f"v{code:03}" for code in range(300)], object)
    if max(arities) <= MISSING:
        words[MISSING] = None
    return pa.table({f"x{j}": pa.array(words[column].tolist(), pa.string()) for j, column in enumerate(codes.T)})


def cut_points(codes):
    """Return borders of partitions, one of which has no rows."""
    middle = len(codes) // 3
    return [0, middle, middle, len(codes)]


def in_memory(codes, arities, tmp_path, client):
    return MemoryCounter(frame_of(codes, arities), n_jobs=1)


def in_threads(codes, arities, tmp_path, client):
    return MemoryCounter(frame_of(codes, arities), n_jobs=3)


class Partitions(_partition.PartitionedCounter):
    """Frames of the same columns and levels, one after the other, as if they were one."""

    def __init__(self, frames):
        self.names, self.arities = frames[0].names, frames[0].arities
        self.n_rows = sum(frame.n_rows for frame in frames)
        self.holes = frozenset().union(*(frame.holes for frame in frames))
        self.counters = [MemoryCounter(frame) for frame in frames]

    def ask(self, requests):
        arities = [self.arities[list(request.given)] for request in requests]
        return _partition.added([_partition.counted(counter, requests) for counter in self.counters], arities)


def in_partitions(codes, arities, tmp_path, client):
    edges = cut_points(codes)
    return Partitions([frame_of(codes[start:stop], arities) for start, stop in pairwise(edges)])


def in_slices(codes, arities, tmp_path, client):
    return SlicedCounter(frame_of(codes, arities), n_jobs=2, slice_rows=37)


def in_store(codes, arities, tmp_path, client):
    return MemoryCounter(pack_ingested(ingest(frame_of(codes, arities)), tmp_path / "store").frame)


def in_files(codes, arities, tmp_path, client):
    """Partitions with levels of their own, one of them empty, packed into one store."""
    paths = []
    for number, (start, stop) in enumerate(pairwise(cut_points(codes))):
        paths.append(tmp_path / f"{number}.parquet")
        parquet.write_table(table_of(codes[start:stop], arities), paths[-1])
    names = [f"x{j}" for j in range(codes.shape[1])]
    return MemoryCounter(pack_chunks(open_chunks(paths), tmp_path / "packed", reading=Reading(keep=names)).frame)


def on_dask(codes, arities, tmp_path, client):
    store = pack_ingested(ingest(frame_of(codes, arities)), tmp_path / "for_dask")
    return DaskCounter(client, store, n_blocks=len(codes) + 1 if len(codes) < 4 else 3)


def by_sql(codes, arities, tmp_path, client):
    path = tmp_path / "rows.parquet"
    parquet.write_table(table_of(codes, arities), path)
    names = [f"x{j}" for j in range(codes.shape[1])]
    return SqlCounter(SqlTable(f"SELECT * FROM read_parquet('{path}')"), reading=Reading(keep=names))


def remembered(codes, arities, tmp_path, client):
    path = tmp_path / "answers.jsonl"
    path.unlink(missing_ok=True)
    return RememberingCounter(MemoryCounter(frame_of(codes, arities)), Checkpoint(path, {"data": "these"}))


BACKENDS = [in_memory, in_threads, in_partitions, in_slices, in_store, in_files, on_dask, by_sql, remembered]


def levels_in(counter, names):
    """Return the names of the levels of each column."""
    held = getattr(counter, "counter", counter)
    if isinstance(held, SqlCounter):
        return dict(zip(held.names, held.levels, strict=True))
    return names if not isinstance(held, MemoryCounter) else dict(zip(held.names, held.frame.levels, strict=True))


def counted(counter, levels, x, y, conditioning):
    """Return the strata as a sorted list of {(level of x, level of y): rows}."""
    names = counter.names
    found = []
    for block in counter.tables([x], y, conditioning):
        assert block.at.tolist() == [0]
        for stratum in np.moveaxis(block.counts[0], -1, 0):
            there = np.argwhere(stratum)
            pairs = {(levels[names[x]][a], levels[names[y]][b]): int(stratum[a, b]) for a, b in there.tolist()}
            found.append(sorted(pairs.items()))
    return sorted(pairs for pairs in found if pairs)


def expected(codes, x, y, conditioning):
    strata = {}
    for row in codes:
        table = strata.setdefault(tuple(row[list(conditioning)]), {})
        pair = f"v{row[x]:03}", f"v{row[y]:03}"
        table[pair] = table.get(pair, 0) + 1
    return sorted(sorted(table.items()) for table in strata.values())


@st.composite
def random_rows(draw):
    """Few or many rows, skewed, of 2 to 300 levels, some of which no row has."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n_rows, n_columns = draw(st.integers(2, 200)), draw(st.integers(2, 6))
    arities = rng.choice([2, 2, 3, 5, 9, 300], n_columns)
    shown = np.maximum(1, rng.integers(arities // 2, arities + 1))
    codes = np.column_stack([rng.integers(0, s, n_rows) * (rng.random(n_rows) < 0.7) for s in shown])
    return codes, arities


@pytest.fixture(scope="module")
def client():
    from distributed import Client

    with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0") as made:
        yield made


@pytest.mark.filterwarnings("ignore::blankets.errors.ManyLevelsWarning")
@pytest.mark.parametrize("backend", BACKENDS)
def test_counts_are_those_of_the_rows(backend, tmp_path, client):
    @settings(
        max_examples=6 if backend is on_dask else 20,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        database=None,
    )
    @given(random_rows())
    def check(case):
        codes, arities = case
        counter = backend(codes, arities, tmp_path, client)
        names = dict(zip(counter.names, levels_of(arities), strict=True))
        levels = levels_in(counter, names)
        assert counter.n_rows == len(codes)
        rng = np.random.default_rng(len(codes))
        for _ in range(3):
            x, y, *rest = rng.permutation(codes.shape[1]).tolist()
            conditioning = rest[: rng.integers(0, len(rest) + 1)]
            assert counted(counter, levels, x, y, conditioning) == expected(codes, x, y, conditioning)

    check()


@pytest.mark.parametrize("backend", BACKENDS)
def test_rows_without_a_value_are_left_out(backend, tmp_path, client):
    rng = np.random.default_rng(3)
    arities = np.array([2, 3, 40, 7, 2])
    codes = np.column_stack([rng.integers(0, arity, 500) for arity in arities])
    codes[:40] = np.arange(40)[:, None] % arities  # every level occurs
    for j in (0, 2, 3):
        codes[100:][rng.random(400) < 0.3, j] = MISSING
    counter = backend(codes, arities, tmp_path, client)
    levels = levels_in(counter, dict(zip(counter.names, levels_of(arities), strict=True)))
    assert counter.holes == {0, 2, 3}
    assert counter.arities.tolist() == arities.tolist()
    for x, y, conditioning in ((0, 1, []), (1, 0, [2]), (4, 1, [3, 0]), (3, 2, [0, 1]), (1, 4, [0, 2, 3]), (0, 3, [1])):
        seen = codes[(codes[:, [x, y, *conditioning]] != MISSING).all(axis=1)]
        assert counted(counter, levels, x, y, conditioning) == expected(seen, x, y, conditioning)


@pytest.mark.filterwarnings("ignore::blankets.errors.ManyLevelsWarning")
@pytest.mark.parametrize("backend", BACKENDS)
def test_many_candidates_at_once_come_back_in_the_order_of_the_request(backend, tmp_path, client):
    rng = np.random.default_rng(8)
    arities = np.array([2, 300, 3, 7, 2, 40, 5])
    codes = np.column_stack([rng.integers(0, arity, 900) for arity in arities])
    codes[:300] = np.arange(300)[:, None] % arities  # every level occurs
    counter = backend(codes, arities, tmp_path, client)
    reference = MemoryCounter(frame_of(codes, arities))
    summary = statistics_of_block(900, "g")
    for xs, y, conditioning in (([6, 1, 3, 5], 0, [4, 2]), ([5, 0, 2], 6, []), ([0], 4, [1, 5, 6]), ([], 0, [1])):
        ours = counter.summarize(summary, xs, y, conditioning)
        theirs = reference.summarize(summary, xs, y, conditioning)
        for mine, other in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-12)


def test_a_store_is_the_frame_that_was_packed(tmp_path):
    rng = np.random.default_rng(2)
    frame = Frame.from_codes(np.column_stack([rng.integers(0, a, 500) for a in (2, 300, 5)]), arities=[2, 300, 6])
    packed = pack_ingested(ingest(frame), tmp_path / "store")
    again = Store.open(tmp_path / "store").frame
    assert packed.frame.fingerprint() == again.fingerprint() == frame.fingerprint()
