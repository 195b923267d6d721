"""Kernels of the GPU: pack codes as slices, find the cell of each row, count. Imported when a GPU is asked for.

Column j has ``depth`` *slices*: bit k of the codes of all rows is slice ``first + k``. Slices have shape (words of 64
rows, slices), so that neighboring threads, which work on neighboring columns, read neighboring words. Columns of
two or three levels are as many slices as levels less one, of 256 levels eight: never more than their codes.

Every kernel works through its jobs in strides of the grid, whatever the grid is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda, int32

__all__ = [
    "SHARED_COUNTS",
    "TILE",
    "choose",
    "clear",
    "joint_codes",
    "mask_cells",
    "slice_dense",
    "slice_sparse",
    "tally_bits",
    "tally_rows",
]

TILE = 4  # cells for which a thread counts at a time: their counts stay in registers
SHARED_COUNTS = 12_288  # largest table in the memory that threads share: 48 KiB


@cuda.jit(cache=True)
def slice_dense(codes: Any, n_rows: int, first: Any, depth: Any, slices: Any) -> None:
    """Fill the slices of columns of dense codes, shape (columns, rows)."""
    n = len(first)
    for job in range(cuda.grid(1), n * slices.shape[0], cuda.gridsize(1)):
        w, i = job // n, job % n
        for k in range(depth[i]):
            word = np.uint64(0)
            for bit in range(min(64, n_rows - 64 * w)):
                word |= np.uint64((codes[i, 64 * w + bit] >> k) & 1) << np.uint64(bit)
            slices[w, first[i] + k] = word


@cuda.jit(cache=True)
def slice_sparse(indptr: Any, indices: Any, codes: Any, at: Any, first: Any, depth: Any, slices: Any) -> None:
    """Do the same for sparse columns, a thread for each."""
    for i in range(cuda.grid(1), len(first), cuda.gridsize(1)):
        for w in range(slices.shape[0]):
            for k in range(depth[i]):
                slices[w, first[i] + k] = np.uint64(0)
        for e in range(indptr[at[i]], indptr[at[i] + 1]):
            row = indices[e]
            for k in range(depth[i]):
                slices[row >> 6, first[i] + k] |= np.uint64((codes[e] >> k) & 1) << np.uint64(row & 63)


@cuda.jit(device=True)
def _code(slices: Any, row: int, first: int, depth: int) -> np.int64:
    """Return the code of a column in a row."""
    code = np.int64(0)
    for k in range(depth):
        code |= np.int64((slices[row >> 6, first + k] >> np.uint64(row & 63)) & np.uint64(1)) << k
    return code


@cuda.jit(cache=True)
def choose(asked: Any, n: int, n_xs: int, columns: Any, chosen: Any, totals: Any) -> None:
    """Look up first slice and depth of the columns of a request, and set the totals of cells to 0.

    ``asked`` are the weights of the ``n`` columns whose joint codes are cells, these columns, and the candidates.
    """
    for i in range(cuda.grid(1), n + n_xs, cuda.gridsize(1)):
        chosen[0, i], chosen[1, i] = columns[0, asked[n + i]], columns[1, asked[n + i]]
        if i < n:
            chosen[2, i] = asked[i]
    for c in range(cuda.grid(1), len(totals), cuda.gridsize(1)):
        totals[c] = 0


@cuda.jit(cache=True)
def joint_codes(slices: Any, n_rows: int, chosen: Any, n: int, codes: Any) -> None:
    """Fill the joint code of the first ``n`` chosen columns in each row."""
    for row in range(cuda.grid(1), n_rows, cuda.gridsize(1)):
        joint = 0
        for v in range(n):
            joint += chosen[2, v] * _code(slices, row, chosen[0, v], chosen[1, v])
        codes[row] = joint


@cuda.jit(cache=True)
def mask_cells(cells: Any, n_rows: int, n_words: int, n: int, masks: Any, totals: Any) -> None:
    """Fill ``masks``, ``n`` for each word, with the rows of each cell, and add up how many they are."""
    for job in range(cuda.grid(1), n_words * n, cuda.gridsize(1)):
        w, c = job // n, job % n
        mask = np.uint64(0)
        for bit in range(min(64, n_rows - 64 * w)):
            if cells[64 * w + bit] == c:
                mask |= np.uint64(1) << np.uint64(bit)
        masks[job] = mask
        if mask != 0:
            cuda.atomic.add(totals, c, int32(cuda.popc(mask)))


@cuda.jit(cache=True)
def clear(counts: Any, n: int) -> None:
    """Set the first ``n`` counts to 0."""
    for k in range(cuda.grid(1), n, cuda.gridsize(1)):
        counts[k] = 0


@cuda.jit(device=True)
def _add_bits(
    slices: Any, first: int, arity: int, masks: Any, stride: int, tile: int, words: Any, table: Any, at: int
) -> None:
    """Count the bits of a column in a tile of cells; add them to ``table`` from ``at`` on.

    The bits of each slice and, of four levels, of both together are counted; level 0 is what the totals leave.
    """
    ones, twos, both = cuda.local.array(TILE, int32), cuda.local.array(TILE, int32), cuda.local.array(TILE, int32)
    for j in range(TILE):
        ones[j], twos[j], both[j] = 0, 0, 0
    for w in range(words[0], words[1], words[2]):
        a = slices[w, first]
        b = slices[w, first + 1] if arity > 2 else np.uint64(0)
        for j in range(TILE):
            mask = masks[w * stride + tile * TILE + j]
            ones[j] += int32(cuda.popc(a & mask))
            if arity > 2:
                twos[j] += int32(cuda.popc(b & mask))
            if arity > 3:
                both[j] += int32(cuda.popc(a & b & mask))
    for j in range(TILE):
        cuda.atomic.add(table, at + j, int32(both[j] - ones[j] - twos[j]))
        cuda.atomic.add(table, at + TILE + j, int32(ones[j] - both[j]))
        if arity > 2:
            cuda.atomic.add(table, at + 2 * TILE + j, int32(twos[j] - both[j]))
        if arity > 3:
            cuda.atomic.add(table, at + 3 * TILE + j, both[j])


@cuda.jit(cache=True)
def tally_bits(
    slices: Any,
    masks: Any,
    totals: Any,
    chosen: Any,
    start: int,
    n: int,
    arity: int,
    n_cells: int,
    words_each: int,
    lanes: int,
    counts: Any,
) -> None:
    """Count ``n`` columns of two to four levels in few cells, a block for ``lanes`` columns, a tile and some words.

    Neighboring threads have neighboring columns; those of the same column share its words.
    """
    table = cuda.shared.array(0, int32)
    thread, threads, n_words = cuda.threadIdx.x, cuda.blockDim.x, slices.shape[0]
    groups, n_tiles, size = (n + lanes - 1) // lanes, (n_cells + TILE - 1) // TILE, arity * TILE
    for job in range(cuda.blockIdx.x, groups * n_tiles * ((n_words + words_each - 1) // words_each), cuda.gridDim.x):
        group, tile, begin = job % groups, job // groups % n_tiles, job // groups // n_tiles * words_each
        for k in range(thread, lanes * (size + 1), threads):
            table[k] = 0
        cuda.syncthreads()
        i = group * lanes + thread % lanes
        if i < n:
            words = begin + thread // lanes, min(begin + words_each, n_words), threads // lanes
            # One more for each column: threads that add at the same time do so in different banks.
            at = thread % lanes * (size + 1)
            _add_bits(slices, chosen[0, start + i], arity, masks, n_tiles * TILE, tile, words, table, at)
        cuda.syncthreads()
        for k in range(thread, lanes * size, threads):
            i, level, c = group * lanes + k // size, k % size // TILE, tile * TILE + k % TILE
            if i < n and c < n_cells:
                found = table[k // size * (size + 1) + k % size]
                if level == 0 and begin == 0:
                    found += totals[c]
                if words_each < n_words:
                    cuda.atomic.add(counts, (i * arity + level) * n_cells + c, found)
                else:
                    counts[(i * arity + level) * n_cells + c] = found
        cuda.syncthreads()


@cuda.jit(cache=True)
def tally_rows(
    slices: Any,
    n_rows: int,
    cells: Any,
    chosen: Any,
    start: int,
    n: int,
    n_cells: int,
    size: int,
    rows_each: int,
    counts: Any,
) -> None:
    """Count ``n`` columns of any levels row by row, a block for a column and some rows; ``size`` counts a table."""
    table = cuda.shared.array(0, int32)
    thread, threads, shared = cuda.threadIdx.x, cuda.blockDim.x, size <= SHARED_COUNTS
    for job in range(cuda.blockIdx.x, n * ((n_rows + rows_each - 1) // rows_each), cuda.gridDim.x):
        i, chunk = job % n, job // n
        first, depth = chosen[0, start + i], chosen[1, start + i]
        if shared:
            for k in range(thread, size, threads):
                table[k] = 0
            cuda.syncthreads()
        for row in range(chunk * rows_each + thread, min((chunk + 1) * rows_each, n_rows), threads):
            place = _code(slices, row, first, depth) * n_cells + cells[row]
            if shared:
                cuda.atomic.add(table, place, 1)
            else:
                cuda.atomic.add(counts, i * size + place, 1)
        if shared:
            cuda.syncthreads()
            for k in range(thread, size, threads):
                if table[k] > 0:
                    cuda.atomic.add(counts, i * size + k, table[k])
            cuda.syncthreads()
