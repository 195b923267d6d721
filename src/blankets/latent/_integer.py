"""The best-scoring DAG by integer programming, for more nodes than dynamic programming can handle.

Each node chooses one of its candidate parent sets. A choice is acyclic if and only if every set of nodes C (a
*cluster*) has a member whose parents are all outside C; these inequalities are added when they are violated.
Relaxations give an upper bound, local search over orders gives a DAG, so the gap between them is always known.

Parent sets are scored size by size; a set is a candidate only if it is better than all its subsets, and supersets
that the penalty alone excludes are never counted. Sets not scored when the time is over are represented by an upper
bound, so the gap stays right.

References
----------
Cussens (2011), Bayesian network learning with cutting planes, UAI.
de Campos & Ji (2011), Efficient structure learning of Bayesian networks using constraints, JMLR 12.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from blankets.latent._constraints import Constraints
from blankets.latent._scores import Scorer, members_of

TOLERANCE = 1e-6  # relative to the score; HiGHS works to about this
CLOSE = 1e-2  # relative: local search starts if the order of a relaxation is this close to the best DAG
N_ORDERS = 10  # random orders that local search starts from
ENOUGH = 3_000_000  # most parent sets that are scored; the rest counts in the gap

Candidate = tuple[float, int]  # score, parents


@dataclass(slots=True)
class Candidates:
    """Candidate parent sets of each node, best first, and an upper bound for sets that were not scored."""

    sets: list[list[Candidate]]
    ceilings: list[float]


def solve_integer(
    scorer: Scorer, constraints: Constraints, time_limit: float | None
) -> tuple[NDArray[np.int64], float, float]:
    """Return parent masks, score, and by how much another DAG could at most be better (0.0: optimal)."""
    end = time.monotonic() + time_limit if time_limit is not None else np.inf
    candidates = find_candidates(scorer, constraints, end if time_limit is None else end - time_limit / 2)
    search = _Search(candidates, constraints)
    bound = search.run(end)
    gap = bound - search.score
    return search.parents, search.score, float(gap) if gap > TOLERANCE * max(1.0, abs(search.score)) else 0.0


def find_candidates(scorer: Scorer, constraints: Constraints, end: float) -> Candidates:
    """Return the parent sets that can be in a best DAG, scored size by size until the time is over."""
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
    """Score the sets of one level, keep those better than their subsets; return the supersets to score next."""
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
    sets: NDArray[np.int64] = field(init=False)
    cuts: list[tuple[int, NDArray[np.int64]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        columns = [(v, *c) for v, sets in enumerate(self.candidates.sets) for c in sets]
        # Unscored sets count with their best possible score: a bound, never part of an answer.
        for v, ceiling in enumerate(self.candidates.ceilings):
            if ceiling > self.candidates.sets[v][0][0]:
                columns.append((v, ceiling, int(self.constraints.required[v])))
        self.node = np.array([v for v, _, _ in columns])
        self.value = np.array([score for _, score, _ in columns])
        self.sets = np.array([mask for _, _, mask in columns], np.int64)
        self.parents = self.constraints.required.copy()

    def run(self, end: float) -> float:
        """Improve DAG and bound until they are equal or the time is over; return the bound."""
        rng = np.random.default_rng(0)
        for _ in range(N_ORDERS):
            self.improve(self.order_of(np.zeros(len(self.node)), rng.permutation(len(self.parents))), end)
        bound = float(sum(self.value[self.node == v].max() for v in range(len(self.parents))))
        whole = False
        while bound > self.score + TOLERANCE * max(1.0, abs(self.score)) and time.monotonic() < end:
            weights, reached = self.whole(end) if whole else self.relax(end)
            bound = min(bound, max(reached, self.score))
            if weights is None:
                break
            order = self.order_of(weights, range(len(self.parents)))
            if self.fitting(order)[0] > self.score - CLOSE * abs(self.score):
                self.improve(order, end)
            found = self.violated(weights)
            if not found and whole:
                break  # an acyclic optimum: either the answer or a bound from unscored sets
            whole = not found
            self.cuts += [(cluster, self.column_of(cluster)) for cluster in found]
        return max(bound, self.score)

    def relax(self, end: float) -> tuple[NDArray[np.float64] | None, float]:
        """Solve the relaxation; return the weights of the columns and the bound.

        A column whose reduced cost is larger than the gap cannot be in a better DAG and is removed.
        """
        from scipy.optimize import linprog

        one, cuts = self._matrices()
        answer = linprog(
            -self.value,
            A_eq=one,
            b_eq=np.ones(one.shape[0]),
            A_ub=-cuts if cuts is not None else None,
            b_ub=-np.ones(len(self.cuts)) if cuts is not None else None,
            method="highs",
            options=_time_left(end),
        )
        if answer.status != 0:
            return None, np.inf
        slack = TOLERANCE * max(1.0, abs(self.score))
        kept = answer.lower.marginals <= -answer.fun - self.score + slack
        weights = answer.x[kept]
        self.node, self.value, self.sets = self.node[kept], self.value[kept], self.sets[kept]
        self.cuts = [(cluster, self.column_of(cluster)) for cluster, _ in self.cuts]
        return weights, -float(answer.fun)

    def whole(self, end: float) -> tuple[NDArray[np.float64] | None, float]:
        """Solve the integer program with the cuts so far; return the chosen columns and the bound."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        one, cuts = self._matrices()
        constraints = [LinearConstraint(one, 1, 1)]
        if cuts is not None:
            constraints.append(LinearConstraint(cuts, 1, np.inf))
        every = np.ones(len(self.node))
        options = _time_left(end) | {"mip_rel_gap": 0.0}  # the default, 1e-4, is not exact
        answer = milp(-self.value, integrality=every, bounds=Bounds(0, 1), constraints=constraints, options=options)
        bound = np.inf if answer.mip_dual_bound is None else -float(answer.mip_dual_bound)
        return answer.x if answer.status == 0 else None, bound

    def _matrices(self) -> tuple[csr_array, csr_array | None]:
        """Return the columns of each node, and the columns of each cut, as 0/1 matrices; older HiGHS wants int32."""
        m = len(self.node)
        at_node = self.node.astype(np.int32), np.arange(m, dtype=np.int32)
        one = csr_array((np.ones(m), at_node), shape=(len(self.parents), m))
        if not self.cuts:
            return one, None
        rows = np.repeat(np.arange(len(self.cuts), dtype=np.int32), [len(columns) for _, columns in self.cuts])
        at = np.concatenate([columns for _, columns in self.cuts]).astype(np.int32)
        return one, csr_array((np.ones(len(at)), (rows, at)), shape=(len(self.cuts), m))

    def column_of(self, cluster: int) -> NDArray[np.int64]:
        """Return the columns that give a member of the cluster only parents outside it."""
        return np.flatnonzero((cluster >> self.node & 1 > 0) & (self.sets & cluster == 0))

    def arcs(self, weights: NDArray[np.float64]) -> dict[int, dict[int, float]]:
        """Return for each child the total weight of the chosen sets that contain each parent."""
        arcs: dict[int, dict[int, float]] = {v: {} for v in range(len(self.parents))}
        for k in np.flatnonzero(weights > 1e-9):
            into = arcs[int(self.node[k])]
            for u in members_of(int(self.sets[k])):
                into[u] = into.get(u, 0.0) + float(weights[k])
        return arcs

    def violated(self, weights: NDArray[np.float64]) -> set[int]:
        """Return clusters whose inequality the weights violate: cycles of heavy arcs, extended while that helps."""
        arcs, used = self.arcs(weights), np.flatnonzero(weights > 1e-9)
        node, sets, share = self.node[used], self.sets[used], weights[used]

        def outside(cluster: int) -> float:
            return float(share[(cluster >> node & 1 > 0) & (sets & cluster == 0)].sum())

        found = set()
        for cluster in {cluster for v in arcs for cluster in _cycles_through(v, arcs)}:
            found |= {cluster, _grown(cluster, outside, len(self.parents))}
        known = {cluster for cluster, _ in self.cuts}
        broken = {cluster for cluster in found - known if outside(cluster) < 1 - 1e-6}
        return broken or {_most_violated(node, sets, share, len(self.parents))} - known - {0}

    def order_of(self, weights: NDArray[np.float64], ranks: Sequence[int] | NDArray[np.int64]) -> list[int]:
        """Return an order that follows the heavy arcs (least weight from unplaced parents first), then the ranks."""
        arcs, left, order = self.arcs(weights), set(range(len(self.parents))), list[int]()
        while left:
            ready = [v for v in left if not int(self.constraints.required[v]) & sum(1 << u for u in left)]
            v = min(ready, key=lambda v: (sum(w for u, w in arcs[v].items() if u in left), ranks[v]))
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
        """Return score and parents of the best DAG in which parents come before children in the order."""
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


def _most_violated(node: NDArray[np.int64], sets: NDArray[np.int64], share: NDArray[np.float64], n: int) -> int:
    """Return the cluster whose inequality is violated most, 0 if none is (Cussens, 2011).

    This is another integer program: y_v means that v is in the cluster, z_k that column k gives a member of the cluster
    a parent inside it; the inequality is violated if the weights of these columns exceed the size minus one.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    inner = np.flatnonzero(sets)
    m = len(inner)
    own, inside = np.zeros((m, n)), np.zeros((m, n))
    own[np.arange(m), node[inner]] = 1
    for row, k in enumerate(inner):
        inside[row, members_of(int(sets[k]))] = 1
    z = np.eye(m)
    constraints = [
        LinearConstraint(csr_array(np.hstack([z, -own])), -np.inf, 0),
        LinearConstraint(csr_array(np.hstack([z, -inside])), -np.inf, 0),
        LinearConstraint(np.concatenate([np.zeros(m), np.ones(n)])[np.newaxis, :], 2, np.inf),
    ]
    price = np.concatenate([-share[inner], np.ones(n)])
    whole = np.concatenate([np.zeros(m), np.ones(n)])
    answer = milp(price, integrality=whole, bounds=Bounds(0, 1), constraints=constraints)
    if answer.x is None or answer.fun > 1 - 1e-6:
        return 0
    return sum(1 << int(v) for v in np.flatnonzero(answer.x[m:] > 0.5))


def _time_left(end: float) -> dict[str, float]:
    return {"time_limit": max(end - time.monotonic(), 0.1)} if np.isfinite(end) else {}


def _grown(cluster: int, outside: Callable[[int], float], n: int) -> int:
    """Return the cluster with nodes added, one at a time, as long as its inequality is violated more."""
    value = outside(cluster)
    while True:
        wider = [cluster | 1 << u for u in range(n) if not cluster >> u & 1]
        values = [outside(c) for c in wider]
        if not wider or min(values) > value - 1e-9:
            return cluster
        value, cluster = min(zip(values, wider, strict=True))


def _cycles_through(start: int, arcs: dict[int, dict[int, float]]) -> list[int]:
    """Return the cluster of the shortest cycle through ``start``, where an arc of weight w has length 1 - w.

    A cycle shorter than 1 violates the inequality of its cluster (Dijkstra from child to parent).
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
