"""Sparse matrices give what their dense form gives, and stay sparse."""

import numpy as np
import pytest
import scipy.sparse as sp

from blankets.data import Reading, SparseColumns, ingest
from blankets.errors import (
    BlanketsWarning,
    ConstantColumnWarning,
    DataError,
    DuplicateColumnWarning,
    IdLikeColumnWarning,
    ManyLevelsWarning,
    MissingValuesError,
    ParameterError,
    ReadingWarning,
)

RNG = np.random.default_rng(3)
DENSE = RNG.integers(0, 3, (60, 8)) * (RNG.random((60, 8)) < 0.4)
Y = RNG.integers(0, 2, 60)


def values_of(frame, j):
    return [frame.levels[j][code] for code in frame.column(j)]


def test_same_values_as_dense_and_never_dense():
    sparse, dense = ingest(sp.csr_array(DENSE), y=Y).frame, ingest(DENSE, y=Y).frame
    assert sparse.names == dense.names
    assert isinstance(sparse.blocks[0], SparseColumns)
    assert len(sparse.blocks[0]) == 8
    for j in range(9):
        assert values_of(sparse, j) == values_of(dense, j)
    assert all(sparse.blocks[0].codes > 0)


def test_explicit_zeros_and_repeated_entries_are_cleaned_without_touching_the_users_matrix():
    rows, columns, entries = [0, 1, 2, 2, 3], [0, 0, 0, 0, 1], [1, 0, 2, -1, 5]
    matrix = sp.coo_array((entries, (rows, columns)), shape=(4, 2)).tocsc()
    explicit = sp.csc_array(([1, 0, 1, 0, 5], [0, 1, 2, 0, 3], [0, 3, 5]), shape=(4, 2))
    for given in (matrix, explicit):
        before = given.copy()
        frame = ingest(given).frame
        assert frame.levels == ((0, 1), (0, 5))
        assert frame.column(0).tolist() == [1, 0, 1, 0]
        assert frame.blocks[0].indptr.tolist() == [0, 2, 3]
        assert np.array_equal(given.data, before.data)
        assert np.array_equal(given.indices, before.indices)


def test_negative_and_real_values_follow_zero():
    frame = ingest(sp.csc_array(np.array([[0.5, 0], [-2, 1], [0, 1], [3, 0]]))).frame
    assert frame.levels == ((0, -2, 0.5, 3), (0, 1))
    assert frame.column(0).tolist() == [2, 1, 0, 3]


def test_truth_values():
    frame = ingest(sp.csc_array(np.array([[True, False], [False, False], [True, True]]))).frame
    assert frame.levels == ((0, 1), (0, 1))


def test_target_within_the_matrix_keeps_its_place():
    done = ingest(sp.csc_array(DENSE), 3)
    assert done.target == 3
    assert done.frame.names == tuple(f"x{j}" for j in range(8))
    assert done.frame.column(3).tolist() == DENSE[:, 3].tolist()
    for j in (2, 4):
        assert values_of(done.frame, j) == DENSE[:, j].tolist()


def test_columns_and_exclude():
    done = ingest(sp.csc_array(DENSE), 7, reading=Reading(columns=[1, 2, 4], exclude=[2]))
    assert done.frame.names == ("x1", "x4", "x7")
    assert values_of(done.frame, 1) == DENSE[:, 4].tolist()


def test_constant_and_duplicate_columns():
    matrix = np.column_stack([DENSE[:, 0], np.zeros(60), DENSE[:, 1], DENSE[:, 0], np.full(60, 4), DENSE[:, 0] * 5])
    with (
        pytest.warns(ConstantColumnWarning, match="'x1', 'x4'"),
        pytest.warns(DuplicateColumnWarning, match=r"'x3', 'x5' \(same as 'x0'\)"),
    ):
        done = ingest(sp.csr_matrix(matrix), y=Y)
    assert done.frame.names == ("x0", "x2", "target")
    assert values_of(done.frame, 1) == DENSE[:, 1].tolist()
    with pytest.warns(DuplicateColumnWarning):
        kept = ingest(sp.csr_matrix(matrix), y=Y, reading=Reading(keep=[1, 4, 5])).frame
    assert kept.names == ("x0", "x1", "x2", "x4", "x5", "target")


def test_copies_of_the_target():
    with pytest.warns(DuplicateColumnWarning, match="equal to the target in all rows: 'x1'"):
        done = ingest(sp.csc_array(np.column_stack([DENSE[:, 0], Y])), y=Y)
    assert done.report.copies_of_target == ("x1",)


def test_too_many_values():
    column = np.r_[np.arange(300), np.zeros(1700)]
    few, many = sp.csc_array(np.column_stack([column % 60, np.arange(2000) % 2])), np.arange(2000) % 300
    with pytest.warns(ManyLevelsWarning, match=r"'x0' \(60 levels\)"):
        ingest(few)
    with pytest.warns(ReadingWarning, match="Left out: 'x0' is sparse and has 299 values besides 0, of which"):
        ingest(sp.csc_array(np.column_stack([many, np.arange(2000) % 2])))
    with pytest.warns(IdLikeColumnWarning, match="'x0'"):
        ingest(sp.csc_array(np.column_stack([np.arange(2000), np.arange(2000) % 2])))


def test_gaps():
    matrix = DENSE.astype(float)
    matrix[[4, 9], 2] = np.nan
    with pytest.raises(MissingValuesError, match=r"missing in 'x2' \(2 rows\)"):
        ingest(sp.csc_array(matrix), y=Y, reading=Reading(missing="error"))
    done = ingest(sp.csc_array(matrix), y=Y)
    assert (done.frame.levels[2], done.frame.holes, done.report.complete_rows) == ((0, 1, 2), {2}, 58)
    assert np.flatnonzero(done.frame.gaps(2)).tolist() == [4, 9]
    done = ingest(sp.csc_array(matrix), y=Y, reading=Reading(missing="level"))
    assert done.frame.levels[2] == (0, 1, 2, "missing")
    assert np.flatnonzero(done.frame.column(2) == 3).tolist() == [4, 9]
    done = ingest(sp.csc_array(matrix), y=Y, reading=Reading(missing="drop"))
    assert done.report.missing == {"x2": 2}
    assert done.frame.n_rows == 58
    kept = np.delete(np.arange(60), [4, 9])
    assert values_of(done.frame, 5) == DENSE[kept, 5].tolist()
    assert done.frame.column(8).tolist() == Y[kept].tolist()
    matrix[0, 1] = np.inf
    with pytest.warns(ReadingWarning, match="Left out: 'x1' holds infinite values in 1 rows"):
        ingest(sp.csc_array(matrix), y=Y, reading=Reading(missing="testwise"))


def test_what_is_refused():
    with pytest.raises(DataError, match="must hold numbers or booleans, but this one holds complex128"):
        ingest(sp.csc_array(DENSE.astype(complex)))
    with pytest.raises(DataError, match="two axes"):
        ingest(sp.coo_array(np.array([1, 0, 2])))
    with pytest.raises(ParameterError, match="'x0', but sparse columns are not binned"):
        ingest(sp.csc_array(DENSE), reading=Reading(discretize={"x0": "sturges"}))
    assert (
        ingest(sp.csc_array(DENSE), y=np.arange(60) * 1.5, reading=Reading(discretize={"target": [30]})).frame.arities[
            8
        ]
        == 2
    )


def test_new_rows_stay_sparse():
    done = ingest(sp.csr_array(DENSE), y=Y)
    new = DENSE[::-1].copy()
    frame = done.encoder.transform(sp.csr_array(new))
    assert frame.names == tuple(f"x{j}" for j in range(8))
    assert isinstance(frame.blocks[0], SparseColumns)
    for j in range(8):
        assert values_of(frame, j) == new[:, j].tolist()
    new[0, 6] = new[5, 6] = 9
    with pytest.warns(BlanketsWarning, match=r"new levels, not seen before: 'x6' \(2 rows\)"):
        frame = done.encoder.transform(sp.csr_array(new))
    assert frame.levels[6] == (0, 1, 2, 9)
    assert values_of(frame, 6) == new[:, 6].tolist()
    assert [values_of(done.encoder.transform(DENSE), j) for j in range(8)] == DENSE.T.tolist()


def test_new_rows_with_gaps_or_too_many_values():
    strict, lenient = (
        ingest(sp.csr_array(DENSE), y=Y, reading=Reading(missing="error")),
        ingest(sp.csr_array(DENSE), y=Y, reading=Reading(missing="level")),
    )
    new = DENSE.astype(float)
    new[3, 0] = np.nan
    with pytest.raises(MissingValuesError, match=r"'x0' \(1 rows\)"):
        strict.encoder.transform(sp.csr_array(new))
    testwise = ingest(sp.csr_array(DENSE), y=Y).encoder.transform(sp.csr_array(new))
    assert (testwise.holes, testwise.column(0)[3]) == ({0}, 3)
    with pytest.warns(BlanketsWarning, match="'x0'"):
        assert lenient.encoder.transform(sp.csr_array(new)).levels[0] == (0, 1, 2, "missing")
    many = np.zeros((300, 8))
    many[:, 0] = np.arange(300)
    with pytest.raises(DataError, match="more than 256 values"):
        strict.encoder.transform(sp.csr_array(many))


def test_target_in_the_matrix_and_in_new_rows():
    done = ingest(sp.csr_array(DENSE), 7)
    assert done.encoder.transform(sp.csr_array(DENSE)).names == done.frame.names
    assert done.encoder.transform(sp.csr_array(DENSE[:, :7])).names == done.frame.names[:7]


def test_nothing_to_drop_in_whole_numbers():
    assert ingest(sp.csr_array(DENSE), y=Y, reading=Reading(missing="drop")).frame.n_rows == 60
