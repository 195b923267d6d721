"""`SeenBlocks`: tests without cutting where values are missing, each on the rows that have all that it needs."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from blankets.caching import cached_property
from blankets.counting import MemoryMoments
from blankets.data import Frame
from blankets.independence._blocks import BlockTests
from blankets.independence._contract import Columns, CountedTests, Tally, concatenated
from blankets.independence._evidence import EvidenceBatch

_KEPT = 16  # sets of rows whose functions are kept


class SeenBlocks(CountedTests):
    """Tests of functions of columns by test-wise deletion.

    ``frame``: the table, with holes. The rest is as for `BlockTests`. Functions of a column are made anew from the rows
    of each test: those of other rows would be neither of mean 0 nor orthonormal.

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
        self._gappy = np.isin(np.arange(frame.n_columns), list(frame.holes))
        self._kept: OrderedDict[frozenset[int], BlockTests] = OrderedDict()
        self._lock = Lock()
        self._quick = self._again = False  # whether inner products decide alone; whether rows are asked far away too

    @cached_property
    def _by_formula(self) -> SeenBlocks:
        tests = self.at_level(self.level or 0.0)
        tests._quick = True
        return tests

    def by_formula(self) -> SeenBlocks:
        """Return the same tests by inner products alone."""
        return self._by_formula

    def by_rows(self) -> SeenBlocks:
        """Return the same tests, which ask rows again before a scan finds nothing dependent."""
        tests = self.at_level(self.level or 0.0)
        tests._again = True
        return tests

    @cached_property
    def of_all(self) -> BlockTests:
        """The tests of all rows, for columns that have no holes."""
        return self._tests(self.frame)

    def scan(
        self, xs: Columns, y: int, given: Sequence[int] = (), *, even_if_unreliable: bool = False
    ) -> EvidenceBatch:
        """Test each of ``xs`` against ``y`` given one set, on the rows that have a value of all of them."""
        columns, given = np.asarray(xs, np.int64), tuple(given)
        fixed = frozenset(j for j in (y, *given) if self._gappy[j])
        own = self._gappy[columns]
        batches = [self._known(fixed).scan(columns[~own], y, given, even_if_unreliable=even_if_unreliable)]
        batches += [self._alone(int(x), y, given, fixed, even_if_unreliable=even_if_unreliable) for x in columns[own]]
        order = np.argsort(np.argsort(own, kind="stable"), kind="stable")
        return concatenated(batches).where(order)

    def information(
        self, xs: Columns, y: int, given: Sequence[int] = (), *, about_xs: bool = False
    ) -> NDArray[np.float64]:
        """Return how much each of ``xs`` tells about ``y`` given one set, or ``y`` about each, on the rows with all."""
        columns, given = np.asarray(xs, np.int64), tuple(given)
        fixed = frozenset(j for j in (y, *given) if self._gappy[j])
        own, told = self._gappy[columns], np.empty(len(columns))
        told[~own] = self._known(fixed).information(columns[~own], y, given, about_xs=about_xs)
        for i in np.flatnonzero(own):
            part = self._part(int(columns[i]), y, given, fixed)
            told[i] = self._tests(part).information([0], 1, range(2, part.n_columns), about_xs=about_xs)[0]
        return told

    def deepest(self, xs: Columns, y: int, among: Sequence[int]) -> int:
        """Return what all rows would allow: a bound, if a generous one."""
        return self._known(frozenset()).deepest(xs, y, among)

    def at_level(self, level: float) -> SeenBlocks:
        """Return the same tests for decisions at another level."""
        nearest = None if self.level is None else level
        tests = SeenBlocks(self.frame, reliability=self.reliability, strength=self.strength, level=nearest)
        tests.tally = self.tally
        return tests

    def rows_for(self, x: int, y: int, given: Sequence[int] = ()) -> float:
        """Return how many rows the rule of reliability asks for."""
        return self._known(frozenset()).rows_for(x, y, given)

    def _known(self, holes: frozenset[int]) -> BlockTests:
        """Return the tests of the rows that have a value of some columns, kept for the next question."""
        with self._lock:
            if holes in self._kept:
                self._kept.move_to_end(holes)
                return self._kept[holes]
        made = self._tests(self._rows(holes).filled())
        with self._lock:
            self._kept[holes] = made
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return made

    def _alone(
        self, x: int, y: int, given: tuple[int, ...], fixed: frozenset[int], *, even_if_unreliable: bool
    ) -> EvidenceBatch:
        """Test a column with holes of its own, on its own rows; only the columns in question are looked at."""
        part = self._part(x, y, given, fixed)
        batch = self._tests(part).scan([0], 1, range(2, part.n_columns), even_if_unreliable=even_if_unreliable)
        batch.xs, batch.y, batch.given = np.array([x], np.int64), y, given
        return batch

    def _part(self, x: int, y: int, given: tuple[int, ...], fixed: frozenset[int]) -> Frame:
        """Return the columns in question, with the rows that have all of them."""
        return self._rows(fixed | {x}).select([x, y, *given]).filled()

    def _rows(self, holes: frozenset[int]) -> Frame:
        gaps = [gap for j in sorted(holes) if (gap := self.frame.gaps(j)) is not None]
        if not gaps:
            return self.frame
        seen: NDArray[np.bool_] = ~np.logical_or.reduce(gaps)
        return self.frame.take(seen)

    def _tests(self, frame: Frame) -> BlockTests:
        made = BlockTests(MemoryMoments(frame), reliability=self.reliability, strength=self.strength, level=self.level)
        made.tally = self.tally
        return made.by_formula() if self._quick else made.by_rows() if self._again else made
