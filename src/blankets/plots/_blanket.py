"""A blanket as a picture: the target in the middle, parents above, children below, spouses beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blankets.errors import MissingPackageError

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
Points = dict[str, tuple[float, float]]


def plot_blanket(blanket: Blanket, *, ax: Axes | None = None) -> Axes:
    """Draw the target and its blanket.

    Parameters
    ----------
    blanket : Blanket
        What to draw.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure.

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
    ax = _new_axes(points) if ax is None else ax
    for start, end, attributes in graph.edges(data=True):
        style = "-|>" if attributes["directed"] else "-"
        level = points[start][1] == points[end][1]
        ends = {"shrinkA": _clearance(start, level=level), "shrinkB": _clearance(end, level=level)}
        arrow = {"arrowstyle": style, "color": "#555555", "mutation_scale": 14, **ends}
        ax.annotate("", xy=points[end], xytext=points[start], arrowprops=arrow, zorder=1)
    seen = {}
    for name, (across, up) in points.items():
        role = graph.nodes[name]["role"]
        seen[role] = True
        box = {"boxstyle": "round,pad=0.4", "facecolor": COLOURS[role], "edgecolor": "#333333"}
        # A dollar sign in a name is a dollar sign, not mathematics.
        label = _label(name).replace("$", r"\$")
        ax.text(across, up, label, ha="center", va="center", color="black", bbox=box, zorder=2)
    _dress(ax, blanket, points, [role for role in COLOURS if role in seen])
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


def _label(name: str) -> str:
    return name if len(name) <= 18 else f"{name[:17]}…"


def _clearance(name: str, *, level: bool) -> float:
    """Return how far from its middle, in points, an edge stays clear of a box; level edges meet its short side."""
    return 4 + _HALF_A_LETTER * len(_label(name)) if level else 14


def _new_axes(points: Points) -> Axes:
    try:
        from matplotlib import pyplot
    except ImportError:
        raise MissingPackageError.needed_for("drawing a blanket", "matplotlib", "plot") from None
    across = {x for x, _ in points.values()}
    up = {y for _, y in points.values()}
    box = 2 * _HALF_A_LETTER * max(len(_label(name)) for name in points) / 72 + 0.8  # inches, with a gap
    size = (max(5.0, box * (max(across) - min(across) + 1.4)), max(3.0, 1.5 * (max(up) - min(up) + 1)))
    axes: Axes = pyplot.subplots(figsize=size)[1]
    return axes


def _dress(ax: Axes, blanket: Blanket, points: Points, roles: list[str]) -> None:
    """Set limits and title, and say what the colours mean."""
    from matplotlib.patches import Patch

    across, up = [x for x, _ in points.values()], [y for _, y in points.values()]
    ax.set_xlim(min(across) - 0.7, max(across) + 0.7)
    ax.set_ylim(min(up) - 0.5, max(up) + 0.5)
    ax.set_axis_off()
    ax.set_title(f"Markov blanket of {_label(blanket.target)}".replace("$", r"\$"))
    handles = [Patch(facecolor=COLOURS[role], edgecolor="#333333", label=role) for role in roles]
    ax.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=len(handles), frameon=False)
