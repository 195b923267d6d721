"""Tests without cutting where values are missing: each answers as if its rows were the whole table."""

import numpy as np
import pandas as pd
import pytest

import blankets as bl
from blankets.counting import MemoryMoments
from blankets.data import ingest
from blankets.errors import DataError, TargetError
from blankets.independence import QuickTests, SeenQuick, _seen

N = 400


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(5)
    z = rng.normal(size=N)
    town = pd.Series(np.array(list("abc"))[rng.integers(0, 3, N)])
    return pd.DataFrame(
        {
            "z": np.where(rng.random(N) < 0.2, np.nan, z),
            "x": z + rng.normal(size=N),
            "town": town.where(rng.random(N) > 0.1),
            "y": z + (town == "a") + rng.normal(size=N),
        }
    )


@pytest.mark.parametrize(
    ("x", "y", "given"),
    [
        ("x", "y", []),
        ("x", "y", ["z"]),
        ("z", "y", ["x"]),
        ("town", "y", ["z"]),
        ("y", "town", []),
        ("x", "z", ["town"]),
    ],
)
def test_a_test_is_that_of_the_rows_that_have_all_its_values(table, monkeypatch, x, y, given):
    monkeypatch.setattr(_seen, "can_be_whole", lambda frame: False)  # functions of large tables are made for the rows
    whole = SeenQuick(ingest(table, numbers=True).frame)
    rows = table.dropna(subset=[x, y, *given])
    alone = SeenQuick(ingest(rows[[x, y, *given]], numbers=True).frame)
    at = [whole.names.index(name) for name in (x, y, *given)]
    asked, expected = whole.test(at[0], at[1], at[2:]), alone.test(0, 1, range(2, len(at)))
    assert asked.n_rows == expected.n_rows == len(rows)
    assert (asked.log_p, asked.statistic) == pytest.approx((expected.log_p, expected.statistic), rel=1e-9)
    assert (asked.x, asked.y, asked.given, asked.method) == (at[0], at[1], tuple(at[2:]), expected.method)


@pytest.mark.parametrize("classes", [False, True])
def test_numbers_that_no_row_has_together_cannot_be_tested(classes):
    rng = np.random.default_rng(4)
    table = pd.DataFrame(rng.normal(size=(300, 3)), columns=[*"abc"])
    table["y"] = 2 * table.a + 2 * table.c + rng.normal(size=300)
    if classes:
        table["y"] = np.where(table.y > 0, "yes", "no")
    table.loc[:99, "a"], table.loc[100:, "b"] = None, None
    tests = SeenQuick(ingest(table, numbers=True).frame)
    for x, y, *given in ((0, 1), (0, 3, 1), (1, 3, 0, 2)):
        for level in (tests, tests.at_level(0.01)):
            asked = level.test(x, y, given)
            assert (asked.reliable, asked.n_rows) == (False, 0)
    told = str(bl.test(table, "a", "y", given=["b"]))
    assert "not tested, 0 rows are too few" in told
    assert set(bl.discover(table, "y").members) == {"a", "c"}


def test_inner_products_alone_are_those_of_functions_that_were_made_once():
    rng = np.random.default_rng(3)
    shared = rng.integers(0, 3, N)
    table = pd.DataFrame({name: (shared + rng.integers(0, 2, N)) % 3 for name in "abc"}).astype("category")
    table["number"] = rng.normal(size=N) + shared
    table.loc[rng.random(N) < 0.3, "a"] = None
    quick = SeenQuick(ingest(table, numbers=True).frame)
    rows = table.dropna()
    # The indicators of levels span the same over fewer rows, so that nothing changes for categories.
    alone = QuickTests(MemoryMoments(ingest(rows, numbers=True).frame))
    asked, expected = quick.scan([0, 1], 2), alone.scan([0, 1], 2)
    assert asked.n_rows.tolist() == [len(rows), N]
    assert asked.statistic[0] == pytest.approx(expected.statistic[0], rel=1e-9)
    asked, expected = quick.scan([1], 2, [0]), alone.scan([1], 2, [0])
    assert (asked.statistic, asked.dof) == (pytest.approx(expected.statistic, rel=1e-9), pytest.approx(expected.dof))
    # Ranks of a number are among all its values, not among the values of these rows: nearly the same.
    asked, expected = quick.scan([3], 0), alone.scan([3], 0)
    assert asked.statistic == pytest.approx(expected.statistic, rel=0.05)


def test_a_scan_puts_columns_with_and_without_holes_in_their_places(table):
    tests = SeenQuick(ingest(table, numbers=True).frame)
    batch = tests.scan([0, 1, 2], 3)
    assert batch.xs.tolist() == [0, 1, 2]
    assert batch.n_rows.tolist() == [table["z"].count(), N, table["town"].count()]
    assert tests.n_tests == 3
    assert tests.at_level(0.01).tally is tests.tally
    assert tests.deepest([1], 3, [0, 2]) == 2
    assert tests.rows_for(1, 3, [0]) == 25


def test_blankets_of_numbers_with_holes(table):
    blanket = bl.discover(table, "y", algorithm="iamb")
    assert set(blanket.members) == {"z", "town"}
    assert not blanket.data["binned"]
    with pytest.warns(bl.errors.RegimeWarning, match="no value of the target and are left out"):
        assert bl.discover(table, "z", algorithm="iamb").n_rows == table["z"].count()
    with pytest.raises(TargetError, match="is a number, and values of it are missing"):
        bl.discover(table, "z", labels="supervised")


def test_a_level_for_missing_values_needs_levels(table):
    blanket = bl.discover(table, "y", algorithm="iamb", missing="level")
    assert set(blanket.data["binned"]) == {"z"}
    assert "x" in blanket.data["numbers"]


def test_columns_missing_in_the_same_rows_are_one_scan_and_other_levels_use_what_was_made(monkeypatch):
    monkeypatch.setattr(_seen, "can_be_whole", lambda frame: False)
    rng = np.random.default_rng(6)
    columns = rng.normal(size=(5, 200))
    columns[:3, :50] = np.nan
    tests = SeenQuick(ingest(dict(zip("abcde", columns, strict=True)), numbers=True).frame)
    made = []
    monkeypatch.setattr(_seen, "MemoryMoments", lambda frame, **how: made.append(frame) or MemoryMoments(frame, **how))
    batch = tests.scan([0, 1, 2], 3, [4])
    assert (len(made), batch.n_rows, batch.asked) == (1, 150, (4,))
    again = tests.at_level(0.001).scan([0, 1, 2], 3, [4])
    tests.scan([0, 1, 2], 3, [4])
    assert len(made) == 1
    assert again.statistic.tolist() == batch.statistic.tolist()
    both = tests.scan([0, 4, 1], 3)
    assert (both.xs.tolist(), both.n_rows.tolist(), both.asked) == ([0, 4, 1], [150, 200, 150], ())


def test_what_is_kept_has_a_limit(monkeypatch):
    monkeypatch.setattr(_seen, "_KEPT_BYTES", 0)
    a, b, c = np.random.default_rng(7).normal(size=(3, 100))
    a[:9] = np.nan
    tests = SeenQuick(ingest({"a": a, "b": b, "c": c}, numbers=True).frame)
    first = tests.test(0, 1)
    assert tests.test(2, 1).n_rows == 100
    assert len(tests._kept._tests) == 1
    assert tests.test(0, 1) == first


def test_functions_of_a_column_are_made_once_for_a_set_of_rows(monkeypatch):
    monkeypatch.setattr(_seen, "can_be_whole", lambda frame: False)
    columns = np.random.default_rng(8).normal(size=(4, 200))
    columns[0, :50] = np.nan
    tests = SeenQuick(ingest(dict(zip("abcd", columns, strict=True)), numbers=True).frame)
    made = []
    real = _seen.functions_of_column
    monkeypatch.setattr(_seen, "functions_of_column", lambda *about: made.append(about[1:]) or real(*about))
    first = tests.test(0, 1, [2])
    assert len(made) == 3
    tests.test(0, 1, [3])
    assert len(made) == 4  # one of them is new in these rows
    monkeypatch.setattr(_seen, "_KEPT_APART", 0)
    tests.test(3, 1, [2])  # in all rows
    assert len(tests._functions._made) == 1
    assert tests.test(0, 1, [2]) == first


@pytest.mark.parametrize("labels", ["supervised", bl.Noisy(0.1, 0.1), bl.Predicted("machine", gold="y")])
def test_columns_that_no_row_has_together(labels):
    rng = np.random.default_rng(9)
    y, first = rng.integers(0, 2, 200), np.arange(200) < 100
    table = {
        "x": rng.normal(size=200),
        "a": np.where(first, rng.integers(0, 2, 200), np.nan),
        "b": np.where(first, np.nan, rng.integers(0, 2, 200)),
        "machine": (y + (rng.random(200) < 0.1)) % 2,
        "y": np.where(rng.random(200) < 0.5, y, np.nan) if isinstance(labels, bl.Predicted) else y,
    }
    for x, given in (("a", ["b"]), ("x", ["a", "b"])):
        found = bl.test(table, x, "y", given=given, labels=labels)
        assert (found.n_rows, found.reliable, found.estimate) == (0, False, None)
        with pytest.raises(DataError, match="no row has a value of 'y'"):
            bl.mutual_information(table, x, "y", given=given, labels=labels)
