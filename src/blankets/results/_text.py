"""Blankets for reading: a compact table in a terminal, the same one in a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

from blankets.results._determined import emptied
from blankets.results._false_members import false_members_sentence
from blankets.results._words import count_of, cut_sentence, digits, format_p, format_seconds, joined, shown, wrapped

if TYPE_CHECKING:
    from blankets.results._blanket import Blanket

NOT_CHECKED = "not checked for redundancy"

_MOST = 40  # most members that a table shows; the rest are counted


def title(blanket: Blanket) -> str:
    """Return the headline: the target and the size of the blanket."""
    what = "Markov blanket" if blanket.finds == "blanket" else "Parents and children"
    candidates = count_of(len(blanket.columns) - 1, "column")
    return f"{what} of {shown(blanket.target)}: {len(blanket)} of {candidates}"


def blanket_text(blanket: Blanket) -> str:
    """Return the blanket as a table of its members with a line about how it was found."""
    parts = [title(blanket)]
    if blanket.members:
        parts += [f"  {line}" for line in aligned(*_table(blanket))]
    else:
        parts.append(
            "  " + ("No column is left." if emptied(blanket) else "No column was found to depend on the target.")
        )
    parts += [wrapped(line, "  ") for line in _method(blanket)]
    parts += [wrapped(warning, "  note: ") for warning in blanket.warnings]
    return "\n".join(parts)


def blanket_html(blanket: Blanket) -> str:
    """Return the blanket as HTML; every name is escaped, because names come from data."""
    method = "<br>".join(escape(line) for line in _method(blanket))
    notes = "".join(f"<li>{escape(warning)}</li>" for warning in blanket.warnings)
    return (
        f"<div><strong>{escape(title(blanket))}</strong>{html_table(*_table(blanket))}"
        f"<small>{method}</small>{f'<ul>{notes}</ul>' if notes else ''}</div>"
    )


def _table(blanket: Blanket) -> tuple[list[str], list[list[str]]]:
    """Return headings and rows, with a column for roles only if a role is known."""
    marked = bool(blanket.unchecked or blanket.equivalents)
    own_rows = blanket.data.get("complete_rows") is not None
    headings = ["member", *(["role"] if blanket.roles else []), "effect (nats)", "size", "p", "given"]
    headings += ["rows"] if own_rows else []
    headings += ["note"] if marked else []
    rows = []
    for name, evidence in list(blanket.strengths.items())[:_MOST]:
        others = len(evidence.given) == len(blanket) - 1 and {name, *evidence.given} == set(blanket.members)
        given = "the other members" if others and evidence.given else joined(evidence.given, 3)
        role = [blanket.roles.get(name, "")] if blanket.roles else []
        figures = [digits(evidence.effect), evidence.size, format_p(evidence.log_p)]
        behind = [f"{evidence.n_rows:,}"] if own_rows else []
        note = [member_note(blanket, name)] if marked else []
        rows.append([shown(name), *role, *figures, given or "-", *behind, *note])
    if len(blanket) > _MOST:
        rows.append([f"and {len(blanket) - _MOST} more", *[""] * (len(headings) - 1)])
    return headings, rows


def member_note(blanket: Blanket, name: str) -> str:
    """Say whether a member was checked, and which columns could replace it."""
    unchecked = [NOT_CHECKED] if name in blanket.unchecked else []
    others = blanket.equivalents.get(name, ())
    return "; ".join([*unchecked, *([f"or: {joined(others, 3)}"] if others else [])])


def undecided_sentence(blanket: Blanket) -> str:
    """Return a sentence with the undecided columns; empty if there are none."""
    if not blanket.undecided:
        return ""
    verb = "is" if len(blanket.undecided) == 1 else "are"
    return (
        f"Undecided, because rows are too few: {joined(tuple(blanket.undecided))} {verb} neither in nor out; "
        "blanket.undecided says what would settle it."
    )


def gaps_sentence(blanket: Blanket) -> str:
    """Say how many rows are complete, where each test found its own; empty where values are not missing."""
    complete = blanket.data.get("complete_rows")
    if complete is None:
        return ""
    where = joined(tuple(blanket.data.get("missing", ())))
    return (
        f"Values are missing in {where}: {complete:,} of {blanket.n_rows:,} rows "
        f"are complete, and each test used the rows that have what it needs."
    )


def partly_sentence(blanket: Blanket) -> str:
    """Name the columns that are out by a test given some of the members only; empty if there are none."""
    if not blanket.partly:
        return ""
    return (
        f"Left out because some of the members separate them from the target; rows are too few to test them given all "
        f"members: {joined(blanket.partly)}."
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
    if sentence := false_members_sentence(blanket):
        yield sentence
    yield from filter(None, (closing_sentence(blanket), partly_sentence(blanket), undecided_sentence(blanket)))
    if blanket.why_algorithm:
        yield f"Why {blanket.algorithm}: {blanket.why_algorithm}"
    if numbers := blanket.data.get("numbers"):
        yield f"Numbers, tested without cutting: {joined(tuple(numbers))}."
    if cut := blanket.data.get("binned"):
        yield cut_sentence(cut)
    if dropped := blanket.data.get("dropped_rows"):
        yield f"Rows deleted for missing values: {dropped}."
    if blanket.data.get("unlabeled_left_out"):
        yield f"Rows without a target, left out: {blanket.data['unlabeled']}."
    if sentence := gaps_sentence(blanket):
        yield sentence
    if blanket.excluded:
        yield f"Not searched: {joined(tuple(blanket.excluded))}."


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
