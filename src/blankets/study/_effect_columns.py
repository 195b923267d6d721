"""The target and the members of a blanket as columns of a regression."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blankets.counting import is_heavy, standardized
from blankets.data import NumericTable, several_numbers
from blankets.errors import DataError
from blankets.results import Measure, digits, joined, shown
from blankets.study._study import Study

MOST_ROWS = 50_000
MOST_COEFFICIENTS = 200
ROWS_A_COEFFICIENT = 5  # rows of the rarer class for each coefficient (Vittinghoff and McCulloch 2007)
FEWEST, MOST_LEVELS = 5, 20  # levels with fewer rows, and beyond the most frequent ones, are joined
_OF_LABELS = "These are odds ratios of the labels: wrong ones bring them nearer to 1 than those of the class are."

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """The target on the rows that are used."""

    rows: Ints  # (n,): rows of the table
    values: NDArray[Any]  # (n,): a number, or the class; class 0 is the one that others are compared with
    measure: Measure
    classes: tuple[str, ...] = ()
    risks: bool = False  # whether the classes are "labeled" and "not", with a share of the positives labeled
    counts: Floats | None = None  # (n, classes): of rows with the same members as this one; None: it stands for itself
    scores: Floats | None = None  # (n,): how many positives a labeled row stands for, by its propensity; 0 for others
    notes: tuple[str, ...] = ()

    @property
    def n_equations(self) -> int:
        return max(len(self.classes) - 1, 1)

    def room(self, kept: Mask) -> int:
        """Return how many coefficients an equation may have, with these rows."""
        here = self.values[kept]
        rarer = len(here) - int(np.bincount(here).max(initial=0)) if self.classes else len(here)
        return min(rarer // ROWS_A_COEFFICIENT, MOST_COEFFICIENTS) // self.n_equations

    def take(self, at: NDArray[Any] | slice) -> Outcome:
        counts, scores = (None if part is None else part[at] for part in (self.counts, self.scores))
        return replace(self, rows=self.rows[at], values=self.values[at], counts=counts, scores=scores)

    def of_two(self, k: int) -> Mask | slice:
        """Return the rows of class 0 and class ``k``."""
        if self.counts is not None:
            return np.asarray(self.counts[:, 0] + self.counts[:, k] > 0)
        return np.isin(self.values, (0, k)) if self.n_equations > 1 else slice(None)


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """A member on the rows that are used."""

    name: str
    values: NDArray[Any]  # (n,): a number in units of what is compared, or a level; 0 is the one compared with
    known: Mask  # (n,): which rows have a value
    compared: tuple[str, ...]  # what each column of the design compares
    raw: Floats | None = None  # (n,): a number in its own units; None for a category
    levels: tuple[str, ...] = ()  # of a category
    # within (n, parts): in which part of the rows each is, if effects are told part by part
    within: Floats | None = None
    # beside (n, columns of the design and functions of the target): what else is held fixed predicts of them;
    # taken (n,): the share of each row that it takes
    beside: Floats | None = None
    taken: Floats | None = None

    @property
    def is_number(self) -> bool:
        return self.raw is not None

    def take(self, at: NDArray[Any] | slice) -> Member:
        parts = (self.raw, self.within, self.beside, self.taken)
        raw, within, beside, taken = (None if part is None else part[at] for part in parts)
        some = replace(self, values=self.values[at], known=self.known[at], raw=raw)
        return replace(some, within=within, beside=beside, taken=taken)

    def parts(self) -> tuple[list[str], Floats]:
        """Return what the rows are split into by this member, in words and as indicators, shape (rows, parts)."""
        if self.raw is None:
            words, codes = [f"{self.name} = {level}" for level in self.levels], self.values
        else:
            middle = float(np.median(self.raw))
            if not (self.raw > middle).any():  # the largest value is the most frequent one
                middle = float(self.raw[self.raw < middle].max(initial=-np.inf))
            words = [f"{self.name} {end} {digits(middle, 4)}" for end in ("up to", "above")]
            codes = (self.raw > middle).astype(np.int64)
        indicators = np.equal.outer(codes, np.arange(len(words))).astype(np.float64)
        there = indicators.any(axis=0)
        return [word for word, any_row in zip(words, there, strict=True) if any_row], indicators[:, there]

    def by(self, other: Member) -> Member:
        """Return the member with effects told part by part of another one."""
        words, within = other.parts()
        compared = tuple(f"{what} where {word}" for word in words for what in self.compared)
        return replace(self, compared=compared, within=within)

    def in_thirds(self) -> Member:
        """Return a number as a category of three levels, the middle one the one that others are compared with."""
        if self.raw is None:
            return self
        low, high = np.quantile(self.raw, [1 / 3, 2 / 3])
        words = digits(float(low), 4), digits(float(high), 4)
        middle = words[0] if words[0] == words[1] else " to ".join(words)
        compared = tuple(f"{end} vs {middle}" for end in (f"below {words[0]}", f"above {words[1]}"))
        codes = np.where(self.raw < low, 1, np.where(self.raw > high, 2, 0))
        return Member(self.name, codes, self.known, compared)

    def design(self) -> Floats:
        """Return the columns of the regression, shape (rows, comparisons)."""
        n = len(self.compared) // (1 if self.within is None else self.within.shape[1])
        made = np.asarray(np.equal.outer(self.values, np.arange(1, n + 1)), np.float64)
        if self.is_number:
            made = np.asarray(self.values[:, np.newaxis] - self.values.mean(), np.float64)
        if self.within is None:
            return made
        return np.hstack([made * part[:, np.newaxis] for part in self.within.T])

    @property
    def alone(self) -> bool:
        """Whether its effect needs a regression of its own."""
        return self.within is not None or self.beside is not None


def outcome_of(study: Study, target: int) -> Outcome:
    if isinstance(study.table, NumericTable):
        return _number(study.table.values[:, target])
    frame = study.frame
    if target in frame.numbers:
        return _number(frame.numbers[target].values)
    if target == study.column and len(study.labels.codes):
        codes, classes = study.labels.codes.astype(np.int64), study.labels.classes
        if study.regime.name == "pu":
            scores = None if study.labels.scores is None else study.labels.scores.values[1]
            return _labeled(codes, classes, scores, apart=study.regime.sampling == "case-control")
    else:
        codes, classes = frame.column(target).astype(np.int64), frame.levels[target]
        codes[codes == len(classes)] = -1
    found = _classes(codes, [_word(one) for one in classes])
    if study.regime.name == "noisy" and target == study.column:
        return replace(found, notes=(_OF_LABELS, *found.notes))
    return found


def _number(values: Floats) -> Outcome:
    rows, notes = _drawn(np.flatnonzero(np.isfinite(values)), MOST_ROWS)
    return Outcome(rows, values[rows], "difference", notes=notes)


def _labeled(codes: Ints, classes: tuple[object, ...], scores: Floats | None, *, apart: bool) -> Outcome:
    """Return "labeled or not": its risk ratios are those of the positives, whatever share of them is labeled."""
    rows, notes = _drawn(np.arange(len(codes)), MOST_ROWS)
    why = "These are risk ratios because only positives are labeled: they do not depend on how many of them are."
    if scores is not None:
        why = "These are risk ratios: each labeled row counts as one divided by its propensity."
        scores = scores[rows]
    made = Outcome(rows, (codes[rows] >= 0).astype(np.int64), "risk ratio", ("", _word(classes[-1])), scores=scores)
    return replace(made, risks=not apart, notes=(why, *notes))


def _classes(codes: Ints, classes: list[str]) -> Outcome:
    """Return the classes with enough rows; many rows are drawn class by class, which leaves odds ratios as they are."""
    counts = np.bincount(codes[codes >= 0], minlength=len(classes))
    there = [k for k in range(len(classes)) if counts[k] >= (FEWEST if len(classes) > 2 else 1)]
    if len(there) > 2:
        there.sort(key=lambda k: -counts[k])  # the most frequent class is the one that others are compared with
    most = MOST_ROWS // max(len(there), 1)
    parts = [_drawn(np.flatnonzero(codes == k), most) for k in there]
    rare = [classes[k] for k in range(len(classes)) if 0 < counts[k] and k not in there]
    notes = [f"Too few rows for effects on {joined(rare)}."] if rare else []
    notes += list(dict.fromkeys(note for _, some in parts for note in some))[:1]
    rows = np.concatenate([np.zeros(0, np.int64), *(part for part, _ in parts)])
    values = np.repeat(np.arange(len(there)), [len(part) for part, _ in parts])
    return Outcome(rows, values, "odds ratio", tuple(classes[k] for k in there), notes=tuple(notes))


def drawn_rows(rows: Ints, most: int = MOST_ROWS) -> Ints:
    """Return so many of the rows at most, drawn at random; always the same ones."""
    return rows if len(rows) <= most else np.sort(np.random.default_rng(0).choice(rows, most, replace=False))


def _drawn(rows: Ints, most: int) -> tuple[Ints, tuple[str, ...]]:
    """Return so many rows at most, and a note if not all are there."""
    notes = ("Effects are from rows drawn at random.",) if len(rows) > most else ()
    return drawn_rows(rows, most), notes


def member_of(study: Study, j: int, rows: Ints) -> Member:
    name = study.names[j]
    if isinstance(study.table, NumericTable):
        return _of_number(name, study.table.values[rows, j])
    frame = study.frame
    if j in frame.numbers:
        return _of_number(name, frame.numbers[j].values[rows])
    if j in frame.ordered and several_numbers(frame.levels[j]):
        codes, values = frame.column(j)[rows], np.array([*frame.levels[j], np.nan], np.float64)
        return _of_number(name, values[codes])
    graded = j in frame.ordered or name in study.report.binned
    words = [_word(level) for level in frame.levels[j]]
    return _of_levels(name, frame.column(j)[rows].astype(np.int64), words, graded=graded)


def _of_number(name: str, values: Floats) -> Member:
    """Return a number in standard deviations, or as its logarithm if that is much less skewed."""
    known = np.isfinite(values)
    seen = values[known]
    z = standardized(seen)
    made = np.zeros(len(values))
    if len(seen) and seen.min() > 0 and is_heavy(z) and not is_heavy(standardized(np.log2(seen))):
        made[known] = np.log2(seen)
        return Member(name, made, known, ("per doubling",), values)
    made[known] = z
    largest = float(np.abs(seen).max(initial=0.0)) or 1.0  # squares of very large numbers are infinite
    spread = float(np.std(seen / largest)) * largest if len(seen) else 0.0
    return Member(name, made, known, (f"per {digits(spread)} (1 SD)",), values)


def _of_levels(name: str, codes: Ints, words: list[str], *, graded: bool) -> Member:
    """Return the levels with enough rows, and all others as one; the first is the one that others are compared with.

    That is the first level of two and of an order, and otherwise the most frequent one.
    """
    known = codes < len(words)
    counts = np.bincount(codes[known], minlength=len(words))
    frequent = [int(k) for k in np.argsort(-counts, kind="stable")[:MOST_LEVELS] if counts[k] >= FEWEST]
    first = min(frequent, default=0) if graded or len(frequent) == 2 else next(iter(frequent), 0)
    apart = [first, *(k for k in sorted(frequent) if k != first)]
    rest = [k for k in range(len(words)) if counts[k] and k not in apart]
    new = np.zeros(len(words) + 1, np.int64)
    new[apart] = np.arange(len(apart))
    new[rest] = len(apart)
    other = [words[rest[0]] if len(rest) == 1 else "other levels"] if rest else []
    compared = tuple(f"{level} vs {words[first]}" for level in [*(words[k] for k in apart[1:]), *other])
    levels = tuple(words[k] for k in apart)
    return Member(name, new[codes], known, compared, levels=(*levels, *other))


def _word(level: object) -> str:
    value = level.item() if isinstance(level, np.generic) else level
    return shown(f"{value:.6g}" if isinstance(value, float) else str(value), 20)


def held_in(outcome: Outcome, columns: list[Member]) -> tuple[list[Member], Mask]:
    """Return the members that the regression has room for, the strongest first, and the rows that have all of them."""
    held: list[Member] = []
    kept, taken = np.ones(len(outcome.rows), bool), 0
    for column in columns:
        rows = kept & column.known
        if column.compared and taken + len(column.compared) <= outcome.room(rows):
            held.append(column)
            kept, taken = rows, taken + len(column.compared)
    return held, kept


def design_of(study: Study, name: str) -> tuple[Floats, Mask]:
    """Return a column as columns of a regression, and which rows have a value."""
    member = member_of(study, study.index(name), np.arange(study.n_rows))
    return np.where(member.known[:, np.newaxis], member.design(), 0.0), member.known


def values_of(study: Study, name: str) -> tuple[Floats, Mask, tuple[str, ...]]:
    """Return a number or two classes as 0 and 1, which rows have a value, and the classes."""
    j, frame = study.index(name), study.frame
    if j in frame.numbers:
        values = frame.numbers[j].values
        return np.where(np.isfinite(values), values, 0.0), np.isfinite(values), ()
    levels = frame.levels[j]
    if len(levels) != 2:
        raise DataError(
            f"{name!r} has {len(levels)} classes; an effect is that of a number or of one class against another"
        )
    codes = frame.column(j).astype(np.int64)
    return (codes == 1).astype(np.float64), codes < 2, (_word(levels[0]), _word(levels[1]))
