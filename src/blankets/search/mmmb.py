"""MMMB: neighbors by MMPC, then spouses among their neighbors."""

from __future__ import annotations

from collections.abc import Sequence

from blankets.independence import IndependenceTest
from blankets.search._contract import Algorithm, Found, Trace
from blankets.search._local import LocalSearch, blanket_of, own_neighbors
from blankets.search.mmpc import mmpc_neighbors


def mmmb(
    tests: IndependenceTest,
    target: int,
    candidates: Sequence[int],
    *,
    alpha: float,
    trace: Trace,
    symmetric: bool = False,
    max_given: int | None = None,
) -> Found:
    """Return the Markov blanket of ``target`` among ``candidates``.

    ``symmetric``: the corrected form: X is a neighbor of Y only if Y is also a neighbor of X, and a spouse only through
    one of its own neighbors. ``max_given``: largest conditioning set in the search for neighbors; by default there is
    no limit.

    Notes
    -----
    As published it is not correct, even if MMPC is: it tests the neighbors of all neighbors given each
    neighbor of the target. On P -> Q -> T -> S <- R <- P it calls P, a neighbor of Q, a spouse, because
    P depends on T given S and Q (the set that separates them). It is wrong, always by false members, on
    1764 of the 29281 graphs of five nodes; with ``symmetric=True`` on none.

    Examples
    --------
    >>> import networkx as nx
    >>> from blankets.independence import DSeparation
    >>> tests = DSeparation(nx.DiGraph(["PQ", "QT", "TS", "PR", "RS"]))
    >>> tests.names
    ('P', 'Q', 'T', 'S', 'R')
    >>> sorted(mmmb(tests, 2, [0, 1, 3, 4], alpha=0.01, trace=Trace()).members)
    [0, 1, 3, 4]
    >>> sorted(mmmb(tests, 2, [0, 1, 3, 4], alpha=0.01, trace=Trace(), symmetric=True).members)
    [1, 3, 4]
    """
    search = LocalSearch(tests, target, candidates, alpha=alpha, max_given=max_given, trace=trace)
    raw, neighbors = mmpc_neighbors(search, symmetric=symmetric)
    own = own_neighbors(search, neighbors, raw)
    anyone = tuple(dict.fromkeys(x for y in own.members for x in neighbors(y).members))
    return blanket_of(search, own, neighbors, candidates=None if symmetric else anyone)


ALGORITHMS = (
    Algorithm(
        name="mmmb",
        run=mmmb,
        reference="Tsamardinos, Aliferis & Statnikov (2003), Time and sample efficient discovery of Markov blankets "
        "and direct causal relations, KDD, 673-678.",
        sound=False,
        roles=True,
        when="To compare with published results; symmetric=True makes it correct, and PCMB is correct as it is.",
    ),
)
