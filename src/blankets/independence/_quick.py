"""The quick view of tables with numbers: inner products of functions of columns (methods, section 10).

It is right where variances do not move with what is given and sums of curves of the given columns take out what they
do. Searches look through it first; what is decided or printed is asked of rows (``_numbers.py``).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from blankets import kernels
from blankets.arguments import number
from blankets.counting import TESTED, Moments, Scores, on_one_core
from blankets.independence._contract import Columns, CountedTests, Tally
from blankets.independence._evidence import EvidenceBatch, Given
from blankets.independence._inner_products import (
    PROJECTED,
    Floats,
    Products,
    Projection,
    by_directions,
    explained_of,
    of_each,
    of_wide,
    project,
)
from blankets.stats import canonical_test

QUICK_METHODS = (
    "",
    "there is nothing to test: the given columns determine one of the two",
    "inner products of functions of the columns: the quick view of a search",
    "scores of ordered levels, because there are too few rows to test each level",
)
NOTHING, PRODUCTS, SCORES = range(1, 4)

_FEW_OF = 8  # in a table with more functions than these, those of fewer columns than one in eight are projected alone
_WIDE = 16  # functions beyond those of the given columns and the other one, from which a column is wide
_KEPT_BYTES = 16 << 20  # projections that are kept

Kept = TypeVar("Kept", Projection, Floats)


class QuickTests(CountedTests):
    """Tests of residual canonical correlation.

    ``moments``: where the inner products come from. ``reliability``: a test is performed if there are this many rows
    for each function conditioned on and for each pair of functions tested. ``strength``: what
    `EvidenceBatch.strongest` compares.

    Examples
    --------
    >>> from blankets.counting import MemoryMoments
    >>> from blankets.data import ingest
    >>> rng = np.random.default_rng(0)
    >>> cause = rng.normal(size=500)
    >>> table = {"cause": cause, "one": cause**2 + rng.normal(size=500), "other": cause**2 + rng.normal(size=500)}
    >>> tests = QuickTests(MemoryMoments(ingest(table, numbers=True).frame))
    >>> tests.test(1, 2).dependent(0.01), tests.test(1, 2, given=[0]).dependent(0.01)
    (True, False)
    """

    def __init__(self, moments: Moments, *, reliability: float = 5.0, strength: str = "p-value") -> None:
        self.moments, self.names = moments, moments.names
        self.reliability = number("reliability", reliability, "a number of rows for each function, >= 0", least=0.0)
        self.by_effect = strength == "information"
        self.tally, self.memo = Tally(), {}
        self._widths = np.diff(moments.start)
        # Functions of each column that are tested at least.
        self._least = np.where(moments.ordered, np.minimum(self._widths, TESTED), self._widths)
        self._kept: OrderedDict[Given, Projection] = OrderedDict()
        self._kept_explained: OrderedDict[Given, Floats] = OrderedDict()  # of all columns
        self._lock = Lock()
        # Where rows are too few for all levels of categories with an order, their scores are tested.
        self._scores: QuickTests | None = None
        if moments.ordered.any():
            self._scores = QuickTests(Scores(moments), reliability=reliability, strength=strength)
            self._scores.tally, self._scores._kept = self.tally, self._kept

    @on_one_core()
    def scan(
        self, xs: Columns, y: int, given: Sequence[int] = (), *, even_if_unreliable: bool = False
    ) -> EvidenceBatch:
        """Test each of ``xs`` against ``y`` given one set."""
        known = self._projection(tuple(sorted(given)))
        return self._scan(np.asarray(xs, np.int64), y, tuple(given), known, even_if_unreliable=even_if_unreliable)

    def _scan(
        self, columns: NDArray[np.int64], y: int, given: Given, known: Projection, *, even_if_unreliable: bool = False
    ) -> EvidenceBatch:
        """Test columns given a set whose basis is known."""
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
        method = np.where(reliable, np.where(dof > 0, PRODUCTS, NOTHING), 0).astype(np.int8)
        scored, by_scores = self._by_scores(columns, y, given, known, ~reliable)
        statistic[scored], dof[scored], log_p[scored], effect[scored] = by_scores
        method[scored] = np.where(dof[scored] > 0, SCORES, NOTHING)
        return EvidenceBatch(
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
            methods=QUICK_METHODS,
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

    def deepest(self, xs: Columns, y: int, among: Sequence[int]) -> int:
        """Return the size from which even the narrowest columns, by one function each, leave too few rows."""
        if not self.reliability or not len(xs):
            return len(among)
        room = self.moments.n_rows / self.reliability - int(self._least[np.asarray(xs)].min()) * int(self._least[y])
        return int(np.searchsorted(np.cumsum(sorted(self.moments.widths(among, 1))), room, side="right"))

    def rows_for(self, x: int, y: int, given: Sequence[int] = ()) -> float:
        """Return how many rows the rule of reliability asks for, with one function of each given number."""
        pairs = int(self._least[x] * self._least[y])
        return float(self.reliability * (sum(self.moments.widths(given, 1)) + pairs))

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
        if size <= PROJECTED or asked * _FEW_OF > size:
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
