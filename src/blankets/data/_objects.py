"""Read columns of Python objects: all of one kind, with None, NaN or NA for missing."""

from __future__ import annotations

import datetime
import decimal
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blankets.data._columns import (
    FEW_VALUES,
    Categories,
    Column,
    Mask,
    Numbers,
    Refused,
    level_names,
    mask_of,
    sorted_categories,
)
from blankets.data._dates import from_date_objects
from blankets.data._texts import TYPED, Wording

BEYOND = f"holds numbers beyond {sys.float_info.max:.1e}, which no number here can hold; divide them, or leave it out"
_LARGEST = decimal.Decimal(sys.float_info.max)
NESTED = "; spread it over plain columns or leave it out"
MISSING_TYPES = frozenset({"NoneType", "NAType", "NaTType"})


def as_objects(values: Iterable[Any]) -> NDArray[np.object_]:
    """Return a list as a one-dimensional array of objects (NumPy would turn ``[1, "a"]`` into strings)."""
    items = list(values)
    array = np.empty(len(items), object)
    array[:] = items
    return array


def from_objects(values: NDArray[np.object_], wording: Wording = TYPED) -> Column:
    """Read Python objects: text, numbers, booleans or dates, all of one kind, with None, NaN or NA for missing.

    Texts among numbers or dates may be words for "missing". Where the container has no types (a sheet), other texts
    make the whole column one of texts.
    """
    families = {kind: _family(kind) for kind in set(map(type, values))}
    missing = _missing(values, families)
    present = values[~missing] if missing.any() else values
    found = {families[kind] for kind in set(map(type, present))}
    if found == {"whole number", "number"}:
        found = {"number"}
    if len(found) > 1:
        return _from_mixture(values, missing, families, wording)
    if not found:
        return Categories(np.zeros(len(values), np.uint8), (), mask_of(missing))
    family = found.pop()
    if family == "text":
        return _from_texts(values, missing)
    filled = values if not missing.any() else np.where(missing, 0, values)
    if family in ("date", "time", "duration"):
        return from_date_objects(values, missing, family)
    if family == "truth value":
        return Categories(filled.astype(bool).view(np.uint8), (False, True), mask_of(missing))
    if family == "number":
        if any(issubclass(kind, decimal.Decimal) for kind in families):
            filled = as_objects(_plain(v) if isinstance(v, decimal.Decimal) else v for v in filled)
        return _from_large(filled, missing) if any(_is_large(v) for v in filled) else _floats(filled, missing)
    try:
        return Numbers(filled.astype(np.int64), mask_of(missing))
    except OverflowError:
        return _from_large(filled, missing)


def _missing(values: NDArray[np.object_], families: Mapping[type, str]) -> Mask:
    """Return which values are None, NaN or NA; texts alone need not be asked."""
    if set(families.values()) == {"text"}:
        return np.zeros(len(values), bool)
    gaps = {kind for kind, family in families.items() if family == "missing"}
    return np.fromiter((type(v) in gaps or _is_nan(v) for v in values), bool, len(values))


def _is_nan(value: Any) -> bool:
    return value.is_nan() if isinstance(value, decimal.Decimal) else value != value


def _plain(value: decimal.Decimal) -> int | float:
    """Return a decimal number as a whole one where it is whole, so that it stays exact."""
    if value.is_finite() and value.copy_abs() > _LARGEST:  # a whole number of so many digits takes forever
        raise Refused(BEYOND)
    return int(value) if value.is_finite() and value == value.to_integral_value() else float(value)


def _floats(values: NDArray[np.object_], missing: Mask) -> Numbers:
    return Numbers(values.astype(np.float64), mask_of(missing))


def _is_large(value: Any) -> bool:
    """Tell whether this is a whole number too large for an exact floating-point number."""
    return isinstance(value, int | np.integer) and not -(2**53) <= value <= 2**53


def _from_large(values: NDArray[np.object_], missing: Mask) -> Column:
    """Read numbers some of which are too large for 64 bits: exactly, or refuse them."""
    whole = all(isinstance(value, int | np.integer) for value in values)
    if whole and 0 <= min(values) and max(values) < 2**64:
        return Numbers(values.astype(np.uint64), mask_of(missing))
    distinct = sorted(set(values[~missing].tolist()))
    try:
        if all(float(value) == value for value in distinct):
            return _floats(values, missing)
        if len(distinct) <= FEW_VALUES:
            book = {value: code for code, value in enumerate(distinct)}
            codes = np.fromiter((book.get(value, 0) for value in values), np.uint8, len(values))
            return Categories(codes, level_names(distinct), mask_of(missing))
    except OverflowError:
        pass
    raise Refused(
        "holds whole numbers that are too large to be told apart as numbers; subtract what they have in common, or "
        "convert them to text"
    )


def _from_texts(values: NDArray[np.object_], missing: Mask) -> Categories:
    """Code strings by their sorted order."""
    present = (values[~missing] if missing.any() else values).tolist()
    index = {v: code for code, v in enumerate(dict.fromkeys(present))}
    codes = np.full(len(values), -1, np.int64)
    codes[~missing] = np.fromiter(map(index.__getitem__, present), np.int64, len(present))
    return sorted_categories(codes, [str(v) for v in index], mask_of(missing))


def _family(kind: type) -> str:
    """Return the kind of value of a Python type, or refuse the type by name."""
    if kind.__name__ in MISSING_TYPES:
        return "missing"
    if issubclass(kind, bool | np.bool_):
        return "truth value"
    if issubclass(kind, datetime.timedelta | np.timedelta64):  # NumPy's is a whole number too
        return "duration"
    if issubclass(kind, int | np.integer):
        return "whole number"
    if issubclass(kind, float | np.floating | decimal.Decimal):
        return "number"
    if issubclass(kind, str):
        return "text"
    if issubclass(kind, datetime.date | np.datetime64):
        return "date"
    if issubclass(kind, datetime.time):
        return "time"
    if issubclass(kind, list | tuple | dict | set | np.ndarray):
        raise Refused(f"is nested (it holds values of type {kind.__name__}){NESTED}")
    raise Refused(f"holds values of type {kind.__name__}; convert it to text or numbers or leave it out")


def _from_mixture(values: NDArray[np.object_], missing: Mask, families: dict[type, str], wording: Wording) -> Column:
    """Read a column of several kinds: without texts that mean "missing", or as texts where nothing has a type."""
    texts = {v for v in values[~missing] if isinstance(v, str)}
    words = {text for text in texts if wording.is_gap(text.strip(), among_texts=False)}
    others = {families[type(v)] for v in values[~missing] if not isinstance(v, str)}
    if texts and texts == words and (len(others) == 1 or others == {"whole number", "number"}):
        cleared = np.array([None if isinstance(v, str) else v for v in values], object)
        column = from_objects(cleared, wording)
        said = tuple(sorted(words)) if wording.na is None else ()
        return replace(column, origin=replace(column.origin, missing=said))
    if wording.typed or not texts:
        raise Refused(_mixture(values, missing, families))
    return _from_texts(
        as_objects(None if gap else _as_text(v) for v, gap in zip(values, missing, strict=True)), missing
    )


def _as_text(value: Any) -> str:
    """Return a value of a sheet as text, whole numbers without a fraction."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _mixture(values: NDArray[np.object_], missing: Mask, families: dict[type, str]) -> str:
    """Describe a column of mixed kinds by the first two values that differ in kind."""
    rows = np.flatnonzero(~missing)
    first = int(rows[0])
    other = next(int(i) for i in rows if families[type(values[i])] != families[type(values[first])])
    return (
        f"mixes kinds of values: {values[first]!r} in row {first} is a {families[type(values[first])]}, "
        f"{values[other]!r} in row {other} a {families[type(values[other])]}; convert the column to one kind"
    )
