"""`Stability`: how often each feature is in the blanket when the rows are drawn again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

from blankets.arguments import number
from blankets.errors import did_you_mean, guarded
from blankets.records import Call, Count, NonNegative, Probability, Saved, refuse, short
from blankets.results._record import SettingsRecord
from blankets.results._text import Tabled
from blankets.results._words import count_of, digits, format_seconds, joined, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST = 40  # most features that a table shows; the rest are counted
THRESHOLD = 0.9
_HOW = {
    "subsample": "subsamples of {:.0%} of the rows",
    "pairs": "halves of the rows, two by two",
    "bootstrap": "bootstrap samples",
}

ASSUMPTIONS = {
    "subsample": "if features outside the blanket are exchangeable (none of them is likelier to be let in by chance "
    "than another) and the search does better than guessing (Meinshausen & Bühlmann 2010, Theorem 1)",
    "pairs": "of features that a search of half of the rows lets in less often than the average feature; nothing else "
    "is assumed (Shah & Samworth 2013, Theorem 1)",
}


@guarded
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Stability(Saved, Tabled, Mapping[str, float]):
    """How often each feature is a member of the blanket over many draws of the rows: a mapping to frequencies.

    Made by `blankets.stability`.

    Attributes
    ----------
    target : str
        The target.
    frequency : dict of str to float
        For each feature, the share of draws in which it was a member; the most frequent first.
    members : tuple of str
        The blanket found from all rows.
    n_resamples : int
        Number of draws.
    method : {"subsample", "pairs", "bootstrap"}
        How rows were drawn.
    fraction : float
        Share of the rows in each draw.
    mean_size : float
        Mean number of members over the draws: q in the bound of `false_members`.
    algorithm : str
        The search algorithm.
    settings : dict
        The settings of the search.
    n_rows, seconds, warnings, call
        Rows that were used, time, notes on the answer and the call that made it.

    Examples
    --------
    >>> from blankets import Stability
    >>> found = Stability(target="ill", frequency={"age": 1.0, "dose": 0.93, "moon": 0.02}, members=("age",),
    ...                   n_resamples=100, method="pairs", fraction=0.5, mean_size=1.95, algorithm="iamb",
    ...                   n_rows=500)
    >>> found.stable(0.9), round(found.false_members(0.9), 3)
    (('age', 'dose'), 1.584)
    >>> found["dose"], len(found)
    (0.93, 3)
    """

    _schema = "blankets/stability"

    target: str
    frequency: Mapping[str, Probability]
    members: tuple[str, ...]
    n_resamples: Count
    method: Annotated[str, Literal["subsample", "pairs", "bootstrap"]]
    fraction: Probability
    mean_size: NonNegative
    algorithm: str
    settings: SettingsRecord = field(default_factory=dict)
    n_rows: Count
    seconds: NonNegative = 0.0
    warnings: tuple[str, ...] = ()
    call: Call | None = None

    def __getitem__(self, name: str) -> float:
        try:
            return self.frequency[name]
        except KeyError:
            raise KeyError(f"no feature {name!r}{did_you_mean(str(name), list(self.frequency))}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.frequency)

    def __len__(self) -> int:
        return len(self.frequency)

    def plot(self, ax: Axes | None = None, **details: Any) -> Axes:
        """Draw the share of draws in which each feature was a member; see `blankets.plots.plot_stability`."""
        from blankets.plots import plot_stability

        return plot_stability(self, ax=ax, **details)

    def stable(self, threshold: float = THRESHOLD) -> tuple[str, ...]:
        """Return the features that are members in at least this share of the draws."""
        least = number("threshold", threshold, "a share between 0 and 1", least=0, most=1)
        return tuple(name for name, share in self.frequency.items() if share >= least)

    def false_members(self, threshold: float = THRESHOLD) -> float | None:
        """Return a bound on the expected number of false features among `stable`, or None if no bound is known.

        E[V] <= q² / ((2π - 1) p), with q the mean size of the blanket over draws of half of the rows, p the
        number of features and π the threshold. `assumption` says what this assumes.

        Parameters
        ----------
        threshold : float
            A share above one half.
        """
        number("threshold", threshold, "above 0.5, and at most 1", above=0.5, most=1)
        if not self.assumption or not self.frequency:
            return None
        return self.mean_size**2 / ((2 * threshold - 1) * len(self.frequency))

    @property
    def assumption(self) -> str:
        """What the bound of `false_members` assumes; empty if there is no bound."""
        return ASSUMPTIONS.get(self.method, "") if self.fraction == 0.5 else ""

    def table(self) -> list[dict[str, object]]:
        """Return one row for each feature, most frequent first; ``pandas.DataFrame(stability.table())`` reads it."""
        return [
            {"feature": name, "frequency": share, "member": name in self.members}
            for name, share in self.frequency.items()
        ]

    def _derived(self) -> dict[str, object]:
        return {
            "threshold": THRESHOLD,
            "stable": self.stable(),
            "false_members": self.false_members(),
            "assumption": self.assumption,
        }

    def _check(self) -> None:
        if self.mean_size > len(self.frequency):
            refuse(f"'mean_size' holds {short(self.mean_size)}, more than there are features")

    def _title(self) -> str:
        how = _HOW[self.method].format(self.fraction)
        return f"Stability of the Markov blanket of {shown(self.target)} over {self.n_resamples} {how}"

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        # Features that were never members are counted, not listed.
        seen = [(name, share) for name, share in self.frequency.items() if share or name in self.members]
        rows = [[shown(name), f"{share:.0%}", "yes" if name in self.members else ""] for name, share in seen[:_MOST]]
        if len(self) > len(rows):
            rows.append([f"and {len(self) - len(rows)} more", "0%" if len(seen) <= _MOST else "", ""])
        return ["feature", "in", "in the blanket of all rows"], rows

    def _words(self) -> Iterator[str]:
        effort = f"{count_of(self.n_rows, 'row')}, {format_seconds(self.seconds)}"
        yield f"By {self.algorithm}, mean size {self.mean_size:.3g}: {effort}."
        stable = joined(self.stable()) or "no feature"
        bound = self.false_members() if self.stable() else None
        yield f"In at least {THRESHOLD:.0%} of the draws: {stable}." + (
            "" if bound is None else f" Of these at most {digits(bound)} are expected to be false, {self.assumption}."
        )
