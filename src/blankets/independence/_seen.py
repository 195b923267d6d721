"""`SeenQuick`: the quick view where values are missing, each test on the rows that have all that it needs."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
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
from blankets.independence._contract import Columns, CountedTests, Tally, concatenated
from blankets.independence._evidence import EvidenceBatch, Given
from blankets.independence._quick import QuickTests

_Known = tuple[NDArray[np.int64], QuickTests]  # the columns that tests know, and the tests

_KEPT_BYTES = 256 << 20  # functions of columns in sets of rows that are kept
_KEPT_APART = 64 << 20  # those of single columns, for questions about them and others


class SeenQuick(CountedTests):
    """Tests of functions of columns by test-wise deletion.

    ``frame``: the table, with holes. The rest is as for `QuickTests`. Functions of a column are made anew from the rows
    of each test, as if the others were not there; ``shared``, in a table that is not too large: once, from all rows
    that have a value of the column. Columns that are missing in the same rows are tested together, and what was made
    for a set of rows is kept.

    Examples
    --------
    >>> from blankets.data import ingest
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(size=(2, 200))
    >>> a[:50] = np.nan
    >>> tests = SeenQuick(ingest({"a": a, "b": b, "c": a + b}, numbers=True).frame)
    >>> tests.test(1, 0).n_rows, tests.test(1, 0).dependent(0.01), tests.test(1, 0, [2]).dependent(0.01)
    (150, False, True)
    """

    def __init__(
        self, frame: Frame, *, reliability: float = 5.0, strength: str = "p-value", shared: bool = False
    ) -> None:
        self.frame, self.names, self.shared = frame, frame.names, shared
        self.reliability, self.strength = reliability, strength
        self.tally, self.memo = Tally(), {}
        self._gone = {j: np.packbits(gap) for j in frame.holes if (gap := frame.gaps(j)) is not None}
        self._none_gone = np.zeros(-(-frame.n_rows // 8), np.uint8)
        self._kept, self._functions = _Kept(frame), _KeptFunctions()

    @cached_property
    def of_all(self) -> QuickTests:
        """The tests of all rows, for a frame without holes."""
        return self._tests_of(MemoryMoments(self.frame))

    def scan(
        self, xs: Columns, y: int, given: Sequence[int] = (), *, even_if_unreliable: bool = False
    ) -> EvidenceBatch:
        """Test each of ``xs`` against ``y`` given one set, on the rows that have a value of all of them."""
        columns, given = np.asarray(xs, np.int64), tuple(given)
        parts = []
        for at, tests, there in self._parts(columns, y, given):
            of_y, *of_given = np.searchsorted(there, [y, *given]).tolist()
            batch = tests.scan(
                np.searchsorted(there, columns[at]), of_y, of_given, even_if_unreliable=even_if_unreliable
            )
            batch.xs, batch.y, batch.given = columns[at], y, given
            parts.append((at, batch))
        if len(parts) == 1:
            return parts[0][1]
        return concatenated([batch for _, batch in parts], given).where(
            np.argsort(np.concatenate([at for at, _ in parts]))
        )

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

    def _filled(self) -> QuickTests:
        return self._tests(self._none_gone.tobytes(), frozenset(range(self.frame.n_columns)))[1]

    def _parts(
        self, columns: NDArray[np.int64], y: int, given: Given
    ) -> Iterator[tuple[NDArray[np.int64], QuickTests, NDArray[np.int64]]]:
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

    def _tests(self, gone: bytes, columns: frozenset[int]) -> tuple[NDArray[np.int64], QuickTests]:
        """Return tests of the rows that are not gone which know some columns, and all the columns that they know."""
        functions, kept = self._kept.functions if self.shared else None, self._kept
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
        return found

    def _tests_of(self, moments: Moments) -> QuickTests:
        made = QuickTests(moments, reliability=self.reliability, strength=self.strength)
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
