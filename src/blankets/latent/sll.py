"""SLL, score-based local learning: find neighbors and spouses in small optimal networks.

Neighbors of t: take candidates one at a time, learn the best DAG over t, the candidate and the neighbors so
far, and keep t's neighbors in it. A neighbor counts if t is also among its own neighbors (AND). Spouses are
found in the same way among neighbors of neighbors; one direction is enough (OR).

References
----------
Niinimäki & Parviainen (2012), Local structure discovery in Bayesian networks, UAI, pages 634-643.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from blankets.data import Frame
from blankets.errors import ParameterError
from blankets.independence import IndependenceTest
from blankets.latent._best import solve_dag
from blankets.latent._constraints import Constraints
from blankets.latent._graphs import children_of
from blankets.latent._rows import Ints, distinct_rows
from blankets.latent._scores import Scorer, SetScore, members_of
from blankets.search import Algorithm, Found, Role, Trace
from blankets.voice import option


class _Learner:
    """Optimal networks on small sets of columns, each learned once."""

    def __init__(
        self, frame: Frame, universe: Sequence[int], score: SetScore, max_parents: int | None, learner: str
    ) -> None:
        self.frame, self.universe, self.score = frame, universe, score
        self.max_parents, self.learner = max_parents, learner
        self.best = cache(self.best)  # type: ignore[method-assign]
        self.neighbors = cache(self.neighbors)  # type: ignore[method-assign]
        self.candidates_of = cache(self.candidates_of)  # type: ignore[method-assign]

    def best(self, nodes: frozenset[int]) -> tuple[list[int], Ints]:
        """Return the nodes in order and the parent masks of their best DAG."""
        order = sorted(nodes)
        rows, _ = distinct_rows(self.frame, order)
        parents, _, _ = solve_dag(
            rows, Constraints.none(len(order), self.max_parents), self.score, learner=self.learner
        )
        return order, parents

    def candidates_of(self, t: int) -> frozenset[int]:
        """Return the possible neighbors of t; the strongest candidates are tried first."""
        held: frozenset[int] = frozenset()
        for v in self._by_strength(t):
            order, parents = self.best(held | {t, v})
            at = order.index(t)
            held = frozenset(order[u] for u in {*members_of(int(parents[at])), *children_of(parents, at)})
        return held

    def _by_strength(self, t: int) -> list[int]:
        gains = {}
        for v in self.universe:
            if v != t:
                scorer = Scorer(distinct_rows(self.frame, [v, t])[0], self.score)
                gains[v] = scorer.local(1, [0]) - scorer.local(1, [])
        return sorted(gains, key=lambda v: (-gains[v], v))

    def neighbors(self, t: int) -> frozenset[int]:
        """Return the candidates that also have t as a possible neighbor."""
        return frozenset(v for v in self.candidates_of(t) if t in self.candidates_of(v))

    def spouse_candidates(self, t: int) -> set[int]:
        """Return the neighbors of neighbors."""
        near = self.neighbors(t)
        return set().union(*(self.neighbors(v) for v in near)) - near - {t}

    def spouses_from(self, t: int) -> frozenset[int]:
        """Return the candidates that share a child with t in the optimal networks around t."""
        near, held = self.neighbors(t), frozenset[int]()
        for v in sorted(self.spouse_candidates(t)):
            order, parents = self.best(near | held | {t, v})
            at = order.index(t)
            sharing = {order[u] for c in children_of(parents, at) for u in members_of(int(parents[c]))}
            held = frozenset(u for u in held | {v} if u in sharing)
        return held


def sll(
    frame: Frame,
    target: int,
    candidates: Iterable[int],
    *,
    score: str = "bic",
    max_parents: int | None = None,
    learner: str = "auto",
    equivalent_sample_size: float = 1.0,
    trace: Trace | None = None,
) -> Found:
    """Return the Markov blanket of ``target`` among ``candidates``, with neighbors and spouses.

    ``frame``: the data. ``target``: number of the target's column. ``candidates``: columns that may be members.
    ``score``: what the optimal networks maximize. ``max_parents``: largest number of parents in them. ``learner``: the
    exact learner, as for `best_dag`. ``equivalent_sample_size``: for BDeu. ``trace``: records the steps.

    Return the members, neighbors first, with roles "neighbor" and "spouse".

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> a, b, c = rng.integers(0, 2, (3, 500))
    >>> child = np.where(rng.random(500) < 0.9, a & b, c)
    >>> found = sll(Frame.from_codes(np.column_stack([a, b, c, child])), 0, [1, 2, 3])
    >>> found.members, dict(found.roles), dict(found.common_children)
    ((3, 1), {3: 'neighbor', 1: 'spouse'}, {1: 3})
    """
    trace = Trace() if trace is None else trace
    universe = sorted({*candidates, target})
    kind = SetScore.named(score, frame.n_rows, equivalent_sample_size)
    local = _Learner(frame, universe, kind, max_parents, learner)
    trace.phase("looking for neighbors")
    near = sorted(local.neighbors(target))
    trace.members[:] = near
    trace.phase("looking for spouses")
    own, others = local.spouses_from(target), local.spouse_candidates(target)
    spouses = sorted(v for v in others if v in own or target in local.spouses_from(v))
    trace.members += spouses
    roles: dict[int, Role] = {**dict.fromkeys(near, "neighbor"), **dict.fromkeys(spouses, "spouse")}
    common = {v: min(c for c in near if c in local.neighbors(v) or v in local.neighbors(c)) for v in spouses}
    return Found(members=(*near, *spouses), roles=roles, common_children=common)


def _run(
    tests: IndependenceTest,
    target: int,
    candidates: Sequence[int],
    *,
    alpha: float,
    trace: Trace,
    score: str = "bic",
    max_parents: int | None = None,
    learner: str = "auto",
    equivalent_sample_size: float = 1.0,
) -> Found:
    """Run SLL on the rows of the tests; it uses a score instead of tests, so ``alpha`` is not used."""
    frame = getattr(getattr(tests, "counter", None), "frame", None)
    if not isinstance(frame, Frame):
        raise ParameterError(
            "'sll' scores networks on rows of categories in memory; there are none behind these tests: cut numbers "
            f"with {option('discretize')}..., leave out {option('engine')}, or take another algorithm"
        )
    if frame.holes:
        raise ParameterError(
            f"'sll' scores whole rows; choose {option(missing=('drop', 'level'))}, or another algorithm"
        )
    return sll(
        frame,
        target,
        candidates,
        score=score,
        max_parents=max_parents,
        learner=learner,
        equivalent_sample_size=equivalent_sample_size,
        trace=trace,
    )


SLL = Algorithm(
    name="sll",
    run=_run,
    reference="Niinimäki & Parviainen (2012), Local structure discovery in Bayesian networks, UAI.",
    sound=False,
    roles=True,
    when="When the number of rows is small and a score is trusted more than tests; slower than all others.",
    controls="nothing",
)
