"""The exact learner against the enumeration of all DAGs, with and without constraints."""

import itertools
import math
from functools import cache
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
from sklearn import datasets

import blankets.latent._integer as integer
from blankets.data import Frame
from blankets.errors import ParameterError
from blankets.independence import Knowledge
from blankets.latent import best_dag
from blankets.latent._best import solve_dynamic
from blankets.latent._constraints import Constraints
from latent import naive


@cache
def dags(n):
    return list(naive.all_dags(n))


def test_number_of_labeled_dags():
    # Robinson (1973): 1, 3, 25, 543, 29281.
    assert [len(dags(n)) for n in (3, 4, 5)] == [25, 543, 29281]


def random_table(rng, n):
    """A sample of a random network, so that there is structure to find."""
    n_rows = int(rng.integers(20, 200))
    arities = rng.integers(2, 4, n)
    codes = np.zeros((n_rows, n), int)
    for v in range(n):
        noise = rng.random(n_rows) < rng.random()
        source = codes[:, rng.integers(0, v)] if v else rng.integers(0, arities[v], n_rows)
        codes[:, v] = np.where(noise, rng.integers(0, arities[v], n_rows), source % arities[v])
    return codes, arities


def random_constraints(rng, n):
    order = rng.permutation(n)
    pairs = [(int(a), int(b)) for a, b in itertools.permutations(range(n), 2)]
    forward = [(int(order[i]), int(order[j])) for i, j in itertools.combinations(range(n), 2)]
    required = {edge for edge in forward if rng.random() < 0.15}
    forbidden = {edge for edge in pairs if rng.random() < 0.2} - required
    need = max([sum(b == v for _, b in required) for v in range(n)], default=0)
    max_parents = int(rng.integers(need, n)) if rng.random() < 0.5 else None
    return required, forbidden, max_parents


def enumerate_best(codes, arities, score, required, forbidden, max_parents):
    n = len(arities)
    most = n - 1 if max_parents is None else max_parents
    ones = np.ones(len(codes))
    local = {}
    for v in range(n):
        for k in range(n):
            for p in itertools.combinations([u for u in range(n) if u != v], k):
                allowed = k <= most and all(u in p for u, b in required if b == v)
                allowed = allowed and not any((u, v) in forbidden for u in p)
                formula = naive.bic if score == "bic" else lambda *a: naive.bdeu(*a, 1.0)
                local[v, p] = formula(codes, ones, arities, v, p) if allowed else -math.inf
    return max(sum(local[v, p] for v, p in enumerate(parents)) for parents in dags(n))


def check(seed, n, learner, score):
    rng = np.random.default_rng([seed, n])
    codes, arities = random_table(rng, n)
    required, forbidden, max_parents = random_constraints(rng, n)
    names = [f"v{i}" for i in range(n)]

    def named(edges):
        return [(names[a], names[b]) for a, b in edges]

    best = best_dag(
        Frame.from_codes(codes, names, arities),
        knowledge=Knowledge(required=named(required), forbidden=named(forbidden)),
        max_parents=max_parents,
        score=score,
        learner=learner,
    )
    expected = enumerate_best(codes, arities, score, required, forbidden, max_parents)
    assert best.score == pytest.approx(expected, abs=1e-6)
    assert best.gap == 0.0
    assert best.learner == learner
    assert nx.is_directed_acyclic_graph(best.graph)
    assert set(named(required)) <= set(best.graph.edges)
    assert not set(named(forbidden)) & set(best.graph.edges)
    assert max(d for _, d in best.graph.in_degree()) <= (n - 1 if max_parents is None else max_parents)
    assert sum(nx.get_node_attributes(best.graph, "score").values()) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("score", ["bic", "bdeu"])
@pytest.mark.parametrize("seed", range(100))
def test_dynamic_equals_enumeration_4(seed, score):
    check(seed, 4, "dynamic", score)


@pytest.mark.parametrize("seed", range(20))
def test_dynamic_equals_enumeration_5(seed):
    check(seed, 5, "dynamic", ["bic", "bdeu"][seed % 2])


@pytest.mark.parametrize("seed", range(60))
def test_integer_equals_enumeration_4(seed):
    check(seed, 4, "integer", ["bic", "bdeu"][seed % 2])


@pytest.mark.parametrize("seed", range(20))
def test_integer_equals_enumeration_5(seed):
    check(seed, 5, "integer", ["bic", "bdeu"][seed % 2])


def markov_chain(rng, n, n_rows=300):
    codes = rng.integers(0, 2, (n_rows, n))
    for v in range(1, n):
        codes[:, v] = np.where(rng.random(n_rows) < 0.8, codes[:, v - 1], codes[:, v])
        if v % 3 == 2:
            codes[:, v] ^= codes[:, v - 2]
    return codes


@pytest.mark.compiled
def test_both_learners_agree_on_twelve_nodes():
    frame = Frame.from_codes(markov_chain(np.random.default_rng(1), 12))
    dynamic, whole = (best_dag(frame, learner=learner) for learner in ("dynamic", "integer"))
    assert whole.score == pytest.approx(dynamic.score, abs=1e-6)
    assert whole.gap == 0.0


@pytest.mark.compiled
def test_beyond_twenty_nodes_is_proved_optimal_and_not_beaten_by_parts():
    codes = markov_chain(np.random.default_rng(2), 23)
    best = best_dag(Frame.from_codes(codes), max_parents=3)
    assert best.learner == "integer"
    assert best.gap == 0.0
    # Independent pieces can be learned apart: their optima add up to a lower bound of the whole.
    parts = sum(best_dag(Frame.from_codes(codes[:, part]), max_parents=3).score for part in (range(12), range(12, 23)))
    assert best.score >= parts - 1e-6


@pytest.mark.compiled
def test_gap_is_honest_when_time_is_short(monkeypatch):
    codes = markov_chain(np.random.default_rng(3), 10)
    frame = Frame.from_codes(codes)
    optimum = best_dag(frame).score
    monkeypatch.setattr(integer, "ENOUGH", 60)
    stopped = best_dag(frame, learner="integer")
    assert stopped.gap > 0
    assert stopped.score <= optimum + 1e-6 <= stopped.score + stopped.gap + 1e-5
    hurried = best_dag(frame, learner="integer", time_limit=0.0)
    assert hurried.score <= optimum + 1e-6 <= hurried.score + hurried.gap + 1e-5


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"required": [("a", "b"), ("b", "c"), ("c", "a")]}, "arrows of Knowledge form a cycle: . → . → . → .;"),
        ({"required": [("a", "b")], "forbidden": [("a", "b")]}, "\\('a', 'b'\\) is both in 'required' and in 'forb"),
        (
            {"required": [("a", "b"), ("c", "b")], "max_parents": 1},
            "more than max_parents=1 parents are required for 'b'",
        ),
        ({"max_parents": -1}, "'max_parents' must be a whole number, at least 0, but it is -1"),
        ({"required": [("a", "a")]}, "arrows \\(cause, effect\\) between two of them, but \\('a', 'a'\\) was given"),
        ({"required": [("b", "a")], "tiers": ["a", "b"]}, "required arrow \\('b', 'a'\\) leads from a later to an ear"),
        ({"required": ["a"]}, "best_dag has no target, so that it knows tiers and arrows only"),
        ({"always_given": ["a"]}, "leave out the rest of Knowledge"),
        ({"forbidden": [("a", "bb")]}, "names 'bb', which is not a column; did you mean 'b'"),
        ({"learner": "dynamics"}, "unknown learner 'dynamics'; did you mean 'dynamic'"),
    ],
)
def test_contradictions_are_refused(kwargs, message):
    frame = Frame.from_codes([[0, 1, 0], [1, 0, 1]], names=["a", "b", "c"])
    own = {name: value for name, value in kwargs.items() if name in ("max_parents", "learner")}
    with pytest.raises(ParameterError, match=message):
        best_dag(frame, knowledge={name: value for name, value in kwargs.items() if name not in own}, **own)


def test_tiers_are_arrows_that_do_not_exist():
    rng = np.random.default_rng(2)
    codes, arities = random_table(rng, 4)
    names = ["a", "b", "c", "d"]
    frame = Frame.from_codes(codes, names, arities)
    best = best_dag(frame, knowledge=Knowledge(tiers=[["d"], ["b", "c"]]))
    no_arrows = [(1, 3), (2, 3)]
    assert best.score == pytest.approx(enumerate_best(codes, arities, "bic", [], no_arrows, None), abs=1e-6)
    assert not {("b", "d"), ("c", "d")} & set(best.graph.edges)


# The optima that GOBNILP (pygobnilp 1.0 with Gurobi 13.0.3, any number of parents) proves for these columns.
GOBNILP = {("wine", "bic"): -1280.0748315613, ("wine", "bdeu"): -1277.1467272209}
GOBNILP |= {("breast_cancer", "bic"): -2544.3166036679, ("breast_cancer", "bdeu"): -2541.2895362482}


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("name", "score", "learner"), [*((*key, "dynamic") for key in GOBNILP), ("breast_cancer", "bic", "integer")]
)
def test_optima_of_another_exact_learner(name, score, learner):
    # Split at the mean, as is usual for these sets in the literature; the first ten features of the second.
    data = getattr(datasets, f"load_{name}")()
    codes = np.column_stack([(data.data > data.data.mean(axis=0))[:, : 13 if name == "wine" else 10], data.target])
    best = best_dag(Frame.from_codes(codes.astype(int)), score=score, learner=learner)
    assert best.score == pytest.approx(GOBNILP[name, score], abs=1e-6)
    assert best.gap <= 1e-6


def test_too_many_nodes():
    with pytest.raises(ParameterError, match="dynamic programming holds at most 20 nodes, not 21"):
        best_dag(Frame.from_codes([[0] * 21, [1] * 21]), learner="dynamic")
    with pytest.raises(ParameterError, match="a DAG over 63 columns is too large; give at most 62"):
        best_dag(Frame.from_codes([[0] * 63, [1] * 63]))


@pytest.mark.compiled
def test_solver_that_gives_up_leaves_an_honest_gap(monkeypatch):
    frame = Frame.from_codes(markov_chain(np.random.default_rng(3), 8))
    optimum = best_dag(frame).score
    monkeypatch.setattr("scipy.optimize.linprog", lambda *args, **kwargs: SimpleNamespace(status=1))
    stopped = best_dag(frame, learner="integer")
    assert stopped.score <= optimum + 1e-6 <= stopped.score + stopped.gap
    assert stopped.gap > 0


def test_no_dag_meets_contradictory_constraints():
    # Checked at the door; the kernel itself must come back all the same.
    table = np.zeros(8)
    two_required = Constraints(np.array([0b110, 0, 0]), np.zeros(3, np.int64), 1)
    assert solve_dynamic(table, two_required)[1] == -math.inf


def test_constant_columns_stay_alone():
    best = best_dag(Frame.from_codes([[0, 0], [0, 1], [0, 1]]))
    assert not best.graph.edges


def test_it_tells_who_depends_on_whom():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 500)
    table = {"<a>": a, "b": a ^ (rng.random(500) < 0.1), "c": rng.integers(0, 2, 500)}
    best = best_dag(table)
    (edge,) = best.graph.edges
    title, line = repr(best).splitlines()
    assert title == f"Best DAG of 3 columns by bic: {best.score:.1f} nats, optimal"
    assert line == f"  {edge[1]} depends on {edge[0]}"
    assert "&lt;a&gt;" in best._repr_html_()
    assert "<a>" not in best._repr_html_()
    assert "no edge" in repr(best_dag({"x": rng.integers(0, 2, 500), "y": rng.integers(0, 2, 500)}))
