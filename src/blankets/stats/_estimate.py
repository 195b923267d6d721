"""`InformationEstimate`: estimates of information for many features at once, with their intervals.

An interval uses one of three distributions ("laws") of the estimate. This is the rule that chooses between them.

* **noncentral**: near independence an estimate is c χ²(ν, I/c) with a known scale c (1/2N for the plug-in,
  methods (4.3); 1/2κN for the estimators of partial labels). Its distribution function is inverted in I
  (errata D8): the interval is [0, ...] if the estimate is compatible with independence.
* **matched**: the same law, with the scale that gives the delta method's variance, c = σ²/(4 N Î), and with the
  degrees of freedom that give the mean of the estimate near independence, ν = E₀/c (if E₀ is not that of the law
  above). Near independence σ² → 4 N c I, so it continues the law above; for strong effects it becomes the normal law.
  In between it has the skewness and the bias of an estimate that cannot be below 0.
* **normal**: Î ± z σ/√N (methods (4.2) and methods (4.9)). At independence σ = 0, and the interval covers nothing.

**auto** uses *noncentral* if the test of independence has p > 0.01 or σ is not defined, otherwise *matched*, and
*normal* if Î > 50 standard errors, where all three agree. Coverage of 90% intervals of Pos, p(y=1) = 0.2, 10%
labeled positives, over I from 0.0005 to 0.3, |X| = 2, 5, 10 and N = 500 to 10,000: auto 0.86 to 0.92, normal
0.49 to 0.97.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc, chndtr, ndtri

from blankets.errors import ParameterError
from blankets.records import Bounds

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
IntervalMethod = Literal["auto", "normal", "noncentral", "matched"]

LARGEST = 1e15  # larger than any number of rows, or statistic
_METHODS = ("auto", "normal", "noncentral", "matched")
_WEAK = 0.01  # if the p-value of independence is above this, an estimate is mostly noise
_STRONG = 50.0  # more standard errors from 0: the matched law is normal to within one per cent
_NO_FLAGS = np.zeros((), bool)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class InformationEstimate:
    """Estimates of (conditional) mutual information in nats; all arrays have the shape of the batch."""

    # The estimates. The MCAR estimator can be negative, and so can a bias-corrected one.
    value: Annotated[Floats, Bounds(-LARGEST, LARGEST)]
    # sampling variance of ``value``; NaN if the delta method does not apply (cells on the boundary)
    variance: Annotated[Floats, Bounds(0.0, LARGEST, known=False)]
    # statistic, dof, scale: near independence ``statistic`` is χ²(``dof``, I / ``scale``)
    statistic: Annotated[Floats, Bounds(-LARGEST, LARGEST, known=False)]
    dof: Annotated[Floats, Bounds(0.0, LARGEST, known=False)]
    scale: Annotated[Floats, Bounds(0.0, LARGEST, known=False)]
    # whether cells had to be repaired: implied cells below 0 clipped and the rest renormalized, or levels of x
    # without any labeled row left out
    repaired: Flags = field(default_factory=_NO_FLAGS.copy)
    # whether an implied cell is so far below 0 (p < 0.001) that the given p(y=1) must be wrong
    contradicts_prior: Flags = field(default_factory=_NO_FLAGS.copy)
    estimator: str = "plug-in"  # name of the estimator
    strong_law: Literal["matched", "normal"] = "matched"  # what "auto" uses far from independence
    # what was subtracted from the raw estimate
    bias: Annotated[Floats, Bounds(-LARGEST, LARGEST, known=False)] = field(default_factory=lambda: np.zeros(()))
    # mean of the raw estimate near independence, if it is not the mean of the law there; NaN: ``scale`` times
    # ``dof``
    noise: Annotated[Floats, Bounds(0.0, LARGEST, known=False)] = field(default_factory=lambda: np.full((), np.nan))

    @property
    def standard_error(self) -> Floats:
        """Square root of the variance."""
        return np.sqrt(self.variance)

    @property
    def p_value(self) -> Floats:
        """P-value of the test of independence that belongs to the estimate."""
        p = chdtrc(np.maximum(self.dof, 1e-300), np.maximum(self.statistic, 0.0))
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
        if method == "normal":
            return self._normal(tail)
        if method == "noncentral":
            return self._chi_square(tail, self.statistic, self.scale, self.dof)
        matched = self._matched_scale()
        with np.errstate(divide="ignore", invalid="ignore"):
            raw = (self.value + self.bias) / matched
            dof = np.where(np.isnan(self.noise), self.dof, self.noise / matched)
        if method == "matched":
            return self._chi_square(tail, raw, matched, dof)
        return self._auto(tail, raw, matched, dof)

    def law(self) -> NDArray[np.str_]:
        """Return which law "auto" uses for each estimate."""
        with np.errstate(divide="ignore", invalid="ignore"):
            weak = ~(self.p_value <= _WEAK) | ~np.isfinite(self._matched_scale()) | ~(self.value + self.bias > 0)
            far = self.value > _STRONG * self.standard_error
        beyond = np.where(far, "normal", self.strong_law)
        return np.where(weak, "noncentral", beyond)

    def _matched_scale(self) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = self.variance / (4.0 * (self.value + self.bias))
        return np.where(scale > 0, scale, np.nan)

    def _auto(self, tail: float, raw: Floats, matched: Floats, dof: Floats) -> tuple[Floats, Floats]:
        law = self.law()
        chi_square = law != "normal"
        noncentral = law == "noncentral"
        statistic = np.where(noncentral, self.statistic, raw)
        scale = np.where(noncentral, self.scale, matched)
        # Inverting the far tail is slow, and these will be replaced.
        free = np.where(noncentral, self.dof, dof)
        low, high = self._chi_square(tail, np.where(chi_square, statistic, 0.0), scale, free)
        low_n, high_n = self._normal(tail)
        return np.where(chi_square, low, low_n), np.where(chi_square, high, high_n)

    def _normal(self, tail: float) -> tuple[Floats, Floats]:
        half = -ndtri(tail) * self.standard_error
        return np.maximum(self.value - half, 0.0), np.maximum(self.value + half, 0.0)

    def _chi_square(self, tail: float, statistic: Floats, scale: Floats, dof: Floats) -> tuple[Floats, Floats]:
        low = noncentrality_at(statistic, dof, 1.0 - tail)
        high = noncentrality_at(statistic, dof, tail)
        return low * scale, high * scale


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
    at = at[chndtr(x[at], nu[at], 0.0) > probability]
    low, high = np.zeros(len(at)), np.maximum(np.sqrt(x[at]) - ndtri(probability), 0.0) ** 2
    guess = np.minimum((np.sqrt(np.maximum(x[at] - nu[at] + 1.0, 0.0)) - ndtri(probability)) ** 2, 0.999 * high)
    for _ in range(100):
        if not len(at):
            break
        excess = chndtr(x[at], nu[at], guess) - probability
        slope = 0.5 * (chndtr(x[at], nu[at] + 2.0, guess) - probability - excess)
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
