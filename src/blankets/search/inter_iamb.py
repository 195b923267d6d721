"""Interleaved IAMB: shrink after every admission, so that conditioning sets stay small.

The paper gives no pseudo-code; here one variable is added, then the blanket is fully shrunk, and so on (errata
F3). On data the loop can cycle (a variable enters, is removed, is the best candidate again). The search stops
if the same blanket occurs again, and a note says so.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from blankets.independence import IndependenceTest
from blankets.search._contract import Algorithm, Found, Trace, Trouble
from blankets.search.iamb import REFERENCE, admit_strongest, outside, shrink


def inter_iamb(tests: IndependenceTest, target: int, candidates: Sequence[int], *, alpha: float, trace: Trace) -> Found:
    """Return the Markov blanket of ``target`` among ``candidates``."""
    blanket: list[int] = []
    columns, seen = np.asarray(candidates, np.int64), {frozenset(blanket)}
    while admit_strongest(tests, target, outside(columns, blanket), blanket, alpha=alpha, trace=trace):
        shrink(tests, target, blanket, alpha=alpha, trace=trace, newest=blanket[-1])
        if frozenset(blanket) in seen:
            trace.note(Trouble.CYCLED)
            break
        seen.add(frozenset(blanket))
    return Found(members=tuple(blanket))


ALGORITHMS = (
    Algorithm(
        name="inter-iamb",
        run=inter_iamb,
        reference=REFERENCE,
        sound=True,
        roles=False,
        looks_again=True,
        when="A grow-shrink answer from few rows: its conditioning sets are the smallest of that family. Among many "
        "features it collects false members; see iamb-fdr.",
    ),
)
