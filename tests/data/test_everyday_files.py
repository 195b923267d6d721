"""Files as people have them, each with a clean twin: the same table, or advice that gives it when followed."""

import codecs
import datetime
import gzip
import re
import sys
import warnings
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import feather

import blankets as bl
from blankets.cli._main import run
from blankets.data import Reading, _chunks, _dialect, _files, ingest, open_chunks, pack_chunks, read_table
from blankets.errors import DataError, MissingPackageError, ParameterError, ReadingWarning, RegimeWarning
from sheets import write_xlsx

N = 240
RNG = np.random.default_rng(22)
SMOKER = RNG.random(N) < 0.4
ILL = RNG.random(N) < 0.15 + 0.5 * SMOKER
WAGE = (RNG.lognormal(8, 0.6, N) + 600 * ILL).round(2)
VISIT = RNG.integers(18_000, 19_500, N)  # days since 1970
DOSE = (RNG.integers(1, 4000, N) / 8 + 300 * ILL).round(3)
GAP = RNG.random(N) < 0.1
DAYS = [datetime.date(1970, 1, 1) + datetime.timedelta(int(day)) for day in VISIT]
CLEAN = {
    "größe": RNG.integers(150, 200, N).tolist(),
    "smoker": np.where(SMOKER, "ja, täglich", "nö").tolist(),
    "wage": [None if gap else wage for gap, wage in zip(GAP, WAGE.tolist(), strict=True)],
    "dose": DOSE.tolist(),
    "visit": VISIT.tolist(),
    "ill": np.where(ILL, "yes", "no").tolist(),
}


def grouped(value, thousands, decimal, digits=2):
    """Write a number with a mark between thousands."""
    return f"{value:,.{digits}f}".replace(",", "_").replace(".", decimal).replace("_", thousands)


def text(separator=",", *, wage=str, dose=str, visit=lambda day: f"{day:%Y-%m-%d}", missing="", pad="", end="\n"):
    """Return the table as text."""
    rows = [list(CLEAN)]
    for k in range(N):
        paid = missing if GAP[k] else wage(WAGE[k])
        rows.append([str(CLEAN["größe"][k]), CLEAN["smoker"][k], paid, dose(DOSE[k]), visit(DAYS[k]), CLEAN["ill"][k]])
    quoted = [[f'"{cell}"' if separator in cell else f"{pad}{cell}" for cell in row] for row in rows]
    return end.join(separator.join(row) for row in quoted) + end


def comma(value):
    return str(value).replace(".", ",")


MESSY = {
    "semicolons and decimal commas.csv": lambda: text(";", wage=comma, dose=comma),
    "tabs.csv": lambda: text("\t"),
    "bars.txt": lambda: text("|"),
    "windows.csv": lambda: text().encode("cp1252"),
    "utf-16.txt": lambda: codecs.BOM_UTF16_LE + text("\t", end="\r\n").encode("utf-16-le"),
    "mark and blanks.csv": lambda: codecs.BOM_UTF8 + text(pad=" ", end="\r\n").encode(),
    "currency.csv": lambda: text(wage=lambda v: f"{grouped(v, ',', '.')} €", dose=lambda v: f"$ {v}"),
    "german thousands.csv": lambda: text(
        ";", wage=lambda v: grouped(v, ".", ","), dose=lambda v: grouped(v, ".", ",", 3)
    ),
    "swiss thousands.csv": lambda: text(wage=lambda v: grouped(v, "'", "."), dose=lambda v: f"CHF {v}"),
    "question marks.csv": lambda: text(missing="?"),
    "many words for missing.csv": lambda: (
        text(missing="unknown").replace("unknown", "-", 3).replace("unknown", "n/a", 3)
    ),
    "day first.csv": lambda: text(visit=lambda day: f"{day:%d.%m.%Y}"),
    "month first.csv": lambda: text(visit=lambda day: f"{day:%m/%d/%Y}"),
    "month names.csv": lambda: text(visit=lambda day: f"{day:%d-%b-%Y}"),
    "packed.csv.gz": lambda: gzip.compress(text(";", wage=comma, dose=comma).encode()),
}


def written(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def same_as_clean(path, **options):
    """Tell whether a file gives the codes, levels and numbers of the clean table; return what was said."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = ingest(path, "ill", reading=Reading(**options), numbers=True).frame
    assert found.fingerprint() == EXPECTED
    return [str(one.message) for one in said]


with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    TWIN = ingest(CLEAN, "ill", numbers=True).frame
EXPECTED = TWIN.fingerprint()
MEMBERS = bl.discover(CLEAN, "ill").members


@pytest.fixture(params=["arrow", "plain"])
def reader(request, monkeypatch):
    if request.param == "plain":
        monkeypatch.setattr(_files, "find_spec", lambda name: None)
    else:
        monkeypatch.setattr(_files, "SMALL", -1)


def test_the_twin_is_worth_it():
    assert len(TWIN.numbers) == 4
    assert {"smoker", "dose"} <= set(MEMBERS)


@pytest.mark.parametrize("name", MESSY)
def test_a_messy_file_gives_what_its_clean_twin_gives(tmp_path, name, reader):
    path = written(tmp_path, name, MESSY[name]())
    notes = same_as_clean(path)
    assert all(len(note) < 160 for note in notes)


@pytest.mark.parametrize("name", ["currency.csv", "semicolons and decimal commas.csv", "question marks.csv"])
def test_the_same_blanket_with_what_was_recognized_in_print(tmp_path, name, capsys):
    path = written(tmp_path, name, MESSY[name]())
    with pytest.warns(ReadingWarning):
        blanket = bl.discover(path, "ill")
    assert blanket.members == MEMBERS
    assert "1 column holds dates and was read as numbers of days since 1970-01-01: 'visit'." in blanket.warnings
    assert run(["discover", str(path), "-t", "ill"]) == 0
    printed = capsys.readouterr()
    assert "note: 1 column holds dates and was read as numbers of days since 1970-01-01: 'visit'." in printed.out
    assert printed.err == ""  # each note is written once


def test_what_is_said(tmp_path):
    said = same_as_clean(written(tmp_path, "t.csv", MESSY["semicolons and decimal commas.csv"]()))
    assert said[0] == "Fields are separated by semicolons."
    assert re.match(r"2 columns hold numbers stored as text and were read as numbers \('[\d,]+' = [\d.]+\): ", said[2])
    said = same_as_clean(written(tmp_path, "t.csv", MESSY["question marks.csv"]()))
    assert said[-1] == "'?' was read as missing: in 'wage'; na=[] keeps it as a value."
    said = same_as_clean(written(tmp_path, "t.csv", MESSY["windows.csv"]()))
    assert said[0].startswith("The text is not UTF-8 and was read as Windows-1252 (cp1252); encoding='...'")


def test_messy_files_in_chunks(tmp_path, monkeypatch):
    reading = Reading(discretize="equal-width", n_bins=4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = ingest(CLEAN, "ill", reading=reading).frame.fingerprint()
        names = ("semicolons and decimal commas.csv", "german thousands.csv", "question marks.csv", "windows.csv")
        for name in (*names, "mark and blanks.csv", "currency.csv"):
            path = written(tmp_path, name, MESSY[name]())
            store = pack_chunks(open_chunks(path), tmp_path / f"{name}.store", "ill", reading=reading)
            assert store.frame.fingerprint() == expected, name
            assert store.report.notes == ingest(path, "ill", reading=reading).report.notes


# Advice, followed to the letter


def advice(note, option):
    """Return the value that a note says for an option."""
    return eval(re.search(rf"{option}=(\[[^\]]*\]|'[^']*')", note)[1])


def test_a_word_that_may_be_a_value_stays_one_until_it_is_named(tmp_path):
    smoker = ["unknown" if gap else value for gap, value in zip(GAP, CLEAN["smoker"], strict=True)]
    table, twin = CLEAN | {"smoker": smoker}, CLEAN | {"smoker": [None if v == "unknown" else v for v in smoker]}
    pd.DataFrame(table).to_csv(tmp_path / "t.csv", index=False)
    for data in (table, tmp_path / "t.csv"):
        with pytest.warns(ReadingWarning, match="'unknown' is a value of 'smoker'; if it means missing") as said:
            assert len(ingest(data, "ill").frame.levels[1]) == 3
        na = advice(str(said[0].message), "na")
        assert (
            ingest(data, "ill", reading=Reading(na=na)).frame.fingerprint() == ingest(twin, "ill").frame.fingerprint()
        )


def test_a_question_mark_among_texts_is_missing_in_files_unless_it_is_kept(tmp_path):
    vote = ["?" if gap else "y" if smoker else "n" for gap, smoker in zip(GAP, SMOKER, strict=True)]
    pd.DataFrame(CLEAN | {"vote": vote})[["vote", "ill"]].to_csv(tmp_path / "t.csv", index=False)
    with pytest.warns(ReadingWarning, match=r"'\?' was read as missing: in 'vote'") as said:
        assert ingest(tmp_path / "t.csv", "ill").frame.levels[0] == ("n", "y")
    kept = ingest(tmp_path / "t.csv", "ill", reading=Reading(na=advice(str(said[0].message), "na")))
    assert kept.frame.levels[0] == ("?", "n", "y")
    assert kept.report.notes == ()


def test_numbers_that_mean_missing(tmp_path, reader):
    codes = CLEAN | {"wage": [-9 if gap else wage for gap, wage in zip(GAP, WAGE.tolist(), strict=True)]}
    pd.DataFrame(codes).to_csv(tmp_path / "t.csv", index=False)
    pd.DataFrame(codes).to_parquet(tmp_path / "t.parquet", index=False)
    for data in (codes, pd.DataFrame(codes), tmp_path / "t.csv", tmp_path / "t.parquet"):
        assert same_as_clean(data, na=["-9"]) == []
    whole = pd.DataFrame({"age": [20 + k if k % 3 else 99 for k in range(60)], "t": [0, 1] * 30})
    assert ingest(whole, "t", reading=Reading(na="99")).report.missing == {"age": 20}


def test_dates_whose_order_is_unclear_are_left_out(tmp_path, reader):
    early = [day.replace(day=min(day.day, 12)) for day in DAYS]
    rows = "".join(f"{day:%d/%m/%Y},{s},{t}\n" for day, s, t in zip(early, SMOKER, CLEAN["ill"], strict=True))
    path = written(tmp_path, "t.csv", f"visit,smoker,ill\n{rows}")
    with pytest.warns(ReadingWarning, match="Left out: 'visit' holds dates in which day and month cannot be told"):
        done = ingest(path, "ill")
    assert done.frame.names == ("smoker", "ill")
    assert done.report.left_out["visit"].startswith("it holds dates in which day and month")
    with pytest.raises(DataError, match="column 'visit' holds dates in which day and month"):
        ingest(path, "ill", reading=Reading(keep=["visit"]))
    with pytest.raises(DataError, match="the target 'visit' holds dates in which day and month"):
        ingest(path, "visit")
    with pytest.warns(ReadingWarning), pytest.raises(DataError, match="column 'visit' holds dates in which"):
        bl.test(path, "visit", "ill")
    # As the message advises.
    for order, form in (("dmy", "%d/%m/%Y"), ("mdy", "%m/%d/%Y")):
        rows = "".join(f"{day.strftime(form)},{s},{t}\n" for day, s, t in zip(early, SMOKER, CLEAN["ill"], strict=True))
        path = written(tmp_path, f"{order}.csv", f"visit,smoker,ill\n{rows}")
        with pytest.warns(ReadingWarning, match="1 column holds dates"):
            done = ingest(path, "ill", reading=Reading(date_order=order), numbers=True)
        expected = [(day - datetime.date(1970, 1, 1)).days for day in early]
        assert done.frame.numbers[0].values.tolist() == expected
    with pytest.raises(ParameterError, match="unknown order of dates 'ymd'"):
        Reading(date_order="ymd")


def test_an_unusual_separator_is_asked_for(tmp_path, reader):
    path = written(tmp_path, "t.txt", text("^"))
    with pytest.raises(DataError, match="separated by something else than commas, semicolons, tabs or bars; name it"):
        ingest(path, "ill")
    same_as_clean(path, separator="^")


def test_options_of_files(tmp_path, capsys):
    path = written(tmp_path, "t.dat", text("^", wage=comma, dose=comma, missing="keine").encode("cp1252"))
    options = {"separator": "^", "decimal": ",", "encoding": "cp1252", "na": ["keine"]}
    same_as_clean(path, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert bl.discover(read_table(path, **options), "ill").members == MEMBERS
    words = ["--separator", "^", "--decimal", ",", "--encoding", "cp1252", "--na", "keine"]
    assert run(["discover", str(path), "-t", "ill", *words]) == 0
    assert f"{len(MEMBERS)} of 5 columns" in capsys.readouterr().out
    assert run(["test", str(path), "dose", "-t", "ill", *words]) == 0


def test_the_command_line_says_options_that_a_shell_takes(tmp_path, capsys):
    rows = "".join(f"{'?' if gap else 'y'}{k % 2},{t}\n" for k, (gap, t) in enumerate(zip(GAP, ILL, strict=True)))
    path = written(tmp_path, "t.csv", "vote,ill\n" + rows.replace("?0", "?").replace("?1", "?"))
    assert run(["discover", str(path), "-t", "ill"]) == 0
    assert "--na '' keeps it as a value" in capsys.readouterr().out
    assert run(["rank", str(path), "-t", "ill"]) == 0
    assert "--na '' keeps it as a value" in capsys.readouterr().err
    assert run(["rank", str(path), "-t", "ill", "--na", ""]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"separator": ";;"}, "'separator' must be one character"),
        ({"decimal": ";"}, "unknown decimal mark ';'"),
        ({"decimal": ",", "separator": ","}, "separator= and decimal= are both ','"),
        ({"encoding": "utf-9"}, "'encoding' must be the name of an encoding, such as 'utf-8'"),
        ({"na": [1]}, "'na' must be a list of texts that mean 'missing'"),
        ({"sheet": 0}, "'sheet' must be the name of a sheet, or its number from 1 on"),
        ({"ordered": {"a": ["low"]}}, "'ordered' must be names of columns, each with a list of at least two levels"),
    ],
)
def test_options_are_checked(options, said):
    with pytest.raises(ParameterError, match=said):
        Reading(**options)


def test_options_of_files_are_not_for_tables_in_memory(tmp_path):
    with pytest.raises(ParameterError, match=r"sheet= is for Excel files, but '.*t\.csv' is none; leave it out"):
        ingest(written(tmp_path, "t.csv", text()), "ill", reading=Reading(sheet=1))
    with pytest.raises(ParameterError, match=r"separator= is about files, but the table is a builtins\.dict"):
        ingest(CLEAN, "ill", reading=Reading(separator=";"))


def test_large_and_long_numbers_in_text(tmp_path, reader):
    rows = "".join(f"{k}.5e20 €,{2**63 + k}%,{k % 2}\n" for k in range(60))
    table = read_table(written(tmp_path, "t.csv", f"far,exact,t\n{rows}"))
    assert table.read(0).values[:2].tolist() == [0.5e20, 1.5e20]
    assert table.read(1).levels[1] == f"{2**63 + 1}%"  # whole numbers are exact, or they are not numbers


@pytest.mark.parametrize("block", [600, 1 << 20])
def test_a_late_byte_in_chunks_is_told(tmp_path, monkeypatch, block):
    monkeypatch.setattr(_dialect, "LONGEST_LINE", 64)
    monkeypatch.setattr(_chunks, "CSV_BLOCK", block)
    path = written(tmp_path, "t.csv", b"a,b\n" + b"x,1\nx,2\n" * 400 + "ö,2\n".encode("cp1252"))
    with pytest.raises(DataError, match=r"t\.csv' (cannot be read: it )?is not UTF-8 text; save it as UTF-8, or "):
        pack_chunks(open_chunks(path), tmp_path / "store")
    store = pack_chunks(open_chunks(path, Reading(encoding="cp1252")), tmp_path / "store")
    assert store.frame.levels[0] == ("x", "ö")


def test_the_audit_says_how_a_file_was_read(tmp_path):
    path = written(tmp_path, "t.csv", MESSY["semicolons and decimal commas.csv"]())
    assert "Fields are separated by semicolons." in str(bl.audit(path, "ill"))


def test_a_numeric_outcome_with_gaps_gets_a_sentence_that_helps():
    with pytest.warns(RegimeWarning, match="rows have no value of the target and are left out; the answer is right"):
        assert bl.discover(CLEAN, "wage").n_rows == N - GAP.sum()


def test_another_encoding_than_the_named_one(tmp_path, reader):
    path = written(tmp_path, "t.csv", text().encode("cp1252"))
    with pytest.raises(DataError, match=r"is not text in the encoding 'utf-8'|is not UTF-8 text"):
        ingest(path, "ill", reading=Reading(encoding="utf-8"))


# Other kinds of files


def test_feather(tmp_path):
    table = pa.table(CLEAN | {"visit": DAYS})
    feather.write_feather(table, tmp_path / "t.feather")
    same_as_clean(tmp_path / "t.feather")


def test_excel(tmp_path):
    pytest.importorskip("python_calamine")
    head = list(CLEAN)
    body = [
        [CLEAN["größe"][k], CLEAN["smoker"][k], "n/a" if GAP[k] else WAGE[k], DOSE[k], DAYS[k], CLEAN["ill"][k]]
        for k in range(N)
    ]
    title = ["Patients of the ward", *[None] * (len(head) - 1)]
    write_xlsx(tmp_path / "t.xlsx", {"notes": [["nothing"], [1]], "data": [title, head, *body]})
    for sheet in ("data", 2, "2"):
        said = same_as_clean(tmp_path / "t.xlsx", sheet=sheet)
        assert said[0] == "A row above the column names was skipped: 'Patients of the ward'."
    with pytest.raises(DataError, match=r"has no sheet 'dat'; did you mean 'data'\? its sheets are 'notes', 'data'"):
        ingest(tmp_path / "t.xlsx", "ill", reading=Reading(sheet="dat"))
    assert read_table(tmp_path / "t.xlsx").notes == (
        "The first sheet was read, 'notes'; sheet='...' reads another ('data').",
    )
    write_xlsx(tmp_path / "t.xlsx", {"empty": []})
    with pytest.raises(DataError, match=r"the sheet 'empty' of .* is empty"):
        ingest(tmp_path / "t.xlsx")
    (tmp_path / "t.xlsx").write_bytes(b"PK")
    with pytest.raises(DataError, match=r"t\.xlsx' cannot be read"):
        ingest(tmp_path / "t.xlsx")


def test_mixed_cells_of_a_sheet_are_texts_or_numbers(tmp_path):
    pytest.importorskip("python_calamine")
    rows = [["code", "size", None, 2020], [1, 5, 1, 1], ["a", "1,200", 2, 2], [2.5, 7.5, 3, 1]]
    write_xlsx(tmp_path / "t.xlsx", {"one": rows})
    table = read_table(tmp_path / "t.xlsx")
    assert table.names == ("code", "size", "column 3", "2020")
    assert table.read(0).levels == ("1", "2.5", "a")
    assert table.read(1).values.tolist() == [5, 1200, 7.5]


@pytest.mark.parametrize("ending", ["sav", "dta", "xpt"])
def test_spss_stata_and_sas(tmp_path, ending):
    pyreadstat = pytest.importorskip("pyreadstat")
    path = str(tmp_path / f"t.{ending}")
    codes = pd.DataFrame(
        {
            "size": CLEAN["größe"],
            "smoker": np.where(SMOKER, 1.0, 2.0),
            "grade": RNG.integers(1, 4, N).astype(float),
            "wage": np.where(GAP, np.nan, WAGE),
            "visit": DAYS,
            "ill": CLEAN["ill"],
        }
    )
    labels = {"smoker": {1: "yes", 2: "no"}, "grade": {1: "low", 2: "mid", 3: "high", 4: "never"}, "wage": {9: "none"}}
    if ending == "sav":
        measure = {"grade": "ordinal"}
        pyreadstat.write_sav(codes, path, variable_value_labels=labels, variable_measure=measure)
    elif ending == "dta":
        pyreadstat.write_dta(codes, path, variable_value_labels={k: labels[k] for k in ("smoker", "grade")})
    else:
        pyreadstat.write_xport(codes, path)
    with pytest.warns(ReadingWarning):
        done = ingest(path, "ill", numbers=True)
    frame = done.frame
    assert np.array_equal(frame.numbers[frame.index("visit")].values, VISIT)
    assert np.array_equal(np.isnan(frame.numbers[frame.index("wage")].values), GAP)
    has_labels = ending != "xpt"
    assert frame.levels[1] == (("yes", "no") if has_labels else (1, 2))
    assert frame.levels[2] == (("low", "mid", "high", "never") if has_labels else (1, 2, 3))
    assert frame.column(2).tolist() == (codes["grade"] - 1).tolist()
    assert frame.ordered == ({2} if ending == "sav" else set())
    assert done.report.unused_levels == ({"grade": ("never",)} if has_labels else {})
    partly = "Read as numbers, because only some of the values have a label: 'wage'."
    assert (partly in done.report.notes) == (ending == "sav")
    with open(path, "wb") as file:
        file.write(b"something else")
    with pytest.raises(DataError, match="cannot be read"):
        ingest(path)


@pytest.mark.parametrize(("name", "extra"), [("t.xlsx", "excel"), ("t.sav", "stats")])
def test_the_package_that_reads_a_file_is_named(tmp_path, monkeypatch, name, extra):
    (tmp_path / name).write_bytes(b"x")
    for package in ("python_calamine", "pyreadstat"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackageError, match=rf"reading \.{name[2:]} needs .*pip install 'blankets\[{extra}\]'"):
        ingest(tmp_path / name)


def test_files_of_r(tmp_path):
    (tmp_path / "t.rds").write_bytes(b"x")
    with pytest.raises(DataError, match=r"is a file of R; write the table there .*arrow::write_parquet"):
        ingest(tmp_path / "t.rds")


def test_messages_of_files_that_cannot_be_read(tmp_path, monkeypatch, reader):
    late = written(tmp_path, "t.csv", b"a,b\n" + b"x,1\ny,2\n" * 10_000 + b"\xff,2\n")
    with pytest.raises(DataError, match=r"t\.csv' is not text in the encoding 'utf-8'"):
        ingest(late, reading=Reading(encoding="utf-8"))
    with pytest.raises(DataError, match=r"not '\.xlsx'.*; give another file as blankets\.data\.read_table\(path\)"):
        bl.pack(written(tmp_path, "t.xlsx", b"PK"), tmp_path / "store")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingPackageError, match=r"reading Feather needs .*pip install 'blankets\[arrow\]'"):
        ingest(written(tmp_path, "t.feather", b"x"))


def test_a_damaged_file_of_stata_is_told(tmp_path, monkeypatch):
    pyreadstat = pytest.importorskip("pyreadstat")

    def broken(*args, **options):
        raise IndexError("list assignment index out of range")

    monkeypatch.setattr(pyreadstat, "read_dta", broken)
    with pytest.raises(DataError, match=r"t\.dta' cannot be read: it is damaged \(IndexError: list assignment"):
        ingest(written(tmp_path, "t.dta", b"x"))


def test_a_damaged_label_of_spss_does_not_end_the_process(tmp_path):
    """Labels of a column that is not there: the library that reads them would read at address 0."""
    pyreadstat = pytest.importorskip("pyreadstat")
    path = tmp_path / "t.sav"
    labels = {"sex": {1: "a label like no other", 2: "f"}}
    pyreadstat.write_sav(
        pd.DataFrame({"sex": [1.0, 2.0] * 20, "y": [0.0, 0.0, 1.0, 1.0] * 10}), path, variable_value_labels=labels
    )
    whole = path.read_bytes()
    assert ingest(path).frame.levels[0] == ("a label like no other", "f")
    of_columns = b"\x04\0\0\0\x01\0\0\0\x01"  # a record of one column with these labels, the first
    assert whole.count(of_columns) == 1
    path.write_bytes(whole.replace(of_columns, of_columns[:-1] + b"\xd4"))
    with pytest.raises(DataError, match=r"t\.sav' cannot be read: it is damaged where values have their labels"):
        ingest(path)


@pytest.mark.filterwarnings("ignore::blankets.errors.IdLikeColumnWarning")
def test_numbers_that_a_typed_file_declares_to_be_text(tmp_path):
    table = pd.DataFrame(
        {"dose": [f"{d:.3f}" for d in DOSE], "code": [f"{k:03}" for k in range(N)], "ill": CLEAN["ill"]}
    )
    path = tmp_path / "t.parquet"
    table.to_parquet(path)
    with pytest.warns(ReadingWarning, match="Numbers or dates that the file declares to be text stayed text: 'dose'"):
        ingest(path, "ill")
    # As the note advises.
    with pytest.warns(ReadingWarning, match="1 column holds numbers stored as text"):
        done = ingest(pd.read_parquet(path), "ill", numbers=True)
    assert done.frame.numbers[0].values.tolist() == pytest.approx(DOSE.tolist(), abs=6e-4)


def test_a_cell_far_away_is_refused_before_the_area_is_read(tmp_path):
    """Between two cells at the ends of a sheet there are 17 billion, which no memory holds."""
    near, far = tmp_path / "near.xlsx", tmp_path / "far.xlsx"
    write_xlsx(near, {"data": [["a", "t"], *([k % 2, k % 3] for k in range(40))]})
    last = b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
    with zipfile.ZipFile(near) as book, zipfile.ZipFile(far, "w") as other:
        for name in book.namelist():
            other.writestr(
                name, book.read(name).replace(b"</sheetData>", last if "sheet1" in name else b"</sheetData>")
            )
    assert far.stat().st_size < 10_000
    assert read_table(near).names == ("a", "t")
    with pytest.raises(DataError, match="83 cells in an area of 1,048,576 rows and 16,384 columns; delete"):
        read_table(far)
