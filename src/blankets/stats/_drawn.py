"""Is x independent of y given a set? From rows that have weights or come in groups (methods, section 12)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from blankets.caching import cached_property
from blankets.stats._products import MOST_LEVERAGE, Floats, Ints, fitted, products, squared_test

_FEW, _TAKEN = 40, 0.15  # so few draws that a fit leaves, or so large a share that it takes, are part of the law of T²
_SIGNS = 256  # vectors of signs, for each of x and y
_AT_ONCE = 1_000_000  # numbers


class Drawn(NamedTuple):
    """How rows were drawn, where they are not equal and independent draws; see methods (12.5).

    ``unit``, of shape (rows,): the roots of the weights, of length 1; functions are multiplied by it. ``groups``, of
    shape (rows,): the group of each row, from 0 on, each of which some row has; None if each row is a draw.
    """

    unit: Floats
    groups: Ints | None = None

    @property
    def weights(self) -> Floats:
        """The weights of draws."""
        return np.asarray(self.summed(self.unit[None] ** 2)[0])

    def summed(self, values: Floats) -> Floats:
        """Return the sums over draws of values of shape (any, rows)."""
        if self.groups is None:
            return values
        return np.array([np.bincount(self.groups, row) for row in values]).reshape(len(values), -1)

    def leverage(self, basis: Floats) -> Floats:
        """Return the part of each draw's own values in its fit, the weighted mean included; see methods (12.6)."""
        along = self.summed(np.vstack([self.unit, basis]) * self.unit)
        return np.asarray(np.einsum("ij,ij->j", along, along) / self.weights)


def draws_test(x: Floats, y: Floats, first: tuple[int, int], basis: Floats, drawn: Drawn) -> tuple[float, float, float]:
    """Return log p, T² and its degrees of freedom of x and y given a basis, as `rows_test` does; see methods (12.5).

    ``x``, ``y``, of shape (functions, rows): functions multiplied by ``drawn.unit``, orthonormal as those of ``basis``.

    Examples
    --------
    >>> rng, group = np.random.default_rng(0), np.repeat(np.arange(40), 5)
    >>> x, y = (f / np.linalg.norm(f) for f in rng.normal(size=(2, 1, 40))[:, :, group])
    >>> draws_test(x, y, (1, 1), np.zeros((0, 200)), Drawn(np.full(200, 200**-0.5), group))[2]
    1.0
    """
    left_x, left_y, more = fitted(x, y, basis, drawn.unit)
    basis = np.vstack([basis, more])
    root = np.sqrt(1.0 - np.minimum(drawn.leverage(basis), MOST_LEVERAGE))
    sums = drawn.summed(products(left_x, left_y))
    common = products(*(drawn.summed(f * drawn.unit) for f in (left_x, left_y))) / drawn.weights
    scaled = sums + common * (1.0 / root - 1.0)  # a fit takes from a group what its rows have in common
    few = float(root @ root) < max(_FEW, (1.0 - _TAKEN) * len(root))
    law = _Refitted(left_x, left_y, basis, root, drawn).moments if few else None
    return squared_test(scaled, sums.sum(axis=1), root, (len(x), len(y)), first, law)


class _Refitted:
    """What T² would be if residuals of one column got random signs, by draws, and were fitted anew: methods (12.8)."""

    def __init__(self, x: Floats, y: Floats, basis: Floats, root: Floats, drawn: Drawn) -> None:
        self._given = x, y, np.vstack([drawn.unit, basis]), root, drawn

    def moments(self, directions: Floats) -> tuple[float, float]:
        """Return the mean and variance of T² of directions that make the spread of products 1, over signs of y and x.

        Without new fits they are known, as (10.6) has them: only what new fits change comes from drawn signs.
        """
        own, total, spread = self._redrawn
        total, inverse = total @ directions.T, np.linalg.pinv(directions @ spread @ directions.T, 1e-8, hermitian=True)
        found = (total[:, None] @ inverse @ total[:, :, None]).ravel()
        plain, weights = (total**2).sum(axis=1), ((directions @ own) ** 2).sum(axis=0)
        mean = found.mean() - plain.mean() + len(directions)
        return float(mean), float(found.var() - plain.var() + 2.0 * (len(directions) - weights @ weights))

    @cached_property
    def _redrawn(self) -> tuple[Floats, Floats, Floats]:
        """Products, shape (pairs, draws); their sums with signs, (signs, pairs), and spreads, (signs, pairs, pairs)."""
        x, y, basis, root, drawn = self._given
        of_x, of_y, of_basis = (drawn.summed(f * drawn.unit) for f in (x, y, basis))
        lost = (1.0 / root - 1.0) / drawn.weights
        common = products(of_x, of_y) * lost
        own = drawn.summed(products(x, y)) + common
        twice = own + common / root
        along_x, along_y = (
            (drawn.summed(products(f, basis)) + products(of_f, of_basis) * lost).reshape(len(f), *of_basis.shape)
            for f, of_f in ((x, of_x), (y, of_y))
        )
        shape, totals, spreads = (len(x), len(y), len(root)), [], []
        rng, step = np.random.default_rng(0), max(1, _AT_ONCE // own.size)
        for start in range(0, _SIGNS, step):
            signs = rng.choice([-1.0, 1.0], (min(step, _SIGNS - start), len(root)))
            of_y_anew = np.tensordot(np.tensordot(signs, along_y, (1, 2)), along_x, (2, 1)).transpose(0, 2, 1, 3)
            of_x_anew = np.tensordot(np.tensordot(signs, along_x, (1, 2)), along_y, (2, 1))
            for taken in (of_y_anew, of_x_anew):
                scaled = (twice.reshape(shape) * signs[:, None, None] - taken).reshape(len(signs), *own.shape)
                spreads.append(scaled @ scaled.swapaxes(1, 2))
                totals.append(signs @ own.T)
        return own, np.concatenate(totals), np.concatenate(spreads)
