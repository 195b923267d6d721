"""One latent of a small set of columns as a feature: its posterior for any row, without using the target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from blankets.data import Frame
from blankets.latent._local import open_local
from blankets.latent._methods import Effort, attempts_in, best_attempt
from blankets.latent._network import FittedNetwork
from blankets.latent._rows import Codes, Floats
from blankets.latent._subspaces import subspaces


@dataclass(frozen=True, slots=True, eq=False)
class LatentFeature:
    """A latent fitted to some columns and the target."""

    names: tuple[str, ...]  # the columns
    network: FittedNetwork  # nodes are the columns, the target, the latent
    members: tuple[str, ...]  # the columns that are in the blanket of the target beside the latent

    def posterior(self, frame: Frame) -> Floats:
        """Return p(latent | columns) for each row, the target summed out, shape (rows, states)."""
        return self._given_columns(frame, len(self.names) + 1, len(self.names))

    def prediction(self, frame: Frame) -> Floats:
        """Return p(target | columns) for each row, the latent summed out, shape (rows, levels)."""
        return self._given_columns(frame, len(self.names), len(self.names) + 1)

    def _given_columns(self, frame: Frame, wanted: int, other: int) -> Floats:
        alone: Floats = self.network.posterior(self._codes(frame), [wanted, other]).sum(axis=1).T
        return alone

    def _codes(self, frame: Frame) -> Codes:
        codes = np.zeros((len(self.names) + 2, frame.n_rows), np.int32)
        for node, name in enumerate(self.names):
            codes[node] = frame.column(frame.index(name))
        return codes


def fit_feature(
    frame: Frame, target: int, members: Sequence[int], effort: Effort, rng: np.random.Generator
) -> LatentFeature | None:
    """Return the best latent of these columns by ``effort.score``, or None if no place is possible.

    The best is returned even if the model without a latent is better: it is a feature, not a claim.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> t = rng.integers(0, 2, 1000)
    >>> leaves = [np.where(rng.random(1000) < 0.2, 1 - t, t) for _ in range(3)]
    >>> frame = Frame.from_codes(np.column_stack([*leaves, t]))
    >>> feature = fit_feature(frame, 3, [0, 1, 2], Effort(n_restarts=4), rng)
    >>> feature.posterior(frame).shape
    (1000, 2)
    """
    stage = open_local(frame, target, members)
    places = subspaces(stage, stage.with_latent(effort.arity)[0].largest)
    winner = best_attempt(attempts_in(places, stage, effort, rng), effort.score)
    if winner is None or winner.stage is None:
        return None
    names = stage.local.names[:-1]
    beside = tuple(names[v] for v in sorted(winner.stage.members) if v < stage.target)
    return LatentFeature(names, winner.stage.network(), beside)
