"""Effects with their intervals, and shares of resamples: one line per column."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import numpy as np

from blankets.errors import guarded
from blankets.plots._style import CYCLE, EDGE, FAINT, fit_names, new_axes, note, titled, undecided_words
from blankets.results import NOT_CHECKED, Blanket, Ranking, Stability
from blankets.stats import EFFECT_SIZES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Intervals = Mapping[str, tuple[float, float] | None]

_TICKS = (0.0, 0.005, 0.02, 0.045, 0.08, 0.125, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0)


@guarded
def plot_effects(
    effects: Mapping[str, float] | Blanket | Ranking,
    intervals: Intervals | None = None,
    *,
    most: int = 30,
    ax: Axes | None = None,
    title: str | None = "Effect sizes",
    subtitle: str | None = None,
) -> Axes:
    """Draw the effects of the members of a blanket, or of ranked features, with their 90% intervals.

    The axis is in proportion to Cohen's w = √(2 effect), so that weak effects can be distinguished too. Beside each
    member of a blanket stands its odds ratio, risk ratio or difference with its 95% interval.

    Parameters
    ----------
    effects : Blanket, Ranking or mapping of str to float
        Columns and their effects in nats, drawn in the given order.
    intervals : mapping of str to (low, high), optional
        Ends of intervals, if ``effects`` is a mapping; a column may have None.
    most : int
        So many columns at most are drawn, the first ones.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure.
    title, subtitle : str, optional
        Text over the picture.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from blankets.plots import plot_effects
    >>> ax = plot_effects({"age": 0.06, "sex": 0.01}, {"age": (0.04, 0.09)}, ax=Figure().add_subplot())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['age', 'sex']
    """
    values, known = _values(effects, intervals or {})
    names = list(values)[:most]
    values, known = {name: values[name] for name in names}, {name: known.get(name) for name in names}
    wide = 8.8 if isinstance(effects, Blanket) and effects.effects is not None else 6.4  # words stand beside it
    ax = new_axes(ax, "drawing effects", (wide, 1.3 + 0.3 * max(len(names), 3)))
    for row, name in enumerate(names):
        if (ends := known[name]) is not None:
            ax.plot(ends, [row, row], color=CYCLE[0], alpha=0.4, linewidth=6, solid_capstyle="round", zorder=2)
    doubtful = effects.unchecked if isinstance(effects, Blanket) else ()
    _dots(ax, values, doubtful)
    if isinstance(effects, Blanket) and effects.undecided and subtitle is None:
        subtitle = undecided_words(effects)
    tops = [*values.values(), *(ends[1] for ends in known.values() if ends is not None), EFFECT_SIZES["medium"]]
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
    ax.set_xlabel("how much it tells about the target (information in nats)")
    fit_names(ax, names)
    if isinstance(effects, Blanket):
        _in_own_terms(ax, effects, names)
    ax.set_ylim(len(names) + 0.2, -0.6)  # room for the words at the foot
    titled(ax, title, subtitle)
    return ax


def _in_own_terms(ax: Axes, blanket: Blanket, names: list[str]) -> None:
    """Write the odds ratio, or what the target has, of each member beside its row."""
    if blanket.effects is None:
        return
    place = ax.get_yaxis_transform()
    note(ax, blanket.effects.headings[-1], (1.0, 1.0), ax.transAxes, shift=(8, 4), va="bottom")
    for row, name in enumerate(names):
        *compared, estimate = blanket.effects.cells(name)
        words = f"{estimate}, {', '.join(filter(None, compared))}" if estimate != "-" else "-"
        note(ax, words, (1.0, row), place, shift=(8, 0), va="center")


def _dots(ax: Axes, values: Mapping[str, float], doubtful: Collection[str]) -> None:
    """Draw a dot for each effect, an open one for a member that could not be checked for redundancy."""
    faces = ["white" if name in doubtful else CYCLE[0] for name in values]
    ax.scatter(list(values.values()), range(len(values)), s=36, zorder=3, edgecolor=CYCLE[0], facecolor=faces)
    if any(name in doubtful for name in values):
        ax.scatter([], [], s=36, edgecolor=CYCLE[0], facecolor="white", label=NOT_CHECKED)
        ax.legend(loc="lower right")


def _values(
    effects: Mapping[str, float] | Blanket | Ranking, intervals: Intervals
) -> tuple[Mapping[str, float], Intervals]:
    """Return effects and intervals by name."""
    if isinstance(effects, Blanket):
        tested = {name: evidence for name, evidence in effects.strengths.items() if evidence.reliable}
        sizes = {name: evidence.information for name, evidence in tested.items()}
        return sizes, {name: evidence.interval() for name, evidence in tested.items()}
    if isinstance(effects, Ranking):
        ends = zip(*(end.tolist() for end in effects.interval()), strict=True)
        by_name = dict(zip(effects.names, effects.corrected.tolist(), strict=True))
        return by_name, dict(zip(effects.names, ends, strict=True))
    return effects, intervals


@guarded
def plot_stability(
    shares: Mapping[str, float],
    members: Collection[str] | None = None,
    *,
    most: int = 40,
    threshold: float | None = 0.5,
    ax: Axes | None = None,
    title: str | None = "Stability over resamples",
    subtitle: str | None = None,
) -> Axes:
    """Draw the share of resamples in which each column was a member.

    Parameters
    ----------
    shares : Stability or mapping of str to float
        Columns and shares, in the order in which they are drawn.
    members : collection of str, optional
        Members of the blanket of all data, drawn in another color; a `blankets.Stability` has them.
    most : int
        So many columns at most are drawn, the first ones.
    threshold : float, optional
        Draw a line at this share.
    ax, title, subtitle
        As in `plot_effects`.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from blankets.plots import plot_stability
    >>> ax = plot_stability({"age": 0.98, "sex": 0.2}, members=["age"], ax=Figure().add_subplot())
    >>> [float(bar.get_width()) for bar in ax.patches]
    [0.98, 0.2]
    """
    if members is None:
        members = shares.members if isinstance(shares, Stability) else ()
    names = list(shares)[:most]
    ax = new_axes(ax, "drawing stability", (6.4, 1.2 + 0.3 * max(len(names), 3)))
    for word, color, chosen in (
        ("in the blanket", CYCLE[0], [name in members for name in names]),
        ("not in the blanket", FAINT, [name not in members for name in names]),
    ):
        rows = [row for row, one in enumerate(chosen) if one]
        if rows:
            ax.barh(rows, [shares[names[row]] for row in rows], color=color, height=0.62, label=word)
    if threshold is not None:
        ax.axvline(threshold, color=EDGE, linewidth=1, linestyle="--")
    ax.set_xlim(0.0, 1.0)
    ax.set_xlabel("share of resamples in which it is a member")
    fit_names(ax, names)
    titled(ax, title, subtitle)
    if names and members:
        ax.legend(loc="lower right")
    return ax
