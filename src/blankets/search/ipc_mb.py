"""IPC-MB: find neighbors by removing separated variables, with sets of size 0, 1, 2, ...; then spouses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from blankets.independence import IndependenceTest
from blankets.search._contract import Algorithm, Found, Trace
from blankets.search._local import Given, LocalSearch, Neighborhood, blanket_of, own_neighbors, symmetric


def ipc_mb(
    tests: IndependenceTest,
    target: int,
    candidates: Sequence[int],
    *,
    alpha: float,
    trace: Trace,
    max_given: int | None = None,
) -> Found:
    """Return the Markov blanket of ``target`` among ``candidates``.

    ``max_given``: largest conditioning set in the search for neighbors; by default there is no limit.

    Notes
    -----
    The neighbors of the target are checked from both ends, the neighbors of its neighbors are not.
    """
    search = LocalSearch(tests, target, candidates, alpha=alpha, max_given=max_given, trace=trace)

    def raw(x: int) -> Neighborhood:
        return search.learn("size by size", x, size_by_size)

    own = own_neighbors(search, lambda x: symmetric(raw, x), raw)
    return blanket_of(search, own, raw)


def size_by_size(search: LocalSearch, y: int, log: Trace) -> Neighborhood:
    """Start from all variables and remove those that sets of size 0, 1, 2, ... of the others separate.

    Variables separated by sets of one size leave when that size is done, so that the order of the columns
    does not matter. A variable that could not even be tested marginally is not a neighbor.
    """
    tests, alpha, limit = search.tests, search.alpha, search.max_given
    marginal = tests.scan(search.others(y), y)
    log.passed_over(marginal.where(marginal.independent(alpha)), "neighbors")
    dependent = marginal.order(marginal.dependent(alpha))
    adjacent: list[int] = marginal.xs[dependent].tolist()
    separators: dict[int, Given] = {}

    size, performed = 1, True
    while performed and len(adjacent) > size and (limit is None or size <= limit):
        batch = tests.separate(adjacent, y, adjacent, min_size=size, max_size=size, stop_at=alpha)
        performed = bool(batch.reliable.any())
        separated = batch.where(batch.independent(alpha))
        log.passed_over(separated, "neighbors")
        separators.update((evidence.x, evidence.given) for evidence in separated)
        adjacent = [x for x in adjacent if x not in separators]
        size += 1

    for i in dependent[np.isin(marginal.xs[dependent], adjacent)]:
        log.admitted(marginal[int(i)], "neighbors", "no set of the other neighbors separates it")
    return Neighborhood(
        members=tuple(adjacent),
        separators=separators,
        untested=frozenset(marginal.xs[~marginal.reliable].tolist()),
        capped=performed and len(adjacent) > size,
        log=log,
    )


ALGORITHMS = (
    Algorithm(
        name="ipc-mb",
        run=ipc_mb,
        reference="Fu & Desmarais (2008), Fast Markov blanket discovery algorithm via local learning within single "
        "pass, Canadian AI, 96-107.",
        sound=True,
        roles=True,
        both_ends=True,
        together=True,
        when="Few columns and small neighborhoods: small conditioning sets first; the order of columns is irrelevant.",
    ),
)
