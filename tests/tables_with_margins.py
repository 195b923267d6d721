"""All tables with given margins, and their probabilities under independence: the slow obvious twin."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray


def tables(rows: list[int], columns: list[int]) -> Iterator[list[tuple[int, ...]]]:
    """Yield every table with these margins, row by row."""
    if len(rows) == 1:
        yield [tuple(columns)]
        return
    for first in splits(rows[0], columns):
        for rest in tables(rows[1:], [c - o for c, o in zip(columns, first, strict=True)]):
            yield [first, *rest]


def splits(total: int, limits: list[int]) -> Iterator[tuple[int, ...]]:
    """Yield the ways to write ``total`` as a sum of counts below the limits."""
    if len(limits) == 1:
        if total <= limits[0]:
            yield (total,)
        return
    for count in range(min(total, limits[0]) + 1):
        for rest in splits(total - count, limits[1:]):
            yield (count, *rest)


def g_of(table: NDArray[np.int64]) -> float:
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    seen = table > 0
    return float(2 * (table[seen] * np.log(table[seen] / expected[seen])).sum())


def distribution(rows: tuple[int, ...], columns: tuple[int, ...]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return G and the probability of every table with these margins."""
    n = sum(rows)
    fixed = sum(math.lgamma(m + 1) for m in (*rows, *columns)) - math.lgamma(n + 1)
    every = [np.array(table) for table in tables(list(rows), list(columns))]
    p = [math.exp(fixed - sum(math.lgamma(o + 1) for o in table.ravel())) for table in every]
    return np.array([g_of(table) for table in every]), np.array(p)
