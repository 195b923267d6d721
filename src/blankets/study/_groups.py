"""Rows that belong together: what is said of them, and how they are drawn."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from blankets.errors import TooFewRowsWarning, warn

FEW_GROUPS = 30

Ints = NDArray[np.int64]


def warn_of_few_groups(groups: Ints | None, name: str) -> None:
    """Warn where groups are so few that p-values are rough."""
    n = 0 if groups is None else len(np.unique(groups))
    if 0 < n < FEW_GROUPS:
        warn(
            f"{name!r} makes {n} groups of the rows. p-values come from how groups differ, and below {FEW_GROUPS} "
            f"groups they are rough; few columns can be told apart",
            TooFewRowsWarning,
        )


def groups_drawn(groups: Ints, n_resamples: int, method: str, fraction: float, rng: np.random.Generator) -> list[Ints]:
    """Return the row numbers of each draw, ascending; whole groups are drawn, never rows.

    >>> rng = np.random.default_rng(0)
    >>> [rows.tolist() for rows in groups_drawn(np.array([0, 0, 1, 1, 2, 2]), 2, "pairs", 0.5, rng)]
    [[4, 5], [2, 3]]
    """
    order = np.argsort(groups, kind="stable")
    edges = np.flatnonzero(np.diff(groups[order])) + 1
    members = np.split(order, edges)
    draws: list[Ints] = []
    while len(draws) < n_resamples:
        if method == "bootstrap":
            parts = [rng.choice(len(members), len(members))]
        else:
            shuffled, size = rng.permutation(len(members)), max(1, int(fraction * len(members)))
            parts = [shuffled[:size], shuffled[-size:]][: 1 + (method == "pairs")]
        draws += [np.sort(np.concatenate([members[k] for k in part])) for part in parts]
    return draws[:n_resamples]


def order_by_groups(groups: Ints, rng: np.random.Generator) -> Ints:
    """Return an order of the rows in which groups have changed places and rows of a group stay neighbors.

    Groups of unequal sizes do not fit each other's places; then a part of one group takes the place of another.

    >>> order_by_groups(np.array([0, 1, 0, 1]), np.random.default_rng(1)).tolist() in ([0, 1, 2, 3], [1, 0, 3, 2])
    True
    """
    places = np.argsort(groups, kind="stable")
    rank = rng.permutation(int(groups.max()) + 1)
    order = np.empty(len(groups), np.int64)
    order[places] = np.argsort(rank[groups], kind="stable")
    return order
