"""What is known about p(y=1), the share of positives in the population.

It can be a number; a bound ("below 0.4"); an interval; a distribution; or an estimate with its uncertainty.
All have the same methods. The most important is `Prior.decides`: is p(y=1) below this threshold? This is
enough to choose the more powerful test under class-dependent labeling.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from blankets.arguments import generator_from, number
from blankets.errors import LabelError, ParameterError, guarded
from blankets.records import built, named
from blankets.voice import option

Floats = NDArray[np.float64]

_GRID = (np.arange(1000) + 0.5) / 1000.0
_ROUNDING = 1e-12  # of shares
_PROBABILITY = "a probability between 0 and 1, both excluded"
_LEAST_MASS = 0.9  # of a distribution that must lie within (0, 1)


@guarded
class Prior(ABC):
    """Knowledge of p(y=1)."""

    @property
    def facts(self) -> dict[str, str | float]:
        """What kind of knowledge it is, and its numbers; of a distribution, where the middle 90% lies."""
        low, high = self.ppf([0.05, 0.95])
        return {"kind": "between", "low": float(low), "high": float(high)}

    @classmethod
    def _from_data(cls, data: Any) -> Prior:
        """Return the prior of a saved result."""
        prior = prior_from(built(data)) if data is not None else None
        quantiles = np.array([-1.0]) if prior is None else prior.ppf([0.0, 0.05, 0.5, 0.95, 1.0])
        if prior is None or not (np.diff(quantiles) >= 0).all() or not 0 <= quantiles[0] <= quantiles[-1] <= 1:
            raise _not_a_prior(data)
        return prior

    @property
    @abstractmethod
    def support(self) -> tuple[float, float]:
        """Smallest and largest possible value."""

    @abstractmethod
    def cdf(self, value: ArrayLike) -> Floats:
        """Return the probability that p(y=1) is at most ``value``."""

    @abstractmethod
    def ppf(self, probability: ArrayLike) -> Floats:
        """Return the quantile at ``probability``."""

    @property
    def mean(self) -> float:
        """Expected value."""
        return float(self.ppf(_GRID).mean())

    @property
    def is_exact(self) -> bool:
        """Whether the prior is one number."""
        return False

    @property
    def is_soft(self) -> bool:
        """Whether the prior is only a bound: enough to choose between tests, not enough for estimates."""
        return False

    def sample(self, n: int, rng: np.random.Generator | int | None = None) -> Floats:
        """Draw ``n`` values."""
        return self.ppf(generator_from(rng).random(n))

    def decides(self, threshold: float) -> bool | None:
        """Tell whether p(y=1) is below the threshold: True, False, or None if both are possible."""
        low, high = self.support
        if high < threshold or (high == threshold and not self.is_exact):
            return True
        return False if low >= threshold else None

    def meets(self, low: float, high: float) -> bool:
        """Tell whether p(y=1) may be between two values."""
        own_low, own_high = self.support
        if self.is_exact:
            return low - _ROUNDING <= own_low <= high + _ROUNDING
        return max(low, own_low) < min(high, own_high) and float(self.cdf(high) - self.cdf(low)) > 0.0

    def within(self, low: float, high: float) -> Prior:
        """Return this prior, restricted to values between two limits.

        Raises
        ------
        LabelError
            If no value is left.
        """
        own_low, own_high = self.support
        if low <= own_low and own_high <= high:
            return self
        if not self.meets(low, high):
            raise LabelError(
                f"p(y=1) is said to be {self}, but the labels show that it lies between {low:.4g} and {high:.4g}: "
                f"the share of labeled positives among all rows is at least {low:.4g} and that of labeled negatives "
                f"{1.0 - high:.4g}; correct the prior, or pass {option(sampling='case-control')} if the "
                f"labeled rows were "
                f"collected apart from the others"
            )
        return self if self.is_exact else Restricted(self, low, high)


@guarded
@named
@dataclass(frozen=True, slots=True, repr=False)
class Exact(Prior):
    """One number.

    Examples
    --------
    >>> Exact(0.2).decides(0.5)
    True
    """

    value: float

    def __post_init__(self) -> None:
        number("prior", self.value, _PROBABILITY, above=0.0, below=1.0)

    @property
    def support(self) -> tuple[float, float]:
        """The number, twice."""
        return float(self.value), float(self.value)

    @property
    def is_exact(self) -> bool:
        """True."""
        return True

    @property
    def mean(self) -> float:
        """The number."""
        return float(self.value)

    def cdf(self, value: ArrayLike) -> Floats:
        """Return 1 at and above the number, 0 below it."""
        return np.asarray(np.asarray(value, float) >= self.value, float)

    def ppf(self, probability: ArrayLike) -> Floats:
        """Return the number."""
        return np.full(np.shape(probability), float(self.value))

    def __str__(self) -> str:
        return f"{self.value:.10g}"

    @property
    def facts(self) -> dict[str, str | float]:
        """The number."""
        return {"kind": "exact", "prior": float(self.value)}

    def __repr__(self) -> str:
        return repr(self._said())

    def _said(self) -> float:
        return float(self.value)


@guarded
@named
@dataclass(frozen=True, slots=True, repr=False)
class Between(Prior):
    """An interval with a uniform distribution; see `less_than`, `greater_than`, `between`."""

    low: float
    high: float
    bound_only: bool = False

    def __post_init__(self) -> None:
        ends = self.low, self.high
        if not all(isinstance(end, Real) for end in ends) or not 0.0 <= self.low < self.high <= 1.0:
            raise ParameterError.out_of_range("prior", ends, "an interval within 0 and 1")

    @property
    def support(self) -> tuple[float, float]:
        """The two ends."""
        return self.low, self.high

    @property
    def is_soft(self) -> bool:
        """Whether it was given as a single bound."""
        return self.bound_only

    def cdf(self, value: ArrayLike) -> Floats:
        """Return the share of the interval below the value."""
        return np.clip((np.asarray(value, float) - self.low) / (self.high - self.low), 0.0, 1.0)

    def ppf(self, probability: ArrayLike) -> Floats:
        """Return the point with this share of the interval below it."""
        return np.asarray(self.low + (self.high - self.low) * np.asarray(probability, float))

    @property
    def facts(self) -> dict[str, str | float]:
        """The bound, or both ends."""
        if self.bound_only:
            below = self.low == 0.0
            return {"kind": "below" if below else "above", "prior": float(self.high if below else self.low)}
        return {"kind": "between", "low": float(self.low), "high": float(self.high)}

    def __str__(self) -> str:
        if self.bound_only:
            return f"below {self.high:.10g}" if self.low == 0.0 else f"above {self.low:.10g}"
        return f"between {self.low:.10g} and {self.high:.10g}"

    def __repr__(self) -> str:
        return repr(self._said())

    def _said(self) -> object:
        low, high = float(self.low), float(self.high)
        if self.bound_only:
            return f"<{high}" if low == 0.0 else f">{low}"
        return [low, high] if 0.0 < low and high < 1.0 else {"low": low, "high": high}


@guarded
def less_than(bound: float) -> Between:
    """Say that p(y=1) is below a number.

    Parameters
    ----------
    bound : float
        The largest value that p(y=1) may have, between 0 and 1.

    Returns
    -------
    Prior
        Give it as ``prior=``; ``"<0.4"`` means the same.

    Examples
    --------
    >>> from blankets import less_than
    >>> less_than(0.4).decides(0.5), less_than(0.4).decides(0.3)
    (True, None)
    """
    return Between(0.0, Exact(bound).value, bound_only=True)


@guarded
def greater_than(bound: float) -> Between:
    """Say that p(y=1) is above a number.

    Parameters
    ----------
    bound : float
        The smallest value that p(y=1) may have, between 0 and 1.

    Returns
    -------
    Prior
        Give it as ``prior=``; ``">0.4"`` means the same.

    Examples
    --------
    >>> from blankets import greater_than
    >>> greater_than(0.4).decides(0.3)
    False
    """
    return Between(Exact(bound).value, 1.0, bound_only=True)


@guarded
def between(low: float, high: float) -> Between:
    """Say that p(y=1) is between two numbers, with a uniform distribution.

    Parameters
    ----------
    low, high : float
        The smallest and the largest value that p(y=1) may have.

    Returns
    -------
    Prior
        Give it as ``prior=``; the pair ``(low, high)`` means the same.

    Examples
    --------
    >>> from blankets import between
    >>> round(between(0.1, 0.3).mean, 6)
    0.2
    """
    return Between(low, high)


@guarded
@named
class Beta(Prior):
    """A generalized Beta distribution on [low, high], by its mode or its mean.

    Parameters
    ----------
    mode, mean : float, optional
        The most probable value, or the expected value; give one of the two.
    low, high : float
        Smallest and largest possible value.
    concentration : float
        Sum of the two shape parameters: the larger, the narrower. With a mode it must be above 2; the
        default 6 is that of the PERT distribution of project planning.

    Examples
    --------
    >>> from blankets import Beta
    >>> prior = Beta(mode=0.2, low=0.1, high=0.5)
    >>> round(prior.mean, 4), prior.support, prior.decides(0.6)
    (0.2333, (0.1, 0.5), True)
    """

    __slots__ = ("_range", "arguments", "shape")

    def __init__(
        self,
        *,
        mode: float | None = None,
        mean: float | None = None,
        low: float = 0.0,
        high: float = 1.0,
        concentration: float = 6.0,
    ) -> None:
        self._range = Between(low, high)
        if (mode is None) == (mean is None):
            raise ParameterError("a Beta prior is given by its 'mode' or by its 'mean': one of the two")
        name, center, least = ("mode", mode, 2.0) if mean is None else ("mean", mean, 0.0)
        center = number(name, center, f"between {low:g} and {high:g}, both excluded", above=low, below=high)
        concentration = number("concentration", concentration, f"a number above {least:g}", above=least)
        share = (center - low) / (high - low)
        free, least_shape = concentration - least, least / 2.0
        self.shape = (least_shape + free * share, least_shape + free * (1.0 - share))
        self.arguments = {name: center, "low": low, "high": high, "concentration": concentration}

    @property
    def support(self) -> tuple[float, float]:
        """The range."""
        return self._range.support

    @property
    def mean(self) -> float:
        """Expected value."""
        a, b = self.shape
        return float(self._range.ppf(a / (a + b)))

    def cdf(self, value: ArrayLike) -> Floats:
        """Return the probability that p(y=1) is at most ``value``."""
        from scipy.special import betainc

        return np.asarray(betainc(*self.shape, self._range.cdf(value)))

    def ppf(self, probability: ArrayLike) -> Floats:
        """Return the quantile at ``probability``."""
        from scipy.special import betaincinv

        return self._range.ppf(betaincinv(*self.shape, np.asarray(probability, float)))

    @property
    def facts(self) -> dict[str, str | float]:
        """Mode and ends, or where 90% of it lies."""
        if "mode" not in self.arguments or self.arguments["concentration"] != 6.0:
            return super().facts
        mode, low, high = (float(self.arguments[name]) for name in ("mode", "low", "high"))
        return {"kind": "beta", "prior": mode, "low": low, "high": high}

    def __repr__(self) -> str:
        said = {name: f"{name}={value:.10g}" for name, value in self.arguments.items()}
        if self.arguments["concentration"] == 6.0:
            del said["concentration"]
        return f"Beta({', '.join(said.values())})"

    def _said(self) -> dict[str, float]:
        return {name: float(value) for name, value in self.arguments.items()}


@guarded
@named
@dataclass(frozen=True, slots=True)
class FromDistribution(Prior):
    """Any distribution with ``cdf`` and ``ppf``, such as one of `scipy.stats`, restricted to (0, 1)."""

    distribution: Any

    def __post_init__(self) -> None:
        mass = float(self.distribution.cdf(1.0) - self.distribution.cdf(0.0))
        if mass < _LEAST_MASS:
            raise ParameterError(
                f"'prior' must be a distribution of a probability, but only {mass:.2g} of it lies between 0 and 1"
            )

    @property
    def support(self) -> tuple[float, float]:
        """The range of the distribution within 0 and 1."""
        low, high = (float(end) for end in self.distribution.ppf([0.0, 1.0]))
        return max(low, 0.0), min(high, 1.0)

    def cdf(self, value: ArrayLike) -> Floats:
        """Return the probability that p(y=1) is at most ``value``."""
        below, above = (float(self.distribution.cdf(end)) for end in (0.0, 1.0))
        inside = np.clip(np.asarray(value, float), 0.0, 1.0)
        return np.asarray((self.distribution.cdf(inside) - below) / (above - below))

    def ppf(self, probability: ArrayLike) -> Floats:
        """Return the quantile at ``probability``."""
        below, above = (float(self.distribution.cdf(end)) for end in (0.0, 1.0))
        return np.asarray(self.distribution.ppf(below + (above - below) * np.asarray(probability, float)), float)

    def __str__(self) -> str:
        low, high = self.ppf([0.05, 0.95])
        return f"a distribution with mean {self.mean:.4g} and 90% between {low:.4g} and {high:.4g}"

    def _said(self) -> Any:
        return self.distribution


@guarded
@named
@dataclass(frozen=True, slots=True)
class Restricted(Prior):
    """Another prior, restricted to values between two limits."""

    base: Prior
    low: float
    high: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "base", prior_from(self.base))  # may be a number, a pair, ...

    @property
    def support(self) -> tuple[float, float]:
        """The range that both allow."""
        low, high = self.base.support
        return max(low, self.low), min(high, self.high)

    @property
    def is_soft(self) -> bool:
        """As for the original prior."""
        return self.base.is_soft

    def cdf(self, value: ArrayLike) -> Floats:
        """Return the probability that p(y=1) is at most ``value``."""
        below, above = self.base.cdf(self.low), self.base.cdf(self.high)
        return np.clip((self.base.cdf(value) - below) / (above - below), 0.0, 1.0)

    def ppf(self, probability: ArrayLike) -> Floats:
        """Return the quantile at ``probability``."""
        below, above = self.base.cdf(self.low), self.base.cdf(self.high)
        return self.base.ppf(below + (above - below) * np.asarray(probability, float))

    def __str__(self) -> str:
        return f"{self.base}, and between {self.low:.4g} and {self.high:.4g}"


_RANGE = re.compile(r"\s*([0-9.]+)\s*(?:-|\.\.|to)\s*([0-9.]+)\s*")
_BETA = re.compile(r"\s*Beta\((.*)\)\s*", re.IGNORECASE)
_OF_BETA = re.compile(r"\s*(mode|mean|low|high|concentration)\s*=([^=,]+)")


def prior_from(knowledge: object) -> Prior | None:
    """Return a `Prior` from any form of knowledge of p(y=1).

    ``knowledge``: a string is a number, ``"<0.4"``, ``">0.1"``, ``"0.1-0.4"`` or ``"Beta(mode=0.2, low=0.1,
    high=0.4)"``, as on a command line.

    Examples
    --------
    >>> str(prior_from(0.2)), str(prior_from("<0.4")), str(prior_from((0.1, 0.3)))
    ('0.2', 'below 0.4', 'between 0.1 and 0.3')
    """
    if knowledge is None or isinstance(knowledge, Prior):
        return knowledge
    if isinstance(knowledge, str):
        return _from_text(knowledge)
    if isinstance(knowledge, tuple | list) and len(knowledge) == 2:
        return between(Exact(knowledge[0]).value, Exact(knowledge[1]).value)
    if hasattr(knowledge, "cdf") and hasattr(knowledge, "ppf"):
        return FromDistribution(knowledge)
    if isinstance(knowledge, int | float | np.number) and not isinstance(knowledge, bool):
        return Exact(number("prior", knowledge, _PROBABILITY, above=0.0, below=1.0))
    raise _not_a_prior(knowledge)


def _from_text(text: str) -> Prior:
    try:
        if text.strip()[:1] in ("<", ">"):
            bound = float(text.strip()[1:])
            return less_than(bound) if text.strip()[0] == "<" else greater_than(bound)
        if found := _RANGE.fullmatch(text):
            return Between(float(found[1]), float(found[2]))
        if found := _BETA.fullmatch(text):
            parts = [_OF_BETA.fullmatch(part) for part in found[1].split(",")]
            if any(part is None for part in parts):
                raise _not_a_prior(text)
            return Beta(**{part[1]: float(part[2]) for part in parts if part is not None})
        return Exact(float(text))
    except ParameterError:
        raise
    except ValueError:
        raise _not_a_prior(text) from None


def _not_a_prior(knowledge: object) -> ParameterError:
    return ParameterError.out_of_range(
        "prior",
        knowledge,
        "a probability, a pair (low, high), '<0.4', '>0.1', a Prior such as Beta(mode=0.2, low=0.1, high=0.4), a "
        "distribution or None",
    )
