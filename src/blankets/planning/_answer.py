"""Answer a question by a `Plan`: every surrogate is tried, and the best one kept."""

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
from blankets.planning._setting import MOST_ROWS, Floats, LabelDesign, Setting, most_labels, needed_kappa
from blankets.planning._spread import MORE_IS_BETTER, PlanQuestion, Spread, answers, setting_of


@dataclass(frozen=True)
class _Outcome:
    """The result of one candidate: the answer, and the value of p(y=1) that it is planned for."""

    candidate: Candidate
    prior: float
    value: float  # infinite (with the sign of the worst answer) if out of reach

    @property
    def answer(self) -> float | None:
        return self.value if math.isfinite(self.value) else None


def answer(question: PlanQuestion, candidates: list[Candidate], known: Knowledge, *, regime: str, strata: int) -> Plan:
    """Answer the question with each candidate surrogate and return the best answer as a `Plan`.

    With an uncertain prior the same surrogate is used for all its values: a study has one analysis.
    """
    possible = _possible(question, candidates, known)
    outcomes = [_outcome(question, candidate, possible) for candidate in candidates]

    def worth(outcome: _Outcome) -> tuple[float, float]:
        """Return what to minimize: the answer or, if the goal cannot be reached, the missing power."""
        return float(_cost(question, np.asarray(outcome.value))), -float(_at_answer(question, outcome).power())

    best = min((o for o in outcomes if o.candidate.competes), key=worth)
    final = _at_answer(question, best)
    uncertain = possible.is_spread and best.candidate.design.uses_prior
    spread = Spread(knowledge=possible, question=question, candidate=best.candidate) if uncertain else None
    out_of_reach = best.answer is None and question.unknown == "labeled" and len(question.effect) == 1
    return Plan(
        unknown=question.unknown,
        answer=_as_said(question, best),
        wanted_power=None if question.unknown == "power" else question.power,
        regime=regime,
        prior=str(known),
        setting=final,
        needed_kappa=float(needed_kappa(final, np.asarray(question.power))) if out_of_reach else None,
        spread=spread,
        alternatives=tuple(_alternative(question, o) for o in outcomes if o is not best),
        assumptions=assumptions_of(
            final,
            question.unknown,
            strata=strata,
            dropped=0.0 if spread is None else possible.dropped,
            uncertain=not (known.prior is None or known.prior.is_exact),
            about=question.about,
        ),
    )


def largest_kappa(question: PlanQuestion, candidates: list[Candidate], known: Knowledge) -> float:
    """Return the largest κ of the surrogates; with an uncertain prior the value that is safe for planning."""
    possible = _possible(question, candidates, known)
    return max(_outcome(question, candidate, possible).value for candidate in candidates if candidate.competes)


def _outcome(question: PlanQuestion, candidate: Candidate, known: Knowledge) -> _Outcome:
    priors = known.values(candidate.design)
    values = answers(question, candidate, priors)
    order = np.argsort(_cost(question, values), kind="stable")
    kept = order[max(0, math.ceil(known.assurance * len(values) - 1e-9) - 1)]
    return _Outcome(candidate, float(priors[kept]), float(values[kept]))


def _possible(question: PlanQuestion, candidates: list[Candidate], known: Knowledge) -> Knowledge:
    """Return what is known of p(y=1), without the values that the labels contradict."""
    low, high = 0.0, 1.0
    for candidate in candidates:
        design, share = candidate.design, _share(question, candidate.labeled)
        ends = (0.0, 1.0) if known.prior is None or not design.uses_prior else known.prior.support
        most = float(np.clip(design.positives, *ends))  # p(y=1) at which most labels are possible
        if share > design.possible_share(np.asarray(most)) * (1 + 1e-9):
            raise _contradiction(design, share, most)
        if not math.isnan(share):
            least, most = design.possible_prior(share)
            low, high = max(low, least), min(high, most)
    return known.within(low, high)


def _contradiction(design: LabelDesign, share: float, prior: float) -> ParameterError:
    known = f" with p(y=1) = {prior:.4g}" if design.uses_prior else ""
    most = float(design.possible_share(np.asarray(prior)))
    return ParameterError(
        f"{share:.4g} of all rows are {design.counts}, but{known} no more than {most:.4g} can be; the prior or the "
        "number of labels is wrong"
    )


def _share(question: PlanQuestion, labeled: Amount | None) -> float:
    """Return labels as a share of all rows; NaN if that is not known yet."""
    if labeled is None:
        return math.nan
    return labeled.value / question.rows if labeled.is_count else labeled.value


def _at_answer(question: PlanQuestion, outcome: _Outcome) -> Setting:
    """Return the study at the answer, or at the best possible value if there is no answer."""
    setting = setting_of(question, outcome.candidate, np.asarray(outcome.prior))
    value = outcome.answer
    if question.unknown == "labeled":
        most = most_labels(setting)
        return replace(setting, labeled=np.asarray(most if value is None else value, float))
    if question.unknown == "rows":
        return replace(setting, rows=np.asarray(MOST_ROWS if value is None else value, float))
    if question.unknown == "dof":
        return setting if value is None else replace(setting, dof=np.array([value]))
    if question.unknown == "effect":
        return replace(setting, effect=np.array([question.largest_effect if value is None else value]))
    if question.unknown == "alpha":
        return replace(setting, alpha=np.asarray(value))
    return setting


def _cost(question: PlanQuestion, values: Floats) -> Floats:
    return -values if question.unknown in MORE_IS_BETTER else values


def _as_said(question: PlanQuestion, outcome: _Outcome) -> float | None:
    value = outcome.answer
    return int(value) if value is not None and question.unknown in ("rows", "labeled", "dof") else value


def _alternative(question: PlanQuestion, outcome: _Outcome) -> Alternative:
    design = outcome.candidate.design
    return Alternative(surrogate=design.surrogate.value, counts=design.counts, answer=_as_said(question, outcome))
