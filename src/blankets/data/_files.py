"""Tables from files: CSV, TSV (also compressed with gzip) and Parquet.

CSV files are read by pyarrow if it is installed, otherwise by the standard library; both treat missing
values, booleans and dates in the same way. Parquet columns are read one by one when they are needed.
"""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import re
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from blankets.data._columns import Categories, Column, Numbers, Refused
from blankets.data._readers import DATES, as_objects, from_arrow, from_objects
from blankets.data._tables import Table, table_of
from blankets.errors import DataError, MissingPackageError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "<NA>", "#N/A")
TRUE, FALSE = ("true", "True", "TRUE"), ("false", "False", "FALSE")
SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_READING = (OSError, EOFError, csv.Error, zlib.error, ValueError)  # and Arrow's errors, which are of many kinds
LONGEST_HEADER = 1 << 24  # characters
OTHER_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars", ",": "commas"}


def read_table(path: str | Path, *, separator: str | None = None) -> Table:
    r"""Open a CSV, TSV or Parquet file as a table for `ingest`.

    In CSV files the first line has the column names; empty fields, ``NA``, ``N/A``, ``NaN``, ``null``,
    ``<NA>`` and ``#N/A`` are missing values; columns whose every value is a number, or true/false,
    are read as such; ISO dates are recognized (and then refused by `ingest`, with advice).

    ``path``: ends in .csv, .tsv, .tab, each also with .gz, or in .parquet or .pq. With ``separator`` any text file
    works. ``separator``: the character between fields; default by the file name.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "clinic.txt"
    ...     _ = path.write_text("age;smoker\n61;yes\n38;no\n")
    ...     read_table(path, separator=";").names
    ('age', 'smoker')
    """
    path = Path(path)
    check_file(path)
    kind = kind_of_file(path)
    if kind in (".parquet", ".pq") and separator is None:
        return _read_parquet(path)
    expected = SEPARATORS.get(kind) if separator is None else separator
    if expected is None:
        raise DataError(
            f"cannot tell what {str(path)!r} is; files end in .csv, .tsv (or .csv.gz, .tsv.gz) or .parquet. "
            f"Another text file opens with blankets.data.read_table(path, separator=...)"
        )
    width = check_header(path, expected, sure=separator is not None)
    return _read_csv_fast(path, expected, width) if find_spec("pyarrow") else _read_csv_plain(path, expected)


def kind_of_file(path: Path) -> str:
    """Return the ending of a file's name that gives its format, in lower case, without the ending of compression.

    >>> kind_of_file(Path("Patients.CSV.gz"))
    '.csv'
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    plain = suffixes[-2:-1] if suffixes[-1:] == [".gz"] else suffixes[-1:]
    return plain[0] if plain else ""


def check_file(path: Path, what: str = "file") -> None:
    """Refuse a path that is not a plain file; reading a pipe, for example, could wait forever."""
    with file_errors(path):
        if not path.is_file():
            raise DataError(no_file(path, what))


def no_file(path: Path, what: str = "file") -> str:
    """Say that there is no such file, and suggest a similar name."""
    if path.exists() and not path.is_dir():
        return f"{str(path)!r} is a pipe or a device, not a file; save its content as one"
    if path.is_dir():
        return f"{str(path)!r} is a folder; give the path of one CSV or Parquet file, or pack them with bl.pack"
    near = [p.name for p in islice(path.parent.iterdir(), 1000)] if path.parent.is_dir() else []
    return f"there is no {what} {str(path)!r}{did_you_mean(path.name, near)}"


def _open_text(path: Path) -> io.TextIOBase:
    """Open a text file, compressed or not; a byte order mark is skipped."""
    opened = gzip.open if path.suffix.lower() == ".gz" else open
    return opened(path, "rt", encoding="utf-8-sig", newline="")


@contextmanager
def file_errors(path: Path, but: type[Exception] | tuple[()] = ()) -> Iterator[None]:
    """Turn errors of reading into a `DataError` that names the file, except errors ``but``."""
    try:
        yield
    except but:
        raise
    except FileNotFoundError as error:
        raise DataError(no_file(path)) from error
    except UnicodeDecodeError as error:
        raise DataError(f"{str(path)!r} is not UTF-8 text (byte {error.start} of a block); save it as UTF-8") from error
    except Exception as error:
        known = isinstance(error, _READING) or type(error).__module__.startswith("pyarrow")
        if isinstance(error, DataError | MemoryError) or not known:
            raise
        raise DataError(f"{str(path)!r} cannot be read: {reason(error)}") from error


def reason(error: Exception) -> str:
    """Return what went wrong: the reader's own message if it can be understood."""
    said = str(error).splitlines()[0] if str(error) else type(error).__name__
    if "straddl" in said:  # a row did not end within a block of a megabyte or more
        return (
            "a row is longer than one million characters: a quotation mark may have been left open, or a column holds "
            "long texts, which no test can use; correct the file, or write it without that column"
        )
    return said


def check_header(path: Path, separator: str, *, sure: bool) -> int:
    """Refuse a file without a header, or with the wrong separator (one field; several with another separator).

    Returns the length of the header: for pyarrow each row must fit into a block.
    """
    with file_errors(path), _open_text(path) as file:
        header = file.readline(LONGEST_HEADER)
    if len(header) == LONGEST_HEADER:
        raise DataError(
            f"{str(path)!r} has no line break in its first {LONGEST_HEADER:,} characters, so it does not begin with a "
            f"line of column names; it may not be a CSV file"
        )
    if not header.strip():
        raise DataError(f"{str(path)!r} is empty or does not begin with a line of column names")
    for other, called in OTHER_SEPARATORS.items():
        if other in header and not sure and separator not in header:
            raise DataError(
                f"{str(path)!r} has one column only, and its name contains {called}: its fields seem to be separated "
                f"by {other!r}, not {separator!r}; open it with blankets.data.read_table(path, separator={other!r})"
            )
    return len(header)


def csv_options(
    separator: str, block: int, types: Mapping[str, Any] | None = None, columns: Sequence[str] | None = None
) -> dict[str, Any]:
    """Return pyarrow's options for CSV: size of blocks in bytes, types, and which columns."""
    from pyarrow import csv as arrow_csv

    return {
        "read_options": arrow_csv.ReadOptions(block_size=block),
        "parse_options": arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=True),
        "convert_options": arrow_csv.ConvertOptions(
            null_values=list(MISSING),
            strings_can_be_null=True,
            true_values=list(TRUE),
            false_values=list(FALSE),
            column_types=types,
            include_columns=None if columns is None else list(columns),
        ),
    }


def _read_csv_fast(path: Path, separator: str, width: int) -> Table:
    """Read a CSV file with pyarrow."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    with file_errors(path):
        table = arrow_csv.read_csv(path, **csv_options(separator, max(2**20, 16 * width)))
    if any(str(kind) == "binary" for kind in table.schema.types):
        raise DataError(f"{str(path)!r} is not UTF-8 text; save it as UTF-8")

    def column(j: int) -> Column:
        values = table.column(j)
        if not maybe_rounded(values):
            return from_arrow(values)
        with file_errors(path):
            text = csv_options(separator, max(2**20, 16 * width), {table.column_names[j]: pa.string()})
            fields = arrow_csv.read_csv(path, **text).column(j).to_pylist()
        return _exactly(fields) if large_whole_numbers(fields) else from_arrow(values)

    return table_of(table.column_names, table.num_rows, column)


def maybe_rounded(values: Any) -> bool:
    """Tell whether numbers of a CSV column as pyarrow reads them may stand for whole ones too large to be held."""
    from pyarrow import compute

    if str(values.type) != "double":
        return False
    ends = compute.min_max(values).as_py().values()  # None, where there is no number
    return any(end is not None and abs(end) >= LARGE for end in ends)


def large_whole_numbers(fields: Iterable[str | None]) -> list[int]:
    """Return the whole numbers among the fields of a column that floating-point numbers may not hold.

    >>> large_whole_numbers(["1e30", "9223372036854775809", None, "12"])
    [9223372036854775809]
    """
    return [int(field) for field in fields if field and _WHOLE.fullmatch(field) and abs(int(field)) > LARGE]


def _exactly(fields: Iterable[str | None]) -> Column:
    """Read the fields of a column of numbers some of which are too large to be held."""
    return from_objects(as_objects(None if f is None else int(f) if _WHOLE.fullmatch(f) else float(f) for f in fields))


def _read_csv_plain(path: Path, separator: str) -> Table:
    """Read a CSV file with the standard library."""
    with file_errors(path), _open_text(path) as file:
        rows = csv.reader(file, delimiter=separator)
        header = next(rows)
        columns: list[list[str]] = [[] for _ in header]
        add = [column.append for column in columns]
        for row in rows:
            if len(row) != len(header):
                if not row:  # an empty line
                    continue
                fields = f"line {rows.line_num} has {len(row)} fields, the header {len(header)}"
                raise DataError(f"{str(path)!r} cannot be read: {fields}")
            for append, field in zip(add, row, strict=True):
                append(field)
    return table_of(header, len(columns[0]), lambda j: from_fields(columns[j]))


def from_fields(fields: list[str]) -> Column:
    """Read the fields of one CSV column as integers, numbers, booleans or text, in this order of preference."""
    gaps = frozenset(MISSING)
    missing = np.fromiter((field in gaps for field in fields), bool, len(fields))
    mask = missing if missing.any() else None
    values = {field for field in fields if field not in gaps}
    if not values:
        return Categories(np.zeros(len(fields), np.uint8), (), mask)
    if not any("_" in value for value in values):  # only Python reads 1_000 as a number
        for convert, dtype in ((int, np.int64), (float, np.float64)):
            if _all_are(values, convert):
                if max(map(len, values)) > 15 and large_whole_numbers(values):
                    return _exactly(None if gap else f for f, gap in zip(fields, missing.tolist(), strict=True))
                filled = ["0" if gap else field for field, gap in zip(fields, missing.tolist(), strict=True)]
                try:
                    return Numbers(np.array(list(map(convert, filled)), dtype=dtype), mask)
                except OverflowError:
                    continue
    if values <= {*TRUE, *FALSE}:
        return Categories(np.fromiter((field in TRUE for field in fields), np.uint8, len(fields)), (False, True), mask)
    if all("-" in v or ":" in v for v in values) and any(_all_are(values, to) for to in DATE_FORMATS):
        raise Refused(f"holds dates or times{DATES}")
    return from_objects(as_objects(None if gap else f for f, gap in zip(fields, missing.tolist(), strict=True)))


LARGE = 2**53  # beyond it, floating-point numbers do not tell all whole numbers apart
_WHOLE = re.compile(r"\s*[+-]?[0-9]{1,300}\s*")
DATE_FORMATS: tuple[Callable[[str], Any], ...] = (datetime.datetime.fromisoformat, datetime.time.fromisoformat)


def _all_are(values: set[str], convert: Callable[[str], Any]) -> bool:
    """Tell whether ``convert`` accepts every value."""
    try:
        for value in values:
            convert(value)
    except ValueError:
        return False
    return True


def open_parquet(path: Path) -> Any:
    """Open a Parquet file."""
    try:
        from pyarrow import parquet
    except ImportError:
        raise MissingPackageError.needed_for("reading Parquet", "pyarrow", "arrow") from None
    with file_errors(path):
        return parquet.ParquetFile(path)


def columns_of_parquet(file: Any) -> list[str]:
    """Return the names of the columns, without the row index that pandas stores as a column."""
    schema = file.schema_arrow
    try:
        index = {name for name in (schema.pandas_metadata or {}).get("index_columns", ()) if isinstance(name, str)}
    except (ValueError, AttributeError, TypeError) as error:  # not JSON, or another document
        raise DataError(f"the Parquet file is damaged where pandas describes its columns: {error}") from error
    return [name for name in schema.names if name not in index]


def _read_parquet(path: Path) -> Table:
    """Open a Parquet file; its columns are read one by one."""
    file = open_parquet(path)
    columns = columns_of_parquet(file)

    def read(j: int) -> Column:
        with file_errors(path):
            part = file.read(columns=[columns[j]])
        if part.num_rows != file.metadata.num_rows:
            raise DataError(
                f"{str(path)!r} is damaged: column {columns[j]!r} has {part.num_rows} rows, the file says "
                f"{file.metadata.num_rows}"
            )
        return from_arrow(part.column(columns[j]))

    return table_of(columns, file.metadata.num_rows, read)
