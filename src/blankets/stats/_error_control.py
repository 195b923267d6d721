"""How many of the members of a blanket are expected to be false.

A variable outside the true blanket is independent of the target given any set that contains that blanket. So
each test of it at level α is wrong with probability at most α (if the test has the right level). Among m tested
variables, α m0 are expected to enter by chance, where m0 <= m is the number of variables outside the true blanket.
A search that tests a variable many times, given a growing set, gives more chances: α times their number is a bound.
A search that admits a variable only if no subset separates it is wrong less often: all of its tests must be wrong.
Given one more unrelated variable, G grows by an independent chi-square for the new strata, so a wrong test is wrong
again with a probability s that depends on its G (`again_wrong`). Tests given different variables share that G, so all
of k are wrong with probability E[s^k]. The strongest come first, and one that is out puts nobody out: so a variable is
tested given the stronger false ones that stay, about a Poisson number: methods (16.2).

If the false discovery rate is controlled instead, the share of false members is at most q on average over many
tables, under any dependence between the tests (Benjamini & Yekutieli 2001). That is no bound on their number in one
table: where nothing has to do with the target, a share q of tables has members, and all of them are false.

References
----------
Benjamini & Yekutieli (2001), The control of the false discovery rate in multiple testing under dependency, Annals
of Statistics 29(4), 1165-1188.
Storey (2002), A direct approach to false discovery rates, JRSS B 64, 479-498.
Tsamardinos & Brown (2008), Bounding the false discovery rate in local Bayesian network learning, AAAI, 1100-1105.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from blankets.errors import ParameterError, guarded
from blankets.records import Bounds, Count, NonNegative
from blankets.stats._special import chi2_isf, chi2_sf

_EACH = 10  # every tenth of the values of `again_wrong` is enough for a sum
_MIDDLE = 0.5  # p-values above it almost all belong to true hypotheses
ASSUMPTIONS = {
    "level": "if every test keeps its level, and each conditioning set contains the true blanket or a separating set; "
    "it does not account for a search that chose these sets from the same data",
    "fdr": "for any dependence between tests, if every test keeps its level, and each conditioning set contains the "
    "true blanket or a separating set; it does not account for a search that chose these sets from the same data",
}


@guarded
@dataclass(frozen=True, slots=True)
class FalseMembers:
    """How many members of a blanket are expected by chance alone.

    Attributes
    ----------
    n_tested : int
        Number of variables that were tested and could have been found dependent.
    expected : float or None
        Expected number of false members: α times the estimated number of variables outside the true blanket. None if
        there is no theory for the search.
    at_most : float or None
        An upper bound of that: α times the number of tests that could have admitted a variable. A search that
        tests a variable given one set after another gives it a chance each time.
    controls : {"level", "fdr"}
        Whether the search controls the level of each test, or the false discovery rate among the members. That rate
        is a mean share over many tables. It bounds no number in one table (where no variable has to do with the
        target, every member is false), so that ``expected`` and ``at_most`` are None.
    alpha : float
        That level or rate.

    Examples
    --------
    >>> from blankets import FalseMembers
    >>> by_chance = FalseMembers(n_tested=200, expected=1.9, at_most=2.4, controls="level", alpha=0.01)
    >>> by_chance.chances  # that variables had to get in
    240
    """

    n_tested: Count
    expected: NonNegative | None
    at_most: NonNegative | None
    controls: Literal["level", "fdr"]
    alpha: Annotated[float, Bounds(math.ulp(0.0), 1.0)]

    @property
    def words(self) -> str:
        """The expected number, as precisely as it is known: "about 0.3", "below 0.01"; empty where it is not known."""
        if self.expected is None:
            return ""
        return "below 0.01" if self.expected < 0.01 else f"about {self.expected:.2g}"

    @property
    def assumption(self) -> str:
        """What must be true for the numbers to be right."""
        return ASSUMPTIONS[self.controls]

    def _derived(self) -> dict[str, object]:
        return {"assumption": self.assumption}

    @property
    def chances(self) -> int:
        """Number of tests that could have admitted a variable, if each has the level ``alpha``; else 0."""
        return 0 if self.at_most is None else round(self.at_most / self.alpha)

    def share_of(self, n_members: int) -> float:
        """Return the expected share of false members among this many members, at most 1; NaN where it is not known."""
        if self.expected is None:
            return math.nan
        return min(self.expected / n_members, 1.0) if n_members else 0.0


def expected_false_members(
    log_p: NDArray[np.float64],
    dof: NDArray[np.float64],
    alpha: float,
    *,
    n_chances: int = 0,
    ends: int = 0,
    n_true: int = 0,
    by_functions: NDArray[np.bool_] | None = None,
) -> FalseMembers:
    """Return the expected number of false members, from the last test of every candidate.

    It is right for tests given sets that were fixed beforehand, or that contain the true blanket. It does not
    account for a search that chose its sets by the same data.

    ``log_p``, of shape (n,): log p-values of the last test of each candidate: of members given the other members, of
    all others given the members. NaN if a test was not performed. ``dof``, of shape (n,): degrees of freedom; 0
    if there was nothing to test. ``alpha``: the level of every test. ``n_chances``:
    number of tests that could have admitted a variable; default: one for each variable. ``ends``: at how many ends of
    an edge (the target's, the variable's) all subsets of the neighbors must fail to separate the two. ``n_true``:
    members given which a false one must be tested as well. ``by_functions``, of shape (n,): whose tests compare
    functions of columns: one more unrelated variable hardly changes these, so that no subset separates what entered by
    chance; default: none.

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
    expected = alpha * true
    counted = tested if by_functions is None else tested & ~by_functions
    if ends and counted.any():
        freedom = float(np.median(np.asarray(dof)[counted]))
        entering = expected * float(np.count_nonzero(counted)) / n
        expected += _after_subsets(entering, freedom, alpha, ends, n_true) - entering
    return FalseMembers(n, expected, alpha * max(n, n_chances), "level", alpha)


def _after_subsets(entering: float, dof: float, alpha: float, ends: int, n_true: int) -> float:
    """Return how many of the variables that enter by chance no subset separates, methods (16.2).

    ``entering``: their expected number. ``ends``: at how many ends of an edge subsets are tried. ``n_true``: true
    members, which are tried as well.
    """
    again = again_wrong(dof, alpha)[_EACH // 2 :: _EACH]  # from the strongest to the weakest
    stay, stronger = again**n_true, 0.0
    each, expected = entering / len(again), 0.0
    for given_true, s in zip(stay.tolist(), again.tolist(), strict=True):
        at_one_end = math.exp(-stronger * (1.0 - s))
        expected += each * given_true * at_one_end**ends
        stronger += each * given_true * at_one_end
    return expected


@lru_cache(maxsize=256)
def again_wrong(dof: float, alpha: float) -> NDArray[np.float64]:
    """Return, for equally likely values of G of wrong tests, how likely a test is wrong again given one more variable.

    With an unrelated variable of ``dof`` + 1 levels, G is the old G plus an independent chi-square with ``dof``²
    degrees of freedom, and its critical value is that for all degrees of freedom together.

    Examples
    --------
    With two degrees of freedom the excess over the critical value is exponential, which leaves P(χ²(6) > 7.6):

    >>> more = chi2_isf(0.01, 6) - chi2_isf(0.01, 2)
    >>> round(float(again_wrong(2.0, 0.01).mean()), 4), round(float(chi2_sf(more, 6)), 4)
    (0.2688, 0.2688)
    """
    wrong = chi2_isf(alpha * (np.arange(2000) + 0.5) / 2000, dof)
    return np.asarray(chi2_sf(np.maximum(chi2_isf(alpha, dof + dof**2) - wrong, 0.0), dof**2))


def adjusted_log_p(log_p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log p-values adjusted after Benjamini & Yekutieli (2001), of the tests that were performed.

    The i-th smallest of m becomes the smallest p_j m (1 + 1/2 + ... + 1/m) / j over j >= i, at most 1.

    Examples
    --------
    >>> p = np.array([0.01, 0.04, np.nan, 0.02])
    >>> np.exp(adjusted_log_p(np.log(p))).round(6)  # 0.01 * 3 * (1 + 1/2 + 1/3), 0.04 * 11/6, ...
    array([0.055   , 0.073333,      nan, 0.055   ])
    """
    adjusted = np.full(len(log_p), np.nan)
    performed = np.flatnonzero(~np.isnan(log_p))
    order = performed[np.argsort(log_p[performed], kind="stable")]
    rank = np.arange(1, len(order) + 1)
    scaled = log_p[order] + np.log(len(order) / rank) + np.log((1.0 / rank).sum() if len(rank) else 1.0)
    adjusted[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 0.0)
    return adjusted
