"""Messages that belong to no other test, each where a user meets it; `messages.py` finds those that none looks for."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.sparse import coo_array

import blankets as bl
from blankets.cli._main import run
from blankets.data import Binning, Categories, Coding, Refused
from blankets.data._columns import Numbers
from blankets.errors import BlanketsWarning, DataError, LabelError, NotAnswerableError, ParameterError
from blankets.independence import DSeparation
from blankets.planning import planning_table
from blankets.study import open_study, scored_estimate

TABLE = {"a": [0, 1] * 20, "b": [0, 0, 1, 1] * 10, "y": [0, 1, 1, 0] * 10}
HALF = {**TABLE, "y": [*[0.0, 1.0] * 10, *[np.nan] * 20]}


def outside():
    matrix = coo_array((np.ones(2), ([0, 1], [0, 1])), shape=(40, 3))
    matrix.coords[1][:] = 7
    return matrix


WRONG = {
    "columns differ in length: 'a' has 40 rows, 'b' has 2": (
        DataError,
        lambda: bl.discover({**TABLE, "b": [0, 1]}, "y"),
    ),
    "the list of files is empty": (DataError, lambda: bl.data.open_chunks([])),
    "axis 1 has 3 places, and an entry is at 7": (DataError, lambda: bl.discover(outside(), 0)),
    "'query' must be the text of a SELECT statement": (ParameterError, lambda: bl.data.SqlTable(7)),
    "'graph' must be a directed graph of networkx": (ParameterError, lambda: DSeparation([("a", "b")])),
    "'priors' must be a list of what": (ParameterError, lambda: planning_table(effect="small", priors=0.2)),
    "wrong labels that are missing by class cannot be planned": (
        NotAnswerableError,
        lambda: bl.plan(
            effect="small",
            power=0.9,
            rows=1000,
            labels=bl.Noisy(false_positive=0.1, false_negative=0.1, missing="mar-c", prior=0.2),
        ),
    ),
    "labels='predicted' needs the machine's labels": (
        ParameterError,
        lambda: bl.discover(HALF, "y", labels="predicted"),
    ),
    "needs the machine's labels; gold= is the name of a column": (ParameterError, bl.Predicted),
    "with data say where the machine's labels are": (
        LabelError,
        lambda: bl.discover(HALF, "y", labels=bl.Predicted(accuracy=(0.9, 0.9))),
    ),
    "there is no goal of that effect and power; there are": (
        ParameterError,
        lambda: bl.advise(HALF, "y", labels="mcar").goal("large", 0.5),
    ),
}


@pytest.mark.filterwarnings("ignore::blankets.errors.BlanketsWarning")
@pytest.mark.parametrize("message", WRONG)
def test_it_is_said(message):
    error, call = WRONG[message]
    with pytest.raises(error, match=message.replace("(", r"\(")):
        call()


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (np.array([1 + 2j, 3] * 20), "which has no levels; convert it to numbers or text"),
        (
            pd.arrays.IntervalArray.from_breaks(range(41)),
            "is of type interval.*; convert it to a category, text or numbers",
        ),
    ],
)
def test_types_that_are_no_values(column, message):
    with pytest.warns(BlanketsWarning, match=message):
        bl.discover(pd.DataFrame({**TABLE, "z": column}), "y")


def test_an_option_of_labels_without_their_kind(tmp_path, capsys):
    file = tmp_path / "t.csv"
    pd.DataFrame(HALF).to_csv(file, index=False)
    assert run(["discover", str(file), "-t", "y", "--surrogate", "y0"]) == 2
    assert "why labels are missing: it is needed for --surrogate" in capsys.readouterr().err


def test_files_of_other_kinds_are_not_packed(tmp_path):
    for name in ("a.csv", "b.parquet"):
        Path(tmp_path / name).touch()
    with pytest.raises(DataError, match=r"files to be read in chunks are all CSV .*, not a mixture of CSV and Parquet"):
        bl.pack([tmp_path / "a.csv", tmp_path / "b.parquet"], tmp_path / "store")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (60, "there are more rows than at the first reading: the files have changed"),
        (30, "there were 40 rows at the first reading, and there are 30 now"),
    ],
)
def test_files_that_change_while_they_are_read(tmp_path, rows, message):
    file = tmp_path / "t.csv"
    table = pd.DataFrame(TABLE)
    table.to_csv(file, index=False)

    def change(doing):
        if doing.startswith("learning"):
            pd.concat([table, table])[:rows].to_csv(file, index=False)

    with pytest.raises(DataError, match=message):
        bl.pack(file, tmp_path / "store", progress=change)


def test_numbers_that_become_words_while_they_are_read():
    values = Numbers(np.linspace(0.0, 1.0, 40))
    cut = Coding("category", ("low", "high"), binning=Binning("equal-width", (0.5,)))
    assert np.bincount(cut.codes(values)).tolist() == [20, 20]
    with pytest.raises(Refused, match="holds numbers in some of the rows only"):
        cut.codes(Categories(np.zeros(4, np.uint8), ("many",)))


def test_words_that_are_not_utf_8():
    levels = pa.array([b"fine", b"\xff"], pa.binary()).view(pa.string())
    words = pa.DictionaryArray.from_arrays(pa.array([0, 1] * 20), levels)
    with pytest.warns(BlanketsWarning, match="holds text that is not UTF-8; decode it first"):
        bl.discover(pa.table({**TABLE, "z": words}), "y")


def test_estimates_by_scores_need_scores():
    with open_study(TABLE, "y") as study, pytest.raises(ParameterError, match="this study has no scores of rows"):
        scored_estimate(study, [0])
