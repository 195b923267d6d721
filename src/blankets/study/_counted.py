"""`Counted`: a target and its candidates where their rows are counted; what `rank` and `select` start from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blankets.arguments import one_of, threads_from
from blankets.counting import Counter, SqlCounter
from blankets.data import DataReport, check_reading
from blankets.errors import NotAnswerableError, RegimeWarning, TargetError, listed, warn
from blankets.records import Call
from blankets.regimes import Labels, Question, Regime, Supervised, Surrogate, SurrogateColumn, surrogate_from
from blankets.study._engine import ENGINES, Tell, at_hand, fingerprint_of
from blankets.study._study import Study, check_in_place, read_study

__all__ = ["Counted", "counted_from", "counted_where", "label_tables", "warn_of_constants"]


@dataclass(frozen=True, eq=False)
class Counted:
    """A table with a target, ready to be counted for information.

    Attributes
    ----------
    names : tuple of str
        All columns.
    n_rows : int
        Rows of the table.
    target : int
        Column of the target.
    labels : Labels
        The classes of the labeled rows; of none, where rows stay in a database.
    regime : Regime
        Why the other rows have no label.
    report : DataReport
        What was done to the table.
    fingerprint : str
        A hash of the table.
    counter : Counter
        Counts with what stands in for the target, or else with the target as the regime's estimators want it.
    stand_in : SurrogateColumn or None
        What stands in for the target: what the user asked for, or the regime's choice where nothing can be estimated.
    background : Counter or None
        Counts of features among themselves, where these are not of the rows that ``counter`` counts.
    """

    names: tuple[str, ...]
    n_rows: int
    target: int
    labels: Labels
    regime: Regime
    report: DataReport
    fingerprint: str
    counter: Counter
    stand_in: SurrogateColumn | None = None
    background: Counter | None = None

    @property
    def features(self) -> list[int]:
        """All columns but the target."""
        return [x for x in range(len(self.names)) if x != self.target]

    def call(self, call: str, arguments: Mapping[str, Any]) -> Call:
        """Return what an answer was made with."""
        return Call.of(call, arguments, self.fingerprint)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed about missing labels, and what stands in for the target."""
        said = (self.regime.describe(self.labels),) if self.labels.n_unlabeled else ()
        if self.stand_in is None:
            return said
        forced = " It is not valid here, and was asked for all the same." if self.stand_in.forced else ""
        words, why = self.stand_in.surrogate.words, self.stand_in.note
        return (*said, f"In place of the target stands one that {words}: {why}.{forced}")


@contextmanager
def counted_where(
    data: Any,
    target: str | int | None,
    *,
    where: Mapping[str, Any],
    about_labels: Mapping[str, Any],
    surrogate: str | None,
    force: bool,
    n_jobs: int | None,
    reading: Mapping[str, Any],
    tell: Tell | None,
) -> Iterator[tuple[Any, Counted]]:
    """Yield the data and the target with its candidates, where the engine counts them; clean up afterwards.

    ``where`` are ``engine``, ``address`` and ``memory_limit``, ``about_labels`` ``y`` and what is known of the labels.
    """
    check_reading(reading)
    threads = threads_from(n_jobs)
    if one_of("engine", where["engine"], ENGINES) == "sql":
        check_in_place(surrogate=surrogate, columns=reading.get("columns"), **about_labels)
    place = {**where, "checkpoint": None, "n_jobs": threads, "reading": reading, "about": {}, "tell": tell}
    with at_hand(data, target, **place) as (source, engine):
        if isinstance(source, SqlCounter):
            yield source, _in_place(source, target)
            return
        known = dict(about_labels)
        study = read_study(source, target, known.pop("y"), n_jobs=threads, engine=engine, **known, **reading)
        yield source, counted_from(study, surrogate, force=force)


def counted_from(study: Study, surrogate: str | None = None, *, force: bool = False) -> Counted:
    """Return what is to be counted of a study."""
    name, column = study.frame.names[study.target], _stand_in(study, surrogate, force=force)
    background: Counter | None = None
    if column is None:
        counter: Counter = study.of_labels
    else:
        frame = study.frame.with_column(name, column.codes, column.levels)
        counter = study.counted(frame if column.rows is None else frame.take(column.rows))
        if study.regime.sampling == "case-control":  # rows that were collected apart are no sample of the population
            background = study.counted(study.frame.take(~study.labels.labeled))
        elif column.rows is not None:
            background = study.counted(study.frame)
    return Counted(
        names=study.frame.names,
        n_rows=study.frame.n_rows,
        target=study.target,
        labels=study.labels,
        regime=study.regime,
        report=study.report,
        fingerprint=study.fingerprint,
        counter=counter,
        stand_in=column,
        background=background,
    )


def _stand_in(study: Study, surrogate: str | None, *, force: bool) -> SurrogateColumn | None:
    """Return the surrogate that was asked for, or the one that is needed; None if the target itself will do."""
    if surrogate is None and Question.ESTIMATE in study.regime.answers:
        return None
    if surrogate is not None and surrogate_from(surrogate) is Surrogate.PAIRWISE:
        raise NotAnswerableError(
            "pairwise deletion is a test: its counts are of different rows, and no table has information to compare; "
            "take surrogate='listwise', or none"
        )
    column = study.regime.surrogate(study.labels, surrogate, force=force)
    return None if column.surrogate is Surrogate.FULL else column


def _in_place(counter: SqlCounter, target: str | int | None) -> Counted:
    """Return what is counted within a database, where every row has a label."""
    if target is None:
        raise TargetError("no target was named; give its column name as 'target'")
    at = counter.names.index(str(target))
    return Counted(
        names=counter.names,
        n_rows=counter.n_rows,
        target=at,
        labels=Labels(np.empty(0, np.int16), counter.levels[at]),
        regime=Supervised(),
        report=counter.report,
        fingerprint=fingerprint_of(counter),
        counter=counter,
    )


def label_tables(counts: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return tables of shape (k, levels of x, levels of y, strata) as (k, strata, levels of y, levels of x)."""
    return counts.transpose(0, 3, 2, 1)


def warn_of_constants(labels: Labels, names: Sequence[str]) -> None:
    """Name features that have one value among the rows that an estimate rests on."""
    if names and labels.n_unlabeled:
        warn(
            f"{listed(names)} have a single value among the labeled rows, so that nothing can be said about their "
            f"information",
            RegimeWarning,
        )
