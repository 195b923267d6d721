"""Columns of a table as they are kept: dense and sparse blocks of codes, and numbers."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blankets.data._columns import Numbers

NARROW = 256  # most levels that fit a byte
_HASH = 16  # bytes of a hash


@dataclass(frozen=True, slots=True, eq=False)
class DenseColumns:
    """Codes of some columns; each column is one contiguous row of ``codes``.

    ``codes`` has shape (columns, rows) and type uint8, or int32 for columns of more than 256 levels.
    """

    codes: NDArray[np.uint8] | NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.codes)

    def column(self, position: int) -> NDArray[np.uint8] | NDArray[np.int32]:
        """Return the codes of one column, shape (rows,); not a copy."""
        column: NDArray[np.uint8] | NDArray[np.int32] = self.codes[position]
        return column

    def digest(self, position: int) -> bytes:
        """Return a hash of the codes of one column."""
        return digest(self.codes[position])

    def take(self, rows: NDArray[np.int64]) -> DenseColumns:
        """Return the same columns with some rows only."""
        chosen: Any = np.take(self.codes, rows, axis=1)
        return DenseColumns(chosen)


def take_rows(matrix: Any, rows: NDArray[np.int64]) -> Any:
    """Return some rows of a sparse matrix, column-wise."""
    from scipy.sparse import csc_array

    part = csc_array(matrix.tocsr()[rows])
    part.sort_indices()
    return part


@dataclass(frozen=True, slots=True, eq=False)
class SparseColumns:
    """Columns that are mostly code 0, as compressed sparse columns.

    Column j has codes ``codes[indptr[j]:indptr[j+1]]`` (never 0) in the rows
    ``indices[indptr[j]:indptr[j+1]]`` (ascending), and code 0 everywhere else.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    codes: NDArray[np.uint8]
    n_rows: int
    # hashes that were worked out, each after a byte that says so: 139,351 objects would take seven times as much
    hashes: list[bytearray] = field(default_factory=list, repr=False)

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def column(self, position: int) -> NDArray[np.uint8]:
        """Return the codes of one column as a dense array of shape (rows,)."""
        here = slice(self.indptr[position], self.indptr[position + 1])
        dense = np.zeros(self.n_rows, np.uint8)
        dense[self.indices[here]] = self.codes[here]
        return dense

    def digest(self, position: int) -> bytes:
        """Return a hash of the rows and codes that one column stores: to fill in the zeros would take too long."""
        if not self.hashes:
            self.hashes.append(bytearray(len(self) * (1 + 2 * _HASH)))
        known, first = self.hashes[0], position * (1 + 2 * _HASH)
        own = slice(first + 1, first + 1 + 2 * _HASH)
        if not known[first]:
            here = slice(self.indptr[position], self.indptr[position + 1])
            known[own] = digest(self.indices[here]) + digest(self.codes[here])
            known[first] = 1  # set last: another thread may be reading
        return bytes(known[own])

    def take(self, rows: NDArray[np.int64]) -> SparseColumns:
        """Return the same columns with some rows only."""
        from scipy.sparse import csc_array

        part = take_rows(csc_array((self.codes, self.indices, self.indptr), shape=(self.n_rows, len(self))), rows)
        return SparseColumns(part.indptr.astype(np.int64), part.indices.astype(np.int32), part.data, len(rows))


@dataclass(frozen=True, slots=True, eq=False)
class NumberColumn:
    """The values of one column of numbers."""

    values: NDArray[np.float64]  # (rows,): finite, or NaN where there is no value
    digests: list[bytes] = field(default_factory=list, repr=False)
    stands_for_class: bool = False  # whether its mean is that of a class, so that no other function of it tells of it

    @classmethod
    def of(cls, column: Numbers) -> NumberColumn:
        """Return a column that was read; values of a large array of the user are not copied."""
        values = column.floats()
        if column.lasting is None or column.missing is not None:  # a number may mean that there is none
            return cls(values)
        return cls(column.lasting, [digest(values)])

    def digest(self) -> bytes:
        """Return a hash of the values, worked out once."""
        if not self.digests:
            self.digests.append(digest(self.values))
        return self.digests[0]

    def take(self, rows: NDArray[np.int64]) -> NumberColumn:
        """Return some rows only."""
        return NumberColumn(self.values[rows], stands_for_class=self.stands_for_class)

    def filled(self) -> NumberColumn:
        """Return the column with its mean where there is no value; 0 if no row has one."""
        gaps = np.isnan(self.values)
        if not gaps.any():
            return self
        return NumberColumn(np.where(gaps, 0.0 if gaps.all() else np.nanmean(self.values), self.values))


def code_type(n_levels: int) -> type[np.uint8] | type[np.int32]:
    """Return the integer type for this number of different codes."""
    return np.uint8 if n_levels <= NARROW else np.int32


def digest(codes: NDArray[Any]) -> bytes:
    """Return a hash of one column's codes, 128 bits: equal means equal."""
    return hashlib.blake2b(np.ascontiguousarray(codes).data, digest_size=_HASH).digest()
