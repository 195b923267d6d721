"""The frame itself."""

import numpy as np
import pytest

from blankets.data import DenseColumns, Frame, SparseColumns
from blankets.errors import DataError

CODES = np.array([[0, 2, 1], [1, 0, 1], [0, 1, 0], [1, 2, 1]])


def test_codes_names_and_arities():
    frame = Frame.from_codes(CODES)
    assert frame.names == ("x0", "x1", "x2")
    assert frame.arities.tolist() == [2, 3, 2]
    assert [frame.column(j).tolist() for j in range(3)] == CODES.T.tolist()
    assert Frame.from_codes(CODES, arities=[4, 3, 2]).arities.tolist() == [4, 3, 2]
    with pytest.raises(DataError, match="two axes"):
        Frame.from_codes([0, 1])


def test_index_suggests_names():
    with pytest.raises(DataError, match="no column 'aeg'; did you mean 'age'"):
        Frame.from_codes(CODES, names=["age", "sex", "t"]).index("aeg")


def test_rows_by_mask_and_by_number():
    frame = Frame.from_codes(CODES)
    for rows in (np.array([True, False, False, True]), np.array([0, 3])):
        part = frame.take(rows)
        assert part.n_rows == 2
        assert [part.column(j).tolist() for j in range(3)] == CODES[[0, 3]].T.tolist()
        assert part.levels == frame.levels


def test_sparse_columns_by_rows():
    block = SparseColumns(np.array([0, 2, 3]), np.array([0, 2, 1], np.int32), np.array([1, 2, 1], np.uint8), 3)
    frame = Frame(("a", "b"), ((0, 1, 2), (0, 1)), 3, (block,), np.zeros(2, np.int64), np.arange(2))
    part = frame.take(np.array([2, 0]))
    assert [part.column(j).tolist() for j in range(2)] == [[2, 1], [0, 0]]
    assert len(block) == 2


def test_columns_are_added_and_replaced_without_touching_the_rest():
    frame = Frame.from_codes(CODES)
    more = frame.with_column("new", np.array([0, 0, 1, 1]), ("u", "v"))
    assert more.names == ("x0", "x1", "x2", "new")
    assert more.column(3).tolist() == [0, 0, 1, 1]
    other = frame.with_column("x1", np.array([300, 0, 1, 299]), tuple(range(301)))
    assert other.column(1).tolist() == [300, 0, 1, 299]
    assert other.column(1).dtype == np.int32
    assert frame.column(1).tolist() == CODES[:, 1].tolist()
    assert other.column(0) is not None
    assert other.blocks[0] is frame.blocks[0]


def test_fingerprints_tell_frames_apart():
    frame = Frame.from_codes(CODES)
    assert frame.fingerprint() == Frame.from_codes(CODES.copy()).fingerprint()
    changed = CODES.copy()
    changed[0, 0] = 1
    different = [Frame.from_codes(changed), Frame.from_codes(CODES, names=list("abc")), frame.take(np.arange(3))]
    assert len({frame.fingerprint(), *(other.fingerprint() for other in different)}) == 4


def test_wide_and_narrow_blocks():
    codes = np.column_stack([np.arange(300) % 2, np.arange(300)])
    frame = Frame.from_codes(codes)
    assert [type(block) for block in frame.blocks] == [DenseColumns, DenseColumns]
    assert [len(block) for block in frame.blocks] == [1, 1]
    assert frame.column(1).tolist() == list(range(300))
