"""Moments over some of the rows, where columns have holes: functions are made once, and mended for the rows left."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from blankets.caching import cached_property
from blankets.counting._cores import on_one_core
from blankets.counting._functions import GIVEN, TESTED, Functions, root_of
from blankets.counting._moments import (
    Floats,
    MemoryMoments,
    Moments,
    functions_of_column,
    most_functions,
    places_of_tested,
)
from blankets.data import Frame


class GappyFunctions:
    """Functions of columns with holes, made and multiplied once, whose inner products over any rows are quickly found.

    A column has its functions from the rows where it has a value, and zeros elsewhere. Over fewer rows they are neither
    of mean 0 nor orthonormal; matrices as small as the number of functions mend that; see methods (11.6).

    Examples
    --------
    >>> from blankets.data import ingest
    >>> frame = ingest({"a": [0.0, None, 1.0, 5.0, 2.0, 4.0], "b": [1.0, 2.0, 2.0, 0.0, 1.0, 1.0]}, numbers=True).frame
    >>> moments = GappyFunctions(frame).over(frame.gaps(0), [0, 1])
    >>> moments.n_rows, abs(moments.among([0], [2])).round(12).tolist()
    (5, [[1.0, 0.0], [0.0, 1.0]])
    """

    @on_one_core()
    def __init__(self, frame: Frame) -> None:
        self.frame, self.made, self.begin = frame, list[Functions](), np.zeros(frame.n_columns + 1, np.int64)
        self.values = np.zeros((int(most_functions(frame).sum()), frame.n_rows))
        for x in range(frame.n_columns):
            part, gone = frame.select([x]), frame.gaps(x)
            made = functions_of_column(part.filled() if gone is None else part.take(~gone), 0, GIVEN)
            begin, end = self.begin[x], self.begin[x] + len(made)
            self.values[begin:end, slice(None) if gone is None else ~gone] = made.values
            self.begin[x + 1] = end
            self.made.append(made)
        self.values = self.values[: self.begin[-1]]
        self.products = self.values @ self.values.T

    def over(self, gone: NDArray[np.bool_], columns: Sequence[int]) -> Moments:
        """Return the moments of some columns over the rows that are not gone; none of them has a hole there."""
        return _PartMoments(self, gone, columns)


class _PartMoments(MemoryMoments):
    """What `GappyFunctions.over` returns; rows are made when they are asked for."""

    def __init__(self, functions: GappyFunctions, gone: NDArray[np.bool_], columns: Sequence[int]) -> None:
        self._functions, self._gone, self._columns = functions, gone, columns
        self.names = tuple(functions.frame.names[x] for x in columns)
        n_gone = int(np.count_nonzero(gone))
        self.n_rows = len(gone) - n_gone
        self._codes, self._fewest = {}, {}
        blocks = [slice(*functions.begin[x : x + 2].tolist()) for x in columns]
        few = gone if 2 * n_gone <= len(gone) else ~gone  # sums over the others follow from those over all rows
        values = np.vstack([functions.values[block][:, few] for block in blocks])
        products, self._mean = values @ values.T, values.sum(axis=1)
        if few is gone:
            at = np.concatenate([np.arange(block.start, block.stop) for block in blocks])
            products, self._mean = functions.products[np.ix_(at, at)] - products, -self._mean
        self._mean /= max(self.n_rows, 1)
        products -= self.n_rows * np.outer(self._mean, self._mean)
        ends = np.cumsum([block.stop - block.start for block in blocks])
        roots = [root_of(products[i:j, i:j]) for i, j in zip([0, *ends[:-1]], ends, strict=True)]
        sizes = np.array([len(root) for root in roots], np.int64)
        made = [functions.made[x] for x in columns]
        self._graded = np.array([each.graded for each in made], bool)
        tested = np.where(self._graded, np.minimum(sizes, TESTED), sizes)
        self.first = np.where([each.first < each.tested for each in made], np.minimum(sizes, 1), tested)
        self.ordered = ~self._graded & (self.first < tested)
        self._begin, self.start = (np.concatenate([[0], np.cumsum(each)]) for each in (sizes, tested))
        self._tested_at = places_of_tested(self._begin, self.start)
        root = np.zeros((int(self._begin[-1]), len(products)))
        for i, (j, of_column) in enumerate(zip(ends, roots, strict=True)):
            root[self._begin[i] : self._begin[i + 1], j - of_column.shape[1] : j] = of_column
        self._root, self._whole = root, root @ products @ root.T

    @cached_property
    def frame(self) -> Frame:
        return self._functions.frame.select(self._columns).take(~self._gone)

    @cached_property
    def _values(self) -> Floats:
        begin = self._functions.begin
        values = np.vstack([self._functions.values[begin[x] : begin[x + 1]][:, ~self._gone] for x in self._columns])
        return np.asarray(self._root @ (values - self._mean[:, None]))
