"""Columns that could stand in the place of a member."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from blankets.independence import EvidenceBatch, IndependenceTest
from blankets.stats import log_chi2_sf


def equivalents_of(
    tests: IndependenceTest, target: int, members: Sequence[int], columns: Sequence[int], *, alpha: float
) -> dict[int, tuple[int, ...]]:
    """Return, for each member, the columns that could replace it.

    With R the other members, a and b are equivalent if both depend on the target given R, and given R and one of
    them the target is independent of the other. Independence needs a test with enough rows. By the chain rule both then
    tell as much given R: columns that tell less than half as much are not asked about.

    ``columns``: columns outside that depended on the target in some test.

    Examples
    --------
    >>> import numpy as np
    >>> from blankets.counting import MemoryCounter
    >>> from blankets.data import Frame
    >>> from blankets.independence import TableTests
    >>> a = np.tile([0, 0, 0, 1, 1, 1, 1, 0], 50)
    >>> y = np.tile([0, 0, 0, 1, 1, 1, 0, 1], 50)
    >>> frame = Frame.from_codes(np.column_stack([a, 1 - a, y]))
    >>> equivalents_of(TableTests(MemoryCounter(frame)), 2, [0], [1], alpha=0.01)
    {0: (1,)}
    """
    level = alpha / max(len(columns), 1)
    if not len(columns) or not members:
        return {}
    able, found = _able_to_replace(tests, target, members, columns, alpha, level), dict[int, tuple[int, ...]]()
    # Few columns make a member irrelevant, so this comes before their own p-values at a small level.
    for b in {b: None for some in able.values() for b in some}:
        replaced = [a for a in members if b in able[a]]
        batch = tests.drop_one((*members, b), target, replaced)
        for a in batch.xs[~batch.independent(alpha)].tolist():
            able[a].remove(b)
    for a in members:
        if not able[a]:
            continue
        batch = tests.at_level(level).scan(able[a], target, tuple(z for z in members if z != a))
        stand_ins = batch.xs[batch.order(batch.dependent(level))].tolist()
        if stand_ins:
            found[a] = tuple(stand_ins)
    return found


def _able_to_replace(
    tests: IndependenceTest, target: int, members: Sequence[int], columns: Sequence[int], alpha: float, level: float
) -> dict[int, list[int]]:
    """Return, for each member, the columns that tell about as much in its place, and nothing beside it."""
    quick, able = tests.by_formula(), dict[int, list[int]]()
    for a in members:
        alone = quick.scan((*columns, a), target, tuple(z for z in members if z != a))
        tells = alone.effect - alone.dof / (2.0 * np.maximum(alone.n_rows, 1))  # minus what chance adds
        near = alone.where((tells[:-1] >= tells[-1] / 2.0).nonzero()[0])
        able[a] = near.xs[perhaps_dependent(near, level)].tolist() if len(near) else []
    some = list({b: None for each in able.values() for b in each})
    if some:
        beside = tests.scan(some, target, members)
        redundant = set(beside.xs[beside.independent(alpha)].tolist())
        able = {a: [b for b in each if b in redundant] for a, each in able.items()}
    return able


def perhaps_dependent(batch: EvidenceBatch, level: float) -> NDArray[np.bool_]:
    """Return which tests may have p at most ``level``, by the formula: to ask for better p-values takes long."""
    return batch.reliable & (log_chi2_sf(batch.statistic, batch.dof) <= math.log(level))
