"""What the two-phase algorithms share: neighbours of one variable at a time, then spouses.

Each of them first learns the neighbours of the target, then the neighbours of those, and tests which of
the latter are spouses. They differ in how they learn neighbours (`Neighbourhood` is what they learn), so
the rest is written once: `LocalSearch` remembers neighbourhoods for other targets, `symmetric` is the
rule "X is a neighbour of Y only if Y is one of X", and `blanket_of` is the second phase.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from blankets.independence import Evidence, EvidenceBatch, IndependenceTest
from blankets.search._contract import Found, Role, Trace

__all__ = ["LocalSearch", "Neighbourhood", "Neighbours", "blanket_of", "neighbours_only", "symmetric"]

Given = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbourhood:
    """What was learned about the neighbours of one variable.

    Attributes
    ----------
    members : tuple of int
        The neighbours, in the order of entry.
    separators : mapping of int to tuple of int
        For those left out, the set that separated them, where it is not the empty one: with 139,351
        columns nearly all are dropped marginally, and `separator` knows that of whatever is not here.
    untested : frozenset of int
        Columns about which no test could be performed.
    capped : bool
        Whether there were conditioning sets larger than the limit.
    log : Trace
        The decisions behind it.
    """

    members: Given
    separators: Mapping[int, Given] = field(default_factory=dict)
    untested: frozenset[int] = frozenset()
    capped: bool = False
    log: Trace = field(default_factory=Trace)

    def separator(self, x: int) -> Given | None:
        """Return the set that separated ``x``; None for a member and for an untested column."""
        if x in self.separators:
            return self.separators[x]
        return None if x in self.members or x in self.untested else ()


Neighbours = Callable[[int], Neighbourhood]
SpouseTest = Callable[[int, int, Given | None], Evidence | None]


class LocalSearch:
    """One run of a two-phase algorithm: the data, the settings, and what has been learned so far.

    Parameters
    ----------
    tests : IndependenceTest
        The questions.
    target : int
        Whose blanket is wanted.
    candidates : sequence of int
        The other columns in play.
    alpha : float
        Significance level.
    max_given : int or None
        Largest conditioning set.
    trace : Trace
        Told about the decisions that concern the target.
    """

    def __init__(
        self,
        tests: IndependenceTest,
        target: int,
        candidates: Sequence[int],
        *,
        alpha: float,
        max_given: int | None,
        trace: Trace,
    ) -> None:
        self.tests, self.target, self.alpha, self.max_given, self.trace = tests, target, alpha, max_given, trace
        universe = frozenset((*candidates, target))
        # One object for equal universes, so that looking up a key need not compare 139,351 columns.
        self.universe, self.columns = tests.remember(
            ("universe", universe), lambda: (universe, tuple(sorted(int(x) for x in universe)))
        )
        self.capped = False

    def others(self, x: int) -> Given:
        """Return all columns in play but ``x``."""
        at = int(np.searchsorted(np.asarray(self.columns), x))
        return self.columns[:at] + self.columns[at + 1 :]

    def learn(self, name: Hashable, x: int, work: Callable[[LocalSearch, int, Trace], Neighbourhood]) -> Neighbourhood:
        """Return the neighbourhood of ``x`` under the method ``name``, worked out once for all targets.

        Of columns other than the target the evidence of those dropped marginally is not kept: it would be
        139,351 tests for each. `tell` repeats that scan if such a column becomes a target.
        """

        def worked_out() -> Neighbourhood:
            self.trace.phase(f"neighbours of {self.tests.names[x]}")
            if x == self.target:
                return work(self, x, Trace(members=self.trace.members))
            found = work(self, x, Trace())
            found.log.scans[:] = [(phase, batch) for phase, batch in found.log.scans if not _is_marginal(batch)]
            return found

        key = ("neighbourhood", name, x, self.universe, self.alpha, self.max_given)
        found = self.tests.remember(key, worked_out)
        self.capped |= found.capped
        return found

    def tell(self, found: Neighbourhood) -> None:
        """Pass the decisions about the target's own neighbours on to the trace."""
        if not any(_is_marginal(batch) for _, batch in found.log.scans):
            marginal = self.tests.scan(self.others(self.target), self.target)
            self.trace.passed_over(marginal.where(marginal.independent(self.alpha)), "neighbours")
        self.trace.scans.extend(found.log.scans)
        self.trace.decisions.extend(found.log.decisions)
        self.trace.members[:] = found.members

    def finish(self) -> None:
        """Say so where the limit on conditioning sets has been felt."""
        if self.capped:
            self.trace.note(
                f"conditioning sets were limited to {self.max_given} variables (max_given); larger ones were "
                "not tried, so that a false member may have stayed"
            )


def _is_marginal(batch: EvidenceBatch) -> bool:
    return batch.given == ()


def symmetric(neighbours: Neighbours, y: int) -> Neighbourhood:
    """Keep those neighbours of ``y`` of which ``y`` is a neighbour in turn (AlgorithmPC of Peña et al.)."""
    own = neighbours(y)
    separators = dict(own.separators)
    for x in own.members:
        separator = neighbours(x).separator(y)
        if separator is not None:
            separators[x] = separator
    return replace(own, members=tuple(x for x in own.members if y in neighbours(x).members), separators=separators)


def own_neighbours(search: LocalSearch, neighbours: Neighbours, raw: Neighbours | None = None) -> Neighbourhood:
    """Return the neighbours of the target and tell the trace about them.

    Parameters
    ----------
    search : LocalSearch
        The run.
    neighbours : callable
        The neighbourhood of a column.
    raw : callable, optional
        The same before the check of symmetry, where there is one.
    """
    found = neighbours(search.target)
    before = found if raw is None else raw(search.target)
    search.tell(before)
    for x in before.members:
        if x not in found.members:
            evidence = search.tests.test(x, search.target, found.separators.get(x, ()))
            search.trace.removed(evidence, "symmetry", "the target is not a neighbour of it in turn")
    return found


def neighbours_only(search: LocalSearch, own: Neighbourhood) -> Found:
    """Return the neighbours of the target as the whole answer."""
    search.finish()
    return Found(members=own.members, roles=dict.fromkeys(own.members, "neighbour"), separators=own.separators)


def blanket_of(search: LocalSearch, own: Neighbourhood, neighbours: Neighbours, is_spouse: SpouseTest) -> Found:
    """Add the spouses: neighbours of neighbours that are tied to the target given the neighbour they share.

    Parameters
    ----------
    search : LocalSearch
        The run.
    own : Neighbourhood
        Of the target.
    neighbours : callable
        The neighbourhood of a column.
    is_spouse : callable
        ``is_spouse(x, y, separator)`` returns the test that decides whether x is a spouse through y, or
        None if it can be none.
    """
    common_children: dict[int, int] = {}
    for y in own.members:
        for x in neighbours(y).members:
            if x == search.target or x in own.members or x in common_children:
                continue
            evidence = is_spouse(x, y, own.separator(x))
            if evidence is None:
                continue
            if evidence.dependent(search.alpha):
                common_children[x] = y
                search.trace.admitted(evidence, "spouses", f"tied to the target given {search.tests.names[y]}")
            else:
                search.trace.passed_over(evidence, "spouses", f"not tied to the target given {search.tests.names[y]}")
    search.finish()
    roles: dict[int, Role] = dict.fromkeys(own.members, "neighbour")
    roles.update(dict.fromkeys(common_children.values(), "child"))
    roles.update(dict.fromkeys(common_children, "spouse"))
    separators = {x: given for x, given in own.separators.items() if x not in common_children}
    return Found(
        members=(*own.members, *common_children), roles=roles, common_children=common_children, separators=separators
    )


def separated_then_tied(search: LocalSearch) -> SpouseTest:
    """Return the usual decision: with Z a set that separates x from the target, test given Z and y."""

    def decide(x: int, y: int, separator: Given | None) -> Evidence | None:
        if separator is None or y in separator:
            return None
        return search.tests.test(x, search.target, (*separator, y))

    return decide
