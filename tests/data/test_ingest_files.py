"""Tables from files, good and bad."""

import gzip
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

from blankets.data import Reading, _dialect, _files, ingest, open_chunks, read_table
from blankets.errors import ConstantColumnWarning, DataError, IdLikeColumnWarning, MissingPackageError, ReadingWarning

TABLE = pd.DataFrame(
    {
        "sex": ["f", "m", "m", "f", "m", "f"],
        "children": [2, 0, 1, 0, 7, 1],
        "dose": [0.5, 1.0, 0.5, 2.0, 1.0, 2.0],
        "note": ["a, b", 'say "x"', "line\nbreak", "ü", "a, b", "ü"],
        "cured": [True, False, True, True, False, False],
    }
)
EXPECTED = ingest(TABLE, "cured").frame.fingerprint()


@pytest.fixture(params=["arrow", "plain"])
def reader(request, monkeypatch):
    """Read CSV files with pyarrow, and as on a machine that does not have it."""
    if request.param == "plain":
        monkeypatch.setattr(_files, "find_spec", lambda name: None)
    else:
        monkeypatch.setattr(_files, "SMALL", -1)
    return request.param


@pytest.mark.parametrize("name", ["t.csv", "t.CSV", "t.tsv", "t.tab", "t.csv.gz", "t.tsv.gz"])
def test_text_files(tmp_path, name, reader):
    separator = "\t" if ".t" in name.lower()[1:] else ","
    TABLE.to_csv(tmp_path / name, sep=separator, index=False)
    assert ingest(str(tmp_path / name), "cured").frame.fingerprint() == EXPECTED


@pytest.mark.parametrize("name", ["t.parquet", "t.pq"])
def test_parquet(tmp_path, name):
    TABLE.to_parquet(tmp_path / name, index=True)
    assert ingest(tmp_path / name, "cured").frame.fingerprint() == EXPECTED
    TABLE.set_index("sex").to_parquet(tmp_path / name)
    assert read_table(tmp_path / name).names == ("children", "dose", "note", "cured")


def test_parquet_keeps_declared_levels(tmp_path):
    grade = pd.Categorical(["b", "a", "b"], categories=["b", "z", "a"])
    pd.DataFrame({"grade": grade, "t": [0, 1, 1]}).to_parquet(tmp_path / "t.parquet")
    assert ingest(tmp_path / "t.parquet", "t").frame.levels[0] == ("b", "z", "a")


def test_dotted_names_in_parquet(tmp_path):
    pl.DataFrame({"a": [0, 1, 1], "a.b": ["x", "x", "y"]}).write_parquet(tmp_path / "t.parquet")
    assert ingest(tmp_path / "t.parquet").frame.levels == ((0, 1), ("x", "y"))


def test_other_separators_on_request(tmp_path, reader):
    TABLE.to_csv(tmp_path / "t.dat", sep=";", index=False)
    assert ingest(read_table(tmp_path / "t.dat", separator=";"), "cured").frame.fingerprint() == EXPECTED


def test_byte_order_mark(tmp_path, reader):
    TABLE.to_csv(tmp_path / "t.csv", index=False, encoding="utf-8-sig")
    assert ingest(tmp_path / "t.csv", "cured").frame.names[0] == "sex"


def test_missing_fields(tmp_path, reader):
    (tmp_path / "t.csv").write_text("a,b,c,t\n1,x,,0\nNA,,,1\n2,nan,true,1\n,x,false,0\n2,<NA>,true,1\n1,y,,1\n")
    frame = ingest(tmp_path / "t.csv", "t", reading=Reading(missing="level")).frame
    assert frame.levels == ((1, 2, "missing"), ("x", "y", "missing"), (False, True, "missing"), (0, 1))
    assert [frame.column(j).tolist() for j in range(3)] == [[0, 2, 1, 2, 1, 0], [0, 2, 2, 0, 2, 1], [2, 2, 1, 0, 1, 2]]


def test_kinds_of_columns(tmp_path, reader):
    (tmp_path / "t.csv").write_text(
        "whole,real,exp,words,under,big,empty,t\n1,0.5,1e3,x,1_0,9223372036854775808,,0\n02,-1,2,1,2_0,1,,1\n1,-1,2,x,1_0,1,,1\n"
    )
    frame = ingest(
        tmp_path / "t.csv", reading=Reading(exclude=["empty", "t"], keep=["big", "exp", "real", "words", "under"])
    ).frame
    assert frame.levels == ((1, 2), (-1, 0.5), (2, 1000), ("1", "x"), ("1_0", "2_0"), (1, 2**63))


def test_dates_in_text(tmp_path, reader):
    (tmp_path / "t.csv").write_text(
        "day,clock,t\n2020-01-31,12:30:00,0\n2021-02-28,23:59:00,1\n2021-02-28,23:59:00,0\n"
    )
    table = read_table(tmp_path / "t.csv")
    assert table.read(0).values.tolist() == [18_292, 18_686, 18_686]  # days since 1970
    assert table.read(1).values.tolist() == [12.5 / 24] + [(23 + 59 / 60) / 24] * 2
    with pytest.warns(ReadingWarning, match="1 column holds times of day and was read as parts of a day: 'clock'"):
        assert ingest(tmp_path / "t.csv", reading=Reading(exclude=["day"])).frame.names == ("clock", "t")


def test_a_column_that_pandas_wrote_for_its_index(tmp_path, reader):
    rng = np.random.default_rng(0)
    pd.DataFrame({"a": rng.integers(0, 2, 100), "t": rng.integers(0, 2, 100)}).to_csv(tmp_path / "t.csv")
    with pytest.warns(IdLikeColumnWarning, match="level .*: ''"):
        assert ingest(tmp_path / "t.csv", "t").frame.names == ("a", "t")


def test_a_file_is_read_without_pandas(tmp_path):
    (tmp_path / "table.csv").write_text("age,sex,weight\n61,f,61.5\n38,m,80.0\n50,f,70.0\n")
    read = "import sys; from blankets.data import ingest; ingest('table.csv'); print('pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", read], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"  # it takes as long to import as the whole search


def test_missing_file(tmp_path):
    TABLE.to_csv(tmp_path / "patients.csv", index=False)
    with pytest.raises(DataError, match=r"there is no file '.*patient.csv'; did you mean 'patients.csv'"):
        ingest(tmp_path / "patient.csv", "cured")
    with pytest.raises(DataError, match="there is no file"):
        ingest("no/such/folder/t.csv")
    with pytest.raises(DataError, match="is a folder; give the path of one"):
        ingest(tmp_path)
    with pytest.raises(DataError, match=r"there is no file '.*visited.csv'$"):  # no name is alike, only the ending is
        ingest(tmp_path / "visited.csv")
    with pytest.raises(DataError, match=r"'https:/example.org/t.csv' is an address, not a file; download"):
        ingest("https://example.org/t.csv")


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (b"PK\x03\x04", "is an Excel file or a zip archive, not text; give it the ending .xlsx, or unpack it"),
        (b"\xd0\xcf\x11\xe0", "is a file of Excel, not text; give it the ending .xls"),
        (b"PAR1", "is a Parquet file, not text; give it the ending .parquet"),
        (b"%PDF", "is a PDF file, not text; save the table as a CSV file"),
        (b"\x1f\x8b", "is compressed; give it the ending .gz"),
        (b"<!DOCTYPE html>\n<p>", r"is a page of the web \(HTML\), not a table; download the file itself"),
    ],
)
def test_other_files_that_are_called_csv(tmp_path, start, message):
    (tmp_path / "t.csv").write_bytes(start + b"a,b\n1,2\n" * 9)
    with pytest.raises(DataError, match=message):
        ingest(tmp_path / "t.csv")


def test_unknown_kind_of_file(tmp_path):
    (tmp_path / "t.docx").write_bytes(b"PK")
    with pytest.raises(DataError, match=r"cannot tell what '.*t.docx' is; files end in .csv"):
        ingest(tmp_path / "t.docx")


@pytest.mark.parametrize(("separator", "called"), [(";", "semicolons"), ("\t", "tabs"), ("|", "bars")])
def test_another_delimiter_is_recognized_if_all_lines_have_it(tmp_path, separator, called):
    TABLE.to_csv(tmp_path / "t.csv", sep=separator, index=False)
    with pytest.warns(ReadingWarning, match=f"Fields are separated by {called}"):
        assert ingest(tmp_path / "t.csv", "cured").frame.fingerprint() == EXPECTED
    with (tmp_path / "t.csv").open("a") as file:
        file.write("one field more".replace(" ", separator) * 9)
    with pytest.raises(DataError, match=rf"has one column only, and its name contains {called}.*say separator="):
        ingest(tmp_path / "t.csv", "cured")


def test_empty_file(tmp_path, reader):
    (tmp_path / "t.csv").write_text("")
    with pytest.raises(DataError, match="is empty or does not begin with a line of column names"):
        ingest(tmp_path / "t.csv")
    (tmp_path / "t.csv").write_text("a,b\n")
    with pytest.raises(DataError, match="the table has no rows"):
        ingest(tmp_path / "t.csv")


def test_duplicate_names_in_a_file(tmp_path, reader):
    (tmp_path / "t.csv").write_text("a,b,a\n1,2,3\n4,5,6\n")
    with pytest.raises(DataError, match=r"'a' \(columns 0 and 2\)"):
        ingest(tmp_path / "t.csv")


def test_ragged_rows(tmp_path, reader):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3\n4,5\n")
    with pytest.raises(
        DataError, match=r"t.csv' cannot be read: .*(line 3 has 1 fields, .*in quotes|Expected 2 columns, got 1)"
    ):
        ingest(tmp_path / "t.csv")


def test_empty_lines_are_no_rows(tmp_path, reader):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n\n3,2\n4,5\n\n")
    assert ingest(tmp_path / "t.csv", reading=Reading(keep=["a", "b"])).frame.n_rows == 3


def test_text_that_is_not_utf8(tmp_path, reader):
    (tmp_path / "t.csv").write_bytes("a,b\nü,1\nö,2\n".encode("latin-1"))
    with pytest.warns(ReadingWarning, match="is not UTF-8 and was read as Windows-1252"):
        assert ingest(tmp_path / "t.csv").frame.levels[0] == ("ö", "ü")
    (tmp_path / "t.csv").write_bytes(b"a,b\n\x81\xfc,1\n\x8d,2\n")  # no letters of Windows
    with pytest.raises(DataError, match=r"is not UTF-8 text; save it as UTF-8, or name its encoding with encoding="):
        ingest(tmp_path / "t.csv")


def test_a_late_byte_that_is_not_utf8(tmp_path, reader):
    (tmp_path / "t.csv").write_bytes(b"a,b\n" + b"x,1\ny,2\n" * 10_000 + "ö,2\n".encode("latin-1"))
    with pytest.warns(ReadingWarning, match="is not UTF-8 and was read as Windows-1252"):
        assert ingest(tmp_path / "t.csv").frame.levels[0] == ("x", "y", "ö")
    (tmp_path / "t.csv").write_bytes(b"a,b\n" + b"x,1\ny,2\n" * 10_000 + b"\xff\0,2\n")
    with pytest.raises(DataError, match="is not UTF-8 text"):
        ingest(tmp_path / "t.csv")


def test_a_text_after_a_million_numbers(tmp_path, reader):
    (tmp_path / "t.csv").write_text("a,b,e\n" + "1,1,\n2,2,\n" * 150_000 + "?,1,late\n")
    done = ingest(tmp_path / "t.csv", reading=Reading(missing="level", na=[]))
    assert done.frame.levels == (("1", "2", "?"), (1, 2), ("late", "missing"))


def test_very_wide_text(tmp_path, reader):
    names = [f"a_rather_long_column_name_{j}" for j in range(60_000)]
    rows = np.array([["0", "1"], ["1", "0"], ["1", "1"]])
    body = "\n".join(",".join([first] * 59_999 + [last]) for first, last in rows)
    (tmp_path / "t.csv").write_text(",".join(names) + "\n" + body)
    assert len(read_table(tmp_path / "t.csv").names) == 60_000


def test_truncated_files(tmp_path, reader):
    TABLE.to_parquet(tmp_path / "t.parquet")
    whole = (tmp_path / "t.parquet").read_bytes()
    (tmp_path / "t.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"t.parquet' cannot be read: "):
        ingest(tmp_path / "t.parquet", "cured")
    packed = gzip.compress(("a,b\n" + "1,2\n3,4\n" * 5000).encode())
    (tmp_path / "t.csv.gz").write_bytes(packed[: len(packed) // 2])
    with pytest.raises(DataError, match=r"t.csv.gz' cannot be read: "):
        ingest(tmp_path / "t.csv.gz")


def test_parquet_without_pyarrow(tmp_path, monkeypatch):
    TABLE.to_parquet(tmp_path / "t.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingPackageError, match=r"reading Parquet needs .*pip install 'blankets\[arrow\]'"):
        ingest(tmp_path / "t.parquet")


def test_a_column_of_empty_fields(tmp_path, reader):
    (tmp_path / "t.csv").write_text("a,e,t\n1,,0\n2,NA,1\n1,,1\n")
    with pytest.warns(ConstantColumnWarning, match="'e'"):
        assert ingest(tmp_path / "t.csv", "t").frame.names == ("a", "t")


@pytest.mark.parametrize("text", ["1," + "x" * 3_000_000 + "\n", '1,"never closed\n' + "1,2\n" * 800_000])
def test_rows_that_do_not_end_are_told_in_plain_words(tmp_path, text):
    path = tmp_path / "long.csv"
    path.write_text("a,b\n" + "0,1\n1,0\n" * 20 + text + "0,1\n" * 20)
    with pytest.raises(DataError, match=r"'.*long\.csv' cannot be read: a row is longer than one million characters"):
        ingest(path, "a")


@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_a_file_without_a_line_break_is_refused_after_a_bounded_read(tmp_path, monkeypatch, ending):
    monkeypatch.setattr(_dialect, "LONGEST_HEADER", 1000)
    path = tmp_path / f"t.{ending}"
    with (gzip.open if ending.endswith("gz") else open)(path, "wt") as file:
        file.write("a,b," * 1000)
    with pytest.raises(DataError, match="has no line break in its first 1,000 characters"):
        ingest(path)


def test_pipes_and_loops_are_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "t.csv")
    (tmp_path / "loop.csv").symlink_to(tmp_path / "loop.csv")
    for read in (ingest, open_chunks):
        with pytest.raises(DataError, match="is a pipe or a device, not a file"):
            read(tmp_path / "t.csv")
        with pytest.raises(DataError, match=r"loop\.csv"):
            read(tmp_path / "loop.csv")
    with pytest.raises(DataError, match="has no CSV or Parquet files"):
        open_chunks(tmp_path)
