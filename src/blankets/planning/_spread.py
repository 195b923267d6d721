"""The answer to a question as a function of p(y=1), and its distribution if p(y=1) is uncertain."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike

from blankets.caching import cached_property
from blankets.planning._candidates import Candidate
from blankets.planning._prior import Knowledge, inside
from blankets.planning._question import Amount
from blankets.planning._setting import MOST_DOF, MOST_NATS, TINY, Floats, Setting, Shape, solve
from blankets.records import Bounds, refuse

MORE_IS_BETTER = ("power", "dof", "kappa")
Unknown = Annotated[str, Literal["alpha", "dof", "effect", "kappa", "labeled", "power", "rows"]]


@dataclass(frozen=True, kw_only=True)
class PlanQuestion:
    """The given numbers (NaN for the unknown), in the form for `Setting`."""

    unknown: Unknown
    effect: Annotated[Floats, Bounds(math.ulp(0.0), MOST_NATS, known=False)]
    dof: Annotated[Floats, Bounds(math.ulp(0.0), MOST_DOF, known=False)]
    alpha: float
    power: float
    rows: float
    largest_effect: Annotated[float, Bounds(math.ulp(0.0), MOST_NATS)]
    worst_case: bool = False
    worth: Annotated[float, Bounds(TINY, 1.0)] = 1.0
    shape: Shape = ""
    about: str = ""  # the effect of a number, in words; empty for levels


@dataclass(frozen=True, eq=False, kw_only=True)
class Spread:
    """The distribution of an answer over an uncertain prior."""

    knowledge: Knowledge  # what is known of p(y=1)
    question: PlanQuestion  # what was asked
    candidate: Candidate  # the surrogate that answers it, and its labels

    def _check(self) -> None:
        if not (self.knowledge.is_spread and self.candidate.design.uses_prior):
            refuse("'spread' is there, but its 'prior' is certain")

    @property
    def rises(self) -> bool | None:
        """Whether the answer rises with p(y=1) or falls; None if it does neither."""
        design = self.candidate.design
        dearer_above = design.safe_side == "overestimate"
        return dearer_above != (self.question.unknown in MORE_IS_BETTER) if design.is_monotone else None

    @cached_property
    def draws(self) -> Floats:
        """The answer for each draw of the prior; infinite (with the sign of the worst answer) if out of reach."""
        return answers(self.question, self.candidate, self.knowledge.draws)

    def quantile(self, q: ArrayLike) -> Floats:
        """Return quantiles of the answer: exact if it rises or falls with p(y=1), else from the draws."""
        level = np.asarray(q, float)
        if self.rises is None:
            return np.asarray(np.quantile(self.draws, level, method="inverted_cdf"))
        priors = self.priors_at(level if self.rises else 1.0 - level)
        return answers(self.question, self.candidate, priors.ravel()).reshape(level.shape)

    def priors_at(self, q: ArrayLike) -> Floats:
        """Return quantiles of the prior."""
        prior = self.knowledge.prior
        return np.full(np.shape(q), math.nan) if prior is None else inside(prior.ppf(q))


def answers(question: PlanQuestion, candidate: Candidate, priors: Floats) -> Floats:
    """Return the answer for each value of p(y=1); infinite (with the sign of the worst answer) if out of reach."""
    values = solve(setting_of(question, candidate, priors), question.unknown, np.asarray(question.power))
    if question.unknown == "effect":
        # Mutual information is at most the entropy of each variable: log 2 for two classes.
        values = np.where(values <= question.largest_effect, values, np.nan)
    bad = -np.inf if question.unknown in MORE_IS_BETTER else np.inf
    return np.where(np.isnan(values), bad, np.broadcast_to(values, priors.shape))


def setting_of(question: PlanQuestion, candidate: Candidate, prior: Floats) -> Setting:
    """Return the study of a question with one surrogate."""
    labeled = candidate.labeled or Amount(math.nan, is_count=True)
    return Setting(
        design=candidate.design,
        effect=question.effect,
        dof=question.dof,
        alpha=np.asarray(question.alpha),
        rows=np.asarray(question.rows, float),
        labeled=np.asarray(labeled.value, float),
        labeled_is_count=labeled.is_count,
        prior=prior,
        worth=question.worth,
        worst_case=question.worst_case,
        shape=question.shape,
    )
