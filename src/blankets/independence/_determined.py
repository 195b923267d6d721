"""Numbers that others determine exactly: a total and its parts, or one number in two units or on two scales.

What is determined by the given columns depends on nothing else (methods, section 10.5). Functions of ranks do not show
that: those of a total are no sums of functions of its parts, and so hundreds of columns would seem to tell more.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from blankets.counting import ranks, standardized
from blankets.data import Frame
from blankets.independence._contract import Columns, IndependenceTest, Sets, side_by_side
from blankets.independence._evidence import EvidenceBatch, Given
from blankets.independence._layer import Layer
from blankets.independence._numbers import NOTHING, NUMBER_METHODS
from blankets.stats import DETERMINED

ROWS_A_NUMBER = 4  # rows for each number, below which sums may fit by chance
_SAMPLE = 2048  # rows that are looked at first: almost no table has such numbers
_ROUNDING = 1e-15  # share of variance that rounding may leave

Floats = NDArray[np.float64]


class Relations:
    """Which numbers others determine: as a sum of multiples of them, or because both are in the same order.

    ``values``: by column, numbers of mean 0 and deviation 1, in all rows.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.exponential(size=(2, 50))
    >>> found = Relations({3: standardized(a), 5: standardized(b), 7: standardized(a + b), 9: standardized(a**2)})
    >>> sorted(found.columns), found.determine([3, 5], 7), found.determine([3], 7), found.determine([3], 9)
    ([3, 5, 7, 9], True, False, True)
    """

    def __init__(self, values: dict[int, Floats]) -> None:
        together = np.array(list(values.values())).reshape(len(values), -1)
        self._gram = together @ together.T / max(together.shape[1], 1)
        self._place = {j: k for k, j in enumerate(values)}
        self._order = {j: _order(z) for j, z in values.items()}
        how_many = Counter(self._order.values())
        size, vectors = np.linalg.eigh(self._gram)
        left = 1.0 / (vectors**2 / np.maximum(size, _ROUNDING)).sum(axis=1)  # what all others leave of each
        self.columns = frozenset(
            j for j, k in self._place.items() if left[k] < DETERMINED or how_many[self._order[j]] > 1
        )

    def determine(self, given: Collection[int], x: int) -> bool:
        """Tell whether the given columns determine a number."""
        if x not in self.columns or x in given:
            return False
        numbers = [z for z in given if z in self._place]
        return any(self._order[z] == self._order[x] for z in numbers) or self._left(x, numbers) < DETERMINED

    def _left(self, x: int, numbers: Collection[int]) -> float:
        """Return the share of the variance of a number that the best sum of multiples of others leaves."""
        at, own = [self._place[z] for z in numbers], self._place[x]
        told = self._gram[at, own]
        weights = np.linalg.lstsq(self._gram[np.ix_(at, at)], told, rcond=1e-12)[0]
        return float(1.0 - 2.0 * weights @ told + weights @ self._gram[np.ix_(at, at)] @ weights)


def _order(z: Floats) -> bytes:
    """Return what all numbers with the same order of the rows share, or with the opposite one."""
    rank = 2.0 * ranks(z)[0] - (len(z) - 1.0)  # whole numbers around 0
    varies = rank[rank != 0.0]
    turned = len(varies) and varies[0] < 0.0
    return hashlib.blake2b((0.0 - rank if turned else rank + 0.0).tobytes(), digest_size=16).digest()


def relations_of(frame: Frame) -> Relations | None:
    """Return the relations among the numbers of a table; None if a part of its rows shows none.

    Numbers with holes are not looked at, and none if there are too many for the rows.
    """
    columns, n = [j for j in range(frame.n_columns) if j not in frame.holes and _has_numbers(frame, j)], frame.n_rows
    if len(columns) < 2 or ROWS_A_NUMBER * len(columns) > min(n, _SAMPLE):
        return None
    for step in sorted({max(n // _SAMPLE, 1), 1}, reverse=True):
        found = Relations({j: standardized(_values(frame, j)[::step]) for j in columns})
        columns = sorted(found.columns)
        if not columns:
            return None
    return found


def _has_numbers(frame: Frame, j: int) -> bool:
    """Tell whether the values of a column are numbers: itself is one, or its levels are."""
    if (number := frame.numbers.get(j)) is not None:
        return bool(np.isfinite(number.values).all())
    return len(frame.levels[j]) > 1 and all(isinstance(level, int | float) for level in frame.levels[j])


def _values(frame: Frame, j: int) -> Floats:
    if (number := frame.numbers.get(j)) is not None:
        return np.asarray(number.values, np.float64)
    return np.array(frame.levels[j], np.float64)[frame.column(j)]


class DeterminedTests(Layer):
    """Tests that have nothing to test where the given columns determine one of the two."""

    def __init__(self, tests: IndependenceTest, relations: Relations, n_rows: int) -> None:
        super().__init__(tests)
        self.relations, self._n_rows = relations, n_rows

    def around(self, tests: IndependenceTest) -> DeterminedTests:
        """Return the same layer around other tests of the same columns."""
        return DeterminedTests(tests, self.relations, self._n_rows)

    def scan(
        self, xs: Columns, y: int, given: Sequence[int] = (), *, even_if_unreliable: bool = False
    ) -> EvidenceBatch:
        """Test each of ``xs`` against ``y`` given one set; those that are determined are not asked."""
        columns, given = np.asarray(xs, np.int64), tuple(given)
        if self.relations.determine(given, y):
            return self._nothing(columns, y, given)
        told = np.array([self.relations.determine(given, x) for x in columns.tolist()], bool)
        if not told.any():
            return self.tests.scan(columns, y, given, even_if_unreliable=even_if_unreliable)
        asked = self.tests.scan(columns[~told], y, given, even_if_unreliable=even_if_unreliable)
        return side_by_side(told, [asked, self._nothing(columns[told], y, given)], given)

    def drop_one(self, members: Sequence[int], y: int, only: Sequence[int] | None = None) -> EvidenceBatch:
        """Test each member given the others, by the tests below if none is determined."""
        if self.relations.columns.isdisjoint([*members, y]):
            return self.tests.drop_one(members, y, only)
        return super().drop_one(members, y, only)

    def separate(self, xs: Columns, y: int, among: Sequence[int], **sets: Unpack[Sets]) -> EvidenceBatch:
        """Find the subset given which each is most weakly tied to ``y``, by the tests below if none is determined."""
        if self.relations.columns.isdisjoint([*xs, y]):
            return self.tests.separate(xs, y, among, **sets)
        return super().separate(xs, y, among, **sets)

    def _nothing(self, xs: NDArray[np.int64], y: int, given: Given) -> EvidenceBatch:
        zero = np.zeros(len(xs))
        return EvidenceBatch(
            xs,
            y,
            given,
            statistic=zero,
            dof=zero,
            n_rows=self._n_rows,
            reliable=np.ones(len(xs), bool),
            log_p=zero,
            effect=zero,
            method=np.full(len(xs), NOTHING, np.int8),
            methods=NUMBER_METHODS,
        )
