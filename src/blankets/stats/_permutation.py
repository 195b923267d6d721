"""The p-value of G by permuting x among the rows of each stratum, with a seed, stopping early.

The null distribution of G depends only on the margins. They are first sorted (levels by size, the margin that
is faster to permute as the rows, then the strata), and the random numbers depend on this order and the seed.
So the answer is the same for every order of rows, levels, columns and strata, with x and y exchanged, on any
number of threads and from any counter.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from blankets import kernels
from blankets.stats._contingency import _entropy_terms
from blankets.stats._special import xlogy

_CAP = 1.1  # the test never rejects more than this times the level, even with ties

Counted = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]


def permutations_of_block(
    n_rows: int, seed: int, most: int = 1999, enough: int = 30
) -> Callable[[NDArray[np.int32]], Counted]:
    """Return a function from a block of tables to the counts of their permutations.

    ``n_rows``: at least the number of rows counted. ``seed``: non-negative. ``most``, ``enough``: a table is permuted
    ``most`` times, or until ``enough`` permutations had a G as large as observed.

    Returns: a function from counts of shape (n, levels of x, levels of y, strata) to three arrays: how many
    permutations had a G as large as observed, how many a larger one, and how many were drawn.

    Examples
    --------
    >>> tables = np.array([[[[2], [0]], [[0], [2]]]], np.int32)  # G is as large in 2 of the 6 arrangements
    >>> equal_or_larger, larger, drawn = permutations_of_block(4, seed=1, most=6000, enough=6000)(tables)
    >>> bool(abs(equal_or_larger[0] / 6000 - 1 / 3) < 0.03), float(larger[0])
    (True, 0.0)
    """
    terms = _entropy_terms(n_rows)

    def permutations(counts: NDArray[np.int32]) -> Counted:
        found = np.array([permuted_table(table, terms, seed, most, enough, 0.0) for table in counts], float)
        equal_or_larger, larger, drawn = found.reshape(-1, 3).T
        return equal_or_larger, larger, drawn

    return permutations


def permutation_p(equal_or_larger: float, larger: float, drawn: float, enough: float = 30.0) -> float:
    """Return the p-value from the counts of permutations.

    Let a be the share of permutations (including the data) with a G as large as observed, and b the share
    with a larger one. A test that rejects if a is at most the level keeps the level, but for coarse data it
    loses much power; the mid-p (a + b) / 2 loses none on average, but may reject twice too often. The larger
    of the mid-p and a / 1.1 is used: it never rejects more often than 1.1 times the level, for any margins.
    If drawing stopped early, a is the share of hits among the draws (Besag & Clifford 1991).

    Examples
    --------
    >>> [round(permutation_p(*outcome), 8) for outcome in ((30, 29, 300), (30, 0, 300), (0, 0, 1999))]
    [0.09833333, 0.09090909, 0.00045455]
    """
    extra = 0.0 if equal_or_larger >= enough else 1.0
    return capped_p((equal_or_larger + extra) / (drawn + extra), larger / (drawn + extra))


def capped_p(a: float, b: float) -> float:
    """Return the larger of the mid-p and a / 1.1."""
    return max(0.5 * (a + b), a / _CAP)


def permuted_table(
    table: NDArray[np.int32], terms: NDArray[np.float64], seed: int, most: int, enough: int, level: float
) -> tuple[int, int, int]:
    """Return how many permutations were as large as observed, how many larger, and how many were drawn.

    Drawing stops at ``most`` permutations, or when ``enough`` were as large as observed, or (if ``level`` is not 0)
    when more permutations could not change the decision at this level.
    """
    margins, observed = _margins(table)
    mixed = blake2b(margins.astype("<i8").tobytes(), digest_size=8, key=int(seed).to_bytes(8, "little")).digest()
    state = int.from_bytes(mixed, "little") or 1  # zero would stay zero
    rows, columns = np.ascontiguousarray(margins[:, 0]), np.ascontiguousarray(margins[:, 1])
    labels = np.repeat(np.tile(np.arange(columns.shape[1]), len(columns)), columns.ravel())
    return kernels.permute(rows, columns, labels, observed, terms, state, most, enough, level)


def _margins(table: NDArray[np.int32]) -> tuple[NDArray[np.int64], float]:
    """Return the sorted margins of the strata that can vary, and the observed Σ o ln o.

    ``table``, of shape (levels of x, levels of y, strata).

    Returns
    -------
    margins : ndarray of int64 of shape (strata, 2, width)
        Rows and columns of each stratum, largest first, padded with zeros. The rows are the margin with the larger
        largest level, which is not permuted.
    observed : float
    """
    width = max(table.shape[:2])
    margins = np.zeros((table.shape[2], 2, width), np.int64)
    margins[:, 0, : table.shape[0]] = table.sum(axis=1).T
    margins[:, 1, : table.shape[1]] = table.sum(axis=0).T
    varies = np.flatnonzero(((margins > 0).sum(axis=2) > 1).all(axis=1))
    o = table[:, :, varies]
    margins = -np.sort(-margins[varies], axis=2)[:, :, : max(int((margins[varies] > 0).sum(axis=2).max(initial=0)), 1)]
    ordered = sorted((max(r, c), min(r, c)) for r, c in margins.tolist())
    return np.array(ordered, np.int64).reshape(margins.shape), float(xlogy(o, o).sum())
