import networkx as nx
import numpy as np
import pytest

from blankets.counting import MemoryCounter
from blankets.data import Frame
from blankets.independence import ConditionedTests, DSeparation, RoutedTests, TableTests
from blankets.search import Trace, find


@pytest.fixture(scope="module")
def inner():
    rng = np.random.default_rng(0)
    return TableTests(MemoryCounter(Frame.from_codes(rng.integers(0, 2, (500, 6)))))


def test_every_test_is_given_the_fixed_set_too(inner):
    tests = ConditionedTests(inner, [4, 5])
    batch = tests.scan([0, 1], 2, [3])
    expected = inner.scan([0, 1], 2, [3, 4, 5])
    assert np.array_equal(batch.statistic, expected.statistic)
    assert batch.given_of(0) == (3, 4, 5)
    assert tests.separate([0], 2, [1, 3]).given_of(0)[-2:] == (4, 5)


def test_what_is_in_both_sets_counts_once(inner):
    tests = ConditionedTests(inner, [4, 5])
    assert tests.test(0, 2, [4]).statistic == inner.test(0, 2, [4, 5]).statistic
    assert tests.test(0, 2, [4, 3, 4]).statistic == inner.test(0, 2, [3, 4, 5]).statistic
    assert tests.test(0, 4, [1]).statistic == inner.test(0, 4, [1, 5]).statistic


def test_a_member_of_the_set_is_tested_given_the_others(inner):
    tests = ConditionedTests(inner, [4, 5])
    batch = tests.scan([4, 0, 5, 1], 2, [3])
    expected = [
        inner.test(4, 2, [3, 5]).statistic,
        inner.test(0, 2, [3, 4, 5]).statistic,
        inner.test(5, 2, [3, 4]).statistic,
        inner.test(1, 2, [3, 4, 5]).statistic,
    ]
    assert batch.xs.tolist() == [4, 0, 5, 1]
    assert batch.statistic.tolist() == expected
    assert tests.scan([5], 2).statistic.tolist() == [inner.test(5, 2, [4]).statistic]


def test_reliability_accounts_for_the_fixed_set(inner):
    frame = inner.counter.frame
    strict = TableTests(MemoryCounter(frame), reliability=500 / 4)  # four degrees of freedom at most
    assert ConditionedTests(strict, [4]).test(0, 2, [3]).reliable
    assert not ConditionedTests(strict, [4, 5]).test(0, 2, [3]).reliable
    # 125 rows for each stratum: four strata at most, which the two fixed columns make.
    assert strict.deepest([0], 2, [1, 3]) == 2
    assert ConditionedTests(strict, [4]).deepest([0], 2, [1, 3]) == 1
    assert ConditionedTests(strict, [4, 5]).deepest([0], 2, [1, 3]) == 0
    assert ConditionedTests(strict, [4, 5]).deepest([0], 2, [1, 5]) == 1
    routed = RoutedTests(2, ConditionedTests(strict, [4, 5]), strict)
    assert (routed.deepest([0], 2, [1, 3]), routed.deepest([2], 0, [1, 3]), routed.deepest([0, 2], 1, [3, 4])) == (
        0,
        0,
        2,
    )


@pytest.mark.parametrize("name", ["iamb", "inter-iamb", "gs", "pcmb", "mbor", "ipc-mb"])
@pytest.mark.parametrize("seed", range(8))
def test_blankets_stay_what_they_are(name, seed):
    """Sound algorithms with perfect tests find the same blanket, whatever is conditioned on besides."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(6)
    edges = [(order[i], order[j]) for i in range(6) for j in range(i + 1, 6) if rng.random() < 0.4]
    graph = nx.DiGraph()
    graph.add_nodes_from(map(str, range(6)))
    graph.add_edges_from((str(a), str(b)) for a, b in edges)
    tests = DSeparation(graph)
    for target in range(6):
        others = [x for x in range(6) if x != target]
        blanket = set(graph.predecessors(str(target))) | set(graph.successors(str(target)))
        blanket |= {p for c in graph.successors(str(target)) for p in graph.predecessors(c)} - {str(target)}
        always = rng.choice(others, 2, replace=False).tolist()
        routed = RoutedTests(target, ConditionedTests(tests, always), tests)  # as under MAR-F
        found = find(name).run(routed, target, others, alpha=0.01, trace=Trace())
        assert {str(x) for x in found.members} == blanket
