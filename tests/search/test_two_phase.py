"""The two-phase family: counter-examples, oracle on random graphs, unreliable tests, bookkeeping, trace."""

import networkx as nx
import numpy as np
import pytest

from blankets.errors import ParameterError
from blankets.independence import DSeparation, EvidenceBatch
from blankets.search._contract import Note, Trace, Trouble
from blankets.search._local import LocalSearch
from blankets.search.bamb import bamb
from blankets.search.eemb import eemb
from blankets.search.hiton import hiton_mb, hiton_pc
from blankets.search.ipc_mb import ipc_mb
from blankets.search.mbor import mbor
from blankets.search.mmmb import mmmb
from blankets.search.mmpc import mmpc
from blankets.search.pcmb import pcd as our_pcd
from blankets.search.pcmb import pcmb
from blankets.search.stmb import stmb
from blankets.search.two_view import two_view
from search.graphs import five_node_dags, graph_of, truth, varied_dag
from search.naive import NaiveTests, pcd, sample

ALPHA = 0.01

SYMMETRIC = {
    "pcmb": (pcmb, {}),
    "ipc-mb": (ipc_mb, {}),
    "mbor": (mbor, {}),
    "mmmb": (mmmb, {"symmetric": True}),
    "hiton-mb": (hiton_mb, {"symmetric": True}),
    "hiton-mb without prefilter": (hiton_mb, {"symmetric": True, "prefilter": False}),
    "hiton-mb semi": (hiton_mb, {"symmetric": True, "interleave": "semi"}),
    "hiton-mb every set": (hiton_mb, {"symmetric": True, "every_set": True}),
    "mmpc": (mmpc, {"symmetric": True}),
    "hiton-pc": (hiton_pc, {"symmetric": True}),
    "hiton-pc semi": (hiton_pc, {"symmetric": True, "interleave": "semi"}),
}
BLANKETS = {
    "pcmb": pcmb,
    "mmmb": mmmb,
    "hiton-mb": hiton_mb,
    "ipc-mb": ipc_mb,
    "stmb": stmb,
    "bamb": bamb,
    "eemb": eemb,
}
EVERY = {**BLANKETS, "mbor": mbor, "mmpc": mmpc, "hiton-pc": hiton_pc}

# The counter-examples of Peña, Björkegren & Tegnér (2005), Table 2; (b) as corrected in the errata.
GRAPH_A = nx.DiGraph([("T", "Q"), ("P", "Q"), ("P", "R"), ("R", "S"), ("Q", "S")])
GRAPH_B = nx.DiGraph([("P", "Q"), ("Q", "T"), ("T", "S"), ("P", "R"), ("R", "S")])


def run(algorithm, tests, target, *, trace=None, alpha=ALPHA, **options):
    candidates = [x for x in range(len(tests.names)) if x != target]
    return algorithm(tests, target, candidates, alpha=alpha, trace=trace or Trace(), **options)


def named(algorithm, graph, target, **options):
    tests = DSeparation(graph)
    found = run(algorithm, tests, tests.names.index(target), **options)
    return {tests.names[x] for x in found.members}


def wanted(algorithm, graph, node):
    true = truth(graph, node)
    return true.neighbors if algorithm in (mmpc, hiton_pc) else true.blanket


def random_dags(n, seed=0):
    rng = np.random.default_rng(seed)
    return [varied_dag(rng) for _ in range(n)]


def errors(algorithm, options, graphs):
    """(arrows, node, found, truth) wherever the answer is wrong."""
    wrong = []
    for graph in graphs:
        tests = DSeparation(graph)
        for node in graph.nodes:
            members, true = set(run(algorithm, tests, node, **options).members), wanted(algorithm, graph, node)
            if members != true:
                wrong.append((sorted(graph.edges), node, members, true))
    return wrong


class TestCounterExamples:
    def test_mmpc_takes_a_grandchild_for_a_child(self):
        assert truth(GRAPH_A, "T").neighbors == {"Q"}
        assert named(mmpc, GRAPH_A, "T") == {"Q", "S"}

    def test_mmmb_takes_it_over(self):
        assert truth(GRAPH_A, "T").blanket == {"P", "Q"}
        assert named(mmmb, GRAPH_A, "T") == {"P", "Q", "R", "S"}

    def test_mmmb_errs_even_where_mmpc_is_right(self):
        assert named(mmpc, GRAPH_B, "T") == truth(GRAPH_B, "T").neighbors == {"Q", "S"}
        assert truth(GRAPH_B, "T").blanket == {"Q", "S", "R"}
        assert named(mmmb, GRAPH_B, "T") == {"Q", "S", "R", "P"}

    def test_hiton_pc_errs_with_the_usual_prefilter_only(self):
        assert named(hiton_pc, GRAPH_A, "T") == {"Q", "S"}
        assert named(hiton_pc, GRAPH_A, "T", prefilter=False) == {"Q"}

    def test_bamb_stmb_and_eemb_lose_spouses(self):
        graph = graph_of(4, [(0, 2), (1, 2), (3, 0), (3, 1)])
        assert truth(graph, 0).blanket == {1, 2, 3}
        assert named(bamb, graph, "0") == {"2", "3"}
        graph = nx.DiGraph([("T", "a"), ("T", "b"), ("p", "a"), ("p", "s"), ("a", "s"), ("s", "b")])
        assert truth(graph, "T").blanket == {"a", "b", "p", "s"}
        assert named(stmb, graph, "T") == named(eemb, graph, "T") == {"a", "b", "p"}

    @pytest.mark.parametrize("graph", [GRAPH_A, GRAPH_B], ids="ab")
    @pytest.mark.parametrize(("algorithm", "options"), SYMMETRIC.values(), ids=SYMMETRIC)
    def test_the_symmetric_forms_are_right(self, graph, algorithm, options):
        for node in graph:
            assert named(algorithm, graph, node, **options) == wanted(algorithm, graph, node)


class TestOracle:
    @pytest.mark.parametrize(("algorithm", "options"), SYMMETRIC.values(), ids=SYMMETRIC)
    def test_every_node_of_20_graphs(self, algorithm, options):
        assert errors(algorithm, options, random_dags(20)) == []

    @pytest.mark.slow
    @pytest.mark.parametrize(("algorithm", "options"), SYMMETRIC.values(), ids=SYMMETRIC)
    def test_every_node_of_600_graphs(self, algorithm, options):
        assert errors(algorithm, options, random_dags(600, seed=1)) == []

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("algorithm", "options", "with_false", "with_missing"),
        [
            # errata F4, F6 and F7.
            (mmpc, {}, 1140, 0),
            (mmpc, {"symmetric": True}, 0, 0),
            (mmmb, {}, 1764, 0),
            (mmmb, {"symmetric": True}, 0, 0),
            (pcmb, {}, 0, 0),
            (hiton_pc, {"prefilter": False}, 198, 0),
            (hiton_pc, {}, 1110, 0),
            (hiton_mb, {"symmetric": True}, 0, 0),
            (ipc_mb, {}, 0, 0),
            (mbor, {}, 0, 0),
        ],
    )
    def test_first_node_of_all_graphs_of_five_nodes(self, algorithm, options, with_false, with_missing):
        false, missing, total = 0, 0, 0
        for arrows in five_node_dags():
            graph = graph_of(5, arrows)
            members, true = set(run(algorithm, DSeparation(graph), 0, **options).members), wanted(algorithm, graph, 0)
            false, missing, total = false + bool(members - true), missing + bool(true - members), total + 1
        assert (total, false, missing) == (29281, with_false, with_missing)


class Doubtful(DSeparation):
    """D-separation with too few rows for some tests."""

    def __init__(self, graph, doubt):
        super().__init__(graph)
        self.doubt = doubt

    def scan(self, xs, y, given=(), *, even_if_unreliable=False):
        batch = super().scan(xs, y, given)
        reliable = np.array([not self.doubt(x, y, tuple(given)) for x in xs], dtype=bool)
        return EvidenceBatch(
            batch.xs,
            y,
            batch.given,
            statistic=np.where(reliable, batch.statistic, np.nan),
            dof=batch.dof,
            n_rows=batch.n_rows,
            reliable=reliable,
        )


class TestUnreliable:
    """Errata F9: a test that was not performed admits nothing, removes nothing, separates nothing."""

    @pytest.mark.parametrize("algorithm", EVERY.values(), ids=EVERY)
    def test_never_admits_a_neighbor(self, algorithm):
        # 0 -> 1 <- 2, 1 -> 3: nothing can be tested about 2.
        graph = nx.DiGraph({0: [1], 1: [3], 2: [1], 3: []})
        tests = Doubtful(graph, lambda x, y, given: 2 in (x, y, *given))
        found = run(algorithm, tests, tests.names.index("1"))
        assert {tests.names[x] for x in found.members} == {"0", "3"}
        assert tests.names.index("2") not in found.separators

    @pytest.mark.parametrize("algorithm", BLANKETS.values(), ids=BLANKETS)
    def test_never_removes_a_member(self, algorithm):
        # a -> b -> t: only marginal tests can be done, so nothing speaks against a.
        tests = Doubtful(nx.DiGraph(["ab", "bt"]), lambda x, y, given: len(given) > 0)
        found = run(algorithm, tests, 2)
        assert set(found.members) == {0, 1}
        assert found.separators == {}

    @pytest.mark.parametrize("algorithm", [*BLANKETS.values(), mbor], ids=[*BLANKETS, "mbor"])
    def test_never_admits_a_spouse(self, algorithm):
        # t -> c <- s: the test of s given c cannot be done.
        sure = DSeparation(nx.DiGraph(["tc", "sc"]))
        assert set(run(algorithm, sure, 0).members) == {1, 2}
        tests = Doubtful(nx.DiGraph(["tc", "sc"]), lambda x, y, given: y == 0 and len(given) > 0)
        assert run(algorithm, tests, 0).members == (1,)

    def test_mbor_takes_the_word_of_either_end(self):
        # a -> t <- b: seen from t only one of them can be found, b has to vouch for itself.
        tests = Doubtful(nx.DiGraph(["at", "bt"]), lambda x, y, given: y == 1 and len(given) > 0)
        assert set(run(mbor, tests, 1).members) == {0, 2}

    def test_a_separating_set_must_have_been_tested(self):
        # a -> b -> t and a -> c -> b: given (b,) the test cannot be done, given (b, c) it can: PCMB must use it.
        graph = nx.DiGraph({"t": [], "b": ["t"], "a": ["b", "c"], "c": ["b"]})
        tests = Doubtful(graph, lambda x, y, given: given == (1,))
        found = run(pcmb, tests, 0)
        assert found.members == (1,)
        assert set(found.separators[2]) == {1, 3} or set(found.separators[3]) == {1, 2}


class TestBookkeeping:
    def test_incremental_subsets_equal_full_recomputation(self):
        removals = 0
        for seed in range(16):
            tests = NaiveTests(sample(seed))
            columns = range(len(tests.names))
            for y in columns:
                others = [x for x in columns if x != y]
                members, separators, removed = pcd(tests, y, others, 0.05)
                search = LocalSearch(tests, y, others, alpha=0.05, max_given=None, trace=Trace())
                found = our_pcd(search, y, Trace())
                assert list(found.members) == members
                ours = {x: found.separator(x) for x in others if found.separator(x) is not None}
                assert {x: set(z) for x, z in ours.items()} == {x: set(z) for x, z in separators.items()}
                removals += removed
        assert removals >= 3  # otherwise nothing was seen of what happens when a member leaves

    @pytest.mark.parametrize("algorithm", EVERY.values(), ids=EVERY)
    def test_other_targets_neither_change_the_answer_nor_the_reasons(self, algorithm):
        (graph,) = random_dags(1, seed=10)
        shared = DSeparation(graph)
        for node in graph:
            alone, together = Trace(), Trace()
            assert run(algorithm, DSeparation(graph), node, trace=alone) == run(algorithm, shared, node, trace=together)
            assert alone.decisions == together.decisions
            assert alone.members == together.members

    def test_neighborhoods_are_learned_once_for_all_targets(self, monkeypatch):
        (graph,) = random_dags(1, seed=12)
        shared, learned = DSeparation(graph), []
        monkeypatch.setattr("blankets.search.pcmb.pcd", lambda own, y, log: learned.append(y) or our_pcd(own, y, log))
        for node in graph:
            run(pcmb, shared, node)
        assert len(set(learned)) == len(learned) == len(graph)

    def test_the_neighbors_of_a_possible_spouse_are_looked_for_after_its_own_test(self, monkeypatch):
        # a -> b -> c -> d: c is a neighbor of b, and independent of a given b, so nobody asks for its neighbors.
        learned = []
        monkeypatch.setattr("blankets.search.pcmb.pcd", lambda own, y, log: learned.append(y) or our_pcd(own, y, log))
        assert run(pcmb, DSeparation(nx.DiGraph([(0, 1), (1, 2), (2, 3)])), 0).members == (1,)
        assert learned == [0, 1]

    @pytest.mark.parametrize("max_given", [0, 1, None])
    def test_a_limit_on_the_sets_is_told_when_it_was_felt(self, max_given):
        # x -> a -> t, x -> b -> t: only {a, b} separates x and t.
        graph = nx.DiGraph({"t": [], "a": ["t"], "b": ["t"], "x": ["a", "b"]})
        for algorithm in EVERY.values():
            trace, tests = Trace(), DSeparation(graph)
            members = run(algorithm, tests, 0, trace=trace, max_given=max_given).members
            if max_given is None:
                assert (set(members), trace.notes) == ({1, 2}, [])
                continue
            assert trace.notes == [Note(Trouble.CAPPED, {"most": max_given})]
            if algorithm not in (mbor, stmb):  # these also condition on whole blankets
                assert set(members) == {1, 2, 3}

    def test_the_default_tells_that_its_limit_was_reached(self):
        # 15 causes that also cause each other: more sets than two tests for each column.
        nodes = range(16)
        graph = nx.DiGraph([(a, b) for a in nodes for b in nodes if a > b])
        trace = Trace()
        found = two_view(DSeparation(graph), 0, nodes[1:], alpha=ALPHA, trace=trace, tests_a_column=2)
        assert set(found.members) == set(nodes[1:])  # closing finds them
        assert [note.trouble for note in trace.notes] == [Trouble.LIMITED]

    def test_unknown_interleaving(self):
        with pytest.raises(ParameterError, match="unknown interleave 'half'; choose from full, semi"):
            run(hiton_mb, DSeparation(GRAPH_A), 0, interleave="half")


class TestReasons:
    @pytest.mark.parametrize("algorithm", EVERY.values(), ids=EVERY)
    def test_every_variable_left_out_has_a_separating_test(self, algorithm):
        for graph in random_dags(8, seed=2):
            tests = DSeparation(graph)
            for node in graph:
                trace = Trace()
                found = run(algorithm, tests, node, trace=trace)
                about = [d.evidence for d in trace.decisions] + [e for _, batch in trace.scans for e in batch]
                separated = {e.x for e in about if e.y == node and e.independent(ALPHA)}
                assert set(graph) - set(found.members) - {node} <= separated
                assert set(found.members) == set(trace.members)
                for x, given in found.separators.items():
                    assert tests.test(x, node, given).independent(ALPHA)

    @pytest.mark.parametrize(("algorithm", "options"), SYMMETRIC.values(), ids=SYMMETRIC)
    def test_roles_are_true(self, algorithm, options):
        told = set()
        for graph in random_dags(12, seed=3):
            tests = DSeparation(graph)
            for node in graph:
                found = run(algorithm, tests, node, **options)
                parents, children, spouses = truth(graph, node)
                assert set(found.roles) == set(found.members)
                for x, role in found.roles.items():
                    told.add(role)
                    allowed = {"parent": parents, "child": children, "neighbor": parents | children, "spouse": spouses}
                    assert x in allowed[role]
                for spouse, child in found.common_children.items():
                    assert graph.has_edge(spouse, child)
                    assert graph.has_edge(node, child)
        # MBOR learns no neighborhoods that could tell parents.
        assert {"neighbor", "parent"} <= told or algorithm is mbor

    def test_parents_and_children_of_a_collider(self):
        tests = DSeparation(nx.DiGraph({"t": ["c"], "a": ["t"], "b": ["t"], "c": []}))
        assert run(pcmb, tests, 0).roles == {1: "parent", 2: "parent", 3: "child"}
