"""Values of p(y=1) to plan for, from whatever is known of it.

A number is planned for as it is. Of a bound ("below 0.4") the end that costs most is planned for, since
nothing says how likely the rest is. From a distribution, and from an interval, values are drawn, and the
answer is the one that serves a wanted share of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from blankets.planning._setting import Floats, LabelDesign
from blankets.regimes import Prior

__all__ = ["Knowledge", "know"]

_SAFE_END = {"overestimate": 1, "underestimate": 0, "": 0}


@dataclass(frozen=True)
class Knowledge:
    """What is known of p(y=1), ready to be planned with.

    Attributes
    ----------
    prior : Prior or None
        As the user gave it.
    draws : ndarray or None
        Values drawn from it, if it is a distribution.
    assurance : float
        The share of the draws that an answer must serve.
    """

    prior: Prior | None
    draws: Floats | None
    assurance: float

    def values(self, design: LabelDesign) -> Floats:
        """Return the values to plan for with a surrogate; NaN where p(y=1) plays no part."""
        if self.prior is None or not design.uses_prior:
            return np.array([math.nan])
        if self.draws is not None:
            return self.draws
        return np.array([self.prior.support[_SAFE_END[design.safe_side]]])

    def serves(self, design: LabelDesign) -> bool:
        """Whether enough is known to plan with a surrogate."""
        if not design.uses_prior:
            return True
        if self.prior is None or (self.prior.is_soft and not design.safe_side):
            return False
        values = self.values(design)
        return bool((values > 0.0).all() and (values < 1.0).all())

    def __str__(self) -> str:
        return "unknown" if self.prior is None else str(self.prior)


def know(prior: Prior | None, *, n_draws: int, assurance: float, rng: np.random.Generator | int | None) -> Knowledge:
    """Draw from the prior if it is a distribution."""
    if prior is None or prior.is_exact or prior.is_soft:
        return Knowledge(prior, None, 1.0)
    tiny = np.finfo(float).tiny
    return Knowledge(prior, np.clip(prior.sample(n_draws, rng), tiny, 1.0 - 1e-16), assurance)
