"""Tables from files of other programs: Excel and OpenDocument sheets, SPSS, Stata and SAS."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from blankets.data._columns import FEW_VALUES, Categories, Column, Numbers, Origin, factorize
from blankets.data._dialect import FileWishes
from blankets.data._objects import as_objects, from_objects
from blankets.data._tables import Table, table_of
from blankets.data._texts import understood
from blankets.errors import DataError, MissingPackageError, did_you_mean, listed
from blankets.voice import option

_ZIPPED = (".xlsx", ".xlsm")
# A sheet is read with every cell between the first and the last: 24 bytes each in the reader, 8 more here, so that so
# many cells take 0.6 GB; beyond that at least one cell in a hundred must hold something.
MOST_CELLS, FILLED = 20_000_000, 100
_CELL = re.compile(rb'<(?:\w+:)?(?:row\b[^>]*?\br="(\d+)"|c\b(?:[^>]*?\br="([A-Z]+)(\d+)")?)')
_ATTRIBUTE = re.compile(rb'(\w+)="([^"]*)"')
_SHEET = re.compile(rb'<(?:\w+:)?sheet\b[^>]*?\b\w+:id="([^"]+)"')
# The function of pyreadstat for each ending of a file's name.
_LABELED = (".sav", ".zsav", ".por", ".dta")  # the kinds of files with labels of values
_FUNCTIONS = {".sav": "sav", ".zsav": "sav", ".por": "por", ".dta": "dta", ".sas7bdat": "sas7bdat", ".xpt": "xport"}


def read_excel(path: Path, kind: str, wishes: FileWishes) -> Table:
    """Read a sheet; its first row has the column names. A single cell above them is a title."""
    try:
        from python_calamine import CalamineWorkbook
    except ImportError:
        raise MissingPackageError.needed_for(f"reading {kind}", "python-calamine", "excel") from None
    book = CalamineWorkbook.from_path(str(path))
    place = _place(path, book.sheet_names, wishes.sheet)
    if kind in _ZIPPED:
        _refuse_empty_area(path, place)
    rows = book.get_sheet_by_index(place).to_python()
    notes = []
    if wishes.sheet is None and len(book.sheet_names) > 1:
        others = listed(book.sheet_names[1:], 3)
        notes.append(
            f"The first sheet was read, {book.sheet_names[0]!r}; {option(sheet='...')} reads another ({others})."
        )
    while len(rows) > 1 and len(rows[0]) > 1 and sum(cell != "" for cell in rows[0]) == 1:
        title = next(cell for cell in rows.pop(0) if cell != "")
        notes.append(f"A row above the column names was skipped: {str(title)[:60]!r}.")
    if not rows:
        raise DataError(f"the sheet {book.sheet_names[place]!r} of {str(path)!r} is empty")
    filled = [j for j, cells in enumerate(zip(*rows, strict=True)) if any(cell != "" for cell in cells)]
    names = [_name(rows[0][j], j) for j in filled]
    body = rows[1:]

    def read(j: int) -> Column:
        cells = as_objects(None if (cell := row[filled[j]]) == "" else cell for row in body)
        return understood(from_objects(cells, wishes.wording), wishes.wording)

    return replace(table_of(names, len(body), read), notes=tuple(notes))


def _place(path: Path, names: Sequence[str], sheet: str | int | None) -> int:
    """Return the number of the wanted sheet."""
    if sheet is None:
        return 0
    if isinstance(sheet, str) and sheet in names:
        return names.index(sheet)
    if str(sheet).isdigit() and 0 < int(sheet) <= len(names):  # on the command line a number is a text
        return int(sheet) - 1
    near = did_you_mean(str(sheet), names)
    raise DataError(f"{str(path)!r} has no sheet {sheet!r}{near or ';'} its sheets are {listed(names)}")


def _refuse_empty_area(path: Path, place: int) -> None:
    """Refuse a sheet whose cells are so far apart that the area between them would not fit into memory."""
    cells, row, column = 0, 0, 0
    try:
        for at, letters, number in _tags_of(path, place):
            cells += not at
            row = max(row, int(at or number or 0))
            column = max(column, _column_number(letters)) if letters else column
    except (zipfile.BadZipFile, LookupError):
        return  # built in another way: the reader says what it is
    area = row * max(column, 1)
    if area > max(MOST_CELLS, FILLED * cells):
        raise DataError(
            f"{str(path)!r} has {cells:,} cells in an area of {row:,} rows and {column:,} columns; delete the cells "
            f"far away from the table, and save it again"
        )


def _tags_of(path: Path, place: int) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Yield where the rows and cells of a sheet are, as the file says it."""
    with zipfile.ZipFile(path) as book:
        wanted = _SHEET.findall(book.read("xl/workbook.xml"))[place]
        links = re.findall(rb"<(?:\w+:)?Relationship\b[^>]*>", book.read("xl/_rels/workbook.xml.rels"))
        targets = {link[b"Id"]: link[b"Target"].decode() for each in links if (link := dict(_ATTRIBUTE.findall(each)))}
        target = targets[wanted]
        with book.open(target.lstrip("/") if target.startswith("/") else f"xl/{target}") as file:
            rest = b""
            while block := file.read(1 << 20):
                text = rest + block
                end = text.rfind(b"<")
                rest = text[end:]
                yield from _CELL.findall(text[:end])


def _column_number(letters: bytes) -> int:
    """Return the number of a column from its letters.

    >>> _column_number(b"A"), _column_number(b"XFD")
    (1, 16384)
    """
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number


def _name(cell: Any, j: int) -> str:
    """Return the name of a column from its first cell."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip() or f"column {j + 1}"


def read_statistics(path: Path, kind: str, wishes: FileWishes) -> Table:
    """Read a file of SPSS, Stata or SAS; values with labels become levels, in the order of the values."""
    try:
        import pyreadstat
    except ImportError:
        raise MissingPackageError.needed_for(f"reading {kind}", "pyreadstat", "stats") from None
    function = getattr(pyreadstat, f"read_{_FUNCTIONS[kind]}")
    if kind in _LABELED and _ends_the_process(path, function.__name__):
        raise DataError(f"{str(path)!r} cannot be read: it is damaged where values have their labels; save it again")
    try:
        columns, about = function(str(path), output_format="dict", encoding=wishes.encoding)
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError) as error:
        raise DataError(f"{str(path)!r} cannot be read: it is damaged ({type(error).__name__}: {error})") from error
    names = list(about.column_names)
    wording = replace(wishes.wording, typed=True)

    def read(j: int) -> Column:
        name = names[j]
        column = from_objects(as_objects(None if value == "" else value for value in columns[name]), wording)
        labels = about.variable_value_labels.get(name, {})
        ordered = about.variable_measure.get(name) == "ordinal"
        return understood(_labeled(column, labels, ordered=ordered), wording)

    return table_of(names, len(columns[names[0]]) if names else 0, read)


def _ends_the_process(path: Path, function: str) -> bool:
    """Tell whether the library would end this process: labels of a column that is not there make it read at address 0.

    That happens where it reads the description of the file, so another process reads that first (0.2 s).
    """
    words = f"import pyreadstat; pyreadstat.{function}({str(path)!r}, metadataonly=True)"
    child = subprocess.run([sys.executable, "-c", words], capture_output=True, check=False) if sys.executable else None
    return child is not None and (child.returncode < 0 or child.returncode > 0xFF)  # a signal, or Windows' word for it


def _labeled(column: Column, labels: Mapping[Any, str], *, ordered: bool) -> Column:
    """Give the values of a column their labels, if all of them have one.

    >>> from blankets.data._readers import from_any
    >>> _labeled(from_any([3.0, 1.0, None]), {1: "low", 2: "mid", 3: "high"}, ordered=True).levels
    ('low', 'mid', 'high')
    """
    if not labels and not ordered:
        return column
    found = factorize(column) if isinstance(column, Numbers) else column
    known = {
        value: label for value, label in labels.items() if isinstance(value, str) == isinstance(column, Categories)
    }
    if set(found.levels) <= set(known):
        values, texts = sorted(known), list(known.values())
        levels = tuple(known[v] if texts.count(known[v]) == 1 else f"{known[v]} ({v})" for v in values)
        place = np.array([*(values.index(level) for level in found.levels), 0])
        return Categories(place[found.codes], levels, found.missing, declared=True, ordered=ordered)
    origin = Origin("labels") if known else column.origin
    if ordered and len(found.levels) <= FEW_VALUES:
        return replace(found, declared=True, ordered=True, origin=origin)
    return replace(column, origin=origin)
