"""Terms of criteria if most labels are missing, by the consistent estimator of the label regime.

The target's column has negative, positive, unlabeled as 0, 1, 2, so that one table of counts has both the
labeled cells and p(x) of all rows. Information with the target is the regime's estimate; a pair of features is
one variable with joint levels. Redundancy between features needs no labels (errata E9).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from blankets.counting import Counter
from blankets.data import Frame
from blankets.filters._source import Columns, Counted, Floats, Summary, entropy_of_block, information_of_block
from blankets.independence import scored_cells
from blankets.regimes import Exact, Labels, PositiveUnlabeled, Regime, SemiSupervised
from blankets.stats import POSITIVE, UNLABELED, RowScores, means_information

Layout = Callable[[NDArray[np.int32]], NDArray[np.int32]]


def _by_stratum(counts: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return counter's tables (k, x, label, strata) as label tables (k, strata, label, x)."""
    return counts.transpose(0, 3, 2, 1)


def _as_pair(counts: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return counter's tables (k, x, label, levels of xj) as label tables of the pair, (k, 1, label, x xj)."""
    k, _, n_labels, _ = counts.shape
    return counts.transpose(0, 2, 1, 3).reshape(k, 1, n_labels, -1)


class PartialLabels(Counted):
    """Information with a target that is known for only some rows.

    ``counter``: counts the data. ``target``: column of labels: 0 negative, 1 positive, 2 unlabeled. ``labels``: the
    labels. ``regime``: why labels are missing; it must be able to estimate information.

    ``contradicting``: candidates whose labeled rows contradict the given prior.

    Examples
    --------
    >>> from blankets.counting import MemoryCounter
    >>> from blankets.data import Frame
    >>> from blankets.regimes import read_labels
    >>> x, label = [0] * 60 + [1] * 40, [1] * 5 + [None] * 55 + [1] * 15 + [None] * 25
    >>> frame = Frame.from_codes(np.column_stack([x, [2 if y is None else y for y in label]]), ["x", "y"])
    >>> source = PartialLabels(MemoryCounter(frame), 1, read_labels(label), PositiveUnlabeled(prior=0.3))
    >>> float(source.relevance(np.array([0]))[0].round(4))
    0.1107
    """

    def __init__(self, counter: Counter, target: int, labels: Labels, regime: Regime) -> None:
        super().__init__(counter, target)
        self.labels, self.regime = labels, _at_expected_prior(regime, labels)
        self.contradicting: list[int] = []

    def conditional(self, xs: Columns, given: Sequence[int] = ()) -> Floats:
        """Return the regime's estimate of I(X;Y|Z) of each candidate."""
        value, contradicts = self.counter.summarize(self._estimate(_by_stratum), xs, self.target, given)
        if not len(given):
            self.contradicting += xs[contradicts > 0].tolist()
        return value

    def joint(self, xs: Columns, j: int) -> Floats:
        """Return the regime's estimate of I(X,Xj;Y) of each candidate, the pair as one variable."""
        return self.counter.summarize(self._estimate(_as_pair), xs, self.target, (j,))[0]

    def class_entropy(self, xs: Columns, j: int) -> Floats:
        """Return H(Y) by the class prior; if labeling depends on the pair (MAR-F), by Σ p(x,xj) p(y|x,xj,s=1)."""
        prior = self.regime.admissible(self.labels)
        if prior is not None:
            p = np.full(len(xs), prior.mean)
        else:
            p = self.counter.summarize(_positives_by_features, xs, self.target, (j,))[0]
        return np.asarray(entr(p) + entr(1.0 - p))

    def redundancy(self, xs: Columns, j: int) -> Floats:
        """Return I(X;Xj) of each candidate, from all rows of the population's sample."""
        if not self._apart:
            return super().redundancy(xs, j)
        return self._among_background(information_of_block(self.counter), xs, j)

    def pair_entropy(self, xs: Columns, j: int) -> Floats:
        """Return H(X,Xj) of each candidate, from all rows of the population's sample."""
        return self._among_background(entropy_of_block, xs, j) if self._apart else super().pair_entropy(xs, j)

    @property
    def _apart(self) -> bool:
        """Whether labeled rows were collected separately, so that only the others are a sample of the population."""
        return self.regime.sampling == "case-control"

    def _among_background(self, summary: Summary, xs: Columns, j: int) -> Floats:
        def of_background(counts: NDArray[np.int32]) -> tuple[Floats, ...]:
            return summary(np.ascontiguousarray(counts[:, :, UNLABELED, :, np.newaxis]))

        return self.counter.summarize(of_background, xs, self.target, (j,))[0]

    def _estimate(self, layout: Layout) -> Summary:
        def estimate(counts: NDArray[np.int32]) -> tuple[Floats, ...]:
            found = self.regime.estimate(layout(counts), self.labels)
            return found.value, np.broadcast_to(found.contradicts_prior, found.value.shape).astype(float)

        return estimate


class RowScored(Counted):
    """Information with a target that is known through scores of rows: machine labels beside gold ones, propensities.

    ``counter``: counts the data. ``target``: its column. ``frame``: all rows. ``scores``: the scores of all rows.
    """

    def __init__(self, counter: Counter, target: int, frame: Frame, scores: RowScores) -> None:
        super().__init__(counter, target)
        self.frame, self.scores = frame, scores

    def conditional(self, xs: Columns, given: Sequence[int] = ()) -> Floats:
        """Return the estimate of I(X;Y|Z) of each candidate."""
        cells = (scored_cells(self.frame, self.scores, int(x), given) for x in xs)
        return np.array([float(means_information(each).value) for each in cells])

    def class_entropy(self, xs: Columns, j: int) -> Floats:
        """Return H(Y) by the estimated share of positives."""
        p = np.full(len(xs), self.scores.positives)
        return np.asarray(entr(p) + entr(1.0 - p))


def _at_expected_prior(regime: Regime, labels: Labels) -> Regime:
    """Return the regime with its uncertain prior fixed at the mean: estimates are the same, without intervals."""
    prior = regime.admissible(labels)
    if prior is None or prior.is_exact or not isinstance(regime, PositiveUnlabeled | SemiSupervised):
        return regime
    return replace(regime, prior=Exact(prior.mean))


def _positives_by_features(counts: NDArray[np.int32]) -> tuple[Floats, ...]:
    """Return Σ p(x,xj) p(y=1|x,xj,s=1) over the cells with a labeled row."""
    tables = _as_pair(counts)[:, 0].astype(float)
    tables = tables.reshape(len(tables), 3, -1)  # each configuration of the pair, and of what drives labeling
    labeled, everyone = tables[:, :UNLABELED].sum(axis=1), tables.sum(axis=1)
    seen = labeled > 0
    share = np.divide(tables[:, POSITIVE], labeled, out=np.zeros_like(labeled), where=seen)
    return ((everyone * share).sum(axis=1) / np.where(seen, everyone, 0.0).sum(axis=1),)
