"""What each label regime offers a planner: its surrogates, their κ, and what labels are counted in.

The surrogate that is always the most powerful of its regime comes first: the first of equals is kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from blankets.errors import NotAnswerableError, ParameterError
from blankets.planning._answer import Candidate
from blankets.planning._kappa import kappa_case_control, kappa_mcar_y0, kappa_mcar_y1, kappa_y0, kappa_y1
from blankets.planning._question import Amount, as_amount
from blankets.planning._setting import Floats, LabelDesign

__all__ = ["DESIGNS", "candidates_for", "read_regime", "stratified"]

_SCAR = "Which positives carry a label depends on nothing but their being positive."
_BY_CLASS = "Whether a row carries a label depends on its class alone."
_AT_RANDOM = "Whether a row carries a label depends on neither its class nor its features."
_APART = "The labelled positives are a random sample of all positives, collected apart from the background rows."
_WEAK = " κ is exact for X², and for G in the limit of weak effects; at practical ones it is a few per cent high."
_VERY_WEAK = (
    " κ is exact for X², but for G only in the limit of very weak effects: the power of G can be off by 0.1 either "
    "way, so prefer X² or simulate."
)
_Y0 = "counts unlabelled rows as negatives (Ỹ0)"
_Y1 = "counts unlabelled rows as positives (Ỹ1)"


def _everything(prior: Floats) -> Floats:
    return np.ones_like(prior)


def _negatives(prior: Floats) -> Floats:
    return 1.0 - prior


def _half(prior: Floats) -> Floats:
    # Labelled and background rows are compared with each other: more than half of either is waste.
    return np.full_like(prior, 0.5)


def _labelled_alone(share: Floats, prior: Floats) -> Floats:
    return np.broadcast_to(share, np.broadcast_shapes(np.shape(share), np.shape(prior)))


_FULL = LabelDesign(
    surrogate="full",
    counts="labelled rows",
    kappa=_labelled_alone,
    words="uses all rows",
    possible_share=_everything,
)
_POSITIVES = LabelDesign(
    surrogate="y0",
    counts="labelled positives",
    kappa=kappa_y0,
    words=_Y0,
    possible_share=np.positive,
    safe_side="overestimate",
    assumption=_SCAR + _WEAK,
)
_NEGATIVES = LabelDesign(
    surrogate="y1",
    counts="labelled negatives",
    kappa=kappa_y1,
    words=_Y1,
    possible_share=_negatives,
    safe_side="underestimate",
    assumption=_BY_CLASS + _VERY_WEAK,
)
_LISTWISE = LabelDesign(
    surrogate="listwise",
    counts="labelled rows",
    kappa=_labelled_alone,
    words="uses the labelled rows alone",
    possible_share=_everything,
    assumption=_AT_RANDOM,
)

DESIGNS: Mapping[str, tuple[LabelDesign, ...]] = MappingProxyType(
    {
        "supervised": (_FULL,),
        "pu": (_POSITIVES,),
        "pu-case-control": (
            replace(
                _POSITIVES,
                kappa=kappa_case_control,
                possible_share=_everything,
                useful_share=_half,
                assumption=_APART + _WEAK,
            ),
        ),
        "mcar": (
            _LISTWISE,
            # The third value "missing" costs as many degrees of freedom again (ERRATA B14).
            replace(_LISTWISE, surrogate="ym", dof_factor=2.0, words="counts a missing label as a third value (Ỹm)"),
            replace(
                _LISTWISE,
                surrogate="y0",
                kappa=kappa_mcar_y0,
                words=_Y0,
                safe_side="overestimate",
                assumption=_AT_RANDOM + _WEAK,
            ),
            replace(
                _LISTWISE,
                surrogate="y1",
                kappa=kappa_mcar_y1,
                words=_Y1,
                safe_side="underestimate",
                assumption=_AT_RANDOM + _VERY_WEAK,
            ),
        ),
        "mar-c": (replace(_POSITIVES, assumption=_BY_CLASS + _WEAK), _NEGATIVES),
    }
)


def read_regime(labels: Any, prior: Any) -> tuple[str, Any]:
    return str(labels), prior


def candidates_for(
    kind: str, *, surrogate: str | None, labelled: object, solving_rows: bool, has_prior: bool
) -> list[Candidate]:
    """Return the surrogates that can answer, each with its own amount of labels.

    Parameters
    ----------
    kind : str
        A key of `DESIGNS`.
    surrogate : str, optional
        Only this one.
    labelled : number, mapping or None
        An amount of labels, or (MAR-C) one for each class; None if it is the unknown.
    solving_rows : bool
        Whether the number of rows is the unknown.
    has_prior : bool
        Whether anything is known of p(y=1).
    """
    designs = DESIGNS[kind]
    if surrogate is not None:
        designs = tuple(design for design in designs if design.surrogate == surrogate)
        if not designs:
            raise ParameterError.not_one_of("surrogate", surrogate, (d.surrogate for d in DESIGNS[kind]))
    known = tuple(design for design in designs if has_prior or not design.safe_side)
    if not known:
        raise NotAnswerableError(
            f"the power of a test that {designs[0].words} depends on p(y=1), the share of positives among all rows, "
            "and nothing is known of it; give 'prior' as a number, an upper bound or a distribution"
        )
    candidates = [Candidate(d, amount) for d, amount in _amounts(known, kind, labelled)]
    for candidate in candidates:
        _check_amount(candidate, kind, solving_rows=solving_rows)
    return candidates


def _amounts(designs: tuple[LabelDesign, ...], kind: str, labelled: object) -> list[tuple[LabelDesign, Amount | None]]:
    """Pair each surrogate with the labels that it counts."""
    if kind == "supervised":
        if labelled is not None:
            raise ParameterError(
                "all rows are labelled under 'supervised'; leave 'labelled' out, or name another regime"
            )
        return [(design, Amount(1.0, is_count=False)) for design in designs]
    if labelled is None:
        return [(design, None) for design in designs]
    if isinstance(labelled, Mapping):
        by_unit = {design.counts: design for design in designs}
        names = {unit.removeprefix("labelled "): unit for unit in by_unit}
        if wrong := [str(name) for name in labelled if name not in names]:
            raise ParameterError.not_one_of("kind of label", wrong[0], names)
        return [(by_unit[names[name]], as_amount(amount)) for name, amount in labelled.items()]
    if len({design.counts for design in designs}) > 1:
        raise ParameterError(
            "labels may be positives or negatives here; give labelled={'positives': ..., 'negatives': ...}, or choose "
            "surrogate='y0' (counts positives) or 'y1' (counts negatives)"
        )
    amount = as_amount(labelled)
    return [(design, amount) for design in designs]


def _check_amount(candidate: Candidate, kind: str, *, solving_rows: bool) -> None:
    amount = candidate.labelled
    if amount is None:
        return
    if amount.is_count and solving_rows and kind != "pu-case-control":
        raise ParameterError(
            f"with a fixed number of {candidate.design.counts} further rows do not raise the power; give 'labelled' as "
            "a share of all rows (such as 0.05), or give 'rows' and leave 'labelled' out"
        )


def stratified(design: LabelDesign, priors: Sequence[float], shares: Sequence[float]) -> LabelDesign:
    """Return the design with κ averaged over strata, Σ w_z κ_z (ERRATA B4).

    κ_z is κ with p(y=1|z) for the prior and, where a class is labelled with some probability, with the
    share of the stratum's rows that this makes labelled.

    Parameters
    ----------
    design : LabelDesign
        The unconditional one.
    priors : sequence of float
        p(y=1|z) in each stratum.
    shares : sequence of float
        Share of the effect in each stratum, p(z) I(X;Y|z) / I(X;Y|Z).
    """

    def kappa(share: Floats, prior: Floats) -> Floats:
        rate = share / design.possible_share(prior)  # probability that a row of the class is labelled
        each = [
            w * design.kappa(rate * design.possible_share(np.asarray(p)), np.asarray(p))
            for p, w in zip(priors, shares, strict=True)
        ]
        return np.asarray(sum(each))

    return replace(design, kappa=kappa, stratified=True)
