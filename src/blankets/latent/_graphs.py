"""Small DAGs as parent masks: neighbors, blankets, equivalence classes."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import numpy as np

from blankets.latent._rows import Ints
from blankets.latent._scores import members_of

Collider = tuple[int, int, int]
EquivalenceClass = tuple[frozenset[frozenset[int]], frozenset[Collider]]


def acyclic(parents: Ints) -> bool:
    """Whether parent masks form a DAG.

    >>> acyclic(np.array([0b00, 0b01])), acyclic(np.array([0b10, 0b01]))
    (True, False)
    """
    left = (1 << len(parents)) - 1
    while left:
        free = [v for v in members_of(left) if not int(parents[v]) & left]
        if not free:
            return False
        left &= ~sum(1 << v for v in free)
    return True


def children_of(parents: Ints, node: int) -> list[int]:
    """Return the children of a node."""
    return [v for v in range(len(parents)) if int(parents[v]) >> node & 1]


def spouses_of(parents: Ints, node: int) -> dict[int, list[int]]:
    """Return the nodes that share a child with ``node`` and are not adjacent to it, each with those children."""
    children = children_of(parents, node)
    near = {*children, *members_of(int(parents[node])), node}
    spouses: dict[int, list[int]] = {}
    for child in children:
        for other in members_of(int(parents[child])):
            if other not in near:
                spouses.setdefault(other, []).append(child)
    return spouses


def blanket_in_dag(parents: Ints, node: int) -> set[int]:
    """Return parents, children and spouses of a node.

    >>> sorted(blanket_in_dag(np.array([0b000, 0b101, 0b000]), 0))
    [1, 2]
    """
    return {*members_of(int(parents[node])), *children_of(parents, node), *spouses_of(parents, node)}


def _skeleton(parents: Ints) -> set[frozenset[int]]:
    return {frozenset((u, v)) for v in range(len(parents)) for u in members_of(int(parents[v]))}


def _colliders(parents: Ints) -> set[Collider]:
    """Return the unshielded colliders a -> c <- b as (a, c, b) with a < b."""
    edges = _skeleton(parents)
    return {
        (a, c, b)
        for c in range(len(parents))
        for a, b in combinations(members_of(int(parents[c])), 2)
        if frozenset((a, b)) not in edges
    }


def class_of(parents: Ints) -> EquivalenceClass:
    """Return what identifies Markov equivalent DAGs: skeleton and unshielded colliders (Verma & Pearl, 1990)."""
    return frozenset(_skeleton(parents)), frozenset(_colliders(parents))


def same_class(one: Ints, two: Ints) -> bool:
    """Whether two DAGs are Markov equivalent."""
    return _skeleton(one) == _skeleton(two) and _colliders(one) == _colliders(two)


def compelled(parents: Ints) -> set[tuple[int, int]]:
    """Return the edges (parent, child) that all DAGs of the equivalence class share.

    Colliders first, then Meek's rules 1 to 3 until nothing changes (Meek, 1995).

    >>> sorted(compelled(np.array([0b000, 0b101, 0b000])))
    [(0, 1), (2, 1)]
    >>> compelled(np.array([0b000, 0b001, 0b010]))
    set()
    """
    edges = {tuple(edge) for edge in map(sorted, _skeleton(parents))}
    adjacent = {(a, b) for a, b in edges} | {(b, a) for a, b in edges}
    fixed = {(a, c) for a, c, _ in _colliders(parents)} | {(b, c) for _, c, b in _colliders(parents)}
    nodes = range(len(parents))

    def forced(a: int, b: int) -> bool:
        if any((c, a) in fixed and (c, b) not in adjacent for c in nodes if c != b):
            return True
        if any((a, c) in fixed and (c, b) in fixed for c in nodes):
            return True
        between = [c for c in nodes if (a, c) in adjacent and {(a, c), (c, a)}.isdisjoint(fixed) and (c, b) in fixed]
        return any((c, d) not in adjacent for c, d in combinations(between, 2))

    while new := {(a, b) for a, b in adjacent if {(a, b), (b, a)}.isdisjoint(fixed) and forced(a, b)}:
        fixed |= new
    return fixed


def random_start(required: Ints, forbidden: Ints, most: int, rng: np.random.Generator) -> Ints:
    """Return a random DAG that meets the constraints: a random order, each admissible edge with probability 1/2."""
    left, before = set(range(len(required))), 0
    parents = required.copy()
    while left:
        ready = [v for v in sorted(left) if not int(required[v]) & ~before]
        v = int(rng.choice(ready))
        free = [u for u in members_of(before & ~int(required[v]) & ~int(forbidden[v])) if rng.random() < 0.5]
        room = most - int(required[v]).bit_count()
        for u in rng.permutation(free)[: max(room, 0)]:
            parents[v] |= 1 << int(u)
        before |= 1 << v
        left.remove(v)
    return parents


def to_networkx(parents: Ints, names: tuple[str, ...]) -> nx.DiGraph:
    """Return the DAG over names."""
    graph = nx.DiGraph()
    graph.add_nodes_from(names)
    graph.add_edges_from((names[u], names[v]) for v in range(len(names)) for u in members_of(int(parents[v])))
    return graph
