"""Orders of levels that nobody declared: answers on a scale, and several numbers in a table that holds numbers.

Tests of an order lose little if it has no meaning, because each level has a function of its own as well (methods,
section 10). So the order is used where columns are tested by functions anyway: beside numbers, and beside several
numbers of which one is a fraction, because codes are whole. Tables of codes alone are counted, and only scales that
several columns share are taken for an order there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from blankets.data._reading import Reading
from blankets.errors import listed
from blankets.voice import option

# Whole numbers that are answers on a scale, if at least `SCALED` columns have the same. One such column alone may be
# a code without an order, such as a region. Conventions, with what they cost: docs/howto/numbers.md.
SCALES = (
    *(tuple(range(1, top + 1)) for top in (5, 6, 7, 9, 10)),
    *(tuple(range(-top, top + 1)) for top in (2, 3, 4, 5)),
    tuple(range(11)),
)
SCALED = 3
SEVERAL_NUMBERS = 5  # from so many on: years of school, visits, rooms

Levels = Mapping[str, tuple[object, ...]]


class Orders(NamedTuple):
    """Columns whose levels seem to have an order, and what to say of them."""

    scales: tuple[str, ...] = ()
    several: tuple[str, ...] = ()  # numbers, beside columns that are tested as numbers
    notes: tuple[str, ...] = ()


def found_orders(
    levels: Levels, reading: Reading, target: str | None, ordered: Collection[str], *, beside_numbers: bool
) -> Orders:
    """Return the columns whose levels seem to have an order, if the user says nothing of orders.

    ``levels``: of each column. ``ordered``: columns whose order is known. ``beside_numbers``: whether the table holds
    numbers; there several numbers are in order, but for the target, whose levels are classes.

    Examples
    --------
    >>> levels = {"school": (8, 9, 10, 12, 16), "region": (1, 2, 3, 4), "grade": (1, 2, 3, 4, 5)}
    >>> found_orders(levels, Reading(), "grade", (), beside_numbers=True).several
    ('school',)

    A column with a fraction is measured, and so the table holds numbers.

    >>> found_orders(levels | {"age": (17.5, 22, 27, 32, 37)}, Reading(), "grade", (), beside_numbers=False).several
    ('school', 'age')
    """
    if reading.ordered is not None:
        return Orders()
    free = {
        name: some
        for name, some in levels.items()
        if name not in ordered and reading.rule_for(name)[0] != "categorical"
    }
    scales, notes = [], []
    for scale, alike in on_scales(free).items():
        scales += alike
        notes.append(
            f"{len(alike)} columns look like answers on a scale from {scale[0]} to {scale[-1]} and were read in "
            f"that order: {listed(alike, 3)}; {option(ordered=[])} reads them without."
        )
    several = [name for name, some in free.items() if name not in scales and name != target and several_numbers(some)]
    measured = any(isinstance(level, float) and level % 1 for name in several for level in free[name])
    return Orders(tuple(scales), tuple(several) if beside_numbers or measured else (), tuple(notes))


def on_scales(levels: Levels) -> dict[tuple[int, ...], list[str]]:
    """Return scales with the columns whose levels are theirs, where several columns have the same scale."""
    alike = {scale: [name for name, some in levels.items() if some == scale] for scale in SCALES}
    return {scale: columns for scale, columns in alike.items() if len(columns) >= SCALED}


def several_numbers(levels: tuple[object, ...]) -> bool:
    """Tell whether levels are several numbers.

    >>> several_numbers((0, 1, 2, 3, 4.5)), several_numbers((1, 2, 3)), several_numbers(("1", "2", "3", "4", "5"))
    (True, False, False)
    """
    return len(levels) >= SEVERAL_NUMBERS and all(
        isinstance(level, int | float) and not isinstance(level, bool) for level in levels
    )
