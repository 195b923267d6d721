"""The question shapes that follow from `scan`, against direct enumeration."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest

from blankets.counting import MemoryCounter
from blankets.data import Frame
from blankets.errors import DataError, ParameterError
from blankets.independence import DSeparation, IndependenceTest, TableTests, subsets


@pytest.fixture(scope="module")
def tests():
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 3, (700, 7))
    for j in range(1, 7):
        codes[:, j] = np.where(rng.random(700) < 0.45, codes[:, j - 1], codes[:, j])
    return TableTests(MemoryCounter(Frame.from_codes(codes)))


def all_subsets(among):
    return [z for size in range(len(among) + 1) for z in combinations(among, size)]


def weakest(tests, x, y, sets):
    """Return the evidence with the largest log p among reliable tests, the first one on ties."""
    reliable = [e for e in (tests.test(x, y, z) for z in sets) if e.reliable]
    return max(reliable, key=lambda e: (e.log_p, -e.statistic), default=None)


def test_drop_one_is_each_member_given_the_others(tests):
    batch = tests.drop_one([1, 4, 5], 0)
    for evidence, x in zip(batch, [1, 4, 5], strict=True):
        alone = tests.test(x, 0, [z for z in (1, 4, 5) if z != x])
        assert (evidence.x, evidence.given) == (x, alone.given)
        assert (evidence.statistic, evidence.dof, evidence.log_p) == (alone.statistic, alone.dof, alone.log_p)
    assert list(tests.drop_one([1, 4, 5], 0, [5, 1])) == [batch[2], batch[0]]


def test_drop_one_of_nobody(tests):
    assert len(tests.drop_one([], 0)) == 0


@pytest.mark.parametrize("max_size", [None, 0, 1, 2])
def test_separate_finds_the_weakest_subset(tests, max_size):
    among = [2, 3, 5]
    batch = tests.separate([1, 4, 6], 0, among, max_size=max_size)
    sets = [z for z in all_subsets(among) if max_size is None or len(z) <= max_size]
    for evidence in batch:
        best = weakest(tests, evidence.x, 0, sets)
        assert (evidence.given, evidence.log_p, evidence.statistic) == (best.given, best.log_p, best.statistic)


def test_separate_skips_sets_that_hold_the_candidate(tests):
    among = [1, 2, 3]
    for evidence in tests.separate(among, 0, among):
        best = weakest(tests, evidence.x, 0, [z for z in all_subsets(among) if evidence.x not in z])
        assert (evidence.given, evidence.log_p) == (best.given, best.log_p)


def test_separate_containing_the_newest_member(tests):
    among = [2, 3, 5]
    for evidence in tests.separate([1, 4, 6], 0, among, containing=3):
        best = weakest(tests, evidence.x, 0, [z for z in all_subsets(among) if 3 in z])
        assert (evidence.given, evidence.log_p) == (best.given, best.log_p)


def test_separate_stops_at_the_first_independence(tests):
    among = [1, 2, 3]
    for evidence in tests.separate([4, 5, 6], 0, among, stop_at=0.05):
        first = next((z for z in all_subsets(among) if tests.test(evidence.x, 0, z).independent(0.05)), None)
        if first is not None:
            assert evidence.given == first
            assert evidence.independent(0.05)


def test_separate_without_a_reliable_test_stays_unreliable():
    codes = np.random.default_rng(0).integers(0, 3, (15, 4))
    tests = TableTests(MemoryCounter(Frame.from_codes(codes, arities=[3] * 4)))  # 4 dof need 20 rows
    batch = tests.separate([1, 2], 0, [3])
    assert batch.reliable.tolist() == [False, False]
    assert tests.n_tests == 0


def test_sets_too_deep_for_the_rows_are_not_even_looked_at(tests, monkeypatch):
    # 700 rows, three levels: 4 · 3^k degrees of freedom allow k <= 3.
    assert tests.deepest([1, 2], 0, [3, 4, 5, 6]) == 3
    asked = []
    scan = tests.scan
    monkeypatch.setattr(tests, "scan", lambda xs, y, given: asked.append(len(given)) or scan(xs, y, given))
    IndependenceTest.separate(tests, [1, 2], 0, [3, 4, 5, 6])
    assert max(asked) == 3


def test_subsets_from_a_size_on():
    assert [z for size in subsets([5, 7, 9], min_size=2) for z in size] == [(5, 7), (5, 9), (7, 9), (5, 7, 9)]
    assert [z for size in subsets([5, 7], containing=7, min_size=1, max_size=1) for z in size] == [(7,)]


def test_subsets_by_size():
    assert [list(size) for size in subsets([5, 7, 9], max_size=1)] == [[()], [(5,), (7,), (9,)]]
    assert [z for size in subsets([5, 7, 9], containing=7, max_size=2) for z in size] == [(7,), (5, 7), (7, 9)]


def test_remember_asks_once(tests):
    asked = []
    for _ in range(3):
        assert tests.remember("key", lambda: asked.append(1) or "answer") == "answer"
    assert asked == [1]


def test_d_separation_equals_networkx_on_every_question():
    rng = np.random.default_rng(8)
    for _ in range(40):
        n = int(rng.integers(2, 8))
        graph = nx.DiGraph()
        graph.add_nodes_from(range(n))
        order = rng.permutation(n)
        graph.add_edges_from(
            (int(order[i]), int(order[j])) for i in range(n) for j in range(i + 1, n) if rng.random() < 0.4
        )
        oracle = DSeparation(graph)
        for x, y in combinations(range(n), 2):
            for z in all_subsets([v for v in range(n) if v not in (x, y)]):
                assert oracle.test(x, y, z).independent(0.01) == nx.is_d_separator(graph, {x}, {y}, set(z))


def test_d_separation_refuses_a_cycle():
    with pytest.raises(DataError, match="has a cycle"):
        DSeparation(nx.DiGraph([(0, 1), (1, 0)]))


def test_threads_count_for_themselves_and_lose_nothing():
    from concurrent.futures import ThreadPoolExecutor

    from blankets.independence._contract import Tally

    tally = Tally()

    def work(_):
        before = tally.here
        for _ in range(2000):
            tally.add(1)
        return tally.here - before

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(work, range(12))) == {2000}
    assert (tally.total, tally.here) == (24_000, 0)


def test_nodes_that_a_graph_does_not_have_are_refused():
    with pytest.raises(ParameterError, match=r"nodes are asked for by their numbers, 0 to 2, but these are .*7"):
        DSeparation(nx.path_graph(3, nx.DiGraph)).scan([1, 7], 0)
