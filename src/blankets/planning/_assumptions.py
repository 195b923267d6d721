"""The assumptions of an answer, in sentences for a study protocol."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from blankets.planning._setting import Setting
from blankets.regimes import Surrogate

ROWS_PER_DOF = 5  # the default reliability rule of the tests (methods, section 1)
# Simulated at Table 7.2 of Sechidis (2015), levels 0.2 and 0.8, planned for 0.71 and 0.95: with 27 labels G
# had 0.65 to 0.92, with 49 labels 0.91 to 1.00, with 388 labels 0.94 to 0.96.
FEW_LABELS = 50


def assumptions_of(
    setting: Setting, unknown: str, *, strata: int, dropped: float, uncertain: bool, about: str = ""
) -> tuple[str, ...]:
    """Return the assumptions behind an answer, most important first; ``about``: words on the effect of a number."""
    design, several = setting.design, setting.effect.shape[-1] > 1
    said = [
        *([about] if about else []),
        "Power is computed from the noncentral chi-square distribution, which is exact in the limit of weak "
        "effects and many rows.",
    ]
    if design.assumption:
        said.append(" ".join(filter(None, (design.assumption, _by_one_level(setting)))))
    if unknown == "rows" and design.surrogate is not Surrogate.FULL and not setting.labeled_is_count:
        said.append("As rows are added the labeled share stays the same, not the number of labels.")
    if uncertain and design.safe_side:
        said.append(f"The safe side is to {design.safe_side} p(y=1): that can cost labels or rows, but no power.")
    if dropped > 0:
        said.append(f"{dropped:.1%} of the prior contradicts the share already labeled and was left out.")
    if strata > 1:
        said.append(
            "The effect is the information given the conditioning set. All levels of all columns are taken to occur in "
            f"each of the {strata:,} strata; strata with few rows cost power."
        )
    if setting.worth < 1.0:
        said.append(
            f"A row is worth {setting.worth:.3g} rows that are drawn alone and have all values (design effect and "
            f"missing values). Groups must be many, five for each degree of freedom at least, and gaps harmless."
        )
    if strata > 1 and design.strata and design.uses_prior:
        said.append("κ is averaged over the strata of the conditioning set with the class priors given for them.")
    elif strata > 1 and design.uses_prior:
        said.append(
            "κ is that of the unconditional test; it holds for a conditional test only where p(y=1|z) is the same in "
            f"all strata, and is usually too high otherwise{'' if several else ' (give strata_priors)'}."
        )
    if several:
        said.append(
            "A member counts as found if its own test says dependent. The product of powers assumes that these "
            "decisions are independent; the lower bound does not."
        )
    return (*said, *_cautions(setting))


def _by_one_level(setting: Setting) -> str:
    """Say what the answer takes to hold of the levels that carry the effect; empty where that makes no difference."""
    worst = replace(setting, shape="any")
    if not setting.shape or not worst.may_be_at_one_level:
        return ""
    levels = round(float(setting.dof[0])) + 1
    if setting.shape == "any":
        return (
            f"The power is that of the worst case, in which one of the {levels} levels carries the whole effect; it is "
            f"about {float(replace(setting, shape='').power()):.2f} where the effect is spread over the levels "
            "(shape='spread' plans for that)."
        )
    return (
        f"The effect is taken to be spread over the levels: where one of the {levels} carries all of it, the power is "
        f"about {float(worst.power()):.2f} (shape='any' plans for that)."
    )


def _cautions(setting: Setting) -> list[str]:
    """Return reasons to doubt the test itself: too few rows or labels for a chi-square distribution."""
    said = []
    surrogate, labels = setting.design.surrogate, float(setting.share * setting.rows)
    dof = float(np.max(setting.test_dof))
    used = labels if surrogate is Surrogate.LISTWISE else float(setting.rows)
    if used < ROWS_PER_DOF * dof:
        said.append(
            f"Caution: a test with {dof:.0f} degrees of freedom is performed only from {ROWS_PER_DOF * dof:.0f} rows "
            f"({ROWS_PER_DOF} for each); with {used:.0f} it would be unreliable."
        )
    if surrogate is not Surrogate.FULL and labels < FEW_LABELS:
        said.append(
            f"Caution: with only {labels:.0f} labels the planned power is rough; for a feature with a rare level it "
            "can be off by 0.05 and more."
        )
    return said
