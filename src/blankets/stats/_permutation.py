"""The p-value of G by permuting x among the rows of each stratum, seeded and stopped early.

The null distribution of G depends on the margins alone. They are brought into one order first (levels by
size, the margin that is cheaper to permute as the rows, strata sorted), and the random numbers follow from
this order and the seed: the answer is the same whatever the order of rows, levels, columns and strata, with
x and y exchanged, on any number of threads and from any counter.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from hashlib import blake2b

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import xlogy

from blankets.compiling import cheapest
from blankets.stats._contingency import _entropy_terms

__all__ = ["capped_p", "permutation_p", "permutations_of_block", "permuted_table"]

_TIE = 1e-12  # sums of the same terms in another order differ by less than this share
_NS_DRAW = 3000.0  # a row that is drawn, in plain Python
_CAP = 1.1  # no more than this times the level is ever rejected, whatever the ties

Counted = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]


def permutations_of_block(
    n_rows: int, seed: int, most: int = 1999, enough: int = 30
) -> Callable[[NDArray[np.int32]], Counted]:
    """Return the function from a block of tables to the outcome of their permutations.

    Parameters
    ----------
    n_rows : int
        At least the number of rows counted.
    seed : int
        Non-negative.
    most, enough : int
        A table is permuted ``most`` times, or until ``enough`` permutations had a G as large as observed.

    Returns
    -------
    callable
        From counts of shape (n, levels of x, levels of y, strata) to three arrays: how many permutations
        had a G as large as observed, how many a larger one, and how many were drawn.

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
    """Return the p-value from the outcome of permutations.

    Let a be the share of permutations (the data among them) with a G as large as observed, and b the share
    with a larger one. Rejecting when a is at most the level keeps it, but coarse data waste much of it;
    the mid-p (a + b) / 2 wastes none on average, but may reject twice too often. The larger of the mid-p and
    a / 1.1 is used: it never rejects more often than 1.1 times the level, whatever the margins.
    Of drawing that stopped early, a is the share of hits among the draws (Besag & Clifford 1991).

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
    when so many or so few were that more could not change the decision at this level.
    """
    margins, observed = _margins(table)
    mixed = blake2b(margins.astype("<i8").tobytes(), digest_size=8, key=int(seed).to_bytes(8, "little")).digest()
    state = np.uint64(int.from_bytes(mixed, "little") or 1)  # zero would stay zero
    columns = margins[:, 1]
    labels = np.repeat(np.tile(np.arange(columns.shape[1]), len(columns)), columns.ravel())
    room = np.empty((2, margins.shape[2]), np.int64)
    permuted = cheapest(_permuted, _NS_DRAW * most * int(margins[:, 0, 1:].sum()))
    hits, larger, drawn = permuted(
        margins, columns.sum(axis=1), labels, observed, terms, state, most, enough, level, room
    )
    return int(hits), int(larger), drawn


def _margins(table: NDArray[np.int32]) -> tuple[NDArray[np.int64], float]:
    """Return the margins of the strata that can vary, in their one order, and the observed Σ o ln o.

    Parameters
    ----------
    table : ndarray of int32 of shape (levels of x, levels of y, strata)

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


@njit(nogil=True, cache=True)
def _permuted(
    margins: NDArray[np.int64],
    sizes: NDArray[np.int64],
    labels: NDArray[np.int64],
    observed: float,
    terms: NDArray[np.float64],
    state: np.uint64,
    most: int,
    enough: int,
    level: float,
    room: NDArray[np.int64],
) -> tuple[int, int, int]:
    """Permute ``labels``, the columns of all rows, within the strata with these margins and sizes."""
    left, counts = room[0], room[1]
    slack = _TIE * (1.0 + abs(observed))
    equal_or_larger = larger = drawn = 0
    while drawn < most and equal_or_larger < enough:
        total, start = 0.0, 0
        for z in range(len(margins)):
            stop = start + sizes[z]
            for k in range(len(left)):
                left[k] = margins[z, 1, k]
            state, part = _one_stratum(margins[z, 0], labels, start, stop, left, counts, terms, state)
            total += part
            start = stop
        drawn += 1
        equal_or_larger += total >= observed - slack
        larger += total > observed + slack
        if level > 0.0 and _decided(equal_or_larger, level * drawn):
            break
    return equal_or_larger, larger, drawn


@njit(nogil=True, cache=True, inline="always")
def _decided(hits: int, expected: float) -> bool:
    """Whether more draws would hardly change the decision at the level that expects so many hits.

    The chance of rejection stays within 0.002 of that with all draws, whatever the true p-value; its mean within 0.1%.
    """
    spread = 2.0 * math.sqrt(expected)
    return hits > expected + 1.5 + spread or hits < expected - spread


@njit(nogil=True, cache=True, inline="always")  # a call would cost more than the work in a small stratum
def _one_stratum(
    rows: NDArray[np.int64],
    labels: NDArray[np.int64],
    start: int,
    stop: int,
    left: NDArray[np.int64],
    counts: NDArray[np.int64],
    terms: NDArray[np.float64],
    state: np.uint64,
) -> tuple[np.uint64, float]:
    """Deal the labels out to all rows of a table but the first, which gets what is left; return Σ o ln o."""
    total = 0.0
    for i in range(1, len(rows)):
        if rows[i] == 0:
            break
        for j in range(len(counts)):
            counts[j] = 0
        for at in range(start, start + rows[i]):
            state = _next(state)
            pick = at + np.int64(((state >> np.uint64(32)) * np.uint64(stop - at)) >> np.uint64(32))
            label = labels[pick]
            labels[pick] = labels[at]
            labels[at] = label
            counts[label] += 1
        start += rows[i]
        for j in range(len(counts)):
            total += _n_log_n(counts[j], terms)
            left[j] -= counts[j]
    for j in range(len(left)):
        total += _n_log_n(left[j], terms)
    return state, total


@njit(nogil=True, cache=True, inline="always")
def _next(state: np.uint64) -> np.uint64:
    """Return the next state of the generator xorshift64 (Marsaglia 2003); its upper half is used."""
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    state ^= state << np.uint64(17)
    return state


@njit(nogil=True, cache=True, inline="always")
def _n_log_n(n: int, terms: NDArray[np.float64]) -> float:
    return terms[n] if n < len(terms) else n * math.log(n)
