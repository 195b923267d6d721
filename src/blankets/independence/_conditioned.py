"""Tests that always condition on a fixed set as well.

If labeling depends on features W (MAR-F), labeled rows are not a fair sample, and independent variables may be
dependent among them. Given W they are a fair sample: p(y | x, z, w, labeled) = p(y | x, z, w). So a test on
labeled rows is valid if W is tested or conditioned on. The class here adds W to every test.

This changes the question from "x independent of y given z" to "given z and w". For a Markov blanket B of y
nothing changes: what is irrelevant given B stays irrelevant given B and w (weak union), and members of B stay
dependent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np

from blankets.independence._contract import Columns, IndependenceTest, side_by_side
from blankets.independence._evidence import EvidenceBatch
from blankets.independence._layer import Layer


class ConditionedTests(Layer):
    """Other tests, each also given a fixed set.

    A member of the set that is itself tested is tested given the others. The evidence names all columns that
    were conditioned on, as separating sets and reliability require.

    ``tests``: the tests to ask. ``always``: the fixed set.

    Examples
    --------
    >>> import networkx as nx
    >>> from blankets.independence import DSeparation
    >>> tests = DSeparation(nx.DiGraph(["ab", "bc"]))  # a -> b -> c
    >>> tests.test(0, 2).dependent(0.01), ConditionedTests(tests, [1]).test(0, 2).dependent(0.01)
    (True, False)
    """

    def __init__(self, tests: IndependenceTest, always: Sequence[int]) -> None:
        super().__init__(tests)
        self.always = tuple(always)

    def around(self, tests: IndependenceTest) -> Self:
        """Return the same layer around other tests."""
        return type(self)(tests, self.always)

    def scan(
        self, xs: Columns, y: int, given: Sequence[int] = (), *, even_if_unreliable: bool = False
    ) -> EvidenceBatch:
        """Test each of ``xs`` against ``y`` given one set and the fixed set."""
        columns = np.asarray(xs, np.int64)
        fixed = [z for z in self.always if z != y and z not in given]
        inside = np.isin(columns, fixed)
        groups = [columns[~inside], *columns[inside].reshape(-1, 1)]
        asked = tuple(dict.fromkeys(given))  # a separating set may already contain some of the fixed set
        batches = [
            self.tests.scan(
                group, y, (*asked, *(z for z in fixed if z not in group)), even_if_unreliable=even_if_unreliable
            )
            for group in groups
        ]
        return side_by_side(inside, batches, tuple(given))

    def deepest(self, xs: Columns, y: int, among: Sequence[int]) -> int:
        """Return a bound on the size of subsets: the fixed set takes its part of the rows."""
        fixed = [z for z in self.always if z != y and z not in among and z not in xs]
        return max(min(self.tests.deepest(xs, y, (*among, *fixed)) - len(fixed), len(among)), 0)

    def rows_for(self, x: int, y: int, given: Sequence[int] = ()) -> float:
        """Return how many rows a test needs, given also the fixed set."""
        return self.tests.rows_for(x, y, tuple(dict.fromkeys((*given, *(z for z in self.always if z not in (x, y))))))
