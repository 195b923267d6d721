"""A blanket as a picture: the target in the middle, parents above, children below, spouses beside them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from blankets.plots._style import EDGE, INK, label_of, new_axes
from blankets.results import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from blankets.results import Blanket

__all__ = ["plot_blanket"]

# Okabe & Ito (2008), told apart by people with any kind of colour vision.
COLOURS = {
    "target": "#F0E442",
    "parent": "#56B4E9",
    "child": "#E69F00",
    "spouse": "#CC79A7",
    "neighbour": "#009E73",
    "unknown": "#BBBBBB",
}
_A_ROW = 6  # names that fit side by side
_HALF_A_LETTER = 3.0  # points, at the usual size of type
_HALF_A_BOX = 12.0  # its height, with a gap
_LETTERS = 18  # of a name, in a box
Points = dict[str, tuple[float, float]]


def plot_blanket(blanket: Blanket, *, ax: Axes | None = None, title: str | None = None) -> Axes:
    """Draw the target and its blanket; the stronger a member's effect, the wider its line.

    Parameters
    ----------
    blanket : Blanket
        What to draw.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure.
    title : str, optional
        Default "Markov blanket of ...".

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from blankets.results import Blanket, NamedEvidence
    >>> e = NamedEvidence(x="age", y="ill", statistic=52.0, dof=2, log_p=-26.0, effect=0.026, n_rows=1000)
    >>> blanket = Blanket(target="ill", members=("age",), strengths={"age": e}, algorithm="iamb", settings={},
    ...                   columns=("age", "ill"), n_rows=1000)
    >>> plot_blanket(blanket, ax=Figure().add_subplot()).get_title()
    'Markov blanket of ill'
    """
    graph = blanket.to_networkx()
    points = layout(blanket)
    ax = new_axes(ax, "drawing a blanket", _size(points))
    roles = {name: graph.nodes[name]["role"] for name in points}
    _dress(ax, blanket, points, [role for role in COLOURS if role in roles.values()], title)
    for start, end, attributes in graph.edges(data=True):
        arrow = {
            "arrowstyle": "-|>" if attributes["directed"] else "-",
            "color": EDGE,
            "mutation_scale": 14,
            "linewidth": _line_width(blanket, start, end),
            "shrinkA": _clearance(ax, start, points[start], points[end]),
            "shrinkB": _clearance(ax, end, points[start], points[end]),
        }
        ax.annotate("", xy=points[end], xytext=points[start], arrowprops=arrow, zorder=1)
    for name, (across, up) in points.items():
        box = {"boxstyle": "round,pad=0.4", "facecolor": COLOURS[roles[name]], "edgecolor": INK}
        ax.text(across, up, label_of(name, _LETTERS), ha="center", va="center", color="black", bbox=box, zorder=2)
    return ax


def layout(blanket: Blanket) -> Points:
    """Return where each name stands: rows of parents above the target, of the others below it.

    A spouse stands in the row of the children, next to the child that it shares.
    """
    of = {name: blanket.roles.get(name, "unknown") for name in blanket.members}
    above = [name for name in blanket.members if of[name] == "parent"]
    beside = [name for name in blanket.members if of[name] in ("neighbour", "unknown")]
    below: list[str] = [name for name in blanket.members if of[name] == "child"]
    for name in (name for name in blanket.members if of[name] == "spouse"):
        child = blanket.common_children.get(name, "")
        below.insert(below.index(child) + 1 if child in below else len(below), name)
    # Without directions the members are shared out between the two sides.
    half = (len(beside) + 1) // 2
    points = {blanket.target: (0.0, 0.0)}
    points |= _rows(above + beside[:half], direction=1)
    points |= _rows(below + beside[half:], direction=-1)
    return points


def _rows(names: list[str], direction: int) -> Points:
    """Spread names over rows of equal length, away from the target."""
    points: Points = {}
    for first in range(0, len(names), _A_ROW):
        row = names[first : first + _A_ROW]
        shift = 0.25 if first // _A_ROW % 2 else 0.0  # so that edges to the next row pass between names
        for i, name in enumerate(row):
            points[name] = (i - (len(row) - 1) / 2 + shift, direction * (1.0 + 0.6 * (first // _A_ROW)))
    return points


def _line_width(blanket: Blanket, start: str, end: str) -> float:
    """Return a width in proportion to Cohen's w of the member that the line stands for."""
    effect = blanket.strengths[end if start == blanket.target else start].effect
    return 0.8 if math.isnan(effect) else 0.8 + 3.2 * min(1.0, math.sqrt(2.0 * max(effect, 0.0)) / 0.6)


def _half_width(name: str) -> float:
    """Return half the width of a name's box, in points."""
    return 6.0 + _HALF_A_LETTER * len(shown(name, _LETTERS))


def _clearance(ax: Axes, name: str, start: tuple[float, float], end: tuple[float, float]) -> float:
    """Return how far from its middle, in points, a line leaves the box of a name."""
    (x1, y1), (x2, y2) = ax.transData.transform([start, end])
    across, up = abs(x2 - x1), abs(y2 - y1)
    length = math.hypot(across, up) or 1.0
    return float(min(_half_width(name) * length / max(across, 1e-9), _HALF_A_BOX * length / max(up, 1e-9)))


def _size(points: Points) -> tuple[float, float]:
    """Return the size of a figure in inches in which the boxes do not touch."""
    across = {x for x, _ in points.values()}
    up = {y for _, y in points.values()}
    box = 2 * max(map(_half_width, points)) / 72 + 0.35
    return max(5.0, box * (max(across) - min(across) + 1.4)), max(3.0, 1.2 * (max(up) - min(up) + 1))


def _dress(ax: Axes, blanket: Blanket, points: Points, roles: list[str], title: str | None) -> None:
    """Set limits and title, and say what the colours mean."""
    from matplotlib.patches import Patch

    across, up = [x for x, _ in points.values()], [y for _, y in points.values()]
    ax.set_xlim(min(across) - 0.7, max(across) + 0.7)
    ax.set_ylim(min(up) - 0.5, max(up) + 0.5)
    ax.set_axis_off()
    what = "Markov blanket" if blanket.finds == "blanket" else "Parents and children"
    ax.set_title(title or f"{what} of {label_of(blanket.target, 40)}")
    handles = [Patch(facecolor=COLOURS[role], edgecolor=INK, label=role) for role in roles]
    ax.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=len(handles), frameon=False)
