"""`Network`: truth read off the graph, sampling, exact probabilities."""

from __future__ import annotations

import pickle
from itertools import pairwise, product

import networkx as nx
import numpy as np
import pytest
from scipy.stats import chisquare

from blankets.errors import DataError, ParameterError
from blankets.independence import DSeparation
from blankets.simulate import Network, as_columns, random_dag, random_network

BINARY = ("no", "yes")


@pytest.fixture(scope="module")
def asia_like() -> Network:
    """A small network with a collider, a chain, three levels and a deterministic row."""
    return Network(
        levels={"a": BINARY, "b": ("low", "mid", "high"), "c": BINARY, "d": ("x", "y", "z")},
        parents={"c": ("a", "b"), "d": ("c",)},
        tables={
            "a": [0.8, 0.2],
            "b": [0.5, 0.3, 0.2],
            "c": [[[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]], [[0.5, 0.5], [0.0, 1.0], [0.3, 0.7]]],
            "d": [[0.7, 0.2, 0.1], [0.1, 0.0, 0.9]],
        },
    )


def enumerated(network: Network) -> np.ndarray:
    """Return the full joint by multiplying the tables, one assignment at a time."""
    joint = np.zeros([len(network.levels[name]) for name in network.names])
    for codes in product(*(range(n) for n in joint.shape)):
        value = dict(zip(network.names, codes, strict=True))
        joint[codes] = np.prod(
            [network.tables[name][(*(value[p] for p in network.parents[name]), value[name])] for name in network.names]
        )
    return joint


def test_roles_and_blanket_of_each_kind():
    network = random_network(
        nx.DiGraph([("p", "t"), ("t", "c"), ("s", "c"), ("p", "c"), ("t", "e"), ("c", "e")]), rng=0
    )
    assert network.roles("t") == {"p": "parent", "c": "child", "s": "spouse", "e": "child"}
    assert network.blanket("t") == {"p", "c", "s", "e"}
    assert network.roles("s") == {"p": "spouse", "t": "spouse", "c": "child"}


@pytest.mark.parametrize("seed", range(30))
def test_blankets_are_the_neighbors_in_the_moral_graph(seed):
    graph = random_dag(12, rng=seed, mean_degree=3)
    network = random_network(graph, rng=seed)
    moral = nx.moral_graph(graph)
    for node in graph:
        assert network.blanket(node) == set(moral[node])
        roles = network.roles(node)
        assert {x for x, role in roles.items() if role == "parent"} == set(graph.predecessors(node))
        assert {x for x, role in roles.items() if role == "child"} == set(graph.successors(node))


@pytest.mark.parametrize("seed", range(10))
def test_a_blanket_separates_the_node_from_the_rest(seed):
    network = random_network(random_dag(10, rng=100 + seed, mean_degree=3), rng=0)
    tests = DSeparation(network.graph)
    for j, node in enumerate(network.names):
        blanket = [network.names.index(x) for x in network.blanket(node)]
        rest = [k for k in range(len(network.names)) if k != j and k not in blanket]
        assert all(evidence.independent(0.05) for evidence in tests.scan(rest, j, blanket))
        assert all(tests.test(x, j, [z for z in blanket if z != x]).dependent(0.05) for x in blanket)


def test_sampling_follows_every_row_of_every_table(asia_like):
    frame = asia_like.sample(20_000, rng=7)
    codes = {name: frame.column(j).astype(int) for j, name in enumerate(frame.names)}
    p_values = []
    for name in asia_like.names:
        parents = asia_like.parents[name]
        for configuration in product(*(range(len(asia_like.levels[p])) for p in parents)):
            rows = np.all([codes[p] == k for p, k in zip(parents, configuration, strict=True)], axis=0) | (not parents)
            row = asia_like.tables[name][configuration]
            counts = np.bincount(codes[name][np.broadcast_to(rows, len(codes[name]))], minlength=len(row))
            assert counts[row == 0].sum() == 0  # the impossible never comes
            if (row > 0).sum() > 1:
                p_values.append(chisquare(counts[row > 0], counts.sum() * row[row > 0] / row.sum()).pvalue)
    assert len(p_values) == 9
    assert min(p_values) > 1e-3 / len(p_values)  # Bonferroni at 0.001, seeded


def test_the_same_seed_gives_the_same_rows(asia_like):
    first, second = asia_like.sample(50, rng=3), asia_like.sample(50, rng=3)
    assert first.fingerprint() == second.fingerprint()
    assert first.fingerprint() != asia_like.sample(50, rng=4).fingerprint()


def test_levels_are_kept_when_they_are_not_drawn(asia_like):
    frame = asia_like.sample(1, rng=0)
    assert frame.arities.tolist() == [2, 3, 2, 3]
    assert frame.levels[1] == ("low", "mid", "high")
    assert asia_like.sample(0, rng=0).n_rows == 0


def test_order_of_nodes_need_not_be_topological():
    network = Network({"b": BINARY, "a": BINARY}, {"b": ["a"]}, {"a": [0.3, 0.7], "b": [[1, 0], [0, 1]]})
    columns = as_columns(network.sample(200, rng=0))
    assert list(columns) == ["b", "a"]
    assert columns["a"].tolist() == columns["b"].tolist()  # b copies a
    assert set(columns["a"]) == set(BINARY)


def test_wide_columns_are_sampled():
    network = Network({"a": range(300)}, {}, {"a": np.full(300, 1 / 300)})
    frame = network.sample(30_000, rng=0)
    counts = np.bincount(frame.column(0), minlength=300)
    assert chisquare(counts).pvalue > 1e-3
    assert frame.column(0).dtype == np.int32


def test_marginals_equal_enumeration(asia_like):
    joint = enumerated(asia_like)
    axes = {name: j for j, name in enumerate(asia_like.names)}
    for nodes in (("a",), ("d",), ("d", "a"), ("b", "d", "c"), asia_like.names):
        others = tuple(axes[name] for name in asia_like.names if name not in nodes)
        kept = [name for name in asia_like.names if name in nodes]
        expected = joint.sum(axis=others).transpose([kept.index(name) for name in nodes])
        np.testing.assert_allclose(asia_like.marginal(*nodes), expected, atol=1e-14)


def test_information_equals_direct_summation(asia_like):
    joint = enumerated(asia_like)  # axes a, b, c, d
    p_abc = joint.sum(axis=3)
    p_c = p_abc.sum(axis=(0, 1))
    expected = sum(
        p_abc[a, b, c] * np.log(p_abc[a, b, c] * p_c[c] / (p_abc[a, :, c].sum() * p_abc[:, b, c].sum()))
        for a, b, c in product(range(2), range(3), range(2))
        if p_abc[a, b, c] > 0
    )
    assert expected > 0.01
    assert asia_like.information("a", "b", ["c"]) == pytest.approx(expected, abs=1e-14)
    assert asia_like.information("a", "b") == pytest.approx(0, abs=1e-14)
    assert asia_like.information("a", "d", ["c"]) == pytest.approx(0, abs=1e-14)


def test_marginals_of_a_long_chain_are_feasible():
    names = [f"x{j}" for j in range(200)]
    flip = np.array([[0.9, 0.1], [0.2, 0.8]])
    chain = Network(
        dict.fromkeys(names, BINARY),
        {b: [a] for a, b in pairwise(names)},
        {names[0]: [0.5, 0.5], **dict.fromkeys(names[1:], flip)},
    )
    expected = np.array([0.5, 0.5]) @ np.linalg.matrix_power(flip, 199)
    np.testing.assert_allclose(chain.marginal("x199"), expected, rtol=1e-10)


def test_marginals_that_would_not_fit_are_refused():
    names = [f"x{j}" for j in range(30)]
    network = Network(dict.fromkeys(names, BINARY), {}, {name: [0.5, 0.5] for name in names})
    with pytest.raises(DataError, match="table over 30 nodes at once; sample instead"):
        network.marginal(*names)


def test_vacuous_edges_are_found_and_pruned():
    network = Network(
        {"a": BINARY, "b": BINARY, "c": BINARY, "d": BINARY},
        {"c": ("a", "b"), "d": ("c",)},
        {
            "a": [0.4, 0.6],
            "b": [0.1, 0.9],
            "c": [[[0.2, 0.8], [0.7, 0.3]], [[0.2, 0.8], [0.7, 0.3]]],
            "d": [[0.5, 0.5], [0.5, 0.5]],
        },
    )
    assert network.vacuous_edges() == [("a", "c"), ("c", "d")]
    pruned = network.pruned()
    assert list(pruned.graph.edges) == [("b", "c")]
    assert network.blanket("b") == {"a", "c"}
    assert pruned.blanket("b") == {"c"}
    np.testing.assert_allclose(enumerated(pruned), enumerated(network), atol=1e-15)


def test_rows_are_renormalized_within_rounding():
    network = Network({"a": ("x", "y", "z")}, {}, {"a": [0.3333333, 0.3333333, 0.3333333]})
    np.testing.assert_allclose(network.tables["a"], 1 / 3, rtol=1e-15)


def test_a_network_pickles_and_is_read_only(asia_like):
    copy = pickle.loads(pickle.dumps(asia_like))
    assert copy.sample(20, rng=1).fingerprint() == asia_like.sample(20, rng=1).fingerprint()
    with pytest.raises(ValueError, match="read-only"):
        asia_like.tables["a"][0] = 1.0
    with pytest.raises(AttributeError, match="names"):
        asia_like.names = ()
    with pytest.raises(nx.NetworkXError, match="Frozen"):
        asia_like.graph.add_edge("a", "d")
    assert repr(asia_like) == "Network(4 nodes, 3 edges)"
    assert asia_like.arities == {"a": 2, "b": 3, "c": 2, "d": 3}


@pytest.mark.parametrize(
    ("levels", "parents", "tables", "message"),
    [
        ({"a": BINARY}, {}, {}, "node 'a' has no table"),
        ({"a": BINARY}, {"b": []}, {"a": [0.5, 0.5]}, "parents are given for 'b', but there are no such nodes"),
        ({"a": BINARY}, {}, {"a": [1, 0], "z": [1, 0]}, "tables are given for 'z'"),
        ({"age": BINARY}, {"age": ["aeg"]}, {"age": [1, 0]}, "parent 'aeg' of 'age' is not a node; did you mean 'age'"),
        ({"a": BINARY}, {"a": ["a"]}, {"a": [[1, 0], [1, 0]]}, "parents of 'a' must be different nodes"),
        ({"a": BINARY}, {}, {"a": [0.5, 0.4]}, "each row of the table of 'a' must be probabilities"),
        ({"a": BINARY}, {}, {"a": [1.5, -0.5]}, "each row of the table of 'a' must be probabilities"),
        ({"a": BINARY}, {}, {"a": [np.nan, 1.0]}, "each row of the table of 'a' must be probabilities"),
        ({"a": BINARY}, {}, {"a": ["x", "y"]}, "the table of 'a' is not an array of numbers"),
        ({"a": BINARY}, {}, {"a": [0.5, 0.3, 0.2]}, r"must have shape \(2,\) \(parents first\), but has \(3,\)"),
        ({"a": ("no", "no")}, {}, {"a": [0.5, 0.5]}, "levels of node 'a' must be different, but are 'no', 'no'"),
        ({"a": ()}, {}, {"a": []}, "node 'a' needs a sequence of levels"),
        ({"a": "no"}, {}, {"a": [0.5, 0.5]}, "node 'a' needs a sequence of levels, but has 'no'"),
        ({1: BINARY}, {}, {1: [0.5, 0.5]}, "names of nodes are strings, but one is 1"),
    ],
)
def test_what_is_not_a_network_is_refused(levels, parents, tables, message):
    with pytest.raises(DataError, match=message):
        Network(levels, parents, tables)


def test_cycles_and_too_many_parents_are_refused():
    table = [[0.5, 0.5], [0.5, 0.5]]
    with pytest.raises(DataError, match=r"the parents form a cycle: (b -> a -> b|a -> b -> a)"):
        Network({"a": BINARY, "b": BINARY}, {"a": ["b"], "b": ["a"]}, {"a": table, "b": table})
    names = [f"x{j}" for j in range(65)]
    with pytest.raises(DataError, match="node 'x64' has 64 parents; at most 63 are possible"):
        Network(dict.fromkeys(names, ("only",)), {"x64": names[:64]}, {})


def test_unknown_nodes_and_bad_numbers_are_refused(asia_like):
    with pytest.raises(ParameterError, match="there is no node 'aa'; did you mean 'a'"):
        asia_like.roles("aa")
    with pytest.raises(ParameterError, match="there is no node 'q'"):
        asia_like.marginal("q")
    with pytest.raises(ParameterError, match="different nodes, but got 'a', 'a'"):
        asia_like.marginal("a", "a")
    with pytest.raises(ParameterError, match="'n_rows' must be at least 0, but it is -1"):
        asia_like.sample(-1)
