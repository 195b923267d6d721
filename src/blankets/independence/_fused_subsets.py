"""The search for the subset that separates best, in one compiled call for all candidates and all subsets.

Subsets are tried in the order of `blankets.independence.subsets`. The joint codes of a subset are extended from those
of the one before it, as far as the two begin alike.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from blankets.counting import DenseTable, Strata
from blankets.independence._fused import Formula, test_columns
from blankets.stats import log_chi2_tail

__all__ = ["Weakest", "separate_columns"]


class Weakest(NamedTuple):
    """The weakest evidence about each candidate so far, all arrays of shape (candidates,) but ``places``.

    Attributes
    ----------
    statistic, dof, log_p : ndarray of float64
    reliable : ndarray of bool
        Whether any test was performed.
    settled : ndarray of bool
        Whether one found independence, so that no more are wanted.
    size : ndarray of int64
        Size of the set behind the evidence.
    places : ndarray of int64 of shape (candidates, largest size)
        That set, as places among the columns to choose from.
    """

    statistic: NDArray[np.float64]
    dof: NDArray[np.float64]
    log_p: NDArray[np.float64]
    reliable: NDArray[np.bool_]
    settled: NDArray[np.bool_]
    size: NDArray[np.int64]
    places: NDArray[np.int64]


@njit(nogil=True, cache=True)
def separate_columns(
    table: DenseTable,
    formula: Formula,
    xs: NDArray[np.int64],
    y: int,
    among: NDArray[np.int64],
    fixed: int,
    chosen: NDArray[np.int64],
    sizes: NDArray[np.int64],
    log_alpha: float,
    patience: int,
    strata: Strata,
    weakest: Weakest,
) -> int:
    """Test each of ``xs`` against ``y`` given subsets of ``among`` and keep its weakest evidence.

    Subsets come smallest first, in the order of ``among``; only those with the place ``fixed`` if that is not -1.
    ``sizes`` holds the next size and the largest one, ``chosen`` the next subset as places among the others than
    ``fixed``; both are moved on, so that a further call continues. A candidate with a p-value above exp(log_alpha) is
    settled. After ``patience`` rows x tests it comes back, so that an interrupt is heard; there is more to do while
    the next size is not beyond the largest. Returns the number of tests performed, -1 if tables are too large for this.
    """
    n_fixed, n_rest, largest = int(fixed >= 0), len(among) - int(fixed >= 0), sizes[1]
    places, given, skip = np.empty(largest, np.int64), np.empty(largest, np.int64), np.empty(len(xs), np.bool_)
    performed = 0
    while sizes[0] <= largest and performed * table.codes.shape[1] < patience:
        size = sizes[0]
        _set_given(among, fixed, chosen[: size - n_fixed], places[:size], given[:size])
        _set_skip(xs, given[:size], weakest, skip)
        n, statistic, dof, tested = test_columns(table, formula, xs, skip, y, given[:size], strata)
        if n < 0:
            return -1
        performed, n_open = performed + n, 0
        for i in range(len(xs)):
            if tested[i]:
                _weaken(weakest, i, statistic[i], dof[i], places[:size], log_alpha)
            n_open += not weakest.settled[i]
        if n_open == 0:
            sizes[0] = largest + 1
        elif not _next_combination(chosen[: size - n_fixed], n_rest):
            sizes[0] += 1
            for k in range(min(size + 1 - n_fixed, len(chosen))):
                chosen[k] = k
    return performed


@njit(nogil=True, cache=True)
def _set_given(
    among: NDArray[np.int64],
    fixed: int,
    chosen: NDArray[np.int64],
    places: NDArray[np.int64],
    given: NDArray[np.int64],
) -> None:
    """Fill in the places of a subset, ascending, and its columns, ascending too."""
    n, inserted = 0, fixed < 0
    for k in chosen:
        place = k + 1 if 0 <= fixed <= k else k
        if not inserted and place > fixed:
            places[n], inserted = fixed, True
            n += 1
        places[n] = place
        n += 1
    if not inserted:
        places[n] = fixed
    for k in range(len(places)):
        z, j = among[places[k]], k
        while j > 0 and given[j - 1] > z:
            given[j] = given[j - 1]
            j -= 1
        given[j] = z


@njit(nogil=True, cache=True)
def _set_skip(xs: NDArray[np.int64], given: NDArray[np.int64], weakest: Weakest, skip: NDArray[np.bool_]) -> None:
    """Fill in which candidates are not to be tested: the settled ones and those that are given."""
    for i in range(len(xs)):
        skip[i] = weakest.settled[i]
        for z in given:
            if z == xs[i]:
                skip[i] = True


@njit(nogil=True, cache=True)
def _weaken(
    weakest: Weakest, i: int, statistic: float, dof: float, places: NDArray[np.int64], log_alpha: float
) -> None:
    """Keep a test of candidate ``i`` if it is its weakest: the largest p-value, then the smallest statistic."""
    if weakest.reliable[i] and 0.0 < dof <= weakest.dof[i] and statistic >= weakest.statistic[i]:
        return  # stronger, or as strong, without a look at its p-value
    log_p = log_chi2_tail(statistic, dof)
    if weakest.reliable[i] and (
        log_p < weakest.log_p[i] or (log_p == weakest.log_p[i] and statistic >= weakest.statistic[i])
    ):
        return
    weakest.statistic[i], weakest.dof[i], weakest.log_p[i] = statistic, dof, log_p
    weakest.reliable[i] = True
    weakest.settled[i] = log_p > log_alpha
    weakest.size[i] = len(places)
    for k in range(len(places)):
        weakest.places[i, k] = places[k]


@njit(nogil=True, cache=True)
def _next_combination(chosen: NDArray[np.int64], n: int) -> bool:
    """Move on to the next combination of places below ``n`` in lexicographic order; tell whether there was one."""
    k = len(chosen) - 1
    while k >= 0 and chosen[k] == n - len(chosen) + k:
        k -= 1
    if k < 0:
        return False
    chosen[k] += 1
    for j in range(k + 1, len(chosen)):
        chosen[j] = chosen[j - 1] + 1
    return True
