"""Read one column from each kind of container, by its native access, as `Categories` or `Numbers`.

Native, because generic access is slow: pandas, polars and Arrow already have a million category codes,
while comparing a million Python strings takes most of a second.
"""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Iterable, Sequence
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
    sorted_categories,
)
from blankets.data._dates import PER_DAY, from_date_objects, from_numpy_dates, of_ticks
from blankets.data._texts import TYPED, Wording

NESTED = "; spread it over plain columns or leave it out"
MISSING_TYPES = frozenset({"NoneType", "NAType", "NaTType"})


def from_any(values: Any, wording: Wording = TYPED) -> Column:
    """Read a single column: a pandas, polars or Arrow series, an array or a list.

    ``values``, of shape (rows,): text, numbers, booleans or dates; None, NaN, null and NA are missing. ``wording``:
    which texts among numbers are missing values.

    Returns: `Categories` or `Numbers`. A column that is neither raises `Refused` with the reason.

    Examples
    --------
    >>> column = from_any(["no", None, "yes"])
    >>> column.levels, column.codes.tolist(), column.missing.tolist()
    (('no', 'yes'), [0, 0, 1], [False, True, False])
    """
    from narwhals import dependencies as known

    if known.is_pandas_series(values) or known.is_pandas_index(values):
        return from_pandas(values.to_series() if known.is_pandas_index(values) else values, wording)
    if known.is_polars_series(values):
        return from_polars(values)
    if known.is_pyarrow_chunked_array(values) or type(values).__module__.startswith("pyarrow"):
        return from_arrow(values)
    if isinstance(values, np.ndarray):
        return from_numpy(values, wording)
    if hasattr(values, "__array__") and not isinstance(values, str):
        return from_numpy(np.asarray(values), wording)
    return from_objects(as_objects(values), wording)


def as_objects(values: Iterable[Any]) -> NDArray[np.object_]:
    """Return a list as a one-dimensional array of objects (NumPy would turn ``[1, "a"]`` into strings)."""
    items = list(values)
    array = np.empty(len(items), object)
    array[:] = items
    return array


def from_numpy(values: NDArray[Any], wording: Wording = TYPED) -> Column:
    """Read a NumPy array of shape (rows,)."""
    if isinstance(values, np.ma.MaskedArray):
        column, mask = from_numpy(values.data, wording), np.ma.getmaskarray(values)
        return replace(column, missing=_mask(mask if column.missing is None else mask | column.missing))
    if values.ndim != 1:
        raise Refused(f"has {values.ndim} axes; spread it over plain columns or leave it out")
    kind = values.dtype.kind
    if not values.dtype.isnative:
        values = values.astype(values.dtype.newbyteorder("="))
    if kind == "b":
        return Categories(values.view(np.uint8), (False, True))
    if kind in "iu":
        return Numbers(values)
    if kind == "f":
        return Numbers(values, _mask(np.isnan(values)))
    if kind in "UT":
        return from_objects(values.astype(object), wording)
    if kind == "O":
        return from_objects(values, wording)
    if kind in "Mm":
        return from_numpy_dates(values)
    raise Refused(f"is of type {values.dtype}, which has no levels; convert it to numbers or text or leave it out")


def from_objects(values: NDArray[np.object_], wording: Wording = TYPED) -> Column:
    """Read Python objects: text, numbers, booleans or dates, all of one kind, with None, NaN or NA for missing.

    Texts among numbers or dates may be words for "missing". Where the container has no types (a sheet), other texts
    make the whole column one of texts.
    """
    families = {kind: _family(kind) for kind in set(map(type, values))}
    gaps = {kind for kind, family in families.items() if family == "missing"}
    missing = np.fromiter((type(v) in gaps or v != v for v in values), bool, len(values))
    present = values[~missing] if missing.any() else values
    found = {families[kind] for kind in set(map(type, present))}
    if found == {"whole number", "number"}:
        found = {"number"}
    if len(found) > 1:
        return _from_mixture(values, missing, families, wording)
    if not found:
        return Categories(np.zeros(len(values), np.uint8), (), _mask(missing))
    family = found.pop()
    if family == "text":
        return _from_texts(values, missing)
    filled = values if not missing.any() else np.where(missing, 0, values)
    if family in ("date", "time", "duration"):
        return from_date_objects(values, missing, family)
    if family == "truth value":
        return Categories(filled.astype(bool).view(np.uint8), (False, True), _mask(missing))
    if family == "number":
        if any(issubclass(kind, decimal.Decimal) for kind in families):
            filled = as_objects(_plain(v) if isinstance(v, decimal.Decimal) else v for v in filled)
        return _from_large(filled, missing) if any(_is_large(v) for v in filled) else _floats(filled, missing)
    try:
        return Numbers(filled.astype(np.int64), _mask(missing))
    except OverflowError:
        return _from_large(filled, missing)


def _plain(value: decimal.Decimal) -> int | float:
    """Return a decimal number as a whole one where it is whole, so that it stays exact."""
    return int(value) if value.is_finite() and value == value.to_integral_value() else float(value)


def _floats(values: NDArray[np.object_], missing: Mask) -> Numbers:
    return Numbers(values.astype(np.float64), _mask(missing))


def _is_large(value: Any) -> bool:
    """Tell whether this is a whole number too large for an exact floating-point number."""
    return isinstance(value, int | np.integer) and not -(2**53) <= value <= 2**53


def _from_large(values: NDArray[np.object_], missing: Mask) -> Column:
    """Read numbers some of which are too large for 64 bits: exactly, or refuse them."""
    whole = all(isinstance(value, int | np.integer) for value in values)
    if whole and 0 <= min(values) and max(values) < 2**64:
        return Numbers(values.astype(np.uint64), _mask(missing))
    distinct = sorted(set(values[~missing].tolist()))
    try:
        if all(float(value) == value for value in distinct):
            return _floats(values, missing)
        if len(distinct) <= FEW_VALUES:
            book = {value: code for code, value in enumerate(distinct)}
            codes = np.fromiter((book.get(value, 0) for value in values), np.uint8, len(values))
            return Categories(codes, level_names(distinct), _mask(missing))
    except OverflowError:
        pass
    raise Refused(
        "holds whole numbers that are too large to be told apart as numbers; subtract what they have in common, or "
        "convert them to text"
    )


def _from_texts(values: NDArray[np.object_], missing: Mask) -> Categories:
    """Code strings by their sorted order."""
    index: dict[Any, int] = {}
    present = values[~missing] if missing.any() else values
    codes = np.full(len(values), -1, np.int64)
    codes[~missing] = np.fromiter((index.setdefault(v, len(index)) for v in present), np.int64, len(present))
    return sorted_categories(codes, [str(v) for v in index], _mask(missing))


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


def from_pandas(series: Any, wording: Wording = TYPED) -> Column:
    """Read a pandas Series of any type, also nullable and Arrow-backed."""
    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        return from_numpy(series.to_numpy(), wording)
    kind = type(dtype).__name__
    if kind == "CategoricalDtype":
        codes = series.cat.codes.to_numpy()
        names, ordered = level_names(dtype.categories.tolist()), bool(dtype.ordered)
        return Categories(codes, names, _mask(codes < 0), declared=True, ordered=ordered)
    if kind == "ArrowDtype":
        return from_arrow(series.array.__arrow_array__())
    if kind == "StringDtype":
        return _from_pandas_strings(series)
    if kind == "SparseDtype":
        return from_numpy(np.asarray(series.sparse.to_dense()))
    if getattr(dtype, "kind", "") in "biuf" and hasattr(dtype, "numpy_dtype"):
        return _from_pandas_masked(series, dtype)
    if kind == "DatetimeTZDtype":
        return from_numpy_dates(series.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy())
    if kind == "PeriodDtype":
        return from_numpy_dates(series.dt.to_timestamp().to_numpy())
    raise Refused(f"is of type {dtype}; convert it to a category, text or numbers or leave it out")


def _from_pandas_strings(series: Any) -> Categories:
    """Code pandas strings, which pandas factorizes in compiled code."""
    import pandas as pd

    codes, labels = pd.factorize(series)
    return sorted_categories(codes, [str(label) for label in labels], _mask(codes < 0))


def _from_pandas_masked(series: Any, dtype: Any) -> Column:
    """Read pandas' nullable integers, floats and booleans."""
    missing = _mask(series.isna().to_numpy())
    values = series.to_numpy(dtype=dtype.numpy_dtype, na_value=np.nan if dtype.kind == "f" else 0)
    column = from_numpy(values)
    if isinstance(column, Categories):
        return Categories(column.codes, column.levels, missing)
    nan = column.missing
    return Numbers(column.values, missing if nan is None else nan)


def from_polars(series: Any) -> Column:
    """Read a polars Series."""
    dtype = series.dtype
    name = str(dtype.base_type())
    missing = _mask(series.is_null().to_numpy()) if series.null_count() else None
    if name == "Enum":
        codes = series.to_physical().fill_null(0).to_numpy()
        return Categories(codes, tuple(dtype.categories.to_list()), missing, declared=True)
    if name == "Categorical":
        return _from_polars_pool(series, missing)
    if name == "String":
        return _from_polars_strings(series, missing)
    if name == "Boolean":
        return Categories(series.fill_null(value=False).to_numpy().view(np.uint8), (False, True), missing)
    if name == "Null":
        return Categories(np.zeros(len(series), np.uint8), (), missing)
    if name in ("Object", "Int128", "UInt128", "Decimal"):  # NumPy has no such numbers
        return from_objects(as_objects(series.to_list()))
    if dtype.is_integer() or dtype.is_float():
        column = from_numpy(series.fill_null(0).to_numpy())
        return _with_gaps(column, missing)
    if dtype.is_temporal():
        unit = {"Date": "D", "Time": "ns"}.get(name) or dtype.time_unit
        kind = {"Time": "time", "Duration": "duration"}.get(name, "date")
        return of_ticks(series.to_physical().fill_null(0).to_numpy(), PER_DAY[unit], kind, missing)
    if dtype.is_nested():
        raise Refused(f"is nested ({dtype}){NESTED}")
    raise Refused(f"is of type {dtype}; convert it to text or numbers or leave it out")


def _from_polars_strings(series: Any, missing: Mask | None) -> Categories:
    """Code polars strings by an Enum of their sorted distinct values."""
    import polars as pl

    labels = series.drop_nulls().unique().sort()
    codes = series.cast(pl.Enum(labels)).to_physical().fill_null(0).to_numpy()
    return Categories(codes, tuple(labels.to_list()), missing)


def _from_polars_pool(series: Any, missing: Mask | None) -> Categories:
    """Code a polars Categorical: it shares its levels with other columns, so only present levels count."""
    present = series.drop_nulls().unique()
    pool = present.to_physical().to_numpy()
    place = np.zeros(int(pool.max(initial=0)) + 1, np.int64)
    place[pool] = np.arange(len(pool))
    return sorted_categories(place[series.to_physical().fill_null(0).to_numpy()], present.to_list(), missing)


def from_arrow(values: Any) -> Column:
    """Read an Arrow array or chunked array."""
    import pyarrow as pa

    column = values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])
    is_a, kind = pa.types, column.type
    missing = _mask(column.is_null().to_numpy()) if column.null_count else None
    if is_a.is_dictionary(kind):
        return _from_arrow_dictionary(column)
    if is_a.is_string(kind) or is_a.is_large_string(kind) or is_a.is_string_view(kind):
        text = column.cast(pa.large_string()) if is_a.is_string_view(kind) else column
        indices, labels = _indices(text.dictionary_encode())
        return sorted_categories(indices, labels, missing)
    if is_a.is_boolean(kind):
        return Categories(column.fill_null(False).to_numpy().astype(bool).view(np.uint8), (False, True), missing)  # noqa: FBT003
    if is_a.is_null(kind):
        return Categories(np.zeros(len(column), np.uint8), (), missing)
    if is_a.is_integer(kind) or is_a.is_floating(kind):
        filled = column.fill_null(pa.scalar(0, kind)) if column.null_count else column
        whole = filled.chunk(0) if filled.num_chunks == 1 else filled.combine_chunks()
        return _with_gaps(from_numpy(_numbers(whole)), missing)
    if is_a.is_temporal(kind) and not is_a.is_interval(kind):
        return _from_arrow_times(column, missing)
    if is_a.is_decimal(kind):
        return from_objects(as_objects(column.to_pylist()))
    if is_a.is_nested(kind):
        raise Refused(f"is nested ({kind}){NESTED}")
    raise Refused(f"is of type {kind}; convert it to text or numbers or leave it out")


def _from_arrow_times(column: Any, missing: Mask | None) -> Column:
    """Read dates, timestamps, durations or times of day."""
    import pyarrow as pa

    kind, is_a = column.type, pa.types
    unit = "D" if is_a.is_date32(kind) else "ms" if is_a.is_date64(kind) else kind.unit
    narrow = pa.int32() if is_a.is_date32(kind) or is_a.is_time32(kind) else pa.int64()
    filled = column.cast(narrow).fill_null(0)
    whole = filled.chunk(0) if filled.num_chunks == 1 else filled.combine_chunks()
    name = "time" if is_a.is_time(kind) else "duration" if is_a.is_duration(kind) else "date"
    return of_ticks(_numbers(whole), PER_DAY[unit], name, missing)


def _from_arrow_dictionary(column: Any) -> Categories:
    """Read a dictionary column; its dictionary declares its levels."""
    import pyarrow as pa

    if pa.types.is_nested(column.type.value_type) or pa.types.is_binary(column.type.value_type):
        raise Refused(f"is of type {column.type}; convert it to text or numbers or leave it out")
    indices, labels = _indices(column)
    gap = np.array([label is None for label in labels] + [True])
    missing = _mask(gap[indices])  # a dictionary may itself hold a null
    kept = np.cumsum(~gap) - 1
    names = level_names(label for label in labels if label is not None)
    return Categories(kept[indices], names, missing, declared=True, ordered=bool(column.type.ordered))


def _indices(column: Any) -> tuple[NDArray[np.int64], Sequence[Any]]:
    """Return the indices (-1 for null) and the one dictionary of a dictionary column."""
    import pyarrow as pa

    whole = column.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):  # no chunks at all
        return np.zeros(0, np.int64), []
    indices = whole.indices
    filled = indices.fill_null(0) if indices.null_count else indices
    numbers = _numbers(filled).astype(np.int64, copy=False)
    if indices.null_count:
        numbers = np.where(indices.is_null().to_numpy(zero_copy_only=False), -1, numbers)
    try:
        return numbers, whole.dictionary.to_pylist()
    except UnicodeDecodeError:
        raise Refused("holds text that is not UTF-8; decode it first, or leave it out") from None


def _numbers(array: Any) -> NDArray[Any]:
    """Return an Arrow array of numbers without nulls; its own `to_numpy` imports pandas, which takes 0.25 s."""
    return np.from_dlpack(array) if len(array) else array.to_numpy(zero_copy_only=False)


def _with_gaps(column: Column, missing: Mask | None) -> Column:
    """Add null rows to a column of numbers; polars and Arrow distinguish NaN and null, here both are missing."""
    if missing is None or not isinstance(column, Numbers):
        return column
    return replace(column, missing=missing if column.missing is None else missing | column.missing)


def _mask(missing: NDArray[Any]) -> Mask | None:
    """Return the mask, or None if nothing is missing."""
    return missing.astype(bool, copy=False) if missing.any() else None
