"""What G keeps of its power where the effect is not weak: it depends on where in the feature the effect lies.

κ is a ratio of noncentralities in the limit of weak effects. Beyond that limit the noncentrality of G is 2 N times the
information about the surrogate, and the same information about the target may leave more or less of it. The least is
left where one level of the feature holds far more of the labeled class than the others: there the labeled rows tell
their class for certain, but are few, methods (6.2).
"""

from __future__ import annotations

import math

from scipy.optimize import brentq
from scipy.special import xlogy


def least_kappa(effect: float, prior: float, share: float, levels: int) -> float:
    """Return κ of G for an effect that one of some equally frequent levels carries.

    ``effect``: information about the target, in nats. ``prior``: p of the labeled class. ``share``: labeled rows of
    that class, of all rows. ``levels``: levels of the feature. NaN if one level cannot carry so much.

    Examples
    --------
    The weaker the effect, the nearer to κ of the limit, 0.267:

    >>> [round(least_kappa(effect, 0.15, 0.045, 10), 3) for effect in (1e-6, 0.005, 0.05)]
    [0.267, 0.26, 0.244]
    """
    most = min(float(levels), 1.0 / prior)

    def excess(w: float) -> float:
        return _information(w, prior, levels) - effect

    if levels < 2 or excess(most) < 0:
        return math.nan
    w = float(brentq(excess, 1.0, most, xtol=1e-12))
    return _information(w, share, levels) / _information(w, prior, levels)


def _information(w: float, p: float, levels: int) -> float:
    """Return what a class of probability ``p`` shares with a level where it is ``w`` times as likely as on average.

    The others share the rest evenly.
    """
    other = (levels - w) / (levels - 1)
    each = [xlogy(p * v, v) + xlogy(1.0 - p * v, (1.0 - p * v) / (1.0 - p)) for v in (w, other)]
    return float((each[0] + (levels - 1) * each[1]) / levels)
