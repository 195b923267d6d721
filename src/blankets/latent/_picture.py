"""A small directed graph as SVG, with no other package: nodes on a circle around the target."""

from __future__ import annotations

import math
from collections.abc import Collection
from html import escape

import networkx as nx

__all__ = ["draw"]

_RADIUS, _NODE, _SIZE = 120.0, 24.0, 340.0


def draw(graph: nx.DiGraph, target: str, latents: Collection[str], members: Collection[str]) -> str:
    """Return an SVG drawing: the target in the middle, latents dashed, columns outside the blanket grey.

    Names come from data, so they are escaped.
    """
    middle = _SIZE / 2
    around = [name for name in graph if name != target]
    places = {target: (middle, middle)}
    for k, name in enumerate(around):
        angle = 2 * math.pi * k / max(len(around), 1) - math.pi / 2
        places[name] = (middle + _RADIUS * math.cos(angle), middle + _RADIUS * math.sin(angle))
    arrows = "".join(_arrow(places[a], places[b]) for a, b in graph.edges)
    circles = "".join(_node(name, places[name], target, latents, members) for name in graph)
    tip = '<marker id="tip" orient="auto" markerWidth="8" markerHeight="6" refX="8" refY="3">'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_SIZE:g} {_SIZE:g}" width="{_SIZE:g}" role="img">'
        f"<title>{escape(f'Local network of {target}')}</title>"
        f'<defs>{tip}<path d="M0,0 L8,3 L0,6 z"/></marker></defs>{arrows}{circles}</svg>'
    )


def _arrow(start: tuple[float, float], end: tuple[float, float]) -> str:
    """Return a line from rim to rim."""
    (x1, y1), (x2, y2) = start, end
    length = math.hypot(x2 - x1, y2 - y1) or 1.0
    dx, dy = (x2 - x1) / length * _NODE, (y2 - y1) / length * _NODE
    return (
        f'<line x1="{x1 + dx:.1f}" y1="{y1 + dy:.1f}" x2="{x2 - dx:.1f}" y2="{y2 - dy:.1f}" '
        'stroke="black" marker-end="url(#tip)"/>'
    )


def _node(
    name: str, place: tuple[float, float], target: str, latents: Collection[str], members: Collection[str]
) -> str:
    fill = "#cfe3f7" if name == target else "white" if name in members else "#e6e6e6"
    dashes = ' stroke-dasharray="4 3"' if name in latents else ""
    x, y = place
    shown = name if len(name) <= 8 else f"{name[:7]}…"
    return (
        f'<g><title>{escape(name)}</title><circle cx="{x:.1f}" cy="{y:.1f}" r="{_NODE:g}" fill="{fill}" '
        f'stroke="black"{dashes}/><text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" dominant-baseline="central" '
        f'font-size="11" font-family="sans-serif">{escape(shown)}</text></g>'
    )
