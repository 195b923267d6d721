"""One score test: are sums of products of residuals zero, by the variance that their draws show?

A *draw* is what was drawn independently: a row, or a group of rows that belong together. Each brings a vector U_i of
products of residuals, so that S = Σ U_i has mean 0 if x is independent of y given z. V = Σ U_i U_iᵀ / (1 - h_i), where
h_i is the share of draw i that the fit has taken, and T² = Sᵀ V⁻ S. Its law is the beta law with the mean and variance
that random signs of the draws give it, methods (10.6): for normal products Hotelling's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blankets import kernels
from blankets.caching import cached_property

_TAKEN = 0.99  # of a draw that the fit has taken more of, nothing is left to compare
_ALIASED = 1e-8  # of the largest variance: a combination of products below it is told by the others
_LEAST_P = -745.0  # logarithm of the smallest p that floats can hold

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Draws:
    """What the rows of a test are: independent draws of equal weight, weighted ones, or rows of groups.

    ``root``, of shape (rows,): the roots of weights whose mean is 1; None if all are equal. ``groups``, of shape
    (rows,): the group of each row, from 0 on; None if each row is a draw.

    Examples
    --------
    >>> Draws(4, groups=np.array([0, 0, 1, 1])).summed(np.array([[1.0, 2.0, 3.0, 4.0]])).tolist()
    [[3.0, 7.0]]
    """

    n_rows: int
    root: Floats | None = None
    groups: Ints | None = None

    @cached_property
    def plain(self) -> bool:
        """Whether each row is a draw, and all count alike."""
        return self.root is None and self.groups is None

    @cached_property
    def constant(self) -> Floats:
        """The constant, multiplied by the roots of weights, of length 1."""
        root = np.ones(self.n_rows) if self.root is None else self.root
        return np.asarray(root / math.sqrt(float(root @ root)))

    @cached_property
    def worth(self) -> float:
        """How many equal draws tell as much: (Σw)² / Σw² over draws."""
        weights = self.summed(self.constant[None] ** 2)[0]
        return 1.0 / float(weights @ weights)

    def weighted(self, functions: Floats) -> Floats:
        """Return functions multiplied by the roots of weights."""
        return functions if self.root is None else functions * self.root

    def unweighted(self, functions: Floats) -> Floats:
        """Return functions that were multiplied, as they are over the rows."""
        return functions if self.root is None else functions / self.root

    def summed(self, values: Floats) -> Floats:
        """Return the sums over draws of values of shape (any, rows)."""
        if self.groups is None:
            return values
        if not len(values):
            return np.zeros((0, int(self.groups.max()) + 1))
        return np.array([np.bincount(self.groups, row) for row in values])

    def taken(self, basis: Floats) -> Floats:
        """Return the share of each draw that a fit on an orthonormal basis takes; of a group: of its mean."""
        if self.groups is None:
            return np.asarray(np.einsum("ij,ij->j", basis, basis))
        along = self.summed(basis * self.constant)
        return np.asarray(np.einsum("ij,ij->j", along, along) / self.summed(self.constant[None] ** 2)[0])

    def noise(self, functions: NDArray[np.floating], residual: NDArray[np.floating], free: int) -> Floats:
        """Return the variance of the inner product of each function with a residual, by chance alone.

        ``free``: rows less what was fitted. Rows that do not count alike show it themselves.
        """
        if self.plain:
            variance: float = float(residual @ residual) / max(free, 1)
            return np.asarray(np.broadcast_to(variance, len(functions)))
        sums = self.summed(np.asarray(functions * residual, np.float64))
        return np.asarray(np.maximum(np.einsum("ij,ij->i", sums, sums), 1e-12))


@dataclass(frozen=True, eq=False)
class Score:
    """Sums of products of residuals over draws, and their variance.

    ``u``, of shape (products, draws). ``taken``, of shape (draws,): the share of each that a fit has taken.

    Examples
    --------
    With one product it is a t test of its mean against zero, up to the law of its variance:

    >>> rng = np.random.default_rng(0)
    >>> score = Score(rng.normal(size=(1, 200)), np.zeros(200))
    >>> from scipy.stats import ttest_1samp
    >>> bool(abs(np.exp(score.log_p) - ttest_1samp(score.u[0], 0.0).pvalue) < 0.01)
    True
    """

    u: Floats
    taken: Floats

    @cached_property
    def _parts(self) -> tuple[Floats, float, Floats]:
        """Directions that make the variance 1, T², and the squared length of each draw's products."""
        here = self.taken < _TAKEN
        u, left = (self.u, 1.0 - self.taken) if here.all() else (self.u[:, here], 1.0 - self.taken[here])
        if not len(u):
            return np.zeros((0, 0)), 0.0, np.zeros(u.shape[1])
        total, variance = u.sum(axis=1), (u / left) @ u.T
        size = np.sqrt(np.maximum(np.diag(variance), 1e-300))
        values, vectors = np.linalg.eigh(variance / np.outer(size, size))
        use = values > _ALIASED * max(float(values[-1]), 1e-300)
        along = (vectors[:, use] / np.sqrt(values[use])).T / size
        scaled = along @ u
        return along, float(((along @ total) ** 2).sum()), np.einsum("ij,ij->j", scaled, scaled) / left

    @property
    def statistic(self) -> float:
        """T²."""
        return self._parts[1]

    @property
    def dof(self) -> int:
        """How many products are not told by the others."""
        return len(self._parts[0])

    @cached_property
    def direction(self) -> Floats:
        """The weights V⁻S of the products: T² is their sum of S."""
        along = self._parts[0]
        return np.asarray(along.T @ (along @ self.u[:, self.taken < _TAKEN].sum(axis=1)))

    @cached_property
    def log_p(self) -> float:
        """The logarithm of the p-value."""
        along, statistic, lengths = self._parts
        k, free = len(along), float((1.0 - self.taken[self.taken < _TAKEN]).sum())
        if not k or free <= k + 1:
            return 0.0
        return float(kernels.log_p_under_signs(statistic, float(k), free, float(lengths @ lengths)))


def cauchy_combined(log_p: Sequence[float], weights: Sequence[float]) -> float:
    """Return one p-value for several questions, as a logarithm: Cauchy's combination (Liu and Xie 2020).

    It holds whatever ties the questions to each other, and a small p-value costs only its weight.

    Examples
    --------
    >>> round(math.exp(cauchy_combined([math.log(0.01), math.log(0.8)], [1.0, 1.0])), 3)
    0.021
    >>> round(cauchy_combined([-2000.0, 0.0], [1.0, 1.0]), 3)  # the smallest alone counts: twice it
    -1999.307
    """
    total = math.fsum(weights)
    least = min(log_p)
    if least < _LEAST_P / 2.0:  # tan(π (½ - p)) is 1 / (π p): sums of reciprocals
        return (
            -math.log(math.fsum(w / total * math.exp(least - p) for w, p in zip(weights, log_p, strict=True))) + least
        )
    p = [min(math.exp(value), 1.0 - 1e-12) for value in log_p]
    value = math.fsum(w / total / math.tan(math.pi * each) for w, each in zip(weights, p, strict=True))
    tail = math.atan2(1.0, value) / math.pi  # the upper tail of Cauchy's law, without the loss of 1/2 - atan
    return math.log(tail)
