"""The labels of a planned study: regime, amount, prior, surrogate; for a single test and for a blanket."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from blankets.arguments import generator_from, number
from blankets.caching import cached_property
from blankets.errors import NotAnswerableError, ParameterError
from blankets.planning._answer import answer, largest_kappa
from blankets.planning._candidates import Candidate, candidates_for
from blankets.planning._designs import CASE_CONTROL, DRIVEN, of_machine, of_wrong_labels, stratified
from blankets.planning._prior import Knowledge
from blankets.planning._question import as_count, as_probability
from blankets.planning._result import Plan
from blankets.planning._setting import LabelDesign
from blankets.planning._spread import PlanQuestion
from blankets.regimes import Noisy, PositiveUnlabeled, Predicted, Prior, Question, regime_from
from blankets.voice import option

Labeled = float | int | Mapping[str, float | int] | None


@dataclass(frozen=True, kw_only=True)
class PlannedStudy:
    """What the user said about labels; see `plan` for the meaning of the fields."""

    labels: Any
    labeled: Labeled
    prior: Any
    sampling: Any = None
    surrogate: str | None
    target_arity: int
    strata: int
    strata_priors: Sequence[float] | None = None
    strata_shares: Sequence[float] | None = None
    assurance: float
    n_draws: int
    rng: np.random.Generator | int | None

    def __post_init__(self) -> None:
        for name, least in (("target_arity", 2), ("strata", 1), ("n_draws", 1)):
            if as_count(getattr(self, name), name, least) is None:
                raise ParameterError.out_of_range(name, None, f"a whole number of at least {least}")
        if as_probability(self.assurance, "assurance") is None:
            raise ParameterError.out_of_range("assurance", None, "a number strictly between 0 and 1")

    @cached_property
    def _regime(self) -> tuple[str, Prior | None]:
        regime = regime_from(self.labels, prior=self.prior, sampling=self.sampling)
        if isinstance(regime, PositiveUnlabeled) and regime.drivers:
            if regime.sampling == "case-control":
                raise NotAnswerableError(
                    "with positives that were collected apart, how many rows each value of the drivers has is a choice "
                    f"of its own: plan for rows with one value at a time, with {option(sampling='case-control')}"
                )
            PositiveUnlabeled(regime.prior).require(Question.POWER)
            return DRIVEN, regime.prior
        regime.require(Question.POWER)
        if isinstance(regime, PositiveUnlabeled) and regime.propensity is not None:
            raise NotAnswerableError(
                f"a plan has no rows, and so no propensities: use {option(labels='pu')} with {option('prior')} "
                f"and {option('labeled')} p(y=1) times the "
                "harmonic mean of the propensities, which has the same κ for features unrelated to them"
            )
        kind = CASE_CONTROL if regime.sampling == "case-control" else regime.name
        if kind != "supervised" and self.target_arity != 2:
            raise ParameterError(
                f"'target_arity' is {self.target_arity}, but partial labels are about a target of two classes; "
                "name the positive class and plan for it against the rest"
            )
        return kind, regime.prior

    @cached_property
    def _designs(self) -> tuple[LabelDesign, ...] | None:
        """The designs of labels, or of a machine, with known errors; None for other regimes."""
        if isinstance(self.labels, Noisy):
            if self.labels.missing == "mar-c":
                raise NotAnswerableError("wrong labels that are missing by class cannot be planned; plan with 'mcar'")
            return of_wrong_labels(self.labels.false_positive.mean, self.labels.false_negative.mean)
        if isinstance(self.labels, Predicted):
            if self.labels.accuracy is None:
                raise NotAnswerableError(
                    "how much a machine saves depends on how often it is right: labels=bl.Predicted(accuracy=0.9, "
                    f"{option(prior=0.3)})"
                )
            sensitivity, specificity = self.labels.accuracy
            return of_machine(1.0 - specificity, 1.0 - sensitivity)
        return None

    @property
    def labels_given(self) -> dict[str, object]:
        """The amount of labels, if it can be the unknown; empty if all rows are labeled."""
        kind, _ = self._regime
        whole = kind == "supervised" or (kind == "noisy" and getattr(self.labels, "missing", None) is None)
        return {} if whole and self.labeled is None else {"labeled": self.labeled}

    def answer(self, question: PlanQuestion) -> Plan:
        """Answer a question about this study."""
        _check_effect(question)
        candidates, knowledge = self._candidates(question)
        return answer(question, candidates, knowledge, regime=self._regime[0], strata=self.strata)

    def kappa(self, rows: float) -> float:
        """Return κ of the best surrogate."""
        nothing = np.array([np.nan])
        question = PlanQuestion(
            unknown="kappa", effect=nothing, dof=nothing, alpha=np.nan, power=np.nan, rows=rows, largest_effect=np.nan
        )
        return largest_kappa(question, *self._candidates(question))

    def _candidates(self, question: PlanQuestion) -> tuple[list[Candidate], Knowledge]:
        """Return the surrogates that can answer, and what is known of p(y=1)."""
        kind, prior = self._regime
        seed = int(generator_from(self.rng).integers(2**62))  # so that draws can be repeated
        knowledge = Knowledge(prior=prior, n_draws=self.n_draws, assurance=self.assurance, seed=seed)
        candidates = candidates_for(
            kind,
            surrogate=self.surrogate,
            labeled=self.labeled,
            solving_rows=question.unknown == "rows",
            knowledge=knowledge,
            designs=self._designs,
        )
        by_stratum = self.strata_priors is not None or self.strata_shares is not None
        return self._by_stratum(candidates) if by_stratum else candidates, knowledge

    def _by_stratum(self, candidates: list[Candidate]) -> list[Candidate]:
        """Average κ over the strata, for surrogates whose κ is known in each stratum."""
        priors, shares = self._strata()
        known = [replace(c, design=stratified(c.design, priors, shares)) for c in candidates if c.design.by_stratum]
        if not known:
            raise NotAnswerableError(
                f"κ is not known stratum by stratum for a test that {candidates[0].design.surrogate.words} when labels "
                "are collected like this; leave 'strata_priors' out, which plans with the unconditional κ"
            )
        return known

    def _strata(self) -> tuple[list[float], list[float]]:
        """Return p(y=1|z) and the share of the effect of each stratum."""
        even = [1 / self.strata] * self.strata
        priors = self._of_each_stratum("strata_priors", [] if self.strata_priors is None else self.strata_priors)
        shares = self._of_each_stratum("strata_shares", even if self.strata_shares is None else self.strata_shares)
        if abs(sum(shares) - 1.0) > 1e-6:
            raise ParameterError.out_of_range("strata_shares", shares, "shares of the effect that add up to 1")
        for prior in priors:
            as_probability(prior, "strata_priors")
        return priors, shares

    def _of_each_stratum(self, name: str, values: object) -> list[float]:
        """Return a list of probabilities, one for each stratum."""
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise ParameterError.out_of_range(name, values, "a list with a number for each stratum")
        found = [number(name, value, "made of numbers between 0 and 1", least=0, most=1) for value in values]
        if len(found) != self.strata:
            raise ParameterError(f"{name!r} has {len(found)} values for {self.strata} strata; give one for each")
        return found


def _check_effect(question: PlanQuestion) -> None:
    if (question.effect > question.largest_effect).any():
        raise ParameterError.out_of_range(
            "effect", float(question.effect.max()), f"at most {question.largest_effect:.4g} nats with so few levels"
        )
    if question.power <= question.alpha:
        raise ParameterError(
            f"the wanted power {question.power:g} is not above alpha = {question.alpha:g}, which a test "
            "reaches without any effect"
        )
