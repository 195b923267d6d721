"""`AlwaysGiven`: every test is given the fixed columns too, and the algorithms do not notice."""

import networkx as nx
import numpy as np
import pytest

from blankets.counting import MemoryCounter
from blankets.data import Frame
from blankets.errors import ParameterError
from blankets.independence import AlwaysGiven, CalibratedTests, DSeparation, TableTests


@pytest.fixture(scope="module")
def codes():
    rng = np.random.default_rng(5)
    codes = rng.integers(0, 3, (400, 6))
    for j in range(1, 6):
        codes[:, j] = np.where(rng.random(400) < 0.5, codes[:, j - 1], codes[:, j])
    return codes


@pytest.mark.parametrize("kind", [TableTests, CalibratedTests])
def test_each_answer_is_that_given_the_fixed_set_too(codes, kind):
    inner = kind(MemoryCounter(Frame.from_codes(codes)), reliability=0.0)
    tests = AlwaysGiven(inner, [5])
    for given in ((), (2,), (2, 3)):
        for told, true in zip(tests.scan([0, 4], 1, given), inner.scan([0, 4], 1, (*given, 5)), strict=True):
            assert told.given == given
            assert (told.statistic, told.dof, told.log_p, told.n_rows) == (
                true.statistic,
                true.dof,
                true.log_p,
                true.n_rows,
            )
    assert inner.scan([0, 4], 1, (2, 5)).given == (2, 5)  # what the tests below keep is not changed


def test_drop_one_and_separate_follow(codes):
    inner = TableTests(MemoryCounter(Frame.from_codes(codes)), reliability=0.0)
    tests = AlwaysGiven(inner, [5])
    for told in tests.drop_one([0, 2, 3], 1):
        others = tuple(z for z in (0, 2, 3) if z != told.x)
        assert (told.given, told.log_p) == (others, inner.test(told.x, 1, (*others, 5)).log_p)
    (told,) = tests.separate([0], 1, [2, 3])
    sets = [(), (2,), (3,), (2, 3)]
    assert told.log_p == max(inner.test(0, 1, (*z, 5)).log_p for z in sets)
    assert told.log_p == inner.test(0, 1, (*told.given, 5)).log_p


def test_the_fixed_set_takes_its_part_of_the_rows(codes):
    # 400 rows, three levels: 5 rows for each of 4 · 3^k degrees of freedom allow k <= 2, one of which is fixed.
    inner = TableTests(MemoryCounter(Frame.from_codes(codes)))
    assert inner.deepest([0], 1, [2, 3, 4]) == 2
    assert AlwaysGiven(inner, [5]).deepest([0], 1, [2, 3, 4]) == 1
    assert AlwaysGiven(inner, [5]).rows_for(0, 1, [2]) == inner.rows_for(0, 1, [2, 5]) == 5 * 4 * 9


def test_a_fixed_column_cannot_be_tested():
    tests = AlwaysGiven(DSeparation(nx.DiGraph(["ab", "bc"])), [1])
    with pytest.raises(ParameterError, match="'b' is given in every test, so that it cannot be tested itself"):
        tests.test(0, 1)
    assert tests.at_level(0.05).by_formula().test(0, 2, [1]).independent(0.01)
    assert tests.n_tests == tests.n_tests_here == 1
