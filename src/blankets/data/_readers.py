"""Read one column from each kind of container, by its native access, as `Categories` or `Numbers`.

Native, because generic access is slow: pandas, polars and Arrow already have a million category codes,
while comparing a million Python strings takes most of a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blankets.data._columns import (
    Categories,
    Column,
    Mask,
    Numbers,
    Refused,
    either,
    is_a,
    level_names,
    mask_of,
    sorted_categories,
)
from blankets.data._dates import PER_DAY, from_numpy_dates, of_ticks
from blankets.data._objects import BEYOND, NESTED, as_objects, from_objects
from blankets.data._texts import TYPED, Wording

_SHORT = 64  # bytes of a text that is coded by a number
_MANY = 4096  # texts from which that pays; most levels are among the first so many
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


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
    if is_a(values, "pandas", "Series", "Index"):
        return from_pandas(values.to_series() if is_a(values, "pandas", "Index") else values, wording)
    if is_a(values, "polars", "Series"):
        return from_polars(values)
    if type(values).__module__.startswith("pyarrow"):
        return from_arrow(values)
    if isinstance(values, np.ndarray):
        return from_numpy(values, wording)
    if hasattr(values, "__array__") and not isinstance(values, str):
        return from_numpy(np.asarray(values), wording)
    return from_objects(as_objects(values), wording)


def from_numpy(values: NDArray[Any], wording: Wording = TYPED) -> Column:
    """Read a NumPy array of shape (rows,)."""
    if is_a(values, "numpy.ma", "MaskedArray"):
        column = from_numpy(np.ma.getdata(values), wording)
        return replace(column, missing=either(np.ma.getmaskarray(values), column.missing))
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
        values = values if values.itemsize <= np.dtype(np.float64).itemsize else _narrowed(values)
        return Numbers(values, mask_of(np.isnan(values)))
    if kind in "UT":
        return _from_short_texts(values) or from_objects(values.astype(object), wording)
    if kind == "O":
        return from_objects(values, wording)
    if kind in "Mm":
        return from_numpy_dates(values)
    raise Refused(f"is of type {values.dtype}, which has no levels; convert it to numbers or text or leave it out")


def _narrowed(values: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Return numbers of more than 64 bits in 64 bits, or refuse them."""
    with np.errstate(over="ignore"):
        narrow = values.astype(np.float64)
    if np.any(np.isinf(narrow) & np.isfinite(values)):
        raise Refused(BEYOND)
    return narrow


def _from_short_texts(values: NDArray[np.str_]) -> Categories | None:
    """Code texts of a fixed width by numbers made of their letters; None if that does not tell them apart, or pay."""
    if values.dtype.kind != "U" or not 0 < values.dtype.itemsize <= _SHORT or len(values) < _MANY:
        return None
    keys = np.zeros(len(values), np.uint64)
    for letters in np.ascontiguousarray(values).view(np.uint32).reshape(len(values), -1).T:
        keys = keys * _FACTOR + letters
    seen, first = np.unique(keys[:_MANY], return_index=True)
    at = np.minimum(np.searchsorted(seen, keys), len(seen) - 1)
    if (seen[at] != keys).any():
        _, first, at = np.unique(keys, return_index=True, return_inverse=True)
    levels = values[first]
    if (levels[at] != values).any():
        return None
    return sorted_categories(at, levels.tolist(), None)


def from_pandas(series: Any, wording: Wording = TYPED) -> Column:
    """Read a pandas Series of any type, also nullable and Arrow-backed."""
    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        return from_numpy(series.to_numpy(), wording)
    kind = type(dtype).__name__
    if kind == "CategoricalDtype":
        codes = series.cat.codes.to_numpy()
        names, ordered = level_names(dtype.categories.tolist()), bool(dtype.ordered)
        return Categories(codes, names, mask_of(codes < 0), declared=True, ordered=ordered)
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
    return sorted_categories(codes, [str(label) for label in labels], mask_of(codes < 0))


def _from_pandas_masked(series: Any, dtype: Any) -> Column:
    """Read pandas' nullable integers, floats and booleans."""
    missing = mask_of(series.isna().to_numpy())
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
    missing = mask_of(series.is_null().to_numpy()) if series.null_count() else None
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
    missing = mask_of(column.is_null().to_numpy()) if column.null_count else None
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
    missing = mask_of(gap[indices])  # a dictionary may itself hold a null
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
    return replace(column, missing=either(missing, column.missing))
