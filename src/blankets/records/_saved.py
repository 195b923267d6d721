"""`Saved`: write results as JSON and read them back, by the annotations of their fields."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

from blankets.arguments import path_of, whole_number
from blankets.errors import DataError, guarded
from blankets.records._reading import read, refuse, short
from blankets.records._writing import plain, write_whole

_MOST_DEEP = 100  # most levels of nested lists; ours have a dozen


@guarded
class Saved:
    """A result that can be saved as JSON and read back; the base class of frozen dataclasses.

    Most of them have these fields: ``call``, the call that made it; ``n_rows``, the rows of the table; ``seconds``, the
    time taken; ``warnings``, what the user should know. Two results of a kind are equal if their content is equal.
    """

    _schema: ClassVar[str]
    _version: ClassVar[int] = 4
    """Increased when the form changes; documents of other versions are refused."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain lists, dicts, strings and numbers, with a ``schema_version``."""
        return {"schema": self._schema, "schema_version": self._version, **plain(self)}

    def to_json(self, path: str | Path | None = None, *, indent: int | None = None) -> str:
        """Return the result as a JSON document.

        Parameters
        ----------
        path : str or Path, optional
            A file to write as well; `load` reads it.
        indent : int, optional
            Number of spaces for each level of indentation; by default all is on one line.

        Raises
        ------
        DataError
            If the file cannot be written.
        """
        if indent is not None:
            whole_number("indent", indent, 0)
        content = self.to_dict()
        document = json.dumps(content, indent=indent, ensure_ascii=False, allow_nan=False)
        if any("\ud800" <= letter <= "\udfff" for letter in document):  # half a letter, which UTF-8 has no bytes for
            document = json.dumps(content, indent=indent, allow_nan=False)
        if path is not None:
            write_whole(path, document + "\n")
        return document

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Read what `to_dict` returned; raise DataError for anything else."""
        if not isinstance(content, Mapping) or content.get("schema") != cls._schema:
            refuse(f"the key 'schema' with the value {cls._schema!r} is missing")
        version = content.get("schema_version")
        if not isinstance(version, int) or version != cls._version:
            refuse(
                f"its schema version is {short(version)}, and this version of blankets reads and writes "
                f"{cls._version}; run the call again"
            )
        return read(cls, content)

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
            If the document is not such a result, is cut off, or has another schema version.
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
            If the file cannot be read, or does not have such a result.
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


def _parsed(document: str | bytes) -> Any:
    """Return the content of a JSON document; refuse huge numbers and very deeply nested lists."""
    try:
        content = json.loads(document)
    except (ValueError, TypeError, RecursionError) as error:
        raise DataError(f"this is not a saved result: it is not JSON ({error})") from None
    level: list[tuple[object, Any]] = [("the document", content)]
    for _ in range(_MOST_DEEP):
        level = [inner for key, value in level for inner in _inside(key, value)]
        if not level:
            return content
    return refuse(f"{level[0][0]!r} holds lists within lists, more than {_MOST_DEEP} deep")


def _inside(key: object, value: Any) -> Iterable[tuple[object, Any]]:
    """Return the items inside a value, each with its nearest key."""
    if isinstance(value, float) and not math.isfinite(value):
        refuse(f"{key!r} holds {value}")
    if isinstance(value, dict):
        return value.items()
    return ((key, item) for item in value) if isinstance(value, list) else ()
