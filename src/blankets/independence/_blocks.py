"""Tests of independence between columns of any kind, without cutting: functions of columns and their inner products.

Two stages, one answer (methods, section 10). Inner products give a first p-value for all candidates at once, in small
matrices. Where it is far from the level, it stands. Near the level rows decide: products of residuals with the variance
that they show, or, for a category with rare levels, the law of its own draws. Each p-value says how it was found.

Blocks do not see what shows in no function alone: y the exclusive or of two columns (use ``test="g"`` for that).
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from threading import Lock
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from blankets import kernels
from blankets.arguments import number
from blankets.counting import TESTED, Moments, Scores, on_one_core
from blankets.independence._block_batch import BLOCK_METHODS, FAR, NOTHING, QUICK, ROWS, SCORES, UNCHECKED, BlockBatch
from blankets.independence._contract import Columns, CountedTests, Tally, concatenated
from blankets.independence._evidence import EvidenceBatch, Given
from blankets.independence._inner_products import (
    PROJECTED,
    Floats,
    Products,
    Projection,
    by_directions,
    explained_of,
    given_widths,
    of_each,
    of_wide,
    project,
)
from blankets.independence._row_tests import (
    DOUBTED,
    LEAST_LEVEL,
    LEFT,
    GivenRows,
    RowTests,
    few_meet,
    hardly_told,
    is_rare,
)
from blankets.stats import canonical_test

_CERTAIN = math.log(1e-12)  # inner products decide below this, given one column at most, where there is a level
_NEAR = 5.0  # times the level, but at least 5%, or the root of a level below 1/400: rows decide below this
_LEAST_NEAR, _NEAR_ANY = 0.05, 0.3  # the latter where no level is known, or few rows have a level
_AT_ONCE = 2e8  # multiplications that rows may be asked for before somebody needs to know
_AGAIN = 1e9  # multiplications for columns far from the level that are asked by rows all the same: about a second
_FEW_OF = 8  # in a table with more functions than these, those of fewer columns than one in eight are projected alone
_MANY_GIVEN = 64  # functions of all members, from which those of all but one are made from these
_STEPS = 10  # of a fit of probabilities
_WIDE = 16  # functions beyond those of the given columns and the other one, from which a column is wide
_KEPT_BYTES, _KEPT_ROWS, _KEPT_ANSWERS = 16 << 20, 128 << 20, 1 << 18  # projections, functions, answers that are kept

Kept = TypeVar("Kept", Projection, Floats, GivenRows)


class BlockTests(CountedTests):
    """Tests of residual canonical correlation, decided from rows near the level.

    ``moments``: where the inner products come from. ``reliability``: a test is performed if there are this many rows
    for each function conditioned on and for each pair of functions tested. ``strength``: what `EvidenceBatch.strongest`
    compares. ``level``: what p-values will be compared with; rows are asked near it. By default they are asked
    wherever p is below 0.3, and elsewhere too if that takes not too long.

    Examples
    --------
    >>> from blankets.counting import MemoryMoments
    >>> from blankets.data import ingest
    >>> rng = np.random.default_rng(0)
    >>> cause = rng.normal(size=500)
    >>> table = {"cause": cause, "one": cause**2 + rng.normal(size=500), "other": cause**2 + rng.normal(size=500)}
    >>> tests = BlockTests(MemoryMoments(ingest(table, numbers=True).frame))
    >>> tests.test(1, 2).dependent(0.01), tests.test(1, 2, given=[0]).dependent(0.01)
    (True, False)
    """

    def __init__(
        self, moments: Moments, *, reliability: float = 5.0, strength: str = "p-value", level: float | None = None
    ) -> None:
        self.moments, self.names, self.level = moments, moments.names, level
        self.reliability = number("reliability", reliability, "a number of rows for each function, >= 0", least=0.0)
        self.by_effect = strength == "information"
        self.tally, self.memo = Tally(), {}
        self._widths = np.diff(moments.start)
        # Functions of each column that are tested at least.
        self._least = np.where(moments.ordered, np.minimum(self._widths, TESTED), self._widths)
        self._kept: OrderedDict[Given, Projection] = OrderedDict()
        self._kept_explained: OrderedDict[Given, Floats] = OrderedDict()  # of all columns
        self._answers: OrderedDict[Hashable, tuple[float, int]] = OrderedDict()
        self._given_rows: OrderedDict[Given, GivenRows] = OrderedDict()
        self._lock = Lock()
        self._sampled = level is not None and level >= LEAST_LEVEL
        near = _NEAR_ANY if level is None else max(_NEAR * level, min(_LEAST_NEAR, math.sqrt(level)))
        self._window = (-math.inf if level is None else _CERTAIN, math.log(min(near, 1.0)))
        # Whether rows are asked far from the level too: if no level is known, or if no column is dependent.
        self.again = level is None
        # Where rows are too few for all levels of categories with an order, their scores are tested.
        self._scores: BlockTests | None = None
        if moments.ordered.any():
            self._scores = BlockTests(Scores(moments), reliability=reliability, strength=strength, level=level)
            self._scores.tally, self._scores._kept = self.tally, self._kept

    @on_one_core()
    def scan(self, xs: Columns, y: int, given: Sequence[int] = (), *, even_if_unreliable: bool = False) -> BlockBatch:
        """Test each of ``xs`` against ``y`` given one set."""
        known = self._projection(tuple(sorted(given)))
        return self._scan(np.asarray(xs, np.int64), y, tuple(given), known, even_if_unreliable=even_if_unreliable)

    @on_one_core()
    def drop_one(self, members: Sequence[int], y: int, only: Sequence[int] | None = None) -> EvidenceBatch:
        """Test each member, or ``only`` some of them, given all the others, from the basis of all if that is large."""
        members = tuple(members)
        whole, n = self._projection(tuple(sorted(members))), self.moments.n_rows
        if whole.size < max(_MANY_GIVEN, sum(whole.widths)) or whole.size * n * 8 > _KEPT_ROWS:
            return super().drop_one(members, y, only)
        return concatenated([self._left_out(x, y, members, whole) for x in (members if only is None else only)])

    def _left_out(self, x: int, y: int, members: Given, whole: Projection) -> BlockBatch:
        """Test one member given all the others, from the basis of all."""
        known, mirror = whole.without(x)
        given = tuple(z for z in members if z != x)
        if known.widths != given_widths(self.moments, known.given):  # fewer columns, and so more functions of each
            return self.scan((x,), y, given)
        rows = GivenRows(self.moments, known, lambda: mirror.of_basis(self._rows_of(whole).basis))
        return self._scan(np.array([x]), y, given, known, rows=rows)

    def _scan(
        self,
        columns: NDArray[np.int64],
        y: int,
        given: Given,
        known: Projection,
        *,
        even_if_unreliable: bool = False,
        rows: GivenRows | None = None,
    ) -> BlockBatch:
        """Test columns given a set whose basis is known; ``rows``: its functions over the rows, if they are at hand."""
        widths = self._widths[columns]
        needed = self.reliability * (known.size + widths * self.moments.tested(y))
        room = self.moments.n_rows - known.size - widths * self.moments.tested(y) - 3
        reliable = (needed <= self.moments.n_rows) & (room > 0)
        performed = (room > 0) if even_if_unreliable else reliable
        self.tally.add(int(np.count_nonzero(reliable)))
        statistic, dof, log_p, effect = np.full((4, len(columns)), np.nan)
        dof[~performed] = 0.0
        at = np.flatnonzero(performed)
        statistic[at], dof[at], log_p[at], effect[at] = self._by_products(columns[at], y, known)
        by_products = QUICK if self._window[0] > self._window[1] else FAR
        method = np.where(reliable, np.where(dof > 0, by_products, NOTHING), 0).astype(np.int8)
        scored, by_scores = self._by_scores(columns, y, given, known, ~reliable)
        statistic[scored], dof[scored], log_p[scored], effect[scored] = by_scores
        method[scored] = np.where(dof[scored] > 0, SCORES, NOTHING)
        # Products among several given columns are not in the inner products: then the smallest p may be theirs.
        least = self._window[0] if len(given) < 2 else -math.inf
        with np.errstate(invalid="ignore"):
            near = reliable & (dof > 0) & (log_p <= self._window[1])
            if self._window[0] < self._window[1]:
                likely = log_p <= math.log(_NEAR_ANY)
                near |= reliable & (dof > 0) & hardly_told(self.moments, columns, y, likely)
            sure = near & (log_p < least)
        # Where few rows have the rarest levels, these alone may make any p-value by inner products.
        near[sure] = [is_rare(self.moments, x, y) for x in columns[sure].tolist()]
        later = near.copy()
        if near.any() and self._work(columns[near], y, known).sum() < _AT_ONCE:
            later[near] = [is_rare(self.moments, x, y) for x in columns[near].tolist()]
        if (now := near & ~later).any():
            log_p[now], method[now] = self._judged(columns[now], y, known, log_p[now], rows)
            later[now] = self._doubted(known, log_p[now], method[now])
        return BlockBatch(
            columns,
            y,
            given,
            statistic=statistic,
            dof=dof,
            n_rows=self.moments.n_rows,
            reliable=reliable | scored,
            log_p=log_p,
            effect=effect,
            by_effect=self.by_effect,
            method=method,
            methods=BLOCK_METHODS,
            tests=self,
            near=later,
            far=(method == FAR) & ~later,
        )

    def _by_scores(
        self, columns: NDArray[np.int64], y: int, given: Given, known: Projection, few: NDArray[np.bool_]
    ) -> tuple[NDArray[np.bool_], tuple[Floats, Floats, Floats, Floats]]:
        """Return which columns scores decide about, of those with ``few`` rows, and the four numbers of these tests."""
        scored = few & (self.moments.ordered[columns] | self.moments.ordered[y])
        if self._scores is None or not scored.any():
            return np.zeros(len(columns), bool), (np.zeros(0),) * 4
        batch = self._scores._scan(columns[scored], y, given, known)
        there = scored[scored] = batch.reliable
        return scored, (batch.statistic[there], batch.dof[there], batch.log_p[there], batch.effect[there])

    @on_one_core()
    def asked(
        self, xs: NDArray[np.int64], y: int, given: Given, log_p: Floats, *, far: bool
    ) -> tuple[Floats, NDArray[np.int8]]:
        """Return log p-values and methods by rows; ``log_p``: what inner products say.

        ``far``: these are far from the level, and asked as far as that takes not too long.
        """
        known = self._projection(tuple(sorted(given)))
        log_p, method = log_p.copy(), np.full(len(xs), UNCHECKED, np.int8)
        at = np.argsort(log_p, kind="stable")
        if far:
            at = at[np.cumsum(self._work(xs[at], y, known)) <= _AGAIN]
        if len(at):
            judged = self._judged(xs[at], y, known, log_p[at])
            log_p[at], method[at] = self._given_products(xs[at], y, known, *judged)
        return log_p, method

    def deepest(self, xs: Columns, y: int, among: Sequence[int]) -> int:
        """Return the size from which even the narrowest columns, by one function each, leave too few rows."""
        if not self.reliability or not len(xs):
            return len(among)
        room = self.moments.n_rows / self.reliability - int(self._least[np.asarray(xs)].min()) * int(self._least[y])
        return int(np.searchsorted(np.cumsum(sorted(self.moments.widths(among, 1))), room, side="right"))

    def at_level(self, level: float) -> BlockTests:
        """Return the same tests for decisions at another level."""
        strength = "information" if self.by_effect else "p-value"
        nearest = None if self.level is None else level
        tests = BlockTests(self.moments, reliability=self.reliability, strength=strength, level=nearest)
        tests.tally, tests._lock = self.tally, self._lock
        tests._kept, tests._kept_explained, tests._given_rows = self._kept, self._kept_explained, self._given_rows
        if tests._sampled == self._sampled:
            tests._answers = self._answers
        if self._scores is not None:
            tests._scores = self._scores.at_level(level)
            tests._scores._kept = self._kept
        return tests

    def by_formula(self) -> BlockTests:
        """Return the same tests by inner products alone: no rows are asked, also near the level."""
        return self._asking(again=False, window=(math.inf, -math.inf))

    def by_rows(self) -> BlockTests:
        """Return the same tests, which ask rows again before a scan finds nothing dependent.

        Inner products are far from the level only if variances do not move with the given columns. Columns are asked
        in the order of their p-values, as many as take about a second; the method of the others says so.
        """
        return self._asking(again=True)

    def _asking(self, *, again: bool, window: tuple[float, float] | None = None) -> BlockTests:
        tests = self.at_level(self.level or 0.0)
        for each in (tests, tests._scores or tests):
            each._window, each.again = window or each._window, again
        return tests

    def _work(self, xs: NDArray[np.int64], y: int, known: Projection) -> Floats:
        """Return how many multiplications it takes to ask rows about each column."""
        size = 1.0 + known.size
        fits = np.where([few_meet(self.moments, x, y) for x in xs.tolist()], _STEPS * size, 0.0)
        return np.asarray(self.moments.n_rows * size * (self._widths[xs] + fits))

    def rows_for(self, x: int, y: int, given: Sequence[int] = ()) -> float:
        """Return how many rows the rule of reliability asks for, with one function of each given number."""
        pairs = int(self._least[x] * self._least[y])
        return float(self.reliability * (sum(self.moments.widths(given, 1)) + pairs))

    def _judged(
        self, xs: NDArray[np.int64], y: int, known: Projection, log_p: Floats, rows: GivenRows | None = None
    ) -> tuple[Floats, NDArray[np.int8]]:
        """Return log p-values and methods by rows, from the last answers or anew.

        ``log_p``: what inner products say. ``rows``: the functions of what is given, if they are at hand.
        """
        tests, keys = self._row_tests(y, known, rows), self._keys(xs, y, known)
        return self._answered(keys, lambda new: tests.of(xs[new], log_p[new]))

    def _given_products(
        self, xs: NDArray[np.int64], y: int, known: Projection, log_p: Floats, method: NDArray[np.int8]
    ) -> tuple[Floats, NDArray[np.int8]]:
        """Return the same given products of two columns too, where these may matter; ``log_p``: without them."""
        at = np.flatnonzero(self._doubted(known, log_p, method))
        if len(at):
            tests, keys = self._row_tests(y, known), [(*key, True) for key in self._keys(xs[at], y, known)]
            log_p[at], method[at] = self._answered(keys, lambda new: tests.given_products(xs[at[new]], log_p[at[new]]))
        return log_p, method

    def _doubted(self, known: Projection, log_p: Floats, method: NDArray[np.int8]) -> NDArray[np.bool_]:
        """Tell which p-values by rows are near the level, and may be so for products of two given columns."""
        if len(known.given) < 2 or known.within is not None:  # the latter: there are many, and of these no products
            return np.zeros(len(log_p), bool)
        least = DOUBTED - LEFT * self.moments.n_rows
        return np.asarray((method == ROWS) & (log_p <= self._window[1]) & (log_p > least))

    def _row_tests(self, y: int, known: Projection, rows: GivenRows | None = None) -> RowTests:
        return RowTests(y, rows or self._rows_of(known), sampled=self._sampled)

    def _keys(self, xs: NDArray[np.int64], y: int, known: Projection) -> list[tuple[Hashable, ...]]:
        """Return what answers are kept by: the same whoever of the two asks."""
        return [(min(x, y), max(x, y), known.given, known.within) for x in xs.tolist()]

    def _answered(
        self, keys: Sequence[Hashable], ask: Callable[[list[int]], list[tuple[float, int]]]
    ) -> tuple[Floats, NDArray[np.int8]]:
        """Return what is known, and ask for the others."""
        answers = [self._answers.get(key) for key in keys]
        new = [i for i, answer in enumerate(answers) if answer is None]
        if new:
            judged = ask(new)
            with self._lock:
                for i, answer in zip(new, judged, strict=True):
                    self._answers[keys[i]] = answers[i] = answer
                while len(self._answers) > _KEPT_ANSWERS:
                    self._answers.popitem(last=False)
        there = [answer for answer in answers if answer is not None]
        return np.array([a[0] for a in there]), np.array([a[1] for a in there], np.int8)

    @on_one_core()
    def information(self, xs: Columns, y: int, given: Sequence[int] = (), *, about_xs: bool = False) -> Floats:
        """Return how much each of ``xs`` tells about ``y`` given one set, or ``y`` about each; see methods (10.11).

        The two are not the same: all tested functions of the one that tells, and the first functions of the other.
        0 where rows are too few to tell.
        """
        columns = np.asarray(xs, np.int64)
        known = self._projection(tuple(sorted(given)))
        explained, explained_y, across, widths = of_each(self._products(columns, y, known))
        n, k = self.moments.n_rows, explained_y.shape[1]
        if about_xs:
            widths = np.minimum(self.moments.first[columns], widths)
            told_of = (np.arange(across.shape[1]) < widths[:, None])[:, :, None]
            explained, across = np.where(told_of.transpose(0, 2, 1), explained, 0.0), np.where(told_of, across, 0.0)
        else:
            k = int(self.moments.first[y])
        told = canonical_test(explained, explained_y[:, :k], across[:, :, :k], n, across.shape[1] - widths)[2]
        return np.where(n - known.size - widths * k <= 3, 0.0, told)

    def _products(self, xs: NDArray[np.int64], y: int, known: Projection) -> Products:
        """Return the inner products: of all columns, which are kept, or in a wide table of the few that are asked for.

        The question alone decides which of the two: they may differ in their last digits.
        """
        moments, k = self.moments, self.moments.tested(y)
        size, asked = int(moments.start[-1]), int(self._widths[xs].sum()) + k
        if known.within is None and (size <= PROJECTED or asked * _FEW_OF > size):
            across = np.ascontiguousarray(moments.across(y, k), np.float64)
            return Products(self._explained(known), across, xs, y, moments.start, moments.first)
        return Products.of_few(moments, known, xs, y)

    def _by_products(self, xs: NDArray[np.int64], y: int, known: Projection) -> tuple[Floats, Floats, Floats, Floats]:
        """Return statistics, degrees of freedom, log p-values and information from inner products alone."""
        told, n, k = self._products(xs, y, known), self.moments.n_rows, self.moments.tested(y)
        widths, found = self._widths[xs], np.zeros((4, len(xs)))
        wide = np.maximum(widths, k) > known.size + np.minimum(widths, k) + _WIDE
        if not wide.all():
            some = told.of_some(~wide)
            found[:, ~wide] = kernels.scan_functions(
                some.explained, some.across, some.xs, some.start, some.first, some.y, n
            )
        if wide.any():
            found[:, wide] = of_wide(told.of_some(wide), n)
        lost = np.flatnonzero(np.isnan(found[1]))
        if len(lost):
            found[:, lost] = by_directions(told.of_some(lost), n)
        return found[0] + 0.0, found[1], found[2], found[3]  # no -0, which people would read

    def _projection(self, given: Given) -> Projection:
        """Return the basis of a set, from the last ones or anew."""
        return self._recent(self._kept, given, lambda: project(self.moments, given), _KEPT_BYTES)

    def _explained(self, known: Projection) -> Floats:
        """Return what a set explains of all columns, from the last ones or anew."""
        return self._recent(self._kept_explained, known.given, lambda: explained_of(self.moments, known), _KEPT_BYTES)

    def _rows_of(self, known: Projection) -> GivenRows:
        """Return a set's functions over the rows, from the last ones or anew."""
        return self._recent(self._given_rows, known.given, lambda: GivenRows(self.moments, known), _KEPT_ROWS)

    def _recent(self, kept: OrderedDict[Given, Kept], given: Given, make: Callable[[], Kept], most: int) -> Kept:
        """Return what is kept for a set, or make it; as many of the last ones are kept as take ``most`` bytes."""
        with self._lock:
            if given in kept:
                kept.move_to_end(given)
                return kept[given]
        made = make()
        with self._lock:
            made = kept.setdefault(given, made)
            while len(kept) > max(most // max(made.nbytes, 1), 1):
                kept.popitem(last=False)
        return made
