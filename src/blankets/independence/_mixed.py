"""`MixedTests`: count tables where only categories are involved, functions of columns where a number is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from blankets.caching import cached_property
from blankets.independence._contract import Columns, IndependenceTest, Sets, side_by_side
from blankets.independence._evidence import EvidenceBatch, Given
from blankets.independence._layer import Asking


class MixedTests(Asking):
    """Two implementations over the same columns, chosen question by question.

    ``tables``: answers questions about categories alone. ``blocks``: answers all others. ``measured``, of shape
    (columns,): which columns are numbers, or have levels with an order.
    """

    def __init__(self, tables: IndependenceTest, blocks: IndependenceTest, measured: NDArray[np.bool_]) -> None:
        super().__init__(blocks, tables)
        self.tables, self.blocks, self.measured = tables, blocks, measured

    def changed(self, change: Callable[[IndependenceTest], IndependenceTest]) -> MixedTests:
        """Return the same around changed tests."""
        return MixedTests(change(self.tables), change(self.blocks), self.measured)

    def scan(
        self, xs: Columns, y: int, given: Sequence[int] = (), *, even_if_unreliable: bool = False
    ) -> EvidenceBatch:
        """Test each of ``xs`` against ``y`` given one set, each where it belongs."""
        columns = np.asarray(xs, np.int64)
        measured = self.measured[columns] | self.measured[[y, *given]].any()
        if measured.all() or not measured.any():
            tests = self.tables if len(columns) and not measured.any() else self.blocks
            return tests.scan(columns, y, given, even_if_unreliable=even_if_unreliable)
        parts = [
            tests.scan(columns[measured == here], y, given, even_if_unreliable=even_if_unreliable)
            for tests, here in ((self.tables, False), (self.blocks, True))
        ]
        return side_by_side(measured, parts, tuple(given))

    def drop_one(self, members: Sequence[int], y: int, only: Sequence[int] | None = None) -> EvidenceBatch:
        """Test each member, or ``only`` some of them, against ``y`` given all the other members."""
        tests = self.blocks if self.measured[[y, *members]].any() else self.tables  # each question is about all of them
        return tests.drop_one(members, y, only)

    def separate(self, xs: Columns, y: int, among: Sequence[int], **sets: Unpack[Sets]) -> EvidenceBatch:
        """Find, for each of ``xs``, the subset of ``among`` given which it is most weakly tied to ``y``."""
        plain = not self.measured[[*xs, y, *among]].any()
        separate = self.tables.separate if plain else super().separate
        return separate(xs, y, among, **sets)

    def deepest(self, xs: Columns, y: int, among: Sequence[int]) -> int:
        """Return the larger of the two."""
        if not self.measured[[*xs, y, *among]].any():
            return self.tables.deepest(xs, y, among)
        return self.blocks.deepest(xs, y, among)

    def strongest_pair(self, xs: Columns, y: int, given: Sequence[int], level: float) -> Given | None:
        """Return the two that tell most together; of categories alone: nothing."""
        return self.blocks.strongest_pair(xs, y, given, level) if self.measured[[*xs, y, *given]].any() else ()

    def by_formula(self) -> MixedTests:
        """Return the same tests by the quickest formula, with what they remember for the next target."""
        return self._by_formula

    @cached_property
    def _by_formula(self) -> MixedTests:
        return super().by_formula()

    def rows_for(self, x: int, y: int, given: Sequence[int] = ()) -> float:
        """Return how many rows the tests in charge need."""
        tests = self.blocks if self.measured[[x, y, *given]].any() else self.tables
        return tests.rows_for(x, y, given)
