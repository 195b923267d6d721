"""The criteria of information filters, one expression each.

A criterion scores the candidates X given the features S selected so far. It consists of the *term* that a
newly selected feature Xj adds for every candidate, the way terms are combined (mostly a running sum), and
the *score* from relevance I(X;Y), combined terms and |S|. Selecting k of d features then takes O(k d)
tables, not O(k² d). For every criterion the first feature is the one with the largest I(X;Y) (errata E2).

References
----------
Brown, Pocock, Zhao & Luján (2012), Conditional likelihood maximization: a unifying framework for information
theoretic feature selection, Journal of Machine Learning Research 13, 27-66.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from blankets.errors import ParameterError
from blankets.filters._source import Columns, Floats, InformationSource


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of redundancy (``beta``) and of redundancy given the class (``gamma``), for criteria that have them."""

    beta: float = 1.0
    gamma: float = 0.0


Term = Callable[[InformationSource, Columns, Sequence[int], Weights], Floats]
Gather = Callable[[Floats, Floats], Floats]
Score = Callable[[Floats, Floats, int], Floats]


def _latest(_: Floats, term: Floats) -> Floats:
    return term


def _relevance_and_terms(relevance: Floats, terms: Floats, _: int) -> Floats:
    return relevance + terms


def _terms(_: Floats, terms: Floats, __: int) -> Floats:
    return terms


@dataclass(frozen=True, slots=True)
class Criterion:
    """How candidates are scored."""

    name: str  # as users write it
    formula: str  # the score of X given the selected features Xj in S
    reference: str  # the paper
    # function of source, candidates, selected features (the newest last) and weights: the term of the newest; None
    # if scores do not depend on the selected features
    term: Term | None = None
    score: Score = _relevance_and_terms  # function of I(X;Y), combined terms and |S|: the score
    gather: Gather = np.add  # combines the terms so far with the new ones
    start: float = 0.0  # first value of the combined terms
    weights: tuple[str, ...] = ()  # the weights that the user may set
    # Whether information among features is weighed against information about the target: then both must be whole.
    mixes: bool = False


CRITERIA: dict[str, Criterion] = {
    criterion.name: criterion
    for criterion in (
        Criterion(
            "cife",
            "I(X;Y) - Σ I(X;Xj) + Σ I(X;Xj|Y)",
            "Lin & Tang (2006), Conditional infomax learning, ECCV",
            lambda source, xs, selected, _: source.interaction(xs, selected[-1]),
            mixes=True,
        ),
        Criterion(
            "cmi",
            "I(X;Y|S)",
            "Brown et al. (2012); needs rows for every configuration of S",
            lambda source, xs, selected, _: source.conditional(xs, selected),
            score=_terms,
            gather=_latest,
        ),
        Criterion(
            "cmim",
            "min I(X;Y|Xj)",
            "Fleuret (2004), Fast binary feature selection with conditional mutual information, JMLR 5",
            lambda source, xs, selected, _: source.conditional(xs, selected[-1:]),
            score=_terms,
            gather=np.minimum,
            start=np.inf,
        ),
        Criterion(
            "condred",
            "I(X;Y) + Σ I(X;Xj|Y)",
            "Brown et al. (2012), conditional redundancy alone",
            lambda source, xs, selected, _: source.redundancy_given_class(xs, selected[-1]),
            mixes=True,
        ),
        Criterion(
            "disr",
            "Σ I(X,Xj;Y) / H(X,Xj,Y)",
            "Meyer & Bontempi (2006), On the use of variable complementarity, EvoWorkshops",
            lambda source, xs, selected, _: _symmetric_relevance(source, xs, selected[-1]),
            score=_terms,
        ),
        Criterion(
            "icap",
            "I(X;Y) - Σ max(0, I(X;Xj) - I(X;Xj|Y))",
            "Jakulin (2005), Machine learning based on attribute interactions, PhD thesis",
            lambda source, xs, selected, _: np.minimum(source.interaction(xs, selected[-1]), 0.0),
            mixes=True,
        ),
        Criterion(
            "jmi",
            "Σ I(X,Xj;Y)",
            "Yang & Moody (1999), Data visualization and feature selection, NIPS",
            lambda source, xs, selected, _: source.joint(xs, selected[-1]),
            score=_terms,
        ),
        Criterion(
            "linear",
            "I(X;Y) - beta Σ I(X;Xj) + gamma Σ I(X;Xj|Y)",
            "Brown et al. (2012), the family of which mim, mifs, cife and condred are members",
            lambda source, xs, selected, w: (
                w.gamma * source.redundancy_given_class(xs, selected[-1]) - w.beta * source.redundancy(xs, selected[-1])
            ),
            weights=("beta", "gamma"),
            mixes=True,
        ),
        Criterion(
            "mifs",
            "I(X;Y) - beta Σ I(X;Xj)",
            "Battiti (1994), Using mutual information for selecting features, IEEE Trans. Neural Networks 5",
            lambda source, xs, selected, w: -w.beta * source.redundancy(xs, selected[-1]),
            weights=("beta",),
            mixes=True,
        ),
        Criterion("mim", "I(X;Y)", "Lewis (1992), Feature selection for text categorization, HLT"),
        Criterion(
            "mrmr",
            "I(X;Y) - Σ I(X;Xj) / |S|",
            "Peng, Long & Ding (2005), IEEE Trans. Pattern Analysis and Machine Intelligence 27",
            lambda source, xs, selected, _: source.redundancy(xs, selected[-1]),
            score=lambda relevance, terms, n: relevance - terms / n,
            mixes=True,
        ),
    )
}
"""Every criterion under the name that users write."""


def _symmetric_relevance(source: InformationSource, xs: Columns, j: int) -> Floats:
    """Return I(X,Xj;Y) / H(X,Xj,Y)."""
    joint = source.joint(xs, j)
    return np.asarray(joint / (source.pair_entropy(xs, j) + source.class_entropy(xs, j) - joint))


def find_criterion(name: str) -> Criterion:
    """Return the criterion with this name, in upper or lower case.

    Examples
    --------
    >>> find_criterion("mRMR").formula
    'I(X;Y) - Σ I(X;Xj) / |S|'
    >>> find_criterion("jmii")
    Traceback (most recent call last):
    blankets.errors.ParameterError: unknown criterion 'jmii'; did you mean 'jmi'? choose from ...
    """
    key = str(name).strip().lower()
    if key not in CRITERIA:
        raise ParameterError.not_one_of("criterion", name, CRITERIA)
    return CRITERIA[key]


def weights_for(criterion: Criterion, beta: float | None = None, gamma: float | None = None) -> Weights:
    """Return the weights of a criterion; refuse weights that it does not have, or that are missing.

    Examples
    --------
    >>> weights_for(find_criterion("mifs"), beta=0.5)
    Weights(beta=0.5, gamma=0.0)
    """
    given = {name: value for name, value in (("beta", beta), ("gamma", gamma)) if value is not None}
    for name, value in given.items():
        if name not in criterion.weights:
            takers = " or ".join(repr(other.name) for other in CRITERIA.values() if name in other.weights)
            raise ParameterError(
                f"{name!r} is no weight of {criterion.name!r}, which is {criterion.formula}; it is one of {takers}"
            )
        if not np.isfinite(value) or value < 0:
            raise ParameterError.out_of_range(name, value, "a weight, 0 or more")
    lacking = [name for name in criterion.weights if name not in given]
    if len(criterion.weights) > 1 and lacking:
        raise ParameterError(
            f"criterion {criterion.name!r}, {criterion.formula}, needs {' and '.join(map(repr, lacking))}"
        )
    return Weights(**{name: float(value) for name, value in given.items()})
