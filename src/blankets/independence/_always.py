"""`AlwaysGiven`: every test is given some columns too, such as the site, the batch or the stratum.

The columns are no candidates: they are neither in the answer nor out of it. So the layer says nothing of them in its
evidence, and an algorithm sees the world within their strata. Who prints the evidence adds their names.

This differs from `ConditionedTests`, where the fixed columns are candidates themselves (they drive labeling, and may
be members): there each piece of evidence names all columns that it was given.

The answer is the blanket within strata: with W the fixed columns, the smallest set M such that the target is
independent of the others given M and W. If nothing causes W (nobody chooses the site by the result), the world given
W is the same graph without W. If W is an effect of the target and of a feature, its strata tie the two together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from blankets.errors import ParameterError
from blankets.independence._contract import Columns, IndependenceTest
from blankets.independence._evidence import EvidenceBatch
from blankets.independence._layer import Layer


class AlwaysGiven(Layer):
    """Other tests, each given a fixed set too; the evidence names only what was asked for.

    ``tests``: the tests to ask. ``always``: the fixed set; none of it may be tested.

    Examples
    --------
    >>> import networkx as nx
    >>> from blankets.independence import DSeparation
    >>> tests = DSeparation(nx.DiGraph(["ab", "ac", "cd"]))  # b <- a -> c -> d
    >>> tests.test(1, 2).dependent(0.01), AlwaysGiven(tests, [0]).test(1, 2).dependent(0.01)
    (True, False)
    >>> AlwaysGiven(tests, [0]).test(1, 3, [2]).given
    (2,)
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
        asked = tuple(z for z in dict.fromkeys(given) if z not in self.always)
        if y in self.always or any(x in self.always for x in xs):
            raise ParameterError(f"{self._named} is given in every test, so that it cannot be tested itself")
        batch = self.tests.scan(xs, y, (*asked, *self.always), even_if_unreliable=even_if_unreliable)
        return batch.told_as(batch.xs, y, asked)

    @property
    def _named(self) -> str:
        return ", ".join(repr(self.names[z]) for z in self.always)

    def deepest(self, xs: Columns, y: int, among: Sequence[int]) -> int:
        """Return a bound on the size of subsets: the fixed set takes its part of the rows."""
        with_fixed = self.tests.deepest(xs, y, (*among, *self.always)) - len(self.always)
        return max(min(with_fixed, self.tests.deepest(xs, y, among)), 0)

    def rows_for(self, x: int, y: int, given: Sequence[int] = ()) -> float:
        """Return how many rows a test needs, given the fixed set too."""
        return self.tests.rows_for(x, y, (*(z for z in given if z not in self.always), *self.always))
