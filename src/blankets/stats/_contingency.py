"""G and X² of count tables, with the degrees of freedom that the data support.

A table has shape (levels of x, levels of y, strata), where a stratum is one combination of the conditioning
values; the inner loops run along the strata. Counts are integers; empty cells, levels and strata are allowed.
With r, c and n the margins of a stratum:

* G  = 2 Σ O ln(O n / (r c)); an empty cell adds 0.
* X² = Σ (O - E)² / E with E = r c / n; a cell with E = 0 adds 0.
* adjusted degrees of freedom = Σ over strata of (levels of x seen - 1)₊ (levels of y seen - 1)₊.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from blankets import kernels

KEPT_ROWS = 1 << 14  # up to these, formulas are kept for other tables
_MOST_TERMS = 1 << 16  # n ln n is in a table up to here (half a megabyte: stays in the second-level cache)

# Room for small tables, and what is known of their strata, whatever they are tested by: as many as were needed at once.
_ROOMS: list[object] = []

Statistics = tuple[NDArray[np.float64], NDArray[np.float64]]


def table_statistics(tables: ArrayLike, kind: str = "g") -> Statistics:
    """Return the statistic and the adjusted degrees of freedom of many tables.

    ``tables``, of shape (n, levels of x, levels of y, strata): counts. ``kind``: which statistic.

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


def statistics_of_block(
    n_rows: int, kind: str = "g", *, apart: bool = False
) -> Callable[[NDArray[np.int32]], Statistics]:
    """Return the function from a block of tables to statistics and adjusted degrees of freedom.

    The tables of a block have different x, but the same y and strata, so that the margins of y are computed
    once; unless they are ``apart``, tables of different rows. ``n_rows`` is at least the number of rows counted.
    """
    formula = formula_of(n_rows, kind)

    def statistics(counts: NDArray[np.int32]) -> Statistics:
        statistic, dof, _, _ = answers_of_block(counts, formula, apart=apart)
        return statistic, dof

    return statistics


def formula_of(
    n_rows: int,
    kind: str = "g",
    *,
    reliability: float = 0.0,
    nominal: bool = False,
    law: kernels.Law | None = None,
    cells: kernels.Cells | None = None,
    screens: bool = True,
    draws: int = 0,
    seed: int = 0,
    later: bool = False,
) -> kernels.Formula:
    """Return the formula by which kernels test tables of at most this many rows."""
    if law is None and not seed and n_rows <= KEPT_ROWS:
        return _plain(n_rows, kind, float(reliability), nominal=nominal)
    terms, full = entropy_terms(n_rows), n_rows < _MOST_TERMS
    how = law, cells, screens, draws, seed, later, _ROOMS if n_rows <= KEPT_ROWS else None
    return kernels.Formula(terms, full, float(reliability), kind == "x2", nominal, *how)


@lru_cache(maxsize=8)
def _plain(n_rows: int, kind: str, reliability: float, *, nominal: bool) -> kernels.Formula:
    """Return the formula of tests that judge nothing."""
    return kernels.Formula(
        entropy_terms(n_rows), n_rows < _MOST_TERMS, reliability, kind == "x2", nominal, rooms=_ROOMS
    )


def answers_of_block(
    counts: NDArray[np.int32], formula: kernels.Formula, *, apart: bool = False
) -> tuple[NDArray[np.float64], ...]:
    """Return statistics, degrees of freedom, log p-values and methods of tables with the same y in the same strata.

    ``apart``: the tables are of different rows, and share no margins.
    """
    return kernels.block_statistics(*flat_tables(counts), formula, apart)


def flat_tables(counts: NDArray[np.int32]) -> tuple[NDArray[np.int32], int, int, int]:
    """Return tables as kernels want them, one a row, and their levels of x, levels of y, and strata."""
    n_x, n_y, n_z = counts.shape[1:]
    return np.ascontiguousarray(counts, np.int32).reshape(len(counts), n_x * n_y * n_z), n_x, n_y, n_z


@lru_cache(maxsize=8)
def entropy_terms(n_rows: int) -> NDArray[np.int64]:
    """Return n ln n for n = 0, 1, ... up to the number of rows or 65,536 as fixed-point numbers: their sums are exact.

    The last number is the number of binary places. An error proportional to n does not matter, because it cancels
    in G; so ln n is summed from ln(1 + 1/k), whose errors differ little from one n to the next.

    >>> terms = entropy_terms(100)
    >>> bool(abs(terms[10] / 2.0 ** terms[-1] - 10 * math.log(10)) < 1e-14)
    True
    """
    most = min(n_rows, _MOST_TERMS)
    places = min(61 - math.ceil(math.log2(max(n_rows * math.log(max(n_rows, 2)), 2.0))), 57)
    n = np.arange(most + 1)
    if n_rows > most:  # counts above the table are less exact, too
        return np.append(np.rint(n * np.log(np.maximum(n, 1)) * 2.0**places).astype(np.int64), places)
    steps = np.log1p(1.0 / np.arange(1, most)) * 2.0**58
    whole = np.rint(steps)
    sums = np.cumsum(whole.astype(np.int64)) + np.rint(np.cumsum(steps - whole)).astype(np.int64)
    log = np.concatenate([np.zeros(min(most + 1, 2), np.int64), sums])
    upper, lower = log >> 29, log & ((1 << 29) - 1)  # a product with n of all 62 binary digits would overflow
    return np.append((n * upper << (places - 29)) + (n * lower >> (58 - places)), places)
