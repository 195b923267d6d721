"""The source of the terms of a filter criterion: information among features, and with the target.

A criterion asks an `InformationSource` and does not know how the target is labeled. Terms among features are
counted over all rows, labeled or not; terms with the target depend on the source. Every method answers for
many candidates in one pass over the data, in nats (natural logarithms).

Two identities save passes, and extend every criterion to partial labels:

    I(X;Xj|Y) - I(X;Xj) = I(X;Y|Xj) - I(X;Y)
    H(X,Xj,Y)           = H(X,Xj) + H(Y) - I(X,Xj;Y)
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from blankets.counting import Counter
from blankets.stats import statistics_of_block

Columns = NDArray[np.int64]
Floats = NDArray[np.float64]
Summary = Callable[[NDArray[np.int32]], tuple[Floats, ...]]


def information_of_block(counter: Counter) -> Summary:
    """Return the function from count tables, shape (k, x, y, strata), to plug-in I(X;Y|Z) = G / 2N."""
    statistics = statistics_of_block(counter.n_rows, apart=bool(counter.holes))
    return lambda counts: (statistics(counts)[0] / (2.0 * _rows(counts)),)


def entropy_of_block(counts: NDArray[np.int32]) -> tuple[Floats, ...]:
    """Return the plug-in entropy of all cells of count tables, shape (k, ...)."""
    cells, n_rows = counts.reshape(len(counts), -1).astype(float), _rows(counts)
    return (np.array([math.log(n) for n in n_rows.tolist()]) - xlogy(cells, cells).sum(axis=1) / n_rows,)


def _rows(counts: NDArray[np.int32]) -> Floats:
    """Return the rows of each table; at least one, so that an empty table tells nothing."""
    return np.asarray(np.maximum(counts.reshape(len(counts), -1).sum(axis=1, dtype=np.float64), 1.0))


class InformationSource(ABC):
    """Gives criteria the information of candidates, by their column numbers.

    ``n_columns``: of the table. ``target``: column of the target, or of what is known of it.
    """

    def __init__(self, n_columns: int, target: int) -> None:
        self.target = target
        self._relevance = np.full(n_columns, np.nan)

    @abstractmethod
    def conditional(self, xs: Columns, given: Sequence[int] = ()) -> Floats:
        """Return I(X;Y|Z) of each candidate, Z the set of columns ``given``."""

    def joint(self, xs: Columns, j: int) -> Floats:
        """Return I(X,Xj;Y) of each candidate, the information of the pair about the target: by the chain rule."""
        return self.conditional(xs, (j,)) + self.relevance(np.array([j]))

    @abstractmethod
    def class_entropy(self, xs: Columns, j: int) -> Floats:
        """Return H(Y), from the rows and columns that `joint` uses."""

    def relevance(self, xs: Columns) -> Floats:
        """Return I(X;Y) of each candidate; each candidate is counted only once."""
        new = xs[np.isnan(self._relevance[xs])]
        if len(new):
            self._relevance[new] = self.conditional(new)
        known: Floats = self._relevance[xs]
        return known

    @abstractmethod
    def redundancy(self, xs: Columns, j: int) -> Floats:
        """Return I(X;Xj) of each candidate, from all rows."""

    @abstractmethod
    def pair_entropy(self, xs: Columns, j: int) -> Floats:
        """Return H(X,Xj) of each candidate, from all rows."""

    def interaction(self, xs: Columns, j: int) -> Floats:
        """Return I(X;Y|Xj) - I(X;Y), which is I(X;Xj|Y) - I(X;Xj): above 0 synergy, below 0 redundancy."""
        return self.conditional(xs, (j,)) - self.relevance(xs)

    def redundancy_given_class(self, xs: Columns, j: int) -> Floats:
        """Return I(X;Xj|Y) of each candidate; it is consistent if its three parts are."""
        return self.redundancy(xs, j) + self.interaction(xs, j)


class Counted(InformationSource):
    """Information from counts.

    ``counter``: counts the data. ``background``: counts features among themselves, if ``counter`` counts only some of
    the rows.
    """

    def __init__(self, counter: Counter, target: int, background: Counter | None = None) -> None:
        super().__init__(len(counter.names), target)
        self.counter = counter
        self.background = counter if background is None else background

    def redundancy(self, xs: Columns, j: int) -> Floats:
        """Return I(X;Xj) of each candidate, from all rows."""
        return self.background.summarize(information_of_block(self.background), xs, j)[0]

    def pair_entropy(self, xs: Columns, j: int) -> Floats:
        """Return H(X,Xj) of each candidate, from all rows."""
        return self.background.summarize(entropy_of_block, xs, j)[0]


class PlugIn(Counted):
    """Plug-in information with a target that is known in every row: the labels, or a surrogate for them.

    Examples
    --------
    >>> from blankets.counting import MemoryCounter
    >>> from blankets.data import Frame
    >>> xor = Frame.from_codes([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]])
    >>> source = PlugIn(MemoryCounter(xor), target=2)
    >>> float(source.relevance(np.array([0]))[0]), float(source.joint(np.array([0]), 1)[0].round(6))
    (0.0, 0.693147)
    """

    def __init__(
        self, counter: Counter, target: int, background: Counter | None = None, *, always: Sequence[int] = ()
    ) -> None:
        super().__init__(counter, target, background)
        self.always = tuple(always)  # columns that every term with the target is given, such as drivers of labeling

    def conditional(self, xs: Columns, given: Sequence[int] = ()) -> Floats:
        """Return I(X;Y|Z) of each candidate."""
        given = (*given, *self.always)
        if len(given) > 1 and self._determined_by(given):
            return np.zeros(len(xs))
        return self.counter.summarize(information_of_block(self.counter), xs, self.target, given)[0]

    def redundancy_given_class(self, xs: Columns, j: int) -> Floats:
        """Return I(X;Xj|Y) of each candidate, in one pass."""
        if self.always:
            return super().redundancy_given_class(xs, j)
        return self.counter.summarize(information_of_block(self.counter), xs, j, (self.target,))[0]

    def class_entropy(self, xs: Columns, j: int) -> Floats:
        """Return H(Y), or H(Y|Z) if every term is given Z."""
        if self.always:
            first, *rest = self.always
            (told,) = self.counter.tables([first], self.target, rest)
            return entropy_of_block(told.counts)[0] - entropy_of_block(told.counts.sum(axis=2, dtype=np.int32))[0]
        classes = next(iter(self.counter.tables([j], self.target))).counts.sum(axis=(1, 3), dtype=np.int32)
        return entropy_of_block(classes)[0]

    def _determined_by(self, given: Sequence[int]) -> bool:
        """Tell whether each configuration of Z has a single class: then no table of any X need be counted."""
        blocks = self.counter.tables(given[-1:], self.target, given[:-1])
        return all((np.count_nonzero(block.counts, axis=2) <= 1).all() for block in blocks)
