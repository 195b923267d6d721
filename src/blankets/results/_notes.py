"""What went wrong in a search, in sentences."""

from __future__ import annotations

from blankets.results._words import joined
from blankets.search import Note, Trouble
from blankets.voice import part

_SAID = {
    Trouble.CYCLED: "The search came back to a blanket it had held before and was stopped there: the tests contradict "
    "each other, which can happen with few rows. Compare the answer with another algorithm or another alpha.",
    Trouble.NOT_INTERLEAVED: "The interleaved search came back to where it had been; it was finished without "
    "interleaving.",
    Trouble.CAPPED: "Conditioning sets of more than {most} columns (max_given) were not tried, so that a false member "
    "may have stayed.",
    Trouble.LIMITED: "The search through small sets reached its limit of tests (tests_a_column): it tried sets of at "
    "most {most} columns there, or gave up; tests given all members decided about the columns that it did not find.",
    Trouble.KEPT: "While the blanket was closed, columns kept removing each other; from some point on none was removed "
    "any more, so some members may be redundant.",
    Trouble.BEYOND_ROWS: "Rows are too few to test any other column given the {members} members, and the search "
    "stopped there. Other columns may still belong to them: {undecided} names them.",
    Trouble.PAIRS_NOT_ASKED: "Columns that act only together were not looked for among {most:,} columns.",
    Trouble.ONLY_TOGETHER: "{columns} tell something of the target only together: by itself, neither does.",
    Trouble.NO_ROLE: "No role could be given to {columns}: the tests among the members found neither an edge to the "
    "target nor a common child.",
}
UNSURE = frozenset(Trouble) - {Trouble.LIMITED, Trouble.NO_ROLE, Trouble.PAIRS_NOT_ASKED, Trouble.ONLY_TOGETHER}
"""Troubles after which the members may be wrong: tests given all members decided after a limit."""


def note_words(note: Note) -> str:
    """Say what went wrong.

    >>> note_words(Note(Trouble.NO_ROLE, {"columns": ("age", "sex")}))[:40]
    'No role could be given to age and sex: t'
    """
    names = joined(tuple(note.facts.get("columns", ())))
    return _SAID[note.trouble].format(**{**note.facts, "columns": names, "undecided": part("undecided")})
