"""Searches, their thresholds, and networks with planted blankets, for Verma 2005 Tables 1 and 2."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from blankets.counting import MemoryCounter
from blankets.independence import EvidenceBatch, IndependenceTest, TableTests
from blankets.search import ALGORITHMS, Trace
from blankets.simulate import Network, random_network

THRESHOLDS = tuple(np.geomspace(2e-3, 0.5, 12).tolist())  # nats
LEVELS = tuple(np.geomspace(1e-12, 0.5, 12).tolist())
DEEPEST = {"pc": 3, "iamb-n-pc": 1, "inter-iamb-n-pc": 1}
PLANTED = {"one spouse": ((1, 0), 3), "four spouses": ((2, 2), 1)}  # spouses by each of two children, parents


class InformationThreshold(IndependenceTest):
    """Calls a pair dependent if its conditional mutual information reaches a threshold.

    The waist knows levels: log p = -information, so that the level exp(-threshold) does it.
    """

    def __init__(self, tests: IndependenceTest) -> None:
        self.tests, self.names, self.memo, self.n_tests = tests, tests.names, {}, 0

    def scan(
        self,
        xs: Sequence[int] | NDArray[np.int64],
        y: int,
        given: Sequence[int] = (),
        *,
        even_if_unreliable: bool = False,
    ) -> EvidenceBatch:
        """Return the information of each x, as if it were a p-value."""
        found = self.tests.scan(xs, y, given, even_if_unreliable=True)
        self.n_tests += len(found)
        return EvidenceBatch(
            found.xs,
            y,
            found.given,
            statistic=found.statistic,
            dof=found.dof,
            n_rows=found.n_rows,
            reliable=np.ones(len(found), bool),
            log_p=-np.maximum(found.effect, 0.0),
            effect=found.effect,
        )


def planted(
    n_nodes: int, table: str, seed: int, concentration: float, additive: float, *, tied: bool = False
) -> Network:
    """Return a random network whose node "T" has exactly the blanket asked for, perhaps with additive effects.

    With ``tied``, spouses have one parent each, which is the first of T's.
    """
    rng = np.random.default_rng([2003, n_nodes, seed, len(table)])
    spouses, n_parents = PLANTED[table]
    graph = nx.DiGraph()
    others = [f"x{j}" for j in range(n_nodes - 3)]
    half = len(others) // 2
    order = [*others[:half], "T", *others[half:], "child 1", "child 2"]
    for at, node in enumerate(order):
        graph.add_node(node)
        before = [name for name in order[:at] if name != "T"]
        if node == "T":
            wanted = rng.choice(before, n_parents, replace=False)
        elif node.startswith("child"):
            pool = [name for name in others[half:] if not graph.has_edge(name, "child 1")]
            wanted = ["T", *rng.choice(pool, spouses[int(node[-1]) - 1], replace=False)]
        else:
            wanted = rng.choice(before, min(len(before), int(rng.integers(0, 11))), replace=False)
        graph.add_edges_from((str(parent), node) for parent in wanted)
    mates = [name for name in others if {"child 1", "child 2"} & set(graph.successors(name))] if tied else []
    for mate in mates:
        graph.remove_edges_from(list(graph.in_edges(mate)))
        graph.add_edge(min(graph.predecessors("T")), mate)
    drawn = random_network(graph, 2, rng, concentration=concentration)
    if not additive:
        return drawn
    tables = {}
    for node in ("T", "child 1", "child 2", *mates):
        # Each parent shifts the log odds by the same amount up or down, whatever the others are.
        sides = [rng.choice((-1, 1)) * np.array((-1, 1)) for _ in drawn.parents[node]]
        odds = np.exp(additive * sum(np.meshgrid(*sides, indexing="ij")))
        tables[node] = np.stack((1 / (1 + odds), odds / (1 + odds)), axis=-1)
    return Network(drawn.levels, drawn.parents, {**drawn.tables, **tables})


def tests_on(truth: Network, rows: int, rng: np.random.Generator) -> tuple[TableTests, TableTests]:
    """Draw rows; return tests that are all performed, for thresholds on information, and reliable ones, for levels."""
    tests = TableTests(MemoryCounter(truth.sample(rows, rng), 1), reliability=0)
    return tests, TableTests(tests.counter)


def answers_of(
    search: str, tests: TableTests, by_level: TableTests, target: int, sweep: str = "information"
) -> list[tuple[int, ...]]:
    """Return what a search finds at each of its thresholds."""
    candidates = [x for x in range(len(tests.names)) if x != target]
    if search.startswith("ks"):
        trace = Trace()
        options = {"n_features": 1, "n_conditioning": int(search[2:])}
        last = ALGORITHMS["ks"].run(tests, target, candidates, alpha=0.01, trace=trace, **options).members
        out = [decision.x for decision in trace.decisions if decision.action == "removed"]
        ranking = [*last, *reversed(out)]
        return [tuple(ranking[:k]) for k in range(1, len(ranking) + 1)]
    options = {"max_given": DEEPEST[search]} if search in DEEPEST else {}
    asked, levels = by_level, LEVELS
    if sweep == "information" and search != "pc":
        asked, levels = InformationThreshold(tests), tuple(float(np.exp(-threshold)) for threshold in THRESHOLDS)
    run = ALGORITHMS[search].run
    return [run(asked, target, candidates, alpha=level, trace=Trace(), **options).members for level in levels]


def area_of(answers: Sequence[Collection[str]], blanket: set[str], n_features: int) -> float:
    """Return the area under the curve of what a search found at its thresholds."""
    others = n_features - len(blanket)
    found = [set(answer) for answer in answers]
    return area([(len(answer - blanket) / others, len(answer & blanket) / len(blanket)) for answer in found])


def area(points: Sequence[tuple[float, float]]) -> float:
    """Return the area under the curve through the points, from (0, 0) to (1, 1).

    >>> area([(0.0, 1.0)]), area([(0.5, 0.5)])
    (1.0, 0.5)
    """
    curve = np.array(sorted({(0.0, 0.0), *points, (1.0, 1.0)}))
    return float(np.trapezoid(np.maximum.accumulate(curve[:, 1]), curve[:, 0]))
