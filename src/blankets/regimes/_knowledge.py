"""Shared by the regimes: questions that need p(y=1), and estimates with an uncertain prior."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from blankets.regimes._contract import Question
from blankets.regimes._prior import Prior
from blankets.stats import InformationEstimate, divided, mixed_curves
from blankets.voice import option

EVERYTHING = frozenset(Question)
ESTIMATOR = "estimator in this regime"  # what a message calls it
_GRID = (np.arange(1000) + 0.5) / 1000.0


def with_prior(prior: Prior | None) -> frozenset[Question]:
    """Return the questions that can be answered if labeling depends on the class."""
    if prior is None:
        return frozenset({Question.TEST, Question.RANK})
    return EVERYTHING - {Question.ESTIMATE} if prior.is_soft else EVERYTHING


def needs_prior(question: Question, prior: Prior | None) -> str:
    """Return why a question cannot be answered without p(y=1), and how to give it."""
    what = "information cannot be estimated" if question is Question.ESTIMATE else "power cannot be computed"
    known = "nothing is known about it" if prior is None else f"it is only known to be {prior}"
    return f"{what} without p(y=1), the share of positives, and {known}: {_prior_helps()}"


def averaged_over_priors(
    estimate: Callable[[float], InformationEstimate], prior: Prior, *, of_negatives: bool = False
) -> InformationEstimate:
    """Return the estimate at the expected prior, with the prior's uncertainty added to its variance.

    This is the law of total variance. An estimate from one labeled class is nearly proportional to the odds of
    that class (exactly for the squared loss). So two values of the odds with the right first three moments are
    enough (Gauss quadrature).
    """
    nodes, weights = _two_priors(prior, of_negatives=of_negatives)
    return averaged(estimate, [(0.0, (prior.mean,)), *zip(weights, ((float(p),) for p in nodes), strict=True)])


def averaged(
    estimate: Callable[..., InformationEstimate], nodes: Sequence[tuple[float, tuple[float, ...]]]
) -> InformationEstimate:
    """Return the estimate at the first node, with the spread over the other nodes added to its variance.

    ``nodes``: weights, and values of what is not known exactly; one node besides the first means that it is known.
    """
    central = estimate(*nodes[0][1])
    if len(nodes) == 2:
        return central
    parts = [estimate(*values) for _, values in nodes[1:]]
    weights = np.array([weight for weight, _ in nodes[1:]])
    values, variances = np.stack([part.value for part in parts]), np.stack([part.variance for part in parts])
    weight = np.broadcast_to(weights.reshape(-1, *[1] * central.value.ndim), values.shape)
    finite = weight * np.isfinite(variances)
    within = divided((finite * np.nan_to_num(variances)).sum(axis=0), finite.sum(axis=0))
    between = (weight * (values - (weight * values).sum(axis=0)) ** 2).sum(axis=0)
    variance = np.where(np.isfinite(central.variance), within + between, np.nan)
    return replace(central, variance=variance, curve=mixed_curves(np.stack([part.curve for part in parts]), weights))


def _two_priors(prior: Prior, *, of_negatives: bool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return two values of p(y=1) inside its range, and their weights; one value if p(y=1) is one number."""
    values = np.array([prior.mean]) if prior.is_exact else prior.ppf(_GRID)
    share = 1.0 - values if of_negatives else values
    at, weights = two_points(share / (1.0 - share))
    if len(at) == 1:
        return values[:1], weights
    return (1.0 if of_negatives else at) / (1.0 + at), weights


def two_points(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return two values and their weights with the first three moments of some values; one if they are equal."""
    mean, spread = values.mean(), values.std()
    if spread <= 1e-9 * abs(mean):
        return values[:1], np.ones(1)
    skewness = float((((values - mean) / spread) ** 3).mean())
    ends = skewness / 2.0 + np.sqrt(1.0 + skewness**2 / 4.0) * np.array([-1.0, 1.0])
    return mean + spread * ends, np.array([ends[1], -ends[0]]) / (ends[1] - ends[0])


def _prior_helps() -> str:
    """Say what would help."""
    return f"give {option('prior')}, for example 0.2, (0.1, 0.3), a distribution, or one estimated by estimate_prior"
