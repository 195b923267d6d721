"""The neighbourhood as a drawing: which boxes and lines there are and where they stand, in pixels.

Two drawings of the same graph, for two widths of the page. *Wide*: parents left of the target, children
right of it, spouses beyond their children. *Tall*: one column, lines as arcs beside it. In both, boxes
stand in lists, so that names never overlap however many there are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from blankets.results import count_of, joined, number, shown

if TYPE_CHECKING:
    from blankets.results import Blanket

__all__ = ["MOST_BOXES", "neighbourhood"]

MOST_BOXES = 60
"""Members that are drawn; the strongest, if there are more."""

_LETTERS = 20  # of a name, in a box
_HIGH, _PITCH = 32, 46  # of a box, and from one box to the next
_LETTER = 7.9  # width of a letter, on average and a little more
_THINNEST, _THICKEST = 1.5, 7.0
_WORDS = {
    "target": "the target",
    "parent": "parent",
    "child": "child",
    "spouse": "spouse: another parent of a child",
    "neighbour": "neighbour: parent or child",
    "unknown": "member, role not known",
}


@dataclass(frozen=True)
class _Sides:
    """Who stands where: left and right of the target, and beyond the right side, beside a child."""

    left: list[str]
    right: list[str]
    beyond: list[str]


def neighbourhood(blanket: Blanket) -> dict[str, Any]:
    """Return boxes, lines, their places in both drawings, and a description in words."""
    graph = blanket.to_networkx()
    drawn = blanket.members[:MOST_BOXES]
    effect = {name: blanket.strengths[name].effect for name in drawn}
    roles = {blanket.target: "target"} | {name: graph.nodes[name]["role"] for name in drawn}
    lines = [
        {"start": start, "end": end, "directed": known["directed"], "width": _width(effect, start, end, blanket.target)}
        for start, end, known in graph.edges(data=True)
        if start in roles and end in roles
    ]
    sides = _sides(blanket, drawn)
    boxes = [
        {
            "name": name,
            "label": shown(name, _LETTERS),
            "role": role,
            "latent": bool(graph.nodes[name].get("latent", False)),
            "words": _box_words(name, role, effect.get(name)),
        }
        for name, role in roles.items()
    ]
    more = len(blanket) - len(drawn)
    return {
        "boxes": boxes,
        "lines": lines,
        "wide": _wide(blanket.target, sides),
        "tall": _tall(blanket, sides),
        "roles": [[role, words] for role, words in _WORDS.items() if role in roles.values()],
        "latent": any(box["latent"] for box in boxes),
        "words": _words(blanket),
        "note": f"The {MOST_BOXES} strongest members are drawn; {more:,} more are in the table." if more else "",
    }


def _sides(blanket: Blanket, drawn: tuple[str, ...]) -> _Sides:
    """Share the members out; those without a direction go to the shorter side."""
    role = {name: blanket.roles.get(name, "unknown") for name in drawn}
    shared = {child for name, child in blanket.common_children.items() if role.get(name) == "spouse"}
    left = [name for name in drawn if role[name] == "parent"]
    right = [name for name in drawn if role[name] == "child" or (name in shared and role[name] != "parent")]
    spouses = [name for name in drawn if role[name] == "spouse" and blanket.common_children.get(name) in right]
    spouses.sort(key=lambda name: right.index(blanket.common_children[name]))
    for name in drawn:
        if name not in left and name not in right and name not in spouses:
            (left if len(left) < len(right) else right).append(name)
    return _Sides(left, right, spouses)


def _wide(target: str, sides: _Sides) -> dict[str, Any]:
    """Place the boxes in columns from left to right, each column centred."""
    columns = [sides.left, [target], sides.right, sides.beyond]
    gap = 110.0
    height = max(len(names) for names in columns) * _PITCH + 10
    places: dict[str, list[float]] = {}
    x = 8.0
    for names in columns:
        if not names:
            continue
        width = max(_box_width(name) for name in names)
        top = (height - len(names) * _PITCH) / 2 + (_PITCH - _HIGH) / 2
        for row, name in enumerate(names):
            places[name] = [x, top + row * _PITCH, width, _HIGH]
        x += width + gap
    return {"width": x - gap + 8.0, "height": float(height), "places": places}


def _tall(blanket: Blanket, sides: _Sides) -> dict[str, Any]:
    """Place the boxes below each other: one side, the target, the other side with spouses under their child."""
    names = [*sides.left, blanket.target]
    for name in sides.right:
        names += [name, *(s for s in sides.beyond if blanket.common_children[s] == name)]
    width = max(_box_width(name) for name in names)
    places = {
        name: [84.0 + (26.0 if name in sides.beyond else 0.0), 6.0 + row * _PITCH, width, float(_HIGH)]
        for row, name in enumerate(names)
    }
    return {"width": 84.0 + 26.0 + width + 8.0, "height": float(len(names) * _PITCH + 4), "places": places}


def _box_width(name: str) -> float:
    return max(64.0, 22.0 + _LETTER * len(shown(name, _LETTERS)))


def _width(effect: dict[str, float], start: str, end: str, target: str) -> float:
    """Return the width of a line, in proportion to Cohen's w of the member that it stands for."""
    value = effect.get(end if start == target else start, math.nan)
    share = min(1.0, math.sqrt(2.0 * max(value, 0.0)) / 0.6) if math.isfinite(value) else 0.0
    return round(_THINNEST + (_THICKEST - _THINNEST) * share, 2)


def _box_words(name: str, role: str, effect: float | None) -> str:
    strength = f", {number(effect)} nats" if effect is not None and math.isfinite(effect) else ""
    return f"{shown(name)}, {_WORDS[role]}{strength}"


def _words(blanket: Blanket) -> str:
    """Describe the drawing for those who cannot see it."""
    return f"{shown(blanket.target)} with {'; '.join(_groups(blanket)) or 'no members'}."


def _groups(blanket: Blanket) -> Iterator[str]:
    plural = {"parent": "parents", "child": "children", "spouse": "spouses", "neighbour": "neighbours"}
    for role in (*plural, "unknown"):
        if names := [name for name in blanket.members if blanket.roles.get(name, "unknown") == role]:
            word = count_of(len(names), "member of unknown role", "members of unknown role")
            yield f"{count_of(len(names), role, plural[role]) if role in plural else word}: {joined(names)}"
