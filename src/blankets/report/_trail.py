"""The decisions: for each column why it is in or out; columns that nearly entered come first."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from blankets.results import Doubt, count_of, joined, p_is, shown
from blankets.voice import part

if TYPE_CHECKING:
    from blankets.results import Blanket, Explanation

MOST_COLUMNS = 2000
"""Largest number of columns that a report lists; the file then stays below 2 MB."""

_MOST_STEPS = 200
_ARRAYS = ("phase", "given", "statistic", "dof", "log_p", "n_rows", "reliable")
_VERBS = {"admitted": "entered", "removed": "was removed", "passed over": "was passed over"}


class Row(TypedDict):
    """One column: in or out, and why, in a few words and in full."""

    name: str
    verdict: str
    short: str
    lines: list[str]


class Steps(TypedDict):
    """What the search did, in order."""

    rows: list[str]
    words: str


class Trail(TypedDict):
    """The listed columns, and the total number of columns."""

    total: int
    note: str
    rows: list[Row]
    steps: Steps


def trail(blanket: Blanket, most: int = MOST_COLUMNS) -> Trail:
    """Return a row for each column, members first, then by the last p-value, then those not searched.

    ``most``: largest number of rows; a note says so if there are more columns.
    """
    order = _order(blanket)
    listed = order[:most]
    small = _only(blanket, listed)
    explanations = [small.explain(name) for name in listed]
    note = ""
    if len(order) > len(listed):
        note = (
            f"{len(listed):,} of {len(order):,} columns are listed, those nearest to being admitted; in Python "
            f"{part('explain(name)')} explains any of them."
        )
    return {
        "total": len(order),
        "note": note,
        "rows": [_row(blanket, one) for one in explanations],
        "steps": _steps(blanket),
    }


def _order(blanket: Blanket) -> list[str]:
    """Return all columns but the target: members, left out by their last p-value, not searched."""
    record = blanket.passed_over
    last = np.full(len(blanket.columns), np.inf)
    performed = record.reliable & ~np.isnan(record.log_p)
    last[record.columns[performed]] = record.log_p[performed]  # the record is in the order of events
    members = {blanket.target, *blanket.members}
    outside = [i for i in np.argsort(last, kind="stable") if blanket.columns[i] not in members]
    not_searched = [name for name in blanket.excluded if name not in blanket.columns]
    return [*blanket.members, *(blanket.columns[i] for i in outside), *not_searched]


def _only(blanket: Blanket, names: list[str]) -> Blanket:
    """Return the blanket with only some columns, so that explaining them does not need all 100,000 columns."""
    wanted = {*names, blanket.target}
    kept = [i for i, name in enumerate(blanket.columns) if name in wanted]
    record = blanket.passed_over
    at = np.isin(record.columns, kept)
    # Positions among all columns become positions among those kept, which are in the same order.
    arrays = {key: getattr(record, key)[at] for key in _ARRAYS} | {"columns": np.searchsorted(kept, record.columns[at])}
    columns = tuple(blanket.columns[i] for i in kept)
    return replace(blanket, columns=columns, passed_over=replace(record, **arrays))


def _row(blanket: Blanket, explanation: Explanation) -> Row:
    return {
        "name": shown(explanation.column, 200),
        "verdict": explanation.verdict,
        "short": _short(blanket, explanation),
        "lines": list(explanation.lines) or [explanation.headline],
    }


def _short(blanket: Blanket, explanation: Explanation) -> str:
    """Say why, in a few words."""
    name, evidence = explanation.column, explanation.evidence
    if explanation.verdict == "excluded":
        return blanket.excluded[name]
    if evidence is None:
        return "never tested"
    p = p_is(evidence.log_p)
    if explanation.verdict == "member":
        role = blanket.roles.get(name, "")
        one = None if blanket.effects is None else blanket.effects.of(name)
        measure = "" if blanket.effects is None else blanket.effects.measure
        told = "" if one is None else f"{measure} {one.text(measure)}, {one.compared}, "
        strength = f"{told}{evidence.size}, {p}" if evidence.reliable else "not tested"
        return f"{role}, {strength}" if role else strength
    if explanation.verdict == "undecided":
        if blanket.undecided[name].reason == Doubt.WEAK:
            return f"may tell a little more: {p} given {joined(evidence.given, 3) or 'nothing'}"
        few = blanket.undecided[name].reason == Doubt.FEW_ROWS
        return "too few rows to test it given the members" if few else "the members could not be held fixed"
    if name in blanket.separators:
        among = blanket.separators[name]
        known = f"{joined(among, 3)} {'is' if len(among) == 1 else 'are'} known"
        return f"tells nothing more once {known}" if among else "tells nothing by itself"
    given = f" given {joined(evidence.given, 3)}" if evidence.given else " by itself"
    if not evidence.reliable:
        return f"too few rows to test it{given}"
    alpha = blanket.settings.get("alpha")
    refuted = isinstance(alpha, float) and evidence.p <= alpha
    return f"{'dependent' if refuted else 'independent'}{given}, {p}"


def _steps(blanket: Blanket) -> Steps:
    """Return what the search did to the target's neighborhood, in order."""
    mine = [step for step in blanket.decisions if step.evidence.y == blanket.target]
    rows = [
        f"{shown(step.x)} {_VERBS[step.action]} ({step.phase}): {p_is(step.evidence.log_p)}"
        f"{f' given {joined(step.evidence.given, 4)}' if step.evidence.given else ''}"
        f"{f'; {step.reason}' if step.reason else ''}."
        for step in mine[:_MOST_STEPS]
    ]
    if len(mine) > _MOST_STEPS:
        rows.append(f"{count_of(len(mine) - _MOST_STEPS, 'further step')} in {part('decisions')}.")
    return {"rows": rows, "words": f"{count_of(len(mine), 'decision')} about columns and the target, in order"}
