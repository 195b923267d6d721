"""Counting rows that are in several places: each place counts its own rows, and the tables are added.

All places must use the same strata. If a conditioning set has few strata, a table has all of them, in order.
If it has many, each place sends only the strata that occur, with the codes of the conditioning set, and tables
are added stratum by stratum. Sums of integers do not depend on the order.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blankets.caching import cached_property
from blankets.counting._contract import Columns, Counter, TableBlock
from blankets.counting._memory import MemoryCounter
from blankets.data import Frame

# Most counts of a table of several candidates that is sent: 8 MiB of four bytes.
TRAVEL_COUNTS = 1 << 21
# Codes of a slice of rows, in each thread.
SLICE_BYTES, FEWEST_ROWS = 64 << 20, 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """Candidates with similar numbers of levels, whose tables are wanted."""

    xs: NDArray[np.int64]
    y: int
    given: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """Tables of a request in one place."""

    counts: NDArray[np.int32]  # (candidates, levels of x, levels of y, strata)
    # (strata, conditioning variables): the codes of the strata, in lexicographic order; None: the table has all
    # strata
    strata: NDArray[np.int32] | None


def counted(counter: MemoryCounter, requests: Sequence[Request]) -> list[Tables]:
    """Count the rows of one place."""
    return [_counted(counter, request) for request in requests]


def _counted(counter: MemoryCounter, request: Request) -> Tables:
    arities = counter.arities
    shape = len(request.xs), int(arities[request.xs].max()), int(arities[request.y])
    full = n_strata(arities, request.given)
    blocks = list(counter.tables(request.xs, request.y, request.given)) if counter.n_rows else []
    if not blocks:
        nothing = np.zeros((0, len(request.given)), np.int32)
        return Tables(np.zeros((*shape, 0), np.int32), nothing)
    counts = [(block.at, block.counts) for block in blocks]
    if all(table.shape[-1] == full for _, table in counts):
        return Tables(_put(counts, (*shape, full)), None)
    places, strata = counter.strata(request.given)
    in_product = ravelled(strata, arities[list(request.given)]) if full <= np.iinfo(np.int64).max else places
    seen = [(at, table[..., in_product if table.shape[-1] == full else places]) for at, table in counts]
    return Tables(_put(seen, (*shape, len(strata))), strata)


def n_strata(arities: NDArray[np.int64], given: Sequence[int]) -> int:
    """Return the number of possible strata."""
    return math.prod(int(arities[z]) for z in given)


def ravelled(strata: NDArray[np.int32], arities: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the position of each stratum among all possible strata, in lexicographic order."""
    place = np.zeros(len(strata), np.int64)
    for codes, arity in zip(strata.T, arities, strict=True):
        place = place * arity + codes
    return place


def _put(blocks: Sequence[tuple[NDArray[np.int64], NDArray[np.int32]]], shape: tuple[int, ...]) -> NDArray[np.int32]:
    """Return the tables of all blocks in the order of the request."""
    counts = np.zeros(shape, np.int32)
    for at, table in blocks:
        counts[at, : table.shape[1]] = table
    return counts


def added(answers: Sequence[Sequence[Tables]], arities: Sequence[NDArray[np.int64]]) -> list[Tables]:
    """Add the answers of several places, request by request.

    ``arities``: numbers of levels of the conditioning variables of each request.
    """
    return [_sum(tables, a) for tables, a in zip(zip(*answers, strict=True), arities, strict=True)]


def _sum(tables: Sequence[Tables], arities: NDArray[np.int64]) -> Tables:
    if len(tables) == 1:
        return tables[0]
    if any(one.strata is None for one in tables):
        # One place has all strata: those of the others are found among them.
        total = next(one.counts for one in tables if one.strata is None).copy()
        first = next(k for k, one in enumerate(tables) if one.strata is None)
        for k, one in enumerate(tables):
            if one.strata is not None:
                total[..., ravelled(one.strata, arities)] += one.counts
            elif k != first:
                total += one.counts
        return Tables(total, None)
    every = np.concatenate([one.strata for one in tables if one.strata is not None])
    if not every.shape[1]:
        return Tables(np.add.reduce([_one_stratum(one) for one in tables]), None)
    strata, place = np.unique(every, axis=0, return_inverse=True)
    total = np.zeros((*tables[0].counts.shape[:-1], len(strata)), np.int32)
    start = 0
    for one in tables:
        stop = start + one.counts.shape[-1]
        total[..., place.ravel()[start:stop]] += one.counts
        start = stop
    return Tables(total, strata)


def _one_stratum(tables: Tables) -> NDArray[np.int32]:
    """Return tables without a conditioning set; zeros if there are no rows."""
    return np.asarray(tables.counts.sum(axis=-1, keepdims=True), np.int32)


class PartitionedCounter(Counter):
    """Counts rows that are in several places.

    A subclass says how to ask the places; the answers are added here or in the subclass.
    """

    @abstractmethod
    def ask(self, requests: Sequence[Request]) -> list[Tables]:
        """Return the tables of all rows."""

    def tables(self, xs: Columns, y: int, given: Columns = ()) -> Iterator[TableBlock]:
        """Yield the tables of each of ``xs`` with ``y`` in the strata of ``given``, block by block."""
        columns = np.asarray(xs, np.int64)
        conditioning = tuple(sorted(int(z) for z in given))
        parts = list(self._parts(columns, int(y), conditioning))
        if not parts:
            return
        answers = self.ask([Request(columns[at], int(y), conditioning) for at in parts])
        for at, tables in zip(parts, answers, strict=True):
            yield TableBlock(at, tables.counts)

    def _parts(self, xs: NDArray[np.int64], y: int, given: tuple[int, ...]) -> Iterator[NDArray[np.int64]]:
        """Cut candidates into groups with similar numbers of levels whose tables are not too large to send."""
        order = np.argsort(self.arities[xs], kind="stable")
        strata = min(n_strata(self.arities, given), max(self.n_rows, 1))
        start = 0
        while start < len(order):
            narrowest = int(self.arities[xs[order[start]]])
            like = int(np.searchsorted(self.arities[xs[order]], 2 * narrowest, side="right"))
            widest = int(self.arities[xs[order[like - 1]]])
            stop = min(like, start + max(1, TRAVEL_COUNTS // (widest * int(self.arities[y]) * strata)))
            yield order[start:stop]
            start = stop


class SlicedCounter(PartitionedCounter):
    """Counts a long frame slice by slice, in memory that does not grow with its rows.

    Without slices, a round needs 4 to 12 bytes for each row of the frame, and bit planes in addition.

    ``frame``: the rows, on disk. ``n_jobs``: slices counted at a time. ``slice_rows``: rows of a slice; default: as
    many as have 64 MiB of codes in the columns of a request.

    Examples
    --------
    >>> counter = SlicedCounter(Frame.from_codes([[0, 1], [1, 1], [0, 0]]), slice_rows=2)
    >>> [block.counts.squeeze(-1).tolist() for block in counter.tables([0], 1)]
    [[[[1, 1], [0, 1]]]]
    """

    def __init__(self, frame: Frame, n_jobs: int = 1, slice_rows: int | None = None) -> None:
        self.frame, self.slice_rows = frame, slice_rows
        self.names, self.arities, self.n_rows, self.holes = frame.names, frame.arities, frame.n_rows, frame.holes
        self.n_jobs = n_jobs

    def ask(self, requests: Sequence[Request]) -> list[Tables]:
        """Count one slice after another, and add the counts."""
        needed = sorted({int(j) for r in requests for j in (*r.xs, r.y, *r.given)})
        place = np.full(len(self.names), -1, np.int64)
        place[needed] = np.arange(len(needed))
        here = [Request(place[r.xs], int(place[r.y]), tuple(place[list(r.given)].tolist())) for r in requests]
        arities = [self.arities[list(request.given)] for request in requests]
        rows = self.slice_rows or max(FEWEST_ROWS, SLICE_BYTES // len(needed))
        total: list[Tables] | None = None
        with ThreadPoolExecutor(self.n_jobs) as pool:
            waiting = deque[Future[list[Tables]]]()
            for start in range(0, self.n_rows, rows):
                waiting.append(pool.submit(self._slice, needed, here, start, min(start + rows, self.n_rows)))
                if len(waiting) > self.n_jobs:  # no more slices in memory than threads
                    total = _with(total, waiting.popleft().result(), arities)
            while waiting:
                total = _with(total, waiting.popleft().result(), arities)
        return total or []

    def _slice(self, columns: Sequence[int], requests: Sequence[Request], start: int, stop: int) -> list[Tables]:
        part = self.frame.select(columns)
        codes = [part.column(j)[start:stop] for j in range(part.n_columns)]
        rows = Frame.from_columns(codes, part.names, part.levels, stop - start, part.holes)
        return counted(_Once(rows, 1), requests)


def _with(total: list[Tables] | None, more: list[Tables], arities: Sequence[NDArray[np.int64]]) -> list[Tables]:
    return more if total is None else added([total, more], arities)


class _Once(MemoryCounter):
    """Counts rows that are used only once: bit planes would not be worth making."""

    @cached_property
    def _first_plane(self) -> NDArray[np.int64]:
        return np.full(len(self.names), -1, np.int64)
