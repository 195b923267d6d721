"""Columns that a search need not take in: they separate no member, and members separate them."""

from __future__ import annotations

import numpy as np

from blankets.kernels._answers import copy_evidence
from blankets.kernels._formula import Formula, Table
from blankets.kernels._room import Room, given_back, taken
from blankets.kernels._rows import known_columns
from blankets.kernels._subsets import ROWS_ALIKE, Few, Weakest, begin, distinct_rows, separate_by
from blankets.kernels._types import *


@inner
def _put_x(table: Table, x: int64, place: int64, columns: Ints, codes: Bytes2, numbers: Codes2, few: Few) -> void:
    """Fill in the rows that differ in some columns or in ``x``, which comes at a place among them."""
    arity: int64 = table.arities[x]
    for u in range(few.weights.shape[0]):
        few.weights[u] = 0
    for r in range(table.n_rows):
        few.weights[numbers[0, r] * arity + min(table.codes[x, r], arity - 1)] += 1
    for k in range(few.codes.shape[0]):
        few.arities[k] = arity if k == place else table.arities[columns[k - (k > place)]]
        for u in range(codes.shape[1]):
            for level in range(arity):
                few.codes[k, u * arity + level] = level if k == place else codes[k - (k > place), u]


@inner
def _is_turned_away(
    table: Table,
    formula: Formula,
    columns: Ints,
    log_alpha: float64,
    patience: int64,
    room: Room,
    own: Weakest,
    others: Weakest,
) -> int64:
    """Return the number of tests that it took to see that `turn_away` may go on, -1 if it may not.

    The columns are the members, x and y.
    """
    m: int64 = columns.shape[0] - 2
    y: int64 = columns[m + 1]
    room.depth = 0
    begin(others, 1)
    n: int64 = separate_by(table, formula, columns[:m], y, columns[: m + 1], m, log_alpha, patience, room, others)
    if n < 0 or others.next <= others.largest:
        return -1
    for i in range(m):
        if others.settled[i]:
            return -1
    begin(own, 0)
    more: int64 = separate_by(table, formula, columns[m : m + 1], y, columns[:m], -1, log_alpha, patience, room, own)
    return n + more if more >= 0 and own.settled[0] else -1


@door
def turn_away(
    table: Table,
    formula: Formula,
    xs: Ints,
    y: int64,
    members: Ints,
    largest: int64,
    log_alpha: float64,
    patience: int64,
    found: Weakest,
) -> tuple[int, int]:
    """Return how many of ``xs``, one after the other, leave the members as they are, and the number of tests.

    Such an x separates no member from ``y``, by a set of it and other members, and some members separate it: with a
    p-value above exp(log_alpha). No set is larger than ``largest``. The evidence that separates each is put into
    ``found``. There are none if most rows differ in the members.
    """
    n: int64 = xs.shape[0]
    m: int64 = members.shape[0]
    n_columns: int64 = table.arities.shape[0]
    if table.codes.shape[0] != n_columns or not known_columns(xs, n_columns) or not known_columns(members, n_columns):
        raise IndexError("no such column")
    if not 0 <= y < n_columns:
        raise IndexError("no such column")
    if found.statistic.shape[0] != n or found.places.shape[1] < min(largest, m):
        raise ValueError("the evidence is about other candidates")
    room: Room = taken(formula, table, m + 1, largest + 1)
    known = np.unique(np.concatenate([members, [y]]))
    alike = distinct_rows(table, known, room)
    done: int64 = 0
    performed: int64 = 0
    if alike is not None:
        columns: Ints = view(known)
        codes: Bytes2 = view(alike[0])
        numbers: Codes2 = view(alike[1])
        place: Ints = view(np.searchsorted(known, xs))  # of each x among the others
        old: Ints = view(np.searchsorted(known, np.concatenate([members, xs[:1], [y]])))
        new: NewInts = view(np.empty(m + 2, np.int64))  # places of the members, of x and of y
        own: Weakest = Weakest(1, 0, min(largest, m))
        others: Weakest = Weakest(m, 1, min(largest, m + 1))
        tables: dict[int, Few] = {}
        more: int64 = 0
        while more >= 0 and done < n and performed * table.n_rows < patience:
            arity = table.arities[xs[done]]
            if codes.shape[1] * arity * ROWS_ALIKE > 2 * table.n_rows:
                break
            if arity not in tables:
                tables[arity] = Few(table, m + 2, codes.shape[1] * arity)
            few: Few = tables[arity]
            if room.owner is not few.table.mark:
                room.fit(few.table, m + 1, largest + 1)
            with nogil:
                _put_x(table, xs[done], place[done], columns, codes, numbers, few)
                for k in range(m + 2):
                    new[k] = old[k] + (old[k] >= place[done])
                new[m] = place[done]
                more = _is_turned_away(few.table, formula, new, log_alpha, patience, room, own, others)
            if more >= 0:
                copy_evidence(own, 0, found, done)
                performed += more
                done += 1
    given_back(formula, room)
    return done, performed
