"""Effects of members in the data's own terms: one regression of the target on all of them (methods, section 17)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

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
from blankets.study._effect_columns import Member, Outcome, drawn_rows, held_in, member_of, outcome_of
from blankets.study._study import Study

MOST_WORK = 100_000_000  # rows x coefficients²: about 0.02 s for each step of Newton


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
    if held:
        coefficients = 1 + sum(len(one.compared) for one in held)
        at = drawn_rows(np.flatnonzero(kept), max(MOST_WORK // coefficients**2, 5_000))
        outcome, held = outcome.take(at), [one.take(at) for one in held]
        names = {study.names[j]: one for j, one in (chosen or {}).items()}
        compared = _contrasts(study, outcome, held)
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
        notes=tuple(notes),
    )


def _contrasts(study: Study, outcome: Outcome, held: list[Member]) -> dict[str, tuple[Contrast, ...]]:
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


def _compared(study: Study, two: Outcome, k: int, held: list[Member], words: str) -> dict[str, list[Contrast]]:
    """Return the comparisons of all members in one regression."""
    fitted, names = _fitted(study, two, k, held)
    made: dict[str, list[Contrast]] = {one.name: [] for one in held}
    for j, (name, compared) in enumerate(names, start=1):
        made[name].append(_read_off(fitted, j, compared, words, two.measure))
    return made


def _fitted(study: Study, outcome: Outcome, k: int, held: list[Member]) -> tuple[Regression, list[tuple[str, str]]]:
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
    study: Study, outcome: Outcome, k: int, held: list[Member]
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
