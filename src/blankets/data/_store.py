"""`Store`: a frame on disk, as packed codes that are mapped into memory.

A store is a folder::

    meta.json       names, levels, number of rows, how the table was read, fingerprint
    codes.u8        one byte a row, column after column
    codes.i32       the same for columns of more than 256 levels
    unlabeled.u8   1 where the target is missing, if it is somewhere

Counting runs over it as over memory: the system brings in the pages that are needed and drops them when
memory is short.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from blankets.data._columns import Mask
from blankets.data._data_report import Binning, DataReport
from blankets.data._encoder import Encoder
from blankets.data._frame import DenseColumns, Frame
from blankets.errors import DataError

__all__ = ["Store", "StoreWriter", "is_store"]

FORMAT, SCHEMA = "blankets store", 1
MOST_ROWS = (1 << 31) - 1  # counts are 32-bit numbers
NARROW_FILE, WIDE_FILE, MISSING_FILE, META = "codes.u8", "codes.i32", "unlabeled.u8", "meta.json"


def is_store(path: object) -> bool:
    """Tell whether this is the path of a folder that holds a store."""
    return isinstance(path, str | Path) and (Path(path) / META).is_file()


@dataclass(frozen=True, eq=False)
class Store:
    """A table on disk as packed codes; see `pack`.

    Attributes
    ----------
    path : Path
        The folder.
    frame : Frame
        The codes, mapped into memory.
    target : str or None
        The column that was read as a target, so that values may be missing in it.
    unlabeled : ndarray of bool or None
        The rows where they are.
    report : DataReport
        What was done to the table.
    encoder : Encoder
        Does the same to new rows.
    fingerprint : str
        Of source and settings.

    Examples
    --------
    >>> import tempfile
    >>> import blankets as bl
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = bl.pack({"a": [0, 1] * 20, "b": [0, 1, 1, 0] * 10}, f"{folder}/small.store")
    ...     bl.Store.open(store.path).frame.names
    ('a', 'b')
    """

    path: Path
    frame: Frame
    target: str | None
    unlabeled: Mask | None
    report: DataReport
    encoder: Encoder
    fingerprint: str

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r}, {self.frame.n_rows:,} rows, {self.frame.n_columns} columns)"

    @classmethod
    def open(cls, path: str | Path) -> Store:
        """Open a store that `pack` has made."""
        folder = Path(path)
        meta = _read_meta(folder)
        n_rows, columns = int(meta["n_rows"]), meta["columns"]
        names = tuple(column["name"] for column in columns)
        levels = tuple(tuple(column["levels"]) for column in columns)
        blocks: list[DenseColumns] = []
        number: dict[bool, int] = {}
        for wide, file, dtype in ((False, NARROW_FILE, np.uint8), (True, WIDE_FILE, np.int32)):
            if n := int(meta["stored"][file]):
                number[wide] = len(blocks)
                blocks.append(DenseColumns(_mapped(folder / file, (n, n_rows), dtype)))
        block_of = np.array([number[column["wide"]] for column in columns], np.int64)
        position = np.array([column["at"] for column in columns], np.int64)
        unlabeled = _mapped(folder / MISSING_FILE, (1, n_rows), np.uint8)[0].astype(bool) if meta["gaps"] else None
        report = _report_from(meta["report"])
        encoder = Encoder(
            names, levels, report.binned, meta["target"], report.missing_policy, meta["missing_labels"], None
        )
        places = zip(block_of.tolist(), position.tolist(), columns, strict=True)
        digests = {(b, at): bytes.fromhex(column["digest"]) for b, at, column in places if "digest" in column}
        frame = Frame(names, levels, n_rows, tuple(blocks), block_of, position, digests)
        return cls(folder, frame, meta["target"], unlabeled, report, encoder, meta["fingerprint"])

    def rows(self, start: int, stop: int, columns: Sequence[int] | None = None) -> Frame:
        """Return some rows, of all or of some columns, as a frame in memory."""
        frame = self.frame if columns is None else self.frame.select(columns)
        codes = [frame.column(j)[start:stop] for j in range(frame.n_columns)]
        return Frame.from_columns(codes, frame.names, frame.levels, stop - start)


def _read_meta(folder: Path) -> dict[str, Any]:
    """Read and check the description of a store."""
    try:
        meta: dict[str, Any] = json.loads((folder / META).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{str(folder)!r} is not a store of packed codes: {error}") from error
    if meta.get("format") != FORMAT or meta.get("schema") != SCHEMA:
        raise DataError(
            f"{str(folder)!r} was packed by another version (schema {meta.get('schema')!r}, this one reads {SCHEMA}); "
            f"pack the table again"
        )
    return meta


def _mapped(file: Path, shape: tuple[int, int], dtype: type[np.generic]) -> NDArray[Any]:
    """Map a file of codes into memory; changes would stay private, none are made."""
    expected = shape[0] * shape[1] * np.dtype(dtype).itemsize
    try:
        size = file.stat().st_size
    except OSError as error:
        raise DataError(f"the store lacks its file {str(file)!r}; pack the table again") from error
    if size != expected:
        raise DataError(f"{str(file)!r} has {size:,} bytes instead of {expected:,}; pack the table again")
    # Copy on write: a read-only array would be another type for the kernels, to be compiled anew.
    return np.asarray(np.memmap(file, dtype, "c", shape=shape))


def _report_from(plain: dict[str, Any]) -> DataReport:
    """Return the report that `DataReport.to_dict` made plain."""
    lists = {name: tuple(value) for name, value in plain.items() if isinstance(value, list)}
    binned = {name: Binning(b["rule"], tuple(b["cuts"])) for name, b in plain["binned"].items()}
    mappings = {
        name: {column: tuple(values) for column, values in plain[name].items()}
        for name in ("duplicates", "unused_levels")
    }
    return DataReport(**{**plain, **lists, **mappings, "binned": binned})


class StoreWriter:
    """Writes a store into a folder of another name, which takes its own when all is written.

    Parameters
    ----------
    path : Path
        The folder to make. A store that is there is replaced, anything else is not.
    n_rows : int
    wide : sequence of bool
        For each column, whether it has more than 256 levels.
    """

    def __init__(self, path: Path, n_rows: int, wide: Sequence[bool]) -> None:
        if n_rows > MOST_ROWS:
            raise DataError(f"a store holds at most {MOST_ROWS:,} rows, and the table has {n_rows:,}")
        if path.exists() and not is_store(path) and (not path.is_dir() or any(path.iterdir())):
            raise DataError(f"{str(path)!r} exists and is not a store; give another path")
        if not path.absolute().parent.is_dir():
            raise DataError(f"there is no folder {str(path.absolute().parent)!r} to put the store into")
        self.path, self.n_rows = path, n_rows
        self.is_wide = np.array(wide, dtype=bool)
        self.at = np.where(self.is_wide, np.cumsum(self.is_wide), np.cumsum(~self.is_wide)) - 1
        self._check_space()
        self.folder = path.absolute().parent / f".{path.name}.{os.getpid()}.part"

    def _check_space(self) -> None:
        needed = self.n_rows * int(np.where(self.is_wide, 4, 1).sum() + 1)
        free = shutil.disk_usage(self.path.absolute().parent).free
        if needed > free:
            raise DataError(
                f"the packed codes need {needed / 1e9:.2f} GB, but there are {free / 1e9:.2f} GB left on the disk of "
                f"{str(self.path.absolute().parent)!r}; give a path on another one"
            )

    def __enter__(self) -> Self:
        shutil.rmtree(self.folder, ignore_errors=True)
        with self._disk_errors():
            self.folder.mkdir()
            self._files = {w: (self.folder / f).open("w+b", buffering=0) for w, f in self._names().items()}
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for file in self._files.values():
            file.close()
        shutil.rmtree(self.folder, ignore_errors=True)  # nothing is there if all went well

    @staticmethod
    def _names() -> dict[bool, str]:
        return {False: NARROW_FILE, True: WIDE_FILE}

    def write(self, column: int, start: int, codes: NDArray[Any]) -> None:
        """Write the codes of some rows of a column, whatever has been written before."""
        wide = bool(self.is_wide[column])
        data: NDArray[Any] = np.ascontiguousarray(codes, np.int32 if wide else np.uint8)
        offset = (int(self.at[column]) * self.n_rows + start) * data.itemsize
        with self._disk_errors():
            # Not through a map: a full disk is an error here and a crash there.
            view, fd = data.data.cast("B"), self._files[wide].fileno()
            while len(view):
                written = os.pwrite(fd, view, offset)
                view, offset = view[written:], offset + written

    def change(self, column: int, new: NDArray[Any]) -> None:
        """Replace each code k of a column by ``new[k]``."""
        for start, codes in self.read(column):
            self.write(column, start, new[codes])

    def read(self, column: int, rows: int = 1 << 20) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield the codes of a column in pieces, each with its first row."""
        wide = bool(self.is_wide[column])
        dtype = np.dtype(np.int32 if wide else np.uint8)
        for start in range(0, self.n_rows, rows):
            n = min(rows, self.n_rows - start)
            place = (int(self.at[column]) * self.n_rows + start) * dtype.itemsize
            yield start, np.frombuffer(os.pread(self._files[wide].fileno(), n * dtype.itemsize, place), dtype)

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
    ) -> Store:
        """Write the description of those ``columns`` that are used, and give the folder its name."""
        stored = {NARROW_FILE: int(np.count_nonzero(~self.is_wide)), WIDE_FILE: int(np.count_nonzero(self.is_wide))}
        meta = {
            "format": FORMAT,
            "schema": SCHEMA,
            "n_rows": self.n_rows,
            "stored": stored,
            "columns": [
                {
                    "name": name,
                    "levels": list(values),
                    "wide": bool(self.is_wide[j]),
                    "at": int(self.at[j]),
                    "digest": made.hex(),
                }
                for j, name, values, made in zip(columns, names, levels, digests, strict=True)
            ],
            "target": target,
            "gaps": unlabeled is not None,
            "report": report.to_dict(),
            "missing_labels": missing_labels,
            "fingerprint": fingerprint,
        }
        with self._disk_errors():
            if unlabeled is not None:
                (self.folder / MISSING_FILE).write_bytes(unlabeled.astype(np.uint8).tobytes())
            (self.folder / META).write_text(json.dumps(meta), "utf-8")
            if self.path.exists():
                shutil.rmtree(self.path)
            self.folder.rename(self.path)
        return Store.open(self.path)

    @contextmanager
    def _disk_errors(self) -> Iterator[None]:
        """Say that the disk is full, or why it cannot be written to."""
        try:
            yield
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            why = "the disk is full" if full else str(error)
            raise DataError(f"cannot write the store {str(self.path)!r}: {why}; give a path on another disk") from error
