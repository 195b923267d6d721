"""`TestResult`, `Estimate` and `Ranking`: answers about single features and a target."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from blankets.data import Manifest, Reader, Saved, plain, refuse
from blankets.results._text import aligned, html_table
from blankets.results._words import SYMBOLS, count_of, format_p, joined, number, shown, size_of, wrapped
from blankets.stats import InformationEstimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Estimate", "Ranking", "TestResult"]

_MOST = 40  # features that a table shows; the rest are counted
_NUMBER = re.compile(r"\d(\.\d{1,17})?(e-\d{1,3})?")


class _Answer(Saved):
    """Kept with the law of its intervals since version 3, and read back since then."""

    _version = 3
    _oldest = 3


class _Printed(ABC):
    """Prints as sentences, in a terminal and in a notebook."""

    @abstractmethod
    def _lines(self) -> Iterator[str]:
        """Yield the lines."""

    def __repr__(self) -> str:
        return "\n".join(self._lines())

    def _repr_html_(self) -> str:
        return f"<div>{'<br>'.join(escape(line) for line in self._lines())}</div>"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Estimate(_Answer, _Printed):
    """Information between a feature and the target, in nats, with its uncertainty.

    Attributes
    ----------
    x, target : str
        The two variables.
    given : tuple of str
        The conditioning set.
    value : float
        The estimate; a bias-corrected one, and the one for labels missing at random, can be below 0.
    standard_error : float
        Its standard error; NaN where the delta method does not apply.
    estimator : str
        Which estimator.
    n_rows : int
        Rows of the table.
    notes : tuple of str
        What the user should know: assumptions about labels, repaired cells, a prior that does not fit.
    manifest : Manifest or None
        What the result was made with.

    Examples
    --------
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
    value: float
    standard_error: float
    estimator: str
    n_rows: int
    notes: tuple[str, ...] = ()
    manifest: Manifest | None = None
    _law: InformationEstimate = field(repr=False)

    def interval(self, level: float = 0.9, method: str = "auto") -> tuple[float, float]:
        """Return the two-sided confidence interval of the information."""
        low, high = self._law.interval(level, method)  # type: ignore[arg-type]
        return float(np.ravel(low)[0]), float(np.ravel(high)[0])

    @property
    def p(self) -> float:
        """P-value of independence that goes with the estimate."""
        return float(np.ravel(self._law.p_value)[0])

    def _content(self) -> dict[str, Any]:
        low, high = self.interval()
        return {
            "x": self.x,
            "target": self.target,
            "given": list(self.given),
            "information": plain(self.value),
            "standard_error": plain(self.standard_error),
            "interval_90": [plain(low), plain(high)],
            "p": plain(self.p),
            "law": _law_to_dict(self._law, 1),
            "estimator": self.estimator,
            "n_rows": self.n_rows,
            "notes": list(self.notes),
            "manifest": plain(self.manifest),
        }

    @classmethod
    def _read(cls, fields: Reader) -> Estimate:
        value, estimator = fields.known_number("information", -_LARGEST, _LARGEST), fields.one(str, "estimator")
        read = cls(
            x=fields.one(str, "x"),
            target=fields.one(str, "target"),
            given=fields.names("given"),
            value=value,
            standard_error=fields.number("standard_error", 0.0),
            estimator=estimator,
            n_rows=fields.count("n_rows"),
            notes=fields.names("notes"),
            manifest=fields.manifest(),
            _law=_law_from(fields.inside("law"), np.array([value]), estimator),
        )
        fields.derived(read._content(), "p", "interval_90")
        return read

    def _lines(self) -> Iterator[str]:
        low, high = self.interval()
        given = f" given {joined(self.given)}" if self.given else ""
        yield (
            f"Information between {shown(self.x)} and {shown(self.target)}{given}: {number(self.value)} nats "
            f"({size_of(self.value)}), 90% interval {number(low)} to {number(high)}"
        )
        yield f"  Estimator {self.estimator}, {self.n_rows:,} rows, standard error {number(self.standard_error)}."
        if self.value > high:
            yield wrapped(_TOO_LARGE, "  ")
        yield from (wrapped(note, "  note: ") for note in self.notes)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TestResult(_Answer, _Printed):
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
        The test.
    n_rows : int
        Rows that it used.
    reliable : bool
        Whether there were enough rows for it to be performed.
    method : str
        How the p-value was found and why, where the test chooses between methods.
    surrogate : str
        What stood in for the target ("full": nothing had to).
    valid : bool
        False if a surrogate was forced that does not have the level.
    why : str
        Why this surrogate.
    kappa : float or None
        Share of the noncentrality that the surrogate keeps, where it is known.
    kappa_form : str
        How κ was computed.
    powers : mapping of str to float
        Power against Cohen's small, medium and large effect; empty where κ is not known.
    detectable : mapping of float to float
        Smallest effect in nats that the test finds with probability 0.8 and 0.95; without κ it is an effect
        on the surrogate.
    estimate : Estimate or None
        How strong the dependence is, where the regime can tell.
    notes : tuple of str
        Assumptions and cautions.
    manifest : Manifest or None
        What the result was made with.

    Examples
    --------
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
    test: str
    statistic: float
    dof: float
    log_p: float
    n_rows: int
    reliable: bool
    method: str = ""
    surrogate: str = "full"
    valid: bool = True
    why: str = ""
    kappa: float | None = None
    kappa_form: str = ""
    alpha: float = 0.01
    powers: Mapping[str, float] = field(default_factory=dict)
    detectable: Mapping[float, float] = field(default_factory=dict)
    estimate: Estimate | None = None
    notes: tuple[str, ...] = ()
    manifest: Manifest | None = None

    @property
    def p(self) -> float:
        """The p-value (0.0 where it is below the smallest float; `log_p` is not)."""
        return math.exp(self.log_p)

    def dependent(self, alpha: float | None = None) -> bool:
        """Whether the test was performed and p <= alpha."""
        return self.reliable and self.log_p <= math.log(self.alpha if alpha is None else alpha)

    def _content(self) -> dict[str, Any]:
        simple = (
            "x target test statistic dof log_p p n_rows reliable method surrogate valid why kappa kappa_form alpha"
        ).split()
        return {
            **{name: plain(getattr(self, name)) for name in simple},
            "given": list(self.given),
            "powers": plain(dict(self.powers)),
            "detectable": {f"{power:g}": plain(effect) for power, effect in self.detectable.items()},
            "estimate": None if self.estimate is None else self.estimate.to_dict(),
            "notes": list(self.notes),
            "manifest": plain(self.manifest),
        }

    @classmethod
    def _read(cls, fields: Reader) -> TestResult:
        detectable = fields.numbers_by_name("detectable", 0.0)
        read = cls(
            **{name: fields.one(str, name) for name in ("x", "target", "method", "surrogate", "why", "kappa_form")},
            given=fields.names("given"),
            test=fields.one_of(SYMBOLS, "test"),
            statistic=fields.number("statistic"),
            dof=fields.number("dof", 0.0),
            log_p=fields.log_probability("log_p"),
            n_rows=fields.count("n_rows"),
            reliable=fields.one(bool, "reliable"),
            valid=fields.one(bool, "valid"),
            kappa=fields.number_or_none("kappa", 0.0),
            alpha=fields.known_number("alpha", math.ulp(0.0), 1.0),
            powers=fields.numbers_by_name("powers", 0.0, 1.0),
            detectable={_as_power(power): effect for power, effect in detectable.items()},
            estimate=Estimate.from_dict(fields.one(dict, "estimate")) if fields.known("estimate") else None,
            notes=fields.names("notes"),
            manifest=fields.manifest(),
        )
        if read.reliable and any(map(math.isnan, (read.statistic, read.dof, read.log_p))):
            refuse("'reliable' is true without 'statistic', 'dof' or 'log_p'")
        fields.derived({"p": plain(read.p)}, "p")
        return read

    def _lines(self) -> Iterator[str]:
        given = f" given {joined(self.given)}" if self.given else ""
        yield f"{shown(self.x)} and {shown(self.target)}{given}: {self._verdict()}"
        if self.reliable:
            how = f" ({self.method})" if self.method else ""
            freedom = count_of(self.dof, "degree of freedom", "degrees of freedom")
            found = f"{SYMBOLS[self.test]} = {number(self.statistic)} on {freedom}, p = {format_p(self.log_p)}{how}"
            yield wrapped(f"{found}, {self.n_rows:,} rows.", "  ")
        if self.estimate is not None:
            low, high = self.estimate.interval()
            yield (
                f"  Information {number(self.estimate.value)} nats ({size_of(self.estimate.value)}), 90% interval "
                f"{number(low)} to {number(high)}, by {self.estimate.estimator}."
            )
            if self.estimate.value > high:
                yield wrapped(_TOO_LARGE, "  ")
        if self.surrogate != "full":
            kappa = (
                "" if self.kappa is None else f" It keeps κ = {number(self.kappa)} of the effect ({self.kappa_form})."
            )
            yield wrapped(f"Through {self.surrogate}: {self.why}.{kappa}", "  ")
        if self.powers:
            yield "  Power: " + ", ".join(f"{power:.2f} ({size})" for size, power in self.powers.items()) + "."
        if self.detectable:
            on = "" if self.kappa is not None else " on the surrogate"
            effects = ", ".join(f"{number(e)} nats{on} with probability {p:g}" for p, e in self.detectable.items())
            yield f"  It would have found {effects}."
        yield from (wrapped(note, "  note: ") for note in self.notes)

    def _verdict(self) -> str:
        if not self.reliable:
            return f"not tested, {self.n_rows:,} rows are too few"
        word = "dependent" if self.dependent() else "no dependence found"
        return f"{word} at level {self.alpha:g}{'' if self.valid else ', by a test that is not valid here'}"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Ranking(_Answer):
    """Features in order of their information about the target.

    Attributes
    ----------
    target : str
        The target.
    names : tuple of str
        Features, the most informative first.
    information, standard_error : ndarray of shape (features,)
        In nats, in the order of ``names``.
    p : ndarray of shape (features,)
        P-value of independence of each.
    group : ndarray of int of shape (features,)
        Features of one group cannot be told apart from its first: the difference is within what chance
        does to two independent estimates at the 10% level.
    estimator : str
        What the features are ranked by.
    n_rows : int
        Rows of the table.
    notes : tuple of str
        Assumptions and cautions.
    excluded : mapping of str to str
        Columns that were not ranked, and why.
    manifest : Manifest or None
        What the result was made with.

    Examples
    --------
    >>> import blankets as bl
    >>> ill = np.arange(400) % 2
    >>> ranking = bl.rank({"cough": np.where(np.arange(400) % 5, ill, 1 - ill), "ill": ill}, "ill")
    >>> bl.Ranking.from_json(ranking.to_json()) == ranking
    True
    """

    _schema = "blankets/ranking"

    target: str
    names: tuple[str, ...]
    information: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    p: NDArray[np.float64]
    group: NDArray[np.int64]
    estimator: str
    n_rows: int
    notes: tuple[str, ...] = ()
    excluded: Mapping[str, str] = field(default_factory=dict)
    manifest: Manifest | None = None
    _law: InformationEstimate = field(repr=False)

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def interval(self, level: float = 0.9) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the confidence interval of each feature's information, in the order of ``names``."""
        return self._law.interval(level)

    def _content(self) -> dict[str, Any]:
        low, high = self.interval()
        columns = zip(self.names, self.information, self.standard_error, low, high, self.p, self.group, strict=True)
        keys = ("name", "information", "standard_error", "low_90", "high_90", "p", "group")
        return {
            "target": self.target,
            "estimator": self.estimator,
            "n_rows": self.n_rows,
            "features": [dict(zip(keys, map(plain, row), strict=True)) for row in columns],
            "law": _law_to_dict(self._law, len(self)),
            "notes": list(self.notes),
            "excluded": dict(self.excluded),
            "manifest": plain(self.manifest),
        }

    @classmethod
    def _read(cls, fields: Reader) -> Ranking:
        each, estimator = fields.each("features"), fields.one(str, "estimator")
        information = np.array([one.known_number("information", -_LARGEST, _LARGEST) for one in each], float)
        read = cls(
            target=fields.one(str, "target"),
            names=tuple(one.one(str, "name") for one in each),
            information=information,
            standard_error=np.array([one.number("standard_error", 0.0) for one in each], float),
            p=np.array([one.probability("p") for one in each], float),
            group=np.array([one.count("group") for one in each], np.int64),
            estimator=estimator,
            n_rows=fields.count("n_rows"),
            notes=fields.names("notes"),
            excluded=fields.names_by_name("excluded"),
            manifest=fields.manifest(),
            _law=_law_from(fields.inside("law"), information, estimator),
        )
        for one, again in zip(each, read._content()["features"], strict=True):
            one.derived(again, "low_90", "high_90")
        return read

    def plot(self, ax: Axes | None = None, **details: Any) -> Axes:
        """Draw the information of the first features with its intervals; see `blankets.plots.plot_effects`."""
        from blankets.plots import plot_effects

        return plot_effects(self, ax=ax, **details)

    def to_pandas(self) -> Any:
        """Return the ranking as a pandas data frame."""
        import pandas as pd

        return pd.DataFrame(self.to_dict()["features"])

    def __repr__(self) -> str:
        lines = [self._title(), *(f"  {line}" for line in aligned(*self._cells()))]
        if (self.information > self.interval()[1]).any():
            lines.append(wrapped(_TOO_LARGE, "  "))
        return "\n".join([*lines, *(wrapped(note, "  note: ") for note in self.notes)])

    def _repr_html_(self) -> str:
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        return f"<div><strong>{escape(self._title())}</strong>{html_table(*self._cells())}<ul>{notes}</ul></div>"

    def _title(self) -> str:
        return (
            f"{count_of(len(self), 'feature')} by their information about {shown(self.target)} ({self.estimator}, "
            f"{self.n_rows:,} rows)"
        )

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        low, high = self.interval()
        rows = [
            [
                str(i + 1),
                shown(self.names[i]),
                number(float(self.information[i])),
                f"{number(float(low[i]))} to {number(float(high[i]))}",
                format_p(math.log(max(float(self.p[i]), 1e-300))),
                str(int(self.group[i]) + 1),
            ]
            for i in range(min(len(self), _MOST))
        ]
        if len(self) > _MOST:
            rows.append(["", f"and {len(self) - _MOST} more", "", "", "", ""])
        return ["", "feature", "nats", "90% interval", "p", "group"], rows


_TOO_LARGE = (
    "Information measured in few rows for many levels is too large on average; the interval is free of that, and may "
    "lie below what was measured."
)
_LARGEST = 1e15  # rows, and with them statistics, are fewer
_LAW = ("variance", "statistic", "dof", "scale", "bias")


def _law_to_dict(law: InformationEstimate, n: int) -> dict[str, Any]:
    """Return what the intervals of ``n`` estimates are made of, besides the estimates themselves."""
    arrays = {name: plain(np.broadcast_to(np.ravel(getattr(law, name)), n)) for name in _LAW}
    return {"strong_law": law.strong_law, **arrays}


def _law_from(fields: Reader, value: NDArray[np.float64], estimator: str) -> InformationEstimate:
    least = {"statistic": -_LARGEST, "bias": -_LARGEST}
    arrays = {name: np.array(fields.numbers(name, least.get(name, 0.0), _LARGEST), float) for name in _LAW}
    for name, array in arrays.items():
        if array.shape != value.shape:
            refuse(f"{name!r} in 'law' has {len(array)} values for {len(value)} estimates")
    strong_law = fields.one_of(("matched", "normal"), "strong_law")
    law = InformationEstimate(value=value, estimator=estimator, strong_law=strong_law, **arrays)
    try:
        with np.errstate(over="raise"):
            law.interval()
    except FloatingPointError:
        refuse("'law' holds numbers that no estimate has")
    return law


def _as_power(text: str) -> float:
    """Return the power that a detectable effect is written under."""
    return Reader({"detectable": float(text) if _NUMBER.fullmatch(text) else text}).probability("detectable")
