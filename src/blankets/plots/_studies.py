"""How a blanket depends on the class prior and the level, and the states of a latent variable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from blankets.errors import ParameterError, guarded
from blankets.plots._style import CYCLE, FAINT, fit_names, label_of, new_axes, note, titled
from blankets.results import Sensitivity

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@guarded
def plot_prior_sensitivity(
    runs: Sensitivity | Sequence[tuple[float, Sequence[str]]],
    *,
    used: float | None = None,
    ax: Axes | None = None,
    title: str | None = "Members by class prior",
    subtitle: str | None = None,
) -> Axes:
    """Draw which columns are members for each value of the class prior.

    Parameters
    ----------
    runs : Sensitivity or sequence of (float, sequence of str)
        Values of p(y=1), in order, and the members found with each.
    used : float, optional
        The value that the study uses.
    ax, title, subtitle
        As in `plot_effects`.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from blankets.plots import plot_prior_sensitivity
    >>> runs = [(0.1, ["age"]), (0.2, ["age", "sex"])]
    >>> ax = plot_prior_sensitivity(runs, used=0.2, ax=Figure().add_subplot())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['age', 'sex']
    """
    runs = runs.runs if isinstance(runs, Sensitivity) else runs
    often: dict[str, int] = {}
    for _, members in runs:
        for name in members:
            often[name] = often.get(name, 0) + 1
    names = sorted(often, key=lambda name: -often[name])
    ax = new_axes(ax, "drawing sensitivity to the prior", (6.4, 1.3 + 0.3 * max(len(names), 3)))
    priors = [prior for prior, _ in runs]
    for row, name in enumerate(names):
        ax.axhline(row, color=FAINT, linewidth=0.5, zorder=1)
        inside = [prior for prior, members in runs if name in members]
        ax.scatter(inside, [row] * len(inside), color=CYCLE[0], s=34, zorder=3)
        outside = [prior for prior in priors if prior not in inside]
        ax.scatter(outside, [row] * len(outside), facecolor="white", edgecolor=FAINT, s=34, zorder=2)
    if used is not None:
        ax.axvline(used, color=CYCLE[1], linewidth=1.2, linestyle="--", zorder=1)
    ax.set_xlabel("p(y=1); filled: a member" + ("; dashed: the value used" if used is not None else ""))
    fit_names(ax, names)
    titled(ax, title, subtitle)
    return ax


@guarded
def plot_roc(
    curves: Mapping[str, Mapping[str, ArrayLike]],
    *,
    marks: Sequence[float] = (0.001, 0.01, 0.05),
    ax: Axes | None = None,
    title: str | None = "ROC over the level α",
    subtitle: str | None = None,
) -> Axes:
    """Draw the share of true members found over the share of other columns admitted, as the level α varies.

    Parameters
    ----------
    curves : mapping of str to mapping
        By name: ``alpha``, ``false_positive_rate`` and ``true_positive_rate``, arrays of one length, by
        rising α, as `blankets.simulate.measures.roc` returns them.
    marks : sequence of float
        Levels to mark on each curve.
    ax, title, subtitle
        As in `plot_effects`.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from blankets.plots import plot_roc
    >>> curve = {"alpha": [0.01, 0.05], "false_positive_rate": [0.01, 0.05], "true_positive_rate": [0.7, 0.9]}
    >>> plot_roc({"iamb": curve}, ax=Figure().add_subplot()).get_ylabel()
    'members found'
    """
    ax = new_axes(ax, "drawing a ROC curve", (5.2, 5.0))
    ax.plot([0, 1], [0, 1], color=FAINT, linewidth=1, zorder=1)
    for i, (name, curve) in enumerate(curves.items()):
        alpha, x, y = (np.asarray(curve[key], float) for key in ("alpha", "false_positive_rate", "true_positive_rate"))
        if not len(alpha) == len(x) == len(y):
            raise ParameterError(f"the arrays of the curve {name!r} differ in length")
        color, style = CYCLE[i % len(CYCLE)], ("-", "--", "-.", ":")[i % 4]
        ax.plot([0, *x, 1], [0, *y, 1], color=color, linestyle=style, linewidth=2, label=label_of(name))
        for mark in marks:
            at = int(np.argmin(np.abs(np.log(alpha) - np.log(mark)))) if len(alpha) else -1
            if at >= 0 and np.isclose(alpha[at], mark, rtol=0.05):
                ax.scatter(x[at], y[at], color=color, s=28, zorder=3)
                if i == 0:
                    note(ax, f"α = {mark:g}", (x[at], y[at]), "data", shift=(7, -9))
    ax.set(xlim=(0.0, 1.0), ylim=(0.0, 1.02), xlabel="other columns admitted", ylabel="members found")
    ax.set_aspect("equal")
    if curves:
        ax.legend(frameon=False, loc="lower right")
    titled(ax, title, subtitle)
    return ax


@guarded
def plot_latent_posterior(
    posterior: ArrayLike,
    by: ArrayLike | None = None,
    *,
    state: int = -1,
    bins: int = 20,
    ax: Axes | None = None,
    title: str | None = "Posterior of a latent variable",
    subtitle: str | None = None,
) -> Axes:
    """Draw the distribution, over rows, of the probability of a state of a latent variable.

    Parameters
    ----------
    posterior : array_like of shape (rows, states)
        Probability of each state for each row.
    by : array_like of shape (rows,), optional
        Groups of rows (for example the target), drawn separately.
    state : int
        The state; default: the last.
    bins : int
        Number of bars.
    ax, title, subtitle
        As in `plot_effects`.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from blankets.plots import plot_latent_posterior
    >>> ax = plot_latent_posterior([[0.9, 0.1], [0.2, 0.8]], by=["ill", "well"], ax=Figure().add_subplot())
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['ill', 'well']
    """
    values = np.asarray(posterior, float)
    if values.ndim != 2:
        raise ParameterError(f"'posterior' must have shape (rows, states), but has {values.shape}")
    one = values[:, state]
    groups = np.zeros(len(one)) if by is None else np.asarray(by)
    if len(groups) != len(one):
        raise ParameterError(f"'by' has {len(groups)} values for {len(one)} rows")
    ax = new_axes(ax, "drawing a posterior", (6.4, 3.8))
    edges = np.linspace(0.0, 1.0, bins + 1)
    for i, group in enumerate(np.unique(groups)):
        share = np.histogram(one[groups == group], edges)[0] / max(1, int((groups == group).sum()))
        color, style = CYCLE[i % len(CYCLE)], ("-", "--", "-.", ":")[i % 4]
        ax.stairs(share, edges, fill=True, color=color, alpha=0.25)
        ax.stairs(share, edges, color=color, linewidth=1.8, linestyle=style, label=label_of(str(group)))
    number = values.shape[1] + state if state < 0 else state
    ax.set(xlim=(0.0, 1.0), xlabel=f"probability of state {number} of {values.shape[1]}, counted from 0")
    ax.set_ylabel("share of rows" if by is None else "share of the group's rows")
    if by is not None:
        ax.legend(frameon=False)
    titled(ax, title, subtitle)
    return ax
