"""Roles in a blanket: neighbor or spouse, and parent or child where the data can show it.

Three patterns identify a direction in any network, because each follows from a separating set:

- X and T are separated by a set without C, and both are neighbors of C: T -> C <- X, so C is a child and
  X a spouse;
- A and B are neighbors of T and separated by a set without T: A -> T <- B, so both are parents;
- A is a parent, and A and N, a neighbor, are separated by a set with T: then T -> N, because otherwise T would be
  a collider (a common effect) between them.

With few rows, a separating set may only mean that a test missed a dependence: then there is no collider, and every
arrow from it is wrong. So an arrow needs evidence for both parts (`collider_shows`): the dependence that appears or
disappears with the variable in the middle, and an independence from a test with enough rows. If the variable in the
middle passed the dependence on, the two ends would share about 2 I(a; m) I(m; b) nats, as squared correlations
multiply along a chain (exactly for two levels in the middle). A test that would have found this with probability
0.95, and did not, is evidence of independence.

Every other neighbor stays a "neighbor": a parent or a child; the data do not show which.

What is known beforehand (`IndependenceTest.never_causes`) comes first: a neighbor that the target cannot cause is a
parent, one that cannot cause the target is a child, and known parents show children by the third pattern.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Protocol

import numpy as np

from blankets.independence import IndependenceTest
from blankets.search._contract import Direction, Found, Role, Trace, Trouble
from blankets.search._skeleton import Skeleton
from blankets.stats import critical_value, noncentrality_at

_POWER = 0.95  # power that a test must have before its "independent" counts as evidence
# What a direction that holds with hidden causes takes: p of independence, of dependence, and power. Random networks of
# 12 numbers, 0 to 40% hidden, 500 and 2,000 rows: .944 and .939 of statements are true, by the rule of roles .872 and
# .892, and with .3, .0001 and .99 there are a sixth fewer (`benchmarks/claims.py directions`).
_APART, _TOGETHER, _SURE = 0.2, 0.001, 0.99


def resolve_roles(
    tests: IndependenceTest,
    target: int,
    members: Sequence[int],
    *,
    alpha: float,
    trace: Trace,
) -> Found:
    """Find the roles of the members of a blanket, by the PC algorithm over them and the target.

    For algorithms that return members without roles. All members are kept. A member that is neither a
    neighbor nor a spouse (tests on few rows can contradict each other) has no role, and a note says so.

    ``trace``: gets such notes.

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
    skeleton = Skeleton(tests, (*members, target), alpha=alpha)
    neighbors = skeleton.neighbors(target)
    common_children = find_spouses(skeleton, target)
    roles = roles_from(tests, skeleton, target, neighbors, common_children, alpha=alpha)
    unclear = [x for x in members if x not in roles]
    if unclear:
        trace.note(Trouble.NO_ROLE, columns=tuple(tests.names[x] for x in unclear))
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

    For algorithms that know the neighbors and the spouses already. Separating sets are searched among
    the members of the blanket and the target, as in the PC algorithm. If none is found, no role is given.
    So every role is right if the tests are right.

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
    """Return each X of an unshielded collider target -> C <- X (X and the target not adjacent), with its C."""
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
    """Anything that may know a separating set of two variables, for example a `Skeleton`."""

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
    """Return the role of each neighbor and spouse by the three patterns; arrows need evidence (`collider_shows`)."""
    # A pattern is asked for only where it can add an arrow: each costs four tests.
    parents, children, through_target = set[int](), set[int](), list[tuple[int, int, tuple[int, ...]]]()

    def shows(a: int, b: int, middle: int, given: tuple[int, ...]) -> bool:
        # Each of the three may be a target, and asks for the same pattern.
        key = ("collider", frozenset((a, b)), middle, frozenset(given), alpha)
        return tests.remember(key, lambda: collider_shows(tests, a, b, middle, given, alpha=alpha))

    for x, child in common_children.items():
        given = separators.separator(x, target)
        if given is not None and child not in children and shows(x, target, child, given):
            children.add(child)
    for a, b in combinations(neighbors, 2):
        given = separators.separator(a, b)
        if given is None:
            continue
        if target in given:
            through_target.append((a, b, given))
        elif not parents >= {a, b} and shows(a, b, target, given):
            parents |= {a, b}
    # What is known beforehand wins over what the data show.
    before = {x for x in neighbors if tests.never_causes(target, x)}
    after = {x for x in neighbors if tests.never_causes(x, target)}
    parents, children = (parents | before) - after, (children | after) - before
    causes = parents - children
    for a, b, given in through_target:
        effects = {n for cause, n in ((a, b), (b, a)) if cause in causes} - before
        if not children >= effects and shows(a, b, target, given):
            children |= effects
    # Tests on few rows may make a variable both parent and child; then it gets neither role.
    roles: dict[int, Role] = {
        x: "neighbor" if (x in parents) == (x in children) else "parent" if x in parents else "child" for x in neighbors
    }
    return roles | dict.fromkeys(common_children, "spouse")


def directions_of(
    tests: IndependenceTest, target: int, members: Sequence[int], *, alpha: float
) -> dict[int, Direction]:
    """Return what the data show of directions even if common causes are hidden.

    A collider shows what its ends are not: effects of the middle. If two members collide at the target, it acts on
    neither; if the target and a column collide at a member, that member does not act on the target. That the target
    acts on a member takes two columns that collide at the target and a member that the target separates from one of
    them (Mani, Spirtes & Cooper 2006). A parent in the textbook sense cannot be told: a hidden common cause of it and
    the target leaves the same independences.

    Examples
    --------
    >>> import networkx as nx
    >>> from blankets.independence import DSeparation
    >>> alarm = DSeparation(nx.DiGraph([("burglary", "alarm"), ("quake", "alarm"), ("alarm", "call")]))
    >>> found = directions_of(alarm, 1, [0, 2, 3], alpha=0.05)
    >>> {alarm.names[x]: direction for x, direction in sorted(found.items())}
    {'burglary': 'not an effect', 'quake': 'not an effect', 'call': 'effect'}
    """
    skeleton = Skeleton(tests, (*members, target), alpha=alpha)
    neighbors = skeleton.neighbors(target)
    pairs = [(a, b, given) for a, b in combinations(neighbors, 2) if (given := skeleton.separator(a, b)) is not None]

    def shows(a: int, b: int, middle: int, given: tuple[int, ...]) -> bool:
        key = ("sure collider", frozenset((a, b)), middle, frozenset(given))
        how = {"alpha": _TOGETHER, "apart": _APART, "power": _SURE}
        return tests.remember(key, lambda: collider_shows(tests, a, b, middle, given, **how))

    collide = {x for a, b, given in pairs if target not in given and shows(a, b, target, given) for x in (a, b)}
    no_effects = collide | {x for x in neighbors if tests.never_causes(target, x)}
    no_causes = {x for x in neighbors if tests.never_causes(x, target)}
    for x, child in find_spouses(skeleton, target).items():
        if child not in no_causes and shows(x, target, child, skeleton.separator(x, target) or ()):
            no_causes.add(child)
    effects = {
        effect
        for a, b, given in pairs
        if target in given
        for cause, effect in ((a, b), (b, a))
        if cause in no_effects and effect not in no_effects and shows(a, b, target, given)
    }
    directions: dict[int, Direction] = dict.fromkeys(no_effects - no_causes, "not an effect")
    directions |= dict.fromkeys(no_causes - no_effects, "not a cause")
    return directions | dict.fromkeys(effects, "effect")


def collider_shows(
    tests: IndependenceTest,
    a: int,
    b: int,
    middle: int,
    separator: Sequence[int],
    *,
    alpha: float,
    apart: float | None = None,
    power: float = _POWER,
) -> bool:
    """Return whether the data show that ``middle`` is a collider between two variables, or that it is none.

    ``a``, ``b``: two separated variables. ``middle``: a neighbor of both. ``separator``: the set that separates them.
    If it does not contain ``middle``, the claim is "collider", otherwise "no collider". ``apart``: the level above
    which they are independent, default ``alpha``. ``power``: of the test that found that.

    Examples
    --------
    >>> import networkx as nx
    >>> from blankets.independence import DSeparation
    >>> collider_shows(DSeparation(nx.DiGraph({0: [2], 1: [2]})), 0, 1, 2, (), alpha=0.01)
    True
    """
    rest = tuple(z for z in separator if z not in (a, b, middle))
    level = alpha if apart is None else apart
    without, together = (rest, (*rest, middle)) if middle not in separator else ((*rest, middle), rest)
    independence = tests.test(a, b, without)
    if not independence.independent(level) or not tests.test(a, b, together).dependent(alpha):
        return False
    sides = tests.scan((a, b), middle, rest)
    if not sides.dependent(alpha).all():
        return False
    effects = np.maximum(sides.effect - sides.dof / (2.0 * np.asarray(sides.n_rows)), 0.0)  # minus what chance adds
    return 4.0 * independence.n_rows * float(effects.prod()) >= _enough(independence.dof, level, power)


@lru_cache(maxsize=1024)
def _enough(dof: float, alpha: float, power: float) -> float:
    """Return the noncentrality with which a test has the power that an arrow needs."""
    return float(noncentrality_at(critical_value(dof, alpha), dof, 1.0 - power)) if dof > 0 else math.inf
