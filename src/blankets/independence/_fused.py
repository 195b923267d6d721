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
    cells_of_strata,
    count_bit_planes,
    count_four,
    count_one,
    extend_strata,
    joint_counts,
    no_strata,
)
from blankets.stats import fill_statistics, strata_of_table

__all__ = ["Formula", "drop_each", "enough_rows", "free_without_x", "scan_columns", "test_columns"]

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
def scan_columns(
    table: DenseTable, formula: Formula, xs: NDArray[np.int64], y: int, given: NDArray[np.int64]
) -> Answers:
    """Test each of ``xs`` against ``y`` given a set.

    Returns the number of tests performed (-1: tables are too large for this), the statistics, the degrees of freedom
    and which tests were performed.
    """
    n = len(xs)
    statistic, dof, reliable = np.full(n, np.nan), np.zeros(n), np.zeros(n, np.bool_)
    at, n_reliable, free = np.empty(n, np.int64), 0, free_without_x(table, y, given)
    for i in range(n):
        reliable[i] = enough_rows(table, formula, xs[i], free)
        if reliable[i]:
            at[n_reliable] = i
            n_reliable += 1
    if n_reliable:
        strata = no_strata(table, len(given))
        if not test_columns(table, formula, xs, at[:n_reliable], y, given, strata, statistic, dof):
            return -1, statistic, dof, reliable
    if formula.nominal:
        for i in at[:n_reliable]:
            dof[i] = (table.arities[xs[i]] - 1) * free
    return n_reliable, statistic, dof, reliable


@njit(nogil=True, cache=True)
def free_without_x(table: DenseTable, y: int, given: NDArray[np.int64]) -> float:
    """Return the nominal degrees of freedom for each degree of x; the product over 100 columns fits only a float."""
    free = 1.0
    for z in given:
        free *= table.arities[z]
    return float(free * (table.arities[y] - 1))


@njit(nogil=True, cache=True)
def enough_rows(table: DenseTable, formula: Formula, x: int, free: float) -> bool:
    """Tell whether a test is reliable."""
    return bool(table.codes.shape[1] >= formula.reliability * ((table.arities[x] - 1) * free))


@njit(nogil=True, cache=True)
def test_columns(
    table: DenseTable,
    formula: Formula,
    xs: NDArray[np.int64],
    at: NDArray[np.int64],
    y: int,
    given: NDArray[np.int64],
    strata: Strata,
    statistic: NDArray[np.float64],
    dof: NDArray[np.float64],
) -> bool:
    """Fill in the statistics of the candidates at some places, by bits where they win; tell whether tables fit.

    Candidates of like arity go together, since the widest one sets the size of the tables.
    """
    at = _by_arity(table, xs, at)
    n_cells = by_bits(table, y, given)
    bits, codes = np.empty(len(at), np.int64), np.empty(len(at), np.int64)
    n_bits, n_codes = 0, 0
    for i in at:
        if table.first_plane[xs[i]] >= 0 and n_cells * (table.arities[xs[i]] - 1) <= table.bits_win_below:
            bits[n_bits] = i
            n_bits += 1
        else:
            codes[n_codes] = i
            n_codes += 1
    if n_bits:
        _test_by_bits(table, formula, xs, bits[:n_bits], y, given, n_cells, statistic, dof)
    if n_codes == 0:
        return True
    return extend_strata(table, given, strata) and _test_by_codes(
        table, formula, xs, codes[:n_codes], y, strata, statistic, dof
    )


@njit(nogil=True, cache=True)
def _by_arity(table: DenseTable, xs: NDArray[np.int64], at: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the places in the order of the candidates' arities, by counting them."""
    start = np.zeros(258, np.int64)  # codes of a byte have at most 256 levels
    for i in at:
        start[table.arities[xs[i]] + 1] += 1
    for a in range(1, len(start)):
        start[a] += start[a - 1]
    order = np.empty(len(at), np.int64)
    for i in at:
        arity = table.arities[xs[i]]
        order[start[arity]] = i
        start[arity] += 1
    return order


@njit(nogil=True, cache=True)
def _test_by_bits(
    table: DenseTable,
    formula: Formula,
    xs: NDArray[np.int64],
    at: NDArray[np.int64],
    y: int,
    given: NDArray[np.int64],
    n_cells: int,
    statistic: NDArray[np.float64],
    dof: NDArray[np.float64],
) -> None:
    """Count candidates as bit planes, block by block, and fill in their statistics."""
    n_y, most = table.arities[y], max(1, _BLOCK // (n_cells * table.arities[xs[at[-1]]]))
    some, free = np.empty(most), np.empty(most)
    for start in range(0, len(at), most):
        block = at[start : start + most]
        n, width = len(block), table.arities[xs[block[-1]]]
        tables, shape = np.empty((n, n_cells * width), np.int32), (width, n_y, n_cells // n_y)
        count_bit_planes(table, xs[block], y, given, tables)
        shared = strata_of_table(tables[0], shape, formula.terms)
        fill_statistics(tables, shape, formula.terms, shared, formula.want_x2, some, free)
        statistic[block], dof[block] = some[:n], free[:n]


@njit(nogil=True, cache=True)
def _test_by_codes(
    table: DenseTable,
    formula: Formula,
    xs: NDArray[np.int64],
    at: NDArray[np.int64],
    y: int,
    strata: Strata,
    statistic: NDArray[np.float64],
    dof: NDArray[np.float64],
) -> bool:
    """Count candidates by their codes, some at a time, and fill in their statistics; tell whether tables fit."""
    n_strata, n_y = strata.n_codes[strata.depth[0]], table.arities[y]
    n_cells, columns = n_strata * n_y, xs[at]
    widest = n_cells * table.arities[columns[-1]]
    if widest > _MOST_COUNTS:
        return False
    cells = cells_of_strata(table, y, strata)
    counts, some, free = np.empty(_TOGETHER * widest, np.int32), np.empty(_TOGETHER), np.empty(_TOGETHER)
    done, shared = 0, strata_of_table(counts, (0, n_y, n_strata), formula.terms)  # those of no rows yet
    while done < len(at):
        n = _TOGETHER if len(at) - done >= _TOGETHER else 1
        width = table.arities[columns[done + n - 1]]
        tables = counts[: _TOGETHER * n_cells * width].reshape(_TOGETHER, n_cells * width)
        shape = (width, n_y, n_strata)
        if n == 1:
            count_one(table.codes[columns[done]], cells, n_cells, tables)
        else:
            count_four(table.codes, columns[done:], cells, n_cells, tables)
        if done == 0:
            shared = strata_of_table(tables[0], shape, formula.terms)
        fill_statistics(tables[:n], shape, formula.terms, shared, formula.want_x2, some, free)
        for k in range(n):
            statistic[at[done + k]], dof[at[done + k]] = some[k], free[k]
        done += n
    return True


@njit(nogil=True, cache=True)
def drop_each(table: DenseTable, formula: Formula, members: NDArray[np.int64], y: int) -> Answers:
    """Test each of ``members``, in ascending order, against ``y`` given all the others; answers as `scan_columns`."""
    n = len(members)
    statistic, dof, reliable = np.full(n, np.nan), np.zeros(n), np.zeros(n, np.bool_)
    n_joint, n_reliable = float(table.arities[y]), 0
    for x in members:
        n_joint *= table.arities[x]
    small = n_joint <= max(_JOINT_COUNTS, table.codes.shape[1] // _ROWS_A_COUNT)
    joint = joint_counts(table, members, y) if small else np.empty(0, np.int32)
    others, strata = np.empty(n - 1, np.int64), no_strata(table, 0 if small else n - 1)
    for i in range(n - 1, -1, -1):  # so that the sets of one after the other begin alike
        others[:i], others[i:] = members[:i], members[i + 1 :]
        free = free_without_x(table, y, others)
        reliable[i] = enough_rows(table, formula, members[i], free)
        if not reliable[i]:
            continue
        n_reliable += 1
        if len(joint):
            _test_from_joint(table, formula, joint, members, i, y, statistic, dof)
        else:
            if not test_columns(table, formula, members, np.full(1, i), y, others, strata, statistic, dof):
                return -1, statistic, dof, reliable
        if formula.nominal:
            dof[i] = (table.arities[members[i]] - 1) * free
    return n_reliable, statistic, dof, reliable


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
    shape = (n_x, n_y, before * after)
    tables = np.empty((1, len(joint)), np.int32)
    of_y = joint.reshape(n_y, before, n_x, after)
    of_x = tables.reshape(n_x, n_y, before, after)
    for b in range(before):
        for level in range(n_x):
            of_x[level, :, b] = of_y[:, b, level]
    shared = strata_of_table(tables[0], shape, formula.terms)
    fill_statistics(tables, shape, formula.terms, shared, formula.want_x2, statistic[i : i + 1], dof[i : i + 1])
