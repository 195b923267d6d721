"""A plan in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from blankets.stats import STUDIES, w_from_effect

if TYPE_CHECKING:
    from blankets.planning._result import Alternative, Plan


def headline(plan: Plan) -> str:
    """Return the answer in one line."""
    asked = plan.asked
    if plan.answer is None and plan.spread is not None:
        return (
            f"{asked}: out of reach with p(y=1) = {float(plan.setting.prior):.3g}, the value to plan for at "
            f"assurance {plan.assurance:g}. The best power there is {plan.power:.3g}."
        )
    if plan.answer is None:
        factor = "" if plan.needed_kappa is None else f"; κ would have to be {plan.needed_kappa:.3g}"
        return f"{asked}: out of reach. The best power is {plan.power:.3g}{factor}."
    if plan.draws is None:
        return f"{asked}: {_shown(plan, plan.answer)}."
    middle, (low, high) = plan.quantile(0.5), plan.quantile([0.05, 0.95])
    return (
        f"{asked}: {_shown(plan, plan.answer)}, enough with probability {plan.assurance:g} over the prior "
        f"(median {_shown(plan, float(middle))}, 90% between {_shown(plan, float(low))} and "
        f"{_shown(plan, float(high))})."
    )


def _shown(plan: Plan, value: float) -> str:
    """Return a value of what was solved for, in words."""
    if not np.isfinite(value):
        return "out of reach"
    if plan.unknown == "effect":
        return _strength(value)
    return f"{value:.0f}" if plan.unknown in ("rows", "labeled", "dof") else f"{value:.4g}"


def sentence(plan: Plan) -> str:
    """Return the study and its power as a sentence for a protocol."""
    labels = "" if plan.surrogate == "full" else f", of which {plan.n_labeled} are {plan.counts}"
    rows = "However many rows there are" if plan.endless else f"With {plan.rows} rows"
    design = f"{rows}{labels}, and α = {plan.alpha:.3g}"
    if len(plan.effects) == 1:
        effect, dof = plan.effects[0], float(plan.setting.test_dof[0])
        found = (
            f"a test with {dof:.0f} degree{'' if dof == 1 else 's'} of freedom finds a dependence of "
            f"{_strength(effect)} with probability {plan.power:.4g}"
        )
    else:
        each = plan.member_powers
        found = (
            f"all {len(each)} members of the blanket are found with probability {math.prod(each):.4g} if the "
            f"decisions are independent, and at least {plan.lower_bound:.4g} if not "
            f"(the hardest one alone with {min(each):.4g})"
        )
    return f"{design}, {found}{_label_words(plan)}."


def others(plan: Plan) -> list[str]:
    """Return what other labels would need, and how often drawn studies found the effect."""
    drawn = plan.drawn_power if len(plan.effects) == 1 else None
    told = [] if drawn is None else [f"Of {STUDIES:,} studies that were drawn so, {drawn:.2f} found it."]
    return [*told, *_by_other_labels(plan)]


def _by_other_labels(plan: Plan) -> list[str]:
    """Return what other surrogates, or gold labels alone, would need."""
    if not plan.alternatives:
        return []
    unit = {a: f" {a.counts}" if plan.unknown == "labeled" else "" for a in plan.alternatives}
    if plan.setting.design.regime == "predicted":
        return [_saved(plan, alone) for alone in plan.alternatives]
    shown = [
        f"{a.surrogate} {'out of reach' if a.answer is None else _shown(plan, a.answer)}{unit[a]}"
        for a in plan.alternatives
    ]
    return [f"With other surrogates: {'; '.join(shown)}."]


def _saved(plan: Plan, alone: Alternative) -> str:
    """Say what a machine saves of what gold labels alone need."""
    counted = plan.unknown in ("labeled", "rows") and plan.answer is not None
    unit = f" {alone.counts}" if plan.unknown == "labeled" else ""
    if alone.answer is None:
        return "With gold labels alone: out of reach."
    words = f"With gold labels alone: {_shown(plan, alone.answer)}{unit}"
    if not counted:
        return f"{words}."
    less = float(alone.answer) - float(plan.answer or 0.0)
    return f"{words}; the machine saves {less:,.0f} of them, {less / float(alone.answer):.0%}."


def _label_words(plan: Plan) -> str:
    """Return how labels are counted and what they are worth."""
    prior = f" with p(y=1) = {float(plan.setting.prior):.3g}" if plan.setting.design.uses_prior else ""
    if plan.surrogate == "full":
        kept = f"each row counts as much as κ = {plan.kappa:.4g} rows with a right label"
        return f". As labels may be wrong,{prior} {kept}" if prior else ""
    kept = f"each row counts as much as κ = {plan.kappa:.4g} rows with full labels"
    return f". The test {plan.setting.design.surrogate.words};{prior} {kept}"


def _strength(effect: float) -> str:
    """Return an effect in nats, in words that are known from power tables first."""
    return f"Cohen's w {float(w_from_effect(effect)):.3g} ({effect:.4g} nats)"
