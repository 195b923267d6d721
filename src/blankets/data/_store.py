"""`Store`: a frame on disk, as packed codes that are mapped into memory.

A store is a folder that only its owner may read::

    meta.json      names, levels, number of rows, how the table was read, hashes (also of itself)
    codes.u8       one byte per row, column after column
    codes.i32      the same for columns of more than 256 levels
    numbers.f64    the values of numbers that were cut without being asked to, beside their codes; only if some were
    unlabeled.u8   1 if the target of a row is missing; only if some are
    groups.i64     the group of each row, and
    survey.f64     its weight in a survey; only if that was said

A small store is read when it is opened. Of a large one the files are mapped, and counting works as in memory: the
system loads the pages that are needed and drops them when memory is short. A file may be cut off, damaged or changed,
and a code without a level would be counted outside of the table in memory. So sizes are checked when a store is opened,
codes when they are used for the first time, and mapped files before each question.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from blankets.arguments import path_of
from blankets.data._blocks import NARROW, DenseColumns, NumberColumn, digest
from blankets.data._columns import Mask
from blankets.data._data_report import DataReport
from blankets.data._encoder import Encoder
from blankets.data._folders import (
    GROUP_FILE,
    META,
    MISSING_FILE,
    NARROW_FILE,
    NUMBER_FILE,
    SURVEY_FILE,
    WIDE_FILE,
    locked,
)
from blankets.data._frame import Frame
from blankets.data._reading import OF_ROWS, Reading
from blankets.data._units import Units
from blankets.errors import DataError, EngineError, ParameterError, guarded, listed
from blankets.records import Bounds, Count, read, refuse, short
from blankets.voice import option

FORMAT, SCHEMA = "blankets store", 3
MOST_ROWS = (1 << 31) - 1  # counts are 32-bit numbers
FILES = {np.uint8: NARROW_FILE, np.int32: WIDE_FILE, np.float64: NUMBER_FILE}
_SEAL = b', "hash": "'
PIECE = 1 << 20  # rows whose codes are checked together
# Bytes of a file that is mapped: to read so many takes less than a tenth of a second, and a file that another program
# cuts off while it is mapped ends the process.
MAPPED = 1 << 26

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
class Meta:
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
    groups: str = ""  # hash of the groups of rows; empty if rows are independent draws
    survey: str = ""  # hash of the weights of a survey; empty if there are none
    units: Mapping[str, str] = field(default_factory=dict)  # the columns that said so, by the option
    options: str = "{}"  # the options of reading by which the table was packed, as JSON
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
    units : Units
        What rows stand for: their groups, and their weights in a survey.
    packed : dict
        The options of reading by which it was packed.
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
    units: Units
    packed: dict[str, Any]
    _sums: tuple[int, ...] = field(repr=False)
    numbers: dict[int, NumberColumn] = field(default_factory=dict, repr=False)
    _number_sums: dict[int, int] = field(default_factory=dict, repr=False)
    _several: frozenset[int] = field(default=frozenset(), repr=False)
    _looked: list[bool] = field(default_factory=list, repr=False)
    _files: list[_OpenFile] = field(default_factory=list, repr=False)  # those that are mapped

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r}, {self.layout.n_rows:,} rows, {self.layout.n_columns} columns)"

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return Store.open, (str(self.path),)

    @classmethod
    def open(cls, path: str | Path) -> Store:
        """Open a store that `pack` has made."""
        folder = path_of("path", path)
        with locked(Path(os.path.abspath(folder)).parent, shared=True):  # not while it is being replaced
            return cls._opened(folder)

    @classmethod
    def _opened(cls, folder: Path) -> Store:
        meta = _read_meta(folder)
        blocks: list[DenseColumns] = []
        number: dict[bool, int] = {}
        open_files: list[_OpenFile] = []
        files = ((False, NARROW_FILE, np.uint8, meta.n_narrow), (True, WIDE_FILE, np.int32, meta.n_wide))
        for wide, file, dtype, n in files:
            if n:
                number[wide] = len(blocks)
                blocks.append(DenseColumns(_mapped(folder / file, (n, meta.n_rows), dtype, open_files)))
        names = tuple(column["name"] for column in meta.columns)
        levels = tuple(tuple(column["levels"]) for column in meta.columns)
        block_of = np.array([number[column["wide"]] for column in meta.columns], np.int64)
        position = np.array([column["at"] for column in meta.columns], np.int64)
        marks = _of_rows(folder / MISSING_FILE, meta.n_rows, np.uint8, meta.gaps)
        groups = _of_rows(folder / GROUP_FILE, meta.n_rows, np.int64, meta.groups)
        units = Units(None, _of_rows(folder / SURVEY_FILE, meta.n_rows, np.float64, meta.survey), groups, meta.units)
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
            values = _mapped(folder / NUMBER_FILE, (meta.n_numbers, meta.n_rows), np.float64, open_files)
            for column in meta.numbers:
                j = frame.index(column["name"])
                numbers[j] = NumberColumn(values[column["at"]], [bytes.fromhex(column["digest"])])
                sums[j] = column["sum"]
        several = frozenset(frame.index(name) for name in meta.several)
        about = meta.report, encoder, meta.fingerprint, units, _options_of(meta, folder)
        return cls(folder, frame, meta.target, unlabeled, *about, made, numbers, sums, several, [], open_files)

    def read_as(self, reading: Reading) -> Reading:
        """Return how the table was read, with what a question asks beyond that; refuse what only packing can do."""
        asked = reading.said
        for which in asked:
            if asked[which] != self.packed.get(which) and not self._can(which, reading):
                packed = option(**{which: self.packed[which]}) if which in self.packed else f"no {option(which)}"
                raise ParameterError(
                    f"{option(which)} says how a table is read, and this one was read when it was packed, with "
                    f"{packed}; pack it again with the {option(which)} that you want"
                )
        kept = {name: value for name, value in self.packed.items() if name not in (*asked, *OF_ROWS)}
        return replace(reading, **kept)

    def _can(self, which: str, reading: Reading) -> bool:
        """Tell whether the question itself can do what an option says."""
        if which == "missing":
            return reading.missing == "weighted" or not self.report.missing
        if which == "keep":
            return set(reading.keep) <= set(self.layout.names)
        if which == "discretize" and "discretize" not in self.packed:
            rules = reading.discretize
            of_numbers = ("auto", "sturges", "none")
            if isinstance(rules, str):
                return rules in of_numbers
            numbers = {self.layout.names[j] for j in self.numbers}
            return all(name in numbers and rule in (*of_numbers, "number") for name, rule in rules.items())
        return which in ("columns", "exclude", "positive", "unlabeled_marker", *OF_ROWS)

    def remaining(self, reading: Reading) -> Reading:
        """Return what is left to do of `read_as`: columns to leave out, and what is said of rows now."""
        asked, gone = self.read_as(reading).said, {*self.report.left_out, *self.report.unusable}
        new = {name: getattr(reading, name) for name in asked if asked[name] != self.packed.get(name)}
        if "exclude" in new:
            new["exclude"] = tuple(name for name in reading.exclude if name not in gone)
        of_rows = {name: value for name, value in new.items() if name in ("columns", "exclude", *OF_ROWS)}
        return Reading(**of_rows)

    @property
    def frame(self) -> Frame:
        """The codes, mapped into memory and checked."""
        self._refuse_changes()
        if not self._looked:
            self._refuse(j for j, made in enumerate(self._sums) if self._sum(j) != made)
            self._looked.append(True)
        return self.layout

    def measured(self, cut: Collection[str] = (), target: object = None) -> Frame:
        """Return the frame in which numbers are themselves, but for those to ``cut``; their values are checked.

        Beside them columns of several numbers are in order, but for the ``target``, whose levels are classes.
        """
        frame, stay = self.frame, {j: column for j, column in self.numbers.items() if self.layout.names[j] not in cut}
        fractions = (level for j in self._several for level in frame.levels[j] if isinstance(level, float))
        several = self._several if stay or any(level % 1 for level in fractions) else frozenset()
        frame = replace(frame, ordered=frame.ordered.union(j for j in several if frame.names[j] != target))
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

    def _refuse_changes(self) -> None:
        """Refuse a store whose mapped files were written to since it was opened."""
        for each in self._files:
            if each.state() != each.before:
                raise _damaged(self.path, f"{each.name!r} has changed since it was opened")

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
        self._refuse_changes()
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


def _read_meta(folder: Path) -> Meta:
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
        return read(Meta, found)
    except ValueError as error:  # includes our own errors
        raise _damaged(folder, str(error).removeprefix("this is not a saved result: ")) from None


def signed(document: bytes) -> bytes:
    """Return a JSON object with the hash of its text added: one changed letter can make another valid name."""
    text = document[:-1]
    return text + _SEAL + hashlib.blake2b(text, digest_size=16).hexdigest().encode() + b'"}'


def _options_of(meta: Meta, folder: Path) -> dict[str, Any]:
    """Return the options by which a table was packed."""
    try:
        options = json.loads(meta.options)
        Reading(**{name: value for name, value in options.items() if name not in OF_ROWS})
    except (ValueError, TypeError, AttributeError) as error:
        raise _damaged(folder, str(error)) from None
    return dict(options)


def _of_rows(file: Path, n_rows: int, dtype: type[np.generic], made: str) -> NDArray[Any] | None:
    """Read one value for each row, with the hash that it had when it was written; None without one."""
    if not made:
        return None
    values: NDArray[Any] = _mapped(file, (1, n_rows), dtype, None)[0]
    if digest(values).hex() != made:
        raise _damaged(file.parent, f"what {file.name!r} says of rows has changed")
    return values


class _OpenFile:
    """A file that is mapped, also where its folder has been replaced since."""

    def __init__(self, path: Path) -> None:
        self.name, self.file = path.name, path.open("rb")
        self.before = self.state()

    def __del__(self) -> None:
        self.file.close()

    def state(self) -> tuple[int, int]:
        """Return its size and when it was last written."""
        now = os.fstat(self.file.fileno())
        return now.st_size, now.st_mtime_ns


def _mapped(
    file: Path, shape: tuple[int, int], dtype: type[np.generic], mapped: list[_OpenFile] | None
) -> NDArray[Any]:
    """Read a file of codes, or map a large one into memory, as a private copy that nothing changes."""
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
    try:
        if mapped is None or expected <= MAPPED:
            return np.fromfile(file, dtype, shape[0] * shape[1]).reshape(shape)
        mapped.append(_OpenFile(file))
        # Copy on write: kernels take arrays that may be written to.
        return np.asarray(np.memmap(mapped[-1].file, dtype, "c", shape=shape))
    except (OSError, ValueError) as error:
        raise _damaged(file.parent, f"{file.name!r} cannot be read ({error})") from error
