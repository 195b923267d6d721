"""Incremental association Markov blanket: grow greedily, then remove false members.

Growing admits, one at a time, the candidate with the strongest dependence on the target given all members
so far. When no candidate is dependent any more, the members contain the blanket, and shrinking removes
members that are irrelevant given the others. Both phases condition on all members so far: simple and fast,
but it needs many rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from blankets.independence import Evidence, IndependenceTest
from blankets.search._contract import Algorithm, Found, Trace


def iamb(tests: IndependenceTest, target: int, candidates: Sequence[int], *, alpha: float, trace: Trace) -> Found:
    """Return the Markov blanket of ``target`` among ``candidates``."""
    blanket: list[int] = []
    grow(tests, target, candidates, blanket, alpha=alpha, trace=trace)
    newest = blanket[-1] if blanket else None
    shrink(tests, target, blanket, alpha=alpha, trace=trace, newest=newest)
    return Found(members=tuple(blanket))


def grow(
    tests: IndependenceTest, target: int, candidates: Sequence[int], blanket: list[int], *, alpha: float, trace: Trace
) -> None:
    """Admit the strongest candidate given the blanket so far, until none is dependent."""
    columns = outside(np.asarray(candidates, np.int64), blanket)
    while best := admit_strongest(tests, target, columns, blanket, alpha=alpha, trace=trace):
        columns = columns[columns != best.x]


def outside(columns: NDArray[np.int64], blanket: Sequence[int]) -> NDArray[np.int64]:
    """Return the columns that are not in the blanket; with few members, one comparison for each is fastest."""
    for x in blanket:
        columns = columns[columns != x]
    return columns


def admit_strongest(
    tests: IndependenceTest,
    target: int,
    candidates: Sequence[int] | NDArray[np.int64],
    blanket: list[int],
    *,
    alpha: float,
    trace: Trace,
) -> Evidence | None:
    """Admit the candidate with the strongest dependence on the target given the blanket, if any is dependent."""
    if not len(candidates):
        return None
    scan = tests.scan(candidates, target, blanket)
    trace.passed_over(scan, "growing")
    best = scan.strongest(alpha)
    if best is not None:
        blanket.append(best.x)
        trace.admitted(best, "growing", "the strongest remaining dependence given the blanket so far")
    return best


def shrink(
    tests: IndependenceTest, target: int, blanket: list[int], *, alpha: float, trace: Trace, newest: int | None = None
) -> bool:
    """Remove each member, in the order of entry, that is irrelevant given the others; tell whether any was removed.

    ``newest`` was admitted given all the others: while these stay, its test need not be repeated.
    """
    before = len(blanket)
    left = [x for x in blanket if x != newest] if newest is not None else list(blanket)
    while left:
        batch = tests.drop_one(blanket, target)
        irrelevant = set(batch.xs[batch.independent(alpha)].tolist())
        x = next((x for x in left if x in irrelevant), None)
        if x is None:
            break
        if newest is not None:
            left, newest = [*left, newest], None  # its test now differs from the one by which it entered
        left = left[left.index(x) + 1 :]
        evidence = batch[blanket.index(x)]
        blanket.remove(x)
        trace.removed(evidence, "shrinking", "independent of the target given the other members")
    return len(blanket) < before


REFERENCE = (
    "Tsamardinos, Aliferis & Statnikov (2003), Algorithms for large scale Markov blanket discovery, "
    "Proceedings of FLAIRS 2003, 376-381."
)

ALGORITHMS = (
    Algorithm(
        name="iamb",
        run=iamb,
        reference=REFERENCE,
        sound=True,
        roles=False,
        looks_again=True,
        when="A fast first answer when there are many rows for the size of the blanket.",
    ),
)
