"""The best-scoring DAG by dynamic programming over sets of nodes.

A DAG has a node without children (a sink). The best DAG on S ends in some sink v: the best DAG on S - v, and
for v its best parents within S - v. Both are found for all 2^n sets, smallest first.

References
----------
Silander & Myllymäki (2006), A simple approach for finding the globally optimal Bayesian network structure, UAI.
Koivisto & Sood (2004), Exact Bayesian structure discovery in Bayesian networks, JMLR 5.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from blankets.kernels import best_parents
from blankets.latent._constraints import Constraints


def solve_dynamic(table: NDArray[np.float64], constraints: Constraints) -> tuple[NDArray[np.int64], float]:
    """Return the parent masks and the score of the best DAG that meets the constraints."""
    n = len(constraints.required)
    parents = np.zeros(n, np.int64)
    score = best_parents(table, n, constraints.required, constraints.forbidden, constraints.max_parents, parents)
    return parents, score
