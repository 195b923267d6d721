"""How close a found blanket is to the true one, and how stable a selection is.

Conventions for 0 / 0:

- An empty answer has precision 1: it has no false member. Its recall is 0 (1 if the truth is empty too).
- An empty truth has recall 1: there was nothing to miss.
- F is 2 TP / (2 TP + FP + FN): 0 for an empty answer to a non-empty truth, 1 if both are empty.
- An average over targets is given twice: over all targets, and, for precision and distance, over the targets
  with a non-empty answer only. Published tables of PCMB fit the second form, in which an empty answer counts
  as recall 0 but is left out of precision and distance.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

from blankets.errors import ParameterError, guarded, listed

__all__ = ["Agreement", "AverageAgreement", "average", "compare", "kuncheva", "roc"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Comparison of a found set with the true one.

    Attributes
    ----------
    true_positives, false_positives, false_negatives : int
        Numbers of true members found, false members found, and true members missed.

    Examples
    --------
    >>> Agreement(true_positives=3, false_positives=1, false_negatives=0).precision
    0.75
    """

    true_positives: int
    false_positives: int
    false_negatives: int

    @property
    def empty(self) -> bool:
        """Whether nothing was found."""
        return self.true_positives + self.false_positives == 0

    @property
    def exact(self) -> bool:
        """Whether the found set is the true one."""
        return self.false_positives + self.false_negatives == 0

    @property
    def precision(self) -> float:
        """Share of the found members that are true; 1 for an empty answer."""
        return 1.0 if self.empty else self.true_positives / (self.true_positives + self.false_positives)

    @property
    def recall(self) -> float:
        """Share of the true members that were found; 1 for an empty truth."""
        true = self.true_positives + self.false_negatives
        return 1.0 if true == 0 else self.true_positives / true

    @property
    def f(self) -> float:
        """Harmonic mean of precision and recall; 0 for an empty answer to a non-empty truth."""
        both = 2 * self.true_positives + self.false_positives + self.false_negatives
        return 1.0 if both == 0 else 2 * self.true_positives / both

    @property
    def distance(self) -> float:
        """Euclidean distance of (precision, recall) from (1, 1)."""
        return math.hypot(1 - self.precision, 1 - self.recall)


@guarded
def compare(found: Iterable[Hashable], truth: Iterable[Hashable]) -> Agreement:
    """Compare a found blanket with the true one.

    Parameters
    ----------
    found, truth : iterable
        The members that were found, and the true ones.

    Returns
    -------
    Agreement
        ``precision``, ``recall``, ``f`` (their harmonic mean) and ``distance`` from the best point, where both are 1.

    Examples
    --------
    >>> from blankets.simulate.measures import compare
    >>> result = compare(found=["age", "smoker"], truth=["age", "bmi"])
    >>> result.precision, result.recall, round(result.distance, 3)
    (0.5, 0.5, 0.707)
    >>> nothing = compare(found=[], truth=["age"])
    >>> nothing.precision, nothing.recall, nothing.f
    (1.0, 0.0, 0.0)
    """
    got, true = set(found), set(truth)
    return Agreement(true_positives=len(got & true), false_positives=len(got - true), false_negatives=len(true - got))


@dataclass(frozen=True, slots=True, kw_only=True)
class AverageAgreement:
    """Means over targets.

    Attributes
    ----------
    n_targets, n_empty : int
        Number of targets, and of those with an empty answer.
    precision, recall, f, distance : float
        Means over all targets; an empty answer has precision 1.
    precision_non_empty, distance_non_empty : float
        Means over the targets with a non-empty answer; NaN if there is none.
    false_positives, false_negatives : float
        Mean numbers of false and of missed members.
    exact : float
        Share of the targets whose blanket was found exactly.

    Examples
    --------
    >>> average([compare("ab", "ab"), compare("a", "ab")]).exact
    0.5
    """

    n_targets: int
    n_empty: int
    precision: float
    recall: float
    f: float
    distance: float
    precision_non_empty: float
    distance_non_empty: float
    false_positives: float
    false_negatives: float
    exact: float


@guarded
def average(agreements: Iterable[Agreement]) -> AverageAgreement:
    """Average over targets, with both ways to treat empty answers.

    Examples
    --------
    >>> mean = average([compare("ab", "ab"), compare("", "ab")])
    >>> mean.precision, mean.recall, mean.distance, mean.distance_non_empty
    (1.0, 0.5, 0.5, 0.0)
    """
    every = list(agreements)
    if not every:
        raise ParameterError("there is nothing to average: no target was compared")
    some = [one for one in every if not one.empty]
    return AverageAgreement(
        n_targets=len(every),
        n_empty=len(every) - len(some),
        precision=fmean(one.precision for one in every),
        recall=fmean(one.recall for one in every),
        f=fmean(one.f for one in every),
        distance=fmean(one.distance for one in every),
        precision_non_empty=fmean(one.precision for one in some) if some else math.nan,
        distance_non_empty=fmean(one.distance for one in some) if some else math.nan,
        false_positives=fmean(one.false_positives for one in every),
        false_negatives=fmean(one.false_negatives for one in every),
        exact=fmean(one.exact for one in every),
    )


@guarded
def kuncheva(selections: Collection[Collection[Hashable]], n_features: int) -> float:
    """Return Kuncheva's consistency of selections of the same size k, averaged over all pairs.

    For a pair with r common features it is (r n - k^2) / (k (n - k)): 1 for equal sets, 0 on average for
    random ones.

    Parameters
    ----------
    selections : collection of collections
        At least two selections of the same size k, 0 < k < n.
    n_features : int
        Number n of features that could have been selected.

    References
    ----------
    Kuncheva (2007), A stability index for feature selection, IASTED AIA.

    Examples
    --------
    >>> kuncheva([{"a", "b"}, {"b", "c"}], n_features=4)
    0.0
    """
    sets = [set(selection) for selection in selections]
    sizes = sorted({len(one) for one in sets})
    if len(sets) < 2:
        raise ParameterError(f"consistency is about at least two selections, but there are {len(sets)}")
    if len(sizes) != 1:
        raise ParameterError(f"Kuncheva's consistency needs selections of one size, but these have {listed(sizes)}")
    k = sizes[0]
    if not 0 < k < n_features:
        raise ParameterError(f"consistency is undefined for {k} of {n_features} features: no selection can differ")
    return fmean((len(a & b) * n_features - k * k) / (k * (n_features - k)) for a, b in combinations(sets, 2))


@guarded
def roc(
    found: Mapping[float, Iterable[Hashable]], truth: Iterable[Hashable], candidates: Iterable[Hashable]
) -> dict[str, list[float]]:
    """Return the shares of true members and of other columns found, as the level α varies: a ROC curve.

    Parameters
    ----------
    found : mapping of float to iterable
        For each level α the members found with it.
    truth : iterable
        The true members.
    candidates : iterable
        All columns that could have been found.

    Returns
    -------
    dict of list
        ``alpha``, rising, and ``false_positive_rate`` and ``true_positive_rate`` at each; NaN if there is no
        true member, or no other column. `blankets.plots.plot_roc` draws it.

    Examples
    --------
    >>> from blankets.simulate.measures import roc
    >>> roc({0.05: ["a", "b", "x"], 0.01: ["a"]}, truth=["a", "b"], candidates="abxyz")["true_positive_rate"]
    [0.5, 1.0]
    """
    members, others = set(truth), set(candidates) - set(truth)
    levels = sorted(found)
    held = [set(found[alpha]) for alpha in levels]
    return {
        "alpha": levels,
        "false_positive_rate": [len(one & others) / len(others) if others else math.nan for one in held],
        "true_positive_rate": [len(one & members) / len(members) if members else math.nan for one in held],
    }
