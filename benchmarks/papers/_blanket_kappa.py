"""κ̄ of a whole blanket: how many times fewer rows Y needs than Ỹ0, for a target whose network is known.

Errata B4 gives κ̄ of one conditional test: its noncentrality with Ỹ0 over that with Y. A blanket is found by several,
and one size of the sample must do for all. What decides about a true member X is its test given all that the search
has admitted when it stops growing (less X): call that Z. From the network, I(X;Y|Z) and I(X;Ỹ0|Z) are exact, and their
ratio is the κ̄ of this test (B4's for small effects; for large ones with what B2 adds). With noncentral χ² the member
is missed with probability F(c; df, 2 N I). One κ̄ for the target is then Definition 4.2 for the sum: N/κ̄ rows with Ỹ0
miss as many members, in expectation, as N rows with Y,

    Σ_X F(c_X; df_X, 2 (N/κ̄) I(X;Ỹ0|Z)) = Σ_X F(c_X; df_X, 2 N I(X;Y|Z)).

It lies between the smallest and the largest κ̄ of the members, and leans to those that are neither certain to be found
nor certain to be missed. df_X is the same on both sides: the expected degrees of freedom of the test with Y at N rows,
counted where there is something to compare (values and classes that appear in a stratum, less one each).
"""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import xlogy
from scipy.stats import chi2, ncx2

from blankets.data import Frame
from blankets.errors import DataError
from blankets.simulate import Network

SAMPLED = 1_000_000  # rows, where an exact table is too large

Floats = NDArray[np.float64]


class Member(NamedTuple):
    """The test of a member given the others: its degrees of freedom, and its information in nats by Y and by Ỹ0."""

    name: str
    dof: float
    full: float
    hidden: float


def members(known: Network, target: str, given: frozenset[str], labeled: float, rows: int) -> tuple[Member, ...]:
    """Return the true members' tests given the others of ``given``, if this share of the positives is labeled.

    Positive is the target's first state.
    """
    return tuple(
        Member(x, *effect(known, target, x, tuple(sorted(given - {x})), labeled, rows))
        for x in sorted(known.blanket(target))
    )


@cache
def effect(
    known: Network, target: str, x: str, others: tuple[str, ...], labeled: float, rows: int
) -> tuple[float, float, float]:
    """Return the degrees of freedom of a test given others, and the information of x about Y and about Ỹ0 in nats."""
    joint, noise = law(known, target, x, others)
    full, hidden = information(joint), information(thinned(joint, labeled))
    left = max(full - noise, 0.0) / full if full > 0 else 0.0
    return expected_dof(joint, rows), full * left, hidden * left


def law(known: Network, target: str, x: str, others: tuple[str, ...]) -> tuple[Floats, float]:
    """Return the chances of (positive or not, x, others), and how much information chance adds to it.

    The latter is not zero where the table is too large to be had exactly: then it is that of many sampled rows.
    """
    try:
        joint = known.marginal(x, target, *others)
    except DataError:
        table = counted(large_sample(known), target, x, others)
        levels, classes = np.any(table, axis=0).sum(axis=0), np.any(table, axis=1).sum(axis=0)
        return table / SAMPLED, float(np.sum((levels - 1.0) * (classes - 1.0))) / (2 * SAMPLED)
    joint = joint.reshape(*joint.shape[:2], -1)
    joint = joint[..., joint.any(axis=(0, 1))]
    return np.stack([joint[:, 0], joint[:, 1:].sum(axis=1)]), 0.0


@cache
def large_sample(known: Network) -> Frame:
    """Return many rows."""
    return known.sample(SAMPLED, np.random.default_rng(2015))


def counted(frame: Frame, target: str, x: str, others: tuple[str, ...]) -> Floats:
    """Return counts of (positive or not, x, the strata that appear)."""
    strata = np.zeros(frame.n_rows, np.int64)
    for column in map(frame.index, others):
        strata = np.unique(strata * frame.arities[column] + frame.column(column), return_inverse=True)[1]
    n_strata, n_levels = int(strata.max()) + 1, int(frame.arities[frame.index(x)])
    negative = (frame.column(frame.index(target)) > 0).astype(np.int64)
    cells = (negative * n_levels + frame.column(frame.index(x))) * n_strata + strata
    return np.bincount(cells, minlength=2 * n_levels * n_strata).reshape(2, n_levels, n_strata).astype(float)


def information(joint: Floats) -> float:
    """Return I(first; second | third axis) of a table of chances."""
    whole, first, second, third = (xlogy(t, t).sum() for t in (joint, *(joint.sum(axis=a) for a in (0, 1, (0, 1)))))
    return max(float(whole - first - second + third), 0.0)


def thinned(joint: Floats, labeled: float) -> Floats:
    """Return the chances of labeled and unlabeled rows, if this share of the positives is labeled."""
    return np.stack([labeled * joint[0], joint[1] + (1 - labeled) * joint[0]])


def expected_dof(joint: Floats, rows: int) -> float:
    """Return the degrees of freedom that so many rows have, in expectation, at least one."""
    classes, levels, strata = (-np.expm1(-rows * joint.sum(axis=a)) for a in (1, 0, (0, 1)))
    return max(float(np.sum((levels.sum(axis=0) - strata) * classes.prod(axis=0))), 1.0)


def missed(tests: tuple[Member, ...], rows: float, alpha: float, *, hidden: bool) -> float:
    """Return how many members are missed, in expectation."""
    dof = np.array([test.dof for test in tests])
    nats = np.array([test.hidden if hidden else test.full for test in tests])
    return float(ncx2.cdf(chi2.isf(alpha, dof), dof, np.maximum(2 * rows * nats, 1e-9)).sum())


def kappa_of_blanket(tests: tuple[Member, ...], rows: int, alpha: float) -> float:
    """Return κ̄: with rows/κ̄ rows Ỹ0 misses as many members as Y with ``rows``; NaN if no test has an effect."""
    ratios = [test.hidden / test.full for test in tests if test.full > 1e-9]
    if not ratios:
        return math.nan
    low, high = min(ratios), max(ratios)
    wanted = missed(tests, rows, alpha, hidden=False)

    def excess(log_kappa: float) -> float:
        return missed(tests, rows / math.exp(log_kappa), alpha, hidden=True) - wanted

    ends = math.log(low), math.log(high)
    if excess(ends[0]) >= 0 or excess(ends[1]) <= 0:  # all alike, or all certain: rounding decides
        return low if excess(ends[0]) >= 0 else high
    return math.exp(brentq(excess, *ends))
