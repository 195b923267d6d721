"""Permuting x among the rows of each stratum: how often is G as large as observed? (See `blankets.stats`.)"""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from blankets.kernels._types import *

TIE: float64 = 1e-12  # sums of the same terms in another order differ by less than this share


@inner
def _n_log_n(n: int64, terms: Reals) -> float64:
    """Return n ln n, from the table where it reaches that far."""
    return terms[n] if n < terms.shape[0] else n * log(n)


@inner
def _decided(hits: int64, expected: float64) -> bint:
    """Whether more draws would hardly change the decision at the level that expects so many hits.

    The chance of rejection stays within 0.002 of that with all draws, whatever the true p-value; its mean within 0.1%.
    """
    spread: float64 = 2.0 * sqrt(expected)
    return hits > expected + 1.5 + spread or hits < expected - spread


@door
def permute(
    rows: Ints2,
    columns: Ints2,
    labels: NewInts,
    observed: float64,
    terms: Reals,
    state: uint64,
    most: int64,
    enough: int64,
    level: float64,
) -> tuple[int, int, int]:
    """Return how many permutations had a Σ o ln o as large as observed, how many a larger one, how many were drawn.

    Parameters
    ----------
    rows, columns : ndarray of int64 of shape (strata, levels)
        Margins of each stratum; the first row of a table gets what the others leave.
    labels : ndarray of int64
        The column of each row of the data, stratum by stratum; permuted in place.
    observed : float
    terms : ndarray of float64
        n ln n.
    state : int
        Of the generator xorshift64 (Marsaglia 2003), whose upper half is used; not 0.
    most, enough : int
        Drawing stops after ``most``, or when ``enough`` were as large as observed.
    level : float
        If not 0: or when the decision at this level is clear.
    """
    n_strata: int64 = rows.shape[0]
    n_columns: int64 = columns.shape[1]
    if columns.shape[0] != n_strata or terms.shape[0] < 1:
        raise ValueError("every stratum has rows and columns")
    drawn_rows: int64 = 0
    for z in range(n_strata):
        in_rows: int64 = 0
        in_columns: int64 = 0
        for i in range(rows.shape[1]):
            in_rows += rows[z, i]
            if rows[z, i] < 0:
                raise ValueError("margins are not negative")
        for j in range(n_columns):
            in_columns += columns[z, j]
            if columns[z, j] < 0:
                raise ValueError("margins are not negative")
        if in_rows != in_columns:
            raise ValueError("the margins of a stratum have different sums")
        drawn_rows += in_columns
    for r in range(labels.shape[0]):
        if not 0 <= labels[r] < n_columns:
            raise ValueError("no such label")
    if drawn_rows != labels.shape[0]:
        raise ValueError("every row needs a label")
    left: NewInts = view(np.empty(n_columns, np.int64))
    counts: NewInts = view(np.empty(n_columns, np.int64))
    slack: float64 = TIE * (1.0 + abs(observed))
    equal_or_larger: int64 = 0
    larger: int64 = 0
    drawn: int64 = 0
    every: uint64 = 0xFFFFFFFFFFFFFFFF  # bits of a word, which compiled code has no more of
    with nogil:
        while drawn < most and equal_or_larger < enough:
            total: float64 = 0.0
            at: int64 = 0
            stop: int64 = 0
            for z in range(n_strata):
                at = stop
                for j in range(n_columns):
                    left[j] = columns[z, j]
                    stop += left[j]
                part: float64 = 0.0
                for i in range(1, rows.shape[1]):
                    if rows[z, i] == 0:
                        break
                    for j in range(n_columns):
                        counts[j] = 0
                    for _ in range(rows[z, i]):
                        state = (state ^ (state << 13)) & every
                        state ^= state >> 7
                        state = (state ^ (state << 17)) & every
                        span: uint64 = stop - at
                        pick: int64 = at + (((state >> 32) * span) >> 32)
                        label: int64 = labels[pick]
                        labels[pick] = labels[at]
                        labels[at] = label
                        counts[label] += 1
                        at += 1
                    for j in range(n_columns):
                        part += _n_log_n(counts[j], terms)
                        left[j] -= counts[j]
                for j in range(n_columns):
                    part += _n_log_n(max(left[j], 0), terms)
                total += part
            drawn += 1
            equal_or_larger += total >= observed - slack
            larger += total > observed + slack
            if level > 0.0 and _decided(equal_or_larger, level * drawn):
                break
    return equal_or_larger, larger, drawn
