"""Blankets for reading: a compact table in a terminal, the same one in a notebook."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from math import log
from typing import TYPE_CHECKING

from blankets.data import MISSING_IS_A_LEVEL
from blankets.results._determined import emptied
from blankets.results._false_members import false_members_sentence
from blankets.results._words import count_of, cut_sentence, format_p, format_seconds, joined, p_is, shown, wrapped
from blankets.search import Doubt
from blankets.voice import entry, option, part

if TYPE_CHECKING:
    from blankets.results._blanket import Blanket
    from blankets.results._evidence import NamedEvidence

NOT_CHECKED = "not checked for redundancy"

_MOST_CHECKS = 3
_FEW = 5  # columns that a sentence names with their p-values
_MOST = 40  # most members that a table shows; the rest are counted
_WHY_UNDECIDED = {
    Doubt.FEW_ROWS: "rows are too few to test them given the members",
    Doubt.NOT_HELD_FIXED: "the members could not be held fixed in their tests",
}
_ROLES = {
    "parent": "the target does not act on a parent",
    "child": "a child does not act on the target",
    "neighbor": "of a neighbor the direction is not known",
    "spouse": "a spouse matters once a child is known",
}


def title(blanket: Blanket) -> str:
    """Return the headline: the target and the size of the blanket."""
    what = "Markov blanket" if blanket.finds == "blanket" else "Parents and children"
    candidates = count_of(len(blanket.columns) - 1, "column")
    return f"{what} of {shown(blanket.target)}: {len(blanket)} of {candidates}"


def blanket_text(blanket: Blanket) -> str:
    """Return the answer: a table of the members, how they were found, and what the reader should check."""
    parts = [title(blanket)]
    if blanket.members:
        parts += [f"  {line}" for line in aligned(*_table(blanket))]
    parts += [wrapped(line, "  ") for line in said_below(blanket)]
    parts += [wrapped(line, "  check: ") for line in checks(blanket)]
    parts += [wrapped(warning, "  note: ") for warning in blanket.warnings]
    return "\n".join(parts)


def said_below(blanket: Blanket) -> list[str]:
    """Return the sentences below the table of members: what a reader needs to use it."""
    first = footnotes(blanket) if blanket.members else (nothing_found(blanket),)
    return [*first, *_method(blanket)]


def nothing_found(blanket: Blanket) -> str:
    """Say that there are no members."""
    if emptied(blanket):
        return "No column is left."
    alone = blanket.passed_over.last(blanket.columns).values()
    clear = blanket.alpha is not None and min(alone, default=0.0) <= log(blanket.alpha)
    return "No column is a member." if clear else "No column was found to depend on the target."


def blanket_html(blanket: Blanket) -> str:
    """Return the blanket as HTML; every name is escaped, because names come from data."""
    said = [*said_below(blanket), *(f"check: {line}" for line in checks(blanket))]
    method = "<br>".join(escape(line) for line in said)
    notes = "".join(f"<li>{escape(warning)}</li>" for warning in blanket.warnings)
    more = "".join(f"<li>{escape(line)}</li>" for line in details(blanket))
    return (
        f"<div><strong>{escape(title(blanket))}</strong>{html_table(*_table(blanket))}"
        f"<small>{method}</small>{f'<ul>{notes}</ul>' if notes else ''}"
        f"<details><summary>What this says</summary><ul>{more}</ul></details></div>"
    )


def _table(blanket: Blanket) -> tuple[list[str], list[list[str]]]:
    """Return headings and rows; a column that would say the same of every member is not there, a sentence says it."""
    effects, bent = blanket.effects, bent_members(blanket)
    marked = bool(blanket.unchecked or blanket.equivalents or blanket.weak)
    own_rows = blanket.data.get("complete_rows") is not None
    alike = _given_alike(blanket)
    headings = ["member", *(["role"] if blanket.roles else [])]
    headings += [] if effects is None else effects.headings
    sized = [] if effects is not None and effects.held else ["size"]
    headings += ["p", *sized, *([] if alike else ["p given"]), *(["rows"] if own_rows else [])]
    headings += ["note"] if marked else []
    rows = []
    for name, evidence in list(blanket.strengths.items())[:_MOST]:
        role = [blanket.roles.get(name, "")] if blanket.roles else []
        told = [] if effects is None else effects.cells(name)
        told[-1:] = [f"{cell}*" if name in bent else cell for cell in told[-1:]]
        given = [] if alike else [_given(blanket, evidence) or "-"]
        behind = [f"{evidence.n_rows:,}"] if own_rows else []
        note = [member_note(blanket, name)] if marked else []
        size = [evidence.size] * len(sized)
        rows.append([shown(name), *role, *told, format_p(evidence.log_p), *size, *given, *behind, *note])
    if len(blanket) > _MOST:
        rows.append([f"and {len(blanket) - _MOST} more", *[""] * (len(headings) - 1)])
    return headings, rows


def _given(blanket: Blanket, evidence: NamedEvidence) -> str:
    others = set(blanket.members) - {evidence.x, *tested_as_one(blanket, evidence.x)}
    if not others <= set(evidence.given):
        return joined(evidence.given, 3)
    more = [one for one in evidence.given if one not in blanket.members]
    return joined(["the other members"] * bool(others) + more)


def tested_as_one(blanket: Blanket, name: str) -> tuple[str, ...]:
    """Return the members that a member was tested together with, because they are in or out as one."""
    own = blanket.strengths[name]
    if name in blanket.unchecked:
        return ()
    alike = ((x, e) for x, e in blanket.strengths.items() if x != name and e.given == own.given)
    return tuple(x for x, e in alike if (e.log_p, e.statistic) == (own.log_p, own.statistic) and x not in own.given)


def _given_alike(blanket: Blanket) -> bool:
    """Tell whether every p-value is that of a member given all others."""
    return len({_given(blanket, evidence) for evidence in blanket.strengths.values()}) == 1


def footnotes(blanket: Blanket) -> Iterator[str]:
    """Say what the numbers of the table are, and what its marks mean."""
    effects = blanket.effects
    if effects is not None and effects.held:
        others = ["the other members"] * (len(blanket) > 1) + [*effects.also_given]
        yield f"{effects.heading}{f', given {joined(others)}' if others else ''}."
    elif _given_alike(blanket) and len(blanket) > 1:
        yield "Each p-value is given the other members."
    for group in dict.fromkeys(tuple(sorted((x, *tested_as_one(blanket, x)))) for x in blanket.members):
        if len(group) > 1:
            yield f"{joined(group)} are tested as one: p and size are those of all of them together."
    if bent := bent_members(blanket):
        yield f"* One comparison does not show how the target depends on {joined(bent)}."
    if effects is not None:
        if endless := [name for name in blanket.members if (one := effects.of(name)) is not None and one.unknown]:
            yield f"-: these rows set no limit to the effect of {joined(endless)}."
        yield from effects.notes
    if blanket.weak:
        yield f"{weak_sentence(blanket)}"


def details(blanket: Blanket) -> Iterator[str]:
    """Explain the answer: the columns of its table, how it was found, and what that assumes."""
    effects = blanket.effects
    if effects is not None and effects.held:
        yield f"Effects are from {effects.model}."
        if any(one.plain for some in effects.contrasts.values() for one in some):
            yield (
                "An interval that allows for the choice of members may reach no effect although p is small; "
                f"{part('explain(name)')} has the plain one too."
            )
    if bent := bent_members(blanket):
        yield (
            f"The target depends on {joined(bent)}, although the comparison in the table shows nothing: the effect may "
            "differ by the other members, or may not be a straight line, or rows are few for this regression."
        )
    if blanket.weak and (apart := _disagreeing(blanket)):
        yield (
            f"The interval of {joined(apart)} shows an effect, and p is above 0.05: the regression adds up effects "
            f"of the members, and the test assumes less."
        )
    yield from _about_roles(blanket)
    if blanket.members:
        yield "size: how much more a member tells about the target than the others do, in Cohen's words."
    if blanket.why_algorithm:
        yield f"Why {blanket.algorithm}: {blanket.why_algorithm}"
    if sentence := false_members_sentence(blanket):
        known = blanket.false_members
        yield f"{sentence}{'' if known is None else f' That holds {known.assumption}.'}"
    if sentence := closing_sentence(blanket):
        yield sentence
    yield from _how_read(blanket)


def _how_read(blanket: Blanket) -> Iterator[str]:
    if numbers := blanket.data.get("numbers"):
        yield f"Numbers, tested without cutting: {joined(tuple(numbers))}."
    if ordered := blanket.data.get("ordered"):
        yield f"Levels in order: {joined(tuple(ordered))}."
    if cut := blanket.data.get("binned"):
        yield cut_sentence(cut)


def _about_roles(blanket: Blanket) -> Iterator[str]:
    if blanket.roles:
        used = [words for role, words in _ROLES.items() if role in blanket.roles.values()]
        rest = ["where none is said, it is not known"] * (len(blanket.roles) < len(blanket))
        yield (
            f"role: {'; '.join([*used, *rest])}. That holds with hidden common causes, too; only without them does a "
            "parent act on the target, and the target on a child. What you know of the order in time comes first "
            f"({option('knowledge')})."
        )


def checks(blanket: Blanket) -> list[str]:
    """Return what is unusual about the answer, each with what to do; three lines at most."""
    found = [f"{one.what} {one.advice}" for one in blanket.checks]
    if len(found) <= _MOST_CHECKS:
        return found
    return [
        *found[: _MOST_CHECKS - 1],
        f"{len(found) - _MOST_CHECKS + 1} more in {part('checks')}; see also {entry('audit')}.",
    ]


def bent_members(blanket: Blanket) -> tuple[str, ...]:
    """Return members that depend on the target, although one comparison of them shows nothing."""
    effects, alpha = blanket.effects, blanket.settings.get("alpha")
    if effects is None or not isinstance(alpha, float):
        return ()
    found = ((name, effects.of(name)) for name in blanket.members)
    clear = (name for name, one in found if one is not None and one.limited and not one.tells(effects.measure))
    told = (name for name in clear if blanket.strengths[name].p <= alpha)
    return tuple(name for name in told if not tested_as_one(blanket, name))


def _disagreeing(blanket: Blanket) -> list[str]:
    """Return weak members whose 95% interval shows an effect, although p is above 5%."""
    effects = blanket.effects
    weak = [name for name in blanket.weak if blanket.strengths[name].p > 0.05]
    shown_of = {} if effects is None else {name: effects.of(name) for name in weak}
    return [name for name, one in shown_of.items() if one is not None and effects and one.tells(effects.measure)]


def member_note(blanket: Blanket, name: str) -> str:
    """Say whether a member was checked, whether it is weak, and which columns could replace it."""
    marks = [NOT_CHECKED] if name in blanket.unchecked else ["weak"] if name in blanket.weak else []
    others = blanket.equivalents.get(name, ())
    return "; ".join([*marks, *([f"or: {joined(others, 3)}"] if others else [])])


def weak_sentence(blanket: Blanket) -> str:
    """Say what a weak member is, and why it stays."""
    if not blanket.closed:
        return f"weak: p is above alpha given the other members; {blanket.algorithm} keeps it all the same."
    required = " (or you required it)" if blanket.settings.get("knowledge") else ""
    return f"weak: p is above alpha given the other members; the search found it given fewer of them{required}."


def doubted(blanket: Blanket, reason: Doubt) -> tuple[str, ...]:
    """Return the columns that are neither in nor out for one reason."""
    return tuple(name for name, one in blanket.undecided.items() if one.reason == reason)


def little_more(blanket: Blanket) -> str:
    """Name the columns that may tell a little more, each with its p-value; empty if there are none."""
    if not (weak := doubted(blanket, Doubt.WEAK)):
        return ""
    some = weak[:_FEW]
    tests = blanket.passed_over.last(blanket.columns)
    told = [f"{shown(name)} ({p_is(tests[name])})" for name in some if name in tests]
    more = [f"{len(weak) - len(told):,} more"] * (len(weak) > len(told))
    others = "1 other" if len(weak) == 1 else f"{len(weak):,} others"
    return f"{others} may tell a little {'more' if blanket.members else 'about it'}: {joined([*told, *more])}"


def rest_sentence(blanket: Blanket) -> str:
    """Say what is known of the columns that are out, from the last test of each; empty if there are none.

    Only a test given all members that finds independence lets the sentence say that a column tells nothing more.
    """
    inside = {blanket.target, *blanket.members, *blanket.undecided, *blanket.partly}
    out = [name for name in blanket.columns if name not in inside]
    told = blanket.passed_over.independent_of(blanket.columns, blanket.members, blanket.alpha or 1.0)
    open_ones = [name for name in out if name not in told]
    settled, said = len(out) - len(open_ones), []
    if settled:
        whole = "the other" if settled == len(blanket.columns) - 1 - len(blanket) else ""
        many = f"{settled:,} columns tell" if whole else f"{settled:,} other columns tell"
        one = "column tells" if whole else "one other column tells"
        others = f"{whole} {one if settled == 1 else many}".strip()
        seen = f" that {count_of(blanket.n_rows, 'row')} could show" if blanket.n_rows else ""
        known = "Once it is known" if len(blanket) == 1 else "Once these are known"
        said.append(f"{known}, {others} nothing more about {shown(blanket.target)}{seen}.")
    if open_ones:
        said.append(f"Not tested given all members: {joined(open_ones)}.")
    return " ".join(said)


def undecided_sentence(blanket: Blanket) -> str:
    """Return sentences with the undecided columns; empty if there are none."""
    said = [f"{little}."] if (little := little_more(blanket)) else []
    for reason, why in _WHY_UNDECIDED.items():
        if names := doubted(blanket, reason):
            verb = "is" if len(names) == 1 else "are"
            said.append(f"Undecided, because {why}: {joined(names)} {verb} neither in nor out.")
    return " ".join(said)


def why_undecided(blanket: Blanket, name: str) -> str:
    """Say why a column is neither in nor out, and what would decide it."""
    one = blanket.undecided[name]
    if one.reason == Doubt.WEAK:
        return (
            f"given the members it may tell a little more about {shown(blanket.target)}, but among so many columns "
            "chance makes some p-values as small; more rows would settle it"
        )
    if one.reason == Doubt.NOT_HELD_FIXED:
        return (
            f"the members could not be held fixed well enough in its test; more rows, or {option(test='g')}, "
            f"would settle it"
        )
    if one.rows <= blanket.n_rows:
        return (
            f"gaps, weights or groups leave too little of the {count_of(blanket.n_rows, 'row')} to test it given the "
            f"members: fewer gaps, or more rows, would settle it"
        )
    return (
        f"{count_of(blanket.n_rows, 'row')} are too few to test it given the members: that takes {one.rows:,.0f} rows, "
        f"fewer levels of {shown(name)} and of the members, or their order ({option('ordered')})"
    )


def gaps_sentence(blanket: Blanket) -> str:
    """Say how many rows are complete, where each test found its own, or what a level does; empty without gaps."""
    complete, where = blanket.data.get("complete_rows"), joined(tuple(blanket.data.get("missing", ())))
    if where and blanket.data.get("missing_policy") == "level":
        return f"Missing is a level of {where}. {MISSING_IS_A_LEVEL}"
    if complete is None:
        return ""
    return (
        f"Values are missing in {where}: {complete:,} of {blanket.data.get('n_rows', blanket.n_rows):,} rows "
        f"are complete, and each test used the rows that have what it needs."
    )


def partly_sentence(blanket: Blanket) -> str:
    """Name the columns that are out by a test given some of the members only; empty if there are none."""
    if not blanket.partly:
        return ""
    return (
        f"Left out because they tell nothing more about the target once some of the members are known; rows are too "
        f"few to test them given all members: {joined(blanket.partly)}."
    )


def closing_sentence(blanket: Blanket) -> str:
    """Say which columns entered by closing; empty if none did, or if the algorithm closes by itself."""
    if not blanket.entered:
        return ""
    return f"Entered by closing, because they depend on the target given all members: {joined(blanket.entered)}."


def _method(blanket: Blanket) -> Iterator[str]:
    by_formula = blanket.settings.get("test") in ("g", "x2")
    chosen = [key for key in ("alpha", "test", *(["dof"] if by_formula else [])) if key in blanket.settings]
    settings = ", ".join(f"{key} {blanket.settings[key]}" for key in chosen)
    tests = count_of(blanket.n_tests, "test")
    rows = [count_of(blanket.n_rows, "row")] if blanket.n_rows else []  # a graph has none
    effort = ", ".join([*rows, tests, format_seconds(blanket.seconds)])
    yield f"Found by {blanket.algorithm}{f' ({settings})' if settings else ''}: {effort}."
    confirmed = "" if blanket.confirmation is None else blanket.confirmation.sentence()
    yield from filter(None, (confirmed, false_members_sentence(blanket)))
    yield from filter(None, (partly_sentence(blanket), undecided_sentence(blanket)))
    lost = any(one.kind == "rows lost" for one in blanket.checks)  # a check says it already
    if (dropped := blanket.data.get("dropped_rows")) and not lost:
        yield f"Rows deleted for missing values: {dropped}."
    if blanket.data.get("unlabeled_left_out") and not lost:
        yield f"Rows without a target, left out: {blanket.data['unlabeled']}."
    if sentence := gaps_sentence(blanket):
        yield sentence
    if blanket.excluded:
        yield f"Not searched: {joined(tuple(blanket.excluded))} ({part('explain(name)')} says why)."
    yield f"{part('explain()')} explains the table; {part('explain(name)')} says why a column is in or out."


class Tabled(ABC):
    """Prints as a title, a table, sentences and notes, in a terminal and in a notebook."""

    @abstractmethod
    def _title(self) -> str: ...

    @abstractmethod
    def _cells(self) -> tuple[list[str], list[list[str]]]:
        """Return headings and rows."""

    @abstractmethod
    def _words(self) -> Iterable[str]:
        """Return the sentences below the table."""

    def _notes(self) -> Iterable[str]:
        return getattr(self, "warnings", ())

    def __repr__(self) -> str:
        headings, rows = self._cells()
        lines = [self._title(), *(f"  {line}" for line in (aligned(headings, rows) if rows else ()))]
        lines += [wrapped(line, "  ") for line in self._words()]
        return "\n".join([*lines, *(wrapped(note, "  note: ") for note in self._notes())])

    def _repr_html_(self) -> str:
        words = "<br>".join(escape(line) for line in self._words())
        notes = "".join(f"<li>{escape(note)}</li>" for note in self._notes())
        table = f"{html_table(*self._cells())}<small>{words}</small>{f'<ul>{notes}</ul>' if notes else ''}"
        return f"<div><strong>{escape(self._title())}</strong>{table}</div>"


def aligned(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table as lines of equal columns, headings underlined."""
    widths = [max(len(cell) for cell in column) for column in zip(headings, *rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (headings, *rows)]
    return [line.rstrip() for line in (lines[0], "-" * max(len(line.rstrip()) for line in lines), *lines[1:])]


def html_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table as HTML, every cell escaped."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in headings)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
