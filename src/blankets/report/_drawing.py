"""Drawings as SVG, from known positions: no library, nothing to load, sharp at any size."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from blankets.report._html import Html, many, tag
from blankets.results import NOT_CHECKED

if TYPE_CHECKING:
    from blankets.report._effects import EffectRow, Effects
    from blankets.report._neighborhood import Box, Graph, Line

    Places = Mapping[str, list[float]]

_HEAD = 14.0  # length of the head of an arrow; the line ends where the head begins
_LETTER = 8.5  # width of a bold letter of the scale, with the space it needs


def graph(content: Graph, shape: Literal["wide", "tall"]) -> Html:
    """Return the drawing of the neighborhood in one of two shapes, "wide" or "tall"."""
    drawing = content[shape]
    places = drawing["places"]
    route = _across if shape == "wide" else _around
    number = {box["name"]: index for index, box in enumerate(content["boxes"])}
    lines = [_line(line, route(line, places), shape, number) for line in content["lines"]]
    boxes = [_box(index, box, places[box["name"]]) for index, box in enumerate(content["boxes"])]
    head = tag("path", d="M0,0 L10,5 L0,10 z")
    marker = tag(
        "marker",
        head,
        id=f"head-{shape}",
        viewBox="0 0 10 10",
        refX="0.5",
        refY="5",
        markerWidth="14",
        markerHeight="14",
        markerUnits="userSpaceOnUse",
        orient="auto-start-reverse",
    )
    return tag(
        "svg",
        tag("title", content["words"]),
        tag("defs", marker),
        *lines,
        *boxes,
        class_=f"graph {shape}",
        viewBox=f"0 0 {drawing['width']:.0f} {drawing['height']:.0f}",
        width=f"{drawing['width']:.0f}",
        height=f"{drawing['height']:.0f}",
        role="group",
        aria_label=content["words"],
    )


def _line(line: Line, route: str, shape: str, number: dict[str, int]) -> Html:
    arrow = f"url(#head-{shape})" if line["directed"] else None
    ends = {"data_start": number[line["start"]], "data_end": number[line["end"]]}
    return tag("path", d=route, class_="line", stroke_width=line["width"], marker_end=arrow, **ends)


def _across(line: Line, places: Places) -> str:
    """Return a curve between the facing sides of two boxes."""
    start, end = places[line["start"]], places[line["end"]]
    gap = _HEAD if line["directed"] else 0.0
    forwards = end[0] > start[0]
    x1, x2 = (start[0] + start[2], end[0] - gap) if forwards else (start[0], end[0] + end[2] + gap)
    y1, y2 = start[1] + start[3] / 2, end[1] + end[3] / 2
    bend = (x2 - x1) / 2
    return f"M{x1:.1f},{y1:.1f} C{x1 + bend:.1f},{y1:.1f} {x2 - bend:.1f},{y2:.1f} {x2:.1f},{y2:.1f}"


def _around(line: Line, places: Places) -> str:
    """Return an arc on the left of a column of boxes."""
    start, end = places[line["start"]], places[line["end"]]
    y1, y2 = start[1] + start[3] / 2, end[1] + end[3] / 2
    x1, x2 = start[0], end[0] - (_HEAD if line["directed"] else 0.0)
    # An arrow arrives a little off the middle, so that it does not hide lines that leave there.
    y2 += math.copysign(4.0, y1 - y2)
    out = min(x1, x2) - min(72.0, 22.0 + abs(y2 - y1) / 6.0)
    return f"M{x1:.1f},{y1:.1f} C{out:.1f},{y1:.1f} {out:.1f},{y2:.1f} {x2:.1f},{y2:.1f}"


def _box(index: int, box: Box, place: list[float]) -> Html:
    x, y, width, height = place
    latent = " latent" if box["latent"] else "" if box["checked"] else " unchecked"
    shape = tag("rect", x=f"{x:.1f}", y=f"{y:.1f}", width=f"{width:.1f}", height=f"{height:.1f}", rx="7")
    middle = {"x": f"{x + width / 2:.1f}", "y": f"{y + height / 2 + 4.5:.1f}", "text_anchor": "middle"}
    return tag(
        "g",
        shape,
        tag("text", box["label"], **middle),
        class_=f"box {box['role']}{latent}",
        tabindex="0",
        role="button",
        aria_label=box["words"],
        data_box=index,
    )


def legend(content: Graph) -> Html:
    """Return the legend of colors and widths of lines."""
    items = [tag("li", tag("span", class_=f"swatch {role}"), words) for role, words in content["roles"]]
    if content["latent"]:
        items.append(tag("li", tag("span", class_="swatch latent"), "latent: not a column of the data"))
    if not all(box["checked"] for box in content["boxes"]):
        items.append(tag("li", tag("span", class_="swatch unchecked"), NOT_CHECKED))
    if content["lines"]:
        thin = tag("line", x1="0", y1="6", x2="22", y2="6", stroke_width="1.9")
        thick = tag("line", x1="28", y1="6", x2="50", y2="6", stroke_width="6")
        items.append(tag("li", tag("svg", thin, thick, width="50", height="12", aria_hidden="true"), "weak, strong"))
    if any(line["directed"] for line in content["lines"]):
        arrow = tag("path", d="M0,6 H18 M14,2 L20,6 L14,10", fill="none", stroke_width="1.6")
        items.append(tag("li", tag("svg", arrow, width="22", height="12", aria_hidden="true"), "direction known"))
    return tag("ul", *items, class_="legend")


def _at(value: float, largest: float) -> float:
    """Return the position of an effect on a scale of 200, in proportion to Cohen's w."""
    return 6.0 + 188.0 * math.sqrt(max(value, 0.0) / largest)


def effect_bar(row: EffectRow, content: Effects) -> Html:
    """Return the interval of one effect as a bar with a dot."""
    largest = content["largest"]
    marks = [_mark(value, largest, 0, 22) for _, value in content["marks"].items() if value <= largest]
    parts = [tag("line", x1="6", y1="11", x2="194", y2="11", class_="base"), *marks]
    if row["interval"]:
        low, high = (_at(value, largest) for value in row["interval"])
        parts.append(tag("rect", x=f"{low:.1f}", y="7", width=f"{max(high - low, 1):.1f}", height="8", rx="4"))
    if row["less_bias"] is not None:
        parts.append(
            tag(
                "circle",
                cx=f"{_at(row['less_bias'], largest):.1f}",
                cy="11",
                r="5",
                class_=None if row["checked"] else "open",
            )
        )
    words = f"{row['size']}: {row['less_bias_words']} nats, interval {row['interval_words']}"
    return tag("svg", *parts, class_="bar", viewBox="0 0 200 22", role="img", aria_label=words)


def effect_scale(content: Effects) -> Html:
    """Return the words over the bars, as far as there is space for them."""
    largest = content["largest"]
    free = [(_at(value, largest), word) for word, value in content["marks"].items() if value <= largest * 0.9]
    placed: list[tuple[float, str]] = []
    for x, word in sorted(free[::2]) + sorted(free[1::2]):  # the ends first: the words between can be guessed
        if all(abs(x - other) > _LETTER * (len(word) + len(there)) / 2 for other, there in placed):
            placed.append((x, word))
    marks = [tag("text", word, x=f"{x:.1f}", y="11", text_anchor="middle") for x, word in sorted(placed)]
    return tag("svg", *marks, class_="bar", viewBox="0 0 200 16", role="img", aria_label="scale of effects")


def _mark(value: float, largest: float, top: float, bottom: float) -> Html:
    x = f"{_at(value, largest):.1f}"
    return tag("line", x1=x, y1=f"{top:g}", x2=x, y2=f"{bottom:g}", class_="mark")


def share_bar(share: float) -> Html:
    """Return a share of 1 as a bar."""
    filled = tag("rect", x="6", y="7", width=f"{188 * min(max(share, 0.0), 1.0):.1f}", height="8", rx="4")
    base = tag("line", x1="6", y1="11", x2="194", y2="11", class_="base")
    return tag("svg", many(base, filled), class_="bar", viewBox="0 0 200 22", role="img", aria_label=f"{share:.0%}")
