"""`SeenBlocks`: tests without cutting where values are missing, each on the rows that have all that it needs."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from copy import copy
from functools import partial
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from blankets.caching import cached_property
from blankets.counting import (
    GIVEN,
    Functions,
    GappyFunctions,
    MemoryMoments,
    Moments,
    can_be_whole,
    functions_of_column,
)
from blankets.data import Frame
from blankets.independence._block_batch import BlockBatch
from blankets.independence._blocks import BlockTests
from blankets.independence._contract import Columns, CountedTests, Tally
from blankets.independence._evidence import Given

_Known = tuple[NDArray[np.int64], BlockTests]  # the columns that tests know, and the tests

_KEPT_BYTES = 256 << 20  # functions of columns in sets of rows that are kept
_KEPT_APART = 64 << 20  # those of single columns, for questions about them and others


class SeenBlocks(CountedTests):
    """Tests of functions of columns by test-wise deletion.

    ``frame``: the table, with holes. The rest is as for `BlockTests`. Functions of a column are made anew from the rows
    of each test, as if the others were not there; where inner products decide alone, from all rows that have a value of
    the column, once. Columns that are missing in the same rows are tested together, and what was made for a set of rows
    is kept for questions at any level.

    Examples
    --------
    >>> from blankets.data import ingest
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(size=(2, 200))
    >>> a[:50] = np.nan
    >>> tests = SeenBlocks(ingest({"a": a, "b": b, "c": a + b}, numbers=True).frame)
    >>> tests.test(1, 0).n_rows, tests.test(1, 0).dependent(0.01), tests.test(1, 0, [2]).dependent(0.01)
    (150, False, True)
    """

    def __init__(
        self, frame: Frame, *, reliability: float = 5.0, strength: str = "p-value", level: float | None = None
    ) -> None:
        self.frame, self.names, self.level = frame, frame.names, level
        self.reliability, self.strength = reliability, strength
        self.tally, self.memo = Tally(), {}
        self._gone = {j: np.packbits(gap) for j in frame.holes if (gap := frame.gaps(j)) is not None}
        self._none_gone = np.zeros(-(-frame.n_rows // 8), np.uint8)
        self._kept, self._kept_quick, self._functions = _Kept(frame), _Kept(frame), _KeptFunctions()
        self._quick = False  # whether inner products decide alone
        self.again = level is None  # whether rows are asked far from the level too

    def by_formula(self) -> SeenBlocks:
        """Return the same tests by inner products alone."""
        return self._by_formula

    def by_rows(self) -> SeenBlocks:
        """Return the same tests, which ask rows again before a scan finds nothing dependent."""
        tests = self.at_level(self.level or 0.0)
        tests.again = True
        return tests

    @cached_property
    def _by_formula(self) -> SeenBlocks:
        return self._like(self.level, quick=True)

    def at_level(self, level: float) -> SeenBlocks:
        """Return the same tests for decisions at another level."""
        return self._like(None if self.level is None else level, quick=False)

    def _like(self, level: float | None, *, quick: bool) -> SeenBlocks:
        """Return the same tests, which share what they keep."""
        tests = copy(self)
        tests.level, tests.memo, tests._quick, tests.again = level, {}, quick, level is None and not quick
        for made in ("_by_formula", "of_all"):
            vars(tests).pop(made, None)
        return tests

    @cached_property
    def of_all(self) -> BlockTests:
        """The tests of all rows, for a frame without holes."""
        return self._tests_of(MemoryMoments(self.frame))

    def scan(self, xs: Columns, y: int, given: Sequence[int] = (), *, even_if_unreliable: bool = False) -> BlockBatch:
        """Test each of ``xs`` against ``y`` given one set, on the rows that have a value of all of them."""
        columns, given = np.asarray(xs, np.int64), tuple(given)
        parts = []
        for at, tests, there in self._parts(columns, y, given):
            of_y, *of_given = np.searchsorted(there, [y, *given]).tolist()
            numbers = np.searchsorted(there, columns[at])
            parts.append((at, tests.scan(numbers, of_y, of_given, even_if_unreliable=even_if_unreliable)))
        return BlockBatch.of_parts(columns, y, given, parts, self)

    def asked(
        self, xs: NDArray[np.int64], y: int, given: Given, log_p: NDArray[np.float64], *, far: bool
    ) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
        """Return log p-values and methods by rows; see `BlockTests.asked`."""
        log_p, method = log_p.copy(), np.zeros(len(xs), np.int8)
        for at, tests, there in self._parts(xs, y, given):
            of_y, *of_given = np.searchsorted(there, [y, *given]).tolist()
            log_p[at], method[at] = tests.asked(
                np.searchsorted(there, xs[at]), of_y, tuple(of_given), log_p[at], far=far
            )
        return log_p, method

    def information(
        self, xs: Columns, y: int, given: Sequence[int] = (), *, about_xs: bool = False
    ) -> NDArray[np.float64]:
        """Return how much each of ``xs`` tells about ``y`` given one set, or ``y`` about each, on the rows with all."""
        columns, given = np.asarray(xs, np.int64), tuple(given)
        told = np.empty(len(columns))
        for at, tests, there in self._parts(columns, y, given):
            of_y, *of_given = np.searchsorted(there, [y, *given]).tolist()
            told[at] = tests.information(np.searchsorted(there, columns[at]), of_y, of_given, about_xs=about_xs)
        return told

    def deepest(self, xs: Columns, y: int, among: Sequence[int]) -> int:
        """Return what all rows would allow: a bound, if a generous one."""
        return self._filled().deepest(xs, y, among)

    def rows_for(self, x: int, y: int, given: Sequence[int] = ()) -> float:
        """Return how many rows the rule of reliability asks for."""
        return self._filled().rows_for(x, y, given)

    def _filled(self) -> BlockTests:
        return self._tests(self._none_gone.tobytes(), frozenset(range(self.frame.n_columns)))[1]

    def _parts(
        self, columns: NDArray[np.int64], y: int, given: Given
    ) -> Iterator[tuple[NDArray[np.int64], BlockTests, NDArray[np.int64]]]:
        """Yield places in ``columns`` whose tests have the same rows, the tests of these, and the columns they know."""
        fixed = self._none_gone
        for j in (y, *given):
            fixed = fixed | self._gone[j] if j in self._gone else fixed
        groups: dict[bytes, list[int]] = {} if len(columns) else {fixed.tobytes(): []}
        for i, x in enumerate(columns.tolist()):
            gone = fixed | self._gone[x] if x in self._gone else fixed
            groups.setdefault(gone.tobytes(), []).append(i)
        for rows, places in groups.items():
            at = np.array(places, np.int64)
            there, tests = self._tests(rows, frozenset([*columns[at].tolist(), y, *given]))
            yield at, tests, there

    def _tests(self, gone: bytes, columns: frozenset[int]) -> tuple[NDArray[np.int64], BlockTests]:
        """Return tests of the rows that are not gone which know some columns, and all the columns that they know."""
        functions = self._kept.functions if self._quick else None
        kept = self._kept if functions is None else self._kept_quick
        found = kept.get(gone, columns)
        if found is None:
            known = sorted(columns)
            absent = np.unpackbits(np.frombuffer(gone, np.uint8), count=self.frame.n_rows).astype(bool)
            if functions is not None:
                moments: Moments = functions.over(absent, known)
                size = len(absent) + 8 * (GIVEN * int(moments.start[-1])) ** 2
            else:
                part = self.frame.select(known)
                part = part.take(~absent) if absent.any() else part.filled()
                own = partial(self._functions.of, part, gone, tuple(known))
                moments = MemoryMoments(part, briefly=True, made=own)
                size = moments.nbytes
            found = np.array(known, np.int64), self._tests_of(moments)
            kept.put(gone, columns, found, size)
        there, made = found
        tests = made if self.level is None else made.at_level(self.level)
        return there, tests.by_formula() if self._quick else tests

    def _tests_of(self, moments: Moments) -> BlockTests:
        made = BlockTests(moments, reliability=self.reliability, strength=self.strength, level=self.level)
        made.tally = self.tally
        return made


class _KeptFunctions:
    """Functions of single columns in sets of rows, the last ones that were asked for."""

    def __init__(self) -> None:
        self._made: OrderedDict[tuple[bytes, int, int], Functions] = OrderedDict()
        self._bytes, self._lock = 0, Lock()

    def of(self, part: Frame, gone: bytes, columns: Given, x: int, most: int) -> Functions:
        """Return functions of column ``x`` of a part of the table; ``columns``: what its columns are in the table."""
        key = (gone, columns[x], most)
        with self._lock:
            if key in self._made:
                self._made.move_to_end(key)
                return self._made[key]
        made = functions_of_column(part, x, most)
        with self._lock:
            if key not in self._made:
                self._made[key], self._bytes = made, self._bytes + made.nbytes
            while len(self._made) > 1 and self._bytes > _KEPT_APART:
                self._bytes -= self._made.popitem(last=False)[1].nbytes
        return made


class _Kept:
    """Tests of sets of rows, the last ones that were asked for."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._tests: OrderedDict[tuple[bytes, frozenset[int]], tuple[_Known, int]] = OrderedDict()
        self._wider: dict[bytes, list[frozenset[int]]] = {}  # by rows, the sets of columns that tests know
        self._bytes, self._lock = 0, Lock()

    @cached_property
    def functions(self) -> GappyFunctions | None:
        """Functions that all sets of rows share, unless the table is too large."""
        return GappyFunctions(self._frame) if can_be_whole(self._frame) else None

    def get(self, gone: bytes, columns: frozenset[int]) -> _Known | None:
        """Return tests that know at least these columns."""
        with self._lock:
            for known in self._wider.get(gone, ()):
                if columns <= known:
                    self._tests.move_to_end((gone, known))
                    return self._tests[gone, known][0]
        return None

    def put(self, gone: bytes, columns: frozenset[int], tests: _Known, size: int) -> None:
        """Keep tests, and forget those that were not asked for longest."""
        with self._lock:
            if (gone, columns) not in self._tests:
                self._tests[gone, columns], self._bytes = (tests, size), self._bytes + size
                self._wider.setdefault(gone, []).append(columns)
            while len(self._tests) > 1 and self._bytes > _KEPT_BYTES:
                (rows, known), (_, size) = self._tests.popitem(last=False)
                self._bytes -= size
                self._wider[rows].remove(known)
                if not self._wider[rows]:
                    del self._wider[rows]
