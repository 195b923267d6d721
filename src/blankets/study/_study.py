"""`Study`: a table, a target, and what is known of its labels: what every question about a target starts from."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from blankets.arguments import threads_from
from blankets.counting import Counter, MemoryCounter
from blankets.data import DataReport, Frame, check_reading, ingest
from blankets.errors import DataError, ParameterError, RegimeWarning, TargetError, listed, warn
from blankets.independence import (
    ConditionedTests,
    IndependenceTest,
    PairwiseTests,
    RoutedTests,
    TableTests,
    table_tests,
)
from blankets.records import Call
from blankets.regimes import (
    Labels,
    Regime,
    Supervised,
    Surrogate,
    SurrogateColumn,
    code_labels,
    label_column,
    regime_from,
)
from blankets.study._copies import warn_of_copies
from blankets.study._engine import Engine

__all__ = ["Study", "check_complete", "check_in_place", "read_study"]


@dataclass(frozen=True, eq=False)
class Study:
    """A table with a target that may be known for some rows only.

    Attributes
    ----------
    frame : Frame
        All rows and columns, the target as it was read.
    target : int
        Its column.
    labels : Labels
        The classes of the labeled rows.
    regime : Regime
        Why the other rows have no label.
    report : DataReport
        What was done to the table.
    n_jobs : int
        Threads for counting.
    engine : Engine, optional
        Where rows are counted; default in memory.
    drawn : bool
        Whether the rows are a draw of those of another study, which nobody needs to recognize.
    """

    frame: Frame
    target: int
    labels: Labels
    regime: Regime
    report: DataReport
    n_jobs: int
    engine: Engine | None = None
    drawn: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """All columns."""
        return self.frame.names

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return self.frame.n_rows

    @property
    def strata(self) -> NDArray[np.int16]:
        """What rows are drawn by: their classes, unlabeled rows being one of their own."""
        return self.labels.codes

    @property
    def features(self) -> list[int]:
        """All columns but the target."""
        return [x for x in range(self.frame.n_columns) if x != self.target]

    def column(self, name: str) -> int:
        """Return the number of a column that the user asks about."""
        if name in self.report.left_out:
            raise DataError(f"column {name!r} was left out: {self.report.left_out[name]}; keep it with keep=[{name!r}]")
        return self.frame.index(name)

    def take(self, rows: NDArray[np.int64]) -> Study:
        """Return the study of some rows only, to be counted on one thread."""
        labels = replace(self.labels, codes=self.labels.codes[rows])
        return replace(self, frame=self.frame.take(rows), labels=labels, n_jobs=1, drawn=True)

    def permuted(self, order: NDArray[np.int64]) -> Study:
        """Return the study with its target in another order of the rows."""
        name, levels = self.names[self.target], self.frame.levels[self.target]
        frame = self.frame.with_column(name, self.frame.column(self.target)[order], levels)
        return replace(self, frame=frame, labels=replace(self.labels, codes=self.labels.codes[order]), drawn=True)

    def with_noise(self, columns: Mapping[str, int], rng: np.random.Generator) -> Study:
        """Return the study with shuffled copies of some columns, under new names."""
        frame = self.frame
        for name, x in columns.items():
            frame = frame.with_column(name, rng.permutation(self.frame.column(x)), self.frame.levels[x])
        return replace(self, frame=frame, drawn=True)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the table and of which labels are missing."""
        if self.drawn:
            return ""
        table = self.frame.fingerprint()
        if not self.labels.n_unlabeled:
            return table
        return hashlib.sha256(table.encode() + self.labels.codes.astype(np.int64).tobytes()).hexdigest()

    def call(self, call: str, arguments: Mapping[str, Any]) -> Call:
        """Return what an answer about this study was made with."""
        return Call.of(call, arguments, self.fingerprint)

    def surrogate(self, choice: str | Surrogate | None = None, *, force: bool = False) -> SurrogateColumn:
        """Return what stands in for the target: the regime's choice, or the user's."""
        column = self.regime.surrogate(self.labels, choice, force=force)
        if column.rows is not None:
            self._warn_of_constants(column.rows)
        return column

    def tests(self, column: SurrogateColumn, *, drivers: Sequence[int] = (), **options: Any) -> IndependenceTest:
        """Return the tests: of the surrogate where the target is involved, of all rows where it is not.

        ``drivers`` are columns that tests of labeled rows condition on always; ``options`` those of `table_tests`.
        """
        if column.surrogate is Surrogate.FULL:
            return table_tests(self.counted(self.frame), **options)
        name = self.frame.names[self.target]
        whole = self.frame.with_column(name, column.codes, column.levels)
        if column.rows is None:
            return table_tests(self.counted(whole), **options)
        labeled = table_tests(self.counted(whole.take(column.rows)), **options)
        with_target: IndependenceTest = ConditionedTests(labeled, drivers) if drivers else labeled
        if column.surrogate is Surrogate.PAIRWISE:
            with_target = self._pairwise(labeled, options.get("statistic", "auto"))
        return RoutedTests(self.target, with_target, table_tests(self.counted(self.frame), **options))

    def _pairwise(self, labeled: TableTests, statistic: str) -> PairwiseTests:
        """Return tests by pairwise deletion, which are defined for G."""
        if statistic == "x2":
            raise ParameterError("pairwise deletion is defined for test='g', but test='x2' was asked for")
        unlabeled = label_column(self.labels)
        frame = self.frame.with_column(self.frame.names[self.target], unlabeled.codes, unlabeled.levels)
        return PairwiseTests(self.target, self.counted(frame), labeled)

    def counted(self, frame: Frame) -> Counter:
        """Return what counts the rows of a frame."""
        if self.engine is not None:
            return self.engine.counter(frame)
        return self.counter if frame is self.frame else MemoryCounter(frame, self.n_jobs)

    @cached_property
    def counter(self) -> MemoryCounter:
        """Counts of all rows, the target as it was read."""
        return MemoryCounter(self.frame, self.n_jobs)

    @cached_property
    def of_labels(self) -> Counter:
        """Counts of all rows with the target as the regime's estimators want it."""
        if not self.labels.n_unlabeled:
            return self.counted(self.frame)
        column = label_column(self.labels)
        return self.counted(self.frame.with_column(self.frame.names[self.target], column.codes, column.levels))

    def _warn_of_constants(self, rows: NDArray[np.bool_]) -> None:
        """Name the features that have one value among the rows that may be compared."""
        part = self.frame.take(rows)
        constant = [self.frame.names[x] for x in self.features if np.ptp(part.column(x)) == 0]
        if constant:
            warn(
                f"{listed(constant)} have a single value among the {part.n_rows:,} labeled rows, so that no test with "
                f"the target can find them",
                RegimeWarning,
            )


def read_study(
    data: Any,
    target: str | int | None,
    y: ArrayLike | None,
    *,
    labels: str | Regime = "auto",
    prior: object = None,
    positive: object = None,
    unlabeled_marker: object = "auto",
    n_jobs: int | None = None,
    engine: Engine | None = None,
    **reading: Any,
) -> Study:
    """Read a table and its labels; ``reading`` goes to `blankets.data.ingest`."""
    check_reading(reading)
    table = ingest(data, target, y=y, **reading)
    if table.target is None:
        raise TargetError("no target was named; give its column name as 'target', or its values as 'y'")
    frame = table.frame
    missing = np.zeros(frame.n_rows, bool) if table.unlabeled is None else table.unlabeled
    coded = code_labels(
        frame.column(table.target),
        frame.levels[table.target],
        missing,
        positive=positive,
        regime=labels,
        unlabeled_marker=unlabeled_marker,
    )
    regime = regime_from(labels, coded, prior=prior)
    regime.check(coded)
    if more := regime.prior_is_short(coded):
        warn(
            f"p(y=1) is said to be {regime.prior}, but {more}; that may be chance, and all of these are taken to be "
            "labeled; if p(y=1) is known for these very rows, correct it",
            RegimeWarning,
        )
    if coded.n_unlabeled:
        warn_of_copies(frame, table.target, coded)
    if not coded.n_unlabeled and len(coded.classes) < len(frame.levels[table.target]):
        # A positive class was named among several: the others are one class now.
        name = frame.names[table.target]
        frame = frame.with_column(name, coded.codes.astype(np.uint8), coded.classes)
    return Study(frame, table.target, coded, regime, table.report, threads_from(n_jobs), engine)


def check_in_place(**about_labels: Any) -> None:
    """Refuse what cannot be had of rows that stay in a database."""
    check_complete("engine='sql'", "leave out engine='sql', or pack the query first", **about_labels)


def check_complete(
    what: str, instead: str, *, labels: str | Regime = "auto", unlabeled_marker: object = "auto", **others: object
) -> None:
    """Refuse what is said of missing labels where every row must have one."""
    asked = {name: value is not None for name, value in others.items()}
    complete = isinstance(labels, Supervised) or (isinstance(labels, str) and labels in ("auto", "supervised"))
    marked = not (isinstance(unlabeled_marker, str) and unlabeled_marker == "auto")
    asked |= {"labels": not complete, "unlabeled_marker": marked}
    if any(asked.values()):
        raise ParameterError(
            f"{what} is for a target that every row has, and cannot take "
            f"{listed(name for name in asked if asked[name])}; {instead}"
        )
