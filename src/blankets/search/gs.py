"""Grow-Shrink: candidates enter in a fixed order, that of their marginal dependence on the target.

The first candidate *in that order* that depends on the target given the current blanket enters. Then the
next is searched from the beginning of the order, until none is dependent; then the blanket is shrunk.
(A short description that is often quoted stops at the first candidate that fails: on P -> N, P -> T,
T -> C it finds P, fails at N, and never tests C: errata F2.)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from blankets.independence import IndependenceTest
from blankets.search._contract import Algorithm, Found, Trace
from blankets.search.iamb import shrink


def gs(tests: IndependenceTest, target: int, candidates: Sequence[int], *, alpha: float, trace: Trace) -> Found:
    """Return the Markov blanket of ``target`` among ``candidates``."""
    blanket: list[int] = []
    marginal = tests.scan(candidates, target)
    trace.passed_over(marginal, "growing")
    # A candidate that cannot be tested marginally cannot be tested given more: it is left out.
    outside: list[int] = marginal.xs[marginal.order()].tolist()

    while outside:
        scan = tests.scan(outside, target, blanket)
        trace.passed_over(scan, "growing")
        dependent = np.flatnonzero(scan.dependent(alpha))
        if not len(dependent):
            break
        first = scan[int(dependent[0])]
        blanket.append(first.x)
        outside.remove(first.x)
        trace.admitted(first, "growing", "the first in marginal order that is dependent given the blanket so far")

    shrink(tests, target, blanket, alpha=alpha, trace=trace)
    return Found(members=tuple(blanket))


ALGORITHMS = (
    Algorithm(
        name="gs",
        run=gs,
        reference="Margaritis & Thrun (2000), Bayesian network induction via local neighborhoods, "
        "Advances in Neural Information Processing Systems 12, 505-511.",
        sound=True,
        roles=False,
        looks_again=True,
        when="For comparison: the first sound algorithm; IAMB orders candidates better.",
    ),
)
