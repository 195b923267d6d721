"""`WeightedHoles`: rows that have a value stand for those that have none, where complete columns tell of the gaps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np

from blankets.counting import on_one_core
from blankets.independence._contract import Columns, IndependenceTest, side_by_side
from blankets.independence._evidence import EvidenceBatch
from blankets.independence._layer import Layer
from blankets.independence._weighting import SeenModel


class WeightedHoles(Layer):
    """Tests by weights, 1 / P(seen), where these differ between rows; all other questions go to the tests below.

    ``tests``: test-wise deletion. ``weighted``: the same questions by weighted rows. ``model``: of the probability.
    """

    def __init__(self, tests: IndependenceTest, weighted: IndependenceTest, model: SeenModel) -> None:
        super().__init__(tests, weighted)
        self.weighted, self.model = weighted, model

    def around(self, tests: IndependenceTest) -> Self:
        """Return the same layer around other tests."""
        return type(self)(tests, self.weighted, self.model)

    @on_one_core()
    def scan(
        self, xs: Columns, y: int, given: Sequence[int] = (), *, even_if_unreliable: bool = False
    ) -> EvidenceBatch:
        """Test each of ``xs`` against ``y`` given one set."""
        columns = np.asarray(xs, np.int64)
        differ = np.array([self.model.of(x, y, given) is not None for x in columns.tolist()], bool)
        if not differ.any():
            return self.tests.scan(columns, y, given, even_if_unreliable=even_if_unreliable)
        parts = [
            tests.scan(columns[differ == here], y, given, even_if_unreliable=even_if_unreliable)
            for tests, here in ((self.tests, False), (self.weighted, True))
            if (differ == here).any()
        ]
        return side_by_side(differ, parts)
