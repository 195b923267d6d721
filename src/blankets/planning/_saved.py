"""A plan as plain values and back.

A plan is its setting: every number that it tells is worked out from that, before it is written and again when it is
read. The two must agree. Of an uncertain prior the distribution and a seed are kept, which give the draws again.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import numpy as np

from blankets.data import Reader, refuse, short
from blankets.planning._answer import Question, spread_of
from blankets.planning._candidates import Candidate
from blankets.planning._designs import DESIGNS, design_for, stratified
from blankets.planning._prior import Knowledge, Spread
from blankets.planning._question import Amount
from blankets.planning._result import Alternative, Plan
from blankets.planning._setting import MOST_ROWS, LabelDesign, Setting
from blankets.regimes import prior_from_saved, prior_to_dict

__all__ = ["content_of", "read_plan"]

_UNKNOWNS = ("alpha", "dof", "effect", "labeled", "power", "rows")
_DERIVED = (
    "reachable",
    "power",
    "lower_bound",
    "member_powers",
    "effects_nats",
    "alpha",
    "rows",
    "n_labeled",
    "labeled_share",
    "labels_counted_in",
    "dof",
    "noncentrality",
    "prior_used",
    "kappa",
    "safe_side",
)
_LEAST = math.ulp(0.0)
_MOST_EFFECT = 50.0  # nats; no variable of less than 10²¹ levels has more
_MOST_DOF = 1e15
_MOST_DRAWS = 1_000_000


def content_of(plan: Plan) -> dict[str, Any]:
    """Return a plan as plain values."""
    return {
        "unknown": plan.unknown,
        "answer": plan.answer,
        "reachable": plan.reachable,
        "power": plan.power,
        "lower_bound": plan.lower_bound,
        "wanted_power": plan.wanted_power,
        "member_powers": list(plan.member_powers),
        "effects_nats": list(plan.effects),
        "alpha": plan.alpha,
        "rows": None if plan.endless else plan.rows,
        "n_labeled": plan.n_labeled,
        "labeled_share": plan.labeled_share,
        "labels_counted_in": plan.counts,
        "dof": plan.setting.test_dof.tolist(),
        "noncentrality": plan.setting.noncentrality.tolist(),
        "regime": plan.regime,
        "surrogate": plan.surrogate,
        "prior": plan.prior,
        "prior_used": _finite(float(plan.setting.prior)),
        "kappa": plan.kappa,
        "needed_kappa": plan.needed_kappa,
        "safe_side": plan.safe_side,
        "uncertain_prior": None if plan.spread is None else _spread_to_dict(plan, plan.spread),
        "alternatives": [asdict(a) for a in plan.alternatives],
        "assumptions": list(plan.assumptions),
        "setting": _setting_to_dict(plan.setting),
    }


def _setting_to_dict(setting: Setting) -> dict[str, Any]:
    return {
        "effect": setting.effect.tolist(),
        "dof": setting.dof.tolist(),
        "alpha": float(setting.alpha),
        "rows": float(setting.rows),
        "labeled": float(setting.labeled),
        "labeled_is_count": setting.labeled_is_count,
        "prior": _finite(float(setting.prior)),
        "worst_case": setting.worst_case,
        "positives": setting.design.positives,
        "strata": [list(stratum) for stratum in setting.design.strata],
    }


def _spread_to_dict(plan: Plan, spread: Spread) -> dict[str, Any]:
    question: Question = spread.answers_at.args[0]
    known = spread.knowledge
    return {
        "assurance": known.assurance,
        "n_draws": known.n_draws,
        "reachable_share": plan.reachable_share,
        "quantiles": {str(q): _finite(float(plan.quantile(q))) for q in (0.05, 0.25, 0.5, 0.75, 0.95)},
        "prior": None if known.prior is None else prior_to_dict(known.prior),
        "seed": known.seed,
        "dropped": known.dropped,
        "dof_asked": question.dof.tolist() if question.unknown == "dof" else None,
        "largest_effect": question.largest_effect,
    }


def read_plan(fields: Reader) -> Plan:
    """Make a plan of what `content_of` returned."""
    try:
        with np.errstate(divide="raise", over="raise", invalid="raise"):
            return _plan_from(fields)
    except FloatingPointError:
        refuse("'setting' holds numbers that no plan has")


def _plan_from(fields: Reader) -> Plan:
    unknown, regime = fields.one_of(_UNKNOWNS, "unknown"), fields.one_of(DESIGNS, "regime")
    setting = _setting_from(fields.inside("setting"), regime, fields.one(str, "surrogate"))
    wanted = None if unknown == "power" else fields.known_number("wanted_power", _LEAST, 1.0)
    uncertain = fields.inside("uncertain_prior") if fields.known("uncertain_prior") else None
    plan = Plan(
        unknown=unknown,
        answer=_answer_from(fields),
        wanted_power=wanted,
        regime=regime,
        prior=fields.one(str, "prior"),
        setting=setting,
        needed_kappa=fields.number_or_none("needed_kappa", 0.0),
        spread=None if uncertain is None else _spread_from(uncertain, unknown, wanted, setting),
        alternatives=tuple(map(_alternative_from, fields.each("alternatives"))),
        assumptions=fields.names("assumptions"),
    )
    again = content_of(plan)
    fields.derived({**again, "wanted_power": wanted}, "wanted_power", *_DERIVED)
    if plan.answer is not None:
        fields.derived({"answer": _asked_of(plan)}, "answer")
    if uncertain is not None:
        uncertain.derived(again["uncertain_prior"], "reachable_share", "quantiles")
    return plan


def _asked_of(plan: Plan) -> float:
    """Return what the setting holds for the unknown, which the answer is."""
    setting = plan.setting
    if plan.unknown == "power":
        return plan.power
    return float(np.ravel(getattr(setting, plan.unknown))[0])


def _setting_from(fields: Reader, regime: str, surrogate: str) -> Setting:
    effect = np.array([_positive(fields, "effect", _MOST_EFFECT, at) for at in fields.list_of(float, "effect")])
    dof = np.array([_positive(fields, "dof", _MOST_DOF, at) for at in fields.list_of(float, "dof")])
    if not len(effect) or effect.shape != dof.shape:
        refuse("'effect' and 'dof' in 'setting' differ in length, or are empty")
    setting = Setting(
        design=_design_from(fields, regime, surrogate),
        effect=effect,
        dof=dof,
        alpha=np.asarray(fields.known_number("alpha", _LEAST, 1.0)),
        rows=np.asarray(fields.known_number("rows", 1.0, MOST_ROWS)),
        labeled=np.asarray(fields.known_number("labeled", 0.0, MOST_ROWS)),
        labeled_is_count=fields.one(bool, "labeled_is_count"),
        prior=np.asarray(fields.number("prior", np.finfo(float).tiny, 1.0 - 1e-16)),
        worst_case=fields.one(bool, "worst_case"),
    )
    if setting.design.uses_prior == bool(np.isnan(setting.prior)):
        fields.odd("prior")
    if setting.share > setting.design.possible_share(setting.prior) * (1.0 + 1e-6):
        fields.odd("labeled")
    return setting


def _positive(fields: Reader, key: str, most: float, value: float) -> float:
    return Reader({key: value}).known_number(key, _LEAST, most)


def _design_from(fields: Reader, regime: str, surrogate: str) -> LabelDesign:
    design = design_for(regime, surrogate, fields.probability("positives"))
    if design is None:
        refuse(f"'surrogate' holds {short(surrogate)}, which {regime!r} does not have")
    strata = [Reader({"strata": pair}).numbers("strata", 0.0, 1.0) for pair in fields.one(list, "strata")]
    if not strata:
        return design
    if any(len(pair) != 2 for pair in strata) or abs(sum(share for _, share in strata) - 1.0) > 1e-5:
        fields.odd("strata")
    priors, shares = zip(*strata, strict=True)
    return stratified(design, priors, shares) if 0 < min(priors) <= max(priors) < 1 else fields.odd("strata")


def _spread_from(fields: Reader, unknown: str, wanted: float | None, setting: Setting) -> Spread:
    if not fields.known("prior"):
        refuse("'prior' in 'uncertain_prior' holds None: it was a distribution that could not be written")
    known = Knowledge(
        prior=prior_from_saved(fields.inside("prior")),
        assurance=fields.known_number("assurance", _LEAST, 1.0),
        n_draws=fields.count("n_draws"),
        seed=fields.count("seed"),
        dropped=fields.probability("dropped"),
    )
    if not 0 < known.n_draws <= _MOST_DRAWS:
        fields.odd("n_draws")
    asked = fields.list_of(float, "dof_asked") if fields.known("dof_asked") else setting.dof.tolist()
    question = Question(
        unknown=unknown,
        effect=setting.effect,
        dof=np.array([_positive(fields, "dof_asked", _MOST_DOF, at) for at in asked]),
        alpha=float(setting.alpha),
        power=math.nan if wanted is None else wanted,
        rows=float(setting.rows),
        largest_effect=fields.known_number("largest_effect", _LEAST, _MOST_EFFECT),
        worst_case=setting.worst_case,
    )
    if question.dof.shape != setting.dof.shape:
        fields.odd("dof_asked")
    amount = Amount(float(setting.labeled), setting.labeled_is_count)
    candidate = Candidate(setting.design, None if unknown == "labeled" else amount)
    return spread_of(question, candidate, known) or refuse("'uncertain_prior' is there, but its 'prior' is certain")


def _answer_from(fields: Reader) -> float | None:
    """Return the answer; a whole number stays one."""
    answer: float | None = fields.one((int, float, type(None)), "answer")
    fields.number("answer", 0.0, 2.0 * _MOST_DOF)
    return answer


def _alternative_from(fields: Reader) -> Alternative:
    return Alternative(
        surrogate=fields.one(str, "surrogate"), counts=fields.one(str, "counts"), answer=_answer_from(fields)
    )


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None
