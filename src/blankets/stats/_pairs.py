"""Two columns that act only together: all pairs at once, by one matrix product (methods, section 10.7).

Let r be what is left of y given z and the columns by themselves, and F their first functions, beside z. Then
S = F diag(r) Fᵀ has mean 0 wherever no product of two columns tells anything of y, and its variances are in
(F∘F) diag(r²) (F∘F)ᵀ. The largest of them are asked again by the score of their own draws.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from blankets.stats._given_functions import beside, orthonormal
from blankets.stats._held_fixed import GivenSet, Side
from blankets.stats._score import Score

MOST_COLUMNS = 400  # a pair of 400 columns is tested at a millionth of the level
_LEVELS = 3  # functions of a category
_ROWS_A_FUNCTION = 20  # so that effects of single columns can be taken out
_AGAIN = 10  # pairs that are asked again
_NEAR = 10.0  # times the level, by the normal law: its tail is not that of few rows
_OWN = 1e-3  # share of a function's variance that z must leave

Floats = NDArray[np.float64]


class TogetherPair(NamedTuple):
    """Two columns, and the p-value of their strongest product times the number of products that were compared."""

    one: int
    other: int
    log_p: float


def strongest_pair(given: GivenSet, side: Side, columns: Sequence[int], level: float) -> TogetherPair | None:
    """Return the columns that tell most of y together, each pair's p-value times their number being at most a level.

    ``side``: of y, given z. ``columns``: those outside.

    Examples
    --------
    >>> from blankets.stats import Draws, GivenFunctions, Values
    >>> rng = np.random.default_rng(0)
    >>> table = rng.normal(size=(6, 1000))
    >>> table[5] += 0.3 * np.sign(table[1]) * np.sign(table[4])
    >>> given = GivenSet(GivenFunctions([Values(v, is_number=True) for v in table].__getitem__, Draws(1000)), (0,))
    >>> strongest_pair(given, Side(given, 5), [1, 2, 3, 4], 0.01)[:2]
    (1, 4)
    """
    draws, functions = given.draws, given.functions
    parts = [functions.first(j)[:_LEVELS] for j in columns]
    first, owner = np.vstack([*parts, np.zeros((0, draws.n_rows))]), np.repeat(columns, [len(part) for part in parts])
    weighted = draws.weighted(first)
    own = weighted - (weighted @ given.basis.T) @ given.basis
    size = np.sqrt(np.einsum("ij,ij->i", own, own) / draws.n_rows)
    kept = size > math.sqrt(_OWN)
    owner, own = owner[kept], draws.unweighted(own[kept] / size[kept, None])
    if len(own) < 2:
        return None
    basis = orthonormal(np.vstack([given.basis, side.new]))
    if len(own) <= draws.n_rows / _ROWS_A_FUNCTION:
        basis = np.vstack([basis, beside(draws.weighted(own), basis)])
    left = side.first - (side.first @ basis.T) @ basis
    taken = draws.taken(basis)
    i, j = np.triu_indices(len(owner), 1)
    apart = owner[i] != owner[j]
    i, j = i[apart], j[apart]
    n_compared = len(i) * len(left)
    if not n_compared:
        return None
    found: list[tuple[float, int, int, int]] = []
    for k, r in enumerate(draws.weighted(left)):
        z = _standardized_sums(own, r)[i, j]
        near = np.flatnonzero(np.abs(z) >= -ndtri(min(_NEAR * level / n_compared, 1.0) / 2.0))
        found += [(-abs(float(z[at])), int(i[at]), int(j[at]), k) for at in near]
    best: TogetherPair | None = None
    for _, a, b, k in sorted(found)[:_AGAIN]:
        product = draws.weighted((own[a] * own[b])[None])
        product = product - (product @ basis.T) @ basis
        log_p = Score(draws.summed(product * left[k]), taken).log_p + math.log(n_compared)
        if log_p <= min(math.log(level), math.inf if best is None else best.log_p):
            best = TogetherPair(int(owner[a]), int(owner[b]), log_p)
    return best


def _standardized_sums(functions: Floats, r: Floats) -> Floats:
    """Return Σ r f g, for all pairs of functions, in standard errors: of f g less its mean."""
    mean = functions @ functions.T / functions.shape[1]
    total, second = (functions * r) @ functions.T, (functions * r**2) @ functions.T
    squares = functions**2
    variance = (squares * r**2) @ squares.T - 2.0 * mean * second + mean**2 * float(r @ r)
    return np.asarray((total - mean * r.sum()) / np.sqrt(np.maximum(variance, 1e-12 * float(r @ r))))
