"""The distribution of G under independence, given the margins of every stratum.

Given its margins, a stratum of size n is a draw from the (multivariate) hypergeometric distribution. G is a sum
over cells of 2 (o ln(o/e) - (o - e)), so that

* its mean is a sum of expectations of single cells, and
* its variance follows from the expansion of each cell's part in the polynomials that are orthogonal under
  the cell's distribution. Those of degree k of two cells (i, j) and (l, m) have the correlation
  A_k(i, l) B_k(j, m), where A_k(i, i) = 1 and A_k(i, l)² = (r_i)_k (r_l)_k / ((n - r_i)_k (n - r_l)_k) with
  the sign (-1)^k, (r)_k = r (r-1) ... (r-k+1), and B_k likewise of the columns; polynomials of different
  degree do not correlate. (X² is of degree 2 throughout: Haldane 1940 and Dawson 1954 give its variance.)

In a stratum whose smallest expected count is `LARGE` or more, Bartlett's corrected chi-square is good enough: its
mean is d + (n Σ1/r - 1)(n Σ1/c - 1) / 6n for d degrees of freedom (Lawley 1956; Williams 1976).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from blankets import kernels
from blankets.kernels import DEGREES, SMALL, STEPS, TABLED

Floats = NDArray[np.float64]


@lru_cache(maxsize=1)
def cell_tables() -> kernels.Cells:
    """Return the means and variances of single cells, to be looked up."""
    return kernels.Cells(*arrays_of_cells())


def arrays_of_cells() -> tuple[Floats, Floats, Floats]:
    """Return what `blankets.kernels.Cells` holds."""
    small = np.zeros((SMALL + 1, SMALL + 1, SMALL + 1, DEGREES + 1))
    binomials, roots = np.zeros((TABLED + 1, STEPS + 1, DEGREES + 1)), np.zeros((SMALL + 1, SMALL + 1, DEGREES + 1))
    kernels.fill_cells(*(table.reshape(-1, DEGREES + 1) for table in (small, binomials, roots)))
    return small, binomials, roots
