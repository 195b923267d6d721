"""STMB: search spouses among all variables, and use them to find false neighbors without a check of symmetry."""

from __future__ import annotations

from collections.abc import Sequence

from blankets.independence import Evidence, IndependenceTest
from blankets.search._contract import Algorithm, Found, Trace
from blankets.search._local import LocalSearch, Neighborhood, found, own_neighbors, tied_given
from blankets.search.ipc_mb import size_by_size


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

    ``max_given``: largest conditioning set in searches over subsets; by default there is no limit.

    Notes
    -----
    Not correct. A spouse that looks like a neighbor at first is removed as a false neighbor and not tried
    as a spouse: on T -> a, T -> b, p -> a, p -> s, a -> s, s -> b it loses s. And false spouses through one
    neighbor may keep each other in, because the test that should remove them does not include the spouses
    through other neighbors. It is wrong on 96 of the 29281 graphs of five nodes.
    """
    search = LocalSearch(tests, target, candidates, alpha=alpha, max_given=max_given, trace=trace)
    own = own_neighbors(search, lambda x: search.learn("size by size", x, size_by_size))

    spouses: dict[int, list[Evidence]] = {}
    for y in own.members:
        tied = _tied_through(search, own, y)
        if not _is_descendant(search, own, y, tied):
            spouses[y] = tied
    neighbors = [y for y in own.members if y in spouses]
    _drop_false_spouses(search, neighbors, spouses)
    _drop_false_neighbors(search, neighbors, spouses)

    common_children: dict[int, int] = {}
    for y in neighbors:
        for evidence in spouses[y]:
            if evidence.x not in common_children:
                common_children[evidence.x] = y
                search.admit_spouse(evidence, y)
    return found(search, tuple(neighbors), common_children, own.separators)


def _tied_through(search: LocalSearch, own: Neighborhood, y: int) -> list[Evidence]:
    """Return evidence that variables outside depend on the target given ``y`` and the set that separated them."""
    outside = (x for x in search.others(search.target) if x not in own.members)
    batches = tied_given(search, y, outside, own.separator)
    return [evidence for batch in batches for evidence in batch.where(batch.dependent(search.alpha))]


def _is_descendant(search: LocalSearch, own: Neighborhood, y: int, tied: list[Evidence]) -> bool:
    """Tell whether a set with one of its supposed spouses separates ``y`` from the target.

    Sets without a spouse were tried when the neighbors were found.
    """
    others = [z for z in own.members if z != y]
    for spouse in tied:
        weakest = search.separate([y], [*others, spouse.x], containing=spouse.x)[0]
        if weakest.independent(search.alpha):
            search.trace.removed(weakest, "spouses", "separated from the target with the help of a spouse")
            return True
    return False


def _drop_false_spouses(search: LocalSearch, neighbors: list[int], spouses: dict[int, list[Evidence]]) -> None:
    """Drop the spouses through a neighbor that are separated by all neighbors and its other spouses."""
    for y in neighbors:
        for spouse in tuple(spouses[y]):
            given = [*neighbors, *(other.x for other in spouses[y] if other is not spouse)]
            evidence = search.tests.test(spouse.x, search.target, given)
            if evidence.independent(search.alpha):
                spouses[y].remove(spouse)
                search.trace.passed_over(evidence, "spouses", "independent of the target given the other members")


def _drop_false_neighbors(search: LocalSearch, neighbors: list[int], spouses: dict[int, list[Evidence]]) -> None:
    """Remove the neighbors that the rest of the blanket separates from the target, and their spouses."""
    for y in tuple(neighbors):
        rest = [z for z in neighbors if z != y]
        given = dict.fromkeys([*rest, *(spouse.x for z in neighbors for spouse in spouses[z])])
        evidence = search.tests.test(y, search.target, tuple(given))
        if evidence.independent(search.alpha):
            neighbors.remove(y)
            search.trace.removed(evidence, "shrinking", "independent of the target given the other members")


ALGORITHMS = (
    Algorithm(
        name="stmb",
        run=stmb,
        reference="Gao & Ji (2017), Efficient Markov blanket discovery and its application, IEEE Transactions on "
        "Cybernetics 47(5), 1169-1179.",
        sound=False,
        roles=True,
        expectation=False,  # one made for subset searches was half of what occurred, by `benchmarks/chance.py`
        when="Small blankets: learns the neighbors of the target alone, but conditions on the whole blanket.",
    ),
)
