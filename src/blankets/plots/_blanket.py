"""Blankets as pictures, with and without latent members."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from blankets.errors import guarded
from blankets.plots._graph import Picture, Stroke, draw_picture
from blankets.plots._style import label_of, undecided_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from blankets.latent import LatentBlanket
    from blankets.results import Blanket


@guarded
def plot_blanket(blanket: Blanket, *, most: int = 42, ax: Axes | None = None, title: str | None = None) -> Axes:
    """Draw the target and its blanket; the stronger a member's effect, the wider its line.

    Parameters
    ----------
    blanket : Blanket
        What to draw.
    most : int
        Largest number of members to draw, the strongest first.
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
    >>> from blankets.plots import plot_blanket
    >>> e = NamedEvidence(x="age", y="ill", statistic=52.0, dof=2, log_p=-26.0, effect=0.026, n_rows=1000)
    >>> blanket = Blanket(target="ill", members=("age",), strengths={"age": e}, algorithm="iamb", settings={},
    ...                   columns=("age", "ill"), n_rows=1000)
    >>> plot_blanket(blanket, ax=Figure().add_subplot()).get_title()
    'Markov blanket of ill'
    """
    roles = {name: blanket.roles.get(name, "unknown") for name in blanket.members[:most]}
    lines = [
        Stroke(start, end, directed, _line_width(blanket, start, end))
        for start, end, directed in blanket.to_networkx().edges(data="directed")
        if {start, end} <= {blanket.target, *roles}
    ]
    what = "Markov blanket" if blanket.finds == "blanket" else "Parents and children"
    cut = f"\nthe {len(roles)} strongest of {len(blanket):,} members" if len(roles) < len(blanket) else ""
    if blanket.undecided:
        cut += f"\n{undecided_words(blanket)}"
    unchecked = [name for name in blanket.unchecked if name in roles]
    shape = Picture(blanket.target, roles, blanket.common_children, lines, unchecked=unchecked)
    return draw_picture(shape, title or f"{what} of {label_of(blanket.target, 40)}{cut}", ax, "drawing a blanket")


@guarded
def plot_latent_blanket(found: LatentBlanket, *, ax: Axes | None = None, title: str | None = None) -> Axes:
    """Draw the local graph of a blanket with latent members; latents are in dashed boxes.

    Parameters
    ----------
    found : LatentBlanket
        From `blankets.discover_latent`.
    ax, title
        As in `plot_blanket`.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Examples
    --------
    >>> import numpy as np
    >>> from blankets import discover_latent
    >>> from blankets.plots import plot_latent_blanket
    >>> rng = np.random.default_rng(1)
    >>> ill = rng.random(3000) < 0.4
    >>> hidden = np.where(rng.random(3000) < 0.85, ill, ~ill)
    >>> table = {name: np.where(rng.random(3000) < 0.8, hidden, ~hidden) for name in ("cough", "fever", "rash")}
    >>> ax = plot_latent_blanket(discover_latent({**table, "ill": ill}, "ill", n_restarts=6, rng=0))
    >>> "H1" in [text.get_text() for text in ax.texts]
    True
    """
    graph, target, roles = found.graph, found.target, found.roles
    children = [name for name, role in roles.items() if role == "child"]
    common = {
        name: next(child for child in children if graph.has_edge(name, child))
        for name, role in roles.items()
        if role == "spouse"
    }
    lines = [Stroke(start, end) for start, end in graph.edges]
    shape = Picture(target, roles, common, lines, {latent.name for latent in found.latents})
    return draw_picture(
        shape, title or f"Latent Markov blanket of {label_of(target, 40)}", ax, "drawing a blanket with latents"
    )


def _line_width(blanket: Blanket, start: str, end: str) -> float:
    """Return the width of a member's line, in proportion to its Cohen's w."""
    effect = blanket.strengths[end if start == blanket.target else start].effect
    return 0.8 if math.isnan(effect) else 0.8 + 3.2 * min(1.0, math.sqrt(2.0 * max(effect, 0.0)) / 0.6)
