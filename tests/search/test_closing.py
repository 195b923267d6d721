"""Closing: what it changes, what it leaves, and what it says about columns that it could not test."""

import numpy as np
import pytest

from blankets.counting import MemoryCounter
from blankets.data import Frame, ingest
from blankets.independence import (
    ConditionedTests,
    DSeparation,
    EvidenceBatch,
    IndependenceTest,
    NumberTests,
    PValues,
    TableTests,
    table_tests,
)
from blankets.results._false_members import n_chances
from blankets.search import ALGORITHMS, Doubt, Found, Trace, Trouble, Undecided
from blankets.search._equivalents import equivalents_of
from blankets.search.closing import close, settle
from search.graphs import truth, varied_dag

ALPHA = 0.01
SOUND = [name for name, algorithm in ALGORITHMS.items() if algorithm.sound and algorithm.finds == "blanket"]


def asked(*columns, reliability=5.0):
    """Calibrated tests of columns of codes; the target is the first."""
    return table_tests(MemoryCounter(Frame.from_codes(np.column_stack(columns))), level=ALPHA, reliability=reliability)


def closed(tests, members=()):
    trace = Trace()
    others = list(range(1, len(tests.names)))
    return close(tests, 0, others, Found(members=tuple(members)), alpha=ALPHA, trace=trace), trace


@pytest.mark.parametrize("name", SOUND)
def test_closing_changes_nothing_of_a_sound_answer(name):
    rng, shuffle = np.random.default_rng(21), np.random.default_rng(22)
    options = {"rng": shuffle} if "rng" in ALGORITHMS[name].options else {}
    for _ in range(15):
        graph = varied_dag(rng)
        tests = DSeparation(graph)
        for target in graph.nodes:
            others = [x for x in graph.nodes if x != target]
            found = ALGORITHMS[name].run(tests, target, others, alpha=ALPHA, trace=Trace(), **options)
            after = close(tests, target, others, found, alpha=ALPHA, trace=Trace())
            assert after.members == found.members
            assert (after.entered, after.left, after.undecided, after.unchecked) == ((), (), {}, ())


def test_closing_from_nothing_is_a_search():
    rng = np.random.default_rng(23)
    for _ in range(60):
        graph = varied_dag(rng)
        tests = DSeparation(graph)
        for target in graph.nodes:
            others = [x for x in graph.nodes if x != target]
            members = settle(tests, target, others, (), alpha=ALPHA, trace=Trace())
            assert set(members) == truth(graph, target).blanket


def test_near_copies_that_put_each_other_out_come_back():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 600)
    hidden = np.where(rng.random(600) < 0.7, y, 1 - y)
    a, b = (np.where(rng.random(600) < 0.998, hidden, 1 - hidden) for _ in range(2))
    found, trace = closed(asked(y, a, b))
    assert len(found.entered) == 1
    assert found.members == found.entered
    assert [d.phase for d in trace.decisions] == ["closing"]
    assert set(found.equivalents[found.members[0]]) == {1, 2} - set(found.members)


def test_an_exact_copy_is_out_and_an_equivalent():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 500)
    a = np.where(rng.random(500) < 0.8, y, 1 - y)
    found, _ = closed(asked(y, a, 1 - a, 3 * a))
    assert found.members == (1,)
    assert found.equivalents == {1: (2, 3)}
    assert found.undecided == {}


def test_a_column_that_rows_are_too_few_for_is_undecided():
    rng = np.random.default_rng(3)
    n = 600
    a, b = rng.integers(0, 12, (2, n))
    y = (a % 2 + (rng.random(n) < 0.1)) % 2
    w = np.where(rng.random(n) < 0.7, a, rng.integers(0, 12, n))  # tied through a alone
    found, _ = closed(asked(y, a, b, w), members=(1,))
    # 5 rows for each of 11 x 1 x 12 degrees of freedom given the member.
    assert found.undecided == {3: Undecided(Doubt.FEW_ROWS, 5 * 11 * 12)}
    assert found.partly == (2,)  # alone it is independent


def test_chance_enters_once_in_a_hundred_blankets():
    # At the level alpha / columns a blanket of noise has a member with probability alpha at most: 400 of them, 4
    # expected, and 12 would have probability 0.001 (binomial).
    entered = 0
    for seed in range(400):
        rng = np.random.default_rng([7, seed])
        found, _ = closed(asked(*rng.integers(0, 3, (20, 200))))
        entered += len(found.members)
    assert entered <= 12


def test_equivalents_need_both_directions():
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 3000)
    a = np.where(rng.random(3000) < 0.9, y, 1 - y)
    worse = np.where(rng.random(3000) < 0.7, a, 1 - a)  # a makes it irrelevant, but it cannot stand in for a
    assert equivalents_of(asked(y, a, worse), 0, [1], [2], alpha=ALPHA) == {}


def test_columns_that_keep_removing_each_other_are_noticed():
    """Each of three takes the place of the one before: b given a, c given b, a given c, and so on."""
    dependent = {(1, ()), (2, ()), (3, ()), (2, (1,)), (3, (2,)), (1, (3,))}

    class Circle(IndependenceTest):
        names, n_rows = ("y", "a", "b", "c"), 1000

        def scan(self, xs, y, given=(), *, even_if_unreliable=False):
            tied = np.array([(x, tuple(sorted(given))) in dependent for x in xs], float)
            ones = np.ones(len(tied))
            sure = {"dof": ones, "n_rows": 1000, "reliable": ones > 0}
            return EvidenceBatch(np.array(xs), y, tuple(given), statistic=99 * tied, log_p=-50 * tied, **sure)

    trace = Trace()
    assert settle(Circle(), 0, [1, 2, 3], [], alpha=ALPHA, trace=trace) == (1, 2)
    assert trace.notes[0].trouble is Trouble.KEPT


# Tests that are given more than was asked for -----------------------------------------------------------------------


def test_a_member_tested_given_some_others_and_fixed_columns_is_not_called_checked():
    # 15 rows for each stratum: 960 given two columns of four levels and two of two levels; 3,840 given three of four.
    rng = np.random.default_rng(2)
    y, four, two = rng.integers(0, 2, 1000), rng.integers(0, 4, (4, 1000)), rng.integers(0, 2, (2, 1000))
    below = TableTests(MemoryCounter(Frame.from_codes(np.column_stack([y, *four, *two]))))
    found = close(
        ConditionedTests(below, [5, 6]), 0, [1, 2, 3, 4], Found(members=(1, 2, 3, 4)), alpha=ALPHA, trace=Trace()
    )
    assert found.unchecked == (1, 2, 3, 4)
    assert [len(e.given) for e in found.evidence] == [4] * 4
    assert all({5, 6} < set(e.given) for e in found.evidence)


def test_equivalents_and_chances_are_the_same_if_a_column_that_tells_nothing_is_always_given():
    rng = np.random.default_rng(1)
    y, noise = rng.integers(0, 2, 2000), rng.integers(0, 2, 2000)
    hidden = np.where(rng.random(2000) < 0.7, y, 1 - y)
    a, b = (np.where(rng.random(2000) < 0.998, hidden, 1 - hidden) for _ in range(2))
    tests = asked(y, a, b, noise)
    for always in ([], [3]):
        trace = Trace()
        found = close(ConditionedTests(tests, always), 0, [1, 2, 3], Found(members=()), alpha=ALPHA, trace=trace)
        assert len(found.members) == 1
        assert found.equivalents == {found.members[0]: (3 - found.members[0],)}
        assert [batch.asked for _, batch in trace.scans] == [(), found.members]
        growing = Trace(scans=[("growing", batch) for _, batch in trace.scans])
        assert n_chances(growing, 0, 4) == 3 + 2  # three columns given nothing, two given the first member


def numbers(**columns):
    return NumberTests(ingest(columns, numbers=True).frame, level=ALPHA)


def graded(weak):
    """Return tests in which two members tell much about the target, and one as much as ``weak``."""
    rng = np.random.default_rng(0)
    cause, other, little, noise = rng.normal(size=(4, 600))
    basis = np.linalg.qr(np.column_stack([np.ones(600), cause, other]))[0]
    little, noise = (v - basis @ (basis.T @ v) for v in (little, noise))
    noise -= little * (little @ noise) / (little @ little)  # not even by chance
    return numbers(y=cause + other + weak * little + noise, cause=cause, other=other, little=little)


@pytest.mark.parametrize(("weak", "becomes"), [(0.0, "out"), (0.08, "undecided"), (0.3, "member")])
def test_what_a_members_own_test_says_decides_where_numbers_are_involved(weak, becomes):
    """Above p = .1 it leaves, between the level and that it is undecided; whoever brought it."""
    tests = graded(weak)
    p = tests.test(3, 0, [1, 2]).p
    assert {"out": p > 0.1, "undecided": ALPHA < p <= 0.1, "member": p <= ALPHA}[becomes]
    found, _ = closed(tests, members=(1, 2, 3))
    assert found.members == ((1, 2, 3) if becomes == "member" else (1, 2))
    assert list(found.undecided) == ([3] if becomes == "undecided" else [])
    if becomes == "undecided":
        assert found.undecided[3].reason == "weak"
        assert 3 not in {e.x for e in found.evidence}
    required = close(tests, 0, [1, 2, 3], Found(members=(1, 2)), alpha=ALPHA, trace=Trace(), required=[3])
    assert 3 in required.members


def test_tests_of_ones_own_are_not_asked_for_more():
    """A p-value of .3 without a method says nothing of numbers: what a search found stays."""
    names = ["y", "a", "b"]
    own = PValues(lambda x, y, given: 1e-9 if "a" in (x, y) else 0.3, names, 500)
    found = close(own, 0, [1, 2], Found(members=(1, 2)), alpha=ALPHA, trace=Trace())
    assert found.members == (1, 2)
    assert found.undecided == {}


def cells(n=400, seed=3):
    """Return tests of a target and a column that both depend on every pair of two columns of 14 levels."""
    rng = np.random.default_rng(seed)
    site, ward = rng.integers(0, 14, (2, n))
    mean = 2.5 * rng.normal(size=(14, 14))[site, ward]
    as_text = {"site": [f"s{k}" for k in site], "ward": [f"w{k}" for k in ward]}
    return numbers(y=mean + 0.1 * rng.normal(size=n), x=mean + 0.1 * rng.normal(size=n), **as_text)


def test_a_column_outside_for_which_members_could_not_be_held_fixed_is_undecided():
    tests = cells()
    assert not tests.test(1, 0, [2, 3]).held
    found = close(tests, 0, [1, 2, 3], Found(members=(2, 3)), alpha=ALPHA, trace=Trace(), required=[2, 3])
    assert found.members == (2, 3)
    assert found.undecided[1].reason == "not held fixed"


def test_of_two_columns_that_say_almost_the_same_one_stays():
    rng = np.random.default_rng(5)
    cause, noise, more = rng.normal(size=(3, 400))
    tests = numbers(y=cause + noise, one=cause + 0.05 * more, other=cause - 0.05 * more)
    assert all(tests.test(x, 0, [3 - x]).p > ALPHA for x in (1, 2))  # neither is needed beside the other
    found, _ = closed(tests, members=(1, 2))
    assert len(found.members) == 1
    assert found.evidence[0].p < 1e-6  # its own test, given nothing else


def test_categories_found_by_a_search_stay():
    cause, none = np.tile([0, 0, 1, 1], 100), np.tile([0, 1, 0, 1], 100)
    y = np.where(np.arange(400) % 8 < 4, cause, 1 - cause)
    y[:200] = cause[:200]
    tests = asked(y, cause, none)
    assert tests.test(2, 0, [1]).p > 0.5
    assert settle(tests, 0, [1, 2], [1, 2], alpha=ALPHA, trace=Trace(), stay=[1, 2]) == (1, 2)


def test_many_members_are_asked_to_leave_less_often():
    """What is asked of members, by tests that find all of forty columns, whatever is given."""
    asked_for = []

    class Sure(IndependenceTest):
        names, n_rows = tuple(f"x{i}" for i in range(41)), 1000

        def scan(self, xs, y, given=(), *, even_if_unreliable=False):
            ones = np.ones(len(xs))
            sure = {"dof": ones, "n_rows": 1000, "reliable": ones > 0}
            return EvidenceBatch(np.array(xs), y, tuple(given), statistic=99 * ones, log_p=-50 * ones, **sure)

        def drop_one(self, members, y, only=None):
            asked_for.append(len(members))
            return super().drop_one(members, y, only)

    members = settle(Sure(), 0, list(range(1, 41)), [], alpha=ALPHA, trace=Trace())
    assert sorted(members) == list(range(1, 41))
    assert asked_for[:15] == list(range(2, 17))  # after every entry, from the second on
    assert 24 < len(asked_for) < 40
    assert asked_for[-1] == 40
