"""Effects with their intervals, and shares of resamples: one line a column."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import numpy as np

from blankets.plots._style import CYCLE, EDGE, FAINT, fit_names, new_axes, note, titled
from blankets.stats import EFFECT_SIZES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_effects", "plot_stability"]

_TICKS = (0.0, 0.005, 0.02, 0.045, 0.08, 0.125, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0)


def plot_effects(
    effects: Mapping[str, float],
    intervals: Mapping[str, tuple[float, float] | None] | None = None,
    *,
    ax: Axes | None = None,
    title: str | None = "Effect sizes",
    subtitle: str | None = None,
) -> Axes:
    """Draw effects in nats, in the order given, with their intervals where they are known.

    The axis is in proportion to Cohen's w = √(2 effect), so that weak effects can be told apart too.

    Parameters
    ----------
    effects : mapping of str to float
        Columns and their effects.
    intervals : mapping of str to (low, high), optional
        Ends of intervals; a column may have None.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure.
    title, subtitle : str, optional
        Words over the picture.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = plot_effects({"age": 0.06, "sex": 0.01}, {"age": (0.04, 0.09)}, ax=Figure().add_subplot())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['age', 'sex']
    """
    names, known = list(effects), intervals or {}
    ax = new_axes(ax, "drawing effects", (6.4, 1.3 + 0.3 * max(len(names), 3)))
    for row, name in enumerate(names):
        if (ends := known.get(name)) is not None:
            ax.plot(ends, [row, row], color=CYCLE[0], alpha=0.4, linewidth=6, solid_capstyle="round", zorder=2)
    ax.scatter([effects[name] for name in names], range(len(names)), color=CYCLE[0], s=36, zorder=3)
    tops = [*effects.values(), *(ends[1] for ends in known.values() if ends is not None), EFFECT_SIZES["medium"]]
    largest = 1.08 * float(np.nanmax(tops))
    for word, value in EFFECT_SIZES.items():
        if value < largest:
            ax.axvline(value, color=FAINT, linewidth=0.8, linestyle=":", zorder=1)
            note(ax, word, (value, 0), ax.get_xaxis_transform(), shift=(3, 2), va="bottom")
    ax.set_xscale("function", functions=(lambda x: np.sqrt(np.maximum(x, 0.0)), np.square))
    ax.set_xlim(0.0, largest)
    ax.set_xticks([tick for tick in _TICKS if tick <= largest], minor=False)
    ax.set_xticks([], minor=True)
    ax.set_xticklabels([f"{tick:g}" for tick in _TICKS if tick <= largest])
    ax.set_xlabel("information shared with the target (nats)")
    fit_names(ax, names)
    titled(ax, title, subtitle)
    return ax


def plot_stability(
    shares: Mapping[str, float],
    members: Collection[str] = (),
    *,
    threshold: float | None = 0.5,
    ax: Axes | None = None,
    title: str | None = "Stability over resamples",
    subtitle: str | None = None,
) -> Axes:
    """Draw the share of resamples in which each column was a member.

    Parameters
    ----------
    shares : mapping of str to float
        Columns and shares, in the order in which they are drawn.
    members : collection of str
        Columns of the blanket of all data, which are drawn in another colour.
    threshold : float, optional
        A line to compare with.
    ax, title, subtitle
        As in `plot_effects`.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = plot_stability({"age": 0.98, "sex": 0.2}, members=["age"], ax=Figure().add_subplot())
    >>> [float(bar.get_width()) for bar in ax.patches]
    [0.98, 0.2]
    """
    names = list(shares)
    ax = new_axes(ax, "drawing stability", (6.4, 1.2 + 0.3 * max(len(names), 3)))
    for word, colour, chosen in (
        ("in the blanket", CYCLE[0], [name in members for name in names]),
        ("not in the blanket", FAINT, [name not in members for name in names]),
    ):
        rows = [row for row, one in enumerate(chosen) if one]
        if rows:
            ax.barh(rows, [shares[names[row]] for row in rows], color=colour, height=0.62, label=word)
    if threshold is not None:
        ax.axvline(threshold, color=EDGE, linewidth=1, linestyle="--")
    ax.set_xlim(0.0, 1.0)
    ax.set_xlabel("share of resamples in which it is a member")
    fit_names(ax, names)
    titled(ax, title, subtitle)
    if names and members:
        ax.legend(loc="lower right")
    return ax
