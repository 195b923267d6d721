"""STMB: spouses among all variables, used to find out false neighbours without a check of symmetry."""

from __future__ import annotations

from collections.abc import Sequence

from blankets.independence import IndependenceTest
from blankets.search._contract import Algorithm, Found, Trace
from blankets.search._local import LocalSearch, Neighbourhood, found, own_neighbours, tied_given
from blankets.search.ipc_mb import size_by_size

__all__ = ["ALGORITHMS", "stmb"]


def stmb(
    tests: IndependenceTest,
    target: int,
    candidates: Sequence[int],
    *,
    alpha: float,
    trace: Trace,
    max_given: int | None = None,
) -> Found:
    """Return the Markov blanket of ``target`` among ``candidates``.

    Parameters
    ----------
    tests, target, candidates, alpha, trace
        As for every algorithm.
    max_given : int, optional
        Largest conditioning set where subsets are searched; by default there is no limit.

    Examples
    --------
    >>> import networkx as nx
    >>> from blankets.independence import DSeparation
    >>> tests = DSeparation(nx.DiGraph(["ab", "cb", "cd"]))  # a -> b <- c -> d
    >>> stmb(tests, 0, [1, 2, 3], alpha=0.01, trace=Trace()).roles
    {1: 'child', 2: 'spouse'}
    """
    search = LocalSearch(tests, target, candidates, alpha=alpha, max_given=max_given, trace=trace)
    own = own_neighbours(search, lambda x: search.learn("size by size", x, size_by_size))

    spouses: dict[int, list[int]] = {}
    for y in own.members:
        tied = _tied_through(search, own, y)
        if not _is_descendant(search, own, y, tied):
            spouses[y] = tied
    neighbours = [y for y in own.members if y in spouses]
    _drop_false_spouses(search, neighbours, spouses)
    _drop_false_neighbours(search, neighbours, spouses)

    common_children: dict[int, int] = {}
    for y in neighbours:
        for x in spouses[y]:
            if x not in neighbours:
                common_children.setdefault(x, y)
    return found(search, tuple(neighbours), common_children, own.separators)


def _tied_through(search: LocalSearch, own: Neighbourhood, y: int) -> list[int]:
    """Return the variables outside that are tied to the target given ``y`` and what separated them."""
    tied: list[int] = []
    outside = (x for x in search.others(search.target) if x not in own.members)
    for batch in tied_given(search, y, outside, own.separator):
        for evidence in batch.where(batch.dependent(search.alpha)):
            tied.append(evidence.x)
            search.admit_spouse(evidence, y)
    return tied


def _is_descendant(search: LocalSearch, own: Neighbourhood, y: int, tied: list[int]) -> bool:
    """Tell whether a set with one of its supposed spouses separates ``y`` from the target.

    Sets without a spouse have been tried when the neighbours were learned.
    """
    others = [z for z in own.members if z != y]
    for x in tied:
        weakest = search.separate([y], [*others, x], containing=x)
        if weakest[0].independent(search.alpha):
            search.trace.removed(weakest[0], "spouses", "separated from the target with the help of a spouse")
            return True
    return False


def _drop_false_spouses(search: LocalSearch, neighbours: list[int], spouses: dict[int, list[int]]) -> None:
    """Remove the spouses through a neighbour that all neighbours and the other spouses through it separate."""
    for y in neighbours:
        for x in tuple(spouses[y]):
            given = dict.fromkeys(z for z in (*neighbours, *spouses[y]) if z != x)
            evidence = search.tests.test(x, search.target, tuple(given))
            if evidence.independent(search.alpha):
                spouses[y].remove(x)
                search.trace.removed(evidence, "shrinking", "independent of the target given the other members")


def _drop_false_neighbours(search: LocalSearch, neighbours: list[int], spouses: dict[int, list[int]]) -> None:
    """Remove the neighbours that the rest of the blanket separates from the target, and their spouses."""
    for y in tuple(neighbours):
        given = dict.fromkeys([z for z in neighbours if z != y] + [x for z in neighbours for x in spouses[z]])
        evidence = search.tests.test(y, search.target, tuple(given))
        if evidence.independent(search.alpha):
            neighbours.remove(y)
            search.trace.removed(evidence, "shrinking", "independent of the target given the other members")


ALGORITHMS = (
    Algorithm(
        name="stmb",
        run=stmb,
        reference="Gao & Ji (2017), Efficient Markov blanket discovery and its application, IEEE Transactions on "
        "Cybernetics 47(5), 1169-1179.",
        sound=False,
        roles=True,
        when="Small blankets: learns the neighbours of the target alone, but conditions on the whole blanket.",
    ),
)
