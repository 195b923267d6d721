"""EEMB: find neighbors and spouses together, so that none is missed; then remove false ones."""

from __future__ import annotations

from collections.abc import Sequence

from blankets.independence import Evidence, IndependenceTest
from blankets.search._contract import Algorithm, Found, Trace
from blankets.search._local import LocalSearch, tied_given
from blankets.search._sieve import Sieve
from blankets.search._simultaneous import drop_false_neighbors, found_with_spouses, sift_spouses


def eemb(
    tests: IndependenceTest,
    target: int,
    candidates: Sequence[int],
    *,
    alpha: float,
    trace: Trace,
    max_given: int | None = None,
) -> Found:
    """Return the Markov blanket of ``target`` among ``candidates``.

    ``max_given``: largest conditioning set in searches over subsets; by default there is no limit. Set it if there are
    many columns: the authors' own program uses 3.

    Notes
    -----
    Not correct: a spouse that looks like a neighbor until the end is then removed as a false neighbor and
    not tried as a spouse; on T -> a, T -> b, p -> a, p -> s, a -> s, s -> b it loses s. It is wrong on 96 of
    the 29281 graphs of five nodes, always by a lost spouse.
    """
    search = LocalSearch(tests, target, candidates, alpha=alpha, max_given=max_given, trace=trace)
    sieve = Sieve(search, target, trace)
    tied = _add_true(search, sieve)

    spouses = {y: sift_spouses(search, y, tied[y], sieve.members) for y in sieve.members}
    drop_false_neighbors(sieve, spouses)
    return found_with_spouses(sieve, spouses)


def _add_true(search: LocalSearch, sieve: Sieve) -> dict[int, list[Evidence]]:
    """Admit neighbors one by one; for each, test all columns outside as spouses, also those that leave later."""
    tied: dict[int, list[Evidence]] = {}
    outside = sieve.marginally_independent()

    def test_through(y: int, xs: Sequence[int]) -> None:
        for batch in tied_given(search, y, xs, lambda x: sieve.separators.get(x, ())):
            tied.setdefault(y, []).extend(batch.where(batch.dependent(search.alpha)))

    for evidence in sieve.candidates():
        newest = evidence.x
        sieve.admit(evidence)
        earlier = sieve.members[:-1]
        false = [*sieve.separated([newest], earlier)] or [*sieve.separated(earlier, sieve.members, containing=newest)]
        for separated in false:
            sieve.remove(separated)
            outside.append(separated.x)
            for y in sieve.members:
                test_through(y, [separated.x])
        if newest in sieve.members:
            tied[newest] = []
            test_through(newest, outside)
    return tied


ALGORITHMS = (
    Algorithm(
        name="eemb",
        run=eemb,
        reference="Wang, Ling, Yu & Wu (2020), Towards efficient and effective discovery of Markov blankets for "
        "feature selection, Information Sciences 509, 227-242.",
        sound=False,
        roles=True,
        when="Moderate numbers of columns, to compare with published results.",
    ),
)
