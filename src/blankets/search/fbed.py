"""Forward-backward selection with early dropping.

A run of the forward phase admits the strongest candidate, and drops all candidates that are independent given
the members: they are not tested again in this run, so later scans are short. A further run tests the dropped
ones again, given the members of the run before. The backward phase removes the weakest member as long as it
is independent given the others.

With perfect tests on a faithful Bayesian network the first run never drops a neighbor of the target and, with
all neighbors selected, the second never drops a spouse. So ``k=1`` (two runs in all) returns the blanket, as
the paper proves; ``k=0`` returns only a set that contains all neighbors. ``k=None`` (runs until nothing changes)
is proved also for maximal ancestral graphs, which allow hidden variables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from blankets.errors import ParameterError
from blankets.independence import Evidence, EvidenceBatch, IndependenceTest
from blankets.search._contract import Algorithm, Found, Trace


def fbed(
    tests: IndependenceTest, target: int, candidates: Sequence[int], *, alpha: float, trace: Trace, k: int | None = 1
) -> Found:
    """Return the Markov blanket of ``target``, after ``k`` runs beyond the first (None: until no change)."""
    selected = forward(
        tests, target, candidates, k, lambda scan, _: scan.strongest(alpha), "the strongest", alpha=alpha, trace=trace
    )
    _backward(tests, target, selected, alpha=alpha, trace=trace)
    return Found(members=tuple(selected))


def forward(
    tests: IndependenceTest,
    target: int,
    candidates: Sequence[int],
    k: int | None,
    best_of: Callable[[EvidenceBatch, int], Evidence | None],
    which: str,
    *,
    alpha: float,
    trace: Trace,
) -> list[int]:
    """Admit the best candidate and drop the independent ones until none is left; ``k`` more runs, or until no change.

    ``best_of``: returns the candidate of a scan that enters, given how many others are tested or dropped in this run;
    None if none does. ``which``: what it is called in the trace.
    """
    if k is not None and not (isinstance(k, int | np.integer) and k >= 0):
        raise ParameterError.out_of_range("k", k, "0, 1, 2, ... or None (until nothing changes)")
    selected, run, before = list[int](), 0, -1
    while before < len(selected) and (k is None or run <= k):
        before, remaining = len(selected), [x for x in candidates if x not in selected]
        while remaining:
            scan = tests.scan(remaining, target, selected)
            trace.passed_over(scan, f"forward, run {run}")
            best = best_of(scan, len(candidates) - len(selected))
            if best is None:
                break
            selected.append(best.x)
            trace.admitted(best, f"forward, run {run}", f"{which} of those not dropped in this run")
            # Early dropping. A candidate that cannot be tested now cannot be tested given more members.
            remaining = [x for x in scan.xs[scan.dependent(alpha)].tolist() if x != best.x]
        run += 1
    return selected


def _backward(tests: IndependenceTest, target: int, selected: list[int], *, alpha: float, trace: Trace) -> None:
    """Remove the weakest member while it is independent given the others."""
    while selected:
        given_the_rest = tests.drop_one(selected, target)
        weakest = given_the_rest.order(given_the_rest.independent(alpha))[-1:]
        if not len(weakest):
            break
        evidence = given_the_rest[int(weakest[0])]
        selected.remove(evidence.x)
        trace.removed(evidence, "backward", "independent of the target given the other members; the weakest of them")


ALGORITHMS = (
    Algorithm(
        name="fbed",
        run=fbed,
        reference="Borboudakis & Tsamardinos (2019), Forward-backward selection with early dropping, "
        "Journal of Machine Learning Research 20(8), 1-39.",
        sound=True,
        roles=False,
        when="Very many columns and many rows: after the first scan only few candidates are scanned again.",
    ),
)
