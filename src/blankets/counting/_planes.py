"""Bit planes of a frame: one for each level but the first of columns with few levels.

Planes have shape (chunks, planes, words): a scan reads the rows of one chunk of all planes in sequence, which is
the fastest way to read memory, while the masks of the cells stay in the cache.
"""

from __future__ import annotations

from weakref import ref

import numpy as np
from numpy.typing import NDArray

from blankets import kernels
from blankets.counting._pages import empty_array
from blankets.data import DenseColumns, Frame, SparseColumns

Planes = tuple[NDArray[np.uint64], NDArray[np.int32]]

# Columns of up to this many levels have bit planes; these then take at most half of the codes' memory.
BITS_MOST_LEVELS = 5
# Sparse columns have them if they take at most this many times the memory of the stored entries: above 0.6% of ones.
MOST_OF_SPARSE = 4
# For a store on disk bit planes are made if they take no more memory than this; its codes take no lasting memory.
PLANES_OF_STORE_BYTES = 384 << 20
WORDS = 512  # most words of a chunk: 32,768 rows, 4 KiB a plane

# Forgotten with the frame, by a callback in C: in one in Python a Ctrl-C would be lost.
_KEPT: dict[ref[Frame], Planes] = {}


def first_planes(frame: Frame) -> NDArray[np.int64]:
    """Return the number of each column's first bit plane; -1 for columns that have none."""
    narrow = np.array([_has_planes(block) for block in frame.blocks], bool)
    packed = (frame.widths >= 2) & (frame.widths <= BITS_MOST_LEVELS)
    packed &= narrow[frame.block_of] if len(narrow) else False
    planes = np.where(packed, frame.widths - 1, 0)
    if on_disk(frame) and int(planes.sum()) * frame.n_rows // 8 > PLANES_OF_STORE_BYTES:
        return np.full(frame.n_columns, -1, np.int64)
    return np.where(packed, np.cumsum(planes) - planes, -1)


def _has_planes(block: DenseColumns | SparseColumns) -> bool:
    if isinstance(block, DenseColumns):
        return block.codes.dtype == np.uint8
    return len(block) * block.n_rows // 8 <= MOST_OF_SPARSE * (block.indices.nbytes + block.codes.nbytes)


def on_disk(frame: Frame) -> bool:
    """Whether the codes are mapped into memory from a file."""
    return any(isinstance(block.codes.base, np.memmap) for block in frame.blocks)


def planes_of(frame: Frame, first_plane: NDArray[np.int64]) -> Planes:
    """Return bit planes and their numbers of bits; kept with the frame, for the next question about the same data."""
    found = _KEPT.get(ref(frame))
    if found is None:
        found = _KEPT[ref(frame, _KEPT.pop)] = _packed(frame, first_plane)
    return found


def _packed(frame: Frame, first_plane: NDArray[np.int64]) -> Planes:
    n_words = max(-(-frame.n_rows // 64), 1)
    words = -(-n_words // (8 * -(-n_words // WORDS))) * 8  # chunks of like size, whole cache lines
    n_planes = int((frame.widths[first_plane >= 0] - 1).sum()) + 1  # the last one has no bits
    planes, totals = empty_array((-(-n_words // words), n_planes, words), np.uint64), np.zeros(n_planes, np.int32)
    for b, block in enumerate(frame.blocks):
        columns = np.flatnonzero((frame.block_of == b) & (first_plane >= 0))
        at, first = frame.position[columns], first_plane[columns]
        if not len(columns):
            continue
        if isinstance(block, DenseColumns):
            kernels.pack_dense(np.ascontiguousarray(block.codes), at, frame.widths[columns], first, planes, totals)
        else:
            stored = block.indptr, block.indices, block.codes
            kernels.pack_sparse(*stored, at, frame.widths[columns], first, planes, totals)
    return planes, totals
