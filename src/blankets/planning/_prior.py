"""Values of p(y=1) to plan for, from whatever is known of it."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from blankets.planning._answer import PriorDraws

__all__ = ["read_prior"]


def read_prior(prior: Any, *, n_draws: int, assurance: float, rng: np.random.Generator | int | None) -> PriorDraws:
    """Return one value if the prior is known, its two ends if it is bounded, random draws if it is a distribution."""
    if prior is None:
        return PriorDraws(np.array([np.nan]), 1.0, "unknown")
    if isinstance(prior, Real):
        return PriorDraws(np.array([float(prior)]), 1.0, f"p(y=1) = {prior:g}")
    values = np.asarray(prior.rvs(size=n_draws, random_state=np.random.default_rng(rng)), float)
    return PriorDraws(values, assurance, str(prior), random=True)
