"""A treatment, an outcome, and the columns that go with one of them or with both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blankets.errors import guarded
from blankets.plots._style import CYCLE, EDGE, new_axes, titled
from blankets.results import Adjustment, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST = 8  # columns of one role that are drawn
_PLACES = {"instrument": (0.0, 0), "confounder": (0.5, 1), "precision": (1.0, 2)}
_HEADS = {"instrument": "treatment alone", "confounder": "both: confounders", "precision": "outcome alone: precision"}


@guarded
def plot_adjustment(found: Adjustment, *, ax: Axes | None = None) -> Axes:
    """Draw which columns go with the treatment, which with the outcome, and which with both.

    Parameters
    ----------
    found : Adjustment
        A result of `blankets.adjust`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from blankets.plots import plot_adjustment
    >>> from blankets.results import AdjustedEffect, Adjustment
    >>> effect = AdjustedEffect(given="all of these", measure="difference", estimate=2.0, low=1.8, high=2.2)
    >>> found = Adjustment(treatment="drug", outcome="score", compared="yes vs no", roles={"age": "confounder"},
    ...                    effects=(effect,), n_rows=900)
    >>> [text.get_text() for text in plot_adjustment(found, ax=Figure().add_subplot()).texts][:2]
    ['drug', 'score']
    """
    ax = new_axes(ax, "drawing an adjustment", (7.0, 3.6))
    ends = {found.treatment: (0.2, 0.0), found.outcome: (0.8, 0.0)}
    box = {"boxstyle": "round", "facecolor": "white", "edgecolor": EDGE}
    for name, place in ends.items():
        ax.text(*place, shown(name, 20), ha="center", va="center", bbox=box, fontweight="bold", zorder=3)
    arrow = {"arrowstyle": "->", "color": EDGE, "shrinkA": 12, "shrinkB": 14}
    ax.annotate(
        "",
        ends[found.outcome],
        ends[found.treatment],
        arrowprops=arrow | {"linewidth": 2, "shrinkA": 30, "shrinkB": 30},
    )
    for role, (x, color) in _PLACES.items():
        names = [name for name, one in found.roles.items() if one == role]
        if not names:
            continue
        more = [f"and {len(names) - _MOST} more"] * (len(names) > _MOST)
        words = "\n".join([f"{_HEADS[role]}", *(shown(name, 20) for name in names[:_MOST]), *more])
        ax.text(x, 1.0, words, ha="center", va="center", bbox=box | {"edgecolor": CYCLE[color]}, zorder=3)
        for name, place in ends.items():
            if role == "confounder" or (role == "instrument") == (name == found.treatment):
                ax.annotate("", place, (x, 0.8), arrowprops=arrow | {"color": CYCLE[color]})
    ax.set_xlim(-0.25, 1.25)
    ax.set_ylim(-0.3, 1.6)
    ax.set_axis_off()
    titled(ax, f"What to adjust for: {shown(found.treatment)} and {shown(found.outcome)}", None)
    return ax
