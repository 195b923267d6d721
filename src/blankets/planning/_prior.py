"""Values of p(y=1) to plan for, from what is known of it.

A number is used as it is. For a bound ("below 0.4") the worst value is used, because nothing is known about the
probability of other values. For a distribution, or an interval, the answer must be enough for a wanted share of
it. With nearly every surrogate the answer rises or falls with p(y=1), so this is the answer at a quantile of the
prior, without random numbers. Draws show how the answer is distributed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from blankets.caching import cached_property
from blankets.planning._setting import TINY, Floats, LabelDesign
from blankets.records import Bounds, Count, Probability
from blankets.regimes import Prior

_COSTLY_END = {"overestimate": 1, "underestimate": 0, "": 0}


@dataclass(frozen=True, kw_only=True)
class Knowledge:
    """What is known of p(y=1), in a form for planning."""

    prior: Prior | None  # as the user gave it, without values that the labels contradict
    assurance: Annotated[float, Bounds(math.ulp(0.0), 1.0)]  # share of a distribution that an answer must cover
    n_draws: Annotated[int, Bounds(1, 1_000_000)]  # draws from a distribution
    seed: Count  # seed of the draws
    dropped: Probability = 0.0  # share of the prior that the labels contradict

    @property
    def is_spread(self) -> bool:
        """Whether the prior is a distribution, not a number or a bound."""
        return self.prior is not None and not self.prior.is_exact and not self.prior.is_soft

    @cached_property
    def draws(self) -> Floats:
        """Values drawn from the prior, in the same order for every surrogate."""
        return np.empty(0) if self.prior is None else inside(self.prior.sample(self.n_draws, self.seed))

    def values(self, design: LabelDesign) -> Floats:
        """Return the values to plan for with a surrogate: the answer must be enough for the share ``assurance``.

        One value is enough if the answer rises or falls with p(y=1); it is NaN if the answer does not depend on
        p(y=1).
        """
        if self.prior is None or not design.uses_prior:
            return np.array([math.nan])
        costly = _COSTLY_END[design.safe_side]
        if not self.is_spread:
            return np.array([self.prior.support[costly]])
        if not design.is_monotone:
            return self.draws
        return inside(np.atleast_1d(self.prior.ppf(self.assurance if costly else 1.0 - self.assurance)))

    def serves(self, design: LabelDesign) -> bool:
        """Whether enough is known to plan with a surrogate."""
        if not design.uses_prior:
            return True
        if self.prior is None or (self.prior.is_soft and not design.is_monotone):
            return False
        values = self.values(design)
        return bool((values > 0.0).all() and (values < 1.0).all())

    def within(self, low: float, high: float) -> Knowledge:
        """Return this knowledge, restricted to values between two limits."""
        if self.prior is None or self.prior.is_exact:
            return self
        left = self.prior.within(low, high)
        kept = 1.0 if left is self.prior else float(self.prior.cdf(high) - self.prior.cdf(low))
        return replace(self, prior=left, dropped=1.0 - kept)

    def __str__(self) -> str:
        return "unknown" if self.prior is None else str(self.prior)


def inside(values: Floats) -> Floats:
    """Return probabilities, limited to the open interval between 0 and 1."""
    return np.clip(values, TINY, 1.0 - 1e-16)
