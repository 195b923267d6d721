"""`TieredTests`: what comes before what, for searches.

If every column of a later tier comes after all columns of the earlier ones, a later column is no cause of an
earlier one. Two columns that are not neighbors are separated by the causes of one of them, or by ancestors where some
columns are not measured. So a set that separates x and y need not hold a column that comes later than both. Such a
column can only mislead: given a common effect, independent columns are tied, and given a near copy of y, recorded
later, the causes of y look irrelevant. `TieredTests` does not offer it. Tests of one given set are not changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Self, Unpack

import numpy as np

from blankets.independence._contract import Columns, IndependenceTest, Sets, concatenated
from blankets.independence._evidence import EvidenceBatch
from blankets.independence._layer import Layer

NeverCauses = Callable[[int, int], bool]


class TieredTests(Layer):
    """Other tests, with what is known of the direction of arrows.

    ``tests``: the tests to ask. ``tier``: for some columns the number of their tier. ``never_causes``: tells whether it
    is known that no arrow leads from one column to another.

    Examples
    --------
    >>> import networkx as nx
    >>> from blankets.independence import DSeparation
    >>> tests = DSeparation(nx.DiGraph(["ab", "bc"]))  # a -> b -> c
    >>> tests.separate([0], 2, [1])[0].given
    (1,)
    >>> tiered = TieredTests(tests, {0: 0, 2: 0, 1: 1}, lambda a, b: a == 1)  # wrongly: b comes last
    >>> tiered.separate([0], 2, [1])[0].given, tiered.never_causes(1, 2)
    ((), True)
    """

    def __init__(self, tests: IndependenceTest, tier: Mapping[int, int], never_causes: NeverCauses) -> None:
        super().__init__(tests)
        self.tier, self._never = dict(tier), never_causes

    def around(self, tests: IndependenceTest) -> Self:
        """Return the same layer around other tests."""
        return type(self)(tests, self.tier, self._never)

    def never_causes(self, a: int, b: int) -> bool:
        """Tell whether it is known that no arrow leads from ``a`` to ``b``."""
        return self._never(a, b) or self.tests.never_causes(a, b)

    def scan(
        self, xs: Columns, y: int, given: Sequence[int] = (), *, even_if_unreliable: bool = False
    ) -> EvidenceBatch:
        """Test each of ``xs`` against ``y`` given one set."""
        return self.tests.scan(xs, y, given, even_if_unreliable=even_if_unreliable)

    def drop_one(self, members: Sequence[int], y: int, only: Sequence[int] | None = None) -> EvidenceBatch:
        """Test each member, or ``only`` some of them, against ``y`` given all the other members."""
        return self.tests.drop_one(members, y, only)

    def separate(self, xs: Columns, y: int, among: Sequence[int], **sets: Unpack[Sets]) -> EvidenceBatch:
        """Find, for each x, the subset of ``among``, without columns later than x and y, that separates best.

        Where a subset must hold a later column, the question is another one (is x a spouse through it?), and all of
        ``among`` is tried.
        """
        columns = np.asarray(xs, np.int64)
        last, of_y = max(self.tier.values(), default=0), self.tier.get(y)
        latest = np.array([last if of_y is None else max(self.tier.get(x, last), of_y) for x in columns.tolist()])
        if (containing := sets.get("containing")) is not None:
            latest[latest < self.tier.get(containing, 0)] = last
        kinds = np.unique(latest)
        if len(kinds) == 0:
            return self.tests.separate(columns, y, among, **sets)
        allowed = {k: [z for z in among if self.tier.get(z, 0) <= k] for k in kinds.tolist()}
        parts = [self.tests.separate(columns[latest == k], y, allowed[k], **sets) for k in kinds.tolist()]
        if len(parts) == 1:
            return parts[0]
        place = np.concatenate([np.flatnonzero(latest == k) for k in kinds])
        return concatenated(parts).where(np.argsort(place))
