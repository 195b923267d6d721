"""Shared code of the two-phase algorithms: neighbors of one variable at a time, then spouses.

Each of them first finds the neighbors of the target, then the neighbors of these, and tests which of
the latter are spouses. They differ in how they find neighbors (a `Neighborhood`); the rest is here:
`LocalSearch` stores neighborhoods for other targets, `symmetric` is the rule "X is a neighbor of Y only
if Y is a neighbor of X", and `blanket_of` is the second phase.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from blankets.independence import Evidence, EvidenceBatch, IndependenceTest
from blankets.search._contract import Found, Trace, Trouble
from blankets.search._roles import roles_from

Given = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighborhood:
    """The neighbors of one variable, and how they were found."""

    members: Given  # the neighbors, in the order of entry
    # for variables left out, the set that separated them, if it is not empty: with 139,351 columns nearly all are
    # independent without conditioning, and `separator` assumes that for all columns not listed here
    separators: dict[int, Given] = field(default_factory=dict)
    untested: frozenset[int] = frozenset()  # columns that could not be tested
    capped: bool = False  # whether there were conditioning sets larger than the limit
    asked: int = 0  # tests that it took, if they are limited
    log: Trace = field(default_factory=Trace)  # the decisions

    def separator(self, x: int) -> Given | None:
        """Return the set that separated ``x``; None for a member and for an untested column."""
        if x in self.separators:
            return self.separators[x]
        return None if x in self.members or x in self.untested else ()


Neighbors = Callable[[int], Neighborhood]
Decide = Callable[[int, list[int]], Iterable[EvidenceBatch]]


class LocalSearch:
    """One run of a two-phase algorithm: the data, the settings, and the results so far.

    ``target``: the column whose blanket is wanted. ``candidates``: the other columns. ``trace``: records the decisions
    about the target.
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
        # One object for equal sets of columns, so that looking up a key need not compare 139,351 columns.
        self.universe, self.columns = tests.remember(
            ("universe", universe), lambda: (universe, tuple(sorted(int(x) for x in universe)))
        )
        self.capped = False
        self.if_capped = Trouble.CAPPED  # what it means if there were sets that were not tried

    def others(self, x: int) -> Given:
        """Return all columns of the search except ``x``."""
        at = bisect_left(self.columns, x)
        return self.columns[:at] + self.columns[at + 1 :]

    def learn(self, name: Hashable, x: int, work: Callable[[LocalSearch, int, Trace], Neighborhood]) -> Neighborhood:
        """Return the neighborhood of ``x`` by the method ``name``, computed once for all targets.

        For columns other than the target, the evidence of marginally independent columns is not kept: it could
        be 139,351 tests for each. `tell` repeats that scan if such a column becomes a target.
        """

        def worked_out() -> Neighborhood:
            self.trace.phase(f"neighbors of {self.tests.names[x]}")
            if x == self.target:
                return work(self, x, Trace(members=self.trace.members))
            found = work(self, x, Trace())
            found.log.scans[:] = [(phase, batch) for phase, batch in found.log.scans if not _is_marginal(batch)]
            return found

        return self.once(name, x, worked_out)

    def once(self, name: Hashable, x: int, work: Callable[[], Neighborhood]) -> Neighborhood:
        """Return a neighborhood of ``x``, computed once for all targets."""
        found = self.tests.remember(("neighborhood", name, x, self.universe, self.alpha, self.max_given), work)
        self.capped |= found.capped
        return found

    def tell(self, found: Neighborhood) -> None:
        """Record the decisions about the target's own neighbors in the trace."""
        if not any(_is_marginal(batch) for _, batch in found.log.scans):
            marginal = self.tests.scan(self.others(self.target), self.target)
            self.trace.passed_over(marginal.where(marginal.independent(self.alpha)), "neighbors")
        self.trace.scans.extend(found.log.scans)
        self.trace.decisions.extend(found.log.decisions)
        self.trace.members[:] = found.members

    def separate(
        self, xs: Sequence[int], among: Sequence[int], *, y: int | None = None, containing: int | None = None
    ) -> EvidenceBatch:
        """Find for each x the first subset that separates it from ``y`` (the target), or its weakest evidence."""
        limit = self.max_given
        self.capped |= limit is not None and any(len(among) - (x in among) > limit for x in xs)
        y = self.target if y is None else y
        return self.tests.separate(xs, y, among, containing=containing, max_size=limit, stop_at=self.alpha)

    def admit_spouse(self, evidence: Evidence, child: int) -> None:
        """Record a new spouse in the trace."""
        name = self.tests.names[child]
        self.trace.admitted(evidence, "spouses", f"dependent on the target given {name}, a child of both")


def _is_marginal(batch: EvidenceBatch) -> bool:
    return batch.asked == ()


def symmetric(neighbors: Neighbors, y: int) -> Neighborhood:
    """Keep the neighbors of ``y`` that also have ``y`` as a neighbor (AlgorithmPC of Peña et al.)."""
    own = neighbors(y)
    others = {x: neighbors(x) for x in own.members}
    one_sided = {x: other.separator(y) for x, other in others.items() if y not in other.members}
    return replace(
        own,
        members=tuple(x for x in own.members if x not in one_sided),
        separators=own.separators | {x: given for x, given in one_sided.items() if given is not None},
        untested=own.untested | {x for x, given in one_sided.items() if given is None},
        capped=own.capped or any(other.capped for other in others.values()),
    )


def own_neighbors(search: LocalSearch, neighbors: Neighbors, raw: Neighbors | None = None) -> Neighborhood:
    """Return the neighbors of the target and record them in the trace.

    ``neighbors``: gives the neighborhood of a column. ``raw``: the same before the check of symmetry, if there is one.
    """
    found = neighbors(search.target)
    if search.trace.brief:
        return found
    before = found if raw is None else raw(search.target)
    search.tell(before)
    for x in before.members:
        if x not in found.members:
            evidence = search.tests.test(x, search.target, found.separators.get(x, ()))
            search.trace.removed(evidence, "symmetry", "the target is not among its own neighbors")
    return found


def blanket_of(
    search: LocalSearch,
    own: Neighborhood,
    neighbors: Neighbors,
    *,
    candidates: Sequence[int] | None = None,
    decide: Decide | None = None,
    raw: Neighbors | None = None,
) -> Found:
    """Add the spouses: neighbors of neighbors that depend on the target given the neighbor they share.

    ``neighbors``: gives the neighborhood of a column. ``candidates``: the possible spouses for a neighbor of the
    target; by default the neighbors of that neighbor. ``decide``: ``decide(y, xs)`` yields the tests that decide
    whether each x is a spouse through the common neighbor y. By default x is tested given y and the set that
    separated it from the target. ``raw``: the same as ``neighbors`` before the check of symmetry, if there is one. That
    check comes after the test: it takes the neighbors of the possible spouse, and few are as far as that.
    """
    decide = decide or (lambda y, xs: tied_given(search, y, xs, own.separator))
    # For roles, separating sets before the check of symmetry do: of two neighbors each is asked for the other.
    around = {y: (raw or neighbors)(y) for y in own.members}
    common_children: dict[int, int] = {}
    for y in own.members:
        known = {search.target, *own.members, *common_children}
        xs = around[y].members if candidates is None else candidates
        for batch in decide(y, [x for x in xs if x not in known]):
            tied = batch.xs[batch.dependent(search.alpha)].tolist()
            new = [x for x in tied if raw is None or y in raw(x).members]
            common_children |= dict.fromkeys(new, y)
            if not search.trace.brief:
                _tell_spouses(search, y, batch, new)
    return found(search, own.members, common_children, own.separators, around)


def _tell_spouses(search: LocalSearch, y: int, batch: EvidenceBatch, new: Sequence[int]) -> None:
    """Record which columns of some tests are spouses through ``y``, and which depend on the target no more."""
    for evidence in batch:
        if evidence.x in new:
            search.admit_spouse(evidence, y)
        elif not evidence.dependent(search.alpha):
            search.trace.passed_over(evidence, "spouses", f"independent of the target given {search.tests.names[y]}")


def tied_given(
    search: LocalSearch, y: int, xs: Iterable[int], separator: Callable[[int], Given | None]
) -> Iterator[EvidenceBatch]:
    """Test each x against the target given y and the set that separated x, one batch for each such set.

    No test is possible if y is in the set, or if there is no such set.
    """
    groups: dict[Given, list[int]] = {}
    for x in xs:
        given = separator(x)
        if given is not None and y not in given:
            groups.setdefault(given, []).append(x)
    for given, some in groups.items():
        yield search.tests.scan(some, search.target, (*given, y))


def found(
    search: LocalSearch,
    neighbors: Given,
    common_children: Mapping[int, int],
    separators: Mapping[int, Given],
    around: Mapping[int, Neighborhood] | None = None,
) -> Found:
    """Make the answer, with the roles that need no further tests.

    ``common_children``: spouses, each with the child that it shares with the target. ``separators``: sets that
    separated other columns from the target. ``around``: the neighborhoods of the neighbors; their separating sets
    distinguish parents and children.
    """
    if search.capped:
        search.trace.note(search.if_capped, most=search.max_given)
    members = (*neighbors, *common_children)
    if search.trace.brief:
        return Found(members=members)
    known = _Separators(around or {}, search.target, dict(separators))
    return Found(
        members=members,
        roles=roles_from(search.tests, known, search.target, neighbors, common_children, alpha=search.alpha),
        common_children=dict(common_children),
        separators={x: given for x, given in separators.items() if x not in members},
    )


@dataclass(frozen=True, slots=True)
class _Separators:
    """Separating sets from the neighborhoods of some columns, and from that of the target."""

    around: Mapping[int, Neighborhood]
    target: int
    separators: Mapping[int, Given]

    def separator(self, a: int, b: int) -> Given | None:
        """Return a set that separates two columns, or None if none is known."""
        if b == self.target:
            return self.separators.get(a, ())  # a set that is not stored is the empty set
        for x, y in ((a, b), (b, a)):
            separator = self.around[x].separator(y) if x in self.around else None
            if separator is not None:
                return separator
        return None
