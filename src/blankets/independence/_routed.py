"""`RoutedTests`: questions about the target go to one implementation, questions among features to another.

In this way unlabeled rows help: if only labeled rows may be compared with the target, tests without the
target still use every row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from blankets.independence._contract import Columns, IndependenceTest, side_by_side
from blankets.independence._evidence import EvidenceBatch
from blankets.independence._layer import Asking


class RoutedTests(Asking):
    """Two implementations over the same columns.

    ``target``: the target's column. ``with_target``: answers questions in which the target is tested or conditioned
    on. ``among_features``: answers all other questions.
    """

    def __init__(self, target: int, with_target: IndependenceTest, among_features: IndependenceTest) -> None:
        super().__init__(among_features, with_target)
        self.target, self.with_target, self.among_features = target, with_target, among_features

    def changed(self, change: Callable[[IndependenceTest], IndependenceTest]) -> RoutedTests:
        """Return the same around changed tests."""
        return RoutedTests(self.target, change(self.with_target), change(self.among_features))

    def scan(
        self, xs: Columns, y: int, given: Sequence[int] = (), *, even_if_unreliable: bool = False
    ) -> EvidenceBatch:
        """Test each of ``xs`` against ``y`` given one set, each by the right implementation."""
        columns = np.asarray(xs, np.int64)
        if y == self.target or self.target in given:
            return self.with_target.scan(columns, y, given, even_if_unreliable=even_if_unreliable)
        others = self.among_features.scan(
            columns[columns != self.target], y, given, even_if_unreliable=even_if_unreliable
        )
        if len(others) == len(columns):
            return others
        own = self.with_target.scan([self.target], y, given, even_if_unreliable=even_if_unreliable)
        return side_by_side(columns == self.target, [others, own], tuple(given))

    def deepest(self, xs: Columns, y: int, among: Sequence[int]) -> int:
        """Return the bound of those that answer; the larger one, where both may."""
        own = self.with_target.deepest(xs, y, among)
        if y == self.target or all(x == self.target for x in xs):
            return own
        return max(own, self.among_features.deepest(xs, y, among))

    def rows_for(self, x: int, y: int, given: Sequence[int] = ()) -> float:
        """Return how many rows the responsible tests need."""
        tests = self.with_target if self.target in (x, y, *given) else self.among_features
        return tests.rows_for(x, y, given)
