"""The neighborhood of a target: members, target and latents as nodes, with a fitted model at every stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blankets.data import Frame
from blankets.errors import ParameterError
from blankets.latent._best import solve_dag
from blankets.latent._completions import Completions, complete
from blankets.latent._constraints import Constraints
from blankets.latent._graphs import compelled, spouses_of
from blankets.latent._network import FittedNetwork, fit_network
from blankets.latent._rows import Floats, Rows, distinct_rows
from blankets.latent._scores import SetScore
from blankets.latent._structural import Fit, Problem, polish, structural_em

MOST_NODES = 15  # most nodes (blanket, target and latents); every structural step is exact


@dataclass(frozen=True, slots=True, eq=False)
class Local:
    """The target and its observed blanket as weighted rows."""

    names: tuple[str, ...]  # the members, other columns that help to find a latent, then the target
    n_members: int  # how many of them are members
    rows: Rows  # their distinct rows; a missing label has code 0
    missing: NDArray[np.bool_]  # (nodes, rows): which values are hidden: labels, if some rows have none
    max_parents: int | None = None  # largest number of parents, if the user set one

    @property
    def target(self) -> int:
        """Number of the target's node."""
        return len(self.names) - 1

    @property
    def labeled(self) -> NDArray[np.bool_]:
        """Rows whose label is known."""
        known: NDArray[np.bool_] = ~self.missing[self.target]
        return known


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """A fitted model of the neighborhood with some number of latents."""

    local: Local  # the data
    arities: tuple[int, ...]  # number of states of each latent
    space: Completions  # the completions of the data; nodes are members, target, latents
    fit: Fit  # the fitted DAG
    members: frozenset[int]  # the blanket of the target in this model

    @property
    def target(self) -> int:
        """Number of the target's node."""
        return self.local.target

    @property
    def latents(self) -> range:
        """Numbers of the latents' nodes."""
        return range(self.target + 1, self.target + 1 + len(self.arities))

    def network(self) -> FittedNetwork:
        """Return the network with its conditional tables."""
        return fit_network(self.fit.parents, self.space.arities, self.space.codes, self.fit.weights)

    def neighbors(self) -> list[int]:
        """Return parents and children of the target, and members that the model does not connect."""
        spouses = spouses_of(self.fit.parents, self.target)
        return sorted(v for v in self.members if v not in spouses)

    def possible_children(self) -> list[int]:
        """Return the neighbors that are children of the target in some equivalent DAG."""
        fixed = compelled(self.fit.parents)
        return [v for v in self.neighbors() if (v, self.target) not in fixed]

    def spouses_through(self, child: int) -> list[int]:
        """Return the spouses of the target that share this child with it."""
        return [v for v, through in spouses_of(self.fit.parents, self.target).items() if child in through]

    def with_latent(self, arity: int) -> tuple[Completions, Floats]:
        """Return the completions with one more latent, the last node, and the odds of the other hidden values."""
        rows = self.local.rows
        arities = np.array([*self.arities, arity])
        space = _completions(self.local, arities)
        copies = np.diff(space.starts) // np.diff(self.space.starts)
        row = np.repeat(np.arange(len(rows.weights)), np.diff(space.starts))
        within = (np.arange(len(row)) - space.starts[row]) % np.diff(self.space.starts)[row]
        # The last node varies slowest, so each block of the earlier completions is repeated without change.
        return space, self.fit.weights[self.space.starts[row] + within] / copies[row]


def _completions(local: Local, arities: NDArray[np.int64]) -> Completions:
    n = len(local.names) + len(arities)
    if n > MOST_NODES:
        raise ParameterError(
            f"a blanket of {len(local.names) - 1} members with {len(arities)} latents makes {n} nodes, more than "
            f"{MOST_NODES}; give a smaller 'blanket', or use LatentBlanketTransformer, which draws subsets"
        )
    n_rows = len(local.rows.weights)
    codes = np.concatenate([local.rows.codes, np.zeros((len(arities), n_rows), np.int32)])
    missing = np.concatenate([local.missing, np.ones((len(arities), n_rows), bool)])
    rows = Rows(codes, np.concatenate([local.rows.arities, arities.astype(np.int64)]), local.rows.weights)
    return complete(rows, missing, local.max_parents)


def open_local(
    frame: Frame,
    target: int,
    members: Sequence[int],
    labeled: NDArray[np.bool_] | None = None,
    max_parents: int | None = None,
    context: Sequence[int] = (),
) -> Stage:
    """Return the model without latents: the best DAG over members, context and target.

    The columns of the context are not in the blanket, but they may depend on a latent that is, and so help to find it.
    If labels are missing, the DAG starts from the labeled rows and is refined by structural EM on all rows.
    """
    columns = [*members, *context, target]
    names = tuple(frame.names[j] for j in columns)
    if labeled is not None and not labeled.all():
        codes = np.where(labeled, frame.column(target), frame.arities[target])
        marked = frame.with_column(frame.names[target], codes, (*frame.levels[target], None))
        rows, _ = distinct_rows(marked, columns)
        missing = np.zeros(rows.codes.shape, bool)
        missing[-1] = rows.codes[-1] == frame.arities[target]
        rows = Rows(np.where(missing, 0, rows.codes), frame.arities[columns], rows.weights)
    else:
        rows, _ = distinct_rows(frame, columns)
        missing = np.zeros(rows.codes.shape, bool)
    return first_stage(Local(names, len(members), rows, missing, max_parents))


def first_stage(local: Local) -> Stage:
    """Return the best model without latents."""
    shown, target = local.labeled, local.target
    rows = Rows(np.compress(shown, local.rows.codes, axis=1), local.rows.arities, local.rows.weights[shown])
    space = _completions(local, np.empty(0, np.int64))
    constraints = Constraints.none(len(local.names), space.largest - 1)
    parents, _, _ = solve_dag(rows, constraints, SetScore.named("bic", rows.total))
    shares = np.bincount(rows.codes[target], rows.weights, minlength=int(local.rows.arities[target])) + 1e-9
    weights = space.normalized(shares[space.codes[target]])
    problem = Problem(space, constraints, (), weights)
    fit = polish(space, structural_em(problem, parents, weights, np.random.default_rng(0)))
    return Stage(local, (), space, fit, frozenset(range(local.n_members)))
