"""Arguments that make no sense end in a sentence of ours, never in a TypeError from the depths."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import blankets as bl
from blankets.data import Frame
from blankets.errors import BlanketsError, DataError, LabelError, ParameterError, ReadingWarning, TargetError

RNG = np.random.default_rng(5)
N = 200
T = RNG.integers(0, 2, N)
TABLE = {"a": (T + (RNG.random(N) < 0.2)) % 2, "b": RNG.integers(0, 3, N), "t": T}
MATRIX = np.c_[TABLE["a"], TABLE["b"], T]

RUBBISH = [
    ({"alpha": value}, ParameterError, "'alpha' must be a significance level")
    for value in ("0.01", None, [0.01], np.array([0.01]), 1j, np.nan, 0, -1, True)
] + [({"test": value}, ParameterError, "unknown test") for value in ("5", None, [], -1, np.nan)]
RUBBISH += [({"n_jobs": value}, ParameterError, "'n_jobs' must be a number of threads") for value in (0, 2.5, "2", [])]
RUBBISH += [({"rng": value}, ParameterError, "'rng' must be a seed") for value in ("x", -1, 2.5, object())]
RUBBISH += [({"labels": value}, ParameterError, "unknown label regime") for value in ([], {}, None, 3, "zz")]
RUBBISH += [({"prior": value}, ParameterError, "prior") for value in (2, -1, "x", "<>", np.nan, (0.9, 0.1), {}, b"")]
RUBBISH += [
    ({"discretize": value}, ParameterError, "'discretize' must be the name of a rule") for value in (None, 3, [])
]
RUBBISH += [({"keep": value}, ParameterError, "'keep' must be a list of column names") for value in (5, None)]
RUBBISH += [({"exclude": value}, ParameterError, "'exclude' must be a list of column names") for value in (5, None)]
RUBBISH += [
    ({"algorithm": "fbed", "options": {"k": "x"}}, ParameterError, "'k' must be 0, 1, 2"),
    ({"algorithm": "fbed", "options": {"k": np.nan}}, ParameterError, "'k' must be 0, 1, 2"),
    ({"algorithm": "ks", "options": {"n_features": "x"}}, ParameterError, "'n_features' must be a number of features"),
    ({"algorithm": "ks", "options": {"n_conditioning": 0.5}}, ParameterError, "'n_conditioning' must be 0, 1, 2"),
    ({"algorithm": "pcmb", "options": {"max_given": "x"}}, ParameterError, "'max_given' must be a whole number"),
    ({"algorithm": "pcmb", "options": {"max_given": -1}}, ParameterError, "'max_given' must be a whole number"),
    ({"algorithm": "mmpc", "options": {"symmetric": "yes"}}, ParameterError, "'symmetric' must be True or False"),
]


@pytest.mark.parametrize(("arguments", "error", "said"), RUBBISH)
def test_rubbish_is_named(arguments, error, said):
    with pytest.raises(error, match=said):
        bl.discover(TABLE, "t", **arguments)


@pytest.mark.parametrize("target", [1.0, [0], (0,), {}, 3, -4])
def test_target_that_is_no_column_number(target):
    with pytest.raises(TargetError, match=r"there is no column number|give one column by its name"):
        bl.discover(MATRIX, target)


def test_a_text_is_one_name_and_not_its_letters():
    table = {**TABLE, "ab": RNG.integers(0, 2, N)}
    assert "ab" not in bl.discover(table, "t", exclude="ab").columns
    assert bl.test(table, "a", "t", given="ab").given == ("ab",)
    assert list(bl.discover_all(table, "ab")) == ["ab"]
    with pytest.raises(DataError, match="there is no column 'zz'"):
        bl.discover(table, "t", keep="zz")


@pytest.mark.parametrize(("targets", "said"), [([], "'targets' is empty"), (5, "'targets' must be a list")])
def test_targets_that_are_none(targets, said):
    with pytest.raises(ParameterError, match=said):
        bl.discover_all(TABLE, targets)


def test_questions_about_no_column():
    with pytest.raises(ParameterError, match="'x' must be the name of a column"):
        bl.test(TABLE, ["a"], "t")
    with pytest.raises(ParameterError, match="'given' must be a list of column names"):
        bl.mutual_information(TABLE, "a", "t", given=None)
    with pytest.raises(ParameterError, match="'level' must be between 0 and 1"):
        bl.mutual_information(TABLE, "a", "t").interval("0.9")


def test_tables_that_are_none():
    with pytest.raises(DataError, match=r"a pandas.Series is a single column, not a table"):
        bl.discover(pd.DataFrame(TABLE)["a"], "t")
    with pytest.warns(ReadingWarning, match="Left out: 'a' has 2 axes"):
        assert "a" not in bl.discover({**TABLE, "a": np.zeros((N, 2))}, "t").columns
    with pytest.raises(DataError, match="column 'a' has 2 axes"):
        bl.discover(np.zeros(5, dtype=[("a", "i4", (2,)), ("t", "i4")]), "t")


@pytest.mark.parametrize("form", ["csc_array", "csr_array", "csr_matrix"])
def test_damaged_sparse_matrices(form):
    beyond = getattr(sp, form)(MATRIX)
    beyond.indices[0] = 1_000_000
    with pytest.raises(DataError, match="the sparse matrix is damaged"):
        bl.discover(beyond, 0)
    cut_off = getattr(sp, form)(MATRIX)
    cut_off.indptr[-1] = 1_000_000
    with pytest.raises(DataError, match="the sparse matrix is damaged"):
        bl.discover(cut_off, 0)


# Levels beyond number


def many_levels(n_rows=300_000, n_levels=50_000):
    """Return columns whose joint table would have 5 x 10^9 cells, 20 GB of counts."""
    codes = np.arange(n_rows) % n_levels
    levels = tuple(range(n_levels))
    columns = [codes, codes[::-1], np.arange(n_rows) % 2]
    return Frame.from_columns(columns, ["wide", "other", "t"], [levels, levels, (0, 1)], n_rows)


@pytest.mark.filterwarnings("ignore::blankets.errors.ManyLevelsWarning")
def test_tables_beyond_memory_are_refused_before_they_are_made():
    frame = many_levels()
    assert not bl.test(frame, "wide", "t", given=["other"]).reliable  # its table would have 5,000,000,000 cells
    with pytest.raises(LabelError, match="the target has 50,000 classes, too many; merge rare ones"):
        bl.test(frame, "wide", "other")


def test_a_hundred_variables_to_condition_on():
    columns = {f"x{j}": column for j, column in enumerate(RNG.integers(0, 3, (102, 500)))}
    result = bl.test(columns, "x0", "x1", given=[f"x{j}" for j in range(2, 102)])
    assert not result.reliable
    assert result.estimate is None  # each row is a stratum of its own: what was not tested has no size


def test_every_kind_of_rubbish_is_one_family():
    assert all(issubclass(error, BlanketsError) for _, error, _ in RUBBISH)
