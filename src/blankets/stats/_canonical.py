"""Is x independent of y given a set? From inner products: what is left of their canonical correlation.

The cheap stage (methods, section 10.2): small matrices only, whatever the number of rows. It assumes that variances do
not move with the given columns, so it decides where it is far from the level, and rows decide elsewhere
(``_products.py``).
"""

from __future__ import annotations

import math
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from blankets import kernels
from blankets.stats._tail import log_chi2_sf

DETERMINED = 1e-8  # share of a function's variance, below which the given columns determine it
_KNOWN = 1e-6  # share of variance below which a direction among the given functions is another one's
_ALMOST_ONE = 1.0 - 1e-12
_PLAIN = 1e-6  # a determinant above this leaves no direction near `DETERMINED`

Floats = NDArray[np.float64]


def whitening(gram: Floats) -> Floats:
    """Return W such that the rows of W'B are orthonormal, where gram = BB' and directions without variance are gone.

    >>> whitening(np.array([[1.0, 1.0], [1.0, 1.0]])).shape
    (2, 1)
    """
    if not len(gram):
        return np.zeros((0, 0))
    with suppress(np.linalg.LinAlgError):  # Cholesky's factor, where it is safe, is much faster than eigenvectors
        root = np.linalg.inv(np.linalg.cholesky(gram)).T
        if np.einsum("ij,ij->", root, root) < 1.0 / _KNOWN:  # the trace of the inverse: no direction is smaller
            return np.asarray(root)
    size, vectors = np.linalg.eigh(gram)
    use = size > _KNOWN
    return np.asarray(vectors[:, use] / np.sqrt(size[use]))


def canonical_test(
    explained_x: Floats, explained_y: Floats, product: Floats, n_rows: int, padding: Floats | float = 0.0
) -> tuple[Floats, Floats, Floats]:
    """Return Bartlett's chi-square of Wilks' lambda, its degrees of freedom and the information in nats.

    See methods (10.3) and methods (10.4).

    ``explained_x``, of shape (candidates, given, functions of x): inner products of an orthonormal basis of the given
    functions with those of each x. ``explained_y``, of shape (given, functions of y). ``product``, of shape
    (candidates, functions of x, functions of y): inner products of x and y themselves. All functions of one column
    are orthonormal. ``n_rows``: rows. ``padding``, of shape (candidates,): how many functions of each x are zeros that
    make columns of different kinds one batch.

    Examples
    --------
    >>> none = np.zeros((1, 0, 1))
    >>> statistic, dof, information = canonical_test(none, none[0], np.array([[[0.5]]]), 103)
    >>> round(float(information[0]), 4), float(dof[0]), round(float(statistic[0]), 3)  # -ln(1 - .25) / 2
    (0.1438, 1.0, 28.912)
    """
    n, used, k = explained_x.shape
    ky = explained_y.shape[1]
    if not k or not ky or not n:
        return np.zeros(n), np.zeros(n), np.zeros(n)
    left = np.empty((n, k + ky, k + ky))
    left[:, :k, :k] = np.eye(k) - explained_x.transpose(0, 2, 1) @ explained_x
    left[:, k:, k:] = np.eye(ky) - explained_y.T @ explained_y
    across = product - explained_x.transpose(0, 2, 1) @ explained_y
    left[:, :k, k:], left[:, k:, :k] = across, across.transpose(0, 2, 1)
    of_x, of_y, of_both = np.linalg.det(left[:, :k, :k]), np.linalg.det(left[:1, k:, k:]), np.linalg.det(left)
    rank_x, rank_y = np.full(n, float(k)), np.full(n, float(ky))
    with np.errstate(invalid="ignore", divide="ignore"):
        twice = -np.log(of_both / (of_x * of_y))
    # No direction is lost where the determinant, a product of numbers below 1, is not small.
    lost = np.flatnonzero((of_x < _PLAIN) | (of_y < _PLAIN) | ~(of_both > _PLAIN * of_x * of_y))
    if len(lost):
        twice[lost], rank_x[lost], rank_y[lost] = _by_directions(left[lost], k)
    rank_x = np.maximum(rank_x - padding, 0.0)
    rows = np.maximum(n_rows - 1 - used - (rank_x + rank_y + 1) / 2.0, 0.0)
    twice = np.maximum(twice, 0.0)
    return rows * twice, rank_x * rank_y, twice / 2.0


def wide_log_lambda(explained_x: Floats, explained_y: Floats, product: Floats) -> float:
    """Return minus the logarithm of Wilks' lambda where y has many functions; NaN if directions may be lost.

    The arguments are as for `canonical_test`, of one x. With E the inner products of q orthonormal functions and those
    of y, det(I - E'E) = det(I - EE'), which has q rows. So Wilks' lambda is the ratio of two such determinants: with
    what x leaves beside the given functions, and without.

    Examples
    --------
    >>> round(wide_log_lambda(np.zeros((0, 1)), np.zeros((0, 2)), np.array([[0.3, 0.4]])), 4)  # -ln(1 - .25)
    0.2877
    """
    size, vectors = np.linalg.eigh(np.eye(explained_x.shape[1]) - explained_x.T @ explained_x)
    own = (vectors / np.sqrt(np.maximum(size, _PLAIN))).T @ (product - explained_x.T @ explained_y)
    both = np.vstack([explained_y, own])
    q, gram = len(explained_y), np.eye(len(both)) - both @ both.T
    given, joint = np.linalg.eigvalsh(gram[:q, :q]), np.linalg.eigvalsh(gram)
    if min(size.min(initial=1.0), given.min(initial=1.0), joint.min(initial=1.0)) <= _PLAIN:
        return math.nan
    return max(float(np.log(given).sum() - np.log(joint).sum()), 0.0)


def _by_directions(left: Floats, k: int) -> tuple[Floats, Floats, Floats]:
    """Return -ln of Wilks' lambda and the ranks of both sides on the directions that are left."""
    white_x, rank_x = _whitened(left[:, :k, :k])
    white_y, rank_y = _whitened(left[:, k:, k:])
    both = white_x.transpose(0, 2, 1) @ left[:, :k, k:] @ white_y
    small = both if both.shape[1] <= both.shape[2] else both.transpose(0, 2, 1)
    squared = np.linalg.eigvalsh(small @ small.transpose(0, 2, 1))
    return -np.log1p(-np.clip(squared, 0.0, _ALMOST_ONE)).sum(axis=1), rank_x, rank_y


def _whitened(left: Floats) -> tuple[Floats, Floats]:
    """Return the inverse root of each matrix on the directions that are left, and how many these are."""
    size, vectors = np.linalg.eigh(left)
    there = size > DETERMINED
    root = np.where(there, 1.0 / np.sqrt(np.where(there, size, 1.0)), 0.0)
    return vectors * root[:, None, :], there.sum(axis=1).astype(float)


def combined(log_p: Floats, other: Floats) -> Floats:
    """Return the Cauchy combination of two p-values for one hypothesis, as a logarithm; see methods (10.7).

    Examples
    --------
    >>> round(float(np.exp(combined(np.log([0.01]), np.log([0.5]))[0])), 4)
    0.02
    """
    return kernels.combined_tails(np.ascontiguousarray(log_p, float), np.ascontiguousarray(other, float))


def combined_two(log_p: float, other: float) -> float:
    """Return the Cauchy combination of two p-values that are plain numbers."""
    return float(combined(np.array([log_p]), np.array([other]))[0])


def log_p_of_functions(statistic: Floats, dof: Floats, first: Floats | None, first_dof: Floats | None) -> Floats:
    """Return log p-values of all functions, combined with those of the first ones alone where these are fewer."""
    log_p = log_chi2_sf(statistic, dof)
    if first is None or first_dof is None:
        return log_p
    fewer = (first_dof > 0) & (first_dof < dof)
    return np.where(fewer, combined(log_p, log_chi2_sf(first, first_dof)), log_p)
