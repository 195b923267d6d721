"""Power over rows and labels, as curves and as contours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from blankets.errors import ParameterError
from blankets.plots._style import CYCLE, EDGE, new_axes, note, titled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_planning", "plot_power"]

_ALONG = {"rows": "rows", "labelled": "labels"}
_LEVELS = (0.5, 0.7, 0.8, 0.9, 0.95, 0.99)


def plot_power(
    curves: Mapping[str, Mapping[str, ArrayLike]] | Mapping[str, ArrayLike],
    *,
    goal: float | None = None,
    log: bool = False,
    ax: Axes | None = None,
    title: str | None = "Power",
    subtitle: str | None = None,
) -> Axes:
    """Draw power over the number of rows, or of labels.

    Parameters
    ----------
    curves : mapping
        One curve as `Plan.power_curve` returns it (``rows`` or ``labelled``, ``power``, and perhaps ``low``
        and ``high``, drawn as a band), or several of them by name.
    goal : float, optional
        Power that is wanted.
    log : bool
        Whether rows or labels go by their logarithm.
    ax, title, subtitle
        As in `plot_effects`.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from blankets.planning import plan
    >>> curve = plan(effect="medium", power=0.95).power_curve()
    >>> plot_power(curve, goal=0.95, ax=Figure().add_subplot()).get_xlabel()
    'rows'
    """
    several: Mapping[str, Mapping[str, Any]] = {"": curves} if "power" in curves else curves  # type: ignore[assignment]
    over = {key for curve in several.values() for key in _ALONG if key in curve}
    if len(over) != 1:
        raise ParameterError("the curves must all be over 'rows' or all over 'labelled', with their 'power'")
    (along,) = over
    ax = new_axes(ax, "drawing power", (6.4, 4.0))
    for i, (name, curve) in enumerate(several.items()):
        colour = CYCLE[i % len(CYCLE)]
        style = ("-", "--", "-.", ":")[i % 4]  # told apart in black and white too
        ax.plot(curve[along], curve["power"], color=colour, linestyle=style, linewidth=2, label=name or None)
        if "low" in curve:
            ax.fill_between(curve[along], curve["low"], curve["high"], color=colour, alpha=0.2, linewidth=0)
    if goal is not None:
        ax.axhline(goal, color=EDGE, linewidth=1, linestyle="--", zorder=1)
        note(ax, f"{goal:g}", (1, goal), ax.get_yaxis_transform(), shift=(4, 0), va="center")
    if log:
        ax.set_xscale("log")
    ax.set_ylim(0.0, 1.02)
    ax.set_xlabel(_ALONG[along])
    ax.set_ylabel("power")
    if any(several):
        ax.legend(frameon=False, loc="lower right")
    titled(ax, title, subtitle)
    return ax


def plot_planning(
    rows: ArrayLike,
    labelled: ArrayLike,
    power: ArrayLike,
    *,
    levels: Sequence[float] = _LEVELS,
    goal: float | None = None,
    ax: Axes | None = None,
    title: str | None = "Power by rows and labels",
    subtitle: str | None = None,
) -> Axes:
    """Draw lines of equal power over the number of rows and of labels.

    Parameters
    ----------
    rows : array_like of shape (n,)
        Numbers of rows.
    labelled : array_like of shape (m,)
        Numbers of labels.
    power : array_like of shape (m, n)
        Power; NaN where there cannot be so many labels among so few rows.
    levels : sequence of float
        Powers of which a line is drawn.
    goal : float, optional
        One of these that is wanted, drawn thicker.
    ax, title, subtitle
        As in `plot_effects`.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> rows, labels = np.array([100, 1000, 10000]), np.array([10, 100])
    >>> power = 1 - np.exp(-np.outer(labels, rows) / 1e5)
    >>> plot_planning(rows, labels, power, ax=Figure().add_subplot()).get_ylabel()
    'labels'
    """
    values = np.ma.masked_invalid(np.asarray(power, float))
    ax = new_axes(ax, "drawing a plan", (6.4, 4.4))
    ax.set_xscale("log")
    ax.set_yscale("log")
    chosen = sorted({*levels, *([] if goal is None else [goal])})
    # One hue from light to dark: order can be read without colour.
    ax.contourf(rows, labelled, values, levels=[0.0, *chosen, 1.0 + 1e-9], cmap="Blues", alpha=0.75)
    widths = [2.8 if level == goal else 1.0 for level in chosen]
    lines = ax.contour(rows, labelled, values, levels=chosen, colors="#222222", linewidths=widths)
    ax.clabel(lines, fmt=lambda level: f"{level:g}", fontsize=9)
    ax.set_xlabel("rows")
    ax.set_ylabel("labels")
    titled(ax, title, subtitle)
    return ax
