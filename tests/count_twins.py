"""Slow, obvious twins of what the package computes."""

from __future__ import annotations

import numpy as np
from scipy.stats import power_divergence

__all__ = ["g_test", "stratified_tables"]


def stratified_tables(codes, arities, x, y, given=()):
    """Return the table (levels of x, levels of y) of every observed stratum, in order of the strata."""
    key = [tuple(row) for row in codes[:, list(given)]]
    tables = {}
    for z, row in zip(key, codes, strict=True):
        table = tables.setdefault(z, np.zeros((arities[x], arities[y]), int))
        table[row[x], row[y]] += 1
    return [tables[z] for z in sorted(tables)]


def g_test(codes, arities, x, y, given=(), lambda_="log-likelihood"):
    """Return statistic and adjusted degrees of freedom, by SciPy's power_divergence in each stratum."""
    statistic, dof = 0.0, 0
    for table in stratified_tables(codes, arities, x, y, given):
        seen = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
        expected = np.outer(seen.sum(axis=1), seen.sum(axis=0)) / seen.sum()
        statistic += power_divergence(seen.ravel(), expected.ravel(), lambda_=lambda_).statistic
        dof += (seen.shape[0] - 1) * (seen.shape[1] - 1)
    return statistic, dof
