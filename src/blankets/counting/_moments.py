"""`Moments`: inner products of functions of columns, as `Counter` counts their levels.

A column becomes a few orthonormal functions of itself (``_functions.py``). Tests need the inner products of those that
are conditioned on with those that are tested, and the rows of a few. A small table is multiplied once and for all; of a
large one only what is asked for: the functions of a column that is conditioned on, with those of all columns, once.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import combinations
from threading import RLock

import numpy as np
from numpy.typing import NDArray

from blankets import kernels
from blankets.counting._cores import on_one_core
from blankets.counting._functions import (
    GIVEN,
    MANY,
    TESTED,
    Contrasts,
    Functions,
    functions_of_levels,
    functions_of_number,
    merged,
    normal_scores,
    products,
    standardized,
)
from blankets.counting._pages import empty_array
from blankets.data import Frame

# A table is multiplied whole if that takes fewer multiplications than these (about 0.2 s), and less room.
WHOLE_WORK, WHOLE_FUNCTIONS = 5e9, 2000
BRIEF_WORK = 1e8  # the same where few questions will be asked
KEPT_BYTES = 256 << 20  # functions of columns that are conditioned on, kept for the next question
_TOGETHER, _ROWS = 1 << 16, 512  # numbers of which functions are made at once, and rows of them that are fetched
LARGE_PRODUCT = 32 << 20  # bytes of functions, from twice as many of which on several cores multiply them
WIDE_BYTES = 256 << 20  # tested functions of all columns that take more are stored as numbers of four bytes

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


class Moments(ABC):
    """Sums over rows of products of functions of columns.

    ``names``, ``n_rows``: of the table. ``start``, of shape (columns + 1,): where the tested functions of each column
    begin among those of all columns. ``first``, of shape (columns,): how many of these are tested alone too.
    ``ordered``, of shape (columns,): which of them are categories whose levels have an order.
    """

    names: tuple[str, ...]
    n_rows: int
    start: Places
    first: Places
    ordered: NDArray[np.bool_]

    def tested(self, x: int) -> int:
        """Return how many functions of a column are tested."""
        return int(self.start[x + 1] - self.start[x])

    @abstractmethod
    def widths(self, given: Sequence[int], degree: int) -> list[int]:
        """Return how many functions of each given column there are up to a degree.

        Categories without order have all of theirs, those with an order from the largest degree, `GIVEN`, on.
        """

    @abstractmethod
    def among(self, given: Sequence[int], widths: Sequence[int]) -> Floats:
        """Return the inner products of the first functions of the given columns with each other."""

    @abstractmethod
    def across(self, z: int, width: int, at: Places | None = None) -> Floats:
        """Return those of the first functions of ``z`` with the tested functions of all columns, or ``at`` places."""

    @abstractmethod
    def rows(self, x: int, width: int) -> Floats:
        """Return the first functions of a column, shape (functions, rows)."""

    @abstractmethod
    def codes(self, x: int) -> NDArray[np.int64] | None:
        """Return the levels of a category as its functions see them, rare ones being one; None for a number."""

    @abstractmethod
    def fewest(self, x: int) -> float:
        """Return how many rows have the rarest level of a category.

        Of a number: of a level that is as skewed as the most skewed of the tested functions, at most all rows.
        """


class MemoryMoments(Moments):
    """Moments of the rows of a `Frame` in memory.

    ``briefly``: few questions will be asked, so that only few functions are multiplied with each other beforehand.
    ``made``: where the functions of a column come from, so many at most; default: they are made from the frame.

    Examples
    --------
    >>> frame = Frame.from_codes([[0, 0], [0, 1], [1, 1], [1, 1]] * 10, names=["a", "b"])
    >>> moments = MemoryMoments(frame)
    >>> np.abs(moments.across(0, 1)).round(3).tolist()  # 0.577 is the correlation of the two indicators
    [[1.0, 0.577]]
    """

    @on_one_core()  # several take 78 ms, not 100, for 100 columns in 10,000 rows, but seconds where others use them
    def __init__(
        self, frame: Frame, *, briefly: bool = False, made: Callable[[int, int], Functions] | None = None
    ) -> None:
        self.frame, self.names, self.n_rows = frame, frame.names, frame.n_rows
        self._made = made or partial(functions_of_column, frame)
        self._kept: OrderedDict[tuple[str | int, ...], NDArray[np.floating]] = OrderedDict()
        self._kept_bytes = 0
        self._codes: dict[int, NDArray[np.int64]] = {}
        self._fewest: dict[int, float] = {}
        self._lock = RLock()
        whole = can_be_whole(frame, BRIEF_WORK if briefly else WHOLE_WORK)
        # By column, the functions that are not written out for all rows.
        self._contrasts: dict[int, Contrasts] = {}
        self._begin, self.first = np.zeros(frame.n_columns + 1, np.int64), np.zeros(frame.n_columns, np.int64)
        self._graded, tested = np.zeros(frame.n_columns, bool), np.zeros(frame.n_columns, np.int64)
        room = np.concatenate([[0], np.cumsum(most_functions(frame, GIVEN if whole else TESTED))])
        kind = np.float64 if room[-1] * self.n_rows * 8 <= WIDE_BYTES else np.float32
        values = empty_array((int(room[-1]), self.n_rows), kind)
        every = (self._made(x, GIVEN if whole else TESTED) for x in range(frame.n_columns))
        for x, own in enumerate(every if whole or made is not None else _tested_functions(frame, values, room)):
            begin = self._begin[x]
            self._begin[x + 1], self.first[x], self._graded[x] = begin, own.first, own.graded
            tested[x] = own.tested
            if own.cubes is not None:
                self._fewest[x] = self._as_skewed(own.cubes)
            if isinstance(own.made, Contrasts):
                self._contrasts[x] = own.made
            else:
                self._begin[x + 1] += len(own)
                here = values[begin : begin + len(own)]
                if here.ctypes.data != own.made.ctypes.data:  # it is not there yet
                    here[:] = own.made
        self.start = np.concatenate([[0], np.cumsum(tested)])
        self.ordered = ~self._graded & (self.first < tested)
        self._values = values[: self._begin[-1]]
        self._whole: Floats | None = None
        if whole:
            self._whole = np.asarray(self._values @ self._values.T, np.float64)
            self._tested_at = places_of_tested(self._begin, self.start)

    def widths(self, given: Sequence[int], degree: int) -> list[int]:
        """Return how many functions of each given column there are up to a degree."""
        fewer = self._graded | (self.ordered if degree < GIVEN else False)
        few = fewer & (degree <= np.diff(self.start))  # these need not be made to be counted
        return [
            degree if few[z] else min(degree, self._n_functions(z)) if fewer[z] else self._n_functions(z) for z in given
        ]

    def among(self, given: Sequence[int], widths: Sequence[int]) -> Floats:
        """Return the inner products of the first functions of the given columns with each other."""
        if self._whole is not None:
            begins = zip(self._begin[list(given)].tolist(), widths, strict=True)
            at = np.concatenate([np.arange(begin, begin + k) for begin, k in begins])
            return np.asarray(self._whole[np.ix_(at, at)])
        begins = np.cumsum([0, *widths]).tolist()
        made = np.eye(begins[-1])  # the functions of one column are orthonormal
        for i, j in combinations(range(len(given)), 2):
            ours, theirs = slice(begins[i], begins[i + 1]), slice(begins[j], begins[j + 1])
            made[ours, theirs] = self._between(given[i], given[j])[: widths[i], : widths[j]]
            made[theirs, ours] = made[ours, theirs].T
        return made

    def across(self, z: int, width: int, at: Places | None = None) -> Floats:
        """Return those of the first functions of ``z`` with the tested functions of all columns, or ``at`` places."""
        if self._whole is not None:
            begin = self._begin[z]
            return self._whole[begin : begin + width, self._tested_at if at is None else self._tested_at[at]]
        known = self._kept.get(("across", z))
        if known is None:
            rows = self._all_rows(z)
            if not isinstance(rows, Contrasts):
                rows = rows.astype(self._values.dtype, copy=False)
            known = self._products_with_all(rows)
            if self._contrasts:
                parts = np.split(known, self._begin[list(self._contrasts)], axis=1)
                others = [products(rows, each) for each in self._contrasts.values()]
                known = np.hstack([parts[0], *(part for pair in zip(others, parts[1:], strict=True) for part in pair)])
            self._keep(("across", z), known)
        return np.asarray(known[:width] if at is None else known[:width, at], np.float64)

    def _products_with_all(self, rows: NDArray[np.floating] | Contrasts) -> NDArray[np.floating]:
        """Return the inner products with all functions that are written out; of many on all cores."""
        n_parts = min(self._values.nbytes // LARGE_PRODUCT, os.cpu_count() or 1)
        if n_parts < 2:
            return products(rows, self._values)
        with ThreadPoolExecutor(n_parts) as pool:
            return np.hstack(list(pool.map(partial(products, rows), np.array_split(self._values, n_parts))))

    def rows(self, x: int, width: int) -> Floats:
        """Return the first functions of a column, shape (functions, rows)."""
        if self._whole is not None or (width <= self.tested(x) and x not in self._contrasts):
            return np.asarray(self._values[self._begin[x] : self._begin[x] + width], np.float64)
        rows = self._all_rows(x)
        return np.asarray((rows.values if isinstance(rows, Contrasts) else rows)[:width], np.float64)

    @property
    def nbytes(self) -> int:
        """How much memory the functions take, those of columns that are conditioned on included."""
        return 8 * self.n_rows * (GIVEN * len(self.names) + len(self._values))

    def codes(self, x: int) -> NDArray[np.int64] | None:
        """Return the levels of a category as its functions see them, rare ones being one; None for a number."""
        if x in self.frame.numbers:
            return None
        if x not in self._codes:
            self._codes[x] = merged(self.frame.column(x), ordered=x in self.frame.ordered)
        return self._codes[x]

    def fewest(self, x: int) -> float:
        """Return how many rows have the rarest level of a category; see `Moments.fewest` for a number."""
        if x not in self._fewest:
            codes = self.codes(x)
            if codes is None:
                cubes = np.einsum("ij,ij,ij->i", *[self.rows(x, self.tested(x))] * 3)
                self._fewest[x] = self._as_skewed(float((cubes**2).max(initial=0.0)))
            else:
                self._fewest[x] = float(np.bincount(codes, minlength=1).min())  # 0 of no rows
        return self._fewest[x]

    def _as_skewed(self, cubes: float) -> float:
        """Return of how many rows, m, an indicator has cubes with this sum: with mean 0 and length 1 it is 1/sqrt(m).

        ``cubes``: the sum, squared.
        """
        return 1.0 / max(cubes, 1.0 / max(self.n_rows, 1))

    def _between(self, z: int, w: int) -> NDArray[np.floating]:
        """Return the inner products of all functions of two columns, from the last ones or anew."""
        if z > w:
            return self._between(w, z).T
        known = self._kept.get(("between", z, w))
        return self._keep(("between", z, w), products(self._all_rows(z), self._all_rows(w))) if known is None else known

    def _n_functions(self, x: int) -> int:
        if self._whole is not None:
            return int(self._begin[x + 1] - self._begin[x])
        return len(self._all_rows(x)) if self._graded[x] else self.tested(x)

    def _all_rows(self, x: int) -> NDArray[np.floating] | Contrasts:
        if x in self._contrasts:
            return self._contrasts[x]
        if not self._graded[x]:  # all of them are tested
            return self._values[self._begin[x] : self._begin[x + 1]]
        known = self._kept.get(("rows", x))
        return self._keep(("rows", x), self._made(x, GIVEN).values) if known is None else known

    def _keep(self, key: tuple[str | int, ...], values: NDArray[np.floating]) -> NDArray[np.floating]:
        with self._lock:
            if key not in self._kept:
                self._kept[key], self._kept_bytes = values, self._kept_bytes + values.nbytes
            while len(self._kept) > 1 and self._kept_bytes > KEPT_BYTES:
                self._kept_bytes -= self._kept.popitem(last=False)[1].nbytes
        return values


def can_be_whole(frame: Frame, work: float = WHOLE_WORK) -> bool:
    """Tell whether all functions of all columns can be multiplied with each other, in at most so many multiplications.

    >>> can_be_whole(Frame.from_codes([[0], [1]]))
    True
    """
    most = int(most_functions(frame).sum())
    has_many = int(frame.arities.max(initial=0)) > MANY
    return not has_many and most <= WHOLE_FUNCTIONS and most**2 * frame.n_rows <= work


def most_functions(frame: Frame, of_number: int = GIVEN) -> Places:
    """Return how many functions that are written out each column has at most."""
    is_number = np.isin(np.arange(frame.n_columns), list(frame.numbers))
    is_ordered = np.isin(np.arange(frame.n_columns), list(frame.ordered))
    of_category = np.where(is_ordered, frame.arities, np.minimum(frame.arities, MANY)) - 1
    return np.where(is_number, of_number, np.maximum(of_category, 1))


def places_of_tested(begin: Places, start: Places) -> Places:
    """Return where the tested functions of all columns are among all functions."""
    return np.arange(start[-1]) + np.repeat(begin[:-1] - start[:-1], np.diff(start))


def _tested_functions(frame: Frame, values: NDArray[np.floating], room: Places) -> Iterator[Functions]:
    """Yield the functions of all columns that are tested, made on all cores.

    Those of numbers lie in ``values``, where there is room for so many functions of the columns before each.
    """
    step, cores = max(_TOGETHER // max(frame.n_rows, 1), 1), os.cpu_count() or 1

    def made(begin: int) -> list[Functions]:
        columns = range(begin, min(begin + step, frame.n_columns))
        numbers = [x for x in columns if x in frame.numbers and not frame.numbers[x].stands_for_class]
        numbers = numbers if kernels.COMPILED and frame.n_rows else []
        own = np.empty((len(numbers), frame.n_rows))
        for row in range(0, frame.n_rows, _ROWS):  # neighbors in an array that was not copied share what is fetched
            for k, x in enumerate(numbers):
                own[k, row : row + _ROWS] = frame.numbers[x].values[row : row + _ROWS]
        out, quick = np.empty((TESTED * len(own), frame.n_rows)), dict[int, Functions]()
        cubes = kernels.tested_functions(own, normal_scores(frame.n_rows), out).tolist() if numbers else []
        for k, x in enumerate(numbers):
            if cubes[k] >= 0.0:
                here = values[room[x] : room[x] + TESTED]
                here[:] = out[TESTED * k : TESTED * (k + 1)]
                quick[x] = Functions(here, TESTED, 1, graded=True, cubes=cubes[k])
        return [quick[x] if x in quick else functions_of_column(frame, x) for x in columns]

    with ThreadPoolExecutor(cores) as pool:
        for some in pool.map(made, range(0, frame.n_columns, step)):
            yield from some


def functions_of_column(frame: Frame, x: int, most: int = TESTED) -> Functions:
    """Return the functions of a column of a frame; of a number the first ones, by default those that are tested.

    >>> len(functions_of_column(Frame.from_codes([[0], [1], [1], [0]] * 5), 0))
    1
    """
    number = frame.numbers.get(x)
    if not frame.n_rows:
        return Functions(np.zeros((0, 0)), 0, 0, graded=number is not None)
    if number is not None and number.stands_for_class:
        return Functions(standardized(number.values)[np.newaxis] / np.sqrt(frame.n_rows), 1, 1, graded=True)
    if number is not None:
        return functions_of_number(number.values, most)
    ordered = x in frame.ordered
    return functions_of_levels(merged(frame.column(x), ordered=ordered), ordered=ordered)
