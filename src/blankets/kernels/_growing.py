"""Searches for the weakest evidence about candidates, given sets of the members that a search for neighbors has.

Tests whose p-value would be drawn wait if they find the candidate dependent by moments.
"""

from __future__ import annotations

import numpy as np

from blankets.kernels._answers import Evidence, copy_answer, copy_evidence
from blankets.kernels._formula import Formula, Table
from blankets.kernels._questions import NO_MEMORY, TOO_LARGE, test_each
from blankets.kernels._room import Room
from blankets.kernels._subsets import Weakest, begin, insert, search_subsets
from blankets.kernels._tail import is_weaker, log_tail
from blankets.kernels._types import *

# Why a search came back: it is at its end, it has asked too much, or it takes too long for one call.
ENDED: int64 = 0
ASKED: int64 = 1
LONG: int64 = 2
MOST_GIVEN: int64 = 32  # columns that a set may have here
MOST_WAITING: int64 = 1024  # tests of a step that may wait


@inner
class Growing:
    """Candidates with their weakest evidence so far, and the members among them; sets are of places of candidates.

    Parameters
    ----------
    table : Table
    formula : Formula
    room : Room
    most : int
        Candidates that there may be.
    log_alpha : float
    patience : int
        Rows x tests of one search.
    """

    table: Table
    formula: Formula
    room: Room
    log_alpha: float64
    patience: int64
    y: int64
    most_given: int64  # columns of a set
    most_asked: float64  # tests
    n: int64  # candidates
    columns: NewInts
    answers: Evidence  # their weakest tests
    at_entry: Evidence  # those with which members entered
    inside: NewBytes  # members
    out: NewBytes  # separated from y
    gone: NewBytes  # members that the last step removed, and who was tested given them
    waiting: NewInts2  # tests that wait for permutations: candidate, size of the set, the set
    n_waiting: int64
    members: NewInts  # in the order of entry
    n_members: int64
    at: NewInts  # those that are asked about
    n_at: int64
    among: NewInts  # the columns of the members
    steps: NewInts2  # what was done, in which round, to which candidate
    n_steps: int64
    asked: float64  # tests that were asked for, and those performed
    performed: int64
    work: float64  # rows that the tests asked for would read
    capped: bint  # some sets were larger than allowed
    only: int64  # the only column of which it matters which set separates it best; -1: all
    round: int64
    found: Weakest  # the latest search

    def __init__(
        self, table: Table, formula: Formula, room: Room, most: int64, log_alpha: float64, patience: int64
    ) -> None:
        self.table, self.formula, self.room, self.log_alpha, self.patience = table, formula, room, log_alpha, patience
        deepest = min(most, MOST_GIVEN)
        ints, marks = np.zeros((4, most), np.int64), np.zeros((3, most), np.uint8)
        self.columns, self.members, self.at, self.among = (view(ints[k]) for k in range(4))
        self.inside, self.out, self.gone = (view(marks[k]) for k in range(3))
        self.answers, self.at_entry = Evidence(most, deepest), Evidence(most, deepest)
        self.steps = view(np.zeros((2 * most, 3), np.int64))
        self.waiting, self.found = view(np.empty((0, deepest + 2), np.int64)), Weakest(most, 0, deepest)
        if formula.judges:
            self.found.postpone(MOST_WAITING)
        self.n = self.n_waiting = 0
        self.only = -1

    def more_waiting(self) -> None:
        """Make room for more tests that wait."""
        old = np.asarray(self.waiting)
        self.waiting = view(np.concatenate([old, np.empty((len(old) + MOST_WAITING, old.shape[1]), np.int64)]))


@inner
def _deepest(g: Growing) -> int64:
    """Return how many of the members, those with the fewest levels, leave enough rows to test some candidate asked."""
    if g.formula.reliability == 0.0 or g.n_at == 0:
        return g.n_members
    fewest: int64 = g.table.arities[g.columns[g.at[0]]]
    for k in range(1, g.n_at):
        fewest = min(fewest, g.table.arities[g.columns[g.at[k]]])
    each: float64 = g.formula.reliability * (g.table.arities[g.y] - 1) * (fewest - 1)  # rows for a stratum
    strata: float64 = 1.0
    size: int64 = 0
    level: int64 = 0
    while size < g.n_members:  # through the members by their levels
        least: int64 = 1 << 62
        same: int64 = 0
        for k in range(g.n_members):
            arity: int64 = g.table.arities[g.columns[g.members[k]]]
            if level < arity < least:
                least = arity
                same = 0
            same += arity == least
        for _ in range(same):
            strata *= least
            if each * strata > g.table.n_rows:
                return size
            size += 1
        level = least
    return size


@inner
def _n_sets(n: int64, largest: int64) -> float64:
    """Return how many subsets of ``n`` have at most ``largest`` elements."""
    total: float64 = 0.0
    of_size: float64 = 1.0
    for size in range(largest + 1):
        total += of_size
        of_size = of_size * (n - size) / (size + 1)
    return total


@inner
def _may_wait(g: Growing, n: int64) -> bint:
    """Make room for ``n`` tests that wait; tell whether there is memory enough."""
    while g.waiting.shape[0] < n:
        with gil:
            try:
                g.more_waiting()
            except MemoryError:
                return False
    return True


@inner
def _search(g: Growing, newest: bint, largest: int64, stop: float64) -> int64:
    """Search the subsets of at most ``largest`` members for all that are asked about, each until it is settled."""
    g.found.n = g.n
    begin(g.found, 1 if newest else 0)
    g.found.largest = largest
    for k in range(g.n):
        g.found.settled[k] = True  # not asked about
    for k in range(g.n_at):
        g.found.settled[g.at[k]] = False
    m: int64 = g.n_members
    place: int64 = m - 1 if newest else -1
    g.room.postpones = newest and g.found.waiting.shape[0] > 0
    more: int64 = 0
    while more >= 0 and g.n_at > 0 and g.found.next <= g.found.largest:
        columns: Ints = g.columns[: g.n]
        among: Ints = g.among[:m]
        more = search_subsets(g.table, g.formula, columns, g.y, among, place, stop, g.patience, g.room, g.found)
        if more >= 0:
            g.performed += more
        if more >= 0 and g.found.n_waiting > g.found.waiting.shape[0]:
            more = TOO_LARGE
    g.room.postpones = False
    return ENDED if more >= 0 else LONG if more == TOO_LARGE else more


@inner
def _needs_all(g: Growing) -> bint:
    """Whether it matters which set separates best: that of a member says who is asked again."""
    for k in range(g.n_at):
        i: int64 = g.at[k]
        if g.found.settled[i] and (g.inside[i] or g.columns[i] == g.only):
            return True
    return False


@inner
def ask_about(g: Growing, newest: bint) -> int64:
    """Search for the weakest evidence about some candidates; with the ``newest`` member, only sets that contain it.

    Sets without it were tried before, and what was found there stays if it is weaker.
    """
    m: int64 = g.n_members
    fixed: int64 = 1 if newest else 0
    largest: int64 = min(_deepest(g), g.most_given)
    n_tests: float64 = g.n_at * _n_sets(m - fixed, largest - fixed)
    g.asked += n_tests
    g.work += n_tests * g.table.n_rows
    if g.asked > g.most_asked:
        return ASKED
    if g.work > g.patience or largest > g.found.places.shape[1]:
        return LONG
    for k in range(g.n_at):
        g.capped = g.capped or m - g.inside[g.at[k]] > g.most_given
    for k in range(m):
        g.among[k] = g.columns[g.members[k]]
    stop: float64 = g.log_alpha if newest and g.only >= 0 else INFINITY
    why: int64 = _search(g, newest, largest, stop)
    if why == ENDED and stop < INFINITY and _needs_all(g):
        why = _search(g, newest, largest, INFINITY)
    return _take_over(g, newest) if why == ENDED else why


@inner
def _take_over(g: Growing, newest: bint) -> int64:
    """Take over what the latest search found."""
    if not _may_wait(g, g.n_waiting + g.found.n_waiting):
        return NO_MEMORY
    for k in range(g.found.n_waiting):
        g.waiting[g.n_waiting, 0] = g.found.waiting[k, 0]
        g.waiting[g.n_waiting, 1] = g.found.waiting[k, 1]
        for j in range(2, g.found.waiting[k, 1] + 2):
            g.waiting[g.n_waiting, j] = g.members[g.found.waiting[k, j]]
        g.n_waiting += 1
    for k in range(g.n_at):
        i: int64 = g.at[k]
        weaker: bint = is_weaker(g.found.log_p[i], g.found.statistic[i], g.answers.log_p[i], g.answers.statistic[i])
        if newest and not (g.found.reliable[i] and (not g.answers.reliable[i] or weaker)):
            continue
        copy_evidence(g.found, i, g.answers, i)
        for j in range(g.found.size[i]):
            g.answers.places[i, j] = g.members[g.found.places[i, j]]
    return ENDED


@inner
def draw_for(g: Growing, i: int64) -> int64:
    """Make the tests of a candidate that wait."""
    left: int64 = 0
    for w in range(g.n_waiting):
        size: int64 = g.waiting[w, 1]
        if g.waiting[w, 0] != i:
            for j in range(size + 2):
                g.waiting[left, j] = g.waiting[w, j]
            left += 1
            continue
        for k in range(size):
            insert(g.room.given, k, g.columns[g.waiting[w, k + 2]])
        g.room.skip[0] = 0
        x: Ints = g.columns[i : i + 1]
        if test_each(g.table, g.formula, x, g.y, g.room.given, size, g.room, g.found.last) == NO_MEMORY:
            return NO_MEMORY
        statistic: float64 = g.found.last.statistic[0]
        p: float64 = g.found.last.log_p[0]
        if p != p:
            p = log_tail(statistic, g.found.last.dof[0])
        if not g.answers.reliable[i] or is_weaker(p, statistic, g.answers.log_p[i], g.answers.statistic[i]):
            copy_answer(g.found.last, 0, g.answers, i)
            g.answers.log_p[i] = p
            g.answers.size[i] = size
            for j in range(size):
                g.answers.places[i, j] = g.waiting[w, j + 2]
    g.n_waiting = left
    return ENDED
