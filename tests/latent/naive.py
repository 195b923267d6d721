"""Slow, obvious twins: direct formulas and full enumeration."""

import itertools
import math

import numpy as np
from scipy.special import gammaln


def family_counts(codes, weights, arities, node, parents):
    """Return counts of shape (parent configurations, levels of the node), all cells."""
    shape = tuple(arities[p] for p in parents)
    counts = np.zeros((math.prod(shape), arities[node]))
    for row, weight in zip(codes, weights, strict=True):
        at = int(np.ravel_multi_index(tuple(row[p] for p in parents), shape)) if parents else 0
        counts[at, row[node]] += weight
    return counts


def bic(codes, weights, arities, node, parents):
    counts = family_counts(codes, weights, arities, node, parents)
    loglik = 0.0
    for cells in counts:
        for count in cells:
            if count > 0:
                loglik += count * math.log(count / cells.sum())
    return loglik - math.log(sum(weights)) / 2 * len(counts) * (arities[node] - 1)


def bdeu(codes, weights, arities, node, parents, ess):
    counts = family_counts(codes, weights, arities, node, parents)
    q, r = counts.shape
    total = 0.0
    for cells in counts:
        total += gammaln(ess / q) - gammaln(ess / q + cells.sum())
        total += np.sum(gammaln(ess / (q * r) + cells) - gammaln(ess / (q * r)))
    return total


def all_dags(n, chosen=()):
    """Yield every DAG on n nodes as a tuple of parent sets (tuples), node by node while no cycle appears."""
    v = len(chosen)
    if not is_acyclic(chosen):
        return
    if v == n:
        yield chosen
        return
    others = [u for u in range(n) if u != v]
    for k in range(n):
        for parents in itertools.combinations(others, k):
            yield from all_dags(n, (*chosen, parents))


def is_acyclic(parents):
    left = set(range(len(parents)))
    while left:
        free = {v for v in left if not left & set(parents[v])}
        if not free:
            return False
        left -= free
    return True
