"""Limit the number of tests, for searches that would try too many sets."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar, Unpack

from blankets.independence import Columns, EvidenceBatch, IndependenceTest, Sets, sizes_of

T = TypeVar("T")


class OutOfTests(Exception):
    """A search has used all the tests that it was allowed."""


class LimitedTests(IndependenceTest):
    """Other tests, with a limit on their number; beyond it `OutOfTests` is raised.

    Requested tests are counted, not performed ones, so that the answer does not depend on what other searches
    have left in a cache.

    ``tests``: the tests to ask. ``most``: the limit.

    Examples
    --------
    >>> import networkx as nx
    >>> from blankets.independence import DSeparation
    >>> tests = LimitedTests(DSeparation(nx.DiGraph(["ab", "bc"])), most=3)
    >>> len(tests.scan([1, 2], 0))
    2
    >>> tests.scan([1, 2], 0)
    Traceback (most recent call last):
    blankets.search._limited.OutOfTests: 3 tests
    """

    def __init__(self, tests: IndependenceTest, most: int) -> None:
        self.tests, self.most, self.asked = tests, most, 0
        self.names = tests.names
        self.memo = tests.memo

    @property
    def n_tests(self) -> int:  # type: ignore[override]
        """Number of tests performed."""
        return self.tests.n_tests

    def scan(
        self, xs: Columns, y: int, given: Sequence[int] = (), *, even_if_unreliable: bool = False
    ) -> EvidenceBatch:
        """Test each of ``xs`` against ``y`` given one set."""
        self._ask(len(xs))
        return self.tests.scan(xs, y, given, even_if_unreliable=even_if_unreliable)

    def separate(self, xs: Columns, y: int, among: Sequence[int], **sets: Unpack[Sets]) -> EvidenceBatch:
        """Find the weakest dependence of each x over the subsets of a set; all subsets count at once."""
        smallest, largest = sizes_of(sets, self.deepest(xs, y, among))
        fixed = sets.get("containing") is not None
        sizes = range(max(smallest - fixed, 0), largest - fixed + 1)
        self._ask(len(xs) * sum(math.comb(len(among) - fixed, size) for size in sizes))
        return self.tests.separate(xs, y, among, **sets)

    def deepest(self, xs: Columns, y: int, among: Sequence[int]) -> int:
        """Return the bound of the tests."""
        return self.tests.deepest(xs, y, among)

    def remember(self, key: Hashable, work: Callable[[], T]) -> T:
        """Return the result of ``work``, computed once for each key."""
        return self.tests.remember(key, work)

    def _ask(self, n: int) -> None:
        self.asked += n
        if self.asked > self.most:
            raise OutOfTests(f"{self.most:,} tests")
