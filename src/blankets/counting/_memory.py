"""Counting in memory: packed bits, dense codes or sparse columns, by the visible rules below.

The joint code of a conditioning set is built by extending the code of a smaller set, which is kept; when
the product of the arities outgrows the rows, codes are renumbered to the strata that occur. So a set of
100 variables needs no more than one number a row.
"""

from __future__ import annotations

import math
import os
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from threading import Lock, local
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from blankets.counting import _kernels as kernels
from blankets.counting._contract import Columns, Counter, TableBlock, gathered
from blankets.data import DenseColumns, Frame, SparseColumns
from blankets.errors import DataError, listed

__all__ = ["MemoryCounter", "count_alone", "kernels_ready"]

# Bits win while cells x (levels - 1) stays below this. Measured on 5,000 rows: dense codes cost 0.25 to
# 0.45 ns a row, bits 0.12 ns a word of 64 rows for each cell and level, so they meet between 124 and 211.
BITS_WIN_BELOW = 176
# Columns of up to this many levels have bit planes; these then take at most half of the codes' memory.
BITS_MOST_LEVELS = 5
# Counts of one block: 65,536 of four bytes fill a quarter of a second-level cache of 1 MiB.
BLOCK_COUNTS = 1 << 16
# Requests below this many rows x candidates stay on one thread: a hand-over costs about 30 µs.
THREADS_WIN_ABOVE = 2_000_000
# Joint codes are renumbered to those that occur when there could be more than one for 16 rows.
RENUMBER_ABOVE = 1 / 16
# A joint table of several columns is counted whole up to this size; then every margin of it is at hand.
JOINT_COUNTS = 1 << 14
STRATA_KEPT_BYTES = 64 << 20
# Largest table that is counted, unless rows are more: a reliable test has at most 4/5 of a cell for each row.
MOST_COUNTS = 1 << 26
# Of a store on disk bit planes are made if they take no more memory than this; its codes take none for good.
PLANES_OF_STORE_BYTES = 384 << 20


def kernels_ready() -> bool:
    """Whether the kernels have been compiled on this machine before (the first use takes some seconds)."""
    kernel: Any = kernels.count_dense
    place = Path(kernel._cache.cache_path)
    return place.is_dir() and any(place.glob("_kernels.count_*.nbi"))


Job = tuple[NDArray[np.int64], Callable[[], NDArray[np.int32]]]  # where in the request; what counts it
Fill = Callable[[NDArray[np.int64], NDArray[np.int32]], None]  # columns, counts to fill


_thread = local()


def count_alone() -> None:
    """Have the calling thread count by itself from now on: others are at work beside it."""
    _thread.alone = True


_PLANES: WeakKeyDictionary[Frame, tuple[NDArray[np.uint64], NDArray[np.int32]]] = WeakKeyDictionary()


class MemoryCounter(Counter):
    """Counts the rows of a `Frame` in memory.

    Parameters
    ----------
    frame : Frame
        The data.
    n_threads : int, optional
        Threads for one large request; default: the number of processors. Counts do not depend on it.

    Examples
    --------
    >>> counter = MemoryCounter(Frame.from_codes([[0, 1], [1, 1], [0, 0]]))
    >>> [block.counts.squeeze(-1).tolist() for block in counter.tables([0], 1)]  # one stratum
    [[[[1, 1], [0, 1]]]]
    """

    def __init__(self, frame: Frame, n_threads: int | None = None) -> None:
        self.frame = frame
        self.names, self.arities, self.n_rows = frame.names, frame.arities, frame.n_rows
        self.n_threads = n_threads or os.cpu_count() or 1
        self._strata: OrderedDict[tuple[int, ...], tuple[NDArray[np.uint32], int]] = OrderedDict()
        self._lock = Lock()

    def __reduce__(self) -> tuple[type[MemoryCounter], tuple[Frame, int]]:
        """Travel as the frame alone."""
        return type(self), (self.frame, self.n_threads)

    def tables(self, xs: Columns, y: int, given: Columns = ()) -> Iterator[TableBlock]:
        """Yield the tables of each of ``xs`` with ``y`` in the strata of ``given``, block by block."""
        for at, count in self._jobs(np.asarray(xs, np.int64), int(y), given):
            yield TableBlock(at, count())

    def summarise(
        self,
        summary: Callable[[NDArray[np.int32]], tuple[NDArray[np.float64], ...]],
        xs: Columns,
        y: int,
        given: Columns = (),
    ) -> tuple[NDArray[np.float64], ...]:
        """Apply a function of count tables to every block, on several threads if that pays."""
        columns = np.asarray(xs, np.int64)
        jobs = list(self._jobs(columns, int(y), given))
        if len(jobs) == 1 and len(jobs[0][0]) == len(columns):  # one block keeps the order of the request
            return summary(jobs[0][1]())
        if len(jobs) == 1 or self._threads_for(len(columns)) == 1:
            return gathered([(at, summary(count())) for at, count in jobs], len(columns))
        results = self._pool.map(lambda job: summary(job[1]()), jobs)
        return gathered([(at, values) for (at, _), values in zip(jobs, results, strict=True)], len(columns))

    def _threads_for(self, n_candidates: int) -> int:
        many = n_candidates * self.n_rows > THREADS_WIN_ABOVE
        return self.n_threads if many and not getattr(_thread, "alone", False) else 1

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self.n_threads, thread_name_prefix="blankets-count")

    def _jobs(self, xs: NDArray[np.int64], y: int, given: Columns) -> Iterator[Job]:
        """Split a request by the way its columns are stored and counted, and then into blocks."""
        if not len(xs):
            return
        # In ascending order, so that the same set gives the same sums whoever asks.
        conditioning = tuple(sorted(int(z) for z in given))
        arity = int(self.arities[y])
        by_bits, n_strata = self._bits_win(xs, y, conditioning)
        at = by_bits.nonzero()[0]
        if len(at):
            yield from self._in_blocks(at, xs[at], self._bit_counts(y, conditioning), (arity, n_strata))
            if len(at) == len(xs):
                return
        codes, n_strata = self._strata_of(conditioning)
        self._check_size(xs, y, conditioning, n_strata)
        cells = kernels.cells_of(codes, self.frame.column(y), n_strata)
        block_of = np.where(by_bits, -1, self.frame.block_of[xs])
        for b, block in enumerate(self.frame.blocks):
            at = np.flatnonzero(block_of == b)
            if len(at):
                fill = self._column_counts(block, cells, n_strata * arity)
                yield from self._in_blocks(at, xs[at], fill, (arity, n_strata))

    def _check_size(self, xs: NDArray[np.int64], y: int, given: tuple[int, ...], n_strata: int) -> None:
        """Refuse tables that would not fit before memory for them is asked for."""
        x = int(xs[np.argmax(self.arities[xs])])
        n_counts = int(self.arities[x]) * int(self.arities[y]) * n_strata
        if n_counts > max(MOST_COUNTS, self.n_rows):
            names = self.names
            known = f" given {listed(names[z] for z in given)}" if given else ""
            raise DataError(
                f"the table of {names[x]!r} and {names[y]!r}{known} has {n_counts:,} cells for {self.n_rows:,} rows, "
                f"too many to be counted; join rare levels, or condition on fewer columns"
            )

    def _bits_win(self, xs: NDArray[np.int64], y: int, given: tuple[int, ...]) -> tuple[NDArray[np.bool_], int]:
        """Return which candidates are counted by bits, and the number of strata that bits distinguish."""
        levels = self._bit_levels
        n_strata, n_cells = 1, levels[y]
        for z in given:
            n_strata *= levels[z]
            n_cells *= levels[z]
            if n_cells > BITS_WIN_BELOW:
                break
        return self._levels_of_bits[xs] <= BITS_WIN_BELOW // n_cells + 1, n_strata

    @cached_property
    def _levels_of_bits(self) -> NDArray[np.int64]:
        """Levels of each column that has bit planes; of the others a number too large for bits to win."""
        return np.where(self._first_plane >= 0, self.arities, 4 * BITS_WIN_BELOW)

    @cached_property
    def _bit_levels(self) -> list[int]:
        """The same as a list, which is faster for one look."""
        return self._levels_of_bits.tolist()  # type: ignore[no-any-return]

    @cached_property
    def _first_plane(self) -> NDArray[np.int64]:
        """Number of each column's first bit plane; -1 for columns that have none."""
        narrow = [isinstance(block, DenseColumns) and block.codes.dtype == np.uint8 for block in self.frame.blocks]
        # Of several narrow blocks (a replaced target has one of its own) only the largest is packed.
        sizes = [len(block) if ok else 0 for block, ok in zip(self.frame.blocks, narrow, strict=True)]
        packed = self.frame.block_of == int(np.argmax(sizes)) if any(sizes) else np.zeros(len(self.names), bool)
        packed &= (self.arities >= 2) & (self.arities <= BITS_MOST_LEVELS)
        planes = np.where(packed, self.arities - 1, 0)
        if self._on_disk and int(planes.sum()) * self.n_rows // 8 > PLANES_OF_STORE_BYTES:
            return np.full(len(self.names), -1, np.int64)
        return np.where(packed, np.cumsum(planes) - planes, -1)

    @property
    def _on_disk(self) -> bool:
        """Whether the codes are mapped into memory from a file."""
        return any(isinstance(block.codes.base, np.memmap) for block in self.frame.blocks)

    @cached_property
    def _planes(self) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
        """Bit planes of the frame and their totals; kept with it, for the next question about the same data."""
        if self.frame not in _PLANES:
            columns = np.flatnonzero(self._first_plane >= 0)
            codes = self.frame.blocks[self.frame.block_of[columns[0]]].codes
            _PLANES[self.frame] = kernels.pack_bits(codes, self.frame.position[columns], self.arities[columns])
        return _PLANES[self.frame]

    def _bit_counts(self, y: int, given: tuple[int, ...]) -> Fill:
        """Return what counts columns packed as bits in the cells of ``y`` and ``given``."""
        cell_variables = np.array([y, *given])
        cell_first, cell_arity = self._first_plane[cell_variables], self.arities[cell_variables]
        planes, totals = self._planes

        def fill(xs: NDArray[np.int64], counts: NDArray[np.int32]) -> None:
            first, arity = self._first_plane[xs], self.arities[xs]
            kernels.count_bits(planes, totals, self.n_rows, cell_first, cell_arity, first, arity, counts)

        return fill

    def _column_counts(self, block: DenseColumns | SparseColumns, cells: NDArray[np.uint32], n_cells: int) -> Fill:
        """Return what counts the columns of a block in the given cells."""
        position = self.frame.position
        if isinstance(block, DenseColumns):
            codes = block.codes
            return lambda xs, counts: kernels.count_dense(codes, position[xs], cells, n_cells, counts)
        stored = block.indptr, block.indices, block.codes
        totals = np.bincount(cells, minlength=n_cells).astype(np.int32)
        return lambda xs, counts: kernels.count_sparse(*stored, position[xs], cells, totals, counts)

    def _in_blocks(
        self, at: NDArray[np.int64], xs: NDArray[np.int64], fill: Fill, shape: tuple[int, int]
    ) -> Iterator[Job]:
        """Cut candidates into blocks, those of like arity together: the widest sets the size of the tables."""
        arities = self.arities[xs]
        n_cells = shape[0] * shape[1]
        parts = self._parts(len(xs), n_cells * int(arities.max()))
        if len(parts) > 1:
            order = np.argsort(arities, kind="stable")
            at, xs, arities = at[order], xs[order], arities[order]
        for part in parts:
            columns, width = xs[part], int(arities[part].max())

            def count(columns: NDArray[np.int64] = columns, width: int = width) -> NDArray[np.int32]:
                counts = np.empty((len(columns), n_cells * width), np.int32)
                fill(columns, counts)
                return counts.reshape(len(columns), width, *shape)

            yield at[part], count

    def _parts(self, n: int, counts_each: int) -> list[slice]:
        """Cut ``n`` candidates into blocks that fit the cache, and at least one for each thread that pays."""
        threads = self._threads_for(n)
        size = max(1, min(BLOCK_COUNTS // counts_each, -(-n // (4 * threads)) if threads > 1 else n))
        return [slice(start, start + size) for start in range(0, n, size)]

    def joint(self, columns: Columns) -> NDArray[np.int32] | None:
        """Return the counts of all combinations of levels, one axis a column; None if they are many."""
        shape = tuple(self._arity_list[int(j)] for j in columns)
        n_cells = math.prod(shape)
        if n_cells > JOINT_COUNTS:
            return None
        codes = np.zeros(self.n_rows, np.uint32)
        for j, arity in zip(columns, shape, strict=True):
            codes = kernels.extend_codes(codes, self.frame.column(int(j)), arity)
        return np.bincount(codes, minlength=n_cells).astype(np.int32).reshape(shape)

    @cached_property
    def _arity_list(self) -> list[int]:
        return self.arities.tolist()  # type: ignore[no-any-return]

    def strata(self, given: Columns) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the strata that occur: where they are among those of a table that has not all, and their codes.

        Codes have shape (strata, conditioning variables), in lexicographic order.
        """
        conditioning = tuple(sorted(int(z) for z in given))
        codes, n_codes = self._strata_of(conditioning)
        some_row = np.full(n_codes, -1, np.int64)
        some_row[codes] = np.arange(self.n_rows)
        places = np.flatnonzero(some_row >= 0)
        columns = [self.frame.column(z)[some_row[places]] for z in conditioning]
        return places, np.array(columns, np.int32).reshape(len(conditioning), -1).T

    def _strata_of(self, given: tuple[int, ...]) -> tuple[NDArray[np.uint32], int]:
        """Return the joint code of a conditioning set for each row, and the number of codes."""
        if not given:
            return np.zeros(self.n_rows, np.uint32), 1
        with self._lock:
            known = self._strata.get(given)
            if known is not None:
                self._strata.move_to_end(given)
                return known
        codes, n_codes = self._strata_of(given[:-1])
        arity = int(self.arities[given[-1]])
        column = self.frame.column(given[-1])
        n_joint = n_codes * arity
        if n_joint <= max(RENUMBER_ABOVE * self.n_rows, 1):
            joint, n_joint = kernels.extend_codes(codes, column, arity), n_joint
        elif n_joint <= 4 * self.n_rows + BLOCK_COUNTS:
            joint = kernels.extend_codes(codes, column, arity)
            n_joint = kernels.renumber(joint, n_joint)
        else:
            # Too many possible codes for a look-up table: sort the ones that occur.
            seen, inverse = np.unique(codes.astype(np.int64) * arity + column, return_inverse=True)
            joint, n_joint = inverse.astype(np.uint32), len(seen)
        with self._lock:
            self._strata[given] = joint, n_joint
            while len(self._strata) * self.n_rows * 4 > STRATA_KEPT_BYTES and len(self._strata) > 1:
                self._strata.popitem(last=False)
        return joint, n_joint
