"""Reading label columns of every container."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from blankets.errors import LabelError
from blankets.regimes import UNLABELED, code_labels, read_labels

SPAM = {
    "list": ["spam", None, "ham", "spam"],
    "object array": np.array(["spam", None, "ham", "spam"], object),
    "list with NaN": ["spam", float("nan"), "ham", "spam"],
    "list with -1": ["spam", -1, "ham", "spam"],
    "object array with -1": np.array(["spam", -1, "ham", "spam"], object),
    "pandas str": pd.Series(["spam", None, "ham", "spam"]),
    "pandas object": pd.Series(["spam", None, "ham", "spam"], dtype=object),
    "pandas category": pd.Series(["spam", None, "ham", "spam"], dtype="category"),
    "polars": pl.Series(["spam", None, "ham", "spam"]),
    "polars categorical": pl.Series(["spam", None, "ham", "spam"], dtype=pl.Categorical),
    "arrow": pa.chunked_array([["spam", None], ["ham", "spam"]]),
    "arrow dictionary": pa.array(["spam", None, "ham", "spam"]).dictionary_encode(),
}
NUMBERS = {
    "list": [1, None, 0, 1],
    "floats": np.array([1.0, np.nan, 0.0, 1.0]),
    "-1": np.array([1, -1, 0, 1]),
    "-1 as float": np.array([1.0, -1.0, 0.0, 1.0]),
    "pandas Int64": pd.Series([1, None, 0, 1], dtype="Int64"),
    "polars null": pl.Series([1, None, 0, 1]),
    "polars NaN": pl.Series([1.0, float("nan"), 0.0, 1.0]),
    "arrow": pa.array([1, None, 0, 1]),
    "arrow NaN": pa.array([1.0, float("nan"), 0.0, 1.0]),
}
BOOLS = {
    "list": [True, None, False, True],
    "pandas boolean": pd.Series([True, None, False, True], dtype="boolean"),
    "polars": pl.Series([True, None, False, True]),
    "arrow": pa.array([True, None, False, True]),
}


@pytest.mark.parametrize("container", SPAM)
def test_texts(container):
    labels = read_labels(SPAM[container])
    assert labels.codes.tolist() == [1, UNLABELED, 0, 1]
    assert labels.classes == ("ham", "spam")
    assert read_labels(SPAM[container], positive="ham").codes.tolist() == [0, UNLABELED, 1, 0]


@pytest.mark.parametrize("container", NUMBERS)
def test_numbers(container):
    labels = read_labels(NUMBERS[container])
    assert labels.codes.tolist() == [1, UNLABELED, 0, 1]
    assert labels.classes == (0, 1)
    assert all(type(name) is int for name in labels.classes)


@pytest.mark.parametrize("container", BOOLS)
def test_truth_values(container):
    labels = read_labels(BOOLS[container])
    assert labels.codes.tolist() == [1, UNLABELED, 0, 1]
    assert labels.classes == (False, True)


def test_what_it_holds():
    labels = read_labels(["b", None, "a", "b", None])
    assert len(labels) == 5
    assert labels.n_labeled == 3
    assert labels.n_unlabeled == 2
    assert labels.labeled.tolist() == [True, False, True, True, False]
    assert labels.counts.tolist() == [1, 2]
    assert labels.shares == (0.2, 0.4)
    assert labels.is_binary
    assert labels.n_seen_classes == 2
    assert labels.saw == "3 of 5 rows are labeled: 1 as 'a', 2 as 'b'"


def test_one_class():
    labels = read_labels([1, None, None, 1])
    assert labels.codes.tolist() == [1, UNLABELED, UNLABELED, 1]
    assert labels.n_seen_classes == 1
    assert labels.shares == (0.0, 0.5)


def test_name_of_the_class_that_was_never_seen():
    assert read_labels(["yes", None]).classes == ("not yes", "yes")
    assert read_labels([True, None]).classes == (False, True)
    assert read_labels([1, None]).classes == (0, 1)
    assert read_labels([7, -1]).classes == ("not 7", 7)


def test_supervised_with_many_classes_keeps_them():
    labels = read_labels([3, 1, 2, 3])
    assert labels.classes == (1, 2, 3)
    assert labels.codes.tolist() == [2, 0, 1, 2]
    with pytest.raises(LabelError, match="there are 3 classes; name the positive one"):
        _ = labels.shares


def test_many_classes_with_a_positive_one():
    labels = read_labels(["a", "b", "c", None, "b"], positive="b")
    assert labels.classes == ("not b", "b")
    assert labels.codes.tolist() == [0, 1, 0, UNLABELED, 1]
    assert read_labels(["a", "b", "c", "b"], positive="b").codes.tolist() == [0, 1, 0, 1]


def test_zero_is_unlabeled_under_pu_alone():
    assert read_labels([1, 0, 0, 1], regime="pu").codes.tolist() == [1, -1, -1, 1]
    assert read_labels([True, False, False], regime="pu").codes.tolist() == [1, -1, -1]
    assert read_labels([1, 0, 0, 1]).codes.tolist() == [1, 0, 0, 1]
    with pytest.raises(LabelError, match="under 'pu' a 0 means unlabeled, but here other rows are marked"):
        read_labels([1, 0, None], regime="pu")
    with pytest.raises(LabelError, match="if 0 is a known negative use labels='mcar', 'mar-f' or 'mar-c'"):
        read_labels([1, 0, -1], regime="pu")
    assert read_labels([1, 0, None], regime="pu", unlabeled_marker=0).codes.tolist() == [1, -1, -1]


def test_plus_and_minus_one_is_a_question():
    values = [-1, 1, 1, -1]
    with pytest.raises(LabelError, match="is -1 the negative class, or does it mean unlabeled"):
        read_labels(values)
    with pytest.raises(LabelError, match="is -1 the negative class"):
        read_labels(values, regime="mcar")
    assert read_labels(values, regime="pu").codes.tolist() == [-1, 1, 1, -1]
    assert read_labels(values, regime="supervised").codes.tolist() == [0, 1, 1, 0]
    assert read_labels(values, unlabeled_marker=None).classes == (-1, 1)
    assert read_labels(values, unlabeled_marker=-1).codes.tolist() == [-1, 1, 1, -1]
    assert read_labels([-1, 1, None], regime="mar-c").codes.tolist() == [0, 1, -1]


def test_minus_one_beside_other_negative_numbers_is_a_class():
    labels = read_labels([-2, -1, -2, -1])
    assert labels.classes == (-2, -1)
    assert labels.n_unlabeled == 0


def test_own_marker():
    assert read_labels(["yes", "?", "no"], unlabeled_marker="?").codes.tolist() == [1, -1, 0]
    assert read_labels([1, 9, 0], unlabeled_marker=9).codes.tolist() == [1, -1, 0]
    with pytest.raises(LabelError, match=r"no row carries the marker '\?' of unlabeled rows; the values are 'a', 'b'"):
        read_labels(["a", "b"], unlabeled_marker="?")


def test_coded_column():
    codes = np.array([0, 1, 0, 2])
    labels = code_labels(codes, ("low", "mid", "high"), np.array([False, False, True, False]), positive="high")
    assert labels.codes.tolist() == [0, 0, -1, 1]


@pytest.mark.parametrize("values", [[None, None, None], [-1, -1], [float("nan")] * 3])
def test_no_labels_at_all(values):
    with pytest.raises(LabelError, match=rf"0 of {len(values)} rows are labeled"):
        read_labels(values)


def test_refusals():
    with pytest.raises(LabelError, match="3 classes, and some rows are unlabeled: say which class"):
        read_labels(["a", "b", "c", None])
    with pytest.raises(LabelError, match="positive= one of 'a', 'b', 'c'"):
        read_labels(["a", "b", "c", None])
    with pytest.raises(LabelError, match="no row is labeled 'd'; pass positive= one of 'a', 'b'"):
        read_labels(["a", "b", None], positive="d")
    with pytest.raises(LabelError, match="all rows are labeled 1, so there is nothing to compare; if"):
        read_labels([1, 1, 1])
    with pytest.raises(LabelError, match=r"holds 100 different numbers, such as .* a measurement, not classes; bin it"):
        read_labels(np.linspace(0, 1, 100))
    with pytest.raises(LabelError, match="the label column is nested"):
        read_labels([[1], [2]])
