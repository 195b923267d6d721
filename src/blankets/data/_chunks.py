"""Read rows in chunks, several times if needed: files, folders and globs of CSV or Parquet.

Data that do not fit into memory are read more than once: to learn the levels, and to write the codes. Each
reading must give the same rows, so it is an error if a file changes or is removed in between.
"""

from __future__ import annotations

import glob
import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from blankets.data._columns import PLAIN, Categories, Column, Numbers, Refused
from blankets.data._dialect import PARQUET, PLAIN_TEXT, SEPARATORS, Dialect, FileWishes, dialect_of, wording_of
from blankets.data._file_errors import file_errors, no_file, reason
from blankets.data._files import (
    columns_of_parquet,
    csv_options,
    kind_of_file,
    large_whole_numbers,
    maybe_rounded,
    names_in_header,
    open_parquet,
)
from blankets.data._readers import from_arrow
from blankets.data._reading import DEFAULT, Reading
from blankets.data._tables import checked_names
from blankets.data._texts import Wording, understood
from blankets.errors import DataError, MissingPackageError, did_you_mean, listed

VALUES = 1 << 22  # values in one chunk: as 8-byte numbers they take 32 MiB
FEWEST_ROWS, MOST_ROWS = 1024, 1 << 17
CSV_BLOCK = 1 << 24  # bytes
LOOKS, LOOK_BYTES = 64, 1 << 16  # blocks of a file that are compared, to see whether it is unchanged
TEXT = (*SEPARATORS, *PLAIN_TEXT)

# The wider type of a CSV column if a value does not fit the type of the values before.
WIDER = {
    "null": "int64",
    "int64": "double",
    "uint64": "string",
    "double": "string",
    "bool": "string",
    "date32[day]": "timestamp[s]",
    "time32[s]": "string",
    "timestamp[s]": "timestamp[ns]",
    "timestamp[ns]": "string",
}


class ChangedTypes(Exception):
    """A later value does not fit the type of its column; reading must start again."""


class Chunks(ABC):
    """A table that is read chunk by chunk."""

    names: tuple[str, ...]  # the columns
    notes: tuple[str, ...] = ()  # what was recognized when it was opened, in sentences
    unordered: bool = False  # whether rows may come in another order each time

    @abstractmethod
    def chunks(self, columns: Sequence[str]) -> Iterator[Any]:
        """Yield the rows of some columns as Arrow tables or record batches."""

    @abstractmethod
    def identity(self) -> list[Any]:
        """Return what identifies these rows, as plain data: paths, sizes, times of change."""

    @abstractmethod
    def bytes_needed(self) -> int:
        """Estimate the memory needed to turn the whole table into a frame."""

    @contextmanager
    def settled(self, wishes: FileWishes) -> Iterator[Chunks]:
        """Yield chunks with the same order of rows each time; ``wishes``: what the user says of texts."""
        yield self

    def column(self, name: str, values: Any) -> Column:
        """Read some rows of a column; raise `ChangedTypes` if they show that rows before were misunderstood."""
        return from_arrow(values)

    def whole(self, name: str) -> Column:
        """Read one whole column."""
        while True:
            try:
                return self._whole(name)
            except ChangedTypes:
                continue

    def _whole(self, name: str) -> Column:
        import pyarrow as pa

        parts = [chunk.column(name) for chunk in self.chunks([name])]
        if not parts:
            return from_arrow(pa.nulls(0))
        arrays = [a for part in parts for a in (part.chunks if isinstance(part, pa.ChunkedArray) else [part])]
        kinds = {str(array.type): array.type for array in arrays if not pa.types.is_null(array.type)}
        if kinds:
            common = next(iter(kinds.values())) if len(kinds) == 1 else _common_type(list(kinds.values()))
            try:
                arrays = [array.cast(common) for array in arrays]
            except pa.ArrowInvalid:
                raise Refused(
                    f"is of type {common} in some of the files, and others hold numbers that do not fit in it"
                ) from None
        return self.column(name, pa.chunked_array(arrays))

    @property
    def rows_a_chunk(self) -> int:
        """Number of rows in one chunk; fewer if there are many columns."""
        return max(FEWEST_ROWS, min(MOST_ROWS, VALUES // max(1, len(self.names))))


def _common_type(kinds: list[Any]) -> Any:
    """Return the type that fits the values of all partitions, or refuse the column."""
    import pyarrow as pa

    inner = [kind.value_type if pa.types.is_dictionary(kind) else kind for kind in kinds]
    if all(pa.types.is_integer(kind) for kind in inner):
        return pa.uint64() if pa.uint64() in inner else pa.int64()
    if all(pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in inner):
        return pa.float64()
    if all(pa.types.is_string(kind) or pa.types.is_large_string(kind) for kind in inner):
        return pa.large_string()
    raise Refused(f"is of type {kinds[0]} in some of the files and {kinds[1]} in others")


class _Files(Chunks):
    """Several files with the same columns."""

    def __init__(self, paths: Sequence[Path], wishes: FileWishes | None = None) -> None:
        self.paths = tuple(paths)
        self.wishes = FileWishes() if wishes is None else wishes
        for path in self.paths:
            self.wishes.refuse_beside(kind_of_file(path), repr(str(path)))
        found = [self._columns_of(path) for path in self.paths]
        self.names = checked_names(tuple(found[0]))
        for path, names in zip(self.paths, found, strict=True):
            if set(names) != set(self.names):
                raise DataError(_other_columns(self.paths[0], self.names, path, names))

    @abstractmethod
    def _columns_of(self, path: Path) -> list[str]:
        """Return the columns of one file."""

    def identity(self) -> list[Any]:
        """Return path, size, time of change and a hash of some of the content of each file."""
        return [file_state(path) for path in self.paths]


def file_state(path: Path) -> list[Any]:
    """Return what identifies a file and shows changes; for a large file, only some blocks are read."""
    made = hashlib.blake2b(digest_size=16)
    with file_errors(path), path.open("rb") as file:
        state = os.fstat(file.fileno())
        for start in range(0, state.st_size, max(LOOK_BYTES, state.st_size // LOOKS)):
            file.seek(start)
            made.update(file.read(LOOK_BYTES))
        file.seek(max(0, state.st_size - LOOK_BYTES))
        made.update(file.read(LOOK_BYTES))
    return [str(path.absolute()), state.st_size, state.st_mtime_ns, state.st_ctime_ns, made.hexdigest()]


class ParquetChunks(_Files):
    """Parquet files, batch by batch of their row groups."""

    def column(self, name: str, values: Any) -> Column:
        """Read some rows of a column by its type, without the words that the user named for "missing"."""
        return understood(from_arrow(values), replace(self.wishes.wording, typed=True), texts_only=True)

    def _columns_of(self, path: Path) -> list[str]:
        return columns_of_parquet(open_parquet(path))

    def chunks(self, columns: Sequence[str]) -> Iterator[Any]:
        """Yield batches of rows of all files."""
        for path in self.paths:
            file = open_parquet(path)
            with file_errors(path):
                yield from file.iter_batches(self.rows_a_chunk, columns=list(columns))

    def bytes_needed(self) -> int:
        """One byte per value for the codes, and one column at a time as numbers, with copies."""
        n_rows = sum(open_parquet(path).metadata.num_rows for path in self.paths)
        return int(n_rows) * (len(self.names) + 32)


class CsvChunks(_Files):
    """CSV files, block by block; types are those of the first block, and widen if a later value needs it."""

    _wording: Wording

    def __init__(self, paths: Sequence[Path], wishes: FileWishes | None = None) -> None:
        self._written: dict[Path, dict[str, str]] = {}  # how each file writes the names of columns
        self._dialects: dict[Path, Dialect] = {}
        self._kinds: dict[str, str] = {}  # what texts of a column were read as: "text", or the kind of numbers
        self._types: dict[str, Any] = {}
        self._points: set[str] = set()  # columns of numbers with points, where commas were said to be decimal marks
        self._sure: set[tuple[Path, str]] = set()  # files and columns whose large numbers are no whole ones
        super().__init__(paths, wishes)

    def _columns_of(self, path: Path) -> list[str]:
        with file_errors(path):
            dialect = dialect_of(path, kind_of_file(path), self.wishes)
            self._dialects[path] = dialect
            if path == self.paths[0]:
                self.notes, self._wording = dialect.notes, wording_of(path, dialect, self.wishes)
            with self._reader(path, {}, None) as reader:
                names = names_in_header(reader.schema.names)
                self._written[path] = dict(zip(names, reader.schema.names, strict=True))
                return names

    def column(self, name: str, values: Any) -> Column:
        """Read some rows of a column: as numbers or dates if the rows before were that too, otherwise as texts."""
        texts, prefer = from_arrow(values), "." if name in self._points else self._wording.prefer
        wording = replace(self._wording, decimal=prefer)
        if self._kinds.get(name) == "text":
            return understood(texts, wording, texts_only=True)
        try:
            read = understood(texts, wording)
        except Refused:
            self._kinds[name] = "text"
            raise
        if read is texts and not isinstance(texts, Categories):
            return read
        if prefer == "," and isinstance(read, Categories) and read.levels:
            if isinstance(understood(texts, replace(wording, decimal=".")), Numbers):  # as `float` reads them
                self._points.add(name)
                raise ChangedTypes
        kind = read.origin.kind or ("text" if isinstance(read, Categories) and read.levels else "")
        if kind and self._kinds.setdefault(name, kind) != kind:
            self._kinds[name] = "text"
            raise ChangedTypes
        return replace(read, origin=PLAIN) if name in self._points and isinstance(read, Numbers) else read

    def chunks(self, columns: Sequence[str]) -> Iterator[Any]:
        """Yield blocks of rows of all files; raise `ChangedTypes` if a column has to be read again."""
        import pyarrow as pa

        for path in self.paths:
            try:
                with file_errors(path, but=pa.ArrowInvalid), self._reader(path, self._types, columns) as reader:
                    for name, kind in zip(columns, reader.schema.types, strict=True):
                        if self._types.setdefault(name, self._read_as(kind)) != kind:
                            raise ChangedTypes
                    for batch in reader:
                        named = batch.rename_columns(list(columns))
                        self._refuse_rounding(path, named)
                        yield named
            except pa.ArrowInvalid as error:
                self._widen(path, error)
                raise ChangedTypes from error

    def _read_as(self, kind: Any) -> Any:
        """Return the type by which a column is read: points may separate thousands where commas are decimal marks."""
        import pyarrow as pa

        return pa.string() if self._wording.prefer == "," and pa.types.is_floating(kind) else kind

    def _refuse_rounding(self, path: Path, batch: Any) -> None:
        """Have a column read anew whose whole numbers are too large for what pyarrow took them for."""
        import pyarrow as pa

        for name, values in zip(batch.schema.names, batch.columns, strict=True):
            if (path, name) in self._sure or not maybe_rounded(values):
                continue
            with file_errors(path), self._reader(path, {name: pa.string()}, [name]) as reader:
                large = [n for block in reader for n in large_whole_numbers(block.column(0).to_pylist())]
            if large:
                self._types[name] = pa.uint64() if 0 <= min(large) and max(large) < 2**64 else pa.string()
                raise ChangedTypes
            self._sure.add((path, name))

    def _reader(self, path: Path, types: Mapping[str, Any], columns: Sequence[str] | None) -> Any:
        from pyarrow import csv

        written = self._written.get(path, {})
        types = {written.get(name, name): kind for name, kind in types.items()}
        wanted = None if columns is None else [written.get(name, name) for name in columns]
        return csv.open_csv(path, **csv_options(self._dialects[path], CSV_BLOCK, types, wanted))

    def _widen(self, path: Path, error: Exception) -> None:
        """Give the column that the error is about a wider type."""
        import pyarrow as pa

        text = str(error)
        place = text.partition("In CSV column #")[2].partition(":")[0]
        if not place.isdigit() or "conversion error" not in text:
            raise DataError(f"{str(path)!r} cannot be read: {reason(error)}") from error
        name = self._columns_of(path)[int(place)]
        wider = WIDER.get(str(self._types.get(name)))
        if wider is None:
            raise DataError(f"{str(path)!r} cannot be read: {text.splitlines()[0]}") from error
        self._types[name] = pa.type_for_alias({"date32[day]": "date32"}.get(wider, wider))

    def bytes_needed(self) -> int:
        """Three times the size of the text: for an Arrow table, its copies and the codes."""
        return 3 * sum(path.stat().st_size for path in self.paths)


def _other_columns(first: Path, names: Sequence[str], path: Path, got: Sequence[str]) -> str:
    """Say how the columns of two files differ."""
    lacking, new = [n for n in names if n not in got], [n for n in got if n not in names]
    parts = [f"lacks {listed(lacking)}"] * bool(lacking) + [f"also has {listed(new)}"] * bool(new)
    return f"files of one table have the same columns, but {str(path)!r} {' and '.join(parts)}, unlike {str(first)!r}"


def files_of(source: str | Path | Sequence[str | Path]) -> list[Path]:
    """Return the data files of a path, a folder, a glob or a list of these, in sorted order."""
    if isinstance(source, str | Path):
        path = Path(source)
        with file_errors(path):
            is_file, is_folder = path.is_file(), path.is_dir()
        if is_file:
            return [path]
        if is_folder:
            known = sorted(p for p in path.rglob("*") if p.is_file() and kind_of_file(p) in (*PARQUET, *TEXT))
            shown = [p for p in known if not any(part.startswith((".", "_")) for part in p.relative_to(path).parts)]
            if not shown:
                raise DataError(f"the folder {str(path)!r} has no CSV or Parquet files")
            folders = {part for p in shown for part in p.relative_to(path).parts[:-1]}
            if named := sorted({part.partition("=")[0] for part in folders if "=" in part}):
                raise DataError(
                    f"the folders within {str(path)!r} hold values of {listed(named)} in their names, not read here; "
                    f"write such columns into the files, or give bl.SqlTable(\"SELECT * FROM read_parquet('...', "
                    f'hive_partitioning = true)")'
                )
            return shown
        if glob.has_magic(str(source)):
            matched = sorted(Path(name) for name in glob.glob(str(source), recursive=True))
            if not matched:
                raise DataError(f"no file matches {str(source)!r}")
            return [file for name in matched for file in files_of(name)]
        raise DataError(no_file(path))
    files = [file for each in source for file in files_of(each)]
    if not files:
        raise DataError("the list of files is empty")
    return files


def open_chunks(source: str | Path | Sequence[str | Path], reading: Reading = DEFAULT) -> Chunks:
    """Open files for reading in chunks."""
    paths = files_of(source)
    kinds = {kind_of_file(path) for path in paths}
    if kinds <= set(PARQUET):
        return ParquetChunks(paths, reading.of_files)
    odd = [] if reading.separator else sorted(kinds - {*TEXT, *PARQUET})
    if odd or kinds & set(PARQUET):
        what = f"{odd[0]!r}{did_you_mean(odd[0], [*PARQUET, *TEXT])}" if odd else "a mixture of CSV and Parquet"
        instead = "; give another file as blankets.data.read_table(path)" if odd else ""
        raise DataError(
            f"files to be read in chunks are all CSV (.csv, .tsv) or all Parquet (.parquet), not {what}{instead}"
        )
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise MissingPackageError.needed_for("reading files in chunks", "pyarrow", "arrow") from None
    return CsvChunks(paths, reading.of_files)
