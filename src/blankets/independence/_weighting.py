"""What rows stand for in a test: weights of a survey, groups, and weights for values that are missing.

Where a column is missing more often in some rows than in others, and complete columns tell in which, rows that have a
value stand for those that have none: each has the weight P(seen | columns of the test) / P(seen | complete columns),
methods (11.2).
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import reduce
from itertools import combinations
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from blankets.caching import cached_property
from blankets.counting import functions_of_column
from blankets.data import Frame
from blankets.stats import log_chi2_sf, logistic_fit, whitening

TELLING = 0.01  # level at which a complete column tells where values are missing
ROWS_A_PARAMETER = 10  # rows of the smaller class (seen, or not) for each parameter of the model
LEAST_SEEN = 0.02  # a probability below counts as this, so that no row stands for more than fifty
# Weighted rows are worth at least this share of themselves, (Σ w)² / n Σ w², or the test is not made: with heavier
# weights it rejects too often (benchmarks/rows.py; chosen after these figures were seen).
LEAST_WORTH = 0.8
DEGREE = 2  # functions of a number in the model
MULTIPLIED = 3  # of so many columns, the most telling ones, products are in the model too
_RIDGE = 1e-4  # of the prior of coefficients: they stay finite
_KEPT = 64  # models that are kept

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


REFUSED = "not performed: few rows would stand for many that have no value"


class Weighting(NamedTuple):
    """The weights of a test."""

    rows: Mask  # (rows,): those that have a value of all columns, and a weight
    weights: Floats  # (rows,)
    trusted: bool = True  # whether no few rows stand for very many that have no value


class SeenModel:
    """Why values are missing: the probability that they are seen, from columns that every row has.

    A column is in the model of another one's gaps if it tells of them at the level 0.01, the most telling first, and
    as far as rows allow. ``frame``: the table, with holes.

    Examples
    --------
    >>> old = np.repeat([0, 1], 100)
    >>> dose = np.where(np.arange(200) % np.where(old, 2, 10) == 0, 2, np.arange(200) % 2)  # 2: missing
    >>> ill = np.arange(200) // 2 % 2
    >>> codes, levels = [old, dose, ill], [(0, 1), (0, 1), (0, 1)]
    >>> model = SeenModel(Frame.from_columns(codes, ["old", "dose", "ill"], levels, 200, frozenset([1])))
    >>> model.of(1, 2, ())[[0, -1]].round(2).tolist()  # 0.7 are seen in all: 0.9 of the young, half of the old
    [0.78, 1.4]
    >>> model.of(1, 2, (0,)) is None  # given age, gaps come by chance
    True
    """

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self._models: OrderedDict[frozenset[int], _Seen] = OrderedDict()
        self._kept: OrderedDict[tuple[frozenset[int], frozenset[int]], Floats] = OrderedDict()
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

    def of(self, x: int, y: int, given: Sequence[int]) -> Floats | None:
        """Return the weight of each row in a test; None where all rows weigh the same.

        Columns of the test itself need no correction: given z, and one of x and y, gaps may depend on these.
        """
        holes = self.frame.holes.intersection((x, y, *given))
        if not holes:
            return None
        complete = [j for j in sorted((x, y)) if j not in self.frame.holes][:1]
        known = frozenset([*complete, *given]) - holes
        return self._of(holes, known)

    def of_rows(self, columns: Sequence[int]) -> Floats | None:
        """Return the weights of rows that have a value of some columns, as a sample of all; None if all are equal."""
        return self._of(self.frame.holes.intersection(columns), frozenset())

    def _of(self, holes: frozenset[int], known: frozenset[int]) -> Floats | None:
        with self._lock:
            if holes not in self._models:
                self._models[holes] = self._model(holes)
                while len(self._models) > _KEPT:
                    self._models.popitem(last=False)
            model = self._models[holes]
            part = known.intersection(model.made)
            if len(part) == len(model.made):
                return None
            if (holes, part) not in self._kept:
                self._kept[holes, part] = model.fitted(part) / np.maximum(model.probability, LEAST_SEEN)
                while len(self._kept) > _KEPT:
                    self._kept.popitem(last=False)
            return self._kept[holes, part]

    def _model(self, holes: frozenset[int]) -> _Seen:
        """Return the model of where some columns all have a value."""
        telling: dict[int, float] = {}
        for x in holes:
            for z, log_p in self.telling.get(x, {}).items():
                telling[z] = min(log_p, telling.get(z, 0.0))
        seen = seen_in(self.frame, holes)
        room = int(min(np.count_nonzero(seen), np.count_nonzero(~seen))) // ROWS_A_PARAMETER
        made: dict[int, Floats] = {}
        for z in sorted(telling, key=lambda z: telling[z]):
            functions = functions_of_column(self.frame, z, DEGREE).values
            if sum(map(len, made.values())) + len(functions) <= room:
                made[z] = functions
        return _Seen(seen, room, made)


class _Seen:
    """Where some columns all have a value, and the functions of complete columns that tell of it."""

    def __init__(self, seen: Mask, room: int, made: dict[int, Floats]) -> None:
        self.seen, self.room, self.made = seen, room, made

    @cached_property
    def probability(self) -> Floats:
        """That of a value of all of them, by all functions."""
        return self.fitted(self.made)

    def fitted(self, columns: Collection[int]) -> Floats:
        """Return the probability by the functions of some columns."""
        return logistic_fit(self.seen, _basis(self.made, columns, self.room, len(self.seen)), _RIDGE)


def _basis(made: Mapping[int, Floats], columns: Collection[int], room: int, n_rows: int) -> Floats:
    """Return an orthonormal basis of the functions of some columns, and of products of the most telling ones."""
    some = {z: functions for z, functions in made.items() if z in columns}
    parts = [np.zeros((0, n_rows)), *some.values()]
    for one, other in combinations([z for z in list(made)[:MULTIPLIED] if z in some], 2):
        products = (some[one][:, None, :] * some[other][None, :, :]).reshape(-1, n_rows) * np.sqrt(n_rows)
        if sum(map(len, parts)) + len(products) <= room:
            parts.append(products - products.mean(axis=1, keepdims=True))
    functions = np.vstack(parts)
    return np.asarray(whitening(functions @ functions.T).T @ functions)


class Units:
    """What rows stand for.

    ``weights``, of shape (rows,): of a survey; by default all are equal. ``groups``, of shape (rows,): rows that were
    drawn together. ``model``: of missing values; by default rows that have a value stand for themselves alone.
    """

    def __init__(
        self, frame: Frame, weights: Floats | None = None, groups: Ints | None = None, model: SeenModel | None = None
    ) -> None:
        self.frame, self.weights, self.groups, self.model = frame, weights, groups, model

    def of(self, x: int, y: int, given: Sequence[int]) -> Weighting:
        """Return the rows and weights of a test."""
        rows = seen_in(self.frame, self.frame.holes.intersection((x, y, *given)))
        weights = np.ones(self.frame.n_rows) if self.weights is None else self.weights
        known = None if self.model is None else self.model.of(x, y, given)
        if known is None:
            return Weighting(rows & (weights > 0), weights)
        rows = rows & (weights > 0)
        here = known[rows]
        share = float(here.sum()) ** 2 / max(float((here**2).sum()) * len(here), 1e-300)
        return Weighting(rows, weights * known, share >= LEAST_WORTH)

    def take(self, rows: NDArray[np.bool_] | Ints, frame: Frame) -> Units:
        """Return what some rows stand for, which are those of ``frame``."""
        weights = None if self.weights is None else self.weights[rows]
        groups = None if self.groups is None else self.groups[rows]
        return Units(frame, weights, groups, None if self.model is None else SeenModel(frame))


def seen_in(frame: Frame, columns: frozenset[int]) -> Mask:
    """Return which rows have a value of some columns."""
    gaps = [gap for j in sorted(columns) if (gap := frame.gaps(j)) is not None]
    return ~reduce(np.logical_or, gaps, np.zeros(frame.n_rows, np.bool_))


def strata_of_rows(columns: Iterable[NDArray[np.integer]], n_rows: int) -> Ints:
    """Return which combination of the codes of some columns each row has, numbered in the order of the codes."""
    strata = np.zeros(n_rows, np.int64)
    for codes in columns:
        strata = np.asarray(np.unique(strata * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)[1])
    return strata
