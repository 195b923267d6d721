"""Search for the subset that separates best, on all threads."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import Executor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from blankets import kernels
from blankets.independence._contract import Grown
from blankets.independence._evidence import EvidenceBatch

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
    n, chosen_from, largest = len(xs), np.array(among, np.int64), sizes[1]
    fixed = -1 if containing is None else list(among).index(containing)
    log_alpha = math.inf if stop_at is None else math.log(stop_at)

    def search(part: slice) -> tuple[int, kernels.Weakest]:
        some = xs[part]
        weakest, performed = kernels.Weakest(len(some), max(int(fixed >= 0), sizes[0]), largest), 0
        while weakest.left():
            more = kernels.separate_columns(table, formula, some, y, chosen_from, fixed, log_alpha, PATIENCE, weakest)
            if more < 0:
                return -1, weakest
            performed += more
        return performed, weakest

    if pool is None or n_jobs == 1:
        found = [search(slice(0, n))]
    else:
        share = -(-n // n_jobs) or 1
        found = list(pool.map(search, [slice(start, start + share) for start in range(0, n, share)]))
    if min(performed for performed, _ in found) < 0:
        return None
    return _told([weakest for _, weakest in found], chosen_from, sum(performed for performed, _ in found))


def turned_away(
    table: kernels.Table,
    formula: kernels.Formula,
    xs: NDArray[np.int64],
    y: int,
    members: Sequence[int],
    *,
    largest: int,
    stop_at: float,
) -> Separated:
    """Return the evidence that separates the first of ``xs``, as `IndependenceTest.turned_away` says."""
    chosen_from = np.array(members, np.int64)
    found = kernels.Weakest(len(xs), 0, min(largest, len(members)))
    done, n_tests = kernels.turn_away(table, formula, xs, y, chosen_from, largest, math.log(stop_at), PATIENCE, found)
    return _told([found], chosen_from, n_tests, done)


def grown_over(
    table: kernels.Table,
    formula: kernels.Formula,
    batch: EvidenceBatch,
    at: NDArray[np.int64],
    *,
    largest: int,
    stop_at: float,
    most: float,
    patience: int,
) -> tuple[int, Grown] | None:
    """Return the number of tests performed, and what `IndependenceTest.grown` says; None if it takes long."""
    method = np.full(len(batch), np.nan) if batch.method is None else batch.method
    answers = np.array([batch.statistic[at], batch.dof[at], batch.log_p[at], method[at]])
    reliable, log_alpha = batch.reliable[at].view(np.uint8), math.log(stop_at)
    why, members, steps, untested, capped, asked, n_tests = kernels.grow_neighbors(
        table, formula, batch.xs[at], batch.y, answers, reliable, log_alpha, largest, most, patience
    )
    if why == kernels.LONG:
        return None

    def evidence() -> EvidenceBatch:
        numbers = np.array([step[4:8] for step in steps]).reshape(-1, 4).T
        return EvidenceBatch(
            np.array([step[2] for step in steps], np.int64),
            batch.y,
            [step[3] for step in steps],
            statistic=numbers[0],
            dof=numbers[1],
            n_rows=batch.n_rows,
            reliable=np.ones(len(steps), np.bool_),
            log_p=numbers[2],
            method=None if batch.method is None else numbers[3].astype(np.int8),
            methods=batch.methods,
        )

    return n_tests, Grown(tuple(members), steps, untested, capped, int(asked), evidence)


def _told(
    found: list[kernels.Weakest], chosen_from: NDArray[np.int64], n_tests: int, n: int | None = None
) -> Separated:
    """Put together what the threads found, about the first ``n`` candidates."""
    parts = zip(*(weakest.evidence() for weakest in found), strict=True)
    *answers, size, places = (part[0] if len(found) == 1 else np.concatenate(part) for part in parts)
    sets = [tuple(row[:k]) for row, k in zip(chosen_from[places[:n]].tolist(), size[:n].tolist(), strict=True)]
    return Separated(n_tests, [answer[:n] for answer in answers], sets)


def rows_counted(n_rows: int, n_xs: int, n_among: int, sizes: tuple[int, int], *, may_stop: bool) -> float:
    """Estimate the rows x tests of a search over subsets; if it may stop early, only of the smallest sets.

    >>> rows_counted(100, 2, 4, (0, 4), may_stop=False), rows_counted(100, 2, 4, (0, 4), may_stop=True)
    (3200.0, 1000.0)
    """
    last = min(sizes[0] + 1, sizes[1]) if may_stop else sizes[1]
    n_sets = sum(math.comb(n_among, size) for size in range(sizes[0], last + 1))
    return float(n_rows * n_xs) * min(n_sets, 1 << 60)
