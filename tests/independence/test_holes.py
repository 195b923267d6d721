"""Columns with holes: each test uses the rows that have what it needs, as if the others had never been there."""

import itertools

import numpy as np
import pandas as pd
import pytest
from tests.count_twins import g_test

from blankets.counting import MemoryCounter, SlicedCounter
from blankets.data import Frame
from blankets.independence import CalibratedTests, ConditionedTests, IndependenceTest, TableTests

ARITIES = [2, 3, 2, 4, 2, 3]
NARROW, WIDE = ARITIES, [2, 7, 30, 12, 4, 9]


class OtherCounter(MemoryCounter):
    """A counter for which there are no compiled calls."""


def with_holes(n_rows, arities=ARITIES, share=0.3, seed=0):
    """Return a table in which two of three columns have holes, and the frame of it."""
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, a, n_rows) for a in arities]).astype(float)
    follow = rng.random(n_rows) < 0.4
    codes[follow, 1] = codes[follow, 0]
    for j in range(0, len(arities), 3):
        codes[rng.random(n_rows) < share, j : j + 2] = np.nan
    table = pd.DataFrame(codes)
    holes = frozenset(j for j in range(len(arities)) if table[j].isna().any())
    columns = [table[j].fillna(arities[j]).to_numpy(np.int64) for j in range(len(arities))]
    names, levels = [f"x{j}" for j in range(len(arities))], [tuple(range(a)) for a in arities]
    return table, Frame.from_columns(columns, names, levels, n_rows, holes)


def complete(table, columns, arities):
    """Return the rows that have a value of all these columns, what nobody asks for filled in."""
    rows = table.dropna(subset=list(columns)).fillna(0).to_numpy(np.int64)
    return rows, Frame.from_codes(rows, arities=arities)


def questions(n_columns=6, y=1):
    for size in range(4):
        for given in itertools.combinations(range(2, n_columns), size):
            yield [x for x in range(n_columns) if x != y and x not in given], y, given


@pytest.mark.parametrize("kind", ["g", "x2"])
@pytest.mark.parametrize("counter", [MemoryCounter, OtherCounter])
def test_the_statistic_is_that_of_the_rows_that_pandas_keeps(kind, counter):
    table, frame = with_holes(700)
    tests = TableTests(counter(frame, 1), statistic=kind, reliability=0)
    for xs, y, given in questions():
        for evidence in tests.scan(xs, y, given):
            rows, _ = complete(table, (evidence.x, y, *given), ARITIES)
            how = "log-likelihood" if kind == "g" else "pearson"
            statistic, dof = g_test(rows, ARITIES, evidence.x, y, given, how)
            assert evidence.statistic == pytest.approx(statistic, rel=1e-10, abs=1e-9)
            assert (evidence.dof, evidence.n_rows) == (dof, len(rows))


@pytest.mark.parametrize(("n_rows", "arities"), [(60, NARROW), (3000, NARROW), (1500, WIDE)])
@pytest.mark.parametrize("counter", [MemoryCounter, OtherCounter])
def test_evidence_is_that_of_a_table_of_those_rows(n_rows, arities, counter):
    table, frame = with_holes(n_rows, arities)
    tests = CalibratedTests(counter(frame, 1), level=0.01)
    for xs, y, given in questions():
        for evidence in tests.scan(xs, y, given):
            _, alone = complete(table, (evidence.x, y, *given), arities)
            if not alone.n_rows:
                assert not evidence.reliable
                continue
            other = CalibratedTests(MemoryCounter(alone, 1), level=0.01).test(evidence.x, y, given)
            assert (evidence.reliable, evidence.dof) == (other.reliable, other.dof)
            assert evidence.n_rows == (alone.n_rows if evidence.reliable else evidence.n_rows)
            if evidence.reliable:
                assert evidence.method == other.method
                assert evidence.log_p == pytest.approx(other.log_p, rel=1e-9, abs=1e-12)
                assert evidence.effect == pytest.approx(other.effect, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("tests_of", [TableTests, CalibratedTests])
def test_the_search_over_subsets_finds_what_one_by_one_tests_find(tests_of):
    _, frame = with_holes(900, WIDE)
    tests = tests_of(MemoryCounter(frame, 2), reliability=1)
    for how in ({}, {"stop_at": 0.05}, {"containing": 3}, {"min_size": 1, "max_size": 2}):
        whole = tests.separate([0, 2, 3, 4, 5], 1, [2, 3, 4, 5], **how)
        single = IndependenceTest.separate(tests, [0, 2, 3, 4, 5], 1, [2, 3, 4, 5], **how)
        for one, other in zip(whole, single, strict=True):
            assert (one.x, one.given, one.reliable) == (other.x, other.given, other.reliable)
            if one.reliable:
                assert one.n_rows == other.n_rows
                assert one.log_p == pytest.approx(other.log_p, rel=1e-9)


def test_each_member_is_tested_on_the_rows_that_have_all_members():
    table, frame = with_holes(2000)
    found = TableTests(MemoryCounter(frame, 1)).drop_one([0, 3, 2], 1)
    assert [found.given_of(i) for i in range(3)] == [(3, 2), (0, 2), (0, 3)]
    assert set(found.n_rows.tolist()) == {len(table.dropna(subset=[0, 1, 2, 3]))}


@pytest.mark.parametrize(("n_rows", "n_tests"), [(200, 2), (3000, 3)])
def test_members_are_tested_as_a_table_of_the_complete_rows_has_it(n_rows, n_tests):
    table, frame = with_holes(n_rows)
    rows, alone = complete(table, (0, 1, 2, 3), ARITIES)
    found = CalibratedTests(MemoryCounter(frame, 1), level=0.01).drop_one([0, 3, 2], 1)
    other = CalibratedTests(MemoryCounter(alone, 1), level=0.01).drop_one([0, 3, 2], 1)
    assert np.count_nonzero(found.reliable) == n_tests
    for one, same in zip(found, other, strict=True):
        assert (one.reliable, one.dof, one.method) == (same.reliable, same.dof, same.method)
        if one.reliable:
            statistic, dof = g_test(rows, ARITIES, one.x, 1, one.given, "log-likelihood")
            assert (one.statistic, one.dof) == (pytest.approx(statistic, rel=1e-10, abs=1e-9), dof)
            assert (one.log_p, one.n_rows) == (pytest.approx(same.log_p, rel=1e-9, abs=1e-12), len(rows))


def test_a_test_without_rows_is_not_performed():
    codes = np.array([[2, 0], [0, 2], [2, 1], [1, 2]] * 20)
    frame = Frame.from_columns(list(codes.T), ["a", "b"], [(0, 1), (0, 1)], 80, frozenset({0, 1}))
    for counter in (MemoryCounter(frame, 1), OtherCounter(frame, 1), SlicedCounter(frame, slice_rows=30)):
        evidence = TableTests(counter, reliability=0).test(0, 1)
        assert (evidence.reliable, evidence.n_rows, evidence.dof) == (False, 0, 0.0)


def test_layers_keep_the_rows_of_each_test():
    table, frame = with_holes(2000)
    layered = ConditionedTests(TableTests(MemoryCounter(frame, 1)), [3])
    assert layered.test(0, 1).n_rows == len(table.dropna(subset=[0, 1, 3]))


def test_a_column_with_one_value_and_holes_tells_nothing():
    rng = np.random.default_rng(0)
    codes = [np.where(rng.random(500) < 0.3, 1, 0), rng.integers(0, 2, 500), rng.integers(0, 2, 500)]
    frame = Frame.from_columns(codes, ["one", "a", "b"], [(0,), (0, 1), (0, 1)], 500, frozenset({0}))
    tests = TableTests(MemoryCounter(frame, 1))
    assert tests.test(0, 1).dof == 0
    assert tests.test(1, 2, (0,)).n_rows == int((codes[0] == 0).sum())
