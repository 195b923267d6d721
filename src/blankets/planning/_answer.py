"""From a question to a `Plan`: every surrogate is tried, the best one kept, an uncertain prior drawn from."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from blankets.errors import ParameterError
from blankets.planning._assumptions import assumptions_of
from blankets.planning._candidates import Candidate
from blankets.planning._prior import Knowledge
from blankets.planning._question import Amount
from blankets.planning._result import Alternative, Plan
from blankets.planning._setting import MOST_ROWS, Floats, Setting, most_labels, needed_kappa, solve

__all__ = ["Question", "answer"]

_MORE_IS_BETTER = ("power", "dof")


@dataclass(frozen=True, kw_only=True)
class Question:
    """The numbers given (NaN for the unknown), in the form that `Setting` wants."""

    unknown: str
    effect: Floats
    dof: Floats
    alpha: float
    power: float
    rows: float
    largest_effect: float
    worst_case: bool = False


@dataclass(frozen=True)
class _Outcome:
    """What one candidate comes to: the answer for each value of the prior, and the one that is kept."""

    candidate: Candidate
    prior: Floats
    answers: Floats  # infinite (of the bad sign) where out of reach
    chosen: int

    @property
    def answer(self) -> float | None:
        value = float(self.answers[self.chosen])
        return value if math.isfinite(value) else None


def answer(question: Question, candidates: list[Candidate], prior: Knowledge, *, regime: str, strata: int) -> Plan:
    """Answer through each candidate surrogate and return the best answer as a `Plan`.

    With an uncertain prior one surrogate is kept for all draws: a study has one analysis.
    """
    outcomes = [
        _outcome(question, candidate, _possible_priors(question, candidates, candidate, prior), prior.assurance)
        for candidate in candidates
    ]
    best = min((o for o in outcomes if o.candidate.competes), key=lambda o: _worth(question, o))
    final = _at_answer(question, best)
    uncertain = prior.draws is not None and best.candidate.design.uses_prior
    out_of_reach = best.answer is None and question.unknown == "labelled" and len(question.effect) == 1
    return Plan(
        unknown=question.unknown,
        answer=_as_said(question, best),
        wanted_power=None if question.unknown == "power" else question.power,
        regime=regime,
        prior=str(prior),
        setting=final,
        needed_kappa=float(needed_kappa(final, np.asarray(question.power))) if out_of_reach else None,
        assurance=prior.assurance if uncertain else None,
        draws=best.answers if uncertain else None,
        prior_draws=best.prior if uncertain else None,
        alternatives=tuple(_alternative(question, o) for o in outcomes if o is not best),
        assumptions=assumptions_of(
            final,
            question.unknown,
            strata=strata,
            dropped=1.0 - len(best.prior) / len(prior.values(best.candidate.design)),
            uncertain=not (prior.prior is None or prior.prior.is_exact),
        ),
    )


def _outcome(question: Question, candidate: Candidate, possible: Floats, assurance: float) -> _Outcome:
    values = solve(_setting(question, candidate, possible), question.unknown, np.asarray(question.power))
    if question.unknown == "effect":
        # A variable can tell no more of another than either holds: log 2 for two classes.
        values = np.where(values <= question.largest_effect, values, np.nan)
    bad = -np.inf if question.unknown in _MORE_IS_BETTER else np.inf
    values = np.where(np.isnan(values), bad, np.broadcast_to(values, possible.shape))
    order = np.argsort(_cost(question, values), kind="stable")
    kept = max(0, math.ceil(assurance * len(values) - 1e-9) - 1)
    return _Outcome(candidate, possible, values, int(order[kept]))


def _possible_priors(question: Question, candidates: list[Candidate], one: Candidate, prior: Knowledge) -> Floats:
    """Return the values of p(y=1) to plan for with one candidate, less those that any labels contradict."""
    values = prior.values(one.design)
    for design, share in ((c.design, _share(question, c.labelled)) for c in candidates):
        possible = ~(share > design.possible_share(values) * (1 + 1e-9))
        if not possible.any():
            most = float(design.possible_share(values).max())
            known = f" with p(y=1) = {values.max():.4g}" if design.uses_prior else ""
            raise ParameterError(
                f"{share:.4g} of all rows are {design.counts}, but{known} no more than {most:.4g} can be; the prior or "
                "the number of labels is wrong"
            )
        values = values[possible]
    return values


def _share(question: Question, labelled: Amount | None) -> float:
    """Return labels as a share of all rows; NaN where that is not known yet."""
    if labelled is None:
        return math.nan
    return labelled.value / question.rows if labelled.is_count else labelled.value


def _setting(question: Question, candidate: Candidate, prior: Floats) -> Setting:
    labelled = candidate.labelled or Amount(math.nan, is_count=True)
    return Setting(
        design=candidate.design,
        effect=question.effect,
        dof=question.dof,
        alpha=np.asarray(question.alpha),
        rows=np.asarray(question.rows),
        labelled=np.asarray(labelled.value),
        labelled_is_count=labelled.is_count,
        prior=prior,
        worst_case=question.worst_case,
    )


def _at_answer(question: Question, outcome: _Outcome) -> Setting:
    """Return the study at the answer, or at the best that can be had where there is none."""
    prior = np.asarray(outcome.prior[outcome.chosen])
    setting = _setting(question, outcome.candidate, prior)
    value = outcome.answer
    if question.unknown == "labelled":
        most = most_labels(setting)
        return replace(setting, labelled=np.asarray(most if value is None else value))
    if question.unknown == "rows":
        return replace(setting, rows=np.asarray(MOST_ROWS if value is None else value))
    if question.unknown == "dof":
        return setting if value is None else replace(setting, dof=np.array([value]))
    if question.unknown == "effect":
        return replace(setting, effect=np.array([question.largest_effect if value is None else value]))
    if question.unknown == "alpha":
        return replace(setting, alpha=np.asarray(value))
    return setting


def _worth(question: Question, outcome: _Outcome) -> tuple[float, float]:
    """Return what to minimise: the answer, and where none is reached the power that is missed."""
    return float(_cost(question, outcome.answers[outcome.chosen])), -float(_at_answer(question, outcome).power())


def _cost(question: Question, values: Floats) -> Floats:
    return -values if question.unknown in _MORE_IS_BETTER else values


def _as_said(question: Question, outcome: _Outcome) -> float | None:
    value = outcome.answer
    return int(value) if value is not None and question.unknown in ("rows", "labelled", "dof") else value


def _alternative(question: Question, outcome: _Outcome) -> Alternative:
    design = outcome.candidate.design
    return Alternative(surrogate=design.surrogate.value, counts=design.counts, answer=_as_said(question, outcome))
