"""The plain reader, for small files, and pyarrow, for large ones, understand a text file alike."""

from __future__ import annotations

import random

import numpy as np
import pytest

from blankets.data import _files
from blankets.data._columns import Categories, Refused
from blankets.data._reading import Reading
from blankets.errors import BlanketsError

WISHES = Reading().of_files
FIELDS = [
    *["1", "2", "3.5", "-4", "1e3", "nan", "NA", "", "?", "-", "yes", "no", "true", "False", "TRUE", "a", "b c"],
    *['"q"', '"a,b"', '"x ""y"" z"', " 1", "2 ", " a", "é", "1,5", "1.000", "1_000", "inf", "-inf", "Infinity", "null"],
    *["None", "2020-01-02", "03.04.2021", "12:30", "1,200.00 €", "€5", "10%", "9223372036854775808", "1e400", "00012"],
    *["0x1", "0XfF", "0xFFFFFFFFFFFFFFFF", "0x10000000000000000", "0x"],
    *["+5", ".5", "5.", "--", "n/a", "\t", "T", "0", "1.0", '"two\nlines"', "'s'", '5"', 'a"b'],
]
NAMES = ["a", "b", "c d", " e", "f ", "a", "", '"g"', "é"]


def fields_of_a_column(draw: random.Random) -> list[str]:
    kind = draw.random()
    if kind < 0.5:
        return draw.sample(FIELDS, draw.randint(1, 6))
    if kind < 0.7:
        return [str(draw.randint(0, 5)) for _ in range(4)]
    if kind < 0.85:
        return [f"{draw.gauss(0, 1):.3f}" for _ in range(9)] + draw.choice([[], ["", "NA"]])
    return ["x", "y", "z", draw.choice(FIELDS)]


def text_file(seed: int) -> bytes:
    """Return a file with odd names, fields, line ends and encodings; a few have rows of another length."""
    draw = random.Random(seed)
    n_columns, separator = draw.randint(1, 5), draw.choice(",,;\t|")
    end = draw.choice(["\n", "\n", "\n", "\r\n", "\r"])
    columns = [fields_of_a_column(draw) for _ in range(n_columns)]
    lines = [[draw.choice(NAMES) + draw.choice(["", *3 * [str(j)]]) for j in range(n_columns)]]
    for _ in range(draw.randint(2, 40)):
        row = [draw.choice(fields) for fields in columns]
        lines.append(row[:-1] if draw.random() < 0.003 else row)
        lines += [[]] if draw.random() < 0.01 else []
    text = end.join(separator.join(row) for row in lines) + draw.choice(["", end, end + end])
    return text.encode(draw.choice(["utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1"]), errors="replace")


def values(table, j: int) -> object:
    """Return what a column holds, whether its whole numbers are stored as integers or not."""
    try:
        column = table.read(j)
    except Refused as refused:
        return str(refused)
    gaps = np.zeros(table.n_rows, np.bool_) if column.missing is None else column.missing
    if isinstance(column, Categories):
        told = [None if gap else column.levels[code] for code, gap in zip(column.codes.tolist(), gaps, strict=True)]
        return column.levels, column.ordered, column.origin, told
    known = gaps | np.isnan(column.values.astype(np.float64))
    return column.origin, [None if gap else float(x) for x, gap in zip(column.values, known, strict=True)]


HEX = [["0x1", "0xF"], ["0X1", "2"], ["0xFFFFFFFFFFFFFFFF", "1"], ["0x10000000000000000", "1"], ["0x1", "", "NA"]]
HEX += [["0x1", "1.5"], ["0x1", "a"], ["0x", "1"], [" 0x1", "0x2 "], ["0x1", "9223372036854775808"], ["-0x2", "1"]]


@pytest.mark.parametrize("fields", HEX, ids=str)
def test_both_readers_agree_on_hexadecimal_numbers(fields, tmp_path, monkeypatch):
    agree("a,b\n" + "".join(f"{field},{k}\n" for k, field in enumerate(fields * 4)), tmp_path, monkeypatch)


@pytest.mark.parametrize("seed", range(120))
def test_both_readers_agree(seed, tmp_path, monkeypatch):
    agree(text_file(seed), tmp_path, monkeypatch)


def agree(content, tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    found = []
    for small in (-1, 2**20):
        monkeypatch.setattr(_files, "SMALL", small)
        try:
            table = _files.open_file(tmp_path / "t.csv", WISHES)
            found.append((table.names, table.notes, [values(table, j) for j in range(len(table.names))]))
        except BlanketsError as error:
            found.append(type(error))
    assert found[0] == found[1]
