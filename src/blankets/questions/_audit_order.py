"""What an audit finds of order: levels whose order tests do not use unless somebody says so."""

from __future__ import annotations

from collections.abc import Iterator

from blankets.data import on_scales, several_numbers
from blankets.results import Finding, joined
from blankets.study import Study

FEWEST_WORDS = 3  # levels from which an order is worth a word
_SCALES = (
    "never < almost never|rarely|seldom < sometimes|occasionally < often|frequently < almost always|usually < always",
    "strongly disagree < disagree|somewhat disagree < neutral|neither agree nor disagree|undecided "
    "< agree|somewhat agree < strongly agree",
    "none|no|absent < mild|minor|slight < moderate < severe|serious < very severe|critical",
    "very low < low < medium|moderate|middle|normal|average|intermediate < high < very high",
    "very poor|very bad < poor|bad < fair|average|ok < good < very good < excellent",
    "very small < small < medium|middle < large|big < very large|very big",
    "very dissatisfied < dissatisfied|somewhat dissatisfied < neutral < satisfied|somewhat satisfied < very satisfied",
    "not at all < a little|slightly|not very < somewhat|moderately < quite a bit|very < very much|extremely",
    "too little < about right < too much",
)
_RANKS = tuple({word: k for k, words in enumerate(s.split(" < ")) for word in words.split("|")} for s in _SCALES)


def in_order(levels: tuple[object, ...]) -> tuple[object, ...] | None:
    """Return levels in the order that their words have; None if they have none.

    >>> in_order(("High", "Low", "Medium")), in_order(("high", "low", "red"))
    (('Low', 'Medium', 'High'), None)
    """
    words = [level.strip().lower() for level in levels if isinstance(level, str)]
    if len(words) < max(len(levels), FEWEST_WORDS):
        return None
    for rank in _RANKS:
        if len({rank.get(word) for word in words} - {None}) == len(words):
            return tuple(level for _, level in sorted(zip((rank[word] for word in words), levels, strict=True)))
    return None


def order_findings(study: Study) -> Iterator[Finding]:
    """Yield columns whose levels seem to have an order that tests do not use."""
    frame = study.frame
    free = [j for j in range(frame.n_columns) if j not in frame.ordered and j not in frame.numbers]
    absent = {} if study.encoder is None else study.encoder.missing_labels
    there = {frame.names[j]: tuple(x for x in frame.levels[j] if x != absent.get(frame.names[j])) for j in free}
    used = {name for columns in on_scales(there).values() for name in columns}  # an audit reads these without order
    levels = {name: some for name, some in there.items() if name not in used}
    words = {name: order for name, some in levels.items() if (order := in_order(some)) is not None}
    for name, order in words.items():
        yield Finding(
            kind="order",
            columns=(name,),
            what=f"The levels of {joined([name])} seem to have an order, which tests do not use: "
            f"{' < '.join(map(str, order))}.",
            next_step="If it has a meaning:",
            fix={"ordered": {name: list(order)}},
        )
    numbers = [n for n, some in levels.items() if n not in study.report.binned and several_numbers(some)]
    beside = study.report.binned or frame.numbers  # tests use their order there
    if numbers and not beside and study.reading.ordered is None:
        yield Finding(
            kind="order",
            columns=tuple(numbers),
            what=f"Have few different numbers, and are taken for categories without an order: {joined(numbers)}.",
            next_step="If their order has a meaning (years, counts, grades):",
            fix={"ordered": numbers},
        )
