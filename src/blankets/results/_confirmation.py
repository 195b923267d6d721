"""`Confirmation`: which members matter on rows that did not choose them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated

from blankets.errors import guarded
from blankets.records import Bounds, Call, Count, LogProbability, Probability, Saved
from blankets.results._text import Tabled
from blankets.results._words import count_of, format_p, joined, shown


@guarded
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Confirmation(Saved, Tabled):
    """Tests of the members of a blanket, each given the others, on rows that had no part in the search.

    Made by `Blanket.confirm`, and by `blankets.discover` with ``confirm=``.

    Attributes
    ----------
    target : str
        The target of the blanket.
    members : tuple of str
        The members, as the blanket has them.
    log_p : mapping of str to float
        Natural logarithm of the p-value of each member, given the others, on these rows; members are not there for
        which rows were too few.
    alpha : float
        The probability that any of the confirmed members does not matter given the others, at most.
    how : str
        Which rows these are.
    n_rows, call
        Rows that were used and the call that made it.

    Examples
    --------
    >>> from blankets import Confirmation
    >>> found = Confirmation(target="ill", members=("age", "sex"), log_p={"age": -9.0, "sex": -1.0}, n_rows=812)
    >>> found.confirmed, found.not_confirmed
    (('age',), ('sex',))
    >>> found.sentence()
    'Confirmed on 812 other rows: 1 of 2 members (age).'
    """

    _schema = "blankets/confirmation"

    target: str
    members: tuple[str, ...]
    log_p: Mapping[str, LogProbability] = field(default_factory=dict)
    alpha: Annotated[float, Bounds(0.0, 1.0)] = 0.05
    how: str = ""
    n_rows: Count
    call: Call | None = None

    @property
    def adjusted(self) -> dict[str, Probability]:
        """P-values after Holm (1979): a member is confirmed if its own is at most ``alpha``."""
        from blankets.stats import holm

        return dict(zip(self.log_p, holm(list(self.log_p.values())).tolist(), strict=True))

    @property
    def confirmed(self) -> tuple[str, ...]:
        """The members that matter on these rows."""
        return tuple(name for name, p in self.adjusted.items() if p <= self.alpha)

    @property
    def not_confirmed(self) -> tuple[str, ...]:
        """The members of which these rows do not show that they matter; they may all the same."""
        known = self.confirmed
        return tuple(name for name in self.members if name not in known)

    def sentence(self) -> str:
        """Return the result in a sentence."""
        if not self.members:
            return f"{count_of(self.n_rows, 'other row')} had no member to confirm."
        of = count_of(len(self.members), "member")
        names = f" ({joined(self.confirmed)})" if self.confirmed else ""
        return f"Confirmed on {count_of(self.n_rows, 'other row')}: {len(self.confirmed)} of {of}{names}."

    def _derived(self) -> dict[str, object]:
        return {"adjusted": self.adjusted, "confirmed": self.confirmed}

    def _title(self) -> str:
        return f"The blanket of {shown(self.target)} on {count_of(self.n_rows, 'other row')}"

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        adjusted, known = self.adjusted, self.confirmed
        rows = []
        for name in self.members:
            tested = name in self.log_p
            p = format_p(self.log_p[name]) if tested else "-"
            after = f"{adjusted[name]:.2g}" if tested else "-"
            verdict = "yes" if name in known else "not shown" if tested else "too few rows"
            rows.append([shown(name), p, after, verdict])
        return ["member", "p", "p of all (Holm)", "matters given the others"], rows

    def _words(self) -> Iterator[str]:
        yield (
            f"These rows chose nothing: that any member said to matter does not has a probability of at most "
            f"{self.alpha:g}. What is not shown here may be too weak for {count_of(self.n_rows, 'row')}."
        )
        if self.how:
            yield self.how
