"""Files with bytes changed, cut off or put in: a table, or an error of ours."""

import gzip
import io
import tempfile
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import feather

import blankets as bl
from blankets.errors import BlanketsError, BlanketsWarning, DataError
from blankets.simulate import Network
from sheets import write_xlsx

BIF = """network n { }
variable a { type discrete [ 2 ] { yes, no }; }
variable b { type discrete [ 2 ] { yes, no }; }
probability ( a ) { table 0.3, 0.7; }
probability ( b | a ) { (yes) 0.9, 0.1; (no) 0.2, 0.8; }
"""


def contents():
    rng = np.random.default_rng(8)
    table = pa.table({"a": rng.integers(0, 2, 60), "b": rng.choice(["u", "v"], 60), "t": rng.integers(0, 2, 60)})
    csv = "a,b,t\n" + "".join(f"{a},{b},{t}\n" for a, b, t in zip(*table.to_pydict().values(), strict=True))
    parquet = io.BytesIO()
    pq.write_table(table, parquet)
    zipped = gzip.compress(csv.encode(), mtime=0)  # with the time in it, two workers collect different tests
    arrow = io.BytesIO()
    feather.write_feather(table, arrow)
    found = {"x.csv": csv.encode(), "x.csv.gz": zipped, "x.parquet": parquet.getvalue(), "x.feather": arrow.getvalue()}
    european = "a;b;t\n" + "".join(f"{k % 2},5;0{1 + k % 9}.0{1 + k % 3}.2020;{k % 2}\n" for k in range(60))
    found["x.txt"] = european.encode("utf-16")
    if find_spec("python_calamine"):
        sheet = io.BytesIO()
        write_xlsx(sheet, {"one": [["a", "b", "t"], *([k % 2, "uv"[k % 2], k % 2] for k in range(60))]})
        found["x.xlsx"] = sheet.getvalue()
    if find_spec("pyreadstat"):
        import pyreadstat

        with tempfile.TemporaryDirectory() as folder:  # .sav is not here: pyreadstat itself crashes on damaged ones
            pyreadstat.write_dta(table.to_pandas(), f"{folder}/x.dta", variable_value_labels={"a": {0: "no", 1: "yes"}})
            found["x.dta"] = Path(f"{folder}/x.dta").read_bytes()
    return found


CONTENTS = contents()


@st.composite
def damaged(draw, content):
    """Draw a content with a few bytes changed, a piece lost, or a piece put in."""
    made = bytearray(content)
    for at, byte in draw(st.lists(st.tuples(st.integers(0, len(made) - 1), st.integers(0, 255)), max_size=4)):
        made[at] = byte
    start = draw(st.integers(0, len(made)))
    stop = draw(st.sampled_from([start, len(made)]) | st.integers(start, len(made)))
    made[start:stop] = draw(st.binary(max_size=8))
    return bytes(made)


def test_files_as_they_were_are_read(tmp_path):
    for name, content in CONTENTS.items():
        (tmp_path / name).write_bytes(content)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BlanketsWarning)
            assert bl.discover(tmp_path / name, "t").target == "t"


@pytest.mark.parametrize("name", sorted(CONTENTS.keys() - {"x.dta"}))
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damaged_files(tmp_path, name, data):
    _read_or_refused(tmp_path / name, data.draw(damaged(CONTENTS[name])))


@pytest.mark.skipif("x.dta" not in CONTENTS, reason="needs pyreadstat")
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damaged_files_that_another_process_reads_first(tmp_path, data):  # which takes a second each
    _read_or_refused(tmp_path / "x.dta", data.draw(damaged(CONTENTS["x.dta"])))


def _read_or_refused(path, content):
    path.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", BlanketsWarning)
        try:
            blanket = bl.discover(path, "t", missing="level")
        except BlanketsError:
            return
    assert blanket.target == "t"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("x.csv", b"", "is empty or does not begin with a line of column names"),
        ("x.csv", bytes(range(256)) * 20, "is not UTF-8 text"),
        ("x.csv", CONTENTS["x.parquet"], "is a Parquet file, not text"),
        ("x.parquet", CONTENTS["x.csv"], "cannot be read"),
        ("x.parquet", CONTENTS["x.parquet"][:-9], "cannot be read"),
        ("x.csv.gz", CONTENTS["x.csv.gz"][:40], "cannot be read"),
    ],
)
def test_files_that_are_something_else(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=said):
        bl.discover(tmp_path / name, "t")


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damaged_networks(tmp_path, data):
    path = tmp_path / "x.bif"
    path.write_bytes(data.draw(damaged(BIF.encode())))
    try:
        network = Network.from_bif(path)
    except BlanketsError:
        return
    assert network.sample(3, rng=0).n_rows == 3
