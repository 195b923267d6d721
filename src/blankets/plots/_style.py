"""Shared by all pictures: axes, titles, colors, names that fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from blankets.errors import MissingPackageError, ParameterError
from blankets.results import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from blankets.results import Blanket

# Okabe & Ito (2008), told apart by people with any kind of color vision; the yellow is too pale for a line.
CYCLE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
INK, EDGE, FAINT = "#333333", "#555555", "#BBBBBB"

_FEW = 4  # names that fit into a line
_LINE_HEIGHT = 1.35  # of a line of type, in sizes of type


def new_axes(ax: Axes | None, task: str, size: tuple[float, float]) -> Axes:
    """Return the axes given, or those of a new figure of this size in inches."""
    if ax is not None:
        if not hasattr(ax, "set_xlim"):
            raise ParameterError.out_of_range("ax", ax, "axes of matplotlib")
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise MissingPackageError.needed_for(task, "matplotlib", "plot") from None
    axes: Axes = pyplot.subplots(figsize=size, layout="constrained")[1]
    return axes


def titled(ax: Axes, title: str | None, subtitle: str | None) -> None:
    """Put a title, and a smaller line under it, over the left end of the axes."""
    if subtitle:
        note(ax, subtitle, (0, 1), "axes fraction", shift=(0, 5), va="bottom")
    if title:
        ax.set_title(title, loc="left", fontweight="bold", pad=21 if subtitle else 6)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def note(ax: Axes, text: str, at: tuple[float, float], where: Any, *, shift: tuple[float, float], **more: Any) -> None:
    """Write small text at a point of the coordinates ``where``, shifted by some points."""
    ax.annotate(text, at, shift, xycoords=where, textcoords="offset points", color=EDGE, fontsize="small", **more)


def label_of(name: str, width: int = 24) -> str:
    """Return a name as a label: shortened, without control characters; a dollar sign does not start a formula."""
    return shown(name, width).replace("$", r"\$")


def undecided_words(blanket: Blanket) -> str:
    """Name the first columns that are neither in nor out, for a line over a picture."""
    names = [label_of(name) for name in list(blanket.undecided)[:_FEW]]
    more = len(blanket.undecided) - len(names)
    return f"undecided: {', '.join(names)}{f' and {more:,} more' if more else ''}"


def fit_names(ax: Axes, names: list[str]) -> None:
    """Write names at 0, 1, 2, ... on the y-axis, small enough not to touch each other."""
    height = ax.get_window_extent().height * 72 / ax.figure.dpi  # points
    size = min(10.0, height / max(len(names), 1) / _LINE_HEIGHT)
    ax.set_yticks(range(len(names)), [label_of(name) for name in names], fontsize=size)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
