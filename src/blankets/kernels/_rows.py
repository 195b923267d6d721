"""Counting rows: joint codes of columns, and tables of dense and of sparse columns.

Tables are filled as ``counts`` of shape (candidates, levels * cells), where a *cell* is a level of y in a stratum:
``counts[i, level * n_cells + cell]`` is a number of rows. A code that is not below the number of its levels is counted
in a wrong place, but never outside the table.
"""

from __future__ import annotations

import numpy as np

from blankets.kernels._room import LANES, ROWS
from blankets.kernels._types import *

BLOCK_ROWS: int64 = 1 << 17  # rows whose cells stay in the second-level cache while candidates pass over them
TOGETHER: int64 = 4  # candidates that may share an increment


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
        joint = np.asarray(wide)[w] * np.uint32(times) + np.asarray(narrow)[x] * np.uint32(weight)
        np.asarray(out)[o] = np.minimum(joint, most)
        return
    for r in range(out.shape[1]):
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
    n_gone: int64 = 0
    if not cython.compiled:
        codes, column = np.asarray(wide)[w], np.asarray(narrow)[x].astype(np.uint32)
        gone = (codes >= none_of_wide) | (column >= none_of_narrow)
        np.asarray(out)[o] = np.where(gone, beyond, codes * np.uint32(times) + column * np.uint32(weight))
        return int(np.count_nonzero(gone))
    for r in range(out.shape[1]):
        code: uint32 = wide[w, r] * times + narrow[x, r] * weight
        hole: bint = wide[w, r] >= none_of_wide or narrow[x, r] >= none_of_narrow
        out[o, r] = beyond if hole or code > beyond else code
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
def renumber_row(codes: NewCodes2, o: int64, n_codes: int64, new: NewCodes) -> int64:
    """Renumber the codes of a row as 0, 1, ... in the order of those that occur; return how many there are."""
    if not cython.compiled:
        row = np.asarray(codes)[o]
        seen, row[:] = np.unique(row, return_inverse=True)
        return len(seen)
    for c in range(n_codes):
        new[c] = 0
    for r in range(codes.shape[1]):
        new[codes[o, r]] = 1
    n_seen: int64 = 0
    for c in range(n_codes):
        if new[c]:
            new[c] = n_seen
            n_seen += 1
    for r in range(codes.shape[1]):
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
            n_seen = renumber_row(codes, 0, n_codes, new)
    if n_seen < 0:
        raise ValueError(f"joint codes are to be below {n_codes}")
    return n_seen


@inner
def count_jointly(
    codes: Bytes2,
    xs: Ints,
    first: int64,
    n: int64,
    cells: Codes2,
    begin: int64,
    end: int64,
    n_cells: int64,
    width: int64,
    size: int64,
    joint: NewCounts2,
    index: NewCodes,
) -> void:
    """Fill the joint table of ``n`` columns over some rows: after cells, the first one's levels vary fastest."""
    most: uint32 = size - 1
    p: uint32 = n_cells
    q: uint32 = n_cells * width if n > 1 else 0
    s: uint32 = n_cells * width * width if n > 2 else 0
    t: uint32 = n_cells * width * width * width if n > 3 else 0
    a: int64 = xs[first]
    b: int64 = xs[first + 1] if n > 1 else a
    c: int64 = xs[first + 2] if n > 2 else a
    d: int64 = xs[first + 3] if n > 3 else a
    lanes: int64 = LANES if LANES * size <= end - begin else LANES // 2  # each is emptied, and added in the end
    third: int64 = lanes - 2
    fourth: int64 = lanes - 1
    for lane in range(lanes):
        for k in range(size):
            joint[lane, k] = 0
    for start in range(begin, end, ROWS):
        stop: int64 = min(start + ROWS, end)
        m: int64 = stop - start
        if n == 1:
            for r in range(m):
                code: uint32 = cells[0, start + r] + p * codes[a, start + r]
                index[r] = code if code < most else most
        else:
            for r in range(m):
                both: uint32 = cells[0, start + r] + p * codes[a, start + r] + q * codes[b, start + r]
                all_four: uint32 = both + s * codes[c, start + r] + t * codes[d, start + r]
                index[r] = all_four if all_four < most else most
        for r in range(0, m - 3, LANES):
            joint[0, index[r]] += 1
            joint[1, index[r + 1]] += 1
            joint[third, index[r + 2]] += 1
            joint[fourth, index[r + 3]] += 1
        for r in range(m - m % LANES, m):
            joint[0, index[r]] += 1
    for lane in range(1, lanes):
        for k in range(size):
            joint[0, k] += joint[lane, k]


@inner
def _add_margins(
    joint: Counts2, size: int64, n_cells: int64, width: int64, counts: NewCounts2, first: int64, n: int64
) -> void:
    """Add up the joint table over the other members of the group, for each member."""
    for k in range(size // n_cells):
        levels: int64 = k
        for i in range(first, first + n):
            start: int64 = (levels % width) * n_cells
            for c in range(n_cells):
                counts[i, start + c] += joint[0, k * n_cells + c]
            levels //= width


@inner
def joint_size(n_cells: int64, width: int64, n: int64) -> int64:
    """Return the number of counts of the joint table of ``n`` columns."""
    for _ in range(n):
        n_cells *= width
    return n_cells


@inner
def shared_by(n_rows: int64, size: int64, width: int64) -> int64:
    """Return how many candidates share an increment.

    Their joint table is counted, and its margins are theirs. Each then costs its share of the rows and about two rows
    for each count of the joint table (5,000 rows, 243 cells, 3 levels: two together take 2.8 µs a column, four tables
    side by side 2.5).
    """
    together: int64 = 1
    rows: float = n_rows
    while together < TOGETHER and rows / (together + 1) + 2 * size * width < rows / together + 2 * size:
        together += 1
        size *= width
    return together


@inner
def _all_sound(codes: Bytes2, xs: Ints, first: int64, width: int64, sound: NewBytes) -> bint:
    """Whether the codes of four columns are all below ``width``; ``sound`` has those that were looked at."""
    for i in range(first, first + LANES):
        if not sound[xs[i]]:
            most: uint8 = 0
            for r in range(codes.shape[1]):
                most = max(most, codes[xs[i], r])
            if most >= width:
                return False
            sound[xs[i]] = True
    return True


@inner
def _count_apart(
    codes: Bytes2,
    xs: Ints,
    first: int64,
    cells: Codes2,
    begin: int64,
    end: int64,
    n_cells: int64,
    counts: NewCounts2,
    i: int64,
) -> void:
    """Add some rows to the tables of four columns."""
    count_four(
        cython.address(cells[0, begin]),
        cython.address(codes[xs[first], begin]),
        cython.address(codes[xs[first + 1], begin]),
        cython.address(codes[xs[first + 2], begin]),
        cython.address(codes[xs[first + 3], begin]),
        end - begin,
        n_cells,
        cython.address(counts[i, 0]),
        cython.address(counts[i + 1, 0]),
        cython.address(counts[i + 2, 0]),
        cython.address(counts[i + 3, 0]),
    )


@inner
def count_columns(
    codes: Bytes2,
    xs: Ints,
    first: int64,
    n: int64,
    cells: Codes2,
    n_cells: int64,
    width: int64,
    together: int64,
    sound: NewBytes,
    joint: NewCounts2,
    index: NewCodes,
    counts: NewCounts2,
) -> void:
    """Count ``n`` columns, from the one at ``first`` on, of up to ``width`` levels in cells; ``together`` share."""
    n_rows: int64 = codes.shape[1]
    block: int64 = n_rows if 8 * n_cells * width > BLOCK_ROWS else BLOCK_ROWS  # a table is added for each block
    if not cython.compiled:
        table, column = n_cells * width, np.asarray(codes)
        for i in range(n):
            index = np.asarray(cells)[0] + np.uint32(n_cells) * column[xs[first + i]].astype(np.uint32)
            np.asarray(counts)[i, :table] = np.bincount(np.minimum(index, table - 1), minlength=table)
        return
    for i in range(n):
        for k in range(n_cells * width):
            counts[i, k] = 0
    begin: int64 = 0
    while begin < n_rows:
        end: int64 = min(begin + block, n_rows)
        i = 0
        while i < n:
            if together == 1 and i + LANES <= n and _all_sound(codes, xs, first + i, width, sound):
                _count_apart(codes, xs, first + i, cells, begin, end, n_cells, counts, i)
                i += LANES
                continue
            m: int64 = min(together, n - i)
            size: int64 = joint_size(n_cells, width, m)
            count_jointly(codes, xs, first + i, m, cells, begin, end, n_cells, width, size, joint, index)
            _add_margins(joint, size, n_cells, width, counts, i, m)
            i += m
        begin = end


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
    width: int64 = counts.shape[1] // n_cells
    n_rows: int64 = min(codes.shape[1], BLOCK_ROWS)
    together: int64 = shared_by(n_rows, n_cells * width, width)
    joint: NewCounts2 = view(np.empty((LANES, joint_size(n_cells, width, together)), np.int32))
    index: NewCodes = view(np.empty(ROWS, np.uint32))
    sound: NewBytes = view(np.zeros(codes.shape[0], np.uint8))
    with nogil:
        count_columns(codes, xs, 0, xs.shape[0], cells, n_cells, width, together, sound, joint, index, counts)


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
            for k in range(n_cells, size):
                counts[i, k % n_cells] -= counts[i, k]
