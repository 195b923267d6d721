"""How many columns that have nothing to do with the target a search lets in by chance: methods, section 16.

Three laws, one for each way of searching. A wrong test of such a column is wrong again, given one more unrelated
column, with a probability that depends on its statistic: of count tables, G grows by an independent chi-square for the
new strata; of functions of columns it moves by an amount of the order one over the root of the rows.

* A search through small sets keeps a column only if it stays wrong given the others that do.
* A search that grows looks at all columns again after each one that it takes; each look is another chance.
* Closing looks once more given the members, at a level that holds for all columns together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from blankets.stats._special import chi2_isf
from blankets.stats._tail import chi2_sf

_N = 200  # equally likely values of the statistic of a wrong test
_BELOW, _ABOVE = 80, 40  # cells of p-values below the level and above it
_RARELY = 1e-4  # looks that are taken less often than this are left out
_CLOSING = 5  # columns that closing lets in at most


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """How a search admits columns, as far as chance is concerned.

    ``ends``: at how many ends of an edge (the target's, the column's) all subsets of the neighbors must fail to
    separate the two; 0 if the search does not try subsets. ``together``: whether columns put each other out at once,
    and not the strongest first. ``n_true``: true members, given which a false one must be tested as well. ``deepest``:
    for a search that looks at all columns again after each one that it takes, the most members given which a column can
    be tested; None for others. ``closes``: whether the answer was closed. ``target_dof``: degrees of freedom of the
    target, a class less than it has. ``n_rows``: rows that the tests use.
    """

    ends: int = 0
    together: bool = False
    n_true: int = 0
    deepest: int | None = None
    closes: bool = False
    target_dof: float = 1.0
    n_rows: float = 1e9


def by_tables(n: float, dof: float, alpha: float, how: Admission, n_columns: int) -> float:
    """Return how many of ``n`` unrelated columns become members by chance, tested by count tables.

    ``dof``: degrees of freedom of a test given nothing. ``n_columns``: number of all columns, at which closing looks.

    Examples
    --------
    Without subsets or further looks, the level times their number:

    >>> by_tables(40, 1.0, 0.05, Admission(), 40)
    2.0
    """
    if how.deepest is not None:
        law = _law_of_growing(n, dof, alpha, how)
        entered = float(np.arange(len(law)) @ law)
        law[:-1] = 0.0  # closing finds nothing where the search itself found that nobody depends
    elif how.ends:
        again = again_wrong(dof, 1.0 + dof / how.target_dof, alpha)
        entered = _after_subsets(alpha * n, again, how)
        law = _poisson(entered)
        law[0] *= how.n_true > 0  # given nothing the columns were tested before
    else:
        return alpha * n
    return entered + (_by_closing(law, alpha, how.n_true) * n / max(n_columns, 1) if how.closes else 0.0)


def by_functions(n: float, dof: float, alpha: float, how: Admission, n_columns: int) -> float:
    """Return how many of ``n`` unrelated columns become members by chance, tested by functions of columns.

    Given other unrelated columns their tests hardly change, so that neither a further look nor closing finds more.

    Examples
    --------
    With very many rows, no wrong test becomes right given one more unrelated column:

    >>> few, many = (by_functions(40, 4.0, 0.05, Admission(ends=2, n_rows=rows), 40) for rows in (300, 3e6))
    >>> few < many, round(many, 2)
    (True, 1.99)
    """
    if not how.ends:
        return alpha * n
    return _after_subsets(alpha * n, _again_by_functions(dof, alpha, how.n_rows, how.target_dof), how, n_true=0)


def _after_subsets(entering: float, again: NDArray[np.float64], how: Admission, n_true: int | None = None) -> float:
    """Return how many of the columns that enter by chance no subset separates, methods (16.2).

    ``entering``: their expected number. ``again``: how likely each is wrong again, from the strongest to the weakest.
    """
    stay, stronger = again ** (how.n_true if n_true is None else n_true), 0.0
    each, expected = entering / len(again), 0.0
    for given_true, s in zip(stay.tolist(), again.tolist(), strict=True):
        at_one_end = math.exp(-(entering if how.together else stronger) * (1.0 - s))
        expected += each * given_true * at_one_end**how.ends
        stronger += each * given_true * at_one_end
    return expected


@lru_cache(maxsize=256)
def again_wrong(dof: float, levels: float, alpha: float) -> NDArray[np.float64]:
    """Return, for equally likely values of G of wrong tests, how likely a test is wrong again given one more column.

    With an unrelated column of so many ``levels``, G is the old G plus an independent chi-square for the degrees of
    freedom that are new, and its critical value is that for all of them.

    Examples
    --------
    With two degrees of freedom the excess over the critical value is exponential, which leaves P(χ²(6) > 7.6):

    >>> more = chi2_isf(0.01, 6) - chi2_isf(0.01, 2)
    >>> round(float(again_wrong(2.0, 3.0, 0.01).mean()), 3), round(float(chi2_sf(more, 6)), 3)
    (0.269, 0.269)
    """
    wrong = chi2_isf(alpha * (np.arange(_N) + 0.5) / _N, dof)
    new = dof * (levels - 1.0)
    return np.asarray(chi2_sf(np.maximum(chi2_isf(alpha, dof + new) - wrong, 0.0), new))


@lru_cache(maxsize=256)
def _again_by_functions(dof: float, alpha: float, n_rows: float, target_dof: float) -> NDArray[np.float64]:
    """Return the same for tests by functions of columns, methods (16.4)."""
    wrong = chi2_isf(alpha * (np.arange(_N) + 0.5) / _N, dof)
    spread = 2.0 * np.sqrt(wrong * wrong.mean() / (n_rows * target_dof))
    below = (chi2_isf(alpha, dof) - wrong) / spread
    return np.array([math.erfc(z / math.sqrt(2.0)) / 2.0 for z in below.tolist()])


def _law_of_growing(n: float, dof: float, alpha: float, how: Admission) -> NDArray[np.float64]:
    """Return the probabilities of 0, 1, 2, ... columns that enter by chance in a search that grows, methods (16.3).

    The last of them are searches that rows ended.
    """
    levels = 1.0 + dof / how.target_dof
    most = 0 if how.deepest is None else min(how.deepest, int(math.log(max(how.n_rows, 1.0), levels)))
    depth = min(how.n_true, most)
    numbers = n * np.concatenate([np.full(_BELOW, alpha / _BELOW), np.full(_ABOVE, (1.0 - alpha) / _ABOVE)])
    reached, law = 1.0, list[float]()
    while True:
        below = numbers[:_BELOW]
        enters = -math.expm1(-below.sum())
        law.append(reached * (1.0 - enters))
        reached *= enters
        if depth >= most or reached < _RARELY:
            break
        stronger = np.cumsum(below) - below / 2.0  # how many are stronger; if any is, another one enters
        kept = np.concatenate([below * -np.expm1(-stronger) / enters, numbers[_BELOW:]])
        numbers = kept @ _next_look(dof * levels**depth, levels, alpha)
        depth += 1
    return np.array([*law, reached])


@lru_cache(maxsize=256)
def _next_look(dof: float, levels: float, alpha: float) -> NDArray[np.float64]:
    """Return the probabilities of going from one cell of p-values to another, given one more unrelated column."""
    edges = np.concatenate([np.linspace(0.0, alpha, _BELOW + 1), np.linspace(alpha, 1.0, _ABOVE + 1)[1:]])
    now = chi2_isf((edges[1:] + edges[:-1]) / 2.0, dof)
    then = chi2_isf(edges[1:-1], dof * levels)
    smaller = chi2_sf(np.maximum(then - now[:, None], 0.0), dof * (levels - 1.0))  # p-values than the edges
    return np.diff(smaller, axis=1, prepend=0.0, append=1.0)


def _poisson(mean: float) -> NDArray[np.float64]:
    """Return the probabilities of 0, 1, 2, ... with this mean."""
    n = np.arange(math.ceil(mean + 8.0 * math.sqrt(mean)) + 8)
    logs = np.cumsum(np.log(np.maximum(n, 1)))
    return np.exp(n * math.log(mean) - mean - logs) if mean > 0 else np.array([1.0])


def _by_closing(law: NDArray[np.float64], alpha: float, n_true: int) -> float:
    """Return how many more columns closing lets in, given probabilities of 0, 1, 2, ... members by chance.

    With k members a look lets in α (k + 1) unrelated columns on average, by (16.1), if all are; then it looks again.
    """
    more = 0.0
    for k, probability in enumerate(law.tolist(), start=n_true):
        again = 0.0
        for later in range(_CLOSING, 0, -1):
            again = min(alpha * (k + later), 1.0) * (1.0 + again)
        more += probability * again
    return more
