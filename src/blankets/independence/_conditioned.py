"""Tests that condition on a fixed set besides what is asked for.

Where labeling depends on features W (MAR-F), labeled rows are not a fair sample, and two features that have
nothing to do with each other may be tied among them. Given W they are a fair sample: p(y | x, z, w, labeled) =
p(y | x, z, w). So a test on labeled rows is valid if W is among what is tested or conditioned on, and this is
how every test gets it.

That changes the question from "x independent of y given z" to "given z and w". For a Markov blanket B of y
nothing changes: what B makes irrelevant stays so given B and w (weak union), and members of B stay dependent.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from blankets.independence._contract import Columns, IndependenceTest, concatenated
from blankets.independence._evidence import EvidenceBatch

__all__ = ["ConditionedTests"]


class ConditionedTests(IndependenceTest):
    """Other tests, each given a fixed set too.

    A member of the set that is itself tested is tested given the others. The evidence names everything that
    was conditioned on, as separating sets and reliability must.

    ``tests``: what answers. ``always``: the fixed set.

    Examples
    --------
    >>> import networkx as nx
    >>> from blankets.independence import DSeparation
    >>> tests = DSeparation(nx.DiGraph(["ab", "bc"]))  # a -> b -> c
    >>> tests.test(0, 2).dependent(0.01), ConditionedTests(tests, [1]).test(0, 2).dependent(0.01)
    (True, False)
    """

    def __init__(self, tests: IndependenceTest, always: Sequence[int]) -> None:
        self.tests, self.always = tests, tuple(always)
        self.names = tests.names
        self.memo = {}

    @property
    def n_tests(self) -> int:  # type: ignore[override]
        """How many tests have been performed."""
        return self.tests.n_tests

    @property
    def n_tests_here(self) -> int:
        """How many of them this thread has performed."""
        return self.tests.n_tests_here

    def scan(
        self, xs: Columns, y: int, given: Sequence[int] = (), *, even_if_unreliable: bool = False
    ) -> EvidenceBatch:
        """Test each of ``xs`` against ``y`` given one set and the fixed one."""
        columns = np.asarray(xs, np.int64)
        fixed = [z for z in self.always if z != y and z not in given]
        inside = np.isin(columns, fixed)
        groups = [columns[~inside], *columns[inside].reshape(-1, 1)]
        asked = tuple(dict.fromkeys(given))  # a separating set may already hold some of the fixed one
        batches = [
            self.tests.scan(
                group, y, (*asked, *(z for z in fixed if z not in group)), even_if_unreliable=even_if_unreliable
            )
            for group in groups
        ]
        order = np.argsort(np.argsort(inside, kind="stable"), kind="stable")
        return concatenated(batches).where(order)

    def deepest(self, xs: Columns, y: int, among: Sequence[int]) -> int:
        """Return what the tests allow without the fixed set: a bound, if a generous one."""
        return self.tests.deepest(xs, y, among)

    def at_level(self, level: float) -> ConditionedTests:
        """Return the same tests for decisions at another level."""
        return ConditionedTests(self.tests.at_level(level), self.always)

    def by_formula(self) -> ConditionedTests:
        """Return the same tests by the quickest formula."""
        return ConditionedTests(self.tests.by_formula(), self.always)

    def rows_for(self, x: int, y: int, given: Sequence[int] = ()) -> float:
        """Return how many rows a test given the fixed set too needs."""
        return self.tests.rows_for(x, y, tuple(dict.fromkeys((*given, *(z for z in self.always if z not in (x, y))))))
