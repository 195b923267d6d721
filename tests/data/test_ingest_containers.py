"""The same table in every container gives the same frame."""

import datetime
import decimal
import math
import sys
import zoneinfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from blankets.data import Frame, Reading, _tables, ingest
from blankets.data._readers import from_any
from blankets.errors import BlanketsWarning, DataError, ManyLevelsWarning, ReadingWarning, TargetError

SEX = ["f", "m", "m", "f", "m", "f"]
STAGE = ["II", "I", "III", "I", "II", "II"]
CHILDREN = [2, 0, 1, 0, 7, 1]
DOSE = [0.5, 1.0, 0.5, 2.0, 1.0, 2.0]
CURED = [True, False, True, True, False, False]
COLUMNS = {"sex": SEX, "stage": STAGE, "children": CHILDREN, "dose": DOSE, "cured": CURED}
EXPECTED_LEVELS = (("f", "m"), ("I", "II", "III"), (0, 1, 2, 7), (0.5, 1, 2), (False, True))
EXPECTED_CODES = [
    [0, 1, 1, 0, 1, 0],
    [1, 0, 2, 0, 1, 1],
    [2, 0, 1, 0, 3, 1],
    [0, 1, 0, 2, 1, 2],
    [1, 0, 1, 1, 0, 0],
]


def codes(frame: Frame) -> list[list[int]]:
    return [frame.column(j).tolist() for j in range(frame.n_columns)]


def structured() -> np.ndarray:
    rows = list(zip(*COLUMNS.values(), strict=True))
    return np.array(rows, dtype=[("sex", "U1"), ("stage", "U3"), ("children", "i4"), ("dose", "f4"), ("cured", "?")])


CONTAINERS = {
    "dict of lists": lambda: COLUMNS,
    "dict of arrays": lambda: {name: np.array(values) for name, values in COLUMNS.items()},
    "dict of series": lambda: {
        "sex": pd.Series(SEX),
        "stage": pl.Series(STAGE),
        "children": pa.array(CHILDREN),
        "dose": pa.chunked_array([DOSE[:2], DOSE[2:]]),
        "cured": pd.Index(CURED),
    },
    "pandas": lambda: pd.DataFrame(COLUMNS),
    "pandas object": lambda: pd.DataFrame(COLUMNS).astype(object),
    "pandas nullable": lambda: pd.DataFrame(COLUMNS).convert_dtypes(),
    "pandas arrow": lambda: pd.DataFrame(COLUMNS).convert_dtypes(dtype_backend="pyarrow"),
    "pandas category": lambda: pd.DataFrame(COLUMNS).astype({"sex": "category", "stage": "category"}),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "polars categorical": lambda: pl.DataFrame(COLUMNS).with_columns(pl.col("sex", "stage").cast(pl.Categorical)),
    "polars enum": lambda: pl.DataFrame(COLUMNS).with_columns(pl.col("stage").cast(pl.Enum(["I", "II", "III"]))),
    "arrow": lambda: pa.table(COLUMNS),
    "arrow chunked": lambda: pa.concat_tables([pa.table(COLUMNS).slice(0, 4), pa.table(COLUMNS).slice(4)]),
    "arrow large string": lambda: pl.DataFrame(COLUMNS).to_arrow(),
    "arrow string view": lambda: pl.DataFrame(COLUMNS).to_arrow(compat_level=pl.CompatLevel.newest()),
    "structured array": structured,
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_same_frame_from_every_container(container):
    done = ingest(CONTAINERS[container](), "cured")
    assert done.frame.names == tuple(COLUMNS)
    assert done.frame.levels == EXPECTED_LEVELS
    assert codes(done.frame) == EXPECTED_CODES
    assert done.target == 4
    assert done.unlabeled is None
    assert [type(level) for level in done.frame.levels[2]] == [int] * 4


def test_levels_do_not_depend_on_row_order():
    frame, shuffled = pd.DataFrame(COLUMNS), pd.DataFrame(COLUMNS).iloc[::-1]
    assert ingest(frame, "cured").frame.levels == ingest(shuffled, "cured").frame.levels


MATRIX = np.array([[0, 3, 1], [1, 3, 0], [2, 1, 1], [1, 1, 0], [0, 3, 0]])


@pytest.mark.parametrize(
    "matrix",
    [
        MATRIX,
        MATRIX.astype(np.uint8),
        MATRIX.astype(float),
        MATRIX.astype(">i2"),
        np.asfortranarray(MATRIX),
        np.lib.stride_tricks.as_strided(MATRIX, writeable=False),
        MATRIX.tolist(),
        MATRIX.astype(object),
        np.ma.masked_array(MATRIX),
        np.asmatrix(MATRIX),
        pd.DataFrame(MATRIX),
    ],
    ids=[
        "int",
        "uint8",
        "float",
        "big-endian",
        "Fortran",
        "read-only",
        "lists",
        "object",
        "masked",
        "matrix",
        "pandas",
    ],
)
def test_matrices(matrix):
    done = ingest(matrix, 2)
    prefix = "" if isinstance(matrix, pd.DataFrame) else "x"
    assert done.frame.names == tuple(f"{prefix}{j}" for j in range(3))
    assert done.frame.levels == ((0, 1, 2), (1, 3), (0, 1))
    assert codes(done.frame) == [[0, 1, 2, 1, 0], [1, 1, 0, 0, 1], [1, 0, 1, 0, 0]]
    assert done.target == 2


def test_matrix_columns_wider_than_one_block():
    matrix = np.random.default_rng(1).integers(0, 3, (40, 1100))
    frame = ingest(matrix).frame
    assert frame.n_columns == 1100
    assert np.array_equal(frame.blocks[0].codes.T, matrix)


def test_strings_and_truth_values_in_matrices():
    assert ingest(np.array([["b", "x"], ["a", "x"], ["b", "y"]])).frame.levels == (("a", "b"), ("x", "y"))
    frame = ingest(np.array([[True, False], [False, False], [True, True]])).frame
    assert frame.levels == ((False, True), (False, True))
    assert codes(frame) == [[1, 0, 1], [0, 0, 1]]


def test_target_by_negative_number_and_by_made_up_name():
    assert ingest(MATRIX, -1).target == 2
    assert ingest(MATRIX, "x1").target == 1


def test_integer_names_become_texts_and_target_may_be_given_as_integer():
    frame = pd.DataFrame({10: [0, 1, 0], 20: ["a", "b", "b"]})
    done = ingest(frame, 20)
    assert done.frame.names == ("10", "20")
    assert done.target == 1


@pytest.mark.parametrize(
    "column",
    [
        pd.Categorical(["b", "a", "b"], categories=["b", "z", "a"]),
        pl.Series(["b", "a", "b"], dtype=pl.Enum(["b", "z", "a"])),
        pa.DictionaryArray.from_arrays(pa.array([0, 2, 0]), pa.array(["b", "z", "a"])),
        pd.Series(pd.Categorical(["b", "a", "b"], categories=["b", "z", "a"]), dtype="category"),
    ],
    ids=["pandas", "polars", "arrow", "series"],
)
def test_declared_levels_keep_their_order_and_stay_when_unused(column):
    column = pd.Series(column) if isinstance(column, pd.Categorical) else column
    done = ingest({"grade": column, "t": [0, 1, 1]}, "t")
    assert done.frame.levels[0] == ("b", "z", "a")
    assert done.frame.arities.tolist() == [3, 2]
    assert done.frame.column(0).tolist() == [0, 2, 0]
    assert done.report.unused_levels == {"grade": ("z",)}


def test_polars_categories_of_other_columns_are_not_levels():
    pl.Series([f"elsewhere {k}" for k in range(300)], dtype=pl.Categorical)
    column = pl.Series(["late", "early", None, "late"], dtype=pl.Categorical)
    done = ingest({"c": column, "t": [0, 1, 1, 1]}, "t", reading=Reading(missing="level"))
    assert done.frame.levels[0] == ("early", "late", "missing")
    assert done.frame.column(0).tolist() == [1, 0, 2, 1]


def test_arrow_dictionaries_that_differ_between_chunks_or_hold_null():
    column = pa.chunked_array([pa.array(["x", "y"]).dictionary_encode(), pa.array(["z", None]).dictionary_encode()])
    done = ingest({"c": column, "t": [0, 1, 1, 0]}, "t", reading=Reading(missing="level"))
    assert done.frame.levels[0] == ("x", "y", "z", "missing")
    assert done.frame.column(0).tolist() == [0, 1, 2, 3]
    inner = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0]), pa.array(["x", None, "y"]))
    done = ingest({"c": inner, "t": [0, 1, 1, 0]}, "t", reading=Reading(missing="level"))
    assert done.frame.levels[0] == ("x", "y", "missing")
    assert done.frame.column(0).tolist() == [0, 2, 1, 0]


def test_categories_that_are_intervals_or_numbers():
    ages = pd.cut(pd.Series([1, 15, 30, 2]), [0, 10, 20, 40])
    done = ingest({"age": ages, "n": pd.Categorical([3, 1, 3, 1]).astype("category"), "t": [0, 1, 1, 1]}, "t")
    assert done.frame.levels[:2] == (("(0, 10]", "(10, 20]", "(20, 40]"), (1, 3))


def test_pandas_sparse_columns():
    frame = pd.DataFrame({"a": pd.arrays.SparseArray([0, 1, 0, 2]), "t": [0, 1, 1, 0]})
    assert ingest(frame, "t").frame.column(0).tolist() == [0, 1, 0, 2]


GAPS = {
    "list": [1, None, 2, 1],
    "object NaN": np.array([1, np.nan, 2, 1], dtype=object),
    "pandas NaN": pd.Series([1, np.nan, 2, 1]),
    "pandas NA": pd.Series([1, pd.NA, 2, 1], dtype="Int64"),
    "pandas NA in objects": pd.Series([1, pd.NA, 2, 1], dtype=object),
    "pandas Float64": pd.Series([1, pd.NA, 2, 1], dtype="Float64"),
    "pandas arrow": pd.Series([1, None, 2, 1], dtype="int64[pyarrow]"),
    "numpy NaN": np.array([1, np.nan, 2, 1]),
    "numpy masked": np.ma.masked_array([1, 9, 2, 1], mask=[False, True, False, False]),
    "polars null": pl.Series([1, None, 2, 1]),
    "polars NaN": pl.Series([1.0, float("nan"), 2.0, 1.0]),
    "arrow null": pa.array([1, None, 2, 1]),
    "arrow NaN": pa.array([1.0, float("nan"), 2.0, 1.0]),
    "arrow null float": pa.array([1.0, None, 2.0, 1.0]),
}


@pytest.mark.parametrize("kind", GAPS)
def test_every_kind_of_missing_number(kind):
    done = ingest({"a": GAPS[kind], "t": ["x", "y", "y", "x"]}, "t", reading=Reading(missing="level"))
    assert done.frame.levels[0] == (1, 2, "missing")
    assert done.frame.column(0).tolist() == [0, 2, 1, 0]


@pytest.mark.parametrize(
    "column",
    [
        ["u", None, "v", "u"],
        np.array(["u", np.nan, "v", "u"], dtype=object),
        pd.Series(["u", None, "v", "u"]),
        pd.Series(["u", None, "v", "u"], dtype="category"),
        pd.Series(["u", None, "v", "u"], dtype="string"),
        pl.Series(["u", None, "v", "u"]),
        pl.Series(["u", None, "v", "u"], dtype=pl.Enum(["u", "v"])),
        pa.array(["u", None, "v", "u"]),
    ],
)
def test_every_kind_of_missing_text(column):
    done = ingest({"a": column, "t": [0, 1, 1, 0]}, "t", reading=Reading(missing="level"))
    assert done.frame.levels[0] == ("u", "v", "missing")
    assert done.frame.column(0).tolist() == [0, 2, 1, 0]


@pytest.mark.parametrize(
    "column",
    [
        [True, None, False, True],
        pd.Series([True, pd.NA, False, True], dtype="boolean"),
        pl.Series([True, None, False, True]),
        pa.array([True, None, False, True]),
    ],
)
def test_every_kind_of_missing_truth_value(column):
    done = ingest({"a": column, "t": [0, 1, 1, 0]}, "t", reading=Reading(missing="level"))
    assert done.frame.levels[0] == (False, True, "missing")
    assert done.frame.column(0).tolist() == [1, 2, 0, 1]


@pytest.mark.parametrize("column", [[None] * 4, pl.Series([None] * 4), pa.nulls(4), pd.Series([np.nan] * 4)])
def test_columns_without_any_value_are_constant(column):
    with pytest.warns(BlanketsWarning, match="single value, or none: 'a'"):
        done = ingest({"a": column, "b": [0, 0, 1, 1], "t": [0, 1, 1, 0]}, "t")
    assert done.frame.names == ("b", "t")


def test_more_than_256_levels_take_a_wide_block():
    values = np.tile(np.arange(300), 5)
    with pytest.warns(ManyLevelsWarning, match=r"'wide' \(300 levels\)"):
        done = ingest(
            {"narrow": values % 7, "wide": values.astype(str)}, reading=Reading(discretize={"narrow": "none"})
        )
    assert [block.codes.dtype for block in done.frame.blocks] == [np.uint8, np.int32]
    labels = np.array(done.frame.levels[1])
    assert np.array_equal(labels[done.frame.column(1)], values.astype(str))


def test_big_python_integers_and_unsigned_extremes():
    done = ingest({"a": [2**70, 1, 1], "b": np.array([2**64 - 1, 2**64 - 3, 2**64 - 1], np.uint64), "t": [0, 1, 1]})
    assert done.frame.levels[:2] == ((1, 2**70), (2**64 - 3, 2**64 - 1))


def test_narrow_integers_do_not_overflow():
    done = ingest({"a": np.array([-128, 127, 0], np.int8), "t": [0, 1, 1]})
    assert done.frame.levels[0] == (-128, 0, 127)
    assert done.frame.column(0).tolist() == [0, 2, 1]


def test_frame_passes_through():
    frame = Frame.from_codes(MATRIX, names=["a", "b", "c"])
    assert ingest(frame).frame is frame
    assert ingest(frame, "c").target == 2
    assert ingest(frame, 1).target == 1
    done = ingest(frame, y=["no", "yes", None, "yes", "no"])
    assert done.frame.names == ("a", "b", "c", "target")
    assert done.frame.levels[3] == ("no", "yes")
    assert done.unlabeled is not None
    assert done.unlabeled.tolist() == [False, False, True, False, False]
    assert ingest(frame, "c", reading=Reading(exclude=["a"])).frame.names == ("b", "c")
    assert ingest(frame, "c", reading=Reading(exclude=["a"])).frame.column(0).tolist() == frame.column(1).tolist()
    assert done.encoder.transform(frame).names == ("a", "b", "c")
    with pytest.raises(TargetError, match="no target column 'd'"):
        ingest(frame, "d")
    with pytest.raises(TargetError, match="no column 3"):
        ingest(frame, 3)
    with pytest.raises(TargetError, match="same value in all rows"):
        ingest(Frame.from_codes([[0, 1], [0, 0]]), 0)


def test_lazy_tables_are_refused():
    with pytest.raises(DataError, match=r"lazy table \(polars.LazyFrame\) has no rows yet; collect it first"):
        ingest(pl.DataFrame(COLUMNS).lazy(), "cured")


def test_what_is_no_table_is_refused():
    with pytest.raises(DataError, match=r"builtins.int is not a table.*pandas, polars or Arrow"):
        ingest(3)
    with pytest.raises(DataError, match=r"two axes .* has 1; a single column is"):
        ingest(np.arange(3))
    with pytest.raises(DataError, match="list of rows"):
        ingest([1, 2])
    with pytest.raises(DataError, match="rows differ in length: between 1 and 2"):
        ingest([[1, 2], [1]])
    with pytest.raises(DataError, match="'a' has 2 rows, 'b' has 3"):
        ingest({"a": [1, 2], "b": [1, 2, 3]})
    with pytest.raises(DataError, match="column 'a' must be a list or an array, but it is a str"):
        ingest({"a": "no"})


def test_narwhals_and_arrow_streams():
    import narwhals as nw

    class Stream:
        def __arrow_c_stream__(self, requested_schema=None):
            return pa.table(COLUMNS).__arrow_c_stream__(requested_schema)

    assert codes(ingest(nw.from_native(pl.DataFrame(COLUMNS)), "cured").frame) == EXPECTED_CODES
    assert codes(ingest(Stream(), "cured").frame) == EXPECTED_CODES


def test_array_like_columns_and_targets():
    class Wrapped:
        ndim = 1

        def __array__(self, dtype=None, copy=None):
            return np.array([1, 2, 1])

        def __len__(self):
            return 3

    assert ingest({"a": Wrapped(), "b": [0, 0, 1]}).frame.column(0).tolist() == [0, 1, 0]


REFUSED = {
    "polars list": (pl.Series([[1], [2]]), "is nested .*spread it over plain columns"),
    "polars bytes": (pl.Series([b"a", b"b"]), "is of type Binary"),
    "polars object": (pl.Series([{1}, {2}], dtype=pl.Object), "is nested .*type set"),
    "arrow struct": (pa.array([{"a": 1}, {"a": 2}]), "is nested .*struct"),
    "arrow bytes": (pa.array([b"a", b"b"]), "is of type binary"),
    "arrow dictionary of bytes": (pa.array([b"a", b"b"]).dictionary_encode(), "is of type dictionary<values=binary"),
    "complex": (np.array([1j, 2j]), "is of type complex128"),
    "bytes": (np.array([b"a", b"b"]), "is of type |S1"),
    "interval": (pd.Series(pd.interval_range(0, 2)), "is of type interval"),
    "tuples": ([(1, 2), (3, 4)], "is nested .*tuple"),
    "objects": ([object(), object()], "values of type object; convert it to text"),
    "mixed": ([1, "a"], "mixes kinds of values: 1 in row 0 is a whole number, 'a' in row 1 a text"),
    "truth and numbers": ([True, 0], "True in row 0 is a truth value, 0 in row 1 a whole number"),
}


MOMENTS = [datetime.datetime(1970, 1, 2, 6), datetime.datetime(1969, 12, 31), None, datetime.datetime(1970, 1, 3)]
ZONED = [None if m is None else m.replace(tzinfo=datetime.UTC) for m in MOMENTS]
BERLIN = [None if m is None else m.astimezone(zoneinfo.ZoneInfo("Europe/Berlin")) for m in ZONED]
DAYS = [None if m is None else m.date() for m in MOMENTS]
LENGTHS = [datetime.timedelta(1, 21_600), datetime.timedelta(-1), None, datetime.timedelta(2)]
CLOCKS = [datetime.time(6), datetime.time(12), None, datetime.time(18)]
FRACTIONS, WHOLE, PARTS = [1.25, -1, None, 2], [1, -1, None, 2], [0.25, 0.5, None, 0.75]
DATED = {
    "datetime64[h]": (np.array(MOMENTS, "M8[h]"), FRACTIONS, "date"),
    "datetime64[ns]": (np.array(MOMENTS, "M8[ns]"), FRACTIONS, "date"),
    "datetime64[D]": (np.array(DAYS, "M8[D]"), WHOLE, "date"),
    "timedelta64": (np.array(LENGTHS, "m8[m]"), FRACTIONS, "duration"),
    "timestamps": (pd.Series(pd.to_datetime(MOMENTS)), FRACTIONS, "date"),
    "time zone": (pd.Series(pd.to_datetime(BERLIN)), FRACTIONS, "date"),
    "period": (pd.Series(pd.to_datetime(DAYS)).dt.to_period("D"), WHOLE, "date"),
    "durations": (pd.Series(pd.to_timedelta(LENGTHS)), FRACTIONS, "duration"),
    "date objects": (DAYS, WHOLE, "date"),
    "aware objects": (BERLIN, FRACTIONS, "date"),
    "duration objects": (LENGTHS, FRACTIONS, "duration"),
    "NumPy's own": ([np.timedelta64(36, "h"), None, np.timedelta64(-24, "h")], [1.5, None, -1], "duration"),
    "clocks": (CLOCKS, PARTS, "time"),
    "polars date": (pl.Series(DAYS), WHOLE, "date"),
    "polars moments": (pl.Series(MOMENTS), FRACTIONS, "date"),
    "polars time zone": (pl.Series(BERLIN, dtype=pl.Datetime("us", "Europe/Berlin")), FRACTIONS, "date"),
    "polars duration": (pl.Series(LENGTHS), FRACTIONS, "duration"),
    "polars clock": (pl.Series(CLOCKS), PARTS, "time"),
    "arrow date32": (pa.array(DAYS, pa.date32()), WHOLE, "date"),
    "arrow date64": (pa.array(DAYS, pa.date64()), WHOLE, "date"),
    "arrow moments": (pa.array(BERLIN, pa.timestamp("ms", "Europe/Berlin")), FRACTIONS, "date"),
    "arrow duration": (pa.array(LENGTHS, pa.duration("s")), FRACTIONS, "duration"),
    "arrow clock": (pa.array(CLOCKS, pa.time32("s")), PARTS, "time"),
}


@pytest.mark.parametrize("kind", DATED)
def test_dates_durations_and_times_of_day_are_numbers_of_days(kind):
    values, days, origin = DATED[kind]
    column = from_any(values)
    assert [None if math.isnan(day) else day for day in column.floats()] == days
    assert column.origin.kind == origin
    assert (column.values.dtype.kind == "i") == (days == WHOLE)


def test_decimal_numbers_are_numbers():
    values = [decimal.Decimal("1.5"), None, decimal.Decimal("-2"), decimal.Decimal("Infinity")]
    for made in (values[:3], pl.Series(values[:3]), pa.array(values[:3])):
        column = from_any(made)
        assert (column.values[[0, 2]].tolist(), column.n_missing) == ([1.5, -2], 1)
    assert from_any(values).n_infinite == 1
    large = [decimal.Decimal(2**63 + k) for k in range(30)]
    assert from_any(large).values.tolist() == [2**63 + k for k in range(30)]  # exact


def test_dates_are_told_and_are_no_identifiers():
    n = 60
    days = np.arange(n) + np.datetime64("2024-01-01")
    table = {"visit": days, "born": days.astype(object), "a": [0, 1] * 30, "t": [0, 0, 1, 1] * 15}
    with pytest.warns(
        ReadingWarning, match=r"2 columns hold dates and were read as numbers of days since 1970-01-01: 'visit', 'b"
    ):
        done = ingest(table, "t", reading=Reading(keep=["born"]), numbers=True)
    assert done.report.numbers == ("visit", "born")
    new = done.encoder.transform(
        {"visit": days[:3], "born": ["2024-01-02", "2024-01-03", "2024-01-04"], "a": [0, 1, 1]}
    )
    assert np.diff(new.numbers[0].values).tolist() == [1, 1]
    assert new.numbers[1].values[0] == new.numbers[0].values[1]


def test_dates_some_of_which_have_a_time_zone():
    mixed = [MOMENTS[0], ZONED[1]] * 5
    with pytest.warns(ReadingWarning, match="Left out: 'd' holds dates some of which have a time zone; give all"):
        ingest({"d": mixed, "a": [0, 1] * 5, "t": [0, 1, 1, 0, 1] * 2}, "t")


def test_numbers_stored_as_text_in_a_data_frame():
    n = 60
    rng = np.random.default_rng(3)
    wage, age = (rng.lognormal(7, 1, n)).round(2), rng.integers(20, 90, n)
    table = {
        "wage": [f"€{value:,.2f}" for value in wage],
        "age": [str(value) if k else "?" for k, value in enumerate(age)],
        "area": [str(value) for value in age],  # whole numbers without a gap: somebody made texts of codes
        "zip": [f"0{value}.5" for value in age],  # numbers do not begin with 0
        "few": ["1.5", "2.5", "3.5"] * 20,
        "both": [1.5, "n/a", 2.5, 7] * 15,
        "t": rng.integers(0, 2, n),
    }
    with pytest.warns(ReadingWarning) as said:
        done = ingest(table, "t", reading=Reading(keep=["area", "zip"]), numbers=True)
    assert done.report.numbers == ("wage", "age")
    assert done.frame.numbers[0].values.tolist() == wage.tolist()
    assert done.frame.levels[4] == ("1.5", "2.5", "3.5")
    assert done.frame.levels[5] == (1.5, 2.5, 7)
    assert [str(one.message) for one in said][:2] == [
        f"2 columns hold numbers stored as text and were read as numbers ({table_example(table)}): 'wage', 'age'.",
        "'?', 'n/a' was read as missing: in 'age', 'both'; na=[] keeps it as a value.",
    ]


def table_example(table):
    first = min(table["wage"])
    return f"{first!r} = {float(first.strip('€').replace(',', '')):.10g}"


@pytest.mark.parametrize("kind", REFUSED)
def test_columns_without_levels_are_refused_by_name(kind):
    column, message = REFUSED[kind]
    with pytest.raises(DataError, match=f"column 'odd' .*{message}"):
        ingest({"odd": column, "t": [0, 1]}, "t")  # there is no other column
    with pytest.raises(TargetError, match=f"the target 'odd' .*{message}"):
        ingest({"odd": column, "t": [0, 1]}, "odd")
    assert ingest({"odd": column, "t": [0, 1]}, reading=Reading(exclude=["odd"])).frame.names == ("t",)


def test_arrow_stream_without_pyarrow(monkeypatch):
    class Stream:
        def __arrow_c_stream__(self, requested_schema=None):
            raise AssertionError

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'blankets\[arrow\]'"):
        ingest(Stream())


texts = st.lists(st.sampled_from(["a", "b", "ü <b>", "c d"]) | st.none(), min_size=2, max_size=30)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), text=texts)
def test_property_all_containers_and_csv_agree(data, text, tmp_path):
    n = len(text)
    whole = data.draw(st.lists(st.integers(-3, 3) | st.none(), min_size=n, max_size=n))
    real = data.draw(st.lists(st.sampled_from([0.25, -1.5, 3.0, 1e10]) | st.none(), min_size=n, max_size=n))
    columns = {"text": text, "whole": whole, "real": real}
    polars = pl.DataFrame(columns, schema={"text": pl.String, "whole": pl.Int64, "real": pl.Float64})
    polars.write_csv(tmp_path / "t.csv")
    polars.write_parquet(tmp_path / "t.parquet")
    every = ["text", "whole", "real"]
    frames = [
        ingest(table, reading=Reading(missing="level", keep=every)).frame
        for table in (
            polars,
            polars.to_arrow(),
            pd.DataFrame(columns),
            columns,
            str(tmp_path / "t.csv"),
            tmp_path / "t.parquet",
        )
    ]
    assert len({frame.fingerprint() for frame in frames}) == 1


@pytest.mark.parametrize("format", ["csc", "csr", "coo", "lil", "dok", "bsr", "dia"])
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix])
def test_sparse_formats(format, kind):
    done = ingest(kind(MATRIX * (MATRIX != 3)).asformat(format), 2)
    assert done.frame.levels == ((0, 1, 2), (0, 1), (0, 1))
    assert codes(done.frame) == [[0, 1, 2, 1, 0], [0, 0, 1, 1, 0], [1, 0, 1, 0, 0]]
    assert done.frame.block_of.tolist() == [0, 0, 1]


def test_whole_numbers_and_fractions_may_be_mixed():
    assert ingest({"a": [1, 2.5, 1], "t": [0, 0, 1]}).frame.levels[0] == (1, 2.5)


def test_a_wide_matrix_is_read_by_several_threads_and_a_large_one_is_not_copied(monkeypatch):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(70, 300))
    values[:, 7] = values[:, 3]  # repeats another
    values[:, 9] = 1.0
    values[:, 11] = rng.integers(0, 2, 70)
    values[4, 13] = np.nan
    one_by_one = {f"x{j}": values[:, j].copy() for j in range(300)}
    monkeypatch.setattr(_tables, "WIDE", 100)
    monkeypatch.setattr(_tables, "LASTING_BYTES", 1000)
    for matrix in (values, np.asfortranarray(values)):
        with pytest.warns(BlanketsWarning):
            wide = ingest(matrix, 20, numbers=True)
        with pytest.warns(BlanketsWarning):
            plain = ingest(one_by_one, "x20", numbers=True)
        assert wide.frame.names == plain.frame.names
        assert wide.frame.fingerprint() == plain.frame.fingerprint()
        assert wide.report.left_out == plain.report.left_out
        assert wide.frame.holes == plain.frame.holes == {wide.frame.index("x13")}
        for j, number in wide.frame.numbers.items():
            np.testing.assert_array_equal(number.values, plain.frame.numbers[j].values)
        not_copied = [np.shares_memory(number.values, matrix) for number in wide.frame.numbers.values()]
        assert sum(not_copied) >= len(not_copied) - 2  # but for the target, and the column with a gap
        assert not not_copied[list(wide.frame.numbers).index(wide.frame.index("x13"))]


@pytest.mark.parametrize("n_levels", [3, 6000])
def test_many_short_texts_are_read_as_objects_are(n_levels):
    rng = np.random.default_rng(0)
    texts = np.array([f"é {k % 97}{'x' * (k % 5)}{k}" for k in range(n_levels)])[rng.integers(0, n_levels, 9000)]
    short, plain = from_any(texts), from_any(texts.astype(object))
    assert texts.dtype.itemsize <= 64
    assert short.levels == plain.levels == tuple(sorted(set(texts.tolist())))
    assert (short.codes == plain.codes).all()
    assert (np.array(short.levels)[short.codes] == texts).all()
