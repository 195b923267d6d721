"""Shared state of max-min searches: the weakest evidence over the subsets of a set that changes one by one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from blankets.independence import EvidenceBatch
from blankets.search._contract import Trace
from blankets.search._local import Given, LocalSearch, Neighborhood
from blankets.stats import weaker_than

_WHY = "whatever neighbors are known, it depends on the target more than any other candidate"
_SEPARATED = "separated from the target by other neighbors"


class Weakest:
    """The weakest evidence of each candidate, over the subsets of a growing set of members.

    When a member enters, only the subsets that contain it are new. When a member leaves, the variables whose
    weakest evidence was given a set with it are tried again over all subsets of the remaining members.

    ``y``: the variable whose neighbors are sought. ``log``: records the decisions.

    ``members``: the neighbors so far, in the order of entry. ``batch``: the weakest evidence about each candidate that
    depends on ``y`` given nothing. ``inside``: which of these are members. ``open``: which are separated by no set.
    """

    def __init__(self, search: LocalSearch, y: int, log: Trace) -> None:
        self.search, self.y, self.log = search, y, log
        self.members: list[int] = []
        self.separators: dict[int, Given] = {}
        self.capped = False
        self.batch = search.tests.scan(search.others(y), y)
        self.open = np.ones(len(self.batch), np.bool_)
        apart = self.batch.independent(search.alpha)
        if apart.any():
            log.passed_over(self._separated(apart), "neighbors")
        self.batch, self.open = self.batch.where(~apart), self.open[~apart]
        self.inside = np.zeros(len(self.batch), np.bool_)

    def admit(self) -> bool:
        """Pass over separated candidates, and admit the strongest of the others; tell whether there was one."""
        outside = self.open & ~self.inside
        apart = outside & self.batch.independent(self.search.alpha)
        if apart.any():
            self.log.passed_over(self._separated(apart), "neighbors")
        best = self.batch.first(outside & self.open & self.batch.reliable)
        if best is None:
            return False
        self.members.append(best.x)
        self.log.admitted(best, "neighbors", _WHY)
        self._enter(best.x)
        return True

    def remove(self, among: NDArray[np.bool_]) -> None:
        """Remove some of the members, those that others separate."""
        apart = among & self.inside & self.open & self.batch.independent(self.search.alpha)
        if not apart.any():
            return
        for evidence in self._separated(apart):
            self.members.remove(evidence.x)
            self.log.removed(evidence, "neighbors", _SEPARATED)
        left = frozenset(self.members)
        again = [i for i in self.open.nonzero()[0].tolist() if not left.issuperset(self.batch.given_of(i))]
        if again:
            at = np.array(again, np.int64)
            self.batch.put(at, self._weakest(at))

    def neighborhood(self) -> Neighborhood:
        """Return the neighborhood found."""
        return Neighborhood(
            members=tuple(self.members),
            separators=self.separators,
            untested=frozenset(self.batch.xs[~self.batch.reliable].tolist()),
            capped=self.capped,
            log=self.log,
        )

    def _separated(self, apart: NDArray[np.bool_]) -> EvidenceBatch:
        """Close some candidates, and return the evidence that separates them."""
        self.open &= ~apart
        evidence = self.batch.where(apart)
        if isinstance(evidence.given, list):
            self.separators.update(zip(evidence.xs.tolist(), evidence.given, strict=True))
        return evidence

    def _enter(self, newest: int) -> None:
        """Try the subsets of the members that contain the newest of them."""
        is_newest = self.batch.xs == newest
        self.inside |= is_newest
        at = (self.open & ~is_newest).nonzero()[0]
        new, old = self._weakest(at, newest), self.batch
        below = weaker_than(new.log_p, new.statistic, old.log_p[at], old.statistic[at])
        weaker = (new.reliable & (~old.reliable[at] | below)).nonzero()[0]
        old.put(at[weaker], new, weaker)

    def _weakest(self, at: NDArray[np.int64], containing: int | None = None) -> EvidenceBatch:
        """Return the weakest evidence about some candidates, over the subsets of the members."""
        xs, among, limit = self.batch.xs[at], self.members, self.search.max_given
        if limit is not None and len(among) > limit:
            self.capped |= any(len(among) - (x in among) > limit for x in xs.tolist())
        return self.search.tests.separate(xs, self.y, among, containing=containing, max_size=limit)
