"""G and X² of count tables, with the degrees of freedom that the data support.

A table has shape (strata, levels of y, levels of x) and is flat in memory. Counts are integers; empty
cells, empty rows and empty strata are ordinary (METHODS section 1):

* G  = 2 Σ O ln(O n_z / (r c)), with r, c, n_z the margins of the stratum; an empty cell adds 0.
* X² = Σ (O - E)² / E with E = r c / n_z; a cell without expectation adds 0.
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


@lru_cache(maxsize=8)
def _entropy_terms(n_rows: int) -> NDArray[np.float64]:
    """Return the table of n ln n for n = 0, 1, ... up to the number of rows or 65,536."""
    n = np.arange(min(n_rows, _MOST_TERMS) + 1, dtype=float)
    terms: NDArray[np.float64] = n * np.log(np.maximum(n, 1.0))
    terms.setflags(write=False)
    return terms


@njit(nogil=True, cache=True, inline="never")
def _n_log_n(n: int, terms: NDArray[np.float64]) -> float:
    return terms[n] if n < len(terms) else n * math.log(n)


@njit(nogil=True, cache=True)
def _g_or_x2(
    table: NDArray[np.int32],
    shape: tuple[int, int, int],
    margin: NDArray[np.int64],
    terms: NDArray[np.float64],
    want_x2: bool,  # noqa: FBT001
) -> tuple[float, int]:
    """Return G (or X²) and the adjusted degrees of freedom of one flat table.

    ``margin`` is scratch space for the levels of x. G is first summed from tabled n ln n, which loses
    digits to cancellation when it is small; then it is summed again cell by cell.
    """
    n_strata, n_y, n_x = shape
    total, size, dof = 0.0, 0.0, 0
    for z in range(n_strata):
        base = z * n_y * n_x
        margin[:n_x] = 0
        n_z, seen_y, part = 0, 0, 0.0
        for i in range(n_y):
            r = 0
            for j in range(n_x):
                o = table[base + i * n_x + j]
                r += o
                margin[j] += o
                part += _n_log_n(o, terms)
            n_z += r
            seen_y += r > 0
            part -= _n_log_n(r, terms)
        if n_z == 0:
            continue
        seen_x = 0
        for j in range(n_x):
            seen_x += margin[j] > 0
            part -= _n_log_n(margin[j], terms)
        n_z_log = _n_log_n(n_z, terms)
        if seen_x > 1 and seen_y > 1:
            dof += (seen_x - 1) * (seen_y - 1)
            size += n_z_log
            total += part + n_z_log
    if want_x2 or 2.0 * total < 1e-5 * size:
        # 1e-5 of n ln n leaves ten digits of the sum above.
        return _cell_by_cell(table, shape, margin, want_x2), dof
    return 2.0 * total, dof


@njit(nogil=True, cache=True)
def _cell_by_cell(
    table: NDArray[np.int32],
    shape: tuple[int, int, int],
    margin: NDArray[np.int64],
    want_x2: bool,  # noqa: FBT001
) -> float:
    """Return G or X² as the sum over cells of its definition."""
    n_strata, n_y, n_x = shape
    total = 0.0
    for z in range(n_strata):
        stratum = table[z * n_y * n_x : (z + 1) * n_y * n_x]
        margin[:n_x] = 0
        for k in range(len(stratum)):
            margin[k % n_x] += stratum[k]
        n_z = margin[:n_x].sum()
        for i in range(n_y):
            row = stratum[i * n_x : (i + 1) * n_x]
            r = row.sum()
            for j in range(n_x):
                if r > 0 and margin[j] > 0:
                    expected = r * (margin[j] / n_z)
                    total += _cell(float(row[j]), expected, want_x2)
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
    # (1+d) ln(1+d) - d = Σ (-d)^k / (k (k-1)) for k >= 2
    total, power, k = 0.0, d * d, 2.0
    while abs(power) > 1e-18 * abs(total):
        total += power / (k * (k - 1.0))
        power *= -d
        k += 1.0
        if power == 0.0:
            break
    return 2.0 * e * total


@njit(nogil=True, cache=True)
def _table_statistics(
    tables: NDArray[np.int32],
    shape: tuple[int, int, int],
    terms: NDArray[np.float64],
    want_x2: bool,  # noqa: FBT001
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    statistic, dof = np.empty(len(tables)), np.empty(len(tables))
    margin = np.empty(shape[2], np.int64)
    for i in range(len(tables)):
        statistic[i], dof[i] = _g_or_x2(tables[i], shape, margin, terms, want_x2)
    return statistic, dof


def table_statistics(tables: ArrayLike, kind: str = "g") -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the statistic and the adjusted degrees of freedom of many tables at once.

    Parameters
    ----------
    tables : array_like of int of shape (n, strata, levels of y, levels of x)
        Counts.
    kind : {"g", "x2"}
        Which statistic.

    Returns
    -------
    statistic, dof : ndarray of shape (n,)

    Examples
    --------
    >>> statistic, dof = table_statistics([[[[10, 20], [30, 40]]]])
    >>> float(statistic[0].round(6)), float(dof[0])
    (0.804349, 1.0)
    >>> table_statistics([[[[10, 20], [30, 40]]]], kind="x2")[0].round(6).tolist()
    [0.793651]
    """
    counts = np.ascontiguousarray(tables, dtype=np.int32)
    most = int(counts.sum(axis=(1, 2, 3), dtype=np.int64).max(initial=0))
    return statistics_of_block(most, kind)(counts)


def nominal_dof(arity_x: int, arity_y: int, given: ArrayLike = ()) -> int:
    """Return (|X|-1)(|Y|-1) Π|Z_i|, exactly (Python integers do not overflow).

    >>> nominal_dof(3, 2, [2, 4])
    16
    """
    return (int(arity_x) - 1) * (int(arity_y) - 1) * math.prod(int(a) for a in np.asarray(given, np.int64))


def statistics_of_block(
    n_rows: int, kind: str = "g"
) -> Callable[[NDArray[np.int32]], tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Return the function from a block of count tables to statistics and adjusted degrees of freedom."""
    terms, want_x2 = _entropy_terms(n_rows), kind == "x2"

    def statistics(counts: NDArray[np.int32]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        k, n_strata, n_y, n_x = counts.shape
        return _table_statistics(counts.reshape(k, -1), (n_strata, n_y, n_x), terms, want_x2)

    return statistics
