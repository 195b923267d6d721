"""The law of the MAR-F estimate: labeled rows of a level of x stand for all its rows, so levels have weights.

Near independence the estimate is a sum of chi-squares with these weights, methods (4.11). Away from it, its variance is
that of the levels that carry the effect, and a level with few labeled rows says little about its own. So the scale of
the matched law is computed on a path of tables, methods (4.13): each level's log odds move toward those of the stratum,
or away from them, the faster the less is known of them, as they do in the most likely table with a given effect.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from blankets.stats._estimate import divided
from blankets.stats._information import Loss, delta_variance, derivative, information

Floats = NDArray[np.float64]

_CELLS = (-3, -2, -1)
_STEPS = (6.0, 3.0, 1.5, 0.8, 0.4, 0.0, -0.3, -0.6, -1.0, -1.5)  # of the path, from independence to beyond the estimate
_FAR = 30.0  # log odds are not multiplied by more than exp of this


class WeightedLaw:
    """The law at any table p(y|x,z), all of shape (..., strata, 2, levels of x).

    ``labeled``: counts of labeled rows. ``p``: shares of all rows, shape (..., strata, 1, levels of x), 0 where a level
    has no labeled row. ``n_rows``: all rows, those without a label included.
    """

    def __init__(self, labeled: Floats, p: Floats, n_rows: Floats, loss: Loss) -> None:
        self.labeled, self.p, self.n_rows, self.loss = labeled, p, n_rows, loss
        self.n_labeled = labeled.sum(axis=-2, keepdims=True)
        self.t = divided(labeled, self.n_labeled)
        self.x_given_z = divided(p, p.sum(axis=-1, keepdims=True))
        self.weight = 0.5 * divided(p, self.n_labeled)
        # strata with one class tell nothing
        self.both = (labeled.sum(axis=-1, keepdims=True) > 0).all(axis=-2, keepdims=True)

    def variance(self, t: Floats) -> Floats:
        """Return the delta method's variance of the estimate at p(y|x,z) = ``t``."""
        n_rows = self.n_rows[..., None, None, None]
        slope = derivative(self.p * t, self.loss)
        mean = (t * slope).sum(axis=-2, keepdims=True)
        phi = np.concatenate([mean + divided(self.p * n_rows, self.n_labeled) * (slope - mean), mean], axis=-2)
        share = divided(self.n_labeled, n_rows)
        cells = np.concatenate([share * t, np.maximum(self.p - share, 0.0)], axis=-2)
        return delta_variance(cells, phi, self.n_rows)

    def sums(self, t: Floats | None = None) -> tuple[Floats, Floats]:
        """Return S₁ and S₂ of methods (4.11), at ``t`` or at independence."""
        pull = self.x_given_z
        if t is not None:
            in_class = (pull * t).sum(axis=-1, keepdims=True)
            pull = pull * divided(t.prod(axis=-2, keepdims=True), in_class.prod(axis=-2, keepdims=True))
        first = np.where(self.both, self.weight * (1.0 - pull), 0.0).sum(axis=_CELLS)
        squares = (self.weight**2 * (1.0 - 2.0 * pull)).sum(axis=-1) + (self.weight * pull).sum(axis=-1) ** 2
        return first, np.where(self.both[..., 0], squares, 0.0).sum(axis=(-2, -1))

    def scales(self, effects: Floats) -> Floats:
        """Return the scales c with the variance of the estimate at effects, of shape (k, ...), along the path."""
        bias, second = self.sums()
        seen, scales = [np.zeros_like(bias)], [divided(second, bias)]
        for t in self._path():
            effect = np.maximum(information(self.p * t, self.loss), seen[-1])
            variance = self.variance(t) + 2.0 * self.sums(t)[1]
            seen.append(effect)
            scales.append(divided(variance, 2.0 * (bias + 2.0 * effect)))
        return np.stack([_interpolated(effect, np.stack(seen), np.stack(scales)) for effect in effects])

    def _path(self) -> list[Floats]:
        """Return tables p(y|x,z) from near independence to beyond what was measured."""
        of_class = (self.x_given_z * self.t).sum(axis=-1, keepdims=True)[..., 1:, :]
        of_class = np.where(self.both, of_class, 0.5)
        # One more row, of no effect, keeps log odds finite.
        mild = divided(self.labeled[..., 1:, :] + of_class, self.n_labeled + 1.0)
        center, away = logit(of_class), np.where(self.both, logit(mild) - logit(of_class), 0.0)
        n_seen = (self.weight > 0).sum(axis=_CELLS, keepdims=True)
        rate = divided(self.weight * n_seen, self.weight.sum(axis=_CELLS, keepdims=True))
        ones = [expit(center + away * np.exp(np.minimum(-step * rate, _FAR))) for step in _STEPS]
        return [np.concatenate([1.0 - one, one], axis=-2) for one in ones]


def _interpolated(at: Floats, xs: Floats, ys: Floats) -> Floats:
    """Return ys on straight lines between rising xs, of shape (k, ...), and the first and last y outside of them."""
    k = np.clip((xs <= at).sum(axis=0), 1, len(xs) - 1)[np.newaxis]
    (x0, x1), (y0, y1) = ([np.take_along_axis(v, i, axis=0)[0] for i in (k - 1, k)] for v in (xs, ys))
    return np.asarray(y0 + (y1 - y0) * np.clip(divided(at - x0, x1 - x0), 0.0, 1.0))
