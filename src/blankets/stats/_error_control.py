"""How many of the members of a blanket are expected to be false.

A variable outside the true blanket is independent of the target given any set that contains that blanket, so
that each test of it at level α is wrong with probability α at most (if the test keeps its level). Among m
variables tested, α m0 are expected to get in by chance, where m0 <= m are those that do not belong there.

References
----------
Storey (2002), A direct approach to false discovery rates, JRSS B 64, 479-498.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blankets.errors import ParameterError

__all__ = ["FalseMembers", "expected_false_members"]

_MIDDLE = 0.5  # p-values above it are almost all of true hypotheses


@dataclass(frozen=True, slots=True)
class FalseMembers:
    """What chance alone contributes to a blanket.

    Attributes
    ----------
    n_tested : int
        Variables that were tested and could have been found dependent.
    at_most : float
        Expected number of false members if nothing belonged to the blanket: α times the number tested.
    expected : float
        The same, for the estimated number of variables that do not belong there.
    """

    n_tested: int
    at_most: float
    expected: float

    def share_of(self, n_members: int) -> float:
        """Return the expected share of false ones among so many members, at most 1."""
        return min(self.expected / n_members, 1.0) if n_members else 0.0


def expected_false_members(log_p: NDArray[np.float64], dof: NDArray[np.float64], alpha: float) -> FalseMembers:
    """Return how many false members to expect, from the last test of every candidate.

    It holds for tests given sets that were fixed beforehand, or that contain the true blanket; that the
    search picked its sets by looking at the same data is not accounted for.

    Parameters
    ----------
    log_p : ndarray of shape (n,)
        Log p-values of the last test of each candidate: of members given the other members, of all others
        given the members. NaN where a test was not performed.
    dof : ndarray of shape (n,)
        Degrees of freedom; 0 where there was nothing to test.
    alpha : float
        The level of every test.

    Examples
    --------
    >>> p = np.concatenate([[1e-9, 1e-5], np.linspace(0.01, 0.99, 98)])  # two members, 98 others
    >>> found = expected_false_members(np.log(p), np.ones(100), alpha=0.01)
    >>> found.n_tested, found.at_most, round(found.expected, 2), round(found.share_of(2), 2)
    (100, 1.0, 0.98, 0.49)
    """
    if not 0 < alpha < 1:
        raise ParameterError.out_of_range("alpha", alpha, "a significance level between 0 and 1, both excluded")
    tested = ~np.isnan(log_p) & (np.asarray(dof) > 0)
    n = int(np.count_nonzero(tested))
    above = int(np.count_nonzero(log_p[tested] > math.log(_MIDDLE)))
    true = min(above / (1.0 - _MIDDLE), float(n))
    return FalseMembers(n, alpha * n, alpha * true)
