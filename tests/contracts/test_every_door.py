"""Every option of reading through every door: the same answer, or the same refusal.

The options are the fields of `Reading`, the doors all the ways in which a table comes in. Nothing is written out: each
option is given in turn, through each door, to one question after the other; with ``slow``, to every question.
"""

import itertools
import json
import re
import warnings
from dataclasses import fields
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import blankets as bl
from blankets.data import Reading
from blankets.errors import BlanketsError

N = 160
OPTIONS = {
    "missing": ["testwise", "weighted", "level", "drop", "error"],
    "discretize": [
        *("auto", "sturges", "equal-width", "equal-frequency", "supervised", "none", {"dose": "none"}),
        *({"dose": [0.0, 1.0]}, {"score": "number"}, {"dose": "categorical"}, {"nothing": "sturges"}),
        *({"same": "sturges"}, {"id": "categorical"}),
    ],
    "n_bins": [3],
    "keep": [["same"], ["id"], ["copy"], ["nothing"]],
    "columns": [["color", "dose"], ["nothing"], ["same", "color", "dose"], ["who", "dose", "color"]],
    "exclude": [["id"], ["gap"], "word", ["y"], ["nothing"], ["who", "share"]],
    "positive": ["no", "never"],
    "unlabeled_marker": ["no"],
    "sample_weight": ["times", "share", "nothing", np.arange(N) % 3, np.arange(5)],
    "groups": ["who", "gap", "nothing", np.arange(N) // 5],
    "survey_weight": ["share", "times", "color", (np.arange(N) % 5) + 0.5],
    "ordered": [["score"], {"color": ["red", "green", "blue"]}, [], ["nothing"], ["same"]],
    "separator": [",", ";"],
    "decimal": [".", ","],
    "date_order": ["dmy"],
    "encoding": ["utf-8"],
    "na": [["unknown"], [], ["red"]],
    "sheet": [1],
}
NEEDS = {"n_bins": {"discretize": "equal-width"}, "unlabeled_marker": {"labels": "pu"}}
OF_TEXT = ("separator", "encoding", "sheet")  # options that only files of text, or of Excel, have
CASES = [(name, k) for name, values in OPTIONS.items() for k in range(len(values))]

QUESTIONS = {
    "discover": lambda data, **how: bl.discover(data, "y", **how),
    "test": lambda data, **how: bl.test(data, "dose", "y", given=["color"], rng=0, **how),
    "rank": lambda data, **how: bl.rank(data, "y", **how),
    "stability": lambda data, **how: bl.stability(data, "y", n_resamples=2, rng=1, **how),
    "select": lambda data, **how: bl.select(data, "y", k=3, **how),
    "mutual_information": lambda data, **how: bl.mutual_information(data, "dose", "y", given=["color"], **how),
    "discover_all": lambda data, **how: bl.discover_all(data, targets=["y", "color"], **how),
    "audit": lambda data, **how: bl.audit(data, "y", **how),
}
PACKED = r"ParameterError: \w+= says how a table is read, and this one was read when it was packed"
QUICK = ("discover", "test", "rank")
ABOUT_THE_CALL = ("call", "seconds", "data", "settings", "fingerprint", "n_tests")
ABOUT_READING = ("excluded", "warnings", "checks", "notes", "findings", "columns", "could_have_missed", "false_members")


@pytest.fixture(scope="module")
def table():
    """A table with a column of each kind: numbers, levels, gaps, a date, weights, groups, a copy, an identifier."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, N)
    score = rng.integers(1, 6, N)
    return pd.DataFrame(
        {
            "color": np.array(["red", "green", "blue"])[np.where(rng.random(N) < 0.5, y, rng.integers(0, 3, N))],
            "dose": (rng.normal(size=N) + y).round(3),
            "score": score,
            "gap": np.where(rng.random(N) < 0.2, np.nan, np.where(rng.random(N) < 0.5, y, rng.integers(0, 3, N))),
            "word": np.where(rng.random(N) < 0.1, "unknown", np.array(["a", "b"])[rng.integers(0, 2, N)]),
            "same": "k",
            "copy": score,
            "twice": rng.permutation(np.arange(N)) * 0.5,
            "id": [f"p{k}" for k in rng.permutation(N)],
            "day": pd.date_range("2024-01-01", periods=N)[rng.permutation(N)],
            "who": np.arange(N) // 4,
            "times": rng.integers(0, 4, N),
            "share": rng.integers(1, 9, N) / 4,
            "y": np.where(y > 0, "yes", "no"),
        }
    )


@pytest.fixture(scope="module")
def doors(table, tmp_path_factory):
    """All ways into the package for one table: functions of a question and its options."""
    import duckdb
    import polars
    import pyarrow as pa

    folder = tmp_path_factory.mktemp("doors")
    for kind in ("csv", "parquet"):
        (folder / kind).mkdir()
        for name, part in {
            f"all.{kind}": table,
            f"{kind}/0.{kind}": table[:70],
            f"{kind}/1.{kind}": table[70:],
        }.items():
            getattr(part, f"to_{kind}")(folder / name, index=False)
    database = duckdb.connect()
    database.register("rows", table)
    number = itertools.count()
    once: list[Path] = []

    def given(data, **more):
        return lambda ask, **how: ask(data, **how, **more)

    def packed(data):
        def answer(ask, **how):
            reading = {name: how.pop(name) for name in OPTIONS if name in how}
            path = folder / f"store{next(number)}"
            bl.pack(data, path, target="y", **reading)
            return ask(path, **how)

        return answer

    def packed_before(ask, **how):
        if not once:
            bl.pack(table, folder / "once", target="y")
            once.append(folder / "once")
        return ask(once[0], **how)

    limit = {"engine": bl.Engine(memory_limit="1 KB")}
    csv, parquet = str(folder / "all.csv"), str(folder / "all.parquet")
    return {
        "memory": given(table),
        "csv": given(csv),
        "parquet": given(parquet),
        "folder": given(str(folder / "csv")),
        "glob": given(str(folder / "parquet" / "*.parquet")),
        "list": given([str(folder / "csv" / "0.csv"), str(folder / "csv" / "1.csv")]),
        "csv, little memory": given(csv, **limit),
        "parquet, little memory": given(parquet, **limit),
        "arrow": given(pa.Table.from_pandas(table, preserve_index=False)),
        "polars": given(polars.from_pandas(table)),
        "dict": given({name: list(column) for name, column in table.items()}),
        "query": given(bl.SqlTable("SELECT * FROM rows", database)),
        "store": packed(table),
        "store of a folder": packed(str(folder / "csv")),
        "packed before": packed_before,
    }


def plain(value, without):
    """Return a result as plain values, numbers to nine digits, without what may differ."""
    if isinstance(value, dict):
        return {name: plain(each, without) for name, each in value.items() if name not in without}
    if isinstance(value, list):
        return [plain(each, without) for each in value]
    return float(f"{value:.9g}") if isinstance(value, float) else value


def outcome(door, question, how, without=ABOUT_THE_CALL):
    """Return the answer, or the refusal without the name of the table."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return plain(json.loads(door(QUESTIONS[question], **how).to_json()), without)
    except BlanketsError as error:
        return (
            f"{type(error).__name__}: {re.sub(r'the table is a [^;]*|but .* is none', 'of another kind', str(error))}"
        )


def options_of(name, k):
    return {name: OPTIONS[name][k], **NEEDS.get(name, {})}


def check(doors, name, k, asked):
    """Compare all doors with the memory; ``asked``: the questions of each door."""
    how, found = options_of(name, k), {}
    for door, questions in asked.items():
        for question in questions:
            if question not in found:
                found[question] = outcome(doors["memory"], question, how), door
            expected, got = found[question][0], outcome(doors[door], question, how)
            refused = isinstance(got, str)
            if door == "packed before" and refused and re.match(PACKED, got):
                continue  # what only packing can do
            if name in OF_TEXT and refused:
                assert re.match(rf"ParameterError: {name}= is |TargetError: there is no target", got), (door, question)
            elif name in OF_TEXT:
                assert door in ("csv", "folder", "list", "csv, little memory", "store of a folder")
                assert got == outcome(doors[door], question, {}), (door, question)
            elif door != "packed before":
                assert got == expected, (door, question, how)
            elif refused:  # of columns that are no longer there
                assert got.startswith(("DataError: there is no column", *[expected] * isinstance(expected, str))), how
            else:
                without = (*ABOUT_THE_CALL, *ABOUT_READING)
                assert plain(got, without) == plain(expected, without), (question, how)


def test_every_option_is_here():
    assert set(OPTIONS) == {field.name for field in fields(Reading)}


@pytest.mark.parametrize(("name", "k"), CASES)
def test_every_door_gives_the_same_answer_or_the_same_refusal(doors, name, k):
    turn = CASES.index((name, k))
    check(doors, name, k, {door: [QUICK[(turn + j) % len(QUICK)]] for j, door in enumerate(doors) if door != "memory"})


@pytest.mark.slow
@pytest.mark.parametrize(("name", "k"), CASES)
@pytest.mark.parametrize("question", QUESTIONS)
def test_every_question_through_every_door(doors, question, name, k):
    check(doors, name, k, {door: [question] for door in doors if door != "memory"})
