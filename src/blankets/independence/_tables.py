"""Tests of independence between categorical columns, by counting."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from blankets import kernels
from blankets.arguments import one_of
from blankets.caching import cached_property
from blankets.counting import Counter, MemoryCounter, dense_table
from blankets.errors import ParameterError
from blankets.independence._contract import Columns, CountedTests, Sets, Tally, sizes_of
from blankets.independence._evidence import EvidenceBatch
from blankets.independence._subsets import (
    Separated,
    rows_counted,
    weakest_over,
)
from blankets.stats import answers_of_block, formula_of

_CACHED_TESTS = 1 << 20  # at most this many tests are cached
_NS_ROW = 0.4  # nanoseconds for one row of a table
_FEW_ROWS = 1 << 16  # with more rows, the counter keeps the codes of strata for the next question
# Longer scans are not cached: without conditioning they would take too much memory, with it they are not repeated.
_CACHED_SCAN, _CACHED_SHORT = 4096, 16

Floats = NDArray[np.float64]


class TableTests(CountedTests):
    """G or X² tests on count tables.

    ``counter``: the source of counts. ``statistic``: the statistic. ``dof``: degrees of freedom of the p-value: from
    the levels seen in each stratum, or the textbook product (|X|-1)(|Y|-1)Π|Z_i|. ``reliability``: a test is performed
    if there are at least this many rows for each *nominal* degree of freedom; 0 performs all tests. ``strength``: what
    `EvidenceBatch.strongest` compares.

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
        one_of("statistic", statistic, ("g", "x2"))
        one_of("dof", dof, ("adjusted", "nominal"))
        one_of("strength", strength, ("p-value", "information"))
        if not (isinstance(reliability, int | float | np.number) and reliability >= 0):
            raise ParameterError.out_of_range(
                "reliability", reliability, "a number of rows per degree of freedom, >= 0"
            )
        self.counter = counter
        self.names, self.looked_at = counter.names, counter.n_rows
        self.reliability, self.by_effect = reliability, strength == "information"
        self.nominal = dof == "nominal"
        self.memo = {}
        self.tally = Tally()
        self._kind = statistic
        self._free = counter.arities - 1
        self._kept: OrderedDict[tuple[int, tuple[int, ...], bytes | None], EvidenceBatch] = OrderedDict()
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
        columns, given = np.ascontiguousarray(xs, np.int64), tuple(given)
        if even_if_unreliable or len(columns) > (_CACHED_SHORT if given else _CACHED_SCAN):
            return self._scan(columns, y, given, even_if_unreliable=even_if_unreliable)
        key = (y, tuple(sorted(given)), columns.tobytes())
        known = self._kept.get(key)
        return self._keep(key, self._scan(columns, y, given, even_if_unreliable=False)) if known is None else known

    def drop_one(self, members: Sequence[int], y: int, only: Sequence[int] | None = None) -> EvidenceBatch:
        """Test each member, or ``only`` some of them, given all the others, from one joint table if it is small."""
        members = tuple(members)
        key = (y, members, None)
        known = self._kept.get(key)
        if only is not None and known is None and 2 * len(only) < len(members):
            return super().drop_one(members, y, only)
        if only is not None:
            return self.drop_one(members, y).where([members.index(x) for x in only])
        if known is not None:
            return known
        if len(members) == 1:
            return self.scan(members, y)
        table = self._table
        if table is None or not members:
            return super().drop_one(members, y)
        columns = np.array(members, np.int64)
        order = columns.argsort()
        n_tests, *answers = kernels.drop_each(table, self._thorough, columns[order], y)
        if n_tests < 0:
            return super().drop_one(members, y)
        place = order.argsort()
        given = [members[:i] + members[i + 1 :] for i in range(len(members))]
        return self._keep(key, self._batch(columns, y, given, n_tests, *(answer[place] for answer in answers)))

    def separate(self, xs: Columns, y: int, among: Sequence[int], **sets: Unpack[Sets]) -> EvidenceBatch:
        """Find, for each of ``xs``, the subset of ``among`` given which its dependence on ``y`` is weakest."""
        columns = np.ascontiguousarray(xs, np.int64)
        found = self._weakest(columns, y, among, **sets)
        return super().separate(xs, y, among, **sets) if found is None else self._separated(columns, y, found)

    def enough_rows(self, xs: Columns, y: int, given: Sequence[int] = ()) -> NDArray[np.bool_]:
        """Return which of the tests of a scan are reliable: without holes, the levels of the columns tell."""
        if self._gappy(xs, y, given):
            return super().enough_rows(xs, y, given)
        return self._reliable(np.asarray(xs, np.int64), y, tuple(given))

    def _separated(self, xs: NDArray[np.int64], y: int, found: Separated) -> EvidenceBatch:
        """Return what a search over subsets found."""
        batch = self._batch(xs, y, found.sets, found.n_tests, *found.answers)
        batch.by_effect, batch._log_p = False, found.answers[2]
        return batch

    def _weakest(self, xs: NDArray[np.int64], y: int, among: Sequence[int], **sets: Unpack[Sets]) -> Separated | None:
        """Search all subsets in one call; None if this table does not allow it."""
        table = self._table_of_subsets
        if table is None:
            return None
        stop_at, sizes = sets.get("stop_at"), sizes_of(sets, self.deepest(xs, y, among))
        n_jobs = self._threads(len(xs), len(among), sizes, may_stop=stop_at is not None)
        return weakest_over(
            table,
            self._thorough,
            xs,
            y,
            among,
            containing=sets.get("containing"),
            sizes=sizes,
            stop_at=stop_at,
            pool=self.counter.pool if n_jobs > 1 and isinstance(self.counter, MemoryCounter) else None,
            n_jobs=n_jobs,
        )

    def deepest(self, xs: Columns, y: int, among: Sequence[int]) -> int:
        """Return the largest number of columns of ``among``, those with the fewest levels, that leave enough rows."""
        if not self.reliability or not len(xs):
            return len(among)
        arities, n_rows = self._arities, self.counter.n_rows
        levels, each = sorted([arities[z] for z in among]), self.reliability * (arities[y] - 1)
        if each * self._most_free * math.prod(levels, start=1.0) <= n_rows:
            return len(levels)
        each *= min([arities[x] for x in np.asarray(xs).tolist()]) - 1  # rows for a stratum
        strata, size = 1.0, 0
        for arity in levels:
            strata *= arity
            if each * strata > n_rows:
                break
            size += 1
        return size

    def rows_for(self, x: int, y: int, given: Sequence[int] = ()) -> float:
        """Return how many rows the rule of reliability requires."""
        arities = self._arities
        strata = math.prod([float(arities[z]) for z in given])
        return self.reliability * (arities[x] - 1) * (arities[y] - 1) * strata

    @cached_property
    def _table(self) -> kernels.Table | None:
        """The table for kernels that answer whole questions, if they can use it."""
        return dense_table(self.counter)

    @cached_property
    def _table_of_subsets(self) -> kernels.Table | None:
        """The same for subset searches; these ask so many small questions that dense columns are faster."""
        return self._table or dense_table(self.counter, copy_sparse=True)

    def _threads(self, n_xs: int, n_among: int, sizes: tuple[int, int], *, may_stop: bool) -> int:
        """Return how many threads make a search over subsets faster."""
        counter = self.counter
        if n_xs < 2 or not isinstance(counter, MemoryCounter) or counter.n_jobs == 1:
            return 1
        return counter.threads_for(_NS_ROW * rows_counted(counter.n_rows, n_xs, n_among, sizes, may_stop=may_stop))

    @cached_property
    def _formula(self) -> kernels.Formula:
        return formula_of(self.counter.n_rows, self._kind, reliability=self.reliability, nominal=self.nominal)

    @property
    def _thorough(self) -> kernels.Formula:
        """The same for questions all of whose p-values are used."""
        return self._formula

    @cached_property
    def _adjusted(self) -> kernels.Formula:
        """The same with adjusted degrees of freedom."""
        return formula_of(self.counter.n_rows, self._kind) if self.nominal else self._formula

    @cached_property
    def _summary(self) -> Callable[[NDArray[np.int32]], tuple[Floats, ...]]:
        formula, gappy = self._adjusted, bool(self.counter.holes)

        def answers(counts: NDArray[np.int32]) -> tuple[Floats, ...]:
            found = answers_of_block(counts, formula, apart=gappy)
            return (*found, counts.sum(axis=(1, 2, 3), dtype=np.float64)) if gappy else found

        # This name identifies answers in a checkpoint; calibrated tests of one table may use several levels.
        answers.__qualname__ = f"{type(self).__qualname__}.{self._kind} {getattr(self, 'level', None)}"
        return answers

    @cached_property
    def _arities(self) -> list[int]:
        return self.counter.arities.tolist()  # type: ignore[no-any-return]

    def _keep(self, key: tuple[int, tuple[int, ...], bytes | None], batch: EvidenceBatch) -> EvidenceBatch:
        """Cache an answer, and drop the oldest ones."""
        with self._lock:
            self._kept[key] = batch
            self._n_kept += len(batch)
            while self._n_kept > _CACHED_TESTS:
                self._n_kept -= len(self._kept.popitem(last=False)[1])
        return batch

    def _scan(
        self, xs: NDArray[np.int64], y: int, given: tuple[int, ...], *, even_if_unreliable: bool
    ) -> EvidenceBatch:
        gappy = self._gappy(xs, y, given)
        if not even_if_unreliable:
            formula = self._thorough if len(xs) == 1 else self._formula  # one test is asked for its p-value
            n_tests, *answers = self._answered(xs, y, given, formula)
            if n_tests >= 0:
                return self._batch(xs, y, given, n_tests, *answers)
        if gappy:
            return self._scan_seen(xs, y, given, even_if_unreliable=even_if_unreliable)
        reliable = self._reliable(xs, y, given)
        n_reliable = int(np.count_nonzero(reliable))
        if even_if_unreliable or n_reliable == len(xs):
            statistic, dof, log_p, method = self._summarized(xs, y, given)
        else:
            statistic, dof, log_p, method = np.full((4, len(xs)), np.nan)
            some = self._summarized(xs[reliable], y, given)
            statistic[reliable], dof[reliable], log_p[reliable], method[reliable] = some
            dof[~reliable] = 0.0
        dof = np.where(reliable, self._nominal(xs, y, given), dof) if self.nominal else dof
        return self._batch(xs, y, given, n_reliable, statistic, dof, log_p, method, reliable)

    def _summarized(self, xs: NDArray[np.int64], y: int, given: tuple[int, ...]) -> tuple[Floats, ...]:
        """Return statistics, adjusted degrees of freedom, log p-values and methods."""
        if not len(xs):
            return tuple(np.empty((4, 0)))
        return self.counter.summarize(self._summary, xs, y, given)[:4]

    def _gappy(self, xs: Columns, y: int, given: Sequence[int] = ()) -> bool:
        """Whether some column of the tests has holes, so that each test finds its own rows."""
        if not self.counter.holes:
            return False
        with_holes = self._with_holes
        return bool(with_holes[y] or (given and with_holes[list(given)].any()) or with_holes[np.asarray(xs)].any())

    @cached_property
    def _with_holes(self) -> NDArray[np.bool_]:
        return np.isin(np.arange(len(self.counter.names)), list(self.counter.holes))

    def _scan_seen(
        self, xs: NDArray[np.int64], y: int, given: tuple[int, ...], *, even_if_unreliable: bool
    ) -> EvidenceBatch:
        """Do the same where columns have holes: how many rows a test has shows when they have been counted."""
        nominal = self._nominal(xs, y, given)
        tried = np.flatnonzero((self.counter.n_rows >= self.reliability * nominal) | even_if_unreliable)
        statistic, dof, log_p, method, rows = np.full((5, len(xs)), np.nan)
        if len(tried):
            some = self.counter.summarize(self._summary, xs[tried], y, given)
            statistic[tried], dof[tried], log_p[tried], method[tried], rows[tried] = some
        reliable = np.nan_to_num(rows) >= np.maximum(self.reliability * nominal, 1.0)
        unknown = (rows == 0.0) | np.isnan(rows) | ~(reliable | even_if_unreliable)
        statistic[unknown], dof[unknown | ~reliable] = np.nan, 0.0
        dof = np.where(reliable, nominal, dof) if self.nominal else dof
        n_reliable = int(np.count_nonzero(reliable))
        return self._batch(xs, y, given, n_reliable, statistic, dof, log_p, method, reliable, rows)

    def _answered(
        self, xs: NDArray[np.int64], y: int, given: tuple[int, ...], formula: kernels.Formula
    ) -> tuple[Any, ...]:
        """Return the number of tests and their answers in one call for each thread; -1 if the table is not for that."""
        counter = self.counter
        if type(counter) is not MemoryCounter:
            return (-1,)
        table = self._table if counter.n_rows <= _FEW_ROWS else None
        if table is None:
            if given:
                return (-1,)
            table = counter.bits
        strata, threads = np.array(sorted(given), np.int64), counter.threads_for_scan(len(xs))
        if threads == 1:
            return kernels.test_columns(table, formula, xs, y, strata)
        share = np.array_split(xs, threads)
        parts = list(counter.pool.map(lambda part: kernels.test_columns(table, formula, part, y, strata), share))
        if min(part[0] for part in parts) < 0:
            return (-1,)
        each = zip(*(part[1:] for part in parts), strict=True)
        return sum(part[0] for part in parts), *(np.concatenate(answers) for answers in each)

    def _batch(
        self,
        xs: NDArray[np.int64],
        y: int,
        given: tuple[int, ...] | list[tuple[int, ...]],
        n_tests: int,
        statistic: Floats,
        dof: Floats,
        log_p: Floats,
        method: Floats,
        reliable: NDArray[np.bool_],
        rows: Floats | None = None,
    ) -> EvidenceBatch:
        """Put the answers together and count the tests; p-values are the chi-square tail."""
        self.tally.add(n_tests)
        n_rows, by_effect = self._rows(rows), self.by_effect
        return EvidenceBatch(
            xs, y, given, statistic=statistic, dof=dof, n_rows=n_rows, reliable=reliable, by_effect=by_effect
        )

    def _rows(self, rows: Floats | None) -> int | NDArray[np.int64]:
        """Return the rows behind tests: all, or those that each test had, where columns have holes."""
        if rows is None or not self.counter.holes:
            return self.counter.n_rows
        return np.fmin(rows, self.counter.n_rows).astype(np.int64)  # NaN where none was tried

    def _reliable(self, xs: NDArray[np.int64], y: int, given: tuple[int, ...]) -> NDArray[np.bool_]:
        """Return which tests have enough rows: all, if the test of the column with the most levels has."""
        if self.counter.n_rows >= self.reliability * self._nominal(self._widest, y, given)[0]:
            return np.ones(len(xs), np.bool_)
        return self.counter.n_rows >= self.reliability * self._nominal(xs, y, given)

    @cached_property
    def _most_free(self) -> float:
        return float(self._free.max(initial=0))

    @cached_property
    def _widest(self) -> NDArray[np.int64]:
        return np.array([np.argmax(self._free)])

    def _nominal(self, xs: NDArray[np.int64], y: int, given: tuple[int, ...]) -> NDArray[np.float64]:
        """Return nominal degrees of freedom, as floats: the product over 100 variables overflows any integer."""
        strata = float(math.prod(self.counter.arities[list(given)].tolist()))
        return np.asarray(self._free[xs] * (strata * float(self._free[y])), np.float64)
