"""A fitted network: conditional tables, and posteriors of unknown nodes given known ones."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from blankets.latent._graphs import acyclic
from blankets.latent._rows import Codes, Floats, Ints
from blankets.latent._scores import members_of
from blankets.records import Bounds, refuse

_MOST_NODES = 62  # parents are bits of a mask
PRIOR_ROWS = 1.0  # weight of the uniform prior of every conditional table, so that nothing is impossible


@dataclass(frozen=True, slots=True, eq=False)
class FittedNetwork:
    """A Bayesian network of categorical nodes.

    Attributes
    ----------
    parents : ndarray of int64, shape (nodes,)
        Parent masks.
    arities : ndarray of int64, shape (nodes,)
        Number of levels of each node.
    tables : tuple of ndarray
        ``tables[v]`` has one axis for each parent of v, ascending, and a last axis for v; the last axis sums to 1.
    """

    parents: Annotated[Ints, Bounds(0)]
    arities: Annotated[Ints, Bounds(1, 1 << 31)]
    tables: tuple[Annotated[Floats, Bounds(math.ulp(0.0), 1.0)], ...]

    def _check_nodes(self, n: int) -> None:
        """Refuse a network that does not have ``n`` nodes."""
        if not 0 < n <= _MOST_NODES or not self.parents.shape == self.arities.shape == (len(self.tables),) == (n,):
            refuse("'parents', 'arities', 'tables' and 'nodes' in 'network' differ in number")
        if (self.parents >= 1 << n).any() or not acyclic(self.parents):
            refuse("'parents' in 'network' hold a cycle, or nodes that do not exist")
        for v, table in enumerate(self.tables):
            if table.shape != tuple(self.arities[u] for u in (*members_of(int(self.parents[v])), v)):
                refuse("'tables' in 'network' are not of the shape that 'parents' and 'arities' give")
            if not np.allclose(table.sum(axis=-1), 1.0, atol=1e-6):
                refuse("'tables' in 'network' hold probabilities that do not add up to 1")

    def posterior(self, codes: Codes, unknown: Sequence[int]) -> Floats:
        """Return p(unknown nodes | the others) for each row: one axis for each unknown node, the last for rows.

        ``codes`` has shape (nodes, rows); its values for unknown nodes are not used. Codes above a node's levels (a
        level never seen before) give no information.
        """
        logits = self._logits(codes, unknown)
        odds = np.exp(logits - logits.max(axis=0))
        shape = (*(int(self.arities[v]) for v in unknown), codes.shape[1])
        shares: Floats = odds / odds.sum(axis=0)
        return shares.reshape(shape)

    def _logits(self, codes: Codes, unknown: Sequence[int]) -> Floats:
        """Return the log joint probability, up to terms that do not depend on the unknown nodes."""
        hidden = sum(1 << v for v in unknown)
        touched = [v for v in range(len(self.parents)) if (int(self.parents[v]) | 1 << v) & hidden]
        values = list(itertools.product(*(range(int(self.arities[v])) for v in unknown)))
        known = np.minimum(codes, self.arities[:, np.newaxis])
        logs = {v: np.log(_with_unseen(self.tables[v])) for v in touched}
        logits = np.zeros((len(values), codes.shape[1]))
        for k, value in enumerate(values):
            given = dict(zip(unknown, value, strict=True))
            for v in touched:
                at = tuple(given.get(u, known[u]) for u in (*members_of(int(self.parents[v])), v))
                logits[k] += logs[v][at]
        return logits

    def relabeled(self, node: int, order: Sequence[int]) -> FittedNetwork:
        """Return the same network with the states of one node in another order."""
        tables = []
        for v, table in enumerate(self.tables):
            axes = [*members_of(int(self.parents[v])), v]
            tables.append(np.take(table, order, axis=axes.index(node)) if node in axes else table)
        return FittedNetwork(self.parents, self.arities, tuple(tables))


def _with_unseen(table: Floats) -> Floats:
    """Return the table with one more index on each axis, for a value never seen, which gives no information."""
    for axis in range(table.ndim - 1):
        table = np.concatenate([table, table.mean(axis=axis, keepdims=True)], axis=axis)
    return np.concatenate([table, np.ones((*table.shape[:-1], 1))], axis=-1)


def fit_network(parents: Ints, arities: Ints, codes: Codes, weights: Floats) -> FittedNetwork:
    """Return the network with conditional tables estimated from weighted rows.

    A uniform prior with the weight of one row keeps probabilities positive, also for configurations that never occur.
    """
    tables = []
    for v in range(len(parents)):
        axes = [*members_of(int(parents[v])), v]
        shape = tuple(int(arities[u]) for u in axes)
        counts = np.full(shape, PRIOR_ROWS / np.prod(shape))
        np.add.at(counts, tuple(codes[u] for u in axes), weights)
        tables.append(counts / counts.sum(axis=-1, keepdims=True))
    return FittedNetwork(parents, arities, tuple(tables))
