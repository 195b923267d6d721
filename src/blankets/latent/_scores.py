"""Decomposable scores of Bayesian networks: BIC and BDeu, for all parent sets in one pass.

Both scores of a node v given parents P can be written f(P + v) - f(P) with one function f of sets of
columns, because both are score equivalent:

* BIC: f(S) = sum over configurations of N log N, minus (log N / 2) times the number of cells of S;
* BDeu: f(S) = sum over *observed* configurations of log Gamma(a + N) - log Gamma(a), a = ess / cells of S.

So one count of S is used for the family of each of its members and for the parent set of each other node, and a
table of 2^n values of f gives the n 2^(n-1) local scores of n nodes. All logarithms are natural.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from blankets.arguments import number, one_of
from blankets.kernels import score_sets, score_tree
from blankets.latent._constraints import Constraints
from blankets.latent._rows import Floats, Rows

SCORES = {"bic": 0, "bdeu": 1}


@dataclass(frozen=True, slots=True)
class SetScore:
    """The score, with its parameter: log(N) / 2 for BIC, the equivalent sample size for BDeu."""

    kind: int
    parameter: float

    @classmethod
    def named(cls, name: str, n_rows: float, equivalent_sample_size: float = 1.0) -> SetScore:
        """Return the score with this name, for data of ``n_rows`` rows."""
        one_of("score", name, SCORES)
        weight = number("equivalent_sample_size", equivalent_sample_size, "positive", above=0)
        return cls(SCORES[name], math.log(max(n_rows, 1)) / 2 if name == "bic" else weight)


def score_all(rows: Rows, largest: int, score: SetScore) -> Floats:
    """Return f of all sets of at most ``largest`` columns, as a table of 2^n values."""
    nowhere = np.empty(0, np.int64)
    nothing = np.empty((0, 0), np.int32)
    return score_tree(
        rows.codes, rows.arities, rows.weights, largest, score.kind, score.parameter, nowhere, nothing, nowhere
    )


class Scorer:
    """Local scores of a table, each set of columns counted once.

    ``rows``: the data. ``score``: which score.

    Examples
    --------
    >>> rows = Rows(np.array([[0, 1, 1], [0, 0, 1]], np.int32), np.array([2, 2]), np.array([5.0, 1.0, 4.0]))
    >>> scorer = Scorer(rows, SetScore.named("bic", rows.total))
    >>> round(scorer.local(0, [1]), 4) == round(scorer.local(1, [0]) + scorer.local(0, []) - scorer.local(1, []), 4)
    True
    """

    def __init__(self, rows: Rows, score: SetScore) -> None:
        self.rows = rows
        self.score = score
        self._values: dict[int, float] = {}

    def local(self, node: int, parents: Iterable[int]) -> float:
        """Return the score of ``node`` given ``parents``, in nats."""
        below = mask_of(parents)
        return self.value(below | 1 << node) - self.value(below)

    def value(self, mask: int) -> float:
        """Return f of the set of columns in ``mask``."""
        if mask not in self._values:
            self.count([mask])
        return self._values[mask]

    def count(self, masks: Iterable[int]) -> None:
        """Count many sets of equal size in one pass.

        Examples
        --------
        >>> rows = Rows(np.array([[0, 1]], np.int32), np.array([2]), np.array([3.0, 1.0]))
        >>> scorer = Scorer(rows, SetScore.named("bic", 4))
        >>> scorer.count([1])
        >>> round(scorer.value(1) - scorer.value(0), 6)
        -2.942488
        """
        missing = sorted((tuple(members_of(mask)), mask) for mask in set(masks) if mask not in self._values)
        if not missing:
            return
        sets = np.array([members for members, _ in missing], np.int64).reshape(len(missing), -1)
        r = self.rows
        values = score_sets(r.codes, r.arities, r.weights, sets, self.score.kind, self.score.parameter)
        self._values.update(zip((mask for _, mask in missing), values.tolist(), strict=True))

    def penalty(self, node: int, parents: int) -> float:
        """Return minus an upper bound of all scores of ``node`` given ``parents`` (a mask)."""
        if self.score.kind != SCORES["bic"]:
            return 0.0  # a marginal likelihood is at most 1
        cells = math.prod(int(self.rows.arities[j]) for j in members_of(parents))
        return self.score.parameter * (int(self.rows.arities[node]) - 1) * cells


def mask_of(members: Iterable[int]) -> int:
    """Return the mask with a bit for each member."""
    return sum(1 << j for j in set(members))


def members_of(mask: int) -> list[int]:
    """Return the members of a mask, ascending.

    >>> members_of(0b1101)
    [0, 2, 3]
    """
    return [j for j in range(int(mask).bit_length()) if mask >> j & 1]


def largest_useful(rows: Rows, constraints: Constraints, score: SetScore) -> int:
    """Return how many parents a node can have in a best DAG.

    A BIC local score is at most minus its penalty, so a set whose penalty is larger than the cost of the required
    parents alone is never best, for any data (de Campos & Ji, 2011). BDeu gives no such bound.
    """
    n = len(rows.arities)
    most = min(constraints.max_parents, n - 1)
    if score.kind != SCORES["bic"]:
        return most
    useful, scorer = 0, Scorer(rows, score)
    for v in range(n):
        required = int(constraints.required[v])
        ceiling = -scorer.local(v, members_of(required)) * (1 + 1e-12)
        others = [j for j in range(n) if j != v and not (required | int(constraints.forbidden[v])) >> j & 1]
        penalty, size = scorer.penalty(v, required), required.bit_count()
        for arity in sorted(int(rows.arities[j]) for j in others):
            penalty *= arity
            if penalty > ceiling:
                break
            size += 1
        useful = max(useful, size)
    return min(most, useful)
