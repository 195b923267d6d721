"""The initial numbers of the planner in the report of a study."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from blankets.report._label_regime import is_partial
from blankets.report._planner import Start

if TYPE_CHECKING:
    from blankets.results import Blanket

_NUMBER = r"([0-9.e-]+)"
# What is known of p(y=1), as `Prior` prints it; for a distribution that the page does not have, its central 90%.
_PRIORS = (
    (rf"{_NUMBER}", "exact", ("prior",)),
    (rf"below {_NUMBER}", "below", ("prior",)),
    (rf"above {_NUMBER}", "above", ("prior",)),
    (rf"between {_NUMBER} and {_NUMBER}", "between", ("low", "high")),
    (rf"Beta\(mode={_NUMBER}, low={_NUMBER}, high={_NUMBER}\)", "beta", ("prior", "low", "high")),
    (rf".*90% between {_NUMBER} and {_NUMBER}.*", "between", ("low", "high")),
    (rf".*90% {_NUMBER} to {_NUMBER}.*", "between", ("low", "high")),
)
_LIMITS = {"prior": (0.01, 0.99), "low": (0.01, 0.98), "high": (0.02, 0.99)}


def start_of(blanket: Blanket) -> Start:
    """Return values for the planner: rows, level, labels, prior, and the effect of the weakest member.

    Examples
    --------
    >>> from blankets.results import Blanket
    >>> settings = {"alpha": 0.05, "labels": "pu", "prior": "below 0.4", "labeled": {"positives": 90, "negatives": 0}}
    >>> blanket = Blanket(target="ill", members=(), strengths={}, algorithm="iamb", settings=settings, columns=("ill",),
    ...                   n_rows=1000)
    >>> start = start_of(blanket)
    >>> start["regime"], start["labeled"], start["priorKind"], start["prior"]
    ('pu', 0.09, 'below', 0.4)
    """
    settings = blanket.settings
    kappa = settings.get("kappa") if is_partial(blanket) else 1.0
    tested = [e.effect for e in blanket.strengths.values() if e.reliable and e.effect > 0]
    # Information about a surrogate is about κ times the information about the target; studies plan for the target.
    effect = min(tested) / kappa if tested and kappa else 0.045
    alpha = settings.get("alpha")
    start: Start = {
        "unknown": "rows",
        "rows": min(max(blanket.n_rows, 10), 10_000_000),
        "alpha": alpha if isinstance(alpha, float) and 1e-5 <= alpha <= 0.2 else 0.01,
        "effect": float(f"{min(max(effect, 0.0001), 0.5):.2g}"),
    }
    return start | (_labels(blanket) if is_partial(blanket) else {})


def _labels(blanket: Blanket) -> Start:
    """Return the regime, the share of all rows that is labeled, and the prior."""
    settings = blanket.settings
    regime = str(settings["labels"])
    rows = blanket.data.get("n_rows") or blanket.n_rows
    found = settings.get("labeled", {})
    positives, negatives = (_share(found.get(name, 0), rows) for name in ("positives", "negatives"))
    labeled = _share(sum(found.values()), rows)
    if regime == "pu":
        apart = settings.get("sampling") == "case-control"
        return {"regime": "pu-apart" if apart else "pu", "labeled": labeled, **_prior(settings.get("prior"))}
    if regime == "mar-c":
        return {"regime": "mar-c", "positives": positives, "negatives": negatives, **_prior(settings.get("prior"))}
    # If labeling depends on features, κ is not known; for random labeling it would be the labeled share.
    return {"regime": "mcar", "labeled": labeled}


def _share(labels: int, rows: int) -> float:
    """Return labels as a share of all rows, rounded down: it must not be larger than possible."""
    return min(max(int(labels * 10_000 / rows) / 10_000, 0.0005), 0.99)


def _prior(said: object) -> Start:
    for pattern, kind, names in _PRIORS:
        if found := re.fullmatch(pattern, str(said)):
            values = dict(zip(names, map(float, found.groups()), strict=True))
            if all(_LIMITS[name][0] <= value <= _LIMITS[name][1] for name, value in values.items()):
                return {"priorKind": kind, **values}
    return {}
