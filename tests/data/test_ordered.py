"""Levels with an order: named, given, declared, or those of answers on a scale."""

import json

import numpy as np
import pandas as pd
import pytest

import blankets as bl
from blankets.data import Reading, ingest, open_chunks, pack_chunks
from blankets.errors import DataError, ParameterError, ReadingWarning, TargetError

RNG = np.random.default_rng(5)
N = 300
DOSE = RNG.choice(["low", "mid", "high"], N)
TABLE = {"dose": DOSE, "stage": RNG.choice([1, 2, 4], N), "t": RNG.integers(0, 2, N)}
ORDER = ["low", "mid", "high"]


def test_an_order_that_is_given():
    done = ingest(TABLE, "t", reading=Reading(ordered={"dose": [*ORDER, "very high"], "stage": ["4", "2", "1"]}))
    frame = done.frame
    assert frame.levels[:2] == ((*ORDER, "very high"), (4, 2, 1))
    assert frame.column(0).tolist() == [ORDER.index(dose) for dose in DOSE]
    assert frame.column(1).tolist() == [(4, 2, 1).index(stage) for stage in TABLE["stage"]]
    assert frame.ordered == {0, 1}
    assert done.report.ordered == ("dose", "stage")
    assert done.report.unused_levels == {"dose": ("very high",)}
    again = done.encoder.transform({"dose": ["high", "low"], "stage": [1.0, 4.0]})
    assert [again.column(j).tolist() for j in range(2)] == [[2, 0], [2, 0]]
    target = ingest(TABLE, "dose", reading=Reading(ordered={"dose": ORDER})).frame
    assert (target.levels[0], target.ordered) == (tuple(ORDER), {0})


def test_an_order_of_numbers_and_of_declared_levels_needs_a_name_only():
    declared = pd.Series(pd.Categorical(DOSE, categories=ORDER, ordered=True))
    assert ingest(TABLE | {"dose": declared}, "t", reading=Reading(ordered=["dose", "stage"])).frame.ordered == {0, 1}
    assert ingest(TABLE, "t", reading=Reading(ordered={"dose": ORDER, "stage": None})).frame.ordered == {0, 1}
    many = TABLE | {"stage": RNG.normal(size=N)}
    assert ingest(many, "t", reading=Reading(ordered=["stage"]), numbers=True).report.numbers == ("stage",)


@pytest.mark.parametrize(
    ("ordered", "error", "said"),
    [
        (
            ["dose"],
            DataError,
            r"column 'dose' has levels without an order .*ordered=\{'dose': \['high', 'low', ",
        ),
        (
            {"dose": ["low", "high"]},
            DataError,
            r"column 'dose' has values that ordered= does not name: 'mid'",
        ),
        (["doses"], ParameterError, "'ordered' names 'doses', which is not a column; did you mean 'dose'"),
        ({"number": [1, 2]}, DataError, "'number' is named in ordered= with its levels, but it holds many different"),
    ],
)
def test_orders_that_cannot_be(ordered, error, said):
    with pytest.raises(error, match=said):
        ingest(TABLE | {"number": RNG.normal(size=N)}, "t", reading=Reading(ordered=ordered))
    if ordered == ["dose"]:
        with pytest.raises(TargetError, match="the target 'dose' has levels without an order"):
            ingest(TABLE, "dose", reading=Reading(ordered=ordered))


def answers(n=N, top=5, columns=3):
    return {f"q{k}": np.r_[np.arange(top), RNG.integers(0, top, n - top)] + 1 for k in range(columns)}


def test_answers_on_a_scale_are_recognized_if_several_columns_have_it():
    table = answers(columns=3) | {"r0": answers(top=7)["q0"], "r1": answers(top=7)["q0"], "t": TABLE["t"]}
    said = r"3 columns look like answers on a scale from 1 to 5 and were read in that order: 'q0', 'q1', 'q2';"
    with pytest.warns(ReadingWarning, match=said):
        done = ingest(table, "t", numbers=True)
    assert done.report.ordered == ("q0", "q1", "q2")
    assert done.frame.ordered == {0, 1, 2}
    assert ingest(table, "t", numbers=True, reading=Reading(ordered=[])).frame.ordered == set()
    assert ingest(table, "t", numbers=True, reading=Reading(discretize={"q0": "categorical"})).frame.ordered == set()
    assert ingest(table, "t").frame.ordered == set()  # where rows are counted order has no use


@pytest.mark.parametrize("top", [6, 9])
def test_scales_of_six_and_nine(top):
    with pytest.warns(ReadingWarning, match=f"on a scale from 1 to {top}"):
        assert ingest(answers(top=top) | {"t": TABLE["t"]}, "t", numbers=True).frame.ordered == {0, 1, 2}


def test_order_buys_power():
    """A trend over seven levels, at a size that a test of all levels often misses."""
    found = {False: 0, True: 0}
    for seed in range(16):
        rng = np.random.default_rng(seed)
        grade = rng.integers(0, 7, 200)
        table = {"grade": grade, "t": rng.random(200) < 0.3 + 0.05 * grade}
        for ordered in found:
            found[ordered] += bl.test(table, "grade", "t", ordered=["grade"] if ordered else []).dependent(0.01)
    assert found[True] > found[False] + 2


def test_on_the_command_line(tmp_path, capsys):
    from blankets.cli._main import run

    pd.DataFrame(TABLE).to_csv(tmp_path / "t.csv", index=False)
    words = ["--ordered", "dose=low,mid,high", "--ordered", "stage", "--json"]
    assert run(["discover", str(tmp_path / "t.csv"), "-t", "t", *words]) == 0
    assert json.loads(capsys.readouterr().out)["data"]["ordered"] == ["dose", "stage"]
    blanket = bl.discover(TABLE, "t", ordered={"dose": ORDER, "stage": None})
    assert blanket.call.options["ordered"] == {"dose": ORDER, "stage": None}
    assert blanket.data["ordered"] == ["dose", "stage"]


def test_several_numbers_are_in_order_beside_numbers():
    table = {"school": RNG.integers(8, 17, N), "region": RNG.integers(1, 5, N), "grade": RNG.integers(1, 7, N)}
    measured = table | {"income": RNG.normal(size=N)}
    done = ingest(measured, "grade", numbers=True)  # the target has classes, and four codes may be no order
    assert done.report.ordered == ("school",)
    assert {done.frame.names[j] for j in done.frame.ordered} == {"school"}
    for reading in (Reading(ordered=[]), Reading(discretize={"school": "categorical"}), Reading(missing="level")):
        gaps = measured if reading.missing != "level" else measured | {"school": np.r_[np.nan, table["school"][1:]]}
        assert ingest(gaps, "grade", numbers=True, reading=reading).frame.ordered == set()
    assert ingest(table, "grade", numbers=True).frame.ordered == set()  # codes alone are counted


def test_stores_know_the_same_orders(tmp_path):
    table = pd.DataFrame({"school": RNG.integers(8, 17, N), "income": RNG.normal(size=N), "t": RNG.integers(0, 2, N)})
    table.to_csv(tmp_path / "table.csv", index=False)
    there = bl.discover(table, "t", audit=False)
    packed = bl.pack(tmp_path / "table.csv", tmp_path / "store", target="t")
    in_parts = pack_chunks(open_chunks(tmp_path / "table.csv"), tmp_path / "parts", "t")
    for store in (packed, in_parts):
        assert bl.test(store, "school", "t") == bl.test(table, "school", "t")
        assert bl.discover(store, "t", audit=False).members == there.members


def test_several_numbers_are_told_by_their_spread():
    """One regression with the number itself, as ordinary least squares says."""
    rng = np.random.default_rng(3)
    school, age = rng.integers(8, 17, 600), rng.normal(40, 10, 600)
    table = {"school": school, "age": age, "wage": 0.8 * school + 0.1 * age + rng.normal(size=600)}
    blanket = bl.discover(table, "wage")
    told = blanket.effects.contrasts["school"][0]
    fit = np.linalg.lstsq(np.column_stack([np.ones(600), school, age]), table["wage"], rcond=None)[0]
    assert told.compared == f"per {school.std():.3g} (1 SD)"
    assert told.estimate == pytest.approx(fit[1] * school.std(), rel=1e-6)
    assert "Levels in order: school." in str(blanket.explain())
