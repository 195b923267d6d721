"""Ranks of numbers, and the functions of them that are tested (methods, section 10.1).

Ranks take one pass over some shelves for each row, which is much faster than comparing numbers.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from blankets.kernels._types import *

SHELVES: int64 = 4  # for each number
MOST_MOVES: int64 = 8  # of each number among its neighbors; where they lie so unevenly, comparing is faster
# Skewness and excess kurtosis beyond which a number gives way to its normal scores (methods, section 10.1).
SKEWED: float64 = 1.0
HEAVY: float64 = 2.0
NEW: float64 = 1e-8  # share of a function's squared length that the one before it must leave


@inner
def _rank(
    values: Reals2, c: int64, order: NewInts, there: NewReals, begin: NewInts, rank: NewReals2, r: int64
) -> int64:
    """Set the ranks of a column, row ``r``; return how many numbers are distinct, 0 if these lie too unevenly."""
    n: int64 = values.shape[1]
    shelves: int64 = begin.shape[0] - 1
    low: float64 = values[c, 0]
    high: float64 = values[c, 0]
    for i in range(n):
        low = min(low, values[c, i])
        high = max(high, values[c, i])
    scale: float64 = (shelves - 1) / (high - low) if high > low else 0.0
    if not scale < 1e300:
        return 0
    for s in range(shelves + 1):
        begin[s] = 0
    for i in range(n):
        shelf: int64 = whole((values[c, i] - low) * scale)
        if shelf < 0 or shelf >= shelves:
            return 0
        begin[shelf + 1] += 1
    for s in range(shelves):
        begin[s + 1] += begin[s]
    for i in range(n):
        value: float64 = values[c, i]
        at: int64 = begin[whole((value - low) * scale)]
        begin[whole((value - low) * scale)] = at + 1
        there[at] = value
        order[at] = i
    moves: int64 = 0
    for i in range(1, n):
        value = there[i]
        if there[i - 1] <= value:
            continue
        row: int64 = order[i]
        at = i
        while at > 0 and there[at - 1] > value:
            there[at] = there[at - 1]
            order[at] = order[at - 1]
            at -= 1
        there[at] = value
        order[at] = row
        moves += i - at
        if moves > MOST_MOVES * n:
            return 0
    distinct: int64 = 0
    first: int64 = 0
    while first < n:
        end: int64 = first + 1
        while end < n and there[end] == there[first]:
            end += 1
        for i in range(first, end):
            rank[r, order[i]] = (first + end - 1) / 2.0
        distinct += 1
        first = end
    return distinct


@door
def rank_numbers(values: Reals2) -> tuple[Reals2, Ints]:
    """Return ranks from 0, ties sharing their mean, of columns of finite numbers, and how many of each are distinct.

    That is 0 for a column of which numbers lie so unevenly that it was not ranked.
    """
    n: int64 = values.shape[1]
    found = np.empty((values.shape[0], n))
    several = np.zeros(values.shape[0], np.int64)
    rank: NewReals2 = view(found)
    distinct: NewInts = view(several)
    order: NewInts = view(np.empty(n, np.int64))
    begin: NewInts = view(np.empty(SHELVES * n + 2, np.int64))
    there: NewReals = view(np.empty(n))
    with nogil:
        for c in range(values.shape[0] if n else 0):
            distinct[c] = _rank(values, c, order, there, begin, rank, c)
    return found, several


@inner
def _tested(values: Reals2, c: int64, low: float64, high: float64, scores: Reals, out: NewReals2) -> float64:
    """Set the functions of a column of at least three distinct numbers, whose ranks are in the second place.

    ``low``, ``high``: the smallest and the largest number. Return the larger sum of cubes, squared; -1 if there is
    only one function.
    """
    n: int64 = values.shape[1]
    x: int64 = 2 * c
    largest: float64 = max(max(-low, high), 1e-300)
    mean: float64 = 0.0
    for i in range(n):
        out[x, i] = values[c, i] / largest  # squares of very large numbers are infinite
        mean += out[x, i]
    mean /= n
    second: float64 = 0.0
    third: float64 = 0.0
    fourth: float64 = 0.0
    for i in range(n):
        z: float64 = out[x, i] - mean
        out[x, i] = z
        second += z * z
        third += z * z * z
        fourth += z * z * z * z
    second = max(second / n, 1e-300)
    heavy: bint = abs(third) > SKEWED * n * second * sqrt(second) or fourth > (3.0 + HEAVY) * n * second * second
    mean = 0.0
    share: float64 = 1.0 / n
    other: float64 = 0.0
    for i in range(n):
        u: float64 = (2.0 * out[x + 1, i] + 1.0) * share - 1.0
        if heavy:
            out[x, i] = scores[whole(2.0 * out[x + 1, i])]
        out[x + 1, i] = u * u
        mean += out[x, i]
        other += u * u
    mean /= n
    other /= n
    of_first: float64 = 0.0
    of_second: float64 = 0.0
    both: float64 = 0.0
    for i in range(n):
        out[x, i] -= mean
        out[x + 1, i] -= other
        of_first += out[x, i] * out[x, i]
        of_second += out[x + 1, i] * out[x + 1, i]
        both += out[x, i] * out[x + 1, i]
    length: float64 = 1.0 / sqrt(of_first)
    cubes: float64 = 0.0
    for i in range(n):
        out[x, i] *= length
        cubes += out[x, i] * out[x, i] * out[x, i]
    if not of_second * of_first - both * both > NEW * of_second * of_first:
        return -1.0
    of_cubes: float64 = 0.0
    both *= length
    for _ in range(2):  # twice for precision
        of_second = 0.0
        for i in range(n):
            out[x + 1, i] -= both * out[x, i]
            of_second += out[x + 1, i] * out[x + 1, i]
        length = 1.0 / sqrt(of_second)
        both = 0.0
        of_cubes = 0.0
        for i in range(n):
            out[x + 1, i] *= length
            both += out[x, i] * out[x + 1, i]
            of_cubes += out[x + 1, i] * out[x + 1, i] * out[x + 1, i]
    return max(cubes * cubes, of_cubes * of_cubes)


@door
def tested_functions(values: Reals2, scores: Reals, out: NewReals2) -> Reals:
    """Set the two functions of each column that are tested, rows 2 c and 2 c + 1 of ``out``.

    ``values``, of shape (columns, rows): finite numbers. ``scores``, of shape (2 rows - 1,): normal scores of ranks 0,
    1/2, 1, ... Return the larger of the two sums of cubes, squared; a number below 0 for a column whose functions are
    not both there: it has too few distinct numbers, or these lie too unevenly.
    """
    n: int64 = values.shape[1]
    fits: bint = n >= 1 and scores.shape[0] == 2 * n - 1
    if not fits or out.shape[0] < 2 * values.shape[0] or out.shape[1] != n:
        raise ValueError("functions need two rows for each column, and scores for all ranks")
    cubes = np.full(values.shape[0], -1.0)
    found: NewReals = view(cubes)
    order: NewInts = view(np.empty(n, np.int64))
    begin: NewInts = view(np.empty(SHELVES * n + 2, np.int64))
    there: NewReals = view(np.empty(n))
    with nogil:
        for c in range(values.shape[0]):
            if _rank(values, c, order, there, begin, out, 2 * c + 1) > 2:
                found[c] = _tested(values, c, there[0], there[n - 1], scores, out)
    return cubes
