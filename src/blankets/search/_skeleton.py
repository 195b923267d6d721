"""The skeleton (undirected edges) of the PC algorithm, computed only where it is needed.

PC starts with all edges and removes x - y as soon as a set of neighbors of x, or a set of neighbors of
y, separates the two; the sets grow from one level to the next. The two halves of that "or" can be done
separately: the *side* of x are the variables that no set of x's own neighbors separates from x, and x - y is an
edge if each is on the side of the other. So the edges of the target need one side for each of its
neighbors, and nothing for the rest of the network.

The neighbors that form conditioning sets are those at the beginning of a level ("stable" removal:
Colombo & Maathuis 2014, Order-independent constraint-based causal structure learning, JMLR 15), so that
the order of the columns does not decide which edges stay.

Why this is also right on a part of the variables: let the part contain the blanket of t. A non-descendant
x of t is separated from it by t's parents. For a descendant x every ancestor of t is an ancestor of x, so
the set that separates x from t in the marginal model is a set of neighbors of x in that model (a collider
path through ancestors of x is inducing). So PC on a blanket and its target finds the true edges of the
target, although the other variables are not used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from blankets.independence import Evidence, IndependenceTest


@dataclass(slots=True)
class Side:
    """The neighbors of one variable, and which others they separate from it."""

    # the neighbors, from the strongest to the weakest marginal dependence, each with its weakest evidence of
    # dependence
    weakest: dict[int, Evidence]
    # Variables that a non-empty set separated, by the size of the set. All others except the untested are
    # marginally independent.
    separated: dict[int, Evidence] = field(default_factory=dict)
    # variables with too few rows even for the marginal test: nothing is known about them, so they are not used
    untested: frozenset[int] = frozenset()
    capped: bool = False  # whether there were sets larger than the limit


class Skeleton:
    """Edges among some variables, each computed when first needed.

    ``nodes``: the variables. ``max_given``: largest conditioning set; default: no limit.
    """

    def __init__(
        self, tests: IndependenceTest, nodes: Sequence[int], *, alpha: float, max_given: int | None = None
    ) -> None:
        self.tests, self.nodes, self.alpha, self.max_given = tests, tuple(nodes), alpha, max_given
        self._sides: dict[int, Side] = {}

    @property
    def capped(self) -> bool:
        """Whether the limit on conditioning sets has excluded some sets so far."""
        return any(side.capped for side in self._sides.values())

    def side(self, x: int) -> Side:
        """Return the variables that no set of neighbors of ``x`` separates from it."""
        if x not in self._sides:
            self._sides[x] = self._work_out(x)
        return self._sides[x]

    def neighbors(self, x: int) -> tuple[int, ...]:
        """Return the variables with an edge to ``x``."""
        return tuple(y for y in self.side(x).weakest if x in self.side(y).weakest)

    def separator(self, x: int, y: int) -> tuple[int, ...] | None:
        """Return a set that separates the two (first from the side of ``y``), or None if none is known."""
        for a, b in ((y, x), (x, y)):
            side = self.side(a)
            if b in side.separated:
                return side.separated[b].given
            if b in side.untested:
                return None
            if b not in side.weakest:
                return ()
        return None

    def separation(self, x: int, y: int) -> Evidence | None:
        """Return the test that separated ``x`` from ``y``, or None if none is known."""
        for a, b in ((y, x), (x, y)):
            if b in self.side(a).separated:
                return self.side(a).separated[b]._replace(x=x, y=y)
        return None if self.separator(x, y) is None else self.tests.test(x, y)

    def _work_out(self, x: int) -> Side:
        scan = self.tests.scan([y for y in self.nodes if y != x], x)
        order = scan.order(scan.dependent(self.alpha))
        side = Side({int(scan.xs[i]): scan[int(i)] for i in order})
        side.untested = frozenset(scan.xs[~scan.reliable].tolist())
        level = 0
        while len(side.weakest) > level + 1:
            level += 1
            if self.max_given is not None and level > self.max_given:
                side.capped = True
                break
            if not self._one_level(x, side, level):
                break
        return side

    def _one_level(self, x: int, side: Side, level: int) -> bool:
        """Try all conditioning sets of one size; tell whether any test could be performed."""
        ys = tuple(side.weakest)
        batch = self.tests.separate(ys, x, ys, min_size=level, max_size=level, stop_at=self.alpha)
        log_p, independent = batch.log_p, batch.independent(self.alpha)
        for i, y in enumerate(ys):
            if independent[i]:
                side.separated[y] = batch[i]
                del side.weakest[y]
            elif log_p[i] > side.weakest[y].log_p:  # never true of a test that was not performed (NaN)
                side.weakest[y] = batch[i]
        return bool(batch.reliable.any())
