"""Statements about directions hold whatever is hidden, under a perfect test."""

import networkx as nx
import numpy as np

import blankets as bl
from blankets.independence import DSeparation
from blankets.search import directions_of


def test_statements_are_true_with_hidden_causes():
    rng, said = np.random.default_rng(2), []
    for _ in range(80):
        order = [f"v{j}" for j in rng.permutation(8)]
        graph = nx.DiGraph()
        graph.add_nodes_from(order)
        graph.add_edges_from((order[i], order[j]) for i in range(8) for j in range(i + 1, 8) if rng.random() < 0.3)
        tests = DSeparation(graph)
        target, *members = rng.permutation(8)[:6].tolist()  # two columns are hidden
        for x, direction in directions_of(tests, target, members, alpha=0.01).items():
            acts_on_target = nx.has_path(graph, tests.names[x], tests.names[target])
            acted_on = nx.has_path(graph, tests.names[target], tests.names[x])
            truth = {"not an effect": not acted_on, "not a cause": not acts_on_target, "effect": acted_on}
            assert truth[direction], (sorted(graph.edges), tests.names[target], tests.names[x], direction)
            said.append(direction)
    assert {"not an effect", "not a cause", "effect"} <= set(said)


def test_an_answer_has_them_where_they_were_asked_for():
    rng = np.random.default_rng(1)
    a, b, e, f = rng.normal(size=(4, 3000))
    t = a + b + e
    table = {"a": a, "b": b, "t": t, "c": t + f}
    assert bl.discover(table, "t").directions == {}
    found = bl.discover(table, "t", roles=True)
    assert found.directions == {"a": "not an effect", "b": "not an effect", "c": "effect"}
    assert bl.Blanket.from_json(found.to_json()).directions == found.directions
