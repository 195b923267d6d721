"""A neighborhood as a picture: the target in the middle, parents above, children below, spouses next to children."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from blankets.plots._style import EDGE, INK, label_of, new_axes
from blankets.results import NOT_CHECKED, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe & Ito (2008): colors that people with any kind of color vision can distinguish.
COLORS = {
    "target": "#F0E442",
    "parent": "#56B4E9",
    "child": "#E69F00",
    "spouse": "#CC79A7",
    "neighbor": "#009E73",
    "unknown": "#BBBBBB",
    "outside": "#FFFFFF",
}
_WORDS = {"unknown": "role not known", "outside": "not a member"}
_A_ROW = 6  # names that fit in one row
_HALF_A_LETTER = 3.0  # points, at the usual size of type
_HALF_A_BOX = 12.0  # its height, with a gap
_LETTERS = 18  # of a name, in a box
Outline = Literal["--", ":"]
Points = dict[str, tuple[float, float]]


@dataclass(frozen=True)
class Stroke:
    """A line of the picture, with an arrow if its direction is known; the width is in points."""

    start: str
    end: str
    directed: bool = True
    width: float = 1.2


@dataclass(frozen=True)
class Picture:
    """What is drawn."""

    target: str  # the target
    roles: Mapping[str, str]  # the role of every other name, a key of `COLORS`, in order
    # for spouses, the child that they share with the target; they are drawn next to it
    common_children: Mapping[str, str]
    lines: list[Stroke]  # lines between names
    latents: Collection[str] = field(default=())  # names in dashed boxes
    unchecked: Collection[str] = field(default=())  # names in dotted boxes


def draw_picture(shape: Picture, title: str, ax: Axes | None, task: str) -> Axes:
    """Draw a neighborhood; ``task`` says what matplotlib is needed for."""
    points = layout(shape)
    ax = new_axes(ax, task, _size(points))
    roles = {shape.target: "target", **shape.roles}
    _dress(ax, points, [role for role in COLORS if role in roles.values()], title, _outlines(shape))
    for line in shape.lines:
        start, end = points[line.start], points[line.end]
        arrow = {
            "arrowstyle": "-|>" if line.directed else "-",
            "color": EDGE,
            "mutation_scale": 14,
            "linewidth": line.width,
            "shrinkA": _clearance(ax, line.start, start, end),
            "shrinkB": _clearance(ax, line.end, start, end),
        }
        if abs(start[1] - end[1]) < 1e-9 and abs(start[0] - end[0]) > 1.0:
            # There are names between the two: the line goes around them, away from the target.
            arrow |= {"connectionstyle": f"arc3,rad={0.3 if (start[0] < end[0]) == (start[1] < 0) else -0.3}"}
            arrow |= {"shrinkA": _HALF_A_BOX, "shrinkB": _HALF_A_BOX}
        ax.annotate("", xy=end, xytext=start, arrowprops=arrow, zorder=1)
    for name, (across, up) in points.items():
        style = "--" if name in shape.latents else ":" if name in shape.unchecked else "-"
        box = {"boxstyle": "round,pad=0.4", "facecolor": COLORS[roles[name]], "edgecolor": INK, "linestyle": style}
        ax.text(
            across, up, label_of(name, _LETTERS) or " ", ha="center", va="center", color="black", bbox=box, zorder=2
        )
    return ax


def layout(shape: Picture) -> Points:
    """Return the position of each name: rows of parents above the target, rows of the others below it.

    A spouse is in the row of the children, next to the child that it shares.
    """
    named = {role: [name for name, one in shape.roles.items() if one == role] for role in COLORS}
    beside = [name for name, role in shape.roles.items() if role in ("neighbor", "unknown")]
    below = list(named["child"])
    for name in named["spouse"]:
        child = shape.common_children.get(name, "")
        below.insert(below.index(child) + 1 if child in below else len(below), name)
    # Without directions the members are divided between the two sides.
    half = (len(beside) + 1) // 2
    above, below = named["parent"] + beside[:half], below + beside[half:]
    # A column that is not a member is placed behind its neighbors.
    touched = {name: {a for line in shape.lines for a in (line.start, line.end) if name in (line.start, line.end)}
               for name in named["outside"]}  # fmt: skip
    higher = [name for name in named["outside"] if touched[name] & set(above)]
    lower = [name for name in named["outside"] if name not in higher]
    points = {shape.target: (0.0, 0.0)}
    points |= _rows([above, higher], direction=1)
    points |= _rows([below, lower], direction=-1)
    return points


def _rows(groups: list[list[str]], direction: int) -> Points:
    """Put names in rows of equal length, away from the target, each group in its own rows."""
    points: Points = {}
    rows = [names[first : first + _A_ROW] for names in groups for first in range(0, len(names), _A_ROW)]
    for k, row in enumerate(rows):
        shift = 0.25 if k % 2 and len(row) > 1 else 0.0  # so that edges to the next row pass between names
        for i, name in enumerate(row):
            points[name] = (i - (len(row) - 1) / 2 + shift, direction * (1.0 + 0.6 * k))
    return points


def _half_width(name: str) -> float:
    """Return half the width of a name's box, in points."""
    return 6.0 + _HALF_A_LETTER * len(shown(name, _LETTERS))


def _clearance(ax: Axes, name: str, start: tuple[float, float], end: tuple[float, float]) -> float:
    """Return the distance, in points, from the middle of a name's box to the point where a line leaves it."""
    (x1, y1), (x2, y2) = ax.transData.transform([start, end])
    across, up = abs(x2 - x1), abs(y2 - y1)
    length = math.hypot(across, up) or 1.0
    return float(min(_half_width(name) * length / max(across, 1e-9), _HALF_A_BOX * length / max(up, 1e-9)))


def _size(points: Points) -> tuple[float, float]:
    """Return a figure size, in inches, in which the boxes do not touch."""
    across = {x for x, _ in points.values()}
    up = {y for _, y in points.values()}
    box = 2 * max(map(_half_width, points)) / 72 + 0.35
    return max(5.0, box * (max(across) - min(across) + 1.4)), max(3.0, 1.2 * (max(up) - min(up) + 1))


def _outlines(shape: Picture) -> dict[Outline, str]:
    """Return what each kind of broken outline means, of those that are drawn."""
    drawn: dict[Outline, str] = {}
    if shape.latents:
        drawn["--"] = "latent"
    if shape.unchecked:
        drawn[":"] = NOT_CHECKED
    return drawn


def _dress(ax: Axes, points: Points, roles: list[str], title: str, outlines: Mapping[Outline, str]) -> None:
    """Set limits and title, and say what the colors mean."""
    from matplotlib.patches import Patch

    across, up = [x for x, _ in points.values()], [y for _, y in points.values()]
    ax.set_xlim(min(across) - 0.7, max(across) + 0.7)
    ax.set_ylim(min(up) - 0.5, max(up) + 0.5)
    ax.set_axis_off()
    ax.set_title(title)
    handles = [Patch(facecolor=COLORS[role], edgecolor=INK, label=_WORDS.get(role, role)) for role in roles]
    handles += [Patch(facecolor="none", edgecolor=INK, linestyle=s, label=words) for s, words in outlines.items()]
    ax.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=min(len(handles), 6), frameon=False)
