"""`Layer`: tests that ask other tests, and change the question or the answer.

A layer has the columns of the tests below it, by the same numbers. Algorithms do not notice it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Self

from blankets.independence._contract import Columns, IndependenceTest


class Layer(IndependenceTest):
    """Tests around other tests; a subclass writes `scan` and `around`."""

    def __init__(self, tests: IndependenceTest) -> None:
        self.tests = tests
        self.names, self.looked_at = tests.names, tests.looked_at
        self.memo = {}

    @abstractmethod
    def around(self, tests: IndependenceTest) -> Self:
        """Return the same layer around other tests of the same columns."""

    @property
    def n_tests(self) -> int:  # type: ignore[override]
        """Number of tests performed."""
        return self.tests.n_tests

    @property
    def n_tests_here(self) -> int:
        """Number of tests performed by this thread."""
        return self.tests.n_tests_here

    def deepest(self, xs: Columns, y: int, among: Sequence[int]) -> int:
        """Return the bound of the tests below."""
        return self.tests.deepest(xs, y, among)

    def at_level(self, level: float) -> Self:
        """Return the same tests for decisions at another level."""
        return self.around(self.tests.at_level(level))

    def by_formula(self) -> Self:
        """Return the same tests by the fastest formula."""
        return self.around(self.tests.by_formula())

    def by_rows(self) -> Self:
        """Return the same tests, which look again before a scan finds nothing dependent."""
        return self.around(self.tests.by_rows())

    def rows_for(self, x: int, y: int, given: Sequence[int] = ()) -> float:
        """Return how many rows a test needs."""
        return self.tests.rows_for(x, y, given)

    def never_causes(self, a: int, b: int) -> bool:
        """Tell whether it is known that no arrow leads from ``a`` to ``b``."""
        return self.tests.never_causes(a, b)
