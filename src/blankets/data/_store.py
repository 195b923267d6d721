"""`Store`: a frame on disk, as packed codes that are mapped into memory.

A store is a folder that only its owner may read::

    meta.json      names, levels, number of rows, how the table was read, hashes (also of itself)
    codes.u8       one byte per row, column after column
    codes.i32      the same for columns of more than 256 levels
    numbers.f64    the values of numbers that were cut without being asked to, beside their codes; only if some were
    unlabeled.u8   1 if the target of a row is missing; only if some are

Counting works as in memory: the system loads the pages that are needed and drops them when memory is short.
A file may be cut off or damaged, and a code without a level would be counted outside of the table in memory. So
sizes are checked when a store is opened, and codes when they are used for the first time.
"""

from __future__ import annotations

import errno
import glob
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from blankets.arguments import path_of
from blankets.data._columns import Mask
from blankets.data._data_report import DataReport
from blankets.data._encoder import Encoder
from blankets.data._frame import NARROW, DenseColumns, Frame, NumberColumn, digest
from blankets.errors import DataError, EngineError, guarded, listed
from blankets.records import Bounds, Count, plain, read, refuse, short

FORMAT, SCHEMA = "blankets store", 3
MOST_ROWS = (1 << 31) - 1  # counts are 32-bit numbers
NARROW_FILE, WIDE_FILE, NUMBER_FILE = "codes.u8", "codes.i32", "numbers.f64"
MISSING_FILE, META = "unlabeled.u8", "meta.json"
OURS = frozenset({NARROW_FILE, WIDE_FILE, NUMBER_FILE, MISSING_FILE, META})
_FILES = {np.uint8: NARROW_FILE, np.int32: WIDE_FILE, np.float64: NUMBER_FILE}
_SEAL = b', "hash": "'
PIECE = 1 << 20  # rows whose codes are checked together

Codes = NDArray[np.integer[Any]]


def is_store(path: object) -> bool:
    """Tell whether this is the path of a store: a folder whose description begins with our mark."""
    if not isinstance(path, str | Path):
        return False
    mark = json.dumps({"format": FORMAT})[:-1].encode()
    try:
        meta = Path(path) / META
        if not meta.is_file():
            return False
        with meta.open("rb") as file:
            return file.read(len(mark)) == mark
    except (OSError, ValueError):
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Meta:
    """The content of meta.json."""

    format: Annotated[str, Literal["blankets store"]]
    schema: Annotated[int, Bounds(SCHEMA, SCHEMA)]
    n_rows: Annotated[int, Bounds(0, MOST_ROWS)]
    n_narrow: Count
    n_wide: Count
    columns: tuple[Any, ...]  # there may be 100,000: they are checked below, faster than by annotations
    target: str | None
    gaps: str  # hash of the rows without a target; empty if there are none
    report: DataReport
    missing_labels: Mapping[str, str]
    fingerprint: str
    holes: tuple[str, ...] = ()  # columns in which rows without a value have a code beyond the levels
    ordered: tuple[str, ...] = ()  # columns whose levels have an order
    several: tuple[str, ...] = ()  # columns of several numbers, which are in order where numbers are tested uncut
    n_numbers: Count = 0
    numbers: tuple[Any, ...] = ()  # columns whose values are there too

    def _check(self) -> None:
        holes = frozenset(self.holes)
        kinds = {"name": str, "levels": list, "wide": bool, "at": int, "digest": str, "sum": int}
        for column in self.columns:
            if not isinstance(column, dict) or {key: type(value) for key, value in column.items()} != kinds:
                refuse(f"a column is described by {short(column)}")
            levels, places = column["levels"], self.n_wide if column["wide"] else self.n_narrow
            if not 0 <= column["at"] < places or len(bytes.fromhex(column["digest"])) != 16:
                refuse(f"{column['name']!r} lies beyond the end of its file, or has no hash")
            if not levels or (len(levels) + (column["name"] in holes) > NARROW and not column["wide"]):
                refuse(f"{column['name']!r} has {len(levels)} levels")
            if not all(isinstance(level, str | int | float) for level in levels):
                refuse(f"a level of {column['name']!r} is neither a text nor a number")
        names = {column["name"] for column in self.columns}
        if len(names) < len(self.columns):
            refuse("a name is there twice")
        if (self.report.n_rows, self.report.n_columns) != (self.n_rows, len(names)):
            refuse("the report is about another table")
        named = {*self.missing_labels, *holes, *self.ordered, *self.several}
        if not named.union([] if self.target is None else [self.target]) <= names:
            refuse("the report names a column that is not there")
        for column in self.numbers:
            _check_number(column, names, self.n_numbers)


def _check_number(column: object, names: set[str], n_numbers: int) -> None:
    """Refuse a wrong description of a number's values."""
    kinds = {"name": str, "at": int, "digest": str, "sum": int}
    if not isinstance(column, dict) or {key: type(value) for key, value in column.items()} != kinds:
        refuse(f"a number is described by {short(column)}")
    if column["name"] not in names or not 0 <= column["at"] < n_numbers:
        refuse(f"the number {column['name']!r} is no column, or lies beyond the end of its file")


@guarded
@dataclass(frozen=True, eq=False)
class Store:
    """A table on disk as packed codes; see `pack`.

    Attributes
    ----------
    path : Path
        The folder.
    frame : Frame
        The codes, mapped into memory and checked: each has a level.
    layout : Frame
        The same before the check, for names and levels.
    target : str or None
        The column that was read as a target; its values may be missing.
    unlabeled : ndarray of bool or None
        The rows in which the target is missing.
    report : DataReport
        What was done to the table.
    encoder : Encoder
        Codes new rows in the same way.
    fingerprint : str
        A hash of source and settings.
    numbers : dict
        The values of numbers, by their column: tests that need not cut them use these.

    Examples
    --------
    >>> import tempfile
    >>> import blankets as bl
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = bl.pack({"a": [0, 1] * 20, "b": [0, 1, 1, 0] * 10}, f"{folder}/small.store")
    ...     bl.Store.open(store.path).verify().frame.names
    ('a', 'b')
    """

    path: Path
    layout: Frame
    target: str | None
    unlabeled: Mask | None
    report: DataReport
    encoder: Encoder
    fingerprint: str
    _sums: tuple[int, ...] = field(repr=False)
    numbers: dict[int, NumberColumn] = field(default_factory=dict, repr=False)
    _number_sums: dict[int, int] = field(default_factory=dict, repr=False)
    _several: frozenset[int] = field(default=frozenset(), repr=False)
    _looked: list[bool] = field(default_factory=list, repr=False)

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r}, {self.layout.n_rows:,} rows, {self.layout.n_columns} columns)"

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return Store.open, (str(self.path),)

    @classmethod
    def open(cls, path: str | Path) -> Store:
        """Open a store that `pack` has made."""
        folder = path_of("path", path)
        with _locked(Path(os.path.abspath(folder)).parent, shared=True):  # not while it is being replaced
            return cls._opened(folder)

    @classmethod
    def _opened(cls, folder: Path) -> Store:
        meta = _read_meta(folder)
        blocks: list[DenseColumns] = []
        number: dict[bool, int] = {}
        files = ((False, NARROW_FILE, np.uint8, meta.n_narrow), (True, WIDE_FILE, np.int32, meta.n_wide))
        for wide, file, dtype, n in files:
            if n:
                number[wide] = len(blocks)
                blocks.append(DenseColumns(_mapped(folder / file, (n, meta.n_rows), dtype)))
        names = tuple(column["name"] for column in meta.columns)
        levels = tuple(tuple(column["levels"]) for column in meta.columns)
        block_of = np.array([number[column["wide"]] for column in meta.columns], np.int64)
        position = np.array([column["at"] for column in meta.columns], np.int64)
        marks = _mapped(folder / MISSING_FILE, (1, meta.n_rows), np.uint8)[0] if meta.gaps else None
        if marks is not None and digest(marks).hex() != meta.gaps:
            raise _damaged(folder, f"the rows marked in {MISSING_FILE!r} have changed")
        encoder = Encoder(
            names, levels, meta.report.binned, meta.target, meta.report.missing_policy, meta.missing_labels
        )
        places = zip(block_of.tolist(), position.tolist(), strict=True)
        digests = {place: bytes.fromhex(column["digest"]) for place, column in zip(places, meta.columns, strict=True)}
        holes = frozenset(j for j, name in enumerate(names) if name in frozenset(meta.holes))
        ordered = frozenset(j for j, name in enumerate(names) if name in frozenset(meta.ordered))
        frame = Frame(names, levels, meta.n_rows, tuple(blocks), block_of, position, digests, holes, ordered=ordered)
        made = tuple(column["sum"] for column in meta.columns)
        unlabeled = None if marks is None else marks.astype(bool)
        numbers: dict[int, NumberColumn] = {}
        sums: dict[int, int] = {}
        if meta.n_numbers:
            values = _mapped(folder / NUMBER_FILE, (meta.n_numbers, meta.n_rows), np.float64)
            for column in meta.numbers:
                j = frame.index(column["name"])
                numbers[j] = NumberColumn(values[column["at"]], [bytes.fromhex(column["digest"])])
                sums[j] = column["sum"]
        several = frozenset(frame.index(name) for name in meta.several)
        return cls(
            folder, frame, meta.target, unlabeled, meta.report, encoder, meta.fingerprint, made, numbers, sums, several
        )

    @property
    def frame(self) -> Frame:
        """The codes, mapped into memory and checked."""
        if not self._looked:
            self._refuse(j for j, made in enumerate(self._sums) if self._sum(j) != made)
            self._looked.append(True)
        return self.layout

    def measured(self, cut: Collection[str] = (), target: object = None) -> Frame:
        """Return the frame in which numbers are themselves, but for those to ``cut``; their values are checked.

        Beside them columns of several numbers are in order, but for the ``target``, whose levels are classes.
        """
        frame, stay = self.frame, {j: column for j, column in self.numbers.items() if self.layout.names[j] not in cut}
        if not stay:
            return frame
        self._refuse(j for j in stay if j in self._number_sums and self._sum_of_number(j) != self._number_sums[j])
        for j in stay:
            self._number_sums.pop(j, None)
        block_of, position, at = frame.block_of.copy(), frame.position.copy(), list(stay)
        block_of[at], position[at] = len(frame.blocks), 0
        blocks = (*frame.blocks, DenseColumns(np.zeros((1, frame.n_rows), np.uint8)))
        levels = tuple(() if j in stay else some for j, some in enumerate(frame.levels))
        return replace(
            frame,
            levels=levels,
            blocks=blocks,
            numbers=stay,
            ordered=frame.ordered.union(j for j in self._several if frame.names[j] != target),
            block_of=block_of,
            position=position,
            digests=dict(frame.digests),
        )

    def verify(self) -> Store:
        """Read all codes and compare their hashes with those stored when they were packed.

        Every store is checked when it is first used: each code has a level, and checksums are unchanged. This method
        also finds errors that checksums do not, such as exchanged columns.

        Returns
        -------
        Store
            This store.

        Raises
        ------
        EngineError
            If a column is damaged.
        """
        frame = self.frame
        known = [frame.digests[place] for place in zip(frame.block_of.tolist(), frame.position.tolist(), strict=True)]
        self._refuse(j for j, made in enumerate(known) if digest(frame.column(j)) != made)
        self._refuse(j for j, column in self.numbers.items() if digest(column.values) != column.digest())
        return self

    def _sum(self, j: int) -> int:
        """Return the checksum of a column; -1 if some code has no level."""
        codes, arity, made = self.layout.column(j), int(self.layout.widths[j]), 0
        for start in range(0, len(codes), PIECE):
            part = codes[start : start + PIECE]
            if not _within(part, arity):
                return -1
            made = checksum(made, part)
        return made

    def _sum_of_number(self, j: int) -> int:
        values = self.numbers[j].values
        return reduce(checksum, (values[at : at + PIECE] for at in range(0, len(values), PIECE)), 0)

    def _refuse(self, columns: Iterator[int]) -> None:
        if bad := [self.layout.names[j] for j in columns]:
            raise _damaged(self.path, f"the codes of {listed(bad)} are not those that were packed")

    def rows(self, start: int, stop: int, columns: Sequence[int] | None = None) -> Frame:
        """Return some rows, of all or of some columns, as a frame in memory."""
        frame = self.layout if columns is None else self.layout.select(columns)
        codes = [frame.column(j)[start:stop] for j in range(frame.n_columns)]
        for j, part in enumerate(codes):
            if not _within(part, int(frame.widths[j])):
                raise _damaged(self.path, f"{frame.names[j]!r} has codes beyond its levels")
        return Frame.from_columns(codes, frame.names, frame.levels, stop - start, frame.holes)


def _within(codes: Codes, arity: int) -> bool:
    """Tell whether every code has a level."""
    return not len(codes) or (0 <= int(codes.min()) and int(codes.max()) < arity)


def checksum(before: int, codes: Codes | NDArray[np.float64]) -> int:
    """Return a checksum that continues that of the rows before; fast, and any changed code changes it."""
    content = np.ascontiguousarray(codes).view(np.uint8)
    whole = len(content) // 4 * 4
    words = int(content[:whole].view(np.uint32).sum(dtype=np.uint64)) if whole else 0
    return (before * 1_000_003 + words + int.from_bytes(content[whole:].tobytes(), "little")) % ((1 << 61) - 1)


def _damaged(path: Path, what: str) -> EngineError:
    return EngineError(f"the store {str(path)!r} is damaged: {what}; pack the table again")


def _read_meta(folder: Path) -> _Meta:
    """Read and check the description of a store."""
    try:
        document = (folder / META).read_bytes()
        content = json.loads(document.decode("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{str(folder)!r} is not a store of packed codes: {error}") from error
    found = content if isinstance(content, dict) else {}
    if found.get("format") != FORMAT or found.get("schema") != SCHEMA:
        raise DataError(
            f"{str(folder)!r} was packed by another version (schema {found.get('schema')!r}, this one reads {SCHEMA}); "
            f"pack the table again"
        )
    if document != signed(document.rpartition(_SEAL)[0] + b"}"):
        raise _damaged(folder, f"{META!r} is not as it was written")
    del found["hash"]
    try:
        return read(_Meta, found)
    except ValueError as error:  # includes our own errors
        raise _damaged(folder, str(error).removeprefix("this is not a saved result: ")) from None


def signed(document: bytes) -> bytes:
    """Return a JSON object with the hash of its text added: one changed letter can make another valid name."""
    text = document[:-1]
    return text + _SEAL + hashlib.blake2b(text, digest_size=16).hexdigest().encode() + b'"}'


def _mapped(file: Path, shape: tuple[int, int], dtype: type[np.generic]) -> NDArray[Any]:
    """Map a file of codes into memory, as a private copy that nothing changes."""
    expected = shape[0] * shape[1] * np.dtype(dtype).itemsize
    try:
        size = file.stat().st_size if file.is_file() else -1
    except OSError:
        size = -1
    if size != expected:
        what = f"it lacks its file {file.name!r}" if size < 0 else f"{file.name!r} has {size:,} bytes, not {expected:,}"
        raise _damaged(file.parent, what)
    if not expected:
        return np.zeros(shape, dtype)
    # Copy on write: a read-only array would be another type for the kernels, which would be compiled again.
    return np.asarray(np.memmap(file, dtype, "c", shape=shape))


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
            with _locked(self._real.parent, shared=True):
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
            with _locked(self._real.parent):
                _sweep(self._real)
                self.folder = Path(tempfile.mkdtemp(".part", f".{self._real.name[:100]}.", self._real.parent))
                self._held = _hold(self.folder, "LOCK_EX", "LOCK_NB")  # locked during writing
            files = {kind: file for kind, file in _FILES.items() if kind is not np.float64 or self.number_at}
            self._files = {kind: open(self.folder / f, "w+b", 0, opener=_private) for kind, f in files.items()}
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for file in self._files.values():
            file.close()
        if self._held is not None:
            os.close(self._held)
        _remove(self.folder)  # does not exist if all went well

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

    def _number_described(self, column: int, name: str) -> dict[str, object]:
        """Return the description of a number's values."""
        at, made, total = self.number_at[column], hashlib.blake2b(digest_size=16), 0
        for _, values in self._read(np.float64, at):
            made.update(values.data)
            total = checksum(total, values)
        return {"name": name, "at": at, "digest": made.hexdigest(), "sum": total}

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
        holes: frozenset[int] = frozenset(),
        ordered: frozenset[int] = frozenset(),
        several: frozenset[int] = frozenset(),
    ) -> Store:
        """Write the description of the used ``columns``, and give the folder its final name."""
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
        meta = _Meta(
            format=FORMAT,
            schema=SCHEMA,
            n_rows=self.n_rows,
            n_narrow=int(np.count_nonzero(~self.is_wide)),
            n_wide=int(np.count_nonzero(self.is_wide)),
            columns=(),
            target=target,
            gaps="" if unlabeled is None else digest(unlabeled.astype(np.uint8)).hex(),
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
            if unlabeled is not None:
                self._write_file(MISSING_FILE, unlabeled.astype(np.uint8).tobytes())
            self._write_file(
                META, signed(json.dumps({**plain(meta), "columns": described, "numbers": numbers}).encode())
            )
            with _locked(self._real.parent):
                self._check_place()
                _replace(self._real, self.folder)
                return Store._opened(self.path)

    def _write_file(self, name: str, content: bytes) -> None:
        with open(self.folder / name, "wb", opener=_private) as file:
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


def _private(path: str, flags: int) -> int:
    """Open a file that only its owner may read."""
    return os.open(path, flags, 0o600)


@contextmanager
def _locked(folder: Path, *, shared: bool = False) -> Iterator[None]:
    """Lock a folder against other threads and processes: alone to replace a store, shared to read."""
    held = _hold(folder, "LOCK_SH" if shared else "LOCK_EX")
    try:
        yield
    finally:
        if held is not None:
            os.close(held)


def _hold(folder: Path, *kinds: str) -> int | None:
    """Lock a folder; return the file to close afterwards, or None if it is locked or locks are not available."""
    held = None
    try:
        import fcntl

        held = os.open(folder, os.O_RDONLY)
        fcntl.flock(held, sum(getattr(fcntl, kind) for kind in kinds))
    except (ImportError, OSError, ValueError):
        if held is not None:
            os.close(held)
        return None
    return held


def _replace(path: Path, made: Path) -> None:
    """Replace a store by a folder; if this is interrupted, either the old or the new one is left."""
    old = None
    if path.exists() and any(path.iterdir()):
        if _exchanged(path, made):
            return _remove(made)
        old = Path(tempfile.mkdtemp(".old", f".{path.name[:100]}.", path.parent))
        path.rename(old)
    made.rename(path)
    if old is not None:
        _remove(old)


def _exchanged(one: Path, other: Path) -> bool:
    """Exchange the names of two folders in one step, if the system can (Linux): there is always a store."""
    import ctypes

    try:
        exchange = ctypes.CDLL(None).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    here, both_ways = -100, ctypes.c_uint(2)  # AT_FDCWD, RENAME_EXCHANGE
    return bool(exchange(here, os.fsencode(one), here, os.fsencode(other), both_ways) == 0)


def _sweep(path: Path) -> None:
    """Remove what stopped writers have left, and restore a store that was about to be replaced."""
    for kind in (".old", ".part"):
        for left in path.parent.glob(f".{glob.escape(path.name[:100])}.*{kind}"):
            if kind == ".old" and not path.exists() and (left / META).is_file():
                left.rename(path)
            elif (held := _hold(left, "LOCK_EX", "LOCK_NB")) is not None:
                os.close(held)
                _remove(left)


def _remove(folder: Path) -> None:
    """Delete a store's files, and the folder if nothing else is in it."""
    with suppress(OSError):
        for name in OURS:
            (folder / name).unlink(missing_ok=True)
        folder.rmdir()
