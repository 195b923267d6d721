"""Graphs whose blankets are known, and tests of independence that say what they are told to say."""

from functools import cache
from itertools import permutations, product
from typing import NamedTuple

import networkx as nx
import numpy as np

from blankets.independence import EvidenceBatch, IndependenceTest


class Truth(NamedTuple):
    """Who is who around one node."""

    parents: set
    children: set
    spouses: set

    @property
    def neighbors(self):
        return self.parents | self.children

    @property
    def blanket(self):
        return self.neighbors | self.spouses


def truth(graph, node):
    """Read the blanket of a node off its graph."""
    parents, children = set(graph.predecessors(node)), set(graph.successors(node))
    others = {p for child in children for p in graph.predecessors(child)}
    return Truth(parents, children, others - parents - children - {node})


def varied_dag(rng):
    """A DAG of 2 to 12 nodes, of 1 to 3 neighbors each on average (small ones up to complete)."""
    n = int(rng.integers(2, 13))
    share = min(1.0, rng.choice([1.0, 1.5, 2.0, 2.5, 3.0]) / (n - 1))
    order = rng.permutation(n).tolist()
    graph = nx.DiGraph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from((order[i], order[j]) for i in range(n) for j in range(i + 1, n) if rng.random() < share)
    return graph


@cache
def five_node_dags():
    """All labeled DAGs of five nodes, each once, as tuples of arrows."""
    pairs = [(i, j) for i in range(5) for j in range(i + 1, 5)]
    found = set()
    for order in permutations(range(5)):
        arrows = [(order[i], order[j]) for i, j in pairs]
        for chosen in product((False, True), repeat=len(arrows)):
            found.add(frozenset(arrow for arrow, there in zip(arrows, chosen, strict=True) if there))
    return sorted(tuple(sorted(arrows)) for arrows in found)


def graph_of(n, arrows):
    """A DAG over 0..n-1 from its arrows."""
    graph = nx.DiGraph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(arrows)
    return graph


class Scripted(IndependenceTest):
    """Answers from a script: for a pair and a set the log p-value, or None for "unreliable".

    Keys are ``"ab|cd"`` with one letter a variable, in any order on either side of the bar; whatever is not
    in the script gets the default. A tuple is (log p, statistic).
    """

    def __init__(self, names, script, *, default=0.0, by_effect=False):
        self.names, self.n_tests, self.memo, self.by_effect = tuple(names), 0, {}, by_effect
        self.default = default
        self.script = {self._key(*key.split("|")): answer for key, answer in script.items()}
        self.asked = []

    @staticmethod
    def _key(pair, given):
        return frozenset(pair), frozenset(given)

    def scan(self, xs, y, given=(), *, even_if_unreliable=False):
        answers = []
        for x in xs:
            pair, names = self.names[x] + self.names[y], "".join(self.names[z] for z in given)
            self.asked.append(f"{pair}|{names}")
            answers.append(self.script.get(self._key(pair, names), self.default))
        both = [a if isinstance(a, tuple) else (np.nan, np.nan) if a is None else (a, -2.0 * a) for a in answers]
        self.n_tests += sum(a is not None for a in answers)
        return EvidenceBatch(
            np.array(xs, np.int64),
            y,
            tuple(given),
            statistic=np.array([s for _, s in both], float),
            dof=np.ones(len(xs)),
            n_rows=100,
            reliable=np.array([a is not None for a in answers], bool),
            log_p=np.array([p for p, _ in both], float),
            by_effect=self.by_effect,
        )
