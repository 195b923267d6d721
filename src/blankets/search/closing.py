"""Closing: check the answer of a search against the definition of a Markov blanket, and repair it.

A set M is a Markov blanket of T if T is independent of every other column given M, and minimal if no member is
irrelevant given the others. Searches find it in many ways, and some fail with few rows: for example, two near copies
remove each other, and neither is a member. So the answer of every search is checked against the definition:

1. All other columns are tested given the members, in one scan. The strongest enters if its p-value is at most
   α (k + 1) / m, with k members and m columns. At the first entry that is α divided by the number of columns: a
   column enters by chance in a share α of blankets, for any number of columns. Later the false discovery rate stays
   that small (step-down, after Benjamini & Hochberg 1995). With the level α itself, many would enter by chance.
2. Columns that entered in this way leave again if they are irrelevant at level α given the other members. Members
   found by the search stay: with few rows, the test of a weak true member given many others may not be significant.
   This is asked after every entry; once members are many, after some of them (an eighth of those beyond 16).
   Where numbers are involved, searches ask a quick view of the table, and no such member stays unless its own test,
   asked of rows, needs it: above p = 0.1 it leaves; between α and that it is *undecided*, neither in nor out
   (`set_aside`).
3. Where numbers are involved, and no column depends any more, all pairs of columns outside are looked at together: two
   may tell something only together. The strongest product of two enters if its p-value, times the number of products,
   is at most α, and the test of each given the other and the members finds it needed (methods, section 10.7).
4. This is repeated until nothing changes. If a set occurs again, or ten columns have left, no column leaves any
   more. Then members can only be added, so the loop ends, and the columns outside are irrelevant given the members.
   Once there are too few rows to test any column outside, five more may enter; those that still depend are undecided.

Tests that can admit a column are performed even in sparse tables, if their p-values are right there
(`IndependenceTest.at_level`): a small p-value is evidence for any number of rows. A column is called *out* only by
tests with enough rows. If there are too few rows to test it given all members, it is out if some of them
separate it from the target, and otherwise undecided. So is a column whose test could not hold the members fixed.

A test without degrees of freedom needs no special rule here. It means that, in every group of rows with the same
values of the members, the column or the target is constant: the members determine the column (or the target), so the
column adds no information. In searches the same result given columns *outside* the blanket can empty a blanket; given
the blanket it is exactly the definition. And because one column leaves at a time, the last of several copies stays.

References
----------
Benjamini & Hochberg (1995), Controlling the false discovery rate, JRSS B 57(1), 289-300.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blankets.independence import NUMBER_METHODS, QUICK_METHODS, Evidence, EvidenceBatch, IndependenceTest
from blankets.search._contract import Doubt, Found, Role, Trace, Trouble, Undecided
from blankets.search._equivalents import equivalents_of, perhaps_dependent
from blankets.search.iamb import outside

_SWAPS = 10  # after this many columns have left, none may leave any more
# p-value above which rows show no sign of a member. Of .01, .05, .1, .157, on random mixed networks with held-out
# seeds, .1 has the best F1 at 1,000 and 5,000 rows with undecided columns counted in (benchmarks/number_tests.py
# networks).
_NO_SIGN = 0.1
_FAR = 100.0  # times below the level: what another column is given does not make such a test say the opposite
_BY_NUMBERS = frozenset(
    [*NUMBER_METHODS[1:], *QUICK_METHODS[1:]]
)  # the first one is that of tests that were not performed
_FEW, _SELDOM = 16, 8  # beyond so many members, one in so many of the others must be new before members may leave
_BEYOND = 5  # columns that may enter after rows have become too few to test any given the members
_DEEP = 3  # largest number of members to condition on, if there are too few rows for all of them
_SETS = 200  # most sets of such members


def level_to_enter(alpha: float, n_members: int, n_columns: int) -> float:
    """Return the largest p-value at which a column enters, for given numbers of members and columns.

    Examples
    --------
    >>> level_to_enter(0.01, 0, 30), level_to_enter(0.01, 4, 30), level_to_enter(0.01, 0, 2)
    (0.0003333333333333333, 0.0016666666666666668, 0.005)
    """
    return min(alpha, alpha * (n_members + 1) / max(n_columns, 1))


@dataclass(slots=True)
class _Blanket:
    """The members, and how they may change."""

    tests: IndependenceTest
    target: int
    candidates: Sequence[int]
    members: list[int]
    alpha: float
    trace: Trace

    def level(self) -> float:
        """Return the level at which a column may enter."""
        return level_to_enter(self.alpha, len(self.members), len(self.candidates))

    def strongest(self) -> Evidence | None:
        """Return the strongest of those that may enter."""
        scan = self._last_scan()
        if scan is None:
            columns = outside(np.asarray(self.candidates, np.int64), self.members)
            if not len(columns):
                return None
            scan = self.tests.at_level(self.level()).scan(columns, self.target, self.members)
            self.trace.passed_over(scan, "closing")
        return scan.strongest(self.level())

    def _last_scan(self) -> EvidenceBatch | None:
        """Return what was last asked in closing, if it is what is to be asked now: a search may have closed itself."""
        phase, scan = self.trace.scans[-1] if self.trace.scans else ("", None)
        same = scan is not None and (scan.y, scan.asked) == (self.target, tuple(self.members))
        return scan if phase == "closing" and same else None

    def waiting(self) -> list[int]:
        """Return the columns that would have to enter, by the last scan; none, unless rows became too few."""
        scan = self._last_scan()
        return [] if scan is None else scan.xs[scan.dependent(self.level())].tolist()

    def nearly(self) -> list[int]:
        """Return the columns outside that depend on the target by a test of their own, but may not enter."""
        scan = self._last_scan()
        return [] if scan is None else scan.xs[scan.dependent(self.alpha)].tolist()

    def unheld(self) -> list[int]:
        """Return the columns outside that would enter by a test that could not hold the members fixed."""
        scan = self._last_scan()
        if scan is None or scan.held is None:
            return []
        found = scan.xs[(scan.log_p <= math.log(self.level())) & ~scan.held]
        return [int(x) for x in found]

    def beyond_rows(self) -> bool:
        """Tell whether the last five members entered when rows were too few to test any column given the others."""
        first = self.members[:-_BEYOND]
        columns = outside(np.asarray(self.candidates, np.int64), self.members)
        return len(self.members) >= _BEYOND and self.tests.deepest(columns, self.target, first) < len(first)

    def enter(self, evidence: Evidence, reason: str) -> None:
        """Add a column to the members."""
        self.members.append(evidence.x)
        self.trace.admitted(evidence, "closing", reason)

    def enter_pair(self) -> bool:
        """Let two columns enter that depend on the target only together; tell whether there are such."""
        columns = outside(np.asarray(self.candidates, np.int64), self.members)
        pair = self.tests.strongest_pair(columns, self.target, self.members, self.alpha)
        if pair is None:
            self.trace.note(Trouble.PAIRS_NOT_ASKED, most=len(columns))
        if not pair:
            return False
        tests, members = self.tests.at_level(self.alpha), tuple(self.members)
        told = [tests.test(x, self.target, (*members, y)) for x, y in (pair, pair[::-1])]
        if not all(evidence.dependent(self.alpha) for evidence in told):
            return False
        for evidence in told:
            self.enter(evidence, f"dependent on the target together with {self.tests.names[evidence.given[-1]]}")
        self.trace.note(Trouble.ONLY_TOGETHER, columns=tuple(self.tests.names[x] for x in pair))
        return True

    def leave(self, stay: Collection[int]) -> None:
        """Remove, one at a time and the weakest first, members that are irrelevant given the others.

        Where numbers are involved only those are asked about of which the quick view sees no sign: all are at the end.
        """
        while len(self.members) > 1 and (free := [x for x in self.members if x not in stay]):
            if (quickly := self.tests.by_formula()) is not self.tests:
                quick = quickly.drop_one(self.members, self.target, free)
                if all(evidence.method in _BY_NUMBERS for evidence in quick):
                    free = quick.xs[~quick.dependent(self.alpha)].tolist()
            batch = self.tests.at_level(self.alpha).drop_one(self.members, self.target, free)
            if not self._remove(batch, batch.independent(self.alpha)):
                return

    def leave_without_sign(self, required: Collection[int]) -> None:
        """Do the same with members found by the quick view of numbers, if rows show no sign of them.

        After one has left, those that rows did not find needed are asked about again, and at the end all.
        """
        doubtful: list[int] | None = None
        while len(self.members) > 1:
            free = [x for x in self.members if x not in required and (doubtful is None or x in doubtful)]
            batch = self._left(free) if free else None
            if batch is None and doubtful is None:
                return
            doubtful = None if batch is None else batch.xs[~batch.dependent(self.alpha)].tolist()

    def _left(self, free: Sequence[int]) -> EvidenceBatch | None:
        """Let members leave of which rows show no sign; return the tests if any did.

        Of many the weaker half leaves at once: who is needed without them comes back when the others are asked.
        """
        batch = self.tests.at_level(self.alpha).drop_one(self.members, self.target, free)
        by_numbers = np.array([evidence.method in _BY_NUMBERS for evidence in batch])
        without = by_numbers & batch.independent(max(_NO_SIGN, self.alpha))
        for _ in range(-(-np.count_nonzero(without) // 2)):
            self._remove(batch, without)
            without &= np.isin(batch.xs, self.members)
        return batch if not np.isin(batch.xs, self.members).all() else None

    def _remove(self, batch: EvidenceBatch, irrelevant: NDArray[np.bool_]) -> bool:
        """Remove the weakest of the irrelevant ones; tell whether there was any."""
        if not irrelevant.any():
            return False
        evidence = batch[int(batch.order(irrelevant)[-1])]
        self.members.remove(evidence.x)
        self.trace.removed(evidence, "closing", "independent of the target given the other members")
        return True


def settle(
    tests: IndependenceTest,
    target: int,
    candidates: Sequence[int],
    members: Sequence[int],
    *,
    alpha: float,
    trace: Trace,
    stay: Collection[int] = (),
    required: Collection[int] = (),
) -> tuple[int, ...]:
    """Let columns enter and leave until all others are irrelevant given the members, and return the members.

    ``candidates``: all other columns. ``members``: the first members. ``stay``: members that leave only if they were
    found by inner products alone and rows show no sign of them. ``required``: members that never leave.

    Examples
    --------
    >>> import networkx as nx
    >>> from blankets.independence import DSeparation
    >>> tests = DSeparation(nx.DiGraph(["ab", "cb", "cd"]))  # a -> b <- c -> d
    >>> settle(tests, 0, [1, 2, 3], [], alpha=0.01, trace=Trace())
    (1, 2)
    """
    blanket = _Blanket(tests, target, candidates, list(members), alpha, trace)
    seen, settled, n_left, n_new = {frozenset(members)}, False, 0, 0
    while True:
        best = blanket.strongest()
        stop = best is None or blanket.beyond_rows()
        if best is not None and not stop:
            blanket.enter(best, "dependent on the target given all members")
            n_new += 1
        before = len(blanket.members)
        if settled and stop:
            break
        if settled or (not stop and _SELDOM * n_new < before - _FEW):
            continue
        blanket.leave(stay)
        if stop:
            blanket.leave_without_sign(required)
        now, n_new = frozenset(blanket.members), 0
        if stop and len(now) == before:
            if best is not None or settled or not blanket.enter_pair():
                break
            seen.add(now)
            continue
        n_left += before - len(now)
        settled = now in seen or n_left >= _SWAPS
        seen.add(now)
    if settled:
        trace.note(Trouble.KEPT)
    if best is not None:
        trace.note(Trouble.BEYOND_ROWS, members=len(blanket.members))
    return tuple(blanket.members)


def close(
    tests: IndependenceTest,
    target: int,
    candidates: Sequence[int],
    found: Found,
    *,
    alpha: float,
    trace: Trace,
    required: Sequence[int] = (),
) -> Found:
    """Close the result of a search: every column outside is irrelevant given the members, or undecided.

    ``candidates``: all other columns. ``found``: what the search returned. ``required``: columns that are members
    whatever the tests say.

    Examples
    --------
    >>> import networkx as nx
    >>> from blankets.independence import DSeparation
    >>> tests = DSeparation(nx.DiGraph(["ab", "cb", "cd"]))  # a -> b <- c -> d
    >>> close(tests, 0, [1, 2, 3], Found(members=(1,)), alpha=0.01, trace=Trace()).entered
    (2,)
    """
    trace.phase("closing")
    found = with_required(tests, target, found, required, alpha=alpha, trace=trace)
    before = len(trace.decisions)
    stay = frozenset(found.members)
    members = settle(tests, target, candidates, found.members, alpha=alpha, trace=trace, stay=stay, required=required)
    came = dict.fromkeys(d.x for d in trace.decisions[before:])
    # A column that depended on the target in some test may be able to replace a member.
    level = alpha / max(len(candidates), 1)
    own = [batch for _, batch in trace.scans if batch.y == target and batch.asked is not None]
    tied = {x for batch in own for x in batch.xs[perhaps_dependent(batch, level)].tolist()}
    tied |= {d.x for d in trace.decisions if d.action != "passed over" and d.evidence.y == target}
    columns = np.asarray(candidates, np.int64)
    rest = outside(columns, members)
    alone = tests.by_formula().scan(columns, target)  # all of them: a search may have asked that, too
    tied |= set(columns[perhaps_dependent(alone, level)].tolist())
    evidence = evidence_of(tests, target, members, alpha=alpha)
    unchecked = tuple(e.x for e in evidence if not set(members) <= {e.x, *e.given})
    blanket = _Blanket(tests, target, candidates, list(members), alpha, trace)
    lone = columns[alone.independent(alpha)]
    partly, undecided = _untestable(tests, target, rest, members, alpha, lone, blanket.waiting())
    undecided |= {x: Undecided(Doubt.WEAK) for x in blanket.nearly() if x not in undecided and x not in partly}
    undecided |= dict.fromkeys(blanket.unheld(), Undecided(Doubt.NOT_HELD_FIXED))
    members, evidence, unsure = set_aside(tests, target, members, evidence, alpha=alpha, trace=trace, required=required)
    undecided |= unsure
    if gone := set(found.members).difference(members):
        found = _without(found, gone)
    return replace(
        found,
        members=members,
        **_without_unchecked(found, unchecked),
        separators={x: given for x, given in found.separators.items() if x not in members},
        closed=True,
        entered=tuple(x for x in came if x in members),
        left=tuple(x for x in came if x not in members),
        evidence=evidence,
        unchecked=unchecked,
        partly=tuple(x for x in partly if x not in undecided),
        undecided=undecided,
        equivalents=equivalents_of(tests, target, members, sorted(tied - set(members)), alpha=alpha),
    )


def set_aside(
    tests: IndependenceTest,
    target: int,
    members: tuple[int, ...],
    evidence: tuple[Evidence, ...],
    *,
    alpha: float,
    trace: Trace,
    required: Collection[int] = (),
) -> tuple[tuple[int, ...], tuple[Evidence, ...], dict[int, Undecided]]:
    """Return the members that their own tests need, the evidence of that, and those that are undecided.

    Where numbers are involved, a member with p above ``alpha`` given the others is set aside, the weakest first, and
    the others are asked again without it: of two columns that say almost the same, one is needed. What was set aside
    comes back if it is needed given those that stayed. A member whose test could not hold the others fixed is undecided
    too; what others are given stays the same.

    Examples
    --------
    >>> from blankets.independence import NumberTests
    >>> from blankets.data import ingest
    >>> cause, noise, more = np.random.default_rng(3).normal(size=(3, 300))
    >>> table = {"y": cause + noise, "one": cause + 0.05 * more, "other": cause - 0.05 * more}
    >>> tests = NumberTests(ingest(table, numbers=True).frame)
    >>> evidence = evidence_of(tests, 0, [1, 2], alpha=0.01)
    >>> members, _, _ = set_aside(tests, 0, (1, 2), evidence, alpha=0.01, trace=Trace())
    >>> len(members)
    1
    """

    def weakest(some: Sequence[Evidence]) -> Evidence | None:
        weak = [e for e in some if e.method in _BY_NUMBERS and e.x not in required and e.independent(alpha)]
        return max(weak, key=lambda e: (e.log_p, -e.statistic, e.x), default=None)

    aside: dict[int, Evidence] = {}
    while (weak := weakest(evidence)) is not None:
        aside[weak.x] = weak
        members = tuple(x for x in members if x != weak.x)
        asked = [e.x for e in evidence if e.x in members and not e.dependent(alpha / _FAR)]
        new = {e.x: e for e in tests.at_level(alpha).drop_one(members, target, asked)} if len(members) and asked else {}
        evidence = tuple(new.get(e.x, e) for e in evidence if e.x in members)
    for x in sorted(aside, key=lambda x: aside[x].log_p):
        if tests.at_level(alpha).test(x, target, members).dependent(alpha):
            members = (*members, x)
    if any(x in members for x in aside):
        evidence = evidence_of(tests, target, members, alpha=alpha)
    unsure = {}
    if rest := [x for x in aside if x not in members]:
        again = tests.at_level(alpha).scan(rest, target, members)
        trace.passed_over(again, "closing")
        unsure = {int(x): Undecided(Doubt.WEAK) for x in again.xs[~again.independent(max(_NO_SIGN, alpha))]}
    for e in evidence:
        if e.method in _BY_NUMBERS and e.x not in required and not e.held:
            unsure[e.x] = Undecided(Doubt.NOT_HELD_FIXED)
    members = tuple(x for x in members if x not in unsure)
    return members, tuple(e for e in evidence if e.x in members), unsure


def _without(found: Found, gone: Collection[int]) -> Found:
    """Return the answer without the roles of some members."""
    roles = {x: role for x, role in found.roles.items() if x not in gone}
    children = {x: c for x, c in found.common_children.items() if x not in gone and c not in gone}
    return replace(found, roles=roles, common_children=children)


def with_required(
    tests: IndependenceTest, target: int, found: Found, required: Sequence[int], *, alpha: float, trace: Trace
) -> Found:
    """Add the required members that a search did not find; members that only stood in for these leave.

    A member stood in if it depends on the target given the other members, and no longer given the required ones too.

    Examples
    --------
    >>> import networkx as nx
    >>> from blankets.independence import DSeparation
    >>> tests = DSeparation(nx.DiGraph(["ab", "bc"]))  # a -> b -> c
    >>> with_required(tests, 2, Found(members=(0,)), [1], alpha=0.01, trace=Trace()).members
    (1,)
    """
    missing = tuple(x for x in required if x not in found.members)
    if not missing:
        return found
    alone = tests.drop_one(found.members, target)
    members = list(found.members)
    for x in alone.xs[alone.order(alone.dependent(alpha))[::-1]].tolist():
        rest = tuple(z for z in members if z != x)
        evidence = tests.test(x, target, (*rest, *missing))
        if x not in required and evidence.independent(alpha):
            members.remove(x)
            trace.removed(evidence, "knowledge", "independent of the target given the required members")
    for x in missing:
        evidence = tests.test(x, target, tuple(z for z in (*members, *missing) if z != x))
        trace.admitted(evidence, "knowledge", "you required it")
    kept = {x: role for x, role in found.roles.items() if x in members}
    children = {x: c for x, c in found.common_children.items() if x in members and c in members}
    return replace(found, members=(*members, *missing), roles=kept, common_children=children)


def _without_unchecked(found: Found, unchecked: Collection[int]) -> dict[str, Mapping[int, Any]]:
    """Return the roles that do not rest on members which were not checked.

    An unchecked member may be no member: it has no role, nor has a spouse through it, and what it was that drew an
    arrow is not known.
    """
    if not unchecked:
        return {}
    through = {x: child for x, child in found.common_children.items() if not {x, child} & set(unchecked)}
    spouses: dict[int, Role] = dict.fromkeys(through, "spouse")
    neighbors = [x for x, role in found.roles.items() if role != "spouse" and x not in unchecked]
    return {"roles": dict.fromkeys(neighbors, "neighbor") | spouses, "common_children": through}


def evidence_of(tests: IndependenceTest, target: int, members: Sequence[int], *, alpha: float) -> tuple[Evidence, ...]:
    """Return the test of each member given the others, or given as many of them as rows allow.

    Where rows are too few for all of them, a test that finds the member needed even so is the one that counts.

    Examples
    --------
    >>> import networkx as nx
    >>> from blankets.independence import DSeparation
    >>> tests = DSeparation(nx.DiGraph(["ab", "cb", "cd"]))  # a -> b <- c -> d
    >>> [(e.x, e.given) for e in evidence_of(tests, 0, [1, 2], alpha=0.01)]
    [(1, (2,)), (2, (1,))]
    """
    batch = tests.drop_one(members, target)
    if batch.reliable.all():
        return tuple(batch)
    at_level = tests.at_level(alpha)
    anyway = batch if at_level is tests else at_level.drop_one(members, target)
    needed = anyway.dependent(alpha)
    return tuple(
        batch[i] if batch.reliable[i] else anyway[i] if needed[i] else _given_some(tests, target, x, members)
        for i, x in enumerate(members)
    )


def _given_some(tests: IndependenceTest, target: int, x: int, members: Sequence[int]) -> Evidence:
    """Return the test of a member given the others, from the first on, as far as rows allow."""
    given: tuple[int, ...] = ()
    others = [z for z in members if z != x]
    most, n_rows = tests.deepest([x], target, others), tests.looked_at or tests.test(x, target).n_rows
    for z in others:
        if len(given) < most and not tests.rows_for(x, target, (*given, z)) > n_rows:
            given = (*given, z)
    evidence = tests.test(x, target, given)
    while given and not evidence.reliable:  # values are missing, or the test has a rule of its own
        given = given[:-1]
        evidence = tests.test(x, target, given)
    return evidence


def _untestable(
    tests: IndependenceTest,
    target: int,
    columns: NDArray[np.int64],
    members: Sequence[int],
    alpha: float,
    lone: NDArray[np.int64],
    waiting: Collection[int] = (),
) -> tuple[tuple[int, ...], dict[int, Undecided]]:
    """Return the columns with too few rows for a test given all members: those that some members separate, and others.

    The others are undecided; each comes with the number of rows that would be enough. So are those ``waiting`` to
    enter. The formula decides here: in thin strata it finds too much, not too little, and leaves a column undecided.
    ``lone``: the columns that are independent of the target given nothing.
    """
    if not len(columns):
        return (), {}
    tests = tests.by_formula()
    few = columns[
        ~tests.enough_rows(columns, target, members) | (np.isin(columns, list(waiting)) if waiting else False)
    ]
    if not len(few):
        return (), {}
    apart = np.isin(few, lone) if members else np.zeros(len(few), np.bool_)
    rest = np.flatnonzero(~apart)
    if members and len(rest):
        sets = tests.separate(few[rest], target, members, max_size=_deepest(len(members)), stop_at=alpha)
        apart[rest] = sets.independent(alpha)
    apart &= ~np.isin(few, list(waiting))
    needed = {x: tests.rows_for(x, target, members) for x in few[~apart].tolist()}
    return tuple(few[apart].tolist()), {x: Undecided(Doubt.FEW_ROWS, rows) for x, rows in needed.items()}


def _deepest(n_members: int) -> int:
    """Return the largest size of conditioning sets that are not too many."""
    sizes = [size for size in range(1, _DEEP + 1) if sum(math.comb(n_members, k) for k in range(size + 1)) <= _SETS]
    return max(sizes, default=1)
