"""Is a number independent of a category with rare levels given a set? By the law of the number, whose spread is fitted.

Given the category and z, the sum of products of residuals is a sum of draws of the number (methods, section 10.4).
All rows tell how its variance moves with z, and only the few rows of a rare level how probable that was.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from blankets.stats._canonical import combined_two
from blankets.stats._products import MOST_LEVERAGE, bent_basis, beyond, residuals
from blankets.stats._rare import gamma_log_p

# A variance depends on a trend and a square of each given number, if there are ten rows for each function. Of more
# functions, the variance fitted where a rare level is likely, at the border of the rows, would be mostly chance.
FUNCTIONS_OF_VARIANCE, ROWS_A_VARIANCE = 2, 10
_PRIOR = 1.0  # weight of the prior of coefficients of log variances: normal, standard deviation 1
_STEPS, _GAIN = 25, 1e-6  # of a fit: at most so many, and until one gains so little log-likelihood
_MOST_CORRELATION = 0.95  # of two functions of a number in a row
_MOST = 5.0  # log variances, next to that of their mean, are held within this

Floats = NDArray[np.float64]


class SpreadNumber(NamedTuple):
    """What a set leaves of the functions of a number, and how it is spread."""

    left: Floats  # (functions, rows): residuals
    basis: Floats  # (size, rows): the orthonormal basis that they are the residuals of, the constant first
    root: Floats  # (functions, rows): fitted standard deviations, up to a factor
    together: Floats  # (functions, functions, rows): fitted covariances of standardized residuals
    fourth: Floats  # (functions,): fourth cumulants of their squared length: of the first function, of two, ...


def spread_number(x: Floats, basis: Floats, given: Floats) -> SpreadNumber:
    """Return the residuals of a number and their fitted spread.

    ``x``, of shape (functions, rows): functions of the number. ``basis``, of shape (size, rows): an orthonormal basis
    of the given functions, the constant first. ``given``: one of fewer functions, without the constant, that variances
    depend on.

    Examples
    --------
    >>> rng = np.random.default_rng(2)
    >>> z, n = np.resize([1.0, -1.0], 1000), 1000
    >>> one, given = np.full((1, n), n**-0.5), z[None] / np.sqrt(n)
    >>> number = spread_number(rng.normal(size=(1, n)) * np.exp(z), np.vstack([one, given]), given)
    >>> bool(abs(np.log(number.root[0, 0] / number.root[0, 1]) - 2.0) < 0.1)
    True
    """
    basis = np.vstack([basis, bent_basis(x, x, basis[1:])])
    left = residuals(x, basis)
    free = np.sqrt(1.0 - np.minimum(np.einsum("ij,ij->j", basis, basis), MOST_LEVERAGE))
    if len(given):  # a variance moves with the mean of a number too: of counts, of normal scores, which have an end
        mean = x[:1] - left[:1]
        bent = np.vstack([mean, mean**2])
        given = np.vstack([given, beyond(bent - bent.mean(axis=1, keepdims=True), given)])
    root = np.array([np.exp(0.5 * _log_variance((each / free) ** 2, given)) for each in left])
    drawn = left / (root * free)
    together = _covariances(drawn, given)
    return SpreadNumber(left, basis, root, together, _fourth(drawn, together))


def _covariances(drawn: Floats, given: Floats) -> Floats:
    """Return covariances of standardized residuals: variances as they are, correlations linear in given functions.

    A number and the square of its ranks go together where the given columns make it large, and against each other
    where they make it small.
    """
    k, n = drawn.shape
    together = np.empty((k, k, n))
    size = np.sqrt(np.maximum(np.einsum("ij,ij->i", drawn, drawn) / n, 1e-300))
    for i in range(k):
        together[i, i] = size[i] ** 2
        for j in range(i):
            product = drawn[i] * drawn[j] / (size[i] * size[j])
            correlation = product.mean() + (given @ product) @ given * (n / (n + _PRIOR))
            correlation = np.clip(correlation, -_MOST_CORRELATION, _MOST_CORRELATION)
            together[i, j] = together[j, i] = correlation * size[i] * size[j]
    return together


def _fourth(drawn: Floats, together: Floats) -> Floats:
    """Return fourth cumulants of the squared length of the first residuals, whitened: of one function, of two, ...

    What the covariances of rows, ``together``, make of normal residuals is taken off.
    """
    spread = drawn @ drawn.T / drawn.shape[1]
    root = np.linalg.inv(np.linalg.cholesky(spread + 1e-9 * np.trace(spread) * np.eye(len(spread))))
    length = np.cumsum((root @ drawn) ** 2, axis=0)
    covariance = np.einsum("ab,bcn,dc->adn", root, together, root)
    k = np.arange(len(drawn))
    mean = np.cumsum(covariance[k, k], axis=0)
    squares = np.cumsum(np.cumsum(covariance**2, axis=0), axis=1)[k, k]
    return np.asarray((length**2 - mean**2 - 2.0 * squares).mean(axis=1))


def _log_variance(squares: Floats, given: Floats) -> Floats:
    """Return log variances next to the mean one, linear in given functions: normal likelihood, a normal prior."""
    n = len(squares)
    squares = squares / max(float(squares.mean()), 1e-300)
    design = np.vstack([np.ones(n), given * n**0.5])  # orthogonal, so that the expected information is diagonal
    prior = np.full(len(design), _PRIOR)
    prior[0] = 0.0
    beta, index = np.zeros(len(design)), np.zeros(n)
    loss = 0.5 * n
    for _ in range(_STEPS):
        gradient = 0.5 * design @ (squares * np.exp(-index) - 1.0) - prior * beta
        step, size = gradient / (0.5 * n + prior), 1.0
        while size > 1e-3:
            new = beta + size * step
            at = np.clip(new @ design, -_MOST, _MOST)
            new_loss = 0.5 * float((at + squares * np.exp(-at)).sum() + (prior * new) @ new)
            if new_loss <= loss:
                break
            size /= 2.0
        else:
            break
        beta, index, loss, gain = new, at, new_loss, loss - new_loss
        if gain < _GAIN:
            break
    return index


def spread_test(number: SpreadNumber, off: Floats, first: tuple[int, int]) -> tuple[float, float, float]:
    """Return log p, statistic and degrees of freedom of a number and a category; see methods (10.18).

    ``off``, of shape (functions, rows): functions of the category less what is expected of them given z. ``first``: how
    many functions of each are tested alone too.

    Examples
    --------
    >>> rng = np.random.default_rng(3)
    >>> x, one, none = rng.normal(size=(1, 400)), np.full((1, 400), 0.05), np.zeros((0, 400))
    >>> off = (np.arange(400) < 12)[None] - 0.03
    >>> answer = spread_test(spread_number(x, one, none), off, (1, 1))
    >>> t = (x[0, :12].mean() - x[0, 12:].mean()) / x.std() / np.sqrt(1 / 12 + 1 / 388)
    >>> bool(np.isclose(answer[1], t**2, rtol=1e-2)), answer[2]
    (True, 1.0)
    """
    kx, ky = len(number.left), len(off)
    # Weights that depend on z alone: rows of equal variance. Weighted residuals are those of weighted functions.
    weighted = off / number.root[:, None]
    total = np.einsum("in,ijn->ij", number.left, weighted)
    flat = weighted.reshape(kx * ky, -1)
    along = residuals(flat, number.basis).reshape(kx, ky, -1) * number.root[:, None]
    log_p, statistic, dof = _squared(number.together, number.fourth, total, along)
    if first == (kx, ky) or not dof:
        return log_p, statistic, dof
    alone, _, some = _squared(
        number.together, number.fourth, total[: first[0], : first[1]], along[: first[0], : first[1]]
    )
    return (combined_two(log_p, alone) if 0 < some < dof else log_p), statistic, dof


def _squared(together: Floats, fourth: Floats, total: Floats, along: Floats) -> tuple[float, float, float]:
    """Return log p, statistic and degrees of freedom from sums of products and the variances of draws."""
    kx, ky = total.shape
    each, sums = along.reshape(kx * ky, -1), total.ravel()
    spread = np.empty((kx, ky, kx, ky))
    for i in range(kx):
        for j in range(kx):
            spread[i, :, j] = (along[i] * together[i, j]) @ along[j].T
    size, vectors = np.linalg.eigh(spread.reshape(kx * ky, kx * ky))
    use = size > 1e-8 * max(float(size[-1]), 1e-300)
    k = int(np.count_nonzero(use))
    if not k:
        return 0.0, 0.0, 0.0
    inverse = (vectors[:, use] / size[use]) @ vectors[:, use].T
    statistic = float(sums @ inverse @ sums)
    of_row = np.zeros(each.shape[1])
    for i in range(kx):
        for j in range(kx):
            block = inverse[i * ky : (i + 1) * ky, j * ky : (j + 1) * ky]
            of_row += together[i, j] * np.einsum("in,in->n", block @ along[j], along[i])
    variance = 2.0 * k + float(fourth[kx - 1]) * float(of_row @ of_row) / kx**2
    return gamma_log_p(statistic, k, variance), statistic, float(k)
