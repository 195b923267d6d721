"""The law of an estimate that is a sum over levels of x: of MAR-F, and of scores of labels (PU, one class, noise).

Given how many rows have each level, the shares of positives in the levels are independent, and each is a binomial
share. So mean, variance and skewness of the estimate at a given table are sums over binomial counts, methods (4.13):
right with few rows in a level, and where implied cells are cut at 0. The law is the noncentral chi-square with this
mean and variance, with its skewness corrected.

A confidence limit asks for the law at tables with the effect of the limit. They lie on a path, methods (4.14): each
level's log odds move toward those of the stratum, or away from them, the faster the less is known of them, as they do
in the most likely table with a given effect that agrees with the known share of positives.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, gammainc, gammaincc, gammaln, logit, ndtr, ndtri, xlogy

from blankets.stats._estimate import N_CURVE, divided
from blankets.stats._information import Loss, derivative
from blankets.stats._special import noncentral_chi2_cdf

Floats = NDArray[np.float64]

_CELLS = (-2, -1)
_COUNTS = np.arange(-8.0, 9.0)  # of a level, from its mean, for sums over its binomial law; wide laws leave gaps
_WIDE = 4.0  # standard deviations from the mean beyond which counts are left out
_STEPS, _STEP = 12, 0.25  # of the path on each side of the estimate: logarithms of how far it is from independence
_HALVINGS = 20  # of a bracket
_TINY = 1e-13  # shares of positives are not told from 0 and 1
_REACH = 3.2  # standard errors on both sides that the curve reaches; beyond, it goes on straight
_FAR = 30.0  # log odds are not multiplied by more than exp of this
_EDGE = 8.0  # standard deviations: as far as a probability is told from 0 and 1
_LEAST = 0.1  # share of the mean that is not effect, at least
_STRAIGHT = 0.01  # a smaller skewness is none


class LevelLaw:
    """The law at any table of shares of positives, of shape (..., strata, levels of x).

    ``p``: shares of all rows. ``t``: shares of positives that were measured. ``rows``: how many rows
    each is from. ``support``: the two values that a row can have, of shape (...) each; a share is a mean of them.
    ``n_rows``: all rows. ``pivot``, of shape (...): where the share of positives in all rows is known, shares are
    stretched from this value until they fit it.
    """

    def __init__(
        self,
        p: Floats,
        t: Floats,
        rows: Floats,
        support: tuple[Floats, Floats],
        n_rows: Floats,
        loss: Loss,
        pivot: Floats | None = None,
    ) -> None:
        self.p, self.raw, self.t, self.rows, self.support = p, t, np.clip(t, 0.0, 1.0), rows, support
        self.n_rows, self.loss, self.pivot = n_rows, loss, pivot
        self.low, self.high = (np.asarray(end)[..., np.newaxis, np.newaxis] for end in support)
        self.x_given_z = divided(p, p.sum(axis=-1, keepdims=True))
        center = (self.x_given_z * self.t).sum(axis=-1, keepdims=True)
        self.both = (center > 0) & (center < 1)  # strata with one class tell nothing
        self.center = np.where(self.both, center, 0.5)
        self.used = self.both & (p > 0) & (rows > 0)

    def of(self, where: NDArray[np.bool_]) -> LevelLaw:
        """Return the laws of some of the tables."""
        low, high, n_rows = (np.broadcast_to(a, where.shape)[where] for a in (*self.support, self.n_rows))
        pivot = None if self.pivot is None else np.broadcast_to(self.pivot, where.shape)[where]
        p, t, rows = (np.broadcast_to(a, (*where.shape, *a.shape[-2:]))[where] for a in (self.p, self.raw, self.rows))
        return LevelLaw(p, t, rows, (low, high), n_rows, self.loss, pivot)

    def null_sums(self) -> tuple[Floats, Floats]:
        """Return S₁ and S₂ of methods (4.11), sums of the weights near independence and of their squares."""
        w, pi = self._weights(np.broadcast_to(self.center, self.t.shape), self.center), self.x_given_z
        first = (w * (1.0 - pi)).sum(axis=_CELLS)
        return first, ((w**2 * (1.0 - 2.0 * pi)).sum(axis=-1) + (w * pi).sum(axis=-1) ** 2).sum(axis=-1)

    def is_small(self, least: float) -> NDArray[np.bool_]:
        """Tell whether a level has few rows of one kind, or a share that may be cut at 0 or 1 by chance."""
        t = self._mild()
        share = divided(t - self.low, self.high - self.low)
        rare = self.rows * np.minimum(share, 1.0 - share) < least
        error = _WIDE * np.sqrt(self._noise(t))
        cut = ((self.low < 0) & (t < error)) | ((self.high > 1) & (1.0 - t < error))
        return np.asarray((self.used & (rare | cut)).any(axis=_CELLS))

    def curves(self, measured: Floats, where: NDArray[np.bool_]) -> Floats:
        """Return the curves of some of the tables, NaN for the others."""
        found = np.full((*np.shape(measured), 2, N_CURVE), np.nan)
        if where.any():
            found[where] = self.of(where).curve(measured[where])
        return found

    def curve(self, measured: Floats) -> Floats:
        """Return effects' roots and, at each, the normal quantile of P(estimate <= measured), shape (..., 2, k)."""
        roots, quantiles = [], []
        for t in self._tables(measured):
            effect, *moments = self.moments(t)
            roots.append(np.sqrt(effect))
            quantiles.append(_quantile(measured, effect, *moments))
        falling = np.minimum.accumulate(np.stack(quantiles, axis=-1), axis=-1)
        return np.stack([np.maximum.accumulate(np.stack(roots, axis=-1), axis=-1), falling], axis=-2)

    def moments(self, t: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the effect at the table ``t``, and mean, variance and third cumulant of its estimates."""
        pi = self.x_given_z
        tau = np.where(self.both, (pi * t).sum(axis=-1, keepdims=True), 0.5)
        told = np.where(self.used, self._told(t, tau, t), 0.0)
        effect = np.maximum((self.p * told).sum(axis=_CELLS), 0.0)
        share = np.clip(divided(t - self.low, self.high - self.low), 0.0, 1.0)
        counts, chance = _binomial(self.rows, share)
        raw = self.low + (self.high - self.low) * divided(counts, np.broadcast_to(self.rows, counts.shape))
        parts = np.where(self.used, self._parts(raw, t, tau), 0.0)
        if self.pivot is None:
            mean, variance, third = self._free(chance, raw - t, parts, tau)
        else:  # shares are stretched from the pivot until they fit the known share of positives
            away, stretch = self.p * (raw - t), self.p * (t - self.pivot[..., np.newaxis, np.newaxis])
            slope = divided((chance * parts * away).sum(axis=0), (chance * away**2).sum(axis=0))
            back = divided((stretch * slope).sum(axis=_CELLS, keepdims=True), stretch.sum(axis=_CELLS, keepdims=True))
            mean, variance, third = _given_sums(chance, away, parts, back)
            told = told - back * t
        spread = told - (self.p * told).sum(axis=_CELLS, keepdims=True)
        variance = variance + divided((self.p * spread**2).sum(axis=_CELLS), self.n_rows)
        third = third + divided((self.p * spread**3).sum(axis=_CELLS), self.n_rows**2)
        return effect, mean, variance, third

    def _free(self, chance: Floats, error: Floats, parts: Floats, tau: Floats) -> tuple[Floats, Floats, Floats]:
        """Return mean, variance and third cumulant if the share of positives in a stratum is what its levels add to.

        The estimate is the sum of ``parts``, which are against the stratum's true share, less what the error of this
        share tells, a square.
        """
        mean = (chance * parts).sum(axis=0)
        left = parts - mean
        own, with_one, with_square, squares_with = (
            (chance * part).sum(axis=0) for part in (left**2, left * error, left * error**2, left**2 * error**2)
        )
        noise, fourth = ((chance * error**k).sum(axis=0) for k in (2, 4))
        pi = self.x_given_z
        each = 0.5 * divided(self.p.sum(axis=-1), (tau * (1.0 - tau))[..., 0])  # for a square of the stratum's error
        whole = (pi**2 * noise).sum(axis=-1)
        spread = 2.0 * whole**2 + (pi**4 * (fourth - 3.0 * noise**2)).sum(axis=-1)
        same = (pi**2 * with_square).sum(axis=-1)
        variance = own.sum(axis=-1) + each**2 * spread - 2.0 * each * same
        crossed = 2.0 * ((pi * with_one).sum(axis=-1) ** 2 - (pi**2 * with_one**2).sum(axis=-1))
        crossed = crossed + (pi**2 * (squares_with - own * noise)).sum(axis=-1)
        third = (chance * left**3).sum(axis=0).sum(axis=-1) - 3.0 * each * crossed
        third = third + 12.0 * each**2 * whole * same - 8.0 * (each * whole) ** 3
        return (mean.sum(axis=-1) - each * whole).sum(axis=-1), variance.sum(axis=-1), third.sum(axis=-1)

    def _parts(self, raw: Floats, t: Floats, tau: Floats) -> Floats:
        """Return what levels add to the estimate if their shares are ``raw``: cut at 0 and 1, classes renormalized."""
        u = np.clip(raw, 0.0, 1.0)
        told = self.p * self._told(u, tau, t)
        over, under = np.maximum(raw - 1.0, 0.0), np.maximum(-raw, 0.0)
        cells = np.stack([self.p * (1.0 - t), self.p * t], axis=-2)
        slope = derivative(cells, self.loss) - (0.5 if self.loss == "squared" else 0.0)
        by_class = divided((cells * slope).sum(axis=(-3, -1)), cells.sum(axis=(-3, -1)))[..., np.newaxis, np.newaxis, :]
        return np.asarray(told * (1.0 + over + under) - self.p * (over * by_class[..., 0] + under * by_class[..., 1]))

    def _told(self, u: Floats, tau: Floats, t: Floats) -> Floats:
        """Return what a share u tells against tau, with the slope that it has in the estimate."""
        if self.loss == "log":
            return np.asarray(xlogy(u, u / tau) + xlogy(1.0 - u, (1.0 - u) / (1.0 - tau)))
        both = tau * (1.0 - tau)
        whole = (self.x_given_z * (t - tau) ** 2).sum(axis=-1, keepdims=True) / (2.0 * both)
        return np.asarray(((u - tau) ** 2 / 2.0 - whole * (1.0 - 2.0 * tau) * (u - tau)) / both)

    def _noise(self, t: Floats) -> Floats:
        """Return the variance of each share."""
        return divided(np.maximum((t - self.low) * (self.high - t), 0.0), self.rows)

    def _weights(self, t: Floats, tau: Floats) -> Floats:
        """Return w of methods (4.11): what a level's noise adds to the estimate near independence, on average."""
        return np.where(self.used, 0.5 * self.p * divided(self._noise(t), tau * (1.0 - tau)), 0.0)

    def _mild(self) -> Floats:
        """Return the shares with one more row, of no effect, which keeps log odds finite."""
        rows = divided(self.center * (1.0 - self.center), self._noise(np.broadcast_to(self.center, self.t.shape)))
        t = np.clip(divided(rows * self.raw + self.center, rows + 1.0), _TINY, 1.0 - _TINY)
        return np.where(self.used, t, self.center)

    def _tables(self, measured: Floats) -> list[Floats]:
        """Return tables from independence to beyond what was measured, about evenly over the roots of their effects."""
        first, second = self.null_sums()
        flat = np.broadcast_to(self.center, self.t.shape)
        away = np.where(self.used, self._log_odds(self._mild()) - self._log_odds(self.center), 0.0)
        still = (away == 0.0).all(axis=_CELLS, keepdims=True)
        away = np.where(self.used & still, np.where(np.arange(away.shape[-1]) % 2, 1e-3, -1e-3), away)

        def root(t: Floats) -> Floats:
            tau = np.where(self.both, (self.x_given_z * t).sum(axis=-1, keepdims=True), 0.5)
            told = np.where(self.used, self._told(t, tau, t), 0.0)
            return np.asarray(np.sqrt(np.maximum((self.p * told).sum(axis=_CELLS), 0.0)))

        # What is nearer to independence than chance alone brings it starts from there.
        usual = np.sqrt(divided(second, first))
        here = root(self._share(away))
        away = away * np.maximum(divided(usual, here), 1.0)[..., np.newaxis, np.newaxis]
        path = self._path(away)
        seen = np.maximum.accumulate(np.stack([root(t) for t in path]), axis=0)
        effect, mean, variance, _ = self.moments(self._share(away))
        scale = np.maximum(divided(variance, 2.0 * (np.maximum(mean - effect, 0.0) + 2.0 * effect)), usual**2)
        low = np.maximum(np.sqrt(np.maximum(measured - first, 0.0)) - _REACH * np.sqrt(scale), 0.0)
        high = np.sqrt(np.maximum(measured, 0.0)) + _REACH * np.sqrt(scale)
        tables = [flat]
        for k in np.linspace(0.0, 1.0, N_CURVE - 1):
            goal = np.maximum(low + (high - low) * k, seen[0])[..., np.newaxis, np.newaxis]
            tables.append(_interpolated(goal, seen[..., np.newaxis, np.newaxis], path))
        return tables

    def _path(self, away: Floats) -> Floats:
        """Return tables from near independence to far from it, shape (steps, ...), methods (4.14)."""
        w = self._weights(np.broadcast_to(self.center, self.t.shape), self.center)
        mean = divided(w.sum(axis=_CELLS, keepdims=True), self.used.sum(axis=_CELLS, keepdims=True))
        pulls = (divided(np.expm1(np.full_like(mean, _STEP * k)), 2.0 * mean) for k in range(_STEPS, 0, -1))
        near, far = [self._nearer(away, pull) for pull in pulls], self._farther(away, divided(w, mean))
        fitted = [self._fitted(self._share(moved)) for moved in (*near, *far)]
        # The shares of x that were drawn may allow less than the true effect: so the path goes on beyond what they fit.
        return np.stack(fitted if self.pivot is None else [*fitted, *(self._share(moved) for moved in far)])

    def _farther(self, away: Floats, rate: Floats) -> list[Floats]:
        """Return how far levels are on the way to larger effects, which shares of positives take at this ``rate``."""
        center, odds = self.center, self._log_odds(self.center)
        ends = [self._log_odds(np.asarray(end)) - odds for end in (_TINY, 1.0 - _TINY)]
        # The rate is that near the center. Where a row's values reach beyond 0 or 1, shares come there sooner.
        part = divided((center - self.low) * (self.high - center), (self.high - self.low) * center * (1.0 - center))
        moved = [np.clip(away, *ends)]
        for _ in range(_STEPS):
            longer = divided(divided(logit(self._share(moved[-1])) - logit(center), moved[-1]), part)
            moved.append(np.clip(moved[-1] * np.exp(np.clip(_STEP * rate * longer, -_FAR, _FAR)), *ends))
        return moved

    def _nearer(self, away: Floats, mu: Floats) -> Floats:
        """Return how far levels are in the most likely table with a smaller effect, with the multiplier ``mu``."""
        near, far = np.zeros_like(away), away
        for _ in range(_HALVINGS):
            middle = 0.5 * (near + far)
            t = self._share(middle)
            pull = mu * self.p * (logit(t) - logit(self.center)) - divided(self.raw - t, self._noise(t))
            beyond = pull * away > 0
            near, far = np.where(beyond, near, middle), np.where(beyond, middle, far)
        return np.where(self.used, 0.5 * (near + far), 0.0)

    def _log_odds(self, t: Floats) -> Floats:
        """Return log odds between the two values of a row."""
        return np.asarray(np.log(divided(t - self.low, self.high - t)))

    def _share(self, away: Floats) -> Floats:
        """Return the shares of positives this far from the log odds of the center."""
        part = expit(self._log_odds(self.center) + away)
        return np.asarray(np.clip(self.low + (self.high - self.low) * part, _TINY, 1.0 - _TINY))

    def _fitted(self, t: Floats) -> Floats:
        """Return these shares, stretched from the pivot until they fit the share of positives in all rows."""
        if self.pivot is None:
            return t
        pivot = self.pivot[..., np.newaxis, np.newaxis]
        wanted = (self.p * (self.raw - pivot)).sum(axis=_CELLS, keepdims=True)
        for _ in range(2):  # what is cut at 0 or 1 is missing in the sum
            has = (self.p * (t - pivot)).sum(axis=_CELLS, keepdims=True)
            t = np.clip(pivot + (t - pivot) * divided(wanted, has), _TINY, 1.0 - _TINY)
        return t


def two_values(labels: Floats, w: Floats) -> tuple[Floats, Floats]:
    """Return the two values of a score that has, at every share of positives, the mean and variance of ``w``.

    With Var(w) in all rows, a label's probability is p(l) (1 + (t - p(y=1)) (w - p(y=1)) / Var(w)) at the share t: so
    the variance of w is A + B t - t², and the values are its roots. Scores of two values have these.
    """
    mean = (labels * w).sum(axis=-1)
    square, off = (labels * w**2).sum(axis=-1), w - mean[..., np.newaxis]
    b = divided((labels * w**2 * off).sum(axis=-1), (labels * off**2).sum(axis=-1))
    root = np.sqrt(np.maximum(b**2 + 4.0 * (square - mean * b), 0.0))
    return np.minimum((b - root) / 2.0, 0.0), np.maximum((b + root) / 2.0, 1.0)


def pivot_of(labels: Floats, w: Floats, gradient: Floats) -> Floats | None:
    """Return the value of the score that stays if the shares of labels change, None if all do.

    If positives are more frequent than expected, a label's share changes by p(l) (w - p(y=1)), and scores by a straight
    line in w, which is 0 at the pivot: at 0 for labeled positives, and at 1 for labeled negatives.
    """
    if not gradient.any():
        return None
    off = w - (labels * w).sum(axis=-1, keepdims=True)
    moved = (gradient @ (labels * off)[..., np.newaxis])[..., 0]
    steep = divided((labels * off * moved).sum(axis=-1), (labels * off**2).sum(axis=-1))
    shift = divided((labels * moved).sum(axis=-1), np.where(steep == 0.0, 1e-6, steep))
    return np.asarray((labels * w).sum(axis=-1) - shift)


def _given_sums(chance: Floats, away: Floats, parts: Floats, back: Floats) -> tuple[Floats, Floats, Floats]:
    """Return mean, variance and third cumulant of the sum of ``parts``, whose errors ``away`` add to 0 in a stratum.

    Given that, the law of a level is its own times that of the others' sum (normal), and errors are correlated like
    those of a normal law: the parts are polynomials of them, the covariance of those of degree j is that of the errors
    to the power j (Mehler). What the sums themselves vary is stretched back, by ``back``.
    """
    noise = (chance * away**2).sum(axis=0)
    whole = noise.sum(axis=-1, keepdims=True)
    steep = divided((chance * parts * away).sum(axis=0).sum(axis=-1, keepdims=True), whole) - back
    others = np.maximum(whole - noise, 1e-9 * whole)
    chance = chance * np.exp(-0.5 * divided(away**2, np.broadcast_to(others, away.shape)))
    chance = divided(chance, np.broadcast_to(chance.sum(axis=0), chance.shape))
    mean = (chance * parts).sum(axis=0)
    left = parts - mean
    own, own_third = ((chance * left**k).sum(axis=0) for k in (2, 3))
    tied = divided(noise, others) ** 0.5
    tied = -tied[..., :, np.newaxis] * tied[..., np.newaxis, :]
    apart = ~np.eye(noise.shape[-1], dtype=bool)
    tied = np.where(apart, np.maximum(tied, -1.0), 1.0)
    size = _polynomials(chance, away, left)
    variance = own.sum(axis=-1)
    for j, a in enumerate(size, start=1):
        variance = variance + (a[..., np.newaxis, :] @ np.where(apart, tied**j, 0.0) @ a[..., np.newaxis])[..., 0, 0]
    line, bend = size[0], size[1] / np.sqrt(2.0)
    bent = bend[..., :, np.newaxis] * tied
    third = own_third + 8.0 * np.einsum("...ij,...jk,...ki->...i", bent, bent, bent) - 8.0 * bend**3
    ahead = (tied @ line[..., np.newaxis])[..., 0]
    third = third + 6.0 * bend * (ahead**2 - line**2)
    variance = np.maximum(variance, 0.0) + (steep**2 * whole)[..., 0]
    return mean.sum(axis=_CELLS), variance.sum(axis=-1), third.sum(axis=_CELLS)


def _polynomials(chance: Floats, away: Floats, left: Floats) -> list[Floats]:
    """Return what ``left`` has of the orthonormal polynomials of the errors, of degrees 1 to 4; 0 if there is none."""
    basis, size = [np.ones_like(away)], []
    for _ in range(4):
        new = away * basis[-1]
        before = (chance * new**2).sum(axis=0)
        for old in basis:
            new = new - (chance * new * old).sum(axis=0) * old
        after = (chance * new**2).sum(axis=0)
        there = after > 1e-9 * before
        basis.append(np.where(there, divided(new, np.broadcast_to(np.sqrt(after), new.shape)), 0.0))
        size.append((chance * left * basis[-1]).sum(axis=0))
    return size


def _quantile(measured: Floats, effect: Floats, mean: Floats, variance: Floats, third: Floats) -> Floats:
    """Return the normal quantile of P(estimate <= measured) for an estimate with these moments.

    The law is the noncentral chi-square with its mean and variance, seen through the Pearson law that has the skewness
    which it lacks.
    """
    bias = np.maximum(mean - effect, _LEAST * mean)
    far = np.maximum(mean - bias, 0.0)
    scale = divided(variance, 2.0 * (mean + far))
    usable = (scale > 0) & (bias > 0) & (measured > 0)
    one = np.where(usable, scale, 1.0)
    z = ndtri(noncentral_chi2_cdf(np.where(usable, measured, 1.0) / one, np.where(usable, bias, 1.0) / one, far / one))
    lacking = divided(third - 8.0 * scale**2 * (mean + 2.0 * far), variance**1.5)
    z = np.clip(z, -_EDGE, _EDGE)
    return np.where(usable, np.clip(ndtri(pearson_cdf(z, lacking)), -_EDGE, _EDGE), -_EDGE)


def pearson_cdf(z: Floats, skewness: Floats) -> Floats:
    """Return the distribution function of the Pearson law of type III with mean 0, variance 1 and this skewness.

    Examples
    --------
    >>> float(pearson_cdf(np.array(1.0), np.array(2.0)).round(6))  # the exponential law, at 2
    0.864665
    >>> float(pearson_cdf(np.array(-1.0), np.array(-2.0)).round(6))
    0.135335
    """
    straight = ~(np.abs(skewness) >= _STRAIGHT)
    shape = 4.0 / np.where(straight, 1.0, skewness) ** 2
    x = np.maximum(shape + np.where(skewness < 0, -z, z) * np.sqrt(shape), 0.0)
    return np.asarray(np.where(straight, ndtr(z), np.where(skewness < 0, gammaincc(shape, x), gammainc(shape, x))))


def _binomial(rows: Floats, share: Floats) -> tuple[Floats, Floats]:
    """Return counts and their probabilities, shape (17, ...): all that matter, or evenly spaced ones of them."""
    mean = rows * share
    step = np.maximum(np.ceil(_WIDE * np.sqrt(mean * (1.0 - share)) / _COUNTS[-1]), 1.0)
    counts = np.round(mean) + step * _COUNTS.reshape(-1, *[1] * share.ndim)
    seen, counts = (counts >= 0) & (counts <= rows), np.clip(counts, 0.0, rows)
    log = (
        xlogy(counts, share) + xlogy(rows - counts, 1.0 - share) - gammaln(counts + 1.0) - gammaln(rows - counts + 1.0)
    )
    log = np.where(seen, log, -np.inf)
    chance = np.exp(log - log.max(axis=0))
    return counts, chance / chance.sum(axis=0)


def _interpolated(at: Floats, xs: Floats, ys: Floats) -> Floats:
    """Return ys on straight lines between rising xs, of shape (k, ...), and the first and last y outside of them."""
    k = np.clip((xs <= at).sum(axis=0), 1, len(xs) - 1)[np.newaxis]
    (x0, x1), (y0, y1) = ([np.take_along_axis(v, i, axis=0)[0] for i in (k - 1, k)] for v in (xs, ys))
    return np.asarray(y0 + (y1 - y0) * np.clip(divided(at - x0, x1 - x0), 0.0, 1.0))
