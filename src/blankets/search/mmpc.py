"""MMPC: the parents and children of the target by the max-min heuristic."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from blankets.independence import IndependenceTest
from blankets.search._contract import Algorithm, Found, Trace
from blankets.search._local import LocalSearch, Neighborhood, Neighbors, found, own_neighbors
from blankets.search._local import symmetric as both_ends
from blankets.search._weakest import Weakest


def mmpc(
    tests: IndependenceTest,
    target: int,
    candidates: Sequence[int],
    *,
    alpha: float,
    trace: Trace,
    symmetric: bool = False,
    max_given: int | None = None,
) -> Found:
    """Return the parents and children of ``target`` among ``candidates``.

    ``symmetric``: keep X only if the target is also among the parents and children of X: the corrected form.
    ``max_given``: largest conditioning set; by default there is no limit.

    Notes
    -----
    As published it is not correct: on T -> Q <- P -> R -> S <- Q it returns {Q, S}, because only a set
    with R or P separates S from T, and both have left when S is tested. It is wrong, always by false
    members, on 1140 of the 29281 graphs of five nodes; with ``symmetric=True`` on none.

    Examples
    --------
    >>> import networkx as nx
    >>> from blankets.independence import DSeparation
    >>> tests = DSeparation(nx.DiGraph(["TQ", "PQ", "PR", "RS", "QS"]))
    >>> tests.names
    ('T', 'Q', 'P', 'R', 'S')
    >>> mmpc(tests, 0, [1, 2, 3, 4], alpha=0.01, trace=Trace()).members
    (1, 4)
    >>> mmpc(tests, 0, [1, 2, 3, 4], alpha=0.01, trace=Trace(), symmetric=True).members
    (1,)
    """
    search = LocalSearch(tests, target, candidates, alpha=alpha, max_given=max_given, trace=trace)
    raw, neighbors = mmpc_neighbors(search, symmetric=symmetric)
    own = own_neighbors(search, neighbors, raw)
    around = {y: raw(y) for y in own.members} if symmetric else None
    return found(search, own.members, {}, own.separators, around)


def mmpc_neighbors(search: LocalSearch, *, symmetric: bool) -> tuple[Neighbors, Neighbors]:
    """Return two functions for the neighborhood of a column by MMPC: as published, and by the options."""

    def raw(x: int) -> Neighborhood:
        return search.learn("mmpc", x, max_min)

    return raw, partial(both_ends, raw) if symmetric else raw


def max_min(search: LocalSearch, y: int, log: Trace) -> Neighborhood:
    """Return the neighbors of ``y``: admit by the strongest weakest dependence, then remove false members."""
    tied = Weakest(search, y, log)
    while tied.admit():  # a separated candidate stays separated, because members only enter
        pass
    for x in tuple(tied.members):
        tied.remove(tied.batch.xs == x)
    return tied.neighborhood()


ALGORITHMS = (
    Algorithm(
        name="mmpc",
        run=mmpc,
        reference="Tsamardinos, Aliferis & Statnikov (2003), Time and sample efficient discovery of Markov blankets "
        "and direct causal relations, KDD, 673-678.",
        sound=False,
        finds="neighbors",
        roles=True,
        when="Parents and children only, to compare with published results; symmetric=True makes it correct.",
    ),
)
