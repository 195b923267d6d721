"""Columns as functions over rows: what is tested of them, and what may be taken out of others (methods, section 10.3).

Functions are rows of arrays of shape (functions, rows), of mean 0 and variance 1. A *block* is what is taken out
together: a curve of one number, the products of two columns, the cells of two categories.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from blankets.stats._score import Draws

KNOTS = (5, 15, 40)  # of a number's curves, coarse to fine: 40 follow eight seasons
INDEX_KNOTS, PAIR_KNOTS, LEVEL_KNOTS = 6, 4, 5  # of curves of an index, of sums and differences, of levels
FEWEST = 5  # rows of a level from which on it is a function of the base; rarer ones are a block together
SHARE = 3  # what is taken out takes at most one of so many rows
_SKEWED, _HEAVY = 1.0, 5.0  # third and fourth moments from which on the products of a number are those of a few rows
_MOST = 2000  # functions that are offered: beyond, only pairs of columns that matter by themselves
_SPLITS, _LEVELS_SPLIT = 20, 5  # by which products may differ: of all columns, of one category
_KEPT_BYTES = 256 << 20  # blocks that are kept for the next set

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Values:
    """The values of a column over the rows: numbers, or codes of levels, whose order may mean something."""

    values: NDArray[Any]
    is_number: bool
    is_ordered: bool = False


Key = tuple[str, tuple[int, ...]]


@dataclass(frozen=True, eq=False)
class Block:
    """Functions that are taken out together: orthonormal, beside the first functions of their own columns.

    ``rows``: None if they are more than rows allow.
    """

    key: Key
    rows: Floats | None


class GivenFunctions:
    """Functions of the columns of a table over the rows of a test, each made once.

    ``values``: returns a column. ``draws``: what the rows are; functions are multiplied by the roots of their weights.

    Examples
    --------
    >>> z = np.random.default_rng(0).normal(size=(2, 300))
    >>> functions = GivenFunctions(lambda j: Values(z[j], is_number=True), Draws(300))
    >>> [block.key[0] for block in functions.blocks((0, 1))]
    ['curve 5', 'curve 15', 'curve 40', 'curve 5', 'curve 15', 'curve 40', 'product', 'sums']
    """

    def __init__(self, values: Callable[[int], Values], draws: Draws) -> None:
        self._values, self.draws, self.n_rows = values, draws, draws.n_rows
        self._columns: dict[int, Values] = {}
        self._first: dict[int, Floats] = {}
        self._blocks: OrderedDict[Key, Block] = OrderedDict()
        self._bytes, self._lock = 0, RLock()

    def values(self, j: int) -> Values:
        """Return a column; levels that no row has are gone."""
        if j not in self._columns:
            column = self._values(j)
            if not column.is_number:
                codes = np.unique(column.values, return_inverse=True)[1].astype(np.int64)
                column = Values(codes, is_number=False, is_ordered=column.is_ordered)
            self._columns[j] = column
        return self._columns[j]

    def first(self, j: int) -> Floats:
        """Return the first functions of a column, not weighted.

        A number: its values, or their normal scores where it is skewed or has heavy tails. A category: indicators of
        the levels with five rows, the scores of an order before them.
        """
        if j not in self._first:
            self._first[j] = self._made_first(self.values(j))
        return self._first[j]

    def leading(self, j: int) -> int:
        """Return how many of the first functions are tested by themselves: of an order only its scores."""
        return min(1, len(self.first(j))) if self.values(j).is_ordered else len(self.first(j))

    def _made_first(self, column: Values) -> Floats:
        v = column.values
        if column.is_number:
            z = _standardized(np.asarray(v, np.float64))
            heavy = abs(float((z**3).mean())) > _SKEWED or float((z**4).mean()) > _HEAVY
            return unit((normal_scores(v) if heavy else z)[None])
        counts = np.bincount(v) if len(v) else np.zeros(1, np.int64)
        often = np.flatnonzero(counts >= FEWEST)
        some = often[:-1] if len(often) == np.count_nonzero(counts) else often
        indicators = (v == some[:, None]).astype(np.float64)
        if column.is_ordered and len(counts) > 2:
            scores = np.cumsum(counts) - counts / 2.0
            return independent(unit(np.vstack([scores[v], indicators])))
        return unit(indicators)

    def splits(self, given: Sequence[int]) -> Floats:
        """Return what the products may differ by: ±1 by the median of a number, centered indicators of levels."""
        made: list[Floats] = []
        for j in given:
            column = self.values(j)
            v = column.values
            if column.is_number or column.is_ordered:
                made.append(np.where(v > np.median(v), 1.0, -1.0)[None])
            else:
                counts = np.bincount(v)
                most = np.argsort(-counts, kind="stable")[: min(_LEVELS_SPLIT, len(counts) - 1)]
                made.append((v == most[:, None]) - counts[most, None] / len(v))
        return np.vstack([np.zeros((0, self.n_rows)), *made])[:_SPLITS]

    def places(self, given: Sequence[int]) -> Floats:
        """Return where each row lies among what is given, for its neighbors, shape (dimensions, rows)."""
        return np.vstack([self.first(j) * (1.0 if self.values(j).is_number else 3.0) for j in given])

    def blocks(self, given: Sequence[int], paired: Sequence[int] | None = None) -> list[Block]:
        """Return the blocks of a set; ``paired``: only pairs of these, and no triples, default: all."""
        some = tuple(given) if paired is None else tuple(j for j in given if j in paired)
        keys = [key for j in given for key in self._keys_of_one(j)]
        keys += [key for i, j in combinations(some, 2) for key in self._keys_of_two(i, j)]
        numbers = tuple(j for j in some if self.values(j).is_number)
        if len(numbers) > 2:  # many weak ones together
            keys.append(("squares", numbers))
            if len(numbers) * (len(numbers) - 1) / 2 <= self.n_rows / 10:
                keys.append(("products", numbers))
        for three in combinations(some, 3) if paired is None else ():
            if np.prod([len(self.first(j)) for j in three]) <= self.n_rows / 20:
                keys.append(("triple", three))
        return [self._block(key) for key in keys]

    def _keys_of_one(self, j: int) -> list[Key]:
        if self.values(j).is_number:
            return [(f"curve {knots}", (j,)) for knots in KNOTS if knots + 3 <= self.n_rows / SHARE]
        return [("rare levels", (j,))] if self._rare(j).any() else []

    def _keys_of_two(self, i: int, j: int) -> list[Key]:
        numbers = self.values(i).is_number + self.values(j).is_number
        if numbers == 2:
            return [("product", (i, j)), ("sums", (i, j))]
        if not numbers:
            return [("cells", (i, j))]
        both = (i, j) if self.values(i).is_number else (j, i)  # a number and a category
        curved = len(self.first(both[1])) * (LEVEL_KNOTS + 3) <= self.n_rows / SHARE
        return [("slopes", both), *([("curves by level", both)] if curved else [])]

    def n_functions(self, given: Sequence[int]) -> int:
        """Return about how many functions the blocks of a set have."""
        curves = sum(knots + 3 for knots in KNOTS)
        widths = [curves if self.values(j).is_number else len(self.first(j)) for j in given]
        pairs = 0
        for i, j in combinations(given, 2):
            both = self.values(i).is_number + self.values(j).is_number
            a, b = len(self.first(i)), len(self.first(j))
            pairs += 2 * (PAIR_KNOTS + 3) + 1 if both == 2 else a * b * (9 if both else 1)
        return sum(widths) + pairs

    def _rare(self, j: int) -> NDArray[np.bool_]:
        counts = np.bincount(self.values(j).values)
        return (counts > 0) & (counts < FEWEST)

    def _block(self, key: Key) -> Block:
        with self._lock:
            if key in self._blocks:
                self._blocks.move_to_end(key)
                return self._blocks[key]
        made = self._made(key)
        with self._lock:
            if key not in self._blocks:
                self._blocks[key] = made
                self._bytes += 0 if made.rows is None else made.rows.nbytes
            while len(self._blocks) > 1 and self._bytes > _KEPT_BYTES:
                gone = self._blocks.popitem(last=False)[1]
                self._bytes -= 0 if gone.rows is None else gone.rows.nbytes
        return made

    def _made(self, key: Key) -> Block:
        functions = self._functions(key)
        if functions is None:
            return Block(key, None)
        own = [self.draws.constant[None], *(self.draws.weighted(self.first(j)) for j in key[1])]
        return Block(key, beside(self.draws.weighted(functions), orthonormal(np.vstack(own))))

    def _functions(self, key: Key) -> Floats | None:
        """Return the functions of a block over the rows; None if they are more than rows allow."""
        kind, columns = key
        most = self.n_rows / SHARE
        one = self.first(columns[0])
        v = self.values(columns[0]).values
        if kind.startswith("curve "):
            knots = int(kind.split()[1])
            made, z = spline(one[0], knots), _standardized(np.asarray(v, np.float64))
            if knots == KNOTS[0] and abs(float(one[0] @ z)) < (1.0 - 1e-9) * len(z):  # scores: the value itself, too
                made = np.vstack([made, unit(np.vstack([z, np.clip(z, *np.quantile(z, [0.01, 0.99]))]))])
            return made
        if kind == "rare levels":
            rare = np.flatnonzero(self._rare(columns[0]))
            return unit((v == rare[:, None]).astype(np.float64)) if len(rare) <= most else None
        if kind in ("squares", "products"):
            each = [self.first(j)[0] for j in columns]
            return unit(
                np.array([a * a for a in each] if kind == "squares" else [a * b for a, b in combinations(each, 2)])
            )
        other = self.first(columns[1])
        if kind == "product":
            return unit(one * other)
        if kind == "sums":
            return np.vstack([spline(one[0] + other[0], PAIR_KNOTS), spline(one[0] - other[0], PAIR_KNOTS)])
        if kind == "slopes":
            return products(other, one)
        if kind == "curves by level":
            return products(other, spline(one[0], LEVEL_KNOTS))
        if kind == "triple":
            return products(products(one, other), self.first(columns[2]))
        w = self.values(columns[1]).values
        cell = np.unique(v * (int(w.max()) + 1) + w, return_inverse=True)[1]
        several = np.flatnonzero(np.bincount(cell) >= 2)
        return unit((cell == several[:, None]).astype(np.float64)) if len(several) <= most else None


def unit(functions: Floats) -> Floats:
    """Return functions with mean 0 and variance 1, without those that do not vary.

    >>> unit(np.array([[1.0, 3.0], [2.0, 2.0]])).tolist()
    [[-1.0, 1.0]]
    """
    centered = functions - functions.mean(axis=1, keepdims=True)
    size = np.sqrt(np.einsum("ij,ij->i", centered, centered) / max(functions.shape[1], 1))
    kept = size > 1e-9
    return np.asarray(centered[kept] / size[kept, None])


def products(these: Floats, others: Floats) -> Floats:
    """Return the products of each function with each other one, with mean 0 and variance 1."""
    return unit((these[:, None, :] * others[None, :, :]).reshape(-1, these.shape[1]))


def normal_scores(values: NDArray[Any]) -> Floats:
    """Return the normal quantiles of ranks; equal values share theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    rank = np.cumsum(counts) - counts / 2.0
    return np.asarray(ndtri(rank / len(values))[place])


def spline(values: Floats, knots: int) -> Floats:
    """Return cubic splines with knots at quantiles, mean 0 and variance 1; indicators where values are few.

    Examples
    --------
    They span what SciPy's B-splines span:

    >>> from scipy.interpolate import BSpline
    >>> x = np.linspace(0.0, 1.0, 50) ** 2
    >>> at = np.quantile(x, np.linspace(0, 1, 6))
    >>> theirs = BSpline.design_matrix(x, np.r_[[at[0]] * 3, at, [at[-1]] * 3], 3).toarray()
    >>> ours = np.vstack([np.ones(50), spline(x, 4)])
    >>> bool(np.linalg.matrix_rank(np.vstack([ours, theirs.T]), tol=1e-6) == len(ours) == 8)
    True
    """
    distinct = np.unique(values)
    if len(distinct) <= knots + 4:
        return unit((values == distinct[1:, None]).astype(np.float64))
    inner = np.unique(np.quantile(values, np.linspace(0.0, 1.0, knots + 2)))
    at = np.concatenate([[inner[0]] * 3, inner, [inner[-1]] * 3])
    x = np.clip(values, at[0], at[-1])
    left = np.clip(np.searchsorted(at, x, side="right") - 1, 3, len(at) - 5)
    # De Boor's recursion: of a cubic spline four functions are not zero at a point.
    local = np.zeros((4, len(x)))
    local[0] = 1.0
    for degree in range(1, 4):
        carried = np.zeros(len(x))
        for k in range(degree):
            low, high = at[left + k + 1 - degree], at[left + k + 1]
            share = local[k] / np.where(high > low, high - low, 1.0)
            local[k] = carried + (high - x) * share
            carried = (x - low) * share
        local[degree] = carried
    made = np.zeros((len(at) - 4, len(x)))
    for k in range(4):
        made[left - 3 + k, np.arange(len(x))] = local[k]
    return unit(made[1:])


def orthonormal(functions: Floats, least: float = 1e-6) -> Floats:
    """Return an orthonormal basis of the functions; what is told to ``least`` of a variance by others is not in it."""
    values, vectors = np.linalg.eigh(functions @ functions.T)
    use = values > least * functions.shape[1]
    made = (vectors[:, use] / np.sqrt(values[use])).T @ functions
    return np.asarray(made)


def beside(functions: Floats, basis: Floats, least: float = 1e-6) -> Floats:
    """Return an orthonormal basis of what another one leaves of functions."""
    left = functions - (functions @ basis.T) @ basis
    made = orthonormal(left, least)
    if not len(made):
        return made
    return rotated(made - (made @ basis.T) @ basis)  # again, for precision


def rotated(functions: Floats) -> Floats:
    """Return an orthonormal basis of functions that are nearly so; rounding is left out."""
    values, vectors = np.linalg.eigh(functions @ functions.T)
    use = values > 0.5
    return np.asarray((vectors[:, use] / np.sqrt(values[use])).T @ functions)


def independent(functions: Floats) -> Floats:
    """Return the functions without those that the ones before them tell."""
    kept = functions[:0]
    basis = kept
    for each in functions:
        left = each - (basis @ each) @ basis
        size = float(np.sqrt(left @ left))
        if size > 1e-4 * np.sqrt(functions.shape[1]):
            basis, kept = np.vstack([basis, left / size]), np.vstack([kept, each])
    return kept


def _standardized(values: Floats) -> Floats:
    largest = float(np.abs(values).max(initial=0.0)) or 1.0  # squares of very large numbers are infinite
    return unit((values / largest)[None])[0] if np.ptp(values) > 0 else np.zeros(len(values))
