"""Tests of independence where a number or an order is involved: what is given is held fixed, and that is checked.

A search looks first through a quick view (`by_formula`): inner products of functions of columns, in small matrices.
What is decided or printed is asked of rows (``held_fixed_test``; methods, section 10.4), each question once: a screen
with only one side fitted, and the whole test where that leaves any doubt. A test may answer that the given columns
could not be held fixed; then it is neither dependent nor independent.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from copy import copy
from functools import partial
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from blankets.arguments import number
from blankets.counting import on_one_core
from blankets.data import Frame
from blankets.independence._contract import Columns, CountedTests, IndependenceTest, Tally
from blankets.independence._evidence import Evidence, EvidenceBatch, Given, LazyBatch
from blankets.independence._weighting import REFUSED as REFUSED_BY_WEIGHTS
from blankets.independence._weighting import Units
from blankets.stats import (
    GROUPS_A_DEGREE,
    MOST_COLUMNS,
    Draws,
    GivenFunctions,
    GivenSet,
    Pair,
    Side,
    Values,
    Verdict,
    chi2_of_log_p,
    held_fixed_test,
    strongest_pair,
)

NUMBER_METHODS = (
    "",
    "there is nothing to test: the given columns determine one of the two",
    "products of residuals, with what is given taken out of one side: far from the level",
    "products of residuals",
    "products of residuals and of their squares, weighed by what the given columns predict",
    "products of residuals that differ between parts of the rows, split by a given column",
    REFUSED_BY_WEIGHTS,
    "not performed: what is given could not be held fixed by these rows, and may explain what was found",
)
NOTHING, SCREENED, PLAIN, WEIGHED, SPLIT, REFUSED, UNHELD = range(1, 8)

CHECKED = 0.05  # p-value up to which the fit is checked; or the level of a search, if that is larger
# A screen, with one side fitted, is valid too. Above p = 0.3 at level 0.05 nothing was lost in five designs (methods,
# section 10.4): that is 0.05 to this power, and logarithms of p-values of one effect are in proportion to each other.
SCREEN = 0.4
_KEPT_BYTES, _KEPT_ANSWERS, _KEPT_PARTS = 192 << 20, 1 << 16, 32

Floats = NDArray[np.float64]
Made = TypeVar("Made", GivenSet, Side)


class NumberTests(CountedTests):
    """Tests that hold given columns fixed.

    ``frame``: the table. ``quick``: the first view of a search. ``units``: what rows stand for, if they are not equal
    and independent draws. ``reliability``: a test is performed if there are this many rows (or draws, by what they are
    worth) for each function of the base and each pair of functions tested. ``strength``: what `EvidenceBatch.strongest`
    compares. ``level``: what p-values will be compared with.

    Examples
    --------
    >>> from blankets.data import ingest
    >>> rng = np.random.default_rng(0)
    >>> cause = rng.normal(size=(2, 500))
    >>> one, other = cause.prod(axis=0) + rng.normal(size=(2, 500))
    >>> tests = NumberTests(ingest({"a": cause[0], "b": cause[1], "one": one, "other": other}, numbers=True).frame)
    >>> tests.test(2, 3).dependent(0.01), tests.test(2, 3, given=[0, 1]).dependent(0.01)
    (True, False)
    """

    def __init__(
        self,
        frame: Frame,
        *,
        quick: IndependenceTest | None = None,
        units: Units | None = None,
        reliability: float = 5.0,
        strength: str = "p-value",
        level: float | None = None,
    ) -> None:
        self.frame, self.names, self.level, self.quick = frame, frame.names, level, quick
        self.units = Units(frame) if units is None else units
        self.reliability = number("reliability", reliability, "a number of rows for each function, >= 0", least=0.0)
        self.by_effect = strength == "information"
        self.tally, self.memo, self.alone = Tally(), {}, False
        self._parts: OrderedDict[Hashable, _Rows] = OrderedDict()
        self._lock = Lock()

    def by_formula(self) -> IndependenceTest:
        """Return the quick view of a search: inner products; of rows that do not count alike, their own products."""
        if self.quick is not None:
            return self.quick
        tests = copy(self)
        tests.alone, tests.memo = True, {}
        return tests

    def at_level(self, level: float) -> NumberTests:
        """Return the same tests for decisions at another level, with what they keep."""
        tests = copy(self)
        tests.level = None if self.level is None else level
        return tests

    @on_one_core()
    def scan(self, xs: Columns, y: int, given: Sequence[int] = (), *, even_if_unreliable: bool = False) -> NumberBatch:
        """Test each of ``xs`` against ``y`` given one set, on the rows that have a value of all of them."""
        columns, given = np.asarray(xs, np.int64), tuple(given)
        batch = NumberBatch(columns, y, given, self)
        for i, x in enumerate(columns.tolist()):
            rows = self._rows(x, y, given)
            batch.n_rows[i] = rows.n_rows
            enough, possible = rows.enough(x, y, given, self.reliability)
            batch.reliable[i] = enough and rows.trusted
            if batch.reliable[i] or (even_if_unreliable and possible):
                verdict = rows.screened(x, y, given, alone=self.alone)
                batch.set(i, verdict, SCREENED if verdict.dof else NOTHING)
                batch.open[i] = verdict.dof > 0 and verdict.log_p <= self._screen and not self.alone
            elif enough:
                batch.how[i] = REFUSED
        self.tally.add(int(np.count_nonzero(batch.reliable)))
        return batch

    @property
    def _screen(self) -> float:
        """The log p-value of a screen above which a column is independent; all are asked if no level is known."""
        return 0.0 if self.level is None else SCREEN * math.log(self.level)

    @on_one_core()
    def whole(self, x: int, y: int, given: Given) -> Verdict:
        """Return the answer of the whole test."""
        return self._rows(x, y, given).answer(x, y, given, max(CHECKED, self.level or 0.0))

    @on_one_core()
    def strongest_pair(self, xs: Columns, y: int, given: Sequence[int], level: float) -> Given | None:
        """Return the two of ``xs`` that tell most of ``y`` together, beyond what each tells, if that passes a level.

        Columns with missing values are not asked.
        """
        if len(xs) > MOST_COLUMNS:
            return None
        whole = [x for x in np.asarray(xs, np.int64).tolist() if x not in self.frame.holes]
        if len(whole) < 2 or self.alone:
            return ()
        rows = self._rows(whole[0], y, tuple(given))
        if not rows.trusted or not rows.enough(whole[0], y, tuple(given), self.reliability)[0]:
            return ()
        known = rows.given(tuple(given))
        found = strongest_pair(known, rows.side(y, known), whole, level)
        return () if found is None else (found.one, found.other)

    def deepest(self, xs: Columns, y: int, among: Sequence[int]) -> int:
        """Return the size from which on even the narrowest columns leave too few rows."""
        if not self.reliability or not len(xs):
            return len(among)
        room = self.frame.n_rows / self.reliability - min(self._width(int(x)) for x in xs) * self._width(y)
        return int(np.searchsorted(np.cumsum(sorted(self._base_width(z) for z in among)), room, side="right"))

    def rows_for(self, x: int, y: int, given: Sequence[int] = ()) -> float:
        """Return how many rows the rule of reliability asks for."""
        return self.reliability * (1 + sum(map(self._base_width, given)) + self._width(x) * self._width(y))

    def _width(self, x: int) -> int:
        return 1 if x in self.frame.numbers or x in self.frame.ordered else max(int(self.frame.arities[x]) - 1, 1)

    def _base_width(self, z: int) -> int:
        return 1 if z in self.frame.numbers else max(int(self.frame.arities[z]) - 1, 1)

    def _rows(self, x: int, y: int, given: Given) -> _Rows:
        """Return the rows that have a value of some columns, kept for the next test."""
        holes = self.frame.holes.intersection((x, y, *given))
        modeled = bool(holes) and self.units.model is not None
        key = (frozenset([x, y, *given]) if modeled else frozenset(), holes)
        with self._lock:
            if key not in self._parts:
                self._parts[key] = _Rows(self.frame, self.units, x, y, given)
                while len(self._parts) > _KEPT_PARTS:
                    self._parts.popitem(last=False)
            self._parts.move_to_end(key)
            return self._parts[key]


def values_of(frame: Frame, j: int) -> Values:
    """Return the values of a column as tests of numbers see it."""
    number = frame.numbers.get(j)
    if number is not None:
        return Values(np.asarray(number.values, np.float64), is_number=True)
    return Values(frame.column(j), is_number=False, is_ordered=j in frame.ordered)


class _Kept:
    """What was made last, as much of it as fits in some memory."""

    def __init__(self, most: int = _KEPT_BYTES) -> None:
        self._made: OrderedDict[Hashable, Any] = OrderedDict()
        self._most, self._bytes, self._lock = most, 0, Lock()

    def of(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return what is kept, or make it."""
        with self._lock:
            if key in self._made:
                self._made.move_to_end(key)
                return self._made[key]  # type: ignore[no-any-return]
        made = make()
        with self._lock:
            if key not in self._made:
                self._made[key], self._bytes = made, self._bytes + made.nbytes
            while len(self._made) > 1 and self._bytes > self._most:
                self._bytes -= self._made.popitem(last=False)[1].nbytes
        return made


class _Rows:
    """The rows of a test, and what was made of the columns over them."""

    def __init__(self, frame: Frame, units: Units, x: int, y: int, given: Given) -> None:
        weighting = units.of(x, y, given)
        at = np.flatnonzero(weighting.rows)
        self.frame = frame if len(at) == frame.n_rows else frame.take(at)
        self.n_rows, self.trusted = len(at), weighting.trusted
        weights = weighting.weights[at]
        root = None if not len(at) or np.ptp(weights) == 0.0 else np.sqrt(weights / weights.mean())
        groups = None if units.groups is None else np.unique(units.groups[at], return_inverse=True)[1]
        self.draws = Draws(self.n_rows, root, groups)
        self.functions = GivenFunctions(partial(values_of, self.frame), self.draws)
        self._given, self._sides, self._answers = _Kept(), _Kept(), OrderedDict[Hashable, Verdict]()
        self._lock = Lock()

    def enough(self, x: int, y: int, given: Given, reliability: float) -> tuple[bool, bool]:
        """Tell whether rows are enough for a test, and whether any test can be done.

        Rows in groups: as many for the functions of the base, and five groups for each pair, beside what the base
        takes.
        """
        if self.n_rows < 4:
            return False, False
        functions, draws = self.functions, self.draws
        pairs = max(functions.leading(x) * functions.leading(y), 1)
        size = sum(len(functions.first(z)) for z in given)
        if draws.groups is None:
            return reliability * (size + pairs) <= draws.worth, draws.worth > size + pairs + 3
        n_groups = float(draws.groups.max() + 1)
        free = n_groups - (float(np.minimum(draws.taken(self.given(given).basis), 1.0).sum()) if size else 1.0)
        several = min(reliability, 1.0) * GROUPS_A_DEGREE * pairs <= free and reliability * size <= self.n_rows
        return several and 2.0 * free >= n_groups, free > pairs + 2

    def given(self, columns: Given) -> GivenSet:
        """Return what all tests given a set share."""
        key = tuple(sorted(columns))
        return self._given.of(key, lambda: GivenSet(self.functions, key))

    def side(self, x: int, given: GivenSet, *, alone: bool = False) -> Side:
        """Return one side of tests given a set; ``alone``: with nothing taken out beside the base."""
        return self._sides.of((x, given.columns, alone), lambda: Side(given, x, alone=alone))

    def screened(self, x: int, y: int, given: Given, *, alone: bool) -> Verdict:
        """Return the answer with only y fitted; ``alone``: neither of the two."""
        known = self.given(given)
        key = (x, y, known.columns, alone)
        if key in self._answers:
            return self._answers[key]
        pair = Pair(known, self.side(x, known, alone=True), self.side(y, known, alone=alone))
        return self._keep(key, pair.verdict())

    def answer(self, x: int, y: int, given: Given, level: float) -> Verdict:
        """Return the answer of the whole test, the same whoever of the two asks."""
        known, (one, other) = self.given(given), sorted((x, y))
        key = (one, other, known.columns, level)
        if key in self._answers:
            return self._answers[key]
        return self._keep(key, held_fixed_test(known, self.side(one, known), self.side(other, known), level=level))

    def _keep(self, key: Hashable, made: Verdict) -> Verdict:
        with self._lock:
            self._answers[key] = made
            while len(self._answers) > _KEPT_ANSWERS:
                self._answers.popitem(last=False)
        return made


class NumberBatch(LazyBatch):
    """Evidence from a screen, and from whole tests where that leaves doubt, which are asked when they are needed.

    ``tests``: whom to ask. ``open``, of shape (n,): tests that were only screened. ``how``, of shape (n,): methods.
    """

    __slots__ = ("_tests", "how", "open")
    _log_p: Floats
    _effect: Floats
    n_rows: NDArray[np.int64]
    held: NDArray[np.bool_]
    given: Given

    def __init__(self, xs: NDArray[np.int64], y: int, given: Given, tests: NumberTests) -> None:
        n = len(xs)
        statistic, log_p, effect = np.full((3, n), np.nan)
        self._tests, self.open, self.how = tests, np.zeros(n, bool), np.zeros(n, np.int8)
        super().__init__(
            xs, y, given, statistic=statistic, dof=np.zeros(n), n_rows=np.zeros(n, np.int64), reliable=np.zeros(n,
            bool), held=np.ones(n, bool), log_p=log_p, effect=effect, by_effect=tests.by_effect, method=self.how,
            methods=NUMBER_METHODS,
        )  # fmt: skip

    def set(self, i: int, verdict: Verdict, how: int) -> None:
        """Set the answer of one test: the statistic is the χ² that has its p-value."""
        self._log_p[i], self.dof[i], self._effect[i], self.how[i] = verdict.log_p, verdict.dof, verdict.information, how
        self.statistic[i] = chi2_of_log_p(verdict.log_p, verdict.dof)

    def strongest(self, alpha: float) -> Evidence | None:
        """Return the strongest dependent test, or None if none is dependent: asked in the order of the screen."""
        if self.by_effect:
            return super().strongest(alpha)
        best, at = math.log(alpha), np.flatnonzero(self.open)
        for i in at[np.argsort(self._log_p[at], kind="stable")].tolist():
            if best < math.log(alpha) and self._log_p[i] > best:
                break
            self._ask(i)
            if self.reliable[i]:
                best = min(best, float(self._log_p[i]))
        known = self.reliable & ~self.open & (self._log_p <= math.log(alpha))
        at = np.flatnonzero(known)
        if not len(at):
            return None
        return EvidenceBatch.__getitem__(
            self, int(at[np.lexsort((self.xs[at], -self.statistic[at], self._log_p[at]))][0])
        )

    def _settle(self) -> None:
        for i in np.flatnonzero(self.open).tolist():
            self._ask(i)

    @on_one_core()
    def _ask(self, i: int) -> None:
        verdict = self._tests.whole(int(self.xs[i]), self.y, self.given)
        how = UNHELD if not verdict.held else PLAIN + verdict.question if verdict.dof else NOTHING
        self.set(i, verdict, how)
        self.held[i] = verdict.held
        self.reliable[i] &= verdict.held
        self.open[i] = False
