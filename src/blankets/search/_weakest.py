"""Shared state of max-min searches: the weakest evidence over the subsets of a set that changes one by one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from blankets.independence import ADMITTED, PASSED_OVER, Evidence, EvidenceBatch, Grown
from blankets.search._contract import Trace
from blankets.search._local import Given, LocalSearch, Neighborhood
from blankets.stats import weaker_than

_WHY = "whatever neighbors are known, it depends on the target more than any other candidate"
SEPARATED = "separated from the target by other neighbors"


class Weakest:
    """The weakest evidence of each candidate, over the subsets of a growing set of members.

    When a member enters, only the subsets that contain it are new. When a member leaves, the variables whose
    weakest evidence was given a set with it are tried again over all subsets of the remaining members.

    ``y``: the variable whose neighbors are sought.
    """

    def __init__(self, search: LocalSearch, y: int) -> None:
        self.search, self.y = search, y
        self.batch = search.tests.scan(search.others(y), y)
        self.inside = np.zeros(len(self.batch), np.bool_)  # which of the candidates are members
        self.separators: dict[int, Given] = {}
        self.capped = False

    def grown(self, log: Trace) -> Neighborhood | None:
        """Return the whole neighborhood, if the tests can tell it at once."""
        apart = self.batch.independent(self.search.alpha)
        found = self.search.tests.grown(
            self.batch, (~apart).nonzero()[0], max_size=self.search.max_given, stop_at=self.search.alpha
        )
        if found is None:
            return None
        if not self.search.trace.brief and (dropped := self.drop(apart)) is not None:
            log.passed_over(dropped, "neighbors")
        return Neighborhood(
            members=found.members,
            separators={x: given for action, _, x, given, *_ in found.steps if action != ADMITTED},
            untested=frozenset(found.untested),
            capped=found.capped,
            log=log,
            steps=partial(_told, found),
        )

    def strongest(self) -> Evidence | None:
        """Return the weakest evidence of the candidate, outside the members, for which it is strongest."""
        return self.batch.first(self.batch.reliable & ~self.inside)

    def drop(self, mask: NDArray[np.bool_]) -> EvidenceBatch | None:
        """Remove some candidates as separated, and return their evidence; None if there are none."""
        at = mask.nonzero()[0]
        if not len(at):
            return None
        left = (~mask).nonzero()[0]
        dropped, self.batch, self.inside = self.batch.where(at), self.batch.where(left), self.inside[left]
        if isinstance(dropped.given, list):
            self.separators.update(zip(dropped.xs.tolist(), dropped.given, strict=True))
        return dropped

    def admit(self, separated: NDArray[np.bool_], members: list[int], log: Trace) -> bool:
        """Pass over separated candidates, and admit the strongest of the others; tell whether there was one."""
        if (dropped := self.drop(separated)) is not None:
            log.passed_over(dropped, "neighbors")
        best = self.strongest()
        if best is None:
            return False
        members.append(best.x)
        log.admitted(best, "neighbors", _WHY)
        self.enter(best.x, members)
        return True

    def enter(self, newest: int, members: Sequence[int]) -> None:
        """Try the subsets of ``members`` that contain the newest of them."""
        others = self.batch.xs != newest
        self.inside |= ~others
        at = others.nonzero()[0]
        new = self._separate(at, members, containing=newest)
        old = self.batch
        below = weaker_than(new.log_p, new.statistic, old.log_p[at], old.statistic[at])
        weaker = (new.reliable & (~old.reliable[at] | below)).nonzero()[0]
        self.batch = old.with_new(at[weaker], new, weaker)

    def leave(self, members: Sequence[int]) -> None:
        """Try all subsets of ``members`` again, for variables whose weakest evidence was given a removed member."""
        left = frozenset(members)
        at = np.array([i for i in range(len(self.batch)) if not left.issuperset(self.batch.given_of(i))], np.int64)
        if len(at):
            self.batch = self.batch.with_new(at, self._separate(at, members))

    def neighborhood(self, members: Sequence[int], log: Trace) -> Neighborhood:
        """Return the neighborhood found, with ``members`` as the neighbors."""
        return Neighborhood(
            members=tuple(members),
            separators=self.separators,
            untested=frozenset(self.batch.xs[~self.batch.reliable].tolist()),
            capped=self.capped,
            log=log,
        )

    def _separate(self, at: NDArray[np.int64], members: Sequence[int], containing: int | None = None) -> EvidenceBatch:
        limit = self.search.max_given
        xs = self.batch.xs[at].tolist()
        self.capped |= limit is not None and any(len(members) - (x in members) > limit for x in xs)
        return self.search.tests.separate(xs, self.y, members, containing=containing, max_size=limit)


def _told(found: Grown) -> Trace:
    """Return the decisions of a search that was done at once."""
    log, batch = Trace(), found.evidence()
    for (action, _), some in groupby(range(len(found.steps)), lambda i: found.steps[i][:2]):
        at = list(some)
        if action == PASSED_OVER:
            log.passed_over(batch.where(at), "neighbors")
        for i in at if action != PASSED_OVER else ():
            if action == ADMITTED:
                log.admitted(batch[i], "neighbors", _WHY)
            else:
                log.removed(batch[i], "neighbors", SEPARATED)
    return log
