"""`audit`: what is unusual about a table, before any other question.

Reading the data (`blankets.data.ingest`) already finds constant, repeated and id-like columns; the audit starts
from that report. It adds what needs counts: columns that nearly repeat or determine another one, that predict
the target, whose missing values predict the target, or that differ between labeled and unlabeled rows.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from blankets.data import DataReport, ReadingOptions, Store, is_store, unused_notes
from blankets.errors import BlanketsWarning
from blankets.questions._audit_order import order_findings
from blankets.questions._audit_pairs import Pairs
from blankets.questions._audit_scar import scar_findings
from blankets.questions._audit_target import FEW, WithTarget
from blankets.questions._question import question
from blankets.regimes import Regime
from blankets.results import DataAudit, Finding, count_of, joined
from blankets.study import (
    Engine,
    Progress,
    Study,
    called_a_name,
    cut_unasked,
    leaking,
    names_finding,
    open_study,
    people,
    repeated_subjects,
    sounds_later,
)
from blankets.voice import option


@question
def audit(
    data: Any,
    target: str | int | None = None,
    *,
    y: ArrayLike | None = None,
    labels: Regime | str = "auto",
    prior: object = None,
    engine: Engine | str = "auto",
    n_jobs: int | None = None,
    progress: Progress = False,
    **reading: Unpack[ReadingOptions],
) -> DataAudit:
    """Check a table before any other question, and say what is unusual and what to do.

    It finds columns that cannot be read (dates, lists, mixed kinds of values), constant, id-like, repeated and nearly
    repeated columns (also with other names of levels, such as A and 1 - A), columns that determine another one, columns
    with many or with rare levels, columns that predict the target (also numbers whose cuts give its classes) or whose
    missing values do, names of people, repeated persons, and columns that differ between labeled and unlabeled rows.
    Without a target only the columns are checked. Missing values are a level of their own unless ``missing`` says
    otherwise; missing values are also a finding.

    Returns
    -------
    DataAudit

    Raises
    ------
    DataError
        If the table cannot be read even without the columns that cannot be used; the message says why.

    Notes
    -----
    Two columns nearly repeat each other if they share at least 85% of the information in either; a column leaks if
    it holds at least 90% of the information in the target. All pairs are compared if rows x columns² is at most
    2e10; in wider tables the 50 columns with the most information about the target are compared with all others.

    Examples
    --------
    >>> import numpy as np
    >>> import blankets as bl
    >>> rng = np.random.default_rng(0)
    >>> sex, ill = rng.integers(0, 2, (2, 400))
    >>> table = {"sex": sex, "male": 1 - sex, "site": ["Leeds"] * 400, "state": np.where(ill, "sick", "well"),
    ...          "ill": ill}
    >>> found = bl.audit(table, "ill")
    >>> [(one.kind, one.columns) for one in found.findings]
    [('leaking', ('state',)), ('near-duplicate', ('sex', 'male')), ('constant', ('site',))]
    """
    began = time.perf_counter()
    packed = isinstance(data, Store) or is_store(data)  # missing values are as they were packed
    how: dict[str, Any] = dict(reading) if packed else {"missing": "level", **reading}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BlanketsWarning)  # the findings say the same

        def opened(*, numbers: bool = False, **more: Any) -> Any:
            known: dict[str, Any] = {"labels": labels, "prior": prior, "engine": engine, "n_jobs": n_jobs}
            usual: dict[str, Any] = {"needs_target": False, "lenient": True, "knows_groups": True}
            return open_study(
                data, target, y, reading={**how, **more}, **known, **usual, progress=progress, numbers=numbers
            )

        with opened() as study:
            tell = study.tell or (lambda sentence: None)
            tell("columns that tell the target")
            told = list(_of_numbers(study, partial(opened, numbers=True)))
            already = frozenset(name for one in told if one.kind == "leaking" for name in one.columns)
            known = None if study.column is None else WithTarget(study, already)
            findings = told if known is None else [*told, *known.findings(), *scar_findings(study)]
            pairs = _pairs(study, known, tell)
            findings += [*_unusable(study.report.unusable), *pairs.findings()]
            findings += [*_rare_levels(study), *order_findings(study), *_names(study), *_at_the_door(study.report)]
    return DataAudit(
        target=None if study.column is None else study.target_name,
        findings=tuple(sorted(findings, key=lambda one: one.weight)),
        notes=(*_notes(study.report), *pairs.notes),
        n_rows=study.n_rows,
        n_columns=len(study.names),
        data=study.report_as_data,
        seconds=time.perf_counter() - began,
        call=study.mark,
    )


def _notes(report: DataReport) -> Iterator[str]:
    """Yield the notes of reading, but for those that are findings of their own."""
    known = set(unused_notes(report.unusable))
    yield from (note for note in report.notes if note not in known)


def _unusable(columns: Mapping[str, str]) -> Iterator[Finding]:
    """Yield columns that cannot be used as they are, grouped by the reason."""
    for reason in dict.fromkeys(columns.values()):
        names = [name for name in columns if columns[name] == reason]
        yield _about(
            "unusable",
            dict.fromkeys(names),
            f"{joined(names)}: {reason}.",
            "The rest of the audit is about the other columns.",
            weight="act",
        )


def _pairs(study: Study, known: WithTarget | None, tell: Callable[[str], None]) -> Pairs:
    n_jobs = study.place.n_jobs
    if known is None:
        return Pairs(study.frame, np.arange(study.frame.n_columns), None, n_jobs, tell)
    tied = known.entropies[0] if known.labels.n_seen_classes > 1 and len(known.features) else None
    return Pairs(study.frame, known.features, tied, n_jobs, tell)


def _names(study: Study) -> Iterator[Finding]:
    """Yield columns with names of people; of those that were left out, only what they are called is known."""
    yield from (names_finding(name) for name in study.report.id_like if called_a_name(name))
    yield from people(study.frame, (j for j in range(study.frame.n_columns) if j != study.column))


def _of_numbers(cut: Study, opened: Callable[..., Any]) -> Iterator[Finding]:
    """Yield what is seen of columns as they are, and not of cut numbers.

    Cuts of a number may give the target, as those of an assay value do that defines it; numbers of patients repeat. The
    table is read once more if numbers were cut.
    """
    if not cut.report.binned:
        yield from _as_they_are(cut)
        return
    with opened(missing="testwise") as study:
        yield from _as_they_are(study)


def _as_they_are(study: Study) -> Iterator[Finding]:
    if study.column is not None:
        yield from leaking(study, study.target, [j for j in study.features if j in study.frame.numbers])
        yield from sounds_later(study, study.target, study.features)
    if study.groups is None:
        yield from repeated_subjects(study, study.column)


def _rare_levels(study: Study) -> Iterator[Finding]:
    """Yield columns with rare levels."""
    frame, uncut = study.frame, frozenset(cut_unasked(study))  # tests do not cut those: their levels are this audit's
    rare = {}
    for j, name in enumerate(frame.names):
        if name in uncut:
            continue
        seen = study.labels.labeled if j == study.column else slice(None)
        codes = frame.column(j)[seen]
        arity = int(frame.arities[j])
        counts = np.bincount(codes, minlength=arity)[:arity]
        if few := int(np.count_nonzero((counts > 0) & (counts < FEW))):
            rare[name] = float(few)
    if rare:
        listed = joined([f"{name} ({count_of(int(n), 'level')})" for name, n in rare.items()], width=80)
        yield Finding(
            kind="rare levels",
            columns=tuple(rare),
            what=f"Have levels with fewer than {FEW} rows: {listed}.",
            next_step="Merge them with others if you can; the default test is valid even so.",
            figures=rare,
        )


def _at_the_door(report: DataReport) -> Iterator[Finding]:
    """Yield what was found when the table was read."""
    if report.missing:
        gaps = joined([f"{name} ({n:,})" for name, n in report.missing.items()], width=80)
        step = (
            "Each test uses the rows that have what it needs. Where being missing is itself a state, choose "
            f"{option(missing='level')}."
        )
        yield _about("missing", report.missing, f"Have missing values (rows): {gaps}.", step)
    if report.many_levels:
        counts = joined([f"{name} ({n:,} levels)" for name, n in report.many_levels.items()], width=80)
        yield _about(
            "high arity",
            report.many_levels,
            f"Have so many levels that few tests with them are reliable: {counts}.",
            "Join rare levels.",
        )
    for kind, names, why in (
        ("constant", (*report.constant, *report.without_cut), "A single value, or one bin"),
        ("id-like", report.id_like, "Almost every row has a level of its own"),
    ):
        if names:
            them, are = ("it", "it is") if len(names) == 1 else ("them", "they are")
            step = f"Nothing to do: {are} left out; {option(keep=...)} keeps {them}."
            yield _about(kind, dict.fromkeys(names), f"{why}: {joined(names)}.", step)
    for name, copies in report.duplicates.items():
        what = f"{joined(copies)} {'repeats' if len(copies) == 1 else 'repeat'} {name}."
        step = "Nothing to do: copies are left out; in a blanket the first column stands for them."
        yield _about("duplicate", dict.fromkeys((name, *copies)), what, step)


def _about(kind: str, columns: Mapping[str, float | None], what: str, next_step: str, weight: Any = "know") -> Finding:
    figures = {name: float(n) for name, n in columns.items() if n is not None}
    return Finding(kind=kind, columns=tuple(columns), what=what, next_step=next_step, weight=weight, figures=figures)
