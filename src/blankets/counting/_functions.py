"""A column as a few functions of itself, mean 0 and orthonormal (methods, section 10.1).

A category becomes the indicators of its levels, an ordered one its scores and their powers (which span the same), a
number itself and bounded functions of its ranks. What is tested is a small part of what is conditioned on: two
functions of a number see what is monotone and what is bent; up to eight take out what a given number does.

Functions are rows of an array of shape (functions, rows of the table), so that each is contiguous in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from blankets import kernels

TESTED = 2  # functions of a number that are tested
GIVEN = 8  # functions of a number that are conditioned on, at most
FEWEST = 5  # rows that a level must have to be a function of its own
MANY = 48  # functions of a category from which on they are not written out for all rows
_WINSOR = 0.01  # share of the rows at each end at which a heavy-tailed number is held
_NEW = 1e-4  # share of a function's length that the ones before it must leave
_VARIES = 1e-6  # length, of 1 over all rows, from which on a function is not constant over some of them

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Contrasts:
    """Orthonormal indicators of a category: each level but the last against all that follow it.

    They take a number for each row, and not one for each row and level: hundreds of levels are no more work than one.
    """

    codes: NDArray[np.int64]  # (rows,): levels in their order here, the most frequent last
    own: Floats  # (levels - 1,): value of each function in its own level; in the levels before it is 0
    later: Floats  # (levels - 1,): its value in the levels that follow

    def __len__(self) -> int:
        return len(self.own)

    @classmethod
    def of(cls, codes: NDArray[np.integer]) -> Contrasts:
        """Return those of a column; levels without rows are gone.

        What the levels before it leave of an indicator is 1 - c/m in its c rows and -c/m in the others of the m that
        have none of those levels; its length is the root of c (1 - c/m).

        >>> Contrasts.of(np.array([0, 0, 0, 1])).values.round(3).tolist()
        [[-0.289, -0.289, -0.289, 0.866]]
        """
        counts = np.bincount(codes)
        order = np.argsort(-counts, kind="stable")
        order = np.roll(order[counts[order] > 0], -1)
        place = np.zeros(len(counts), np.int64)
        place[order] = np.arange(len(order))
        there = counts[order]
        share = there[:-1] / np.cumsum(there[::-1])[:0:-1]
        length = np.sqrt(there[:-1] * (1.0 - share))
        return cls(place[codes], (1.0 - share) / length, -share / length)

    @property
    def values(self) -> Floats:
        """The functions, shape (functions, rows)."""
        return self.of_sums(np.eye(len(self) + 1))[:, self.codes]

    def of_sums(self, sums: Floats) -> Floats:
        """Return the inner products with other functions, whose sums over the rows of each level these are."""
        after = np.cumsum(sums[::-1], axis=0)[-2::-1]
        return self.own[:, None] * sums[:-1] + self.later[:, None] * after

    def products(self, other: NDArray[np.floating] | Contrasts) -> Floats:
        """Return the inner products with other functions, shape (functions, other functions)."""
        size = len(self) + 1
        if isinstance(other, Contrasts):
            width = len(other) + 1
            counts = np.bincount(self.codes * width + other.codes, minlength=size * width).reshape(size, width)
            return other.of_sums(self.of_sums(counts.astype(np.float64)).T).T
        sums = [np.bincount(self.codes, row, minlength=size) for row in other]
        return self.of_sums(np.array(sums, np.float64).reshape(-1, size).T)


@dataclass(frozen=True, slots=True, eq=False)
class Functions:
    """Functions of one column."""

    made: NDArray[np.floating] | Contrasts  # (functions, rows): orthonormal, mean 0, the most telling first
    tested: int  # how many of them, from the first on, are tested
    first: int  # how many of these are tested alone too: fewer degrees of freedom
    graded: bool  # whether fewer of them may be conditioned on where rows are few
    cubes: float | None = None  # the largest sum of cubes of those that are tested, squared, where it is known

    def __len__(self) -> int:
        return len(self.made)

    @property
    def values(self) -> Floats:
        """The functions, shape (functions, rows)."""
        return self.made.values if isinstance(self.made, Contrasts) else np.asarray(self.made, np.float64)

    @property
    def nbytes(self) -> int:
        """How much memory they take."""
        return self.made.codes.nbytes if isinstance(self.made, Contrasts) else self.made.nbytes


def products(these: NDArray[np.floating] | Contrasts, others: NDArray[np.floating] | Contrasts) -> NDArray[np.floating]:
    """Return the inner products of two sets of functions.

    >>> products(np.array([[1.0, 0.0]]), np.array([[0.6, 0.8]])).tolist()
    [[0.6]]
    """
    if isinstance(these, Contrasts):
        return these.products(others)
    return others.products(these).T if isinstance(others, Contrasts) else np.asarray(these @ others.T)


def functions_of_number(values: NDArray[np.floating], most: int = GIVEN) -> Functions:
    """Return the functions of a number: itself or its normal scores, and powers of its ranks; the first ones of them.

    Normal scores take the place of a number with heavy tails or much skewness, whose own products would be those of
    a few rows. The ranks run from -1 to 1, so that no power of them is larger than 1.

    Examples
    --------
    >>> made = functions_of_number(np.arange(100.0) ** 0.5)
    >>> made.values.shape, made.tested, bool(np.allclose(made.values @ made.values.T, np.eye(8)))
    ((8, 100), 2, True)
    """
    z, n = standardized(values), len(values)
    rank, distinct = ranks(values)
    u, heavy = (2.0 * rank + 1.0) / n - 1.0, is_heavy(z)
    first = normal_scores(n)[(2.0 * rank).astype(np.int64)] if heavy else z
    square = u * u  # powers beyond the second take NumPy forty times as long as products
    made = [first, square]
    if most > len(made):
        held = [np.clip(z, *_quantiles(z, [_WINSOR, 1.0 - _WINSOR]))] if heavy else []
        cube = square * u
        made += [first * first, *held, cube, square * square, first * first * first, square * cube, cube * cube]
    functions = orthonormal(np.array(made[: max(min(most, distinct - 1), 1)]))
    return Functions(functions, min(TESTED, len(functions)), 1, graded=True)


@lru_cache(maxsize=8)
def normal_scores(n: int) -> Floats:
    """Return the normal scores of ranks 0, 1/2, 1, ... n - 1 in n rows, shape (2 n - 1,)."""
    u = (np.arange(2.0 * n - 1.0) + 1.0) / n - 1.0
    return np.asarray(ndtri((u + 1.0) / 2.0))


def _quantiles(values: Floats, at: Sequence[float]) -> Floats:
    """Return quantiles as `numpy.quantile` does, which first loads NumPy's room of masked arrays: 13 ms."""
    places = np.arange(len(values))
    return np.asarray(np.interp(places[-1] * np.asarray(at), places, np.sort(values)), np.float64)


def functions_of_levels(codes: NDArray[np.integer], *, ordered: bool = False) -> Functions:
    """Return the functions of a category: indicators of all levels but the most frequent.

    Those of an ordered category begin with its scores (the mean rank of each level) and their squares; the scores are
    tested alone too, so that order buys power.

    Examples
    --------
    >>> functions_of_levels(merged(np.repeat([0, 1, 2, 3], [50, 30, 3, 2]))).values.shape
    (2, 85)
    >>> functions_of_levels(np.repeat([0, 1, 2], 20), ordered=True).first
    1
    """
    counts = np.bincount(codes)
    n_levels = np.count_nonzero(counts)
    if not ordered or n_levels < 3:
        made = Contrasts.of(codes)
        return Functions(made if len(made) >= MANY else made.values, len(made), len(made), graded=False)
    order = np.argsort(-counts, kind="stable")
    score = (np.cumsum(counts) - counts / 2.0) / len(codes) - 0.5  # mean ranks
    by_level = np.vstack([score, score**2, np.eye(len(counts))[order[1:n_levels]]])
    # No more than the levels allow: rounding may leave a little of a function that those before it tell.
    values = orthonormal(by_level, counts)[: n_levels - 1][:, codes]
    return Functions(values, len(values), 1, graded=False)


def merged(codes: NDArray[np.integer], *, ordered: bool = False) -> NDArray[np.int64]:
    """Return codes in which all levels of fewer than five rows are one level, the last; levels without rows are gone.

    Levels with an order are merged with the next ones instead, until they have five rows together. Where that would
    leave one level, or where one level alone is rare, nothing is merged.

    >>> merged(np.repeat([0, 1, 2, 4], [9, 2, 7, 3])).tolist()[8:12]
    [0, 2, 2, 1]
    >>> np.bincount(merged(np.repeat([0, 1, 2, 3, 4], [2, 4, 9, 7, 1]), ordered=True)).tolist()
    [6, 9, 8]
    >>> np.bincount(merged(np.repeat([0, 1, 2], [1, 90, 2]), ordered=True)).tolist()
    [1, 90, 2]
    """
    counts = np.bincount(codes)
    there, rare = counts > 0, (counts > 0) & (counts < FEWEST)
    apart = there & ~rare if np.count_nonzero(rare) > 1 and np.any(there & ~rare) else there
    if ordered and apart is not there:
        new = _with_neighbors(counts)
        if new.any():
            return np.asarray(new[codes], np.int64)
        apart = there
    new = np.cumsum(apart) - 1
    new[there & ~apart] = np.count_nonzero(apart)
    return np.asarray(new[codes], np.int64)


def _with_neighbors(counts: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return a new number for each level: from the first on, as many next to each other as make five rows."""
    new, rows, at = np.zeros(len(counts), np.int64), 0, 0
    for level, count in enumerate(counts.tolist()):
        if rows >= FEWEST and count:
            rows, at = 0, at + 1
        new[level], rows = at, rows + count
    return np.where(new == at, max(at - 1, 0), new) if rows < FEWEST else new


def standardized(values: NDArray[np.floating]) -> Floats:
    """Return a number with mean 0 and deviation 1; zeros if it does not vary."""
    z = np.asarray(values, np.float64)
    z = z / max(float(np.abs(z).max(initial=0.0)), 1e-300)  # squares of very large numbers are infinite
    z = z - z.mean()
    spread = float(np.sqrt(z @ z / max(len(z), 1)))
    return z / spread if spread > 0 else np.zeros_like(z)


def is_heavy(z: Floats) -> bool:
    """Tell whether a standardized number is so skewed or heavy-tailed that its normal scores are better."""
    square = z * z
    return bool(
        abs(float(square @ z)) > kernels.SKEWED * len(z) or float(square @ square) > (3.0 + kernels.HEAVY) * len(z)
    )


def ranks(values: NDArray[np.floating]) -> tuple[Floats, int]:
    """Return ranks from 0, ties sharing their mean, and the number of distinct values.

    >>> ranks(np.array([3.0, 1.0, 3.0]))[0].tolist()
    [1.5, 0.0, 1.5]
    """
    n = len(values)
    if kernels.COMPILED:
        rank, several = kernels.rank_numbers(np.ascontiguousarray(values, np.float64)[None])
        if several[0]:
            return rank[0], int(several[0])
    order = np.argsort(values)
    there = values[order]
    starts = np.flatnonzero(np.concatenate([[True], there[1:] != there[:-1]]))
    ends = np.append(starts[1:], n)
    made = np.empty(n)
    made[order] = np.repeat((starts + ends - 1) / 2.0, ends - starts)
    return made, len(starts)


def orthonormal(functions: Floats, rows: NDArray[np.integer] | None = None) -> Floats:
    """Return functions of mean 0 and length 1, each without what those before it tell; none for one that is told.

    ``rows``: how many rows each value stands for; default: one.

    >>> orthonormal(np.array([[0.0, 1.0, 2.0], [1.0, 3.0, 5.0]])).shape
    (1, 3)
    >>> orthonormal(np.array([[0.0, 1.0]]), np.array([1, 3])).round(3).tolist()  # of 0, 1, 1, 1
    [[-0.866, 0.289]]
    """
    n = functions.shape[1] if rows is None else int(rows.sum())
    mean = functions.mean(axis=1) if rows is None else functions @ (rows / max(n, 1))
    centered = functions - mean[:, None]
    root = None if rows is None else np.sqrt(rows)
    if root is not None:
        centered *= root
    length = np.sqrt(np.einsum("ij,ij->i", centered, centered))
    kept = length > 1e-12 * (1.0 + np.abs(functions).max(axis=1, initial=0.0)) * np.sqrt(max(n, 1))
    centered /= np.where(kept, length, 1.0)[:, None]
    made = _apart(centered if kept.all() else centered[kept])
    return made if root is None else np.asarray(made / np.where(root > 0, root, 1.0))


def _apart(centered: Floats) -> Floats:
    """Return the same for functions of mean 0 and length 1."""
    while len(centered):
        new = _lengths_left(centered) > _NEW
        if new.all():
            # Cholesky's factor of the inner products, twice for its precision: much faster than QR for few functions.
            for _ in range(2):
                centered = np.linalg.inv(np.linalg.cholesky(centered @ centered.T)) @ centered
            return np.ascontiguousarray(centered)
        centered = centered[: len(new)][new]
    return np.asarray(centered)


def root_of(products: Floats) -> Floats:
    """Return what makes functions orthonormal as `orthonormal` does, from the inner products of centered ones.

    >>> root_of(np.array([[4.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]])).tolist()
    [[0.5, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    length = np.sqrt(np.maximum(np.diag(products), 0.0))
    varies = np.flatnonzero(length > _VARIES)
    root = np.eye(len(products))[varies] / length[varies, None]
    try:
        lower = np.linalg.cholesky(root @ products @ root.T)
        if np.diag(lower).min(initial=1.0) > _NEW:  # as for almost all columns: none is told by those before it
            root = np.linalg.inv(lower) @ root
            return np.asarray(np.linalg.inv(np.linalg.cholesky(root @ products @ root.T)) @ root)
    except np.linalg.LinAlgError:
        pass  # some are told exactly
    root = np.zeros((0, len(products)))
    for k in varies.tolist():
        row = np.eye(1, len(products), k)[0] / length[k]
        for _ in range(2):  # twice for precision
            row = row - (root @ (products @ row)) @ root
        left = np.sqrt(max(float(row @ products @ row), 0.0))
        if left > _NEW:
            root = np.vstack([root, row / left])
    return root


def reweighted(functions: Functions, unit: Floats) -> Functions:
    """Return functions of weighted mean 0, orthonormal after each row is multiplied by the root of its weight.

    ``unit``, of shape (rows,): the roots of the weights, of length 1.

    >>> made = reweighted(functions_of_levels(np.array([0, 0, 1, 1])), np.sqrt([0.1, 0.2, 0.3, 0.4]))
    >>> round(float(made.values[0] @ np.sqrt([0.1, 0.2, 0.3, 0.4])), 12), round(float((made.values**2).sum()), 12)
    (0.0, 1.0)
    """
    centered = functions.values - (functions.values @ unit**2)[:, None]
    basis, left = np.linalg.qr((centered * unit).T)
    size = np.abs(np.diag(left))
    kept = size > _NEW * np.maximum(np.sqrt(np.einsum("ij,ij->j", left, left)), 1e-300)
    first, tested = (int(np.count_nonzero(kept[:k])) for k in (functions.first, functions.tested))
    return Functions(np.ascontiguousarray(basis.T[kept]), tested, first, functions.graded)


def _lengths_left(functions: Floats) -> Floats:
    """Return the length that each function has without what those before it tell."""
    try:
        return np.asarray(np.diag(np.linalg.cholesky(functions @ functions.T)))
    except np.linalg.LinAlgError:  # some are told exactly
        return np.asarray(np.abs(np.diag(np.linalg.qr(functions.T, mode="r"))))
