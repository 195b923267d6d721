"""`Refutation`: how a blanket changed when its data were changed on purpose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Literal

from blankets.errors import guarded
from blankets.records import Call, Count, NonNegative, Saved
from blankets.results._text import html_table
from blankets.results._words import count_of, format_seconds, shown, wrapped


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One attempt to refute a blanket."""

    # "same data", "permuted target", "noise columns", "row subsets", "priors", "fewer labels" or "learned prediction"
    name: str
    # whether the blanket passed; "not asked" if the trial does not apply
    verdict: Literal["passed", "failed", "not asked"]
    words: str  # what happened
    # numbers behind it; for row subsets the share of draws in which each member was found; for the learned prediction
    # the p-value of "no better with it"
    figures: Mapping[str, float] = field(default_factory=dict)


@guarded
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Refutation(Saved):
    """Trials that try to refute a blanket, and their results; print it.

    Made by `Blanket.refute` and `blankets.refute`.

    Attributes
    ----------
    target : str
        The target of the blanket.
    members : tuple of str
        The blanket.
    trials : tuple of Trial
        The trials.
    n_resamples : int
        Draws for each trial.
    seconds, call
        Time and the call that made it.

    Examples
    --------
    >>> from blankets import Refutation
    >>> from blankets.results import Trial
    >>> trial = Trial(name="permuted target", verdict="passed", words="Nothing was found.")
    >>> found = Refutation(target="ill", members=("age",), trials=(trial,), n_resamples=20)
    >>> found.stands, found["permuted target"].verdict
    (True, 'passed')
    >>> found
    Attempts to refute the blanket of ill: it stands, 1 passed
      passed: permuted target. Nothing was found.
    """

    _schema = "blankets/refutation"

    target: str
    members: tuple[str, ...]
    trials: tuple[Trial, ...]
    n_resamples: Count
    seconds: NonNegative = 0.0
    call: Call | None = None

    def __getitem__(self, name: str) -> Trial:
        for trial in self.trials:
            if trial.name == name:
                return trial
        raise KeyError(f"no trial {name!r}; there are {', '.join(trial.name for trial in self.trials)}")

    def __len__(self) -> int:
        return len(self.trials)

    def __iter__(self) -> Iterator[Trial]:
        return iter(self.trials)

    @property
    def stands(self) -> bool:
        """Whether the blanket passed all trials."""
        return all(trial.verdict != "failed" for trial in self.trials)

    def _derived(self) -> dict[str, object]:
        return {"stands": self.stands}

    def __repr__(self) -> str:
        lines = [wrapped(f"{trial.name}. {trial.words}", f"  {trial.verdict}: ") for trial in self.trials]
        effort = (
            [f"  {count_of(self.n_resamples, 'draw')} each, {format_seconds(self.seconds)}."] if self.seconds else []
        )
        return "\n".join([self._title(), *lines, *effort])

    def _repr_html_(self) -> str:
        rows = [[trial.verdict, trial.name, trial.words] for trial in self.trials]
        table = html_table(["verdict", "trial", "what happened"], rows)
        return f"<div><strong>{escape(self._title())}</strong>{table}</div>"

    def _title(self) -> str:
        verdicts = [trial.verdict for trial in self.trials]
        counts = [f"{verdicts.count(v)} {v}" for v in ("failed", "passed", "not asked") if v in verdicts]
        outcome = "it stands" if self.stands else "it does not hold"
        return f"Attempts to refute the blanket of {shown(self.target)}: {outcome}, {', '.join(counts)}"
