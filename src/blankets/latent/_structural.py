"""Structural EM under edge constraints (CSEM): complete the data, find the best DAG for them, and repeat.

References
----------
Friedman (1997), Learning belief networks in the presence of missing values and hidden variables, ICML.
Gao & Ji (2016), Constrained local latent variable discovery, IJCAI, Algorithm 2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from blankets.kernels import expected_scores
from blankets.latent._best import solve_dynamic
from blankets.latent._completions import Completions
from blankets.latent._constraints import Constraints
from blankets.latent._em import bic_of, em, families_with
from blankets.latent._graphs import random_start, same_class
from blankets.latent._rows import Floats, Ints

MOST_ROUNDS = 30  # most rounds; the DAG nearly always repeats within ten
EM_STEPS = 50  # most EM steps between two DAGs
EM_GAIN = 1e-2  # in nats; precise enough to choose a DAG


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A DAG fitted to data with hidden values."""

    parents: Ints  # (nodes,): parent masks
    weights: Floats  # (completions,): row weight times posterior probability of each completion
    bic: float  # observed-data BIC in nats: the latent summed out, penalty for all parameters
    history: tuple[float, ...]  # observed-data BIC after each round


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """One search: the data, the constraints, the first DAGs, and how to complete the data."""

    space: Completions  # the data; the last node is the latent
    constraints: Constraints  # what the DAG must satisfy
    starts: Sequence[Ints]  # DAGs (parent masks) to start from
    # (completions,): odds of the other hidden values within each row, before the first step
    prior: Floats
    draws: int = 0  # 0: expected counts; else the number of sampled completions of each row of the data
    # whether restarts alternate between the given DAGs and random ones; without given DAGs all are random
    explore: bool = True

    def start(self, number: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
        """Return DAG and weights of restart ``number``: given DAGs and random ones take turns."""
        c = self.constraints
        if self.starts and not (self.explore and number % 2):
            parents = self.starts[(number // 2 if self.explore else number) % len(self.starts)]
        else:
            parents = random_start(c.required, c.forbidden, min(c.max_parents, 3), rng)
        odds = self.prior.copy()
        for v in families_with(parents, 1 << (len(parents) - 1)):
            at = self.space.position[int(parents[v]) | 1 << v]
            # Exponential draws are a uniform draw of each conditional distribution, up to its scale.
            odds *= rng.standard_exponential(int(self.space.n_groups[at]))[self.space.groups[at]]
        return parents, self.space.normalized(odds + 1e-300)

    def completed(self, weights: Floats, rng: np.random.Generator) -> Floats:
        """Return the weights that the next DAG is learned from: expected, or sampled."""
        if not self.draws:
            return weights
        starts, sampled = self.space.starts, np.empty_like(weights)
        for r, weight in enumerate(self.space.weights):
            here = slice(starts[r], starts[r + 1])
            share = weights[here] / weights[here].sum()
            sampled[here] = rng.multinomial(round(weight * self.draws), share) / self.draws
        return sampled


def structural_em(problem: Problem, parents: Ints, weights: Floats, rng: np.random.Generator) -> Fit:
    """Alternate EM and the best DAG until the DAG's equivalence class occurs again.

    With expected counts the observed-data BIC never falls, because the best DAG for the expected counts is
    at least as good as the present one (Friedman, 1997).
    """
    space, history = problem.space, []
    for _ in range(MOST_ROUNDS):
        weights, logliks = em(space, parents, weights, most=EM_STEPS, tolerance=EM_GAIN)
        history.append(bic_of(space, parents, float(logliks[-1])))
        table = expected_scores(
            space.groups,
            space.n_groups,
            space.position,
            space.arities,
            space.hidden,
            space.static,
            problem.completed(weights, rng),
            space.penalty,
        )
        following, _ = solve_dynamic(table, problem.constraints)
        if same_class(following, parents):
            break
        parents = following
    else:
        weights, logliks = em(space, parents, weights, most=EM_STEPS, tolerance=EM_GAIN)
        history.append(bic_of(space, parents, float(logliks[-1])))
    return Fit(parents, weights, history[-1], tuple(history))


def best_fits(
    problem: Problem,
    n_restarts: int,
    rng: np.random.Generator,
    *,
    n_jobs: int = 1,
    tell: Callable[[], None] = lambda: None,
) -> list[Fit]:
    """Run structural EM from many starts; return the fits, best BIC first.

    Each restart has its own generator, so the answer does not depend on the number of threads.
    """
    generators = rng.spawn(n_restarts)

    def run(number: int) -> Fit:
        own = generators[number]
        fit = structural_em(problem, *problem.start(number, own), own)
        tell()
        return fit

    if n_jobs <= 1 or n_restarts <= 1:
        fits = [run(number) for number in range(n_restarts)]
    else:
        with ThreadPoolExecutor(min(n_jobs, n_restarts)) as pool:
            fits = list(pool.map(run, range(n_restarts)))
    return sorted(fits, key=lambda fit: -fit.bic)  # stable: among equals the earlier restart


def polish(space: Completions, fit: Fit) -> Fit:
    """Return the fit with its parameters fitted until convergence."""
    weights, logliks = em(space, fit.parents, fit.weights, most=2000, tolerance=1e-5)
    return Fit(fit.parents, weights, bic_of(space, fit.parents, float(logliks[-1])), fit.history)
