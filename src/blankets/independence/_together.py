"""`TogetherTests`: columns that belong together are tested as one, such as the dummies of one variable.

A group has one *speaker*, its first column; algorithms see only that one. A test of the speaker is the joint test of
its group, and a set with the speaker holds all of it. With x = (x1, ..., xk) the chain rule gives

    x independent of y given z   exactly if   each xi is independent of y given z and x1, ..., x(i-1)

(contraction, decomposition and weak union), and the same on the side of y. So a joint test is several tests of the
columns, and holds for any test with `scan`. Information adds up along the chain. Under independence the links have
independent p-values (parts of one likelihood ratio, each given the parts before), and are combined after
Lancaster (1961): each p-value becomes the chi-square value with its own degrees of freedom, and these add up. Where
the links are likelihood-ratio tests by the chi-square formula, the sum is the likelihood ratio of the joint test.

Where all columns of a group are categories, the tests below may have a column of their combinations. Then one test
takes the place of the chain, and strata are the combinations that exist: three dummies make three strata, not eight.

References
----------
Lancaster (1961), The combination of probabilities: an application of orthonormal functions, Australian Journal of
Statistics 3(1), 20-33.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Self, Unpack

import numpy as np
from numpy.typing import NDArray

from blankets.independence._contract import Columns, IndependenceTest, Sets, side_by_side
from blankets.independence._evidence import EvidenceBatch, Given
from blankets.independence._layer import Layer
from blankets.stats import chi2_isf, log_chi2_sf

_SMALL = -600.0  # log p-values below this have no p-value to invert: there the statistic itself is used


class TogetherTests(Layer):
    """Other tests, in which some columns speak for groups.

    ``tests``: the tests to ask. ``parts``: for each speaker the columns of ``tests`` that it stands for: those of its
    group, or the one with their combinations. ``n_columns``: how many columns of ``tests`` algorithms may see.

    Examples
    --------
    >>> import networkx as nx
    >>> from blankets.independence import DSeparation
    >>> tests = DSeparation(nx.DiGraph({"a": [], "b": ["c"], "c": []}))  # b -> c; a and b belong together
    >>> tests.test(0, 2).dependent(0.01), TogetherTests(tests, {0: (0, 1)}).test(0, 2).dependent(0.01)
    (False, True)
    """

    def __init__(
        self, tests: IndependenceTest, parts: Mapping[int, Sequence[int]], n_columns: int | None = None
    ) -> None:
        super().__init__(tests)
        self.parts = {speaker: tuple(columns) for speaker, columns in parts.items()}
        self.names = tests.names[:n_columns]

    def around(self, tests: IndependenceTest) -> Self:
        """Return the same layer around other tests."""
        return type(self)(tests, self.parts, len(self.names))

    def scan(
        self, xs: Columns, y: int, given: Sequence[int] = (), *, even_if_unreliable: bool = False
    ) -> EvidenceBatch:
        """Test each of ``xs`` against ``y`` given one set; each may stand for a group."""
        columns, asked = np.asarray(xs, np.int64), tuple(given)
        speaks = np.isin(columns, list(self.parts))
        if not speaks.any() and y not in self.parts:
            batch = self.tests.scan(columns, y, self._whole(asked), even_if_unreliable=even_if_unreliable)
            return batch.told_as(batch.xs, y, asked)
        alone = [columns[~speaks]] if (~speaks).any() else []
        batches = []
        for some in [*alone, *columns[speaks].reshape(-1, 1)]:
            links = self._links(some, y, self._whole(asked), even_if_unreliable=even_if_unreliable)
            batches.append(_combined(links, some, y, asked))
        return side_by_side(speaks, batches) if len(columns) else self.tests.scan(columns, y, asked)

    def _links(self, xs: NDArray[np.int64], y: int, given: Given, *, even_if_unreliable: bool) -> list[EvidenceBatch]:
        """Return the tests of a chain: columns without a group, or the columns of one group, against those of y."""
        found = []
        ys = self._whole([y])
        chain = [xs] if xs[0] not in self.parts else [np.array([x], np.int64) for x in self._whole(xs.tolist())]
        for j, one in enumerate(ys):
            for i, some in enumerate(chain):
                before = [int(x) for link in chain[:i] for x in link]
                set_ = (*given, *ys[:j], *before)
                found.append(self.tests.scan(some, one, set_, even_if_unreliable=even_if_unreliable))
        return found

    def _whole(self, columns: Iterable[int]) -> Given:
        """Return the columns of the tests below that some columns stand for."""
        return tuple(z for x in columns for z in self.parts.get(x, (x,)))

    def _firsts(self, columns: Columns) -> list[int]:
        return [self.parts.get(int(x), (int(x),))[0] for x in columns]

    def separate(self, xs: Columns, y: int, among: Sequence[int], **sets: Unpack[Sets]) -> EvidenceBatch:
        """Find, for each of ``xs``, the subset of ``among`` given which its dependence on ``y`` is weakest."""
        plain = self.parts.keys().isdisjoint((*(int(x) for x in xs), y, *among))
        separate = self.tests.separate if plain else super().separate
        return separate(xs, y, among, **sets)

    def deepest(self, xs: Columns, y: int, among: Sequence[int]) -> int:
        """Return the bound for the first column of each group: the whole group needs more rows."""
        return self.tests.deepest(self._firsts(xs), self._firsts([y])[0], self._firsts(among))

    def rows_for(self, x: int, y: int, given: Sequence[int] = ()) -> float:
        """Return how many rows the last test of the chain needs."""
        *before, last = self._whole([x])
        *others, one = self._whole([y])
        return self.tests.rows_for(last, one, (*self._whole(given), *others, *before))


def _combined(links: Sequence[EvidenceBatch], xs: NDArray[np.int64], y: int, given: Given) -> EvidenceBatch:
    """Combine the tests of a chain into one for each x."""
    if len(links) == 1:
        return links[0].told_as(xs, y, given)
    reliable = np.logical_and.reduce([link.reliable for link in links])
    dof = np.sum([np.where(link.reliable, link.dof, 0.0) for link in links], axis=0)
    quantile = np.sum([_chi_square(link) for link in links], axis=0)
    words = ("", f"{len(links)} tests of columns that belong together, combined")
    return EvidenceBatch(
        xs,
        y,
        given,
        statistic=np.where(reliable, np.sum([link.statistic for link in links], axis=0), np.nan),
        dof=dof,
        n_rows=np.min([np.broadcast_to(link.n_rows, len(link)) for link in links], axis=0),
        reliable=reliable,
        log_p=np.where(reliable, log_chi2_sf(quantile, dof), np.nan),
        effect=np.sum([link.effect for link in links], axis=0),
        by_effect=links[0].by_effect,
        method=reliable.astype(np.int8),
        methods=words,
    )


def _chi_square(link: EvidenceBatch) -> NDArray[np.float64]:
    """Return the chi-square values whose tails are the p-values of some tests; 0 without degrees of freedom."""
    log_p = np.where(link.reliable, link.log_p, 0.0)
    free = np.where(link.dof > 0, link.dof, 1.0)
    value = np.where(log_p < _SMALL, link.statistic, chi2_isf(np.exp(np.maximum(log_p, _SMALL)), free))
    return np.where(link.reliable & (link.dof > 0), value, 0.0)
