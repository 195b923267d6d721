"""Counting bits: a plane for each level but the first of a column, a mask for each cell.

Planes have shape (chunks, planes, words): the rows of a chunk of all planes lie one after the other, as memory is read
fastest, and the masks of the cells stay in the cache meanwhile.
"""

from __future__ import annotations

import numpy as np

from blankets.kernels._room import Room
from blankets.kernels._rows import known_columns
from blankets.kernels._types import *


@inner
def common_bits(planes: Words3, chunk: int64, plane: int64, masks: Words2, c: int64) -> int64:
    """Return the number of bits that are set in a plane and in a mask."""
    if not cython.compiled:
        return int(np.bitwise_count(np.asarray(planes)[chunk, plane] & np.asarray(masks)[c]).sum(dtype=np.int64))
    return common_words(cython.address(planes[chunk, plane, 0]), cython.address(masks[c, 0]), planes.shape[2])


@inner
def bits_of(masks: Words2, c: int64) -> int64:
    """Return the number of bits of a mask."""
    total: int64 = 0
    for w in range(masks.shape[1]):
        total += popcount(masks[c, w])
    return total


@inner
def cell_masks(
    planes: Words3, chunk: int64, first: Ints, arity: Ints, n: int64, n_rows: int64, masks: NewWords2
) -> void:
    """Fill ``masks`` (cells, words) with the rows of each cell: the product of the levels of ``n`` variables.

    ``n_rows`` are those from the first one of the chunk on. The variables are given by their first plane and arity; the
    last one varies fastest.
    """
    whole_mask(n_rows, masks)
    split_cells(planes, chunk, first, arity, n, masks)


@inner
def whole_mask(n_rows: int64, masks: NewWords2) -> void:
    """Fill the first mask with the rows of a chunk, of which there are at most ``n_rows``."""
    every: uint64 = 0xFFFFFFFFFFFFFFFF
    one: uint64 = 1
    for w in range(masks.shape[1]):
        left: int64 = n_rows - 64 * w
        masks[0, w] = every if left >= 64 else ((one << left) - 1 if left > 0 else 0)


@inner
def split_cells(planes: Words3, chunk: int64, first: Ints, arity: Ints, n: int64, masks: NewWords2) -> void:
    """Split the rows of the first mask into cells."""
    words: int64 = masks.shape[1]
    n_cells: int64 = 1
    for v in range(n):
        a: int64 = arity[v]
        # From the last cell down, so that a cell is read before its place is overwritten. The first level is what the
        # others leave. Loops over words alone become vector instructions.
        for c in range(n_cells - 1, -1, -1):
            for level in range(1, a):
                for w in range(words):
                    masks[c * a + level, w] = masks[c, w] & planes[chunk, first[v] + level - 1, w]
            for level in range(1, a):
                for w in range(words):
                    masks[c, w] ^= masks[c * a + level, w]
            if c > 0:
                for w in range(words):
                    masks[c * a, w] = masks[c, w]
        n_cells *= a


@inner
def count_by_bits(
    planes: Words3,
    plane_totals: Counts,
    n_rows: int64,
    n_cells: int64,
    n_variables: int64,
    x_first: Ints,
    x_arity: Ints,
    begin: int64,
    n: int64,
    room: Room,
    counts: NewCounts2,
) -> void:
    """Count ``n`` candidates, from ``begin`` on, in the cells of the variables that the room has.

    Bits are counted for all levels and cells but the first ones, which are what the totals leave. The masks of a single
    chunk are those of the call before, unless ``begin`` is 0.
    """
    words: int64 = planes.shape[2]
    for i in range(n):
        for k in range(n_cells * x_arity[begin + i]):
            counts[i, k] = 0
    if begin == 0 or planes.shape[0] > 1:
        for c in range(n_cells):
            room.in_cell[c] = 0
    for chunk in range(planes.shape[0]):
        if begin == 0 or planes.shape[0] > 1:
            cell_masks(
                planes, chunk, room.cell_first, room.cell_arity, n_variables, n_rows - 64 * words * chunk, room.masks
            )
            for c in range(n_cells):
                room.in_chunk[c] = bits_of(room.masks, c)
                room.in_cell[c] += room.in_chunk[c]
        for i in range(n):
            for level in range(1, x_arity[begin + i]):
                plane: int64 = x_first[begin + i] + level - 1
                for c in range(1, n_cells):
                    if room.in_chunk[c] > 0:
                        counts[i, level * n_cells + c] += common_bits(planes, chunk, plane, room.masks, c)
    for i in range(n):
        for c in range(n_cells):
            counts[i, c] = room.in_cell[c]
        for level in range(1, x_arity[begin + i]):
            left: int32 = plane_totals[x_first[begin + i] + level - 1]
            for c in range(1, n_cells):
                found: int32 = counts[i, level * n_cells + c]
                counts[i, c] -= found
                left -= found
            counts[i, level * n_cells] = left
            counts[i, 0] -= left


@inner
def known_planes(first: Ints, arity: Ints, n_planes: int64) -> int64:
    """Return whether columns have all their planes."""
    wrong: int64 = first.shape[0] != arity.shape[0]
    for i in range(min(first.shape[0], arity.shape[0])):
        wrong += arity[i] < 1 or first[i] < 0 or first[i] + arity[i] - 1 > n_planes
    return wrong == 0


@door
def count_bits(
    planes: Words3,
    plane_totals: Counts,
    n_rows: int64,
    cell_first: Ints,
    cell_arity: Ints,
    x_first: Ints,
    x_arity: Ints,
    counts: NewCounts2,
) -> None:
    """Count candidates packed as bit planes; cells are the product of the levels of y and the given variables."""
    n_planes = min(planes.shape[1], plane_totals.shape[0])
    if not known_planes(cell_first, cell_arity, n_planes) or not known_planes(x_first, x_arity, n_planes):
        raise IndexError("no such bit plane")
    for p in range(plane_totals.shape[0]):
        if plane_totals[p] < 0 or plane_totals[p] > n_rows:
            raise ValueError(f"bit plane {p} has {plane_totals[p]} bits for {n_rows} rows")
    n_cells: int64 = 1
    widest: int64 = 1
    for v in range(cell_arity.shape[0]):
        n_cells *= cell_arity[v]
    for i in range(x_arity.shape[0]):
        widest = max(widest, x_arity[i])
    if counts.shape[0] != x_first.shape[0] or counts.shape[1] < n_cells * widest:
        raise ValueError("tables do not fit the columns to count")
    room: Room = Room()
    room.grow_masks(n_cells, planes.shape[2])
    room.cell_first, room.cell_arity = (view(np.array(cell_first)), view(np.array(cell_arity)))
    n: int64 = x_first.shape[0]
    n_variables: int64 = cell_first.shape[0]
    np.asarray(counts)[:] = 0
    with nogil:
        count_by_bits(planes, plane_totals, n_rows, n_cells, n_variables, x_first, x_arity, 0, n, room, counts)


@door
def pack_dense(codes: Bytes2, columns: Ints, arities: Ints, first: Ints, planes: NewWords3, totals: NewCounts) -> None:
    """Fill the planes (chunks, planes, words) of some columns of dense codes, and how many bits each has."""
    n_rows: int64 = codes.shape[1]
    words: int64 = planes.shape[2]
    n_planes: int64 = min(planes.shape[1], totals.shape[0])
    if not known_planes(first, arities, n_planes) or first.shape[0] != columns.shape[0]:
        raise IndexError("no such bit plane")
    if not known_columns(columns, codes.shape[0]) or 64 * words * planes.shape[0] < n_rows:
        raise IndexError("no such column, or no bit for a row")
    if not cython.compiled:
        for i in range(len(columns)):
            for level in range(1, arities[i]):
                column, at = np.asarray(codes)[columns[i]] == level, first[i] + level - 1
                bits = np.zeros(8 * words * len(planes), np.uint8)
                bits[: -(-n_rows // 8)] = np.packbits(column, bitorder="little")
                np.asarray(planes)[:, at] = bits.view(np.uint64).reshape(-1, words)
                totals[at] = np.count_nonzero(column)
        return
    with nogil:
        for i in range(columns.shape[0]):
            x: int64 = columns[i]
            for level in range(1, arities[i]):
                plane: int64 = first[i] + level - 1
                totals[plane] = 0
                for w in range((n_rows + 63) // 64):
                    start: int64 = 64 * w
                    rows: int64 = min(64, n_rows - start)
                    word: uint64 = rows_of_level(cython.address(codes[x, start]), rows, level)
                    planes[w // words, plane, w % words] = word
                    totals[plane] += popcount(word)


@door
def pack_sparse(
    indptr: Ints,
    indices: Counts,
    codes: Bytes,
    columns: Ints,
    arities: Ints,
    first: Ints,
    planes: NewWords3,
    totals: NewCounts,
) -> None:
    """Do the same for sparse columns; their planes are empty before."""
    words: int64 = planes.shape[2]
    if not known_planes(first, arities, min(planes.shape[1], totals.shape[0])) or first.shape[0] != columns.shape[0]:
        raise IndexError("no such bit plane")
    if not known_columns(columns, indptr.shape[0] - 1) or indices.shape[0] != codes.shape[0]:
        raise IndexError("no such column")
    if not cython.compiled:
        for i in range(len(columns)):
            here = slice(indptr[columns[i]], indptr[columns[i] + 1])
            rows, at = np.asarray(indices)[here].astype(np.int64), first[i] - 1 + np.asarray(codes)[here].astype(int)
            bits = np.uint64(1) << (rows % 64).astype(np.uint64)
            np.bitwise_or.at(np.asarray(planes), (rows // 64 // words, at, rows // 64 % words), bits)
            np.add.at(np.asarray(totals), at, 1)
        return
    n_rows: int64 = 64 * words * planes.shape[0]
    one: uint64 = 1
    with nogil:
        for i in range(columns.shape[0]):
            for k in range(max(indptr[columns[i]], 0), min(indptr[columns[i] + 1], indices.shape[0])):
                row: int64 = indices[k]
                level: int64 = codes[k]
                if 0 <= row < n_rows and 0 < level < arities[i]:
                    plane: int64 = first[i] + level - 1
                    planes[row // 64 // words, plane, row // 64 % words] |= one << (row % 64)
                    totals[plane] += 1
