"""Knowledge under perfect tests: true knowledge never hurts and orients more; false knowledge is reported.

Truths are read off the graph; the tests are d-separation. Every sound algorithm, through the public function.
"""

import warnings

import networkx as nx
import numpy as np
import pytest

import blankets as bl
from blankets.errors import KnowledgeWarning
from blankets.search import ALGORITHMS
from search.graphs import truth, varied_dag

SOUND = [name for name, algorithm in ALGORITHMS.items() if algorithm.sound and algorithm.finds == "blanket"]
FEW = [("two-view", 1), ("iamb", 1)]
MANY = [pytest.param(name, 300 if name == "two-view" else 30, marks=pytest.mark.slow) for name in SOUND]
ORIENTED = ("parent", "child")


def graphs(n, seed):
    """Yield random DAGs whose nodes are names, each with a generator."""
    rng = np.random.default_rng([50, seed])
    for _ in range(n):
        graph = varied_dag(rng)
        yield nx.relabel_nodes(graph, {x: f"v{x}" for x in graph.nodes}), rng


def some(rng, things, share=0.5):
    return [x for x in things if rng.random() < share]


def tiers_of(graph, rng):
    """Cut an order of time that the graph allows into tiers, and forget some of the nodes."""
    order = list(nx.topological_sort(graph))
    at = np.sort(rng.integers(0, 3, len(order)))
    return [[x for x, k in zip(order, at, strict=True) if k == tier and rng.random() < 0.8] for tier in range(3)]


def found(graph, target, **choices):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KnowledgeWarning)
        return bl.discover(bl.DSeparation(graph), target, **choices)


def all_found(graph, **choices):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KnowledgeWarning)
        return bl.discover_all(bl.DSeparation(graph), **choices)


def n_oriented(blanket):
    return sum(role in ORIENTED for role in blanket.roles.values())


def check_roles(blanket, graph, what):
    true = truth(graph, blanket.target)
    for x, role in blanket.roles.items():
        expected = {"parent": true.parents, "child": true.children, "spouse": true.spouses, "neighbor": true.neighbors}
        assert x in expected[role], (*what, x, role)


def contradicted(blanket):
    return [
        note for note in blanket.warnings if "you said" in note or "required, but" in note or "forbidden, but" in note
    ]


@pytest.mark.parametrize(("name", "n"), [*FEW, *MANY])
def test_true_order_never_hurts_and_orients_more(name, n):
    with_order = without = 0
    for graph, rng in graphs(n, 0):
        known = bl.Knowledge(
            tiers=tiers_of(graph, rng),
            required=some(rng, graph.edges, 0.2),
            forbidden=some(rng, ((b, a) for a, b in graph.edges), 0.2),
        )
        informed, uninformed = (
            all_found(graph, algorithm=name, knowledge=known, roles=True),
            all_found(graph, algorithm=name, roles=True),
        )
        for target, blanket in informed.items():
            what, plain = (sorted(graph.edges), target, known), uninformed[target]
            assert set(blanket.members) == truth(graph, target).blanket, what
            assert set(blanket.roles) == set(blanket.members), what
            check_roles(blanket, graph, what)
            assert not contradicted(blanket), what
            assert n_oriented(blanket) >= n_oriented(plain), what
            with_order, without = with_order + n_oriented(blanket), without + n_oriented(plain)
    assert with_order > without


def test_roles_of_members_that_entered_without_one():
    for graph, _ in graphs(5, 5):
        for target, blanket in all_found(graph, roles=True, options={"tests_a_column": 0}).items():
            assert set(blanket.members) == truth(graph, target).blanket
            check_roles(blanket, graph, (sorted(graph.edges), target))


@pytest.mark.parametrize(("name", "n"), [*FEW, *MANY])
def test_true_members_and_columns_always_given_never_hurt(name, n):
    for graph, rng in graphs(n, 1):
        for target in graph.nodes:
            true = truth(graph, target)
            roots = [x for x in graph.nodes if x != target and not graph.in_degree(x)]
            always = some(rng, roots, 0.3)
            known = bl.Knowledge(
                required=some(rng, sorted(true.blanket.difference(always))),
                forbidden=some(rng, sorted(set(graph.nodes) - true.blanket - {target, *always})),
                always_given=always,
            )
            blanket = found(graph, target, algorithm=name, knowledge=known, roles=True)
            what = sorted(graph.edges), target, known
            assert set(blanket.members) == true.blanket.difference(always), what
            assert set(blanket.excluded) == set(always), what
            within = graph.copy()
            within.remove_nodes_from(always)
            check_roles(blanket, within, what)
            assert not contradicted(blanket), what


def in_columns(graph, rng):
    """Put some variables into two or three columns each, with the arrows of the variable; return these columns too."""
    columns = {x: [f"{x}.{k}" for k in range(int(rng.choice([1, 2, 3], p=[0.6, 0.2, 0.2])))] for x in graph.nodes}
    wider = nx.DiGraph()
    wider.add_nodes_from(c for some_ in columns.values() for c in some_)
    wider.add_edges_from((c, d) for a, b in graph.edges for c in columns[a] for d in columns[b])
    wider.add_edges_from((c, d) for some_ in columns.values() for k, c in enumerate(some_) for d in some_[k + 1 :])
    return wider, columns


@pytest.mark.parametrize(("name", "n"), [*FEW, *MANY])
def test_groups_are_in_or_out_as_one(name, n):
    for graph, rng in graphs(n, 2):
        wider, columns = in_columns(graph, rng)
        known = bl.Knowledge(together=[some_ for some_ in columns.values() if len(some_) > 1])
        single = {some_[0]: x for x, some_ in columns.items() if len(some_) == 1}
        for column, blanket in all_found(wider, algorithm=name, knowledge=known).items():
            target = single[column]
            true, what = truth(graph, target), (sorted(graph.edges), target, columns)
            assert set(blanket.members) == {c for x in true.blanket for c in columns[x]}, what
            for x, role in blanket.roles.items():
                assert role in ("neighbor", "spouse", *ORIENTED)
                assert (x.partition(".")[0] in true.spouses) == (role == "spouse"), what


@pytest.mark.parametrize(("name", "n"), [*FEW, *MANY])
def test_false_order_is_reported_where_the_data_show_an_arrow_against_it(name, n):
    reported = 0
    for graph, rng in graphs(n, 3):
        known = bl.Knowledge(tiers=tiers_of(graph, rng)[::-1])
        tier = {x: k for k, some_ in enumerate(known.tiers) for x in some_}
        informed = all_found(graph, algorithm=name, knowledge=known)
        for target, plain in all_found(graph, algorithm=name, roles=True).items():
            at = {x: tier.get(x) for x in (*plain.roles, target)}
            against = [
                x
                for x, role in plain.roles.items()
                if None not in (at[x], at[target])
                and ((role == "parent" and at[x] > at[target]) or (role == "child" and at[x] < at[target]))
            ]
            if against:
                reported += 1
                notes = informed[target].warnings
                assert contradicted(informed[target]) or "only by the order" in " ".join(notes), (graph.edges, target)
    assert reported > n / 3


@pytest.mark.parametrize(("name", "n"), [*FEW, *MANY])
def test_false_members_are_reported(name, n):
    for graph, rng in graphs(n, 4):
        for target in graph.nodes:
            true = truth(graph, target)
            others = sorted(set(graph.nodes) - true.blanket - {target})
            known = bl.Knowledge(required=some(rng, others), forbidden=some(rng, sorted(true.blanket)))
            blanket = found(graph, target, algorithm=name, knowledge=known)
            what = sorted(graph.edges), target, known
            assert set(blanket.members) == true.blanket.union(known.required).difference(known.forbidden), what
            assert len(contradicted(blanket)) == len(known.required) + len(known.forbidden), what
