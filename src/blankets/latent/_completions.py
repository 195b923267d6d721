"""All completions of the rows: what EM counts if some values are hidden.

A distinct row with an unknown latent (and perhaps an unknown label) has one completion for each value that the
hidden columns can have. A completion has a weight: the row's weight times its posterior probability. Complete data
are the special case of one completion per row. For each set of columns the *group* of each completion (its
configuration) is found once; every expected count is then one pass over the weights.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blankets.kernels import score_tree
from blankets.latent._rows import Codes, Floats, Ints, Rows

ROOM = 256 * 2**20  # most bytes for the groups of all sets


@dataclass(frozen=True, slots=True, eq=False)
class Completions:
    """The completions of weighted rows."""

    codes: Codes  # (nodes, completions): their values
    starts: Ints  # (rows + 1,): row r has the completions ``starts[r]`` to ``starts[r + 1] - 1``
    weights: Floats  # (rows,): weight of each row
    arities: Ints  # (nodes,): number of levels
    hidden: int  # mask of the nodes with hidden values
    largest: int  # sets of at most this many nodes have groups
    position: Ints  # (2 ** nodes,): where a set's groups are; -1 for sets that are too large
    groups: NDArray[np.int32]  # (sets, completions): group of each completion, for each set
    n_groups: Ints  # (sets,): number of groups
    static: Floats  # (2 ** nodes,): the BIC set function of `blankets.latent._scores` for sets without hidden nodes

    @property
    def total(self) -> float:
        """Number of rows of the data."""
        return float(self.weights.sum())

    @property
    def penalty(self) -> float:
        """Penalty for one parameter: log(N) / 2."""
        return math.log(max(self.total, 1.0)) / 2

    def normalized(self, odds: Floats) -> Floats:
        """Return the weights of the completions in proportion to ``odds`` within each row."""
        within = np.add.reduceat(odds, self.starts[:-1])
        return odds * np.repeat(self.weights / within, np.diff(self.starts))


def complete(rows: Rows, missing: NDArray[np.bool_], max_parents: int | None = None) -> Completions:
    """Return the completions of ``rows``, where ``missing`` of shape (nodes, rows) marks hidden values.

    Examples
    --------
    >>> rows = Rows(np.array([[0, 1], [0, 0]], np.int32), np.array([2, 2]), np.array([3.0, 1.0]))
    >>> complete(rows, np.array([[False, False], [True, True]])).codes.tolist()
    [[0, 0, 1, 1], [0, 1, 0, 1]]
    """
    n, n_rows = rows.codes.shape
    choices = np.where(missing, rows.arities[:, np.newaxis], 1)
    starts = np.concatenate([[0], np.cumsum(choices.prod(axis=0))])
    row = np.repeat(np.arange(n_rows), np.diff(starts))
    rest = np.arange(starts[-1]) - starts[row]
    codes = np.empty((n, len(row)), np.int32)
    for v in range(n):
        codes[v] = np.where(missing[v, row], rest % choices[v, row], rows.codes[v, row])
        rest //= choices[v, row]
    hidden = sum(1 << v for v in range(n) if missing[v].any())
    most = n - 1 if max_parents is None else min(max_parents, n - 1)
    largest = _affordable(n, len(row), most + 1)
    sizes = np.array([mask.bit_count() for mask in range(1 << n)])
    position = np.where(sizes <= largest, np.cumsum(sizes <= largest) - 1, -1)
    groups = np.empty((position.max() + 1, len(row)), np.int32)
    n_groups = np.empty(len(groups), np.int64)
    shares = np.repeat(rows.weights / np.diff(starts), np.diff(starts))
    price = math.log(max(rows.total, 1.0)) / 2
    static = score_tree(codes, rows.arities, shares, largest, 0, price, position, groups, n_groups)
    static[(np.arange(1 << n) & hidden) > 0] = np.nan
    return Completions(codes, starts, rows.weights, rows.arities, hidden, largest, position, groups, n_groups, static)


def _affordable(n: int, n_completions: int, largest: int) -> int:
    """Return the largest size of sets for which all groups fit into memory; at least 2."""
    size, n_sets = 0, 1
    while size < largest and (size < 2 or (n_sets + math.comb(n, size + 1)) * n_completions * 4 <= ROOM):
        size += 1
        n_sets += math.comb(n, size)
    return size
