"""`Saved`: results as JSON and back. What comes back is checked: a file may be old, cut off, or not ours at all.

The one mechanism of all results, in the lowest room that all of them stand on. A result says what it holds
(``_content``) and how it is made of that again (``_read``); schema, version, files and refusals are here.
"""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, NoReturn, Self, TypeVar

import numpy as np

from blankets.arguments import path_of, whole_number
from blankets.data._manifest import Manifest
from blankets.errors import DataError

__all__ = ["Reader", "Saved", "plain", "refuse", "short"]

T = TypeVar("T")
_MOST_DEEP = 100  # lists within lists; ours have a dozen


class Saved(ABC):
    """A result that can be kept as JSON and read back.

    Two results of a kind are equal if they say the same.
    """

    _schema: ClassVar[str]
    _version: ClassVar[int] = 2
    """Raised when the form changes; those of earlier versions are read too.

    1: the first. 2: with a manifest, and blankets with the expected number of false members. 3: tests, estimates and
    rankings with the law of their intervals.
    """
    _oldest: ClassVar[int] = 1
    """The first version that holds enough to be read back."""

    @abstractmethod
    def _content(self) -> dict[str, Any]:
        """Return everything but schema and version as plain values, in the order of reading."""

    @classmethod
    @abstractmethod
    def _read(cls, fields: Reader) -> Self:
        """Make the result of its content."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain lists, dicts, strings and numbers, with a ``schema_version``."""
        return {"schema": self._schema, "schema_version": self._version, **self._content()}

    def to_json(self, path: str | Path | None = None, *, indent: int | None = None) -> str:
        """Return the result as a JSON document.

        Parameters
        ----------
        path : str or Path, optional
            Where to write it as well; `load` reads it.
        indent : int, optional
            Spaces by which what is inside is moved in; by default all is one line.
        """
        if indent is not None:
            whole_number("indent", indent, 0)
        content = self.to_dict()
        document = json.dumps(content, indent=indent, ensure_ascii=False, allow_nan=False)
        if any("\ud800" <= letter <= "\udfff" for letter in document):  # half a letter, which UTF-8 has no bytes for
            document = json.dumps(content, indent=indent, allow_nan=False)
        if path is not None:
            path_of("path", path).write_text(document + "\n", encoding="utf-8")
        return document

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Read what `to_dict` returned; raises DataError if it is anything else."""
        if not isinstance(content, Mapping) or content.get("schema") != cls._schema:
            refuse(f"the key 'schema' with the value {cls._schema!r} is missing")
        version = content.get("schema_version")
        if isinstance(version, bool) or not isinstance(version, int) or version < 1:
            refuse(f"its schema version is {version!r}, which there never was")
        if version > cls._version:
            refuse(
                f"its schema version is {version}, and this version of blankets reads up to {cls._version}; install a "
                "newer one"
            )
        if version < cls._oldest:
            refuse(
                f"its schema version is {version}, which does not hold enough to be read back; {cls._oldest} is the "
                "first that does"
            )
        return cls._read(Reader(content))

    @classmethod
    def from_json(cls, document: str | bytes) -> Self:
        """Read what `to_json` returned.

        Parameters
        ----------
        document : str or bytes
            The JSON document.

        Raises
        ------
        DataError
            If it is anything else, is cut off, comes from a later version, or holds what such a result cannot.
        """
        return cls.from_dict(_parsed(document))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a file written by `to_json`.

        Parameters
        ----------
        path : str or Path
            The file.

        Raises
        ------
        DataError
            If it cannot be read, or holds no such result.
        """
        file = path_of("path", path)
        try:
            document = file.read_bytes()
        except (OSError, ValueError) as error:  # no such file; or a name that no file can have
            raise DataError(f"cannot read {str(path)!r}: {getattr(error, 'strerror', None) or error}") from None
        try:
            return cls.from_json(document)
        except DataError as error:
            raise DataError(f"{str(path)!r}: {error}") from None

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, type(self)) else NotImplemented

    __hash__ = None  # type: ignore[assignment]


def plain(value: Any) -> Any:
    """Return ``value`` in the types that JSON has; NaN and infinities become None, the unknown a string.

    >>> plain({"alpha": np.float64(0.01), "keep": ("a",), "statistic": np.array([1.5, np.nan])})
    {'alpha': 0.01, 'keep': ['a'], 'statistic': [1.5, None]}
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Manifest):
        return value.to_dict()
    if isinstance(value, Iterable):
        return [plain(item) for item in value]
    return str(value)


def refuse(why: str) -> NoReturn:
    """Say what is wrong with a document."""
    raise DataError(f"this is not a saved result: {why}")


def _parsed(document: str | bytes) -> Any:
    """Return the content of a JSON document, which has neither numbers without end nor lists within lists so."""
    try:
        content = json.loads(document)
    except (ValueError, TypeError, RecursionError) as error:
        raise DataError(f"this is not a saved result: it is not JSON ({error})") from None
    level: list[tuple[object, Any]] = [("the document", content)]
    for _ in range(_MOST_DEEP):
        level = [inner for key, value in level for inner in _within(key, value)]
        if not level:
            return content
    return refuse(f"{level[0][0]!r} holds lists within lists, more than {_MOST_DEEP} deep")


def _within(key: object, value: Any) -> Iterable[tuple[object, Any]]:
    """Return what stands inside a value, each under the nearest key."""
    if isinstance(value, float) and not math.isfinite(value):
        refuse(f"{key!r} holds {value}")
    if isinstance(value, dict):
        return value.items()
    return ((key, item) for item in value) if isinstance(value, list) else ()


class Reader:
    """Takes values out of a mapping, each of the type that it must have.

    Examples
    --------
    >>> fields = Reader({"target": "ill", "n_rows": 500, "p": 0.02})
    >>> fields.one(str, "target"), fields.count("n_rows"), fields.probability("p")
    ('ill', 500, 0.02)
    >>> fields.count("p")
    Traceback (most recent call last):
        ...
    blankets.errors.DataError: this is not a saved result: 'p' holds 0.02
    """

    def __init__(self, content: Mapping[str, Any]) -> None:
        self.content = content

    def one(self, kind: type[T] | tuple[type, ...], key: str) -> Any:
        """Return the value under ``key``."""
        if key not in self.content:
            refuse(f"{key!r} is missing")
        value = self.content[key]
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            self.odd(key)
        return value

    def odd(self, key: str) -> NoReturn:
        """Refuse what is under ``key``."""
        refuse(f"{key!r} holds {short(self.content[key])}")

    def inside(self, key: str) -> Reader:
        """Return a reader of the mapping under ``key``."""
        return Reader(self.one(dict, key))

    def each(self, key: str) -> list[Reader]:
        """Return a reader of each mapping in the list under ``key``."""
        return [Reader(item) for item in self.list_of(dict, key)]

    def known(self, key: str) -> bool:
        """Tell whether something other than None is under ``key``."""
        return self.one(object, key) is not None

    def list_of(self, kind: type[T], key: str) -> list[T]:
        """Return the list under ``key``, all of its items of one kind."""
        items: list[T] = self.one(list, key)
        for item in items:
            if not isinstance(item, kind):
                refuse(f"{key!r} holds {short(item)}")
        return items

    def names(self, key: str) -> tuple[str, ...]:
        """Return the strings under ``key``."""
        return tuple(self.list_of(str, key))

    def text_or_none(self, key: str) -> str | None:
        """Return the string under ``key``, or None."""
        text: str | None = self.one((str, type(None)), key)
        return text

    def names_by_name(self, key: str) -> dict[str, str]:
        """Return the mapping of strings to strings under ``key``."""
        mapping: dict[str, Any] = self.one(dict, key)
        for value in mapping.values():
            if not isinstance(value, str):
                refuse(f"{key!r} holds {short(value)}")
        return dict(mapping)

    def count(self, key: str) -> int:
        """Return the number of things under ``key``."""
        value: int = self.one(int, key)
        return value if 0 <= value < 1 << 63 else self.odd(key)

    def number(self, key: str, low: float = -math.inf, high: float = math.inf) -> float:
        """Return the number under ``key``, between two values; None stands for "not known", and becomes NaN."""
        value = self.one((int, float, type(None)), key)
        if value is None:
            return math.nan
        try:
            value = float(value)
        except OverflowError:
            refuse(f"{key!r} holds a number that is too large")
        return value if abs(value) < math.inf and low <= value <= high else self.odd(key)

    def known_number(self, key: str, low: float = -math.inf, high: float = math.inf) -> float:
        """Return the number under ``key``, which must be known."""
        value = self.number(key, low, high)
        return self.odd(key) if math.isnan(value) else value

    def number_or_none(self, key: str, low: float = -math.inf, high: float = math.inf) -> float | None:
        """Return the number under ``key``, or None."""
        return self.known_number(key, low, high) if self.known(key) else None

    def probability(self, key: str) -> float:
        """Return the probability under ``key``."""
        return self.known_number(key, 0.0, 1.0)

    def log_probability(self, key: str) -> float:
        """Return the logarithm of a probability under ``key``; NaN if it is not known."""
        log_p = self.number(key)
        if log_p > 0:
            refuse(f"{key!r} holds {log_p!r}, which is the logarithm of no probability")
        return log_p

    def numbers(self, key: str, low: float = -math.inf, high: float = math.inf) -> tuple[float, ...]:
        """Return the numbers under ``key``, NaN for those that are not known."""
        return tuple(Reader({key: value}).number(key, low, high) for value in self.one(list, key))

    def numbers_by_name(self, key: str, low: float = -math.inf, high: float = math.inf) -> dict[str, float]:
        """Return the mapping of strings to numbers under ``key``."""
        within = self.inside(key)
        return {name: within.number(name, low, high) for name in within.content}

    def one_of(self, words: Iterable[str], key: str) -> Any:
        """Return the word under ``key``, which is one of some."""
        word = self.one(str, key)
        return word if word in words else self.odd(key)

    def seconds(self) -> float:
        """Return the time taken."""
        return self.known_number("seconds", 0.0)

    def derived(self, again: Mapping[str, Any], *keys: str) -> None:
        """Refuse what does not follow from the rest: ``again`` holds what was worked out anew, for readers of JSON."""
        for key in keys:
            if key not in self.content:
                refuse(f"{key!r} is missing")
            if not _alike(self.content[key], again[key]):
                refuse(f"{key!r} holds {short(self.content[key])}, but the rest gives {short(again[key])}")

    def manifest(self) -> Manifest | None:
        """Return what the result was made with; those of the first version do not tell."""
        found = self.since(2, "manifest")
        return None if found is None else Manifest.from_dict(found)

    def since(self, version: int, key: str) -> Any:
        """Return what is under a key that some version of the schema brought, or None."""
        if key not in self.content and self.content["schema_version"] >= version:
            refuse(f"{key!r} is missing")
        return self.content.get(key)


def _alike(said: Any, again: Any) -> bool:
    """Compare what was read with what was worked out anew, perhaps by another SciPy."""
    if isinstance(said, list) and isinstance(again, list):
        return len(said) == len(again) and all(map(_alike, said, again))
    if isinstance(said, dict) and isinstance(again, dict):
        return said.keys() == again.keys() and all(_alike(said[key], again[key]) for key in said)
    if isinstance(said, bool) or isinstance(again, bool):
        return said is again
    if isinstance(said, int | float) and isinstance(again, int | float):
        return abs(said) < 1e300 and math.isclose(said, again, rel_tol=1e-6, abs_tol=1e-9)
    return bool(said == again)


def short(value: object) -> str:
    """Return a value as text, cut where it is long."""
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
