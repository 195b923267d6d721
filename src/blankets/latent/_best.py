"""`best_dag`: the provably best-scoring Bayesian network under edge constraints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from blankets.arguments import one_of
from blankets.data import ingest
from blankets.errors import ParameterError, guarded
from blankets.independence import Knowledge
from blankets.kernels import best_parents
from blankets.latent._constraints import Constraints
from blankets.latent._graphs import to_networkx
from blankets.latent._integer import solve_integer
from blankets.latent._rows import Rows, distinct_rows
from blankets.latent._scores import Scorer, SetScore, largest_useful, members_of, score_all

MOST_DYNAMIC = 20  # most nodes; 2^20 sets of 20 nodes take about 0.3 GB
MOST_NODES = 62  # bits of a mask
LEARNERS = ("auto", "dynamic", "integer")


@dataclass(frozen=True, slots=True, kw_only=True)
class BestDAG:
    """The best-scoring DAG.

    Attributes
    ----------
    graph : networkx.DiGraph
        Nodes are column names; each node has an attribute ``score``, its local score in nats.
    score : float
        Sum of the local scores, in nats.
    gap : float
        No DAG that meets the constraints scores more than ``score + gap``. 0.0: this DAG is optimal.
    criterion : {"bic", "bdeu"}
        The score.
    learner : {"dynamic", "integer"}
        The method that found it.

    Examples
    --------
    >>> from blankets import best_dag
    >>> found = best_dag({"a": [0, 0, 1, 1] * 40, "b": [0, 1, 1, 1] * 40}, score="bdeu")
    >>> found.gap, found.criterion, found.learner
    (0.0, 'bdeu', 'dynamic')
    """

    graph: nx.DiGraph
    score: float
    gap: float
    criterion: str
    learner: str

    def __repr__(self) -> str:
        return "\n".join([self._title(), *(f"  {line}" for line in self._lines())])

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{escape(line)}</li>" for line in self._lines())
        return f"<div><strong>{escape(self._title())}</strong><ul>{items}</ul></div>"

    def _title(self) -> str:
        worth = "optimal" if self.gap == 0 else f"at most {self.gap:.4g} nats below the optimum"
        return f"Best DAG of {len(self.graph)} columns by {self.criterion}: {self.score:.1f} nats, {worth}"

    def _lines(self) -> list[str]:
        """Return a line for each node with parents."""
        parents = {node: sorted(map(str, self.graph.predecessors(node))) for node in self.graph}
        return [f"{node} depends on {', '.join(of)}" for node, of in parents.items() if of] or ["no edge"]


@guarded
def best_dag(
    data: Any,
    *,
    knowledge: Knowledge | None = None,
    score: str = "bic",
    max_parents: int | None = None,
    equivalent_sample_size: float = 1.0,
    learner: str = "auto",
    time_limit: float | None = None,
) -> BestDAG:
    """Return the Bayesian network structure with the highest score.

    Parameters
    ----------
    data : table
        Any table, as for `blankets.discover`; each column is a node. Continuous columns are discretized.
    knowledge : Knowledge, optional
        Arrows (cause, effect) that the DAG must have (``required``) or must not have (``forbidden``), and ``tiers``: no
        arrow leads from a later to an earlier one.
    score : {"bic", "bdeu"}
        Bayesian information criterion or Bayesian Dirichlet score.
    max_parents : int, optional
        Largest number of parents of a node; default: no limit.
    equivalent_sample_size : float
        Weight of the uniform prior of BDeu, as a number of rows.
    learner : {"auto", "dynamic", "integer"}
        Dynamic programming is exact up to 20 nodes; integer programming can have more nodes and can be stopped.
        "auto" uses the first if possible.
    time_limit : float, optional
        Seconds after which integer programming returns the best DAG so far, with the remaining gap.

    Returns
    -------
    BestDAG
        Graph, score and gap; a gap of 0.0 proves that the DAG is optimal.

    References
    ----------
    Silander & Myllymäki (2006), UAI; Cussens (2011), UAI; de Campos & Ji (2011), JMLR 12.

    Examples
    --------
    >>> from blankets import Knowledge, best_dag
    >>> table = {"a": [0, 0, 1, 1] * 40, "b": [0, 0, 1, 1] * 39 + [1, 0, 1, 0], "c": [0, 1, 0, 1] * 40}
    >>> best = best_dag(table, knowledge=Knowledge(forbidden=[("a", "b")]))
    >>> sorted(best.graph.edges), best.gap
    ([('b', 'a')], 0.0)
    """
    read = ingest(data)
    frame = read.frame
    one_of("learner", learner, LEARNERS)
    if frame.n_columns > MOST_NODES:
        raise ParameterError(f"a DAG over {frame.n_columns} columns is too large; give at most {MOST_NODES} columns")
    known = Knowledge.of(knowledge)
    constraints = Constraints.from_knowledge(frame.names, known, max_parents, read.report.left_out)
    rows, _ = distinct_rows(frame, range(frame.n_columns))
    kind = SetScore.named(score, rows.total, equivalent_sample_size)
    parents, total, gap = solve_dag(rows, constraints, kind, learner=learner, time_limit=time_limit)
    return BestDAG(
        graph=_named_graph(frame.names, parents, Scorer(rows, kind)),
        score=total,
        gap=gap,
        criterion=score,
        learner=_chosen(learner, frame.n_columns),
    )


def solve_dag(
    rows: Rows, constraints: Constraints, score: SetScore, *, learner: str = "auto", time_limit: float | None = None
) -> tuple[NDArray[np.int64], float, float]:
    """Return parent masks, score and gap of the best DAG over all columns of ``rows``."""
    n = len(rows.arities)
    if _chosen(learner, n) == "integer":
        return solve_integer(Scorer(rows, score), constraints, time_limit)
    limit = largest_useful(rows, constraints, score)
    table = score_all(rows, limit + 1, score)
    parents, total = solve_dynamic(table, Constraints(constraints.required, constraints.forbidden, limit))
    return parents, total, 0.0


def solve_dynamic(table: NDArray[np.float64], constraints: Constraints) -> tuple[NDArray[np.int64], float]:
    """Return the parent masks and the score of the best DAG that meets the constraints, by dynamic programming.

    A DAG has a node without children (a sink). The best DAG on S ends in some sink v: the best DAG on S - v, and for v
    its best parents within S - v. Both are found for all 2^n sets, smallest first.

    References
    ----------
    Silander & Myllymäki (2006), A simple approach for finding the globally optimal Bayesian network structure, UAI.
    Koivisto & Sood (2004), Exact Bayesian structure discovery in Bayesian networks, JMLR 5.
    """
    n = len(constraints.required)
    parents = np.zeros(n, np.int64)
    score = best_parents(table, n, constraints.required, constraints.forbidden, constraints.max_parents, parents)
    return parents, score


def _chosen(learner: str, n: int) -> str:
    """Return the learner that is used for ``n`` nodes."""
    if learner == "dynamic" and n > MOST_DYNAMIC:
        raise ParameterError(
            f"dynamic programming holds at most {MOST_DYNAMIC} nodes, not {n}; use learner='integer' or fewer columns"
        )
    if learner == "auto":
        return "dynamic" if n <= MOST_DYNAMIC else "integer"
    return learner


def _named_graph(names: Sequence[str], parents: NDArray[np.int64], scorer: Scorer) -> nx.DiGraph:
    """Return the DAG over names, with local scores."""
    graph = to_networkx(parents, tuple(names))
    for v, name in enumerate(names):
        graph.nodes[name]["score"] = scorer.local(v, members_of(int(parents[v])))
    return graph
