"""Counting in memory: packed bits, dense codes or sparse columns, by the rules below."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import local
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from blankets import kernels
from blankets.caching import cached_property
from blankets.counting._contract import Columns, Counter, TableBlock, gathered
from blankets.counting._planes import BITS_MOST_LEVELS, first_planes, planes_of
from blankets.counting._strata import RENUMBER_ABOVE, Strata, joined, joined_seen
from blankets.data import DenseColumns, Frame, SparseColumns
from blankets.errors import DataError, listed

# Bits are faster than dense codes of one or two columns if cells x (levels - 1) is at most this: both are equal at 64
# to 160, with 5,000 and with 50,000 rows.
BITS_WIN_BELOW = 128
# Sparse columns that have bit planes (above 0.6% of ones) are counted by them if the words of all cells cost less
# than the stored entries. With 5,000 rows both are equal at 0.3% of ones with 4 cells, 1% with 16, 3% with 64.
# Sparse columns are always faster than dense codes.
#
# What counting and testing a column costs, in ns: a row of dense codes, a word of bits and a mask of them, a stored
# entry of a sparse column, a count.
NS_DENSE_ROW, NS_BITS_WORD, NS_MASK, NS_STORED, NS_COUNT = 0.25, 0.13, 3.0, 1.6, 3.0
# Counts of one block: 65,536 of four bytes fill a quarter of a second-level cache of 1 MiB.
BLOCK_COUNTS = 1 << 16
COUNTING = "blankets-count"  # what the names of threads begin with
# Requests that take less than this (ns) stay on one thread: starting work on another costs about 30 µs.
THREADS_WIN_ABOVE = 150_000
# Columns that one thread counts together: their levels are counted beside one another, and rows are placed once.
COUNTED_TOGETHER = 64
# Largest table that is counted, unless there are more rows: a reliable test has at most 4/5 of a cell per row.
MOST_COUNTS = 1 << 26


Places = NDArray[np.int64] | slice
Job = tuple[Places, Callable[[], NDArray[np.int32]]]  # where in the request; what counts it
Fill = Callable[[NDArray[np.int64], NDArray[np.int32]], None]  # columns, counts to fill


class Part(NamedTuple):
    """Candidates of a request that are counted in the same way."""

    at: Places  # where they are in the request
    xs: NDArray[np.int64]  # the columns
    fill: Fill  # what counts them
    shape: tuple[int, int]  # levels of y, strata
    ns: float  # estimated time in nanoseconds


_thread = local()


def count_alone() -> None:
    """Make the calling thread count without other threads from now on: these have work of their own."""
    _thread.alone = True


class MemoryCounter(Counter):
    """Counts the rows of a `Frame` in memory.

    ``frame``: the data. ``n_jobs``: threads for one large request; default: the number of processors. Counts do not
    depend on it.

    Examples
    --------
    >>> counter = MemoryCounter(Frame.from_codes([[0, 1], [1, 1], [0, 0]]))
    >>> [block.counts.squeeze(-1).tolist() for block in counter.tables([0], 1)]  # one stratum
    [[[[1, 1], [0, 1]]]]
    """

    def __init__(self, frame: Frame, n_jobs: int | None = None) -> None:
        self.frame = frame
        self.names, self.arities, self.n_rows = frame.names, frame.arities, frame.n_rows
        self.holes, self.widths = frame.holes, frame.widths
        self.n_jobs = n_jobs or os.cpu_count() or 1
        self._strata = Strata(frame)
        self.tables_made: dict[bool, kernels.Table | None] = {}  # by `dense_table`, with sparse columns copied or not

    def __reduce__(self) -> tuple[type[MemoryCounter], tuple[Frame, int]]:
        """Pickle only the frame."""
        return type(self), (self.frame, self.n_jobs)

    def tables(self, xs: Columns, y: int, given: Columns = ()) -> Iterator[TableBlock]:
        """Yield the tables of each of ``xs`` with ``y`` in the strata of ``given``, block by block."""
        columns = np.asarray(xs, np.int64)
        for at, count in self._jobs(columns, int(y), given)[0]:
            yield TableBlock(np.arange(len(columns))[at] if isinstance(at, slice) else at, count())

    def summarize(
        self,
        summary: Callable[[NDArray[np.int32]], tuple[NDArray[np.float64], ...]],
        xs: Columns,
        y: int,
        given: Columns = (),
    ) -> tuple[NDArray[np.float64], ...]:
        """Apply a function of count tables to every block, on several threads if that is faster."""
        columns = np.asarray(xs, np.int64)
        jobs, threads = self._jobs(columns, int(y), given)
        if len(jobs) == 1:  # keeps the order of the request
            return summary(jobs[0][1]())
        if threads == 1:
            return gathered([(at, summary(count())) for at, count in jobs], len(columns))
        results = self.pool.map(lambda job: summary(job[1]()), jobs)
        return gathered([(at, values) for (at, _), values in zip(jobs, results, strict=True)], len(columns))

    def threads_for(self, ns: float) -> int:
        """Return the number of threads for a request, from its time on one thread."""
        return self.n_jobs if ns > THREADS_WIN_ABOVE and not getattr(_thread, "alone", False) else 1

    def threads_for_scan(self, n_candidates: int) -> int:
        """Return the number of threads for a scan of this many candidates, in few cells."""
        each = 4 * NS_BITS_WORD / 64 if self._most_levels <= BITS_MOST_LEVELS else NS_DENSE_ROW
        return self.threads_for(n_candidates * (each * self.n_rows + 4 * NS_COUNT))

    @cached_property
    def pool(self) -> ThreadPoolExecutor:
        """Threads that count."""
        return ThreadPoolExecutor(self.n_jobs, thread_name_prefix=COUNTING)

    def _jobs(self, xs: NDArray[np.int64], y: int, given: Columns) -> tuple[list[Job], int]:
        """Split a request by the way its columns are counted, then into blocks; return also the number of threads."""
        # In ascending order, so that the same set always gives the same sums.
        parts = list(self._parts(xs, y, tuple(sorted(int(z) for z in given)))) if len(xs) else []
        threads = self.threads_for(sum(part.ns for part in parts))
        return [job for part in parts for job in self._in_blocks(part, threads)], threads

    def _parts(self, xs: NDArray[np.int64], y: int, given: tuple[int, ...]) -> Iterator[Part]:
        """Yield the candidates that are counted by bits, then the others of each block of the frame."""
        arity = self._arity_list[y]
        most, n_strata = self._bits_win(y, given)
        if len(xs) >= kernels.SLOTS_PAY and arity * n_strata > kernels.LANED_BITS:
            most = 1
        sparse_too = arity * n_strata <= self._cells_of_sparse
        holes = self._fills_holes(xs, y, given)
        if self._most_levels <= most and sparse_too:  # all of them, as often: nothing to look up
            by_bits = np.ones(0, bool)
            bits: Places = slice(0, len(xs))
        else:
            by_bits = self._levels_of_bits[xs] <= most if most > 1 else np.zeros(len(xs), bool)
            if not sparse_too:
                by_bits &= ~self._is_sparse[xs]
            bits = by_bits.nonzero()[0]
        n = len(xs[bits])
        if n:
            ns = n * arity * n_strata * (NS_BITS_WORD * (self.n_rows / 64) + NS_COUNT)
            fill, n_strata = self._bit_counts(y, given), math.prod(self._arity_list[z] for z in given)
            if holes:
                fill = self._seen_by_bits(fill, y, given)
            yield Part(bits, xs[bits], fill, (arity, n_strata), ns)
            if n == len(xs):
                return
        codes, n_strata = self._strata.of(given)
        self._check_size(xs, y, given, n_strata)
        column = self.frame.column(y)
        if holes:
            cells = joined_seen(codes, n_strata, 1, column, arity, n_strata).astype(np.uint32)
        else:
            cells = joined(codes, 1, column, n_strata, n_strata * arity) if given else column.astype(np.uint32)
        for block, at in self._blocks_of(xs, by_bits, n):
            fill, each = self._column_counts(block, cells, n_strata * arity + holes)
            if holes:
                fill = self._seen_by_rows(fill, n_strata * arity)
            columns = xs[at]
            yield Part(at, columns, fill, (arity, n_strata), len(columns) * (each + NS_COUNT * n_strata * arity))

    def _blocks_of(
        self, xs: NDArray[np.int64], by_bits: NDArray[np.bool_], n_bits: int
    ) -> Iterator[tuple[DenseColumns | SparseColumns, Places]]:
        """Yield the blocks of the frame with those of ``xs`` that are not counted by bits, and their positions."""
        if n_bits == 0 and len(self.frame.blocks) == 1:
            yield self.frame.blocks[0], slice(0, len(xs))
            return
        block_of = np.where(by_bits, -1, self.frame.block_of[xs])
        for b, block in enumerate(self.frame.blocks):
            at = np.flatnonzero(block_of == b)
            if len(at):
                yield block, at

    def _check_size(self, xs: NDArray[np.int64], y: int, given: tuple[int, ...], n_strata: int) -> None:
        """Refuse tables that would not fit into memory, before they are allocated."""
        x = int(xs[np.argmax(self.arities[xs])])
        n_counts = int(self.arities[x]) * int(self.arities[y]) * n_strata
        if n_counts > max(MOST_COUNTS, self.n_rows):
            names = self.names
            known = f" given {listed(names[z] for z in given)}" if given else ""
            raise DataError(
                f"the table of {names[x]!r} and {names[y]!r}{known} has {n_counts:,} cells for {self.n_rows:,} rows, "
                f"too many to count; merge rare levels, or condition on fewer columns"
            )

    def table(self, codes: NDArray[np.uint8]) -> kernels.Table:
        """Return the table for kernels, with the codes of all columns or of none."""
        planes, totals = self._planes
        below, most = BITS_WIN_BELOW, max(int(RENUMBER_ABOVE * self.n_rows), 1)
        holes = np.zeros(len(self.names), np.uint8)
        holes[list(self.holes)] = 1
        return kernels.Table(codes, self.arities, planes, totals, self._plane_or_none, self.n_rows, below, most, holes)

    @cached_property
    def bits(self) -> kernels.Table:
        """The table for kernels without codes: bit planes of the columns that have them."""
        return self.table(np.empty((0, self.n_rows), np.uint8))

    def _bits_win(self, y: int, given: tuple[int, ...]) -> tuple[int, int]:
        """Return the largest number of levels of candidates that are counted by bits, and the number of strata."""
        levels, below = self._bit_levels, BITS_WIN_BELOW
        n_strata, n_cells = 1, levels[y]
        for z in given:
            n_strata *= levels[z]
            n_cells *= levels[z]
            if n_cells > below:
                break
        return below // n_cells + 1, n_strata

    @cached_property
    def _most_levels(self) -> int:
        return int(self._levels_of_bits.max(initial=2))

    @cached_property
    def _levels_of_bits(self) -> NDArray[np.int64]:
        """Number of codes of each column with bit planes; for others, a number too large for counting by bits."""
        return np.where(self._first_plane >= 0, self.widths, 4 * BITS_WIN_BELOW)

    @cached_property
    def _bit_levels(self) -> list[int]:
        """The same as a list, which is faster for a single item."""
        return self._levels_of_bits.tolist()  # type: ignore[no-any-return]

    @cached_property
    def _first_plane(self) -> NDArray[np.int64]:
        """Number of each column's first bit plane; -1 for columns that have none."""
        return first_planes(self.frame)

    @cached_property
    def _plane_or_none(self) -> NDArray[np.int64]:
        """The same, with the plane without bits, the last one, for constant columns."""
        return np.where(self.widths == 1, len(self._planes[1]) - 1, self._first_plane)

    @cached_property
    def _planes(self) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
        """Bit planes of the frame, and how many bits each has."""
        if not (self._first_plane >= 0).any():
            return np.empty((1, 0, 8), np.uint64), np.empty(0, np.int32)
        return planes_of(self.frame, self._first_plane)

    @cached_property
    def _is_sparse(self) -> NDArray[np.bool_]:
        return np.array([isinstance(block, SparseColumns) for block in self.frame.blocks])[self.frame.block_of]

    @cached_property
    def _cells_of_sparse(self) -> float:
        """Up to how many cells bits are faster than the stored entries of sparse columns."""
        sparse = [block for block in self.frame.blocks if isinstance(block, SparseColumns)]
        stored, n = sum(len(block.codes) for block in sparse), sum(len(block) for block in sparse)
        return NS_STORED * stored / n / (NS_BITS_WORD * (self.n_rows / 64) + NS_MASK) if n else math.inf

    def _bit_counts(self, y: int, given: tuple[int, ...]) -> Fill:
        """Return a function that counts columns packed as bits in the cells of ``y`` and ``given``."""
        cell_variables = np.array([y, *given])
        cell_first, cell_arity = self._first_plane[cell_variables], self.widths[cell_variables]
        planes, totals = self._planes

        def fill(xs: NDArray[np.int64], counts: NDArray[np.int32]) -> None:
            first, arity = self._first_plane[xs], self.widths[xs]
            kernels.count_bits(planes, totals, self.n_rows, cell_first, cell_arity, first, arity, counts)

        return fill

    def _column_counts(
        self, block: DenseColumns | SparseColumns, cells: NDArray[np.uint32], n_cells: int
    ) -> tuple[Fill, float]:
        """Return a function that counts the columns of a block in the given cells, and its time per column (ns)."""
        position, row = self.frame.position, cells.reshape(1, -1)
        if isinstance(block, DenseColumns):
            codes = np.ascontiguousarray(block.codes)

            def fill(xs: NDArray[np.int64], counts: NDArray[np.int32]) -> None:
                if codes.dtype == np.uint8:
                    kernels.count_dense(codes, position[xs], row, n_cells, counts)
                else:
                    for x, table in zip(position[xs], counts, strict=True):
                        kernels.count_wide(codes[x], row, n_cells, table)

            return fill, NS_DENSE_ROW * self.n_rows
        stored = block.indptr, block.indices, block.codes
        totals = np.bincount(cells, minlength=n_cells).astype(np.int32)
        return (
            lambda xs, counts: kernels.count_sparse(*stored, position[xs], row, totals, counts),
            NS_STORED * len(block.codes) / len(block),
        )

    def _fills_holes(self, xs: NDArray[np.int64], y: int, given: tuple[int, ...]) -> bool:
        """Tell whether rows without a value are to be left out."""
        return bool(self.holes) and not self.holes.isdisjoint((y, *given, *xs.tolist()))

    def _seen_by_bits(self, fill: Fill, y: int, given: tuple[int, ...]) -> Fill:
        """Return what counts bits with holes as one more level, and leaves out the slices and strata of these."""
        cells = [y, *given]
        wide, seen = self.widths[cells].tolist(), tuple(slice(self._arity_list[z]) for z in cells)

        def filled(xs: NDArray[np.int64], counts: NDArray[np.int32]) -> None:
            width = int(self.widths[xs].max())
            every = np.empty((len(xs), width * math.prod(wide)), np.int32)
            fill(xs, every)
            self._keep_seen(xs, every.reshape(len(xs), width, *wide)[:, :, *seen], counts)

        return filled

    def _seen_by_rows(self, fill: Fill, n_cells: int) -> Fill:
        """Return what counts rows with one more cell for those without a value, and leaves that out."""

        def filled(xs: NDArray[np.int64], counts: NDArray[np.int32]) -> None:
            width = int(self.widths[xs].max())
            every = np.empty((len(xs), width * (n_cells + 1)), np.int32)
            fill(xs, every)
            self._keep_seen(xs, every.reshape(len(xs), width, n_cells + 1)[:, :, :n_cells], counts)

        return filled

    def _keep_seen(self, xs: NDArray[np.int64], every: NDArray[np.int32], counts: NDArray[np.int32]) -> None:
        """Copy the counts of levels; those of rows without a value of x are not among them."""
        arities, kept = self.arities[xs], counts.reshape(len(xs), -1, math.prod(every.shape[2:]))
        width = min(kept.shape[1], every.shape[1])
        kept[:, width:] = 0
        kept[:, :width] = every[:, :width].reshape(len(xs), width, -1)
        for i in np.flatnonzero(arities < width):
            kept[i, arities[i] :] = 0

    def _in_blocks(self, part: Part, threads: int) -> Iterator[Job]:
        """Cut candidates into blocks that fit the cache: four for each thread, or one if each would have few columns.

        Candidates with similar numbers of levels come together: the largest sets the size of the tables.
        """
        at, xs, fill, shape, _ = part
        arities, n_cells = self.arities[xs], shape[0] * shape[1]
        widest, n = int(arities.max()), len(xs)
        each = threads if n < COUNTED_TOGETHER * threads else 4 * threads
        size = max(1, min(BLOCK_COUNTS // (n_cells * widest), -(-n // each) if threads > 1 else n))
        if size < n and widest > int(arities.min()):
            order = np.argsort(arities, kind="stable")
            at, xs, arities = np.arange(n)[order] if isinstance(at, slice) else at[order], xs[order], arities[order]
        edges = list(range(0, n, size))
        if threads > 1 and len(edges) == threads:  # as many levels for each
            levels = np.cumsum(arities)
            edges = sorted({0, *np.searchsorted(levels, levels[-1] * np.arange(1, threads) / threads).tolist()})
        for start, stop in pairwise([*edges, n]):
            here = slice(start, stop)
            columns, width = xs[here], int(arities[here].max())

            def count(columns: NDArray[np.int64] = columns, width: int = width) -> NDArray[np.int32]:
                counts = np.empty((len(columns), n_cells * width), np.int32)
                fill(columns, counts)
                return counts.reshape(len(columns), width, *shape)

            yield here if isinstance(at, slice) else at[here], count

    def strata(self, given: Columns) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the strata that occur: their positions in a table with only some strata, and their codes.

        Codes have shape (strata, conditioning variables), in lexicographic order.
        """
        return self._strata.that_occur(tuple(sorted(int(z) for z in given)))

    @cached_property
    def _arity_list(self) -> list[int]:
        return self.arities.tolist()  # type: ignore[no-any-return]
