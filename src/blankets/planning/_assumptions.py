"""What an answer rests on, in sentences that can go into a protocol."""

from __future__ import annotations

import numpy as np

from blankets.planning._setting import Setting
from blankets.regimes import Surrogate

__all__ = ["assumptions_of"]

ROWS_PER_DOF = 5  # the default reliability rule of the tests (METHODS 1)


def assumptions_of(setting: Setting, unknown: str, *, strata: int, dropped: float, uncertain: bool) -> tuple[str, ...]:
    """Return the assumptions behind an answer, most important first."""
    design = setting.design
    said = [
        "Power is that of the noncentral chi-square distribution, which is exact in the limit of weak effects "
        "and many rows."
    ]
    if design.assumption:
        said.append(design.assumption)
    if unknown == "rows" and design.surrogate is not Surrogate.FULL and not setting.labelled_is_count:
        said.append("As rows are added the labelled share stays the same, not the number of labels.")
    if uncertain and design.safe_side:
        said.append(f"The safe side is to {design.safe_side} p(y=1): that can cost labels or rows, but no power.")
    if dropped > 0:
        said.append(f"{dropped:.1%} of the prior contradicts the share already labelled and was left out.")
    if design.stratified:
        said.append("κ is averaged over the strata of the conditioning set with the class priors given for them.")
    elif strata > 1 and design.uses_prior:
        said.append(
            "κ is that of the unconditional test; it holds for a conditional test only where p(y=1|z) is the same in "
            "all strata, and is usually too high otherwise (give strata_priors)."
        )
    if setting.effect.shape[-1] > 1:
        said.append(
            "Each member is found if its own test rejects; that these decisions are independent is an approximation, "
            "the lower bound is not."
        )
    return (*said, *_cautions(setting))


def _cautions(setting: Setting) -> list[str]:
    needed = int(ROWS_PER_DOF * np.max(setting.test_dof))
    used = float(setting.rows * (setting.share if setting.design.surrogate is Surrogate.LISTWISE else 1.0))
    if used >= needed:
        return []
    return [
        f"Caution: a test with {np.max(setting.test_dof):.0f} degrees of freedom is performed only from {needed} rows "
        f"({ROWS_PER_DOF} for each); with {used:.0f} it would be unreliable."
    ]
