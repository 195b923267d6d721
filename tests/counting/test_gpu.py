"""A GPU counts what memory counts, in turns, and says so if it cannot. Simulated where there is none."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numba
import numpy as np
import pytest
from numba import cuda

from blankets.counting import GpuCounter, MemoryCounter, _gpu, gpu_kernels
from blankets.data import Frame, SparseColumns
from blankets.errors import DataError, EngineError, MissingPackageError
from blankets.stats import statistics_of_block
from count_twins import stratified_tables
from small_gpu import small_gpu


@pytest.fixture(autouse=True)
def few_threads(monkeypatch):
    with small_gpu(monkeypatch):
        yield


def random_codes(arities, n_rows, seed=0):
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.integers(0, a, n_rows) for a in arities])


def tables_of(blocks, xs, arities):
    """Return, for each x, its strata with rows in them as a sorted list of tables."""
    found = {}
    for block in blocks:
        for at, counts in zip(block.at, block.counts, strict=True):
            arity = arities[xs[at]]
            assert not counts[arity:].any()
            found[xs[at]] = sorted(t.tolist() for t in np.moveaxis(counts[:arity], -1, 0) if t.any())
    return found


def expected(codes, arities, xs, y, given=()):
    return {x: sorted(t.tolist() for t in stratified_tables(codes, arities, x, y, given)) for x in xs}


@pytest.mark.parametrize("n_rows", [1, 63, 64, 65, 257])
def test_two_three_and_four_levels_by_bits(n_rows):
    arities = [2, 3, 4, 2, 3, 4, 2, 3]
    codes = random_codes(arities, n_rows, n_rows)
    counter = GpuCounter(Frame.from_codes(codes, arities=arities), latency=0)
    for xs, y, given in (([5, 1, 0, 2, 4], 3, []), ([0, 1, 2], 7, [6])):
        assert _gpu._by_bits(4, arities[y] * (2 if given else 1))
        assert tables_of(counter.tables(xs, y, given), xs, arities) == expected(codes, arities, xs, y, given)


def test_one_level_many_levels_and_tables_that_no_block_can_hold():
    arities = [1, 300, 5, 256, 257, 2]
    codes = random_codes(arities, 150)
    counter = GpuCounter(Frame.from_codes(codes, arities=arities), latency=0)
    assert arities[3] * arities[4] > gpu_kernels().SHARED_COUNTS
    for xs, y, given in (([0, 5, 1, 2], 3, []), ([3, 2, 0], 4, []), ([5], 2, [1, 3])):
        assert tables_of(counter.tables(xs, y, given), xs, arities) == expected(codes, arities, xs, y, given)


def test_sparse_columns_next_to_dense_ones_and_columns_left_out():
    rng = np.random.default_rng(5)
    codes = (rng.random((200, 4)) < 0.1) * rng.integers(1, 6, (200, 4))
    where = [np.flatnonzero(column) for column in codes.T]
    stored = [column[at] for column, at in zip(codes.T, where, strict=True)]
    indptr = np.cumsum([0, *map(len, where)])
    block = SparseColumns(indptr, np.concatenate(where).astype(np.int32), np.concatenate(stored).astype(np.uint8), 200)
    frame = Frame(tuple("abcd"), (tuple(range(6)),) * 4, 200, (block,), np.zeros(4, int), np.arange(4))
    label = rng.integers(0, 3, 200)
    frame = frame.with_column("e", label, (0, 1, 2)).select([3, 1, 4, 0])
    seen, arities = np.column_stack([codes[:, 3], codes[:, 1], label, codes[:, 0]]), [6, 6, 3, 6]
    counter = GpuCounter(frame, latency=0)
    assert tables_of(counter.tables([0, 3], 2, [1]), [0, 3], arities) == expected(seen, arities, [0, 3], 2, [1])


def test_many_parts_come_back_in_the_order_of_the_request(monkeypatch):
    monkeypatch.setattr(_gpu, "COPIED_COUNTS", 64)
    monkeypatch.setattr(_gpu, "STAGED_BYTES", 256)
    monkeypatch.setattr(_gpu.memory, "THREADS_WIN_ABOVE", 100)
    arities = np.array([2, 3, 9, 2, 4, 3, 7, 2, 2, 5])
    frame = Frame.from_codes(random_codes(arities, 120), arities=arities)
    counter, reference = GpuCounter(frame, 3, latency=0), MemoryCounter(frame, 1)
    summary = statistics_of_block(120, "g")
    for xs, y, given in (([9, 1, 3, 2, 4, 6], 0, [7]), ([8, 0, 3], 7, [])):
        mine, theirs = counter.summarize(summary, xs, y, given), reference.summarize(summary, xs, y, given)
        assert [values.tolist() for values in mine] == [values.tolist() for values in theirs]


def test_requests_take_turns():
    arities = [2, 3, 4, 2, 300]
    codes = random_codes(arities, 90)
    counter = GpuCounter(Frame.from_codes(codes, arities=arities), latency=0)

    def ask(number):
        xs, y, given = (([0, 1, 4], 2, [3]), ([1, 2], 0, []))[number % 2]
        return tables_of(counter.tables(xs, y, given), xs, arities) == expected(codes, arities, xs, y, given)

    with ThreadPoolExecutor(2) as pool:
        assert all(pool.map(ask, range(4)))
    blocks = counter.tables([0, 1, 4], 2, [3])
    first = next(blocks)
    assert ask(1)  # between two blocks
    assert tables_of([first, *blocks], [0, 1, 4], arities) == expected(codes, arities, [0, 1, 4], 2, [3])


def test_small_requests_are_counted_here(monkeypatch):
    codes = random_codes([2, 3, 4], 90)
    frame = Frame.from_codes(codes, arities=[2, 3, 4])
    counter, on_device = GpuCounter(frame), GpuCounter(frame, latency=0)
    monkeypatch.setattr(GpuCounter, "_prepared", None)
    assert tables_of(counter.tables([0, 2], 1), [0, 2], [2, 3, 4]) == expected(codes, [2, 3, 4], [0, 2], 1)
    summary = statistics_of_block(90, "g")
    assert counter.summarize(summary, [0], 1)[1].tolist() == [2.0]
    assert on_device.summarize(summary, [], 1)[0].tolist() == []
    with pytest.raises(TypeError, match="NoneType"):
        on_device.summarize(summary, [0], 1)


def test_it_travels_as_its_rows():
    codes = random_codes([2, 3], 40)
    counter = pickle.loads(pickle.dumps(GpuCounter(Frame.from_codes(codes, arities=[2, 3]), 3)))
    counter.latency = 0
    assert tables_of(counter.tables([0], 1), [0], [2, 3]) == expected(codes, [2, 3], [0], 1)


def test_data_that_do_not_fit_are_refused_with_sizes(monkeypatch):
    frame = Frame.from_codes(random_codes([2, 3], 40), arities=[2, 3])
    little = SimpleNamespace(get_memory_info=lambda: SimpleNamespace(free=30_000_000))
    monkeypatch.setattr(cuda, "current_context", lambda: little)
    message = (
        r"40 rows of 2 columns take 0\.1 GB on the GPU, of whose memory 0\.0 GB are free; leave out columns, or say"
    )
    with pytest.raises(EngineError, match=message):
        GpuCounter(frame)


def test_tables_that_are_too_large_are_refused(monkeypatch):
    monkeypatch.setattr(_gpu.memory, "MOST_COUNTS", 1000)
    counter = GpuCounter(Frame.from_codes(random_codes([40, 50], 30), arities=[40, 50]), latency=0)
    with pytest.raises(DataError, match=r"the table of 'x0' and 'x1' has 2,000 cells for 30 rows, too many"):
        list(counter.tables([0], 1))


def test_a_gpu_that_is_missing_is_missed(monkeypatch):
    monkeypatch.setattr(cuda, "is_available", lambda: False)
    with pytest.raises(EngineError, match=r"no GPU that CUDA can use on this machine .* say engine='memory'"):
        gpu_kernels()


def test_parts_of_cuda_that_are_missing_are_named(monkeypatch):
    def lost():
        raise RuntimeError('Failure finding "libnvvm.so.4"\nmany more lines')

    monkeypatch.setattr(cuda, "is_available", lost)
    with pytest.raises(EngineError, match=r'not all there \(Failure finding "libnvvm.so.4"\); install it with: pip'):
        gpu_kernels()


def test_a_package_that_is_missing_is_named(monkeypatch):
    monkeypatch.setattr(numba.config, "ENABLE_CUDASIM", 0)
    monkeypatch.setattr(_gpu, "find_spec", lambda name: None)
    with pytest.raises(MissingPackageError, match=r"counting on a GPU needs .*'numba-cuda'.* 'blankets\[gpu\]'"):
        gpu_kernels()
