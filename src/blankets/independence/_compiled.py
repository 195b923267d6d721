"""Compiled questions about a table, and how arrays become answers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from blankets.counting import DenseTable
from blankets.independence._fused import Formula
from blankets.independence._fused_subsets import Weakest, separate_columns

__all__ = ["weakest_over"]

PATIENCE = 1 << 26  # rows x tests in one call, about 30 ms
Given = tuple[int, ...]


def weakest_over(
    table: DenseTable,
    formula: Formula,
    xs: NDArray[np.int64],
    y: int,
    among: Sequence[int],
    *,
    containing: int | None,
    sizes: tuple[int, int],
    stop_at: float | None,
) -> tuple[int, Weakest, list[Given]] | None:
    """Return the number of tests, the weakest evidence about each x and the sets behind it; None if it cannot be told.

    Parameters as for `IndependenceTest.separate`; ``sizes`` are those of the smallest and the largest set to try.
    """
    n, chosen_from, largest = len(xs), np.array(among, np.int64), sizes[1]
    weakest = Weakest(
        np.full(n, np.nan),
        np.zeros(n),
        np.full(n, np.nan),
        np.zeros(n, np.bool_),
        np.zeros(n, np.bool_),
        np.zeros(n, np.int64),
        np.zeros((n, largest), np.int64),
    )
    fixed = -1 if containing is None else list(among).index(containing)
    chosen, left = np.arange(largest), np.array([max(int(fixed >= 0), sizes[0]), largest])
    log_alpha = math.inf if stop_at is None else math.log(stop_at)
    performed = 0
    while left[0] <= largest:
        more = separate_columns(table, formula, xs, y, chosen_from, fixed, chosen, left, log_alpha, PATIENCE, weakest)
        if more < 0:
            return None
        performed += more
    sets = [tuple(row[:k]) for row, k in zip(chosen_from[weakest.places].tolist(), weakest.size.tolist(), strict=True)]
    return performed, weakest, sets
