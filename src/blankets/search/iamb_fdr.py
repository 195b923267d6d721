"""IAMB-FDR: membership decided for all variables together, at a controlled false discovery rate.

Each round tests *every* variable against the target given the other members: those inside given the rest,
those outside given all. The p-values are judged together by the procedure of Benjamini and Yekutieli,
which holds under any dependence between the tests. The member with the largest p-value among those that
fail leaves; if none fails, the variable outside with the smallest p-value among those that pass enters.
At the end the members are exactly the discoveries, and the expected share of false ones among them is at
most ``alpha`` (Peña 2008, theorem 1, for given conditioning sets; searching for them is not accounted for).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from blankets.independence import IndependenceTest
from blankets.search._contract import Algorithm, Found, Trace
from blankets.search.inter_iamb import CYCLE

__all__ = ["ALGORITHMS", "adjusted_log_p", "iamb_fdr"]


def iamb_fdr(tests: IndependenceTest, target: int, candidates: Sequence[int], *, alpha: float, trace: Trace) -> Found:
    """Return the Markov blanket of ``target``; ``alpha`` is the false discovery rate among its members."""
    blanket: list[int] = []
    seen: set[frozenset[int]] = set()
    while frozenset(blanket) not in seen:
        seen.add(frozenset(blanket))
        inside = tests.drop_one(blanket, target)
        outside = tests.scan([x for x in candidates if x not in blanket], target, blanket)
        adjusted = adjusted_log_p(np.concatenate([inside.log_p, outside.log_p]))
        keep = ~(adjusted[: len(inside)] > math.log(alpha))  # a member that could not be tested stays (NaN)
        enter = adjusted[len(inside) :] <= math.log(alpha)

        if not keep.all():
            worst = inside[int(inside.order(~keep)[-1])]
            blanket.remove(worst.x)
            trace.removed(worst, "shrinking", "not a discovery at this false discovery rate; the weakest of them")
        elif enter.any():
            best = outside[int(outside.order(enter)[0])]
            trace.passed_over(outside, "growing")
            blanket.append(best.x)
            trace.admitted(best, "growing", "the strongest discovery at this false discovery rate")
        else:
            trace.passed_over(outside, "growing")
            return Found(members=tuple(blanket))
    trace.note(CYCLE)
    return Found(members=tuple(blanket))


def adjusted_log_p(log_p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log p-values adjusted after Benjamini & Yekutieli (2001), of the tests that were performed.

    The i-th smallest of m becomes the least p_j m (1 + 1/2 + ... + 1/m) / j over j >= i, at most 1.

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


ALGORITHMS = (
    Algorithm(
        name="iamb-fdr",
        run=iamb_fdr,
        reference="Peña (2008), Learning Gaussian graphical models of gene networks with false discovery rate "
        "control, Proceedings of EvoBIO 2008, LNCS 4973, 165-176.",
        sound=True,
        roles=False,
        when="Many features and few true members: false members are to be rare, some missed ones can be borne.",
    ),
)
