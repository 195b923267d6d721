"""Every registered algorithm with perfect tests: the true blanket of every node of many graphs.

Truths are read off the graph; the tests are d-separation. One suite for all algorithms: what a sound one
must return, and what even an unsound one must not do.
"""

import numpy as np
import pytest

from blankets.independence import DSeparation
from blankets.search import ALGORITHMS, Trace, Trouble
from blankets.search._roles import orient, resolve_roles
from search.graphs import five_node_dags, graph_of, truth, varied_dag

ALPHA = 0.05
SOUND = [name for name, algorithm in ALGORITHMS.items() if algorithm.sound]
UNSOUND = [name for name, algorithm in ALGORITHMS.items() if not algorithm.sound and name != "ks"]
GRAPHS_A_PART = 26
PARTS = [0, *(pytest.param(part, marks=pytest.mark.slow) for part in range(1, 20))]  # 520 graphs in all


def searched(name, graphs, *, shuffle):
    """Run an algorithm on every node of every graph: yields graph, tests, target, what it found, trace."""
    algorithm = ALGORITHMS[name]
    options = {"rng": shuffle} if "rng" in algorithm.options else {}
    for graph in graphs:
        tests = DSeparation(graph)
        for target in graph.nodes:
            candidates = shuffle.permutation([x for x in graph.nodes if x != target]).tolist()
            trace = Trace()
            found = algorithm.run(tests, target, candidates, alpha=ALPHA, trace=trace, **options)
            yield graph, tests, target, found, trace


def check_answer(name, graph, target, found):
    """Assert that members and roles are exactly the true ones."""
    true, what = truth(graph, target), (sorted(graph.edges), target)
    expected = true.blanket if ALGORITHMS[name].finds == "blanket" else true.neighbors
    assert set(found.members) == expected, what
    assert len(found.members) == len(expected), what
    if ALGORITHMS[name].roles:
        assert set(found.roles) == expected, what
        assert {x for x, role in found.roles.items() if role == "spouse"} == expected - true.neighbors, what
        check_orientation(found.roles, true, what)
        for spouse, child in found.common_children.items():
            assert graph.has_edge(target, child), what
            assert graph.has_edge(spouse, child), what


def check_orientation(roles, true, what):
    """Assert that no parent is called a child, nor the other way round."""
    assert {x for x, role in roles.items() if role == "parent"} <= true.parents, what
    assert {x for x, role in roles.items() if role == "child"} <= true.children, what


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("name", SOUND)
def test_sound_algorithms_return_the_true_blanket(name, part):
    rng, shuffle = np.random.default_rng([1, part]), np.random.default_rng([2, part])
    graphs = [varied_dag(rng) for _ in range(GRAPHS_A_PART)]
    for graph, tests, target, found, _ in searched(name, graphs, shuffle=shuffle):
        check_answer(name, graph, target, found)
        for x, separator in found.separators.items():
            assert tests.test(x, target, separator).independent(ALPHA), (sorted(graph.edges), target, x)


@pytest.mark.parametrize("name", UNSOUND)
def test_unsound_algorithms_are_mostly_right(name, record_property):
    rng, shuffle = np.random.default_rng([3, 0]), np.random.default_rng([3, 1])
    graphs = [varied_dag(rng) for _ in range(30)]
    wrong = runs = 0
    for graph, _, target, found, _ in searched(name, graphs, shuffle=shuffle):
        assert set(found.members) <= set(graph.nodes) - {target}
        assert set(found.roles) <= set(found.members)
        true = truth(graph, target)
        runs += 1
        wrong += set(found.members) != (true.blanket if ALGORITHMS[name].finds == "blanket" else true.neighbors)
    record_property("share of wrong answers", wrong / runs)
    assert wrong / runs < 0.2


@pytest.mark.parametrize("seed", range(2))
def test_roles_of_a_known_blanket(seed):
    """The blanket alone is enough to tell neighbors from spouses, although other variables are hidden."""
    rng = np.random.default_rng([4, seed])
    for graph in [varied_dag(rng) for _ in range(30)]:
        tests = DSeparation(graph)
        for target in graph.nodes:
            true, what = truth(graph, target), (sorted(graph.edges), target)
            members = rng.permutation(sorted(true.blanket)).astype(int).tolist()
            trace = Trace()
            found = resolve_roles(tests, target, members, alpha=ALPHA, trace=trace)
            assert found.members == tuple(members)
            assert not trace.notes
            assert {x for x, role in found.roles.items() if role == "spouse"} == true.spouses, what
            assert set(found.roles) == true.blanket, what
            check_orientation(found.roles, true, what)
            spouses = {x: min(true.children & set(graph.successors(x))) for x in true.spouses}
            oriented = orient(tests, target, sorted(true.neighbors), spouses, alpha=ALPHA)
            assert set(oriented) == true.blanket, what
            check_orientation(oriented, true, what)


# Interleaved IAMBnPC with nothing but the rule "bar what PC dropped until the blanket changes" cycles on
# these two, or stops with {1, 2, 3, 9} and {1, 4, 8, 10}.
STUBBORN = [
    (
        {0: [9], 1: [2, 6], 3: [2], 4: [3], 5: [9, 10], 8: [0, 2, 7], 9: [2, 7, 10], 11: [1, 3, 9]},
        4,
    ),
    (
        {0: [5, 9], 1: [4, 5, 9], 2: [0, 1, 4], 3: [0, 4, 7], 4: [5], 6: [8], 7: [1], 10: [0, 4, 9, 11], 11: [1, 4, 8]},
        6,
    ),
]


@pytest.mark.parametrize(("children", "target"), STUBBORN)
def test_interleaved_iamb_n_pc_finishes_where_it_would_cycle(children, target):
    graph, trace = graph_of(12, [(x, y) for x, ys in children.items() for y in ys]), Trace()
    candidates = [x for x in range(12) if x != target]
    run = ALGORITHMS["inter-iamb-n-pc"].run
    found = run(DSeparation(graph), target, candidates, alpha=ALPHA, trace=trace)
    assert set(found.members) == truth(graph, target).blanket
    assert [note.trouble for note in trace.notes] == [Trouble.NOT_INTERLEAVED]


def literal_gs(tests, target, candidates):
    """Grow-Shrink as Peña et al. (2005) describe it: IAMB with the static order, which stops at the first failure."""
    scan = tests.scan(candidates, target)
    blanket = []
    for x in scan.xs[scan.order()].tolist():
        if not tests.test(x, target, blanket).dependent(ALPHA):
            break
        blanket.append(x)
    return {x for x in blanket if tests.test(x, target, [z for z in blanket if z != x]).dependent(ALPHA)}


@pytest.mark.slow
class TestAllFiveNodeDags:
    """All 29281 of them; by symmetry one node as the target is enough."""

    def test_there_are_so_many(self):
        assert len(five_node_dags()) == 29281  # OEIS A003024

    @pytest.mark.parametrize("name", SOUND)
    def test_no_sound_algorithm_errs(self, name):
        shuffle = np.random.default_rng(5)
        algorithm = ALGORITHMS[name]
        options = {"rng": shuffle} if "rng" in algorithm.options else {}
        for arrows in five_node_dags():
            graph = graph_of(5, arrows)
            candidates = shuffle.permutation([1, 2, 3, 4]).tolist()
            found = algorithm.run(DSeparation(graph), 0, candidates, alpha=ALPHA, trace=Trace(), **options)
            check_answer(name, graph, 0, found)

    def test_grow_shrink_read_literally_errs(self):
        """The number that the errata give (F2), so that the two of us speak of the same thing."""
        wrong = 0
        for arrows in five_node_dags():
            graph = graph_of(5, arrows)
            wrong += literal_gs(DSeparation(graph), 4, [0, 1, 2, 3]) != truth(graph, 4).blanket
        assert wrong == 3416
