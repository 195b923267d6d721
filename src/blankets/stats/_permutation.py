"""The p-value of G by permuting x among the rows of each stratum, seeded and stopped early.

The null distribution of G depends on the margins alone. They are brought into one order first (levels by
size, the margin that is cheaper to permute as the rows, strata sorted), and the random numbers follow from
this order and the seed: the answer is the same whatever the order of rows, levels, columns and strata, with
x and y exchanged, on any number of threads and from any counter.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numba import njit
from numpy.typing import NDArray

from blankets.stats._contingency import _entropy_terms

__all__ = ["capped_p", "permutation_p", "permutations_of_block", "permuted_table"]

_TIE = 1e-12  # sums of the same terms in another order differ by less than this share
_SALT = 0x9E3779B97F4A7C15  # any number whose bits look random
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
        return _block_permutations(counts, terms, seed, most, enough)

    return permutations


@njit(nogil=True, cache=True)
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


@njit(nogil=True, cache=True)
def capped_p(a: float, b: float) -> float:
    """Return the larger of the mid-p and a / 1.1."""
    return max(0.5 * (a + b), a / _CAP)


@njit(nogil=True, cache=True)
def _block_permutations(
    counts: NDArray[np.int32], terms: NDArray[np.float64], seed: int, most: int, enough: int
) -> Counted:
    """Permute the tables of a block one by one."""
    equal_or_larger, larger, drawn = np.empty(len(counts)), np.empty(len(counts)), np.empty(len(counts))
    for i in range(len(counts)):
        equal_or_larger[i], larger[i], drawn[i] = permuted_table(counts[i], terms, seed, most, enough, 0.0)
    return equal_or_larger, larger, drawn


@njit(nogil=True, cache=True)
def permuted_table(
    table: NDArray[np.int32], terms: NDArray[np.float64], seed: int, most: int, enough: int, level: float
) -> tuple[int, int, int]:
    """Return how many permutations were as large as observed, how many larger, and how many were drawn.

    Drawing stops at ``most`` permutations, or when ``enough`` were as large as observed, or (if ``level`` is not 0)
    when so many or so few were that more could not change the decision at this level.
    """
    margins, n_strata, observed = _margins(table, terms)
    return _permuted(margins[:n_strata], observed, terms, seed, most, enough, level)


@njit(nogil=True, cache=True)
def _margins(table: NDArray[np.int32], terms: NDArray[np.float64]) -> tuple[NDArray[np.int64], int, float]:
    """Return the margins of the strata that can vary, in their one order, how many these are, and Σ o ln o.

    Parameters
    ----------
    table : ndarray of int32 of shape (levels of x, levels of y, strata)

    Returns
    -------
    margins : ndarray of int64 of shape (strata, 2, width)
        Rows and columns of each stratum, largest first, padded with zeros.
    n_strata : int
    observed : float
    """
    n_x, n_y, n_z = table.shape
    width = max(n_x, n_y)
    margins, key, kept, observed = np.empty((n_z, 2, width), np.int64), np.empty(n_z, np.uint64), 0, 0.0
    for z in range(n_z):
        here = margins[kept]
        for k in range(width):
            here[0, k] = here[1, k] = 0
        for x in range(n_x):
            for y in range(n_y):
                here[0, x] += table[x, y, z]
                here[1, y] += table[x, y, z]
        _largest_first(here[0])
        _largest_first(here[1])
        if width < 2 or here[0, 1] == 0 or here[1, 1] == 0:
            continue
        for x in range(n_x):
            for y in range(n_y):
                observed += _n_log_n(table[x, y, z], terms)
        _exchange(here)
        key[kept] = _hashed(here, np.uint64(_SALT))
        _sort_in(margins, key, kept)
        kept += 1
    return margins, kept, observed


@njit(nogil=True, cache=True)
def _sort_in(margins: NDArray[np.int64], key: NDArray[np.uint64], z: int) -> None:
    """Bring a stratum to its place among those before it; few can vary where tables are permuted."""
    while z > 0 and key[z - 1] > key[z]:
        key[z - 1], key[z] = key[z], key[z - 1]
        for m in range(2):
            for k in range(margins.shape[2]):
                before, after = margins[z - 1, m, k], margins[z, m, k]
                margins[z - 1, m, k], margins[z, m, k] = after, before
        z -= 1


@njit(nogil=True, cache=True)
def _largest_first(margin: NDArray[np.int64]) -> None:
    for k in range(1, len(margin)):
        m, j = margin[k], k
        while j > 0 and margin[j - 1] < m:
            margin[j] = margin[j - 1]
            j -= 1
        margin[j] = m


@njit(nogil=True, cache=True)
def _exchange(margins: NDArray[np.int64]) -> None:
    """Make the margin with the larger largest level, which is not permuted, the rows."""
    width, k = margins.shape[1], 0
    while k < width and margins[0, k] == margins[1, k]:
        k += 1
    if k < width and margins[1, k] > margins[0, k]:
        for j in range(width):
            r, c = margins[0, j], margins[1, j]
            margins[0, j], margins[1, j] = c, r


@njit(nogil=True, cache=True)
def _hashed(margins: NDArray[np.int64], state: np.uint64) -> np.uint64:
    """Mix the margins of a stratum, shape (2, width), into a state of the generator; padding leaves no trace."""
    for margin in margins:
        for k in range(len(margin)):
            if margin[k] == 0:
                break
            state = _next(_next(state ^ np.uint64(margin[k])))
        state = _next(state ^ np.uint64(_SALT))
    return state


@njit(nogil=True, cache=True)
def _permuted(
    margins: NDArray[np.int64],
    observed: float,
    terms: NDArray[np.float64],
    seed: int,
    most: int,
    enough: int,
    level: float,
) -> tuple[int, int, int]:
    """Permute within the strata with these margins."""
    state = np.uint64(seed) ^ np.uint64(_SALT)
    for z in range(len(margins)):
        state = _hashed(margins[z], state)
    state = state if state > 0 else np.uint64(_SALT)  # zero would stay zero
    labels, sizes = _labels(margins)
    left, counts = np.empty(margins.shape[2], np.int64), np.empty(margins.shape[2], np.int64)
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


@njit(nogil=True, cache=True)
def _decided(hits: int, expected: float) -> bool:
    """Whether more draws would hardly change the decision at the level that expects so many hits.

    The chance of rejection stays within 0.002 of that with all draws, whatever the true p-value; its mean within 0.1%.
    """
    spread = 2.0 * math.sqrt(expected)
    return hits > expected + 1.5 + spread or hits < expected - spread


@njit(nogil=True, cache=True)
def _labels(margins: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the column of every row, stratum after stratum, and the sizes of the strata."""
    n_strata, _, width = margins.shape
    n, sizes = 0, np.empty(n_strata, np.int64)
    for z in range(n_strata):
        sizes[z] = 0
        for k in range(width):
            sizes[z] += margins[z, 1, k]
        n += sizes[z]
    labels, at = np.empty(n, np.int64), 0
    for z in range(n_strata):
        for k in range(width):
            for _ in range(margins[z, 1, k]):
                labels[at] = k
                at += 1
    return labels, sizes


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


@njit(nogil=True, cache=True)
def _next(state: np.uint64) -> np.uint64:
    """Return the next state of the generator xorshift64 (Marsaglia 2003); its upper half is used."""
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    state ^= state << np.uint64(17)
    return state


@njit(nogil=True, cache=True)
def _n_log_n(n: int, terms: NDArray[np.float64]) -> float:
    return terms[n] if n < len(terms) else n * math.log(n)
