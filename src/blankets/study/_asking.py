"""The tests of a study: which test, of which rows, with what in place of the target."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from blankets.arguments import generator_from
from blankets.counting import Counter
from blankets.data import Frame, NumericTable
from blankets.errors import NotAnswerableError, ParameterError
from blankets.independence import (
    AlwaysGiven,
    ConditionedTests,
    IndependenceTest,
    PairwiseTests,
    PartialCorrelation,
    PooledTests,
    RoutedTests,
    ScoredTests,
    TableTests,
    aligned,
)
from blankets.regimes import Supervised, Surrogate, SurrogateColumn, label_column
from blankets.study._testing import Standing
from blankets.voice import option

if TYPE_CHECKING:
    from blankets.study._study import Seed, Study

MOST_STRATA = 10  # levels of a driver of labeling within which tests count


def independence_tests(
    study: Study,
    column: SurrogateColumn | None = None,
    *,
    level: float | None = None,
    rng: Seed = None,
) -> IndependenceTest:
    """Return the tests: with the surrogate if the target is involved, otherwise with all rows.

    Without a seed the same data give the same answer.
    """
    if (ready := _ready_tests(study, level, rng)) is not None:
        return ready
    seeded = study.testing.kind == "auto" and rng is not None
    seed = int(generator_from(rng).integers(1 << 62)) if seeded else 0

    def of(frame: Frame, rows: NDArray[np.bool_] | None = None) -> IndependenceTest:
        some, standing = frame if rows is None else frame.take(rows), _standing(study).take(rows)
        if study.survey is not None:
            return standing.surveyed(some)
        return standing.tests(some, tables(_counted(study, frame.without_numbers(), rows)), level)

    def tables(counter: Counter) -> TableTests:
        return study.testing.tables(counter, level=level, seed=seed, grouped=study.groups is not None)

    def of_all() -> IndependenceTest:
        by_rows = study.measures_some or study.survey is not None or study.reading.missing == "weighted"
        return of(study.frame) if by_rows else tables(_counter_of_all(study))

    if column is None:
        return of_all()
    whole = study.frame.with_column(study.target_name, column.codes, column.levels)
    if study.labels.scores is not None:
        scored = ScoredTests(
            of(whole, column.rows),
            whole,
            study.target,
            study.labels.scores,
            reliability=study.testing.reliability,
        )
        return RoutedTests(study.target, scored, of_all())
    if column.rows is None:
        known = study.known_drivers
        return RoutedTests(study.target, AlwaysGiven(of(whole), known), of_all()) if known else of(whole)
    labeled = of(whole, column.rows)
    conditioned = asked_given(study, column)
    with_target: IndependenceTest = ConditionedTests(labeled, conditioned) if conditioned else labeled
    if column.surrogate is Surrogate.PAIRWISE:
        with_target = _pairwise(study, labeled)
    return RoutedTests(study.target, with_target, of_all())


def asked_given(study: Study, column: SurrogateColumn | None) -> tuple[int, ...]:
    """Return the columns that each test with the target is given, because labeling depends on them."""
    if column is None or (study.regime.name == "mar-f" and column.surrogate is not Surrogate.LISTWISE):
        return study.known_drivers
    return study.drivers


def _ready_tests(study: Study, level: float | None, rng: Seed) -> IndependenceTest | None:
    """Return the tests that need no counts: the user's own, those of a table of numbers, or pooled ones."""
    if study.own is not None and study.drawn:
        raise NotAnswerableError(
            "this question changes the rows, but a test of your own answers for the rows that it has"
        )
    if study.own is not None:
        return aligned(study.own, study.names)
    if isinstance(study.table, NumericTable):
        return PartialCorrelation(study.table.values, study.names, reliability=study.testing.reliability)
    if study.copies > 1:
        return _pooled(study, [independence_tests(part, level=level, rng=rng) for part in study.completed])
    return None


def _pooled(study: Study, each: list[IndependenceTest]) -> PooledTests:
    frame = study.frame.without_numbers()
    measured = np.zeros(frame.n_columns, bool)
    measured[[*study.frame.numbers, *study.frame.ordered]] = True
    if study.groups is not None or study.survey is not None:
        measured[:] = True  # no likelihood ratio, but statistics that have their law
    return PooledTests(each, TableTests(study.place.counter(frame), reliability=0.0), measured)


def _standing(study: Study) -> Standing:
    weighs = study.reading.missing == "weighted"
    return Standing(study.testing, study.place, weighs, study.survey, study.groups, wide_drivers(study))


def wide_drivers(study: Study) -> tuple[int, ...]:
    """Return drivers with so many levels that tests do not count within each, but allow for functions of the level."""
    return tuple(x for x in study.known_drivers if study.arities[x] > MOST_STRATA)


def _counter_of_all(study: Study) -> Counter:
    return study.counter if study.groups is None else _counted(study, study.frame)


def _counted(study: Study, frame: Frame, rows: NDArray[np.bool_] | None = None) -> Counter:
    """Return what counts the rows of a frame, or some of them; with the groups as the last column."""
    if study.groups is not None:
        names, n = frozenset(frame.names), int(study.groups.max()) + 1
        name = next(free for k in range(len(names) + 1) if (free := f"{study.group_name}{chr(39) * k}") not in names)
        frame = frame.with_column(name, study.groups, tuple(range(n)))
    return study.place.counter(frame, rows)


def _pairwise(study: Study, labeled: IndependenceTest) -> PairwiseTests:
    """Return tests by pairwise deletion, which exist for G only."""
    if not isinstance(labeled, TableTests):
        raise ParameterError(
            f"pairwise deletion is defined for counts, but some columns are numbers; cut them with "
            f"{option('discretize')}..., "
            f"or take {option(surrogate='listwise')}"
        )
    if study.testing.kind == "x2":
        raise ParameterError(
            f"pairwise deletion is defined for {option(test='g')}, but {option(test='x2')} was asked for"
        )
    study.complete_frame(f"{option(surrogate='pairwise')}")
    column = label_column(study.labels)
    frame = study.frame.with_column(study.target_name, column.codes, column.levels)
    return PairwiseTests(study.target, study.place.counter(frame), labeled)


def labeling_tests(study: Study, *, level: float | None = None, rng: Seed = None) -> IndependenceTest:
    """Return tests in which "is labeled", known for every row, replaces the target."""
    labeled = study.labels.labeled.astype(np.uint8)
    frame = study.frame.with_column(study.target_name, labeled, ("unlabeled", "labeled"))
    return independence_tests(replace(study, table=frame, regime=Supervised(), drawn=True), level=level, rng=rng)
