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

from blankets.independence import IndependenceTest
from blankets.search._contract import Algorithm, Found, Trace
from blankets.search.fbed import check_runs
from blankets.search.inter_iamb import CYCLE
from blankets.stats import adjusted_log_p


def iamb_fdr(tests: IndependenceTest, target: int, candidates: Sequence[int], *, alpha: float, trace: Trace) -> Found:
    """Return the Markov blanket of ``target``; ``alpha`` is the false discovery rate among its members."""
    return settled(tests, target, candidates, [], alpha=alpha, trace=trace)


def fbed_fdr(
    tests: IndependenceTest, target: int, candidates: Sequence[int], *, alpha: float, trace: Trace, k: int | None = 1
) -> Found:
    """Return the Markov blanket of ``target``, after ``k`` early-dropping runs beyond the first (None: no limit)."""
    check_runs(k)
    selected: list[int] = []
    run = 0
    while _early_dropping(tests, target, candidates, selected, run, alpha=alpha, trace=trace) and run != k:
        run += 1
    return settled(tests, target, candidates, selected, alpha=alpha, trace=trace)


def _early_dropping(
    tests: IndependenceTest,
    target: int,
    candidates: Sequence[int],
    selected: list[int],
    run: int,
    *,
    alpha: float,
    trace: Trace,
) -> bool:
    """Admit the strongest discovery and drop the independent ones until none is left; tell whether any was admitted."""
    before, remaining = len(selected), [x for x in candidates if x not in selected]
    while remaining:
        scan = tests.scan(remaining, target, selected)
        trace.passed_over(scan, f"forward, run {run}")
        # Dropped variables count among the tests: their p-values were above alpha, and 1 is on the safe side.
        dropped = np.zeros(len(candidates) - len(selected) - len(scan))
        enter = adjusted_log_p(np.concatenate([scan.log_p, dropped]))[: len(scan)] <= math.log(alpha)
        if not enter.any():
            break
        best = scan[int(scan.order(enter)[0])]
        selected.append(best.x)
        trace.admitted(best, f"forward, run {run}", "the strongest discovery of those not dropped in this run")
        remaining = [x for x in scan.xs[scan.dependent(alpha)].tolist() if x != best.x]
    return len(selected) > before


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
