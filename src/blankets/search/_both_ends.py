"""Blankets are symmetric: a column is in the blanket of the target if and only if the target is in the column's.

With few rows one end may find the other, and be missed by it: each column enters by a level for all columns together.
If the other end has found the target, one question is left, and not one for each column, so that a larger p-value is
evidence. A member that stayed because the search brought it, although it is weak, and whose own end says no to that
question, has nobody to speak for it (methods, section 16).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from blankets.independence import IndependenceTest
from blankets.search._contract import Found, Trace
from blankets.search.closing import settle


def with_other_ends(
    tests: IndependenceTest,
    target: int,
    candidates: Sequence[int],
    found: Found,
    others: Collection[int],
    alone: Collection[int] = (),
    *,
    alpha: float,
    trace: Trace,
) -> Found:
    """Add columns that have the target in their blankets, if p given the members is at most the root of ``alpha``.

    ``alone``: members without the target in their blankets; they leave if they are irrelevant given the others.

    Examples
    --------
    >>> import networkx as nx
    >>> from blankets.independence import DSeparation
    >>> tests = DSeparation(nx.DiGraph(["ab", "cb", "cd"]))  # a -> b <- c -> d
    >>> with_other_ends(tests, 0, [1, 2, 3], Found(members=(1,)), [2, 3], alpha=0.01, trace=Trace()).members
    (1, 2)
    """
    stay = [x for x in found.members if x not in alone]
    members = settle(tests, target, candidates, found.members, alpha=alpha, trace=trace, stay=stay)
    left = [x for x in candidates if x in others and x not in members]
    if left:
        level = math.sqrt(alpha)
        batch = tests.at_level(level).scan(left, target, members)
        for i in np.flatnonzero(batch.dependent(level)).tolist():
            trace.admitted(batch[i], "closing", "the target is in its blanket, and it depends on it given all members")
            members = (*members, batch[i].x)
    return replace(found, members=members)
