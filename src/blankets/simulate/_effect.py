"""Variables with a given amount of information about a class."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr

from blankets.arguments import generator_from
from blankets.errors import ParameterError, guarded
from blankets.simulate._exact import conditional_information
from blankets.simulate._network import draw_codes

_FEW = 9  # with up to this many classes all ways of merging them are tried


@guarded
def variable_with_information(
    prior: float | Sequence[float] | NDArray[np.float64],
    arity: int,
    information: float,
    rng: np.random.Generator | int | None = None,
) -> NDArray[np.float64]:
    """Draw a random p(x | y) with exactly the wanted I(X; Y).

    A random table Q is drawn, each row uniformly. On the straight line from independence (each row equal
    to the margin p(x) of Q) to Q the information rises from zero while p(x) stays the same. If Q has too
    little, the line goes on from Q to a table without errors, which has the largest possible information.
    Information is convex along a line, so each line has the wanted value once.

    Parameters
    ----------
    prior : float or sequence of float
        p(y): the probability of each class, or of class 1 of two.
    arity : int
        Number of levels of X.
    information : float
        I(X; Y) in nats.
    rng : numpy.random.Generator, int or None
        Generator or seed.

    Returns
    -------
    ndarray of shape (classes, arity)
        p(x | y), one row per class.

    Examples
    --------
    >>> import numpy as np
    >>> from blankets.simulate import variable_with_information
    >>> table = variable_with_information(0.2, arity=3, information=0.045, rng=0)
    >>> joint = np.array([[0.8], [0.2]]) * table
    >>> independent = np.outer([0.8, 0.2], joint.sum(axis=0))
    >>> print(f"{np.sum(joint * np.log(joint / independent)):.10f}")
    0.0450000000
    """
    p_y = _checked_prior(prior)
    most = most_information(p_y, arity)
    if not 0 <= information <= most + 1e-12:
        raise ParameterError.out_of_range(
            "information", information, f"between 0 and {most:.6g} nats, the most for {arity} levels and this prior"
        )
    generator = generator_from(rng, "variable_with_information")
    drawn = generator.dirichlet(np.ones(arity), size=len(p_y))
    if _information(p_y, drawn) >= information:
        start, end = np.tile(p_y @ drawn, (len(p_y), 1)), drawn
    else:
        start, end = drawn, _without_errors(p_y, arity, generator)
    return _on_the_line(p_y, start, end, information)


@guarded
def sample_given_class(
    y: ArrayLike, table: NDArray[np.float64], rng: np.random.Generator | int | None = None
) -> NDArray[np.int64]:
    """Draw x for each row from p(x | y).

    Parameters
    ----------
    y : array-like of int of shape (rows,)
        Class codes.
    table : ndarray of shape (classes, arity)
        p(x | y), for example from `variable_with_information`.
    rng : numpy.random.Generator, int or None
        Generator or seed.

    Examples
    --------
    >>> sample_given_class([0, 1, 1, 0], np.array([[1.0, 0.0], [0.0, 1.0]]), rng=0).tolist()
    [0, 1, 1, 0]
    """
    codes = np.asarray(y)
    if codes.size and (codes.dtype.kind not in "iub" or codes.min() < 0 or codes.max() >= len(table)):
        raise ParameterError(f"'y' must hold class codes from 0 to {len(table) - 1}, one row of the table each")
    return draw_codes(np.asarray(table, float), codes.astype(np.int64), generator_from(rng, "sample_given_class"))


@guarded
def most_information(prior: float | Sequence[float] | NDArray[np.float64], arity: int) -> float:
    """Return the largest information, in nats, that a variable with ``arity`` levels can have about a class.

    It is the entropy of the class, or of the best merging of the classes into ``arity`` groups.

    Examples
    --------
    >>> print(f"{most_information(0.5, arity=4):.4f}")
    0.6931
    """
    p_y = _checked_prior(prior)
    if arity < 1:
        raise ParameterError.out_of_range("arity", arity, "at least 1")
    return float(entr(np.bincount(_merging(p_y, arity), weights=p_y)).sum())


def _checked_prior(prior: float | Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    p_y = np.array(prior, dtype=np.float64)
    p_y = np.array([1 - p_y, p_y]) if p_y.ndim == 0 else p_y
    if p_y.ndim != 1 or len(p_y) < 2 or not np.all(p_y >= 0) or abs(p_y.sum() - 1) > 1e-9:
        raise ParameterError.out_of_range("prior", prior, "p(y=1) or the probabilities of the classes, with sum 1")
    return np.asarray(p_y / p_y.sum())


def _information(p_y: NDArray[np.float64], table: NDArray[np.float64]) -> float:
    return conditional_information((p_y[:, np.newaxis] * table)[:, :, np.newaxis])


def _merging(p_y: NDArray[np.float64], arity: int) -> NDArray[np.int64]:
    """Return the group of each class, for the merging into ``arity`` groups with the highest entropy."""
    classes = len(p_y)
    if arity >= classes:
        return np.arange(classes)
    if classes <= _FEW:
        mergings = (np.array((0, *rest)) for rest in product(range(arity), repeat=classes - 1))
        return max(mergings, key=lambda groups: float(entr(np.bincount(groups, weights=p_y)).sum()))
    # Many classes: each, the most common first, joins the group with the smallest probability so far.
    groups, weights = np.zeros(classes, np.int64), np.zeros(arity)
    for k in np.argsort(-p_y, kind="stable"):
        groups[k] = np.argmin(weights)
        weights[groups[k]] += p_y[k]
    return groups


def _without_errors(p_y: NDArray[np.float64], arity: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return a random p(x | y) in which x determines the group of y without error."""
    groups = _merging(p_y, arity)
    n_groups = int(groups.max()) + 1
    # Each level belongs to one group, each group has at least one level.
    stands_for = rng.permutation(np.append(np.arange(n_groups), rng.integers(n_groups, size=arity - n_groups)))
    weight = rng.dirichlet(np.ones(arity))
    table = np.where(stands_for[np.newaxis, :] == groups[:, np.newaxis], weight, 0.0)
    return np.asarray(table / table.sum(axis=1, keepdims=True))


def _on_the_line(
    p_y: NDArray[np.float64], start: NDArray[np.float64], end: NDArray[np.float64], information: float
) -> NDArray[np.float64]:
    """Return the table between ``start`` and ``end`` that has the wanted information."""
    from scipy.optimize import brentq

    def excess(t: float) -> float:
        return _information(p_y, start + t * (end - start)) - information

    if excess(0.0) >= 0:
        return start
    if excess(1.0) <= 0:
        return end
    return np.asarray(start + brentq(excess, 0.0, 1.0, xtol=1e-16, rtol=1e-15) * (end - start))
