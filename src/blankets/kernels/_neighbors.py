"""The neighbors of a column by a max-min search over subsets, in one call.

This is what `blankets.search.pcmb.pcd` does after its first scan, step by step in the same order. Tests whose p-value
would be drawn wait if they find the candidate dependent by moments. Most candidates are separated later by a clear
test; if not, the draws are made before the candidate enters, and at once for members. So members are the same; the set
that separates a candidate may be another one, where a draw would have separated it first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from blankets.kernels._questions import test_columns
from blankets.kernels._room import Formula, Table
from blankets.kernels._rows import known_columns
from blankets.kernels._subsets import Weakest, begin, separate_columns
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


@inner
class Growing:
    """Candidates with their weakest evidence so far, and the members among them.

    Parameters
    ----------
    columns : ndarray of int64 of shape (n,)
        The candidates.
    answers : ndarray of shape (4, n)
        Statistics, degrees of freedom, log p-values and methods of their tests given nothing.
    reliable : ndarray of uint8 of shape (n,)
        Whether these were performed.
    """

    columns: Ints
    answers: NewReals2
    reliable: NewBytes
    inside: NewBytes  # members
    out: NewBytes  # separated from y
    sets: list  # type: ignore[type-arg]  # behind the evidence
    waiting: list  # type: ignore[type-arg]  # sets of tests that wait for permutations
    members: NewInts  # as places, in the order of entry
    n_members: int64
    at: NewInts  # the places that are asked about
    n_at: int64
    asked: float64  # tests that were asked for, and those performed
    performed: int64
    work: float64  # rows that the tests asked for would read
    capped: bint  # some sets were larger than allowed
    round: int64
    found: Weakest  # the latest search
    steps: list  # type: ignore[type-arg]  # what was done, in which round, to which column, its set and answers

    def __init__(self, columns: Ints, answers: NewReals2, reliable: NewBytes) -> None:
        n = columns.shape[0]
        self.columns, self.answers, self.reliable = view(columns), view(answers), view(reliable)
        self.inside, self.out = view(np.zeros(n, np.uint8)), view(np.zeros(n, np.uint8))
        self.members, self.at, self.sets, self.steps = view(np.zeros(n, np.int64)), view(np.zeros(n, np.int64)), [], []
        self.waiting = []
        for _ in range(n):
            self.sets.append(())
            self.waiting.append([])
        self.n_members = self.n_at = self.performed = self.round = 0
        self.asked = self.work = 0.0
        self.capped, self.found = False, Weakest(n, 0, min(n, MOST_GIVEN))

    def note(self, action: int64, i: int64) -> None:
        """Record what is done to a candidate."""
        a = self.answers
        self.steps.append((action, self.round, self.columns[i], self.sets[i], a[0, i], a[1, i], a[2, i], a[3, i]))


@inner
def _strongest_left(g: Growing) -> int64:
    """Return the place of the strongest candidate outside the members, -1 if there is none.

    Ties go to the larger statistic, then to the smaller column.
    """
    best: int64 = -1
    for i in range(g.columns.shape[0]):
        if g.out[i] or g.inside[i] or not g.reliable[i]:
            continue
        if best < 0 or is_weaker(g.answers[2, best], g.answers[0, best], g.answers[2, i], g.answers[0, i]):
            best = i
        elif g.answers[2, best] == g.answers[2, i] and g.answers[0, best] == g.answers[0, i]:
            best = i if g.columns[i] < g.columns[best] else best
    return best


@inner
def _deepest(g: Growing, table: Table, formula: Formula, y: int64) -> int64:
    """Return how many of the members, those with the fewest levels, leave enough rows to test some candidate asked."""
    if formula.reliability == 0.0 or g.n_at == 0:
        return g.n_members
    fewest: int64 = table.arities[g.columns[g.at[0]]]
    for k in range(1, g.n_at):
        fewest = min(fewest, table.arities[g.columns[g.at[k]]])
    each: float64 = formula.reliability * (table.arities[y] - 1) * (fewest - 1)  # rows for a stratum
    strata: float64 = 1.0
    size: int64 = 0
    level: int64 = 0
    while size < g.n_members:  # through the members by their levels
        least: int64 = 1 << 62
        same: int64 = 0
        for k in range(g.n_members):
            arity: int64 = table.arities[g.columns[g.members[k]]]
            if level < arity < least:
                least = arity
                same = 0
            same += arity == least
        for _ in range(same):
            strata *= least
            if each * strata > table.n_rows:
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
def _is_out(g: Growing, i: int64, log_alpha: float64) -> bint:
    """Whether a candidate is separated by its weakest evidence, and was not before."""
    return not g.out[i] and g.reliable[i] and g.answers[2, i] > log_alpha


def _ask(
    g: Growing,
    table: Table,
    formula: Formula,
    y: int64,
    newest: bint,
    most_given: int64,
    most_asked: float64,
    patience: int64,
) -> int:
    """Search for the weakest evidence about some candidates; with the ``newest`` member, only sets that contain it.

    Sets without it were tried before, and what was found there stays if it is weaker.
    """
    n: int64 = g.n_at
    m: int64 = g.n_members
    fixed: int64 = 1 if newest else 0
    largest: int64 = min(_deepest(g, table, formula, y), most_given)
    n_tests: float64 = n * _n_sets(m - fixed, largest - fixed)
    g.asked += n_tests
    g.work += n_tests * table.n_rows
    if g.asked > most_asked:
        return ASKED
    found: Weakest = g.found
    if g.work > patience or largest > found.places.shape[1]:
        return LONG
    begin(found, fixed)
    found.postpones = newest and found.waiting.shape[0] > 0
    found.largest = largest
    found.distinct = None  # type: ignore[assignment]
    for k in range(g.columns.shape[0]):
        found.settled[k] = True  # not asked about
    for k in range(n):
        found.settled[g.at[k]] = False
        g.capped = g.capped or m - g.inside[g.at[k]] > most_given
    chosen_from = np.empty(m, np.int64)
    among: NewInts = view(chosen_from)
    for k in range(m):
        among[k] = g.columns[g.members[k]]
    while n > 0 and found.left():
        place: int64 = m - 1 if newest else -1
        more: int64 = separate_columns(table, formula, g.columns, y, among, place, INFINITY, patience, found)
        if more < 0 or found.n_waiting > found.waiting.shape[0]:
            return LONG
        g.performed += more
    for k in range(found.n_waiting):
        waits = [among[found.waiting[k, j]] for j in range(2, found.waiting[k, 1] + 2)]
        g.waiting[found.waiting[k, 0]].append(tuple(waits))
    for k in range(n):
        i: int64 = g.at[k]
        weaker: bint = is_weaker(found.log_p[i], found.statistic[i], g.answers[2, i], g.answers[0, i])
        if newest and not (found.reliable[i] and (not g.reliable[i] or weaker)):
            continue
        g.answers[0, i] = found.statistic[i]
        g.answers[1, i] = found.dof[i]
        g.answers[2, i] = found.log_p[i]
        g.answers[3, i] = found.method[i]
        g.reliable[i] = found.reliable[i]
        g.sets[i] = tuple([among[found.places[i, j]] for j in range(found.size[i])])
    return ENDED


def _draw_for(g: Growing, table: Table, formula: Formula, y: int64, i: int64) -> None:
    """Make the tests of a candidate that wait."""
    for given in g.waiting[i]:
        columns = np.sort(np.array(given, np.int64))
        _, statistic, dof, log_p, method, _ = test_columns(table, formula, np.array([g.columns[i]]), y, columns)
        p: float64 = log_p[0]
        if p != p:
            p = log_tail(statistic[0], dof[0])
        if not g.reliable[i] or is_weaker(p, statistic[0], g.answers[2, i], g.answers[0, i]):
            g.answers[0, i], g.answers[1, i], g.answers[2, i], g.answers[3, i] = statistic[0], dof[0], p, method[0]
            g.reliable[i] = True
            g.sets[i] = given
    g.waiting[i] = []


def _pass_over(g: Growing, table: Table, formula: Formula, y: int64, log_alpha: float64) -> None:
    """Let the candidates go that are separated; the set behind it is the one given which they are weakest."""
    for i in range(g.columns.shape[0]):
        if _is_out(g, i, log_alpha):
            if g.answers[2, i] <= log_alpha + CLEAR:
                _draw_for(g, table, formula, y, i)
            g.note(PASSED, i)
            g.out[i] = True


def _next(g: Growing, table: Table, formula: Formula, y: int64, log_alpha: float64) -> int:
    """Return the place of the candidate that enters next, -1 if there is none; it waits for no draws."""
    best: int64 = _strongest_left(g)
    while best >= 0 and g.waiting[best]:  # they can only make it weaker
        _draw_for(g, table, formula, y, best)
        _pass_over(g, table, formula, y, log_alpha)
        best = _strongest_left(g)
    return best


def _remove(g: Growing, log_alpha: float64) -> bool:
    """Remove the members that are separated from ``y``; set which candidates were tested given one of them."""
    gone = set()
    left: int64 = 0
    for i in range(g.columns.shape[0]):
        if g.inside[i] and _is_out(g, i, log_alpha):
            g.out[i] = True
            g.inside[i] = False
            gone.add(g.columns[i])
            g.note(REMOVED, i)
    if not gone:
        return False
    for k in range(g.n_members):
        if not g.out[g.members[k]]:
            g.members[left] = g.members[k]
            left += 1
    g.n_members = left
    g.n_at = 0
    for i in range(g.columns.shape[0]):
        g.waiting[i] = [given for given in g.waiting[i] if gone.isdisjoint(given)]
        if not g.out[i] and not gone.isdisjoint(g.sets[i]):
            g.waiting[i] = []
            g.at[g.n_at] = i
            g.n_at += 1
    return True


def _enter(g: Growing, best: int64) -> None:
    """Let a candidate enter; set that all others are asked about."""
    g.note(ADMITTED, best)
    g.members[g.n_members] = best
    g.n_members += 1
    g.inside[best] = True
    g.round += 1
    g.n_at = 0
    for i in range(g.columns.shape[0]):
        if not g.out[i] and i != best:
            g.at[g.n_at] = i
            g.n_at += 1


@door
def grow_neighbors(
    table: Table,
    formula: Formula,
    xs: Ints,
    y: int64,
    answers: NewReals2,
    reliable: NewBytes,
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
    g: Growing = Growing(xs, answers, reliable)
    if formula.judges:
        g.found.postpone(MOST_WAITING)
    why: int64 = ENDED
    best: int64 = _strongest_left(g)
    while best >= 0:
        _enter(g, best)
        why = _ask(g, table, formula, y, True, most_given, most_asked, patience)
        if why != ENDED:
            break
        for i in range(n):
            if g.inside[i] or not g.reliable[i]:
                _draw_for(g, table, formula, y, i)
        if _remove(g, log_alpha):
            why = _ask(g, table, formula, y, False, most_given, most_asked, patience)
        if why != ENDED:
            break
        _pass_over(g, table, formula, y, log_alpha)
        best = _next(g, table, formula, y, log_alpha)
    members = [g.columns[g.members[k]] for k in range(g.n_members)]
    untested = [xs[i] for i in range(n) if not g.out[i] and not g.reliable[i]]
    return why, members, g.steps, untested, bool(g.capped), g.asked, g.performed
