"""The neighborhood as a drawing: its boxes and lines, and their positions in pixels.

There are two drawings of the same graph, for two widths of the page. *Wide*: parents left of the target,
children right of it, spouses to the right of their children. *Tall*: one column, with lines as arcs at its
side. In both, boxes are in lists, so that names never overlap.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NotRequired, TypedDict

from blankets.results import NOT_CHECKED, count_of, digits, joined, shown, size_of, undecided_sentence

if TYPE_CHECKING:
    from blankets.latent import Latent, LatentBlanket
    from blankets.results import Blanket

MOST_BOXES = 60
"""Largest number of members that are drawn, the strongest first."""

_LETTERS = 20  # letters of a name that fit in a box
_HIGH, _PITCH = 32, 46  # height of a box, and distance from one box to the next
_LETTER = 7.9  # width of a letter: the average and a little more
_THINNEST, _THICKEST = 1.5, 7.0
_WORDS = {
    "target": "the target",
    "parent": "parent",
    "child": "child",
    "spouse": "spouse: another parent of a child",
    "neighbor": "neighbor: parent or child",
    "unknown": "member, role not known",
}


class Box(TypedDict):
    """A column or a latent."""

    name: str
    label: str
    role: str
    latent: bool
    checked: bool
    words: str
    lines: NotRequired[list[str]]


class Line(TypedDict):
    """A line between two boxes."""

    start: str
    end: str
    directed: bool
    width: float


class Drawing(TypedDict):
    """Positions of the boxes: left, top, width, height."""

    width: float
    height: float
    places: dict[str, list[float]]


class Graph(TypedDict):
    """The neighborhood, and its two drawings."""

    boxes: list[Box]
    lines: list[Line]
    wide: Drawing
    tall: Drawing
    roles: list[list[str]]
    latent: bool
    words: str
    note: str


@dataclass(frozen=True)
class _Sides:
    """The members from left to right; the target is in the middle, spouses are to the right of their children."""

    left: list[str]
    latent_left: list[str]
    latent_right: list[str]
    right: list[str]
    beyond: list[str]


def neighborhood(blanket: Blanket, latent: LatentBlanket | None = None) -> Graph:
    """Return boxes, lines, their positions in both drawings, and a description in words.

    ``blanket``: observed members. ``latent``: latent members of the same target, drawn with them.
    """
    graph = blanket.to_networkx()
    drawn = blanket.members[:MOST_BOXES]
    effect = {name: blanket.strengths[name].effect for name in drawn}
    roles = {blanket.target: "target"} | {name: graph.nodes[name]["role"] for name in drawn}
    lines: list[Line] = [
        {"start": start, "end": end, "directed": known["directed"], "width": _width(effect, start, end, blanket.target)}
        for start, end, known in graph.edges(data=True)
        if start in roles and end in roles
    ]
    boxes: list[Box] = [
        {
            "name": name,
            "label": shown(name, _LETTERS),
            "role": role,
            "latent": False,
            "checked": name not in blanket.unchecked,
            "words": _box_words(name, role, effect.get(name))
            + (f", {NOT_CHECKED}" if name in blanket.unchecked else ""),
        }
        for name, role in roles.items()
    ]
    if latent is not None:
        boxes += [_latent_box(one, latent) for one in latent.latents]
        lines = _without_replaced(lines, latent) + _latent_lines(latent, [box["name"] for box in boxes])
    sides = _sides(blanket, drawn, latent)
    more = len(blanket) - len(drawn)
    cut = f"The {MOST_BOXES} strongest members are drawn; {more:,} more are in the table." if more else ""
    return {
        "boxes": boxes,
        "lines": lines,
        "wide": _wide(blanket.target, sides),
        "tall": _tall(blanket, sides),
        "roles": [[role, words] for role, words in _WORDS.items() if role in {box["role"] for box in boxes}],
        "latent": any(box["latent"] for box in boxes),
        "words": _words(blanket),
        "note": " ".join(filter(None, (cut, undecided_sentence(blanket)))),
    }


def _latent_box(one: Latent, latent: LatentBlanket) -> Box:
    role = one.position if one.position in _WORDS else "unknown"
    return {
        "name": one.name,
        "label": shown(one.name, _LETTERS),
        "role": role,
        "latent": True,
        "checked": True,
        "words": f"{shown(one.name)}, latent {role}, {digits(one.information)} nats",
        "lines": [latent.explain(one.name)],
    }


def _latent_lines(latent: LatentBlanket, drawn: list[str]) -> list[Line]:
    """Return the lines of the fitted graph that touch a latent."""
    strength = {one.name: _thickness(one.information) for one in latent.latents}
    return [
        {"start": start, "end": end, "directed": True, "width": strength[start if start in strength else end]}
        for start, end in latent.graph.edges
        if (start in strength or end in strength) and start in drawn and end in drawn
    ]


def _without_replaced(lines: list[Line], latent: LatentBlanket) -> list[Line]:
    """Leave out lines between the target and members that are irrelevant given a latent."""
    replaced = {name for one in latent.latents for name in one.replaced}
    return [
        line
        for line in lines
        if not (latent.target in (line["start"], line["end"]) and replaced & {line["start"], line["end"]})
    ]


def _sides(blanket: Blanket, drawn: tuple[str, ...], latent: LatentBlanket | None) -> _Sides:
    """Divide the members between the sides; those without a direction go to the shorter side."""
    role = {name: blanket.roles.get(name, "unknown") for name in drawn}
    shared = {child for name, child in blanket.common_children.items() if role.get(name) == "spouse"}
    left = [name for name in drawn if role[name] == "parent"]
    right = [name for name in drawn if role[name] == "child" or (name in shared and role[name] != "parent")]
    spouses = [name for name in drawn if role[name] == "spouse" and blanket.common_children.get(name) in right]
    spouses.sort(key=lambda name: right.index(blanket.common_children[name]))
    found = () if latent is None else latent.latents
    at_latent = {name: one.position for one in found for name in (*one.children, *one.parents)}
    for name in drawn:
        if role[name] in ("neighbor", "unknown") and name in at_latent and name not in right:
            (right if at_latent[name] == "child" else left).append(name)
    for name in drawn:
        if name not in left and name not in right and name not in spouses:
            (left if len(left) < len(right) else right).append(name)
    causes = [one.name for one in found if one.position in ("parent", "outside")]
    effects = [one.name for one in found if one.position == "child"]
    spouses += [one.name for one in found if one.position == "spouse"]
    return _Sides(left, causes, effects, right, spouses)


def _wide(target: str, sides: _Sides) -> Drawing:
    """Place the boxes in columns from left to right, each column centered."""
    columns = [sides.left, sides.latent_left, [target], sides.latent_right, sides.right, sides.beyond]
    gap = 110.0 if sum(map(bool, columns)) <= 4 else 80.0
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


def _tall(blanket: Blanket, sides: _Sides) -> Drawing:
    """Place the boxes below each other: one side, the target, the other side with spouses under their child."""
    names = [*sides.left, *sides.latent_left, blanket.target, *sides.latent_right]
    for name in sides.right:
        names += [name, *(s for s in sides.beyond if blanket.common_children.get(s) == name)]
    names += [name for name in sides.beyond if name not in names]
    width = max(_box_width(name) for name in names)
    places = {
        name: [84.0 + (26.0 if name in sides.beyond else 0.0), 6.0 + row * _PITCH, width, float(_HIGH)]
        for row, name in enumerate(names)
    }
    return {"width": 84.0 + 26.0 + width + 8.0, "height": float(len(names) * _PITCH + 4), "places": places}


def _box_width(name: str) -> float:
    return max(64.0, 22.0 + _LETTER * len(shown(name, _LETTERS)))


def _width(effect: dict[str, float], start: str, end: str, target: str) -> float:
    """Return the width of a member's line, in proportion to its Cohen's w."""
    return _thickness(effect.get(end if start == target else start, math.nan))


def _thickness(value: float) -> float:
    share = min(1.0, math.sqrt(2.0 * max(value, 0.0)) / 0.6) if math.isfinite(value) else 0.0
    return round(_THINNEST + (_THICKEST - _THINNEST) * share, 2)


def _box_words(name: str, role: str, effect: float | None) -> str:
    strength = f", {size_of(effect)} effect" if effect is not None and math.isfinite(effect) else ""
    return f"{shown(name)}, {_WORDS[role]}{strength}"


def _words(blanket: Blanket) -> str:
    """Describe the drawing in words, for people who cannot see it."""
    return f"{shown(blanket.target)} with {'; '.join(_groups(blanket)) or 'no members'}."


def _groups(blanket: Blanket) -> Iterator[str]:
    plural = {"parent": "parents", "child": "children", "spouse": "spouses", "neighbor": "neighbors"}
    for role in (*plural, "unknown"):
        if names := [name for name in blanket.members if blanket.roles.get(name, "unknown") == role]:
            word = count_of(len(names), "member of unknown role", "members of unknown role")
            yield f"{count_of(len(names), role, plural[role]) if role in plural else word}: {joined(names)}"
