"""`open_study`: from the arguments of a public function to a `Study`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from blankets.arguments import threads_from
from blankets.counting import SqlCounter, on_one_core
from blankets.data import DataReport, Frame, Ingested, NumericTable, Reading, column_beside, ingest, ingest_numeric
from blankets.errors import DataError, NotAnswerableError, ParameterError, RegimeWarning, TargetError, listed, warn
from blankets.independence import IndependenceTest, own_tests
from blankets.regimes import (
    EstimatedPrior,
    Labels,
    Predicted,
    Regime,
    SemiSupervised,
    code_labels,
    estimate_prior,
    regime_name,
)
from blankets.study._about import warn_of_cuts
from blankets.study._copies import warn_of_copies
from blankets.study._engine import Engine, Place
from blankets.study._groups import warn_of_few_groups, warn_of_subjects
from blankets.study._imputing import as_one
from blankets.study._known import Known, check_own, check_testing
from blankets.study._progress import Progress, watched
from blankets.study._study import NO_TARGET, NoTable, Study, Tell
from blankets.study._testing import Testing
from blankets.voice import option


@contextmanager
def open_study(
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
    labels = regime_name(labels)
    own, reading, engine = own_tests(test), Reading.of(reading), Engine.of(engine)
    in_memory = own is None and engine.is_plain
    data, y, reading, copies = as_one(data, target, y, reading, pools=pools, in_memory=in_memory)
    testing = Testing() if own is not None else Testing.of(test)
    threads = threads_from(n_jobs)
    beside = labels.beside if isinstance(labels, Regime) else None
    reading, target = _beside_table(reading, target, y, labels, beside)
    _check_rows(reading, beside, knows_groups=knows_groups)
    stay = numbers and testing.takes_numbers and (beside is None or isinstance(labels, Predicted))
    known = Known(y, labels, prior, reading, lenient, asks, stay, copies > 1)
    check_testing(testing, own, known, engine)
    if (knows_columns := own_tests(data)) is not None:
        check_own(known, engine, alone=True)
        with watched(progress) as tell:
            yield _of_tests(knows_columns, target, tell, needs_target=needs_target)
        return
    if engine.kind == "sql":
        known.check_complete(
            f"{option(engine='sql')}", f"leave out {option(engine='sql')}, or pack the query first", y=y is not None
        )
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
            study = _in_database(source, target, options)
        elif testing.of_numbers:
            table = ingest_numeric(source, target, y=y, reading=reading)
            study = Study(table=table, column=table.target, report=table.report, **options)
        else:
            if place.store is not None:
                reading = place.store.read_as(reading)
                _check_rows(reading, beside, knows_groups=knows_groups)
                known, options["reading"] = replace(known, reading=reading), reading
            study = _of_codes(source, target, known, options)
        study = _of_copies(study, copies)
        if needs_target:
            study.target  # noqa: B018  # raises an error if no target was named
        if numbers and testing.takes_numbers:
            warn_of_cuts(study)
        measures = own is None and (study.has_numbers or isinstance(study.table, NumericTable))
        with on_one_core() if measures else nullcontext():
            yield study


def _check_rows(reading: Reading, beside: tuple[str, object] | None, *, knows_groups: bool) -> None:
    """Refuse rows in groups and weights where the question, or the labels, are not built for them."""
    apart = reading.groups is None and reading.survey_weight is None
    if not (apart and reading.missing != "weighted") and not knows_groups:
        raise NotAnswerableError(
            f"{option('groups')}, {option('survey_weight')} and {option(missing='weighted')} are built for discover, "
            f"discover_all, test, rank, "
            "mutual_information, stability, refute and audit; what this question says would be wrong. Take one row "
            "of each group, or a sample drawn by the weights, and leave the option out"
        )
    as_they_are = apart and reading.sample_weight is None and reading.missing not in ("drop", "weighted")
    if beside is not None and not as_they_are:
        raise NotAnswerableError(
            f"{option(beside[0])} is not built for {option('groups')}, weights, {option(missing='drop')} and "
            f"{option(missing='weighted')}: it belongs to "
            f"the rows as they are"
        )


def _of_tests(own: IndependenceTest, target: str | int | None, tell: Tell | None, *, needs_target: bool) -> Study:
    """Return a study without a table: a test knows its columns, and answers for them."""
    table = NoTable(own.names, own.looked_at)
    n, columns = table.n_rows, len(own.names)
    report = DataReport(n_rows=n, n_columns=columns, n_rows_given=n, n_columns_given=columns)
    study = Study(table=table, column=None, report=report, tell=tell, own=own)
    if target is None and not needs_target:
        return study
    if target is None:
        raise TargetError(NO_TARGET)
    return replace(study, column=study.as_target(str(target)))


def _in_database(counter: SqlCounter, target: str | int | None, options: dict[str, Any]) -> Study:
    at = None if target is None else counter.names.index(str(target))
    labels = Labels(np.empty(0, np.int16), () if at is None else counter.levels[at])
    return Study(table=counter, column=at, report=counter.report, labels=labels, **options)


def _of_codes(data: Any, target: str | int | None, known: Known, options: dict[str, Any]) -> Study:
    read = known.with_outcome(_read(data, target, known))
    frame, at = read.frame, read.target
    options |= {"report": read.report, "encoder": read.encoder}
    units = read.units
    options |= {"groups": units.groups, "group_name": units.group_name, "survey": units.survey}
    if not known.lenient:
        warn_of_few_groups(units.groups, units.group_name)
        if units.groups is None and not known.pooled:
            warn_of_subjects(frame, at)
    if at is not None and at in frame.numbers and frame.gaps(at) is not None:
        raise TargetError(
            f"the target {frame.names[at]!r} is a number, and values of it are missing; nothing is built yet for "
            f"that under {option(labels=known.labels)}: leave out {option('labels')}, or cut it into classes with "
            f"{option('discretize')}..."
        )
    if at is None or at in frame.numbers:
        return Study(table=frame, column=at, **options)
    labels = code_labels(
        frame.column(at),
        frame.levels[at],
        np.zeros(frame.n_rows, bool) if read.unlabeled is None else read.unlabeled,
        positive=known.reading.positive,
        regime=known.labels,
        unlabeled_marker=known.reading.unlabeled_marker,
    )
    if isinstance(known.prior, str) and known.prior == "estimate":
        known = replace(known, prior=_estimated(frame, at, labels, known))
    regime = known.regime(labels)
    if regime.beside is not None:
        place: Place = options["place"]
        beside = column_beside(data if place.read_from is None else place.read_from, *regime.beside, known.reading)
        labels = regime.with_scores(labels, beside)
        regime = SemiSupervised("mcar") if labels.scores is None else regime  # a machine that tells nothing
    if more := regime.prior_is_short(labels):
        warn(
            f"{option('prior')} says that p(y=1) is {regime.prior}, but {more}. That may be chance; power is "
            f"computed as if "
            "all of them were labeled. If you know p(y=1) of these very rows, correct the prior",
            RegimeWarning,
        )
    if labels.n_unlabeled:
        warn_of_copies(frame, at, labels)
    elif len(labels.classes) < len(frame.levels[at]):
        # The user named a positive class among several: the others are one class now.
        frame = frame.with_column(frame.names[at], labels.codes.astype(np.uint8), labels.classes)
    return Study(table=frame, column=at, labels=labels, regime=regime, **options)


def _estimated(frame: Frame, at: int, labels: Labels, known: Known) -> EstimatedPrior:
    """Return p(y=1) as `estimate_prior` estimates it from the same rows."""
    if known.labels not in ("pu", "mar-c"):
        raise ParameterError(f"{option(prior='estimate')} is for {option(labels='pu')} and {option(labels='mar-c')}")
    plain = frame.without_numbers()
    features = [x for x in range(frame.n_columns) if x != at and x not in frame.numbers and x not in frame.holes]
    if not features:
        raise NotAnswerableError(
            f"{option(prior='estimate')} needs columns of levels without holes; say {option('prior')} or "
            f"bl.estimate_prior"
        )
    codes = np.stack([plain.column(x) for x in features], axis=1).astype(np.int64)
    return estimate_prior(codes, labels, rng=0)  # the same rows give the same prior


def _of_copies(study: Study, copies: int) -> Study:
    """Return the study of several completed tables, which were read as one."""
    if copies == 1:
        return study
    frame = study.frame
    if study.testing.kind != "auto":
        raise ParameterError(
            f"completed tables are pooled with {option(test='auto')} only, not with {study.testing.kind!r}"
        )
    if frame.holes or study.labels.n_unlabeled or frame.n_rows % copies or study.report.unlabeled:
        gaps = listed(frame.names[j] for j in frame.holes) if frame.holes else "the target"
        raise DataError(f"completed tables still have missing values, in {gaps}; impute these too, or leave it out")
    given = replace(study.report, n_rows=frame.n_rows // copies, n_rows_given=study.report.n_rows_given // copies)
    return replace(study, copies=copies, report=given)


def _read(data: Any, target: str | int | None, known: Known) -> Ingested:
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


def _plain(about: Mapping[str, object]) -> dict[str, object]:
    """Return what identifies the answers as plain values, for a checkpoint."""

    def plain(value: object) -> object:
        if value is None or isinstance(value, str | int | float | bool):
            return value
        return "a generator" if isinstance(value, np.random.Generator) else str(value)

    return {name: plain(value) for name, value in about.items()}
