"""Tests of independence between categorical columns, by counting."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from blankets.counting import Counter, MemoryCounter
from blankets.errors import ParameterError
from blankets.independence._contract import Columns, IndependenceTest
from blankets.independence._evidence import EvidenceBatch
from blankets.stats import statistics_of_block

__all__ = ["TableTests"]

_CACHED_TESTS = 1 << 20  # at most this many tests are kept
_CACHED_SCAN = 4096  # longer scans are not kept: they are never asked twice


class TableTests(IndependenceTest):
    """G or X² tests on count tables.

    Parameters
    ----------
    counter : Counter
        Where the counts come from.
    statistic : {"g", "x2"}
        The statistic.
    dof : {"adjusted", "nominal"}
        Degrees of freedom of the p-value: those that the levels seen in each stratum leave, or the
        textbook product (|X|-1)(|Y|-1)Π|Z_i|.
    reliability : float
        A test is performed if there are at least this many rows for each *nominal* degree of freedom;
        0 performs all tests.
    strength : {"p-value", "information"}
        What `EvidenceBatch.strongest` compares.

    Examples
    --------
    >>> from blankets.counting import MemoryCounter
    >>> from blankets.data import Frame
    >>> frame = Frame.from_codes([[0, 0], [0, 0], [0, 1], [1, 0], [1, 1], [1, 1]] * 20)
    >>> tests = TableTests(MemoryCounter(frame))
    >>> evidence = tests.test(0, 1)
    >>> round(evidence.statistic, 3), evidence.dof, round(evidence.p, 6)
    (13.592, 1.0, 0.000227)
    """

    def __init__(
        self,
        counter: Counter,
        *,
        statistic: str = "g",
        dof: str = "adjusted",
        reliability: float = 5.0,
        strength: str = "p-value",
    ) -> None:
        _check("statistic", statistic, ("g", "x2"))
        _check("dof", dof, ("adjusted", "nominal"))
        _check("strength", strength, ("p-value", "information"))
        if not (isinstance(reliability, int | float | np.number) and reliability >= 0):
            raise ParameterError.out_of_range(
                "reliability", reliability, "a number of rows per degree of freedom, >= 0"
            )
        self.counter = counter
        self.names = counter.names
        self.reliability, self.by_effect = reliability, strength == "information"
        self.nominal = dof == "nominal"
        self.memo = {}
        self.n_tests = 0
        self._summary = statistics_of_block(counter.n_rows, statistic)
        self._free = counter.arities - 1
        self._kept: OrderedDict[tuple[int, tuple[int, ...], bytes], EvidenceBatch] = OrderedDict()
        self._n_kept = 0
        self._lock = Lock()

    def scan(
        self,
        xs: Sequence[int] | NDArray[np.int64],
        y: int,
        given: Sequence[int] = (),
        *,
        even_if_unreliable: bool = False,
    ) -> EvidenceBatch:
        """Test each of ``xs`` against ``y`` given one set, in one pass over the data."""
        columns, given = np.asarray(xs, np.int64), tuple(given)
        if even_if_unreliable or len(columns) > _CACHED_SCAN:
            return self._scan(columns, y, given, even_if_unreliable=even_if_unreliable)
        key = (y, tuple(sorted(given)), columns.tobytes())
        known = self._kept.get(key)
        if known is not None:
            return known
        batch = self._scan(columns, y, given, even_if_unreliable=False)
        with self._lock:
            self._kept[key] = batch
            self._n_kept += len(columns)
            while self._n_kept > _CACHED_TESTS:
                self._n_kept -= len(self._kept.popitem(last=False)[1])
        return batch

    def drop_one(self, members: Sequence[int], y: int) -> EvidenceBatch:
        """Test each member against ``y`` given all the other members, from one joint table if it is small."""
        members = tuple(members)
        counter = self.counter
        if type(self) is not TableTests or not isinstance(counter, MemoryCounter) or len(members) < 2:
            return super().drop_one(members, y)
        nominal = float(math.prod(counter.arities[[*members, y]].tolist()))
        columns = np.array(members, np.int64)
        nominal_each = nominal / counter.arities[columns] * self._free[columns] * (self._free[y] / counter.arities[y])
        reliable = counter.n_rows >= self.reliability * nominal_each
        order = sorted((*members, y))
        joint = counter.joint(order) if reliable.any() else None
        if joint is None:
            return super().drop_one(members, y)
        statistic, dof = np.full(len(members), np.nan), np.zeros(len(members))
        for i in reliable.nonzero()[0]:
            table = np.moveaxis(joint, (order.index(members[i]), order.index(y)), (0, 1))
            flat = np.ascontiguousarray(table).reshape(1, *table.shape[:2], -1)
            statistic[i : i + 1], dof[i : i + 1] = self._summary(flat)
        self.n_tests += int(np.count_nonzero(reliable))
        return EvidenceBatch(
            columns,
            y,
            [tuple(z for z in members if z != x) for x in members],
            statistic=statistic,
            dof=np.where(reliable, nominal_each, dof) if self.nominal else dof,
            n_rows=counter.n_rows,
            reliable=reliable,
            by_effect=self.by_effect,
        )

    def deepest(self, xs: Columns, y: int, among: Sequence[int]) -> int:
        """Return the size at which even the fewest strata of ``among`` leave too few rows."""
        if not self.reliability or not len(xs):
            return len(among)
        affordable = self.counter.n_rows / (self.reliability * self._free[y] * self._free[np.asarray(xs)].min())
        strata = np.cumprod(np.sort(self.counter.arities[list(among)]).astype(float))
        return int(np.count_nonzero(strata <= affordable))

    def _scan(
        self, xs: NDArray[np.int64], y: int, given: tuple[int, ...], *, even_if_unreliable: bool
    ) -> EvidenceBatch:
        nominal = self._nominal(xs, y, given)
        reliable = self.counter.n_rows >= self.reliability * nominal
        if even_if_unreliable or reliable.all():
            statistic, dof = self.counter.summarise(self._summary, xs, y, given)
        else:
            statistic, dof = np.full(len(xs), np.nan), np.zeros(len(xs))
            statistic[reliable], dof[reliable] = self.counter.summarise(self._summary, xs[reliable], y, given)
        self.n_tests += int(np.count_nonzero(reliable))
        return EvidenceBatch(
            xs,
            y,
            given,
            statistic=statistic,
            dof=np.where(reliable, nominal, dof) if self.nominal else dof,
            n_rows=self.counter.n_rows,
            reliable=reliable,
            by_effect=self.by_effect,
        )

    def _nominal(self, xs: NDArray[np.int64], y: int, given: tuple[int, ...]) -> NDArray[np.float64]:
        """Return nominal degrees of freedom, as floats: the product over 100 variables overflows any integer."""
        strata = float(math.prod(self.counter.arities[list(given)].tolist()))
        return np.asarray(self._free[xs] * (strata * float(self._free[y])), np.float64)


def _check(name: str, got: str, allowed: Sequence[str]) -> None:
    if got not in allowed:
        raise ParameterError.not_one_of(name, got, allowed)
