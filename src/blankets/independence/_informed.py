"""Layers for what the user knows of a search: what comes before what, and who belongs to whom.

**Tiers.** If every column of a later tier comes after all columns of the earlier ones, a later column is no cause of an
earlier one. Two columns that are not neighbors are separated by the causes of one of them, or by ancestors where some
columns are not measured. So a set that separates x and y need not hold a column that comes later than both. Such a
column can only mislead: given a common effect, independent columns are tied, and given a near copy of y, recorded
later, the causes of y look irrelevant. `TieredTests` does not offer it. Tests of one given set are not changed.

**Required pairs.** `RequiredTests` answers "dependent" whenever two columns are tested of which the user knows that one
is in the blanket of the other. Only searches see that; whoever reports evidence asks the tests below.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np

from blankets.independence._contract import Columns, IndependenceTest, concatenated
from blankets.independence._evidence import EvidenceBatch
from blankets.independence._layer import Layer

_CERTAIN = 1e5  # statistic of a required pair ...
_LOG_P = -50_005.98  # ... and its log p at one degree of freedom

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

    def drop_one(self, members: Sequence[int], y: int) -> EvidenceBatch:
        """Test each member against ``y`` given all the other members."""
        return self.tests.drop_one(members, y)

    def separate(
        self,
        xs: Columns,
        y: int,
        among: Sequence[int],
        *,
        containing: int | None = None,
        min_size: int = 0,
        max_size: int | None = None,
        stop_at: float | None = None,
    ) -> EvidenceBatch:
        """Find, for each x, the subset of ``among``, without columns later than x and y, that separates best.

        Where a subset must hold a later column, the question is another one (is x a spouse through it?), and all of
        ``among`` is tried.
        """
        how: dict[str, Any] = {"containing": containing, "min_size": min_size, "max_size": max_size, "stop_at": stop_at}
        columns = np.asarray(xs, np.int64)
        last, of_y = max(self.tier.values(), default=0), self.tier.get(y)
        latest = np.array([last if of_y is None else max(self.tier.get(x, last), of_y) for x in columns.tolist()])
        if containing is not None:
            latest[latest < self.tier.get(containing, 0)] = last
        kinds = np.unique(latest)
        if len(kinds) == 0:
            return self.tests.separate(columns, y, among, **how)
        allowed = {k: [z for z in among if self.tier.get(z, 0) <= k] for k in kinds.tolist()}
        parts = [self.tests.separate(columns[latest == k], y, allowed[k], **how) for k in kinds.tolist()]
        if len(parts) == 1:
            return parts[0]
        place = np.concatenate([np.flatnonzero(latest == k) for k in kinds])
        return concatenated(parts).where(np.argsort(place))


class RequiredTests(Layer):
    """Other tests, for searches that must find some pairs dependent.

    ``tests``: the tests to ask. ``pairs``: the pairs of columns.

    Examples
    --------
    >>> import networkx as nx
    >>> from blankets.independence import DSeparation
    >>> tests = RequiredTests(DSeparation(nx.DiGraph(["ab", "bc"])), [(0, 2)])  # a -> b -> c
    >>> tests.test(0, 2, [1]).dependent(0.01), tests.test(2, 0, [1]).dependent(0.01)
    (True, True)
    """

    def __init__(self, tests: IndependenceTest, pairs: Iterable[tuple[int, int]]) -> None:
        super().__init__(tests)
        self.pairs = tuple(pairs)
        self._partners: dict[int, list[int]] = {}
        for a, b in self.pairs:
            self._partners.setdefault(a, []).append(b)
            self._partners.setdefault(b, []).append(a)

    def around(self, tests: IndependenceTest) -> Self:
        """Return the same layer around other tests."""
        return type(self)(tests, self.pairs)

    def scan(
        self, xs: Columns, y: int, given: Sequence[int] = (), *, even_if_unreliable: bool = False
    ) -> EvidenceBatch:
        """Test each of ``xs`` against ``y`` given one set."""
        return self._sure(self.tests.scan(xs, y, given, even_if_unreliable=even_if_unreliable))

    def drop_one(self, members: Sequence[int], y: int) -> EvidenceBatch:
        """Test each member against ``y`` given all the other members."""
        return self._sure(self.tests.drop_one(members, y))

    def separate(
        self,
        xs: Columns,
        y: int,
        among: Sequence[int],
        *,
        containing: int | None = None,
        min_size: int = 0,
        max_size: int | None = None,
        stop_at: float | None = None,
    ) -> EvidenceBatch:
        """Find, for each of ``xs``, the subset of ``among`` given which its dependence on ``y`` is weakest."""
        how: dict[str, Any] = {"containing": containing, "min_size": min_size, "max_size": max_size, "stop_at": stop_at}
        return self._sure(self.tests.separate(xs, y, among, **how))

    def _sure(self, batch: EvidenceBatch) -> EvidenceBatch:
        """Return the evidence with required pairs dependent."""
        sure = np.isin(batch.xs, self._partners.get(batch.y, ()))
        if not sure.any():
            return batch
        told = batch.told_as(batch.xs, batch.y, batch.given)
        return EvidenceBatch(
            told.xs,
            told.y,
            told.given,
            statistic=np.where(sure, _CERTAIN, told.statistic),
            dof=np.where(sure, np.maximum(told.dof, 1.0), told.dof),
            n_rows=told.n_rows,
            reliable=told.reliable | sure,
            log_p=np.where(sure, _LOG_P, told.log_p),
            effect=np.where(sure, _CERTAIN, told.effect),
            by_effect=told.by_effect,
            method=told.method,
            methods=told.methods,
        )
