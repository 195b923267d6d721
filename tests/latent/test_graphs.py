"""Blankets, equivalence and compelled edges against networkx and against the enumeration of all DAGs."""

import itertools
from collections import defaultdict

import networkx as nx
import numpy as np
import pytest

from blankets.latent._graphs import (
    blanket_in_dag,
    children_of,
    compelled,
    random_start,
    same_class,
    spouses_of,
    to_networkx,
)
from latent import naive

ALL = [np.array([sum(1 << u for u in p) for p in parents]) for parents in naive.all_dags(4)]


def graph_of(parents):
    return nx.DiGraph([(u, v) for v in range(len(parents)) for u in range(len(parents)) if parents[v] >> u & 1])


def independences(parents):
    """All d-separations of pairs, the definition of Markov equivalence."""
    graph = graph_of(parents)
    graph.add_nodes_from(range(len(parents)))
    found = set()
    for a, b in itertools.combinations(range(len(parents)), 2):
        rest = [c for c in range(len(parents)) if c not in (a, b)]
        for k in range(len(rest) + 1):
            for given in itertools.combinations(rest, k):
                if nx.is_d_separator(graph, {a}, {b}, set(given)):
                    found.add((a, b, given))
    return frozenset(found)


CLASSES = defaultdict(list)
for dag in ALL:
    CLASSES[independences(dag)].append(dag)


def test_number_of_classes():
    # Gillispie & Perlman (2001): 185 equivalence classes of DAGs on 4 nodes.
    assert len(CLASSES) == 185


def test_same_class_is_same_independences():
    heads = [dags[0] for dags in CLASSES.values()]
    for dags in CLASSES.values():
        assert all(same_class(dags[0], other) for other in dags)
    assert not any(same_class(a, b) for a, b in itertools.combinations(heads, 2))


def test_compelled_edges_are_those_of_the_whole_class():
    for dags in CLASSES.values():
        shared = set.intersection(*(set(graph_of(dag).edges) for dag in dags))
        assert compelled(dags[0]) == shared


def test_blanket_makes_the_rest_irrelevant_and_is_smallest():
    for dag in ALL[::7]:
        for t in range(4):
            graph = graph_of(dag)
            graph.add_nodes_from(range(4))
            members = blanket_in_dag(dag, t)
            for other in set(range(4)) - members - {t}:
                assert nx.is_d_separator(graph, {t}, {other}, members)
            for member in members:
                assert not nx.is_d_separator(graph, {t}, {member}, members - {member})
            assert set(children_of(dag, t)) == set(graph.successors(t))
            assert all(c in graph.successors(s) for s, through in spouses_of(dag, t).items() for c in through)


@pytest.mark.parametrize("seed", range(30))
def test_random_dags_meet_the_constraints(seed):
    rng = np.random.default_rng(seed)
    required, forbidden = np.array([0, 0b1, 0, 0b100]), np.array([0b100, 0, 0b1000, 0b1])
    dag = random_start(required, forbidden, 2, rng)
    assert nx.is_directed_acyclic_graph(graph_of(dag))
    assert not np.any(required & ~dag)
    assert not np.any(forbidden & dag)
    assert max(int(mask).bit_count() for mask in dag) <= 2


def test_names():
    assert sorted(to_networkx(np.array([0, 1]), ("a", "b")).edges) == [("a", "b")]
