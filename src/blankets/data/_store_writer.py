"""`StoreWriter`: writes a store beside its place, and puts it there when all is written.

A store that is being written is a folder of another name, locked by its writer; what a writer left that was killed is
swept away by the next one.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from blankets.data._blocks import digest
from blankets.data._columns import Mask
from blankets.data._data_report import DataReport
from blankets.data._folders import (
    GROUP_FILE,
    META,
    MISSING_FILE,
    OURS,
    SURVEY_FILE,
    hold,
    locked,
    private,
    put_in_place,
    remove,
    sweep,
)
from blankets.data._reading import Reading
from blankets.data._store import (
    FILES,
    FORMAT,
    MOST_ROWS,
    PIECE,
    SCHEMA,
    Meta,
    Store,
    checksum,
    is_store,
    signed,
)
from blankets.data._units import Units
from blankets.errors import DataError, listed
from blankets.records import plain


class StoreWriter:
    """Writes a store into a temporary folder, and renames it when all is written.

    ``path``: the folder to make. An existing store is replaced, anything else is not. ``wide``: for each column,
    whether it has more than 256 levels. ``numbers``: the columns whose values are written too.
    """

    def __init__(self, path: Path, n_rows: int, wide: Sequence[bool], numbers: Sequence[int] = ()) -> None:
        if n_rows > MOST_ROWS:
            raise DataError(f"a store holds at most {MOST_ROWS:,} rows, and the table has {n_rows:,}")
        self.path, self.n_rows = path, n_rows
        self.number_at = {j: k for k, j in enumerate(numbers)}
        with self._disk_errors():
            self._real = Path(os.path.realpath(path))  # replace the folder behind a link, not the link
            if not self._real.parent.is_dir():
                raise DataError(f"there is no folder {str(path.absolute().parent)!r} to put the store into")
            with locked(self._real.parent, shared=True):
                self._check_place()
        self.is_wide = np.array(wide, dtype=bool)
        self.at = np.where(self.is_wide, np.cumsum(self.is_wide), np.cumsum(~self.is_wide)) - 1
        self._check_space()

    def _check_place(self) -> None:
        """Refuse to replace what is not a store, or a folder that holds more than a store."""
        if not self._real.exists() or (self._real.is_dir() and not any(self._real.iterdir())):
            return
        if not is_store(self._real):
            raise DataError(f"{str(self.path)!r} exists and is not a store; give another path")
        if foreign := sorted({entry.name for entry in self._real.iterdir()} - OURS):
            raise DataError(
                f"{str(self.path)!r} is a store, but it also holds {listed(foreign)}, which would be lost; move that, "
                f"or give another path"
            )

    def _check_space(self) -> None:
        needed = self.n_rows * int(np.where(self.is_wide, 4, 1).sum() + 1 + 8 * len(self.number_at))
        free = shutil.disk_usage(self._real.parent).free
        if needed > free:
            raise DataError(
                f"the packed codes need {needed / 1e9:.2f} GB, but there are {free / 1e9:.2f} GB left on the disk of "
                f"{str(self.path.absolute().parent)!r}; give a path on another one"
            )

    def __enter__(self) -> Self:
        with self._disk_errors():
            with locked(self._real.parent):
                sweep(self._real)
                self.folder = Path(tempfile.mkdtemp(".part", f".{self._real.name[:100]}.", self._real.parent))
                self._held = hold(self.folder, "LOCK_EX", "LOCK_NB")  # locked during writing
            files = {kind: file for kind, file in FILES.items() if kind is not np.float64 or self.number_at}
            self._files = {kind: open(self.folder / f, "w+b", 0, opener=private) for kind, f in files.items()}
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for file in self._files.values():
            file.close()
        if self._held is not None:
            os.close(self._held)
        remove(self.folder)  # does not exist if all went well

    def _kind(self, column: int) -> type[np.generic]:
        return np.int32 if self.is_wide[column] else np.uint8

    def write(self, column: int, start: int, codes: NDArray[Any]) -> None:
        """Write the codes of some rows of a column, in any order."""
        self._write(self._kind(column), int(self.at[column]), start, codes)

    def write_number(self, column: int, start: int, values: NDArray[np.float64]) -> None:
        """Write the values of some rows of a number, in any order."""
        self._write(np.float64, self.number_at[column], start, values)

    def _write(self, kind: type[np.generic], at: int, start: int, values: NDArray[Any]) -> None:
        data: NDArray[Any] = np.ascontiguousarray(values, kind)
        offset = (at * self.n_rows + start) * data.itemsize
        with self._disk_errors():
            # Not by a memory map: with a full disk, writing here raises an error, a map would crash.
            view, fd = data.data.cast("B"), self._files[kind].fileno()
            while len(view):
                written = os.pwrite(fd, view, offset)
                view, offset = view[written:], offset + written

    def change(self, column: int, new: NDArray[Any]) -> None:
        """Replace each code k of a column by ``new[k]``."""
        for start, codes in self.read(column):
            self.write(column, start, new[codes])

    def read(self, column: int, rows: int = PIECE) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield the codes of a column in pieces, each with its first row."""
        return self._read(self._kind(column), int(self.at[column]), rows)

    def _read(self, kind: type[np.generic], at: int, rows: int = PIECE) -> Iterator[tuple[int, NDArray[Any]]]:
        dtype = np.dtype(kind)
        for start in range(0, self.n_rows, rows):
            n = min(rows, self.n_rows - start)
            place = (at * self.n_rows + start) * dtype.itemsize
            yield start, np.frombuffer(os.pread(self._files[kind].fileno(), n * dtype.itemsize, place), dtype)

    def number_digest(self, column: int) -> bytes:
        """Return a hash of a number's values."""
        made = hashlib.blake2b(digest_size=16)
        for _, values in self._read(np.float64, self.number_at[column]):
            made.update(values.data)
        return made.digest()

    def _number_described(self, column: int, name: str) -> dict[str, object]:
        """Return the description of a number's values."""
        at = self.number_at[column]
        total = reduce(checksum, (values for _, values in self._read(np.float64, at)), 0)
        return {"name": name, "at": at, "digest": self.number_digest(column).hex(), "sum": total}

    def finish(
        self,
        columns: Sequence[int],
        names: Sequence[str],
        levels: Sequence[tuple[object, ...]],
        *,
        target: str | None,
        unlabeled: Mask | None,
        report: DataReport,
        missing_labels: dict[str, str],
        fingerprint: str,
        digests: Sequence[bytes],
        units: Units,
        reading: Reading,
        holes: frozenset[int] = frozenset(),
        ordered: frozenset[int] = frozenset(),
        several: frozenset[int] = frozenset(),
    ) -> Store:
        """Write the description of the used ``columns``, and give the folder its final name."""
        marks = None if unlabeled is None else unlabeled.astype(np.uint8)
        of_rows = {MISSING_FILE: marks, GROUP_FILE: units.groups, SURVEY_FILE: units.survey}
        made_of = {file: "" if values is None else digest(values).hex() for file, values in of_rows.items()}
        described = [
            {
                "name": name,
                "levels": list(values),
                "wide": bool(self.is_wide[j]),
                "at": int(self.at[j]),
                "digest": made.hex(),
                "sum": reduce(checksum, (codes for _, codes in self.read(j)), 0),
            }
            for j, name, values, made in zip(columns, names, levels, digests, strict=True)
        ]
        meta = Meta(
            format=FORMAT,
            schema=SCHEMA,
            n_rows=self.n_rows,
            n_narrow=int(np.count_nonzero(~self.is_wide)),
            n_wide=int(np.count_nonzero(self.is_wide)),
            columns=(),
            target=target,
            gaps=made_of[MISSING_FILE],
            groups=made_of[GROUP_FILE],
            survey=made_of[SURVEY_FILE],
            units=units.names,
            options=json.dumps(reading.said),
            report=report,
            missing_labels=missing_labels,
            fingerprint=fingerprint,
            holes=tuple(names[k] for k in sorted(holes)),
            ordered=tuple(names[k] for k in sorted(ordered)),
            several=tuple(names[k] for k in sorted(several)),
            n_numbers=len(self.number_at),
        )
        both = zip(columns, names, strict=True)
        numbers = [self._number_described(j, name) for j, name in both if j in self.number_at]
        with self._disk_errors():
            for file, values in of_rows.items():
                if values is not None:
                    self._write_file(file, values.tobytes())
            self._write_file(
                META, signed(json.dumps({**plain(meta), "columns": described, "numbers": numbers}).encode())
            )
            with locked(self._real.parent):
                self._check_place()
                put_in_place(self._real, self.folder)
                return Store._opened(self.path)

    def _write_file(self, name: str, content: bytes) -> None:
        with open(self.folder / name, "wb", opener=private) as file:
            file.write(content)

    @contextmanager
    def _disk_errors(self) -> Iterator[None]:
        """Say that the disk is full, or why it cannot be written to."""
        try:
            yield
        except (OSError, ValueError) as error:
            if isinstance(error, DataError):
                raise
            full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
            why = "the disk is full" if full else str(error)
            raise DataError(f"cannot write the store {str(self.path)!r}: {why}; give a path on another disk") from error
