"""IAMB-FDR: membership decided for all variables together, at a controlled false discovery rate.

Each round tests *every* variable against the target: members given the other members, other variables given
all members. The p-values are judged together by the procedure of Benjamini and Yekutieli, which is valid under
any dependence between the tests. The member with the largest p-value among those that fail leaves; if none
fails, the variable outside with the smallest p-value among those that pass enters. At the end the members are
exactly the discoveries, and the expected share of false ones among them is at most ``alpha`` (Peña 2008,
theorem 1, for fixed conditioning sets; the theorem does not cover the search for them).

This holds for the final set, on any way to it. So another forward phase may come first: that of FBED-FDR drops
variables that are independent at level ``alpha`` early, so that scans are short, and tests all variables only at
the end. An "inter-IAMB-FDR" would be the same: one admission and one removal at a time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from blankets.independence import Evidence, EvidenceBatch, IndependenceTest
from blankets.search._contract import Algorithm, Found, Trace, Trouble
from blankets.search.fbed import forward
from blankets.stats import adjusted_log_p


def iamb_fdr(tests: IndependenceTest, target: int, candidates: Sequence[int], *, alpha: float, trace: Trace) -> Found:
    """Return the Markov blanket of ``target``; ``alpha`` is the false discovery rate among its members."""
    return settled(tests, target, candidates, [], alpha=alpha, trace=trace)


def fbed_fdr(
    tests: IndependenceTest, target: int, candidates: Sequence[int], *, alpha: float, trace: Trace, k: int | None = 1
) -> Found:
    """Return the Markov blanket of ``target``, after ``k`` early-dropping runs beyond the first (None: no limit)."""

    def discovery(scan: EvidenceBatch, n_tested: int) -> Evidence | None:
        # Dropped variables count among the tests: their p-values were above alpha, and 1 is on the safe side.
        every = np.concatenate([scan.log_p, np.zeros(n_tested - len(scan))])
        enter = adjusted_log_p(every)[: len(scan)] <= math.log(alpha)
        return scan[int(scan.order(enter)[0])] if enter.any() else None

    selected = forward(tests, target, candidates, k, discovery, "the strongest discovery", alpha=alpha, trace=trace)
    return settled(tests, target, candidates, selected, alpha=alpha, trace=trace)


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
    trace.note(Trouble.CYCLED)
    return Found(members=tuple(blanket))


ALGORITHMS = (
    Algorithm(
        name="iamb-fdr",
        run=iamb_fdr,
        reference="Peña (2008), Learning Gaussian graphical models of gene networks with false discovery rate "
        "control, Proceedings of EvoBIO 2008, LNCS 4973, 165-176.",
        sound=True,
        roles=False,
        when="Many features and few true members: false members should be rare, and you can accept to miss some.",
        controls="fdr",
    ),
    Algorithm(
        name="fbed-fdr",
        run=fbed_fdr,
        reference="Borboudakis & Tsamardinos (2019), Forward-backward selection with early dropping, Journal of "
        "Machine Learning Research 20(8), 1-39; settled as IAMB-FDR, Peña (2008).",
        sound=True,
        roles=False,
        when="The same as iamb-fdr for very many columns: all features are scanned only a few times.",
        controls="fdr",
    ),
)
