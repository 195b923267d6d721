"""PC, the part that a blanket needs: edges and unshielded colliders around the target.

The whole-network algorithm removes edges by larger and larger conditioning sets and orients each unshielded
collider. The blanket is then the target's neighbors and the variables that share a child with it. An edge is
decided by sets of neighbors of its two ends, so the blanket needs only the edges at the target and at its
neighbors. `Skeleton` computes only these, so PC can be used on wide data.
"""

from __future__ import annotations

from collections.abc import Sequence

from blankets.independence import IndependenceTest
from blankets.search._contract import Algorithm, Found, Trace, Trouble
from blankets.search._roles import find_spouses, roles_from
from blankets.search._skeleton import Skeleton


def pc(
    tests: IndependenceTest,
    target: int,
    candidates: Sequence[int],
    *,
    alpha: float,
    trace: Trace,
    max_given: int | None = None,
) -> Found:
    """Return the Markov blanket of ``target``: neighbors, and spouses by unshielded colliders.

    ``max_given`` limits the size of conditioning sets.
    """
    universe = frozenset((*candidates, target))
    skeleton = tests.remember(
        ("pc", universe, alpha, max_given), lambda: Skeleton(tests, sorted(universe), alpha=alpha, max_given=max_given)
    )

    trace.phase("edges at the target")
    neighbors = skeleton.neighbors(target)
    trace.passed_over(tests.scan(candidates, target), "edges")
    side, separators = skeleton.side(target), {}
    for x in (*side.separated, *side.weakest):
        if evidence := skeleton.separation(x, target):
            separators[x] = evidence.given
            trace.passed_over(evidence, "edges", "separated from the target")
        else:
            trace.admitted(side.weakest[x], "edges", "no set of neighbors makes it independent; this one comes nearest")

    trace.phase("colliders")
    common_children = find_spouses(skeleton, target)
    for x, child in common_children.items():
        evidence = tests.test(x, target, (*separators.get(x, ()), child))
        trace.admitted(evidence, "colliders", f"shares the child {tests.names[child]!r} with the target")

    if skeleton.capped:
        trace.note(Trouble.CAPPED, most=max_given)
    return Found(
        members=(*neighbors, *common_children),
        roles=roles_from(tests, skeleton, target, neighbors, common_children, alpha=alpha),
        common_children=common_children,
        separators=separators,
    )


ALGORITHMS = (
    Algorithm(
        name="pc",
        run=pc,
        reference="Spirtes, Glymour & Scheines (2000), Causation, Prediction, and Search, 2nd edition, MIT Press; "
        "stable removal: Colombo & Maathuis (2014), Order-independent constraint-based causal structure learning, "
        "Journal of Machine Learning Research 15, 3741-3782.",
        sound=True,
        roles=True,
        expectation=False,  # it calls neighbors of neighbors spouses without a test of them, so that chance adds up
        when="Roles matter, and the target and its neighbors have few neighbors each.",
    ),
)
