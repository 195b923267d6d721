"""Is x independent of y given a set? From rows: products of residuals, with the variance that they show.

The careful stage (methods, section 10.3). If x and y are independent given z, the residuals of their functions have
products of mean 0, however their variances move with z; the sum of the products, compared with their own spread, is
the generalized covariance measure (Shah & Peters 2020) of several functions. Its reference is the law of the same sum
under random signs, by mean and variance, so that heavy tails make it neither timid nor bold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log
from threading import local
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from blankets import kernels
from blankets.stats._canonical import combined_two

MOST_LEVERAGE = 0.9  # a row that the given functions fit almost by themselves counts as if by so much
_BENT = 0.05  # share of a square's length that the given functions must leave, for it to tell something new
_MANY = 500  # rows from which cubes and products are taken too; what fewer rows leave is not seen in so few
_MOST_SQUARED = 4  # functions of a column of which squares are taken
_KEPT_NUMBERS = 1 << 20  # of the room for kernels: 8 MB
_LOG_WORTH = log(0.2)  # above this log p-value no level is near, and signs alone will do

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Law = Callable[[Floats], tuple[float, float]]


def residuals(functions: Floats, basis: Floats) -> Floats:
    """Return what an orthonormal basis, of shape (size, rows), leaves of functions, of shape (functions, rows)."""
    return functions - (functions @ basis.T) @ basis


def bent_basis(x: Floats, y: Floats, basis: Floats) -> Floats:
    """Return an orthonormal basis of squares, and one product, of what the given functions predict of x and y.

    As in Ramsey's RESET (1969): what the given columns do through a single index of theirs, products among
    them included, is near the span of its square.

    Examples
    --------
    >>> z = np.linspace(-1.0, 1.0, 200)
    >>> basis = (z / np.linalg.norm(z))[None]
    >>> bent_basis(z[None] / 10, z[None] / 10, basis).shape
    (1, 200)
    """
    of_x, of_y = ((f[:_MOST_SQUARED] @ basis.T) @ basis for f in (x, y))
    return _bent(of_x, of_y, basis)


def _bent(of_x: Floats, of_y: Floats, basis: Floats, unit: Floats | None = None) -> Floats:
    """Return that basis from what the given functions predict; ``unit``: as in `Drawn`."""
    if len(basis) < 1:
        return basis[:0]
    of_x, of_y = of_x[:_MOST_SQUARED], of_y[:_MOST_SQUARED]
    if unit is not None:
        of_x, of_y = of_x / unit, of_y / unit
    made = [of_x**2, of_y**2, of_x[:1] * of_y[:1]]
    if basis.shape[1] >= _MANY:
        made += [part for f in (of_x, of_y) for part in (f[:1] ** 3, f[:1] * f[1:2])]
    squares = np.vstack(made)
    if unit is None:
        squares = squares - squares.mean(axis=1, keepdims=True)
    else:
        squares = (squares - (squares @ unit**2)[:, None]) * unit
    return beyond(squares, basis)


def beyond(functions: Floats, basis: Floats) -> Floats:
    """Return an orthonormal basis of what another one leaves of functions."""
    before = np.sqrt(np.einsum("ij,ij->i", functions, functions))
    left = residuals(functions, basis)
    after = np.sqrt(np.einsum("ij,ij->i", left, left))
    new = after > _BENT * np.maximum(before, 1e-300)
    if not new.any():
        return basis[:0]
    left = left[new] / after[new, None]
    size, vectors = np.linalg.eigh(left @ left.T)
    use = size > 1e-6
    return np.asarray((vectors[:, use] / np.sqrt(size[use])).T @ left)


def products_test(
    x: Floats, y: Floats, leverage: Floats, first: tuple[int, int] | None = None
) -> tuple[float, float, float]:
    """Return log p, T² and its degrees of freedom from residuals of shape (functions, rows); see methods (10.5).

    ``leverage``, of shape (rows,): the part of each row's own value in its fit, that of the mean included. ``first``:
    how many functions of each are tested alone too; the two p-values are combined.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> x = rng.normal(size=(1, 400))
    >>> log_p, statistic, dof = products_test(x, rng.normal(size=(1, 400)) * np.abs(x), np.full(400, 1 / 400))
    >>> dof, bool(log_p > np.log(0.01))
    (1.0, True)
    """
    root = np.sqrt(1.0 - np.minimum(leverage, MOST_LEVERAGE))
    scaled = products(x / root, y)
    return squared_test(scaled, scaled @ root, root, (len(x), len(y)), first)


def squared_test(
    scaled: Floats,
    total: Floats,
    root: Floats,
    widths: tuple[int, int],
    first: tuple[int, int] | None = None,
    law: Law | None = None,
) -> tuple[float, float, float]:
    """Return log p, T² and its degrees of freedom from products of all pairs of functions, by draws, and their sum.

    ``root``: the roots of what the fit has left of each draw. ``law``: the mean and variance of T² of the directions
    that it is given, rows of a matrix, if signs alone do not tell them.
    """
    spread, free = scaled @ scaled.T, float(root @ root)
    log_p, statistic, dof = _squared(scaled, total, spread, free, law)
    if first is None or first == widths or not dof:
        return log_p, statistic, dof
    some = np.arange(len(scaled)).reshape(widths)[: first[0], : first[1]].ravel()
    one = None if law is None else lambda directions: law(_among(directions, some, len(scaled)))
    alone, _, few = _squared(scaled[some], total[some], spread[np.ix_(some, some)], free, one)
    if not 0 < few < dof:
        return log_p, statistic, dof
    return combined_two(log_p, alone), statistic, dof


def _among(directions: Floats, some: Ints, n: int) -> Floats:
    """Return directions of some of n products as directions of all."""
    whole = np.zeros((len(directions), n))
    whole[:, some] = directions
    return whole


def products(x: Floats, y: Floats) -> Floats:
    """Return the products of all pairs of functions, shape (pairs, rows)."""
    return (x[:, None, :] * y[None, :, :]).reshape(-1, x.shape[1])


def _squared(scaled: Floats, total: Floats, spread: Floats, free: float, law: Law | None) -> tuple[float, float, float]:
    """Return log p, T² and its degrees of freedom from products, their sum and their inner products."""
    size, vectors = np.linalg.eigh(spread)
    use = size > 1e-8 * max(float(size[-1]), 1e-300)
    k = int(np.count_nonzero(use))
    if not k or free <= k + 1:
        return 0.0, 0.0, 0.0
    root = (vectors[:, use] / np.sqrt(size[use])).T
    along = root @ total
    weights = root @ scaled
    weights = np.einsum("ij,ij->j", weights, weights)
    statistic = float(along @ along)
    log_p = log_p_under_signs(statistic, k, free, float(weights @ weights))
    if law is not None and log_p < _LOG_WORTH:
        mean, variance = law(root)
        log_p = log_p_under_signs(statistic * k / mean, k, free, k - 0.5 * variance * (k / mean) ** 2)
    return log_p, statistic, float(k)


def log_p_under_signs(statistic: float, k: int, free: float, squares: float) -> float:
    """Return the log p-value of T² by the beta law with the mean and variance that random signs give it.

    See methods (10.6).

    ``squares``: sum of the squared weights of rows in T², each between 0 and 1. For normal products that is
    k (k + 2) / (free + 2), and the law is Hotelling's.

    Examples
    --------
    >>> from scipy.stats import f
    >>> ours = np.exp(log_p_under_signs(6.0, 2, 50.0, 2 * 4 / 52))
    >>> bool(np.isclose(ours, f.sf(6.0 / 2 * 48 / (50 - 6.0), 2, 48)))
    True
    """
    return kernels.log_p_under_signs(statistic, float(k), free, squares)


def rows_test(x: Floats, y: Floats, first: tuple[int, int], basis: Floats) -> tuple[float, float, float]:
    """Return log p, statistic and degrees of freedom of x and y given a basis, from their rows.

    ``x``, ``y``, of shape (functions, rows): orthonormal functions. ``first``: how many of each are tested alone too.
    ``basis``, of shape (size, rows): an orthonormal basis of the given functions.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, y = (f / np.linalg.norm(f) for f in rng.normal(size=(2, 1, 300)))
    >>> rows_test(x, y, (1, 1), np.zeros((0, 300)))[2]
    1.0
    """
    left_x, left_y, more = fitted(x, y, basis)
    leverage = 1.0 / x.shape[1] + np.einsum("ij,ij->j", basis, basis) + np.einsum("ij,ij->j", more, more)
    return products_test(left_x, left_y, leverage, first)


def fitted(x: Floats, y: Floats, basis: Floats, unit: Floats | None = None) -> tuple[Floats, Floats, Floats]:
    """Return what a basis and the squares of what it predicts leave of x and y, and a basis of these squares.

    ``unit``: the roots of the weights of rows, by which functions are multiplied.
    """
    of_x, of_y = (x @ basis.T) @ basis, (y @ basis.T) @ basis
    more = _bent(of_x, of_y, basis, unit)
    return residuals(x - of_x, more), residuals(y - of_y, more), more


class Basis(NamedTuple):
    """An orthonormal basis of the constant and the given functions over some rows."""

    rows: Floats  # (1 + size, rows): the constant first
    leverage: Floats  # (rows,): the part of each row's own value in its fit

    @classmethod
    def of(cls, functions: Floats) -> Basis:
        """Return the basis of functions that are orthonormal and of mean 0."""
        n = functions.shape[1]
        rows = np.vstack([np.full((1, n), n**-0.5), functions])
        return cls(rows, np.einsum("ij,ij->j", rows, rows))

    @classmethod
    def combined(cls, functions: Sequence[Floats], weights: Floats, n_rows: int) -> Basis:
        """Return the basis of combinations of the functions of several columns, of mean 0.

        ``weights``, of shape (functions, size): they make all functions, one column's after the other's, orthonormal.

        >>> Basis.combined([np.array([[1.0, -1.0, 1.0, -1.0]])], np.array([[0.5]]), 4).rows.tolist()
        [[0.5, 0.5, 0.5, 0.5], [0.5, -0.5, 0.5, -0.5]]
        """
        if not weights.size:
            return cls.of(np.zeros((0, n_rows)))
        if not kernels.COMPILED:
            return cls.of(weights.T @ np.vstack(functions))
        made = cls(np.empty((1 + weights.shape[1], n_rows)), np.empty(n_rows))
        rows = [np.ascontiguousarray(each) for each in functions if len(each)]
        kernels.basis_of_rows(rows, np.ascontiguousarray(weights.T), made.rows, made.leverage)
        return made

    def with_products(self, pairs: Sequence[tuple[Floats, Floats]]) -> Basis:
        """Return the basis with what it leaves of the products of functions of two columns, for each pair of these.

        >>> one, other = np.array([[1.0, 1.0, -1.0, -1.0]]), np.array([[1.0, -1.0, 1.0, -1.0]])
        >>> Basis.of(np.vstack([one, other]) / 2).with_products([(one, other)]).rows[-1].round(3).tolist()
        [0.5, -0.5, -0.5, 0.5]
        """
        if not pairs:
            return self
        made = np.vstack([products(one, other) for one, other in pairs])
        more = beyond(made - made.mean(axis=1, keepdims=True), self.rows[1:])
        return Basis(np.vstack([self.rows, more]), self.leverage + np.einsum("ij,ij->j", more, more))


class _Room(local):
    """Memory that a thread's next call of a kernel uses again: new pages take as long as the work."""

    numbers = np.empty(0)

    def of(self, size: int) -> Floats:
        """Return room for so many numbers; a large one is not kept."""
        if size > _KEPT_NUMBERS:
            return np.empty(size)
        if size > len(self.numbers):
            self.numbers = np.empty(size)
        return self.numbers


_ROOM = _Room()


def rows_tests(xs: Sequence[Floats], firsts: Ints, y: Floats, first_y: int, basis: Basis) -> Floats:
    """Return log p-values, statistics and degrees of freedom of many columns and one y, as `rows_test` does.

    ``xs``: the functions of each column, of which ``firsts`` are tested alone too. The answers have shape (3, columns).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, y = (f / np.linalg.norm(f) for f in rng.normal(size=(2, 1, 300)))
    >>> rows_tests([x], np.ones(1, np.int64), y, 1, Basis.of(np.zeros((0, 300))))[2].tolist()
    [1.0]
    """
    found = np.zeros((3, len(xs)))
    most = kernels.MOST_PAIRS // max(len(y), 1) if kernels.COMPILED and len(y) ** 2 <= kernels.MOST_PAIRS else 0
    small = [i for i, x in enumerate(xs) if 0 < len(x) <= most and len(y)]
    if small:
        (q, n), widest = basis.rows.shape, max(len(xs[i]) for i in small)
        room = _ROOM.of(kernels.room_for_residuals(q, n, len(y), widest))
        found[:, small] = kernels.products_of_residuals(
            basis.rows, basis.leverage, y, first_y, [xs[i] for i in small], firsts[small], n >= _MANY, room
        )
    for i in set(range(len(xs))).difference(small):
        of_x, of_y = (f - f.mean(axis=1, keepdims=True) for f in (xs[i], y))
        found[:, i] = rows_test(of_x, of_y, (int(firsts[i]), first_y), basis.rows[1:])
    return found
