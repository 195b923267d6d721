"""Check the saved distribution ("law") of estimates of information, which gives their intervals."""

from __future__ import annotations

import numpy as np

from blankets.records import refuse
from blankets.stats import InformationEstimate

TOO_LARGE = (
    "Information measured in few rows for many levels is too large on average; the interval is corrected for that, "
    "and may be below the measured value."
)


def check_law(law: InformationEstimate, n: int) -> None:
    """Refuse a law that is not one of so many estimates, or that makes no intervals."""
    for name in ("value", "variance", "statistic", "dof", "scale", "bias", "law_variance"):
        if (array := getattr(law, name)).size not in (1, n) or array.ndim > 1:
            refuse(f"{name!r} in 'law' has {array.size} values for {n} estimates")
    try:
        with np.errstate(over="raise"):
            law.interval()
    except FloatingPointError:
        refuse("'law' holds numbers that no estimate has")
