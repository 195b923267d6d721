"""How a text file is written: encoding and separator, as the user says or as its first lines show."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from blankets.data._texts import UNTYPED, Wording, decimal_mark
from blankets.errors import DataError, ParameterError
from blankets.voice import option

SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
PLAIN_TEXT = (".txt", ".dat", ".asc", ".data", ".text")  # the separator is to be found
PARQUET, FEATHER = (".parquet", ".pq"), (".feather", ".arrow", ".ipc")
EXCEL, STATISTICS = (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods"), (".sav", ".zsav", ".por", ".dta", ".sas7bdat", ".xpt")
CALLED = {";": "semicolons", "\t": "tabs", "|": "bars", ",": "commas"}
WINDOWS = "cp1252"
_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
LONGEST_HEADER = 1 << 24  # characters
SAMPLE = 1 << 14  # fields in which decimal marks are looked for
LINES, LONGEST_LINE = 50, 1 << 16  # lines that are compared, and their characters


_OTHER_FILES = {  # how they begin, what they are, and what to do
    b"PK\x03\x04": "is an Excel file or a zip archive, not text; give it the ending .xlsx, or unpack it",
    b"\xd0\xcf\x11\xe0": "is a file of Excel, not text; give it the ending .xls",
    b"\x1f\x8b": "is compressed; give it the ending .gz",
    b"PAR1": "is a Parquet file, not text; give it the ending .parquet",
    b"%PDF": "is a PDF file, not text; save the table as a CSV file",
}
_PAGE = "is a page of the web (HTML), not a table; download the file itself"


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a text file is written."""

    separator: str  # the character between fields
    width: int  # characters of the header: for pyarrow each row must fit into a block
    encoding: str = "utf-8-sig"
    notes: tuple[str, ...] = ()  # what was recognized, in sentences


@dataclass(frozen=True, slots=True)
class FileWishes:
    """What the user says about a file."""

    separator: str | None = None
    encoding: str | None = None
    sheet: str | int | None = None
    wording: Wording = UNTYPED

    def refuse_beside(self, kind: str, what: str) -> None:
        """Refuse options that say nothing of files of this kind, ``what`` of them."""
        if self.sheet is not None and kind not in EXCEL:
            raise ParameterError(f"{option('sheet')} is for Excel files, but {what} is none; leave it out")
        if self.encoding is not None and kind in (*PARQUET, *FEATHER, *EXCEL):
            raise ParameterError(f"{option('encoding')} is for text files, but {what} is none; leave it out")
        if self.separator is not None and kind in PARQUET:
            raise ParameterError(f"{option('separator')} is for text files, but {what} is none; leave it out")

    def named(self) -> str | None:
        """Return the first option that only files have, if one is given."""
        return next((name for name in ("separator", "encoding", "sheet") if getattr(self, name) is not None), None)


def checked_encoding(encoding: str) -> str:
    """Return the name of an encoding that Python knows.

    >>> checked_encoding("Latin-1")
    'Latin-1'
    """
    try:
        codecs.lookup(encoding)
    except (LookupError, TypeError, ValueError):
        raise ParameterError.out_of_range(
            "encoding", encoding, "the name of an encoding, such as 'utf-8', 'cp1252' or 'utf-16'"
        ) from None
    return encoding


def opened(path: Path) -> gzip.GzipFile | io.BufferedReader:
    """Open a file, compressed or not."""
    return gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb")


def opened_text(path: Path, encoding: str) -> io.TextIOWrapper:
    """Open a text file, compressed or not; a byte order mark is skipped."""
    encoding = "utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding
    return io.TextIOWrapper(opened(path), encoding=encoding, newline="")


def dialect_of(path: Path, kind: str, wishes: FileWishes) -> Dialect:
    """Look at the first lines of a text file; refuse it if it has no header."""
    encoding = wishes.encoding or _encoding(path)
    with opened_text(path, encoding) as file:
        header = file.readline(LONGEST_HEADER)
        lines = list(islice(_lines(file, len(header)), LINES)) if len(header) < LONGEST_HEADER else []
    if len(header) == LONGEST_HEADER:
        raise DataError(
            f"{str(path)!r} has no line break in its first {LONGEST_HEADER:,} characters, so it does not begin with a "
            f"line of column names; it may not be a CSV file"
        )
    if header.lstrip().lower().startswith(("<!doctype html", "<html")):
        raise DataError(f"{str(path)!r} {_PAGE}")
    if not header.strip():
        raise DataError(f"{str(path)!r} is empty or does not begin with a line of column names")
    notes: tuple[str, ...] = (_encoding_note(encoding),) if wishes.encoding is None and encoding == WINDOWS else ()
    if wishes.separator is not None:
        return Dialect(wishes.separator, len(header), encoding, notes)
    expected = SEPARATORS.get(kind)
    found = _separator(header, lines, expected)
    if found is None:
        raise DataError(
            f"{str(path)!r} has one column only, or its fields are separated by something else than commas, "
            f"semicolons, tabs or bars; name it with {option(separator='...')}"
        )
    if found != expected:
        notes += (f"Fields are separated by {CALLED[found]}.",)
    _check_one_column(path, header, found)
    return Dialect(found, len(header), encoding, notes)


def _lines(file: io.TextIOWrapper, header: int) -> Iterator[str]:
    """Yield the lines that are not empty, until one is much longer than the header."""
    longest = max(LONGEST_LINE, 4 * header)
    while (line := file.readline(longest)) and len(line) < longest:
        if line.strip():
            yield line


def in_windows(path: Path, dialect: Dialect) -> Dialect:
    """Return a dialect in the encoding of Windows for a file that is not UTF-8, or refuse it."""
    with opened(path) as file:
        while block := file.read(1 << 20):
            _check_windows(path, block)
    return replace(dialect, encoding=WINDOWS, notes=(_encoding_note(WINDOWS), *dialect.notes))


def _check_windows(path: Path, block: bytes) -> None:
    """Refuse bytes that no text of Windows has."""
    try:
        text = block.decode(WINDOWS)
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise DataError(f"{str(path)!r} {not_text()}")


def wording_of(path: Path, dialect: Dialect, wishes: FileWishes) -> Wording:
    """Return how the texts of a file are understood, with the decimal mark that its first rows suggest."""
    wording = wishes.wording
    if wording.decimal is not None:
        return replace(wording, prefer=wording.decimal)
    try:
        with opened_text(path, dialect.encoding) as file:
            rows = csv.reader(_lines(file, dialect.width), delimiter=dialect.separator)
            wanted = max(2, SAMPLE // max(len(next(rows)), 1))
            columns = zip(*islice(rows, wanted), strict=False)
            return replace(wording, prefer=decimal_mark(columns, dialect.separator))
    except (UnicodeDecodeError, csv.Error):  # reading the whole file will tell
        return wording


def _encoding_note(encoding: str) -> str:
    return f"The text is not UTF-8 and was read as Windows-1252 ({encoding}); {option(encoding='...')} names another."


def _encoding(path: Path) -> str:
    """Return the encoding that the first bytes of a file show."""
    with opened(path) as file:
        start = file.read(LONGEST_LINE)
    for mark, what in _OTHER_FILES.items():
        if start.startswith(mark):
            raise DataError(f"{str(path)!r} {what}")
    for mark, encoding in _MARKS.items():
        if start.startswith(mark):
            return encoding
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        _check_windows(path, start)
        return WINDOWS
    return "utf-8-sig"


def _separator(header: str, lines: list[str], expected: str | None) -> str | None:
    """Return the separator with which all lines have as many fields as the header, at least two."""
    n_fields = {expected: _n_fields([header, *lines], expected)} if expected else {}
    if expected is None or n_fields[expected] < 2:
        n_fields |= {mark: _n_fields([header, *lines], mark) for mark in CALLED}
    best = max(n_fields, key=n_fields.__getitem__)
    return best if n_fields[best] > 1 else expected


def _n_fields(lines: list[str], separator: str) -> int:
    """Return the number of fields that all lines have, or the first of them if they are long; 0 if they differ."""
    try:
        rows = csv.reader(lines, delimiter=separator)
        width = len(next(rows))
        counts = {width, *(len(row) for row in islice(rows, max(2, SAMPLE // width)) if row)}
    except csv.Error:
        return 0
    return counts.pop() if len(counts) == 1 else 0


def _check_one_column(path: Path, header: str, separator: str) -> None:
    """Refuse a file with one field in its header, if that seems to be several with another separator."""
    for other, called in CALLED.items():
        if other in header and separator not in header:
            raise DataError(
                f"{str(path)!r} has one column only, and its name contains {called}: its fields seem to be separated "
                f"by {other!r}, not {separator!r}; say {option(separator=other)}"
            )


def not_text() -> str:
    """Say what a file that is no text needs."""
    return f"is not UTF-8 text; save it as UTF-8, or name its encoding with {option(encoding='...')}"
