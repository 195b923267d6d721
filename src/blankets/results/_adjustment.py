"""`Adjustment`: which columns to adjust for, why, and the effect of a treatment given them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Literal

from blankets.errors import guarded
from blankets.records import Bounds, Call, Count, Saved
from blankets.results._text import Tabled
from blankets.results._words import digits, joined, shown

if TYPE_CHECKING:
    import networkx as nx
    from matplotlib.axes import Axes

_WHY = {
    "confounder": "goes with the treatment and with the outcome: it must be held fixed",
    "precision": "goes with the outcome alone: it makes the interval shorter",
    "instrument": "goes with the treatment alone, as far as rows show: an instrument, or a weak confounder",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AdjustedEffect:
    """An effect of the treatment, given some columns, with its 95% interval."""

    given: str  # "all of these", "the efficient set" or "nothing"
    measure: Literal["difference", "risk ratio"]
    estimate: float
    low: float
    high: float


@guarded
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Adjustment(Saved, Tabled):
    """Columns to adjust for, and the effect of a treatment on an outcome given them.

    Made by `blankets.adjust`.

    Attributes
    ----------
    treatment, outcome : str
        The columns.
    compared : str
        What the effect compares: "yes vs no", or "per unit" of a number.
    roles : mapping of str to str
        "confounder" (in the blankets of treatment and outcome), "precision" (of the outcome alone) or "instrument" (of
        the treatment alone; it may be a weak confounder).
    effects : tuple of AdjustedEffect
        Given all of these, given the efficient set (without instruments), and given nothing.
    before : tuple of str
        The columns that could be adjusted for.
    assumed : bool
        Whether it was assumed that these are before the treatment: nobody said so.
    overlap : float
        Share of rows with a propensity between 0.1 and 0.9; NaN where the treatment is a number.
    e_value, e_value_limit : float
        The risk ratio that a hidden column must have with treatment and outcome to explain the effect away, and to
        bring the end of its interval to no effect.
    notes : tuple of str
        Assumptions and cautions.
    n_rows, call
        Rows that were used and the call that made it.

    Examples
    --------
    >>> from blankets import Adjustment
    >>> from blankets.results import AdjustedEffect
    >>> effect = AdjustedEffect(given="all of these", measure="difference", estimate=2.0, low=1.8, high=2.2)
    >>> found = Adjustment(treatment="drug", outcome="score", compared="yes vs no", effects=(effect,), n_rows=900,
    ...                    roles={"age": "confounder", "lot": "instrument"})
    >>> found.adjusted_for, found.efficient
    (('age', 'lot'), ('age',))
    """

    _schema = "blankets/adjustment"

    treatment: str
    outcome: str
    compared: str
    roles: Mapping[str, Literal["confounder", "precision", "instrument"]] = field(default_factory=dict)
    effects: tuple[AdjustedEffect, ...]
    before: tuple[str, ...] = ()
    assumed: bool = False
    overlap: Annotated[float, Bounds(0.0, 1.0, known=False)] = float("nan")
    e_value: Annotated[float, Bounds(1.0, known=False)] = float("nan")
    e_value_limit: Annotated[float, Bounds(1.0, known=False)] = float("nan")
    n_rows: Count
    notes: tuple[str, ...] = ()
    call: Call | None = None

    @property
    def adjusted_for(self) -> tuple[str, ...]:
        """The columns that the effect is given: all with a role."""
        return tuple(self.roles)

    @property
    def efficient(self) -> tuple[str, ...]:
        """The blanket of the outcome: the set of least variance, if no weak confounder was missed."""
        return tuple(name for name, role in self.roles.items() if role != "instrument")

    @property
    def effect(self) -> AdjustedEffect:
        """The effect given all columns with a role."""
        return self.effects[0]

    def to_networkx(self) -> nx.DiGraph:
        """Return the picture as a graph: arrows from columns to what they go with, for dowhy and other programs."""
        import networkx as nx

        graph = nx.DiGraph([(self.treatment, self.outcome)])
        for name, role in self.roles.items():
            graph.add_edges_from((name, self.treatment) for _ in range(role != "precision"))
            graph.add_edges_from((name, self.outcome) for _ in range(role != "instrument"))
        return graph

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw treatment and outcome, and which columns confound, are precision, or are instruments."""
        from blankets.plots import plot_adjustment

        return plot_adjustment(self, ax=ax)

    def _title(self) -> str:
        return f"Effect of {shown(self.treatment)} ({self.compared}) on {shown(self.outcome)}"

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        rows = [
            [one.given, one.measure, f"{digits(one.estimate)} ({digits(one.low)} to {digits(one.high)})"]
            for one in self.effects
        ]
        return ["given", "measure", "effect (95% interval)"], rows

    def _words(self) -> Iterator[str]:
        for role, why in _WHY.items():
            if names := [name for name, one in self.roles.items() if one == role]:
                yield f"{joined(names)}: {why}."
        if self.overlap == self.overlap:
            yield f"Overlap: {self.overlap:.0%} of the rows have a chance of treatment between 0.1 and 0.9."
        if self.e_value == self.e_value:
            yield (
                f"A hidden column could explain the effect away only with risk ratios of {digits(self.e_value)} with "
                f"both treatment and outcome ({digits(self.e_value_limit)} for the end of the interval): the E-value."
            )
        if self.assumed:
            yield (
                f"Nobody said which columns are before the treatment: {joined(self.before)} are taken for it. What the "
                f"treatment acts on must not be among them: before=[...]."
            )
        yield from self.notes
