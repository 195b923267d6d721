"""`DSeparation`: answers the four questions from a known graph instead of data.

It is used to test algorithms (perfect tests, no statistics), and gives the truth for a simulation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from blankets.errors import DataError, ParameterError, guarded, listed
from blankets.independence._contract import Columns, CountedTests, Tally
from blankets.independence._evidence import EvidenceBatch

if TYPE_CHECKING:
    import networkx as nx

_CERTAIN = 1e4  # statistic of a dependence ...
_LOG_P = -5004.831061513645  # ... and its log p at one degree of freedom


@guarded
class DSeparation(CountedTests):
    """Independence in a directed acyclic graph, by d-separation.

    All dependences are equally strong; ties are decided by the order of the nodes.

    Parameters
    ----------
    graph : networkx.DiGraph
        A directed acyclic graph; its nodes, in their order, are the columns.

    Examples
    --------
    >>> import networkx as nx
    >>> from blankets import DSeparation
    >>> tests = DSeparation(nx.DiGraph([("rain", "wet"), ("sprinkler", "wet")]))
    >>> tests.names
    ('rain', 'wet', 'sprinkler')
    >>> tests.test(0, 2).independent(0.05), tests.test(0, 2, given=[1]).independent(0.05)
    (True, False)
    """

    def __init__(self, graph: nx.DiGraph) -> None:
        from networkx import DiGraph, is_directed_acyclic_graph

        if not isinstance(graph, DiGraph):
            raise ParameterError.out_of_range("graph", graph, "a directed graph of networkx")
        if not is_directed_acyclic_graph(graph):
            raise DataError("d-separation needs a directed acyclic graph, but this one has a cycle")
        self.graph = graph
        self.names = tuple(str(node) for node in graph.nodes)
        self.tally = Tally()
        self.memo = {}
        number = {node: j for j, node in enumerate(graph.nodes)}
        # Sets of nodes are bits of an integer: a graph of a few dozen nodes needs a few machine words.
        self._parents = [_bits(number[p] for p in graph.predecessors(node)) for node in graph.nodes]
        self._children = [_bits(number[c] for c in graph.successors(node)) for node in graph.nodes]
        self._connected: dict[tuple[int, int], int] = {}
        self._ones = np.ones(len(self.names))
        self._ones.flags.writeable = False

    def scan(
        self, xs: Columns, y: int, given: Sequence[int] = (), *, even_if_unreliable: bool = False
    ) -> EvidenceBatch:
        """Tell which of ``xs`` are d-connected to ``y`` given a set."""
        columns = np.array(xs, np.int64)
        self._check({y, *given, *columns.tolist()})
        connected = self._connected_to(y, _bits(given))
        dependent = np.array([connected >> x & 1 for x in columns.tolist()], float)
        self.tally.add(len(xs))
        return EvidenceBatch(
            columns,
            y,
            tuple(given),
            statistic=_CERTAIN * dependent,
            dof=self._ones[: len(xs)],
            n_rows=1,
            reliable=self._ones[: len(xs)] > 0.0,
            log_p=_LOG_P * dependent,
        )

    def _check(self, nodes: set[int]) -> None:
        """Refuse numbers that no node has: their bits would be those of nodes that nothing is tied to."""
        if not all(isinstance(node, Integral) and 0 <= node < len(self.names) for node in nodes):
            raise ParameterError(
                f"nodes are asked for by their numbers, 0 to {len(self.names) - 1}, but these are {listed(nodes)}"
            )

    def _connected_to(self, y: int, given: int) -> int:
        """Return the nodes with an active path to ``y`` (Bayes ball: Shachter 1998), as bits."""
        key = (y, given)
        if key not in self._connected:
            self._connected[key] = self._bayes_ball(y, given)
        return self._connected[key]

    def _bayes_ball(self, y: int, given: int) -> int:
        from_child, from_parent = 1 << y, 0  # nodes that the ball visits, by the direction it comes from
        done_up = done_down = reached = 0
        while (up := from_child & ~done_up) | (down := from_parent & ~done_down):
            done_up |= up
            done_down |= down
            for node in _members(up & ~given):
                reached |= 1 << node
                from_child |= self._parents[node]
                from_parent |= self._children[node]
            for node in _members(down & ~given):
                reached |= 1 << node
                from_parent |= self._children[node]
            for node in _members(down & given):  # an observed collider sends the ball back
                from_child |= self._parents[node]
        return reached


def _bits(nodes: Iterable[int]) -> int:
    total = 0
    for node in nodes:
        total |= 1 << int(node)
    return total


def _members(bits: int) -> list[int]:
    found = []
    while bits:
        low = bits & -bits
        found.append(low.bit_length() - 1)
        bits ^= low
    return found
