"""Tests of independence with p-values that are right in sparse tables too.

Textbooks assume that G has a chi-square distribution. With many strata (combinations of conditioning values),
rare levels or few rows this is wrong: at level 0.01 such a test may reject half of all true hypotheses, or
none. Here G is compared with its own distribution given the margins of every stratum, by the fastest method
that is good enough for the table (see `blankets.stats`, ``calibrated_of_block``). The evidence says which and why.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blankets import kernels
from blankets.arguments import one_of
from blankets.caching import cached_property
from blankets.counting import Counter
from blankets.errors import ParameterError
from blankets.independence._evidence import Evidence, EvidenceBatch, Given, LazyBatch
from blankets.independence._subsets import Separated
from blankets.independence._tables import TableTests
from blankets.stats import (
    COARSE,
    METHODS,
    calibrated_formula,
    calibrated_of_block,
    log_p_of,
    settled,
    strongest_of,
)
from blankets.voice import option

_FAR_BELOW = 0.1  # times the level: below this no other test need be checked
_LONG = 1024  # tests of a scan from which it pays to look at its likely winners first
_LEADERS = 16  # columns that were strongest in the last scan


class CalibratedTests(TableTests):
    """G tests on count tables, with p-values from the distribution of G given the margins.

    ``counter``: where the counts come from. ``reliability``: a test is performed if there are at least this many rows
    for each *nominal* degree of freedom; 0 performs all tests. ``strength``: what `EvidenceBatch.strongest` compares.
    ``level``: the level that p-values will be compared with: only those near it are computed with care. Default: all.
    ``seed``: seed of the permutations, >= 0. The same seed gives the same answer in any order of rows, columns, levels
    and tests.

    Examples
    --------
    >>> from blankets.counting import MemoryCounter
    >>> from blankets.data import Frame
    >>> frame = Frame.from_codes([[0, 0], [0, 0], [0, 1], [1, 0], [1, 1], [1, 1]] * 20)
    >>> evidence = CalibratedTests(MemoryCounter(frame)).test(0, 1)
    >>> round(evidence.statistic, 3), evidence.dof, evidence.method
    (13.592, 1.0, 'chi-square: every expected count is at least 5')
    """

    def __init__(
        self,
        counter: Counter,
        *,
        reliability: float = 5.0,
        strength: str = "p-value",
        level: float | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__(counter, reliability=reliability, strength=strength)
        if not 0 <= seed < 1 << 63:
            raise ParameterError.out_of_range("seed", seed, "a whole number from 0 to 2**63 - 1")
        self.level, self.seed = level, seed
        self._at_levels: dict[float | None, CalibratedTests] = {}
        self._leaders: dict[int, NDArray[np.int64]] = {}  # by target, of its last long scan if a strong column won it

    def _separated(self, xs: NDArray[np.int64], y: int, found: Separated) -> EvidenceBatch:
        """Return what a search over subsets found."""
        self.tally.add(found.n_tests)
        statistic, dof, log_p, method, reliable, rows = found.answers
        return EvidenceBatch(
            xs,
            y,
            found.sets,
            statistic=statistic,
            dof=dof,
            n_rows=self._rows(rows),
            reliable=reliable,
            log_p=log_p,
            method=np.where(reliable, method, 0).astype(np.int8),
            methods=METHODS,
        )

    def at_level(self, level: float) -> CalibratedTests:
        """Return the same tests for decisions at another level; they are performed even in sparse tables."""
        nearest = None if self.level is None else level
        if nearest not in self._at_levels:
            strength = "information" if self.by_effect else "p-value"
            tests = CalibratedTests(self.counter, reliability=0.0, strength=strength, level=nearest, seed=self.seed)
            tests.tally, tests._leaders = self.tally, self._leaders
            self._at_levels[nearest] = tests
        return self._at_levels[nearest]

    def by_formula(self) -> TableTests:
        """Return the same tests by the chi-square distribution only."""
        return self._by_formula

    @cached_property
    def _calibrated(self) -> Callable[[NDArray[np.int32]], tuple[NDArray[np.float64], ...]]:
        counter, level, seed = self.counter, self.level, self.seed
        judge = calibrated_of_block(counter.n_rows, level=level, seed=seed, apart=bool(counter.holes))
        judge.__qualname__ = f"calibrated {level} {seed}"  # identifies answers in a checkpoint
        return judge

    @cached_property
    def _formula(self) -> kernels.Formula:
        """Leaves open what may not be needed, if there is a level."""
        return self._judging(draws=self.level is None)

    @cached_property
    def _thorough(self) -> kernels.Formula:
        return self._judging(draws=True)

    def _judging(self, *, draws: bool, later: bool = False) -> kernels.Formula:
        rows, level, least = self.counter.n_rows, self.level, self.reliability
        return calibrated_formula(rows, level=level, reliability=least, draws=draws, seed=self.seed, later=later)

    def _scan(
        self, xs: NDArray[np.int64], y: int, given: tuple[int, ...], *, even_if_unreliable: bool
    ) -> EvidenceBatch:
        """Leave p-values open where one of the columns that were strongest in the last scan is still strong.

        Not in a scan after which rows are too few for another: its p-values are what is told of all columns.
        """
        leaders = self._leaders.pop(y, None) if len(xs) >= _LONG and self._another_may_follow(xs, y, given) else None
        if leaders is not None and self._is_strong(leaders[~np.isin(leaders, given)], y, given):
            return self._leaving._scan(xs, y, given, even_if_unreliable=even_if_unreliable)
        return super()._scan(xs, y, given, even_if_unreliable=even_if_unreliable)

    def _another_may_follow(self, xs: NDArray[np.int64], y: int, given: tuple[int, ...]) -> bool:
        """Tell whether there would be rows to test a column of the fewest levels given one more of them."""
        x = int(xs[self.counter.arities[xs].argmin()])
        return not self.rows_for(x, y, (*given, x)) > self.counter.n_rows

    def _is_strong(self, xs: NDArray[np.int64], y: int, given: tuple[int, ...]) -> bool:
        """Tell whether the strongest of these columns, by the chi-square distribution, is far below the level."""
        table = self._table
        if table is None or self.level is None or self._gappy(xs, y, given):
            return False
        found = kernels.test_columns(table, self._thorough, xs, y, np.array(sorted(given), np.int64))
        _, statistic, dof, log_p, _, reliable, _ = found
        i = strongest_of(statistic, dof, reliable, xs)
        if i < 0:
            return False
        better = log_p_of(statistic[i], dof[i]) if np.isnan(log_p[i]) else log_p[i]
        return bool(better <= math.log(_FAR_BELOW * self.level))

    @cached_property
    def _leaving(self) -> _LeavingTests:
        """The same tests, for scans of which only the strongest test will be needed."""
        strength = "information" if self.by_effect else "p-value"
        tests = _LeavingTests(
            self.counter, reliability=self.reliability, strength=strength, level=self.level, seed=self.seed
        )
        tests.tally, tests._leaders = self.tally, self._leaders
        return tests

    @cached_property
    def _by_formula(self) -> TableTests:
        """The same tests by the chi-square distribution only."""
        tests = TableTests(self.counter, reliability=self.reliability)
        tests.tally = self.tally
        return tests

    def _batch(
        self,
        xs: NDArray[np.int64],
        y: int,
        given: Given | list[Given],
        n_tests: int,
        statistic: NDArray[np.float64],
        dof: NDArray[np.float64],
        log_p: NDArray[np.float64],
        method: NDArray[np.float64],
        reliable: NDArray[np.bool_],
        rows: NDArray[np.float64] | None = None,
    ) -> CalibratedBatch:
        """Put the answers together and count the tests; p-values that kernels left open are computed when needed."""
        self.tally.add(n_tests)
        return CalibratedBatch(
            xs,
            y,
            given,
            statistic=statistic,
            dof=dof,
            n_rows=self._rows(rows),
            reliable=reliable,
            by_effect=self.by_effect,
            tests=self,
            judged=(log_p, method),
        )

    def lead(self, batch: EvidenceBatch) -> None:
        """Remember the strongest columns of a long scan, which was won by a strong one."""
        if len(batch) >= _LONG:
            with np.errstate(invalid="ignore"):
                above = np.nan_to_num((batch.statistic - batch.dof) / np.sqrt(np.maximum(batch.dof, 1.0)))
            self._leaders[batch.y] = batch.xs[np.argpartition(above, -_LEADERS)[-_LEADERS:]]

    def judged(
        self, xs: NDArray[np.int64], y: int, given: Given | list[Given]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return log p-values (NaN means: use the chi-square tail) and methods."""
        if not isinstance(given, list):
            n_tests, *answers = self._answered(xs, y, given, self._thorough)
            if n_tests == len(xs):
                return answers[2], answers[3]
            log_p, method = self.counter.summarize(self._calibrated, xs, y, given)
            return log_p, method
        each = [self.judged(xs[i : i + 1], y, given[i]) for i in range(len(xs))]
        return np.concatenate([log_p for log_p, _ in each]), np.concatenate([method for _, method in each])


class _LeavingTests(CalibratedTests):
    """The same tests; the p-values of a scan that are not far from the level are left open until they are used."""

    @cached_property
    def _formula(self) -> kernels.Formula:
        return self._judging(draws=False, later=True)

    def _is_strong(self, xs: NDArray[np.int64], y: int, given: tuple[int, ...]) -> bool:
        """Do not ask again: who asked for this scan did."""
        return False


Judged = tuple[NDArray[np.float64], NDArray[np.float64]]  # log p-values, NaN for the chi-square tail; methods
_SETTLED: Judged = (np.empty(0), np.empty(0))  # they are no longer needed


class CalibratedBatch(LazyBatch):
    """Evidence whose p-values are the chi-square tail if that is far from the level, and otherwise calibrated.

    p-values are computed when they are first used; not at all if only the strongest test is wanted and it is clear.
    """

    __slots__ = ("_judged", "_tests")

    def __init__(self, *about: Any, tests: CalibratedTests, judged: Judged, **evidence: Any) -> None:
        self._tests, self._judged = tests, judged
        super().__init__(*about, methods=METHODS, **evidence)

    def strongest(self, alpha: float) -> Evidence | None:
        """Return the strongest dependent test, or None if none is dependent.

        This is the strongest by the chi-square distribution, if its calibrated p-value is also far below the level.
        """
        level = self._tests.level
        if not self.by_effect and level is not None:
            i = strongest_of(self.statistic, self.dof, self.reliable, self.xs)
            if i >= 0:
                log_p, method = self._judged_alone(i)
                if log_p <= math.log(min(alpha, _FAR_BELOW * level)):
                    self._tests.lead(self)
                    about = float(self.statistic[i]), float(self.dof[i]), log_p, self._effect_of(i), self.rows_of(i)
                    return Evidence(int(self.xs[i]), self.y, *about, self.given_of(i), method=METHODS[method])
        return super().strongest(alpha)

    def _judged_alone(self, i: int) -> tuple[float, int]:
        """Return log p-value and method of one test, without computing the others."""
        log_p, method = self._judged  # first: another thread may be settling
        if self._method is not None:
            return float(self.log_p[i]), int(self._method[i])
        better, how = float(log_p[i]), int(method[i])
        if how == COARSE:
            (better,), (how,) = self._tests.judged(self.xs[i : i + 1], self.y, self.given_of(i))
            log_p[i], method[i] = better, how  # it is not asked for again
        if better != better:
            better = log_p_of(float(self.statistic[i]), float(self.dof[i]))
        return float(better), int(how)

    def _settle(self) -> None:
        """Compute all p-values: by the chi-square distribution, and by a better method where that is in doubt."""
        judged = self._judged
        if self._method is not None:
            return
        log_p, method, n_coarse = settled(self.statistic, self.dof, self.reliable, *judged)
        if n_coarse:
            at = np.flatnonzero(self.reliable & (judged[1] == COARSE))
            given = [self.given[i] for i in at] if isinstance(self.given, list) else self.given
            better, how = self._tests.judged(self.xs[at], self.y, given)
            log_p[at], method[at] = np.where(np.isnan(better), log_p[at], better), how
        self._log_p = log_p
        self._method = method  # set last: another thread may be reading
        self._judged = _SETTLED


def table_tests(
    counter: Counter,
    *,
    statistic: str = "auto",
    dof: str = "adjusted",
    reliability: float = 5.0,
    strength: str = "p-value",
    level: float | None = None,
    seed: int = 0,
) -> TableTests:
    """Return the tests on count tables that the user named: calibrated for "auto", by one formula for "g" and "x2".

    Examples
    --------
    >>> from blankets.counting import MemoryCounter
    >>> from blankets.data import Frame
    >>> counter = MemoryCounter(Frame.from_codes([[0, 1], [1, 1], [0, 0]]))
    >>> [type(table_tests(counter, statistic=kind)).__name__ for kind in ("auto", "g")]
    ['CalibratedTests', 'TableTests']
    """
    if statistic != "auto":
        return TableTests(counter, statistic=statistic, dof=dof, reliability=reliability, strength=strength)
    one_of("dof", dof, ("adjusted", "nominal"))
    if dof != "adjusted":
        raise ParameterError(
            f"{option(dof=dof)} is for the formulas of {option(test='g')} and {option(test='x2')}, but the test "
            f"is 'auto', which has none; "
            f"add {option(test='g')}"
        )
    return CalibratedTests(counter, reliability=reliability, strength=strength, level=level, seed=seed)
