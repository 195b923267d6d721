"""Shared state of searches that admit one variable after another and remove those that a subset separates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from blankets.independence import Evidence, EvidenceBatch
from blankets.search._contract import Trace
from blankets.search._local import Given, LocalSearch, Neighborhood


class Sieve:
    """Members of a neighborhood in the order of marginal association.

    ``y``: the variable whose neighbors are sought.

    ``members``: the neighbors so far. ``separators``: the sets that separated refused or removed variables; not for
    marginally independent ones.
    """

    def __init__(self, search: LocalSearch, y: int, log: Trace) -> None:
        self.search, self.y, self.log = search, y, log
        self.members: list[int] = []
        self.separators: dict[int, Given] = {}
        self.capped = False
        self.marginal = search.tests.scan(search.others(y), y)
        self.independent = self.marginal.independent(search.alpha)
        log.passed_over(self.marginal.where(self.independent), "neighbors")

    def candidates(self) -> Iterator[Evidence]:
        """Yield the marginally dependent variables, the strongest first."""
        for i in self.marginal.order(self.marginal.dependent(self.search.alpha)).tolist():
            yield self.marginal[i]

    def marginally_independent(self) -> list[int]:
        """Return the marginally independent variables, the strongest first."""
        return self.marginal.xs[self.marginal.order(self.independent)].tolist()  # type: ignore[no-any-return]

    def admit(self, evidence: Evidence) -> None:
        """Make a variable a member."""
        self.members.append(evidence.x)
        self.log.admitted(evidence, "neighbors", "next in the order of marginal association")

    def remove(self, evidence: Evidence) -> None:
        """Remove a member, or refuse a candidate, because of the test that separated it."""
        self.separators[evidence.x] = evidence.given
        if evidence.x in self.members:
            self.members.remove(evidence.x)
            self.log.removed(evidence, "neighbors", "separated from the target by other neighbors")
        else:
            self.log.passed_over(evidence, "neighbors", "separated from the target by neighbors")

    def purge(self, newest: int) -> None:
        """Remove, one after another, the members that are separated by a subset of the others with ``newest``.

        Subsets without ``newest`` were tried before. It may be a member or not.
        """
        left = [x for x in self.members if x != newest]
        while left:
            among = self.members if newest in self.members else [*self.members, newest]
            false = self.separated(left, among, containing=newest)
            if not len(false):
                break
            self.remove(false[0])
            left = left[left.index(false[0].x) + 1 :]

    def separated(self, xs: Sequence[int], among: Sequence[int], containing: int | None = None) -> EvidenceBatch:
        """Return the evidence of the x that a subset of ``among`` separates, each with the first such subset."""
        limit, alpha = self.search.max_given, self.search.alpha
        self.capped |= limit is not None and any(len(among) - (x in among) > limit for x in xs)
        batch = self.search.tests.separate(xs, self.y, among, containing=containing, max_size=limit, stop_at=alpha)
        return batch.where(batch.independent(alpha))

    def neighborhood(self) -> Neighborhood:
        """Return the neighborhood found."""
        return Neighborhood(
            members=tuple(self.members),
            separators=self.separators,
            untested=frozenset(self.marginal.xs[~self.marginal.reliable].tolist()),
            capped=self.capped,
            log=self.log,
        )
