"""Kernels that count: dense codes, packed bits, sparse columns.

All of them fill ``counts`` of shape (candidates, levels * cells), where a *cell* is a level of y in a
stratum; ``counts[i, level * n_cells + cell]`` is the number of rows. Rows are taken in chunks that stay in
the first-level cache while all candidates pass over them.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = [
    "cell_masks",
    "cells_of",
    "common_bits",
    "count_bits",
    "count_dense",
    "count_sparse",
    "extend_codes",
    "pack_dense",
    "pack_sparse",
    "popcount",
    "renumber",
    "totals_of",
]

_ROWS = 2048  # rows a chunk: 8 KiB of indices stay in the first-level cache
_BLOCK = 1 << 17  # rows whose cells stay in the second-level cache while all candidates pass over them: 512 KiB
_MOST_TOGETHER = 4


@njit(nogil=True, cache=True)
def count_dense(
    codes: NDArray[np.integer],
    xs: NDArray[np.int64],
    cells: NDArray[np.uint32],
    n_cells: int,
    counts: NDArray[np.int32],
) -> None:
    """Count columns ``xs`` of dense codes, shape (columns, rows).

    An increment costs more than working out where it goes. So up to four candidates share one: their joint
    table is counted, and its margins are theirs. Each then costs its share of the rows and about as much
    again as the joint table has counts.
    """
    width = counts.shape[1] // n_cells
    n_rows = len(cells) if 8 * counts.shape[1] > _BLOCK else min(len(cells), _BLOCK)  # a table is added for each block
    together, size = 1, width * n_cells
    while together < _MOST_TOGETHER and n_rows / (together + 1) + size * width < n_rows / together + size:
        together, size = together + 1, size * width
    # Even and odd rows have tables of their own: an increment waits for the one before it if both hit
    # the same count, as they often do in skewed data.
    joint, index = np.empty((2, size), np.int32), np.empty(min(_ROWS, n_rows), np.uint32)
    counts[:] = 0
    for begin in range(0, len(cells), n_rows):
        end = min(begin + n_rows, len(cells))
        for first in range(0, len(xs), together):
            group = xs[first : first + together]
            _count_jointly(codes, group, cells, begin, end, n_cells, width, joint, index)
            _add_margins(joint, n_cells, width, counts[first : first + together])


@njit(nogil=True, cache=True)
def _count_jointly(
    codes: NDArray[np.integer],
    group: NDArray[np.int64],
    cells: NDArray[np.uint32],
    begin: int,
    end: int,
    n_cells: int,
    width: int,
    joint: NDArray[np.int32],
    index: NDArray[np.uint32],
) -> None:
    """Fill the joint table of a group of columns, over some rows: the first one's levels vary fastest, after cells."""
    even, odd = joint[0], joint[1]
    joint[:] = 0
    # Always four columns, those that are not there with weight 0: the loop over them stays one vector loop.
    four, weight = np.zeros(_MOST_TOGETHER, np.int64), np.zeros(_MOST_TOGETHER, np.uint32)
    for i in range(len(group)):
        four[i], weight[i] = group[i], n_cells * width**i
    p, q, s, t = weight[0], weight[1], weight[2], weight[3]
    for start in range(begin, end, _ROWS):
        n = min(_ROWS, end - start)
        cell = cells[start : start + n]
        a, b = codes[four[0], start : start + n], codes[four[1], start : start + n]
        c, d = codes[four[2], start : start + n], codes[four[3], start : start + n]
        for r in range(n):
            index[r] = cell[r] + p * np.uint32(a[r]) + q * np.uint32(b[r]) + s * np.uint32(c[r]) + t * np.uint32(d[r])
        for r in range(0, n - 1, 2):
            even[index[r]] += np.int32(1)
            odd[index[r + 1]] += np.int32(1)
        if n % 2:
            even[index[n - 1]] += np.int32(1)


@njit(nogil=True, cache=True)
def _add_margins(joint: NDArray[np.int32], n_cells: int, width: int, counts: NDArray[np.int32]) -> None:
    """Add up the joint table over the other members of the group, for each member."""
    both, odd = joint[0], joint[1]
    for k in range(len(both)):
        both[k] += odd[k]
    for k in range(len(both) // n_cells):
        levels = k
        for i in range(len(counts)):
            start = (levels % width) * n_cells
            for c in range(n_cells):
                counts[i, start + c] += both[k * n_cells + c]
            levels //= width


@njit(nogil=True, cache=True)
def count_sparse(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    codes: NDArray[np.uint8],
    xs: NDArray[np.int64],
    cells: NDArray[np.integer],
    totals: NDArray[np.int32],
    counts: NDArray[np.int32],
) -> None:
    """Count sparse columns: walk the stored entries, and infer level 0 from the ``totals`` of the cells."""
    n_cells, size, place = np.uint64(len(totals)), counts.shape[1], np.empty(len(xs), np.int64)
    counts[:] = 0
    for i in range(len(xs)):
        place[i] = indptr[xs[i]]
    for begin in range(0, len(cells), _BLOCK):
        end = begin + _BLOCK
        for i in range(len(xs)):
            k, stop = place[i], indptr[xs[i] + 1]
            while k < stop and indices[k] < end:
                counts[i, np.uint64(cells[np.uint32(indices[k])]) + np.uint64(codes[k]) * n_cells] += 1
                k += 1
            place[i] = k
    for i in range(len(xs)):
        for c in range(len(totals)):
            counts[i, c] = totals[c]
        for level in range(len(totals), size, len(totals)):
            for c in range(len(totals)):
                counts[i, c] -= counts[i, level + c]


@njit(nogil=True, cache=True)
def pack_dense(
    codes: NDArray[np.integer],
    columns: NDArray[np.int64],
    arities: NDArray[np.int64],
    first_plane: NDArray[np.int64],
    planes: NDArray[np.uint64],
    totals: NDArray[np.int32],
) -> None:
    """Fill the planes (chunks, planes, words) of some columns of dense codes, and how many bits each has."""
    n_chunks, _, words = planes.shape
    for i in range(len(columns)):
        for level in range(1, arities[i]):
            plane = first_plane[i] + level - 1
            for chunk in range(n_chunks):
                start = 64 * words * chunk
                here = planes[chunk, plane]
                _pack_plane(codes[columns[i], start : start + 64 * words], level, here)
                totals[plane] += common_bits(here, here)


@njit(nogil=True, cache=True)
def pack_sparse(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    codes: NDArray[np.uint8],
    columns: NDArray[np.int64],
    first_plane: NDArray[np.int64],
    planes: NDArray[np.uint64],
    totals: NDArray[np.int32],
) -> None:
    """Do the same for sparse columns."""
    words = planes.shape[2]
    for i in range(len(columns)):
        for k in range(indptr[columns[i]], indptr[columns[i] + 1]):
            plane, word = first_plane[i] + codes[k] - 1, indices[k] // 64
            planes[word // words, plane, word % words] |= np.uint64(1) << np.uint64(indices[k] % 64)
            totals[plane] += 1


@njit(nogil=True, cache=True)
def _pack_plane(column: NDArray[np.integer], level: int, plane: NDArray[np.uint64]) -> None:
    """Set the bits of the rows that have a level."""
    n = len(column)
    # Whole words, without a branch: this loop becomes vector instructions.
    for w in range(n // 64):
        word = np.uint64(0)
        for bit in range(64):
            word |= np.uint64(column[64 * w + bit] == level) << np.uint64(bit)
        plane[w] = word
    for r in range(n - n % 64, n):
        plane[n // 64] |= np.uint64(column[r] == level) << np.uint64(r % 64)


@njit(nogil=True, cache=True)
def cell_masks(
    planes: NDArray[np.uint64],
    first_plane: NDArray[np.int64],
    arities: NDArray[np.int64],
    n_rows: int,
    masks: NDArray[np.uint64],
) -> None:
    """Fill ``masks`` (cells, words) with the rows of each cell: the product of the variables' levels.

    ``planes`` (planes, words) are those of a chunk, ``n_rows`` the rows from its first one on. The variables
    are given by their first plane and arity; the last one varies fastest.
    """
    for w in range(planes.shape[1]):
        left = max(n_rows - 64 * w, 0)
        masks[0, w] = ~np.uint64(0) if left >= 64 else (np.uint64(1) << np.uint64(left)) - np.uint64(1)
    n_cells = 1
    for v in range(len(arities)):
        a = arities[v]
        # From the last cell down, so that a cell is read before its place is overwritten. One loop over the words for
        # each level: such loops become vector instructions.
        for c in range(n_cells - 1, -1, -1):
            whole, first, part = masks[c], masks[c * a], masks[c * a + 1]
            for level in range(1, a):
                plane, part = planes[first_plane[v] + level - 1], masks[c * a + level]
                for w in range(len(whole)):
                    part[w] = whole[w] & plane[w]
            for w in range(len(whole)):
                first[w] = whole[w] ^ part[w]  # less the last level,
            for level in range(1, a - 1):
                part = masks[c * a + level]
                for w in range(len(whole)):
                    first[w] ^= part[w]  # and the others
        n_cells *= a


@njit(nogil=True, cache=True)
def count_bits(
    planes: NDArray[np.uint64],
    plane_totals: NDArray[np.int32],
    n_rows: int,
    cell_first: NDArray[np.int64],
    cell_arity: NDArray[np.int64],
    x_first: NDArray[np.int64],
    x_arity: NDArray[np.int64],
    counts: NDArray[np.int32],
) -> None:
    """Count candidates packed as bit planes; cells are the product of the levels of y and the given variables.

    Bits are counted for all levels and cells but the first ones, which are what the totals leave.
    """
    n_chunks, _, words = planes.shape
    n_cells = 1
    for v in range(len(cell_arity)):
        n_cells *= cell_arity[v]
    counts[:] = 0
    masks, in_chunk = np.empty((n_cells, words), np.uint64), np.empty(n_cells, np.int32)
    totals = np.zeros(n_cells, np.int32)
    for chunk in range(n_chunks):
        here = planes[chunk]
        cell_masks(here, cell_first, cell_arity, n_rows - 64 * words * chunk, masks)
        for c in range(n_cells):
            in_chunk[c] = common_bits(masks[c], masks[c])
            totals[c] += in_chunk[c]
        for i in range(len(x_first)):
            for level in range(1, x_arity[i]):
                plane = x_first[i] + level - 1
                for c in range(1, n_cells):
                    if in_chunk[c] > 0:
                        found = np.uint64(0)
                        for w in range(words):  # written out: a call with slices costs as much as 20 words
                            found += popcount(here[plane, w] & masks[c, w])
                        counts[i, level * n_cells + c] += np.int32(found)
    _fill_first(plane_totals, totals, x_first, x_arity, counts)


@njit(nogil=True, cache=True)
def _fill_first(
    plane_totals: NDArray[np.int32],
    totals: NDArray[np.int32],
    x_first: NDArray[np.int64],
    x_arity: NDArray[np.int64],
    counts: NDArray[np.int32],
) -> None:
    """Fill in the first cell of each level, and the first level of each cell, from the totals."""
    n_cells = len(totals)
    for i in range(len(x_first)):
        for c in range(n_cells):
            counts[i, c] = totals[c]
        for level in range(1, x_arity[i]):
            first = plane_totals[x_first[i] + level - 1]
            for c in range(1, n_cells):
                found = counts[i, level * n_cells + c]
                counts[i, c] -= found
                first -= found
            counts[i, level * n_cells] = first
            counts[i, 0] -= first


@njit(nogil=True, cache=True)
def common_bits(a: NDArray[np.uint64], b: NDArray[np.uint64]) -> np.int32:
    """Return the number of bits that are set in both."""
    total = np.uint64(0)
    for w in range(len(a)):
        total += popcount(a[w] & b[w])
    return np.int32(total)


@njit(nogil=True, cache=True)
def popcount(word: np.uint64) -> np.uint64:
    """Return the number of set bits (LLVM turns this idiom into one instruction)."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@njit(nogil=True, cache=True)
def extend_codes(codes: NDArray[np.uint32], column: NDArray[np.integer], arity: int) -> NDArray[np.uint32]:
    """Return joint codes ``codes * arity + column``."""
    out = np.empty(len(codes), np.uint32)
    for r in range(len(codes)):
        out[r] = codes[r] * np.uint32(arity) + np.uint32(column[r])
    return out


@njit(nogil=True, cache=True)
def cells_of(codes: NDArray[np.uint32], column: NDArray[np.integer], n_strata: int) -> NDArray[np.uint32]:
    """Return the cell of each row: level of y times the number of strata, plus its stratum."""
    out = np.empty(len(codes), np.uint32)
    for r in range(len(codes)):
        out[r] = codes[r] + np.uint32(n_strata) * np.uint32(column[r])
    return out


@njit(nogil=True, cache=True)
def totals_of(cells: NDArray[np.integer], n_cells: int) -> NDArray[np.int32]:
    """Return how many rows each cell has; even and odd ones are counted apart, as increments wait for each other."""
    even, odd = np.zeros(n_cells, np.int32), np.zeros(n_cells, np.int32)
    for r in range(0, len(cells) - 1, 2):
        even[cells[r]] += np.int32(1)
        odd[cells[r + 1]] += np.int32(1)
    if len(cells) % 2:
        even[cells[-1]] += np.int32(1)
    for c in range(n_cells):
        even[c] += odd[c]
    return even


@njit(nogil=True, cache=True)
def renumber(codes: NDArray[np.uint32], n_codes: int) -> int:
    """Renumber joint codes in place as 0, 1, ... in the order of the codes that occur; return how many."""
    new = np.zeros(n_codes, np.uint32)
    for r in range(len(codes)):
        new[codes[r]] = 1
    n_seen = 0
    for c in range(n_codes):
        if new[c]:
            new[c] = n_seen
            n_seen += 1
    for r in range(len(codes)):
        codes[r] = new[codes[r]]
    return n_seen
