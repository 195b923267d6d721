"""IAMB-FDR: membership decided for all variables together, at a controlled false discovery rate.

Each round tests *every* variable against the target given the other members: those inside given the rest,
those outside given all. The p-values are judged together by the procedure of Benjamini and Yekutieli,
which holds under any dependence between the tests. The member with the largest p-value among those that
fail leaves; if none fails, the variable outside with the smallest p-value among those that pass enters.
At the end the members are exactly the discoveries, and the expected share of false ones among them is at
most ``alpha`` (Peña 2008, theorem 1, for given conditioning sets; searching for them is not accounted for).

That holds for what the search ends with, however it came there. So any grow-shrink search may go first:
FBED-FDR starts from what FBED finds, whose scans are short, and looks at all variables only in the end. One
admission and one removal at a time from an empty start is also what an "inter-IAMB-FDR" would be.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from blankets.independence import IndependenceTest
from blankets.search._contract import Algorithm, Found, Trace
from blankets.search.fbed import fbed
from blankets.search.inter_iamb import CYCLE
from blankets.stats import adjusted_log_p

__all__ = ["ALGORITHMS", "fbed_fdr", "iamb_fdr"]


def iamb_fdr(tests: IndependenceTest, target: int, candidates: Sequence[int], *, alpha: float, trace: Trace) -> Found:
    """Return the Markov blanket of ``target``; ``alpha`` is the false discovery rate among its members."""
    return settled(tests, target, candidates, [], alpha=alpha, trace=trace)


def fbed_fdr(
    tests: IndependenceTest,
    target: int,
    candidates: Sequence[int],
    *,
    alpha: float,
    trace: Trace,
    k: int | None = 1,
) -> Found:
    """Return the Markov blanket of ``target``: that of FBED, then settled at the false discovery rate ``alpha``."""
    start = fbed(tests, target, candidates, alpha=alpha, trace=trace, k=k)
    return settled(tests, target, candidates, list(start.members), alpha=alpha, trace=trace)


def settled(
    tests: IndependenceTest, target: int, candidates: Sequence[int], blanket: list[int], *, alpha: float, trace: Trace
) -> Found:
    """Remove and admit, from any start, until the members are exactly the discoveries."""
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


ALGORITHMS = (
    Algorithm(
        name="iamb-fdr",
        run=iamb_fdr,
        reference="Peña (2008), Learning Gaussian graphical models of gene networks with false discovery rate "
        "control, Proceedings of EvoBIO 2008, LNCS 4973, 165-176.",
        sound=True,
        roles=False,
        when="Many features and few true members: false members are to be rare, some missed ones can be borne.",
        controls="fdr",
    ),
    Algorithm(
        name="fbed-fdr",
        run=fbed_fdr,
        reference="Borboudakis & Tsamardinos (2019), Forward-backward selection with early dropping, Journal of "
        "Machine Learning Research 20(8), 1-39; settled as IAMB-FDR, Peña (2008).",
        sound=True,
        roles=False,
        when="The same as iamb-fdr on very wide data: all features are scanned a few times only.",
        controls="fdr",
    ),
)
