"""The surrogates that can answer, and the labels that each would have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from blankets.errors import NotAnswerableError, ParameterError
from blankets.planning._designs import CASE_CONTROL, DESIGNS, of_both_classes
from blankets.planning._prior import Knowledge
from blankets.planning._question import Amount, as_amount
from blankets.planning._setting import LabelDesign
from blankets.regimes import Surrogate, surrogate_from
from blankets.voice import option


@dataclass(frozen=True)
class Candidate:
    """One surrogate with the labels it would have; None if their number is the unknown.

    A surrogate that does not compete is only reported, never chosen, unless the user asks for it.
    """

    design: LabelDesign
    labeled: Amount | None
    competes: bool = True


def candidates_for(
    regime: str,
    *,
    surrogate: str | None,
    labeled: object,
    solving_rows: bool,
    knowledge: Knowledge,
    designs: tuple[LabelDesign, ...] | None = None,
) -> list[Candidate]:
    """Return the surrogates that can answer, each with its own amount of labels.

    ``regime``: a key of `DESIGNS`. ``surrogate``: only this one. ``labeled``: an amount of labels, or (MAR-C) one for
    each class; None if it is the unknown. ``solving_rows``: whether the number of rows is the unknown. ``knowledge``:
    what is known of p(y=1). ``designs``: those of labels or machines with known errors; by default the regime's.
    """
    offered = _offered(regime, labeled, knowledge, designs or DESIGNS[regime])
    if surrogate is not None:
        wanted = surrogate_from(surrogate)
        if wanted not in [c.design.surrogate for c in offered]:
            names = (c.design.surrogate.value for c in offered)
            raise ParameterError.not_one_of(f"surrogate for labels {regime!r}", wanted.value, names)
        offered = [replace(c, competes=True) for c in offered if c.design.surrogate is wanted]
    if not isinstance(labeled, Mapping) and labeled is not None and len({c.design.counts for c in offered}) > 1:
        raise ParameterError(
            "labels may be positives or negatives here; give labeled={'positives': ..., 'negatives': ...}, or choose "
            f"{option(surrogate='y0')} (counts positives) or 'y1' (counts negatives)"
        )
    candidates = [c for c in offered if knowledge.serves(c.design)]
    if not candidates:
        raise _prior_needed(offered[0].design, knowledge)
    for candidate in candidates:
        if solving_rows and candidate.labeled and candidate.labeled.is_count and regime != CASE_CONTROL:
            raise ParameterError(
                f"with a fixed number of {candidate.design.counts} further rows do not raise the power; give "
                "'labeled' as a share of all rows (such as 0.05), or give 'rows' and leave 'labeled' out"
            )
    return candidates


def _offered(regime: str, labeled: object, knowledge: Knowledge, designs: tuple[LabelDesign, ...]) -> list[Candidate]:
    """Pair each surrogate of a regime with the labels that it counts."""
    if isinstance(labeled, Mapping):
        return _by_class(designs, labeled, knowledge)
    if regime == "predicted":  # gold labels alone are there to compare with
        amount = None if labeled is None else as_amount(labeled)
        return [Candidate(design, amount, competes=design.surrogate is Surrogate.PREDICTED) for design in designs]
    if regime == "noisy" and labeled is None:
        return [Candidate(design, Amount(1.0, is_count=False)) for design in designs]
    if regime != "supervised":
        amount = None if labeled is None else as_amount(labeled)
        return [Candidate(design, amount) for design in designs]
    if labeled is not None:
        raise ParameterError("all rows are labeled under 'supervised'; leave 'labeled' out, or name another regime")
    return [Candidate(design, Amount(1.0, is_count=False)) for design in designs]


def _by_class(designs: tuple[LabelDesign, ...], labeled: Mapping[str, object], knowledge: Knowledge) -> list[Candidate]:
    """Give each class its own amount; if both classes are labeled, they may also be used together."""
    if not labeled:
        raise ParameterError("'labeled' is empty; give {'positives': ..., 'negatives': ...}, or leave it out")
    by_name = {design.counts.removeprefix("labeled "): design for design in designs}
    if wrong := [str(name) for name in labeled if name not in by_name]:
        raise ParameterError.not_one_of("kind of label", wrong[0], by_name)
    amounts = {name: as_amount(value) for name, value in labeled.items()}
    if len({amount.is_count for amount in amounts.values()}) > 1:
        raise ParameterError("give labeled positives and negatives both as shares of all rows or both as numbers")
    offered = [Candidate(by_name[name], amount) for name, amount in amounts.items()]
    if len(amounts) == 2:
        total = Amount(sum(a.value for a in amounts.values()), is_count=amounts["positives"].is_count)
        positives = amounts["positives"].value / total.value
        # As the regime chooses: labeled rows alone if the prior is known exactly, Ỹm if nothing is known.
        exact = knowledge.prior is not None and knowledge.prior.is_exact
        offered.append(Candidate(of_both_classes(Surrogate.LISTWISE, positives), total, competes=exact))
        offered.append(Candidate(of_both_classes(Surrogate.YM, positives), total, competes=False))
    return offered


def _prior_needed(design: LabelDesign, knowledge: Knowledge) -> NotAnswerableError:
    bound = {"overestimate": "an upper bound", "underestimate": "a lower bound", "": "an interval"}[design.safe_side]
    return NotAnswerableError(
        f"the power of a test that {design.surrogate.words} depends on p(y=1), the share of positives among all rows, "
        f"which is {knowledge}; give 'prior' as a number, a distribution or {bound}"
    )
