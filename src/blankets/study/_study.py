"""`Study`: a table, a target, and what is known of both. Every question starts from it.

A study is opened once (`open_study`): the table is read, the labels are coded, and the options become checked
objects. It then gives tests of independence (`independence_tests`), counts for estimates of information
(`information_counter`), and the same table with other rows (`take`, `permuted`, `with_noise`). The table may be
codes in memory or on disk (`Frame`), numbers (`NumericTable`) or rows of a database (`SqlCounter`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blankets.caching import cached_property
from blankets.counting import Counter, SqlCounter
from blankets.data import DataReport, Encoder, Frame, NumericTable, Reading
from blankets.errors import (
    DataError,
    NotAnswerableError,
    ParameterError,
    TargetError,
    did_you_mean,
    listed,
)
from blankets.independence import (
    IndependenceTest,
    SeenModel,
    strata_of_rows,
)
from blankets.records import Call
from blankets.regimes import (
    Labels,
    Question,
    Regime,
    Supervised,
    Surrogate,
    SurrogateColumn,
    label_column,
)
from blankets.study._about import single_valued, warn_of_single_values
from blankets.study._engine import Place
from blankets.study._groups import order_by_groups
from blankets.study._rows import permuted, strata_of, taken, with_noise
from blankets.study._testing import Testing
from blankets.voice import option

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
                f"choose {option(missing='drop')}, or {option(missing='level')} where being missing is itself a state"
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
        if not self.has_numbers:
            return self
        other = replace(self, table=self.frame.without_numbers())
        vars(other).update(drivers=self.drivers)  # they are searched once, and with the numbers
        return other

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
    def one_valued(self) -> tuple[int, ...]:
        """Columns with a single value among the rows that have a label, where tests compare only these."""
        if not isinstance(self.table, Frame) or self.column is None or self.column in self.table.numbers:
            return ()
        if self.regime.plain and self.regime.surrogate is None:
            return ()
        rows = self.regime.stand_in(self.labels).rows
        return () if rows is None else single_valued(self, rows)

    @property
    def known_drivers(self) -> tuple[int, ...]:
        """The columns on which the labeling of positives depends, as the user knows: labels cannot tell about them."""
        return self._said_drivers if self.regime.name == "pu" else ()

    @cached_property
    def drivers(self) -> tuple[int, ...]:
        """The columns on which labeling depends: as the user knows, or found from all rows where labels are MAR-F."""
        searched = self.regime.name == "mar-f" and self.regime.given_drivers and not self.regime.drivers
        if not searched or not isinstance(self.table, Frame) or not self.labels.n_unlabeled:
            return self._said_drivers
        from blankets.study._drivers import labeling_drivers

        return labeling_drivers(self)

    @cached_property
    def _said_drivers(self) -> tuple[int, ...]:
        if not self.regime.drivers or self.column is None or not isinstance(self.table, Frame):
            return ()
        stands_for = {copy: kept for kept, copies in self.report.duplicates.items() for copy in copies}
        found = tuple(dict.fromkeys(self.index(stands_for.get(name, name)) for name in self.regime.drivers))
        if self.target in found:
            raise ParameterError(
                f"{option('drivers')} holds the target {self.target_name!r}; it lists what else labeling depends on"
            )
        return found

    @cached_property
    def set_aside(self) -> dict[str, str]:
        """Columns about which nothing is said, and why: those that are not used, and drivers of labeling."""
        why = "labeling depends on it, so that these labels cannot tell whether it belongs to the blanket"
        alone = "it has values in one class of the target only, or in no row that has it: nothing can be compared"
        single = "it has a single value in the rows that have a label: nothing can be compared"
        each = ((self.known_drivers, why), (self.one_class, alone), (self.one_valued, single))
        return {**self.report.left_out, **{self.names[x]: of for xs, of in each for x in xs}}

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
            keep = "" if name in self.reading.keep else f"; keep it with {option(keep=[name])}"
            raise DataError(f"column {name!r} was left out: {why}{keep}")
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
        wanted = [self.as_target(name) for name in ([names] if isinstance(names, str) else dict.fromkeys(names))]
        if not wanted:
            raise ParameterError("'targets' is empty; name a column, or leave it out for all columns")
        return wanted

    def as_target(self, name: str) -> int:
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
        if self.regime.plain and self.regime.surrogate is None:
            self.regime.check(self.labels)
            return None
        column = self.regime.stand_in(self.labels, usual=usual)
        if column.rows is not None:
            warn_of_single_values(self, column.rows)
        return None if column.surrogate is Surrogate.FULL else column

    @property
    def weighs(self) -> bool:
        """Whether rows come in groups or have weights."""
        return self.groups is not None or self.survey is not None or self.seen_model is not None

    @cached_property
    def seen_model(self) -> SeenModel | None:
        """The model of missing values by which rows are weighted."""
        weighted = self.reading.missing == "weighted" and isinstance(self.table, Frame) and bool(self.table.holes)
        return SeenModel(self.frame) if weighted else None

    def weights_of(self, names: Iterable[str]) -> NDArray[np.float64] | None:
        """Return the weights of rows in estimates about the target and some columns; None if all are equal."""
        if (model := self.seen_model) is None:
            return self.survey
        weights = model.of_rows([self.frame.index(name) for name in names])
        return self.survey if weights is None else weights if self.survey is None else weights * self.survey

    @property
    def one_table(self) -> Study:
        """The study, or that of the first of several completed tables."""
        return self if self.copies == 1 else self.completed[0]

    @cached_property
    def completed(self) -> list[Study]:
        """The study of each completed table."""
        each = np.split(np.arange(self.copies * self.n_rows), self.copies)
        one = {"copies": 1, "place": self.place}
        return [self._drawn(self.frame.take(rows), **one, **self._about(rows)) for rows in each]

    @property
    def measures_some(self) -> bool:
        """Whether some columns are numbers, or have levels with an order."""
        return isinstance(self.table, Frame) and bool(self.table.numbers or self.table.ordered)

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
        column = label_column(self.labels, self._driver_values)
        return self.place.counter(self.frame.with_column(self.target_name, column.codes, column.levels))

    @property
    def _driver_values(self) -> NDArray[np.int64] | None:
        """For each row the number of its joint values of the drivers by which MAR-F estimates are standardized."""
        if self.regime.name != "mar-f" or not self.drivers:
            return None
        frame = self.frame.without_numbers()
        return strata_of_rows((frame.column(w) for w in self.drivers), self.n_rows)

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
                f"compare; take {option(surrogate='listwise')}, or none"
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
