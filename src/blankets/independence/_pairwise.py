"""Pairwise deletion: counts with the target from labeled rows, margins of features from all rows.

    G = 2 Σ_labeled O[x,y,z] ln( (O[x,y,z] / O[.,y,z])_labeled / (O[x,.,z] / O[.,.,z])_all )

which is 2 N_L times the divergence of p̂(x|y,z) among labeled rows from p̂(x|z) among all rows (errata A5). It
is the sum of two parts: the G of the labeled rows, and 2 N_L times the divergence of p̂(x|z) among labeled rows
from that among all rows. The second part does not depend on the target; it is large if labeled rows differ from
the others. So the statistic is **not chi-square in general**, and p-values are not valid. It is here for
comparison: BASSUM uses it, and statistics packages call it "available cases".

References
----------
Sechidis & Brown (2015), Markov blanket discovery in positive-unlabeled and semi-supervised data, sections 2.3, 6.
Allison (2001), Missing Data, page 8.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from blankets.counting import Counter
from blankets.independence._contract import Columns, CountedTests
from blankets.independence._evidence import EvidenceBatch
from blankets.independence._tables import TableTests


class PairwiseTests(CountedTests):
    """G tests of features against a partly labeled target by pairwise deletion.

    ``target``: the target's column; every question must involve it. ``counter``: counts of all rows, with "unlabeled"
    as the last level of the target. ``labeled``: tests on the labeled rows. They answer questions that condition on the
    target, because all counts of these involve it. They also define dof, reliability and strength: N is the number of
    labeled rows.

    Examples
    --------
    >>> from blankets.counting import MemoryCounter
    >>> from blankets.data import Frame
    >>> known = Frame.from_codes([[0, 0], [0, 0], [0, 1], [1, 0], [1, 1], [1, 1]] * 20)
    >>> whole = Frame.from_codes([[0, 0], [0, 0], [0, 1], [1, 0], [1, 1], [1, 1], [0, 2], [1, 2]] * 20)
    >>> tests = PairwiseTests(1, MemoryCounter(whole), TableTests(MemoryCounter(known)))
    >>> evidence = tests.test(0, 1)
    >>> round(evidence.statistic, 3), evidence.dof, evidence.n_rows
    (13.592, 1.0, 120)
    """

    def __init__(self, target: int, counter: Counter, labeled: TableTests) -> None:
        self.target, self.counter, self.labeled = target, counter, labeled
        self.names, self.tally, self.memo = labeled.names, labeled.tally, {}

    def scan(
        self, xs: Columns, y: int, given: Sequence[int] = (), *, even_if_unreliable: bool = False
    ) -> EvidenceBatch:
        """Test each of ``xs`` against ``y`` given one set, in one pass over the data."""
        columns, given = np.asarray(xs, np.int64), tuple(given)
        if self.target in given:
            return self.labeled.scan(columns, y, given, even_if_unreliable=even_if_unreliable)
        if y == self.target:
            return self._scan(columns, columns, y, given, every=even_if_unreliable)
        # The target is x: the same test with x and y exchanged.
        return self._scan(np.array([y]), columns, y, given, every=even_if_unreliable)

    def deepest(self, xs: Columns, y: int, among: Sequence[int]) -> int:
        """Return the bound for the labeled rows."""
        return self.labeled.deepest(xs, y, among)

    def rows_for(self, x: int, y: int, given: Sequence[int] = ()) -> float:
        """Return how many labeled rows are needed."""
        return self.labeled.rows_for(x, y, given)

    def _scan(
        self, features: NDArray[np.int64], xs: NDArray[np.int64], y: int, given: tuple[int, ...], *, every: bool
    ) -> EvidenceBatch:
        """Test features against the target; the result is about ``xs`` and ``y``."""
        labeled = self.labeled
        n_rows = labeled.counter.n_rows
        nominal = labeled._nominal(features, self.target, given)
        reliable = n_rows >= labeled.reliability * nominal
        at = np.arange(len(features)) if every else np.flatnonzero(reliable)
        statistic, dof = np.full(len(features), np.nan), np.zeros(len(features))
        statistic[at], dof[at] = self.counter.summarize(pairwise_g, features[at], self.target, given)
        self.tally.add(int(np.count_nonzero(reliable)))
        return EvidenceBatch(
            xs,
            y,
            given,
            statistic=statistic,
            dof=np.where(reliable, nominal, dof) if labeled.nominal else dof,
            n_rows=n_rows,
            reliable=reliable,
            by_effect=labeled.by_effect,
        )


def pairwise_g(counts: NDArray[np.int32]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return G by pairwise deletion and its adjusted degrees of freedom.

    ``counts`` has shape (n, levels of x, classes + 1, strata), unlabeled rows as the last class. Degrees of freedom
    count the levels of x seen among all rows of a stratum, and the classes seen among its labeled rows, as for G.

    Examples
    --------
    >>> g, dof = pairwise_g(np.array([[[[10], [20], [5]], [[30], [40], [45]]]]))
    >>> g.round(4).tolist(), dof.tolist()
    ([3.1472], [1.0])
    """
    known = counts[:, :, :-1].astype(float)
    of_x, of_class = counts.sum(axis=2, dtype=float), known.sum(axis=1)
    among_all = of_x / np.maximum(of_x.sum(axis=1, keepdims=True), 1.0)
    expected = of_class[:, np.newaxis] * among_all[:, :, np.newaxis]
    g = 2.0 * (xlogy(known, known) - xlogy(known, np.where(known > 0, expected, 1.0))).sum(axis=(1, 2, 3))
    free_x = np.maximum((of_x > 0).sum(axis=1) - 1, 0)
    free_y = np.maximum((of_class > 0).sum(axis=1) - 1, 0)
    # A sum of divergences: below 0 only by rounding.
    return np.maximum(g, 0.0), (free_x * free_y).sum(axis=1).astype(float)
