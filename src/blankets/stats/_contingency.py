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

from blankets.compiling import cheapest

__all__ = [
    "entropy_terms",
    "fill_statistics",
    "nominal_dof",
    "statistics_of_block",
    "strata_of_table",
    "table_statistics",
]

_MOST_TERMS = 1 << 16  # n ln n is tabled up to here (half a megabyte: stays in the second-level cache)
_DIGITS = 1e-5  # a sum of floating-point numbers above this share of Σ n ln n keeps ten digits
_UNITS = 1e11  # so does a sum of fixed-point numbers above this many of their smallest units
_NS_CELL = 2000.0  # a cell in plain Python

Statistics = tuple[NDArray[np.float64], NDArray[np.float64]]
Strata = tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32], float]


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
    terms, want_x2 = entropy_terms(n_rows), kind == "x2"

    def statistics(counts: NDArray[np.int32]) -> Statistics:
        kernel = cheapest(_block_statistics, _NS_CELL * counts.size)
        return kernel(counts.reshape(len(counts), -1), counts.shape[1:], terms, want_x2)  # type: ignore[no-any-return]

    return statistics


def nominal_dof(arity_x: int, arity_y: int, given: ArrayLike = ()) -> int:
    """Return (|X|-1)(|Y|-1) Π|Z_i|, exactly (Python integers do not overflow).

    >>> nominal_dof(3, 2, [2, 4])
    16
    """
    return (int(arity_x) - 1) * (int(arity_y) - 1) * math.prod(int(a) for a in np.asarray(given, np.int64))


@lru_cache(maxsize=8)
def entropy_terms(n_rows: int) -> NDArray[np.int64]:
    """Return n ln n for n = 0, 1, ... up to the number of rows or 65,536 as fixed-point numbers: their sums are exact.

    The last number says how many binary places they have. A multiple of n is of no account, since it cancels
    in G; so ln n is summed from ln(1 + 1/k), whose errors differ by little from one n to the next.

    >>> terms = entropy_terms(100)
    >>> bool(abs(terms[10] / 2.0 ** terms[-1] - 10 * math.log(10)) < 1e-14)
    True
    """
    most = min(n_rows, _MOST_TERMS)
    places = min(61 - math.ceil(math.log2(max(n_rows * math.log(max(n_rows, 2)), 2.0))), 57)
    n = np.arange(most + 1)
    if n_rows > most:  # counts beyond the table are not as exact either
        return np.append(np.rint(n * np.log(np.maximum(n, 1)) * 2.0**places).astype(np.int64), places)
    steps = np.log1p(1.0 / np.arange(1, most)) * 2.0**58
    whole = np.rint(steps)
    sums = np.cumsum(whole.astype(np.int64)) + np.rint(np.cumsum(steps - whole)).astype(np.int64)
    log = np.concatenate([np.zeros(min(most + 1, 2), np.int64), sums])
    upper, lower = log >> 29, log & ((1 << 29) - 1)  # a product with n of all 62 binary digits would overflow
    return np.append((n * upper << (places - 29)) + (n * lower >> (58 - places)), places)


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
    terms: NDArray[np.int64],
    want_x2: bool,  # noqa: FBT001
) -> Statistics:
    """Return statistics and adjusted degrees of freedom of flat tables that share their y and strata."""
    statistic, dof = np.empty(len(tables)), np.empty(len(tables))
    fill_statistics(tables, shape, terms, strata_of_table(tables[0], shape, terms), want_x2, statistic, dof)
    return statistic, dof


@njit(nogil=True, cache=True)
def fill_statistics(
    tables: NDArray[np.int32],
    shape: tuple[int, int, int],
    terms: NDArray[np.int64],
    strata: Strata,
    want_x2: bool,  # noqa: FBT001
    statistic: NDArray[np.float64],
    dof: NDArray[np.float64],
) -> None:
    """Fill in the statistic and the adjusted degrees of freedom of each flat table, whose strata are known.

    G is first summed from tabled n ln n. That leaves few digits where G is very small; then, and for X², the sum is
    taken cell by cell.
    """
    n_z = shape[2]
    size, y_part, y_seen, enough = strata
    if n_z == 1:
        _fill_without_strata(tables, shape, terms, strata, want_x2, statistic, dof)
        return
    unit = 2.0 ** -terms[-1]
    part, x_seen, margin = np.empty(n_z, np.int64), np.empty(n_z, np.int32), np.empty(n_z, np.int32)
    for i in range(len(tables)):
        for z in range(n_z):  # an assignment of arrays would be compiled with all its errors, for seconds
            part[z], x_seen[z] = y_part[z], 0
        if len(terms) <= _MOST_TERMS + 1:  # the table reaches the number of rows
            _add_x(tables[i], shape, terms, part, x_seen, margin)
        else:
            _add_x_of_many_rows(tables[i], shape, terms, part, x_seen, margin)
        total, free = 0, 0
        for z in range(n_z):
            if x_seen[z] > 1 and y_seen[z] > 1:
                total += part[z]
                free += (x_seen[z] - 1) * (y_seen[z] - 1)
        g = 2.0 * unit * total
        statistic[i] = _cell_by_cell(tables[i], shape, size, want_x2) if want_x2 or g < enough else g
        dof[i] = free


@njit(nogil=True, cache=True)
def _fill_without_strata(
    tables: NDArray[np.int32],
    shape: tuple[int, int, int],
    terms: NDArray[np.int64],
    strata: Strata,
    want_x2: bool,  # noqa: FBT001
    statistic: NDArray[np.float64],
    dof: NDArray[np.float64],
) -> None:
    """Do the same where there is one stratum, as in the widest scans: no loops but over a table's few counts."""
    n_x, n_y, _ = shape
    size, y_part, y_seen, enough = strata
    unit = 2.0 ** -terms[-1]
    for i in range(len(tables)):
        part, x_seen, k = y_part[0], 0, 0
        for _x in range(n_x):
            margin = 0
            for _y in range(n_y):
                margin += tables[i, k]
                part += _term(tables[i, k], terms)
                k += 1
            part -= _term(margin, terms)
            x_seen += margin > 0
        tested = x_seen > 1 and y_seen[0] > 1
        g, dof[i] = (2.0 * unit * part, (x_seen - 1) * (y_seen[0] - 1)) if tested else (0.0, 0.0)
        statistic[i] = _cell_by_cell(tables[i], shape, size, want_x2) if want_x2 or g < enough else g


@njit(nogil=True, cache=True)
def _add_x(
    table: NDArray[np.int32],
    shape: tuple[int, int, int],
    terms: NDArray[np.int64],
    part: NDArray[np.int64],
    x_seen: NDArray[np.int32],
    margin: NDArray[np.int32],
) -> None:
    """Add Σ n ln n over the cells of each stratum, less that over the margin of x; count the levels of x seen."""
    n_x, n_y, n_z = shape
    for x in range(n_x):
        margin[:] = 0
        for y in range(n_y):
            counts = table[(x * n_y + y) * n_z : (x * n_y + y + 1) * n_z]
            for z in range(n_z):
                margin[z] += counts[z]
            for z in range(n_z):
                part[z] += terms[np.uint32(counts[z])]  # unsigned: Numba looks whether a signed index is below 0
        for z in range(n_z):
            part[z] -= terms[np.uint32(margin[z])]
            x_seen[z] += margin[z] > 0


@njit(nogil=True, cache=True)
def _add_x_of_many_rows(
    table: NDArray[np.int32],
    shape: tuple[int, int, int],
    terms: NDArray[np.int64],
    part: NDArray[np.int64],
    x_seen: NDArray[np.int32],
    margin: NDArray[np.int32],
) -> None:
    """Do the same where counts may lie beyond the table; a look at each forbids vector loops."""
    n_x, n_y, n_z = shape
    for x in range(n_x):
        margin[:] = 0
        for cell in range(x * n_y * n_z, (x + 1) * n_y * n_z):
            part[cell % n_z] += _term(table[cell], terms)
            margin[cell % n_z] += table[cell]
        for z in range(n_z):
            part[z] -= _term(margin[z], terms)
            x_seen[z] += margin[z] > 0


@njit(nogil=True, cache=True)
def _term(n: int, terms: NDArray[np.int64]) -> np.int64:
    """Return n ln n, from the table where it reaches that far."""
    k = np.uint64(n)  # unsigned: Numba looks whether a signed index is below 0
    return terms[k] if k < np.uint64(len(terms) - 1) else np.int64(n * math.log(n) * 2.0 ** terms[-1])


@njit(nogil=True, cache=True)
def strata_of_table(table: NDArray[np.int32], shape: tuple[int, int, int], terms: NDArray[np.int64]) -> Strata:
    """Return what flat tables with the same y and strata share.

    For each stratum its size n, n ln n - Σ_y c ln c, and the levels of y seen; and the value from which a sum of
    tabled n ln n has enough digits.
    """
    n_x, n_y, n_z = shape
    sums = np.zeros((n_y, n_z), np.int32)
    size, part, seen = np.zeros(n_z, np.int32), np.zeros(n_z, np.int64), np.zeros(n_z, np.int32)
    for x in range(n_x):
        for y in range(n_y):
            for z in range(n_z):
                sums[y, z] += table[(x * n_y + y) * n_z + z]
    for y in range(n_y):
        for z in range(n_z):
            size[z] += sums[y, z]
            part[z] -= _term(sums[y, z], terms)
            seen[z] += sums[y, z] > 0
    for z in range(n_z):
        part[z] += _term(size[z], terms)
    if len(terms) <= _MOST_TERMS + 1:
        return size, part, seen, _UNITS * 2.0 ** -terms[-1] * n_z
    return size, part, seen, _DIGITS * _entropy_of(size)


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
        for y in range(n_y):
            c = 0
            for x in range(n_x):
                c += table[(x * n_y + y) * n_z + z]
            share = c / size[z] if c > 0 else 0.0
            for x in range(n_x):
                r = 0
                for k in range(n_y):
                    r += table[(x * n_y + k) * n_z + z]
                if r > 0 and c > 0:
                    total += _cell(float(table[(x * n_y + y) * n_z + z]), r * share, want_x2)
    return total


@njit(nogil=True, cache=True)
def _cell(o: float, e: float, want_x2: bool) -> float:  # noqa: FBT001
    """Return the cell's part of X², or of G as 2 (o ln(o/e) - (o - e)): the o - e of a stratum sum to zero."""
    d = (o - e) / e
    s = d * d
    if want_x2:
        return s * e
    if o == 0.0:
        return 2.0 * e
    if abs(d) > 0.1:
        return 2.0 * (o * math.log(o / e) - (o - e))
    # (1+d) ln(1+d) - d = Σ (-d)^k / (k (k-1)) for k >= 2: no difference of nearly equal numbers. Up to k = 14,
    # even and odd ones apart; what is left out is below 1e-15 of it.
    even = 1 / 2 + s * (1 / 12 + s * (1 / 30 + s * (1 / 56 + s * (1 / 90 + s * (1 / 132 + s / 182)))))
    odd = 1 / 6 + s * (1 / 20 + s * (1 / 42 + s * (1 / 72 + s * (1 / 110 + s / 156))))
    return 2.0 * e * s * (even - d * odd)
