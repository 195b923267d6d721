"""The table of a counter in the form that kernels need to answer whole questions."""

from __future__ import annotations

from weakref import ref

import numpy as np
from numpy.typing import NDArray

from blankets.counting._contract import Counter
from blankets.counting._memory import MemoryCounter
from blankets.counting._planes import on_disk
from blankets.data import DenseColumns, Frame
from blankets.kernels import Table

MOST_COPIED = 64 << 20  # most bytes of codes that are copied, if they are not in one block already
MOST_OF_SPARSE = 256 << 20  # the same for sparse columns

# Forgotten with the frame, by a callback in C: in one in Python a Ctrl-C would be lost.
_COPIED: dict[ref[Frame], NDArray[np.uint8]] = {}


def dense_table(counter: Counter, *, copy_sparse: bool = False) -> Table | None:
    """Return the table of a counter, if all its columns are narrow and in memory.

    Sparse columns may be copied as dense ones, up to 256 MB.
    """
    if type(counter) is not MemoryCounter or not len(counter.names) or counter.arities.min() < 1:
        return None
    if copy_sparse not in counter.tables_made:
        codes = _codes_of(counter.frame, copy_sparse=copy_sparse)
        counter.tables_made[copy_sparse] = None if codes is None else counter.table(codes)
    return counter.tables_made[copy_sparse]


def _codes_of(frame: Frame, *, copy_sparse: bool) -> NDArray[np.uint8] | None:
    """Return the codes of all columns in their order, if all are narrow and in memory."""
    if not frame.n_rows or on_disk(frame) or any(block.codes.dtype != np.uint8 for block in frame.blocks):
        return None
    first = frame.blocks[0]
    if len(frame.blocks) == 1 and isinstance(first, DenseColumns):
        if np.array_equal(frame.position, np.arange(len(first))):
            return np.ascontiguousarray(first.codes, np.uint8)
    all_dense = all(isinstance(block, DenseColumns) for block in frame.blocks)
    if frame.n_columns * frame.n_rows > (MOST_COPIED if all_dense else MOST_OF_SPARSE if copy_sparse else 0):
        return None
    found = _COPIED.get(ref(frame))
    if found is None:
        found = np.array([frame.column(x) for x in range(frame.n_columns)], np.uint8)
        _COPIED[ref(frame, _COPIED.pop)] = found
    return found
