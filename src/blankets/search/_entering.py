"""At which level each member could enter: what intervals of its effect must allow for."""

from __future__ import annotations

from collections.abc import Collection

from blankets.search._contract import Algorithm, Found, Trace
from blankets.search.closing import level_to_enter


def levels_of_members(
    found: Found, trace: Trace, algorithm: Algorithm, *, alpha: float, n_columns: int, known: Collection[int] = ()
) -> dict[int, float]:
    """Return the largest p-value at which each member would have entered; those ``known`` before were not chosen.

    A search that controls a false discovery rate lets p-values up to a share of the level in, and one that keeps so
    many columns the smallest ones, whatever they are.

    Examples
    --------
    >>> import networkx as nx
    >>> from blankets.independence import DSeparation
    >>> from blankets.search import find
    >>> tests, trace = DSeparation(nx.DiGraph(["ab", "cb", "cd"])), Trace()
    >>> found = Found(members=(0, 2))
    >>> levels_of_members(found, trace, find("iamb"), alpha=0.01, n_columns=3, known=[2])
    {0: 0.01}
    """
    share = len(found.members) / max(n_columns, 1)
    level = {"level": alpha, "fdr": alpha * share, "nothing": share}[algorithm.controls]
    levels = dict.fromkeys((x for x in found.members if x not in known), level)
    for decision in trace.decisions:
        if decision.action == "admitted" and decision.phase == "closing" and decision.x in levels:
            levels[decision.x] = level_to_enter(alpha, len(decision.evidence.given), n_columns)
    return levels
