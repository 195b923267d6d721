"""HITON-PC and HITON-MB: neighbors in the order of their marginal association, then spouses.

Of columns that are associated equally the earlier one comes first: then the order of columns can decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Literal

from blankets.arguments import one_of
from blankets.independence import EvidenceBatch, IndependenceTest
from blankets.search._contract import Algorithm, Found, Trace
from blankets.search._local import LocalSearch, Neighborhood, Neighbors, blanket_of, found, own_neighbors
from blankets.search._local import symmetric as both_ends
from blankets.search._sieve import Sieve


def hiton_pc(
    tests: IndependenceTest,
    target: int,
    candidates: Sequence[int],
    *,
    alpha: float,
    trace: Trace,
    symmetric: bool = False,
    interleave: Literal["full", "semi"] = "full",
    prefilter: bool = True,
    max_given: int | None = None,
) -> Found:
    """Return the parents and children of ``target`` among ``candidates``.

    ``symmetric``: keep X only if the target is also among the parents and children of X: the corrected form.
    ``interleave``: after each admission test all members (True), or only the new one, and the others once at the end
    (False). ``prefilter``: leave out marginally independent variables at once, as most programs do. Otherwise, as in
    errata F7, each of them is a member for one step and may show that another is false; that is slow with many columns.
    ``max_given``: largest conditioning set; by default there is no limit.

    Notes
    -----
    Not correct as published: it has the same error as MMPC, and keeps a descendant of the target if only
    sets with non-members separate it. It is wrong, always by false members, on 1110 of the 29281 graphs of
    five nodes (for example T -> Q <- P -> R -> S <- Q, where it keeps S), and with ``prefilter=False`` on 198;
    with ``symmetric=True`` on none.

    Examples
    --------
    >>> import networkx as nx
    >>> from blankets.independence import DSeparation
    >>> tests = DSeparation(nx.DiGraph(["ab", "bc", "cd"]))  # a -> b -> c -> d
    >>> hiton_pc(tests, 1, [0, 2, 3], alpha=0.01, trace=Trace()).members
    (0, 2)
    """
    search = LocalSearch(tests, target, candidates, alpha=alpha, max_given=max_given, trace=trace)
    raw, neighbors = hiton_neighbors(search, symmetric=symmetric, interleave=interleave, prefilter=prefilter)
    own = own_neighbors(search, neighbors, raw)
    around = {y: raw(y) for y in own.members} if symmetric else None
    return found(search, own.members, {}, own.separators, around)


def hiton_mb(
    tests: IndependenceTest,
    target: int,
    candidates: Sequence[int],
    *,
    alpha: float,
    trace: Trace,
    symmetric: bool = False,
    interleave: Literal["full", "semi"] = "full",
    prefilter: bool = True,
    every_set: bool = False,
    max_given: int | None = None,
) -> Found:
    """Return the Markov blanket of ``target`` among ``candidates``.

    ``symmetric``, ``interleave``, ``prefilter``, ``max_given``: as for `hiton_pc`. ``every_set``: a spouse must depend
    on the target given every set with the neighbor they share, from the neighbors of the target or from its own; by
    default only given that neighbor and the set that separated the two.

    Notes
    -----
    It is as correct as its search for neighbors: it can return false members; with ``symmetric=True`` it is
    right on all 29281 graphs of five nodes.
    """
    search = LocalSearch(tests, target, candidates, alpha=alpha, max_given=max_given, trace=trace)
    raw, neighbors = hiton_neighbors(search, symmetric=symmetric, interleave=interleave, prefilter=prefilter)
    own = own_neighbors(search, neighbors, raw)

    def given_every_set(y: int, xs: list[int]) -> Iterator[EvidenceBatch]:
        for x in xs:
            around = (own.members, (y, *(z for z in neighbors(x).members if z not in (y, target))))
            first, second = (
                tests.separate([x], target, among, containing=y, max_size=max_given, stop_at=alpha) for among in around
            )
            yield first if first.independent(alpha).all() else second

    return blanket_of(search, own, neighbors, decide=given_every_set if every_set else None)


def hiton_neighbors(
    search: LocalSearch, *, symmetric: bool, interleave: Literal["full", "semi"] = "full", prefilter: bool = True
) -> tuple[Neighbors, Neighbors]:
    """Return two functions for the neighborhood of a column by HITON-PC: as published, and by the options."""
    methods = {"full": _interleaved, "semi": _semi_interleaved}
    one_of("interleave", interleave, methods)
    work = partial(methods[interleave], prefilter=prefilter)

    def raw(x: int) -> Neighborhood:
        return search.learn(("hiton", interleave, prefilter), x, work)

    return raw, partial(both_ends, raw) if symmetric else raw


def _interleaved(search: LocalSearch, y: int, log: Trace, *, prefilter: bool) -> Neighborhood:
    """After each admission remove every member, also the new one, that a subset of the others separates."""
    sieve = Sieve(search, y, log)
    for evidence in sieve.candidates():
        sieve.admit(evidence)
        sieve.purge(evidence.x)
        for separated in sieve.separated([evidence.x], sieve.members):
            sieve.remove(separated)
    for x in () if prefilter else sieve.marginally_independent():
        sieve.purge(x)
    return sieve.neighborhood()


def _semi_interleaved(search: LocalSearch, y: int, log: Trace, *, prefilter: bool) -> Neighborhood:
    """Refuse new variables that the members separate, and test the members once, at the end."""
    sieve = Sieve(search, y, log)
    for evidence in sieve.candidates():
        turned_away = sieve.separated([evidence.x], sieve.members)
        if len(turned_away):
            sieve.remove(turned_away[0])
        else:
            sieve.admit(evidence)
    for x in tuple(sieve.members):
        for separated in sieve.separated([x], sieve.members):
            sieve.remove(separated)
    return sieve.neighborhood()


ALGORITHMS = (
    Algorithm(
        name="hiton-pc",
        run=hiton_pc,
        reference="Aliferis, Tsamardinos & Statnikov (2003), HITON: a novel Markov blanket algorithm for optimal "
        "variable selection, AMIA, 21-25.",
        sound=False,
        finds="neighbors",
        roles=True,
        when="Parents and children only, to compare with published results; symmetric=True makes it correct.",
    ),
    Algorithm(
        name="hiton-mb",
        run=hiton_mb,
        reference="Aliferis, Tsamardinos & Statnikov (2003), HITON: a novel Markov blanket algorithm for optimal "
        "variable selection, AMIA, 21-25.",
        sound=False,
        roles=True,
        when="To compare with published results; symmetric=True makes it correct.",
    ),
    Algorithm(
        name="bassum",
        run=hiton_mb,
        reference="Cai, Zhang & Hao (2011), BASSUM: a Bayesian semi-supervised method for classification feature "
        "selection, Pattern Recognition 44(4), 811-820.",
        sound=False,
        roles=True,
        when="To compare with, for partly labeled targets: HITON-MB with pairwise deletion. Its level is not known.",
        surrogate="pairwise",
        controls="nothing",
    ),
)
