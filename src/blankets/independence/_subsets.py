"""Search for the subset that separates best, on all threads."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import Executor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from blankets import kernels

PATIENCE = 1 << 26  # rows x tests in one call, about 30 ms
Given = tuple[int, ...]


class Separated(NamedTuple):
    """The weakest evidence about each candidate, and its conditioning set."""

    n_tests: int  # number of tests performed
    answers: list[Any]  # of the candidates, as `kernels.Weakest.evidence` has them
    sets: list[Given]


def weakest_over(
    table: kernels.Table,
    formula: kernels.Formula,
    xs: NDArray[np.int64],
    y: int,
    among: Sequence[int],
    *,
    containing: int | None,
    sizes: tuple[int, int],
    stop_at: float | None,
    pool: Executor | None = None,
    n_jobs: int = 1,
) -> Separated | None:
    """Return the weakest evidence about each x; None if tables are too large for this method.

    Parameters as for `IndependenceTest.separate`; ``sizes``: the sizes of the smallest and the largest set to try.
    Each thread takes some of ``xs``: the results for one x do not depend on the others.
    """
    chosen_from, (smallest, largest) = np.array(among, np.int64), sizes
    fixed = -1 if containing is None else list(among).index(containing)
    smallest = max(smallest, int(fixed >= 0))
    log_alpha = math.inf if stop_at is None else math.log(stop_at)

    def search(some: NDArray[np.int64]) -> tuple[int, kernels.Weakest]:
        weakest, performed = kernels.Weakest(len(some), smallest, largest), 0
        while weakest.left():
            more = kernels.separate_columns(table, formula, some, y, chosen_from, fixed, log_alpha, PATIENCE, weakest)
            if more < 0:
                return -1, weakest
            performed += more
        return performed, weakest

    if pool is None or n_jobs == 1:
        n_tests, weakest = search(xs)
        *answers, size, places = weakest.evidence()
    else:
        found = list(pool.map(search, np.array_split(xs, n_jobs)))
        n_tests = -1 if min(performed for performed, _ in found) < 0 else sum(performed for performed, _ in found)
        parts = zip(*(weakest.evidence() for _, weakest in found), strict=True)
        *answers, size, places = (np.concatenate(part) for part in parts)
    if n_tests < 0:
        return None
    columns = chosen_from[places].tolist()
    return Separated(n_tests, answers, [tuple(row[:k]) for row, k in zip(columns, size.tolist(), strict=True)])


def rows_counted(n_rows: int, n_xs: int, n_among: int, sizes: tuple[int, int], *, may_stop: bool) -> float:
    """Estimate the rows x tests of a search over subsets; if it may stop early, only of the smallest sets.

    >>> rows_counted(100, 2, 4, (0, 4), may_stop=False), rows_counted(100, 2, 4, (0, 4), may_stop=True)
    (3200.0, 1000.0)
    """
    last = min(sizes[0] + 1, sizes[1]) if may_stop else sizes[1]
    n_sets = sum(math.comb(n_among, size) for size in range(sizes[0], last + 1))
    return float(n_rows * n_xs) * min(n_sets, 1 << 60)
