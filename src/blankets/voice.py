"""How sentences name options, functions and parts of results: as Python has them, or as a command line does.

A sentence is made once, in the words of whoever asked; nothing rewrites it afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import EllipsisType
from typing import Protocol


class Voice(Protocol):
    """A way to name things; each method returns None for what it has no words of its own for."""

    def option(self, name: str, value: object) -> str | None:
        """Name an option and its value; a tuple holds alternatives, None and ``...`` stand for any value."""

    def entry(self, name: str) -> str | None:
        """Name a function of the package."""

    def part(self, words: str) -> str | None:
        """Name an attribute or a method of a blanket."""


_voices: list[Voice] = []


@contextmanager
def spoken_by(voice: Voice) -> Iterator[None]:
    """Let a voice name things, in all threads, while the context lasts."""
    _voices.append(voice)
    try:
        yield
    finally:
        _voices.pop()


def option(*bare: str, **given: object) -> str:
    """Name an option, with its value if it has one; a tuple holds alternatives, ``...`` stands for a list.

    >>> option("groups"), option(missing="level"), option(exclude=["a", "b"]), option(columns=...)
    ('groups=', "missing='level'", "exclude=['a', 'b']", 'columns=[...]')
    >>> option(labels=("mcar", "mar-f", "mar-c")), option(discretize={"age": "number"})
    ("labels='mcar', 'mar-f' or 'mar-c'", "discretize={'age': 'number'}")
    >>> option(knowledge={"together": [["size (cm)", "size (in)"]]})
    "knowledge=bl.Knowledge(together=[['size (cm)', 'size (in)']])"
    """
    name, value = (bare[0], None) if bare else next(iter(given.items()))
    said = _voices[-1].option(name, value) if _voices else None
    return f"{name}={_python(name, value)}" if said is None else said


def entry(name: str) -> str:
    """Name a function of the package.

    >>> entry("audit")
    'bl.audit'
    """
    return (_voices[-1].entry(name) if _voices else None) or f"bl.{name}"


def part(words: str) -> str:
    """Name an attribute or a method of a blanket.

    >>> part("explain(name)")
    'blanket.explain(name)'
    """
    return (_voices[-1].part(words) if _voices else None) or f"blanket.{words}"


def _python(name: str, value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, EllipsisType):
        return "[...]"
    if isinstance(value, tuple):
        return alternatives([repr(each) for each in value])
    if name == "knowledge" and isinstance(value, Mapping):
        return f"bl.Knowledge({', '.join(f'{key}={each!r}' for key, each in value.items())})"
    return repr(value)


def alternatives(words: list[str]) -> str:
    """Join alternatives.

    >>> alternatives(["a", "b", "c"])
    'a, b or c'
    """
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))
