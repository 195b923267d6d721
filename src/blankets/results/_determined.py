"""Columns that were left out given columns that were left out too.

If one column determines another (sex as a letter and as a number, a district and its region), a test of the
second given the first finds nothing, even if both matter. A search that separates by subsets may then remove each
because of the other: neither is a member, though one of them should be. Near copies have the same effect with
tests that have degrees of freedom; if this leaves an empty blanket, the result says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from blankets.errors import listed
from blankets.voice import entry, option

if TYPE_CHECKING:
    from blankets.results._blanket import Blanket


def determined(blanket: Blanket) -> dict[str, tuple[str, ...]]:
    """Return the columns left out whose last test had no degrees of freedom, and its conditioning columns.

    Only columns that were tested given a column outside the blanket.
    """
    outside = {name: given for name, given in _without_freedom(blanket) if name not in blanket.members}
    return {name: given for name, given in outside.items() if not set(given) <= set(blanket.members)}


def _without_freedom(blanket: Blanket) -> Iterator[tuple[str, tuple[str, ...]]]:
    for step in blanket.decisions:
        evidence = step.evidence
        if step.action == "removed" and evidence.reliable and evidence.dof == 0 and evidence.given:
            yield evidence.x, evidence.given
    seen = blanket.passed_over
    for i in np.flatnonzero(seen.reliable & (seen.dof == 0)).tolist():
        if given := seen.givens[seen.given[i]]:
            yield blanket.columns[seen.columns[i]], given


def determined_sentence(blanket: Blanket) -> str | None:
    """Return the sentence about such columns; None if there are none."""
    found = determined(blanket)
    if not found:
        return None
    others = dict.fromkeys(z for given in found.values() for z in given if z not in blanket.members)
    return (
        f"the blanket of {blanket.target!r} may lack members: {listed(found)} were left out because of "
        f"{listed(others)}, which determine them or the target exactly and are not in it either; keep only one of such "
        f"columns with {option(exclude=...)}, or choose {option(algorithm='iamb')}"
    )


def emptied(blanket: Blanket) -> tuple[str, ...]:
    """Return pairs of columns of an empty blanket that were removed because of each other.

    Only if one of them had entered with a p-value that is too small to be chance among so many columns. Labeling
    drivers are given in every test with the target, so they do not count as a reason for removal.
    """
    if blanket.members:
        return ()
    drivers = set(blanket.settings.get("drivers", ()))
    by = {name: set(given) - drivers for name, given in blanket.separators.items()}
    names = tuple(name for name, given in by.items() if any(name in by.get(other, ()) for other in given))
    level = float(blanket.settings.get("alpha", 0.0)) / max(len(blanket.columns) - 1, 1)
    in_before = (step.evidence for step in blanket.decisions if step.action == "admitted" and step.x in names)
    return names if any(one.y == blanket.target and one.p <= level for one in in_before) else ()


def emptied_sentence(blanket: Blanket) -> str | None:
    """Return the sentence about such pairs; None if there are none."""
    names = emptied(blanket)
    if not names:
        return None
    return (
        f"the blanket of {blanket.target!r} is empty, although columns depend on it: {listed(names, 4)} were left "
        f"out given each other, as near copies are; keep only one of such columns "
        f"with {option(exclude=...)} ({entry('audit')} finds them), or choose {option(algorithm='iamb')}"
    )
