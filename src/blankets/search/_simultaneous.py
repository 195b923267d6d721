"""Shared code of BAMB and EEMB: possible spouses are kept for each neighbor, tested, and used in further tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from blankets.independence import Evidence, subsets
from blankets.search._contract import Found
from blankets.search._local import LocalSearch, found
from blankets.search._sieve import Sieve


def sift_spouses(search: LocalSearch, child: int, candidates: Sequence[Evidence], members: Sequence[int]) -> list[int]:
    """Return the possible spouses through ``child`` that no test so far shows to be false.

    ``child``: the common neighbor. ``candidates``: for each, the evidence that it depends on the target given
    ``child``. ``members``: the neighbors, which with the other candidates may separate one from the target.
    """
    order = sorted(candidates, key=lambda evidence: (evidence.log_p, -evidence.statistic, evidence.x))
    kept = _sift_by_pairs(search, child, [evidence.x for evidence in order])

    def drop(separated: Callable[[int, list[int]], Evidence], reason: str) -> None:
        for x in tuple(kept):
            evidence = separated(x, [z for z in kept if z != x])
            if evidence.independent(search.alpha):
                kept.remove(x)
                search.trace.passed_over(evidence, "spouses", reason)

    def from_child(x: int, rest: list[int]) -> Evidence:
        return search.separate([x], rest, y=child)[0]

    def from_target(x: int, rest: list[int]) -> Evidence:
        return search.separate([x], [child, *_union(members, rest, without=(x, child))], containing=child)[0]

    drop(from_child, "not a neighbor of the supposed child")
    drop(from_target, "separated from the target by a set with the supposed child")
    return kept


def _sift_by_pairs(search: LocalSearch, child: int, order: Sequence[int]) -> list[int]:
    """Keep the candidates that neither the child alone nor the child with one other candidate separates."""
    tests, target, alpha = search.tests, search.target, search.alpha
    kept: list[int] = []
    for newest in order:
        weakest = tests.separate([newest], target, [child, *kept], containing=child, max_size=2, stop_at=alpha)
        if weakest.independent(alpha)[0]:
            search.trace.passed_over(weakest[0], "spouses", "separated from the target by another candidate")
            continue
        batch = tests.scan(kept, target, (child, newest))
        separated = batch.independent(alpha)
        if separated.any():
            search.trace.passed_over(batch.where(separated), "spouses")
        kept = [*batch.xs[~separated].tolist(), newest]
    return kept


def drop_false_neighbors(sieve: Sieve, spouses: Mapping[int, Sequence[int]]) -> None:
    """Remove the members that are separated by some of the others together with their spouses."""
    search = sieve.search
    limit, false = search.max_given, dict[int, Evidence]()
    for sets in subsets(sieve.members, max_size=limit):
        for some in sets:
            given = _union(some, [x for y in some for x in spouses.get(y, ()) if x not in sieve.members])
            if limit is not None and len(given) > limit:
                sieve.capped = True
                continue
            rest = [x for x in sieve.members if x not in some and x not in false]
            if len(given) == len(some) or not rest:
                continue  # without spouses the set was tried before
            batch = search.tests.scan(rest, sieve.y, given)
            false.update((evidence.x, evidence) for evidence in batch.where(batch.independent(search.alpha)))
    for evidence in false.values():
        sieve.remove(evidence)


def found_with_spouses(sieve: Sieve, spouses: Mapping[int, Sequence[int]]) -> Found:
    """Return the members of the sieve and their spouses, and record them in the trace."""
    search, members = sieve.search, sieve.members
    search.capped |= sieve.capped
    common_children: dict[int, int] = {}
    for y in members:
        for x in spouses.get(y, ()):
            if x not in members:
                common_children.setdefault(x, y)
    for x, child in common_children.items():
        search.admit_spouse(search.tests.test(x, search.target, (*sieve.separators.get(x, ()), child)), child)
    return found(search, tuple(members), common_children, sieve.separators)


def _union(*groups: Sequence[int], without: Sequence[int] = ()) -> list[int]:
    return list(dict.fromkeys(x for group in groups for x in group if x not in without))
