"""Incremental association Markov blanket: grow greedily, then remove false members."""

from __future__ import annotations

from collections.abc import Sequence

from blankets.independence import IndependenceTest
from blankets.search._contract import Algorithm, Found, Trace

__all__ = ["iamb"]


def iamb(
    tests: IndependenceTest, target: int, candidates: Sequence[int], *, alpha: float, trace: Trace
) -> Found:
    """Return the Markov blanket of ``target`` among ``candidates``."""
    blanket: list[int] = []
    grow(tests, target, candidates, blanket, alpha=alpha, trace=trace)
    shrink(tests, target, blanket, alpha=alpha, trace=trace)
    return Found(members=tuple(blanket))


def grow(
    tests: IndependenceTest, target: int, candidates: Sequence[int], blanket: list[int], *, alpha: float, trace: Trace
) -> None:
    """Admit the candidate most strongly tied to the target given the blanket, until none is dependent."""
    while outside := [x for x in candidates if x not in blanket]:
        scan = tests.scan(outside, target, blanket)
        best = scan.strongest(alpha)
        trace.passed_over(scan, "growing")
        if best is None:
            break
        blanket.append(best.x)
        trace.admitted(best, "growing", "the strongest remaining dependence given the blanket so far")


def shrink(tests: IndependenceTest, target: int, blanket: list[int], *, alpha: float, trace: Trace) -> bool:
    """Remove each member, in the order of entry, that the others make irrelevant; tell whether any was."""
    before = len(blanket)
    for x in tuple(blanket):
        evidence = tests.test(x, target, [z for z in blanket if z != x])
        if evidence.independent(alpha):
            blanket.remove(x)
            trace.removed(evidence, "shrinking", "independent of the target given the other members")
    return len(blanket) < before


ALGORITHM = Algorithm(
    name="iamb",
    run=iamb,
    reference="Tsamardinos, Aliferis & Statnikov (2003), Algorithms for large scale Markov blanket discovery, FLAIRS.",
    sound=True,
    roles=False,
    when="A fast first answer when rows are plentiful compared with the size of the blanket.",
)
