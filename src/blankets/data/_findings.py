"""Collect problems of a table: all errors in one exception, one warning for each kind of problem."""

from __future__ import annotations

from collections.abc import Collection, Set
from dataclasses import dataclass, field
from typing import Any

from blankets.data._coding import Coding, LeftOut
from blankets.data._columns import PLAIN, Origin
from blankets.data._data_report import Binning, DataReport
from blankets.data._notes import notes_on, unused_notes
from blankets.data._summary import MANY_LEVELS, Summary
from blankets.data._texts import DOUBTFUL
from blankets.errors import (
    ConstantColumnWarning,
    DataError,
    DuplicateColumnWarning,
    IdLikeColumnWarning,
    ManyLevelsWarning,
    MissingValuesError,
    ReadingWarning,
    TargetError,
    TooFewRowsWarning,
    listed,
    warn,
)
from blankets.voice import option

LISTED = ("constant", "without_cut", "id_like", "copies_of_target", "numbers", "ordered")
COUNTED = ("many_levels", "binned", "missing", "unused_levels", "unusable", "repeated_ids")


@dataclass(slots=True)
class Findings:
    """Collects findings column by column; those for the user go to `DataReport`."""

    target: list[str] = field(default_factory=list)  # sentences on what is wrong with the target
    refused: dict[str, list[str]] = field(default_factory=dict)  # columns that cannot be read, by the reason
    # infinite, missing: columns with such values and how many
    infinite: dict[str, int] = field(default_factory=dict)
    missing: dict[str, int] = field(default_factory=dict)
    continuous: list[str] = field(default_factory=list)  # continuous columns while binning was switched off
    constant: list[str] = field(default_factory=list)
    without_cut: list[str] = field(default_factory=list)
    id_like: list[str] = field(default_factory=list)
    repeated_ids: dict[str, int] = field(default_factory=dict)
    duplicates: dict[str, list[str]] = field(default_factory=dict)
    copies_of_target: list[str] = field(default_factory=list)
    many_levels: dict[str, int] = field(default_factory=dict)
    binned: dict[str, Binning] = field(default_factory=dict)
    numbers: list[str] = field(default_factory=list)
    ordered: list[str] = field(default_factory=list)
    unused_levels: dict[str, tuple[object, ...]] = field(default_factory=dict)
    many_classes: str = ""
    notes: list[str] = field(default_factory=list)  # how the table was read, in sentences
    unusable: dict[str, str] = field(default_factory=dict)  # columns left out because they cannot be used, and why
    doubtful: dict[str, list[str]] = field(default_factory=dict)  # levels that may mean "missing", and their columns
    origins: dict[str, Origin] = field(default_factory=dict)  # what columns were before they were understood

    def refuse(self, name: str, reason: object) -> None:
        """Note that a column cannot be used; columns with the same reason share a sentence."""
        self.refused.setdefault(str(reason), []).append(name)

    def decided(self, name: str, coding: Coding | LeftOut, summary: Summary) -> Coding | None:
        """Note the decision about a feature; return its coding, if it is used."""
        used = None if isinstance(coding, LeftOut) else coding
        if coding is LeftOut.INFINITE:
            self.infinite[name] = summary.n_infinite
        elif summary.n_missing and coding not in (LeftOut.CONSTANT, LeftOut.IDENTIFIER):
            self.missing[name] = summary.n_missing
        if used is not None or summary.origin.kind == "as text":  # numbers as text look like an identifier
            self._came_from(name, summary)
        if used is None:
            lists = {LeftOut.CONSTANT: self.constant, LeftOut.IDENTIFIER: self.id_like}
            lists |= {LeftOut.NO_CUT: self.without_cut, LeftOut.CONTINUOUS: self.continuous}
            if coding in lists:
                lists[coding].append(name)
            if coding is LeftOut.IDENTIFIER and summary.levels is not None and summary.seen < summary.n:
                self.repeated_ids[name] = summary.seen
        return used

    def use(self, name: str, coding: Coding) -> None:
        """Note how a column is coded."""
        if coding.binning is not None:
            self.binned[name] = coding.binning
        elif coding.kind in ("number", "ordered"):
            (self.numbers if coding.is_number else self.ordered).append(name)
        if coding.unused:
            self.unused_levels[name] = coding.unused
        if len(coding.levels) > MANY_LEVELS:
            self.many_levels[name] = len(coding.levels)

    def use_target(self, name: str, coding: Coding | LeftOut, summary: Summary) -> Coding | None:
        """Note and return the coding of the target; None if it cannot be coded."""
        if coding is LeftOut.NO_CUT:
            self.target.append(f"all values of the target {name!r} fall into one bin; choose other cut points")
        if isinstance(coding, LeftOut):
            self.continuous += [name] * (coding is LeftOut.CONTINUOUS)
            return None
        self.use(name, coding)
        self._came_from(name, summary)
        self.many_levels.pop(name, None)
        if coding.binning is None and not coding.is_number and summary.seen > MANY_LEVELS:
            self.many_classes = f"the target {name!r} has {summary.seen} classes; few tests will be reliable"
        return coding

    def _came_from(self, name: str, summary: Summary) -> None:
        if summary.origin is not PLAIN:
            self.origins[name] = summary.origin
        for level in () if summary.words_said else summary.levels or ():
            if isinstance(level, str) and level.lower() in DOUBTFUL:
                self.doubtful.setdefault(level, []).append(name)

    def leave_out(self, named: Collection[str]) -> None:
        """Leave out the columns that cannot be used, except those that the user named; say so in notes."""
        for reason in list(self.refused):
            gone = [name for name in self.refused[reason] if name not in named]
            self.refused[reason] = [name for name in self.refused[reason] if name in named]
            self._gone(gone, reason)
            if not self.refused[reason]:
                del self.refused[reason]
        endless = [name for name in self.infinite if name not in named]
        for name in endless:
            rows = self.infinite.pop(name)
            self._gone([name], f"holds infinite values in {rows:,} rows; replace them or mark them missing")

    def _gone(self, names: list[str], reason: str) -> None:
        if names:
            self.unusable.update(dict.fromkeys(names, reason))

    def check(self, *, missing: str, of_numbers: bool = False) -> None:
        """Raise one error with everything that makes the table unusable; a table of numbers may have no gaps."""
        problems: list[tuple[type[DataError], str]] = [(TargetError, sentence) for sentence in self.target]
        problems += [
            (DataError, f"{'each of the columns' if len(names) > 1 else 'column'} {listed(names)} {_excluding(reason)}")
            for reason, names in self.refused.items()
        ]
        if self.infinite:
            problems.append(
                (DataError, f"infinite values: {_counted(self.infinite)}; replace them or mark them missing")
            )
        if self.continuous:
            problems.append((DataError, _unbinned(self.continuous)))
        if self.missing and (missing == "error" or (of_numbers and missing != "drop")):
            problems.append((MissingValuesError, _gaps(self.missing, of_numbers=of_numbers)))
        if not problems:
            return
        kinds = {kind for kind, _ in problems}
        error = kinds.pop() if len(kinds) == 1 else DataError
        sentences = [sentence for _, sentence in problems]
        listing = "the table cannot be used as it is:\n" + "\n".join(f"- {sentence}" for sentence in sentences)
        raise error(sentences[0] if len(sentences) == 1 else listing)

    def warn(self) -> None:
        """Give one warning for each kind of problem that the user should know."""
        for sentence in self._how_read():
            warn(sentence, ReadingWarning)
        if self.constant:
            warn(f"left out, because they have a single value, or none: {listed(self.constant)}", ConstantColumnWarning)
        if self.without_cut:
            warn(f"left out, because binning finds no cut in them: {listed(self.without_cut)}", ConstantColumnWarning)
        if self.id_like:
            warn(
                f"left out, because almost every row has its own level (identifiers, free text): "
                f"{listed(self.id_like)}; {option(keep=...)} keeps them",
                IdLikeColumnWarning,
            )
        if self.duplicates:
            groups = [f"{listed(copies)} (same as {name!r})" for name, copies in self.duplicates.items()]
            rest = f" and copies of {len(groups) - 8} further columns" if len(groups) > 8 else ""
            warn(
                f"left out, because they repeat an earlier column: {', '.join(groups[:8])}{rest}; "
                f"in the blanket each stands for its copies",
                DuplicateColumnWarning,
            )
        if self.copies_of_target:
            warn(
                f"equal to the target in all rows: {listed(self.copies_of_target)}; nothing else can matter beside "
                f"a copy of the target, so leave it out with {option(exclude=...)} unless that is what you want",
                DuplicateColumnWarning,
            )
        if self.many_levels:
            counts = _counted(self.many_levels, "levels")
            warn(f"so many levels that few tests will be reliable: {counts}; merge rare levels", ManyLevelsWarning)
        if self.many_classes:
            warn(self.many_classes, ManyLevelsWarning)

    def report(self, **size: Any) -> DataReport:
        """Return the data report: the findings for the user, and what else it needs."""
        found: dict[str, Any] = {name: getattr(self, name) for name in COUNTED}
        found |= {name: tuple(getattr(self, name)) for name in LISTED}
        found["notes"] = self._how_read()
        found["duplicates"] = {name: tuple(same) for name, same in self.duplicates.items()}
        return DataReport(**found, **size)

    def _how_read(self) -> tuple[str, ...]:
        return (*self.notes, *unused_notes(self.unusable), *notes_on(self.origins, self.doubtful))


class Repeats:
    """Finds features that repeat an earlier one, or the target, by hashes of their codes.

    ``findings``: where these are noted. ``keep``: features that stay although they repeat another. ``target``: the
    hash of the target, if no label is missing.
    """

    def __init__(self, findings: Findings, keep: Set[str], target: bytes | None) -> None:
        self.findings, self.keep, self.target = findings, keep, target
        self._seen: dict[bytes, str] = {}

    def new(self, name: str, made: bytes) -> bool:
        """Tell whether to use a feature with this hash, and note what it repeats."""
        earlier = self._seen.setdefault(made, name)
        if earlier != name and name not in self.keep:
            self.findings.duplicates.setdefault(earlier, []).append(name)
            return False
        if made == self.target:
            self.findings.copies_of_target.append(name)
        return True


def _excluding(reason: str) -> str:
    """Say how to leave out a column, if that is a solution."""
    return f"{reason} with {option(exclude=...)}" if reason.endswith(" out") else reason


def _counted(counts: dict[str, int], what: str = "", most: int = 8) -> str:
    """Return ``'a' (3), 'b' (1)``, with at most ``most`` columns."""
    unit = f" {what}" if what else ""
    shown = ", ".join(f"{name!r} ({n}{unit})" for name, n in list(counts.items())[:most])
    return shown if len(counts) <= most else f"{shown} and {len(counts) - most} more"


def _gaps(missing: dict[str, int], *, of_numbers: bool) -> str:
    """Say where values are missing and what the user may choose."""
    where = f"values are missing in {_counted(missing, 'rows')}; "
    if of_numbers:
        return (
            f"{where}{option(test='fisher-z')} needs every number: choose {option(missing='drop')} (such rows are "
            f"deleted), a test of "
            f"count tables, which can use the rows that each test needs, or leave the columns out with "
            f"{option(exclude=...)}"
        )
    return (
        f"{where}choose {option(missing='testwise')} (each test uses the rows that have what it needs), "
        f"{option(missing='drop')} (such "
        f"rows are deleted) or, where being missing is itself a state, {option(missing='level')}, or leave the "
        f"columns out with "
        f"{option(exclude=...)}"
    )


def warn_of_dropping(n_left: int, n_given: int) -> None:
    """Warn if deleting rows with gaps has cost more than half of them."""
    if 2 * n_left < n_given:
        warn(
            f"{option(missing='drop')} has deleted {n_given - n_left:,} of {n_given:,} rows, and what is left may "
            f"not be like "
            f"the rest; {option(missing='testwise')} uses in each test all rows that have what it needs",
            TooFewRowsWarning,
        )


def _unbinned(names: list[str]) -> str:
    """Say which columns are continuous although binning is off."""
    return (
        f"these hold numbers, and {option(discretize='none')} forbids binning: {listed(names)}; choose 'sturges', "
        f"'equal-width', "
        f"'equal-frequency' or 'supervised', or use a test for continuous data"
    )
