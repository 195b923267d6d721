"""Tests of independence between columns of any kind, without cutting: functions of columns and their inner products.

Two stages, one answer (methods, section 10). Inner products give a first p-value for all candidates at once, in small
matrices. Where it is far from the level, it stands. Near the level rows decide: products of residuals with the variance
that they show, or, for a category with rare levels, the law of its own draws. Each p-value says how it was found.

Blocks do not see what shows in no function alone: y the exclusive or of two columns (use ``test="g"`` for that).
"""

from __future__ import annotations

import math
import os
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from blankets import kernels
from blankets.arguments import number
from blankets.caching import cached_property
from blankets.counting import GIVEN, Moments, on_one_core
from blankets.independence._block_batch import BlockBatch
from blankets.independence._contract import Columns, CountedTests, Tally, concatenated
from blankets.independence._evidence import EvidenceBatch, Given
from blankets.stats import (
    MOST_LEVELS,
    RARE,
    ROWS_A_FUNCTION,
    Basis,
    FittedLevels,
    canonical_test,
    fitted_levels,
    log_p_of_functions,
    rows_tests,
    score_test,
    whitening,
    wide_log_lambda,
    within_meetings,
)

BLOCK_METHODS = (
    "",
    "there is nothing to test: the given columns determine one of the two",
    "inner products of functions of the columns: far from the level",
    "products of residuals, with the variance that they show",
    "a rare level, by the law of its own draws",
    "two rare levels, by the law of their draws, within the exact law of how often they meet",
    "inner products of functions of the columns: far from the level, as residuals in a part of the rows say too",
    "inner products of functions of the columns: far from the level if variances do not move with what is given, "
    "which was not checked because there are too many rows",
    "products of residuals and inner products, the larger of two p-values: few rows decide",
    "inner products of functions of the columns: the quick test of a search",
)
_NOTHING, _FAR, _ROWS, _RARE, _MEET, _PART, _UNCHECKED, _LARGER, _QUICK = range(1, 10)
_ROWS_A_FUNCTION = 8.0  # rows for each function conditioned on, beyond one for each column
_CERTAIN = math.log(1e-12)  # inner products decide below this, given one column at most, where there is a level
_NEAR = 5.0  # times the level, but at least 5%, or the root of a level below 1/400: rows decide below this
_LEAST_NEAR, _NEAR_ANY = 0.05, 0.3  # the latter where no level is known
# A part of the rows is asked first where inner products leave little doubt. If its p-value is below the second, the
# columns are dependent; at levels from the third on that adds at most 1/1,000 of the level to the errors.
_PART_ROWS, _SURE, _LEAST_LEVEL = 1024, math.log(1e-8), 1e-5
_AT_ONCE = 2e8  # multiplications that rows may be asked for before somebody needs to know
_AGAIN = 1e9  # multiplications for columns far from the level that are asked by rows all the same: about a second
_TOGETHER = 16  # columns that a thread asks rows about, at most
_CORES = os.cpu_count() or 1
_SHARED = 1e6  # products of given and tested functions in all rows, about a millisecond, from which cores share them
_PROJECTED = 4096  # functions of all columns that are projected at once: wide tables have few copies of anything
_FEW_OF = 8  # in a table with more functions than these, those of fewer columns than one in eight are projected alone
_MANY_GIVEN = 64  # functions of all members, from which those of all but one are made from these
_STEPS = 10  # of a fit of probabilities
_WIDE = 16  # functions beyond those of the given columns and the other one, from which a column is wide
_KEPT_BYTES, _KEPT_ROWS, _KEPT_ANSWERS = 16 << 20, 128 << 20, 1 << 18  # projections, functions, answers that are kept

Floats = NDArray[np.float64]
Kept = TypeVar("Kept", "Projection", Floats, "_GivenRows")


class Projection(NamedTuple):
    """What a set of given columns explains."""

    given: Given
    widths: tuple[int, ...]  # functions of each given column
    root: Floats  # (functions, size): makes an orthonormal basis of them
    within: Given | None = None  # the set with one column more whose basis it was made from

    @property
    def size(self) -> int:
        """Number of functions in the basis."""
        return int(self.root.shape[1])

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        return self.root.nbytes + 500

    def without(self, x: int) -> tuple[Projection, Reflection]:
        """Return the same without one of the columns, and the reflection of the basis whose last functions it is.

        A row of ``root`` holds the direction that no other function has a part in. A block reflector (Schreiber &
        Parlett 1988) turns these of x to the first axes; what is left on the other axes is a basis of the others.
        """
        at = self.given.index(x)
        own = slice(sum(self.widths[:at]), sum(self.widths[: at + 1]))
        k = self.widths[at]
        across = np.linalg.qr(self.root[own].T)[0]
        left, _, right = np.linalg.svd(across[:k])
        across[:k] += left @ right
        mirror = Reflection(k, across, np.linalg.solve(across.T @ across / 2.0, across.T))
        root = np.delete(mirror.of(self.root.T), own, axis=1).T
        others = [(z, width) for z, width in zip(self.given, self.widths, strict=True) if z != x]
        return Projection(tuple(z for z, _ in others), tuple(width for _, width in others), root, self.given), mirror


class Reflection(NamedTuple):
    """A reflection of a basis, without its first functions."""

    first: int
    across: Floats  # (size, first)
    along: Floats  # (first, size)

    def of(self, rows: Floats) -> Floats:
        """Return what it makes of coefficients or functions, one a row."""
        return np.asarray(rows[self.first :] - self.across[self.first :] @ (self.along @ rows))


class _Products(NamedTuple):
    """Inner products that tell about some columns and y; columns have numbers of their own here."""

    explained: Floats  # (size, tested functions): of the basis of what is given, with those of the columns
    across: Floats  # (functions of y, tested functions)
    xs: NDArray[np.int64]
    y: int
    start: NDArray[np.int64]  # where the tested functions of each column begin
    first: NDArray[np.int64]  # how many of these are tested alone too

    def of(self, x: int) -> slice:
        """Return where the functions of a column are."""
        return slice(int(self.start[x]), int(self.start[x + 1]))

    def of_some(self, at: NDArray[np.bool_] | NDArray[np.int64]) -> _Products:
        """Return the same for some of the columns."""
        return self._replace(xs=self.xs[at])


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
        self,
        moments: Moments,
        *,
        reliability: float = 5.0,
        strength: str = "p-value",
        level: float | None = None,
    ) -> None:
        self.moments, self.names, self.level = moments, moments.names, level
        self.reliability = number("reliability", reliability, "a number of rows for each function, >= 0", least=0.0)
        self.by_effect = strength == "information"
        self.tally, self.memo = Tally(), {}
        self._widths = np.diff(moments.start)
        self._kept: OrderedDict[Given, Projection] = OrderedDict()
        self._kept_explained: OrderedDict[Given, Floats] = OrderedDict()  # of all columns
        self._answers: OrderedDict[tuple[int, int, Given, Given | None], tuple[float, int]] = OrderedDict()
        self._given_rows: OrderedDict[Given, _GivenRows] = OrderedDict()
        self._lock = Lock()
        self._sampled = level is not None and level >= _LEAST_LEVEL
        near = _NEAR_ANY if level is None else max(_NEAR * level, min(_LEAST_NEAR, math.sqrt(level)))
        self._window = (-math.inf if level is None else _CERTAIN, math.log(min(near, 1.0)))
        # Whether rows are asked far from the level too: if no level is known, or if no column is dependent.
        self.again = level is None

    @on_one_core
    def scan(self, xs: Columns, y: int, given: Sequence[int] = (), *, even_if_unreliable: bool = False) -> BlockBatch:
        """Test each of ``xs`` against ``y`` given one set."""
        known = self._projection(tuple(sorted(given)))
        return self._scan(np.asarray(xs, np.int64), y, tuple(given), known, even_if_unreliable=even_if_unreliable)

    @on_one_core
    def drop_one(self, members: Sequence[int], y: int, only: Sequence[int] | None = None) -> EvidenceBatch:
        """Test each member, or ``only`` some of them, given all the others, from the basis of all if that is large."""
        members = tuple(members)
        whole, n = self._projection(tuple(sorted(members))), self.moments.n_rows
        if whole.size < max(_MANY_GIVEN, sum(whole.widths)) or whole.size * n * 8 > _KEPT_ROWS:
            return super().drop_one(members, y, only)
        batches: list[EvidenceBatch] = []
        for x in members if only is None else only:
            known, mirror = whole.without(x)
            given = tuple(z for z in members if z != x)
            if known.widths != given_widths(self.moments, known.given):  # fewer columns, and so more functions of each
                batches.append(self.scan((x,), y, given))
                continue
            batches.append(self._scan(np.array([x]), y, given, known, rows=self._reflected(known, whole, mirror)))
        return concatenated(batches)

    def _reflected(self, known: Projection, whole: Projection, mirror: Reflection) -> _GivenRows:
        """Return the functions of a set over the rows, from those of the set with one column more."""
        return _GivenRows(self.moments, known, lambda: mirror.of(self._rows_of(whole).basis.rows[1:]))

    def _scan(
        self,
        columns: NDArray[np.int64],
        y: int,
        given: Given,
        known: Projection,
        *,
        even_if_unreliable: bool = False,
        rows: _GivenRows | None = None,
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
        by_products = _QUICK if self._window[0] > self._window[1] else _FAR
        method = np.where(reliable, np.where(dof > 0, by_products, _NOTHING), 0).astype(np.int8)
        # Products among several given columns are not in the inner products: then the smallest p may be theirs.
        least = self._window[0] if len(given) < 2 else -math.inf
        with np.errstate(invalid="ignore"):
            near = reliable & (dof > 0) & (log_p <= self._window[1])
            sure = near & (log_p < least)
        # Where few rows have the rarest levels, these alone may make any p-value by inner products.
        near[sure] = [self._is_rare(x, y) for x in columns[sure].tolist()]
        later = near.copy()
        if self._work(columns[near], y, known).sum() < _AT_ONCE:
            later[near] = [self._is_rare(x, y) for x in columns[near].tolist()]
        if (now := near & ~later).any():
            log_p[now], method[now] = self._judged(columns[now], y, known, log_p[now], rows)
        return BlockBatch(
            columns,
            y,
            given,
            statistic=statistic,
            dof=dof,
            n_rows=self.moments.n_rows,
            reliable=reliable,
            log_p=log_p,
            effect=effect,
            by_effect=self.by_effect,
            method=method,
            methods=BLOCK_METHODS,
            tests=self,
            near=later,
            far=method == _FAR,
        )

    @on_one_core
    def asked(
        self, xs: NDArray[np.int64], y: int, given: Given, log_p: Floats, *, far: bool
    ) -> tuple[Floats, NDArray[np.int8]]:
        """Return log p-values and methods by rows; ``log_p``: what inner products say.

        ``far``: these are far from the level, and asked as far as that takes not too long.
        """
        known = self._projection(tuple(sorted(given)))
        if not far:
            return self._judged(xs, y, known, log_p)
        log_p, method = log_p.copy(), np.full(len(xs), _UNCHECKED, np.int8)
        at = np.argsort(log_p, kind="stable")
        at = at[np.cumsum(self._work(xs[at], y, known)) <= _AGAIN]
        if len(at):
            log_p[at], method[at] = self._judged(xs[at], y, known, log_p[at])
        return log_p, method

    def deepest(self, xs: Columns, y: int, among: Sequence[int]) -> int:
        """Return the size from which even the narrowest columns, by one function each, leave too few rows."""
        if not self.reliability or not len(xs):
            return len(among)
        tested = int(self._widths[np.asarray(xs)].min()) * self.moments.tested(y)
        room = self.moments.n_rows / self.reliability - tested
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
        return tests

    def by_formula(self) -> BlockTests:
        """Return the same tests by inner products alone: no rows are asked, also near the level."""
        tests = self.at_level(self.level or 0.0)
        tests._window, tests.again = (math.inf, -math.inf), False
        return tests

    def by_rows(self) -> BlockTests:
        """Return the same tests, which ask rows again before a scan finds nothing dependent.

        Inner products are far from the level only if variances do not move with the given columns. Columns are asked
        in the order of their p-values, as many as take about a second; the method of the others says so.
        """
        tests = self.at_level(self.level or 0.0)
        tests.again = True
        return tests

    def _work(self, xs: NDArray[np.int64], y: int, known: Projection) -> Floats:
        """Return how many multiplications it takes to ask rows about each column."""
        size = 1.0 + known.size
        few = np.array([self.moments.fewest(x) for x in xs.tolist()]) * self.moments.fewest(y)
        fits = np.where(few < RARE * self.moments.n_rows, _STEPS * size, 0.0)
        return np.asarray(self.moments.n_rows * size * (self._widths[xs] + fits))

    def rows_for(self, x: int, y: int, given: Sequence[int] = ()) -> float:
        """Return how many rows the rule of reliability asks for, with one function of each given number."""
        pairs = self.moments.tested(x) * self.moments.tested(y)
        return float(self.reliability * (sum(self.moments.widths(given, 1)) + pairs))

    def _judged(
        self,
        xs: NDArray[np.int64],
        y: int,
        known: Projection,
        log_p: Floats,
        rows: _GivenRows | None = None,
    ) -> tuple[Floats, NDArray[np.int8]]:
        """Return log p-values and methods by rows, from the last answers or anew; the same whoever of the two asks.

        ``log_p``: what inner products say. ``rows``: the functions of what is given, if they are at hand.
        """
        keys = [(min(x, y), max(x, y), known.given, known.within) for x in xs.tolist()]
        answers = [self._answers.get(key) for key in keys]
        new = [i for i, answer in enumerate(answers) if answer is None]
        if new:
            judged = _Rows(y, rows or self._rows_of(known), sampled=self._sampled).of(xs[new], log_p[new])
            with self._lock:
                for i, answer in zip(new, judged, strict=True):
                    self._answers[keys[i]] = answers[i] = answer
                while len(self._answers) > _KEPT_ANSWERS:
                    self._answers.popitem(last=False)
        there = [answer for answer in answers if answer is not None]
        return np.array([a[0] for a in there]), np.array([a[1] for a in there], np.int8)

    @on_one_core
    def information(self, xs: Columns, y: int, given: Sequence[int] = (), *, about_xs: bool = False) -> Floats:
        """Return how much each of ``xs`` tells about ``y`` given one set, or ``y`` about each; see methods (10.11).

        The two are not the same: all tested functions of the one that tells, and the first functions of the other.
        0 where rows are too few to tell.
        """
        columns = np.asarray(xs, np.int64)
        known = self._projection(tuple(sorted(given)))
        explained, explained_y, across, widths = _of_each(self._products(columns, y, known))
        n, k = self.moments.n_rows, explained_y.shape[1]
        if about_xs:
            widths = np.minimum(self.moments.first[columns], widths)
            told_of = (np.arange(across.shape[1]) < widths[:, None])[:, :, None]
            explained, across = np.where(told_of.transpose(0, 2, 1), explained, 0.0), np.where(told_of, across, 0.0)
        else:
            k = int(self.moments.first[y])
        told = canonical_test(explained, explained_y[:, :k], across[:, :, :k], n, across.shape[1] - widths)[2]
        return np.where(n - known.size - widths * k <= 3, 0.0, told)

    def _products(self, xs: NDArray[np.int64], y: int, known: Projection) -> _Products:
        """Return the inner products: of all columns, which are kept, or in a wide table of the few that are asked for.

        The question alone decides which of the two: they may differ in their last digits.
        """
        moments, k = self.moments, self.moments.tested(y)
        size, asked = int(moments.start[-1]), int(self._widths[xs].sum()) + k
        if known.within is None and (size <= _PROJECTED or asked * _FEW_OF > size):
            across = np.ascontiguousarray(moments.across(y, k), np.float64)
            return _Products(self._explained(known), across, xs, y, moments.start, moments.first)
        columns = np.append(xs, y)
        at = np.concatenate([np.arange(moments.start[x], moments.start[x + 1]) for x in columns.tolist()])
        start = np.concatenate([[0], np.cumsum(self._widths[columns])])
        across = np.ascontiguousarray(moments.across(y, k, at), np.float64)
        return _Products(
            explained_of(moments, known, at), across, np.arange(len(xs)), len(xs), start, moments.first[columns]
        )

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
            found[:, wide] = _of_wide(told.of_some(wide), n)
        lost = np.flatnonzero(np.isnan(found[1]))
        if len(lost):
            found[:, lost] = _by_directions(told.of_some(lost), n)
        return found[0], found[1], found[2], found[3]

    def _projection(self, given: Given) -> Projection:
        """Return the basis of a set, from the last ones or anew."""
        return self._recent(self._kept, given, lambda: project(self.moments, given), _KEPT_BYTES)

    def _explained(self, known: Projection) -> Floats:
        """Return what a set explains of all columns, from the last ones or anew."""
        return self._recent(self._kept_explained, known.given, lambda: explained_of(self.moments, known), _KEPT_BYTES)

    def _rows_of(self, known: Projection) -> _GivenRows:
        """Return a set's functions over the rows, from the last ones or anew."""
        return self._recent(self._given_rows, known.given, lambda: _GivenRows(self.moments, known), _KEPT_ROWS)

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

    def _is_rare(self, x: int, y: int) -> bool:
        """Tell whether one of the two is a category with levels so rare that its probabilities have to be fitted."""
        return few_meet(self.moments, x, y) and any(levels_of(self.moments, z) is not None for z in (x, y))


def project(moments: Moments, given: Given, rows_a_function: float = _ROWS_A_FUNCTION, rows: int = 0) -> Projection:
    """Return an orthonormal basis of a set: as many functions of each number as rows allow."""
    if not given:
        return Projection((), (), np.zeros((0, 0)))
    widths = given_widths(moments, given, rows_a_function, rows)
    return Projection(given, widths, _whitening(moments.among(given, widths), widths))


def given_widths(
    moments: Moments, given: Given, rows_a_function: float = _ROWS_A_FUNCTION, rows: int = 0
) -> tuple[int, ...]:
    """Return how many functions of each given column rows allow."""
    for degree in range(GIVEN, 0, -1):
        widths = moments.widths(given, degree)
        if sum(widths) * rows_a_function <= (rows or moments.n_rows):
            break
    return tuple(widths)


def explained_of(moments: Moments, known: Projection, at: NDArray[np.int64] | None = None) -> Floats:
    """Return inner products of the basis of a set with the tested functions of all columns, or those ``at`` places."""
    size = int(moments.start[-1]) if at is None else len(at)
    explained = np.empty((known.size, size))
    if known.size:
        across = [moments.across(z, k, at) for z, k in zip(known.given, known.widths, strict=True)]
        for begin in range(0, size, _PROJECTED):
            here = slice(begin, begin + _PROJECTED)
            explained[:, here] = known.root.T @ np.vstack([each[:, here] for each in across])
    return explained


def _of_each(told: _Products) -> tuple[Floats, Floats, Floats, NDArray[np.int64]]:
    """Return inner products: of the basis with xs and with y, of xs with y; and how many functions each x has."""
    start, q = told.start, len(told.explained)
    widths = np.diff(start)[told.xs]
    most = int(widths.max(initial=0))
    there = np.arange(most) < widths[:, None]
    at = np.where(there, start[told.xs][:, None] + np.arange(most), 0)
    both = np.vstack([told.explained, told.across])
    of_x = np.where(there[None], both[:, at], 0.0).transpose(1, 0, 2)  # (candidates, given and y, functions of x)
    return of_x[:, :q], told.explained[:, told.of(told.y)], of_x[:, q:].transpose(0, 2, 1), widths


def _of_wide(told: _Products, n_rows: int) -> Floats:
    """Return what `_by_products` does where x or y has more functions than the given columns and the other one."""
    of_y, q = told.explained[:, told.of(told.y)], len(told.explained)
    twice, statistic, dof = np.zeros((3, 2, len(told.xs)))  # of all functions, and of the first ones
    for i, x in enumerate(told.xs.tolist()):
        of_x, product = told.explained[:, told.of(x)], told.across[:, told.of(x)].T
        firsts = (min(int(told.first[x]), product.shape[0]), min(int(told.first[told.y]), product.shape[1]))
        for which, (kx, ky) in enumerate((product.shape, firsts)):
            if not kx * ky or (which and firsts == product.shape):
                continue
            sides = (of_x[:, :kx], of_y[:, :ky], product[:kx, :ky])
            if kx > ky:
                sides = (sides[1], sides[0], sides[2].T)
            twice[which, i], dof[which, i] = wide_log_lambda(*sides), kx * ky
            statistic[which, i] = max(n_rows - 1 - q - (kx + ky + 1) / 2.0, 0.0) * twice[which, i]
    log_p = log_p_of_functions(statistic[0], dof[0], statistic[1], dof[1])
    dof[0, np.isnan(twice).any(axis=0)] = np.nan
    return np.array([statistic[0], dof[0], log_p, twice[0] / 2.0])


def _by_directions(told: _Products, n_rows: int) -> Floats:
    """Return the same where the given columns determine almost all of some directions."""
    explained, explained_y, across, widths = _of_each(told)
    statistic, dof, effect = canonical_test(explained, explained_y, across, n_rows, across.shape[1] - widths)
    firsts, first_y = np.minimum(told.first[told.xs], widths), int(told.first[told.y])
    few = int(firsts.max(initial=0))
    alone = (np.arange(few) < firsts[:, None])[:, None, :]
    explained = np.where(alone, explained[:, :, :few], 0.0)
    across = np.where(alone.transpose(0, 2, 1), across[:, :few, :first_y], 0.0)
    simple, fewer, _ = canonical_test(explained, explained_y[:, :first_y], across, n_rows, few - firsts)
    return np.array([statistic, dof, log_p_of_functions(statistic, dof, simple, fewer), effect])


def _whitening(gram: Floats, widths: Sequence[int]) -> Floats:
    """Return `whitening` of the functions of several columns; a column with many keeps its own, which are orthonormal.

    So it is the others whose directions are sought: what the column leaves of them.
    """
    z = int(np.argmax(widths))
    if 2 * widths[z] <= len(gram):
        return whitening(gram)
    begin = sum(widths[:z])
    own = np.arange(begin, begin + widths[z])
    others = np.delete(np.arange(len(gram)), own)
    told = gram[np.ix_(own, others)]
    rest = whitening(gram[np.ix_(others, others)] - told.T @ told)
    root = np.zeros((len(gram), len(own) + rest.shape[1]))
    root[own, : len(own)] = np.eye(len(own))
    root[own, len(own) :], root[others, len(own) :] = -told @ rest, rest
    return root


class _GivenRows:
    """What is given, over the rows.

    ``functions``: where orthonormal functions of the given columns come from, if not from the columns. Each ``step``-th
    row is asked first where inner products leave little doubt; 0: there are too few rows.
    """

    def __init__(self, moments: Moments, known: Projection, functions: Callable[[], Floats] | None = None) -> None:
        self.moments, self.known, self._functions = moments, known, functions
        self._fits: dict[int, FittedLevels] = {}  # of targets
        step = moments.n_rows // _PART_ROWS
        self.step = step if step > 1 and known.size * _ROWS_A_FUNCTION * step <= moments.n_rows else 0

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        return (1 + self.known.size) * self.moments.n_rows * 8

    @cached_property
    def basis(self) -> Basis:
        """An orthonormal basis of the given functions."""
        if self._functions is not None:
            return Basis.of(self._functions())
        return Basis.combined(self._rows(self.known), self.known.root, self.moments.n_rows)

    @cached_property
    def part(self) -> Basis:
        """The same over a part of the rows."""
        n_rows, root = len(range(0, self.moments.n_rows, self.step)), self.known.root
        if not self.known.given:
            return Basis.combined([], root, n_rows)
        rows = np.vstack([each[:, :: self.step] for each in self._rows(self.known)])
        rows -= rows.mean(axis=1, keepdims=True)
        root = root @ whitening(root.T @ (rows @ rows.T) @ root * self.step) * math.sqrt(self.step)
        return Basis.combined([rows], root, n_rows)

    def functions(self, known: Projection) -> Floats:
        """Return orthonormal functions of the given columns."""
        rows = self._rows(known)
        return np.asarray(known.root.T @ np.vstack(rows)) if rows else np.zeros((0, self.moments.n_rows))

    def _rows(self, known: Projection) -> list[Floats]:
        """Return the functions of each given column."""
        return [self.moments.rows(z, k) for z, k in zip(known.given, known.widths, strict=True)]

    def fitted(self, drawn: int, codes: NDArray[np.int64], *, keep: bool) -> FittedLevels:
        """Return how probable a category's levels were; ``keep``: this will be asked for again."""
        if drawn in self._fits:
            return self._fits[drawn]
        few = project(self.moments, self.known.given, ROWS_A_FUNCTION, int(self.moments.fewest(drawn)))
        made = fitted_levels(codes, int(codes.max()) + 1, self.functions(few))
        if keep:
            self._fits[drawn] = made
        return made


class _Rows:
    """Decides about columns from rows, given one y and one set.

    ``sampled``: a part of the rows may be asked first.
    """

    def __init__(self, y: int, given: _GivenRows, *, sampled: bool) -> None:
        self.moments, self.y, self.given = given.moments, y, given
        self.step = given.step if sampled else 0

    def of(self, xs: NDArray[np.int64], log_p: Floats) -> list[tuple[float, int]]:
        """Return log p and method for each column; ``log_p``: what inner products say."""
        answers = [(float(p), _PART) for p in log_p]
        left = np.arange(len(xs))
        rare = np.array([any(codes is not None for codes in self._rare(x)) for x in xs.tolist()], bool)
        if self.step:
            sure = ~rare & (log_p < 1.5 * self.step * _SURE)
            if sure.any():
                sure[sure] = self._asked(xs[sure], self.given.part, self.step) < _SURE
                left = left[~sure]
        plain = left[~rare[left]]
        if len(plain):
            for i, p in zip(plain.tolist(), self._asked(xs[plain], self.given.basis, 1).tolist(), strict=True):
                # Of two numbers that are so skewed, no law is known: neither p-value is believed alone.
                answers[i] = (
                    (max(p, float(log_p[i])), _LARGER) if few_meet(self.moments, int(xs[i]), self.y) else (p, _ROWS)
                )
        for i in left[rare[left]].tolist():
            answers[i] = self._of_rare(int(xs[i]))
        return answers

    def _asked(self, xs: NDArray[np.int64], basis: Basis, step: int) -> Floats:
        """Return log p-values from every so many-th row; those of many columns by several threads."""
        moments, y = self.moments, self.y
        of_y = np.ascontiguousarray(moments.rows(y, moments.tested(y))[:, ::step])

        def of(some: NDArray[np.int64]) -> Floats:
            rows = [np.ascontiguousarray(moments.rows(x, moments.tested(x))[:, ::step]) for x in some.tolist()]
            found = rows_tests(rows, moments.first[some], of_y, int(moments.first[y]), basis)
            return np.asarray(found[0])

        size = _TOGETHER
        if basis.rows.size * int((moments.start[xs + 1] - moments.start[xs]).sum()) >= _SHARED:
            size = min(size, -(-len(xs) // _CORES))
        if len(xs) <= size:
            return of(xs)
        parts = np.split(xs, range(size, len(xs), size))
        with ThreadPoolExecutor(min(len(parts) - 1, _CORES)) as pool:
            others = [pool.submit(of, part) for part in parts[1:]]
            return np.concatenate([of(parts[0]), *(other.result() for other in others)])

    def _of_rare(self, x: int) -> tuple[float, int]:
        """Return log p and method for one column, where it or y is a category with rare levels."""
        y, (rare_x, rare_y) = self.y, self._rare(x)
        # The rarer of the two is the one that is drawn; of equal ones the first column, whoever asks.
        counts = [np.inf if c is None else self.moments.fewest(j) for j, c in ((x, rare_x), (y, rare_y))]
        x_is_drawn = counts[0] < counts[1] or (counts[0] == counts[1] and x < y)
        drawn, codes, other = (x, rare_x, y) if x_is_drawn else (y, rare_y, x)
        return self._drawn(drawn, codes, other, rare_y if x_is_drawn else rare_x)

    def _drawn(
        self, drawn: int, codes: NDArray[np.int64] | None, other: int, others: NDArray[np.int64] | None
    ) -> tuple[float, int]:
        """Test a category with rare levels by the law of its draws."""
        if codes is None:
            return 0.0, _NOTHING
        moments, counts = self.moments, np.bincount(codes)
        functions = moments.rows(drawn, moments.tested(drawn))
        by_level = np.array([functions[:, np.argmax(codes == level)] for level in range(len(counts))]).T
        first = (int(moments.first[other]), int(moments.first[drawn]))
        fitted, rows = self.given.fitted(drawn, codes, keep=drawn == self.y), moments.rows(other, moments.tested(other))
        log_p = score_test(rows, by_level, codes, fitted, self.given.basis.rows[1:], first)[0]
        if moments.fewest(other) >= RARE or len(counts) > 2 or others is None or others.max() > 1:
            return log_p, _RARE
        # Given the rows of the rarer level, whose number does not vary, the other column is drawn in them.
        rare, rare_other = int(counts.argmin()), int(np.bincount(others).argmin())
        probability = self.given.fitted(other, others, keep=other == self.y).probability[rare_other]
        return within_meetings(log_p, others == rare_other, codes == rare, probability), _MEET

    def _rare(self, x: int) -> tuple[NDArray[np.int64] | None, NDArray[np.int64] | None]:
        """Return the levels of x and of y, of each that is a category, if few rows are to have the rarest of both.

        Their products would be so skewed that the spread which they show goes with their sum; see methods (10.15).
        """
        moments, y = self.moments, self.y
        return (levels_of(moments, x), levels_of(moments, y)) if few_meet(moments, x, y) else (None, None)


def few_meet(moments: Moments, x: int, y: int) -> bool:
    """Tell whether few rows are expected to have the rarest levels of both."""
    return moments.fewest(x) * moments.fewest(y) < RARE * moments.n_rows


def levels_of(moments: Moments, x: int) -> NDArray[np.int64] | None:
    """Return the levels of a category that has not too many."""
    codes = moments.codes(x)
    return codes if codes is not None and 1 <= int(codes.max()) < MOST_LEVELS else None
