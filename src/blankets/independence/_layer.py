"""Tests that ask other tests: `Asking`, and `Layer`, which changes the question or the answer of one.

They have the columns of the tests below them, by the same numbers. Algorithms do not notice them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Self

from blankets.independence._contract import Columns, IndependenceTest, Tally
from blankets.independence._evidence import Given


class Asking(IndependenceTest):
    """Tests that ask other tests; a subclass writes `scan` and `changed`.

    ``asked``: the other tests, whose tests count here. ``tally`` counts those of its own.
    """

    def __init__(self, *asked: IndependenceTest) -> None:
        self.asked, self.names, self.tally, self.memo = asked, asked[0].names, Tally(), {}

    @abstractmethod
    def changed(self, change: Callable[[IndependenceTest], IndependenceTest]) -> Self:
        """Return the same around changed tests."""

    @property
    def n_tests(self) -> int:  # type: ignore[override]
        """Number of tests performed."""
        return self.tally.total + sum(tests.n_tests for tests in self.asked)

    @property
    def n_tests_here(self) -> int:
        """Number of tests performed by this thread."""
        return self.tally.here + sum(tests.n_tests_here for tests in self.asked)

    def at_level(self, level: float) -> Self:
        """Return the same tests for decisions at another level."""
        return self.changed(lambda tests: tests.at_level(level))

    def by_formula(self) -> Self:
        """Return the same tests by the fastest formula."""
        return self.changed(lambda tests: tests.by_formula())


class Layer(Asking):
    """Tests around other tests; a subclass writes `scan` and `around`."""

    def __init__(self, tests: IndependenceTest, *others: IndependenceTest) -> None:
        super().__init__(tests, *others)
        self.tests, self.looked_at = tests, tests.looked_at

    @abstractmethod
    def around(self, tests: IndependenceTest) -> Self:
        """Return the same layer around other tests of the same columns."""

    def changed(self, change: Callable[[IndependenceTest], IndependenceTest]) -> Self:
        """Return the same layer around changed tests."""
        return self.around(change(self.tests))

    def deepest(self, xs: Columns, y: int, among: Sequence[int]) -> int:
        """Return the bound of the tests below."""
        return self.tests.deepest(xs, y, among)

    def rows_for(self, x: int, y: int, given: Sequence[int] = ()) -> float:
        """Return how many rows a test needs."""
        return self.tests.rows_for(x, y, given)

    def strongest_pair(self, xs: Columns, y: int, given: Sequence[int], level: float) -> Given | None:
        """Return the pair that the tests below find, if their columns are the same; who asks tests it again."""
        return self.tests.strongest_pair(xs, y, given, level) if self.names == self.tests.names else ()

    def never_causes(self, a: int, b: int) -> bool:
        """Tell whether it is known that no arrow leads from ``a`` to ``b``."""
        return self.tests.never_causes(a, b)
