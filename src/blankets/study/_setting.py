"""`Setting`: a table that has been read, with the tests that will be asked about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from blankets.arguments import generator_from, one_of, threads_from
from blankets.counting import SqlCounter
from blankets.data import DataReport, Reading, ingest, ingest_numeric
from blankets.errors import ParameterError, TargetError, TooFewRowsWarning, did_you_mean, warn
from blankets.independence import IndependenceTest, PartialCorrelation, table_tests
from blankets.regimes import Question, Surrogate, SurrogateColumn
from blankets.results import joined
from blankets.study._drivers import labeling_drivers
from blankets.study._engine import Engine, fingerprint_of
from blankets.study._measured import Measured, check_numbers
from blankets.study._study import Study, check_in_place, read_study

__all__ = ["TESTS", "Seed", "Setting", "calibration_of", "read"]

Seed = np.random.Generator | int | None

TESTS = ("auto", "g", "x2", "fisher-z")
ABOUT_LABELS = ("labels", "prior", "positive", "unlabeled_marker", "surrogate")


@dataclass(frozen=True, eq=False)
class Setting:
    """The data, ready to be asked, and how they were read."""

    tests: IndependenceTest
    arities: NDArray[np.int64]
    n_rows: int
    target: int | None
    choices: dict[str, Any]
    report: DataReport
    n_jobs: int
    fingerprint: str
    said: tuple[str, ...] = ()

    @property
    def only_target(self) -> int:
        """The target, where there is to be one."""
        if self.target is None:
            raise TargetError("no target was named; give its column name as 'target', or its values as 'y'")
        return self.target

    def targets(self, names: Iterable[str] | None) -> list[int]:
        """Return the numbers of the columns that are to be targets; default all."""
        if names is None:
            return list(range(len(self.tests.names)))
        if not isinstance(names, Iterable):
            raise ParameterError.out_of_range("targets", names, "a list of column names")
        wanted = [self.column(name) for name in ([names] if isinstance(names, str) else dict.fromkeys(names))]
        if not wanted:
            raise ParameterError("'targets' is empty; name a column, or leave it out for all columns")
        return wanted

    def column(self, name: str) -> int:
        """Return the number of a column that is to be a target."""
        if name not in self.tests.names:
            why = self.excluded.get(name)
            hint = f": {why}" if why else did_you_mean(str(name), self.tests.names)
            raise TargetError(f"{name!r} cannot be a target{hint}")
        return self.tests.names.index(name)

    @cached_property
    def excluded(self) -> dict[str, str]:
        """Columns that are not searched, and why."""
        return self.report.left_out

    @cached_property
    def report_as_data(self) -> dict[str, Any]:
        """What was done to the table, shared by the blankets of all targets."""
        return self.report.to_dict()


def read(
    data: Any,
    target: str | int | None,
    y: ArrayLike | None,
    *,
    test: str,
    n_jobs: int | None,
    calibration: dict[str, Any],
    about_labels: dict[str, Any],
    reading: dict[str, Any],
    engine: Engine,
    **testing: Any,
) -> Setting:
    """Read the table and prepare the tests."""
    one_of("test", test, TESTS)
    choices = {"test": test, **testing, **reading}
    threads = threads_from(n_jobs)
    tests: IndependenceTest
    known = {name: about_labels[name] for name in ABOUT_LABELS if name in about_labels}
    if test == "fisher-z":
        check_numbers(known)
        return _measured(data, target, y, choices, threads)
    if isinstance(data, SqlCounter):
        check_in_place(y=y, **known)
        query = fingerprint_of(data)
        tests = table_tests(engine.remembered(data, query), statistic=test, **calibration, **testing)
        place = None if target is None else data.names.index(str(target))
        return Setting(tests, data.arities, data.n_rows, place, choices, data.report, threads, query)
    if target is None and y is None and not isinstance(data, Study):
        table = ingest(data, reading=Reading.of(reading))
        frame = table.frame
        tests = table_tests(engine.counter(frame), statistic=test, **calibration, **testing)
        return Setting(tests, frame.arities, frame.n_rows, None, choices, table.report, threads, frame.fingerprint())
    asked = {name: about_labels.pop(name) for name in ("surrogate", "usual", "force", "drivers_at")}
    study = (
        data
        if isinstance(data, Study)
        else read_study(data, target, y, n_jobs=threads, engine=engine, **about_labels, **reading)
    )
    return _studied(study, choices, {"statistic": test, **calibration, **testing}, **asked)


def _measured(
    data: Any, target: str | int | None, y: ArrayLike | None, choices: dict[str, Any], threads: int
) -> Setting:
    """Prepare tests of correlation."""
    if isinstance(data, Measured):
        numbers, mark = data.table, data.fingerprint
    else:
        numbers = ingest_numeric(
            data, target, y=y, reading=Reading(missing=choices["missing"], exclude=choices["exclude"])
        )
        mark = numbers.fingerprint()
    tests = PartialCorrelation(numbers.values, numbers.names, reliability=choices["reliability"])
    arities = np.full(len(numbers.names), 2, np.int64)
    return Setting(tests, arities, len(numbers.values), numbers.target, choices, numbers.report, threads, mark)


def _studied(
    study: Study,
    choices: dict[str, Any],
    testing: dict[str, Any],
    *,
    surrogate: str | None,
    usual: str | None,
    force: bool,
    drivers_at: float | None,
) -> Setting:
    """Prepare the tests of a target that may be partly labeled; ``usual`` is the algorithm's own surrogate."""
    if surrogate is None and study.labels.n_unlabeled:
        surrogate = usual
    column = study.surrogate(surrogate, force=force)
    drivers: tuple[int, ...] = ()
    if drivers_at is not None and study.regime.name == "mar-f" and column.surrogate is Surrogate.LISTWISE:
        drivers = labeling_drivers(study, alpha=drivers_at, **testing)
    tests = study.tests(column, drivers=drivers, **testing)
    arities = study.frame.arities.copy()
    arities[study.target] = len(column.levels)
    choices |= {"labels": study.regime.name, "prior": study.regime.prior and str(study.regime.prior)}
    choices |= {"surrogate": column.surrogate.value, "surrogate_is_valid": not column.forced}
    choices |= _of_labels(study)
    choices |= {"drivers": [study.frame.names[x] for x in drivers]} if drivers else {}
    choices |= _power(study, column)
    most_dof = column.n_rows / testing["reliability"] if testing["reliability"] else np.inf
    said = () if column.surrogate is Surrogate.FULL else (_said(study, column), *_on_drivers(study, drivers, most_dof))
    return Setting(
        tests, arities, column.n_rows, study.target, choices, study.report, study.n_jobs, study.fingerprint, said
    )


def _of_labels(study: Study) -> dict[str, Any]:
    """Return how many labels of each class there are, and how they were come by."""
    if not study.labels.n_unlabeled or not study.labels.is_binary:
        return {}
    negatives, positives = study.labels.counts.tolist()
    sampling = {} if study.regime.sampling == "one-sample" else {"sampling": study.regime.sampling}
    return {"labeled": {"positives": positives, "negatives": negatives}, **sampling}


def _power(study: Study, column: SurrogateColumn) -> dict[str, Any]:
    """Return what is known of the power that missing labels leave."""
    unknown = column.forced or column.surrogate is Surrogate.FULL or Question.POWER not in study.regime.answers
    if unknown:
        return {}
    kappa = study.regime.kappa(study.labels, column.surrogate)
    return {
        "kappa": kappa.value,
        "kappa_range": (kappa.low, kappa.high),
        "effective_rows": kappa.value * study.frame.n_rows,
    }


def _on_drivers(study: Study, drivers: tuple[int, ...], most_dof: float) -> tuple[str, ...]:
    """Say what drives labeling, and whether conditioning on it leaves anything to be tested."""
    if not drivers:
        return ()
    names = [study.frame.names[x] for x in drivers]
    sentence = f"Labeling depends on {joined(names)}; each test with the target is given that too."
    strata = float(np.prod(study.frame.arities[list(drivers)].astype(float)))
    if strata <= most_dof:
        return (sentence,)
    beyond = (
        f"{sentence} These have {strata:,.0f} joint levels, so many that the {study.labels.n_labeled:,} labeled rows "
        "are too few for any test within them: merge levels, or leave out the conditioning (given_drivers=False)"
    )
    warn(beyond, TooFewRowsWarning)
    return (beyond,)


def calibration_of(rng: Seed, test: str, level: float | None) -> dict[str, Any]:
    """Return seed and level of calibrated tests; without a seed given, the same data get the same answer."""
    seed = 0 if test != "auto" or rng is None else int(generator_from(rng).integers(1 << 62))
    return {"seed": seed, "level": level}


def _said(study: Study, column: SurrogateColumn) -> str:
    """Return what was assumed about missing labels, and what stands in for the target."""
    valid = "" if not column.forced else " It is not valid here, and was asked for all the same:"
    return (
        f"{study.regime.describe(study.labels)} Each test with the target {column.surrogate.words}."
        f"{valid} {column.note[:1].upper()}{column.note[1:]}."
    )
