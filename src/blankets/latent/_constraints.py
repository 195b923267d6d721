"""Edge constraints: which parents a node must have, which it must not have, and how many.

Constraints limit the possible parent sets of each node. Sets of nodes are bit masks: bit i is node i.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blankets.arguments import whole_number
from blankets.errors import ParameterError, listed
from blankets.independence import Knowledge

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
    def from_knowledge(
        cls, names: Sequence[str], knowledge: Knowledge, max_parents: int | None = None, left_out: Collection[str] = ()
    ) -> Constraints:
        """Return what is known of arrows between columns, and check that a DAG can meet it."""
        if max_parents is not None:
            max_parents = whole_number("max_parents", max_parents, 0)
        if knowledge.members or knowledge.together or knowledge.always_given:
            raise ParameterError(
                "best_dag has no target, so that it knows tiers and arrows only: required=[('cause', 'effect')], "
                "forbidden=[...], tiers=[...]; leave out the rest of Knowledge"
            )
        known = knowledge.at(names, left_out)
        into = [sum(effect == v for _, effect in known.arrows) for v in range(len(names))]
        if crowded := [names[v] for v, k in enumerate(into) if max_parents is not None and k > max_parents]:
            raise ParameterError(f"more than max_parents={max_parents} parents are required for {listed(crowded)}")
        never = [(a, b) for a in range(len(names)) for b in range(len(names)) if known.never_causes(a, b)]
        return cls.from_edges(len(names), known.arrows, never, max_parents)
