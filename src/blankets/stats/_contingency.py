"""G and X² of count tables, with the degrees of freedom that the data support.

A table has shape (levels of x, levels of y, strata): the strata lie side by side, so that the inner loops
run along them. Counts are integers; empty cells, empty levels and empty strata are ordinary. With r, c and
n the margins of a stratum:

* G  = 2 Σ O ln(O n / (r c)); an empty cell adds 0.
* X² = Σ (O - E)² / E with E = r c / n; a cell without expectation adds 0.
* adjusted degrees of freedom = Σ over strata of (levels of x seen - 1)₊ (levels of y seen - 1)₊.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

__all__ = ["nominal_dof", "statistics_of_block", "table_statistics"]

_MOST_TERMS = 1 << 16  # n ln n is tabled up to here (half a megabyte: stays in the second-level cache)
_DIGITS = 1e-5  # a sum above this share of Σ n ln n keeps ten digits

Statistics = tuple[NDArray[np.float64], NDArray[np.float64]]


def table_statistics(tables: ArrayLike, kind: str = "g") -> Statistics:
    """Return the statistic and the adjusted degrees of freedom of many tables.

    Parameters
    ----------
    tables : array_like of int of shape (n, levels of x, levels of y, strata)
        Counts.
    kind : {"g", "x2"}
        Which statistic.

    Returns
    -------
    statistic, dof : ndarray of shape (n,)

    Examples
    --------
    >>> statistic, dof = table_statistics([[[[10], [20]], [[30], [40]]]])
    >>> float(statistic[0].round(6)), float(dof[0])
    (0.804349, 1.0)
    >>> table_statistics([[[[10], [20]], [[30], [40]]]], kind="x2")[0].round(6).tolist()
    [0.793651]
    """
    counts = np.ascontiguousarray(tables, dtype=np.int32)
    most = int(counts.sum(axis=(1, 2, 3), dtype=np.int64).max(initial=0))
    statistics = statistics_of_block(most, kind)
    one_by_one = [statistics(table[np.newaxis]) for table in counts]
    return np.array([s[0] for s, _ in one_by_one]), np.array([d[0] for _, d in one_by_one])


def statistics_of_block(n_rows: int, kind: str = "g") -> Callable[[NDArray[np.int32]], Statistics]:
    """Return the function from a block of tables to statistics and adjusted degrees of freedom.

    The tables of a block are those of different x with the same y in the same strata, so that the margins
    of y are worked out once. ``n_rows`` is at least the number of rows counted.
    """
    terms, want_x2 = _entropy_terms(n_rows), kind == "x2"

    def statistics(counts: NDArray[np.int32]) -> Statistics:
        return _block_statistics(counts.reshape(len(counts), -1), counts.shape[1:], terms, want_x2)

    return statistics


def nominal_dof(arity_x: int, arity_y: int, given: ArrayLike = ()) -> int:
    """Return (|X|-1)(|Y|-1) Π|Z_i|, exactly (Python integers do not overflow).

    >>> nominal_dof(3, 2, [2, 4])
    16
    """
    return (int(arity_x) - 1) * (int(arity_y) - 1) * math.prod(int(a) for a in np.asarray(given, np.int64))


@lru_cache(maxsize=8)
def _entropy_terms(n_rows: int) -> NDArray[np.float64]:
    """Return the table of n ln n for n = 0, 1, ... up to the number of rows or 65,536."""
    n = np.arange(min(n_rows, _MOST_TERMS) + 1, dtype=float)
    terms: NDArray[np.float64] = n * np.log(np.maximum(n, 1.0))
    return terms


@njit(nogil=True, cache=True)
def _block_statistics(
    tables: NDArray[np.int32],
    shape: tuple[int, int, int],
    terms: NDArray[np.float64],
    want_x2: bool,  # noqa: FBT001
) -> Statistics:
    """Return statistics and adjusted degrees of freedom of flat tables that share their y and strata.

    G is first summed from tabled n ln n. That loses digits to cancellation where G is small; then, and
    for X², the sum is taken cell by cell.
    """
    n_x, n_y, n_z = shape
    statistic, dof = np.empty(len(tables)), np.empty(len(tables))
    size, y_part, y_seen = _margins_of_y(tables[0], shape, terms)
    enough = _DIGITS * _entropy_of(size)
    part, x_seen, margin = np.empty(n_z), np.empty(n_z, np.int32), np.empty(n_z, np.int32)
    for i in range(len(tables)):
        part[:] = y_part
        x_seen[:] = 0
        for x in range(n_x):
            margin[:] = 0
            for y in range(n_y):
                counts = tables[i, (x * n_y + y) * n_z : (x * n_y + y + 1) * n_z]
                for z in range(n_z):
                    margin[z] += counts[z]
                _add_terms(part, counts, 1.0, terms)
            _add_terms(part, margin, -1.0, terms)
            for z in range(n_z):
                x_seen[z] += margin[z] > 0
        g, free = 0.0, 0
        for z in range(n_z):
            if x_seen[z] > 1 and y_seen[z] > 1:
                g += 2.0 * part[z]
                free += (x_seen[z] - 1) * (y_seen[z] - 1)
        if want_x2 or g < enough:
            g = _cell_by_cell(tables[i], shape, size, want_x2)
        statistic[i], dof[i] = g, free
    return statistic, dof


@njit(nogil=True, cache=True)
def _margins_of_y(
    table: NDArray[np.int32], shape: tuple[int, int, int], terms: NDArray[np.float64]
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.int32]]:
    """Return, for each stratum, its size n, n ln n - Σ_y c ln c, and the levels of y seen."""
    n_x, n_y, n_z = shape
    sums = np.zeros((n_y, n_z), np.int32)
    size, part, seen = np.zeros(n_z, np.int32), np.zeros(n_z), np.zeros(n_z, np.int32)
    for x in range(n_x):
        for y in range(n_y):
            for z in range(n_z):
                sums[y, z] += table[(x * n_y + y) * n_z + z]
    for y in range(n_y):
        _add_terms(part, sums[y], -1.0, terms)
        for z in range(n_z):
            size[z] += sums[y, z]
            seen[z] += sums[y, z] > 0
    _add_terms(part, size, 1.0, terms)
    return size, part, seen


@njit(nogil=True, cache=True)
def _add_terms(out: NDArray[np.float64], counts: NDArray[np.int32], sign: float, terms: NDArray[np.float64]) -> None:
    """Add sign · n ln n of each count, from the table where it reaches that far."""
    if len(terms) <= _MOST_TERMS:  # the table reaches the number of rows
        for z in range(len(out)):
            out[z] += sign * terms[counts[z]]
    else:
        for z in range(len(out)):
            n = counts[z]
            out[z] += sign * (terms[n] if n < len(terms) else n * math.log(n))


@njit(nogil=True, cache=True)
def _entropy_of(size: NDArray[np.int32]) -> float:
    """Return Σ n ln n."""
    total = 0.0
    for n in size:
        if n > 0:
            total += n * math.log(n)
    return total


@njit(nogil=True, cache=True)
def _cell_by_cell(
    table: NDArray[np.int32],
    shape: tuple[int, int, int],
    size: NDArray[np.int32],
    want_x2: bool,  # noqa: FBT001
) -> float:
    """Return G or X² as the sum over cells of its definition."""
    n_x, n_y, n_z = shape
    total = 0.0
    for z in range(n_z):
        stratum = table[z::n_z]
        for x in range(n_x):
            r = stratum[x * n_y : (x + 1) * n_y].sum()
            for y in range(n_y):
                c = stratum[y::n_y].sum()
                if r > 0 and c > 0:
                    total += _cell(float(stratum[x * n_y + y]), r * (c / size[z]), want_x2)
    return total


@njit(nogil=True, cache=True)
def _cell(o: float, e: float, want_x2: bool) -> float:  # noqa: FBT001
    """Return the cell's part of X², or of G as 2 (o ln(o/e) - (o - e)): the o - e of a stratum sum to zero."""
    d = (o - e) / e
    if want_x2:
        return d * d * e
    if o == 0.0:
        return 2.0 * e
    if abs(d) > 0.1:
        return 2.0 * (o * math.log(o / e) - (o - e))
    # (1+d) ln(1+d) - d = Σ (-d)^k / (k (k-1)) for k >= 2: no difference of nearly equal numbers
    total, power, k = 0.0, d * d, 2.0
    while abs(power) > 1e-18 * abs(total):
        total += power / (k * (k - 1.0))
        power *= -d
        k += 1.0
    return 2.0 * e * total
