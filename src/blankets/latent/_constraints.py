"""Edge constraints: which parents a node must have, which it must not have, and how many.

Constraints limit the possible parent sets of each node. Sets of nodes are bit masks: bit i is node i.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from blankets.arguments import whole_number
from blankets.errors import ParameterError, did_you_mean, listed

Edge = tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class Constraints:
    """Required and forbidden parents of each node, as masks, and the largest number of parents."""

    # required, forbidden (nodes,): ``required[v]`` has a bit for each node that must be a parent of v
    required: NDArray[np.int64]
    forbidden: NDArray[np.int64]
    max_parents: int  # no node may have more parents

    @classmethod
    def none(cls, n: int, max_parents: int | None = None) -> Constraints:
        """Return empty constraints for ``n`` nodes, except for the number of parents."""
        most = n - 1 if max_parents is None else min(max_parents, n - 1)
        return cls(np.zeros(n, np.int64), np.zeros(n, np.int64), most)

    @classmethod
    def from_edges(
        cls, n: int, required: Iterable[Edge] = (), forbidden: Iterable[Edge] = (), max_parents: int | None = None
    ) -> Constraints:
        """Return the constraints for edges (parent, child) given by node number."""
        constraints = cls.none(n, max_parents)
        for parent, child in required:
            constraints.required[child] |= 1 << parent
        for parent, child in forbidden:
            constraints.forbidden[child] |= 1 << parent
        return constraints

    @classmethod
    def from_names(
        cls,
        names: Sequence[str],
        required: Iterable[tuple[str, str]] = (),
        forbidden: Iterable[tuple[str, str]] = (),
        max_parents: int | None = None,
    ) -> Constraints:
        """Return the constraints for edges (parent, child) given by name, and check that a DAG can meet them."""
        if max_parents is not None:
            max_parents = whole_number("max_parents", max_parents, 0)
        must, may_not = _edges("required", required, names), _edges("forbidden", forbidden, names)
        if both := [(names[a], names[b]) for a, b in must if (a, b) in may_not]:
            raise ParameterError(f"edges are both required and forbidden: {listed(both)}; drop them from one list")
        graph = nx.DiGraph(sorted(must))
        if not nx.is_directed_acyclic_graph(graph):
            cycle = [names[a] for a, _ in nx.find_cycle(graph)]
            raise ParameterError(
                f"the required edges form a cycle: {' -> '.join([*cycle, cycle[0]])}; drop one of them"
            )
        crowded = [names[v] for v, k in graph.in_degree() if max_parents is not None and k > max_parents]
        if crowded:
            raise ParameterError(
                f"more than max_parents={max_parents} parents are required for {listed(crowded)}; "
                f"drop some, or take a larger max_parents"
            )
        return cls.from_edges(len(names), must, may_not, max_parents)


def _edges(what: str, edges: Iterable[tuple[str, str]], names: Sequence[str]) -> set[Edge]:
    """Return edges by number, each checked: a pair of two different known names."""
    number = {name: i for i, name in enumerate(names)}
    found = set()
    if isinstance(edges, str) or not isinstance(edges, Iterable):
        raise ParameterError.out_of_range(what, edges, "a list of edges (parent, child)")
    for edge in edges:
        if not isinstance(edge, Sequence) or isinstance(edge, str) or len(edge) != 2:
            raise ParameterError(f"{what} edges are pairs (parent, child), but {edge!r} was given")
        for name in edge:
            if name not in number:
                hint = did_you_mean(str(name), names)
                raise ParameterError(f"the {what} edge {edge!r} names {name!r}, which is not a column{hint}")
        if edge[0] == edge[1]:
            raise ParameterError(f"the {what} edge {edge!r} leads from a column to itself; drop it")
        found.add((number[edge[0]], number[edge[1]]))
    return found
