"""`DataAudit`: what is unusual about a table, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any, Literal

from blankets.errors import guarded
from blankets.records import Call, Count, NonNegative, Saved, plain
from blankets.results._record import DataRecord
from blankets.results._text import html_table
from blankets.results._words import count_of, format_seconds, joined, shown, wrapped
from blankets.voice import option

_FEW = 8  # columns that a sentence names
_HEADS = {"act": "Do something about", "know": "Know"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One unusual thing about a table."""

    # "missing", "missing together", "missing by others", "missing by target", "labels", "leaking", "later",
    # "near-duplicate", "determined", "shifted", "high arity", "untestable", "rare levels", "constant", "id-like",
    # "names", "order", "repeated subjects", "rows in time", "rows lost", "duplicate", "labeling" or "unusable"
    kind: str
    columns: tuple[str, ...]  # the columns that it is about
    what: str  # what was found, a sentence
    next_step: str  # what to do, a sentence; before the option that does it, if there is one
    # "act": it changes answers unless you do something; "know": for information
    weight: Literal["act", "know"] = "know"
    # a number for each column, where there is one: rows, levels, shares of information
    figures: Mapping[str, float] = field(default_factory=dict)
    fix: Mapping[str, Any] = field(default_factory=dict)  # the option that does it, and its value

    @property
    def advice(self) -> str:
        """What to do, with the option that does it as the reader writes options."""
        few = {name: value[:_FEW] if isinstance(value, list) else value for name, value in self.fix.items()}
        return f"{self.next_step} {option(**few)}." if few else self.next_step


@guarded
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DataAudit(Saved):
    """What is unusual about a table; print it.

    Made by `blankets.audit`.

    Attributes
    ----------
    target : str or None
        The target.
    findings : tuple of Finding
        What was found; findings that change answers come first.
    notes : tuple of str
        What was assumed, and what was not checked.
    n_rows, n_columns : int
        Size of the table as it is used.
    data : dict
        What was done to the table when it was read.
    seconds, call
        Time and the call that made it.

    Examples
    --------
    >>> from blankets import DataAudit
    >>> from blankets.results import Finding
    >>> odd = Finding(kind="constant", columns=("site",), what="site has a single value.",
    ...               next_step="Nothing to do: it is left out.")
    >>> found = DataAudit(target="ill", findings=(odd,), n_rows=900, n_columns=12)
    >>> found.columns("constant"), found.clean
    (('site',), False)
    >>> found
    Audit of 900 rows and 12 columns for ill: 1 finding
      Know
        constant: site has a single value. Nothing to do: it is left out.
    """

    _schema = "blankets/audit"

    target: str | None
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    n_rows: Count
    n_columns: Count
    data: DataRecord = field(default_factory=dict)
    seconds: NonNegative = 0.0
    call: Call | None = None

    @property
    def clean(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    def columns(self, kind: str) -> tuple[str, ...]:
        """Return the columns of all findings of a kind."""
        return tuple(dict.fromkeys(name for one in self.findings if one.kind == kind for name in one.columns))

    def table(self) -> list[dict[str, object]]:
        """Return one row for each finding; ``pandas.DataFrame(audit.table())`` reads it."""
        return [plain(one) for one in self.findings]

    def __repr__(self) -> str:
        return "\n".join(self._lines())

    def _repr_html_(self) -> str:
        rows = [[one.kind, joined(one.columns, 6), one.what, one.advice] for one in self.findings]
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        table = html_table(["kind", "columns", "what", "next step"], rows) if rows else ""
        return f"<div><strong>{escape(self._title())}</strong>{table}{f'<ul>{notes}</ul>' if notes else ''}</div>"

    def _title(self) -> str:
        about = f" for {shown(self.target)}" if self.target is not None else ""
        found = count_of(len(self.findings), "finding") if self.findings else "nothing odd was found"
        return f"Audit of {count_of(self.n_rows, 'row')} and {count_of(self.n_columns, 'column')}{about}: {found}"

    def _lines(self) -> Iterator[str]:
        yield self._title()
        for weight, head in _HEADS.items():
            some = [one for one in self.findings if one.weight == weight]
            if some:
                yield f"  {head}"
            for one in some:
                yield wrapped(f"{one.kind}: {one.what} {one.advice}", "    ")
        yield from (wrapped(note, "  note: ") for note in self.notes)
        if self.seconds:
            yield f"  {format_seconds(self.seconds)}."
