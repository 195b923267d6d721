"""A test of independence for rows that come in groups: patients with several visits, students of the same school.

The score of a pair of levels in a stratum, Σ (1[x = a] - p(a|z)) (1[y = b] - p(b|z)), is a sum over groups. Under
independence the sums of single groups have mean 0, whatever ties the rows within a group; so their mean, divided by
their own covariance, is Hotelling's T², and F = T² (C - d) / (d (C - 1)) for d scores and C groups, methods (12.2).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from blankets import kernels

GROUPS_A_DEGREE = 5  # groups for each degree of freedom; with fewer, strata are summed up
_SMALLEST = 1e-10  # of the largest variance: below, a combination of scores does not vary

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Clustered(NamedTuple):
    """The test of one table."""

    statistic: float  # T²; NaN if it could not be done
    dof: float  # scores that vary
    log_p: float
    n_groups: int  # those that had something to say
    summed: bool  # whether the scores of strata were summed up


def clustered_test(counts: NDArray[np.int32], strata: Ints, groups: Ints, *, always: bool = False) -> Clustered:
    """Test x and y given the strata, where rows come in groups.

    ``counts``, of shape (levels of x, levels of y, cells): rows of each cell, which is a group in a stratum.
    ``strata``, ``groups``, of shape (cells,): the stratum and the group of each. ``always``: even with few groups for a
    degree of freedom.

    Examples
    --------
    Each of four groups has two rows, with the same x and the same y:

    >>> counts = np.array([[[2, 2, 0, 0], [0, 0, 0, 0]], [[0, 0, 0, 2], [0, 0, 2, 0]]])
    >>> found = clustered_test(counts, np.zeros(4, int), np.arange(4), always=True)
    >>> round(found.statistic, 3), found.dof, found.n_groups, round(float(np.exp(found.log_p)), 3)
    (1.5, 1.0, 4, 0.308)
    """
    _, where = np.unique(strata, return_inverse=True)
    tables = summed_cells(counts, where)
    of_x, of_y = tables.sum(axis=1), tables.sum(axis=0)
    seen_x, seen_y = of_x > 0, of_y > 0
    varies = (seen_x.sum(axis=0) > 1) & (seen_y.sum(axis=0) > 1)
    here = varies[where]
    if not here.any():
        return Clustered(0.0, 0.0, 0.0, len(np.unique(groups)), summed=False)
    scores = _scores(counts[:, :, here], where[here], of_x, of_y)
    _, group = np.unique(groups[here], return_inverse=True)
    n_groups = int(group.max()) + 1
    # Levels of a stratum add up to nothing: the last one that is seen is told by the others.
    free = _all_but_last(seen_x)[:, np.newaxis] & _all_but_last(seen_y)[np.newaxis] & varies
    summed = int(free.sum()) * GROUPS_A_DEGREE > n_groups
    if summed:
        free = free.any(axis=2)
        parts = np.zeros((n_groups, int(free.sum())))
        np.add.at(parts, group, scores[free].T)
    else:
        parts = np.zeros((n_groups, int(free.sum())))
        column = np.where(free, np.cumsum(free).reshape(free.shape) - 1, -1)[:, :, where[here]]
        a, b, cell = np.nonzero(column >= 0)
        parts[group[cell], column[a, b, cell]] = scores[a, b, cell]
    statistic, dof = _hotelling(parts)
    enough = n_groups > dof + 1 if always else n_groups >= GROUPS_A_DEGREE * dof
    if not enough:
        return Clustered(np.nan, 0.0, np.nan, n_groups, summed)
    return Clustered(statistic, float(dof), hotelling_log_p(statistic, dof, n_groups), n_groups, summed)


def summed_cells(counts: NDArray[np.int32], strata: Ints) -> NDArray[np.int32]:
    """Return the tables of the strata that occur, in their order, over all groups.

    >>> summed_cells(np.array([[[1, 2, 3]]], np.int32), np.array([4, 0, 4])).tolist()
    [[[2, 4]]]
    """
    if not len(strata):
        return counts
    order = np.argsort(strata, kind="stable")
    first = np.flatnonzero(np.diff(strata[order], prepend=strata[order][0] - 1))
    return np.asarray(np.add.reduceat(counts[..., order], first, axis=-1))


def _scores(counts: NDArray[np.int32], where: Ints, of_x: NDArray[np.integer], of_y: NDArray[np.integer]) -> Floats:
    """Return the sum of the scores over the rows of each cell."""
    size = np.maximum(of_x.sum(axis=0), 1.0)
    share_x, share_y = (of_x / size)[:, where], (of_y / size)[:, where]
    rows_x, rows_y = counts.sum(axis=1), counts.sum(axis=0)
    scores = counts - share_x[:, np.newaxis] * rows_y[np.newaxis] - share_y[np.newaxis] * rows_x[:, np.newaxis]
    return np.asarray(scores + share_x[:, np.newaxis] * share_y[np.newaxis] * rows_x.sum(axis=0))


def _all_but_last(seen: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the levels that are seen in each stratum, without the last one."""
    return np.asarray(seen & (np.cumsum(seen[::-1], axis=0)[::-1] > 1))


def _hotelling(parts: Floats) -> tuple[float, int]:
    """Return T² of the mean of rows against 0, and the number of directions in which they vary."""
    n = len(parts)
    if n < 2 or not parts.shape[1]:
        return 0.0, 0
    spread = np.atleast_2d(np.cov(parts, rowvar=False))
    scale = np.sqrt(np.maximum(np.diag(spread), np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(spread / np.outer(scale, scale))
    kept = values > _SMALLEST * max(float(values.max()), 1.0)
    along = vectors.T @ (parts.mean(axis=0) / scale)
    return float(n * (along[kept] ** 2 / values[kept]).sum()), int(np.count_nonzero(kept))


def hotelling_log_p(statistic: float, dof: int, n_groups: int) -> float:
    """Return the logarithm of the p-value of T², which never underflows.

    Examples
    --------
    With one score it is Student's t test of the groups' sums:

    >>> from scipy.stats import t
    >>> round(hotelling_log_p(3.0**2, 1, 31), 10) == round(float(np.log(2 * t.sf(3.0, 30))), 10)
    True
    """
    rest = n_groups - dof
    if dof == 0 or rest < 1:
        return 0.0
    return log_f_sf(statistic * rest / (dof * (n_groups - 1)), dof, rest)


def log_f_sf(f: float, dof: float, rest: float) -> float:
    """Return the logarithm of the upper tail of the F distribution, which never underflows."""
    return kernels.log_beta_below(rest / 2.0, dof / 2.0, rest / (rest + dof * f))
