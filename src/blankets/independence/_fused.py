"""Whole questions about a dense table, each in one compiled call: from codes to statistics.

Sums are taken in the same order as elsewhere, so that the numbers are the same to the last bit. Columns that are
conditioned on come in ascending order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from blankets.counting import (
    DenseTable,
    Strata,
    by_bits,
    count_bits,
    count_four,
    count_one,
    extend_strata,
    joint_counts,
)
from blankets.stats import fill_statistics, strata_of_table

__all__ = ["Formula", "drop_each", "free_without_x", "test_columns"]

_BLOCK = 1 << 13  # counts of candidates that are counted by bits together: 32 KiB, as large as a first-level cache
_TOGETHER = 4  # candidates that are counted by codes together
_JOINT_COUNTS = 1 << 14  # a joint table of this size is counted whole; then each member's table is a view of it
_ROWS_A_COUNT = 16  # or of one count for so many rows
_MOST_COUNTS = 1 << 20  # of one table; larger ones are left to the counter

Answers = tuple[int, NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]


class Formula(NamedTuple):
    """How tables are tested.

    Attributes
    ----------
    terms : ndarray of int64
        n ln n (see `blankets.stats.entropy_terms`).
    reliability : float
        Rows for each nominal degree of freedom from which a test is performed.
    want_x2 : bool
        X² instead of G.
    nominal : bool
        Nominal degrees of freedom for p-values.
    """

    terms: NDArray[np.int64]
    reliability: float
    want_x2: bool
    nominal: bool


@njit(nogil=True, cache=True)
def test_columns(
    table: DenseTable,
    formula: Formula,
    xs: NDArray[np.int64],
    skip: NDArray[np.bool_],
    y: int,
    given: NDArray[np.int64],
    strata: Strata,
) -> Answers:
    """Test each of ``xs`` that is not to be skipped against ``y`` given a set.

    Returns the number of tests performed (-1: tables are too large for this), the statistics, the degrees of freedom
    and which tests were performed. ``strata`` are those of any other set, from which these are extended.
    """
    n = len(xs)
    statistic, dof, reliable = np.empty(n), np.empty(n), np.empty(n, np.bool_)
    at, n_bits = _in_order(table, formula, xs, skip, y, given, statistic, dof, reliable)
    n_y, some, free, done, width = table.arities[y], np.empty(len(at)), np.empty(len(at)), 0, 0
    cells, n_cells, tables = np.empty(0, np.uint32), by_bits(table, y, given), np.empty((1, 1), np.int32)
    shared = strata_of_table(tables[0], (width, n_y, done), formula.terms)  # those of no rows
    while done < len(at):
        if done == n_bits:
            if not extend_strata(table, given, strata):
                return -1, statistic, dof, reliable
            n_cells = n_y * strata.n_codes[strata.depth[0]]
            cells = _cells(table, y, strata)
        n, width = _block(table, xs, at, done, n_bits, n_cells)
        if n_cells * width > _MOST_COUNTS:
            return -1, statistic, dof, reliable
        most = n if done < n_bits else _TOGETHER
        if tables.shape != (most, n_cells * width):
            tables = np.empty((most, n_cells * width), np.int32)
        if done < n_bits:
            _count_by_bits(table, xs, at[done : done + n], y, given, tables)
        elif n == 1:
            count_one(table.codes[xs[at[done]]], cells, n_cells, tables)
        else:
            four = (xs[at[done]], xs[at[done + 1]], xs[at[done + 2]], xs[at[done + 3]])
            count_four(table.codes, four, cells, n_cells, tables)
        shape = (width, n_y, n_cells // n_y)
        if done in (0, n_bits):
            shared = strata_of_table(tables[0], shape, formula.terms)
        fill_statistics(tables[:n], shape, formula.terms, shared, formula.want_x2, some, free)
        for k in range(n):
            i = at[done + k]
            statistic[i], dof[i] = some[k], dof[i] if formula.nominal else free[k]
        done += n
    return len(at), statistic, dof, reliable


@njit(nogil=True, cache=True)
def _cells(table: DenseTable, y: int, strata: Strata) -> NDArray[np.uint32]:
    """Return the cell of each row: its level of ``y`` and its stratum."""
    codes, n_codes = strata.codes[strata.depth[0]], np.uint32(strata.n_codes[strata.depth[0]])
    column, cells = table.codes[y], np.empty(table.codes.shape[1], np.uint32)
    for r in range(len(cells)):
        cells[r] = codes[r] + n_codes * np.uint32(column[r])
    return cells


@njit(nogil=True, cache=True)
def _block(
    table: DenseTable, xs: NDArray[np.int64], at: NDArray[np.int64], done: int, n_bits: int, n_cells: int
) -> tuple[int, int]:
    """Return how many candidates are counted next, and the levels of the widest."""
    if done < n_bits:
        n = min(max(1, _BLOCK // (n_cells * table.arities[xs[at[n_bits - 1]]])), n_bits - done)
    else:
        n = _TOGETHER if len(at) - done >= _TOGETHER else 1
    return n, table.arities[xs[at[done + n - 1]]]


@njit(nogil=True, cache=True)
def _in_order(
    table: DenseTable,
    formula: Formula,
    xs: NDArray[np.int64],
    skip: NDArray[np.bool_],
    y: int,
    given: NDArray[np.int64],
    statistic: NDArray[np.float64],
    dof: NDArray[np.float64],
    reliable: NDArray[np.bool_],
) -> tuple[NDArray[np.int64], int]:
    """Return the places of the candidates that can be tested, and how many of them, the first ones, by bits.

    Those of like arity come together, since the widest one sets the size of the tables. Answers are filled in as if no
    test were performed, but nominal degrees of freedom where one will be.
    """
    free, n_cells = free_without_x(table, y, given), by_bits(table, y, given)
    start, n, n_bits = np.zeros(515, np.int64), 0, 0  # codes of a byte have at most 256 levels
    kind = np.empty(len(xs), np.int64)
    for i in range(len(xs)):
        arity = table.arities[xs[i]]
        reliable[i] = not skip[i] and table.codes.shape[1] >= formula.reliability * ((arity - 1) * free)
        statistic[i], dof[i] = np.nan, (arity - 1) * free if reliable[i] else 0.0
        bits = table.first_plane[xs[i]] >= 0 and n_cells * (arity - 1) <= table.bits_win_below
        kind[i] = arity if bits else arity + 257
        if reliable[i]:
            start[kind[i] + 1] += 1
            n, n_bits = n + 1, n_bits + bits
    for a in range(1, len(start)):
        start[a] += start[a - 1]
    at = np.empty(n, np.int64)
    for i in range(len(xs)):
        if reliable[i]:
            at[start[kind[i]]] = i
            start[kind[i]] += 1
    return at, n_bits


@njit(nogil=True, cache=True)
def free_without_x(table: DenseTable, y: int, given: NDArray[np.int64]) -> float:
    """Return the nominal degrees of freedom for each degree of x; the product over 100 columns fits only a float."""
    free = 1.0
    for z in given:
        free *= table.arities[z]
    return float(free * (table.arities[y] - 1))


@njit(nogil=True, cache=True)
def _count_by_bits(
    table: DenseTable,
    xs: NDArray[np.int64],
    at: NDArray[np.int64],
    y: int,
    given: NDArray[np.int64],
    tables: NDArray[np.int32],
) -> None:
    """Fill the tables of the candidates at some places, one a row, by counting bits."""
    first, arity = np.empty(len(given) + 1, np.int64), np.empty(len(given) + 1, np.int64)
    first[0], arity[0] = table.first_plane[y], table.arities[y]
    for d in range(len(given)):
        first[d + 1], arity[d + 1] = table.first_plane[given[d]], table.arities[given[d]]
    x_first, x_arity = np.empty(len(at), np.int64), np.empty(len(at), np.int64)
    for k in range(len(at)):
        x_first[k], x_arity[k] = table.first_plane[xs[at[k]]], table.arities[xs[at[k]]]
    count_bits(table.planes, table.totals, table.codes.shape[1], first, arity, x_first, x_arity, tables)


@njit(nogil=True, cache=True)
def drop_each(table: DenseTable, formula: Formula, members: NDArray[np.int64], y: int) -> Answers:
    """Test each of ``members``, in ascending order, against ``y`` given all the others, from their joint table.

    Answers are those of `test_columns`; there are -1 tests if the joint table would be large.
    """
    n, n_rows = len(members), table.codes.shape[1]
    statistic, dof, reliable = np.empty(n), np.zeros(n), np.zeros(n, np.bool_)
    n_joint, n_tests = float(table.arities[y]), 0
    for x in members:
        n_joint *= table.arities[x]
    if n_joint > max(_JOINT_COUNTS, n_rows // _ROWS_A_COUNT):
        return -1, statistic, dof, reliable
    joint, counted = np.empty(0, np.int32), False
    for i in range(n):
        n_x, n_y = table.arities[members[i]], table.arities[y]
        free = n_joint / (n_x * n_y) * ((n_x - 1) * (n_y - 1))
        statistic[i], reliable[i] = np.nan, n_rows >= formula.reliability * free
        if reliable[i]:
            if not counted:
                joint, counted = joint_counts(table, members, y), True
            _test_from_joint(table, formula, joint, members, i, y, statistic, dof)
            dof[i] = free if formula.nominal else dof[i]
            n_tests += 1
    return n_tests, statistic, dof, reliable


@njit(nogil=True, cache=True)
def _test_from_joint(
    table: DenseTable,
    formula: Formula,
    joint: NDArray[np.int32],
    members: NDArray[np.int64],
    i: int,
    y: int,
    statistic: NDArray[np.float64],
    dof: NDArray[np.float64],
) -> None:
    """Fill in the statistic of a member given the others, from the joint table of all."""
    n_x, n_y, before, after = table.arities[members[i]], table.arities[y], 1, 1
    for k in range(len(members)):
        if k < i:
            before *= table.arities[members[k]]
        elif k > i:
            after *= table.arities[members[k]]
    shape, tables, k = (n_x, n_y, before * after), np.empty((1, len(joint)), np.int32), 0
    # The joint table has the axes y, members before, x, members after; the other one x, y, members.
    for level in range(n_y):
        for b in range(before):
            for x in range(n_x):
                for a in range(after):
                    tables[0, ((x * n_y + level) * before + b) * after + a] = joint[k]
                    k += 1
    shared = strata_of_table(tables[0], shape, formula.terms)
    fill_statistics(tables, shape, formula.terms, shared, formula.want_x2, statistic[i : i + 1], dof[i : i + 1])
