"""Power over rows and labels, as curves and as contours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from blankets.errors import ParameterError, guarded
from blankets.planning import Plan
from blankets.plots._style import CYCLE, EDGE, new_axes, note, titled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ALONG = {"rows": "rows", "labeled": "labels"}
_LEVELS = (0.5, 0.7, 0.8, 0.9, 0.95, 0.99)


@guarded
def plot_power(
    curves: Plan | Mapping[str, Plan] | Mapping[str, Mapping[str, ArrayLike]] | Mapping[str, ArrayLike],
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
    curves : Plan or mapping
        A plan, or one curve as `Plan.power_curve` returns it (``rows`` or ``labeled``, ``power``, and perhaps
        ``low`` and ``high``, drawn as a band), or several of either by name.
    goal : float, optional
        Wanted power; by default that of the plan.
    log : bool
        Whether the axis of rows or labels is logarithmic.
    ax, title, subtitle
        As in `plot_effects`.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from blankets.planning import plan
    >>> from blankets.plots import plot_power
    >>> curve = plan(effect="medium", power=0.95).power_curve()
    >>> plot_power(curve, goal=0.95, ax=Figure().add_subplot()).get_xlabel()
    'rows'
    """
    if isinstance(curves, Plan):
        goal = curves.wanted_power if goal is None else goal
        curves = curves.power_curve()
    several: dict[str, Mapping[str, Any]] = {
        name: curve.power_curve() if isinstance(curve, Plan) else curve  # type: ignore[misc]
        for name, curve in ({"": curves} if "power" in curves else curves).items()
    }
    over = {key for curve in several.values() for key in _ALONG if key in curve}
    if len(over) != 1:
        raise ParameterError("the curves must all be over 'rows' or all over 'labeled', with their 'power'")
    (along,) = over
    ax = new_axes(ax, "drawing power", (6.4, 4.0))
    for i, (name, curve) in enumerate(several.items()):
        color = CYCLE[i % len(CYCLE)]
        style = ("-", "--", "-.", ":")[i % 4]  # can be distinguished in black and white too
        ax.plot(curve[along], curve["power"], color=color, linestyle=style, linewidth=2, label=name or None)
        if "low" in curve:
            ax.fill_between(curve[along], curve["low"], curve["high"], color=color, alpha=0.2, linewidth=0)
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


@guarded
def plot_planning(
    rows: Plan | ArrayLike,
    labeled: ArrayLike | None = None,
    power: ArrayLike | None = None,
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
    rows : Plan or array_like of shape (n,)
        A plan with partial labels (nothing else is then needed), or numbers of rows.
    labeled : array_like of shape (m,)
        Numbers of labels.
    power : array_like of shape (m, n)
        Power; NaN where so few rows cannot have so many labels.
    levels : sequence of float
        Powers for which to draw a line.
    goal : float, optional
        The wanted power, drawn thicker; one of ``levels``.
    ax, title, subtitle
        As in `plot_effects`.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from blankets.plots import plot_planning
    >>> rows, labels = np.array([100, 1000, 10000]), np.array([10, 100])
    >>> power = 1 - np.exp(-np.outer(labels, rows) / 1e5)
    >>> plot_planning(rows, labels, power, ax=Figure().add_subplot()).get_ylabel()
    'labels'
    >>> from blankets.planning import plan
    >>> found = plan(effect="medium", power=0.9, rows=3000, labels="pu", prior=0.2)
    >>> plot_planning(found, ax=Figure().add_subplot()).texts[-1].get_text()
    '3,000 rows, 41 labels'
    """
    here = None
    if isinstance(rows, Plan):
        here = (rows.rows, rows.n_labeled) if rows.reachable else None
        goal = rows.wanted_power if goal is None else goal
        rows, labeled, power = rows.power_grid().values()
    elif labeled is None or power is None:
        raise ParameterError("give a plan, or 'rows', 'labeled' and 'power'")
    values = np.ma.masked_invalid(np.asarray(power, float))
    ax = new_axes(ax, "drawing a plan", (6.4, 4.4))
    ax.set_xscale("log")
    ax.set_yscale("log")
    chosen = sorted({*levels, *([] if goal is None else [goal])})
    # One hue from light to dark: order can be read without color.
    ax.contourf(rows, labeled, values, levels=[0.0, *chosen, 1.0 + 1e-9], cmap="Blues", alpha=0.5)
    widths = [2.8 if level == goal else 1.0 for level in chosen]
    lines = ax.contour(rows, labeled, values, levels=chosen, colors="#222222", linewidths=widths)
    ax.clabel(lines, fmt=lambda level: f"{level:g}", fontsize=9)
    if here is not None:
        ax.scatter(*here, color=CYCLE[1], edgecolor="white", s=60, zorder=4)
        # The upper left corner, more labels than rows, is empty.
        corner: Any = {"xytext": (0.02, 0.93), "textcoords": "axes fraction", "color": EDGE, "fontsize": "small"}
        line = {"arrowstyle": "-", "color": EDGE, "linewidth": 0.8}
        ax.annotate(f"{here[0]:,} rows, {here[1]:,} labels", here, arrowprops=line, **corner)
    ax.set_xlabel("rows")
    ax.set_ylabel("labels")
    titled(ax, title, subtitle)
    return ax
