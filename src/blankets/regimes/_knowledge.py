"""Shared by the regimes: what knowledge of p(y=1) makes answerable, and estimates under an uncertain prior."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from blankets.errors import ParameterError
from blankets.regimes._contract import Question
from blankets.regimes._prior import Prior
from blankets.stats import InformationEstimate

__all__ = ["EVERYTHING", "check_estimator", "needs_prior", "over_priors", "with_prior"]

EVERYTHING = frozenset(Question)
_PRIOR_HELPS = "give prior=, for example 0.2, (0.1, 0.3), a distribution, or one estimated by estimate_prior"
_GRID = (np.arange(15) + 0.5) / 15.0


def with_prior(prior: Prior | None) -> frozenset[Question]:
    """Return what can be answered where labelling depends on the class."""
    if prior is None:
        return frozenset({Question.TEST, Question.RANK})
    return EVERYTHING - {Question.ESTIMATE} if prior.is_soft else EVERYTHING


def needs_prior(question: Question, prior: Prior | None) -> str:
    """Return why a question cannot be answered without p(y=1), and how to give it."""
    what = "information cannot be estimated" if question is Question.ESTIMATE else "power cannot be told"
    known = "nothing is known about it" if prior is None else f"it is only known to be {prior}"
    return f"{what} without p(y=1), the share of positives, and {known}: {_PRIOR_HELPS}"


def check_estimator(estimator: str, names: tuple[str, ...]) -> None:
    """Refuse an estimator that the regime does not have."""
    if estimator not in names:
        raise ParameterError.not_one_of("estimator in this regime", estimator, names)


def over_priors(estimate: Callable[[float], InformationEstimate], prior: Prior) -> InformationEstimate:
    """Return the estimate at the expected prior, with the prior's uncertainty added to its variance."""
    central = estimate(prior.mean)
    if prior.is_exact:
        return central
    parts = [estimate(float(p)) for p in prior.ppf(_GRID)]
    values, variances = np.stack([part.value for part in parts]), np.stack([part.variance for part in parts])
    finite = np.isfinite(variances)
    within = np.where(finite, variances, 0.0).sum(axis=0) / np.maximum(finite.sum(axis=0), 1)
    variance = np.where(np.isfinite(central.variance), within + values.var(axis=0), np.nan)
    return replace(central, variance=variance)
