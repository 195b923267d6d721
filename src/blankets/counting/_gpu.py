"""Counting on a GPU: the codes lie there as slices of bits, requests go in, tables of integers come back.

Nothing of CUDA is imported before a GPU is asked for. Statistics are computed here, from the tables, on several
threads, while the next tables are counted and copied. What this machine counts sooner than a GPU answers, it counts.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from threading import RLock
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from blankets.counting import _kernels as kernels
from blankets.counting import _memory as memory
from blankets.counting._contract import Columns, Counter, TableBlock, gathered
from blankets.data import DenseColumns, Frame, SparseColumns
from blankets.errors import EngineError, MissingPackageError

__all__ = ["GpuCounter", "gpu_kernels"]

# What a request takes at least, ns (measured: 320,000 to 900,000): what is counted here in less time is counted here.
LATENCY = 500_000
# Bits win while cells x (levels - 1) is at most this, for columns of up to four levels.
BITS_WIN_BELOW, BITS_MOST_LEVELS = 256, 4
# Counts that are counted and copied at a time: 16 MiB, twice, here and there.
COPIED_COUNTS = 1 << 22
# Columns of this many levels or more are alike.
MANY = np.iinfo(np.uint16).max
# Codes that are copied to the device at a time, to be packed there.
STAGED_BYTES = 256 << 20
# Threads of a block, and how many of them have a column each; blocks of a grid (Numba deplores fewer), and at most.
THREADS, LANES, FEWEST_BLOCKS, MOST_BLOCKS = 128, 32, 128, 1 << 16
# Blocks that keep a large device busy: rows are cut into so many parts, unless these become too short.
BUSY_BLOCKS, FEWEST_WORDS, FEWEST_ROWS = 1 << 12, 64, 1 << 12

_DEVICE = RLock()  # requests take turns: they share room on the device


def gpu_kernels() -> ModuleType:
    """Return the kernels, or say what is missing: the package, or the device."""
    import numba

    config: Any = numba.config
    if find_spec("numba_cuda") is None and not config.ENABLE_CUDASIM:
        raise MissingPackageError.needed_for("counting on a GPU", "numba-cuda", "gpu")
    from numba import cuda

    try:
        found = cuda.is_available()
    except (ImportError, OSError, RuntimeError) as error:  # some part of CUDA, which is named before much else
        lost = str(error).splitlines()[0]
        raise EngineError(
            f"the GPU cannot be used: parts of CUDA are missing ({lost}); install it with: pip install 'blankets[gpu]'"
        ) from error
    if not found:
        raise EngineError(
            "there is no GPU that CUDA can use on this machine (an NVIDIA one, with its driver); use engine='memory'"
        )
    from blankets.counting import _gpu_kernels

    return _gpu_kernels


class _Slot(NamedTuple):
    """Room for counts: on the device, here, and a stream in which one is filled and then copied to the other."""

    there: Any
    here: NDArray[np.int32]
    stream: Any


class _Request(NamedTuple):
    """What is asked for, when the cells of all rows are known on the device.

    Attributes
    ----------
    columns : ndarray
        The candidates, by the number of their levels.
    order : ndarray or None
        Where they are in the request; None: all have as many levels, and are in order.
    kinds : ndarray of uint16
        Numbers of levels, or very many; not looked at if they are the same.
    start : int
        Where the candidates begin among the columns that are chosen on the device.
    shape : tuple
        Levels of y, strata.
    """

    columns: NDArray[np.int64]
    order: NDArray[np.int64] | None
    kinds: NDArray[np.uint16]
    start: int
    shape: tuple[int, int]

    @property
    def n_cells(self) -> int:
        """Levels of y times strata."""
        return self.shape[0] * self.shape[1]

    def at(self, part: slice) -> NDArray[np.int64] | slice:
        """Return places in the request."""
        return part if self.order is None else self.order[part]


class GpuCounter(Counter):
    """Counts the rows of a `Frame` on a GPU.

    Parameters
    ----------
    frame : Frame
        The data; they must fit the memory of the device, at one bit a row for each factor of two in levels.
    n_jobs : int, optional
        Threads for statistics here; default: the number of processors. Counts do not depend on it.
    latency : float, optional
        Requests that take less than this here (ns) are counted here; default: half a millisecond.
    """

    def __init__(self, frame: Frame, n_jobs: int | None = None, *, latency: float | None = None) -> None:
        self._of = gpu_kernels()
        from numba import cuda

        self._cuda: Any = cuda
        self.frame, self.latency = frame, LATENCY if latency is None else latency
        self.names, self.arities, self.n_rows = frame.names, frame.arities, frame.n_rows
        self._here = memory.MemoryCounter(frame, n_jobs)
        self._depth = np.maximum(np.frexp(self.arities - 1)[1], 1).astype(np.int64)
        self._first = np.cumsum(self._depth) - self._depth
        self._kinds = np.minimum(self.arities, MANY).astype(np.uint16)  # these are sorted fast
        self._alike = len(np.unique(self._kinds)) == 1
        self._rooms: dict[str, Any] = {}
        with _DEVICE:
            self._check_room()
            self._slices = self._packed()
            self._columns = cuda.to_device(np.array([self._first, self._depth]))

    def __reduce__(self) -> tuple[Callable[..., GpuCounter], tuple[Frame, int]]:
        """Travel as the frame alone."""
        return type(self), (self.frame, self._here.n_jobs)

    def tables(self, xs: Columns, y: int, given: Columns = ()) -> Iterator[TableBlock]:
        """Yield the tables of each of ``xs`` with ``y`` in the strata of ``given``, block by block."""
        columns, conditioning = np.asarray(xs, np.int64), tuple(sorted(int(z) for z in given))
        if self._small(columns, int(y), conditioning):
            yield from self._here.tables(columns, int(y), conditioning)
            return
        start = 0
        while start < len(columns):
            with _DEVICE:  # others may have asked something else meanwhile
                request = self._prepared(columns, int(y), conditioning)
                part = next(part for part in self._parts(request) if part.start == start)
                (counts,) = (counts.copy() for _, counts in self._counted(request, [part]))
            yield TableBlock(np.arange(len(columns))[request.at(part)], counts)
            start = part.stop

    def summarize(
        self,
        summary: Callable[[NDArray[np.int32]], tuple[NDArray[np.float64], ...]],
        xs: Columns,
        y: int,
        given: Columns = (),
    ) -> tuple[NDArray[np.float64], ...]:
        """Apply a function of count tables to every block, on several threads if that pays."""
        columns, conditioning = np.asarray(xs, np.int64), tuple(sorted(int(z) for z in given))
        if self._small(columns, int(y), conditioning):
            return self._here.summarize(summary, columns, int(y), conditioning)
        done: list[tuple[NDArray[np.int64] | slice, tuple[NDArray[np.float64], ...]]] = []
        with _DEVICE:
            request = self._prepared(columns, int(y), conditioning)
            for part, counts in self._counted(request, self._parts(request)):
                # On all threads, also for a thread that is to count alone: others wait for their turn.
                worth = int(memory.NS_COUNT * counts.size / memory.THREADS_WIN_ABOVE)
                n_pieces = max(1, min(self._here.n_jobs, worth))
                size = -(-len(counts) // n_pieces)
                pieces = [slice(k, min(k + size, len(counts))) for k in range(0, len(counts), size)]
                found = (self._here.pool.map if n_pieces > 1 else map)(summary, [counts[piece] for piece in pieces])
                for piece, values in zip(pieces, found, strict=True):
                    done.append((request.at(slice(part.start + piece.start, part.start + piece.stop)), values))
        return gathered(done, len(columns))

    def _small(self, xs: NDArray[np.int64], y: int, given: tuple[int, ...]) -> bool:
        """Whether a request is counted here before the device would answer."""
        n_cells = math.prod(int(self.arities[j]) for j in (y, *given))
        row = min(memory.NS_DENSE_ROW, memory.NS_BITS_WORD / 64 * n_cells)
        # On one thread: others would gain less than they take to wake up.
        return not len(xs) or len(xs) * (row * self.n_rows + memory.NS_COUNT * n_cells) < self.latency

    def _check_room(self) -> None:
        """Refuse data that do not fit, before memory for them is asked for."""
        slices = int(self._depth.sum()) * self._n_words * 8
        stored = [
            b.indptr.nbytes + b.indices.nbytes + b.codes.nbytes
            for b in self.frame.blocks
            if isinstance(b, SparseColumns)
        ]
        # Codes of the rows' cells, and masks of as many as bits are counted in; tables; what is still to be packed.
        working = (4 + BITS_WIN_BELOW // 8) * self.n_rows + 16 * COPIED_COUNTS
        staged = min(4 * self.n_rows * len(self.names), max(STAGED_BYTES, 4 * self.n_rows))
        needed = slices + working + max(staged, *stored, 0)
        free = self._cuda.current_context().get_memory_info().free
        if needed > free:
            raise EngineError(
                f"{self.n_rows:,} rows of {len(self.names):,} columns take {needed / 1e9:.1f} GB on the GPU, of whose "
                f"memory {free / 1e9:.1f} GB are free; leave out columns, or use engine='memory'"
            )

    @property
    def _n_words(self) -> int:
        return max(-(-self.n_rows // 64), 1)

    def _launch(self, kernel: Any, n_jobs: int, *arguments: Any, stream: Any = 0, shared: int = 0) -> None:
        """Start a kernel with a thread for each job."""
        blocks = min(max(-(-n_jobs // THREADS), FEWEST_BLOCKS), MOST_BLOCKS)
        kernel[blocks, THREADS, stream, shared](*arguments)

    def _packed(self) -> Any:
        """Copy the codes to the device, and pack them there."""
        cuda, frame = self._cuda, self.frame
        slices = cuda.device_array((self._n_words, int(self._depth.sum())), np.uint64)
        for b, block in enumerate(frame.blocks):
            columns = np.flatnonzero(frame.block_of == b)
            dense = isinstance(block, DenseColumns)
            size = max(1, STAGED_BYTES // max(self.n_rows * block.codes.itemsize, 1)) if dense else max(len(columns), 1)
            for start in range(0, len(columns), size):
                part = columns[start : start + size]
                where = cuda.to_device(self._first[part]), cuda.to_device(self._depth[part])
                at = frame.position[part]
                if isinstance(block, DenseColumns):
                    codes = cuda.to_device(np.ascontiguousarray(block.codes[at]))
                    n_jobs = len(part) * self._n_words
                    self._launch(self._of.slice_dense, n_jobs, codes, self.n_rows, *where, slices)
                else:
                    stored = [cuda.to_device(a) for a in (block.indptr, block.indices, block.codes, at)]
                    self._launch(self._of.slice_sparse, len(part), *stored, *where, slices)
                cuda.synchronize()
        return slices

    def _prepared(self, xs: NDArray[np.int64], y: int, given: tuple[int, ...]) -> _Request:
        """Find the cell of each row: on the device, or here where strata have to be renumbered to those that occur."""
        kinds = self._kinds[:1] if self._alike else self._kinds[xs]
        order = None if (kinds == kinds[0]).all() else np.argsort(kinds, kind="stable")
        columns, kinds = (xs, kinds) if order is None else (xs[order], kinds[order])
        arity, n_strata = int(self.arities[y]), math.prod(int(self.arities[z]) for z in given)
        known, cells = None, np.array([y, *given])
        if n_strata > max(memory.RENUMBER_ABOVE * self.n_rows, 1):
            known, n_strata = self._here._strata_of(given)
            cells = cells[:0]
        self._here._check_size(columns[-1:], y, given, n_strata)
        request = _Request(columns, order, kinds, len(cells), (arity, n_strata))
        codes = self._room("cells", self.n_rows, np.uint32)
        self._choose(cells, columns)
        if known is not None:
            codes.copy_to_device(kernels.cells_of(known, self.frame.column(y), n_strata))
        else:
            chosen = self._rooms["chosen"]
            self._launch(self._of.joint_codes, self.n_rows, self._slices, self.n_rows, chosen, len(cells), codes)
        if _by_bits(max(int(kinds[0]), 2), request.n_cells):
            n = -(-request.n_cells // self._of.TILE) * self._of.TILE
            masks, n_words = self._room("masks", self._n_words * n, np.uint64), self._n_words
            arguments = codes, self.n_rows, n_words, n, masks, self._rooms["totals"]
            self._launch(self._of.mask_cells, n_words * n, *arguments)
        return request

    def _parts(self, request: _Request) -> Iterator[slice]:
        """Cut candidates into groups of like arity, as they are counted and copied at a time."""
        start, n = 0, len(request.columns)
        while start < n:
            stop = n
            if request.order is not None:
                narrowest = int(request.kinds[start])
                like = narrowest if narrowest <= BITS_MOST_LEVELS else min(2 * narrowest, MANY)
                stop = int(np.searchsorted(request.kinds, np.uint16(like), side="right"))
            size = self._width(request, slice(start, stop)) * request.n_cells
            stop = min(stop, start + max(1, COPIED_COUNTS // size))
            yield slice(start, stop)
            start = stop

    def _width(self, request: _Request, part: slice) -> int:
        """Return the most levels of some candidates."""
        if int(request.kinds[-1]) == MANY:
            return int(self.arities[request.columns[part]].max())
        return int(self.arities[request.columns[part.stop - 1]])

    def _choose(self, cells: NDArray[np.int64], xs: NDArray[np.int64]) -> None:
        """Have the device look up the columns of a request, in memory that it shares with this machine."""
        n, m = len(cells), len(cells) + len(xs)
        if "asked" not in self._rooms or len(self._rooms["asked"]) < n + m:
            size = 2 * (n + m)
            self._rooms["asked"] = self._cuda.mapped_array(size, np.int32)
            self._rooms["chosen"] = self._cuda.device_array((3, size), np.int64)
        asked = self._rooms["asked"]
        asked[:n] = np.cumprod([1, *self.arities[cells[:0:-1]]])[:n][::-1]
        asked[n : 2 * n], asked[2 * n : n + m] = cells, xs
        totals = self._room("totals", BITS_WIN_BELOW + self._of.TILE, np.int32)
        self._launch(self._of.choose, m, asked, n, len(xs), self._columns, self._rooms["chosen"], totals)

    def _room(self, name: str, n: int, kind: type) -> Any:
        """Return room on the device, which is kept for the next request."""
        if name not in self._rooms or len(self._rooms[name]) < n:
            self._rooms[name] = self._cuda.device_array(n, kind)
        return self._rooms[name]

    def _slot(self, number: int, n_counts: int) -> _Slot:
        """Return room for so many counts."""
        name = f"slot {number}"
        if name not in self._rooms or len(self._rooms[name].here) < n_counts:
            n, cuda = max(n_counts, COPIED_COUNTS), self._cuda
            self._rooms[name] = _Slot(cuda.device_array(n, np.int32), cuda.pinned_array(n, np.int32), cuda.stream())
        slot: _Slot = self._rooms[name]
        return slot

    def _counted(self, request: _Request, parts: Iterable[slice]) -> Iterator[tuple[slice, NDArray[np.int32]]]:
        """Yield the tables of each part in a place that is used again; the next part is counted meanwhile."""
        waiting: deque[tuple[slice, _Slot, NDArray[np.int32]]] = deque()
        for k, part in enumerate(parts):
            if len(waiting) == 2:
                yield _ready(*waiting.popleft())
            shape = part.stop - part.start, self._width(request, part), *request.shape
            n_counts = math.prod(shape)
            slot = self._slot(k % 2, n_counts)
            self._count(request, part, shape[1], slot)
            slot.there[:n_counts].copy_to_host(slot.here[:n_counts], stream=slot.stream)
            waiting.append((part, slot, slot.here[:n_counts].reshape(shape)))
        for each in waiting:
            yield _ready(*each)

    def _count(self, request: _Request, part: slice, width: int, slot: _Slot) -> None:
        """Start counting candidates on the device."""
        of, n, n_cells, rooms = self._of, part.stop - part.start, request.n_cells, self._rooms
        start, stream, size = request.start + part.start, slot.stream, width * n_cells
        if _by_bits(width, n_cells):
            n_jobs = -(-n // LANES) * -(-n_cells // of.TILE)
            n_chunks = max(1, min(BUSY_BLOCKS // n_jobs, self._n_words // FEWEST_WORDS))
            each, shared = -(-self._n_words // n_chunks), 4 * LANES * (width * of.TILE + 1)
            about: tuple[Any, ...] = self._slices, rooms["masks"], rooms["totals"], rooms["chosen"], start, n, width
            arguments: tuple[Any, ...] = *about, n_cells, each, LANES, slot.there
        else:
            n_jobs = n
            n_chunks = max(1, min(BUSY_BLOCKS // n_jobs, self.n_rows // FEWEST_ROWS))
            each, shared = max(-(-self.n_rows // n_chunks), 1), 4 * size if size <= of.SHARED_COUNTS else 0
            about = self._slices, self.n_rows, rooms["cells"], rooms["chosen"], start, n, n_cells, size
            arguments = *about, each, slot.there
        if n_chunks > 1 or not _by_bits(width, n_cells):  # counts of several blocks are added up
            self._launch(of.clear, n * size, slot.there, n * size, stream=stream)
        kernel = of.tally_bits if _by_bits(width, n_cells) else of.tally_rows
        self._launch(kernel, n_jobs * n_chunks * THREADS, *arguments, stream=stream, shared=shared)


def _by_bits(levels: int, n_cells: int) -> bool:
    """Whether candidates of so many levels are counted by bits."""
    return 2 <= levels <= BITS_MOST_LEVELS and (levels - 1) * n_cells <= BITS_WIN_BELOW


def _ready(part: slice, slot: _Slot, counts: NDArray[np.int32]) -> tuple[slice, NDArray[np.int32]]:
    """Wait for counts to be copied."""
    slot.stream.synchronize()
    return part, counts
