"""What rows stand for in a test: weights of a survey, groups, and weights for values that are missing.

Where a column is missing more often in some rows than in others, and complete columns tell in which, rows that have a
value stand for those that have none: each has the weight 1 / P(seen | complete columns), methods (11.2).
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Sequence
from functools import reduce
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from blankets.caching import cached_property
from blankets.counting import functions_of_column
from blankets.data import Frame
from blankets.stats import log_chi2_sf, logistic_fit

TELLING = 0.01  # level at which a complete column tells where values are missing
ROWS_A_PARAMETER = 10  # rows of the smaller class (seen, or not) for each parameter of the model
LEAST_SEEN = 0.02  # a probability below counts as this, so that no row stands for more than fifty
DEGREE = 2  # functions of a number in the model
_RIDGE = 1e-4  # of the prior of coefficients: they stay finite, and scores add up to almost nothing
_KEPT = 64  # models that are kept

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Weighting(NamedTuple):
    """The weights of a test."""

    rows: Mask  # (rows,): those that have a value of all columns, and a weight
    weights: Floats  # (rows,)
    scores: Floats | None = None  # (parameters, rows): of the model that the weights come from


class SeenModel:
    """Why values are missing: the probability that they are seen, from columns that every row has.

    A column is in the model of another one's gaps if it tells of them at the level 0.01, the most telling first, and
    as far as rows allow. ``frame``: the table, with holes.

    Examples
    --------
    >>> old = np.repeat([0, 1], 100)
    >>> dose = np.where(np.arange(200) % np.where(old, 2, 10) == 0, 2, np.arange(200) % 2)  # 2: missing
    >>> frame = Frame.from_columns([old, dose], ["old", "dose"], [(0, 1), (0, 1)], 200, frozenset([1]))
    >>> probability, scores = SeenModel(frame).of(frozenset([1]))
    >>> probability[[0, -1]].round(2).tolist(), scores.shape
    ([0.9, 0.5], (2, 200))
    """

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self._kept: OrderedDict[frozenset[int], tuple[Floats, Floats] | None] = OrderedDict()
        self._lock = Lock()

    @cached_property
    def telling(self) -> dict[int, dict[int, float]]:
        """For each column with holes, the complete columns that tell where it is missing, with log p-values."""
        gappy = [j for j in sorted(self.frame.holes) if self.frame.gaps(j) is not None]
        gaps = np.array([self.frame.gaps(j) for j in gappy], float).reshape(len(gappy), self.frame.n_rows)
        spread = np.maximum(gaps.mean(axis=1) * (1.0 - gaps.mean(axis=1)), 1e-300)
        found: dict[int, dict[int, float]] = {j: {} for j in gappy}
        for z in range(self.frame.n_columns if gappy else 0):
            if z in self.frame.holes:
                continue
            functions = functions_of_column(self.frame, z, DEGREE).values  # of mean 0: gaps need not be centered
            statistic = ((gaps @ functions.T) ** 2).sum(axis=1) / spread
            log_p = log_chi2_sf(statistic, np.full(len(gappy), float(len(functions))))
            for j, value in zip(gappy, log_p.tolist(), strict=True):
                if len(functions) and value <= math.log(TELLING):
                    found[j][z] = value
        return found

    def of(self, holes: frozenset[int]) -> tuple[Floats, Floats] | None:
        """Return P(all of them seen) of each row, and the scores of its model; None where no column tells of it."""
        with self._lock:
            if holes not in self._kept:
                self._kept[holes] = self._fitted(holes)
                while len(self._kept) > _KEPT:
                    self._kept.popitem(last=False)
            return self._kept[holes]

    def _fitted(self, holes: frozenset[int]) -> tuple[Floats, Floats] | None:
        telling: dict[int, float] = {}
        for x in holes:
            for z, log_p in self.telling.get(x, {}).items():
                telling[z] = min(log_p, telling.get(z, 0.0))
        seen = seen_in(self.frame, holes)
        room = min(np.count_nonzero(seen), np.count_nonzero(~seen)) // ROWS_A_PARAMETER
        made: list[Floats] = []
        for z in sorted(telling, key=lambda z: telling[z]):
            functions = functions_of_column(self.frame, z, DEGREE).values
            if sum(map(len, made)) + len(functions) <= room:
                made.append(functions)
        if not made:
            return None
        basis = np.linalg.qr(np.vstack(made).T)[0].T
        probability = logistic_fit(seen, basis, _RIDGE)
        design = np.vstack([np.ones(len(seen)), basis * np.sqrt(len(seen))])
        return np.maximum(probability, LEAST_SEEN), design * (seen - probability)


class Units:
    """What rows stand for.

    ``weights``, of shape (rows,): of a survey; by default all are equal. ``groups``, of shape (rows,): rows that were
    drawn together. ``model``: of missing values; by default rows that have a value stand for themselves alone.
    """

    def __init__(
        self, frame: Frame, weights: Floats | None = None, groups: Ints | None = None, model: SeenModel | None = None
    ) -> None:
        self.frame, self.weights, self.groups, self.model = frame, weights, groups, model

    def of(self, columns: Sequence[int]) -> Weighting:
        """Return the rows and weights of a test of some columns."""
        holes = self.frame.holes.intersection(columns)
        rows = seen_in(self.frame, holes)
        weights = np.ones(self.frame.n_rows) if self.weights is None else self.weights
        known = None if self.model is None or not holes else self.model.of(holes)
        if known is None:
            return Weighting(rows & (weights > 0), weights)
        return Weighting(rows & (weights > 0), weights / known[0], known[1])

    def take(self, rows: NDArray[np.bool_] | Ints, frame: Frame) -> Units:
        """Return what some rows stand for, which are those of ``frame``."""
        weights = None if self.weights is None else self.weights[rows]
        groups = None if self.groups is None else self.groups[rows]
        return Units(frame, weights, groups, None if self.model is None else SeenModel(frame))


def seen_in(frame: Frame, columns: frozenset[int]) -> Mask:
    """Return which rows have a value of some columns."""
    gaps = [gap for j in sorted(columns) if (gap := frame.gaps(j)) is not None]
    return ~reduce(np.logical_or, gaps, np.zeros(frame.n_rows, np.bool_))
