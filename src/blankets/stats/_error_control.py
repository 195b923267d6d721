"""How many of the members of a blanket are expected to be false.

A variable outside the true blanket is independent of the target given any set that contains that blanket. So
each test of it at level α is wrong with probability at most α (if the test has the right level). Among m tested
variables, α m0 are expected to enter by chance, where m0 <= m is the number of variables outside the true blanket.
A search that tests a variable many times, given a growing set, gives more chances: α times their number is a bound.
How many enter on average depends on how the search admits them: `blankets.stats._by_chance`.

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
from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from blankets.errors import ParameterError, guarded
from blankets.records import Bounds, Count, NonNegative
from blankets.stats._by_chance import Admission, by_functions, by_tables

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
        Expected number of false members, from α, the estimated number of variables outside the true blanket and how
        the search admits variables. None if there is no theory for the search.
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
    n_chances: float = 0,
    own_dof: NDArray[np.float64] | None = None,
    how: Admission | None = None,
    functions: NDArray[np.bool_] | None = None,
) -> FalseMembers:
    """Return the expected number of false members, from the last test of every candidate.

    It is right for tests given sets that were fixed beforehand, or that contain the true blanket, and for the ways of
    choosing sets by the same data that ``how`` knows.

    ``log_p``, of shape (n,): log p-values of the last test of each candidate: of members given the other members, of
    all others given the members. NaN if a test was not performed. ``dof``, of shape (n,): degrees of freedom; 0
    if there was nothing to test. ``alpha``: the level of every test. ``n_chances``: number of tests that could have
    admitted a variable; default: one for each variable. ``own_dof``, of shape (n,): degrees of freedom given nothing;
    default: ``dof``. ``how``: how the search admits; default: by one test. ``functions``, of shape (n,): whose tests
    compare functions of columns; default: none.

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
    how = Admission() if how is None else how
    own = np.asarray(dof if own_dof is None else own_dof, np.float64)
    measured = np.zeros(len(tested), np.bool_) if functions is None else functions
    expected = 0.0
    for kind, law in ((tested & ~measured, by_tables), (tested & measured, by_functions)):
        if of_kind := int(np.count_nonzero(kind)):
            expected += law(true * of_kind / n, float(np.median(own[kind])), alpha, how, n)
    looks = 1.0 + expected if how.deepest is not None else 1.0  # of a search that looks again after each entry
    return FalseMembers(n, expected, alpha * max(n * looks, n_chances), "level", alpha)


def holm(log_p: ArrayLike) -> NDArray[np.float64]:
    """Return p-values adjusted after Holm (1979): rejecting those below a level makes any error with its probability.

    Examples
    --------
    >>> holm(np.log([0.01, 0.04, 0.03])).round(6).tolist()  # 3 x 0.01, 2 x 0.03, then no less
    [0.03, 0.06, 0.06]
    """
    logs = np.asarray(log_p, float)
    order = np.argsort(logs, kind="stable")
    adjusted = np.empty(len(logs))
    adjusted[order] = np.minimum(np.maximum.accumulate(np.exp(logs[order]) * np.arange(len(logs), 0, -1)), 1.0)
    return adjusted


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
