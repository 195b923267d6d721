"""MBOR: a fast superset of the blanket, then neighbors found from either end, then spouses."""

from __future__ import annotations

from collections.abc import Sequence

from blankets.independence import EvidenceBatch, IndependenceTest
from blankets.search._contract import Algorithm, Found, Trace
from blankets.search._local import Given, LocalSearch, Neighborhood, found, tied_given
from blankets.search.iamb import grow, shrink


def mbor(
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
    Variables are neighbors if either is found among the neighbors of the other ("or"), which finds more
    of them from few rows than the usual "and".
    """
    search = LocalSearch(tests, target, candidates, alpha=alpha, max_given=max_given, trace=trace)
    near, separators = _neighbors_superset(search)
    superset = tuple(dict.fromkeys((*near, *_spouses_superset(search, near, separators))))

    own = _within(search, target, superset)
    neighbors = list(own.members)
    for x in near:
        if x not in neighbors and target in _within(search, x, (*superset, target)).members:
            neighbors.append(x)
    trace.scans.extend(own.log.scans)
    for x in neighbors:
        trace.admitted(tests.test(x, target), "neighbors", "a neighbor as seen from the target or from it")

    common_children: dict[int, int] = {}
    for y in neighbors:
        for x in search.learn("mbor", y, lambda search, y, _: _within(search, y, search.columns)).members:
            if x == target or x in neighbors or x in common_children:
                continue
            weakest = search.separate([x], [z for z in superset if z != x])[0]
            if not weakest.independent(alpha) or y in weakest.given:
                continue
            evidence = tests.test(x, target, (*weakest.given, y))
            if evidence.dependent(alpha):
                common_children[x] = y
                search.admit_spouse(evidence, y)
            else:
                trace.passed_over(evidence, "spouses", f"independent of the target given {tests.names[y]}")
    return found(search, tuple(neighbors), common_children, separators)


def _neighbors_superset(search: LocalSearch) -> tuple[list[int], dict[int, Given]]:
    """Drop variables that the empty set or one variable separates from the target; return the rest and the sets."""
    tests, target, alpha = search.tests, search.target, search.alpha
    marginal = tests.scan(search.others(target), target)
    search.trace.passed_over(marginal.where(marginal.independent(alpha)), "superset")
    near: list[int] = marginal.xs[marginal.order(marginal.dependent(alpha))].tolist()
    separators: dict[int, Given] = {}
    for y in tuple(near):
        if y in separators:
            continue
        batch = tests.scan([x for x in near if x != y], target, (y,))
        separated = batch.independent(alpha)
        if separated.any():
            search.trace.passed_over(batch.where(separated), "superset")
            separators.update(dict.fromkeys(batch.xs[separated].tolist(), (y,)))
            near = [x for x in near if x not in separators]
    return near, separators


def _spouses_superset(search: LocalSearch, near: Sequence[int], separators: dict[int, Given]) -> list[int]:
    """Return variables that depend on the target given a neighbor, unless one more such variable separates them."""
    tests, target, alpha = search.tests, search.target, search.alpha
    outside = [x for x in search.others(target) if x not in near]
    spouses: list[int] = []
    for y in near:
        tied: list[int] = []
        for batch in tied_given(search, y, outside, lambda x: separators.get(x, ())):
            tied.extend(batch.xs[batch.dependent(alpha)].tolist())
        for z in tuple(tied):
            if z in tied:
                rest: EvidenceBatch = tests.scan([x for x in tied if x != z], target, (y, z))
                false = set(rest.xs[rest.independent(alpha)].tolist())
                tied = [x for x in tied if x not in false]
        spouses.extend(tied)
    return spouses


def _within(search: LocalSearch, y: int, columns: Sequence[int]) -> Neighborhood:
    """Return the neighbors of ``y`` among columns: those that no subset of its blanket there separates from it."""
    tests, alpha, log = search.tests, search.alpha, Trace()
    others = [x for x in columns if x != y]
    blanket: list[int] = []
    grow(tests, y, others, blanket, alpha=alpha, trace=Trace())
    shrink(tests, y, blanket, alpha=alpha, trace=Trace())
    outside = tests.scan([x for x in others if x not in blanket], y, blanket)
    log.passed_over(outside.where(outside.independent(alpha)), "neighbors")
    weakest = search.separate(blanket, blanket, y=y)
    separated = weakest.independent(alpha)
    log.passed_over(weakest.where(separated), "neighbors")
    capped = search.max_given is not None and len(blanket) > search.max_given + 1
    return Neighborhood(members=tuple(weakest.xs[~separated].tolist()), capped=capped, log=log)


ALGORITHMS = (
    Algorithm(
        name="mbor",
        run=mbor,
        reference="Rodrigues de Morais & Aussem (2010), A novel Markov boundary based feature subset selection "
        "algorithm, Neurocomputing 73(4-6), 578-584.",
        sound=True,
        roles=True,
        when="Few rows for many members: finds neighbors that the check from both ends would lose.",
    ),
)
