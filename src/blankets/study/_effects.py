"""Effects of members in the data's own terms: one regression of the target on all of them (methods, section 17)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blankets.counting import is_heavy, standardized
from blankets.data import Frame, NumericTable, several_numbers
from blankets.results import Contrast, Effects, Measure, count_of, digits, joined, shown
from blankets.stats import (
    Regression,
    number_regression,
    odds_regression,
    pooled_regressions,
    risk_regression,
    told_by_others,
)
from blankets.study._study import Study

MOST_ROWS = 50_000
MOST_WORK = 100_000_000  # rows x coefficients²: about 0.02 s for each step of Newton
MOST_COEFFICIENTS = 200
ROWS_A_COEFFICIENT = 5  # rows of the rarer class for each coefficient (Vittinghoff and McCulloch 2007)
FEWEST, MOST_LEVELS = 5, 20  # levels with fewer rows, and beyond the most frequent ones, are joined

_OF_LABELS = "These are odds ratios of the labels: wrong ones bring them nearer to 1 than those of the class are."

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class _Outcome:
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

    def take(self, at: NDArray[Any] | slice) -> _Outcome:
        counts, scores = (None if part is None else part[at] for part in (self.counts, self.scores))
        return replace(self, rows=self.rows[at], values=self.values[at], counts=counts, scores=scores)

    def of_two(self, k: int) -> Mask | slice:
        """Return the rows of class 0 and class ``k``."""
        if self.counts is not None:
            return np.asarray(self.counts[:, 0] + self.counts[:, k] > 0)
        return np.isin(self.values, (0, k)) if self.n_equations > 1 else slice(None)


@dataclass(frozen=True, slots=True, eq=False)
class _Member:
    """A member on the rows that are used."""

    name: str
    values: NDArray[Any]  # (n,): a number in units of what is compared, or a level; 0 is the one compared with
    known: Mask  # (n,): which rows have a value
    compared: tuple[str, ...]  # what each column of the design compares
    raw: Floats | None = None  # (n,): a number in its own units; None for a category

    @property
    def is_number(self) -> bool:
        return self.raw is not None

    def take(self, at: NDArray[Any] | slice) -> _Member:
        raw = None if self.raw is None else self.raw[at]
        return replace(self, values=self.values[at], known=self.known[at], raw=raw)

    def in_thirds(self) -> _Member:
        """Return a number as a category of three levels, the middle one the one that others are compared with."""
        if self.raw is None:
            return self
        low, high = np.quantile(self.raw, [1 / 3, 2 / 3])
        words = digits(float(low), 4), digits(float(high), 4)
        middle = words[0] if words[0] == words[1] else " to ".join(words)
        compared = tuple(f"{end} vs {middle}" for end in (f"below {words[0]}", f"above {words[1]}"))
        codes = np.where(self.raw < low, 1, np.where(self.raw > high, 2, 0))
        return _Member(self.name, codes, self.known, compared)

    def design(self) -> Floats:
        """Return the columns of the regression, shape (rows, comparisons)."""
        if self.is_number:
            return np.asarray(self.values[:, np.newaxis] - self.values.mean(), np.float64)
        return np.asarray(np.equal.outer(self.values, np.arange(1, len(self.compared) + 1)), np.float64)


def member_effects(study: Study, target: int, members: Sequence[int], always: Sequence[int] = ()) -> Effects | None:
    """Return the effects of all members, from one regression; None where rows cannot be looked at.

    ``study``: the table. ``target``, ``members``: columns, members the strongest first. ``always``: columns that every
    test was given; they are in the regression too.
    """
    if not isinstance(study.table, Frame | NumericTable) or not members:
        return None
    outcome = _outcome(study, target)
    columns = [_member(study, j, outcome.rows) for j in (*always, *members)]
    held, kept = _held(outcome, columns)
    notes = [*outcome.notes, *_gaps_said(outcome, kept)]
    found: dict[str, tuple[Contrast, ...]] = dict.fromkeys((column.name for column in columns), ())
    if held:
        coefficients = 1 + sum(len(one.compared) for one in held)
        at = drawn_rows(np.flatnonzero(kept), max(MOST_WORK // coefficients**2, 5_000))
        outcome, held = outcome.take(at), [one.take(at) for one in held]
        found |= _contrasts(study, outcome, held)
    beside = [study.names[j] for j in always]
    also = [name for name in beside if found.pop(name)]
    if without := [name for name in beside if name not in also]:
        notes.append(f"These effects are not given {joined(without)}, for which the regression has no room.")
    notes += _left_out_said(found, [one.name for one in held if one.name not in beside])
    return Effects(
        measure=outcome.measure,
        target=study.names[target],
        outcome=outcome.classes[1] if len(outcome.classes) == 2 else "",
        contrasts=found,
        n_rows=len(outcome.rows) // study.copies if held else 0,
        also_given=tuple(also),
        notes=tuple(notes),
    )


# --- the target -------------------------------------------------------------------------------------------------------


def _outcome(study: Study, target: int) -> _Outcome:
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


def _number(values: Floats) -> _Outcome:
    rows, notes = _drawn(np.flatnonzero(np.isfinite(values)), MOST_ROWS)
    return _Outcome(rows, values[rows], "difference", notes=notes)


def _labeled(codes: Ints, classes: tuple[object, ...], scores: Floats | None, *, apart: bool) -> _Outcome:
    """Return "labeled or not": its risk ratios are those of the positives, whatever share of them is labeled."""
    rows, notes = _drawn(np.arange(len(codes)), MOST_ROWS)
    why = "These are risk ratios because only positives are labeled: they do not depend on how many of them are."
    if scores is not None:
        why = "These are risk ratios: each labeled row counts as one divided by its propensity."
        scores = scores[rows]
    made = _Outcome(rows, (codes[rows] >= 0).astype(np.int64), "risk ratio", ("", _word(classes[-1])), scores=scores)
    return replace(made, risks=not apart, notes=(why, *notes))


def _classes(codes: Ints, classes: list[str]) -> _Outcome:
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
    return _Outcome(rows, values, "odds ratio", tuple(classes[k] for k in there), notes=tuple(notes))


def drawn_rows(rows: Ints, most: int = MOST_ROWS) -> Ints:
    """Return so many of the rows at most, drawn at random; always the same ones."""
    return rows if len(rows) <= most else np.sort(np.random.default_rng(0).choice(rows, most, replace=False))


def _drawn(rows: Ints, most: int) -> tuple[Ints, tuple[str, ...]]:
    """Return so many rows at most, and a note if not all are there."""
    notes = ("Effects are from rows drawn at random.",) if len(rows) > most else ()
    return drawn_rows(rows, most), notes


# --- members ----------------------------------------------------------------------------------------------------------


def _member(study: Study, j: int, rows: Ints) -> _Member:
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


def _of_number(name: str, values: Floats) -> _Member:
    """Return a number in standard deviations, or as its logarithm if that is much less skewed."""
    known = np.isfinite(values)
    seen = values[known]
    z = standardized(seen)
    made = np.zeros(len(values))
    if len(seen) and seen.min() > 0 and is_heavy(z) and not is_heavy(standardized(np.log2(seen))):
        made[known] = np.log2(seen)
        return _Member(name, made, known, ("per doubling",), values)
    made[known] = z
    largest = float(np.abs(seen).max(initial=0.0)) or 1.0  # squares of very large numbers are infinite
    spread = float(np.std(seen / largest)) * largest if len(seen) else 0.0
    return _Member(name, made, known, (f"per {digits(spread)} (1 SD)",), values)


def _of_levels(name: str, codes: Ints, words: list[str], *, graded: bool) -> _Member:
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
    return _Member(name, new[codes], known, compared)


def _word(level: object) -> str:
    value = level.item() if isinstance(level, np.generic) else level
    return shown(f"{value:.6g}" if isinstance(value, float) else str(value), 20)


def _held(outcome: _Outcome, columns: list[_Member]) -> tuple[list[_Member], Mask]:
    """Return the members that the regression has room for, the strongest first, and the rows that have all of them."""
    held: list[_Member] = []
    kept, taken = np.ones(len(outcome.rows), bool), 0
    for column in columns:
        rows = kept & column.known
        if column.compared and taken + len(column.compared) <= outcome.room(rows):
            held.append(column)
            kept, taken = rows, taken + len(column.compared)
    return held, kept


# --- the regression ---------------------------------------------------------------------------------------------------


def _contrasts(study: Study, outcome: _Outcome, held: list[_Member]) -> dict[str, tuple[Contrast, ...]]:
    """Return the comparisons of all members; each class is compared with the first on the rows of the two."""
    made: dict[str, list[Contrast]] = {one.name: [] for one in held}
    plain = study.copies == 1 and study.groups is None and study.weights_of(made) is None
    if plain and outcome.classes and not outcome.risks and not any(one.is_number for one in held):
        first, counts = _patterns([one.values for one in held], outcome.values, len(outcome.classes))
        outcome, held = replace(outcome.take(first), counts=counts), [one.take(first) for one in held]
    for k in range(1, len(outcome.classes)) if outcome.classes else (0,):
        at = outcome.of_two(k)
        words = f"{outcome.classes[k]} vs {outcome.classes[0]}" if outcome.n_equations > 1 else ""
        two = outcome.take(at)
        columns = [one.take(at) for one in held]
        some = _compared(study, two, k, columns, words)
        flat = {one.name for one in columns if one.is_number and not any(c.tells(two.measure) for c in some[one.name])}
        if flat:  # perhaps a bend: high and low values against those between
            again = [one.in_thirds() if one.name in flat else one for one in columns]
            thirds = _compared(study, two, k, again, words)
            some |= {name: [*some[name], *thirds[name]] for name in flat}
        for name, contrasts in some.items():
            made[name] += contrasts
    return {name: tuple(sorted(some, key=lambda one: -_surest(one, outcome))) for name, some in made.items()}


def _compared(study: Study, two: _Outcome, k: int, held: list[_Member], words: str) -> dict[str, list[Contrast]]:
    """Return the comparisons of all members in one regression."""
    fitted, names = _fitted(study, two, k, held)
    made: dict[str, list[Contrast]] = {one.name: [] for one in held}
    for j, (name, compared) in enumerate(names, start=1):
        made[name].append(_read_off(fitted, j, compared, words, two.measure))
    return made


def _fitted(study: Study, outcome: _Outcome, k: int, held: list[_Member]) -> tuple[Regression, list[tuple[str, str]]]:
    """Return the regression of class ``k`` (or of a number) on the members, and what each coefficient compares.

    From completed tables it is pooled; a comparison that some of them cannot make is left out.
    """
    if study.copies == 1:
        return _fitted_once(study, outcome, k, held)
    fits, told = [], []
    for number in range(study.copies):
        at = outcome.rows // study.n_rows == number
        fit, names = _fitted_once(study, outcome.take(at), k, [one.take(at) for one in held])
        fits.append(fit)
        told.append({name: j for j, name in enumerate(names, start=1)})
    common = [name for name in told[0] if all(name in one for one in told)]
    places = [[0, *(one[name] for name in common)] for one in told]
    return pooled_regressions([fit.take(at) for fit, at in zip(fits, places, strict=True)]), common


def _fitted_once(
    study: Study, outcome: _Outcome, k: int, held: list[_Member]
) -> tuple[Regression, list[tuple[str, str]]]:
    """Return the same for one table."""
    groups = None if study.groups is None else study.groups[outcome.rows]
    weights = study.weights_of(one.name for one in held)
    weights = None if weights is None else weights[outcome.rows]
    robust = weights is not None or groups is not None
    y = outcome.values == k if outcome.classes else outcome.values
    if outcome.scores is not None:
        y = outcome.scores
    if outcome.counts is not None:
        weights = outcome.counts[:, 0] + outcome.counts[:, k]
        y = outcome.counts[:, k] / weights
    design = np.hstack([one.design() for one in held])
    free = ~told_by_others(design, weights)
    how: dict[str, Any] = {"weights": weights, "groups": groups}
    if outcome.risks:
        fitted = risk_regression(design[:, free], y, **how)
    elif outcome.classes:
        fitted = odds_regression(design[:, free], y, **how, robust=robust)
    else:
        fitted = number_regression(design[:, free], y, **how)
    names = [(one.name, compared) for one in held for compared in one.compared]
    return fitted, [names[j] for j in np.flatnonzero(free).tolist()]


def _patterns(columns: list[Ints], classes: Ints, n: int) -> tuple[Ints, Floats]:
    """Return one row of each combination of values, and how many rows of each of ``n`` classes have it."""
    key, codes = np.zeros(len(columns[0]), np.int64), 1
    for column in columns:
        arity = int(column.max(initial=0)) + 1
        if codes * arity > len(key):  # many combinations: number those that are there
            key = np.unique(key, return_inverse=True)[1].ravel()
            codes = int(key.max(initial=0)) + 1
        key, codes = key * arity + column, codes * arity
    row = np.zeros(codes, np.int64)
    row[key] = np.arange(len(key))
    counts = np.bincount(key * n + classes, minlength=codes * n).reshape(codes, n)
    there = counts.any(axis=1)
    return row[there], counts[there].astype(float)


def _read_off(fitted: Regression, j: int, compared: str, words: str, measure: Measure) -> Contrast:
    """Return one coefficient as a comparison."""
    values = [float(part[j]) for part in (fitted.coefficients, fitted.low, fitted.high)]
    if measure != "difference":
        values = [float(np.exp(min(value, 700.0))) if np.isfinite(value) else value for value in values]
    estimate, low, high = values
    limited = np.isfinite(low) and np.isfinite(high)
    return Contrast(
        compared=compared,
        outcome=words,
        estimate=estimate if limited else float("nan"),
        low=low if np.isfinite(low) else None,
        high=high if np.isfinite(high) else None,
    )


def _surest(one: Contrast, outcome: _Outcome) -> float:
    """Return the size that an effect has at least, by its interval; negative where it may be none."""
    low, high = -np.inf if one.low is None else one.low, np.inf if one.high is None else one.high
    if outcome.measure != "difference":
        low, high = (float(np.log(end)) if end > 0 else -np.inf for end in (low, high))
    return max(low, -high)


def _gaps_said(outcome: _Outcome, kept: Mask) -> list[str]:
    used = int(np.count_nonzero(kept))
    if used == len(kept):
        return []
    return [f"Effects are from the {count_of(used, 'row')} of {len(kept):,} that have all of these values."]


def _left_out_said(found: dict[str, tuple[Contrast, ...]], held: list[str]) -> list[str]:
    """Say which members have no effect in numbers, and why."""
    beyond = [name for name in found if name not in held]
    told = [name for name in held if not found[name]]
    said = []
    if beyond and held:
        said.append(
            f"No effect in numbers for {joined(beyond)}: with so few rows a regression has no room for more members. "
            f"The other effects are given {joined(held)} only."
        )
    elif beyond:
        said.append("Rows are too few for effects in numbers.")
    if told:
        said.append(f"No effect in numbers for {joined(told)}: other members tell its values exactly.")
    return said
