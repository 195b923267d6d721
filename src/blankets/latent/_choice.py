"""Choose the better latent blanket: by information about the target, BIC, training error, conditional likelihood.

Information is that of the *fitted model*: if the posterior used the target, a latent that copies the target would
win. Such a copy can also be fitted, so the observed-data BIC must support the winner as well.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from blankets.arguments import one_of
from blankets.latent._evidence import MOST_COLUMNS
from blankets.latent._local import Stage
from blankets.latent._rows import Floats

CRITERIA = {"mi": 1.0, "bic": 1.0, "error": -1.0, "cll": 1.0}  # sign: higher or lower is better
TIE = 1.0  # smaller differences, in nats, are "not worth more than a bare mention" (Kass & Raftery, 1995)
DOUBT = 3.0  # from this many nats on evidence is strong (the same paper)


@dataclass(frozen=True, slots=True, kw_only=True)
class Merits:
    """The scores of a model of the neighborhood."""

    mi: float  # mutual information of target and blanket in the fitted model, in nats per row
    bic: float  # observed-data BIC: latents summed out, penalty for all parameters, in nats
    error: float  # share of labeled rows whose label is not the most probable one given the features
    cll: float  # log-likelihood of the labels given the features, in nats


def merits_of(stage: Stage) -> Merits:
    """Return the merits of a fitted model.

    p(target, latents | features) comes from the fitted model, averaged over the features of the rows. It does not
    use the label of a row.
    """
    rows, target = stage.local.rows, stage.target
    unknown = [target, *stage.latents]
    joint = stage.network().posterior(
        np.concatenate([rows.codes, np.zeros((len(stage.arities), len(rows.weights)), np.int32)]), unknown
    )
    joint = joint.reshape(joint.shape[0], -1, joint.shape[-1])  # target, latents, rows
    shares = rows.weights / rows.total
    prior = joint.sum(axis=1) @ shares
    given_features = joint.sum(axis=1)
    given_all = joint / np.maximum(joint.sum(axis=0), 1e-300)
    uncertainty = -float(np.sum(joint * _log(given_all) * shares))
    shown = stage.local.labeled
    labels, weights = rows.codes[target, shown], rows.weights[shown]
    predicted = given_features[:, shown]
    right = predicted.argmax(axis=0) == labels
    return Merits(
        mi=max(_entropy(prior) - uncertainty, 0.0),
        bic=stage.fit.bic,
        error=1.0 - float(weights @ right) / max(float(weights.sum()), 1e-300),
        cll=float(weights @ _log(predicted[labels, np.arange(len(labels))])),
    )


def _log(values: Floats) -> Floats:
    logs: Floats = np.log(np.maximum(values, 1e-300))
    return logs


def better(one: Merits, two: Merits, criterion: str) -> bool:
    """Whether ``one`` is better than ``two``; for equal scores, by the higher BIC."""
    one_of("score", criterion, CRITERIA)
    sign = CRITERIA[criterion]
    first, second = sign * getattr(one, criterion), sign * getattr(two, criterion)
    return (first, one.bic) > (second, two.bic) if math.isclose(first, second, abs_tol=1e-12) else first > second


def bic_can_tell(before: Stage, states: int) -> bool:
    """Whether the observed-data BIC can support one more latent.

    With too few observed columns (two binary members) it cannot, even if there is a latent: a common cause of all of
    them has as many parameters as their unrestricted table, and can at best have the same BIC.
    """
    columns = before.local.rows.arities
    return bool(before.arities) or len(columns) > MOST_COLUMNS or can_be_tested(columns, states)


def can_be_tested(arities: Iterable[int], states: int) -> bool:
    """Whether a latent behind all observed columns needs fewer parameters than their unrestricted table.

    >>> can_be_tested([2, 2, 2], 2), can_be_tested([2, 2, 2, 2], 2), can_be_tested([3, 3, 2], 2)
    (False, True, True)
    """
    observed = [int(arity) for arity in arities]
    return states - 1 + states * sum(arity - 1 for arity in observed) < math.prod(observed) - 1


def joint_with_target(stage: Stage, latent: int) -> Floats:
    """Return the fitted joint distribution of the target and a latent, shape (levels, states)."""
    t = stage.target
    joint = np.zeros((int(stage.space.arities[t]), int(stage.space.arities[latent])))
    np.add.at(joint, (stage.space.codes[t], stage.space.codes[latent]), stage.fit.weights / stage.space.total)
    return joint


def shared_information(joint: Floats) -> float:
    """Return the mutual information of a joint distribution of two variables, in nats.

    >>> round(shared_information(np.array([[0.5, 0.0], [0.0, 0.5]])), 4)
    0.6931
    """
    return max(_entropy(joint.sum(axis=0)) + _entropy(joint.sum(axis=1)) - _entropy(joint), 0.0)


def _entropy(shares: Floats) -> float:
    return -float(np.sum(shares * _log(shares)))


def shared_with_target(stage: Stage) -> float:
    """Return the information shared by the newest latent and the target, as a share of the larger entropy.

    It is 1 for a copy.
    """
    joint = joint_with_target(stage, stage.latents[-1])
    return shared_information(joint) / max(_entropy(joint.sum(axis=0)), _entropy(joint.sum(axis=1)), 1e-12)
