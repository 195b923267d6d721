"""Knowledge of p(y=1) as plain values and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from blankets.data import Reader, plain, refuse
from blankets.errors import ParameterError
from blankets.regimes._prior import Beta, Between, Exact, FromDistribution, Prior, Restricted
from blankets.regimes._prior_estimation import ASSUMPTIONS, EstimatedPrior

__all__ = ["prior_from_saved", "prior_to_dict"]

_OF_SCIPY = ("beta", "norm", "triang", "truncnorm", "uniform")
_OF_BETA = {"mode", "mean", "low", "high", "concentration"}


def prior_to_dict(prior: Prior) -> dict[str, Any] | None:
    """Return a prior as plain values; None for a distribution that has no name here.

    Examples
    --------
    >>> prior_to_dict(Between(0.1, 0.3))
    {'kind': 'between', 'low': 0.1, 'high': 0.3, 'bound_only': False}
    """
    match prior:
        case Exact():
            return {"kind": "exact", "value": float(prior.value)}
        case Between():
            low, high = float(prior.low), float(prior.high)
            return {"kind": "between", "low": low, "high": high, "bound_only": prior.bound_only}
        case Beta():
            return {"kind": "beta", **{name: float(value) for name, value in prior.arguments.items()}}
        case EstimatedPrior():
            return {"kind": "estimated", "value": prior.value, "draws": plain(prior.draws), "method": prior.method}
        case Restricted():
            base = prior_to_dict(prior.base)
            ends = {"low": float(prior.low), "high": float(prior.high)}
            return None if base is None else {"kind": "restricted", "base": base, **ends}
        case FromDistribution():
            return _distribution_to_dict(prior.distribution)
    return None


def _distribution_to_dict(distribution: Any) -> dict[str, Any] | None:
    """Return a frozen distribution of SciPy by its name and arguments; None for any other."""
    from scipy import stats

    family = getattr(distribution, "dist", None)
    name = next((name for name in _OF_SCIPY if isinstance(family, type(getattr(stats, name)))), None)
    said = plain([*distribution.args, *distribution.kwds.values()]) if name is not None else []
    if name is None or not all(isinstance(value, int | float) for value in said):
        return None
    said = [float(value) for value in said]  # 4 is 4.0 when it is read
    args, more = said[: len(distribution.args)], said[len(distribution.args) :]
    return {"kind": "scipy", "name": name, "args": args, "kwds": dict(zip(distribution.kwds, more, strict=True))}


def prior_from_saved(fields: Reader) -> Prior:
    """Return the prior that `prior_to_dict` wrote; raises DataError if it is anything else."""
    try:
        prior = _read(fields)
        quantiles = prior.ppf([0.0, 0.05, 0.5, 0.95, 1.0])
    except (TypeError, ArithmeticError) as error:
        refuse(f"'prior' holds what is none ({error})")
    if not (np.diff(quantiles) >= 0).all() or not (0 <= quantiles[0] and quantiles[-1] <= 1):
        refuse("'prior' holds no distribution of a probability")
    return prior


def _read(fields: Reader) -> Prior:
    kind = fields.one_of(("exact", "between", "beta", "estimated", "restricted", "scipy"), "kind")
    try:
        match kind:
            case "exact":
                return Exact(fields.probability("value"))
            case "between":
                low, high = fields.probability("low"), fields.probability("high")
                return Between(low, high, fields.one(bool, "bound_only"))
            case "beta":
                said = {name: fields.known_number(name, 0.0, 1e6) for name in fields.content.keys() & _OF_BETA}
                return Beta(**said)
            case "estimated":
                draws = np.array(fields.numbers("draws", 0.0, 1.0), float)
                if not len(draws) or not (np.diff(draws) >= 0).all():
                    fields.odd("draws")
                return EstimatedPrior(fields.probability("value"), draws, fields.one_of(ASSUMPTIONS, "method"))
            case "restricted":
                base = _read(fields.inside("base"))
                return Restricted(base, fields.probability("low"), fields.probability("high"))
        return _distribution_from(fields)
    except ParameterError as error:
        refuse(f"'prior' holds what is none ({error})")


def _distribution_from(fields: Reader) -> Prior:
    from scipy import stats

    family = getattr(stats, fields.one_of(_OF_SCIPY, "name"))
    return FromDistribution(family(*fields.numbers("args", -1e6, 1e6), **fields.numbers_by_name("kwds", -1e6, 1e6)))
