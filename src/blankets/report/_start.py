"""The initial numbers of the planner in the report of a study."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from blankets.report._label_regime import is_partial
from blankets.report._planner import Start

if TYPE_CHECKING:
    from blankets.results import Blanket

_LIMITS = {"prior": (0.01, 0.99), "low": (0.01, 0.98), "high": (0.02, 0.99)}


def start_of(blanket: Blanket) -> Start:
    """Return values for the planner: rows, level, labels, prior, and the effect of the weakest member.

    Examples
    --------
    >>> from blankets.results import Blanket
    >>> settings = {"alpha": 0.05, "labels": "pu", "labeled": {"positives": 90, "negatives": 0},
    ...             "prior_facts": {"kind": "below", "prior": 0.4}}
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
    regime, prior = str(settings["labels"]), _prior(settings.get("prior_facts"))
    rows = blanket.data.get("n_rows") or blanket.n_rows
    found = settings.get("labeled", {})
    positives, negatives = (_share(found.get(name, 0), rows) for name in ("positives", "negatives"))
    labeled = _share(sum(found.values()), rows)
    if regime == "pu":
        apart = settings.get("sampling") == "case-control"
        return {"regime": "pu-apart" if apart else "pu", "labeled": labeled, **prior}
    if regime == "mar-c":
        return {
            "regime": "mar-c",
            "positives": positives,
            "negatives": negatives,
            **_prior(settings.get("prior_facts")),
        }
    if not found:  # every row has a label, which may be wrong: the planner has no such regime
        return {}
    # If labeling depends on features, κ is not known; for random labeling it would be the labeled share.
    return {"regime": "mcar", "labeled": labeled}


def _share(labels: int, rows: int) -> float:
    """Return labels as a share of all rows, rounded down: it must not be larger than possible."""
    return min(max(int(labels * 10_000 / rows) / 10_000, 0.0005), 0.99)


def _prior(facts: Mapping[str, Any] | None) -> Start:
    """Return what is known of p(y=1), if the planner can hold it."""
    if not facts or not all(_LIMITS[name][0] <= facts[name] <= _LIMITS[name][1] for name in facts.keys() & _LIMITS):
        return {}
    return {"priorKind": facts["kind"], **{name: facts[name] for name in facts.keys() & _LIMITS}}
