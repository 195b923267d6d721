"""Read the question: what is given, what is the unknown, and whether it makes sense.

Exactly one of effect, power, alpha, rows, labeled and arity (or dof) is the unknown. Users who ask for a
sample size rarely think of the number of levels. So an arity that is not given is assumed to be 2 if
something else is the unknown; if everything else is given, it is itself the unknown.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from blankets.arguments import number as finite
from blankets.arguments import one_of
from blankets.errors import ParameterError
from blankets.regimes import Prior
from blankets.stats import EFFECT_SIZES, effect_from_w

_BENDS = (
    ". A test of a number also looks for a bend, which the plan counts as one more degree of freedom: that is a little "
    "more than it costs."
)
_MOST = 2**53  # above it, floats cannot represent every whole number


@dataclass(frozen=True)
class Amount:
    """An amount of labels: a share of all rows, or a number."""

    value: float
    is_count: bool


def find_unknown(given: Mapping[str, object]) -> str:
    """Return the name of the quantity that is None; "dof" only if no other is (see the module).

    Examples
    --------
    >>> find_unknown({"effect": 0.045, "power": 0.95, "rows": None, "dof": None})
    'rows'
    >>> find_unknown({"effect": 0.045, "power": 0.95, "rows": 300, "dof": None})
    'dof'
    """
    shown = {"dof": "'arity' (or 'dof')"}
    missing = [name for name, value in given.items() if value is None and name != "dof"]
    if len(missing) > 1:
        listed = ", ".join(repr(name) for name in missing)
        raise ParameterError(f"{len(missing)} things are left open ({listed}); give all of them but one")
    if missing:
        return missing[0]
    if "dof" in given and given["dof"] is None:
        return "dof"
    listed = ", ".join(shown.get(name, repr(name)) for name in given)
    raise ParameterError(f"nothing is left to solve for: {listed} are all given; leave out the one you want to know")


def as_effect(effect: object, effect_w: float | None = None, *, name: str = "effect") -> float | None:
    """Return an effect in nats, from nats, Cohen's word or Cohen's w; None if neither is given."""
    if effect is not None and effect_w is not None:
        raise ParameterError(f"give {name!r} in nats or 'effect_w', not both")
    if effect_w is not None:
        return float(effect_from_w(_positive(effect_w, "effect_w")))
    if isinstance(effect, str):
        return EFFECT_SIZES[one_of("effect size", effect, EFFECT_SIZES)]
    return None if effect is None else _positive(effect, name, ", in nats, or one of 'small', 'medium', 'large'")


@dataclass(frozen=True)
class NumberEffect:
    """An effect of a number, in nats and in words; see methods (10.14)."""

    nats: float
    words: str

    # A test of a number looks at the number and, at a small price, for a bend.
    dof = 2

    @classmethod
    def of(cls, correlation: object, difference: object, prior: Prior | None) -> NumberEffect | None:
        """Return the effect of a correlation, or of a difference between two classes in standard deviations.

        ``prior``: the share of one of the classes; None for one half.

        Examples
        --------
        >>> found = NumberEffect.of(None, 0.5, None)
        >>> round(found.nats, 4), found.words[:53]
        (0.0303, 'The two classes, of which the positive one has 0.5 of')
        """
        if correlation is not None and difference is not None:
            raise ParameterError("give 'correlation' or 'difference', not both")
        if correlation is not None:
            r = abs(finite("correlation", correlation, "between -1 and 1, and not 0", above=-1.0, below=1.0))
            if not r:
                raise ParameterError.out_of_range("correlation", correlation, "between -1 and 1, and not 0")
            words = f"The effect is a correlation of {r:g} (a partial one, for a test given other columns)"
            return cls(-math.log1p(-(r**2)) / 2.0, f"{words}{_BENDS}")
        if difference is None:
            return None
        d = abs(finite("difference", difference, "a number of standard deviations, not 0"))
        if not d:
            raise ParameterError.out_of_range("difference", difference, "a number of standard deviations, not 0")
        if prior is not None and not prior.is_exact:
            raise ParameterError("a 'difference' is planned for one value of p(y=1); give 'prior' as a number")
        p = 0.5 if prior is None else prior.mean
        words = (
            f"The two classes, of which the positive one has {p:.3g} of the rows, differ by {d:g} standard deviations "
            f"within a class"
        )
        return cls(math.log1p(p * (1.0 - p) * d**2) / 2.0, f"{words}{_BENDS}")


def as_probability(value: object, name: str) -> float | None:
    """Return a probability strictly between 0 and 1, or None."""
    if value is None:
        return None
    return finite(name, value, "a number strictly between 0 and 1", above=0.0, below=1.0)


def as_count(value: object, name: str, least: int = 1) -> int | None:
    """Return a whole number of at least ``least``, or None."""
    if value is None:
        return None
    number = float(value) if isinstance(value, Real) and not isinstance(value, bool) and value < _MOST else math.nan
    if not number.is_integer() or number < least:
        raise ParameterError.out_of_range(name, value, f"a whole number of at least {least}")
    return int(number)


def as_amount(value: object) -> Amount:
    """Return labels as a count (a whole number) or a share of all rows (a fraction up to 1.0).

    Examples
    --------
    >>> as_amount(54)
    Amount(value=54.0, is_count=True)
    >>> as_amount(0.05)
    Amount(value=0.05, is_count=False)
    """
    if isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1:
        return Amount(float(value), is_count=True)
    if isinstance(value, Real) and not isinstance(value, Integral) and 0.0 < float(value) <= 1.0:
        return Amount(float(value), is_count=False)
    raise ParameterError.out_of_range(
        "labeled", value, "a share of all rows (such as 0.05) or a whole number of labels"
    )


def degrees_of_freedom(arity: int, target_arity: int, strata: int) -> int:
    """Return (|X| - 1)(|Y| - 1) times the strata of the conditioning set."""
    return (arity - 1) * (target_arity - 1) * strata


def worth_of_a_row(design_effect: object, missing: object) -> float:
    """Return how many rows drawn alone, with all values, a row is worth.

    >>> round(worth_of_a_row((11, 0.1), 0.2), 6)
    0.4
    """
    share = finite("missing", missing, "a share of the rows, from 0 to below 1", least=0.0, below=1.0)
    if isinstance(design_effect, tuple | list) and len(design_effect) == 2:
        size = finite("design_effect", design_effect[0], "rows in a group, at least 1", least=1.0)
        icc = finite("design_effect", design_effect[1], "an intraclass correlation from 0 to 1", least=0.0, most=1.0)
        return (1.0 - share) / (1.0 + (size - 1.0) * icc)
    wanted = "a number of at least 1, or a pair (rows in a group, intraclass correlation)"
    return (1.0 - share) / finite("design_effect", design_effect, wanted, least=1.0)


def _positive(value: Any, name: str, more: str = "") -> float:
    return finite(name, value, f"a positive number{more}", above=0.0)


def or_nan(value: float | None) -> float:
    """Return the number, or NaN if it is not known."""
    return math.nan if value is None else float(value)
