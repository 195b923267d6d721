"""`Effects`: how the target changes with each member, in the data's own terms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from blankets.errors import guarded
from blankets.records import Count
from blankets.results._words import as_frame, count_of, digits, joined, shown
from blankets.voice import part

Measure = Literal["odds ratio", "risk ratio", "difference"]
CHOSEN = "Estimates and intervals allow for the choice of members on these rows."
_PLAIN = ("plain_estimate", "plain_low_95", "plain_high_95")
_MODELS = {
    "odds ratio": "logistic regression",
    "risk ratio": "regression of risks",
    "difference": "linear regression",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """One comparison: how the target differs between two levels of a member, or with more of a number.

    Examples
    --------
    >>> Contrast(compared="yes vs no", estimate=3.41, low=2.62, high=4.5).text("odds ratio")
    '3.41 (2.62 to 4.5)'
    >>> Contrast(compared="yes vs no", estimate=float('nan'), low=14.2, high=None).text("odds ratio")
    'above 14'
    """

    compared: str  # "yes vs no", "per 12.3 (1 SD)", "per doubling"
    outcome: str = ""  # for a target with more than two classes, which of them are compared: "severe vs mild"
    # The odds ratio, risk ratio or difference; NaN if it has a limit on one side only, or none. It and its interval
    # allow for the choice of the member on the same rows (methods, section 17).
    estimate: float
    # low, high: the 95% interval; None where the data set no limit
    low: float | None
    high: float | None
    plain: tuple[float, float, float] | None = None  # estimate and ends as if the member had been known; None: the same

    @property
    def limited(self) -> bool:
        """Whether the interval has two ends."""
        return self.low is not None and self.high is not None

    @property
    def unknown(self) -> bool:
        """Whether the interval has no end."""
        return self.low is None and self.high is None

    def tells(self, measure: str) -> bool:
        """Whether the plain interval excludes "no effect"."""
        none = 0.0 if measure == "difference" else 1.0
        _, low, high = self.plain or (self.estimate, self.low, self.high)
        return (low is not None and low > none) or (high is not None and high < none)

    def text(self, measure: str) -> str:
        """Return the estimate with its interval; "-" if nothing is known."""
        if self.unknown:
            return "-"
        if self.low is None or self.high is None:
            end = self.low if self.high is None else self.high
            return f"{'above' if self.high is None else 'below'} {_figure(end or 0.0, measure, 2)}"
        return _interval((self.estimate, self.low, self.high), measure)

    def plain_text(self, measure: str) -> str:
        """Return the same as if the member had been known before."""
        return _interval(self.plain, measure) if self.plain else self.text(measure)


@guarded
@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """How the target changes with each member if the others stay as they are, from regressions on all members.

    Attributes
    ----------
    measure : {"odds ratio", "risk ratio", "difference"}
        What the numbers are.
    target : str
        The target.
    outcome : str
        The class whose odds or risk it is; empty for a number, or for more than two classes.
    contrasts : dict of str to tuple of Contrast
        For each member its comparisons, the clearest first; empty for a member that the regression could not hold.
    n_rows : int
        Rows with values of the target and of all members in the regression.
    also_given : tuple of str
        Columns in the regression that are no members: those that every test was given.
    curved : bool
        Whether some effects have a regression of their own, which holds more of the other members fixed than straight
        lines and levels: curves, products and cells, chosen as the test of numbers chooses them.
    notes : tuple of str
        What was left out, and why.

    Examples
    --------
    >>> from blankets import Effects
    >>> from blankets.results import Contrast
    >>> one = Contrast(compared="yes vs no", estimate=3.4, low=2.6, high=4.5)
    >>> effects = Effects(measure="odds ratio", target="ill", outcome="yes", contrasts={"smoker": (one,)},
    ...                   n_rows=900)
    >>> print(effects)
    member  compared   odds ratio (95% interval)
    --------------------------------------------
    smoker  yes vs no  3.4 (2.6 to 4.5)
    odds ratio: of ill = yes.
    """

    measure: Measure
    target: str
    outcome: str = ""
    contrasts: Mapping[str, tuple[Contrast, ...]] = field(default_factory=dict)
    n_rows: Count = 0
    also_given: tuple[str, ...] = ()
    curved: bool = False
    notes: tuple[str, ...] = ()

    @property
    def held(self) -> tuple[str, ...]:
        """The members in the regression: each effect is given the others of them."""
        return tuple(name for name, found in self.contrasts.items() if found)

    @property
    def several(self) -> bool:
        """Whether the target has more than two classes."""
        return any(one.outcome for found in self.contrasts.values() for one in found)

    def of(self, member: str) -> Contrast | None:
        """Return the clearest comparison of a member; None if there is none."""
        return next(iter(self.contrasts.get(member, ())), None)

    @property
    def headings(self) -> list[str]:
        """The headings of `cells`."""
        return ["compared", *(["classes"] if self.several else []), f"{self.measure} (95% interval)"]

    def cells(self, member: str) -> list[str]:
        """Return what a table says of a member: what is compared, of which classes, and the effect."""
        one = self.of(member)
        return ["-"] * len(self.headings) if one is None else self._cells(one)

    def _cells(self, one: Contrast) -> list[str]:
        return [one.compared, *([one.outcome] if self.several else []), one.text(self.measure)]

    @property
    def heading(self) -> str:
        """What the numbers are, and of what, to begin a sentence."""
        if self.measure == "difference":
            return f"difference: in {shown(self.target)}, in its own units"
        several = f"of one class of {shown(self.target)} against another, as under “classes”"
        return f"{self.measure}: {f'of {self.outcome_in_words}' if self.outcome else several}"

    @property
    def outcome_in_words(self) -> str:
        """The event whose odds or risk it is."""
        return f"{shown(self.target)} = {shown(self.outcome, 20)}" if self.outcome else shown(self.target)

    @property
    def model(self) -> str:
        """How the effects were found."""
        rows, whole = count_of(self.n_rows, "row"), len(self.held) == len(self.contrasts)
        members = "all members" if whole else f"{len(self.held)} of {len(self.contrasts)} members"
        if self.curved:
            return f"{_MODELS[self.measure]} on {members}, their curves and products included ({rows})"
        return f"one {_MODELS[self.measure]} on {members} ({rows})"

    def table(self) -> list[dict[str, object]]:
        """Return one row for each comparison, with the ends of its 95% interval (None: no limit).

        ``plain_...``: as if the member had not been chosen on these rows.
        """
        return [
            {
                "member": name,
                "compared": one.compared,
                **({"outcome": one.outcome} if self.several else {}),
                "measure": self.measure,
                "estimate": one.estimate,
                "low_95": one.low,
                "high_95": one.high,
                **dict(zip(_PLAIN, one.plain or (one.estimate, one.low, one.high), strict=True)),
            }
            for name, found in self.contrasts.items()
            for one in found
        ]

    def to_frame(self) -> Any:
        """Return the comparisons as a pandas data frame."""
        return as_frame(self.table(), "effects")

    def __str__(self) -> str:
        from blankets.results._text import aligned

        rows = [[shown(name), *self._cells(one)] for name, found in self.contrasts.items() for one in found]
        return "\n".join([*aligned(["member", *self.headings], rows), f"{self.heading}.", *self.notes])

    def sentence(self, member: str, most: int = 6) -> str:
        """Return the effects of a member in a sentence; empty if there is none."""
        found = self.contrasts.get(member, ())
        told = [
            f"{'not known' if one.unknown else one.text(self.measure)}, {' and '.join(self._cells(one)[:-1])}"
            for one in found[:most]
        ]
        if not told:
            return ""
        rest = f"; {len(found) - most} more in {part('effects')}" if len(found) > most else ""
        others = [*(name for name in self.held if name != member), *self.also_given]
        given = f", given {joined(others)}" if others else ""
        what = "Difference in" if self.measure == "difference" else f"{self.measure.capitalize()} of"
        plain = [one.plain_text(self.measure) for one in found[:most]]
        plain = [] if plain == [one.text(self.measure) for one in found[:most]] else plain
        chosen = f" Had it not been chosen on these rows: {'; '.join(plain)}." if plain else ""
        return f"{what} {self.outcome_in_words} (95% interval){given}: {'; '.join(told)}{rest}.{chosen}"


def _interval(values: tuple[float, float, float], measure: str) -> str:
    estimate, low, high = (_figure(value, measure) for value in values)
    return f"{estimate} ({low} to {high})"


def _figure(value: float, measure: str, places: int = 3) -> str:
    """Return a number for a table with a few digits; a large ratio with its thousands."""
    if measure != "difference" and value >= 1000:
        return f"{value:,.0f}" if value < 1e6 else f"{value:.1e}"
    return digits(value, places)
