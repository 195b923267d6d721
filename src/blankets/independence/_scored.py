"""Tests with a target that is known through scores of rows: a machine's labels beside gold ones, or propensities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from blankets.caching import cached_property
from blankets.counting import on_one_core
from blankets.data import Frame
from blankets.independence._contract import Columns, IndependenceTest
from blankets.independence._evidence import EvidenceBatch, Given
from blankets.independence._layer import Layer
from blankets.independence._numbers import values_of
from blankets.independence._weighting import seen_in, strata_of_rows
from blankets.stats import (
    Cells,
    Draws,
    GivenFunctions,
    GivenSet,
    MachineRows,
    Pair,
    RowScores,
    Side,
    Values,
    bounded_functions,
    machine_rows_test,
    means_information,
)

Ints = NDArray[np.int64]
Answer = tuple[float, float, float, float, int, int]  # statistic, dof, log p, effect, rows, method

SCORED_METHODS = (
    "not performed",
    "T: differences between estimated shares of positives; its law is that of tables drawn under independence",
    "a likelihood ratio of products of residuals, in which the machine's errors that were not seen are possible",
)
NOT_PERFORMED, CELLS, BY_ROWS = range(3)
_MOST_ROWS = 100_000  # that tests of numbers look at
_FEWEST = 3  # gold rows, without which nothing can be said
# Rows for each function below which, by chance alone, zero is more often outside all that is seen than not, so that the
# likelihood ratio of a mean of zero has no bound (Wendel 1962, A problem in geometric probability).
_SPANNED = 2.0
_MACHINE = -1  # the number of what the machine says, among the columns of a test
_TOLD_BY_OTHERS = 1e-8  # of a number's ranks is left, if at all, rounding


class ScoredTests(Layer):
    """Tests of the target by scores of rows; all other questions go to other tests.

    ``tests``: answers questions without the target, or given the target. ``frame``: all rows. ``target``: its column.
    ``scores``: the scores of all rows. ``reliability``: rows that tell of the class by themselves (gold rows, or all)
    for each degree of freedom.

    Examples
    --------
    >>> from blankets.counting import MemoryCounter
    >>> from blankets.independence import TableTests
    >>> from blankets.stats import machine_scores
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 3000)
    >>> x = (rng.random(3000) < np.where(y, 0.6, 0.4)).astype(int)
    >>> frame = Frame.from_codes(np.column_stack([x, y]))
    >>> gold = np.where(np.arange(3000) < 150, y, -1).astype(np.int16)
    >>> tests = ScoredTests(TableTests(MemoryCounter(frame)), frame, 1, machine_scores(gold, y.astype(float)))
    >>> tests.test(0, 1).dependent(1e-6)
    True
    """

    def __init__(
        self, tests: IndependenceTest, frame: Frame, target: int, scores: RowScores, *, reliability: float = 5.0
    ) -> None:
        super().__init__(tests)
        self.frame, self.target, self.scores, self.reliability = frame, target, scores, reliability

    def strongest_pair(self, xs: Columns, y: int, given: Sequence[int], level: float) -> Given | None:
        """Return nothing where scores stand for the target."""
        return () if self.target in (y, *given) else self.tests.strongest_pair(xs, y, given, level)

    def around(self, tests: IndependenceTest) -> Self:
        """Return the same layer around other tests."""
        return type(self)(tests, self.frame, self.target, self.scores, reliability=self.reliability)

    @on_one_core()
    def scan(
        self, xs: Columns, y: int, given: Sequence[int] = (), *, even_if_unreliable: bool = False
    ) -> EvidenceBatch:
        """Test each of ``xs`` against ``y`` given one set."""
        columns = np.asarray(xs, np.int64)
        if not len(columns) or self.target in given or (y != self.target and self.target not in columns):
            return self.tests.scan(columns, y, given, even_if_unreliable=even_if_unreliable)
        asked = tuple(sorted(set(given)))
        features = columns if y == self.target else np.array([y], np.int64)
        answers = [self.remember(("scored", int(x), asked), lambda x=x: self._answer(int(x), asked)) for x in features]  # type: ignore[misc]
        statistic, dof, log_p, effect, rows, method = (np.array(part) for part in zip(*answers, strict=True))
        reliable = method != NOT_PERFORMED
        hidden = ~reliable & (not even_if_unreliable)
        self.tally.add(int(np.count_nonzero(reliable)))
        return EvidenceBatch(
            columns,
            y,
            tuple(given),
            statistic=np.where(hidden, np.nan, statistic),
            dof=np.where(hidden, 0.0, dof),
            n_rows=rows.astype(np.int64),
            reliable=reliable,
            log_p=np.where(hidden, np.nan, log_p),
            effect=np.where(hidden, np.nan, effect),
            method=method.astype(np.int8),
            methods=SCORED_METHODS,
        )

    def _answer(self, x: int, given: tuple[int, ...]) -> Answer:
        if self.scores.of_likelihoods and any(j in self.frame.numbers for j in (x, *given)):
            return self._by_rows(x, given)
        sums, rows = scored_sums(self.frame, self.scores, x, given)
        if not rows.any():
            return np.nan, 0.0, np.nan, np.nan, 0, NOT_PERFORMED
        arities = self.frame.arities
        nominal = float(arities[x] - 1) * float(np.prod(arities[list(given)].astype(float)))
        worth = int(np.count_nonzero(self.scores.informative[rows]))
        statistic, dof, log_p = self.scores.test(sums)
        # Where rows are so few that all levels are rare, they are one level, and nothing was compared.
        compared = bool(dof) or not float(self.scores.fitted(sums).dof)
        reliable = compared and worth >= max(self.reliability * nominal, 2.0)
        effect = float(means_information(self.scores.from_sums(sums)).value)
        return statistic, dof, log_p, effect, int(np.count_nonzero(rows)), CELLS if reliable else NOT_PERFORMED

    @cached_property
    def _looked_at(self) -> tuple[Frame, RowScores]:
        """The rows that tests of numbers look at: all, or those with a gold label and others drawn at random."""
        frame, scores, gold = self.frame, self.scores, self.scores.informative
        if (room := _MOST_ROWS - int(np.count_nonzero(gold))) < np.count_nonzero(~gold):
            drawn = np.random.RandomState(0).permutation(np.flatnonzero(~gold))[: max(room, 0)]
            some = np.sort(np.concatenate([np.flatnonzero(gold), drawn]))
            frame, scores = frame.take(some), scores.take(some)
        return frame, scores

    def _by_rows(self, x: int, given: tuple[int, ...]) -> Answer:
        """Test a column without cutting numbers, methods (14.15)."""
        frame, scores = self._looked_at
        rows = seen_in(frame, frozenset((x, *given)))
        if not rows.all():
            some = np.flatnonzero(rows)
            frame, scores = frame.select([x, *given]).take(some).filled(), scores.take(some)
            x, given = 0, tuple(range(1, len(given) + 1))
        n, n_gold = frame.n_rows, int(np.count_nonzero(scores.informative))
        if n_gold < _FEWEST:
            return np.nan, 0.0, np.nan, np.nan, n, NOT_PERFORMED
        functions = GivenFunctions(lambda j: _values(frame, scores, j), Draws(n))
        known = GivenSet(functions, sorted(given))
        if x in frame.numbers:
            of_x, first = bounded_functions(frame.numbers[x].values), 1
        else:
            of_x, first = functions.first(x) / np.sqrt(n), functions.leading(x)
        # One function of each given column in the gold rows, and all that matters in all rows.
        size = len(known.basis) - 1
        enough = min(n_gold, n) / (size + len(of_x)) if len(of_x) else 0.0
        if len(of_x) and enough < _SPANNED:
            return np.nan, 0.0, np.nan, np.nan, n, NOT_PERFORMED
        basis = Pair(known, Side(known, x), Side(known, _MACHINE)).fit.basis
        if x in frame.numbers:  # what the given columns leave of ranks can be large; its own ranks have bounds
            left = of_x[0] - (basis @ of_x[0]) @ basis
            of_x = bounded_functions(left) if left @ left > _TOLD_BY_OTHERS else of_x
        told = MachineRows.of(scores, known.basis[1:] * np.sqrt(n))
        log_p, statistic, dof, effect = machine_rows_test(np.ascontiguousarray(of_x), first, told, basis)
        return statistic, dof, log_p, effect, n, BY_ROWS if enough >= self.reliability else NOT_PERFORMED


def _values(frame: Frame, scores: RowScores, j: int) -> Values:
    """Return a column, or what the machine says of the target."""
    return Values(np.asarray(scores.values[6], np.float64), is_number=True) if j == _MACHINE else values_of(frame, j)


def scored_cells(frame: Frame, scores: RowScores, x: int, given: Sequence[int]) -> Cells:
    """Return what scores tell of the cells of a column within the strata of others."""
    return scores.from_sums(scored_sums(frame, scores, x, given)[0])


def scored_sums(
    frame: Frame, scores: RowScores, x: int, given: Sequence[int]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the sums over the cells of a column within the strata of others, and the rows that have a value."""
    rows, strata = seen_in(frame, frozenset((x, *given))), strata_of_rows(map(frame.column, given), frame.n_rows)
    return scores.sums(frame.column(x).astype(np.int64), strata, rows), rows
