"""Tests of columns from rows, near the level: products of residuals, or the law of a rare level's own draws."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from blankets.caching import cached_property
from blankets.counting import TESTED, Moments
from blankets.independence._block_batch import LARGER, MEET, NOTHING, PART, RARE_LEVEL, ROWS, SPREAD
from blankets.independence._evidence import Given
from blankets.independence._inner_products import ROWS_GIVEN, Floats, Projection, explained_of, project
from blankets.stats import (
    FUNCTIONS_OF_VARIANCE,
    MOST_LEVELS,
    RARE,
    ROWS_A_FUNCTION,
    ROWS_A_FUNCTION_OF_SEVERAL,
    ROWS_A_VARIANCE,
    Basis,
    FittedLevels,
    SpreadNumber,
    fitted_levels,
    meetings_test,
    rows_tests,
    score_test,
    spread_number,
    spread_test,
    whitening,
)

# A part of the rows is asked first where inner products leave little doubt. If its p-value is below the second, the
# columns are dependent; at levels from the third on that adds at most 1/1,000 of the level to the errors.
_PART_ROWS, _SURE, LEAST_LEVEL = 1024, math.log(1e-8), 1e-5
ROWS_A_PRODUCT = 20.0  # rows for each function conditioned on, from which products of two given columns are too
# Above this, and so much less for each row, confounding by products of given columns may have made it so small.
DOUBTED, LEFT = math.log(1e-6), 1.5e-4
# Beside a number, a level is rare up to so many rows if it is in a smaller share of all rows.
BESIDE_NUMBERS, SELDOM = 160, 0.05
_TOLD = 10  # rows of a level, from which on inner products, and all levels of an order, tell what they do elsewhere
_TOGETHER = 16  # columns that a thread asks rows about, at most
_OPEN = 4.0  # times what inner products say of rows that are left open, below which rows are asked
_CORES = os.cpu_count() or 1
_SHARED = 1e6  # products of given and tested functions in all rows, about a millisecond, from which cores share them


class GivenRows:
    """What is given, over the rows.

    ``make``: where their basis comes from, if not from the columns. Each ``step``-th row is asked first where inner
    products leave little doubt; 0: there are too few rows.
    """

    def __init__(self, moments: Moments, known: Projection, make: Callable[[], Basis] | None = None) -> None:
        self.moments, self.known, self._make = moments, known, make
        self._fits: dict[int, FittedLevels] = {}  # of targets
        self._spreads: dict[int, SpreadNumber] = {}  # of targets
        self._moments_of: dict[int, tuple[Floats, Floats]] = {}  # of targets
        step = moments.n_rows // _PART_ROWS
        self.step = step if step > 1 and known.size * ROWS_GIVEN * step <= moments.n_rows else 0

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        return (1 + self.known.size) * self.moments.n_rows * 8

    @cached_property
    def basis(self) -> Basis:
        """An orthonormal basis of the given functions."""
        if self._make is not None:
            return self._make()
        return Basis.combined(self._rows(self.known), self.known.root, self.moments.n_rows)

    @cached_property
    def with_products(self) -> Basis:
        """The same with products of two given columns, as far as rows allow, and at most as many as functions."""
        moments, size = self.moments, self.known.size
        pairs = paired(moments, self.known.given, min(int(moments.n_rows // ROWS_A_PRODUCT) - size, size))
        return self.basis.with_products([(moments.rows(*one), moments.rows(*other)) for one, other in pairs])

    @cached_property
    def part(self) -> Basis:
        """An orthonormal basis of the given functions over a part of the rows."""
        n_rows, root = len(range(0, self.moments.n_rows, self.step)), self.known.root
        if not self.known.given:
            return Basis.combined([], root, n_rows)
        rows = np.vstack([each[:, :: self.step] for each in self._rows(self.known)])
        rows -= rows.mean(axis=1, keepdims=True)
        root = root @ whitening(root.T @ (rows @ rows.T) @ root * self.step) * math.sqrt(self.step)
        return Basis.combined([rows], root, n_rows)

    def functions(self, known: Projection) -> Floats:
        """Return orthonormal functions of the given columns."""
        rows = self._rows(known)
        return np.asarray(known.root.T @ np.vstack(rows)) if rows else np.zeros((0, self.moments.n_rows))

    def _rows(self, known: Projection) -> list[Floats]:
        """Return the functions of each given column."""
        return [self.moments.rows(z, k) for z, k in zip(known.given, known.widths, strict=True)]

    def fitted(self, drawn: int, codes: NDArray[np.int64], *, keep: bool) -> FittedLevels:
        """Return how probable a category's levels were; ``keep``: this will be asked for again."""
        if drawn in self._fits:
            return self._fits[drawn]
        n_levels = int(codes.max()) + 1
        rows = ROWS_A_FUNCTION if n_levels == 2 else ROWS_A_FUNCTION_OF_SEVERAL
        few = project(self.moments, self.known.given, rows, int(self.moments.fewest(drawn)))
        made = fitted_levels(codes, n_levels, self.functions(few))
        if keep:
            self._fits[drawn] = made
        return made

    def left(self, xs: NDArray[np.int64]) -> Floats:
        """Return at least how many rows make what is left of each category, by its rarest level and inner products.

        Of an indicator with m rows, of whose variance the share r is left, at least r m rows make what is left.
        """
        moments, widths = self.moments, [self.moments.tested(x) for x in xs.tolist()]
        at = np.concatenate([np.arange(moments.start[x], moments.start[x + 1]) for x in xs.tolist()])
        told = explained_of(moments, self.known, at)
        share = np.minimum.reduceat(1.0 - np.einsum("ij,ij->j", told, told), np.cumsum([0, *widths[:-1]]))
        return np.maximum(share, 0.0) * [moments.fewest(x) for x in xs.tolist()]

    def moments_of(self, category: int, *, keep: bool) -> tuple[Floats, Floats]:
        """Return variances and third moments of a category's levels in each row; ``keep``: as for `fitted`."""
        if category in self._moments_of:
            return self._moments_of[category]
        codes, basis = self.moments.codes(category), self.basis.rows
        levels = np.arange(0 if codes is None else int(codes.max()) + 1)
        chance = np.clip(((codes == levels[:, None]) @ basis.T) @ basis, 0.0, 1.0)
        variance = chance * (1.0 - chance)
        made = variance, variance * np.abs(1.0 - 2.0 * chance)
        if keep:
            self._moments_of[category] = made
        return made

    def spread(self, number: int, *, keep: bool) -> SpreadNumber:
        """Return what is left of a number, and how its variance moves; ``keep``: this will be asked for again."""
        if number in self._spreads:
            return self._spreads[number]
        few = project(self.moments, self.known.given, ROWS_A_VARIANCE, most=FUNCTIONS_OF_VARIANCE)
        rows = self.moments.rows(number, min(self.moments.tested(number), TESTED))  # of an order, scores and squares
        made = spread_number(rows, self.basis.rows, self.functions(few))
        if keep:
            self._spreads[number] = made
        return made


class RowTests:
    """Decides about columns from rows, given one y and one set.

    ``sampled``: a part of the rows may be asked first.
    """

    def __init__(self, y: int, given: GivenRows, *, sampled: bool) -> None:
        self.moments, self.y, self.given = given.moments, y, given
        self.step = given.step if sampled else 0
        self._hidden: set[int] = set()  # columns whose levels seldom meet those of y where z leaves both open

    def of(self, xs: NDArray[np.int64], log_p: Floats) -> list[tuple[float, int]]:
        """Return log p and method for each column; ``log_p``: what inner products say."""
        answers = [(float(p), PART) for p in log_p]
        left = np.arange(len(xs))
        self._hidden.update(self._seldom_meet(xs))
        rare = np.array([any(codes is not None for codes in self._rare(x)) for x in xs.tolist()], bool)
        if self.step:
            sure = ~rare & (log_p < 1.5 * self.step * _SURE)
            if sure.any():
                sure[sure] = self._asked(xs[sure], self.given.part, self.step) < _SURE
                left = left[~sure]
        plain = left[~rare[left]]
        if len(plain):
            for i, p in zip(plain.tolist(), self._asked(xs[plain], self.given.basis, 1).tolist(), strict=True):
                # Of two numbers that are so skewed, no law is known: neither p-value is believed alone.
                answers[i] = (max(p, float(log_p[i])), LARGER) if self._few_meet(int(xs[i])) else (p, ROWS)
        for i in left[rare[left]].tolist():
            answers[i] = self._of_rare(int(xs[i]))
        return answers

    def given_products(self, xs: NDArray[np.int64], log_p: Floats) -> list[tuple[float, int]]:
        """Return the same given products of two columns too; ``log_p``: what rows say without them."""
        basis = self.given.with_products
        if len(basis.rows) > len(self.given.basis.rows):
            log_p = self._asked(xs, basis, 1)
        return [(p, ROWS) for p in log_p.tolist()]

    def _asked(self, xs: NDArray[np.int64], basis: Basis, step: int) -> Floats:
        """Return log p-values from every so many-th row; those of many columns by several threads."""
        moments, y = self.moments, self.y
        of_y = np.ascontiguousarray(moments.rows(y, moments.tested(y))[:, ::step])

        def of(some: NDArray[np.int64]) -> Floats:
            rows = [np.ascontiguousarray(moments.rows(x, moments.tested(x))[:, ::step]) for x in some.tolist()]
            found = rows_tests(rows, moments.first[some], of_y, int(moments.first[y]), basis)
            return np.asarray(found[0])

        size = _TOGETHER
        if basis.rows.size * int((moments.start[xs + 1] - moments.start[xs]).sum()) >= _SHARED:
            size = min(size, -(-len(xs) // _CORES))
        if len(xs) <= size:
            return of(xs)
        parts = np.split(xs, range(size, len(xs), size))
        with ThreadPoolExecutor(min(len(parts) - 1, _CORES)) as pool:
            others = [pool.submit(of, part) for part in parts[1:]]
            return np.concatenate([of(parts[0]), *(other.result() for other in others)])

    def _of_rare(self, x: int) -> tuple[float, int]:
        """Return log p and method for one column, where it or y is a category with rare levels."""
        y, (rare_x, rare_y) = self.y, self._rare(x)
        for number, category, codes in ((x, y, rare_y), (y, x, rare_x)):
            commoner = self.moments.fewest(number) >= self.moments.fewest(category)
            if codes is not None and self._as_number(number, category) and commoner:
                return self._number_drawn(number, category, codes), SPREAD
        # The rarer of the two is the one that is drawn; of equal ones the first column, whoever asks.
        counts = [np.inf if c is None else self.moments.fewest(j) for j, c in ((x, rare_x), (y, rare_y))]
        x_is_drawn = counts[0] < counts[1] or (counts[0] == counts[1] and x < y)
        drawn, codes, other = (x, rare_x, y) if x_is_drawn else (y, rare_y, x)
        return self._drawn(drawn, codes, other, rare_y if x_is_drawn else rare_x)

    def _as_number(self, x: int, beside: int) -> bool:
        """Tell whether a column is a number, or has an order and is tested by scores beside so few rows of a level."""
        return self.moments.codes(x) is None or bool(self.moments.ordered[x] and self.moments.fewest(beside) < _TOLD)

    def _number_drawn(self, number: int, category: int, codes: NDArray[np.int64]) -> float:
        """Return log p of a number and a category with rare levels, by the law of the number."""
        moments, given = self.moments, self.given
        by_level = self._by_level(category, codes)
        expected = by_level @ given.fitted(category, codes, keep=category == self.y).probability
        spread = given.spread(number, keep=number == self.y)
        first = (int(moments.first[number]), int(moments.first[category]))
        return spread_test(spread, by_level[:, codes] - expected, first)[0]

    def _by_level(self, x: int, codes: NDArray[np.int64]) -> Floats:
        """Return the functions of a category by its levels."""
        functions = self.moments.rows(x, self.moments.tested(x))
        return np.array([functions[:, np.argmax(codes == level)] for level in range(int(codes.max()) + 1)]).T

    def _drawn(
        self, drawn: int, codes: NDArray[np.int64] | None, other: int, others: NDArray[np.int64] | None
    ) -> tuple[float, int]:
        """Test a category with rare levels by the law of its draws."""
        if codes is None:
            return 0.0, NOTHING
        moments, basis = self.moments, self.given.basis.rows[1:]
        fitted, rows = self.given.fitted(drawn, codes, keep=drawn == self.y), moments.rows(other, moments.tested(other))
        if moments.fewest(other) < RARE and codes.max() == 1 and others is not None and others.max() == 1:
            return meetings_test(rows, codes == 1, fitted, basis), MEET
        first = (int(moments.first[other]), int(moments.first[drawn]))
        return score_test(rows, self._by_level(drawn, codes), codes, fitted, basis, first)[0], RARE_LEVEL

    def _rare(self, x: int) -> tuple[NDArray[np.int64] | None, NDArray[np.int64] | None]:
        """Return the levels of x and of y, of each that is a category, if few rows are to have the rarest of both.

        Their products would be so skewed that the spread which they show goes with their sum; see methods (10.15).
        """
        moments, y = self.moments, self.y
        return (levels_of(moments, x), levels_of(moments, y)) if self._few_meet(x) else (None, None)

    def _few_meet(self, x: int) -> bool:
        return x in self._hidden or few_meet(self.moments, x, self.y)

    def _seldom_meet(self, xs: NDArray[np.int64]) -> list[int]:
        """Return the categories whose products with y are as skewed given z as those of rare levels, methods (10.19).

        Their levels may be frequent, but not where z leaves y open.
        """
        moments, given, y = self.moments, self.given, self.y
        some = [x for x in xs.tolist() if moments.codes(x) is not None and moments.tested(x)]
        if not given.known.size or moments.codes(y) is None or not moments.tested(y) or not some:
            return []
        left = given.left(np.array([*some, y]))
        near = [x for x, rows in zip(some, left, strict=False) if rows * left[-1] < _OPEN * RARE * moments.n_rows]
        return [x for x in near if not few_meet(moments, x, y) and self._skewed(x)]

    def _skewed(self, x: int) -> bool:
        of_x, of_y = (self.given.moments_of(z, keep=z == self.y) for z in (x, self.y))
        return bool(np.any(RARE * (of_x[1] @ of_y[1].T) ** 2 > (of_x[0] @ of_y[0].T) ** 3))


def paired(moments: Moments, given: Given, most: int) -> list[tuple[tuple[int, int], ...]]:
    """Return pairs of given columns, with how many functions of each are multiplied: ``most`` products at most.

    All pairs, by two functions of each number or by one; if these are too many, by one without the widest pairs.
    """
    pairs: list[tuple[tuple[int, int], ...]] = []
    for degree in (2, 1):
        pairs = list(combinations(zip(given, moments.widths(given, degree), strict=True), 2))
        if sum(one[1] * other[1] for one, other in pairs) <= most:
            return pairs
    while pairs and sum(one[1] * other[1] for one, other in pairs) > most:
        widest = max(one[1] * other[1] for one, other in pairs)
        pairs = [(one, other) for one, other in pairs if one[1] * other[1] < widest]
    return pairs


def few_meet(moments: Moments, x: int, y: int) -> bool:
    """Tell whether few rows are expected to have the rarest levels of both, or a seldom level is beside a number."""
    expected, n = moments.fewest(x) * moments.fewest(y), moments.n_rows
    return expected < RARE * n or (
        expected < min(BESIDE_NUMBERS, SELDOM * n) * n
        and any(moments.codes(z) is None and levels_of(moments, w) is not None for z, w in ((x, y), (y, x)))
    )


def levels_of(moments: Moments, x: int) -> NDArray[np.int64] | None:
    """Return the levels of a category that has not too many."""
    codes = moments.codes(x)
    return codes if codes is not None and 1 <= int(codes.max()) < MOST_LEVELS else None


def is_rare(moments: Moments, x: int, y: int) -> bool:
    """Tell whether one of the two is a category with levels so rare that its probabilities have to be fitted."""
    return few_meet(moments, x, y) and any(levels_of(moments, z) is not None for z in (x, y))


def hardly_told(moments: Moments, xs: NDArray[np.int64], y: int, likely: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return about which columns inner products tell little, because few rows have a level of theirs or y's.

    If both have two levels and a rare one, they tell nothing. ``likely``: columns that may be dependent all the same.
    """
    alone = _has_two_and_a_rare(moments, y)
    at = likely | alone
    at[at] = [
        (alone and _has_two_and_a_rare(moments, x))
        or (may_be and is_rare(moments, x, y) and min(moments.fewest(x), moments.fewest(y)) < _TOLD)
        for x, may_be in zip(xs[at].tolist(), likely[at].tolist(), strict=True)
    ]
    return at


def _has_two_and_a_rare(moments: Moments, x: int) -> bool:
    """Tell whether a column is a category with two levels, one of which few rows have."""
    return moments.fewest(x) < RARE and moments.tested(x) == 1 and levels_of(moments, x) is not None
