"""The p-value of G by permuting x among the rows of each stratum, with a seed, stopping early.

`blankets.kernels._permute` says how random numbers are drawn.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from blankets import kernels
from blankets.stats._contingency import flat_tables, formula_of

Counted = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]


def permutations_of_block(
    n_rows: int, seed: int, most: int = 1999, enough: int = 30, level: float = 0.0
) -> Callable[[NDArray[np.int32]], Counted]:
    """Return a function from a block of tables to the counts of their permutations.

    ``n_rows``: at least the number of rows counted. ``seed``: non-negative. ``most``, ``enough``: a table is permuted
    ``most`` times, or until ``enough`` permutations had a G as large as observed, or (if ``level`` is not 0) until more
    could hardly change the decision at this level.

    Returns: a function from counts of shape (n, levels of x, levels of y, strata) to three arrays: how many
    permutations had a G as large as observed, how many a larger one, and how many were drawn.

    Examples
    --------
    >>> tables = np.array([[[[2], [0]], [[0], [2]]]], np.int32)  # G is as large in 2 of the 6 arrangements
    >>> equal_or_larger, larger, drawn = permutations_of_block(4, seed=1, most=6000, enough=6000)(tables)
    >>> bool(abs(equal_or_larger[0] / 6000 - 1 / 3) < 0.03), float(larger[0])
    (True, 0.0)
    """
    formula = formula_of(n_rows, seed=seed)

    def permutations(counts: NDArray[np.int32]) -> Counted:
        found = kernels.permute(*flat_tables(counts), formula, most, enough, level)
        equal_or_larger, larger, drawn = found.astype(float)
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
    return kernels.permutation_p(equal_or_larger, larger, drawn, enough)
