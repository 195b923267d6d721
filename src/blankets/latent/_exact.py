"""The best-scoring DAG by dynamic programming over sets of nodes.

A DAG has a node without children (a sink). The best DAG on S ends in some sink v: the best DAG on S - v, and
for v its best parents within S - v. Both are found for all 2^n sets, smallest first.

References
----------
Silander & Myllymäki (2006), A simple approach for finding the globally optimal Bayesian network structure, UAI.
Koivisto & Sood (2004), Exact Bayesian structure discovery in Bayesian networks, JMLR 5.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from blankets.latent._constraints import Constraints
from blankets.latent._rows import Floats, Ints

__all__ = ["best_parents", "solve_dynamic"]


@njit(nogil=True, cache=True)
def _sizes(n: int) -> NDArray[np.int8]:
    sizes = np.zeros(1 << n, np.int8)
    for mask in range(1, 1 << n):
        sizes[mask] = sizes[mask >> 1] + (mask & 1)
    return sizes


@njit(nogil=True, cache=True)
def _best_parents_of(
    table: Floats,
    v: int,
    required: int,
    forbidden: int,
    most: int,
    sizes: NDArray[np.int8],
    score: Floats,
    choice: NDArray[np.int32],
) -> None:
    """Fill ``score[C]`` and ``choice[C]``: the best admissible parents of v among C, for all C without v."""
    n_masks, bit = len(table), 1 << v
    for candidates in range(n_masks):
        score[candidates], choice[candidates] = -np.inf, 0
        if candidates & bit:
            continue
        # Subsets first, so that among equals the smaller parent set stays.
        rest = candidates
        while rest:
            low = rest & -rest
            rest ^= low
            if score[candidates ^ low] > score[candidates]:
                score[candidates], choice[candidates] = score[candidates ^ low], choice[candidates ^ low]
        if candidates & forbidden or candidates & required != required or sizes[candidates] > most:
            continue
        own = table[candidates | bit] - table[candidates]
        if own > score[candidates]:
            score[candidates], choice[candidates] = own, candidates


@njit(nogil=True, cache=True)
def best_parents(table: Floats, n: int, required: Ints, forbidden: Ints, most: int, parents: Ints) -> float:
    """Write the parent masks of the best DAG to ``parents``; return its score, minus infinity if there is none.

    ``table`` holds the set function f of `blankets.latent._scores` for all sets of up to ``most + 1`` nodes.
    """
    n_masks = 1 << n
    sizes = _sizes(n)
    score = np.empty((n, n_masks))
    choice = np.empty((n, n_masks), np.int32)
    for v in range(n):
        _best_parents_of(table, v, required[v], forbidden[v], most, sizes, score[v], choice[v])
    total = np.full(n_masks, -np.inf)
    sink = np.zeros(n_masks, np.int8)
    total[0] = 0.0
    for nodes in range(1, n_masks):
        for v in range(n):
            rest = nodes ^ (1 << v)
            if nodes >> v & 1 and total[rest] + score[v, rest] > total[nodes]:
                total[nodes], sink[nodes] = total[rest] + score[v, rest], v
    nodes = n_masks - 1 if total[n_masks - 1] > -np.inf else 0  # no DAG meets the constraints: no way back
    while nodes:
        v = int(sink[nodes])
        nodes ^= 1 << v
        parents[v] = choice[v, nodes]
    return float(total[n_masks - 1])


def solve_dynamic(table: NDArray[np.float64], constraints: Constraints) -> tuple[NDArray[np.int64], float]:
    """Return the parent masks and the score of the best DAG that meets the constraints."""
    n = len(constraints.required)
    parents = np.zeros(n, np.int64)
    score = best_parents(table, n, constraints.required, constraints.forbidden, constraints.max_parents, parents)
    return parents, float(score)
