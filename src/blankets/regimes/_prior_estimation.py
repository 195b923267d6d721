"""Estimate an unknown p(y=1) from positive-unlabeled data; for labels of both classes see `_mixture_prior`.

No method can do this without an assumption that the data cannot confirm. These estimate the label
frequency c = p(s=1|y=1), and then p(y=1) = p(s=1) / c:

* ``roc`` assumes that *some* recognizable group of rows is all positive: the share of labeled rows among them
  is c, and no group can have a larger share. A model ranks rows by how likely they are labeled; c is the largest
  lower confidence bound of that share over the top rows (Blanchard, Lee & Scott 2010; Scott 2015).
* ``tice`` assumes the same; the groups are those of a tree grown in a fifth of the rows, and the bound, over the
  other rows, is Chebyshev's (Bekker & Davis 2018).
* ``elkan-noto`` assumes that *every* positive can be recognized for certain: c is then the mean of
  p(s=1|x) over labeled rows. If classes overlap, c is too small, and p(y=1) too large (Elkan & Noto 2008).

All assume that every positive has the same chance to be labeled. All tend to be too large, which is the safe side
for planning (more rows or labels than needed, not fewer). Simulated, 10,000 rows, true p(y=1) of 0.1, 0.2 and 0.4,
a third of the positives recognizable: roc 0.11, 0.21, 0.41; tice 0.16, 0.30, 0.50; elkan-noto 0.25, 0.40, 0.64.
The uncertainty comes from the bootstrap: it covers chance, not a false assumption.

References
----------
Bekker & Davis (2018), Estimating the class prior in positive and unlabeled data through decision tree
induction, AAAI. Blanchard, Lee & Scott (2010), Semi-supervised novelty detection, JMLR 11. Elkan & Noto (2008),
Learning classifiers from only positive and unlabeled data, KDD. Scott (2015), A rate of convergence for mixture
proportion estimation, AISTATS.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count, islice

import numpy as np
from numpy.typing import ArrayLike, NDArray

from blankets.arguments import generator_from, one_of, whole_number
from blankets.errors import DataError, LabelError, ParameterError, guarded
from blankets.records import named
from blankets.regimes._labels import Labels
from blankets.regimes._mixture_prior import mixture_prior
from blankets.regimes._prior import Prior
from blankets.stats import Sampling, plug_in

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_SOME_GROUP = "some recognizable group of rows is all positive, and every positive has the same chance of a label"
ASSUMPTIONS = {
    "roc": _SOME_GROUP,
    "tice": _SOME_GROUP,
    "elkan-noto": "every positive can be recognized from its features, and has the same chance of a label",
    "mixture": "labeled rows of each class are like all rows of this class",
}
_FOLDS = 5
_MOST_SPLITS = 200
_FEWEST_ROWS = 10  # smaller groups are not used
_ROC_LEVEL = 0.05
_PSEUDO_ROWS = 5.0  # unlabeled rows added to each group so that tiny groups do not look best


@guarded
@named
@dataclass(frozen=True, slots=True, eq=False)
class EstimatedPrior(Prior):
    """An estimate of p(y=1), with its bootstrap distribution."""

    value: float  # the estimate
    draws: Floats  # estimates from resampled rows, ascending
    method: str  # "roc", "tice", "elkan-noto" or "mixture"

    def __post_init__(self) -> None:
        one_of("method", self.method, ASSUMPTIONS)
        draws = np.asarray(self.draws, float)
        if not len(draws) or not ((np.diff(draws) >= 0).all() and 0 <= draws[0] <= draws[-1] <= 1):
            raise ParameterError.out_of_range("draws", self.draws, "a list of probabilities, ascending")
        object.__setattr__(self, "draws", draws)

    @property
    def assumption(self) -> str:
        """What the method assumes."""
        return ASSUMPTIONS[self.method]

    @property
    def mean(self) -> float:
        """The estimate itself."""
        return self.value

    @property
    def support(self) -> tuple[float, float]:
        """Smallest and largest bootstrap estimate."""
        return float(self.draws[0]), float(self.draws[-1])

    def cdf(self, value: ArrayLike) -> Floats:
        """Return the share of bootstrap estimates below a value."""
        levels = np.linspace(0.0, 1.0, len(self.draws))
        return np.asarray(np.interp(np.asarray(value, float), self.draws, levels, left=0.0, right=1.0))

    def ppf(self, probability: ArrayLike) -> Floats:
        """Return a quantile of the bootstrap estimates."""
        return np.asarray(np.quantile(self.draws, np.asarray(probability, float)))

    @property
    def at_most(self) -> float:
        """The upper 95% bound. It holds without the assumption too: where classes overlap, all methods are too high."""
        return float(self.ppf(0.95))

    def __str__(self) -> str:
        low = float(self.ppf(0.05))
        if self.method == "mixture":
            return f"about {self.value:.3g} (90% {low:.3g} to {self.at_most:.3g}), assuming that {self.assumption}"
        return (
            f"about {self.value:.3g} (90% {low:.3g} to {self.at_most:.3g}), estimated by {self.method} assuming that "
            f"{self.assumption}; if classes overlap everywhere, only at most {self.at_most:.3g} is known"
        )


def estimate_prior(
    features: ArrayLike,
    labels: Labels,
    *,
    method: str = "auto",
    sampling: Sampling = "one-sample",
    n_resamples: int = 30,
    n_features: int = 30,
    rng: np.random.Generator | int | None = None,
) -> EstimatedPrior:
    """Estimate p(y=1) from positive-unlabeled data, or from labels of both classes that depend on the class.

    Parameters
    ----------
    features : array_like of int of shape (rows, columns)
        Codes 0, 1, ... of categorical features.
    labels : Labels
        Positives and unlabeled rows, or rows of both classes and unlabeled ones.
    method : {"auto", "roc", "tice", "elkan-noto", "mixture"}
        See the text at the top of this module; "mixture", of `_mixture_prior`, is for labels of both classes. "auto":
        "roc" or "mixture", as the labels are.
    sampling : {"one-sample", "case-control"}
        Whether the labeled rows are part of the sample or were collected separately.
    n_resamples : int
        Number of resamples for the uncertainty.
    n_features : int
        Use only this many features: those with the most information about being labeled.
    rng : numpy.random.Generator, int or None
        Generator or seed.

    Returns
    -------
    EstimatedPrior
        A `Prior`: give it to ``PositiveUnlabeled(prior=...)``, and its uncertainty goes into κ, intervals
        and plans.

    Examples
    --------
    A fifth of the rows is positive, and half of these are recognized by x = 2; 30% are labeled.

    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(5_000) < 0.2
    >>> x = np.where(y & (rng.random(5_000) < 0.5), 2, rng.integers(0, 2, 5_000))
    >>> labels = Labels(np.where(y & (rng.random(5_000) < 0.3), 1, -1).astype(np.int16), (0, 1))
    >>> prior = estimate_prior(x[:, np.newaxis], labels, n_resamples=5, rng=1)
    >>> 0.17 < prior.value < 0.24
    True
    """
    both = labels.n_seen_classes == 2
    method = ("mixture" if both else "roc") if method == "auto" else method
    one_of("method to estimate the prior", method, ["mixture"] if both else METHODS)
    whole_number("n_resamples", n_resamples, 2)
    whole_number("n_features", n_features, 1)
    codes = _checked(features, labels)
    if both:
        known = labels.labeled
        telling = _most_telling(codes[known], labels.codes[known] == 1, n_features)
        value, draws = mixture_prior(codes[:, telling], labels.codes, sampling, generator_from(rng))
        return EstimatedPrior(value, draws, method)
    labeled = labels.codes == 1
    codes = codes[:, _most_telling(codes, labeled, n_features)]
    generator = generator_from(rng)
    n = len(codes)
    folds = generator.permutation(n) % _FOLDS  # by row, so that copies of a row are in the same fold in a resample

    def once(weights: Floats) -> float:
        frequency = METHODS[method](codes, labeled, weights, folds)
        return _prior_of(frequency, float(weights[labeled].sum() / weights.sum()), sampling)

    value = once(np.ones(n))
    drawn = (np.bincount(generator.integers(0, n, n), minlength=n).astype(float) for _ in range(100 * n_resamples))
    resamples = islice((weights for weights in drawn if 0 < weights @ labeled < n), n_resamples)  # rows of both kinds
    return EstimatedPrior(value, _centered([once(weights) for weights in resamples], value), method)


def _centered(draws: list[float], value: float) -> Floats:
    """Return the draws, ascending, shifted on the logit scale so that they are centered at the estimate.

    A maximum over groups, and a model, fit a resample with its repeated rows better than they fit new rows.
    So the spread of the bootstrap is right, but its center is not.
    """
    from scipy.special import expit, logit

    shifted = logit(np.sort(draws))
    return np.asarray(expit(shifted - np.median(shifted) + logit(value)))


def _prior_of(frequency: float, share: float, sampling: Sampling) -> float:
    """Return p(y=1) from the largest share of labels that a group of rows can have.

    One sample: p(s=1) / c. Collected separately: in a group of only positives the odds of a label are
    n₁ / (n₀ p(y=1)).
    """
    c = float(np.clip(frequency, 1e-6, 1.0 - 1e-6))
    prior = share / c if sampling == "one-sample" else (1.0 - c) / c * share / (1.0 - share)
    least = share if sampling == "one-sample" else 1e-6
    return float(np.clip(prior, least, 1.0 - 1e-6))


def _checked(features: ArrayLike, labels: Labels) -> Codes:
    codes = np.asarray(features)
    if codes.ndim != 2 or codes.shape[1] == 0 or codes.dtype.kind not in "iu":
        raise DataError(f"features must be integer codes of shape (rows, columns), but have shape {codes.shape}")
    if len(codes) != len(labels):
        raise DataError(f"there are {len(codes)} rows of features, but {len(labels)} of labels")
    if not labels.is_binary or not labels.counts[1] or not labels.n_unlabeled:
        raise LabelError("the prior is estimated from positives and unlabeled rows; these labels are of another kind")
    return codes.astype(np.int64)


def _most_telling(codes: Codes, labeled: NDArray[np.bool_], most: int) -> Codes:
    """Return the columns with the most information about being labeled, strongest first."""
    width = int(codes.max()) + 1
    tables = np.stack([_table(column, labeled, width) for column in codes.T])
    estimate = plug_in(tables[:, np.newaxis])
    bias = estimate.scale * estimate.dof
    return np.argsort(bias - estimate.value, kind="stable")[:most]


def _table(column: Codes, labeled: NDArray[np.bool_], width: int) -> Floats:
    return np.bincount(column + width * labeled, minlength=2 * width).reshape(2, width).astype(float)


def _tice(codes: Codes, labeled: NDArray[np.bool_], weights: Floats, folds: Codes) -> float:
    """Return the label frequency by trees, averaged over folds; a first round gives the variance for the second."""
    offsets = np.concatenate([[0], np.cumsum(codes.max(axis=0)[:-1] + 1)])
    flat = codes + offsets
    frequency = 0.5
    for _ in range(2):
        bounds = [_tree(flat, labeled, weights, folds == fold, frequency) for fold in range(_FOLDS)]
        frequency = float(np.mean(bounds))
    return frequency


def _tree(
    flat: Codes, labeled: NDArray[np.bool_], weights: Floats, growing: NDArray[np.bool_], frequency: float
) -> float:
    """Return the largest lower bound of the share of labels, over groups that a best-first tree finds."""
    n_items = int(flat.max()) + 1
    column_of = np.zeros(n_items, np.int64)
    column_of[flat.max(axis=0)] = 1
    column_of = np.concatenate([[0], np.cumsum(column_of)[:-1]])
    order = count()
    root = np.flatnonzero(weights > 0)
    best = float(np.average(labeled, weights=weights))  # c is at least p(s=1), without any group
    queue = [(0.0, next(order), root)]
    for _ in range(_MOST_SPLITS):
        if not queue:
            break
        rows = heapq.heappop(queue)[2]
        inner = rows[growing[rows]]
        items = flat[inner]
        total = np.bincount(items.ravel(), np.repeat(weights[inner], flat.shape[1]), n_items)
        hits = np.bincount(items.ravel(), np.repeat(weights[inner] * labeled[inner], flat.shape[1]), n_items)
        promise = np.where(total > 0, hits / (total + _PSEUDO_ROWS), 0.0)
        # A column with a single level in the group cannot split it.
        promise[total >= weights[inner].sum()] = 0.0
        item = int(np.argmax(promise))
        if promise[item] <= 0.0:
            continue
        column = column_of[item]
        for level in np.flatnonzero((column_of == column) & (hits > 0) & (total >= _FEWEST_ROWS)):
            part = rows[flat[rows, column] == level]
            best = max(best, _bound(part, labeled, weights, growing, frequency))
            heapq.heappush(queue, (-float(promise[level]), next(order), part))
    return best


def _bound(
    rows: Codes, labeled: NDArray[np.bool_], weights: Floats, growing: NDArray[np.bool_], frequency: float
) -> float:
    """Return the one-sided Chebyshev bound of the share of labels among the rows that did not grow the tree."""
    held_out = rows[~growing[rows]]
    n = float(weights[held_out].sum())
    if n < _FEWEST_ROWS:
        return 0.0
    share = float((weights[held_out] * labeled[held_out]).sum()) / n
    delta = max(0.025, 1.0 / (1.0 + 0.004 * float(weights.sum())))
    independent = n**2 / float((weights[held_out] ** 2).sum())  # effective number of rows if a resample repeats some
    return share - float(np.sqrt(frequency * (1.0 - frequency) * (1.0 - delta) / (delta * independent)))


def _predicted(codes: Codes, labeled: NDArray[np.bool_], weights: Floats, folds: Codes) -> Floats:
    """Return p(s=1|x) of each row, predicted by a model fitted without this row."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import OneHotEncoder

    design = OneHotEncoder(sparse_output=False).fit_transform(codes)
    predicted = np.zeros(len(codes))
    for fold in range(_FOLDS):
        train, rest = (folds != fold) & (weights > 0), folds == fold
        if not labeled[train].any() or labeled[train].all():
            raise LabelError("there are too few labeled or unlabeled rows to estimate the prior from")
        model = LogisticRegression(solver="newton-cholesky").fit(design[train], labeled[train], weights[train])
        predicted[rest] = model.predict_proba(design[rest])[:, 1]
    return predicted


def _elkan_noto(codes: Codes, labeled: NDArray[np.bool_], weights: Floats, folds: Codes) -> float:
    """Return the mean of p(s=1|x) over labeled rows."""
    return float(np.average(_predicted(codes, labeled, weights, folds)[labeled], weights=weights[labeled]))


def _roc(codes: Codes, labeled: NDArray[np.bool_], weights: Floats, folds: Codes) -> float:
    """Return the largest lower bound of the share of labels among the rows that a model ranks first.

    That share is p(s=1) times the slope from the origin to a point of the ROC curve of labeled against all.
    """
    predicted = np.round(_predicted(codes, labeled, weights, folds), 9)
    order = np.argsort(-predicted, kind="stable")
    order = order[weights[order] > 0]
    weight = weights[order]
    # Rows with the same prediction enter together; otherwise the order of the table would matter.
    last = np.append(np.diff(predicted[order]) != 0, True)
    rows, hits = np.cumsum(weight), np.cumsum(weight * labeled[order])
    independent = rows / np.cumsum(weight**2)  # less than one where a resample repeats rows
    rows, hits = rows * independent, hits * independent
    enough = last & (rows >= _FEWEST_ROWS) & (hits > 0)
    from scipy.special import betaincinv

    bounds = betaincinv(hits[enough], rows[enough] - hits[enough] + 1.0, _ROC_LEVEL)  # Clopper-Pearson
    return float(max(bounds.max(initial=0.0), np.average(labeled, weights=weights)))


METHODS: dict[str, Callable[[Codes, NDArray[np.bool_], Floats, Codes], float]] = {
    "roc": _roc,
    "tice": _tice,
    "elkan-noto": _elkan_noto,
}
