"""The members of a blanket through small sets, in one call: neighbors, the neighbors of these, and spouses.

This is the first view of `blankets.search.two_view`, step by step in the same order, for who wants its members alone:
in the search for the neighbors of another column, a candidate is done with when some set separates it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from blankets.kernels._answers import Answers, copy_answer
from blankets.kernels._formula import Formula, Table
from blankets.kernels._growing import ASKED, ENDED, LONG, Growing
from blankets.kernels._neighbors import begin_growing, grow
from blankets.kernels._questions import NO_MEMORY, TOO_LARGE, test_each
from blankets.kernels._room import Room, given_back, has_depth, taken
from blankets.kernels._rows import known_columns
from blankets.kernels._subsets import insert, raise_what
from blankets.kernels._tail import log_tail
from blankets.kernels._types import *

# What is known of a column in the search for the neighbors of another: a set separates it, or it may be a neighbor.
APART: int64 = 0
PERHAPS: int64 = 1


@inner
class FirstView:
    """The limits of a first view, and what is known so far. Columns are numbered by their places among those used.

    Parameters
    ----------
    growing : Growing
        Where neighbors are searched for.
    columns : ndarray of int64
        The target and the candidates, in ascending order.
    target : int
    in_all, most : float
        Tests after which no neighborhood is searched for any more, and those of one neighborhood.
    capped : int
        Largest set where all of them are too many; of a member that is kept, given so many others there are rows to
        test it.
    """

    growing: Growing
    n: int64
    columns: Ints
    target: int64
    in_all: float64
    most: float64
    capped: int64
    asked: float64
    performed: int64
    # The neighbors of each column that enough rows support, one column after the other: where they begin (-1: nobody
    # has searched for them), and how many they are.
    neighbors: NewInts
    n_neighbors: int64
    first: NewInts
    count: NewInts
    state: NewInts  # what the latest search knows of each column, and the set that separates it
    size: NewInts
    sets: NewInts2
    own_state: NewInts  # the same of the target's neighborhood
    own_size: NewInts
    own_sets: NewInts2
    asks: NewInts  # columns of a question, their places, and answers
    places: NewInts
    answers: Answers
    tied: NewInts
    open: NewBytes  # neighbors of a neighbor that are to be asked about
    members: NewInts
    n_members: int64
    given: NewInts

    def __init__(
        self, growing: Growing, columns: Ints, target: int64, in_all: float64, most: float64, capped: int64
    ) -> None:
        n = columns.shape[0]
        self.growing, self.n, self.columns, self.target = growing, n, view(columns), target
        self.in_all, self.most, self.capped = in_all, most, capped
        ints, self.answers, self.open = np.zeros((11, n + 1), np.int64), Answers(n), view(np.zeros(n, np.uint8))
        self.first, self.count, self.state, self.size = (view(ints[k]) for k in range(4))
        self.own_state, self.own_size, self.asks, self.places = (view(ints[k]) for k in range(4, 8))
        self.members, self.given, self.tied = (view(ints[k]) for k in range(8, 11))
        sets, ints[0] = np.zeros((2, n, self.growing.answers.places.shape[1]), np.int64), -1
        self.sets, self.own_sets = view(sets[0]), view(sets[1])
        self.neighbors, self.n_neighbors, self.n_members = view(np.zeros(n, np.int64)), 0, 0
        self.asked, self.performed = 0.0, 0

    def more_neighbors(self) -> None:
        """Make room for twice as many."""
        old = np.asarray(self.neighbors)
        self.neighbors = view(np.concatenate([old, old]))


@inner
def _may_have(v: FirstView, n: int64) -> bint:
    """Make room for ``n`` neighbors more; tell whether there is memory enough."""
    while v.neighbors.shape[0] < v.n_neighbors + n:
        with gil:
            try:
                v.more_neighbors()
            except MemoryError:
                return False
    return True


@inner
def _has_rows(v: FirstView, x: int64, y: int64, n: int64) -> bint:
    """Tell whether there are rows to test ``x`` given others of the first ``n`` in ``asks``, with the fewest levels."""
    arities: Ints = v.growing.table.arities
    each: float64 = v.growing.formula.reliability * (arities[y] - 1) * (arities[x] - 1)  # rows for a stratum
    strata: float64 = 1.0
    last: int64 = -1
    fewest: int64 = 0
    for _ in range(v.capped):
        best: int64 = -1
        for k in range(n):
            arity: int64 = arities[v.asks[k]]
            if v.asks[k] != x and (arity > fewest or (arity == fewest and k > last)):
                best = k if best < 0 or arity < arities[v.asks[best]] else best
        if best < 0:
            break
        last = best
        fewest = arities[v.asks[best]]
        strata *= fewest
    return not each * strata > v.growing.table.n_rows


@inner
def _answer(v: FirstView, n: int64, y: int64, n_given: int64) -> int64:
    """Test the first ``n`` of ``asks`` against ``y``, given the first columns in ``given``; log p-values, too."""
    for i in range(n):
        v.growing.room.skip[i] = False
    found: int64 = test_each(
        v.growing.table, v.growing.formula, v.asks[:n], y, v.given, n_given, v.growing.room, v.answers
    )
    if found < 0:
        return NO_MEMORY if found == NO_MEMORY else LONG
    v.performed += found
    for i in range(n):
        v.answers.log_p[i] = log_tail(v.answers.statistic[i], v.answers.dof[i])
    return ENDED


@inner
def _grown(v: FirstView, p: int64, capped: bint) -> int64:
    """Search for the neighbors of the column at a place; return why that came back."""
    n: int64 = 0
    m: int64 = 0
    for q in range(v.n):
        if q != p:
            v.asks[n] = v.columns[q]
            n += 1
    if n > v.most:
        return ASKED
    why: int64 = _answer(v, n, v.columns[p], 0)
    if why != ENDED:
        return why
    for i in range(n):
        if not (v.answers.reliable[i] and v.answers.log_p[i] > v.growing.log_alpha):
            v.places[m] = i + (i >= p)
            v.growing.columns[m] = v.asks[i]
            copy_answer(v.answers, i, v.growing.answers, m)
            m += 1
    begin_growing(v.growing, m, v.columns[p], v.capped if capped else m, v.most - n)
    v.growing.only = v.columns[v.target] if p != v.target else -1
    why = grow(v.growing)
    v.performed += v.growing.performed
    v.asked += n + v.growing.asked if why == ENDED else 0.0
    return why


@inner
def _keep(v: FirstView, p: int64) -> int64:
    """Keep what a search for neighbors found."""
    for q in range(v.n):
        v.state[q] = APART
        v.size[q] = 0
    for i in range(v.growing.n):
        place: int64 = v.places[i]
        if not v.growing.out[i]:
            v.state[place] = PERHAPS
            continue
        v.size[place] = v.growing.answers.size[i]
        for j in range(v.growing.answers.size[i]):
            v.sets[place, j] = v.growing.columns[v.growing.answers.places[i, j]]
    n: int64 = v.growing.n_members
    for k in range(n):
        v.asks[k] = v.growing.columns[v.growing.members[k]]
    if not _may_have(v, n):
        return NO_MEMORY
    for k in range(n):
        if _has_rows(v, v.asks[k], v.columns[p], n):
            v.neighbors[v.n_neighbors] = v.places[v.growing.members[k]]
            v.n_neighbors += 1
    v.count[p] = v.n_neighbors - v.first[p]
    return ENDED


@inner
def _look(v: FirstView, p: int64) -> int64:
    """Search for the neighbors of a column within the limits, once; beyond them nothing is known of it."""
    if v.first[p] >= 0:
        return ENDED
    v.first[p] = v.n_neighbors
    for attempt in range(2 if v.asked <= v.in_all else 0):
        why: int64 = _grown(v, p, attempt > 0)
        if why == ENDED:
            return _keep(v, p)
        if why != ASKED:
            return why
        v.asked += v.most
    for q in range(v.n):
        v.state[q] = PERHAPS
    return ENDED


@inner
def _are_neighbors(v: FirstView, x: int64, y: int64) -> bint:
    """Tell whether ``y`` is among the neighbors of ``x``."""
    for k in range(v.first[x], v.first[x] + v.count[x]):
        if v.neighbors[k] == y:
            return True
    return False


@inner
def _put_own(v: FirstView, x: int64, q: int64) -> void:
    """Keep what the latest search knows of one column as what the target's knows of another."""
    v.own_state[x] = v.state[q]
    v.own_size[x] = v.size[q]
    for j in range(v.size[q]):
        v.own_sets[x, j] = v.sets[q, j]


@inner
def _put_mutual(v: FirstView) -> int64:
    """Put the neighbors of the target of which it is a neighbor."""
    why: int64 = _look(v, v.target)
    for q in range(v.n):
        _put_own(v, q, q)
    for k in range(v.count[v.target]):
        x: int64 = v.neighbors[v.first[v.target] + k]
        if why == ENDED:
            why = _look(v, x)
        if why != ENDED:
            break
        if _are_neighbors(v, x, v.target):
            v.members[v.n_members] = x
            v.n_members += 1
        elif v.state[v.target] == APART:
            _put_own(v, x, v.target)
    return why


@inner
def _may_be_spouse(v: FirstView, x: int64, y: int64) -> bint:
    """Whether the target and ``x`` are separated, not given their common neighbor ``y``, and ``x`` is no member yet."""
    if x == v.target or v.own_state[x] != APART:
        return False
    for k in range(v.n_members):
        if v.members[k] == x:
            return False
    for j in range(v.own_size[x]):
        if v.own_sets[x, j] == v.columns[y]:
            return False
    return True


@inner
def _same_set(v: FirstView, x: int64, z: int64) -> bint:
    """Whether the same columns in the same order separate two columns from the target."""
    if v.own_size[x] != v.own_size[z]:
        return False
    for j in range(v.own_size[x]):
        if v.own_sets[x, j] != v.own_sets[z, j]:
            return False
    return True


@inner
def _put_tied(v: FirstView, x: int64, y: int64, n: int64) -> int64:
    """Leave, of ``n`` columns in ``places``, those that depend on the target given what separates x, and ``y``.

    Return how many these are, or why that is not known, below 0.
    """
    size: int64 = v.own_size[x] + 1
    for k in range(size):
        insert(v.given, k, v.own_sets[x, k] if k < size - 1 else v.columns[y])
    for k in range(n):
        v.asks[k] = v.columns[v.places[k]]
    if not has_depth(v.growing.room, v.growing.table, v.n, size):
        return NO_MEMORY
    why: int64 = _answer(v, n, v.columns[v.target], size)
    if why != ENDED:
        return why if why < 0 else TOO_LARGE
    left: int64 = 0
    for k in range(n):
        if v.answers.reliable[k] and v.answers.log_p[k] <= v.growing.log_alpha:
            v.places[left] = v.places[k]
            left += 1
    return left


@inner
def _put_spouses(v: FirstView) -> int64:
    """Put the neighbors of neighbors that depend on the target given the neighbor that they share."""
    n_own: int64 = v.n_members
    for k in range(n_own):
        y: int64 = v.members[k]
        for a in range(v.count[y]):
            v.open[a] = _may_be_spouse(v, v.neighbors[v.first[y] + a], y)
        for a in range(v.count[y]):
            x: int64 = v.neighbors[v.first[y] + a]
            n: int64 = 0
            for b in range(a, v.count[y] if v.open[a] else a):
                z: int64 = v.neighbors[v.first[y] + b]
                if v.open[b] and _same_set(v, x, z):
                    v.places[n] = z
                    v.open[b] = False
                    n += 1
            n = _put_tied(v, x, y, n) if n > 0 else 0
            if n < 0:
                return n if n != TOO_LARGE else LONG
            for i in range(n):
                v.tied[i] = v.places[i]
            for i in range(n):
                why: int64 = _look(v, v.tied[i])
                if why != ENDED:
                    return why
                if _are_neighbors(v, v.tied[i], y):
                    v.members[v.n_members] = v.tied[i]
                    v.n_members += 1
    return ENDED


@door
def first_view(
    table: Table,
    formula: Formula,
    target: int64,
    columns: Ints,
    log_alpha: float64,
    in_all: float64,
    most: float64,
    capped: int64,
    patience: int64,
) -> tuple[int, Any, int]:
    """Return the members of the blanket of ``target`` among ``columns``, ascending numbers of which it is one.

    Returns why it came back (`ENDED`, or `LONG`: nothing else counts), members, and how many tests were performed.
    """
    n: int64 = columns.shape[0]
    n_columns: int64 = table.arities.shape[0]
    place: int64 = 0
    while place < n and columns[place] != target:
        place += 1
    if table.codes.shape[0] != n_columns or not known_columns(columns, n_columns) or place == n:
        raise IndexError("no such column")
    room: Room = taken(formula, table, n, 1)
    growing: Growing = Growing(table, formula, room, n, log_alpha, patience)
    v: FirstView = FirstView(growing, columns, place, in_all, most, capped)
    why: int64 = ENDED
    with nogil:
        why = _put_mutual(v)
        if why == ENDED:
            why = _put_spouses(v)
        for k in range(v.n_members):
            v.asks[k] = v.columns[v.members[k]]
    given_back(formula, room)
    raise_what(why, growing.found)
    found = [v.asks[k] for k in range(v.n_members)]
    return why, [x for x in found if _has_rows(v, x, target, len(found))], v.performed
