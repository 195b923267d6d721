"""Draw a small directed graph as SVG, without other packages: parents above the target, children below it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from html import escape

import networkx as nx

# Okabe & Ito (2008); black text can be read on each color.
_FILLS = {"target": "#F0E442", "parent": "#56B4E9", "child": "#E69F00", "spouse": "#CC79A7", "outside": "#FFFFFF"}
_LETTER, _HIGH, _GAP, _PITCH, _LETTERS = 7.4, 30.0, 22.0, 82.0, 20
Places = dict[str, tuple[float, float, float]]  # middle, and half of the width


def roles_of(graph: nx.DiGraph, target: str) -> dict[str, str]:
    """Return the parents, children and spouses of the target; the others are "outside" its blanket.

    >>> roles_of(nx.DiGraph([("p", "t"), ("t", "c"), ("s", "c"), ("p", "x")]), "t")
    {'p': 'parent', 'c': 'child', 's': 'spouse', 'x': 'outside'}
    """
    children = set(graph.successors(target))
    roles = {}
    for name in (name for name in graph if name != target):
        if graph.has_edge(name, target):
            roles[name] = "parent"
        elif name in children:
            roles[name] = "child"
        else:
            roles[name] = "spouse" if children & set(graph.successors(name)) else "outside"
    return roles


def draw(graph: nx.DiGraph, target: str, latents: Collection[str]) -> str:
    """Return an SVG drawing: latents in dashed boxes, columns outside the blanket in white ones.

    Names come from data, so they are escaped.
    """
    roles = {target: "target", **roles_of(graph, target)}
    places, width, height = _places(graph, target, roles)
    arrows = "".join(_arrow(places[a], places[b]) for a, b in graph.edges)
    boxes = "".join(_box(name, places[name], roles[name], dashed=name in latents) for name in graph)
    tip = '<marker id="tip" orient="auto" markerWidth="9" markerHeight="8" refX="8" refY="4">'
    words = f"Local network of {target}: " + ", ".join(f"{a} acts on {b}" for a, b in graph.edges)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'role="img" aria-label="{escape(words)}">'
        f'<defs>{tip}<path d="M0,0 L9,4 L0,8 z" fill="currentColor"/></marker></defs>{arrows}{boxes}</svg>'
    )


def _places(graph: nx.DiGraph, target: str, roles: Mapping[str, str]) -> tuple[Places, float, float]:
    """Return the position of each box, and the size of the drawing."""
    named = {role: [name for name in graph if roles[name] == role] for role in _FILLS}
    near_parents = {name for name in named["outside"] if set(nx.all_neighbors(graph, name)) & set(named["parent"])}
    below = [name for name in named["outside"] if name not in near_parents]
    rows = [[n for n in named["outside"] if n in near_parents], named["parent"], [target]]
    rows = [row for row in [*rows, named["child"] + named["spouse"], below] if row]
    half = {name: (len(_cut(name)) * _LETTER + 24.0) / 2 for name in graph}
    widths = [sum(2 * half[name] + _GAP for name in row) - _GAP for row in rows]
    across, places = max(widths) + 12.0, {}
    for k, (row, wide) in enumerate(zip(rows, widths, strict=True)):
        x = (across - wide) / 2
        for name in row:
            places[name] = (x + half[name], 6.0 + _HIGH / 2 + k * _PITCH, half[name])
            x += 2 * half[name] + _GAP
    return places, across, 12.0 + _HIGH + (len(rows) - 1) * _PITCH


def _arrow(start: tuple[float, float, float], end: tuple[float, float, float]) -> str:
    """Return a line from border to border; a line within a row goes around the boxes between."""
    (x1, y1, half1), (x2, y2, half2) = start, end
    if y1 != y2:
        down = _HIGH / 2 if y2 > y1 else -_HIGH / 2
        d = f"M{x1:.1f},{y1 + down:.1f} L{x2:.1f},{y2 - down:.1f}"
    elif abs(x2 - x1) <= half1 + half2 + _GAP + 1:
        sign = 1 if x2 > x1 else -1
        d = f"M{x1 + sign * half1:.1f},{y1:.1f} L{x2 - sign * half2:.1f},{y2:.1f}"
    else:
        foot = y1 + _HIGH / 2
        d = f"M{x1:.1f},{foot:.1f} Q{(x1 + x2) / 2:.1f},{y1 + _PITCH / 2:.1f} {x2:.1f},{foot:.1f}"
    return f'<path d="{d}" fill="none" stroke="currentColor" stroke-width="1.5" marker-end="url(#tip)"/>'


def _box(name: str, place: tuple[float, float, float], role: str, *, dashed: bool) -> str:
    x, y, half = place
    kind, dashes = ("box latent", ' stroke-width="2" stroke-dasharray="5 3"') if dashed else ("box", "")
    return (
        f'<g class="{kind}"><title>{escape(name)}</title><rect x="{x - half:.1f}" y="{y - _HIGH / 2:.1f}" '
        f'width="{2 * half:.1f}" height="{_HIGH:g}" rx="6" fill="{_FILLS[role]}" stroke="currentColor"{dashes}/>'
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" dominant-baseline="central" font-size="13" '
        f'font-family="system-ui, sans-serif" fill="#000">{escape(_cut(name))}</text></g>'
    )


def _cut(name: str) -> str:
    return name if len(name) <= _LETTERS else f"{name[: _LETTERS - 1]}…"
