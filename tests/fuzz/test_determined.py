"""Columns that tell each other exactly must not empty a blanket in silence."""

import math
from dataclasses import replace

import numpy as np
import pytest

import blankets as bl
from blankets.errors import DuplicateColumnWarning
from blankets.report import report_content
from blankets.results import Blanket, NamedEvidence, Step, emptied

RNG = np.random.default_rng(2)
N = 2000
T = RNG.integers(0, 2, N)
A = (T + (RNG.random(N) < 0.2)) % 2
NOISE = RNG.integers(0, 2, N)


@pytest.mark.parametrize(
    "twin", [1 - A, np.where(A == 1, "f", "m"), 2 * RNG.integers(0, 2, N) + A], ids=["turned", "letters", "finer"]
)
def test_a_blanket_emptied_by_twins_is_told(twin):
    table = {"sex": A, "code": twin, "noise": NOISE, "t": T}
    with pytest.warns(DuplicateColumnWarning, match="the blanket of 't' may lack members: .*'sex'.*exclude"):
        blanket = bl.discover(table, "t", algorithm="pcmb", close=False)
    assert blanket.members == ()
    assert blanket.warnings[-1].startswith("the blanket of 't' may lack members")
    # As the warning says: one of the two left out, or an algorithm that adds one by one.
    assert bl.discover(table, "t", algorithm="pcmb", exclude="code").members == ("sex",)
    assert bl.discover(table, "t", algorithm="iamb").members == ("sex",)


def test_a_column_that_a_member_tells_is_no_news():
    table = {"sex": A, "code": 1 - A, "noise": NOISE, "t": T}
    assert bl.discover(table, "t", algorithm="iamb").warnings == ()


def test_near_copies_that_put_each_other_out_are_named():
    rng = np.random.default_rng(1)
    t = rng.integers(0, 2, 400)
    a = np.where(rng.random(400) < 0.3, 1 - t, t)
    b, c = np.where(rng.random((2, 400)) < 0.03, 1 - a, a)
    with pytest.warns(DuplicateColumnWarning, match="columns depend on it: 'b', 'a' were left out given"):
        blanket = bl.discover({"t": t, "a": a, "b": b, "c": c}, "t", algorithm="pcmb", close=False)
    assert blanket.members == ()
    assert "\n  No column is left.\n" in str(blanket)
    assert "the blanket of 't' is empty" in blanket.warnings[-1]
    assert report_content(blanket)["answer"] == "None of the 3 columns searched is left."
    assert len(bl.discover({"t": t, "a": a, "b": b, "c": c}, "t", algorithm="iamb")) == 1  # as the sentence advises


def test_left_to_itself_discover_keeps_one_of_near_copies(recwarn):
    rng = np.random.default_rng(1)
    t = rng.integers(0, 2, 400)
    a = np.where(rng.random(400) < 0.3, 1 - t, t)
    b, c = np.where(rng.random((2, 400)) < 0.03, 1 - a, a)
    table = {"t": t, "a": a, "b": b, "c": c}
    blanket = bl.discover(table, "t")
    assert blanket.members == ("a",)
    assert set(blanket.equivalents["a"]) <= {"b", "c"}
    assert bl.discover_all(table, ["t"])["t"].members == ("a",)
    assert not recwarn.list


def test_a_tie_by_chance_is_no_copy():
    # x is tied to t, but not given z, which is not tied to t by itself: no pair of copies.
    entered = NamedEvidence(x="x", y="t", statistic=30.0, dof=1, log_p=-15.0, effect=0.15, n_rows=100)
    found = Blanket(
        target="t",
        members=(),
        algorithm="pcmb",
        columns=("x", "z", "t"),
        n_rows=100,
        strengths={},
        settings={"alpha": 0.01, "test": "g"},
        separators={"x": ("z",), "z": ()},
        decisions=(Step(phase="neighbors", action="admitted", evidence=entered),),
    )
    assert emptied(found) == ()
    assert "No column was found to depend on the target." in str(found)
    mutual = replace(found, separators={"x": ("z",), "z": ("x",)})
    assert emptied(mutual) == ("x", "z")
    assert emptied(replace(mutual, settings={**found.settings, "drivers": ["z"]})) == ()  # given in every test
    by_chance = replace(entered, log_p=math.log(0.006))  # one of two columns has such a p in 1.2% of samples
    assert emptied(replace(mutual, decisions=(replace(found.decisions[0], evidence=by_chance),))) == ()
