"""Random graphs and tables: the counts and strengths that were asked for."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest

from blankets.errors import ParameterError
from blankets.simulate import Network, edge_strengths, random_dag, random_network


def test_edges_are_as_many_as_the_probability_says():
    counts = [random_dag(20, rng=seed, edge_probability=0.3).number_of_edges() for seed in range(200)]
    pairs = 20 * 19 / 2
    standard_error = math.sqrt(pairs * 0.3 * 0.7 / 200)
    assert abs(np.mean(counts) - 0.3 * pairs) < 4 * standard_error


@pytest.mark.parametrize(("options", "degree"), [({"mean_degree": 3}, 3), ({}, 2)])
def test_mean_degree(options, degree):
    degrees = [2 * random_dag(30, rng=seed, **options).number_of_edges() / 30 for seed in range(200)]
    p = degree / 29
    standard_error = 2 / 30 * math.sqrt(435 * p * (1 - p) / 200)
    assert abs(np.mean(degrees) - degree) < 4 * standard_error


def test_every_direction_is_equally_likely():
    forward = sum(random_dag(2, rng=seed, edge_probability=1.0).has_edge("x0", "x1") for seed in range(400))
    assert abs(forward - 200) < 4 * math.sqrt(400 * 0.25)


def test_graphs_are_acyclic_named_in_order_and_reproducible():
    graph = random_dag(40, rng=5, edge_probability=0.5, max_parents=3)
    assert nx.is_directed_acyclic_graph(graph)
    assert list(graph) == [f"x{j}" for j in range(40)]
    assert max(degree for _, degree in graph.in_degree()) == 3
    again = random_dag(40, rng=5, edge_probability=0.5, max_parents=3)
    assert set(again.edges) == set(graph.edges)
    assert random_dag(1, rng=0).number_of_edges() == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_nodes": 0}, "'n_nodes' must be at least 1, but it is 0"),
        ({"n_nodes": 5, "edge_probability": 1.5}, "'edge_probability' must be between 0 and 1"),
        ({"n_nodes": 5, "mean_degree": 5}, "'mean_degree' must be between 0 and 4, but it is 5"),
        ({"n_nodes": 5, "mean_degree": 2, "edge_probability": 0.5}, "'edge_probability' or 'mean_degree', not both"),
        ({"n_nodes": 5, "max_parents": -1}, "'max_parents' must be at least 0"),
    ],
)
def test_impossible_graphs_are_refused(options, message):
    with pytest.raises(ParameterError, match=message):
        random_dag(**options)


def test_strength_of_a_table_by_hand():
    # c = a XOR b has I(c; a | b) = ln 2 under uniform parents; d copies a with probability 3/4.
    network = Network(
        {"a": (0, 1), "b": (0, 1), "c": (0, 1), "d": (0, 1)},
        {"c": ("a", "b"), "d": ("a",)},
        {
            "a": [0.9, 0.1],
            "b": [0.9, 0.1],
            "c": [[[1, 0], [0, 1]], [[0, 1], [1, 0]]],
            "d": [[0.75, 0.25], [0.25, 0.75]],
        },
    )
    strengths = edge_strengths(network)
    assert strengths["a", "c"] == pytest.approx(math.log(2), abs=1e-15)
    assert strengths["b", "c"] == pytest.approx(math.log(2), abs=1e-15)
    assert strengths["a", "d"] == pytest.approx(math.log(2) + 0.75 * math.log(0.75) + 0.25 * math.log(0.25), abs=1e-15)


def test_strength_is_the_information_when_parents_are_uniform():
    graph = nx.DiGraph([("a", "c"), ("b", "c")])
    drawn = random_network(graph, arities={"a": 2, "b": 3, "c": 4}, rng=3, strength=0.2)
    uniform = Network(drawn.levels, drawn.parents, {**drawn.tables, "a": np.full(2, 1 / 2), "b": np.full(3, 1 / 3)})
    strengths = edge_strengths(drawn)
    assert strengths["a", "c"] == pytest.approx(uniform.information("a", "c", ["b"]), abs=1e-14)
    assert strengths["b", "c"] == pytest.approx(uniform.information("b", "c", ["a"]), abs=1e-14)
    assert min(strengths.values()) >= 0.2


@pytest.mark.parametrize("strength", [0.01, 0.1, 0.3])
def test_every_edge_has_the_strength_asked_for(strength):
    network = random_network(random_dag(30, rng=1, mean_degree=3, max_parents=3), rng=1, strength=strength)
    assert network.graph.number_of_edges() > 20
    assert min(edge_strengths(network).values()) >= strength


def test_concentration_moves_rows_between_certain_and_uniform():
    graph = random_dag(20, rng=0, mean_degree=2)
    certain = random_network(graph, 3, rng=0, concentration=0.05)
    uniform = random_network(graph, 3, rng=0, concentration=500)
    assert np.mean([table.max(axis=-1).mean() for table in certain.tables.values()]) > 0.9
    assert max(table.max() for table in uniform.tables.values()) < 0.5


def test_impossible_networks_are_refused():
    graph = nx.DiGraph([("a", "b")])
    with pytest.raises(ParameterError, match=r"no table for 'b' was found with all edges of at least 0\.8 nats"):
        random_network(graph, 2, rng=0, strength=0.8)  # above ln 2
    with pytest.raises(ParameterError, match="'concentration' must be above 0, but it is 0"):
        random_network(graph, 2, rng=0, concentration=0)
    with pytest.raises(ParameterError, match=r"'arities\[b\]' must be at least 1, but it is 0"):
        random_network(graph, {"a": 2}, rng=0)
    with pytest.raises(ParameterError, match="but this one has a cycle"):
        random_network(nx.DiGraph([("a", "b"), ("b", "a")]))
