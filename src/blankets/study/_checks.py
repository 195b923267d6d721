"""What is unusual about an answer: members that tell the target too well, identifiers, names, copies, lost rows.

`discover` looks at its members only, which takes a small part of its time; `audit` looks at all columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from blankets.data import DataReport, Frame
from blankets.independence import SeenModel, relations_of
from blankets.results import Finding, count_of, joined, shown
from blankets.study._effect_columns import drawn_rows
from blankets.study._groups import IDENTIFIERS, ROWS_A_SUBJECT, likely_subjects, repeated_at_reading, sharing
from blankets.study._in_time import rows_in_time
from blankets.study._leaks import LEAK, classes_of, how_told, tells, told_by_others
from blankets.study._study import Study
from blankets.voice import entry, option

LOST = 0.1  # share of the rows whose loss is worth a line
MOST_COLUMNS = 10_000  # columns whose names are read again; reading the table has warned already
FEW_ROWS = 10  # rows for each value below which the values are rather subjects than places
TOGETHER = 4  # members, the strongest first, that may tell the target together
SELDOM = 0.5  # share of the rows below which a member is seldom known
SCORES = 7  # different numbers from which a target may be a count or a score
PEOPLE = 20  # different values from which a column may hold names of people

_NAMED = re.compile(
    r"^name$|(^|[\W_])(first|last|sur|fore|given|family|full|maiden|patient|person|vor|nach)[\W_]*name", re.I
)
_TIME = re.compile(
    r"(^|[\W_])[a-z]{0,2}time([\W_]|to|$)|follow|^surv|durat|lenfol|tstop|(^|[\W_])(days|weeks|months)([\W_]|$)", re.I
)
_EVENT = re.compile(
    r"status|event|death|dead|died|cens|relaps|recur|fail|surviv|deceas|progress|delta|(^|[\W_])(rel|dfs|os)([\W_]|$)",
    re.I,
)
_LATER = re.compile(r"(^|[\W_])(death|dead|died|deceased|autopsy|outcome)([\W_]|$)", re.I)
_PERSON = re.compile(r"^([A-Z][\w'’.-]*,? ){1,3}[A-Z][\w'’.-]*$")

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def checked(study: Study, target: int, members: Sequence[int]) -> tuple[Finding, ...]:
    """Return what is unusual about the members and the rows, the most important first."""
    if not isinstance(study.table, Frame):
        return tuple(_lost(study.report, of_number=False))
    few = study.frame.n_columns <= MOST_COLUMNS
    leaks = tuple(leaking(study, target, members))
    return (
        *leaks,
        *(_hidden_leaks(study, target, members) if leaks else ()),
        *rows_in_time(study, target, members),
        *_known_in_one_class(study, target),
        *sounds_later(study, target, [j for j in members if all(study.names[j] not in one.columns for one in leaks)]),
        *(() if leaks else _told_together(study, target, members)),
        *_seldom_known(study, members),
        *_target_of_numbers(study, target),
        *_identifiers(study.frame, members),
        *people(study.frame, members),
        *(repeated_subjects(study, target) if study.groups is None and few else ()),
        *_lost(study.report, of_number=target in study.frame.numbers),
        *_telling_gaps(study, target, members),
        *_copies(study, members),
    )


def leaking(study: Study, target: int, columns: Sequence[int]) -> Iterator[Finding]:
    """Yield the columns that nearly tell the target."""
    found = tells(study, target, columns)
    for name, told in found.items():
        yield Finding(
            kind="leaking",
            columns=(name,),
            what=told.words(name, study.names[target]),
            next_step="Is it known before the outcome, and not a part of its definition? If not:",
            fix={"exclude": [name]},
            weight="act",
            figures={name: told.right},
        )


def sounds_later(study: Study, target: int, columns: Iterable[int]) -> Iterator[Finding]:
    """Yield columns whose names say that they are known with the outcome or after it: follow-up times, deaths.

    How long somebody was followed until the event is known only then. It tells much, and nothing that helps beforehand.
    """
    names = [study.names[j] for j in columns]
    event = study.frame.n_columns and target not in study.frame.numbers and _EVENT.search(study.names[target])
    times = [n for n in names if event and _TIME.search(n) and study.frame.index(n) in study.frame.numbers]
    later = [n for n in names if n not in times and _LATER.search(n)]
    of = shown(study.names[target])
    survival = "Times to an event have methods of their own (survival analysis). "
    for some, what, more in (
        (times, f"be how long rows were followed until {of} was known", survival),
        (later, f"come after {of}", ""),
    ):
        if some:
            its, are = ("its name", "it is") if len(some) == 1 else ("their names", "they are")
            yield Finding(
                kind="later",
                columns=tuple(some),
                what=f"By {its}, {joined(some)} may {what}.",
                next_step=f"{more}If so, {are} not known beforehand:",
                fix={"exclude": some},
                weight="act",
            )


def _told_together(study: Study, target: int, members: Sequence[int]) -> Iterator[Finding]:
    """Yield that a few members together tell the target: the bounds of an answer, or the parts of a total."""
    found = (
        _exact_parts(study, target, members) if target in study.frame.numbers else _categories(study, target, members)
    )
    if found is not None:
        some, how = found
        yield Finding(
            kind="leaking",
            columns=tuple(some),
            what=f"{joined(some)} together tell {shown(study.names[target])} {how}.",
            next_step="Is the target made from them? Then leave them out:",
            fix={"exclude": some},
            weight="know",
            figures={},
        )


def _exact_parts(study: Study, target: int, members: Sequence[int]) -> tuple[list[str], str] | None:
    """Return the strongest members that determine a number exactly, as the parts of a total do."""
    relations = relations_of(study.frame.select([target, *members]))
    if relations is None:
        return None
    for k in range(2, len(members) + 1):
        if relations.determine(range(1, k + 1), 0):
            return [study.names[j] for j in members[:k]], "exactly, as the parts of a total do"
    return None


def _categories(study: Study, target: int, members: Sequence[int]) -> tuple[list[str], str] | None:
    """Return the strongest members, if categories, that nearly tell the target, as the two bounds of an answer do."""
    frame = study.frame
    some = [j for j in members[:TOGETHER] if j not in frame.numbers]
    if len(some) < 2:
        return None
    y, known = classes_of(study, target)
    rows = drawn_rows(np.flatnonzero(known & np.all([frame.column(j) < len(frame.levels[j]) for j in some], axis=0)))
    joint = frame.column(some[0])[rows].astype(np.int64)
    for k in range(2, len(some) + 1):
        j = some[k - 1]
        joint = np.unique(joint * len(frame.levels[j]) + frame.column(j)[rows], return_inverse=True)[1]
        told = how_told(joint, y[rows], x_number=False, y_number=False)
        if told is not None and told_by_others(joint, y[rows]) >= LEAK:
            return [study.names[j] for j in some[:k]], f"in {min(told.right, 1.0):.1%} of the rows"
    return None


def _seldom_known(study: Study, members: Sequence[int]) -> Iterator[Finding]:
    """Yield members that few rows have: all tests given them look at those rows only."""
    seen = {j: int(np.count_nonzero(~gap)) for j in members if (gap := study.frame.gaps(j)) is not None}
    if few := {study.names[j]: n for j, n in seen.items() if n < SELDOM * study.n_rows}:
        names, them = list(few), "it" if len(few) == 1 else "them"
        rows = joined([f"{name} ({n:,})" for name, n in few.items()], width=80)
        yield Finding(
            kind="missing",
            columns=tuple(names),
            what=f"Known in few of the {study.n_rows:,} rows: {rows}. Given {them}, other columns were tested on these "
            "rows only, so that members may have been missed.",
            next_step=f"Search without {them} too:",
            fix={"exclude": names},
            weight="act",
            figures={name: float(n) for name, n in few.items()},
        )


def _target_of_numbers(study: Study, target: int) -> Iterator[Finding]:
    """Yield that a target of several numbers is taken for classes: a count or a score would be tested as a number."""
    frame, name = study.frame, study.names[target]
    levels = frame.levels[target]
    asked = study.reading.rule_for(name)[0] != "auto" or name in study.report.binned or target in frame.ordered
    numbers = [level for level in levels if isinstance(level, int | float) and not isinstance(level, bool)]
    if not asked and target not in frame.numbers and SCORES <= len(numbers) == len(levels):
        yield Finding(
            kind="order",
            columns=(name,),
            what=f"{shown(name)} has {len(levels)} different numbers, and is taken for as many classes.",
            next_step="If it is a count or a score, test it as a number:",
            fix={"discretize": {name: "number"}},
        )


def _known_in_one_class(study: Study, target: int) -> Iterator[Finding]:
    """Yield columns with values in one class of the target only, as causes of death have: no test compares these."""
    if target == study.column and (names := [study.names[j] for j in study.one_class]):
        yield Finding(
            kind="leaking",
            columns=tuple(names),
            what=f"{joined(names)} {'has' if len(names) == 1 else 'have'} values in one class of "
            f"{shown(study.names[target])} only, or in no row that has it, so that nothing can be compared.",
            next_step="Not searched. If being missing is itself a state, compare that:",
            fix={"missing": "level"},
            weight="know",
        )


def _hidden_leaks(study: Study, target: int, members: Sequence[int]) -> Iterator[Finding]:
    """Yield the other columns that nearly tell the target: a leak that is a member makes them needless."""
    others = [j for j in range(len(study.names)) if j != target and j not in set(members)]
    if found := tells(study, target, others):
        names = list(found)
        yield Finding(
            kind="leaking",
            columns=tuple(names),
            what=f"{joined(names)} {'tells' if len(names) == 1 else 'tell'} it as well, and would be the next member.",
            next_step=f"Ask the same of {'it' if len(names) == 1 else 'them'}:",
            fix={"exclude": names},
            weight="act",
            figures={name: told.right for name, told in found.items()},
        )


def _identifiers(frame: Frame, members: Iterable[int]) -> Iterator[Finding]:
    """Yield whole numbers that are counted up, or that are called an identifier and seldom repeat."""
    for j in members:
        if j not in frame.numbers:
            continue
        values, name = frame.numbers[j].values, frame.names[j]
        if np.isnan(values).any() or not np.array_equal(values, np.floor(values)):
            continue
        n, called = len(np.unique(values)), IDENTIFIERS.search(name)
        counted = n == len(values) and values.max() - n == values.min() - 1
        if counted or (called and ROWS_A_SUBJECT * n > len(values)):  # `repeated_subjects` tells of the others
            rows = "every row" if n == len(values) else "most rows"
            yield Finding(
                kind="id-like",
                columns=(name,),
                what=f"{shown(name)} has another whole number in {rows}, as a row number or an identifier has.",
                next_step="It may tell the target only because rows are sorted. Leave it out:",
                fix={"exclude": [name]},
                weight="act",
            )


def people(frame: Frame, columns: Iterable[int]) -> Iterator[Finding]:
    """Yield columns that seem to hold names of people: by their own name, or by what most levels look like."""
    for j in columns:
        levels = [level for level in frame.levels[j] if isinstance(level, str)]
        if len(levels) < PEOPLE:
            continue
        alike = np.mean([bool(_PERSON.match(level)) for level in levels[:200]])
        if called_a_name(frame.names[j]) or alike >= LEAK:
            yield names_finding(frame.names[j])


def called_a_name(name: str) -> bool:
    """Tell whether a column is called as one of names of people is.

    >>> called_a_name("patient_name"), called_a_name("surname"), called_a_name("drug name")
    (True, True, False)
    """
    return _NAMED.search(name) is not None


def names_finding(name: str) -> Finding:
    """Say that a column holds names."""
    return Finding(
        kind="names",
        columns=(name,),
        what=f"{shown(name)} seems to hold names of people.",
        next_step="A name tells who a row is about, and nothing about other people. Leave it out:",
        fix={"exclude": [name]},
        weight="act",
    )


def repeated_subjects(study: Study, target: int | None) -> Iterator[Finding]:
    """Yield columns that seem to tell who a row is about, with several rows for each."""
    left_out = repeated_at_reading(study.report.repeated_ids, study.report.n_rows_given)
    named, clear = {**likely_subjects(study.frame, target), **left_out}, True
    said = {
        name: f"seems to tell who a row is about: {n:,} values in {study.n_rows:,} rows" for name, n in named.items()
    }
    if not named and (found := sharing(study.frame, target)) is not None:
        name, n, alike = found
        named[name], clear = n, study.n_rows < FEW_ROWS * n
        said[name] = f"repeats: {n:,} values in {study.n_rows:,} rows, and {joined(alike, 4)} never differ within one"
    for name, n in named.items():
        yield Finding(
            kind="repeated subjects",
            columns=(name,),
            what=f"{shown(name)} {said[name]}.",
            next_step="Tests take rows for independent draws. If rows of one value belong together:",
            fix={"groups": name},
            weight="act" if clear else "know",
            figures={name: float(n)},
        )


def _lost(report: DataReport, *, of_number: bool) -> Iterator[Finding]:
    """Yield that many rows were lost; ``of_number``: the target is a number, which has no classes to be labeled."""
    given = max(report.n_rows_given, 1)
    if report.dropped_rows >= LOST * given:
        yield Finding(
            kind="rows lost",
            columns=tuple(report.missing),
            what=f"{report.dropped_rows:,} of {count_of(given, 'row')} were deleted for missing values.",
            next_step="To use in each test all rows that have what it needs:",
            fix={"missing": "testwise"},
            weight="act",
        )
    if report.unlabeled_left_out and report.unlabeled >= LOST * given:
        yield Finding(
            kind="rows lost",
            columns=(),
            what=f"{report.unlabeled:,} of {count_of(given, 'row')} have no value of the target, and were left out.",
            next_step="The answer is right if it is missing by chance, or for reasons that other columns hold."
            if of_number
            else f"If they are to count as unlabeled, say why with {option('labels')} ({entry('advise')} helps).",
            weight="act",
        )


def _telling_gaps(study: Study, target: int, members: Sequence[int]) -> Iterator[Finding]:
    """Yield that the gaps of members depend on the target, which test-wise deletion does not allow for."""
    gappy = [j for j in members if j in study.frame.holes]
    if not gappy or target in study.frame.holes or study.reading.missing != "testwise":
        return
    telling = SeenModel(study.frame.select([target, *gappy])).telling
    names = tuple(study.names[j] for k, j in enumerate(gappy, start=1) if telling.get(k))
    if names:
        yield Finding(
            kind="missing by target",
            columns=names,
            what=f"Whether {joined(names)} {'is' if len(names) == 1 else 'are'} missing depends on the target.",
            next_step=f"Ask why. If complete columns explain the gaps, {option(missing='weighted')} corrects for "
            f"them; {entry('audit')} "
            "names these columns.",
            weight="know",
        )


def _copies(study: Study, members: Iterable[int]) -> Iterator[Finding]:
    """Yield columns that repeat a member and were left out at reading."""
    for name in (study.names[j] for j in members):
        if same := study.report.duplicates.get(name, ()):
            yield Finding(
                kind="duplicate",
                columns=(name, *same),
                what=f"{joined(same)} {'repeats' if len(same) == 1 else 'repeat'} the member {shown(name)}.",
                next_step="Nothing to do: the member stands for both. Ask which was measured first.",
            )
