"""`Selection`: features in the order in which a filter selected them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from blankets.errors import guarded
from blankets.records import Call, Count, NonNegative, Saved, refuse
from blankets.results._record import DataRecord, SettingsRecord
from blankets.results._text import Tabled
from blankets.results._words import count_of, cut_sentence, digits, format_seconds, joined, shown

_MOST = 40  # most features that a table shows; the rest are counted


@guarded
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Selection(Saved, Tabled):
    """Features that an information filter selected, in order.

    Made by `blankets.select`. You can print and save it.

    Attributes
    ----------
    target : str
        The target.
    names : tuple of str
        The selected features, in order of selection.
    scores : tuple of float
        The criterion of each feature when it was selected. The first is I(X;Y) for every criterion; later
        scores depend on the features selected before, and need not fall.
    relevance : tuple of float
        I(X;Y) of each, in nats.
    criterion : str
        Name of the criterion.
    formula : str
        What it computes.
    settings : dict
        Number of features, weights, label regime and how the table was read.
    labels : str
        What the labels look like, and what was assumed about missing ones; empty if no label is missing.
    n_candidates : int
        Number of features to choose from.
    excluded : dict of str to str
        Columns that could not be selected, and why.
    data : dict
        What was done to the data when they were read (discretization, missing values, ...).
    n_rows, seconds, warnings, call
        Rows that were used, time, notes on the answer and the call that made it.

    Examples
    --------
    >>> from blankets import Selection
    >>> selection = Selection(target="ill", names=("age", "dose"), scores=(0.08, 0.05), relevance=(0.08, 0.03),
    ...                       criterion="jmi", formula="Σ I(X,Xj;Y)", n_rows=500, n_candidates=7, seconds=0.012)
    >>> list(selection), "dose" in selection, len(selection)
    (['age', 'dose'], True, 2)
    >>> selection
    2 of 7 features for ill, by jmi = Σ I(X,Xj;Y)
         feature  score  alone, in nats
      ---------------------------------
      1  age      0.08   0.08
      2  dose     0.05   0.03
      alone: what the feature tells without the others, I(X;Y): 0.005 is small, 0.045 medium, 0.125
      large.
      500 rows, 12 ms.
    >>> Selection.from_json(selection.to_json()) == selection
    True
    """

    _schema = "blankets/selection"

    target: str
    names: tuple[str, ...]
    scores: tuple[float, ...]
    relevance: tuple[float, ...]
    criterion: str
    formula: str = ""
    settings: SettingsRecord = field(default_factory=dict)
    labels: str = ""
    n_rows: Count
    n_candidates: Count
    seconds: NonNegative = 0.0
    warnings: tuple[str, ...] = ()
    excluded: Mapping[str, str] = field(default_factory=dict)
    data: DataRecord = field(default_factory=dict)
    call: Call | None = None

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def _title(self) -> str:
        chosen = f"{len(self)} of {count_of(self.n_candidates, 'feature')} for {shown(self.target)}"
        return f"{chosen}, by {self.criterion}{f' = {self.formula}' if self.formula else ''}"

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        rows = [
            [str(place), shown(name), digits(score), digits(relevance)]
            for place, (name, score, relevance) in enumerate(
                zip(self.names[:_MOST], self.scores, self.relevance, strict=False), start=1
            )
        ]
        if len(self) > _MOST:
            rows.append(["", f"and {len(self) - _MOST} more", "", ""])
        return ["", "feature", "score", "alone, in nats"], rows

    def _words(self) -> Iterator[str]:
        yield "alone: what the feature tells without the others, I(X;Y): 0.005 is small, 0.045 medium, 0.125 large."
        yield f"{count_of(self.n_rows, 'row')}, {format_seconds(self.seconds)}."
        if self.labels:
            yield self.labels
        if cut := self.data.get("binned"):
            yield cut_sentence(cut)
        if self.excluded:
            yield f"Not looked at: {joined(tuple(self.excluded))}."

    def table(self) -> list[dict[str, object]]:
        """Return one row for each feature, in order of selection; ``pandas.DataFrame(selection.table())`` reads it."""
        columns = zip(self.names, self.scores, self.relevance, strict=True)
        return [{"feature": name, "score": score, "relevance": relevance} for name, score, relevance in columns]

    def _check(self) -> None:
        if not len(self.names) == len(self.scores) == len(self.relevance):
            refuse("'names', 'scores' and 'relevance' differ in length")
