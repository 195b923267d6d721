"""KIAMB: a randomized IAMB, so that repeated runs find different Markov blankets.

If the data allow more than one blanket (copies, deterministic relations), IAMB always returns the same one.
KIAMB admits the strongest of a *random subset* of the dependent candidates: a share ``k`` of them, at least
one. ``k=1`` is IAMB; ``k=0`` admits any dependent candidate with equal probability. It is right whenever IAMB
is, under a weaker assumption than faithfulness (the composition property).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from blankets.arguments import generator_from, number
from blankets.independence import IndependenceTest
from blankets.search._contract import Algorithm, Found, Trace
from blankets.search.iamb import shrink


def kiamb(
    tests: IndependenceTest,
    target: int,
    candidates: Sequence[int],
    *,
    alpha: float,
    trace: Trace,
    k: float = 0.8,
    rng: np.random.Generator | int | None = None,
) -> Found:
    """Return a Markov blanket of ``target``; ``k`` in [0, 1]: share of candidates; ``rng``: seed or generator."""
    number("k", k, "a share between 0 and 1", least=0, most=1)
    rng = generator_from(rng)
    blanket: list[int] = []
    outside = list(candidates)
    while outside:
        scan = tests.scan(outside, target, blanket)
        trace.passed_over(scan, "growing")
        dependent = np.flatnonzero(scan.dependent(alpha))
        if not len(dependent):
            break
        drawn = np.zeros(len(scan), dtype=bool)
        drawn[rng.choice(dependent, max(1, int(k * len(dependent))), replace=False)] = True
        best = scan[int(scan.order(drawn)[0])]
        blanket.append(best.x)
        outside.remove(best.x)
        trace.admitted(best, "growing", f"the strongest of {drawn.sum()} drawn from {len(dependent)} dependent ones")
    shrink(tests, target, blanket, alpha=alpha, trace=trace)
    return Found(members=tuple(blanket))


ALGORITHMS = (
    Algorithm(
        name="kiamb",
        run=kiamb,
        reference="Peña, Nilsson, Björkegren & Tegnér (2007), Towards scalable and data efficient learning of Markov "
        "boundaries, International Journal of Approximate Reasoning 45(2), 211-232.",
        sound=True,
        roles=False,
        looks_again=True,
        when="The blanket may not be unique: run it several times with different rng and compare.",
    ),
)
