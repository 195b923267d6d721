"""Labels as they are: positives labeled with chances of their own, and labels that may be wrong."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from blankets.arguments import generator_from
from blankets.errors import LabelError, ParameterError, guarded, listed
from blankets.voice import option

Floats = NDArray[np.float64]


@guarded
def label_positives(
    y: ArrayLike, propensity: ArrayLike, *, positive: object = 1, rng: np.random.Generator | int | None = None
) -> NDArray[np.bool_]:
    """Choose the positives that are labeled, each with its own probability.

    Parameters
    ----------
    y : array-like of shape (rows,)
        The true classes.
    propensity : float or array-like of shape (rows,)
        The probability that a row is labeled if it is positive.
    positive : object
        The class that is labeled.
    rng : numpy.random.Generator, int or None
        Generator or seed.

    Returns
    -------
    ndarray of bool of shape (rows,)
        True if the row is labeled.

    Examples
    --------
    >>> y = np.repeat([0, 1], 500)
    >>> labeled = label_positives(y, np.tile([0.1, 0.9], 500), rng=0)
    >>> int(labeled[:500].sum()), int(labeled[500::2].sum()) < 50, int(labeled[501::2].sum()) > 200
    (0, True, True)
    """
    classes = np.asarray(y)
    chance = _rates("propensity", propensity, len(classes))
    is_positive = classes == positive
    if not np.any(is_positive):
        raise LabelError(
            f"no row is of class {positive!r}; pass {option('positive')} one of {listed(np.unique(classes).tolist())}"
        )
    return np.asarray(is_positive & (generator_from(rng, "label_positives").random(len(classes)) < chance))


@guarded
def flip_labels(
    y: ArrayLike,
    false_positive: ArrayLike,
    false_negative: ArrayLike,
    *,
    positive: object = 1,
    rng: np.random.Generator | int | None = None,
) -> NDArray[np.int64]:
    """Return labels of which some are wrong: a person's, or a machine's, whose errors may depend on features.

    Parameters
    ----------
    y : array-like of shape (rows,)
        The true classes.
    false_positive, false_negative : float or array-like of shape (rows,)
        The probability that a negative is labeled positive, and that a positive is labeled negative: one for all rows,
        or one for each.
    positive : object
        The positive class.
    rng : numpy.random.Generator, int or None
        Generator or seed.

    Returns
    -------
    ndarray of int of shape (rows,)
        1 for rows that are labeled positive, 0 for the others.

    Examples
    --------
    >>> y = np.repeat([0, 1], 1000)
    >>> labels = flip_labels(y, 0.1, 0.3, rng=0)
    >>> [round(float(labels[rows].mean()), 1) for rows in (y == 0, y == 1)]
    [0.1, 0.7]
    """
    classes = np.asarray(y)
    false = _rates("false_positive", false_positive, len(classes))
    missed = _rates("false_negative", false_negative, len(classes))
    is_positive = classes == positive
    wrong = generator_from(rng, "flip_labels").random(len(classes)) < np.where(is_positive, missed, false)
    return np.asarray(is_positive ^ wrong, np.int64)


def _rates(name: str, value: ArrayLike, n: int) -> Floats:
    """Return a probability for each row."""
    rates = np.asarray(value, float)
    if rates.shape not in ((), (n,)) or not np.all((rates >= 0.0) & (rates <= 1.0)):
        raise ParameterError.out_of_range(name, value, "a probability, or one for each row")
    return np.broadcast_to(rates, n)
