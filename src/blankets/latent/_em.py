"""EM for the parameters of a network with hidden values.

The posterior of a completion is proportional to the product of the factors that contain a hidden node; the
other factors are the same for all completions of a row. Parameters are ratios of expected counts, and the
log-likelihood of what was observed rises with every step.

References
----------
Dempster, Laird & Rubin (1977), Maximum likelihood from incomplete data via the EM algorithm, JRSS B 39.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

import numpy as np

from blankets.kernels import fit_weights
from blankets.latent._completions import Completions
from blankets.latent._rows import Floats, Ints
from blankets.latent._scores import members_of


def families_with(parents: Ints, nodes: int) -> list[int]:
    """Return the nodes whose family (node and parents) meets ``nodes``, a mask."""
    return [v for v in range(len(parents)) if (int(parents[v]) | 1 << v) & nodes]


def em(
    space: Completions, parents: Ints, weights: Floats, *, most: int = 200, tolerance: float = 1e-3
) -> tuple[Floats, Floats]:
    """Fit the parameters of a DAG; return the weights of the completions and the log-likelihoods, in nats.

    ``space``: the data. ``parents``, of shape (nodes,): parent masks of the DAG. ``weights``, of shape (completions,):
    first weights of the completions, which add up to the weight of each row. ``most``, ``tolerance``: stop after
    ``most`` steps, or when a step gains less than ``tolerance`` nats.

    Return row weight times posterior probability, and the log-likelihood of the hidden part
    (factors with a hidden node) after each step.
    """
    powers: Counter[int] = Counter()
    for v in families_with(parents, space.hidden):
        powers[int(parents[v]) | 1 << v] += 1  # p(v | parents) = N(family) / N(parents);
        powers[int(parents[v])] -= 1  # many nodes have the same parents, so each set is counted once
    used = [mask for mask, power in powers.items() if power]
    sets = space.position[np.array(used, np.int64)]
    fitted, history = weights.copy(), np.empty(most)
    steps = fit_weights(
        space.groups,
        space.n_groups,
        sets,
        np.array([powers[mask] for mask in used], np.float64),
        space.starts,
        space.weights,
        fitted,
        history,
        tolerance,
    )
    return fitted, history[:steps]


def parameters_of(arities: Ints, parents: Ints, nodes: Iterable[int] | None = None) -> int:
    """Return the number of free parameters of a DAG, or of some of its nodes."""
    nodes = range(len(parents)) if nodes is None else nodes
    return sum((int(arities[v]) - 1) * math.prod(int(arities[u]) for u in members_of(int(parents[v]))) for v in nodes)


def bic_of(space: Completions, parents: Ints, loglik: float) -> float:
    """Return the observed-data BIC, in nats, from the log-likelihood of the hidden part."""
    hidden = families_with(parents, space.hidden)
    shown = [v for v in range(len(parents)) if v not in hidden]
    known = sum(float(space.static[parents[v] | 1 << v] - space.static[parents[v]]) for v in shown)
    return loglik + known - space.penalty * parameters_of(space.arities, parents, hidden)
