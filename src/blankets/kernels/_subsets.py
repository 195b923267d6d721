"""The search for the subset that separates best, for all candidates and all subsets in one call.

Subsets are tried in the order of `blankets.independence.subsets`. The joint codes of a subset are extended from those
of the one before it, as far as the two begin alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from blankets.kernels._answers import Answers, Evidence, copy_answer
from blankets.kernels._formula import Formula, Table
from blankets.kernels._questions import NO_MEMORY, test_each
from blankets.kernels._room import Room, given_back, has_codes, taken
from blankets.kernels._rows import join, known_columns, renumber_row
from blankets.kernels._tail import is_weaker, log_tail
from blankets.kernels._types import *

FEW_TESTS: int64 = 256  # after these it pays to look for the rows that are different
ROWS_ALIKE: int64 = 16  # that a row stands for on average, from which on these are faster


@inner
class Weakest(Evidence):
    """The weakest evidence about each of ``n`` candidates so far, and where the search stands.

    Sets are of places among the columns to choose from.

    Parameters
    ----------
    n : int
    smallest, largest : int
        Sizes of the sets to try.
    """

    n: int64
    settled: NewBytes  # one found independence: no more are wanted
    last: Answers  # of the last tests
    chosen: NewInts  # the next set, as places among the others than the one that is always there
    next: int64  # its size; beyond the largest: there is none
    largest: int64
    looked: bint  # at which rows are different
    few: bint  # few are; then the question about them: their table, xs, y and among
    distinct: tuple  # type: ignore[type-arg]

    def __init__(self, n: int64, smallest: int64, largest: int64) -> None:
        super().__init__(n, largest)
        for i in range(n):
            self.dof[i] = 0.0
        self.settled, self.last = view(np.zeros(n, np.uint8)), Answers(n)
        self.chosen, self.n, self.next, self.largest = view(np.arange(largest)), n, smallest, largest
        self.looked = self.few = False
        self.distinct = ()

    def evidence(self) -> tuple[NDArray[Any], ...]:
        """Return what `as_arrays` does, sizes of the sets behind it, and these sets as places."""
        return *self.as_arrays(), *self.sets

    def left(self) -> bool:
        """Tell whether there are more sets to try."""
        return self.next <= self.largest


@inner
def insert(columns: NewInts, n: int64, x: int64) -> void:
    """Insert a column where it belongs among the first ``n``, which are in ascending order."""
    at: int64 = n
    while at > 0 and columns[at - 1] > x:
        columns[at] = columns[at - 1]
        at -= 1
    columns[at] = x


@inner
def _set_given(among: Ints, fixed: int64, chosen: Ints, size: int64, places: NewInts, given: NewInts) -> void:
    """Set the places of a subset, ascending, and its columns, ascending too."""
    n: int64 = 0
    n_chosen: int64 = size - 1 if fixed >= 0 else size
    inserted: bint = fixed < 0
    for k in range(n_chosen):
        place: int64 = chosen[k] + 1 if 0 <= fixed <= chosen[k] else chosen[k]
        if not inserted and place > fixed:
            places[n] = fixed
            inserted = True
            n += 1
        places[n] = place
        n += 1
    if not inserted:
        places[n] = fixed
    for k in range(size):
        insert(given, k, among[places[k]])


@inner
def _weaken(weakest: Weakest, i: int64, size: int64, places: Ints, judges: bint, log_alpha: float64) -> void:
    """Keep the last test of candidate ``i`` if it is its weakest."""
    statistic: float64 = weakest.last.statistic[i]
    dof: float64 = weakest.last.dof[i]
    known: bint = weakest.reliable[i]
    if known and not judges and 0.0 < dof <= weakest.dof[i] and statistic >= weakest.statistic[i]:
        return  # stronger, or as strong, without a look at its p-value
    log_p: float64 = weakest.last.log_p[i]
    if not judges or log_p != log_p:
        log_p = log_tail(statistic, dof)
    if known and not is_weaker(log_p, statistic, weakest.log_p[i], weakest.statistic[i]):
        return
    copy_answer(weakest.last, i, weakest, i)
    weakest.log_p[i] = log_p
    weakest.settled[i] = log_p > log_alpha
    weakest.size[i] = size
    for k in range(size):
        weakest.places[i, k] = places[k]


@inner
def _next_combination(chosen: NewInts, size: int64, n: int64) -> bint:
    """Move on to the next combination of places below ``n`` in lexicographic order; tell whether there was one."""
    k: int64 = size - 1
    while k >= 0 and chosen[k] == n - size + k:
        k -= 1
    if k < 0:
        return False
    chosen[k] += 1
    for j in range(k + 1, size):
        chosen[j] = chosen[j - 1] + 1
    return True


@inner
def _move_on(weakest: Weakest, n_fixed: int64, n_rest: int64) -> void:
    """Go to the next subset, or to none if all candidates are settled."""
    n_open: int64 = 0
    for i in range(weakest.n):
        n_open += not weakest.settled[i]
    if n_open == 0:
        weakest.next = weakest.largest + 1
    elif not _next_combination(weakest.chosen, weakest.next - n_fixed, n_rest):
        weakest.next += 1
        for k in range(min(weakest.next - n_fixed, weakest.chosen.shape[0])):
            weakest.chosen[k] = k


@inner
def separate_by(
    table: Table,
    formula: Formula,
    xs: Ints,
    y: int64,
    among: Ints,
    fixed: int64,
    log_alpha: float64,
    patience: int64,
    room: Room,
    weakest: Weakest,
) -> int64:
    """Do what `separate_columns` says, without Python's lock."""
    n_fixed: int64 = 1 if fixed >= 0 else 0
    performed: int64 = 0
    while weakest.next <= weakest.largest and performed * table.n_rows < patience:
        size: int64 = weakest.next
        _set_given(among, fixed, weakest.chosen, size, room.places, room.given)
        for i in range(xs.shape[0]):
            room.skip[i] = weakest.settled[i]
            for k in range(size):
                if room.given[k] == xs[i]:
                    room.skip[i] = True
        n: int64 = test_each(table, formula, xs, y, room.given, size, room, weakest.last)
        if n < 0:
            return n
        performed += n
        for i in range(xs.shape[0]):
            if weakest.last.reliable[i]:
                _weaken(weakest, i, size, room.places, formula.judges, log_alpha)
        _move_on(weakest, n_fixed, among.shape[0] - n_fixed)
    return performed


@inner
def _number_rows(table: Table, columns: Ints, room: Room) -> int64:
    """Number the rows that differ in some of the columns, in ``room.cells``; return how many there are, 0 if many."""
    n: int64 = 1
    for r in range(table.n_rows):
        room.cells[0, r] = 0
    for k in range(columns.shape[0]):
        arity: int64 = table.arities[columns[k]]
        join(room.cells, 0, arity, table.codes, columns[k], 1, n * arity, room.cells, 0)
        if not has_codes(room, n * arity):
            return NO_MEMORY
        n = renumber_row(room.cells, 0, table.n_rows, n * arity, room.new)
        if n * ROWS_ALIKE > table.n_rows:
            return 0
    return n


@inner
class Few:
    """The rows of a table that differ in some columns, as a table of these, to be filled in.

    Parameters
    ----------
    table : Table
        The whole one.
    n_columns, n : int
        How many columns and rows.
    """

    table: Table
    codes: NewBytes2
    arities: NewInts
    weights: NewCounts

    def __init__(self, table: Table, n_columns: int64, n: int64) -> None:
        codes, arities, weights = np.zeros((n_columns, n), np.uint8), np.ones(n_columns, np.int64), np.ones(n, np.int32)
        planes, first = np.empty((1, 0, 1), np.uint64), np.full(n_columns, -1, np.int64)
        totals, n_rows = np.empty(0, np.int32), table.n_rows
        self.table = Table(codes, arities, planes, totals, first, n_rows, 0, 1, None, weights)
        self.codes, self.arities, self.weights = view(codes), view(arities), view(weights)


def _fewer(table: Table, xs: Ints, y: int64, among: Ints, room: Room, settled: Bytes) -> Any:
    """Return the question about the rows that differ in its columns: their table, xs, y and among; () if many do.

    Candidates that are settled are asked no more, whatever their columns are there.
    """
    open_ones = np.asarray(xs)[np.asarray(settled)[: len(xs)] == 0]
    columns = np.unique(
        np.concatenate([open_ones, among, [y]])
    )  # ascending, as the order of strata follows from theirs
    n: int64 = 0 if table.holey else _number_rows(table, columns, room)
    if n == NO_MEMORY:
        raise MemoryError
    if n == 0:
        return ()
    numbers, one_of = np.asarray(room.cells)[0, : table.n_rows], np.empty(n, np.int64)
    one_of[numbers] = np.arange(table.n_rows)
    few = Few(table, len(columns), n)
    np.asarray(few.codes)[:] = np.asarray(table.codes)[np.ix_(columns, one_of)]
    np.asarray(few.weights)[:] = np.bincount(numbers)
    np.asarray(few.arities)[:] = np.asarray(table.arities)[columns]
    some, others = np.searchsorted(columns, xs), np.searchsorted(columns, among)
    some = np.minimum(some, len(columns) - 1)
    return few.table, view(some), int(np.searchsorted(columns, y)), view(others)


@door
def separate_columns(
    table: Table,
    formula: Formula,
    xs: Ints,
    y: int64,
    among: Ints,
    fixed: int64,
    log_alpha: float64,
    patience: int64,
    weakest: Weakest,
) -> int:
    """Test each of ``xs`` against ``y`` given subsets of ``among`` and keep its weakest evidence.

    Subsets come smallest first, in the order of ``among``; only those with the place ``fixed`` if that is not -1. A
    candidate with a p-value above exp(log_alpha) is settled. After ``patience`` rows x tests it comes back, so that an
    interrupt is heard; a further call continues. Returns the number of tests performed, -1 if tables are too large for
    this.
    """
    n: int64 = xs.shape[0]
    n_columns: int64 = table.arities.shape[0]
    if table.codes.shape[0] != n_columns or not known_columns(xs, n_columns) or not known_columns(among, n_columns):
        raise IndexError("no such column")
    if not 0 <= y < n_columns or not -1 <= fixed < among.shape[0]:
        raise IndexError("no such column")
    if weakest.n != n or weakest.largest > among.shape[0] or weakest.next < (fixed >= 0):
        raise ValueError("the evidence is about other candidates")
    room: Room = taken(formula, table, n, weakest.largest)
    performed: int64 = 0
    more: int64 = 0
    if not weakest.few:
        most: int64 = patience if weakest.looked else min(patience, FEW_TESTS * table.n_rows)
        with nogil:
            performed = separate_by(table, formula, xs, y, among, fixed, log_alpha, most, room, weakest)
    if performed >= 0 and not weakest.looked and weakest.next <= weakest.largest:
        weakest.distinct = _fewer(table, xs, y, among, room, weakest.settled)
        weakest.looked, weakest.few = True, len(weakest.distinct) > 0
    if performed >= 0 and weakest.few and weakest.next <= weakest.largest:
        small: Table = weakest.distinct[0]
        some: Ints = weakest.distinct[1]
        target: int64 = weakest.distinct[2]
        others: Ints = weakest.distinct[3]
        room.fit(small, n, weakest.largest)
        with nogil:
            more = separate_by(small, formula, some, target, others, fixed, log_alpha, patience, room, weakest)
        performed = performed + more if more >= 0 else more
    if performed == NO_MEMORY:
        raise MemoryError
    given_back(formula, room)
    return performed
