"""Evidence for a latent if BIC cannot decide: marginal likelihoods of models of a few columns.

A latent cause of two binary columns and a binary target has as many parameters as their unrestricted table, so its
BIC can at best be equal. The probability of the data under each model, averaged over all parameters, still differs:
a latent that has to copy a column, or whose effects are those of a simpler DAG, fits only for a small part of its
parameters. All conditional distributions have uniform priors. For families without a latent the integral has a
closed form; for the others particles are annealed from the prior to the posterior (sequential Monte Carlo).

References
----------
Cooper & Herskovits (1992), A Bayesian method for the induction of probabilistic networks from data, Machine
Learning 9.
Del Moral, Doucet & Jasra (2006), Sequential Monte Carlo samplers, JRSS B 68.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import numpy as np
from scipy.special import gammaln, logsumexp

from blankets.latent._em import families_with
from blankets.latent._graphs import EquivalenceClass, acyclic, blanket_in_dag, class_of
from blankets.latent._local import Stage
from blankets.latent._rows import Codes, Floats, Ints
from blankets.latent._scores import members_of

MOST_COLUMNS = 4  # 543 DAGs
PARTICLES = 1000
EFFECTIVE = 0.95  # effective share of the particles after a step of the temperature
MOVES = 6  # moves of each particle at each temperature


def evidence_without(stage: Stage, *, certain: bool) -> float:
    """Return the log of the mean marginal likelihood of all models without latents that agree with the members.

    These are the DAGs over the same columns whose blanket of the target contains the members; each equivalence
    class has the same weight. If the members are not ``certain`` (tests have found them), DAGs without any member are
    used instead if these are better. Rows without a label are left out.
    """
    codes, weights = stage.local.rows.codes[:, stage.local.labeled], stage.local.rows.weights[stage.local.labeled]
    n, arities = len(codes), stage.local.rows.arities
    sets = [[mask for mask in range(1 << n) if not mask >> v & 1] for v in range(n)]
    families = [{mask: _closed_form(codes, weights, arities, v, mask) for mask in sets[v]} for v in range(n)]
    related: dict[EquivalenceClass, list[float]] = {}
    alone: dict[EquivalenceClass, list[float]] = {}
    for choice in product(*sets):
        parents = np.array(choice)
        if acyclic(parents):
            members = blanket_in_dag(parents, stage.target)
            evidence = sum(families[v][mask] for v, mask in enumerate(choice))
            if stage.members <= members:
                related.setdefault(class_of(parents), []).append(evidence)
            elif not members:
                alone.setdefault(class_of(parents), []).append(evidence)
    rivals = [related] if certain else [related, alone]
    return max(_log_mean([_log_mean(inside) for inside in models.values()]) for models in rivals)


def _log_mean(logs: list[float]) -> float:
    return float(logsumexp(logs)) - math.log(len(logs))


def _closed_form(codes: Codes, weights: Floats, arities: Ints, node: int, parents: int) -> float:
    """Return the log of the integral of one family's likelihood over its conditional distributions."""
    axes = [*members_of(parents), node]
    counts = np.zeros(tuple(int(arities[v]) for v in axes))
    np.add.at(counts, tuple(codes[v] for v in axes), weights)
    states = counts.shape[-1]
    inside = gammaln(counts + 1).sum(axis=-1) - gammaln(counts.sum(axis=-1) + states) + gammaln(states)
    return float(inside.sum())


def evidence_of(stage: Stage) -> float:
    """Return the log marginal likelihood of a model with latents; the same number at each call."""
    space, parents, shown = stage.space, stage.fit.parents, stage.local.labeled
    hidden = families_with(parents, sum(1 << h for h in stage.latents))
    row = np.repeat(np.arange(len(space.weights)), np.diff(space.starts))
    codes, row = space.codes[:, shown[row]], np.unique(row[shown[row]], return_inverse=True)[1]
    weights, first = space.weights[shown], np.unique(row, return_index=True)[1]
    evidence = 0.0
    for v in range(len(parents)):
        if v not in hidden:
            evidence += _closed_form(codes[:, first], weights, space.arities, v, int(parents[v]))
    # All conditional distributions in one array: the distribution of each probability, and those of each completion.
    taken, group = [], np.empty(0, np.int64)
    for v in hidden:
        axes = [*members_of(int(parents[v])), v]
        shape = tuple(int(space.arities[u]) for u in axes)
        taken.append(len(group) + np.ravel_multi_index(tuple(codes[u] for u in axes), shape))
        group = np.append(group, len(np.unique(group)) + np.repeat(np.arange(math.prod(shape[:-1])), shape[-1]))
    uses = np.zeros((len(group), codes.shape[1]))
    for places in taken:
        uses[places, np.arange(codes.shape[1])] += 1
    belongs, of_row = np.eye(group.max() + 1)[group], np.eye(len(weights))[row]

    def loglik(odds: Floats) -> Floats:
        chances = odds - np.log(np.exp(odds) @ belongs)[:, group]
        total: Floats = np.log(np.maximum(np.exp(chances @ uses) @ of_row, 1e-300)) @ weights
        return total

    return evidence + _annealed(loglik, len(group), np.random.default_rng(0))


def _annealed(loglik: Callable[[Floats], Floats], n: int, rng: np.random.Generator) -> float:
    """Return the log of the mean likelihood under a prior in which the n log odds are logs of exponential draws.

    Normalized within each conditional distribution, such odds are uniform.
    """
    odds = np.log(rng.standard_exponential((PARTICLES, n)))
    logs, prior = loglik(odds), _log_prior(odds)
    temperature, evidence = 0.0, 0.0
    while temperature < 1.0:
        step = _next_step(logs, 1.0 - temperature)
        shares = np.exp(step * (logs - logs.max()))
        evidence += step * float(logs.max()) + math.log(float(shares.mean()))
        temperature += step
        kept = np.searchsorted(np.cumsum(shares) / shares.sum(), (rng.random() + np.arange(PARTICLES)) / PARTICLES)
        kept = np.minimum(kept, PARTICLES - 1)
        odds, logs, prior = odds[kept], logs[kept], prior[kept]
        for move in range(MOVES):
            other = _proposal(odds, move, rng)
            other_logs, other_prior = loglik(other), _log_prior(other)
            gain = temperature * (other_logs - logs) + other_prior - prior
            better = np.log(rng.random(PARTICLES)) < gain
            odds[better], logs[better], prior[better] = other[better], other_logs[better], other_prior[better]
    return evidence


def _log_prior(odds: Floats) -> Floats:
    density: Floats = (odds - np.exp(odds)).sum(axis=1)
    return density


def _next_step(logs: Floats, most: float) -> float:
    """Return the largest step of the temperature that keeps the effective share of the particles."""

    def effective(step: float) -> float:
        shares = np.exp(step * (logs - logs.max()))
        return float(shares.sum() ** 2 / (shares**2).sum())

    low, high = 0.0, most
    if effective(most) >= EFFECTIVE * PARTICLES:
        return most
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if effective(middle) >= EFFECTIVE * PARTICLES else (low, middle)
    return low


def _proposal(odds: Floats, move: int, rng: np.random.Generator) -> Floats:
    """Return proposed moves of the particles: along the difference of two others, or in a few random directions."""
    way: Floats = rng.standard_normal(odds.shape)
    if move % 3 < 2:
        apart = odds[rng.permutation(PARTICLES)] - odds[rng.permutation(PARTICLES)]
        way = float(rng.choice([0.4, 0.8])) * apart + 1e-3 * way
    else:
        way *= float(rng.choice([0.05, 0.3, 1.0])) * (rng.random(odds.shape) < 0.25)
    return odds + way
