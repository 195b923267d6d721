"""Who is who in a blanket: neighbor or spouse, and parent or child where the data can tell.

Three patterns identify a direction, whatever else the network holds, because each rests on a separating set:

- X and T are separated by a set without C, and both are neighbors of C: T -> C <- X, so C is a child and
  X a spouse;
- A and B are neighbors of T and separated by a set without T: A -> T <- B, so both are parents;
- A is a parent, and A and N, a neighbor, are separated by a set with T: then T -> N, for otherwise T would be
  a collider between them.

A separating set found on few rows may only be a dependence that was missed: then no collider is there, and every
arrow drawn from it is wrong. So an arrow needs evidence on both sides (`shown`): the dependence that opens or closes
with the variable in the middle, and an independence that had the rows to be one. If the variable in the middle
did pass the dependence on, the two ends would share about 2 I(a; m) I(m; b) nats, as squared correlations multiply
along a chain (exactly so for two levels in the middle); a test that would have found that with probability 0.95
and did not is evidence of independence.

Every other neighbor stays a "neighbor": a parent or a child, the data do not say which.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Protocol

import numpy as np

from blankets.errors import listed
from blankets.independence import IndependenceTest
from blankets.search._contract import Found, Role, Trace
from blankets.search._skeleton import Skeleton
from blankets.stats import attained_power

_POWER = 0.95  # with which an independence must have been able to be a dependence
_PLENTY = 1e4  # a noncentrality that any test finds


def resolve_roles(
    tests: IndependenceTest,
    target: int,
    members: Sequence[int],
    *,
    alpha: float,
    trace: Trace,
    max_given: int | None = None,
) -> Found:
    """Tell the roles of the members of a blanket, by the PC algorithm over them and the target.

    For algorithms that return members without roles. All members are kept; one that turns out to be
    neither a neighbor nor a spouse (tests on few rows contradict each other) has no role, and a note
    says so.

    ``trace``: told if something is odd. ``max_given``: largest conditioning set; default no limit.

    Examples
    --------
    >>> import networkx as nx
    >>> from blankets.independence import DSeparation
    >>> alarm = DSeparation(nx.DiGraph([("burglary", "alarm"), ("quake", "alarm"), ("alarm", "call")]))
    >>> alarm.names
    ('burglary', 'alarm', 'quake', 'call')
    >>> dict(sorted(resolve_roles(alarm, 1, [0, 2, 3], alpha=0.05, trace=Trace()).roles.items()))
    {0: 'parent', 2: 'parent', 3: 'child'}
    >>> resolve_roles(alarm, 0, [1, 2], alpha=0.05, trace=Trace()).roles
    {1: 'child', 2: 'spouse'}
    """
    trace.phase("roles")
    skeleton = Skeleton(tests, (*members, target), alpha=alpha, max_given=max_given)
    neighbors = skeleton.neighbors(target)
    common_children = find_spouses(skeleton, target)
    roles = roles_from(tests, skeleton, target, neighbors, common_children, alpha=alpha)
    unclear = [x for x in members if x not in roles]
    if unclear:
        trace.note(
            f"No role could be given to {listed(tests.names[x] for x in unclear)}: the tests among the members "
            "found neither an edge to the target nor a common child."
        )
    separators = {x: skeleton.separator(x, target) or () for x in common_children}
    return Found(members=tuple(members), roles=roles, common_children=common_children, separators=separators)


def orient(
    tests: IndependenceTest,
    target: int,
    neighbors: Sequence[int],
    common_children: Mapping[int, int],
    *,
    alpha: float,
    max_given: int | None = None,
) -> dict[int, Role]:
    """Turn neighbors into parents and children where a collider or its absence identifies them.

    For algorithms that know the neighbors and the spouses already. Separating sets are looked for among
    the members of the blanket and the target, as the PC algorithm does; where none is found, nothing is
    concluded, so that a role given is right whenever the tests are.

    ``common_children``: for each spouse a common child with the target; that neighbor is a child. ``max_given``:
    largest conditioning set; default no limit.

    Examples
    --------
    >>> import networkx as nx
    >>> from blankets.independence import DSeparation
    >>> orient(DSeparation(nx.DiGraph({0: [2], 1: [2], 2: [3]})), 2, [0, 1, 3], {}, alpha=0.05)
    {0: 'parent', 1: 'parent', 3: 'child'}
    >>> orient(DSeparation(nx.DiGraph([(0, 1), (1, 2)])), 1, [0, 2], {}, alpha=0.05)
    {0: 'neighbor', 2: 'neighbor'}
    """
    skeleton = Skeleton(tests, (*neighbors, *common_children, target), alpha=alpha, max_given=max_given)
    return roles_from(tests, skeleton, target, neighbors, common_children, alpha=alpha)


def find_spouses(skeleton: Skeleton, target: int) -> dict[int, int]:
    """Return each X of an unshielded collider target -> C <- X, with its C."""
    found: dict[int, int] = {}
    neighbors = skeleton.neighbors(target)
    if len(neighbors) == len(skeleton.nodes) - 1:
        return found
    for child in neighbors:
        for x in skeleton.side(child).weakest:
            if x == target or x in neighbors or x in found:
                continue
            separator = skeleton.separator(x, target)
            if separator is not None and child not in separator and child in skeleton.side(x).weakest:
                found[x] = child
    return found


class Separators(Protocol):
    """Anything that may know a separating set of two variables: a `Skeleton`, what neighborhoods tell."""

    def separator(self, a: int, b: int, /) -> tuple[int, ...] | None:
        """Return a set that separates the two, or None if none is known."""


def roles_from(
    tests: IndependenceTest,
    separators: Separators,
    target: int,
    neighbors: Sequence[int],
    common_children: Mapping[int, int],
    *,
    alpha: float,
) -> dict[int, Role]:
    """Return the role of each neighbor and spouse by the three patterns, arrows only where they are shown."""
    parents, through_target = set[int](), set[tuple[int, int]]()
    children = {
        child
        for x, child in common_children.items()
        if (given := separators.separator(x, target)) is not None
        and collider_shows(tests, x, target, child, given, alpha=alpha)
    }
    for a, b in combinations(neighbors, 2):
        given = separators.separator(a, b)
        if given is None or not collider_shows(tests, a, b, target, given, alpha=alpha):
            continue
        if target in given:
            through_target |= {(a, b), (b, a)}
        else:
            parents |= {a, b}
    children |= {n for a, n in through_target if a in parents - children}
    # Tests on few rows may call a variable both; then it is neither.
    roles: dict[int, Role] = {
        x: "neighbor" if (x in parents) == (x in children) else "parent" if x in parents else "child" for x in neighbors
    }
    return roles | dict.fromkeys(common_children, "spouse")


def collider_shows(
    tests: IndependenceTest, a: int, b: int, middle: int, separator: Sequence[int], *, alpha: float
) -> bool:
    """Return whether the data show that ``middle`` is a collider between two variables, or that it is none.

    ``a``, ``b``: two variables that are separated. ``middle``: A neighbor of both. ``separator``: what separates them:
    without ``middle`` it is a collider, with it it is none.

    Examples
    --------
    >>> import networkx as nx
    >>> from blankets.independence import DSeparation
    >>> shown(DSeparation(nx.DiGraph({0: [2], 1: [2]})), 0, 1, 2, (), alpha=0.01)
    True
    """
    rest = tuple(z for z in separator if z not in (a, b, middle))
    apart, together = (rest, (*rest, middle)) if middle not in separator else ((*rest, middle), rest)
    independence, dependence = tests.test(a, b, apart), tests.test(a, b, together)
    if not (independence.independent(alpha) and dependence.dependent(alpha)):
        return False
    sides = tests.scan((a, b), middle, rest)
    if not sides.dependent(alpha).all():
        return False
    effects = np.maximum(sides.effect - sides.dof / (2.0 * np.asarray(sides.n_rows)), 0.0)  # without what chance adds
    noncentrality = min(4.0 * independence.n_rows * float(effects.prod()), _PLENTY)
    return bool(attained_power(noncentrality, independence.dof, alpha) >= _POWER)
