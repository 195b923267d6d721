"""Sentences on how a table was read, at most one for each kind of thing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from blankets.data._columns import Origin
from blankets.errors import listed
from blankets.voice import option

_MOST = 3  # columns that a note names
_READ = {
    "date": "{} hold{} dates and {} read as numbers of days since 1970-01-01",
    "duration": "{} hold{} durations and {} read as numbers of days",
    "time": "{} hold{} times of day and {} read as parts of a day",
    "number": "{} hold{} numbers stored as text and {} read as numbers",
}


def notes_on(origins: Mapping[str, Origin], doubtful: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield what was understood, from what columns were before, and levels that may mean "missing", with columns.

    >>> [*notes_on({"wage": Origin("number", "'1,200 €' = 1200", ("?",)), "born": Origin("date")}, {})]
    ["1 column holds dates and was read as numbers of days since 1970-01-01: 'born'.",
     "1 column holds numbers stored as text and was read as numbers ('1,200 €' = 1200): 'wage'.",
     "'?' was read as missing: in 'wage'; na=[] keeps it as a value."]
    """
    for kind, sentence in _READ.items():
        names = [name for name, origin in origins.items() if origin.kind == kind]
        if names:
            one = len(names) == 1
            said = sentence.format("1 column" if one else f"{len(names)} columns", "s" * one, "was" if one else "were")
            examples = [origins[name].example for name in names if origins[name].example]
            yield f"{said}{f' ({examples[0]})' if examples else ''}: {_few(names)}."
    gaps = {name: origin.missing for name, origin in origins.items() if origin.missing}
    if gaps:
        yield f"{_words(gaps)} was read as missing: in {_few(list(gaps))}; {option(na=[])} keeps it as a value."
    if doubtful:
        where = list(dict.fromkeys(name for names in doubtful.values() for name in names))
        yield (
            f"{_few(list(doubtful))} is a value of {_few(where)}; if it means missing, say {option(na=list(doubtful))}."
        )
    labeled = [name for name, origin in origins.items() if origin.kind == "labels"]
    if texts := [name for name, origin in origins.items() if origin.kind == "as text"]:
        yield (
            f"Numbers or dates that the file declares to be text stayed text: {_few(texts)}. Read the file with "
            f"pandas, and give the data frame, to have them as numbers."
        )
    if labeled:
        yield f"Read as numbers, because only some of the values have a label: {_few(labeled)}."


def unused_notes(unusable: Mapping[str, str]) -> Iterator[str]:
    """Say which columns are left out because they cannot be used, and why.

    >>> [*unused_notes({"x": "is nested; spread it over plain columns"})]
    ["Left out: 'x' is nested; spread it over plain columns."]
    """
    for reason in dict.fromkeys(unusable.values()):
        names = [name for name, why in unusable.items() if why == reason]
        yield f"Left out: {_few(names) if len(names) > 1 else repr(names[0])} {reason}."


def _few(names: Sequence[str]) -> str:
    return listed(names, _MOST)


def _words(of: Mapping[str, Sequence[str]]) -> str:
    return listed(dict.fromkeys(word for words in of.values() for word in words), _MOST)
