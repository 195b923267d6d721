"""Numbers that stay numbers."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from blankets.data import Reading, ingest_numeric
from blankets.errors import (
    ConstantColumnWarning,
    DataError,
    DuplicateColumnWarning,
    MissingValuesError,
    ParameterError,
    TargetError,
)

RNG = np.random.default_rng(9)
MATRIX = RNG.normal(size=(30, 4))


def test_values_are_the_users():
    table = ingest_numeric(MATRIX, 2)
    assert table.names == ("x0", "x1", "x2", "x3")
    assert table.target == 2
    assert table.values.dtype == np.float64
    assert np.array_equal(table.values, MATRIX)
    assert table.values.flags.f_contiguous
    assert np.array_equal(ingest_numeric(sp.csr_array(MATRIX)).values, MATRIX)


def test_integers_truth_values_and_y():
    table = ingest_numeric({"a": [1, 2, 4], "b": [True, False, False]}, y=pd.Series([0.5, 1.5, 0.25], name="dose"))
    assert table.names == ("a", "b", "dose")
    assert table.target == 2
    assert table.values.tolist() == [[1, 1, 0.5], [2, 0, 1.5], [4, 0, 0.25]]
    assert ingest_numeric(MATRIX, reading=Reading(columns=[0, 1], exclude=[1])).names == ("x0",)


def test_gaps():
    gaps = MATRIX.copy()
    gaps[3, 0] = gaps[5, 2] = np.nan
    with pytest.raises(MissingValuesError, match=r"'x0' \(1 rows\), 'x2' \(1 rows\)"):
        ingest_numeric(gaps, 2)
    table = ingest_numeric(gaps, 2, reading=Reading(missing="drop"))
    assert np.array_equal(table.values, np.delete(MATRIX, [3, 5], axis=0))
    assert table.report.dropped_rows == 2
    with pytest.raises(ParameterError, match="unknown policy for missing values of numbers 'level'"):
        ingest_numeric(gaps, 2, reading=Reading(missing="level"))


def test_columns_without_variation_or_repeated():
    columns = {"a": MATRIX[:, 0], "c": np.ones(30), "a2": MATRIX[:, 0], "t": MATRIX[:, 1], "n": [None] * 30}
    with pytest.warns(ConstantColumnWarning, match="'c', 'n'"), pytest.warns(DuplicateColumnWarning, match="'a2'"):
        table = ingest_numeric(columns, "t")
    assert table.names == ("a", "t")
    assert table.target == 1
    assert table.report.duplicates == {"a": ("a2",)}


def test_constant_after_deletion():
    gaps = {"a": [1.0, 1.0, 2.0, 1.0], "b": [1.0, 2.0, None, 3.0], "t": [0, 1, 1, 0]}
    with pytest.warns(ConstantColumnWarning, match="'a'"):
        assert ingest_numeric(gaps, "t", reading=Reading(missing="drop")).names == ("b", "t")


def test_bad_columns_are_told_together():
    columns = {
        "a": MATRIX[:, 0],
        "word": ["x", "y"] * 15,
        "nested": [[1]] * 30,
        "t": np.arange(30),
    }
    columns["far"] = np.r_[np.inf, np.zeros(29)]
    with pytest.raises(DataError) as caught:
        ingest_numeric(columns, "t")
    assert "column 'word' does not hold numbers; encode it as numbers" in str(caught.value)
    assert "column 'nested' is nested" in str(caught.value)
    assert "infinite values: 'far' (1)" in str(caught.value)


def test_bad_targets():
    with pytest.raises(TargetError, match="the target 't' has the same value in all rows"):
        ingest_numeric({"a": [1.0, 2.0, 3.0], "t": [1, 1, 1]}, "t")
    with pytest.raises(TargetError, match="no target column 'u'"):
        ingest_numeric({"a": [1.0, 2.0, 3.0], "t": [1, 1, 1]}, "u")
    with pytest.raises(ParameterError, match="not both"):
        ingest_numeric(MATRIX, 0, y=MATRIX[:, 1])
    with pytest.raises(DataError, match="a single row"):
        ingest_numeric(MATRIX[:1], 0)
