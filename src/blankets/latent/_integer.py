"""The best-scoring DAG by integer programming, for more nodes than dynamic programming can hold.

Each node chooses one of its candidate parent sets. A choice is acyclic iff every set of nodes C (a *cluster*)
has a member whose parents all lie outside C; these inequalities are added as they are violated. Bounds come
from the relaxations, a DAG from local search over orders, so at any time the gap between them is known.

Parent sets are scored size by size; a set is a candidate only if it beats all its subsets, and supersets that
the penalty alone excludes are never counted. Sets left unscored when the time is over are represented by
their ceiling, so the gap stays honest.

References
----------
Cussens (2011), Bayesian network learning with cutting planes, UAI.
de Campos & Ji (2011), Efficient structure learning of Bayesian networks using constraints, JMLR 12.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from blankets.latent._constraints import Constraints
from blankets.latent._scores import Scorer, members_of

__all__ = ["solve_integer"]

TOLERANCE = 1e-6  # relative to the score; HiGHS works to about this
ENOUGH = 3_000_000  # parent sets scored before the rest is left to the gap

Candidate = tuple[float, int]  # score, parents


@dataclass(slots=True)
class Candidates:
    """Candidate parent sets of each node, best first, and a ceiling for what was not scored."""

    sets: list[list[Candidate]]
    ceilings: list[float]


def solve_integer(
    scorer: Scorer, constraints: Constraints, time_limit: float | None
) -> tuple[NDArray[np.int64], float, float]:
    """Return parent masks, score, and how much better an unseen DAG could be at most (0.0: none)."""
    end = time.monotonic() + time_limit if time_limit is not None else np.inf
    candidates = find_candidates(scorer, constraints, end if time_limit is None else end - time_limit / 2)
    search = _Search(candidates, constraints)
    bound = search.run(end)
    gap = bound - search.score
    return search.parents, search.score, float(gap) if gap > TOLERANCE * max(1.0, abs(search.score)) else 0.0


def find_candidates(scorer: Scorer, constraints: Constraints, end: float) -> Candidates:
    """Return the parent sets that can occur in a best DAG, scoring them size by size until time is over."""
    n = len(constraints.required)
    best: list[dict[int, float]] = [{} for _ in range(n)]  # of a set and all its subsets
    kept: list[list[Candidate]] = [[] for _ in range(n)]
    ceilings = [-np.inf] * n
    level = [[int(constraints.required[v])] for v in range(n)]
    scored = 0
    while any(level):
        waiting = sum(len(sets) for sets in level)
        if scored and (time.monotonic() > end or scored + waiting > ENOUGH):
            for v in range(n):
                ceilings[v] = max((-scorer.penalty(v, mask) for mask in level[v]), default=-np.inf)
            break
        _count_level(scorer, level)
        for v in range(n):
            level[v] = _next_level(scorer, constraints, v, level[v], best[v], kept[v])
        scored += waiting
    return Candidates([sorted(sets, reverse=True) for sets in kept], ceilings)


def _count_level(scorer: Scorer, level: list[list[int]]) -> None:
    """Count parent sets and families of one level, sets of equal size together."""
    by_size: dict[int, set[int]] = {}
    for v, sets in enumerate(level):
        for mask in sets:
            by_size.setdefault(mask.bit_count(), set()).add(mask)
            by_size.setdefault(mask.bit_count() + 1, set()).add(mask | 1 << v)
    for masks in by_size.values():
        scorer.count(masks)


def _next_level(
    scorer: Scorer, constraints: Constraints, v: int, sets: list[int], best: dict[int, float], kept: list[Candidate]
) -> list[int]:
    """Score the sets of one level, keep those that beat their subsets; return the supersets worth scoring."""
    n, required = len(constraints.required), int(constraints.required[v])
    free = [u for u in range(n) if u != v and not (required | int(constraints.forbidden[v])) >> u & 1]
    following = []
    for mask in sets:
        added = members_of(mask & ~required)
        below = max((best.get(mask ^ 1 << u, -np.inf) for u in added), default=-np.inf)
        score = scorer.value(mask | 1 << v) - scorer.value(mask)
        if score > below:
            kept.append((score, mask))
        best[mask] = max(score, below)
        if mask.bit_count() >= constraints.max_parents:
            continue
        last = added[-1] if added else -1
        larger = (mask | 1 << u for u in free if u > last)
        following += [wider for wider in larger if -scorer.penalty(v, wider) >= best[mask]]
    return following


@dataclass(slots=True)
class _Search:
    """The state of one run: columns of the program, cuts so far, the best DAG so far."""

    candidates: Candidates
    constraints: Constraints
    score: float = -np.inf
    parents: NDArray[np.int64] = field(init=False)
    node: NDArray[np.int64] = field(init=False)
    value: NDArray[np.float64] = field(init=False)
    sets: list[int] = field(init=False)
    cuts: list[tuple[int, NDArray[np.int64]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        columns = [(v, *c) for v, sets in enumerate(self.candidates.sets) for c in sets]
        # What was left unscored may at best cost no one a parent: a bound, never part of an answer.
        for v, ceiling in enumerate(self.candidates.ceilings):
            if ceiling > self.candidates.sets[v][0][0]:
                columns.append((v, ceiling, int(self.constraints.required[v])))
        self.node = np.array([v for v, _, _ in columns])
        self.value = np.array([score for _, score, _ in columns])
        self.sets = [mask for _, _, mask in columns]
        self.parents = self.constraints.required.copy()

    def run(self, end: float) -> float:
        """Improve DAG and bound until they meet or time is over; return the bound."""
        self.improve(list(nx.topological_sort(_graph(self.constraints.required))), end)
        bound = float(sum(self.value[self.node == v].max() for v in range(len(self.parents))))
        whole = False
        while bound > self.score + TOLERANCE * max(1.0, abs(self.score)) and time.monotonic() < end:
            weights, reached = self.solve(end, whole=whole)
            bound = min(bound, reached)
            if weights is None:
                break
            self.improve(self.order_of(weights), end)
            found = self.violated(weights)
            if not found and whole:
                break  # an acyclic optimum: either the answer or a bound that rests on unscored sets
            whole = not found
            self.cuts += [(cluster, self.column_of(cluster)) for cluster in found]
        return max(bound, self.score)

    def solve(self, end: float, *, whole: bool) -> tuple[NDArray[np.float64] | None, float]:
        """Solve the program with the cuts so far; return the weights of the columns and a bound."""
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import csr_array

        n, m = len(self.parents), len(self.node)
        constraints = [LinearConstraint(csr_array((np.ones(m), (self.node, np.arange(m))), shape=(n, m)), 1, 1)]
        if self.cuts:
            rows = np.repeat(np.arange(len(self.cuts)), [len(columns) for _, columns in self.cuts])
            at = np.concatenate([columns for _, columns in self.cuts])
            matrix = csr_array((np.ones(len(at)), (rows, at)), shape=(len(self.cuts), m))
            constraints.append(LinearConstraint(matrix, 1, np.inf))
        options = {"time_limit": max(end - time.monotonic(), 0.1)} if np.isfinite(end) else {}
        integrality = np.full(m, int(whole))
        answer = milp(
            -self.value, integrality=integrality, bounds=Bounds(0, 1), constraints=constraints, options=options
        )
        reached = answer.mip_dual_bound if whole else answer.fun
        optimal = answer.status == 0
        return answer.x if optimal else None, -reached if reached is not None and (whole or optimal) else np.inf

    def column_of(self, cluster: int) -> NDArray[np.int64]:
        """Return the columns that give some member of the cluster parents outside it only."""
        return np.array([k for k, v in enumerate(self.node) if cluster >> int(v) & 1 and not self.sets[k] & cluster])

    def arcs(self, weights: NDArray[np.float64]) -> dict[int, dict[int, float]]:
        """Return for each child the total weight of the chosen sets that hold each parent."""
        arcs: dict[int, dict[int, float]] = {v: {} for v in range(len(self.parents))}
        for k in np.flatnonzero(weights > 1e-9):
            into = arcs[int(self.node[k])]
            for u in members_of(self.sets[k]):
                into[u] = into.get(u, 0.0) + float(weights[k])
        return arcs

    def violated(self, weights: NDArray[np.float64]) -> set[int]:
        """Return clusters whose inequality the weights break, found as cycles of heavy arcs."""
        arcs = self.arcs(weights)
        outside = {cluster for v in arcs for cluster in _cycles_through(v, arcs)}
        known = {cluster for cluster, _ in self.cuts}
        return {c for c in outside - known if weights[self.column_of(c)].sum() < 1 - 1e-6}

    def order_of(self, weights: NDArray[np.float64]) -> list[int]:
        """Return an order of the nodes that follows the heavy arcs: least weight from unplaced parents first."""
        arcs, left, order = self.arcs(weights), set(range(len(self.parents))), []
        while left:
            ready = [v for v in left if not int(self.constraints.required[v]) & sum(1 << u for u in left)]
            v = min(ready, key=lambda v: (sum(w for u, w in arcs[v].items() if u in left), v))
            order.append(v)
            left.remove(v)
        return order

    def improve(self, order: list[int], end: float) -> None:
        """Local search over orders: move single nodes while the best DAG that fits the order gets better."""
        score, parents = self.fitting(order)
        moved = True
        while moved and time.monotonic() < end:
            moved = False
            for v in list(order):
                rest = [u for u in order if u != v]
                for at in range(len(order)):
                    trial = [*rest[:at], v, *rest[at:]]
                    better, chosen = self.fitting(trial)
                    if better > score + 1e-9:
                        score, parents, order, moved = better, chosen, trial, True
        if score > self.score:
            self.score, self.parents = score, np.array(parents, np.int64)

    def fitting(self, order: Iterable[int]) -> tuple[float, list[int]]:
        """Return score and parents of the best DAG in which parents precede children in the order."""
        before, total, parents = 0, 0.0, [0] * len(self.parents)
        for v in order:
            for score, mask in self.candidates.sets[v]:
                if not mask & ~before:
                    total, parents[v] = total + score, mask
                    break
            else:
                return -np.inf, parents
            before |= 1 << v
        return total, parents


def _graph(parents: Iterable[int]) -> nx.DiGraph:
    graph = nx.DiGraph()
    for v, mask in enumerate(parents):
        graph.add_node(v)
        graph.add_edges_from((u, v) for u in members_of(int(mask)))
    return graph


def _cycles_through(start: int, arcs: dict[int, dict[int, float]]) -> list[int]:
    """Return the cluster of the shortest cycle through ``start`` where an arc of weight w has length 1 - w.

    A cycle shorter than 1 breaks the inequality of its cluster (Dijkstra from child to parent).
    """
    distance, via, queue = {start: 0.0}, {start: start}, [(0.0, start)]
    while queue:
        far, v = heapq.heappop(queue)
        if far > distance[v] or far >= 1 - 1e-6:
            continue
        for u, weight in arcs[v].items():
            length = far + max(1.0 - weight, 0.0)
            if u == start and length < 1 - 1e-6:
                cluster = 1 << start
                while v != start:
                    cluster, v = cluster | 1 << v, via[v]
                return [cluster]
            if length < distance.get(u, np.inf):
                distance[u], via[u] = length, v
                heapq.heappush(queue, (length, u))
    return []
