"""IAMB with the PC algorithm as its shrinking phase, plain and interleaved.

IAMB's own shrinking conditions on all other members at once, which soon needs too many rows. PC over the
members and the target removes false members by small sets instead. Removal alone would lose every spouse,
because some set separates a spouse from the target. So the blanket is taken from PC's pattern: the target's
neighbors, and X of every unshielded collider target -> C <- X.

Interleaved, PC may remove a variable that was just admitted (a spouse whose child is not yet a member), even
with perfect tests. Such a variable may not enter again until the blanket changes (errata F3). On graphs of a
dozen nodes this rule alone still gives a wrong answer, or a cycle, for about 3 targets in 10,000. So the
search then ends as the plain form does, by growing to the end and PC once more, which is sound.
"""

from __future__ import annotations

from collections.abc import Sequence

from blankets.independence import IndependenceTest
from blankets.search._contract import Algorithm, Found, Trace, Trouble
from blankets.search._roles import find_spouses, roles_from
from blankets.search._skeleton import Skeleton
from blankets.search.iamb import REFERENCE, admit_strongest, grow


def iamb_n_pc(
    tests: IndependenceTest,
    target: int,
    candidates: Sequence[int],
    *,
    alpha: float,
    trace: Trace,
    max_given: int | None = None,
) -> Found:
    """Return the Markov blanket of ``target``; ``max_given`` limits the conditioning sets of the PC phase."""
    blanket: list[int] = []
    grow(tests, target, candidates, blanket, alpha=alpha, trace=trace)
    pattern = shrink_by_pc(tests, target, blanket, alpha=alpha, trace=trace, max_given=max_given)
    return _read_off(pattern, target, blanket, trace)


def inter_iamb_n_pc(
    tests: IndependenceTest,
    target: int,
    candidates: Sequence[int],
    *,
    alpha: float,
    trace: Trace,
    max_given: int | None = None,
) -> Found:
    """Return the Markov blanket of ``target``, shrinking by PC (up to ``max_given``) after each admission."""
    blanket: list[int] = []
    barred: set[int] = set()
    seen = set()
    pattern = Skeleton(tests, (target,), alpha=alpha)
    while (state := (frozenset(blanket), frozenset(barred))) not in seen:
        seen.add(state)
        outside = [x for x in candidates if x not in blanket and x not in barred]
        if not admit_strongest(tests, target, outside, blanket, alpha=alpha, trace=trace):
            if not barred:
                return _read_off(pattern, target, blanket, trace)
            break
        grown = set(blanket)
        pattern = shrink_by_pc(tests, target, blanket, alpha=alpha, trace=trace, max_given=max_given)
        dropped = grown - set(blanket)
        barred = barred | dropped if set(blanket) == state[0] else dropped
    else:
        trace.note(Trouble.NOT_INTERLEAVED)

    grow(tests, target, candidates, blanket, alpha=alpha, trace=trace)
    pattern = shrink_by_pc(tests, target, blanket, alpha=alpha, trace=trace, max_given=max_given)
    return _read_off(pattern, target, blanket, trace)


def shrink_by_pc(
    tests: IndependenceTest, target: int, blanket: list[int], *, alpha: float, trace: Trace, max_given: int | None
) -> Skeleton:
    """Remove the members that PC over them and the target calls neither neighbors nor spouses."""
    pattern = Skeleton(tests, (*blanket, target), alpha=alpha, max_given=max_given)
    spouses = find_spouses(pattern, target)
    for x in tuple(blanket):
        evidence = pattern.separation(x, target)
        if evidence is not None and x not in spouses:
            blanket.remove(x)
            trace.removed(evidence, "shrinking", "separated from the target, and no common child was found")
    return pattern


def _read_off(pattern: Skeleton, target: int, blanket: list[int], trace: Trace) -> Found:
    if pattern.capped:
        trace.note(Trouble.CAPPED, most=pattern.max_given)
    common_children = find_spouses(pattern, target)
    return Found(
        members=tuple(blanket),
        roles=roles_from(
            pattern.tests, pattern, target, pattern.neighbors(target), common_children, alpha=pattern.alpha
        ),
        common_children=common_children,
        separators={x: s for x in pattern.nodes if x != target and (s := pattern.separator(x, target)) is not None},
    )


ALGORITHMS = (
    Algorithm(
        name="iamb-n-pc",
        run=iamb_n_pc,
        reference=REFERENCE,
        sound=True,
        roles=True,
        when="Rows are too few for IAMB's own shrinking, or roles are wanted at little extra cost.",
    ),
    Algorithm(
        name="inter-iamb-n-pc",
        run=inter_iamb_n_pc,
        reference=REFERENCE,
        sound=True,
        roles=True,
        when="As iamb-n-pc, with smaller conditioning sets while growing: fewer rows, more tests.",
    ),
)
