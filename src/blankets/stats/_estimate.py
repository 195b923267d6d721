"""`InformationEstimate`: estimates of information for many features at once, with their intervals.

An interval uses one of four distributions ("laws") of the estimate. This is the rule that chooses between them.

* **noncentral**: near independence an estimate is c χ²(ν, I/c) with a known scale c (1/2N for the plug-in,
  methods (4.3); 1/2κN for the estimators of partial labels). Its distribution function is inverted in I
  (errata D8): the interval is [0, ...] where independence would not be surprising.
* **matched**: the same law with a scale that depends on I, methods (4.10). At I = 0 it is the one above, c₀; at what
  was measured, Ĩ, it is the one that gives the law the delta method's variance, c₁ = σ²/(4 N Ĩ); in between it is on
  the straight line, and beyond it stays c₁. The degrees of freedom are those that keep the mean, ν = c₀ν₀/c. A
  confidence limit asks for the law at *itself*, and not at the estimate: with c₁ alone a table that by chance looks
  nearly determined has a tiny σ, and a lower limit far too high.
* **levels**: mean, variance and skewness are sums over the levels of x, exact for few rows, at tables with the effect
  of the limit, methods (4.13). Estimators that have it give its ``curve``, where it differs from the others.
* **normal**: Î ± z σ/√N (methods (4.2) and methods (4.9)). At independence σ = 0, and it covers nothing.

**auto** takes *levels* where there is a curve, elsewhere *matched* (which is *noncentral* where σ is not defined), and
*normal* from Î > 50 standard errors on, where all agree. benchmarks/coverage.py prints what the intervals cover in
every regime of labels.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from blankets.errors import ParameterError
from blankets.records import Bounds
from blankets.stats._special import noncentral_chi2_cdf
from blankets.stats._tail import chi2_sf

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
IntervalMethod = Literal["auto", "normal", "noncentral", "matched", "levels"]

LARGEST = 1e15  # larger than any number of rows, or statistic
N_CURVE = 9  # points of a curve, the first of them at independence
_METHODS = ("auto", "normal", "noncentral", "matched", "levels")
_CLOSE = 1e-7  # relative precision of the ends of intervals
_STRONG = 50.0  # standard errors from 0 beyond which the matched law is normal to within one per cent
_NO_FLAGS = np.zeros((), bool)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class InformationEstimate:
    """Estimates of (conditional) mutual information in nats; all arrays have the shape of the batch."""

    # The estimates. The MCAR estimator can be negative, and so can a bias-corrected one.
    value: Annotated[Floats, Bounds(-LARGEST, LARGEST)]
    # sampling variance of ``value``; NaN if the delta method does not apply (cells on the boundary)
    variance: Annotated[Floats, Bounds(0.0, LARGEST, known=False)]
    # statistic, dof, scale: near independence ``statistic`` is χ²(``dof``, I / ``scale``), and ``scale`` times
    # ``statistic`` is what was measured
    statistic: Annotated[Floats, Bounds(-LARGEST, LARGEST, known=False)]
    dof: Annotated[Floats, Bounds(0.0, LARGEST, known=False)]
    scale: Annotated[Floats, Bounds(0.0, LARGEST, known=False)]
    # whether cells had to be repaired: implied cells below 0 clipped and the rest renormalized, or levels of x
    # without any labeled row left out
    repaired: Flags = field(default_factory=_NO_FLAGS.copy)
    # whether an implied cell is so far below 0 (p < 0.001) that the given p(y=1) must be wrong
    contradicts_prior: Flags = field(default_factory=_NO_FLAGS.copy)
    estimator: str = "plug-in"  # which estimator this is
    # what has been subtracted from the raw estimate
    bias: Annotated[Floats, Bounds(-LARGEST, LARGEST, known=False)] = field(default_factory=lambda: np.zeros(()))
    # variance of what was measured, where that is not ``value`` (and its bias); NaN: ``variance``
    law_variance: Annotated[Floats, Bounds(0.0, LARGEST, known=False)] = field(
        default_factory=lambda: np.full((), np.nan)
    )
    # where the law is summed over levels: roots of effects and, at each, the normal quantile of P(estimate <= what was
    # measured), shape (..., 2, N_CURVE); NaN: another law
    curve: Annotated[Floats, Bounds(-LARGEST, LARGEST, known=False)] = field(
        default_factory=lambda: np.full((2, N_CURVE), np.nan)
    )

    @property
    def standard_error(self) -> Floats:
        """Square root of the variance."""
        return np.sqrt(self.variance)

    @property
    def p_value(self) -> Floats:
        """P-value of the test of independence that belongs to the estimate."""
        p = chi2_sf(np.maximum(self.statistic, 0.0), self.dof)
        return np.where(self.dof > 0, p, 1.0)

    def less_bias(self, bias: Floats, estimator: str) -> InformationEstimate:
        """Return the estimate minus a bias; its interval still uses the laws of the raw estimate."""
        return replace(self, value=self.value - bias, bias=self.bias + bias, estimator=estimator)

    def interval(self, level: float = 0.9, method: IntervalMethod = "auto") -> tuple[Floats, Floats]:
        """Return the two-sided confidence interval of the information, never below 0.

        ``level``: probability of covering the true value. ``method``: which law of the estimate; see the text at the
        top of this module.
        """
        if not (isinstance(level, int | float | np.number) and 0.0 < level < 1.0):
            raise ParameterError.out_of_range("level", level, "between 0 and 1, both excluded")
        if method not in _METHODS:
            raise ParameterError.not_one_of("kind of interval", method, _METHODS)
        tail = (1.0 - level) / 2.0
        low, high = self._limits((1.0 - tail, tail), method)
        return low, high

    @property
    def corrected(self) -> Floats:
        """The estimate that is too large as often as too small: the 0% interval, so that it is inside of all others.

        Of an estimate near independence, most of `value` is what chance brings in few rows.

        >>> from blankets.stats import plug_in
        >>> float(plug_in([[11, 9], [9, 11]]).corrected)
        0.0
        """
        return self._limits((0.5,), "auto")[0]

    def _limits(self, probabilities: tuple[float, ...], method: IntervalMethod) -> list[Floats]:
        """Return the information at which what was measured is each of these quantiles of its law."""
        if method == "normal":
            return [self._normal(p) for p in probabilities]
        chosen = self.law() if method == "auto" else np.array(method)
        far, summed = chosen == "normal", (chosen == "levels") & self._has_curve
        measured = self.statistic * self.scale
        scale = self.scale if method == "noncentral" else self._scale_at(measured)
        # Inverting the far tail is slow, and these will be replaced.
        law = _Matched(np.where(far | summed, 0.0, measured), self.scale * self.dof, self.scale, scale)
        found = [np.where(summed, self._on_curve(p), law.limit(p)) for p in probabilities]
        return [np.where(far, self._normal(p), end) for p, end in zip(probabilities, found, strict=True)]

    def law(self) -> NDArray[np.str_]:
        """Return which law "auto" takes for each estimate."""
        with np.errstate(invalid="ignore"):
            strong = self.value > _STRONG * self.standard_error
        return np.where(strong, "normal", np.where(self._has_curve, "levels", "matched"))

    @property
    def _has_curve(self) -> Flags:
        return np.asarray(np.isfinite(self.curve).all(axis=(-2, -1)))

    def _on_curve(self, probability: float) -> Floats:
        """Return the effect at which the curve has this probability: on straight lines between roots of effects."""
        roots, z = self.curve[..., 0, :], self.curve[..., 1, :] - ndtri(probability)
        found = _on_lines(np.zeros(()), -z, roots)
        return np.where(z[..., 0] <= 0, 0.0, np.maximum(found, 0.0) ** 2)

    def _scale_at(self, measured: Floats) -> Floats:
        """Return the scale with the delta method's variance; where there is none, that near independence."""
        variance = np.where(np.isnan(self.law_variance), self.variance, self.law_variance)
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = variance / (4.0 * measured)
        return np.where((scale > 0) & (measured > 0) & np.isfinite(scale), scale, self.scale)

    def _normal(self, probability: float) -> Floats:
        return np.asarray(np.maximum(self.value - ndtri(probability) * self.standard_error, 0.0))


def mixed_curves(curves: Floats, weights: Floats) -> Floats:
    """Return the curve whose probabilities are the weighted mean of those of others, of shape (k, ..., 2, N_CURVE).

    It is that of an estimate of which something is not known exactly, such as p(y=1); NaN where one curve is.
    """
    roots = curves[..., 0, :]
    first, last = roots[..., 1].min(axis=0), roots[..., -1].max(axis=0)
    at = np.stack([np.zeros_like(first), *(first + (last - first) * k for k in np.linspace(0.0, 1.0, N_CURVE - 1))], -1)
    z = [np.stack([_on_lines(r, one[..., 0, :], one[..., 1, :]) for r in np.moveaxis(at, -1, 0)], -1) for one in curves]
    p = sum(weight * ndtr(each) for weight, each in zip(weights, z, strict=True))
    return np.stack([at, np.clip(ndtri(p), -8.0, 8.0)], axis=-2)


def _on_lines(at: Floats, xs: Floats, ys: Floats) -> Floats:
    """Return ys on straight lines between rising xs, of shape (..., k), and on the first and last line outside."""
    k = np.clip((xs < at[..., np.newaxis]).sum(axis=-1, keepdims=True), 1, xs.shape[-1] - 1)
    (x0, x1), (y0, y1) = ([np.take_along_axis(v, i, -1)[..., 0] for i in (k - 1, k)] for v in (xs, ys))
    return np.asarray(y0 + (y1 - y0) * divided(at - x0, x1 - x0))


class _Matched:
    """The law c χ²(mean/c, I/c) of what was measured, with a scale c that depends on I, methods (4.10).

    ``measured``: the estimate. ``mean``: what it is on average at independence. ``none``, ``same``: the scale where I
    is 0 and where it is ``measured``; it is on the straight line between them, and stays beyond.
    """

    def __init__(self, measured: Floats, mean: Floats, none: Floats, same: Floats) -> None:
        self.shape = np.broadcast_shapes(*(np.shape(a) for a in (measured, mean, none, same)))
        self.measured, self.mean = (np.broadcast_to(a, self.shape).ravel() for a in (measured, mean))
        self.scales = np.stack([np.broadcast_to(a, self.shape).ravel() for a in (none, same)])

    def limit(self, probability: float) -> Floats:
        """Return the I at which what was measured is this quantile of the law; 0 where it is less even at 0.

        It is between the answers for the smallest and the largest scale; regula falsi with the Illinois rule finds it.
        """
        extreme = self.scales.min(axis=0), self.scales.max(axis=0)
        ends = [_at_scale(self.measured, self.mean, scale, probability) for scale in extreme]
        low, high = np.minimum(*ends), np.maximum(*ends)
        everywhere = np.arange(len(low))
        above, below = self._excess(low, everywhere, probability), self._excess(high, everywhere, probability)
        found = np.where(above > 0, high, low)
        at = np.flatnonzero((above > 0) & (below < 0) & (high - low > _CLOSE * high))
        low, high, above, below = (values[at] for values in (low, high, above, below))
        side = np.zeros(len(at))
        for _ in range(60):
            if not len(at):
                break
            new = low + (high - low) * above / (above - below)
            excess = self._excess(new, at, probability)
            right = excess > 0  # the root lies right of the new point; an end that stays twice counts half
            above = np.where(right, excess, np.where(side < 0, 0.5 * above, above))
            below = np.where(right, np.where(side > 0, 0.5 * below, below), excess)
            low, high = np.where(right, new, low), np.where(right, high, new)
            side = np.where(right, 1.0, -1.0)
            found[at] = new
            more = (high - low > _CLOSE * high) & (np.abs(excess) > _CLOSE)
            low, high, above, below, side = (values[more] for values in (low, high, above, below, side))
            at = at[more]
        return found.reshape(self.shape)

    def _excess(self, effect: Floats, at: NDArray[np.int64], probability: float) -> Floats:
        """Return P(estimate <= what was measured) at an effect, less ``probability``; it falls with the effect."""
        measured, (none, same) = self.measured[at], self.scales[:, at]
        scale = none + (same - none) * np.clip(divided(effect, measured), 0.0, 1.0)
        mean = divided(self.mean[at], scale)
        usable = (mean > 0) & (measured > 0)
        p = noncentral_chi2_cdf(divided(measured, scale), np.where(usable, mean, 1.0), divided(effect, scale))
        return np.where(usable, p - probability, 0.0)


def _at_scale(measured: Floats, mean: Floats, scale: Floats, probability: float) -> Floats:
    return noncentrality_at(divided(measured, scale), divided(mean, scale), probability) * scale


def noncentrality_at(statistic: ArrayLike, dof: ArrayLike, probability: float) -> Floats:
    """Return the λ with P(χ²(dof, λ) <= statistic) = ``probability``, and 0 if even λ = 0 has less.

    Newton's method on the distribution function F, whose derivative in λ is ½ (F with two more degrees of
    freedom - F), kept inside a bracket: F(x; ν, λ) <= F(x; 1, λ) <= Φ(√x - √λ) bounds the root from above.

    Examples
    --------
    >>> round(float(noncentrality_at(20.0, 3, 0.05)), 4)
    35.07
    >>> float(noncentrality_at(2.0, 3, 0.95))
    0.0
    """
    x, nu = (a.ravel() for a in np.broadcast_arrays(np.asarray(statistic, float), np.asarray(dof, float)))
    found = np.where(np.isnan(x), np.nan, 0.0)  # no statistic, no bound; no degrees of freedom, nothing but 0
    at = np.flatnonzero((nu > 0) & (x > 0) & np.isfinite(x))
    at = at[noncentral_chi2_cdf(x[at], nu[at], 0.0) > probability]
    low, high = np.zeros(len(at)), np.maximum(np.sqrt(x[at]) - ndtri(probability), 0.0) ** 2
    guess = np.minimum((np.sqrt(np.maximum(x[at] - nu[at] + 1.0, 0.0)) - ndtri(probability)) ** 2, 0.999 * high)
    for _ in range(100):
        if not len(at):
            break
        excess = noncentral_chi2_cdf(x[at], nu[at], guess) - probability
        slope = 0.5 * (noncentral_chi2_cdf(x[at], nu[at] + 2.0, guess) - probability - excess)
        low, high = np.where(excess > 0, guess, low), np.where(excess > 0, high, guess)
        step = guess - divided(excess, slope)
        new = np.where((step > low) & (step < high), step, 0.5 * (low + high))
        found[at] = new
        more = np.abs(new - guess) > 1e-10 * (1.0 + new)
        at, low, high, guess = at[more], low[more], high[more], new[more]
    return found.reshape(np.broadcast_shapes(np.shape(statistic), np.shape(dof)))


def divided(numerator: Floats, denominator: Floats) -> Floats:
    """Return the ratio, 0 if the denominator is 0."""
    out = np.zeros(np.broadcast_shapes(numerator.shape, denominator.shape))
    return np.divide(numerator, denominator, out=out, where=denominator != 0)
