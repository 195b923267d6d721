"""Convert values to JSON types, and write files completely or not at all."""

from __future__ import annotations

import math
import os
import re
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from secrets import token_hex
from typing import Any

import numpy as np

from blankets.arguments import path_of
from blankets.errors import DataError
from blankets.records._kinds import as_data, is_named

LEFT_BEHIND = 600.0  # after this many seconds a partial file was left by a stopped process: writing takes less than 1 s


def plain(value: Any) -> Any:
    """Return ``value`` in the types of JSON; NaN and infinities become None, values of unknown types a string.

    A dataclass becomes a mapping of its fields, and of what its method ``_derived`` adds for readers of the document;
    one with a method ``_said`` becomes what that returns.

    >>> plain({"alpha": np.float64(0.01), "keep": ("a",), "statistic": np.array([1.5, np.nan])})
    {'alpha': 0.01, 'keep': ['a'], 'statistic': [1.5, None]}
    """
    if isinstance(value, np.ndarray | np.generic):
        if value.dtype.kind in "biuf":
            return _numbers(value)
        value = value.tolist()
    if isinstance(value, Enum):
        return plain(value.value)
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if hasattr(value, "_said") or (is_dataclass(value) and not isinstance(value, type)):
        return _content(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, Iterable) else str(value)


def _content(value: Any) -> Any:
    """Return the content of one of our objects."""
    if is_named(value):
        return as_data(value)
    if hasattr(value, "_said"):
        return plain(value._said())
    content = {key_of(each.name): plain(getattr(value, each.name)) for each in fields(value)}
    return {**content, **plain(value._derived())} if hasattr(value, "_derived") else content


def _numbers(value: Any) -> Any:
    """Return an array of numbers as lists, or as one number; None for numbers that are not finite."""
    if value.dtype.kind == "f" and not (finite := np.isfinite(value)).all():
        value = np.array(value, object)
        value[~finite] = None
    return value.tolist()


def key_of(name: str) -> str:
    """Return the key of a field: its name, which may be private."""
    return name.lstrip("_")


def write_whole(path: str | Path, text: str) -> Path:
    """Write a text file in one step: readers always find the complete old file or the complete new one.

    ``path``: the file; an existing one is replaced. ``text``: the content, in UTF-8; line ends stay as they are.

    Raises
    ------
    DataError
        If the file cannot be written.
    """
    file = path_of("path", path)
    try:
        whole = file.resolve()  # replace the file behind a link, not the link
        if whole.exists() and not whole.is_file():  # a pipe or a terminal
            whole.write_text(text, encoding="utf-8", newline="\n")
            return file
        part = whole.with_name(f".{whole.name[:100]}.{token_hex(8)}.part")
        _sweep(part)
        try:
            part.write_text(text, encoding="utf-8", newline="\n")
            os.replace(part, whole)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    except (OSError, ValueError) as error:  # no such folder, no room left; or a name that no file can have
        raise DataError(f"cannot write {str(path)!r}: {getattr(error, 'strerror', None) or error}") from error
    return file


def _sweep(part: Path) -> None:
    """Remove partial files of the same name that a stopped process left."""
    ours = re.compile(re.escape(part.name[: -len(".part") - 16]) + r"[0-9a-f]{16}\.part")
    for other in part.parent.iterdir():
        if ours.fullmatch(other.name):
            with suppress(OSError):  # another process was faster
                if time.time() - other.stat().st_mtime > LEFT_BEHIND:
                    other.unlink()
