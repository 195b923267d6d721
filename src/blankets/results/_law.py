"""The law of estimates of information, by which their intervals are made: written with an answer and read back."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from blankets.data import Reader, Saved, plain, refuse
from blankets.stats import InformationEstimate

__all__ = ["LARGEST", "TOO_LARGE", "Answer", "law_from", "law_to_dict"]

TOO_LARGE = (
    "Information measured in few rows for many levels is too large on average; the interval is free of that, and may "
    "lie below what was measured."
)
LARGEST = 1e15  # rows, and with them statistics, are fewer
_LAW = ("variance", "statistic", "dof", "scale", "bias")


class Answer(Saved):
    """Kept with the law of its intervals since version 3, and read back since then."""

    _version = 3
    _oldest = 3


def law_to_dict(law: InformationEstimate, n: int) -> dict[str, Any]:
    """Return what the intervals of ``n`` estimates are made of, besides the estimates themselves."""
    arrays = {name: plain(np.broadcast_to(np.ravel(getattr(law, name)), n)) for name in _LAW}
    return {"strong_law": law.strong_law, **arrays}


def law_from(fields: Reader, value: NDArray[np.float64], estimator: str) -> InformationEstimate:
    """Return the law of some estimates as it was written, after a look at its numbers."""
    least = {"statistic": -LARGEST, "bias": -LARGEST}
    arrays = {name: np.array(fields.numbers(name, least.get(name, 0.0), LARGEST), float) for name in _LAW}
    for name, array in arrays.items():
        if array.shape != value.shape:
            refuse(f"{name!r} in 'law' has {len(array)} values for {len(value)} estimates")
    strong_law = fields.one_of(("matched", "normal"), "strong_law")
    law = InformationEstimate(value=value, estimator=estimator, strong_law=strong_law, **arrays)
    try:
        with np.errstate(over="raise"):
            law.interval()
    except FloatingPointError:
        refuse("'law' holds numbers that no estimate has")
    return law
