"""`TestResult` and `Estimate`: answers about a feature and a target."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Annotated, Literal

import numpy as np

from blankets.arguments import level_of
from blankets.errors import NotAnswerableError, guarded
from blankets.records import Bounds, Call, Count, LogProbability, NonNegative, Probability, Saved, Unsigned, refuse
from blankets.regimes import Surrogate
from blankets.results._words import (
    NATS,
    count_of,
    digits,
    joined,
    p_is,
    shown,
    size_of,
    symbol_of,
    w_of,
    why_not_tested,
    wrapped,
)
from blankets.stats import LARGEST, N_CURVE, InformationEstimate


def check_law(law: InformationEstimate, n: int) -> None:
    """Refuse a law that is not one of so many estimates, or that makes no intervals."""
    for name in ("value", "variance", "statistic", "dof", "scale", "bias", "law_variance"):
        if (array := getattr(law, name)).size not in (1, n) or array.ndim > 1:
            refuse(f"{name!r} in 'law' has {array.size} values for {n} estimates")
    if law.curve.shape not in ((2, N_CURVE), (n, 2, N_CURVE)):
        refuse(f"'curve' in 'law' has shape {law.curve.shape} for {n} estimates")
    try:
        with np.errstate(over="raise"):
            law.interval()
    except FloatingPointError:
        refuse("'law' holds numbers that no estimate has")


class _Printed(ABC):
    """Prints as sentences, in a terminal and in a notebook."""

    @abstractmethod
    def _lines(self) -> Iterator[str]:
        """Yield the lines."""

    def __repr__(self) -> str:
        return "\n".join(self._lines())

    def _repr_html_(self) -> str:
        return f"<div>{'<br>'.join(escape(line) for line in self._lines())}</div>"


@guarded
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Estimate(Saved, _Printed):
    """Information between a feature and the target, in nats, with its uncertainty.

    Attributes
    ----------
    x, target : str
        The two variables.
    given : tuple of str
        The conditioning set.
    value : float
        The estimate as its estimator measures it: near independence mostly what chance brings. It can be below 0 if its
        estimator subtracts the mean of that, or if labels are missing at random.
    corrected : float
        The estimate that is too large as often as too small, inside of every interval.
    standard_error : float
        Its standard error; NaN if the delta method (a normal approximation) does not apply.
    estimator : str
        Name of the estimator.
    loss : str
        "log" for mutual information, "squared" for the information that X² estimates.
    fewest_levels : int
        The smaller number of levels of the two variables; 0 where one is a number.
    notes : tuple of str
        What the user should know: assumptions about labels, repaired cells, a prior that does not fit.
    n_rows, call
        Rows that were used and the call that made it.

    Examples
    --------
    >>> import numpy as np
    >>> import blankets as bl
    >>> ill = np.arange(400) % 2
    >>> table = {"cough": np.where(np.arange(400) % 5, ill, 1 - ill), "ill": ill}
    >>> estimate = bl.mutual_information(table, "cough", "ill")
    >>> bl.Estimate.from_json(estimate.to_json()) == estimate
    True
    """

    _schema = "blankets/estimate"

    x: str
    target: str
    given: tuple[str, ...] = ()
    value: Annotated[float, Bounds(-LARGEST, LARGEST)]
    standard_error: Unsigned
    estimator: str
    loss: Annotated[str, Literal["log", "squared"]] = "log"
    fewest_levels: Count = 0
    n_rows: Count
    notes: tuple[str, ...] = ()
    call: Call | None = None
    _law: InformationEstimate = field(repr=False)

    def interval(self, level: float = 0.9, method: str = "auto") -> tuple[float, float]:
        """Return the two-sided confidence interval of the information."""
        low, high = self._law.interval(level, method)  # type: ignore[arg-type]
        return float(np.ravel(low)[0]), float(np.ravel(high)[0])

    @property
    def corrected(self) -> float:
        """The estimate that is too large as often as too small."""
        return float(np.ravel(self._law.corrected)[0])

    @property
    def cramers_v(self) -> float:
        """Cramér's V, √(2 I₂ / (levels - 1)) with the squared-loss information I₂; of two levels it is φ."""
        return float(self._v(self.value))

    def cramers_v_interval(self, level: float = 0.9) -> tuple[float, float]:
        """Return the confidence interval of Cramér's V: that of the squared-loss information.

        >>> import numpy as np
        >>> import blankets as bl
        >>> ill = np.arange(400) % 2
        >>> table = {"cough": np.where(np.arange(400) % 5, ill, 1 - ill), "ill": ill}
        >>> found = bl.mutual_information(table, "cough", "ill", loss="squared")
        >>> round(found.cramers_v, 3), [round(end, 2) for end in found.cramers_v_interval()]
        (0.6, [0.53, 0.67])
        """
        low, high = self.interval(level)
        return self._v(low), self._v(high)

    def _v(self, information: float) -> float:
        if self.loss != "squared" or self.fewest_levels < 2:
            raise NotAnswerableError(
                "Cramér's V is that of the squared-loss information between two columns of levels: "
                "mutual_information(..., loss='squared'); numbers are cut with discretize='sturges'"
            )
        return min(math.sqrt(max(2.0 * information, 0.0) / (self.fewest_levels - 1)), 1.0)

    @property
    def p(self) -> float:
        """P-value of the test of independence that belongs to the estimate."""
        return float(np.ravel(self._law.p_value)[0])

    def _derived(self) -> dict[str, object]:
        return {"corrected": self.corrected, "interval_90": self.interval(), "p": self.p}

    def _check(self) -> None:
        check_law(self._law, 1)

    def _lines(self) -> Iterator[str]:
        low, high = self.interval()
        given = f" given {joined(self.given)}" if self.given else ""
        yield (
            f"Information between {shown(self.x)} and {shown(self.target)}{given}: {digits(self.corrected)} nats "
            f"({size_of(self.corrected)}), 90% interval {digits(low)} to {digits(high)}"
        )
        measured = f"measured {digits(self.value)}, standard error {digits(self.standard_error)}"
        yield wrapped(f"Estimator {self.estimator}, {self.n_rows:,} rows: {measured}; chance is taken off above.", "  ")
        yield wrapped(NATS, "  ")
        if self.loss == "squared" and self.fewest_levels > 1:
            name = "φ" if self.fewest_levels == 2 else "Cramér's V"
            low, high = self.cramers_v_interval()
            yield f"  {name} {digits(self.cramers_v)}, 90% interval {digits(low)} to {digits(high)}."
        yield from (wrapped(note, "  note: ") for note in self.notes)


@guarded
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TestResult(Saved, _Printed):
    """A test of independence between a feature and the target.

    Attributes
    ----------
    x, target : str
        The two variables.
    given : tuple of str
        The conditioning set.
    test : str
        "auto", "g" or "x2".
    statistic, dof, log_p : float
        The test statistic, its degrees of freedom, and the natural logarithm of the p-value.
    n_rows : int
        Number of rows that the test used.
    reliable : bool
        Whether there were enough rows to perform the test.
    method : str
        How the p-value was computed and why, if the test chooses between methods.
    surrogate : str
        The column that was counted in place of the target ("full": the target itself).
    valid : bool
        False if the user forced a surrogate that does not keep the significance level.
    why : str
        Why this surrogate was chosen.
    kappa : float or None
        κ: each row counts as much as κ rows with full labels; None if that is not known.
    kappa_form : str
        How κ was computed.
    powers : mapping of str to float
        Power for Cohen's small, medium and large effect; empty if κ is not known. With propensities it depends on
        which levels carry the effect, and this is the least.
    greatest_powers : mapping of str to float
        The greatest, with propensities; otherwise empty.
    detectable : mapping of float to float
        Smallest effect in nats that the test finds with probability 0.8 and 0.95; if κ is not known, it is an
        effect on the surrogate.
    estimate : Estimate or None
        How strong the dependence is, if it can be estimated with these labels.
    notes : tuple of str
        Assumptions and cautions.
    alpha, call
        The level and the call that made it.

    Examples
    --------
    >>> import numpy as np
    >>> import blankets as bl
    >>> ill = np.arange(400) % 2
    >>> result = bl.test({"cough": np.where(np.arange(400) % 5, ill, 1 - ill), "ill": ill}, "cough", "ill")
    >>> bl.TestResult.from_json(result.to_json()) == result
    True
    """

    __test__ = False  # not a test for pytest to collect
    _schema = "blankets/test"

    x: str
    target: str
    given: tuple[str, ...] = ()
    test: Annotated[str, Literal["auto", "g", "x2", "fisher-z"]]
    statistic: float
    dof: Unsigned
    log_p: LogProbability
    n_rows: Count
    reliable: bool
    method: str = ""
    surrogate: str = "full"
    valid: bool = True
    why: str = ""
    kappa: NonNegative | None = None
    kappa_form: str = ""
    alpha: Annotated[float, Bounds(math.ulp(0.0), 1.0)] = 0.01
    powers: Mapping[str, Probability] = field(default_factory=dict)
    greatest_powers: Mapping[str, Probability] = field(default_factory=dict)
    detectable: Mapping[Probability, NonNegative] = field(default_factory=dict)
    estimate: Estimate | None = None
    notes: tuple[str, ...] = ()
    call: Call | None = None

    @property
    def p(self) -> float:
        """The p-value (0.0 where it is below the smallest float; `log_p` is not)."""
        return math.exp(self.log_p)

    def dependent(self, alpha: float | None = None) -> bool:
        """Whether the test was performed and p <= alpha."""
        return self.reliable and self.log_p <= math.log(self.alpha if alpha is None else level_of(alpha))

    def is_empty(self) -> bool:
        """Whether there was nothing to compare, because one of the two has a single value wherever the other varies."""
        return self.reliable and self.dof == 0 and self.log_p == 0

    def _derived(self) -> dict[str, object]:
        return {"p": self.p}

    def _check(self) -> None:
        if self.reliable and any(map(math.isnan, (self.statistic, self.dof, self.log_p))):
            refuse("'reliable' is true without 'statistic', 'dof' or 'log_p'")

    def _lines(self) -> Iterator[str]:
        given = f" given {joined(self.given)}" if self.given else ""
        yield f"{shown(self.x)} and {shown(self.target)}{given}: {self._verdict()}"
        if self.reliable:
            how = f" ({self.method})" if self.method else ""
            freedom = count_of(self.dof, "degree of freedom", "degrees of freedom")
            symbol = symbol_of(self.test, self.method)
            found = f"{symbol} = {digits(self.statistic)} on {freedom}, {p_is(self.log_p)}{how}"
            yield wrapped(f"{found}, {self.n_rows:,} rows.", "  ")
        if self.estimate is not None:
            low, high = self.estimate.interval()
            yield (
                f"  Size: {size_of(self.estimate.corrected)} (Cohen's w {w_of(self.estimate.corrected)}, 90% interval "
                f"{w_of(low)} to {w_of(high)}, by {self.estimate.estimator})."
            )
        if self.surrogate != "full":
            kappa = (
                ""
                if self.kappa is None
                else f" Each row counts as much as κ = {digits(self.kappa)} rows with full labels ({self.kappa_form})."
            )
            counts = Surrogate(self.surrogate).words if self.surrogate in list(Surrogate) else f"uses {self.surrogate}"
            yield wrapped(f"The test {counts}: {self.why}.{kappa}", "  ")
        if self.powers:
            yield "  Power: " + ", ".join(f"{power_words(self, size)} ({size})" for size in self.powers) + "."
        if self.detectable:
            on = "" if self.kappa is not None else " on what is counted in place of the target"
            effects = ", ".join(f"{w_of(e)} with probability {p:g}" for p, e in self.detectable.items())
            found = f"It would have found w = {effects}{on} (0.1 is small, 0.3 medium, 0.5 large)."
            yield wrapped(found, "  ")
        yield from (wrapped(note, "  note: ") for note in self.notes)

    def _verdict(self) -> str:
        if not self.reliable:
            return f"not tested, {why_not_tested(self.method, self.n_rows)}"
        if self.is_empty():
            return "there is nothing to compare"
        word = "dependent" if self.dependent() else "no dependence found"
        return f"{word} at level {self.alpha:g}{'' if self.valid else ', by a test that is not valid here'}"


def power_words(result: TestResult, size: str) -> str:
    """Return the power for an effect: a number, or the range in which it is."""
    power = result.powers[size]
    least, greatest = f"{power:.2f}", f"{result.greatest_powers.get(size, power):.2f}"
    return least if least == greatest else f"{least} to {greatest}"
