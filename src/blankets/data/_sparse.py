"""Read sparse matrices without making them dense: code 0 is the value 0, other values get other codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blankets.data._blocks import NARROW, SparseColumns, digest
from blankets.data._columns import Column, Mask, level_names
from blankets.data._findings import Findings, Repeats
from blankets.data._frame import Frame
from blankets.data._readers import from_numpy
from blankets.data._summary import MANY_LEVELS, is_constant, is_identifier
from blankets.data._tables import Table, numbered
from blankets.errors import DataError


def from_sparse(data: Any) -> Table:
    """Open a SciPy sparse matrix or array of any format; explicit zeros are zeros."""
    from scipy.sparse import csc_array

    if data.ndim != 2:
        raise DataError(f"an array of data has two axes (rows, columns), but this one has {data.ndim}")
    if data.dtype.kind not in "biuf":
        raise DataError(f"a sparse matrix must hold numbers or booleans, but this one holds {data.dtype}")
    try:
        if hasattr(data, "check_format"):
            data.check_format(full_check=True)
        if data.format == "coo" and data.nnz:
            check_indices(data)
        matrix = csc_array(data)
    except (ValueError, IndexError) as reason:
        raise DataError(f"the sparse matrix is damaged: {reason}") from None
    if not matrix.has_canonical_format or not matrix.data.all():
        matrix = matrix.copy() if data.format == "csc" else matrix  # do not change the user's matrix
        matrix.sum_duplicates()
        matrix.eliminate_zeros()

    def read(j: int) -> Column:
        here = slice(matrix.indptr[j], matrix.indptr[j + 1])
        dense = np.zeros(matrix.shape[0], matrix.dtype)
        dense[matrix.indices[here]] = matrix.data[here]
        return from_numpy(dense)

    return numbered(matrix.shape[1], matrix.shape[0], read, matrix)


def check_indices(data: Any) -> None:
    """Refuse coordinates outside of the matrix; SciPy does not check them before it writes there."""
    for axis, (at, size) in enumerate(zip(data.coords, data.shape, strict=True)):
        if at.min() < 0 or at.max() >= size:
            raise ValueError(f"axis {axis} has {size} places, and an entry is at {int(at.max())}")


def rows_without_gaps(matrix: Any) -> Mask:
    """Return the rows in which no entry is missing."""
    kept = np.ones(matrix.shape[0], dtype=bool)
    if matrix.dtype.kind == "f":
        kept[matrix.indices[np.isnan(matrix.data)]] = False
    return kept


def encode_sparse(matrix: Any, names: Sequence[str], repeats: Repeats, *, testwise: bool = False) -> Frame:
    """Return the usable columns of a canonical ``csc_array``; ``repeats.findings`` gets the others.

    ``testwise``: missing values are holes; otherwise they are a level. In both cases they have the last code.
    """
    n_rows, n_columns = matrix.shape
    stored = np.diff(matrix.indptr)
    of_column = np.repeat(np.arange(n_columns), stored)

    # Each column's values are ranked among themselves: one sort of (column, value) pairs for them all.
    values, which = np.unique(matrix.data, return_inverse=True)
    pairs, pair_of = np.unique(of_column * len(values) + which, return_inverse=True)
    first = np.searchsorted(pairs, np.arange(n_columns + 1) * len(values))
    codes = pair_of - first[of_column] + 1

    gaps = np.zeros(n_columns, bool)
    if testwise and matrix.dtype.kind == "f":
        gaps[of_column[np.isnan(matrix.data)]] = True
    used = _usable(np.diff(first) - gaps, stored, n_rows, names, repeats)
    narrow, indices, marks = codes.astype(np.uint8), matrix.indices.astype(np.int32, copy=False), {}
    for j in np.flatnonzero(used).tolist():
        here = slice(matrix.indptr[j], matrix.indptr[j + 1])
        marks[j] = digest(indices[here]) + digest(narrow[here])
        used[j] = repeats.new(names[j], marks[j])
    columns = np.flatnonzero(used)
    labels = level_names("missing" if v != v else v for v in _whole(values))
    levels = _levels(columns, first, pairs % max(len(values), 1), labels)
    holes = frozenset(np.flatnonzero(gaps[columns]).tolist())
    levels = [values[:-1] if k in holes else values for k, values in enumerate(levels)]
    kept = used[of_column]
    indptr = np.concatenate([[0], np.cumsum(stored[columns])])
    block = SparseColumns(indptr.astype(np.int64), indices[kept], narrow[kept], n_rows)
    where = np.arange(len(columns), dtype=np.int64)
    digests = {(0, k): marks[j] for k, j in enumerate(columns.tolist())}
    chosen = tuple(names[j] for j in columns.tolist())
    return Frame(chosen, tuple(levels), n_rows, (block,), np.zeros_like(where), where, digests, holes)


def sparse_digest(codes: NDArray[np.integer[Any]]) -> bytes:
    """Return the hash of a sparse column with these codes."""
    rows = np.flatnonzero(codes).astype(np.int32)
    return digest(rows) + digest(codes[rows].astype(np.uint8))


def _whole(values: NDArray[Any]) -> list[Any]:
    """Return numbers as Python numbers, whole numbers as integers."""
    return [int(v) if float(v).is_integer() else v for v in values.tolist()]


def _levels(
    columns: NDArray[np.int64], first: NDArray[np.int64], value_of_pair: NDArray[np.int64], labels: tuple[object, ...]
) -> list[tuple[object, ...]]:
    """Return the levels of each column; columns with the same levels share one tuple."""
    shared: dict[bytes, tuple[object, ...]] = {}
    levels = []
    for j in columns:
        mine = value_of_pair[first[j] : first[j + 1]]
        key = mine.tobytes()
        if key not in shared:
            shared[key] = (0, *(labels[k] for k in mine))
        levels.append(shared[key])
    return levels


def note_gaps(matrix: Any, names: Sequence[str], findings: Findings) -> None:
    """Note which columns have infinite or missing entries."""
    if matrix.dtype.kind != "f":
        return
    of_column = np.repeat(np.arange(matrix.shape[1]), np.diff(matrix.indptr))
    for found, noted in ((np.isinf(matrix.data), findings.infinite), (np.isnan(matrix.data), findings.missing)):
        counts = np.bincount(of_column[found], minlength=matrix.shape[1])
        noted.update({names[j]: int(counts[j]) for j in np.flatnonzero(counts).tolist()})


def _usable(
    n_values: NDArray[np.int64], stored: NDArray[np.int64], n_rows: int, names: Sequence[str], repeats: Repeats
) -> Mask:
    """Leave out constant columns and identifiers, and refuse columns with too many values."""
    findings, seen = repeats.findings, n_values + (stored < n_rows)
    free = np.array([name not in repeats.keep for name in names], dtype=bool)
    constant = free & is_constant(seen, np.zeros_like(seen))
    id_like = free & is_identifier(seen, n_rows)
    findings.constant += [names[j] for j in np.flatnonzero(constant).tolist()]
    findings.id_like += [names[j] for j in np.flatnonzero(id_like).tolist()]
    for j in np.flatnonzero((seen > MANY_LEVELS) & ~id_like).tolist():
        if n_values[j] >= NARROW:
            findings.refuse(
                names[j],
                f"is sparse and has {n_values[j]} values besides 0, of which at most {NARROW - 1} can be kept; "
                f"bin or binarize the matrix first, for example with X > 0",
            )
        else:
            findings.many_levels[names[j]] = int(n_values[j]) + 1
    usable: Mask = ~(constant | id_like)
    return usable


def recode_sparse(
    matrix: Any, levels: Sequence[tuple[object, ...]]
) -> tuple[SparseColumns, list[tuple[object, ...]], dict[int, int]]:
    """Give the entries of new rows the codes of known levels; new values become further levels.

    Returns the codes, the levels with the new ones appended, and for each column with new values the
    number of such rows.
    """
    n_rows, n_columns = matrix.shape
    of_column = np.repeat(np.arange(n_columns), np.diff(matrix.indptr))
    codes = np.zeros(len(matrix.data), np.int64)
    # Most sparse columns are binary: their entries are coded all at once, the rest column by column.
    only = np.array([lv[1] if len(lv) > 1 and isinstance(lv[1], int | float) else np.nan for lv in levels], float)
    codes[matrix.data == only[of_column]] = 1
    all_levels, new_rows = list(levels), {}
    for j in np.unique(of_column[codes == 0]).tolist():
        here = np.arange(matrix.indptr[j], matrix.indptr[j + 1])
        here = here[codes[here] == 0]
        book = {level: code for code, level in enumerate(levels[j])}
        entries = ["missing" if v != v else v for v in _whole(matrix.data[here])]
        known = len(book)
        codes[here] = [book.setdefault(v, len(book)) for v in entries]
        if len(book) > NARROW:
            raise DataError(f"a sparse column has more than {NARROW} values; bin or binarize the matrix first")
        if len(book) > known:
            new_rows[j] = int(np.count_nonzero(codes[here] >= known))
            all_levels[j] = tuple(book)
    block = SparseColumns(
        matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), codes.astype(np.uint8), n_rows
    )
    return block, all_levels, new_rows
