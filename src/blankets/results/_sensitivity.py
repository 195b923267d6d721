"""`Sensitivity`: the blanket as a function of p(y=1), the share of positives that partial labels leave unknown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from blankets.errors import ParameterError, guarded
from blankets.records import Call, Count, NonNegative, Probability, Saved, Unsigned, refuse
from blankets.results._record import SettingsRecord
from blankets.results._text import Tabled
from blankets.results._words import count_of, digits, format_seconds, joined, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorRange:
    """A range of p(y=1) over which the answer does not change."""

    # low, high: its ends
    low: Probability
    high: Probability
    surrogates: tuple[str, ...]  # what is counted in place of the target, in order of the prior
    members: tuple[str, ...]  # the blanket, strongest first


@guarded
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Sensitivity(Saved, Tabled):
    """The Markov blanket as a function of p(y=1).

    Made by `blankets.sensitivity`.

    Attributes
    ----------
    target : str
        The target.
    ranges : tuple of PriorRange
        Ranges of p(y=1) over which the blanket does not change, ascending. Together they are all values that
        the labels and the given prior allow.
    runs : tuple of (float, tuple of str)
        Members at single values of p(y=1), to plot: ``plot_prior_sensitivity(sensitivity.runs)``.
    kappas : tuple of float
        κ at the same values: each row counts as much as κ rows with full labels; NaN if that is not known.
    breakpoints : tuple of float
        Values of p(y=1) at which the surrogate changes.
    notes : tuple of str
        What the blanket depends on and what it does not.
    algorithm : str
        The search algorithm.
    settings : dict
        The settings of the search.
    n_searches : int
        Number of searches.
    n_rows, seconds, call
        Rows that were used, time and the call that made it.

    Examples
    --------
    >>> from blankets import Sensitivity
    >>> from blankets.results import PriorRange
    >>> low = PriorRange(low=0.1, high=0.4, surrogates=("y0",), members=("age", "dose"))
    >>> high = PriorRange(low=0.4, high=0.8, surrogates=("y1",), members=("age",))
    >>> found = Sensitivity(target="ill", ranges=(low, high), runs=(), kappas=(), breakpoints=(0.4,), notes=(),
    ...                     algorithm="iamb", n_rows=500, n_searches=2)
    >>> found.at(0.2), found.always
    (('age', 'dose'), ('age',))
    >>> Sensitivity.from_json(found.to_json()) == found
    True
    """

    _schema = "blankets/sensitivity"

    target: str
    ranges: tuple[PriorRange, ...]
    runs: tuple[tuple[Probability, tuple[str, ...]], ...]
    kappas: tuple[Unsigned, ...]
    breakpoints: tuple[Probability, ...]
    notes: tuple[str, ...]
    algorithm: str
    settings: SettingsRecord = field(default_factory=dict)
    n_rows: Count
    n_searches: Count
    seconds: NonNegative = 0.0
    call: Call | None = None

    def at(self, prior: float) -> tuple[str, ...]:
        """Return the blanket at a value of p(y=1)."""
        for found in self.ranges:
            if found.low <= prior <= found.high:
                return found.members
        low, high = self.ranges[0].low, self.ranges[-1].high
        raise ParameterError.out_of_range("prior", prior, f"between {low:.4g} and {high:.4g}, as the labels allow")

    @property
    def always(self) -> tuple[str, ...]:
        """Members for all values of the prior."""
        return tuple(name for name in self.ranges[0].members if all(name in r.members for r in self.ranges))

    @property
    def sometimes(self) -> tuple[str, ...]:
        """Members for only some values of the prior."""
        ever = dict.fromkeys(name for found in self.ranges for name in found.members)
        return tuple(name for name in ever if name not in self.always)

    def plot(self, ax: Axes | None = None, **details: Any) -> Axes:
        """Draw which columns are members under which prior; see `blankets.plots.plot_prior_sensitivity`."""
        from blankets.plots import plot_prior_sensitivity

        return plot_prior_sensitivity(self, ax=ax, **details)

    def table(self) -> list[dict[str, object]]:
        """Return one row for each value of the prior in ``runs``: its members and κ."""
        return [
            {"prior": prior, "members": members, "kappa": kappa}
            for (prior, members), kappa in zip(self.runs, self.kappas, strict=True)
        ]

    def _derived(self) -> dict[str, object]:
        return {"always": self.always, "sometimes": self.sometimes}

    def _check(self) -> None:
        ends = [end for one in self.ranges for end in (one.low, one.high)]
        if not ends or ends != sorted(ends):
            refuse("'ranges' holds no ascending ranges")
        if len(self.kappas) != len(self.runs):
            refuse("'kappas' and 'runs' differ in length")

    def _title(self) -> str:
        answers = count_of(len({found.members for found in self.ranges}), "answer")
        return f"Markov blanket of {shown(self.target)} as a function of p(y=1): {answers}"

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        rows = [
            [
                f"{digits(found.low)} to {digits(found.high)}",
                joined(found.surrogates),
                joined(found.members) or "-",
            ]
            for found in self.ranges
        ]
        return ["p(y=1)", "through", "members"], rows

    def _words(self) -> Iterator[str]:
        yield from self.notes
        if self.sometimes:
            yield f"Members for every prior: {joined(self.always) or 'none'}."
        searches = count_of(self.n_searches, "search", "searches")
        effort = f"{count_of(self.n_rows, 'row')}, {searches}, {format_seconds(self.seconds)}"
        yield f"By {self.algorithm}: {effort}."
