"""Effects of members in the data's own terms: regressions of the target on all of them (methods, section 17).

Where no number or order is involved, one regression has all effects. Otherwise each member is asked what its effect
must be given beside the columns of the others: curves, products, cells, chosen as the test of numbers does
(`held_beside`). If that is nothing, the one regression has its effect too; if not, it has a regression of its own.
If an effect is not the same in all parts of the rows, by another member, it is told part by part.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from blankets.counting import on_one_core
from blankets.data import Frame, NumericTable
from blankets.results import CHOSEN, Contrast, Effects, Measure, count_of, joined
from blankets.stats import (
    Regression,
    cut_of_one,
    number_regression,
    odds_regression,
    pooled_regressions,
    risk_regression,
    selected_effect,
    told_by_others,
)
from blankets.study._beside import Beside
from blankets.study._effect_columns import Member, Outcome, drawn_rows, held_in, member_of, outcome_of
from blankets.study._study import Study

MOST_WORK = 100_000_000  # rows x coefficients²: about 0.02 s for each step of Newton
PARTS_DIFFER = 0.01  # p-value, times the number of comparisons, from which on effects are told part by part
MOST_PARTS = 5  # levels of another member by which they are


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

_NORMAL_95 = 1.959963984540054  # the half width of a 95% interval, in standard errors


class Chosen(NamedTuple):
    """How a member was chosen: the level at which it could enter, and its p-value given the others, as logarithms."""

    log_level: float
    log_p: float


@on_one_core()
def member_effects(
    study: Study,
    target: int,
    members: Sequence[int],
    always: Sequence[int] = (),
    chosen: Mapping[int, Chosen] | None = None,
) -> Effects | None:
    """Return the effects of all members, from one regression; None where rows cannot be looked at.

    ``study``: the table. ``target``, ``members``: columns, members the strongest first. ``always``: columns that every
    test was given; they are in the regression too. ``chosen``: of the members that were chosen on these rows.
    """
    if not isinstance(study.table, Frame | NumericTable) or not members:
        return None
    outcome = outcome_of(study, target)
    columns = [member_of(study, j, outcome.rows) for j in (*always, *members)]
    held, kept = held_in(outcome, columns)
    notes = [*outcome.notes, *_gaps_said(kept)]
    found: dict[str, tuple[Contrast, ...]] = dict.fromkeys((column.name for column in columns), ())
    curved = False
    if held:
        coefficients = 1 + sum(len(one.compared) for one in held)
        at = drawn_rows(np.flatnonzero(kept), max(MOST_WORK // coefficients**2, 5_000))
        outcome, held = outcome.take(at), [one.take(at) for one in held]
        names = {study.names[j]: one for j, one in (chosen or {}).items()}
        compared, curved = _contrasts(study, outcome, held)
        found |= {name: tuple(_allowed(some, outcome, names.get(name))) for name, some in compared.items()}
    beside = [study.names[j] for j in always]
    also = [name for name in beside if found.pop(name)]
    if without := [name for name in beside if name not in also]:
        notes.append(f"These effects are not given {joined(without)}, for which the regression has no room.")
    notes += _left_out_said(found, [one.name for one in held if one.name not in beside])
    notes += [CHOSEN] * any(one.plain for some in found.values() for one in some)
    return Effects(
        measure=outcome.measure,
        target=study.names[target],
        outcome=outcome.classes[1] if len(outcome.classes) == 2 else "",
        contrasts=found,
        n_rows=len(outcome.rows) // study.copies if held else 0,
        also_given=tuple(also),
        curved=curved,
        notes=tuple(notes),
    )


def _contrasts(study: Study, outcome: Outcome, held: list[Member]) -> tuple[dict[str, tuple[Contrast, ...]], bool]:
    """Return the comparisons of all members, and whether some have a regression of their own.

    Each class is compared with the first on the rows of the two.
    """
    made: dict[str, list[Contrast]] = {one.name: [] for one in held}
    beside = Beside.of_study(study, outcome, held)
    plain = study.copies == 1 and study.groups is None and study.weights_of(made) is None
    if plain and beside is None and outcome.classes and not outcome.risks and not any(one.is_number for one in held):
        first, counts = _patterns([one.values for one in held], outcome.values, len(outcome.classes))
        outcome, held = replace(outcome.take(first), counts=counts), [one.take(first) for one in held]
    if beside is not None:
        held = [beside.of(one, held) for one in held]
    thirds: dict[str, Member] = {}
    for k in range(1, len(outcome.classes)) if outcome.classes else (0,):
        at = outcome.of_two(k)
        words = f"{outcome.classes[k]} vs {outcome.classes[0]}" if outcome.n_equations > 1 else ""
        two = outcome.take(at)
        columns = [one.take(at) for one in held]
        some = _compared(study, two, k, columns, words)
        flat = [one for one in held if one.is_number and not any(c.tells(two.measure) for c in some[one.name])]
        for one in flat:  # perhaps a bend: high and low values against those between
            if one.name not in thirds:
                bent = replace(one, beside=None, taken=None).in_thirds()
                thirds[one.name] = bent if beside is None else beside.of(bent, held)
        if flat:
            again = [thirds.get(one.name, one).take(at) for one in held]
            bends = _compared(study, two, k, again, words, only=[one.name for one in flat])
            some |= {name: [*some[name], *found] for name, found in bends.items()}
        for name, contrasts in some.items():
            made[name] += contrasts
    if beside is not None and outcome.n_equations == 1 and study.copies == 1:
        for name, contrasts in _part_by_part(study, outcome, held, beside).items():
            made[name] += contrasts
    told = {name: tuple(sorted(some, key=lambda one: -_surest(one, outcome))) for name, some in made.items()}
    return told, any(one.beside is not None for one in held)


def _part_by_part(study: Study, outcome: Outcome, held: list[Member], beside: Beside) -> dict[str, list[Contrast]]:
    """Return the effects of members within parts of the rows, where they are not the same in all, by another member."""
    made: dict[str, list[Contrast]] = {}
    k, linear = (1 if outcome.classes else 0), outcome
    if outcome.classes:
        linear = replace(outcome, values=(outcome.values == 1) * 1.0, classes=(), measure="difference", scores=None)
    for one in held:
        others, told = [other for other in held if other is not one], []
        for other in others:
            parted = replace(one.by(other), beside=None, taken=None)
            if parted.within is not None and 2 <= parted.within.shape[1] <= MOST_PARTS:
                n = len(parted.compared) - len(one.compared)
                level = PARTS_DIFFER / (len(held) * (len(held) - 1) * n)
                # First by least squares beside what the effect as a whole is given: it takes a hundredth of the time.
                p = _differs(study, replace(linear, risks=False), 0, [parted, *others], one.beside)
                told += [(p, level, parted)] if p <= level else []
        for _, level, parted in sorted(told, key=lambda each: each[0]):
            parted = beside.of(parted, others)
            if _differs(study, outcome, k, [parted, *others]) <= level:
                made |= _compared(study, outcome, k, [parted, *others], "", only=[one.name])
                break
    return made


def _differs(study: Study, outcome: Outcome, k: int, held: list[Member], also: Floats | None = None) -> float:
    """Return the smallest p-value of the differences between parts of the first member's effects."""
    n = len(held[0].compared) // (1 if held[0].within is None else held[0].within.shape[1])
    free, fit = _regressed(study, outcome, k, held, held[0], also, apart=n)
    n_free = int(np.count_nonzero(free[: len(held[0].compared) - n]))
    t = np.abs(fit.coefficients[1 : n_free + 1]) / np.maximum(fit.errors[1 : n_free + 1], 1e-300)
    return 2.0 * float(ndtr(-t.max(initial=0.0)))


def _compared(
    study: Study, two: Outcome, k: int, held: list[Member], words: str, only: Collection[str] | None = None
) -> dict[str, list[Contrast]]:
    """Return the comparisons of all members, or of ``only`` some, in one regression, or in one of their own."""
    asked = [one for one in held if only is None or one.name in only]
    made: dict[str, list[Contrast]] = {one.name: [] for one in asked}
    for one in [None, *(one for one in asked if one.alone)]:
        told = [one.name] if one else [each.name for each in asked if not each.alone]
        if not told:
            continue
        columns = [one, *(other for other in held if other is not one)] if one else held
        fitted, names = _fitted(study, two, k, columns, one)
        for j, (name, compared) in enumerate(names, start=1):
            if name in told:
                made[name].append(_read_off(fitted, j, compared, words, two.measure))
    return made


def _fitted(
    study: Study, outcome: Outcome, k: int, held: list[Member], one: Member | None
) -> tuple[Regression, list[tuple[str, str]]]:
    """Return the regression of class ``k`` (or of a number) on the members, and what each coefficient compares.

    ``one``: whose effect is asked, with what it is given beside. From completed tables it is pooled; a comparison that
    some of them cannot make is left out.
    """
    if study.copies == 1:
        return _fitted_once(study, outcome, k, held, one)
    fits, told = [], []
    for number in range(study.copies):
        at = outcome.rows // study.n_rows == number
        fit, names = _fitted_once(study, outcome.take(at), k, [each.take(at) for each in held], one and one.take(at))
        fits.append(fit)
        told.append({name: j for j, name in enumerate(names, start=1)})
    common = [name for name in told[0] if all(name in each for each in told)]
    places = [[0, *(each[name] for name in common)] for each in told]
    return pooled_regressions([fit.take(at) for fit, at in zip(fits, places, strict=True)]), common


def _fitted_once(
    study: Study, outcome: Outcome, k: int, held: list[Member], one: Member | None
) -> tuple[Regression, list[tuple[str, str]]]:
    """Return the same for one table."""
    free, fitted = _regressed(study, outcome, k, held, one)
    names = [(each.name, compared) for each in held for compared in each.compared]
    return fitted, [names[j] for j in np.flatnonzero(free[: len(names)]).tolist()]


def _regressed(
    study: Study,
    outcome: Outcome,
    k: int,
    held: list[Member],
    one: Member | None,
    also: Floats | None = None,
    apart: int = 0,
) -> tuple[Mask, Regression]:
    """Return the regression on some members, and which of their columns it has: others are told by those before them.

    ``one``: the first of them, if it is asked what its own effect is. What is held fixed beside the columns of the
    others is taken out of its columns and of a number; classes have what it predicts as further columns. ``also``: more
    columns. ``apart``: of how many columns the effects are told part by part; then in place of the effect in the first
    part comes that in all rows, after the others, which become differences.
    """
    columns, y = [each.design() for each in held], outcome.values == k if outcome.classes else outcome.values
    taken, beside = (None, None) if one is None else (one.taken, one.beside)
    own, n = columns[0], columns[0].shape[1]
    if beside is not None and not outcome.classes:
        own, y = own - beside[:, :n], y - beside[:, n]
    if apart:
        own = np.hstack([own[:, apart:], sum(np.split(own, n // apart, axis=1))])
    columns[0] = own
    columns += [] if one is None or one.within is None else [one.within[:, 1:]]
    columns += [] if beside is None or not outcome.classes else [beside]
    columns += [] if also is None else [also]
    groups = None if study.groups is None else study.groups[outcome.rows]
    weights = study.weights_of(one.name for one in held)
    weights = None if weights is None else weights[outcome.rows]
    robust = weights is not None or groups is not None
    if outcome.scores is not None:
        y = outcome.scores
    if outcome.counts is not None:
        weights = outcome.counts[:, 0] + outcome.counts[:, k]
        y = outcome.counts[:, k] / weights
    design = np.hstack(columns)
    free = ~told_by_others(design, weights)
    how: dict[str, Any] = {"weights": weights, "groups": groups}
    if outcome.risks:
        return free, risk_regression(design[:, free], y, **how)
    if outcome.classes:
        return free, odds_regression(design[:, free], y, **how, robust=robust)
    return free, number_regression(design[:, free], y, **how, taken=taken)


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


def _allowed(some: Sequence[Contrast], outcome: Outcome, chosen: Chosen | None) -> Iterator[Contrast]:
    """Yield the comparisons of a member with estimates and intervals that allow for its choice on the same rows.

    Comparisons without two ends keep theirs: that is the likelihood ratio of a class that no row has.
    """
    ratio = outcome.measure != "difference"
    for one in some:
        plain = np.array([one.estimate, one.low, one.high], np.float64)
        with np.errstate(divide="ignore"):
            estimate, low, high = np.log(plain) if ratio else plain
        error = (high - low) / 2.0 / _NORMAL_95
        if chosen is None or not 0.0 < error < np.inf:
            yield one
            continue
        cut = cut_of_one(estimate / error, chosen.log_p, float(len(some)), chosen.log_level)
        ends = np.array(selected_effect(estimate / error, cut)) * error
        low, estimate, high = (float(end) for end in (np.exp(ends) if ratio else ends))
        yield replace(one, estimate=estimate, low=low, high=high, plain=tuple(plain.tolist()))


def _surest(one: Contrast, outcome: Outcome) -> float:
    """Return the size that an effect has at least, by its interval; negative where it may be none."""
    low, high = -np.inf if one.low is None else one.low, np.inf if one.high is None else one.high
    if outcome.measure != "difference":
        low, high = (float(np.log(end)) if end > 0 else -np.inf for end in (low, high))
    return max(low, -high)


def _gaps_said(kept: Mask) -> list[str]:
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
