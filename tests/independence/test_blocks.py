"""Tests without cutting: which test answers, what it finds, and that both ways to ask give one answer."""

import numpy as np
import pytest
from scipy import stats

from blankets.counting import MemoryCounter, MemoryMoments
from blankets.data import ingest
from blankets.errors import ParameterError
from blankets.independence import BLOCK_METHODS as METHODS
from blankets.independence import BlockTests, CalibratedTests, MixedTests

N = 600


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(1)
    z, town = rng.normal(size=N), rng.integers(0, 3, N)
    table = {
        "z": z,
        "bent": z**2 + rng.normal(size=N),
        "also": z**2 + np.exp(z / 2) * rng.normal(size=N),
        "town": np.array(list("abc"))[town],
        "ill": (z + rng.logistic(size=N) > 0),
        "rare": np.where(rng.random(N) < 0.02 + 0.04 * (z > 1), "yes", "no"),
        "sign": np.where(rng.random(N) < 0.015, "yes", "no"),
        "half": np.where(rng.random(N) < 0.5, town, rng.integers(0, 3, N)),
    }
    return ingest(table, numbers=True).frame


@pytest.fixture(scope="module")
def tests(frame):
    measured = np.array([j in frame.numbers for j in range(frame.n_columns)])
    tables = CalibratedTests(MemoryCounter(frame.without_numbers()))
    return MixedTests(tables, BlockTests(MemoryMoments(frame)), measured)


def at(tests, *names):
    return [tests.names.index(name) for name in names]


def test_curved_dependence_is_seen_and_taken_out(tests):
    z, bent, also = at(tests, "z", "bent", "also")
    assert tests.test(bent, also).p < 1e-10
    assert tests.test(bent, z).p < 1e-10  # their correlation is 0
    assert abs(np.corrcoef(tests.blocks.moments.rows(z, 1)[0], tests.blocks.moments.rows(bent, 1)[0])[0, 1]) < 0.1
    assert tests.test(bent, also, [z]).p > 0.01


def test_a_linear_test_of_two_numbers_agrees_with_pearsons(frame):
    tests = BlockTests(MemoryMoments(frame))
    z, ill = at(tests, "z", "ill")
    r = np.corrcoef(frame.numbers[z].values, frame.column(ill))[0, 1]
    evidence = tests.test(ill, z)
    assert evidence.effect > -0.5 * np.log(1 - r**2)  # the square tells a little more
    assert evidence.effect < -0.5 * np.log(1 - r**2) + 0.01
    assert stats.pearsonr(frame.numbers[z].values, frame.column(ill)).pvalue < 1e-10 > evidence.p


def test_questions_of_categories_alone_are_answered_by_counting(tests):
    town, half, ill, z = at(tests, "town", "half", "ill", "z")
    for x, y, given in [(town, half, ()), (half, ill, (town,))]:
        counted, asked = tests.tables.test(x, y, given), tests.test(x, y, given)
        assert (asked.log_p, asked.statistic, asked.method) == (counted.log_p, counted.statistic, counted.method)
    assert tests.test(town, half, [z]).method in METHODS


def test_one_scan_takes_columns_of_both_kinds(tests):
    xs = at(tests, "town", "z", "ill", "bent")
    y = at(tests, "half")[0]
    batch = tests.scan(xs, y)
    assert batch.xs.tolist() == xs
    for evidence in batch:
        alone = tests.test(evidence.x, y)
        assert (evidence.log_p, evidence.method) == (alone.log_p, alone.method)


@pytest.mark.parametrize(
    ("x", "y", "given", "method"),
    [
        ("bent", "also", ["z"], 3),
        ("rare", "bent", ["z"], 4),
        ("bent", "rare", ["z"], 4),
        ("rare", "sign", ["z"], 5),
        ("town", "also", ["z"], 3),
    ],
)
def test_each_p_value_says_how_it_was_found_and_does_not_depend_on_who_asks(frame, x, y, given, method):
    tests = BlockTests(MemoryMoments(frame))
    tests._window = (-np.inf, 0.0)  # rows decide everything
    one, other, z = at(tests, x, y, *given)
    asked, turned = tests.test(one, other, [z]), tests.test(other, one, [z])
    assert asked.method == turned.method == METHODS[method]
    assert asked.log_p == pytest.approx(turned.log_p, rel=1e-6)


def test_far_from_the_level_inner_products_decide(frame):
    tests = BlockTests(MemoryMoments(frame), level=0.01)
    z, bent, town = at(tests, "z", "bent", "town")
    assert tests.test(bent, z).method == METHODS[2]
    every = BlockTests(MemoryMoments(frame), level=None)
    assert every.test(bent, z).method == METHODS[3]
    assert tests.at_level(0.001).level == 0.001
    assert tests.test(town, bent).dof == 4


def test_too_few_rows_are_a_third_answer(frame):
    few = frame.take(np.arange(30))
    tests = BlockTests(MemoryMoments(few))
    z, bent, also, town = at(tests, "z", "bent", "also", "town")
    assert tests.test(bent, z).reliable  # 4 pairs of functions, 20 rows
    unreliable = tests.test(bent, also, [z, town])
    assert not unreliable.reliable
    assert np.isnan(unreliable.statistic)
    assert tests.rows_for(bent, also, [z, town]) == 5 * (4 + 1 + 2)
    assert tests.deepest([bent], also, [z, town]) == 1
    assert not np.isnan(tests.scan([bent], also, [z, town], even_if_unreliable=True).statistic[0])


def test_a_column_that_the_given_ones_determine_has_nothing_to_test():
    z = np.random.default_rng(0).normal(size=200)
    frame = ingest({"z": z, "twice": 2 * z + 1, "x": z + 1.0 * (z > 0)}, numbers=True).frame
    evidence = BlockTests(MemoryMoments(frame)).test(1, 2, [0])
    assert (evidence.dof, evidence.method) == (0, METHODS[1])
    assert evidence.independent(0.01)


def test_reliability_is_a_number(frame):
    with pytest.raises(ParameterError, match="reliability"):
        BlockTests(MemoryMoments(frame), reliability=-1)


def test_the_quick_formula_asks_no_rows(tests):
    z, *others = at(tests, "z", "bent", "also", "ill")
    quick, slow = tests.by_formula().scan(others, z), tests.scan(others, z)
    assert {evidence.method for evidence in quick} == {METHODS[2]}
    assert {evidence.method for evidence in slow} == {METHODS[3]}
    # Apart from that it is the same test.
    assert quick.statistic.tolist() == slow.statistic.tolist()
    assert tests.by_formula().at_level(0.01).test(others[0], z).method == METHODS[3]
