"""Every way of storing and counting gives the same integers as the obvious count."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blankets.counting import MemoryCounter, _memory
from blankets.counting._planes import first_planes, planes_of
from blankets.data import Frame, SparseColumns
from count_twins import stratified_tables


def tables_of(counter, xs, y, conditioning):
    """Return, for each x, its strata with rows in them as a sorted list of tables."""
    found = {}
    for block in counter.tables(xs, y, conditioning):
        for at, counts in zip(block.at, block.counts, strict=True):
            arity = counter.arities[xs[at]]
            assert not counts[arity:].any()
            strata = np.moveaxis(counts[:arity], -1, 0)
            found[xs[at]] = sorted(table.tolist() for table in strata if table.any())
    return found


def assert_counts_right(codes, arities, frame, n_jobs=1):
    rng = np.random.default_rng(codes.sum())
    counter = MemoryCounter(frame, n_jobs=n_jobs)
    columns = list(range(codes.shape[1]))
    for _ in range(4):
        y = int(rng.integers(len(columns)))
        others = [x for x in columns if x != y]
        conditioning = rng.permutation(others)[: rng.integers(0, len(others))].tolist()
        xs = [x for x in others if x not in conditioning]
        expected = {x: sorted(t.tolist() for t in stratified_tables(codes, arities, x, y, conditioning)) for x in xs}
        assert tables_of(counter, xs, y, conditioning) == expected


def sparse_frame(codes, arities):
    """Store all columns as sparse ones."""
    where = [np.flatnonzero(column) for column in codes.T]
    block = SparseColumns(
        np.cumsum([0, *map(len, where)]),
        np.concatenate(where).astype(np.int32),
        np.concatenate([column[at] for column, at in zip(codes.T, where, strict=True)]).astype(np.uint8),
        len(codes),
    )
    n = codes.shape[1]
    levels = tuple(tuple(range(a)) for a in arities)
    return Frame(tuple(f"x{j}" for j in range(n)), levels, len(codes), (block,), np.zeros(n, int), np.arange(n))


@st.composite
def random_codes(draw):
    seed, n_rows, n_columns = draw(st.integers(0, 10**6)), draw(st.integers(1, 300)), draw(st.integers(2, 7))
    rng = np.random.default_rng(seed)
    arities = rng.choice([2, 2, 3, 4, 5, 6, 9, 40, 300], n_columns)
    skew = rng.dirichlet(np.full(2, 0.4))
    codes = np.column_stack([rng.integers(0, a, n_rows) * (rng.random(n_rows) < skew[0]) for a in arities])
    return codes, arities


@settings(max_examples=60, deadline=None)
@given(random_codes())
def test_dense_bits_and_wide_columns_count_right(data):
    codes, arities = data
    assert_counts_right(codes, arities, Frame.from_codes(codes, arities=arities))


@settings(max_examples=40, deadline=None)
@given(random_codes())
def test_sparse_columns_count_right(data):
    codes, arities = data
    arities = np.minimum(arities, 200)
    codes = np.minimum(codes, arities - 1)
    assert_counts_right(codes, arities, sparse_frame(codes, arities))


def test_sparse_columns_are_counted_by_bits_in_few_cells_and_as_stored_in_many():
    rng = np.random.default_rng(3)
    codes = (rng.random((3_000, 9)) < 0.02).astype(int) * rng.integers(1, 3, (3_000, 9))
    dense, sparse = Frame.from_codes(codes, arities=[3] * 9), sparse_frame(codes, [3] * 9)
    counter = MemoryCounter(sparse)
    assert (first_planes(sparse) >= 0).all()
    used = []
    for conditioning in ((), (2,), (2, 3), (2, 3, 4)):
        n_cells = 3 ** (1 + len(conditioning))
        used.append(n_cells <= counter._cells_of_sparse)
        assert tables_of(counter, [0, 5, 6], 1, conditioning) == tables_of(
            MemoryCounter(dense), [0, 5, 6], 1, conditioning
        )
    assert used[0]
    assert not used[-1]


def test_very_sparse_columns_have_no_bit_planes():
    codes = np.zeros((5_000, 3), int)
    codes[[3, 70, 4_999], [0, 1, 2]] = 1
    frame = sparse_frame(codes, [2, 2, 2])
    assert first_planes(frame).tolist() == [-1, -1, -1]
    assert tables_of(MemoryCounter(frame), [0, 1], 2, []) == {0: [[[4_998, 1], [1, 0]]], 1: [[[4_998, 1], [1, 0]]]}


def test_planes_hold_the_rows_of_each_level_in_chunks():
    rng = np.random.default_rng(8)
    codes = rng.integers(0, 3, (70_001, 2))
    frame = Frame.from_codes(codes, arities=[3, 3])
    planes, totals = planes_of(frame, first_planes(frame))
    assert len(planes) == 3  # of at most 32,768 rows
    bits = np.unpackbits(planes.transpose(1, 0, 2).reshape(5, -1).view(np.uint8), axis=1, bitorder="little")
    for plane, (column, level) in enumerate([(0, 1), (0, 2), (1, 1), (1, 2)]):
        assert np.flatnonzero(bits[plane]).tolist() == np.flatnonzero(codes[:, column] == level).tolist()
        assert totals[plane] == np.count_nonzero(codes[:, column] == level)
    assert not bits[4].any()  # that of constant columns
    assert totals[4] == 0


def test_mixed_storage_and_a_replaced_target():
    rng = np.random.default_rng(0)
    arities = np.array([2, 3, 300, 2, 4])
    codes = np.column_stack([rng.integers(0, a, 400) for a in arities])
    frame = Frame.from_codes(codes, arities=arities)
    new = rng.integers(0, 3, 400)
    codes[:, 3], arities[3] = new, 3
    assert_counts_right(codes, arities, frame.with_column("x3", new, (0, 1, 2)))


@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_many_blocks_and_threads_give_the_same_numbers(monkeypatch, storage):
    monkeypatch.setattr(_memory, "BLOCK_COUNTS", 64)
    monkeypatch.setattr(_memory, "THREADS_WIN_ABOVE", 0)
    rng = np.random.default_rng(1)
    arities = rng.choice([2, 3, 7], 40)
    codes = np.column_stack([rng.integers(0, a, 500) * (rng.random(500) < 0.3) for a in arities])
    frame = sparse_frame(codes, arities) if storage == "sparse" else Frame.from_codes(codes, arities=arities)
    assert_counts_right(codes, arities, frame, n_jobs=4)

    def total(counts):
        return counts.sum(axis=(1, 2, 3)).astype(float), (counts.astype(float) ** 2).sum(axis=(1, 2, 3))

    xs = list(range(2, 40))
    one, four = (MemoryCounter(frame, n_jobs=n).summarize(total, xs, 0, [1]) for n in (1, 4))
    assert [a.tolist() for a in one] == [a.tolist() for a in four]
    assert one[0].tolist() == [500.0] * len(xs)


def test_rows_across_word_and_chunk_borders():
    for n_rows in (1, 63, 64, 65, 8191, 8192, 8193, 32_769):
        rng = np.random.default_rng(n_rows)
        codes = rng.integers(0, 3, (n_rows, 3))
        assert_counts_right(codes, [3, 3, 3], Frame.from_codes(codes, arities=[3, 3, 3]))


def test_a_set_of_a_hundred_variables_needs_one_number_a_row():
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 3, (50, 102))
    counter = MemoryCounter(Frame.from_codes(codes, arities=[3] * 102))
    (block,) = counter.tables([0], 1, list(range(2, 102)))
    assert block.counts.sum() == 50
    assert block.counts.shape[-1] <= 50  # observed strata only, not 3^100


def test_order_of_the_given_columns_does_not_matter():
    codes = np.random.default_rng(4).integers(0, 4, (200, 5))
    counter = MemoryCounter(Frame.from_codes(codes))
    one, other = (next(iter(counter.tables([0], 1, z))).counts for z in ([2, 3, 4], [4, 2, 3]))
    assert (one == other).all()


def test_no_candidates_no_tables():
    counter = MemoryCounter(Frame.from_codes([[0, 1], [1, 0]]))
    assert list(counter.tables([], 0)) == []
