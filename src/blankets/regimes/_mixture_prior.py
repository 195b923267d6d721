"""Estimate p(y=1) where rows of both classes are labeled, and their shares say nothing of it (class-prior change).

If labeling depends on the class alone, labeled rows of a class are like all rows of this class, so all rows are a
mixture: p(x) = π p(x|1) + (1 - π) p(x|0). For any function s of the features, its means are then mixed in the same
way, and D(π) = mean of s over all rows - π (its mean over labeled positives) - (1 - π) (over labeled negatives) is 0 at
the true π and nowhere else, if the two means differ. The function with the least variance is the derivative of the
log-likelihood, s = (r - 1) / (π r + 1 - π) with r = p(x|1) / p(x|0). r is estimated by logistic regression from labeled
rows of other folds; if it is wrong, the interval is wider, and right. The interval is that of Fieller: all π at which
D(π) is within its error, methods (3.9).

References
----------
Du Plessis & Sugiyama (2014), Semi-supervised learning of class balance under class-prior change by distribution
matching, Neural Networks 50. Saerens, Latinne & Decaestecker (2002), Adjusting the outputs of a classifier to new a
priori probabilities, Neural Computation 14. Fieller (1954), Some problems in interval estimation, JRSS B 16.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from blankets.errors import LabelError
from blankets.stats import Sampling
from blankets.voice import option

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

FEWEST = 10  # labeled rows of a class: five folds need two each
_FOLDS = 5
_GRID = np.linspace(0.0, 1.0, 4001)  # values of π that are looked at
_LEVELS = np.linspace(0.0, 1.0, 401)


def mixture_prior(
    codes: Codes, classes: NDArray[np.int16], sampling: Sampling, rng: np.random.Generator
) -> tuple[float, Floats]:
    """Return π, and quantiles of its confidence distribution at equally spaced levels.

    ``codes``: categorical features, of shape (rows, columns). ``classes``: 0, 1, or -1 for unlabeled rows.
    ``sampling``: whether labeled rows are a part of the sample, or were collected apart from it.
    """
    few = [c for c in (0, 1) if np.count_nonzero(classes == c) < FEWEST]
    if few:
        raise LabelError(
            f"p(y=1) is estimated from labeled rows of both classes, {FEWEST} of each at least; say it with "
            f"{option('prior')}"
        )
    ratio = _ratio(codes, classes, rng)
    of_all = np.ones(len(classes), bool) if sampling == "one-sample" else classes < 0
    pilot = 0.5
    for _ in range(2):
        score = (ratio - 1.0) / (pilot * ratio + 1.0 - pilot)
        t = _standardized(score, classes, of_all)
        below = ndtr(-np.minimum.accumulate(t))  # confidence that π is at most each value
        value = float(_GRID[int(np.argmin(np.abs(t)))])
        pilot = float(np.clip(value, 0.01, 0.99))
    return value, np.maximum.accumulate(np.interp(_LEVELS, below, _GRID))


def _standardized(score: Floats, classes: NDArray[np.int16], of_all: NDArray[np.bool_]) -> Floats:
    """Return D(π) over its standard error at each π of the grid."""
    n = len(classes)
    some = [of_all, classes == 1, classes == 0]
    means = [score[rows].mean() for rows in some]
    left = np.stack(
        [rows * (score - mean) * (n / rows.sum()) for rows, mean in zip(some, means, strict=True)]
    )  # what each row adds to each mean
    weights = np.stack([np.ones_like(_GRID), -_GRID, _GRID - 1.0])
    variance = np.einsum("ik,ij,jk->k", weights, left @ left.T / n**2, weights)
    return np.asarray((np.array(means) @ weights) / np.sqrt(np.maximum(variance, 1e-300)))


def _ratio(codes: Codes, classes: NDArray[np.int16], rng: np.random.Generator) -> Floats:
    """Return p(x|1) / p(x|0) of each row, by a model of labeled rows of the other folds."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import OneHotEncoder

    design = OneHotEncoder(sparse_output=False).fit_transform(codes)
    fold = np.empty(len(classes), np.int64)
    for c in (-1, 0, 1):  # each class has the same share in each fold, so that the folds' models mix alike
        rows = rng.permutation(np.flatnonzero(classes == c))
        fold[rows] = np.arange(len(rows)) % _FOLDS
    odds = np.empty(len(classes))
    for k in range(_FOLDS):
        train, rest = (classes >= 0) & (fold != k), fold == k
        model = LogisticRegression(solver="newton-cholesky").fit(design[train], classes[train])
        share = float(np.mean(classes[train]))
        odds[rest] = model.decision_function(design[rest]) - np.log(share / (1.0 - share))
    return np.asarray(np.exp(np.clip(odds, -30.0, 30.0)))
