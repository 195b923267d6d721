"""PCMB: neighbors by a max-min search, checked from both ends, then spouses; correct, and needs fewer rows."""

from __future__ import annotations

from collections.abc import Sequence

from blankets.independence import IndependenceTest
from blankets.search._contract import Algorithm, Found, Trace
from blankets.search._local import LocalSearch, Neighborhood, blanket_of, own_neighbors, symmetric
from blankets.search._weakest import Weakest


def pcmb(
    tests: IndependenceTest,
    target: int,
    candidates: Sequence[int],
    *,
    alpha: float,
    trace: Trace,
    max_given: int | None = None,
) -> Found:
    """Return the Markov blanket of ``target`` among ``candidates`` (AlgorithmMB of Peña et al.).

    ``max_given``: largest conditioning set in the search for neighbors; by default there is no limit.

    Notes
    -----
    Correct under faithfulness and perfect tests. The set that separates a possible spouse from the target
    is the one that removed it from the neighbors of the target or, if only the check of symmetry removed
    it, the one that removed the target from its neighbors (errata F6).

    Examples
    --------
    >>> import networkx as nx
    >>> from blankets.independence import DSeparation
    >>> tests = DSeparation(nx.DiGraph(["ab", "cb", "cd"]))  # a -> b <- c -> d
    >>> found = pcmb(tests, 0, [1, 2, 3], alpha=0.01, trace=Trace())
    >>> found.members, found.roles
    ((1, 2), {1: 'child', 2: 'spouse'})
    """
    search = LocalSearch(tests, target, candidates, alpha=alpha, max_given=max_given, trace=trace)

    def raw(x: int) -> Neighborhood:
        return search.learn("pcd", x, pcd)

    def neighbors(x: int) -> Neighborhood:
        return search.once("pc", x, lambda: symmetric(raw, x))

    own = own_neighbors(search, neighbors, raw)
    return blanket_of(search, own, neighbors, raw=raw)


def pcd(search: LocalSearch, y: int, log: Trace) -> Neighborhood:
    """Return the parents and children of ``y``, and perhaps some descendants (AlgorithmPCD).

    The loop of the paper starts at another line here: members and candidates are tested given the subsets
    with the newest member in one batch; then separated members leave, then separated candidates, then the
    strongest candidate enters.
    """
    tied = Weakest(search, y, log)
    while tied.admit():  # lines 4 to 11
        tied.remove(tied.inside)  # lines 12 to 16: all members are tested before any is removed
    return tied.neighborhood()


ALGORITHMS = (
    Algorithm(
        name="pcmb",
        run=pcmb,
        reference="Peña, Björkegren & Tegnér (2005), Scalable, efficient and correct learning of Markov boundaries "
        "under the faithfulness assumption, ECSQARU, 136-147.",
        sound=True,
        roles=True,
        both_ends=True,
        when="The blanket is large for the number of rows: conditions on small sets only, and checks both ends.",
    ),
)
