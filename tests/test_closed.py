"""The answer holds: after `discover` every column outside is irrelevant given it, undecided or equivalent."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn import datasets

import blankets as bl
from blankets.errors import BlanketsWarning
from blankets.results import Doubt

ALPHA = 0.01
TABLES = ("breast_cancer", "wine", "iris")


@pytest.fixture(scope="module", params=TABLES)
def found(request):
    table = getattr(datasets, f"load_{request.param}")(as_frame=True).frame
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BlanketsWarning)
        return table, bl.discover(table, "target")


def test_no_column_outside_depends_on_the_target_given_the_blanket(found):
    table, blanket = found
    assert blanket.closed
    others = {b for known in blanket.equivalents.values() for b in known}
    outside = set(blanket.columns) - {"target", *blanket.members, *blanket.undecided, *others}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BlanketsWarning)
        tested = [bl.test(table, x, "target", given=list(blanket.members)) for x in sorted(outside)]
    level = ALPHA / (len(blanket.columns) - 1)
    assert [one.x for one in tested if one.reliable and one.p < level] == []


def test_what_is_undecided_is_said(found):
    _, blanket = found
    for name, one in blanket.undecided.items():
        assert (one.reason, one.rows > blanket.n_rows) in ((Doubt.FEW_ROWS, True), (Doubt.WEAK, False))
        explanation = blanket.explain(name)
        assert explanation.verdict == "undecided"
        assert "neither in nor out" in str(explanation)
    assert ("Undecided, because rows are too few" in str(blanket)) == any(map(blanket.cannot_say, blanket.undecided))
    assert bl.Blanket.from_json(blanket.to_json()) == blanket


def circle(n=1500):
    """Many noisy copies of what causes y: on these PCMB's columns put each other out."""
    rng = np.random.default_rng(5)
    cause = rng.normal(size=n)
    table = {f"x{i}": np.digitize(cause + 0.6 * rng.normal(size=n), [-1, 0, 1]) for i in range(8)}
    return pd.DataFrame({**table, "y": (cause + rng.normal(size=n) > 0).astype(int)})


@pytest.mark.parametrize("algorithm", ["auto", "pcmb", "hiton-mb", "mmmb", "iamb"])
def test_columns_that_put_each_other_out_come_back(algorithm):
    table = circle()
    blanket = bl.discover(table, "y", algorithm=algorithm)
    level = ALPHA / 8
    for x in set(blanket.columns) - {"y", *blanket.members, *blanket.undecided}:
        tested = bl.test(table, x, "y", given=list(blanket.members))
        assert not tested.reliable or tested.p >= level
    assert len(blanket) >= 2


def test_an_algorithm_as_published_is_not_closed():
    with pytest.warns(bl.errors.DuplicateColumnWarning, match="the blanket of 'y' is empty, although columns depend"):
        blanket = bl.discover(circle(), "y", algorithm="pcmb", close=False)
    assert not blanket.closed
    assert blanket.undecided == {}
    assert blanket.settings["close"] is False


@pytest.mark.parametrize("algorithm", ["auto", "pcmb", "mmmb", "hiton-mb", "iamb"])
def test_copies_never_empty_a_blanket(algorithm):
    # `either` of the network asia: two causes and their "or", of which any two tell the third.
    rng = np.random.default_rng(6)
    a, b = (rng.random((2, 2000)) < [[0.3], [0.4]]).astype(int)
    either = a | b
    y = np.where(rng.random(2000) < 0.9, either, 1 - either)
    blanket = bl.discover({"a": a, "b": b, "either": either, "y": y}, "y", algorithm=algorithm)
    assert len(blanket) >= 1
    members = set(blanket.members)
    assert "either" in members or {"a", "b"} <= members


def test_a_redundant_column_is_out_or_marked():
    # y = a + b + noise, w = a + noise: w is redundant, but the cut of a leaves it a tie.
    admitted = 0
    for seed in range(5):
        rng = np.random.default_rng([9, seed])
        a, b = rng.normal(size=500), rng.integers(0, 4, 500)
        y = (a + b - 1.5 + rng.normal(size=500) > 0).astype(int)
        table = {"a": a, "b": b.astype(str), "w": a + rng.normal(size=500), "y": y}
        blanket = bl.discover(table, "y")
        admitted += "w" in blanket.members and "w" not in blanket.unchecked
    assert admitted <= 1


def thin(n=300):
    """Six members with many levels on few rows: they cannot be tested given all the others."""
    rng = np.random.default_rng(3)
    x = rng.integers(0, 6, (6, n))
    y = (x.sum(axis=0) + rng.normal(size=n) > 15).astype(int)
    return pd.DataFrame({**{f"x{i}": row.astype(str) for i, row in enumerate(x)}, "y": y})


@pytest.mark.parametrize("algorithm", ["auto", "pcmb", "hiton-mb", "iamb"])
def test_members_that_were_not_checked_have_no_role_and_are_counted(algorithm):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BlanketsWarning)
        blanket = bl.discover(thin(), "y", algorithm=algorithm, roles=True)
    unchecked = set(blanket.unchecked)
    assert unchecked or algorithm in ("auto", "iamb")
    assert not unchecked & set(blanket.roles)
    assert not unchecked & {*blanket.common_children, *blanket.common_children.values()}
    assert not any(known for a, b, known in blanket.to_networkx().edges(data="directed") if unchecked & {a, b})
    many = f"{len(unchecked)} of the {len(blanket)} members could not be checked for redundancy"
    assert (many in " ".join(str(blanket).split())) == bool(unchecked)
    for evidence in blanket.strengths.values():
        assert set(evidence.given) <= set(blanket.members)
    if blanket.partly:
        assert "rows are too few to test them given all members" in " ".join(str(blanket).split())


def test_closing_ends_where_rows_are_too_few_for_all_and_says_so():
    # Forty items of one trait: each tells something about y, whatever others are known.
    rng = np.random.default_rng(0)
    trait = rng.normal(size=6000)
    table = pd.DataFrame({f"q{i:02d}": (trait + 1.5 * rng.normal(size=6000) > 0).astype(int) for i in range(40)})
    table["y"] = np.digitize(trait + 0.3 * rng.normal(size=6000), [-1, 0, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BlanketsWarning)
        blanket = bl.discover(table, "y")
    # Given k members a test has 3 x 2^k degrees of freedom, and takes five rows for each: no column can be tested
    # given 9 of them. Then five more may enter.
    assert len(blanket) == 9 + 5
    assert any("Rows are too few to test any other column given the 14 members" in note for note in blanket.warnings)
    assert set(blanket.columns) == {"y", *blanket.members, *blanket.undecided, *blanket.partly}
    assert len(blanket.undecided) > 10


def test_a_number_that_shows_a_category_could_replace_it():
    """The bill tells the stage nearly without error: whichever of them is a member, the other could be."""
    rng = np.random.default_rng(22)
    stage, smokes = rng.integers(0, 3, 900), rng.random(900) < 0.4
    chance = np.array([[0.08, 0.25, 0.5], [0.3, 0.6, 0.9]])[smokes.astype(int), stage]
    table = {"stage": stage.astype(str), "bill": 400 * stage + rng.normal(0, 50, 900), "smokes": smokes}
    found = bl.discover(table | {"back": rng.random(900) < chance}, "back")
    member = next(x for x in found.members if x != "smokes")
    assert {member, *found.equivalents[member]} == {"stage", "bill"}


def test_a_member_of_a_table_with_numbers_is_tested_given_as_many_others_as_rows_allow():
    rng = np.random.default_rng(0)
    table = {f"c{j}": rng.integers(0, 4, 60).astype(str) for j in range(6)} | {"number": rng.normal(size=60)}
    table["y"] = table["number"] + sum(1.5 * (table[f"c{j}"] == "0") for j in range(5)) + 0.2 * rng.normal(size=60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BlanketsWarning)
        found = bl.discover(table, "y", alpha=0.2)
    given = found.strengths["number"].given
    assert len(found.members) > 2
    assert set() < set(given) < set(found.members)
