"""Fast-IAMB: admit several candidates after one scan, speculatively, and correct that by shrinking.

IAMB scans all candidates once for each member. Fast-IAMB scans once and admits the dependent candidates,
strongest first, without testing them given each other, as long as there are enough rows to test the members;
then it shrinks, and scans again. (The paper requires five rows per cell of the table; here the rule of the
tests decides whether there are enough rows.)
"""

from __future__ import annotations

from collections.abc import Sequence

from blankets.independence import IndependenceTest
from blankets.search._contract import Algorithm, Found, Trace, Trouble
from blankets.search.iamb import shrink


def fast_iamb(tests: IndependenceTest, target: int, candidates: Sequence[int], *, alpha: float, trace: Trace) -> Found:
    """Return the Markov blanket of ``target`` among ``candidates``."""
    blanket: list[int] = []
    seen = {frozenset(blanket)}
    while True:
        admitted, enough_rows = _speculate(tests, target, candidates, blanket, alpha=alpha, trace=trace)
        removed = admitted and shrink(tests, target, blanket, alpha=alpha, trace=trace)
        if not admitted or not (enough_rows or removed):
            break
        if frozenset(blanket) in seen:
            trace.note(Trouble.CYCLED)
            break
        seen.add(frozenset(blanket))
    return Found(members=tuple(blanket))


def _speculate(
    tests: IndependenceTest, target: int, candidates: Sequence[int], blanket: list[int], *, alpha: float, trace: Trace
) -> tuple[bool, bool]:
    """Admit dependent candidates, strongest first; tell whether any was admitted, and whether rows were enough."""
    scan = tests.scan([x for x in candidates if x not in blanket], target, blanket)
    trace.passed_over(scan, "growing")
    before = len(blanket)
    for i in scan.order(scan.dependent(alpha)):
        evidence = scan[int(i)]
        # It only matters whether this test is possible: shrinking will have to do it again.
        if len(blanket) > before and not tests.test(evidence.x, target, blanket).reliable:
            return True, False
        blanket.append(evidence.x)
        trace.admitted(evidence, "growing", "dependent given the blanket before this round of admissions")
    return len(blanket) > before, True


ALGORITHMS = (
    Algorithm(
        name="fast-iamb",
        run=fast_iamb,
        reference="Yaramakala & Margaritis (2005), Speculative Markov blanket discovery for optimal feature "
        "selection, Proceedings of the 5th IEEE International Conference on Data Mining, 809-812.",
        sound=True,
        roles=False,
        looks_again=True,
        when="Each scan over the features is slow (very many columns, or not in memory), and rows are many.",
    ),
)
