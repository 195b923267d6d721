"""Counting rows: joint codes of columns, and tables of dense and of sparse columns.

Tables are filled as ``counts`` of shape (candidates, levels * cells), where a *cell* is a level of y in a stratum:
``counts[i, level * n_cells + cell]`` is a number of rows. A code that is not below the number of its levels is counted
in a wrong place, or as the first level, but never outside the table.
"""

from __future__ import annotations

import numpy as np

from blankets.kernels._room import MOST_LANES, SLOT_ROWS, Lanes
from blankets.kernels._types import *

BLOCK_ROWS: int64 = 1 << 17  # rows whose cells stay in the second-level cache while candidates pass over them
# Measured over 5,000 rows: a column alone takes 4 µs, 16 lanes 4 to 6, 32 lanes 6 to 9, slots of all rows 5.
LANED_LEVELS: int64 = 7  # at most, of a column
LANED_CELLS: int64 = 1024  # from here on the tables of half the lanes fill a second-level cache
LANES_PAY: int64 = 2  # columns of a group
SLOTS_PAY: int64 = 3  # columns of a question
MOSTLY_ONE: int64 = 128  # rows for each cell up to which it pays to look whether one slot for each will do


@inner
def join(
    wide: Codes2,
    w: int64,
    times: uint32,
    narrow: Bytes2,
    x: int64,
    weight: uint32,
    n_codes: int64,
    out: NewCodes2,
    o: int64,
) -> void:
    """Set ``out[o] = wide[w] * times + narrow[x] * weight``, below ``n_codes``: a joint code for each row."""
    most: uint32 = n_codes - 1
    if not cython.compiled:
        n = narrow.shape[1]
        joint = np.asarray(wide)[w, :n] * np.uint32(times) + np.asarray(narrow)[x] * np.uint32(weight)
        np.asarray(out)[o, :n] = np.minimum(joint, most)
        return
    for r in range(narrow.shape[1]):
        code: uint32 = wide[w, r] * times + narrow[x, r] * weight
        out[o, r] = code if code < most else most


@inner
def join_seen(
    wide: Codes2,
    w: int64,
    n_wide: int64,
    times: uint32,
    narrow: Bytes2,
    x: int64,
    arity: int64,
    weight: uint32,
    out: NewCodes2,
    o: int64,
) -> int64:
    """Do the same where rows may have no value; return how many have none of both.

    A code of ``n_wide`` in the one and of ``arity`` in the other means that; such rows get ``n_wide * arity``.
    """
    none_of_wide: uint32 = n_wide
    none_of_narrow: uint32 = arity
    beyond: uint32 = n_wide * arity
    n_gone: uint32 = 0
    if not cython.compiled:
        codes, column = np.asarray(wide)[w, : narrow.shape[1]], np.asarray(narrow)[x].astype(np.uint32)
        gone = (codes >= none_of_wide) | (column >= none_of_narrow)
        np.asarray(out)[o, : narrow.shape[1]] = np.where(
            gone, beyond, codes * np.uint32(times) + column * np.uint32(weight)
        )
        return int(np.count_nonzero(gone))
    for r in range(narrow.shape[1]):  # without a branch, which would be guessed wrong at many holes
        code: uint32 = wide[w, r] * times + narrow[x, r] * weight
        hole: uint32 = (wide[w, r] >= none_of_wide) | (narrow[x, r] >= none_of_narrow)
        out[o, r] = beyond if hole | (code > beyond) else code
        n_gone += hole
    return n_gone


@door
def join_codes(wide: Codes2, times: int64, narrow: Bytes2, weight: int64, n_codes: int64, out: NewCodes2) -> None:
    """Do that for arrays of one row."""
    if wide.shape[1] != out.shape[1] or narrow.shape[1] != out.shape[1] or n_codes < 1:
        raise ValueError("joint codes need as many codes as rows")
    with nogil:
        join(wide, 0, times, narrow, 0, weight, n_codes, out, 0)


@inner
def renumber_row(codes: NewCodes2, o: int64, n: int64, n_codes: int64, new: NewCodes) -> int64:
    """Renumber the first ``n`` codes of a row as 0, 1, ... in the order of those that occur; return how many occur."""
    if not cython.compiled:
        row = np.asarray(codes)[o, :n]
        seen, row[:] = np.unique(row, return_inverse=True)
        return len(seen)
    for c in range(n_codes):
        new[c] = 0
    for r in range(n):
        new[codes[o, r]] = 1
    n_seen: int64 = 0
    for c in range(n_codes):
        if new[c]:
            new[c] = n_seen
            n_seen += 1
    for r in range(n):
        codes[o, r] = new[codes[o, r]]
    return n_seen


@door
def renumber(codes: NewCodes2, n_codes: int64) -> int:
    """Renumber the codes of an array of one row, all below ``n_codes``, in place; return how many there are."""
    new: NewCodes = view(np.empty(n_codes, np.uint32))
    n_seen: int64 = 0
    with nogil:
        for r in range(codes.shape[1]):
            if codes[0, r] >= n_codes:
                n_seen = -1
        if n_seen == 0:
            n_seen = renumber_row(codes, 0, codes.shape[1], n_codes, new)
    if n_seen < 0:
        raise ValueError(f"joint codes are to be below {n_codes}")
    return n_seen


@inner
def slots_of(cells: Codes2, n_rows: int64, n_cells: int64, lanes: Lanes) -> void:
    """Give each row a slot of its cell, with at most 255 rows; the first slot has the cell's number."""
    for c in range(n_cells):
        lanes.latest[c] = c
        lanes.totals[c] = 0
    n_slots: int64 = n_cells
    largest: int32 = 0
    if n_rows <= MOSTLY_ONE * n_cells:
        for r in range(n_rows):
            lanes.totals[cells[0, r]] += 1
        for c in range(n_cells):
            largest = max(largest, lanes.totals[c])
        if largest <= SLOT_ROWS:
            for r in range(n_rows):
                lanes.slots[r] = cells[0, r]
            lanes.n_slots = n_cells
            return
        for c in range(n_cells):
            lanes.totals[c] = 0
    for r in range(n_rows):
        cell: uint32 = cells[0, r]
        n: int32 = lanes.totals[cell]
        if n == SLOT_ROWS:
            lanes.latest[cell] = n_slots
            lanes.owner[n_slots] = cell
            n_slots += 1
            n = 0
        lanes.totals[cell] = n + 1
        lanes.slots[r] = lanes.latest[cell]
    for s in range(n_cells, n_slots):
        lanes.totals[lanes.owner[s]] += SLOT_ROWS
    lanes.n_slots = n_slots


@inner
def group_of(xs: Ints, first: int64, n: int64, arities: Ints, more: int64, n_cells: int64) -> int64:
    """Return how many of ``n`` columns, from the one at ``first`` on, are counted together.

    Those of few levels are as many as have lanes, others are counted alone. ``more`` is added to the levels of each.
    """
    n_lanes: int64 = 0
    m: int64 = 0
    most: int64 = MOST_LANES if n_cells <= LANED_CELLS else MOST_LANES // 2
    while m < n:
        width: int64 = arities[xs[first + m]] + more
        n_lanes += width - 1
        if m > 0 and (n_lanes > most or width > LANED_LEVELS):
            return m
        m += 1
        if width > LANED_LEVELS:
            return m
    return m


@inner
def _count_plainly(
    codes: Bytes2, x: int64, cells: Codes2, n_cells: int64, width: int64, counts: NewCounts2, i: int64
) -> void:
    """Count one column, row by row."""
    most: uint32 = n_cells * width - 1
    step: uint32 = n_cells
    for k in range(n_cells * width):
        counts[i, k] = 0
    for r in range(codes.shape[1]):
        code: uint32 = cells[0, r] + step * codes[x, r]
        counts[i, code if code < most else most] += 1


@inner
def count_weighted(
    codes: Bytes2, weights: Counts, x: int64, cells: Codes2, n_cells: int64, width: int64, counts: NewCounts2, i: int64
) -> void:
    """Do the same where each row stands for several."""
    most: int64 = n_cells * width - 1
    for k in range(n_cells * width):
        counts[i, k] = 0
    for r in range(codes.shape[1]):
        code: int64 = cells[0, r] + n_cells * codes[x, r]
        counts[i, code if code < most else most] += weights[r]


@inner
def _count_in_lanes(
    codes: Bytes2,
    xs: Ints,
    first: int64,
    n: int64,
    arities: Ints,
    more: int64,
    n_cells: int64,
    lanes: Lanes,
    counts: NewCounts2,
    o: int64,
) -> void:
    """Count columns together: all their levels but the first have lanes, and the first one has the rest."""
    n_lanes: int64 = 0
    for i in range(n):
        for level in range(1, arities[xs[first + i]] + more):
            lanes.columns[n_lanes] = xs[first + i]
            lanes.levels[n_lanes] = level
            lanes.places[n_lanes] = (o + i) * counts.shape[1] + level * n_cells
            n_lanes += 1
    if n_lanes > 0:
        count_lanes(
            cython.address(codes[0, 0]),
            codes.shape[1],
            cython.address(lanes.columns[0]),
            cython.address(lanes.levels[0]),
            cython.address(lanes.places[0]),
            n_lanes,
            cython.address(lanes.slots[0]),
            lanes.n_slots,
            cython.address(lanes.owner[0]),
            n_cells,
            cython.address(lanes.table[0]),
            cython.address(counts[0, 0]),
        )
    for i in range(n):
        for c in range(n_cells):
            counts[o + i, c] = lanes.totals[c]
        for level in range(1, arities[xs[first + i]] + more):
            for c in range(n_cells):
                counts[o + i, c] -= counts[o + i, level * n_cells + c]


@inner
def count_columns(
    codes: Bytes2,
    xs: Ints,
    first: int64,
    n: int64,
    arities: Ints,
    more: int64,
    cells: Codes2,
    n_cells: int64,
    lanes: Lanes,
    counts: NewCounts2,
    o: int64,
) -> void:
    """Set the tables from ``o`` on to those of a group of ``n`` columns (see `group_of`), from the one at ``first`` on.

    A column has ``more`` levels than ``arities`` says. Lanes are used if they have slots, those of the cells.
    """
    if not cython.compiled:
        for i in range(n):
            column, table = np.asarray(codes)[xs[first + i]], n_cells * (arities[xs[first + i]] + more)
            index = np.asarray(cells)[0, : len(column)] + np.uint32(n_cells) * column.astype(np.uint32)
            np.asarray(counts)[o + i, :table] = np.bincount(np.minimum(index, table - 1), minlength=table)
        return
    if lanes.n_slots and n >= LANES_PAY and arities[xs[first]] + more <= LANED_LEVELS:
        _count_in_lanes(codes, xs, first, n, arities, more, n_cells, lanes, counts, o)
        return
    for i in range(n):
        _count_plainly(codes, xs[first + i], cells, n_cells, arities[xs[first + i]] + more, counts, o + i)


@inner
def known_columns(xs: Ints, n_columns: int64) -> int64:
    """Return whether all of ``xs`` are numbers of columns."""
    wrong: int64 = 0
    for i in range(xs.shape[0]):
        wrong += xs[i] < 0 or xs[i] >= n_columns
    return wrong == 0


@door
def count_dense(codes: Bytes2, xs: Ints, cells: Codes2, n_cells: int64, counts: NewCounts2) -> None:
    """Count columns ``xs`` of dense codes, shape (columns, rows)."""
    if n_cells < 1 or counts.shape[1] % n_cells or counts.shape[0] != xs.shape[0] or cells.shape[1] != codes.shape[1]:
        raise ValueError("tables do not fit the columns to count")
    if not known_columns(xs, codes.shape[0]):
        raise IndexError("no such column")
    if counts.shape[0] == 0 or counts.shape[1] == 0:
        return
    if np.asarray(cells).max(initial=0) >= n_cells:
        cells = view(np.minimum(cells, np.uint32(n_cells - 1)))
    arities: Ints = view(np.full(codes.shape[0], counts.shape[1] // n_cells, np.int64))
    lanes: Lanes = Lanes()
    lanes.fit(codes.shape[1], n_cells)
    done: int64 = 0
    with nogil:
        if xs.shape[0] >= SLOTS_PAY:
            slots_of(cells, codes.shape[1], n_cells, lanes)
        while done < xs.shape[0]:
            n: int64 = group_of(xs, done, xs.shape[0] - done, arities, 0, n_cells)
            count_columns(codes, xs, done, n, arities, 0, cells, n_cells, lanes, counts, done)
            done += n


@door
def count_wide(column: Counts, cells: Codes2, n_cells: int64, counts: NewCounts) -> None:
    """Count one column of codes of four bytes, as those of more than 256 levels are."""
    if column.shape[0] != cells.shape[1] or counts.shape[0] < 1:
        raise ValueError("the table does not fit the column to count")
    most: uint32 = counts.shape[0] - 1
    if not cython.compiled:
        index = np.asarray(cells)[0] + n_cells * np.asarray(column, np.int64)
        np.asarray(counts)[:] = np.bincount(np.clip(index, 0, most), minlength=len(counts))
        return
    with nogil:
        for k in range(counts.shape[0]):
            counts[k] = 0
        for r in range(cells.shape[1]):
            code: uint32 = cells[0, r] + n_cells * column[r]
            counts[code if code < most else most] += 1


@door
def count_sparse(
    indptr: Ints, indices: Counts, codes: Bytes, xs: Ints, cells: Codes2, totals: Counts, counts: NewCounts2
) -> None:
    """Count sparse columns: walk the stored entries, and infer level 0 from the ``totals`` of the cells."""
    n_cells: int64 = totals.shape[0]
    size: int64 = counts.shape[1]
    n_rows: int64 = cells.shape[1]
    if not known_columns(xs, indptr.shape[0] - 1) or counts.shape[0] != xs.shape[0] or n_cells < 1 or size % n_cells:
        raise ValueError("tables do not fit the columns to count")
    if indices.shape[0] != codes.shape[0]:
        raise ValueError("stored entries have a row and a code each")
    place: NewInts = view(np.empty(xs.shape[0], np.int64))
    with nogil:
        for i in range(xs.shape[0]):
            place[i] = max(indptr[xs[i]], 0)
            for k in range(size):
                counts[i, k] = 0
        for begin in range(0, n_rows, BLOCK_ROWS):
            for i in range(xs.shape[0]):
                stop: int64 = min(indptr[xs[i] + 1], indices.shape[0])
                here: int64 = place[i]
                while here < stop and indices[here] < begin + BLOCK_ROWS:
                    row: int64 = indices[here]
                    if 0 <= row < n_rows:
                        at: int64 = cells[0, row] + codes[here] * n_cells
                        if at < size:
                            counts[i, at] += 1
                    here += 1
                place[i] = here
        for i in range(xs.shape[0]):
            for c in range(n_cells):
                counts[i, c] = totals[c]
            for level in range(1, size // n_cells):
                for c in range(n_cells):
                    counts[i, c] -= counts[i, level * n_cells + c]
