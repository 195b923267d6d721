"""Make dataclasses from plain data by their annotations, and check it: a file may be cut off, or not ours.

Types and bounds are checked and, by the method ``_check`` of a class, that names agree.
"""

from __future__ import annotations

import math
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Annotated, Any, Literal, NoReturn, TypeVar, Union, get_args, get_origin, get_type_hints, is_typeddict

import numpy as np
from numpy.typing import NDArray

from blankets.errors import DataError
from blankets.records._writing import key_of

T = TypeVar("T")
_MOST = (1 << 63) - 1
_LEAVES: dict[str, set[type]] = {"i": {int}, "b": {bool}, "f": {int, float, type(None)}}


@dataclass(frozen=True)
class Bounds:
    """Smallest and largest value of a number, and whether it must be known; arrays are checked item by item."""

    low: float = -math.inf
    high: float = math.inf
    known: bool = True

    def hold(self, value: Any) -> bool:
        """Tell whether a number, or each number of an array, is within the bounds."""
        unknown = np.isnan(value)
        return bool(np.all(np.where(unknown, not self.known, (self.low <= value) & (value <= self.high))))


Count = Annotated[int, Bounds(0, _MOST)]
Known = Annotated[float, Bounds()]
"""A number that is neither missing nor infinite; a plain ``float`` may be missing (NaN)."""
NonNegative = Annotated[float, Bounds(0.0)]
Unsigned = Annotated[float, Bounds(0.0, known=False)]
"""A number that is not below 0, or is not known."""
Probability = Annotated[float, Bounds(0.0, 1.0)]
LogProbability = Annotated[float, Bounds(high=0.0, known=False)]


def refuse(why: str) -> NoReturn:
    """Say what is wrong with a document."""
    raise DataError(f"this is not a saved result: {why}")


def short(value: object) -> str:
    """Return a value as text, shortened if it is long."""
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def read(kind: type[T], content: Any, at: tuple[str, ...] = ()) -> T:
    """Return an object of a class from the plain data that `plain` returned for it.

    ``kind``: a dataclass, or any other annotation. ``content``: plain data. ``at``: the keys that lead to it.

    Raises
    ------
    DataError
        If the data do not fit the class.

    Examples
    --------
    >>> @dataclass
    ... class Dose:
    ...     drug: str
    ...     milligrams: Annotated[float, Bounds(0.0, 500.0)]
    >>> read(Dose, {"drug": "A", "milligrams": 20})
    Dose(drug='A', milligrams=20.0)
    >>> read(Dose, {"drug": "A", "milligrams": 2000})
    Traceback (most recent call last):
        ...
    blankets.errors.DataError: this is not a saved result: 'milligrams' holds 2000
    """
    found: T = _read(kind, content, at)
    return found


def _odd(value: object, at: tuple[str, ...]) -> NoReturn:
    where = " in ".join(repr(key) for key in reversed(at[-2:])) or "it"
    refuse(f"{where} holds {short(value)}")


def _read(hint: Any, value: Any, at: tuple[str, ...]) -> Any:
    if hint is Any or hint is object:
        return value
    if alias := getattr(get_origin(hint), "__value__", None):  # NDArray of NumPy 2.5 is a name for a type
        hint = alias[get_args(hint)]
    by_origin = _BY_ORIGIN.get(get_origin(hint))
    if by_origin is not None:
        return by_origin(hint, value, at)
    if is_typeddict(hint):
        known = _hints(hint)
        return {key: _read(known.get(key, Any), item, (*at, key)) for key, item in _kept(dict, value, at).items()}
    if hasattr(hint, "_from_data"):
        return _made(hint._from_data, (value,), {}, value, at)
    return _record(hint, value, at) if is_dataclass(hint) else _simple(hint, value, at)


def _simple(hint: Any, value: Any, at: tuple[str, ...]) -> Any:
    if hint is float:
        number = math.nan if value is None else _kept((int, float), value, at)
        try:
            return float(number) if not math.isinf(number) else _odd(value, at)
        except OverflowError:
            refuse(f"{at[-1]!r} holds a number that is too large")
    if hint is int:
        return value if abs(_kept(int, value, at)) <= _MOST else _odd(value, at)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return hint(value) if value in [each.value for each in hint] else _odd(value, at)
    return _kept(hint, value, at)


def _kept(kind: Any, value: Any, at: tuple[str, ...]) -> Any:
    """Return a value of the wanted type, or refuse it; True is not a number."""
    return value if isinstance(value, kind) and not (isinstance(value, bool) and kind is not bool) else _odd(value, at)


def _within(hint: Any, value: Any, at: tuple[str, ...]) -> Any:
    """Read a value with bounds, or with other conditions."""
    inner, *more = get_args(hint)
    found = _read(inner, value, at)
    for each in more:
        if isinstance(each, Bounds):
            if not each.hold(found):
                _odd(value, at)
        else:
            _read(each, value, at)
    return found


def _one_of(hint: Any, value: Any, at: tuple[str, ...]) -> Any:
    if value is None and type(None) in get_args(hint):
        return None
    *others, last = [each for each in get_args(hint) if each is not type(None)]
    for each in others:
        try:
            return _read(each, value, at)
        except DataError:
            continue
    return _read(last, value, at)


def _items(hint: Any, value: Any, at: tuple[str, ...]) -> Any:
    items, inside = _kept(list, value, at), get_args(hint)
    if get_origin(hint) is tuple and inside[-1] is not ...:
        if len(items) != len(inside):
            _odd(value, at)
        return tuple(_read(each, item, at) for each, item in zip(inside, items, strict=True))
    found = [_read(inside[0], item, at) for item in items]
    return found if get_origin(hint) is list else tuple(found)


def _word(hint: Any, value: Any, at: tuple[str, ...]) -> Any:
    return value if isinstance(value, str) and value in get_args(hint) else _odd(value, at)


def _mapping(hint: Any, value: Any, at: tuple[str, ...]) -> dict[Any, Any]:
    of_key, of_item = get_args(hint)
    content = _kept(dict, value, at)
    return {_key(of_key, key, at): _read(of_item, item, (*at, key)) for key, item in content.items()}


def _key(hint: Any, key: str, at: tuple[str, ...]) -> Any:
    """Return a key, which JSON writes as text."""
    if hint is str:
        return key
    try:
        return _read(hint, float(key), at)
    except ValueError:
        return _odd(key, at)


def _array(hint: Any, value: Any, at: tuple[str, ...]) -> NDArray[Any]:
    """Return an array from nested lists of equal length, or from a single number."""
    dtype = np.dtype(get_args(get_args(hint)[1])[0])
    level = [value]
    while level and all(isinstance(item, list) for item in level):
        level = [inner for item in level for inner in item]
    odd = [item for item in level if type(item) not in _LEAVES[dtype.kind]]
    if odd:
        _odd(odd[0], at)
    try:
        found = np.array(value, dtype=dtype)  # None becomes NaN
    except ValueError:
        _odd(value, at)
    except OverflowError:
        refuse(f"{at[-1]!r} holds a number that is too large")
    return found if not np.isinf(found).any() else _odd(value, at)


def _record(kind: Any, value: Any, at: tuple[str, ...]) -> Any:
    """Make a dataclass from its fields; a field with a default may be absent."""
    content, hints, known = _kept(dict, value, at), _hints(kind), {}
    for each in fields(kind):
        key = key_of(each.name)
        if key in content:
            known[each.name] = _read(hints[each.name], content[key], (*at, key))
        elif each.default is MISSING and each.default_factory is MISSING:
            refuse(f"{key!r} is missing{f' in {at[-1]!r}' if at else ''}")
    found = _made(kind, (), known, value, at)
    if hasattr(found, "_check"):
        found._check()
    return found


def _made(make: Any, given: tuple[Any, ...], known: Mapping[str, Any], value: Any, at: tuple[str, ...]) -> Any:
    """Make an object; its errors become errors about the document."""
    try:
        return make(*given, **known)
    except DataError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:  # ours are ValueErrors
        refuse(f"{at[-1] if at else 'it'!r} holds {short(value)} ({error})")


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


_BY_ORIGIN: dict[Any, Callable[[Any, Any, tuple[str, ...]], Any]] = {
    Annotated: _within,
    Literal: _word,
    Mapping: _mapping,
    Sequence: _items,
    Union: _one_of,
    dict: _mapping,
    list: _items,
    np.ndarray: _array,
    tuple: _items,
    types.UnionType: _one_of,
}
