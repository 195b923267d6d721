"""The neighbors of a column by a max-min search over subsets, in one call.

This is what `blankets.search.pcmb.pcd` does after its first scan, step by step in the same order. Tests whose p-value
would be drawn wait if they find the candidate dependent by moments. Most candidates are separated later by a clear
test; if not, the draws are made before the candidate enters, and at once for members. So members are the same; the set
that separates a candidate may be another one, where a draw would have separated it first.
"""

from __future__ import annotations

from typing import Any

from blankets.kernels._answers import Evidence, copy_evidence
from blankets.kernels._formula import Formula, Table
from blankets.kernels._growing import ENDED, Growing, ask_about, draw_for
from blankets.kernels._questions import NO_MEMORY
from blankets.kernels._room import Room, given_back, taken
from blankets.kernels._rows import known_columns
from blankets.kernels._subsets import raise_what
from blankets.kernels._tail import is_weaker
from blankets.kernels._types import *

CLEAR: float64 = 2.302585092994046  # so far above the level, in log p, tests that wait do not separate better
# What was done to a column.
PASSED: int64 = 0
ADMITTED: int64 = 1
REMOVED: int64 = 2
GONE: int64 = 1  # a member that the last step removed
AGAIN: int64 = 2  # a candidate that is asked about again


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
        if g.out[i] or g.inside[i] or not g.answers.reliable[i]:
            continue
        if best < 0 or is_weaker(
            g.answers.log_p[best], g.answers.statistic[best], g.answers.log_p[i], g.answers.statistic[i]
        ):
            best = i
        elif g.answers.log_p[best] == g.answers.log_p[i] and g.answers.statistic[best] == g.answers.statistic[i]:
            best = i if g.columns[i] < g.columns[best] else best
    return best


@inner
def _is_out(g: Growing, i: int64) -> bint:
    """Whether a candidate is separated by its weakest evidence, and was not before."""
    return not g.out[i] and g.answers.reliable[i] and g.answers.log_p[i] > g.log_alpha


@inner
def _pass_over(g: Growing) -> int64:
    """Let the candidates go that are separated; the set behind it is the one given which they are weakest."""
    for i in range(g.n):
        if _is_out(g, i):
            if g.answers.log_p[i] <= g.log_alpha + CLEAR and draw_for(g, i) < 0:
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
        if not g.out[i] and _has_gone(g, g.answers.places, i, 0, g.answers.size[i]):
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
    copy_evidence(g.answers, best, g.at_entry, best)
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
        g.answers.size[i] = 0
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
        why: int64 = ask_about(g, True)
        for i in range(g.n if why == ENDED else 0):
            if (g.inside[i] or not g.answers.reliable[i]) and draw_for(g, i) < 0:
                return NO_MEMORY
        if why == ENDED and _remove(g):
            why = ask_about(g, False)
        if why == ENDED:
            why = _pass_over(g)
        if why != ENDED:
            return why
        best = _strongest_left(g)
        while best >= 0 and _waits(g, best):  # draws can only make it weaker
            if draw_for(g, best) < 0 or _pass_over(g) < 0:
                return NO_MEMORY
            best = _strongest_left(g)
    return ENDED


def _steps_of(g: Growing) -> list[Any]:
    """Return what was done, in which round, to which column, its set and answers."""
    told: list[Any] = []
    for k in range(g.n_steps):
        action: int64 = g.steps[k, 0]
        i: int64 = g.steps[k, 2]
        a: Evidence = g.at_entry if action == ADMITTED else g.answers
        given = tuple([g.columns[a.places[i, j]] for j in range(a.size[i])])
        answer_of = a.statistic[i], a.dof[i], a.log_p[i], a.method[i]
        told.append((action, g.steps[k, 1], g.columns[i], given, *answer_of))
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
            g.answers.statistic[i] = answers[0, i]
            g.answers.dof[i] = answers[1, i]
            g.answers.log_p[i] = answers[2, i]
            g.answers.method[i] = answers[3, i]
            g.answers.reliable[i] = reliable[i]
        begin_growing(g, n, y, most_given, most_asked)
        why = grow(g)
    given_back(formula, room)
    raise_what(why, g.found)
    members = [g.columns[g.members[k]] for k in range(g.n_members)]
    untested = [xs[i] for i in range(n) if not g.out[i] and not g.answers.reliable[i]]
    return why, members, _steps_of(g), untested, bool(g.capped), g.asked, g.performed
