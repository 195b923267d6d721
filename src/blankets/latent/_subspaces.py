"""Possible places of a latent, as constraints and first DAGs: parent, child or spouse of the target; or anywhere.

References
----------
Gao & Ji (2016), Constrained local latent variable discovery, IJCAI, Algorithm 1 and Figure 2.
Elidan, Lotner, Friedman & Koller (2000), Discovering hidden variables: a structure-based approach, NIPS.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from blankets.latent._constraints import Constraints, Edge
from blankets.latent._graphs import acyclic
from blankets.latent._local import Stage
from blankets.latent._rows import Ints
from blankets.latent._scores import members_of


@dataclass(frozen=True, slots=True, eq=False)
class Subspace:
    """A place for one more latent, the last node."""

    name: str  # "parent", "child", "spouse through x", or "anywhere"
    constraints: Constraints  # edges that put the latent there
    starts: tuple[Ints, ...]  # DAGs to start from
    share: float = 1.0  # its share of the restarts: all common children of "spouse" together have one share
    explore: bool = True  # whether to alternate between random DAGs and the starts


def subspaces(stage: Stage, largest: int) -> list[Subspace]:
    """Return the constraint sets A, B and C of the paper, C once for each possible common child.

    In the starts the latent is the only parent of the observed neighbors; all other nodes keep their parents.
    """
    t, h = stage.target, stage.target + 1 + len(stage.arities)
    near = [x for x in stage.neighbors() if x < t]
    kept, rest = _kept_edges(stage), _edges_into(stage, {*near, t})
    hung = [*rest, *((h, x) for x in near)]
    spouses = [(s, h) for s in stage.members if s < t and s not in near]
    # Columns of the context may also have the latent as parent.
    wide = [(h, x) for x in (*near, *range(stage.local.n_members, t))]
    starts = [hung, wide] if len(wide) > len(near) else [hung]
    child_starts = [[(t, h), *edges] for edges in starts] + ([[(t, h), *hung, *spouses]] if spouses else [])
    found = [
        _subspace("parent", h, [(h, t), *kept], [], [[(h, t), *edges] for edges in starts], largest),
        _subspace("child", h, [(t, h), *kept], [(x, h) for x in near], child_starts, largest),
    ]
    children = [x for x in stage.possible_children() if x < t]
    for x in children:
        others = stage.spouses_through(x)
        start = [(t, x), (h, x), *((h, s) for s in others), *((t, y) for y in near if y != x)]
        start += _edges_into(stage, {*near, *others, t})
        name, required = f"spouse through {stage.local.names[x]}", [(t, x), (h, x), *kept]
        found.append(_subspace(name, h, required, [(t, h), (h, t)], [start], largest, 1 / len(children)))
    possible = [s for s in found if max(int(mask).bit_count() for mask in s.constraints.required) < largest]
    # A random DAG would lose what is known of earlier latents.
    return [replace(s, explore=not stage.arities) for s in possible]


def behind_all(stage: Stage) -> list[Subspace]:
    """Return the places of a first latent that makes all observed nodes independent: as parent, and as child."""
    t, h = stage.target, stage.target + 1
    others = [(h, x) for x in range(t)]
    found = []
    for name, edge in (("parent", (h, t)), ("child", (t, h))):
        edges = [edge, *others]
        forbidden = [(u, v) for u in range(h + 1) for v in range(h + 1) if u != v and (u, v) not in edges]
        found.append(_subspace(name, h, edges, forbidden, [edges], h + 1))
    return found


def _edges_into(stage: Stage, but_not: Collection[int]) -> list[Edge]:
    """Return the edges of the fitted DAG into all nodes except some."""
    parents = stage.fit.parents
    return [(u, v) for v in range(len(parents)) if v not in but_not for u in members_of(int(parents[v]))]


def _kept_edges(stage: Stage) -> list[Edge]:
    """Return the edges that keep earlier latents in the blanket: with the target, or to a common child."""
    parents, t, edges = stage.fit.parents, stage.target, []
    for h in stage.latents:
        if int(parents[t]) >> h & 1:
            edges.append((h, t))
        elif int(parents[h]) >> t & 1:
            edges.append((t, h))
        else:
            child = next(v for v in range(len(parents)) if int(parents[v]) >> t & 1 and int(parents[v]) >> h & 1)
            edges += [(t, child), (h, child)]
    return edges


def _subspace(
    name: str,
    h: int,
    required: list[Edge],
    forbidden: list[Edge],
    starts: list[list[Edge]],
    largest: int,
    share: float = 1.0,
) -> Subspace:
    """Return the subspace with the starts that meet its constraints."""
    constraints = Constraints.from_edges(h + 1, required, forbidden, largest - 1)
    graphs = [Constraints.from_edges(h + 1, {*required, *edges}).required for edges in starts]
    fitting = [g for g in graphs if acyclic(g) and not np.any(g & constraints.forbidden)]
    small = [g for g in fitting if max(int(mask).bit_count() for mask in g) < largest]
    return Subspace(name, constraints, tuple(small), share)


def anywhere(stage: Stage, largest: int, *, cliques: bool) -> Subspace:
    """Return the subspace without constraints: SEM from random DAGs, or SCSEM from semi-cliques."""
    h = stage.target + 1 + len(stage.arities)
    constraints = Constraints.none(h + 1, largest - 1)
    if not cliques:
        return Subspace("anywhere", constraints, ())
    starts = []
    for clique in semi_cliques(stage.fit.parents):
        inside = sum(1 << v for v in clique)
        parents = np.array([int(p) & ~(inside if v in clique else 0) for v, p in enumerate(stage.fit.parents)])
        parents[list(clique)] |= 1 << h
        starts.append(np.append(parents, 0))
    small = [g for g in starts if max(int(mask).bit_count() for mask in g) < largest]
    return Subspace("anywhere", constraints, tuple(small), explore=False)


def semi_cliques(parents: Ints) -> list[tuple[int, ...]]:
    """Return the largest sets of three or more nodes, each adjacent to at least half of the others.

    If there are none, all nodes together.

    >>> semi_cliques(np.array([0b0000, 0b0001, 0b0011, 0b0110]))
    [(0, 1, 2, 3)]
    >>> semi_cliques(np.array([0b00000, 0b00001, 0b00010, 0b00100, 0b01000]))
    [(0, 1, 2), (1, 2, 3), (2, 3, 4)]
    """
    n = len(parents)
    adjacent = [int(parents[v]) | sum(1 << u for u in range(n) if int(parents[u]) >> v & 1) for v in range(n)]
    found: list[tuple[int, ...]] = []
    for size in range(n, 2, -1):
        for nodes in combinations(range(n), size):
            inside = sum(1 << v for v in nodes)
            half = all(2 * (adjacent[v] & inside).bit_count() >= size - 1 for v in nodes)
            if half and not any(set(nodes) < set(larger) for larger in found):
                found.append(nodes)
    return found or [tuple(range(n))]
