"""Compiled questions about a table, and how arrays become answers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import Executor

import numpy as np
from numpy.typing import NDArray

from blankets.compiling import kernels_ready
from blankets.counting import DenseTable, no_strata
from blankets.independence._fused import Formula, test_columns
from blankets.independence._fused_subsets import Weakest, separate_columns

__all__ = ["questions_compiled", "rows_counted", "weakest_over"]

PATIENCE = 1 << 26  # rows x tests in one call, about 30 ms
# Whole questions take 15 s to compile. They are answered so if that was done before, on this machine, or once this
# many rows x tests have been asked for, by which time seconds have been spent on them; otherwise by the counter.
WORTH_COMPILING = 1 << 31
Given = tuple[int, ...]


def questions_compiled(n_rows: int, n_tests: int) -> bool:
    """Whether questions are answered by compiled calls, after so many tests of so many rows.

    >>> questions_compiled(2_000_000, 2_000)
    True
    """
    return n_rows * n_tests > WORTH_COMPILING or kernels_ready(test_columns)


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
    pool: Executor | None = None,
    n_jobs: int = 1,
) -> tuple[int, Weakest, list[Given]] | None:
    """Return the number of tests, the weakest evidence about each x and the sets behind it; None if it cannot be told.

    Parameters as for `IndependenceTest.separate`; ``sizes`` are those of the smallest and the largest set to try.
    Threads of the pool take some of ``xs`` each: what is found about one does not depend on the others.
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
    log_alpha = math.inf if stop_at is None else math.log(stop_at)

    def search(part: slice) -> int:
        some, own = xs[part], Weakest._make(array[part] for array in weakest)
        chosen, left = np.arange(largest), np.array([max(int(fixed >= 0), sizes[0]), largest])
        performed, strata = 0, no_strata(table, largest)
        while left[0] <= largest:
            more = separate_columns(
                table, formula, some, y, chosen_from, fixed, chosen, left, log_alpha, PATIENCE, strata, own
            )
            if more < 0:
                return -1
            performed += more
        return performed

    share = -(-n // n_jobs) or 1
    parts = [slice(start, start + share) for start in range(0, n, share)]
    counts = [search(part) for part in parts] if pool is None or len(parts) < 2 else list(pool.map(search, parts))
    if min(counts, default=0) < 0:
        return None
    sets = [tuple(row[:k]) for row, k in zip(chosen_from[weakest.places].tolist(), weakest.size.tolist(), strict=True)]
    return sum(counts), weakest, sets


def rows_counted(n_rows: int, n_xs: int, n_among: int, sizes: tuple[int, int], *, may_stop: bool) -> float:
    """Return about how many rows x tests a search over subsets takes; where it may stop, those of the smallest sets.

    >>> rows_counted(100, 2, 4, (0, 4), may_stop=False), rows_counted(100, 2, 4, (0, 4), may_stop=True)
    (3200.0, 1000.0)
    """
    last = min(sizes[0] + 1, sizes[1]) if may_stop else sizes[1]
    n_sets = sum(math.comb(n_among, size) for size in range(sizes[0], last + 1))
    return float(n_rows * n_xs) * min(n_sets, 1 << 60)
