"""p-values of G that are right in sparse tables too, computed as fast as possible.

Each table goes through these stages, until one decides:

1. *screening*: G is so small or so large for its degrees of freedom that its p-value is far from the level under
   every possible distribution. In dense tables (every expected count at least `DENSE`) the distribution is nearly
   chi-square. In others the extremes are rare cells, whose counts are Poisson, and strata of two rows, in which G is
   2.77 for one degree of freedom. The p-value is then the chi-square tail.
2. *moments*: a multiple of chi-square with mean and variance of G given the margins (with Bartlett's correction,
   if every expected count is at least `LARGE`).
3. *enumeration* of a two-by-two table without strata, or *permutation* of x within the strata, if so few rows can
   be exchanged that G takes few values, and the p-value by moments is near the level.

Without a level every p-value must be accurate: nothing is screened, and more tables are permuted.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from blankets import kernels
from blankets.kernels import LARGE
from blankets.stats._calibrated import cell_tables
from blankets.stats._contingency import KEPT_ROWS, answers_of_block, formula_of
from blankets.stats._special import chi2_isf, chi2_ppf

METHODS = (
    "not performed",
    "nothing to test: within each stratum one of the two has a single value",
    f"chi-square: every expected count is at least {LARGE:g}",
    "chi-square: far from the level even if the table is sparse",
    f"adjusted chi-square: some expected counts are below {LARGE:g}",
    "exact: all tables with the same totals were counted",
    "permutation: the strata have too few rows for a formula",
)

_MOST = 1999  # permutations of a table
_SCREENED = 512  # degrees of freedom beyond which tables are not screened

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Judged = tuple[Floats, Floats]


def calibrated_of_block(
    n_rows: int, *, level: float | None = None, seed: int = 0, apart: bool = False
) -> Callable[[NDArray[np.int32]], Judged]:
    """Return the function from a block of tables to log p-values and methods.

    ``n_rows``: at least the number of rows counted. ``level``: the level that p-values will be compared with: those far
    from it are computed by fast formulas. By default every p-value is accurate. ``seed``: seed of the permutations.
    ``apart``: the tables of a block are of different rows.

    Returns: a function from counts of shape (n, levels of x, levels of y, strata) to two arrays: log p-values in nats
    (NaN means: use the chi-square tail) and positions in `METHODS`.

    Examples
    --------
    >>> table = np.array([[[[2], [0]], [[0], [2]]]], np.int32)  # as large in one arrangement of three
    >>> log_p, method = calibrated_of_block(4)(table)
    >>> round(float(np.exp(log_p[0])), 3), METHODS[int(method[0])]
    (0.303, 'exact: all tables with the same totals were counted')
    """
    formula = calibrated_formula(n_rows, level=level, draws=True, seed=seed, screens=False)

    def calibrated(counts: NDArray[np.int32]) -> Judged:
        _, _, log_p, method = answers_of_block(counts, formula, apart=apart)
        return log_p, method

    return calibrated


def calibrated_formula(
    n_rows: int,
    *,
    level: float | None,
    reliability: float = 0.0,
    draws: bool = False,
    seed: int = 0,
    screens: bool = True,
    later: bool = False,
) -> kernels.Formula:
    """Return the formula by which kernels judge tables at a level.

    ``draws``: also those whose G takes few values. ``later``: only those that are far from the level.
    """
    if not draws and n_rows <= KEPT_ROWS:
        return _undrawn(n_rows, level, reliability=reliability, screens=screens, later=later)
    most = 0 if not draws else _MOST if not level else min(_MOST, math.ceil(10.0 / level) - 1)
    law, cells = law_at(level), cell_tables()
    return formula_of(
        n_rows, reliability=reliability, law=law, cells=cells, screens=screens, draws=most, seed=seed, later=later
    )


@lru_cache(maxsize=8)
def _undrawn(n_rows: int, level: float | None, *, reliability: float, screens: bool, later: bool) -> kernels.Formula:
    """Return the formula of tests that draw nothing."""
    law, cells = law_at(level), cell_tables()
    return formula_of(n_rows, reliability=reliability, law=law, cells=cells, screens=screens, later=later)


@lru_cache(maxsize=32)
def law_at(level: float | None) -> kernels.Law:
    """Return how G is judged at a level."""
    if level is None:
        return kernels.Law(np.zeros((0, 4)), math.log(1e-5), math.log(0.25), 1000.0, 0.0)
    return kernels.Law(_limits(level), math.log(0.3 * level), math.log(min(2.5 * level, 0.5)), 1.0 / level, level)


def _limits(level: float) -> Floats:
    """Return, by degrees of freedom, the G that is far below and above the level: for dense tables, and for any."""
    free = np.arange(_SCREENED + 1, dtype=float)
    free[0] = 1.0
    large, small = min(3.0 * level, 0.5), 0.1 * level
    dense_low, high = chi2_isf(large, free), chi2_isf(small, free)
    # So many hits among d rare cells have the probability ``large``; each adds 2 (ln 1/e - 1 + e), the others 2 e.
    hits = np.arange(1.0, 65.0)[:, np.newaxis]
    e = 0.5 * chi2_ppf(large, 2.0 * hits) / free
    rare = 2.0 * hits * (-np.log(e) - 1.0 + e) + 2.0 * (free - hits) * e
    rare = np.where((hits <= free) & (e < 0.5), rare, np.inf).min(axis=0)
    return np.stack([dense_low, 1.2 * high, np.minimum(0.9 * rare, dense_low), 2.8 * high], axis=1)
