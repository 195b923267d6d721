"""Tests of independence between columns of any kind, without cutting: functions of columns and their inner products.

Two stages, one answer (methods, section 10). Inner products give a first p-value for all candidates at once, in small
matrices. Where it is far from the level, it stands. Near the level rows decide: products of residuals with the variance
that they show, or, for a category with rare levels, the law of its own draws. Each p-value says how it was found.

Blocks do not see what shows in no function alone: y the exclusive or of two columns (use ``test="g"`` for that).
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from blankets.arguments import number
from blankets.caching import cached_property
from blankets.counting import GIVEN, Moments
from blankets.independence._contract import Columns, CountedTests, Tally
from blankets.independence._evidence import EvidenceBatch, Given
from blankets.stats import (
    MOST_LEVELS,
    RARE,
    ROWS_A_FUNCTION,
    canonical_test,
    fitted_levels,
    log_p_of_functions,
    meetings_test,
    rows_test,
    score_test,
    whitening,
)

BLOCK_METHODS = (
    "",
    "there is nothing to test: the given columns determine one of the two",
    "inner products of functions of the columns: far from the level",
    "products of residuals, with the variance that they show",
    "a rare level, by the law of its own draws",
    "two rare levels, by the exact law of their meetings",
)
_NOTHING, _FAR, _ROWS, _RARE, _MEET = range(1, 6)
_ROWS_A_FUNCTION = 8.0  # rows for each function conditioned on, beyond one for each column
_CERTAIN = math.log(1e-12)  # inner products decide below this, given one column at most, where there is a level
_NEAR = 5.0  # times the level, but at least 5%: rows decide below this
_LEAST_NEAR, _NEAR_ANY = 0.05, 0.3  # the latter where no level is known
_KEPT_BYTES, _KEPT_ANSWERS = 128 << 20, 1 << 18  # projections, and answers by rows, that are kept

Floats = NDArray[np.float64]


class Projection(NamedTuple):
    """What a set of given columns explains."""

    given: Given
    widths: tuple[int, ...]  # functions of each given column
    root: Floats  # (functions, size): makes an orthonormal basis of them
    explained: Floats  # (size, tested functions): inner products of that basis with those of all columns


class BlockTests(CountedTests):
    """Tests of residual canonical correlation, decided from rows near the level.

    ``moments``: where the inner products come from. ``reliability``: a test is performed if there are this many rows
    for each function conditioned on and for each pair of functions tested. ``strength``: what `EvidenceBatch.strongest`
    compares. ``level``: what p-values will be compared with; rows are asked near it. By default they are asked
    wherever p is below 0.3.

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
        self._answers: OrderedDict[tuple[int, int, Given], tuple[float, int]] = OrderedDict()
        self._lock = Lock()
        near = _NEAR_ANY if level is None else max(_NEAR * level, _LEAST_NEAR)
        self._window = (-math.inf if level is None else _CERTAIN, math.log(min(near, 1.0)))

    def scan(
        self, xs: Columns, y: int, given: Sequence[int] = (), *, even_if_unreliable: bool = False
    ) -> EvidenceBatch:
        """Test each of ``xs`` against ``y`` given one set."""
        columns, given = np.asarray(xs, np.int64), tuple(given)
        known = self._projection(tuple(sorted(given)))
        widths = self._widths[columns]
        needed = self.reliability * (len(known.explained) + widths * self.moments.tested(y))
        room = self.moments.n_rows - len(known.explained) - widths * self.moments.tested(y) - 3
        reliable = (needed <= self.moments.n_rows) & (room > 0)
        performed = (room > 0) if even_if_unreliable else reliable
        self.tally.add(int(np.count_nonzero(reliable)))
        statistic, dof, log_p, effect = np.full((4, len(columns)), np.nan)
        dof[~performed] = 0.0
        at = np.flatnonzero(performed)
        statistic[at], dof[at], log_p[at], effect[at] = self._by_products(columns[at], y, known)
        method = np.where(reliable, np.where(dof > 0, _FAR, _NOTHING), 0).astype(np.int8)
        # Products among several given columns are not in the inner products: then the smallest p may be theirs.
        least = self._window[0] if len(given) < 2 else -math.inf
        with np.errstate(invalid="ignore"):
            near = reliable & (dof > 0) & (log_p >= least) & (log_p <= self._window[1])
        if near.any():
            judge = _Rows(self.moments, y, known)
            for i in np.flatnonzero(near):
                log_p[i], method[i] = self._judged(judge, int(columns[i]))
        return EvidenceBatch(
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
        )

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
        tests.tally, tests._kept, tests._answers, tests._lock = self.tally, self._kept, self._answers, self._lock
        return tests

    def by_formula(self) -> BlockTests:
        """Return the same tests by inner products alone: no rows are asked, also near the level."""
        tests = self.at_level(self.level or 0.0)
        tests._window = (math.inf, -math.inf)
        return tests

    def rows_for(self, x: int, y: int, given: Sequence[int] = ()) -> float:
        """Return how many rows the rule of reliability asks for, with one function of each given number."""
        pairs = self.moments.tested(x) * self.moments.tested(y)
        return float(self.reliability * (sum(self.moments.widths(given, 1)) + pairs))

    def _judged(self, judge: _Rows, x: int) -> tuple[float, int]:
        """Return log p and method by rows, from the last answers or anew; it is the same whoever of the two asks."""
        key = (min(x, judge.y), max(x, judge.y), judge.known.given)
        known = self._answers.get(key)
        if known is None:
            known = judge.of(x)
            with self._lock:
                self._answers[key] = known
                while len(self._answers) > _KEPT_ANSWERS:
                    self._answers.popitem(last=False)
        return known

    def information(self, xs: Columns, y: int, given: Sequence[int] = (), *, about_xs: bool = False) -> Floats:
        """Return how much each of ``xs`` tells about ``y`` given one set, or ``y`` about each; see methods (10.11).

        The two are not the same: all tested functions of the one that tells, and the first functions of the other.
        0 where rows are too few to tell.
        """
        columns = np.asarray(xs, np.int64)
        known = self._projection(tuple(sorted(given)))
        explained, explained_y, across, widths = self._products(columns, y, known)
        n, k = self.moments.n_rows, explained_y.shape[1]
        if about_xs:
            widths = np.minimum(self.moments.first[columns], widths)
            told_of = (np.arange(across.shape[1]) < widths[:, None])[:, :, None]
            explained, across = np.where(told_of.transpose(0, 2, 1), explained, 0.0), np.where(told_of, across, 0.0)
        else:
            k = int(self.moments.first[y])
        told = canonical_test(explained, explained_y[:, :k], across[:, :, :k], n, across.shape[1] - widths)[2]
        return np.where(n - len(known.explained) - widths * k <= 3, 0.0, told)

    def _products(
        self, xs: NDArray[np.int64], y: int, known: Projection
    ) -> tuple[Floats, Floats, Floats, NDArray[np.int64]]:
        """Return inner products: of the basis with xs and with y, of xs with y; and how many functions each x has."""
        start = self.moments.start
        of_y, widths = slice(int(start[y]), int(start[y + 1])), self._widths[xs]
        most = int(widths.max(initial=0))
        there = np.arange(most) < widths[:, None]
        at = np.where(there, start[xs][:, None] + np.arange(most), 0)
        both = np.vstack([known.explained, self.moments.across(y, of_y.stop - of_y.start)])
        of_x = np.where(there[None], both[:, at], 0.0).transpose(1, 0, 2)  # (candidates, given and y, functions of x)
        q = len(known.explained)
        return of_x[:, :q], known.explained[:, of_y], of_x[:, q:].transpose(0, 2, 1), widths

    def _by_products(self, xs: NDArray[np.int64], y: int, known: Projection) -> tuple[Floats, Floats, Floats, Floats]:
        """Return statistics, degrees of freedom, log p-values and information from inner products alone."""
        first, n = self.moments.first, self.moments.n_rows
        explained, explained_y, across, widths = self._products(xs, y, known)
        statistic, dof, effect = canonical_test(explained, explained_y, across, n, across.shape[1] - widths)
        firsts, first_y = np.minimum(first[xs], widths), int(first[y])
        if first_y == explained_y.shape[1] and np.array_equal(firsts, widths):
            return statistic, dof, log_p_of_functions(statistic, dof, None, None), effect
        few = int(firsts.max(initial=0))
        told = (np.arange(few) < firsts[:, None])[:, None, :]
        explained = np.where(told, explained[:, :, :few], 0.0)
        across = np.where(told.transpose(0, 2, 1), across[:, :few, :first_y], 0.0)
        simple, fewer, _ = canonical_test(explained, explained_y[:, :first_y], across, n, few - firsts)
        return statistic, dof, log_p_of_functions(statistic, dof, simple, fewer), effect

    def _projection(self, given: Given) -> Projection:
        """Return what a set explains, from the last ones or anew."""
        with self._lock:
            if given in self._kept:
                self._kept.move_to_end(given)
                return self._kept[given]
        made = project(self.moments, given)
        with self._lock:
            self._kept[given] = made
            while len(self._kept) > max(_KEPT_BYTES // max(made.explained.nbytes, 1), 1):
                self._kept.popitem(last=False)
        return made


def project(moments: Moments, given: Given, rows_a_function: float = _ROWS_A_FUNCTION, rows: int = 0) -> Projection:
    """Return what a set explains: as many functions of each number as rows allow."""
    size = int(moments.start[-1])
    if not given:
        return Projection((), (), np.zeros((0, 0)), np.zeros((0, size)))
    for degree in range(GIVEN, 0, -1):
        widths = moments.widths(given, degree)
        if sum(widths) * rows_a_function <= (rows or moments.n_rows):
            break
    root = whitening(moments.among(given, widths))
    across = np.vstack([moments.across(z, k) for z, k in zip(given, widths, strict=True)])
    return Projection(given, tuple(widths), root, root.T @ across)


class _Rows:
    """Decides about columns from rows, given one y and one set."""

    def __init__(self, moments: Moments, y: int, known: Projection) -> None:
        self.moments, self.y, self.known = moments, y, known

    @cached_property
    def basis(self) -> Floats:
        """An orthonormal basis of the given functions, shape (size, rows)."""
        return self._basis(self.known)

    @cached_property
    def _of_y(self) -> tuple[Floats, Floats]:
        """The functions of y, and what the given ones predict of them."""
        rows = self.moments.rows(self.y, self.moments.tested(self.y))
        return rows, (rows @ self.basis.T) @ self.basis

    def _basis(self, known: Projection) -> Floats:
        if not known.given:
            return np.zeros((0, self.moments.n_rows))
        rows = [self.moments.rows(z, k) for z, k in zip(known.given, known.widths, strict=True)]
        return np.asarray(known.root.T @ np.vstack(rows))

    def of(self, x: int) -> tuple[float, int]:
        """Return log p and method for one column."""
        moments, y = self.moments, self.y
        rare_x, rare_y = self._rare(x), self._rare_y
        if rare_x is None and rare_y is None:
            of_x, (of_y, predicted) = moments.rows(x, moments.tested(x)), self._of_y
            first = (int(moments.first[x]), int(moments.first[y]))
            return rows_test(of_x, of_y, first, self.basis, predicted)[0], _ROWS
        # The rarer of the two is the one that is drawn; of equal ones the first column, whoever asks.
        counts = [np.inf if codes is None else np.bincount(codes).min() for codes in (rare_x, rare_y)]
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
        few = project(moments, self.known.given, ROWS_A_FUNCTION, int(counts.min()))
        small = self._basis(few)
        probability = fitted_levels(codes, len(counts), small)
        if len(counts) == 2 and others is not None and others.max() == 1:
            rare, rare_other = int(counts.argmin()), int(np.bincount(others).argmin())
            return meetings_test(codes == rare, others == rare_other, probability[rare]), _MEET
        functions = moments.rows(drawn, moments.tested(drawn))
        by_level = np.array([functions[:, np.argmax(codes == level)] for level in range(len(counts))]).T
        first = (int(moments.first[other]), int(moments.first[drawn]))
        rows = moments.rows(other, moments.tested(other))
        return score_test(rows, by_level, codes, probability, self.basis, small, first)[0], _RARE

    @cached_property
    def _rare_y(self) -> NDArray[np.int64] | None:
        return self._rare(self.y)

    def _rare(self, x: int) -> NDArray[np.int64] | None:
        """Return the levels of a column if it is a category with rare ones, and not too many of them."""
        codes = self.moments.codes(x)
        if codes is None:
            return None
        counts = np.bincount(codes)
        return codes if counts.min() < RARE and 2 <= len(counts) <= MOST_LEVELS else None
