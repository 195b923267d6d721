"""Tables from files: text (CSV, TSV, also compressed with gzip), Parquet and Feather; `_foreign` reads the others.

Text files are read by pyarrow if it is installed, otherwise by the standard library; both treat missing values,
booleans and dates in the same way. What has no type there is understood by `_texts`. Parquet columns are read one by
one when they are needed.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from blankets.data._columns import Categories, Column, Numbers, Refused, mask_of, sorted_categories
from blankets.data._dialect import (
    EXCEL,
    FEATHER,
    PARQUET,
    PLAIN_TEXT,
    SEPARATORS,
    STATISTICS,
    Dialect,
    FileWishes,
    dialect_of,
    in_windows,
    opened_text,
    wording_of,
)
from blankets.data._file_errors import check_file, file_errors
from blankets.data._objects import as_objects, from_objects
from blankets.data._readers import from_arrow
from blankets.data._tables import Table, table_of
from blankets.data._texts import BLANK, LARGE, Wording, numbers_in, understood
from blankets.errors import DataError, MissingPackageError
from blankets.voice import option

if TYPE_CHECKING:
    pass

TRUE, FALSE = ("true", "True", "TRUE"), ("false", "False", "FALSE")
SMALL = 2**20  # bytes of a text file; reading them takes less time than loading pyarrow
OF_R = (".rds", ".rdata", ".rda")
MENDED_ARROW = 24  # the version of pyarrow from which its reader of CSV does not wait for itself
R_FILES = (
    "{!r} is a file of R; write the table there as another file, with arrow::write_parquet(data, 'table.parquet') or "
    "write.csv(data, 'table.csv', row.names = FALSE)"
)


def read_table(
    path: str | Path,
    *,
    separator: str | None = None,
    decimal: Literal[".", ","] | None = None,
    date_order: Literal["dmy", "mdy"] | None = None,
    encoding: str | None = None,
    na: Iterable[str] | None = None,
    sheet: str | int | None = None,
) -> Table:
    r"""Open a file as a table, which every function takes in place of the path.

    Text files (.csv, .tsv, .txt, also with .gz) begin with a line of column names. Separator, decimal commas and the
    encodings UTF-8, UTF-16 and Windows-1252 are recognized. Columns whose every value is a number, a date or true/false
    are read as such. Excel (.xlsx, .xls, .ods), Parquet, Feather, SPSS (.sav), Stata (.dta) and SAS (.sas7bdat, .xpt)
    are read by their types; value labels become levels.

    Parameters
    ----------
    path : str or Path
        The file; with ``separator`` any text file works.
    separator, decimal, date_order, encoding, na, sheet
        As in `blankets.Reading`.

    Returns
    -------
    Table
        ``names`` has its columns; any function takes it in place of the data.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from blankets.data import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "clinic.csv"
    ...     _ = path.write_text("age;dose\n61;1,5\n38;0,25\n")
    ...     table = read_table(path)
    >>> table.names, table.read(1).values.tolist()
    (('age', 'dose'), [1.5, 0.25])
    """
    from blankets.data._reading import Reading

    said = {"separator": separator, "decimal": decimal, "date_order": date_order}
    wishes = Reading(**said, encoding=encoding, na=na, sheet=sheet).of_files  # type: ignore[arg-type]
    return open_file(Path(path), wishes)


def open_file(path: Path, wishes: FileWishes) -> Table:
    """Open a file by the ending of its name."""
    check_file(path)
    kind = kind_of_file(path)
    wishes.refuse_beside(kind, repr(str(path)))
    if wishes.separator is None:
        if kind in PARQUET:
            return _read_parquet(path, wishes)
        if kind in FEATHER:
            return _read_feather(path, wishes)
        if kind in (*EXCEL, *STATISTICS):
            from blankets.data._foreign import read_excel, read_statistics

            read = read_excel if kind in EXCEL else read_statistics
            with file_errors(path):
                return read(path, kind, wishes)
        if kind in OF_R:
            raise DataError(R_FILES.format(str(path)))
        if kind not in (*SEPARATORS, *PLAIN_TEXT):
            raise DataError(_unknown().format(str(path)))
    with file_errors(path):
        dialect = dialect_of(path, kind, wishes)
    # A small file is read before pyarrow, which takes a tenth of a second to load, would have begun.
    large = path.suffix.lower() == ".gz" or path.stat().st_size > SMALL
    parsed = _read_csv_fast if large and find_spec("pyarrow") else _read_csv_plain
    try:
        return parsed(path, dialect, wishes)
    except _OtherEncodingError:
        if wishes.encoding is not None:
            raise DataError(f"{str(path)!r} is not text in the encoding {wishes.encoding!r}") from None
        with file_errors(path):
            dialect = in_windows(path, dialect)
        return parsed(path, dialect, wishes)


class _OtherEncodingError(Exception):
    """A text is not in the encoding that its beginning showed."""


def kind_of_file(path: Path) -> str:
    """Return the ending of a file's name that gives its format, in lower case, without the ending of compression.

    >>> kind_of_file(Path("Patients.CSV.gz"))
    '.csv'
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    plain = suffixes[-2:-1] if suffixes[-1:] == [".gz"] else suffixes[-1:]
    return plain[0] if plain else ""


def csv_options(
    dialect: Dialect, block: int, types: Mapping[str, Any] | None = None, columns: Sequence[str] | None = None
) -> dict[str, Any]:
    """Return pyarrow's options for CSV: smallest size of blocks in bytes, types, and which columns."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    encoding = "utf8" if dialect.encoding == "utf-8-sig" else dialect.encoding
    # With threads, older ones may wait forever after an error in the file (issue 48741 of apache/arrow).
    threads = int(pa.__version__.partition(".")[0]) >= MENDED_ARROW
    size = max(block, 16 * dialect.width)
    return {
        "read_options": arrow_csv.ReadOptions(block_size=size, encoding=encoding, use_threads=threads),
        "parse_options": arrow_csv.ParseOptions(delimiter=dialect.separator, newlines_in_values=True),
        "convert_options": arrow_csv.ConvertOptions(
            null_values=list(BLANK),
            strings_can_be_null=True,
            true_values=list(TRUE),
            false_values=list(FALSE),
            column_types=types,
            include_columns=None if columns is None else list(columns),
        ),
    }


def _read_csv_fast(path: Path, dialect: Dialect, wishes: FileWishes) -> Table:
    """Read a text file with pyarrow."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    with file_errors(path, but=UnicodeDecodeError):
        try:
            table = arrow_csv.read_csv(path, **csv_options(dialect, 2**20))
        except UnicodeDecodeError:
            raise _OtherEncodingError from None
    if any(pa.types.is_binary(kind) for kind in table.schema.types):
        raise _OtherEncodingError
    wording = wording_of(path, dialect, wishes)

    def fields(j: int) -> list[str | None]:
        with file_errors(path):
            as_text = csv_options(dialect, 2**20, {table.column_names[j]: pa.string()})
            read: list[str | None] = arrow_csv.read_csv(path, **as_text).column(j).to_pylist()
        return read

    def column(j: int) -> Column:
        values = table.column(j)
        if str(values.type) == "double" and (wording.prefer == "," or maybe_rounded(values)):
            found = _reread(fields(j), wording)
            return understood(from_arrow(values) if found is None else found, wording)
        return understood(from_arrow(values), wording)

    return replace(table_of(names_in_header(table.column_names), table.num_rows, column), notes=dialect.notes)


def names_in_header(header: Sequence[str]) -> list[str]:
    """Return the column names without blanks around them, unless only these tell names apart.

    >>> names_in_header([" age", "dose "]), names_in_header(["a", "a "])
    (['age', 'dose'], ['a', 'a '])
    """
    names = [name.strip() for name in header]
    return names if len(set(names)) == len(names) else list(header)


def _reread(fields: Sequence[str | None], wording: Wording) -> Column | None:
    """Read numbers again from their texts, where points may separate thousands or whole numbers are too large."""
    if wording.prefer == ",":
        texts = {field.strip() for field in fields if field}
        read = numbers_in([*texts], replace(wording, decimal=","))
        if read is not None and any("." in text for text in texts):
            return understood(from_objects(as_objects(fields)), wording)
    if not large_whole_numbers(fields):
        return None
    return from_objects(as_objects(None if f is None else int(f) if _WHOLE.fullmatch(f) else float(f) for f in fields))


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


def _read_csv_plain(path: Path, dialect: Dialect, wishes: FileWishes) -> Table:
    """Read a text file with the standard library."""
    try:
        with file_errors(path, but=UnicodeDecodeError), opened_text(path, dialect.encoding) as file:
            rows = csv.reader(file, delimiter=dialect.separator)
            header = next(rows)
            columns: list[list[str]] = [[] for _ in header]
            add = [column.append for column in columns]
            for row in rows:
                if len(row) != len(header):
                    if not row:  # an empty line
                        continue
                    fields = f"line {rows.line_num} has {len(row)} fields, the header {len(header)}"
                    advice = f"a field that holds {dialect.separator!r} must be in quotes"
                    raise DataError(
                        f"{str(path)!r} cannot be read: {fields}; {advice}, or say {option(separator='...')}"
                    )
                for append, field in zip(add, row, strict=True):
                    append(field)
    except UnicodeDecodeError:
        raise _OtherEncodingError from None
    wording = wording_of(path, dialect, wishes)
    table = table_of(names_in_header(header), len(columns[0]), lambda j: from_fields(columns[j], wording))
    return replace(table, notes=dialect.notes)


def from_fields(fields: list[str], wording: Wording) -> Column:
    """Read the fields of one CSV column as integers, numbers, booleans or text, in this order of preference."""
    distinct = list(dict.fromkeys(fields))
    place = {field: k for k, field in enumerate(distinct)}
    codes = np.fromiter(map(place.__getitem__, fields), np.int64, len(fields))
    gap = np.fromiter(map(frozenset(BLANK).__contains__, distinct), np.bool_, len(distinct))
    missing = mask_of(gap[codes])
    values = [field for field, blank in zip(distinct, gap.tolist(), strict=True) if not blank]
    if not values:
        return Categories(np.zeros(len(fields), np.uint8), (), missing)

    def of_rows(of_values: Any, dtype: Any, blank: int = 0) -> NDArray[Any]:
        each = np.full(len(distinct), blank, dtype)
        each[~gap] = of_values
        return each[codes]

    if not any("_" in value for value in values):  # only Python reads 1_000 as a number
        for convert, dtype in ((int, np.int64), (_of_hex, np.int64), (float, np.float64)):
            if _all_are(values, convert):
                if dtype is np.float64 and (wording.prefer == "," or large_whole_numbers(values)):
                    present = [None if blank else field for field, blank in zip(fields, gap[codes], strict=True)]
                    if (found := _reread(present, wording)) is not None:
                        return found
                try:
                    return understood(Numbers(of_rows(list(map(convert, values)), dtype), missing), wording)
                except OverflowError:
                    continue
    if {*TRUE, *FALSE}.issuperset(values):
        return Categories(of_rows([value in TRUE for value in values], np.uint8), (False, True), missing)
    texts = sorted_categories(of_rows(np.arange(len(values)), np.int64, -1), values, missing)
    return understood(texts, wording)


_WHOLE = re.compile(r"\s*[+-]?[0-9]{1,300}\s*")


_HEX = re.compile(r"\s*0[xX][0-9a-fA-F]{1,16}\s*")


def _of_hex(text: str) -> int:
    """Return a whole number that may be written as 0x1F, in 64 bits, as pyarrow reads it.

    >>> _of_hex("0x1F"), _of_hex("0xFFFFFFFFFFFFFFFF"), _of_hex("7")
    (31, -1, 7)
    """
    if not _HEX.fullmatch(text):
        return int(text if "+" not in text else "")  # pyarrow takes +5 for a floating-point number
    value = int(text, 16)
    return value - 2**64 if value >= 2**63 else value


def _all_are(values: Iterable[str], convert: Callable[[str], Any]) -> bool:
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


def _typed(values: Any, wishes: FileWishes) -> Column:
    """Read a column of a file that has types: texts stay texts."""
    wording = replace(wishes.wording, typed=True)
    column = understood(from_arrow(values), wording, texts_only=True)
    with suppress(Refused):  # dates whose order cannot be told
        if isinstance(column, Categories) and isinstance(understood(column, wording), Numbers):
            return replace(column, origin=replace(column.origin, kind="as text"))
    return column


def _read_feather(path: Path, wishes: FileWishes) -> Table:
    """Read a Feather file (also called Arrow IPC)."""
    try:
        from pyarrow import feather
    except ImportError:
        raise MissingPackageError.needed_for("reading Feather", "pyarrow", "arrow") from None
    with file_errors(path):
        table = feather.read_table(path)
        table.validate(full=True)  # a damaged file would crash the process when it is used
    return table_of(table.column_names, table.num_rows, lambda j: _typed(table.column(j), wishes))


def _read_parquet(path: Path, wishes: FileWishes) -> Table:
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
        return _typed(part.column(columns[j]), wishes)

    return table_of(columns, file.metadata.num_rows, read)


def _unknown() -> str:
    """Say which files are read."""
    return (
        "cannot tell what {!r} is; files end in .csv, .tsv, .txt (each also with .gz), .parquet, .feather, "
        ".xlsx, .sav, "
        f".dta or .sas7bdat. Another text file opens with {option(separator='...')}"
    )
