"""What G keeps of its power where the effect is not weak: it depends on where in the feature the effect lies.

κ is a ratio of noncentralities in the limit of weak effects. Beyond that limit the noncentrality of G is 2 N times the
information about the surrogate, and the same information about the target may leave more or less of it. The least is
left where one level of the feature holds far more of the labeled class than the others: there the labeled rows tell
their class for certain, but are few, methods (6.2). G varies more there, too, than the noncentral chi-square
distribution says, methods (6.3).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri, xlogy

from blankets.stats import attained_power

Floats = NDArray[np.float64]

_STEPS = 40  # a handful is enough, unless one level cannot carry the effect
_TINY = 1e-300


def least_power(
    effect: ArrayLike, prior: ArrayLike, share: ArrayLike, rows: ArrayLike, dof: ArrayLike, alpha: ArrayLike
) -> Floats:
    """Return the power of G for an effect that one of some equally frequent levels carries, elementwise.

    ``effect``: information about the target, in nats. ``prior``: p of the labeled class. ``share``: labeled rows of
    that class, of all rows. ``dof``: levels of the feature less one. An effect that is too large for one level is taken
    to be shared by others in the same way.

    Examples
    --------
    >>> least_power(0.05, 0.15, 0.045, [979, 1250], 9, 0.01).round(2)
    array([0.82, 0.92])
    """
    effect, prior, share = (np.asarray(each, float) for each in (effect, prior, share))
    levels = np.asarray(dof, float) + 1.0
    w = _ratio(effect, prior, levels)
    about_labels, square = _moments(w, share, levels)
    kappa = about_labels / _moments(w, prior, levels)[0]
    power = attained_power(2.0 * np.asarray(rows, float) * kappa * effect, dof, alpha)
    spread = np.sqrt(np.maximum((square - about_labels**2) / (2.0 * about_labels), 1.0))
    return np.asarray(np.minimum(power, ndtr(ndtri(power) / spread)))


def _ratio(effect: Floats, prior: Floats, levels: Floats) -> Floats:
    """Return how many times likelier the class is at the level than on average; the largest possible, if needed.

    Newton's steps for the root of the information, which is nearly a straight line in the ratio.
    """
    most = np.minimum(levels, 1.0 / prior)
    w = np.minimum(1.0 + np.sqrt(2.0 * effect * (levels - 1.0) * (1.0 - prior) / prior), (1.0 + most) / 2.0)
    for _ in range(_STEPS):
        information = np.maximum(_moments(w, prior, levels)[0], _TINY)
        other = (levels - w) / (levels - 1.0)
        slope = prior / levels * np.log(w * (1.0 - prior * other) / (other * (1.0 - prior * w)))
        step = 2.0 * (np.sqrt(information * effect) - information) / slope
        before, w = w, np.clip(w + step, (1.0 + w) / 2.0, (most + w) / 2.0)
        if (np.abs(w - before) <= 1e-14 * w).all():
            break
    return np.asarray(w)


def _moments(w: Floats, p: Floats, levels: Floats) -> tuple[Floats, Floats]:
    """Return the mean (information) and the mean square of the log ratio of joint and independent probabilities.

    A class of probability ``p`` is ``w`` times as likely at one level as on average, and the others share the rest.
    """
    mean = square = np.zeros(())
    for v, weight in ((w, 1.0 / levels), ((levels - w) / (levels - 1.0), 1.0 - 1.0 / levels)):
        for part, ratio in ((p * v, v), (1.0 - p * v, (1.0 - p * v) / (1.0 - p))):
            held = np.maximum(part, 0.0)
            once = xlogy(held, np.maximum(ratio, 0.0))
            logs = np.log(np.where(held > 0, ratio, 1.0))
            mean, square = mean + weight * once, square + weight * held * logs**2
    return np.asarray(mean), np.asarray(square)
