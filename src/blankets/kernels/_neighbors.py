"""The neighbors of a column by a max-min search over subsets, in one call.

This is what `blankets.search.pcmb.pcd` does after its first scan, step by step in the same order. Tests whose p-value
would be drawn wait if they find the candidate dependent by moments. Most candidates are separated later by a clear
test; if not, the draws are made before the candidate enters, and at once for members. So members are the same; the set
that separates a candidate may be another one, where a draw would have separated it first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from blankets.kernels._questions import NO_MEMORY, TOO_LARGE, test_each
from blankets.kernels._room import Formula, Room, Table, given_back, taken
from blankets.kernels._rows import known_columns
from blankets.kernels._subsets import Weakest, begin, raise_what, search_subsets
from blankets.kernels._tail import is_weaker, log_tail
from blankets.kernels._types import *

# Why a search came back: it is at its end, it has asked too much, or it takes too long for one call.
ENDED: int64 = 0
ASKED: int64 = 1
LONG: int64 = 2
MOST_GIVEN: int64 = 32  # columns that a set may have here
MOST_WAITING: int64 = 1024  # tests of a step that may wait
CLEAR: float64 = 2.302585092994046  # so far above the level, in log p, tests that wait do not separate better
# What was done to a column.
PASSED: int64 = 0
ADMITTED: int64 = 1
REMOVED: int64 = 2
GONE: int64 = 1  # a member that the last step removed
AGAIN: int64 = 2  # a candidate that is asked about again


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
    answers: NewReals2  # statistics, degrees of freedom, log p-values and methods of their weakest tests
    reliable: NewBytes  # whether any was performed
    inside: NewBytes  # members
    out: NewBytes  # separated from y
    gone: NewBytes  # members that the last step removed, and who was tested given them
    size: NewInts  # of the sets behind the evidence
    sets: NewInts2
    at_entry: NewReals2  # the evidence with which members entered, and its sets
    entry_size: NewInts
    entry_sets: NewInts2
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
        ints, marks, answers = np.zeros((6, most), np.int64), np.zeros((4, most), np.uint8), np.zeros((2, 4, most))
        self.columns, self.size, self.entry_size = view(ints[0]), view(ints[1]), view(ints[2])
        self.members, self.at, self.among = view(ints[3]), view(ints[4]), view(ints[5])
        self.reliable, self.inside, self.out, self.gone = (view(marks[k]) for k in range(4))
        self.answers, self.at_entry = view(answers[0]), view(answers[1])
        sets = np.zeros((2, most, deepest), np.int64)
        self.sets, self.entry_sets = view(sets[0]), view(sets[1])
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
def _note(g: Growing, action: int64, i: int64) -> void:
    """Record what is done to a candidate."""
    g.steps[g.n_steps, 0] = action
    g.steps[g.n_steps, 1] = g.round
    g.steps[g.n_steps, 2] = i
    g.n_steps += 1


@inner
def _strongest_left(g: Growing) -> int64:
    """Return the strongest candidate outside the members, -1 if there is none.

    Ties go to the larger statistic, then to the smaller column.
    """
    best: int64 = -1
    for i in range(g.n):
        if g.out[i] or g.inside[i] or not g.reliable[i]:
            continue
        if best < 0 or is_weaker(g.answers[2, best], g.answers[0, best], g.answers[2, i], g.answers[0, i]):
            best = i
        elif g.answers[2, best] == g.answers[2, i] and g.answers[0, best] == g.answers[0, i]:
            best = i if g.columns[i] < g.columns[best] else best
    return best


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
def _is_out(g: Growing, i: int64) -> bint:
    """Whether a candidate is separated by its weakest evidence, and was not before."""
    return not g.out[i] and g.reliable[i] and g.answers[2, i] > g.log_alpha


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
def _ask(g: Growing, newest: bint) -> int64:
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
        weaker: bint = is_weaker(g.found.log_p[i], g.found.statistic[i], g.answers[2, i], g.answers[0, i])
        if newest and not (g.found.reliable[i] and (not g.reliable[i] or weaker)):
            continue
        g.answers[0, i] = g.found.statistic[i]
        g.answers[1, i] = g.found.dof[i]
        g.answers[2, i] = g.found.log_p[i]
        g.answers[3, i] = g.found.method[i]
        g.reliable[i] = g.found.reliable[i]
        g.size[i] = g.found.size[i]
        for j in range(g.found.size[i]):
            g.sets[i, j] = g.members[g.found.places[i, j]]
    return ENDED


@inner
def _draw_for(g: Growing, i: int64) -> int64:
    """Make the tests of a candidate that wait."""
    left: int64 = 0
    for w in range(g.n_waiting):
        size: int64 = g.waiting[w, 1]
        if g.waiting[w, 0] != i:
            for j in range(size + 2):
                g.waiting[left, j] = g.waiting[w, j]
            left += 1
            continue
        for k in range(size):  # in ascending order
            z: int64 = g.columns[g.waiting[w, k + 2]]
            at: int64 = k
            while at > 0 and g.room.given[at - 1] > z:
                g.room.given[at] = g.room.given[at - 1]
                at -= 1
            g.room.given[at] = z
        g.room.skip[0] = 0
        x: Ints = g.columns[i : i + 1]
        if test_each(g.table, g.formula, x, g.y, g.room.given, size, g.room, g.found.last) == NO_MEMORY:
            return NO_MEMORY
        statistic: float64 = g.found.last.statistic[0]
        p: float64 = g.found.last.log_p[0]
        if p != p:
            p = log_tail(statistic, g.found.last.dof[0])
        if not g.reliable[i] or is_weaker(p, statistic, g.answers[2, i], g.answers[0, i]):
            g.answers[0, i] = statistic
            g.answers[1, i] = g.found.last.dof[0]
            g.answers[2, i] = p
            g.answers[3, i] = g.found.last.method[0]
            g.reliable[i] = True
            g.size[i] = size
            for j in range(size):
                g.sets[i, j] = g.waiting[w, j + 2]
    g.n_waiting = left
    return ENDED


@inner
def _pass_over(g: Growing) -> int64:
    """Let the candidates go that are separated; the set behind it is the one given which they are weakest."""
    for i in range(g.n):
        if _is_out(g, i):
            if g.answers[2, i] <= g.log_alpha + CLEAR and _draw_for(g, i) < 0:
                return NO_MEMORY
            _note(g, PASSED, i)
            g.out[i] = True
    return ENDED


@inner
def _waits(g: Growing, i: int64) -> bint:
    """Whether tests of a candidate wait."""
    for w in range(g.n_waiting):
        if g.waiting[w, 0] == i:
            return True
    return False


@inner
def _has_gone(g: Growing, sets: Ints2, row: int64, first: int64, size: int64) -> bint:
    """Whether one of a set was removed in the last step."""
    for j in range(first, first + size):
        if g.gone[sets[row, j]] == GONE:
            return True
    return False


@inner
def _remove(g: Growing) -> bint:
    """Remove the members that are separated from ``y``; set which candidates were tested given one of them."""
    left: int64 = 0
    any_gone: bint = False
    for i in range(g.n):
        g.gone[i] = g.inside[i] and _is_out(g, i)
        if g.gone[i]:
            g.out[i] = True
            g.inside[i] = False
            any_gone = True
            _note(g, REMOVED, i)
    if not any_gone:
        return False
    for k in range(g.n_members):
        if not g.out[g.members[k]]:
            g.members[left] = g.members[k]
            left += 1
    g.n_members = left
    g.n_at = 0
    for i in range(g.n):
        if not g.out[i] and _has_gone(g, g.sets, i, 0, g.size[i]):
            g.gone[i] = AGAIN
            g.at[g.n_at] = i
            g.n_at += 1
    left = 0
    for w in range(g.n_waiting):
        if g.gone[g.waiting[w, 0]] != AGAIN and not _has_gone(g, g.waiting, w, 2, g.waiting[w, 1]):
            for j in range(g.waiting[w, 1] + 2):
                g.waiting[left, j] = g.waiting[w, j]
            left += 1
    g.n_waiting = left
    return True


@inner
def _enter(g: Growing, best: int64) -> void:
    """Let a candidate enter; set that all others are asked about."""
    _note(g, ADMITTED, best)
    for k in range(4):
        g.at_entry[k, best] = g.answers[k, best]
    g.entry_size[best] = g.size[best]
    for j in range(g.size[best]):
        g.entry_sets[best, j] = g.sets[best, j]
    g.members[g.n_members] = best
    g.n_members += 1
    g.inside[best] = True
    g.round += 1
    g.n_at = 0
    for i in range(g.n):
        if not g.out[i] and i != best:
            g.at[g.n_at] = i
            g.n_at += 1


@inner
def begin_growing(g: Growing, n: int64, y: int64, most_given: int64, most_asked: float64) -> void:
    """Begin with so many candidates, whose columns and tests are there."""
    for i in range(n):
        g.inside[i] = g.out[i] = False
        g.size[i] = 0
    g.n = n
    g.y = y
    g.most_given = most_given
    g.most_asked = most_asked
    g.n_members = g.n_at = g.n_waiting = g.n_steps = g.performed = g.round = 0
    g.asked = g.work = 0.0
    g.capped = False


@inner
def grow(g: Growing) -> int64:
    """Find the members among the candidates; return why it came back, or what error there was (`raise_what`)."""
    best: int64 = _strongest_left(g)
    while best >= 0:
        _enter(g, best)
        why: int64 = _ask(g, True)
        for i in range(g.n if why == ENDED else 0):
            if (g.inside[i] or not g.reliable[i]) and _draw_for(g, i) < 0:
                return NO_MEMORY
        if why == ENDED and _remove(g):
            why = _ask(g, False)
        if why == ENDED:
            why = _pass_over(g)
        if why != ENDED:
            return why
        best = _strongest_left(g)
        while best >= 0 and _waits(g, best):  # draws can only make it weaker
            if _draw_for(g, best) < 0 or _pass_over(g) < 0:
                return NO_MEMORY
            best = _strongest_left(g)
    return ENDED


def _steps_of(g: Growing) -> list[Any]:
    """Return what was done, in which round, to which column, its set and answers."""
    told: list[Any] = []
    for k in range(g.n_steps):
        action: int64 = g.steps[k, 0]
        i: int64 = g.steps[k, 2]
        entry: bint = action == ADMITTED
        size: int64 = g.entry_size[i] if entry else g.size[i]
        sets: NewInts2 = g.entry_sets if entry else g.sets
        a: NewReals2 = g.at_entry if entry else g.answers
        given = tuple([g.columns[sets[i, j]] for j in range(size)])
        told.append((action, g.steps[k, 1], g.columns[i], given, a[0, i], a[1, i], a[2, i], a[3, i]))
    return told


@door
def grow_neighbors(
    table: Table,
    formula: Formula,
    xs: Ints,
    y: int64,
    answers: Reals2,
    reliable: Bytes,
    log_alpha: float64,
    most_given: int64,
    most_asked: float64,
    patience: int64,
) -> tuple[int, Any, Any, Any, bool, float, int]:
    """Return the neighbors of ``y`` among ``xs``, which depend on it given nothing, by their answers.

    The strongest enters, all are tested given the subsets with it, members and then others leave that are separated
    with a p-value above exp(log_alpha), until none is left. No set is larger than ``most_given``.

    Returns why it came back (`ENDED`; otherwise nothing else counts), members, the steps, the columns that could not be
    tested, whether larger sets were left out, and how many tests were asked for and performed.
    """
    n: int64 = xs.shape[0]
    n_columns: int64 = table.arities.shape[0]
    if table.codes.shape[0] != n_columns or not known_columns(xs, n_columns) or not 0 <= y < n_columns:
        raise IndexError("no such column")
    if answers.shape[0] != 4 or answers.shape[1] != n or reliable.shape[0] != n:
        raise ValueError("every candidate has its answers")
    room: Room = taken(formula, table, n, 1)
    g: Growing = Growing(table, formula, room, n, log_alpha, patience)
    why: int64 = ENDED
    with nogil:
        for i in range(n):
            g.columns[i] = xs[i]
            g.reliable[i] = reliable[i]
            for k in range(4):
                g.answers[k, i] = answers[k, i]
        begin_growing(g, n, y, most_given, most_asked)
        why = grow(g)
    given_back(formula, room)
    raise_what(why, g.found)
    members = [g.columns[g.members[k]] for k in range(g.n_members)]
    untested = [xs[i] for i in range(n) if not g.out[i] and not g.reliable[i]]
    return why, members, _steps_of(g), untested, bool(g.capped), g.asked, g.performed
