"""Recognize the container and open it as a `Table`: names, a number of rows, and one column at a time.

A column is read when it is needed, so there is never a second copy of the data, by the container's own
means (`_readers`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blankets.data._columns import Categories, Column, Numbers, is_a
from blankets.data._dialect import FileWishes
from blankets.data._frame import Frame
from blankets.data._objects import as_objects, from_objects
from blankets.data._readers import from_any, from_arrow, from_numpy, from_pandas, from_polars
from blankets.data._texts import TYPED, Wording, understood
from blankets.errors import DataError, MissingPackageError, ParameterError, listed
from blankets.voice import option

BLOCK_BYTES, TOGETHER = 2**24, 64  # bytes of a matrix, and columns, that are transposed at a time
WIDE = 1000  # columns of a matrix from which on several are read at once
LASTING_BYTES = 256 << 20  # a matrix that takes more memory is not copied


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """An open container."""

    names: tuple[str, ...]  # one name per column, all different
    n_rows: int  # number of rows
    read: Callable[[int], Column]  # ``read(j)`` gives column j; raises `Refused` if it cannot be used
    labels: tuple[object, ...]  # the names as the container had them, for example integers; column numbers for matrices
    sparse: Any = None  # the matrix behind it, if that is sparse
    notes: tuple[str, ...] = ()  # what was recognized when it was opened, in sentences
    together: int = 0  # columns that are best read by one of several threads; 0: there may be only one thread
    emptied: bool = False  # whether columns were left out before, so that there may be no feature
    index: dict[str, int] = field(init=False, repr=False)  # number of each column, by name

    def __post_init__(self) -> None:
        object.__setattr__(self, "index", {name: j for j, name in enumerate(self.names)})

    @property
    def positional(self) -> bool:
        """Whether the columns have only numbers, and their names were made here."""
        return self.labels == tuple(range(len(self.names))) and self.names[:1] == ("x0",)


def open_table(data: Any, wishes: FileWishes | None = None) -> Table:
    """Open any container that `ingest` accepts; ``wishes``: what the user says of files and of texts."""
    wishes = FileWishes() if wishes is None else wishes
    if isinstance(data, Table):
        return data
    if isinstance(data, str | Path):
        from blankets.data._files import open_file

        return open_file(Path(data), wishes)
    if (named := wishes.named()) is not None:
        raise ParameterError(f"{option(named)} is about files, but the table is a {_kind(data)}; leave it out")
    if isinstance(data, Frame):
        return Table(data.names, data.n_rows, partial(_from_frame, data), tuple(range(data.n_columns)))
    wording = replace(wishes.wording, typed=True)
    table = _open(data, wording)
    if table.sparse is not None:
        return table
    return replace(table, read=lambda j: understood(table.read(j), wording))


def _open(data: Any, wording: Wording) -> Table:
    """Open a container in memory."""
    if isinstance(data, Mapping) and not hasattr(data, "nnz"):  # a sparse dictionary of keys is a mapping too
        return _from_mapping(data, wording)
    if isinstance(data, np.ndarray):
        return _from_array(data, wording)
    if isinstance(data, list | tuple):
        return _from_rows(data, wording)
    return _from_data_frame(data, wording) or _from_others(data, wording)


def _from_data_frame(data: Any, wording: Wording) -> Table | None:
    """Open a pandas, polars or Arrow table, or one that narwhals has wrapped."""
    if type(data).__module__.startswith("narwhals") and hasattr(data, "columns"):
        return _open(data.to_native(), wording)
    if is_a(data, "pandas", "DataFrame"):
        return table_of(data.columns, len(data), lambda j: from_pandas(data.iloc[:, j], wording))
    if is_a(data, "polars", "DataFrame"):
        series = data.get_columns()
        return table_of(data.columns, data.height, lambda j: from_polars(series[j]))
    if is_a(data, "pyarrow", "Table"):
        return table_of(data.column_names, data.num_rows, lambda j: from_arrow(data.column(j)))
    return None


def is_data_frame(data: Any) -> bool:
    """Tell whether something is a data frame, by itself or wrapped by narwhals."""
    return _from_data_frame(data, TYPED) is not None


def _from_frame(frame: Frame, j: int) -> Column:
    """Return a column of a frame in the form of a column that was read."""
    if j in frame.numbers:
        return Numbers(frame.numbers[j].values, frame.gaps(j))
    return Categories(frame.column(j), frame.levels[j], frame.gaps(j), declared=True)


def table_of(labels: Any, n_rows: int, read: Callable[[int], Column]) -> Table:
    """Make a table whose columns have names, and check the names."""
    labels = tuple(labels)
    return Table(checked_names(labels), n_rows, read, labels)


def numbered(n_columns: int, n_rows: int, read: Callable[[int], Column], sparse: Any = None) -> Table:
    """Make a table whose columns have only numbers; they are called x0, x1, ..."""
    return Table(tuple(f"x{j}" for j in range(n_columns)), n_rows, read, tuple(range(n_columns)), sparse)


def checked_names(labels: tuple[object, ...]) -> tuple[str, ...]:
    """Return the column names as strings, or say which cannot be used."""
    strings = [isinstance(label, str) for label in labels]
    numbers = [isinstance(label, int | np.integer) and not isinstance(label, bool) for label in labels]
    if not all(strings) and not all(numbers):
        odd = [label for label, good in zip(labels, strings, strict=True) if not good]
        raise DataError(
            f"column names must all be text or all be integers, but these are not text: {listed(odd)}; "
            f"rename them, for example with df.columns = [str(name) for name in df.columns]"
        )
    names = tuple(str(label) for label in labels)
    if len(set(names)) < len(names):
        places: dict[str, list[int]] = {}
        for j, name in enumerate(names):
            places.setdefault(name, []).append(j)
        twice = [f"{name!r} (columns {' and '.join(map(str, at))})" for name, at in places.items() if len(at) > 1]
        raise DataError(f"column names must differ, but {', '.join(twice[:8])} occur more than once; rename them")
    return names


def _from_mapping(data: Mapping[Any, Any], wording: Wording) -> Table:
    """Open a dict of columns."""
    columns = list(data.values())
    for name, values in data.items():
        if isinstance(values, str) or not hasattr(values, "__len__"):
            raise DataError(f"column {name!r} must be a list or an array, but it is a {type(values).__name__}")
    lengths = {name: len(values) for name, values in data.items()}
    if len(set(lengths.values())) > 1:
        (first, n), *others = lengths.items()
        other, m = next(pair for pair in others if pair[1] != n)
        raise DataError(f"columns differ in length: {first!r} has {n} rows, {other!r} has {m}")
    return table_of(data, next(iter(lengths.values()), 0), lambda j: from_any(columns[j], wording))


def _from_array(matrix: NDArray[Any], wording: Wording) -> Table:
    """Open a NumPy array of shape (rows, columns), or a structured array."""
    if matrix.dtype.names:
        fields = matrix.dtype.names
        return table_of(fields, len(matrix), lambda j: from_numpy(matrix[fields[j]], wording))
    if matrix.ndim != 2:
        raise DataError(
            f"an array of data has two axes (rows, columns), but this one has {matrix.ndim}"
            + ("; a single column is X.reshape(-1, 1)" if matrix.ndim == 1 else "")
        )
    n_rows, n_columns = matrix.shape
    if is_a(matrix, "numpy.ma", "MaskedArray"):
        return numbered(n_columns, n_rows, lambda j: from_numpy(matrix[:, j], wording))
    matrix = np.asarray(matrix)  # np.matrix would stay two-dimensional
    width = max(1, min(TOGETHER, BLOCK_BYTES // max(1, n_rows * matrix.itemsize)))
    threads = width == TOGETHER and n_columns >= WIDE and matrix.dtype.kind in "fiub"
    lasts = matrix.dtype == np.float64 and matrix.nbytes > LASTING_BYTES

    # Columns of a row-major matrix are far apart in memory: transpose a block of them at a time.
    @lru_cache(maxsize=4 if threads else 1)
    def block(k: int) -> NDArray[Any]:
        part = matrix[:, k * width : (k + 1) * width].T
        if part.flags.c_contiguous or width < TOGETHER:
            return np.ascontiguousarray(part)
        made = np.empty(part.shape, part.dtype)
        for row in range(0, n_rows, TOGETHER):  # in squares, which takes half as long
            made[:, row : row + TOGETHER] = part[:, row : row + TOGETHER]
        return made

    def read(j: int) -> Column:
        column = from_numpy(block(j // width)[j % width], wording)
        return replace(column, lasting=matrix[:, j]) if lasts and isinstance(column, Numbers) else column

    return replace(numbered(n_columns, n_rows, read), together=width if threads else 0)


def _from_rows(rows: Sequence[Any], wording: Wording) -> Table:
    """Open a list of rows."""
    if not rows or not all(isinstance(row, list | tuple | np.ndarray) for row in rows):
        raise DataError("a list of data must be a list of rows of equal length; for named columns give a dict")
    lengths = {len(row) for row in rows}
    if len(lengths) > 1:
        raise DataError(f"rows differ in length: between {min(lengths)} and {max(lengths)} values")
    n_columns = lengths.pop()
    return numbered(n_columns, len(rows), lambda j: from_objects(as_objects(row[j] for row in rows), wording))


def _from_others(data: Any, wording: Wording) -> Table:
    """Open a sparse matrix or any Arrow-compatible object; refuse the rest with advice."""
    if type(data).__module__.startswith("scipy.sparse"):
        from blankets.data._sparse import from_sparse

        return from_sparse(data)
    if any(is_a(data, package, "Series", "Index", "ChunkedArray") for package in ("pandas", "polars", "pyarrow")):
        raise DataError(f"a {_kind(data)} is a single column, not a table; give a data frame")
    lazy = is_a(data, "polars", "LazyFrame") or type(data).__module__.split(".")[0] in ("dask", "pyspark", "ibis")
    if lazy and not hasattr(data, "__arrow_c_stream__"):
        raise DataError(f"a lazy table ({_kind(data)}) has no rows yet; collect it first, for example data.collect()")
    if hasattr(data, "__arrow_c_stream__"):
        try:
            import pyarrow as pa
        except ImportError:
            raise MissingPackageError.needed_for(f"reading a {_kind(data)}", "pyarrow", "arrow") from None
        try:
            return _open(pa.table(data), wording)
        except pa.ArrowInvalid:
            raise DataError(f"a {_kind(data)} is a single column, not a table; give a data frame") from None
    raise DataError(
        f"a {_kind(data)} is not a table that can be read; give a pandas, polars or Arrow table, a NumPy array, a "
        f"SciPy sparse matrix, a dict of columns, or the path of a file (CSV, Excel, Parquet and others)"
    )


def _kind(data: Any) -> str:
    """Return the name of a type with its module, for messages."""
    return f"{type(data).__module__.split('.')[0]}.{type(data).__name__}"
