"""What a saved result says of its data and its settings, looked at: texts and pages are made from it.

Keys that are not listed here pass; a later version may say more.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from blankets.data import Reader, refuse, short

__all__ = ["oddity", "recorded"]

Kind = Callable[[Any], bool]


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 63


def _rows(value: Any) -> bool:
    return _number(value) and (value == 0 or 1e-9 <= value < 1 << 63)


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _share(value: Any) -> bool:
    return _number(value) and 0 <= value <= 1


def _or_none(kind: Kind) -> Kind:
    return lambda value: value is None or kind(value)


def _list_of(kind: Kind) -> Kind:
    return lambda value: isinstance(value, list | tuple) and all(kind(item) for item in value)


def _by_name(kind: Kind) -> Kind:
    return lambda value: isinstance(value, Mapping) and all(kind(item) for item in value.values())


def _level(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


def _binning(value: Any) -> bool:
    return isinstance(value, Mapping) and _text(value.get("rule")) and _list_of(_number)(value.get("cuts"))


_COUNTS = ("n_rows", "n_columns", "n_rows_given", "n_columns_given", "dropped_rows", "unlabeled")
_KINDS: dict[str, dict[str, Kind]] = {
    "data": {
        **dict.fromkeys(_COUNTS, _count),
        **dict.fromkeys(("constant", "without_cut", "id_like", "copies_of_target"), _list_of(_text)),
        **dict.fromkeys(("many_levels", "missing"), _by_name(_count)),
        "duplicates": _by_name(_list_of(_text)),
        "binned": _by_name(_binning),
        "missing_policy": _text,
        "unused_levels": _by_name(_list_of(_level)),
    },
    "settings": {
        **dict.fromkeys(("keep", "exclude"), _list_of(_level)),
        **dict.fromkeys(("test", "dof", "strength", "labels", "surrogate", "missing"), _or_none(_text)),
        **dict.fromkeys(("alpha", "kappa"), _or_none(_share)),
        "reliability": _or_none(_number),
        "effective_rows": _or_none(_rows),
    },
}


def recorded(fields: Reader, part: str) -> dict[str, Any]:
    """Return a part of a result after a look at what it holds."""
    said: dict[str, Any] = fields.one(dict, part)
    if (key := oddity(part, said)) is not None:
        refuse(f"{key!r} in {part!r} holds {short(said[key])}")
    return said


def oddity(part: str, content: Mapping[str, Any]) -> str | None:
    """Return the first key of a part of a result whose value is not of the kind it must be.

    >>> oddity("data", {"n_rows": 2000, "constant": ["site"]}), oddity("data", {"n_rows": "many"})
    (None, 'n_rows')
    """
    kinds = _KINDS[part]
    return next((key for key, value in content.items() if key in kinds and not kinds[key](value)), None)
