"""`Study`: a table, a target, and what is known of both. Every question starts from it.

A study is opened once (`Study.open`): the table is read, the labels are coded, and the options become checked
objects. It then gives tests of independence (`tests`), counts for estimates of information
(`information_counter`), and the same table with other rows (`take`, `permuted`, `with_noise`). The table may be
codes in memory or on disk (`Frame`), numbers (`NumericTable`) or rows of a database (`SqlCounter`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from blankets.arguments import generator_from, threads_from
from blankets.caching import cached_property
from blankets.counting import Counter, SqlCounter
from blankets.data import (
    DataReport,
    Encoder,
    Frame,
    Ingested,
    NumericTable,
    Reading,
    column_beside,
    ingest,
    ingest_numeric,
)
from blankets.errors import (
    CutNumbersWarning,
    DataError,
    LabelError,
    NotAnswerableError,
    ParameterError,
    RegimeWarning,
    TargetError,
    did_you_mean,
    listed,
    warn,
)
from blankets.independence import (
    AlwaysGiven,
    ConditionedTests,
    IndependenceTest,
    PairwiseTests,
    PartialCorrelation,
    PooledTests,
    RoutedTests,
    ScoredTests,
    SeenModel,
    TableTests,
    aligned,
    own_tests,
)
from blankets.records import Call
from blankets.regimes import (
    Labels,
    Predicted,
    Question,
    Regime,
    SemiSupervised,
    Supervised,
    Surrogate,
    SurrogateColumn,
    Unsaid,
    code_labels,
    label_column,
    regime_from,
)
from blankets.study._copies import warn_of_copies
from blankets.study._engine import Engine, Place
from blankets.study._groups import order_by_groups, warn_of_few_groups, warn_of_subjects
from blankets.study._imputing import as_one
from blankets.study._progress import Progress, watched
from blankets.study._rows import permuted, strata_of, taken, with_noise
from blankets.study._testing import MOST_ROWS, Standing, Testing

Seed = np.random.Generator | int | None
Tell = Callable[[str], None]

NOT_HERE = "this question needs the rows as codes in memory or in a store; pack the query first"
MOST_STRATA = 10  # levels of a driver of labeling within which tests count
NO_TARGET = "no target was named; give its column name as 'target', or its values as 'y'"


@dataclass(frozen=True, slots=True, eq=False)
class NoTable:
    """The names of columns whose rows only a test knows that is its own data, such as `DSeparation`."""

    names: tuple[str, ...]
    n_rows: int  # rows behind the test; 0 if it has none

    @property
    def arities(self) -> NDArray[np.int64]:
        """Two levels, the fewest, for every column."""
        return np.full(len(self.names), 2, np.int64)

    def fingerprint(self) -> str:
        """Return nothing: there are no rows to recognize."""
        return ""


Table = Frame | NumericTable | SqlCounter | NoTable


@dataclass(frozen=True, eq=False, kw_only=True)
class Study:
    """A table with a target, which may be known for only some rows."""

    table: Table  # all rows and columns, the target as it was read
    column: int | None  # the target's column; None if every column is a target
    report: DataReport  # what was done to the table
    encoder: Encoder | None = None  # codes other rows in the same way
    # the classes of the labeled rows; empty if rows stay in a database or are numbers
    labels: Labels = field(default_factory=lambda: Labels(np.empty(0, np.int16), ()))
    regime: Regime = field(default_factory=Supervised)  # why the other rows have no label
    reading: Reading = field(default_factory=Reading)  # how the table was read
    testing: Testing = field(default_factory=Testing)  # how tests are made
    place: Place = field(default_factory=Place)  # where rows are counted
    tell: Tell | None = None  # called with a sentence for each step
    # (rows,): the group of each row, and the user's name for groups; None: rows are independent draws
    groups: NDArray[np.int64] | None = None
    group_name: str = ""
    survey: NDArray[np.float64] | None = None  # (rows,): weights of a survey
    drawn: bool = False  # whether the rows were drawn from another study; then no fingerprint is needed
    copies: int = 1  # completed tables below each other in ``table`` (multiple imputation)
    own: IndependenceTest | None = None  # a test of the user's own; None: tests of this library

    # --- opening ---------------------------------------------------------------------------------------------------

    @classmethod
    @contextmanager
    def open(
        cls,
        data: Any,
        target: str | int | None = None,
        y: ArrayLike | None = None,
        *,
        reading: Reading | Mapping[str, Any] | None = None,
        labels: str | Regime = "auto",
        prior: object = None,
        test: Testing | IndependenceTest | str = "auto",
        engine: Engine | str = "auto",
        n_jobs: int | None = None,
        progress: Progress = False,
        about: Mapping[str, object] | None = None,
        needs_target: bool = True,
        lenient: bool = False,
        asks: bool = False,
        knows_groups: bool = False,
        pools: bool = False,
        numbers: bool = False,
    ) -> Iterator[Study]:
        """Read a table, and yield it as a study; clean up afterwards.

        The arguments are those of the public functions. ``about`` also identifies a checkpoint. With ``lenient``
        (for `audit`), labels may be missing without a given reason.
        With ``asks`` (for `advise`), the user has to say why labels are missing, and such rows are not left out.
        ``knows_groups``: whether the question can answer for rows in groups; others refuse them. ``pools``: whether it
        can answer from several completed tables. ``numbers``: whether numbers stay numbers, if the test takes them.
        """
        own, reading, engine = own_tests(test), Reading.of(reading), Engine.of(engine)
        in_memory = own is None and engine.is_plain
        data, y, reading, copies = as_one(data, target, y, reading, pools=pools, in_memory=in_memory)
        testing = Testing() if own is not None else Testing.of(test)
        threads = threads_from(n_jobs)
        weighted = reading.survey_weight is not None or reading.missing == "weighted"
        if (reading.groups is not None or weighted) and not knows_groups:
            raise NotAnswerableError(
                "groups=, survey_weight= and missing='weighted' are built for discover, discover_all, test, rank, "
                "mutual_information, stability, refute and audit; what this question says would be wrong. Take one row "
                "of each group, or a sample drawn by the weights, and leave the option out"
            )
        apart = reading.groups is None and reading.survey_weight is None
        beside = labels.beside if isinstance(labels, Regime) else None
        reading, target = _beside_table(reading, target, y, labels, beside)
        as_they_are = apart and reading.sample_weight is None and reading.missing not in ("drop", "weighted")
        if beside is not None and not as_they_are:
            raise NotAnswerableError(
                f"{beside[0]}= is not built for groups=, weights, missing='drop' and missing='weighted': it belongs to "
                f"the rows as they are"
            )
        stay = numbers and testing.takes_numbers and (beside is None or isinstance(labels, Predicted))
        known = _Known(y, labels, prior, reading, lenient, asks, stay, copies > 1)
        _check_testing(testing, own, known, engine)
        if (knows_columns := own_tests(data)) is not None:
            _check_own(known, engine, alone=True)
            with watched(progress) as tell:
                yield cls._of_tests(knows_columns, target, tell, needs_target=needs_target)
            return
        if engine.kind == "sql":
            known.check_complete("engine='sql'", "leave out engine='sql', or pack the query first", y=y is not None)
        run = {
            **asdict(testing),
            **asdict(reading),
            "labels": labels,
            "prior": prior,
            "target": target,
            **(about or {}),
        }
        with (
            watched(progress) as tell,
            engine.opened(data, target, reading, n_jobs=threads, about=_plain(run), tell=tell) as (source, place),
        ):
            options: dict[str, Any] = {"reading": reading, "testing": testing, "place": place, "tell": tell, "own": own}
            if isinstance(source, SqlCounter):
                study = cls._in_database(source, target, options)
            elif testing.of_numbers:
                table = ingest_numeric(source, target, y=y, reading=reading)
                study = cls(table=table, column=table.target, report=table.report, **options)
            else:
                study = cls._of_codes(source, target, known, options)
            study = study._of_copies(copies)
            if needs_target:
                study.target  # noqa: B018  # raises an error if no target was named
            if numbers and testing.takes_numbers:
                study._warn_of_cuts()
            yield study

    @classmethod
    def _of_tests(
        cls, own: IndependenceTest, target: str | int | None, tell: Tell | None, *, needs_target: bool
    ) -> Study:
        """Return a study without a table: a test knows its columns, and answers for them."""
        table = NoTable(own.names, own.looked_at)
        n, columns = table.n_rows, len(own.names)
        report = DataReport(n_rows=n, n_columns=columns, n_rows_given=n, n_columns_given=columns)
        study = cls(table=table, column=None, report=report, tell=tell, own=own)
        if target is None and not needs_target:
            return study
        if target is None:
            raise TargetError(NO_TARGET)
        return replace(study, column=study._as_target(str(target)))

    @classmethod
    def _in_database(cls, counter: SqlCounter, target: str | int | None, options: dict[str, Any]) -> Study:
        at = None if target is None else counter.names.index(str(target))
        labels = Labels(np.empty(0, np.int16), () if at is None else counter.levels[at])
        return cls(table=counter, column=at, report=counter.report, labels=labels, **options)

    @classmethod
    def _of_codes(cls, data: Any, target: str | int | None, known: _Known, options: dict[str, Any]) -> Study:
        read = known.with_outcome(_read(data, target, known))
        frame, at = read.frame, read.target
        options |= {"report": read.report, "encoder": read.encoder}
        options |= {"groups": read.groups, "group_name": read.group_name, "survey": read.survey}
        if not known.lenient:
            warn_of_few_groups(read.groups, read.group_name)
            if read.groups is None and not known.pooled:
                warn_of_subjects(frame, at)
        if at is not None and at in frame.numbers and frame.gaps(at) is not None:
            raise TargetError(
                f"the target {frame.names[at]!r} is a number, and values of it are missing; nothing is built yet for "
                f"that under labels={known.labels!r}: leave out labels=, or cut it into classes with discretize=..."
            )
        if at is None or at in frame.numbers:
            return cls(table=frame, column=at, **options)
        labels = code_labels(
            frame.column(at),
            frame.levels[at],
            np.zeros(frame.n_rows, bool) if read.unlabeled is None else read.unlabeled,
            positive=known.reading.positive,
            regime=known.labels,
            unlabeled_marker=known.reading.unlabeled_marker,
        )
        regime = known.regime(labels)
        if regime.beside is not None:
            labels = regime.with_scores(labels, column_beside(data, *regime.beside, known.reading))
            regime = SemiSupervised("mcar") if labels.scores is None else regime  # a machine that tells nothing
        if more := regime.prior_is_short(labels):
            warn(
                f"prior= says that p(y=1) is {regime.prior}, but {more}. That may be chance; power is computed as if "
                "all of them were labeled. If you know p(y=1) of these very rows, correct the prior",
                RegimeWarning,
            )
        if labels.n_unlabeled:
            warn_of_copies(frame, at, labels)
        elif len(labels.classes) < len(frame.levels[at]):
            # The user named a positive class among several: the others are one class now.
            frame = frame.with_column(frame.names[at], labels.codes.astype(np.uint8), labels.classes)
        return cls(table=frame, column=at, labels=labels, regime=regime, **options)

    # --- what it is ------------------------------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """All columns."""
        return self.table.names

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        n = len(self.table.values) if isinstance(self.table, NumericTable) else self.table.n_rows
        return n // self.copies

    @property
    def frame(self) -> Frame:
        """The table as codes."""
        if isinstance(self.table, NoTable):
            raise ParameterError("this question needs rows, but a test of independence was given in place of a table")
        if not isinstance(self.table, Frame):
            raise ParameterError(NOT_HERE)
        return self.table

    def complete_frame(self, what: str) -> Frame:
        """Return the table as codes where every row has a value of every column; refuse it by name where not."""
        frame = self.frame
        if frame.holes:
            raise NotAnswerableError(
                f"{what} looks at whole rows, and values are missing in {listed(frame.names[j] for j in frame.holes)}; "
                f"choose missing='drop', or missing='level' where being missing is itself a state"
            )
        return frame

    @cached_property
    def arities(self) -> NDArray[np.int64]:
        """Number of levels of each column; 2, the smallest possible, for numbers."""
        if isinstance(self.table, NumericTable):
            return np.full(len(self.names), 2, np.int64)
        return np.maximum(self.table.arities, 2) if self.has_numbers else np.asarray(self.table.arities)

    @property
    def has_numbers(self) -> bool:
        """Whether some columns are numbers beside codes."""
        return isinstance(self.table, Frame) and bool(self.table.numbers)

    @property
    def measured(self) -> frozenset[str]:
        """The columns that tests take as numbers."""
        if isinstance(self.table, Frame) and self.testing.takes_numbers:
            return frozenset(self.names[j] for j in (*self.table.numbers, *self.table.ordered))
        return frozenset(self.names if isinstance(self.table, NumericTable) else ())

    @property
    def test_name(self) -> str:
        """The name of the test; that of its class, for one of the user's own."""
        return self.testing.kind if self.own is None else type(self.own).__name__

    def measures(self, columns: Iterable[int]) -> bool:
        """Tell whether some of these columns are numbers, of which no table can be counted."""
        return isinstance(self.table, Frame) and any(j in self.table.numbers for j in columns)

    def without_numbers(self) -> Study:
        """Return the study for counting categories: numbers are there by name only."""
        return replace(self, table=self.frame.without_numbers()) if self.has_numbers else self

    @property
    def target(self) -> int:
        """The target's column."""
        if self.column is None:
            raise TargetError(NO_TARGET)
        return self.column

    @property
    def target_name(self) -> str:
        """Name of the target."""
        return self.names[self.target]

    @property
    def features(self) -> list[int]:
        """All columns but the target, those that are known to drive labeling, and those known in one class only."""
        aside = {self.target, *self.known_drivers, *self.one_class}
        return [x for x in range(len(self.names)) if x not in aside]

    @cached_property
    def one_class(self) -> tuple[int, ...]:
        """Columns with values in one class of the target only, or in no row that has it: no test compares them.

        Tests given them would look at that class alone.
        """
        if self.column is None or not isinstance(self.table, Frame) or not self.table.holes or not self.regime.plain:
            return ()
        codes = self.labels.codes if len(self.labels.codes) else np.arange(self.table.n_rows)
        most = int(np.unique(codes, return_counts=True)[1].max(initial=0))  # more rows cannot be of one class
        gaps = {x: gap for x in self.table.holes if x != self.column and (gap := self.table.gaps(x)) is not None}
        few = {x: ~gap for x, gap in gaps.items() if len(codes) - np.count_nonzero(gap) <= most}
        seen = {x: codes[few[x]] for x in sorted(few) if len(few[x]) == len(codes)}
        return tuple(x for x, classes in seen.items() if not len(classes) or classes.min() == classes.max())

    @cached_property
    def known_drivers(self) -> tuple[int, ...]:
        """The columns on which labeling depends, as the user knows."""
        if not self.regime.drivers or self.column is None or not isinstance(self.table, Frame):
            return ()
        stands_for = {copy: kept for kept, copies in self.report.duplicates.items() for copy in copies}
        found = tuple(dict.fromkeys(self.index(stands_for.get(name, name)) for name in self.regime.drivers))
        if self.target in found:
            raise ParameterError(
                f"drivers= holds the target {self.target_name!r}; it lists what else labeling depends on"
            )
        return found

    @cached_property
    def set_aside(self) -> dict[str, str]:
        """Columns about which nothing is said, and why: those that are not used, and drivers of labeling."""
        why = "labeling depends on it, so that these labels cannot tell whether it belongs to the blanket"
        alone = "it has values in one class of the target only, or in no row that has it: nothing can be compared"
        drivers, one = (
            {self.names[x]: of for x in xs} for xs, of in ((self.known_drivers, why), (self.one_class, alone))
        )
        return {**self.report.left_out, **drivers, **one}

    @cached_property
    def report_as_data(self) -> dict[str, object]:
        """The data report as plain values, shared by the blankets of all targets."""
        return self.report.to_dict()

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the table and of which labels are missing."""
        if self.drawn:
            return ""
        table = self.table.fingerprint if isinstance(self.table, SqlCounter) else self.table.fingerprint()
        if not self.labels.n_unlabeled:
            return table
        return hashlib.sha256(table.encode() + self.labels.codes.astype(np.int64).tobytes()).hexdigest()

    @cached_property
    def mark(self) -> Call:
        """The call as far as the study knows it (the table's fingerprint); `question` adds the rest."""
        return Call(function="", fingerprint=self.fingerprint)

    @property
    def coder(self) -> Encoder:
        """The encoder, which codes other rows in the same way."""
        if self.encoder is None:
            raise ParameterError(NOT_HERE)
        return self.encoder

    def index(self, name: str) -> int:
        """Return the number of a column that the user named."""
        if name in self.report.unusable:
            raise DataError(f"column {name!r} {self.report.unusable[name]}")
        if why := self.report.left_out.get(name):
            raise DataError(f"column {name!r} was left out: {why}; keep it with keep=[{name!r}]")
        if isinstance(self.table, Frame):
            return self.table.index(name)
        if name not in self.names:
            raise DataError(f"there is no column {name!r}{did_you_mean(str(name), self.names)}")
        return self.names.index(name)

    def targets(self, names: Iterable[str] | None) -> list[int]:
        """Return the column numbers of the targets; default: all columns."""
        if names is None:
            return list(range(len(self.names)))
        if not isinstance(names, Iterable):
            raise ParameterError.out_of_range("targets", names, "a list of column names")
        wanted = [self._as_target(name) for name in ([names] if isinstance(names, str) else dict.fromkeys(names))]
        if not wanted:
            raise ParameterError("'targets' is empty; name a column, or leave it out for all columns")
        return wanted

    def _as_target(self, name: str) -> int:
        if name not in self.names:
            why = self.report.left_out.get(name)
            hint = f": {why}" if why else did_you_mean(str(name), self.names)
            raise TargetError(f"{name!r} cannot be a target{hint}")
        return self.names.index(name)

    # --- the same table with other rows ----------------------------------------------------------------------------

    @cached_property
    def strata(self) -> NDArray[np.int64]:
        """The classes by which rows are drawn; unlabeled rows are a class of their own."""
        if isinstance(self.table, NumericTable):
            return strata_of(self.table.values[:, self.target])
        if self.target in self.frame.numbers:
            return strata_of(self.frame.numbers[self.target].values)
        return self.labels.codes.astype(np.int64)

    def take(self, rows: NDArray[np.int64]) -> Study:
        """Return the study with only some rows, counted on one thread."""
        rows = self._of_each_table(rows)
        table, column = taken(self._in_memory, self.target, rows)
        return self._drawn(table, column=column, place=Place(1), **self._about(rows))

    def on_one_thread(self) -> Study:
        """Return the same study, counted on one thread if its rows are in memory."""
        place = self.place
        plain = place.cluster is None and place.store is None and place.checkpoint is None
        return replace(self, place=Place(1)) if plain and place.n_jobs > 1 else self

    def permuted(self, order: NDArray[np.int64]) -> Study:
        """Return the study with the values of its target in another order."""
        order = self._of_each_table(order)
        return self._drawn(permuted(self._in_memory, self.target, order), labels=self._relabeled(order))

    def shuffled(self, rng: np.random.Generator) -> Study:
        """Return the study with its target shuffled among the rows, or among groups where rows belong together."""
        return self.permuted(self._order(rng))

    def with_noise(self, columns: Mapping[str, int], rng: np.random.Generator) -> Study:
        """Return the study with shuffled copies of some columns, under new names; groups stay together."""
        return self._drawn(with_noise(self._in_memory, columns, lambda: self._of_each_table(self._order(rng))))

    def _of_each_table(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the same rows of each completed table."""
        return rows if self.copies == 1 else (rows + self.n_rows * np.arange(self.copies)[:, np.newaxis]).ravel()

    def _order(self, rng: np.random.Generator) -> NDArray[np.int64]:
        return rng.permutation(self.n_rows) if self.groups is None else order_by_groups(self.groups[: self.n_rows], rng)

    def with_labels(self, codes: NDArray[Any]) -> Study:
        """Return the study with other labels."""
        return replace(self, labels=replace(self.labels, codes=codes), drawn=True)

    @property
    def _in_memory(self) -> Frame | NumericTable:
        return self.table if isinstance(self.table, NumericTable) else self.frame

    def _about(self, rows: NDArray[np.int64]) -> dict[str, Any]:
        """Return what belongs to some rows, besides the table."""
        groups, survey = (None if of_rows is None else of_rows[rows] for of_rows in (self.groups, self.survey))
        return {"labels": self._relabeled(rows), "groups": groups, "survey": survey}

    def _relabeled(self, rows: NDArray[np.int64]) -> Labels:
        return self.labels.take(rows) if len(self.labels.codes) else self.labels

    def _drawn(self, table: Table, **changes: Any) -> Study:
        return replace(self, table=table, drawn=True, **{"place": Place(self.place.n_jobs), **changes})

    # --- tests -----------------------------------------------------------------------------------------------------

    def stand_in(self, usual: str | None = None) -> SurrogateColumn | None:
        """Return the surrogate that is counted in place of the target; None for the target itself.

        ``usual`` is the algorithm's own choice, used if labels are missing and the user chose none.
        """
        if not isinstance(self.table, Frame) or self.column is None or self.column in self.table.numbers:
            return None
        column = self.regime.stand_in(self.labels, usual=usual)
        if column.rows is not None:
            self._warn_of_constants(column.rows)
        return None if column.surrogate is Surrogate.FULL else column

    def tests(
        self,
        column: SurrogateColumn | None = None,
        *,
        drivers: Iterable[int] = (),
        level: float | None = None,
        rng: Seed = None,
    ) -> IndependenceTest:
        """Return the tests: with the surrogate if the target is involved, otherwise with all rows.

        ``drivers`` are columns that tests of labeled rows always condition on. Without a seed the same data give
        the same answer.
        """
        if (ready := self._ready_tests(level, rng)) is not None:
            return ready
        seeded = self.testing.kind == "auto" and rng is not None
        seed = int(generator_from(rng).integers(1 << 62)) if seeded else 0

        def of(frame: Frame, rows: NDArray[np.bool_] | None = None) -> IndependenceTest:
            some, standing = frame if rows is None else frame.take(rows), self._standing.take(rows)
            if self.survey is not None:
                return standing.surveyed(some)
            return standing.tests(some, tables(self._counted(frame.without_numbers(), rows)), level)

        def tables(counter: Counter) -> TableTests:
            return self.testing.tables(counter, level=level, seed=seed, grouped=self.groups is not None)

        def of_all() -> IndependenceTest:
            by_rows = self._measured or self.survey is not None or self.reading.missing == "weighted"
            return of(self.frame) if by_rows else tables(self._counter_of_all)

        if column is None:
            return of_all()
        whole = self.frame.with_column(self.target_name, column.codes, column.levels)
        if self.labels.scores is not None:
            scored = ScoredTests(
                of(whole, column.rows),
                whole,
                self.target,
                self.labels.scores,
                reliability=self.testing.reliability,
            )
            return RoutedTests(self.target, scored, of_all())
        if column.rows is None:
            known = self.known_drivers
            return RoutedTests(self.target, AlwaysGiven(of(whole), known), of_all()) if known else of(whole)
        labeled = of(whole, column.rows)
        conditioned = tuple(drivers)
        with_target: IndependenceTest = ConditionedTests(labeled, conditioned) if conditioned else labeled
        if column.surrogate is Surrogate.PAIRWISE:
            with_target = self._pairwise(labeled)
        return RoutedTests(self.target, with_target, of_all())

    def _ready_tests(self, level: float | None, rng: Seed) -> IndependenceTest | None:
        """Return the tests that need no counts: the user's own, those of a table of numbers, or pooled ones."""
        if self.own is not None and self.drawn:
            raise NotAnswerableError(
                "this question changes the rows, but a test of your own answers for the rows that it has"
            )
        if self.own is not None:
            return aligned(self.own, self.names)
        if isinstance(self.table, NumericTable):
            return PartialCorrelation(self.table.values, self.names, reliability=self.testing.reliability)
        if self.copies > 1:
            return self._pooled([part.tests(level=level, rng=rng) for part in self._completed])
        return None

    @property
    def weighs(self) -> bool:
        """Whether rows come in groups or have weights."""
        return self.groups is not None or self.survey is not None or self._seen_model is not None

    @cached_property
    def _seen_model(self) -> SeenModel | None:
        """The model of missing values by which rows are weighted."""
        weighted = self.reading.missing == "weighted" and isinstance(self.table, Frame) and bool(self.table.holes)
        return SeenModel(self.frame) if weighted else None

    def weights_of(self, names: Iterable[str]) -> NDArray[np.float64] | None:
        """Return the weights of rows in estimates about the target and some columns; None if all are equal."""
        if (model := self._seen_model) is None:
            return self.survey
        weights = model.of_rows([self.frame.index(name) for name in names])
        return self.survey if weights is None else weights if self.survey is None else weights * self.survey

    def _of_copies(self, copies: int) -> Study:
        """Return the study of several completed tables, which were read as one."""
        if copies == 1:
            return self
        frame = self.frame
        if self.testing.kind != "auto":
            raise ParameterError(f"completed tables are pooled with test='auto' only, not with {self.testing.kind!r}")
        if frame.holes or self.labels.n_unlabeled or frame.n_rows % copies or self.report.unlabeled:
            gaps = listed(frame.names[j] for j in frame.holes) if frame.holes else "the target"
            raise DataError(f"completed tables still have missing values, in {gaps}; impute these too, or leave it out")
        given = replace(self.report, n_rows=frame.n_rows // copies, n_rows_given=self.report.n_rows_given // copies)
        return replace(self, copies=copies, report=given)

    @property
    def one_table(self) -> Study:
        """The study, or that of the first of several completed tables."""
        return self if self.copies == 1 else self._completed[0]

    @cached_property
    def _completed(self) -> list[Study]:
        """The study of each completed table."""
        each = np.split(np.arange(self.copies * self.n_rows), self.copies)
        one = {"copies": 1, "place": self.place}
        return [self._drawn(self.frame.take(rows), **one, **self._about(rows)) for rows in each]

    def _pooled(self, each: list[IndependenceTest]) -> PooledTests:
        frame = self.frame.without_numbers()
        measured = np.zeros(frame.n_columns, bool)
        measured[[*self.frame.numbers, *self.frame.ordered]] = True
        if self.groups is not None or self.survey is not None:
            measured[:] = True  # no likelihood ratio, but statistics that have their law
        return PooledTests(each, TableTests(self.place.counter(frame), reliability=0.0), measured)

    @property
    def _standing(self) -> Standing:
        weighs = self.reading.missing == "weighted"
        return Standing(self.testing, self.place, weighs, self.survey, self.groups, self._wide_drivers)

    @property
    def _wide_drivers(self) -> tuple[int, ...]:
        """Drivers with so many levels that tests do not count within each, but allow for functions of the level."""
        return tuple(x for x in self.known_drivers if self.arities[x] > MOST_STRATA)

    @property
    def _measured(self) -> bool:
        """Whether some columns are numbers, or have levels with an order."""
        return isinstance(self.table, Frame) and bool(self.table.numbers or self.table.ordered)

    @property
    def _counter_of_all(self) -> Counter:
        return self.counter if self.groups is None else self._counted(self.frame)

    def _counted(self, frame: Frame, rows: NDArray[np.bool_] | None = None) -> Counter:
        """Return what counts the rows of a frame, or some of them; with the groups as the last column."""
        if self.groups is not None:
            names, n = frozenset(frame.names), int(self.groups.max()) + 1
            name = next(free for k in range(len(names) + 1) if (free := f"{self.group_name}{chr(39) * k}") not in names)
            frame = frame.with_column(name, self.groups, tuple(range(n)))
        return self.place.counter(frame, rows)

    def tests_of_labeling(self, *, level: float | None = None, rng: Seed = None) -> IndependenceTest:
        """Return tests in which "is labeled", known for every row, replaces the target."""
        labeled = self.labels.labeled.astype(np.uint8)
        frame = self.frame.with_column(self.target_name, labeled, ("unlabeled", "labeled"))
        return replace(self, table=frame, regime=Supervised(), drawn=True).tests(level=level, rng=rng)

    def _pairwise(self, labeled: IndependenceTest) -> PairwiseTests:
        """Return tests by pairwise deletion, which exist for G only."""
        if not isinstance(labeled, TableTests):
            raise ParameterError(
                "pairwise deletion is defined for counts, but some columns are numbers; cut them with discretize=..., "
                "or take surrogate='listwise'"
            )
        if self.testing.kind == "x2":
            raise ParameterError("pairwise deletion is defined for test='g', but test='x2' was asked for")
        self.complete_frame("surrogate='pairwise'")
        return PairwiseTests(self.target, self.counter_of_labels, labeled)

    @cached_property
    def counter(self) -> Counter:
        """Counts of all rows, with the target as it was read."""
        if isinstance(self.table, SqlCounter):
            return self.place.remembered(self.table, self.fingerprint)
        return self.place.counter(self.frame)

    @cached_property
    def counter_of_labels(self) -> Counter:
        """Counts of all rows, with unlabeled rows as a class of their own, for estimators."""
        if not self.labels.n_unlabeled:
            return self.counter
        column = label_column(self.labels)
        return self.place.counter(self.frame.with_column(self.target_name, column.codes, column.levels))

    @property
    def cut_unasked(self) -> list[str]:
        """The numbers that were cut although nobody asked for it."""
        return [name for name in self.report.binned if self.reading.rule_for(name)[0] == "auto"]

    def _warn_of_cuts(self) -> None:
        """Name the numbers that were cut although nobody asked for it, and say why."""
        if self.place.store is not None:
            why = "this table was packed without the values of its numbers (pack it again to have them tested uncut)"
        elif isinstance(self.table, SqlCounter):
            why = (
                f"numbers are tested as they are in memory only ({MOST_ROWS:,} rows drawn at random, as a table in "
                f"memory, are as many as such tests look at); in a database they are counted"
            )
        else:
            return
        if binned := self.cut_unasked:
            warn(
                f"{why}, so these were cut into levels: {listed(binned)}. Say discretize='sturges' or another rule if "
                f"that is what you want",
                CutNumbersWarning,
            )

    def _warn_of_constants(self, rows: NDArray[np.bool_]) -> None:
        """Warn of features with a single value among the rows that may be compared."""
        part = self.frame.take(rows)
        constant = [self.names[x] for x in self.features if np.ptp(_seen(part, x)) == 0]
        if constant:
            warn(
                f"{listed(constant)} have a single value among the {part.n_rows:,} labeled rows, so that no test with "
                f"the target can find them",
                RegimeWarning,
            )

    # --- information -----------------------------------------------------------------------------------------------

    @cached_property
    def informing(self) -> SurrogateColumn | None:
        """The surrogate of the target for estimates of information: the user's choice, or the one that is needed.

        None if information about the target itself can be estimated.
        """
        if self.regime.surrogate is None and Question.ESTIMATE in self.regime.answers:
            return None
        if self.regime.surrogate == Surrogate.PAIRWISE:
            raise NotAnswerableError(
                "pairwise deletion is a test: its counts are of different rows, and no table has information to "
                "compare; take surrogate='listwise', or none"
            )
        column = self.regime.stand_in(self.labels)
        return None if column.surrogate is Surrogate.FULL else column

    @cached_property
    def information_counter(self) -> Counter:
        """Counts of the features with the target, or with its surrogate."""
        column = self.informing
        if column is None:
            return self.counter_of_labels
        frame = self.frame.with_column(self.target_name, column.codes, column.levels)
        return self.place.counter(frame, column.rows)

    @cached_property
    def background(self) -> Counter | None:
        """Counts of features among themselves, if these use other rows than `information_counter`."""
        column = self.informing
        if column is None:
            return None
        if self.regime.sampling == "case-control":  # separately collected rows are not a sample of the population
            return self.place.counter(self.frame, ~self.labels.labeled)
        return None if column.rows is None else self.counter

    @property
    def n_groups(self) -> int:
        """Number of groups, where rows belong together; 0 where each is a draw of its own."""
        return 0 if self.groups is None else len(np.unique(self.groups))

    @property
    def about_rows(self) -> tuple[str, ...]:
        """What was done about rows that belong together, have the weights of a survey, or are very many."""
        said = []
        if self.survey is not None:
            said.append(
                "Rows have the weights of a survey: tests are those of the population, corrected by Rao and Scott "
                "(products of residuals are weighted where a number is involved)."
            )
        if self._measured and self.n_rows > MOST_ROWS:
            said.append(f"Tests of numbers looked at {MOST_ROWS:,} of the {self.n_rows:,} rows, drawn at random.")
        if self.groups is not None:
            said.append(
                f"The {self.n_rows:,} rows belong to {self.n_groups:,} groups ({self.group_name}): tests allow for any "
                f"dependence within a group, and take groups for independent draws."
            )
        if self.copies > 1:
            said.append(
                f"Missing values were imputed before: tests of {self.copies} completed tables are pooled (by D3, and "
                f"by D2 where a number is involved, which finds less), and so are effects (Rubin's rules)."
            )
        return (*said, *self._about_holes)

    @property
    def _about_holes(self) -> tuple[str, ...]:
        """What weights for missing values come from."""
        if (model := self._seen_model) is None:
            return ()
        told = {x: sorted(by, key=by.__getitem__) for x, by in model.telling.items() if by}
        words = [f"{self.names[x]} (by {listed(self.names[z] for z in by[:3])})" for x, by in told.items()]
        if not words:
            return ("No complete column tells where values are missing, so that all rows with a value weigh the same.",)
        return (
            f"Rows with a value stand for those without one, weighted by complete columns that tell of the gaps, in "
            f"{', '.join(words)}. Gaps that depend on anything else, or on the missing value itself, are not "
            f"corrected. A test in which few rows would stand for very many is not made; missing='testwise' makes "
            f"it, without this correction.",
        )

    @property
    def about_labels(self) -> tuple[str, ...]:
        """What was assumed about missing labels."""
        return (self.regime.describe(self.labels),) if self.labels.n_unlabeled or not self.regime.plain else ()


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """What the user says about the target."""

    y: ArrayLike | None
    labels: str | Regime
    prior: object
    reading: Reading
    lenient: bool
    asks: bool
    numbers: bool = False  # whether numbers may stay numbers
    pooled: bool = False  # whether several completed tables are read as one

    @property
    def number_target(self) -> bool:
        """Whether the target may stay a number: nothing was said of classes or of missing labels."""
        return self.numbers and not any(self._said().values())

    def with_outcome(self, read: Ingested) -> Ingested:
        """Leave out rows without a target if nothing was said about missing labels; tell that.

        Where one class alone is labeled, the others may be the rows without a label: that is for the regime to say.
        """
        gaps, at = read.unlabeled, read.target
        if gaps is None or at is None or not gaps.any() or not self._leaves_out(read):
            return read
        is_number = at in read.frame.numbers
        codes = read.frame.column(at)[~gaps]
        if not is_number and (not len(codes) or codes.min() == codes.max()):
            return read
        frame = read.frame.take(~gaps)
        report = replace(read.report, n_rows=len(codes), unlabeled_left_out=True)
        if report.complete_rows is not None:
            complete = None if read.frame.complete is None else int(read.frame.complete[~gaps].sum())
            report = replace(report, complete_rows=None if complete == len(codes) else complete)
        advice = "say with labels= if they are to count as unlabeled"
        if is_number:
            advice = "the answer is right if it is missing by chance, or for reasons that other columns hold"
        warn(
            f"{report.unlabeled:,} of {read.frame.n_rows:,} rows have no value of the target and are left out; "
            f"{advice}",
            RegimeWarning,
        )
        groups = None if read.groups is None else read.groups[~gaps]
        survey = None if read.survey is None else read.survey[~gaps]
        frame = replace(frame, holes=frame.holes - {at}) if is_number else frame
        return replace(read, frame=frame, unlabeled=None, report=report, groups=groups, survey=survey)

    def _leaves_out(self, read: Ingested) -> bool:
        """Tell whether rows without a target are left out: nothing was said of why it is missing.

        The audit looks at such rows too, unless there are more than two classes, of which none is the positive one.
        """
        said = not isinstance(self.labels, str) or self.labels != "auto" or self.prior is not None
        at = read.target or 0
        of_two = at not in read.frame.numbers and len(read.frame.levels[at]) <= 2
        return not (said or self.asks or (self.lenient and (of_two or self.reading.positive is not None)))

    def regime(self, labels: Labels) -> Regime:
        """Return the regime of the labels, and check that the labels agree with it."""
        try:
            regime = regime_from(self.labels, labels, prior=self.prior)
        except LabelError:  # the user has to say why labels are missing
            if not self.lenient:
                raise
            return Unsaid()
        if not self.lenient:
            regime.check(labels)
        return regime

    def check_complete(self, what: str, instead: str, **others: bool) -> None:
        """Refuse options about missing labels if every row must have a label."""
        asked = {**self._said(), **others}
        if any(asked.values()):
            raise ParameterError(
                f"{what} is for a target that every row has, and cannot take "
                f"{listed(name for name in asked if asked[name])}; {instead}"
            )

    def _said(self) -> dict[str, bool]:
        """Return what is said of classes or of missing labels."""
        complete = isinstance(self.labels, Supervised) or (
            isinstance(self.labels, str) and self.labels in ("auto", "supervised")
        )
        marker = self.reading.unlabeled_marker
        marked = not (isinstance(marker, str) and marker == "auto")
        positive = self.reading.positive is not None
        said = {"labels": not complete, "prior": self.prior is not None, "positive": positive}
        return said | {"unlabeled_marker": marked}


def _check_testing(testing: Testing, own: IndependenceTest | None, known: _Known, engine: Engine) -> None:
    """Refuse what a test cannot be combined with."""
    if own is not None:
        _check_own(known, engine)
    if testing.of_numbers:
        known.check_complete("test='fisher-z'", "take test='auto', 'g' or 'x2'")
        if not engine.is_plain:
            raise ParameterError(
                "test='fisher-z' needs all numbers in memory; a cluster, a database and checkpoints are for counts"
            )


def _check_own(known: _Known, engine: Engine, *, alone: bool = False) -> None:
    """Refuse what a test of the user's own cannot take into account; ``alone``: there is no table beside it."""
    reading = known.reading
    known.check_complete("a test of your own", "leave that out", y=alone and known.y is not None)
    if engine.kind not in ("auto", "memory") or reading.groups is not None or reading.survey_weight is not None:
        raise ParameterError("a test of your own has its own rows; leave out engine=, groups= and survey_weight=")
    if alone and reading.options:
        raise ParameterError(f"a test in place of a table is not read; leave out {listed(reading.options)}")


def _read(data: Any, target: str | int | None, known: _Known) -> Ingested:
    stays = {"numbers": known.numbers, "number_target": known.number_target}
    return ingest(data, target, y=known.y, reading=known.reading, **stays)


def _beside_table(
    reading: Reading, target: str | int | None, y: ArrayLike | None, labels: object, beside: tuple[str, object] | None
) -> tuple[Reading, str | int | None]:
    """Leave out the column that belongs to labels and is no feature, and find the target that a regime names."""
    gold = getattr(labels, "gold", None)
    if gold is not None and (y is not None or target not in (None, gold)):
        raise ParameterError(f"gold={gold!r} is the target, but another one is named; leave one of the two out")
    if beside is not None and isinstance(beside[1], str):
        reading = replace(reading, exclude=(*reading.exclude, beside[1]))
    return reading, target if gold is None else gold


def _seen(frame: Frame, x: int) -> NDArray[Any]:
    """Return the codes, or numbers, of the rows that have a value; one that means nothing if none has."""
    gaps = frame.gaps(x)
    values = frame.values(x) if gaps is None else frame.values(x)[~gaps]
    return values if len(values) else np.zeros(1, np.int64)


def _plain(about: Mapping[str, object]) -> dict[str, object]:
    """Return what identifies the answers as plain values, for a checkpoint."""

    def plain(value: object) -> object:
        if value is None or isinstance(value, str | int | float | bool):
            return value
        return "a generator" if isinstance(value, np.random.Generator) else str(value)

    return {name: plain(value) for name, value in about.items()}
