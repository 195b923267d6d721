"""Tests of independence with p-values that are right in sparse tables too.

The textbook takes G for chi-square distributed. With many strata, rare levels or few rows it is not: at
level 0.01 such a test may reject half of all true hypotheses, or none. Here G is compared with its own
distribution given the margins of every stratum, by the first of three ways that is good enough:

1. *asymptotic*: every expected count is at least 5; chi-square with Bartlett's correction.
2. *moments*: a multiple of chi-square with the exact mean and variance of G.
3. *permutation*: fewer than `FEW` rows can change places, so that G takes few values (`FEW_RARE`, where rare
   levels carry few degrees of freedom), and the p-value of the moments is neither clearly large nor clearly
   small; x is permuted within the strata.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from blankets.counting import Counter
from blankets.errors import ParameterError
from blankets.independence._evidence import EvidenceBatch
from blankets.independence._tables import TableTests
from blankets.stats import (
    LARGE,
    log_p_from_moments,
    moments_of_block,
    permutation_p,
    permutations_of_block,
    statistics_of_block,
)

__all__ = ["METHODS", "CalibratedTests", "table_tests"]

FEW, FEW_RARE = 100, 300
RARE, FEW_DEGREES = 1.0, 40.0  # an expected count below the first, fewer degrees of freedom than the second
# Moments say that p is above this: far above any level in use.
CLEARLY_LARGE = 0.25
# Moments say that p is below this, and Cantelli's inequality bounds it by 0.001, or no level is rare: theirs is
# taken, since no number of permutations could measure it.
CLEARLY_SMALL, CANTELLI = 1e-5, 1000.0

METHODS = (
    "not performed",
    "nothing to test: no rows can change places within the strata",
    f"asymptotic: every expected count is at least {LARGE:g}",
    f"moments: some expected counts are below {LARGE:g}",
    "permutation: too few rows can change places within the strata for a formula",
)
_NONE, _NOTHING, _ASYMPTOTIC, _MOMENTS, _PERMUTATION = range(5)

Arrays = tuple[NDArray[np.float64], ...]


class CalibratedTests(TableTests):
    """G tests on count tables, with p-values from the distribution of G given the margins.

    Parameters
    ----------
    counter : Counter
        Where the counts come from.
    reliability : float
        A test is performed if there are at least this many rows for each *nominal* degree of freedom;
        0 performs all tests.
    strength : {"p-value", "information"}
        What `EvidenceBatch.strongest` compares.
    seed : int
        Of the permutations, >= 0. The same seed gives the same answer in any order of rows, columns, levels
        and tests.

    Examples
    --------
    >>> from blankets.counting import MemoryCounter
    >>> from blankets.data import Frame
    >>> frame = Frame.from_codes([[0, 0], [0, 0], [0, 1], [1, 0], [1, 1], [1, 1]] * 20)
    >>> evidence = CalibratedTests(MemoryCounter(frame)).test(0, 1)
    >>> round(evidence.statistic, 3), evidence.dof, evidence.method
    (13.592, 1.0, 'permutation: too few rows can change places within the strata for a formula')
    """

    def __init__(
        self,
        counter: Counter,
        *,
        reliability: float = 5.0,
        strength: str = "p-value",
        seed: int = 0,
    ) -> None:
        super().__init__(counter, reliability=reliability, strength=strength)
        if not 0 <= seed < 1 << 63:
            raise ParameterError.out_of_range("seed", seed, "a whole number from 0 to 2**63 - 1")
        self._permutations = permutations_of_block(counter.n_rows, seed)
        statistics = statistics_of_block(counter.n_rows)

        def all_of_block(counts: NDArray[np.int32]) -> Arrays:
            return (*statistics(counts), *moments_of_block(counts))

        self._all = all_of_block

    def _scan(
        self, xs: NDArray[np.int64], y: int, given: tuple[int, ...], *, even_if_unreliable: bool
    ) -> EvidenceBatch:
        reliable = self.counter.n_rows >= self.reliability * self._nominal(xs, y, given)
        statistic, dof, log_p = np.full(len(xs), np.nan), np.zeros(len(xs)), np.full(len(xs), np.nan)
        method = np.full(len(xs), _NONE, np.int8)
        at = np.arange(len(xs)) if even_if_unreliable else np.flatnonzero(reliable)
        if len(at):
            statistic[at], dof[at], *moments = self.counter.summarise(self._all, xs[at], y, given)
            log_p[at], method[at] = self._judged(xs[at], y, given, statistic[at], *moments)
        self.tally.add(int(np.count_nonzero(reliable)))
        return EvidenceBatch(
            xs,
            y,
            given,
            statistic=statistic,
            dof=dof,
            n_rows=self.counter.n_rows,
            reliable=reliable,
            log_p=log_p,
            by_effect=self.by_effect,
            method=method,
            methods=METHODS,
        )

    def _judged(
        self,
        xs: NDArray[np.int64],
        y: int,
        given: tuple[int, ...],
        statistic: NDArray[np.float64],
        mean: NDArray[np.float64],
        variance: NDArray[np.float64],
        least: NDArray[np.float64],
        movable: NDArray[np.float64],
    ) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
        """Return log p-values and how they were found."""
        log_p = log_p_from_moments(statistic, mean, variance)
        method = np.where(least >= LARGE, _ASYMPTOTIC, _MOMENTS).astype(np.int8)
        method[movable == 0] = _NOTHING
        far = (statistic - mean) ** 2 >= CANTELLI * variance
        settled = (log_p > math.log(CLEARLY_LARGE)) | ((log_p < math.log(CLEARLY_SMALL)) & (far | (least >= RARE)))
        rare = (least < RARE) & (2.0 * mean * mean < FEW_DEGREES * variance)
        at = np.flatnonzero((movable < np.where(rare, FEW_RARE, FEW)) & ~settled)
        if len(at):
            equal_or_larger, larger, drawn = self.counter.summarise(self._permutations, xs[at], y, given)
            p = np.log(permutation_p(equal_or_larger, larger, drawn))
            # Where no permutation reached the data, the moments tell by how far.
            log_p[at] = np.where(equal_or_larger == 0, np.minimum(p, log_p[at]), p)
            method[at] = _PERMUTATION
        return log_p, method


def table_tests(
    counter: Counter,
    *,
    statistic: str = "g",
    dof: str = "adjusted",
    reliability: float = 5.0,
    strength: str = "p-value",
    seed: int = 0,
) -> TableTests:
    """Return the tests on count tables that the user named: calibrated for "auto", of one formula for "g" and "x2".

    Examples
    --------
    >>> from blankets.counting import MemoryCounter
    >>> from blankets.data import Frame
    >>> counter = MemoryCounter(Frame.from_codes([[0, 1], [1, 1], [0, 0]]))
    >>> [type(table_tests(counter, statistic=kind)).__name__ for kind in ("auto", "g")]
    ['CalibratedTests', 'TableTests']
    """
    if statistic != "auto":
        return TableTests(counter, statistic=statistic, dof=dof, reliability=reliability, strength=strength)
    if dof != "adjusted":
        raise ParameterError(
            f"dof={dof!r} has no meaning for test='auto', which needs no formula; use it with test='g'"
        )
    return CalibratedTests(counter, reliability=reliability, strength=strength, seed=seed)
