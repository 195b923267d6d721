"""How strongly each member depends on the target, with an interval if the test was performed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypedDict

from blankets.report._label_regime import is_partial, stands_in
from blankets.results import (
    bent_members,
    count_of,
    digits,
    footnotes,
    format_p,
    joined,
    member_note,
    shown,
    symbol_of,
    undecided_sentence,
)
from blankets.stats import EFFECT_SIZES

if TYPE_CHECKING:
    from blankets.results import Blanket

LEVEL = 0.9


class EffectRow(TypedDict):
    """One member; None and "not known" if the test was not performed."""

    name: str
    role: str
    compared: list[str]
    estimate: str
    size: str
    effect: float | None
    less_bias: float | None
    interval: list[float] | None
    less_bias_words: str
    interval_words: str
    p: str
    test: str
    given: str
    note: str
    checked: bool


class Effects(TypedDict):
    """All members, the scale on which they are drawn, and what it means."""

    level: float
    headings: list[str]
    alike: bool
    rows: list[EffectRow]
    largest: float
    marks: dict[str, float]
    words: str


def effects(blanket: Blanket) -> Effects:
    """Return a row for each member, strongest first, and the words around the table."""
    rows = [_row(blanket, name) for name in blanket.members]
    ends = [row["interval"][1] for row in rows if row["interval"]] + [row["effect"] or 0.0 for row in rows]
    partial = (
        f"\nSome rows had no label, so that each test {stands_in(blanket)}: w is that of what was counted, and "
        "for the target itself it is larger."
    )
    return {
        "level": LEVEL,
        "headings": [] if blanket.effects is None else blanket.effects.headings,
        "alike": len({row["given"] for row in rows}) <= 1,
        "rows": rows,
        "largest": max([*ends, 1.2 * EFFECT_SIZES["medium"]]),
        "marks": dict(EFFECT_SIZES),
        "words": (
            "\n".join(footnotes(blanket))
            + f"\nThe dot is Cohen's w, with its {LEVEL:.0%} interval; dashed lines are at "
            f"0.1 (small), 0.3 (medium) and 0.5 (large).{partial if is_partial(blanket) else ''}{_doubts(blanket)}"
        ),
    }


def _doubts(blanket: Blanket) -> str:
    """Say what an open dot is, and who is neither in nor out."""
    dots = "An open dot is a member that could not be checked for redundancy." if blanket.unchecked else ""
    return "".join(f"\n{sentence}" for sentence in (dots, undecided_sentence(blanket)) if sentence)


def _row(blanket: Blanket, name: str) -> EffectRow:
    evidence = blanket.strengths[name]
    tested = evidence.reliable and math.isfinite(evidence.statistic)
    others = {name, *evidence.given} == set(blanket.members) and len(evidence.given) > 1
    symbol = symbol_of(str(blanket.settings.get("test", "")), evidence.method)
    freedom = count_of(evidence.dof, "degree of freedom", "degrees of freedom") if tested else ""
    how = f", p {evidence.method}" if evidence.method else ""
    shifted = evidence.information if tested else None
    ends = evidence.interval(LEVEL) if tested else None
    *compared, estimate = [""] if blanket.effects is None else blanket.effects.cells(name)
    return {
        "name": shown(name),
        "role": blanket.roles.get(name, ""),
        "compared": compared,
        "estimate": f"{estimate}*" if name in bent_members(blanket) else estimate,
        "size": evidence.size if tested else "not known",
        "effect": evidence.effect if tested else None,
        "less_bias": shifted,
        "interval": list(ends) if ends else None,
        "less_bias_words": "not known" if shifted is None else digits(shifted),
        "interval_words": f"{digits(ends[0], 2)} to {digits(ends[1], 2)}" if ends else "not known",
        "p": format_p(evidence.log_p),
        "test": f"{symbol} = {digits(evidence.statistic)} on {freedom}{how}" if tested else "too few rows for a test",
        "given": "the other members" if others else joined(evidence.given, 4) or "nothing",
        "note": member_note(blanket, name),
        "checked": name not in blanket.unchecked,
    }
