"""Machine labels beside gold ones, where numbers are involved: tests from rows, without cutting (methods, section 14).

The class is predicted from the machine's label and functions of the given columns, by least squares in the gold rows.
What the prediction leaves of gold labels, as often as rows have none, and the prediction itself make a response that
is known in all rows, and whose mean is that of the class whatever the machine's errors.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from blankets.stats._canonical import combined_two, whitening
from blankets.stats._cell_means import Floats, RowScores
from blankets.stats._tail import log_chi2_sf

_UNSEEN = 1e-3  # of a gold row, the weight of one with the other label: what was not seen is possible
_NOTHING = 1e-6  # the standard deviation of a function that tells nothing
_OWN = 0.9  # the largest part of a gold row's own label in its prediction that is allowed for
_STEPS, _NEAR = 60, 1e-8  # of Newton's method, and the last of them
_KEPT = 0.95  # of the way to a weight without bounds, at most


class MachineRows(NamedTuple):
    """What is known of the class in each row."""

    gold: NDArray[np.bool_]  # (rows,): which have a gold label
    predicted: Floats  # (rows,): the class, by the machine's label and what is given
    left: Floats  # (gold rows,): what that leaves of the gold label, by a fit to the others
    other: Floats  # (gold rows,): what it would leave of the other label
    spread: float  # the variance of the class given the columns, without the machine

    @classmethod
    def of(cls, scores: RowScores, given: Floats) -> MachineRows:
        """Return what `machine_scores` and functions of the given columns tell; ``given``: (functions, rows)."""
        gold, y, machine = scores.values[1] > 0, scores.values[2], scores.values[6]
        without = np.vstack([np.ones(len(gold)), given])
        design = np.vstack([without, machine - machine.mean()])
        known = y[gold]
        weights = np.linalg.lstsq(design[:, gold].T, known, rcond=None)[0]
        own = np.minimum((np.linalg.qr(design[:, gold].T)[0] ** 2).sum(axis=1), _OWN)
        predicted = weights @ design
        left = (known - predicted[gold]) / (1.0 - own)
        plain = known - np.linalg.lstsq(without[:, gold].T, known, rcond=None)[0] @ without[:, gold]
        spread = float((plain**2).sum()) / max(len(known) - len(without), 1)
        return cls(gold, predicted, left, 1.0 - 2.0 * known + left, spread)

    @property
    def response(self) -> Floats:
        """A number of each row, whose mean is that of the class, methods (14.14)."""
        found = self.predicted.copy()
        found[self.gold] += self.left / self.gold.mean()
        return found


def bounded_functions(values: Floats) -> Floats:
    """Return the ranks of a number and how far they are from the middle one, orthonormal and of mean 0.

    Errors of the machine that were not seen explain the more, the larger the functions are where they may be: these
    are at most 1.7 standard deviations from their mean. Of two values the ranks are all.

    Examples
    --------
    >>> bounded_functions(np.array([3.0, 9.0, 400.0])).round(3).tolist()
    [[-0.707, 0.0, 0.707], [0.408, -0.816, 0.408]]
    """
    _, at, counts = np.unique(values, return_inverse=True, return_counts=True)
    middle = (np.cumsum(counts) - counts / 2.0)[at] / len(values) - 0.5
    made: list[Floats] = []
    for function in (middle, np.abs(middle)):
        left = function - function.mean()
        for one in made:
            left = left - (left @ one) * one
        if (size := float(np.linalg.norm(left))) > _NOTHING * np.sqrt(len(values)):
            made.append(left / size)
    return np.array(made).reshape(len(made), len(values))


def machine_rows_test(x: Floats, first: int, known: MachineRows, basis: Floats) -> tuple[float, float, float, float]:
    """Return log p, statistic, degrees of freedom and nats of a column and the class, given others.

    A ratio of likelihoods in which gold rows might have had the other label, methods (14.15).

    ``x``, of shape (functions, rows): orthonormal, of which ``first`` are tested together and the others together; the
    first have three quarters of the weight. The statistic is the sum of both. ``basis``, of shape (size, rows): an
    orthonormal basis of what is held fixed, the constant in it.

    Examples
    --------
    >>> from blankets.stats import machine_scores
    >>> rng = np.random.default_rng(0)
    >>> x, chance = rng.normal(size=(1, 4000)), rng.random((2, 4000))
    >>> y = (chance[0] < 1 / (1 + np.exp(-x[0]))).astype(np.int16)
    >>> scores = machine_scores(np.where(np.arange(4000) < 200, y, -1), np.where(chance[1] < 0.9, y, 1 - y))
    >>> x = (x - x.mean()) / x.std() / np.sqrt(4000)
    >>> known = MachineRows.of(scores, np.zeros((0, 4000)))
    >>> machine_rows_test(x, 1, known, np.full((1, 4000), 4000**-0.5))[0] < -10
    True
    """
    n = x.shape[1]
    response = known.response - known.response.mean()
    if not response.any() or not len(x):
        return 0.0, 0.0, 0.0, 0.0
    left = (x - (x @ basis.T) @ basis) * np.sqrt(n)
    products = _products(left.T, known, basis)
    # Not all functions together: where errors are few, the more functions there are, the more timid is their ratio.
    (statistic, dof), (of_rest, more_dof) = (_ratio(part, products[1]) for part in np.split(products[0], [first], 1))
    log_p = float(log_chi2_sf(statistic, dof)) if dof else 0.0
    if more_dof:
        rest = float(log_chi2_sf(of_rest, more_dof))
        log_p = combined_two(combined_two(log_p, rest), log_p) if dof else rest
    told = whitening(left @ left.T / n).T @ (left @ response) / n
    explained = min(float((told**2).sum()) / max(known.spread, 1e-300), 1.0 - 1e-9)
    return log_p, statistic + of_rest, dof + more_dof, -0.5 * float(np.log1p(-explained))


def _products(left: Floats, known: MachineRows, basis: Floats) -> tuple[Floats, Floats]:
    """Return products of what is left of x with what is known of the class, methods (14.15), and their weights.

    Gold rows, the others, and gold rows with the other label.
    """
    gold, share = known.gold, float(known.gold.mean())
    predicted = known.predicted - basis.T @ (basis @ known.predicted)
    rows = (
        left[gold] * (known.left / share)[:, np.newaxis],
        left[~gold] * (predicted[~gold] / (1.0 - share))[:, np.newaxis],
        left[gold] * (known.other / share)[:, np.newaxis],
    )
    return np.vstack(rows), np.concatenate([np.ones(len(left)), np.full(np.count_nonzero(gold), _UNSEEN)])


def _ratio(products: Floats, weights: Floats) -> tuple[float, float]:
    """Return the empirical likelihood ratio of a mean of zero (Owen 1988), and its degrees of freedom."""
    scale = np.sqrt(np.maximum((weights[:, np.newaxis] * products**2).sum(axis=0), 1e-300))
    products = products / scale
    products = products @ whitening((products * weights[:, np.newaxis]).T @ products)
    if not products.shape[1]:
        return 0.0, 0.0
    at = np.zeros(products.shape[1])
    for _ in range(_STEPS):
        below = 1.0 + products @ at
        slope, each = (weights / below) @ products, products / below[:, np.newaxis]
        try:
            step = np.linalg.solve((each * weights[:, np.newaxis]).T @ each, slope)
        except np.linalg.LinAlgError:  # the ratio has no bound in some direction: zero is beyond all products
            break
        most = float(np.max(-(each @ step)))
        at = at + step * min(1.0, _KEPT / max(most, _NEAR))
        if most < _KEPT and float(np.abs(step).max()) < _NEAR * max(1.0, float(np.abs(at).max())):
            break
    return max(2.0 * float(weights @ np.log(1.0 + products @ at)), 0.0), float(len(at))
