"""The label designs of each regime: its surrogates, their κ, and what is counted as a label.

The surrogate that is always the most powerful of its regime comes first: of equal answers the first is kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np

from blankets.planning._setting import Floats, LabelDesign
from blankets.records import Probability, read, refuse, short
from blankets.regimes import Channel, Surrogate, kappa_case_control, kappa_of
from blankets.stats import machine_noncentrality, machine_power

CASE_CONTROL = "pu, case-control"
DRIVEN = "pu, drivers"

_SCAR = "Every positive has the same chance to be labeled."
_BY_DRIVERS = (
    "How often a positive is labeled depends only on the drivers. Every test is given them: 'strata' is the number of "
    "their combinations, 1 for numbers. κ is that of positives that all have the same chance of a label; where chances "
    "differ, as many labels have a larger κ, if drivers tell nothing of the class."
)
_BY_CLASS = "Whether a row is labeled depends only on its class."
_AT_RANDOM = "Whether a row is labeled depends neither on its class nor on its features."
_APART = "The labeled positives are a random sample of all positives, collected apart from the background rows."
_WEAK = " κ is exact for X², and for G if effects are very weak; at ordinary effects it is a few per cent too high."
_VERY_WEAK = (
    " κ is exact for X², but for G only in the limit of very weak effects: the power of G can be off by 0.1 either "
    "way, so prefer X² or simulate."
)
_ONLY_WEAK = " κ is that of very weak effects."


_RANGE = (
    "Where the machine errs in ten or more of the gold rows, tests have the power that is computed within 0.05, mostly "
    "within 0.02; with fewer errors mostly more, by up to 0.1. Drawn studies tell it there."
)


def _share_itself(share: Floats, prior: Floats) -> Floats:
    # p(s=1), for every prior (methods (3.5)): can be used if the prior is not known.
    return np.broadcast_to(share, np.broadcast_shapes(np.shape(share), np.shape(prior)))


_BY_POSITIVES = LabelDesign(
    surrogate=Surrogate.Y0,
    counts="labeled positives",
    kappa=lambda share, prior: kappa_of(Surrogate.Y0, prior, positives=share),
    positives=1.0,
    safe_side="overestimate",
    assumption=_SCAR + _WEAK,
)
_BY_NEGATIVES = LabelDesign(
    surrogate=Surrogate.Y1,
    counts="labeled negatives",
    kappa=lambda share, prior: kappa_of(Surrogate.Y1, prior, negatives=share),
    negatives=1.0,
    safe_side="underestimate",
    assumption=_BY_CLASS + _VERY_WEAK,
)
_BY_ROWS = LabelDesign(
    surrogate=Surrogate.LISTWISE, counts="labeled rows", kappa=_share_itself, uses_prior=False, assumption=_AT_RANDOM
)

_OF_REGIME: dict[str, tuple[LabelDesign, ...]] = {
    "supervised": (replace(_BY_ROWS, surrogate=Surrogate.FULL, assumption=""),),
    "pu": (_BY_POSITIVES,),
    DRIVEN: (replace(_BY_POSITIVES, assumption=_BY_DRIVERS + _WEAK),),
    CASE_CONTROL: (
        replace(
            _BY_POSITIVES,
            kappa=kappa_case_control,
            positives=0.0,
            # Labeled and background rows are compared with each other: the best share of each is one half.
            useful_share=lambda prior: np.full_like(prior, 0.5),
            by_stratum=False,  # how often a stratum is seen depends on p(y=1|z) as well
            assumption=_APART + _ONLY_WEAK,
        ),
    ),
    "mcar": (
        _BY_ROWS,
        # The third value "missing" doubles the degrees of freedom (errata B14).
        replace(_BY_ROWS, surrogate=Surrogate.YM, dof_factor=2.0),
        replace(
            _BY_ROWS,
            surrogate=Surrogate.Y0,
            kappa=lambda share, prior: kappa_of(Surrogate.Y0, prior, positives=share * prior),
            uses_prior=True,
            safe_side="overestimate",
            assumption=_AT_RANDOM + _WEAK,
        ),
        replace(
            _BY_ROWS,
            surrogate=Surrogate.Y1,
            kappa=lambda share, prior: kappa_of(Surrogate.Y1, prior, negatives=share * (1.0 - prior)),
            uses_prior=True,
            safe_side="underestimate",
            assumption=_AT_RANDOM + _VERY_WEAK,
        ),
    ),
    "mar-c": (replace(_BY_POSITIVES, assumption=_BY_CLASS + _WEAK), _BY_NEGATIVES),
}
DESIGNS: Mapping[str, tuple[LabelDesign, ...]] = MappingProxyType(
    {regime: tuple(replace(each, regime=regime) for each in designs) for regime, designs in _OF_REGIME.items()}
)


def of_both_classes(surrogate: Surrogate, positives: float) -> LabelDesign:
    """Return the design of a test that uses the labels of both classes, if labeling depends on the class.

    ``surrogate``: ``LISTWISE`` or ``YM``. ``positives``: share of positives among the labels.
    """

    def kappa(share: Floats, prior: Floats) -> Floats:
        return kappa_of(surrogate, prior, positives=positives * share, negatives=(1.0 - positives) * share)

    return replace(
        _BY_ROWS,
        regime="mar-c",
        surrogate=surrogate,
        kappa=kappa,
        dof_factor=2.0 if surrogate is Surrogate.YM else 1.0,
        positives=positives,
        negatives=1.0 - positives,
        uses_prior=True,
        by_stratum=False,  # it would need the labeling rate of each class
        assumption=_BY_CLASS + _ONLY_WEAK,
    )


def of_wrong_labels(false_positive: float, false_negative: float) -> tuple[LabelDesign, ...]:
    """Return the design of labels that may be wrong: κ of the channel, times the labeled share."""
    channel = Channel.noisy(false_positive, false_negative)

    def kappa(share: Floats, prior: Floats) -> Floats:
        return np.asarray(share * channel.kappa(Surrogate.FULL, prior))

    about = (
        f"Labels are wrong in {false_positive:.3g} of the negatives and {false_negative:.3g} of the positives, "
        f"whatever their features.{_ONLY_WEAK}"
    )
    design = replace(
        _BY_ROWS,
        surrogate=Surrogate.FULL,
        kappa=kappa,
        uses_prior=True,
        assumption=about,
        regime="noisy",
        errors=(false_positive, false_negative),
        by_stratum=True,
    )
    return (design,)


def of_machine(false_positive: float, false_negative: float) -> tuple[LabelDesign, ...]:
    """Return the designs of gold labels with a machine's beside them, and of gold labels alone.

    For weak effects κ = f / (1 - (1 - f) ρ²), methods (14.8), with f the share of gold labels, and ρ² the share of the
    variance of the class that the machine explains: κ of the machine's labels as a channel. Stronger ones keep less:
    their noncentrality is that of methods (14.12).
    """
    channel = Channel.noisy(false_positive, false_negative)
    says = [[1.0 - false_positive, false_positive], [false_negative, 1.0 - false_negative]]

    def kappa(share: Floats, prior: Floats) -> Floats:
        return np.asarray(share / (1.0 - (1.0 - share) * channel.kappa(Surrogate.FULL, prior)))

    def noncentrality(effect: Floats, prior: Floats, gold: Floats, rows: Floats, dof: Floats) -> Floats:
        return machine_noncentrality(effect, prior, gold, rows, dof, says)

    @lru_cache(maxsize=1)  # a plan is drawn once, and may be printed often
    def drawn(effect: float, prior: float, gold: float, rows: float, dof: int, alpha: float) -> float:
        return machine_power(effect, prior, gold, rows, dof, says, alpha)

    about = (
        f"The machine is wrong in {false_positive:.3g} of the negatives and {false_negative:.3g} of the positives, and "
        f"gold labels are drawn at random. κ is that of this effect, for levels that are equally frequent: that the "
        f"machine's errors must be learned from gold labels is in it. {_RANGE}"
    )
    both = replace(
        _BY_ROWS,
        surrogate=Surrogate.PREDICTED,
        counts="gold labels",
        kappa=kappa,
        noncentrality=noncentrality,
        drawn_power=drawn,
        uses_prior=True,
        assumption=about,
        by_stratum=False,  # it would need the machine's errors in each stratum
        regime="predicted",
        errors=(false_positive, false_negative),
    )
    alone = replace(_BY_ROWS, counts="gold labels", regime="predicted", errors=both.errors)
    return both, alone


def stratified(design: LabelDesign, priors: Sequence[float], shares: Sequence[float]) -> LabelDesign:
    """Return the design with κ averaged over strata, Σ w_z κ_z (errata B4).

    κ_z is κ with p(y=1|z) for the prior and, if a class is labeled with some probability, with the
    resulting share of labeled rows in the stratum.

    ``design``: the unconditional one. ``priors``: p(y=1|z) in each stratum. ``shares``: share of the effect in each
    stratum, p(z) I(X;Y|z) / I(X;Y|Z).
    """

    def kappa(share: Floats, prior: Floats) -> Floats:
        rate = share / design.possible_share(prior)  # probability that a row is labeled, if it can be
        total = np.zeros(np.shape(rate))
        for p, weight in zip(priors, shares, strict=True):
            in_stratum = np.asarray(p, float)
            total = total + weight * design.kappa(rate * design.possible_share(in_stratum), in_stratum)
        return total

    return replace(design, kappa=kappa, strata=tuple(zip(priors, shares, strict=True)))


@dataclass(frozen=True)
class _Key:
    """What is needed to make a design again."""

    regime: str
    surrogate: Surrogate
    positives: Probability
    strata: tuple[tuple[Probability, Probability], ...]
    errors: tuple[Probability, ...] = ()


def design_from(data: Any) -> LabelDesign:
    """Return the design of a saved plan."""
    key = read(_Key, data, ("design",))
    offered = DESIGNS.get(key.regime, ())
    if key.regime in ("noisy", "predicted") and len(key.errors) == 2 and sum(key.errors) < 1.0:
        offered = (of_wrong_labels if key.regime == "noisy" else of_machine)(*key.errors)
    named = [design for design in offered if design.surrogate is key.surrogate]
    if key.regime == "mar-c" and 0.0 < key.positives < 1.0 and key.surrogate in (Surrogate.LISTWISE, Surrogate.YM):
        named = [of_both_classes(key.surrogate, key.positives)]
    if not named:
        refuse(f"'surrogate' holds {key.surrogate.value!r}, which {key.regime!r} does not have")
    if not key.strata:
        return named[0]
    priors, shares = zip(*key.strata, strict=True)
    if not (abs(sum(shares) - 1.0) <= 1e-5 and 0 < min(priors) <= max(priors) < 1):
        refuse(f"'strata' holds {short(key.strata)}")
    return stratified(named[0], priors, shares)
