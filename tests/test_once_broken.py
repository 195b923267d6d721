"""What was broken once and has no other place."""

import math

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

import blankets as bl
from blankets.counting import MemoryCounter
from blankets.data import Frame
from blankets.errors import DataError
from blankets.independence import CalibratedTests


def test_a_sparse_matrix_with_a_row_beyond_its_shape():
    rng = np.random.default_rng(0)
    matrix = sparse.coo_array(rng.integers(0, 3, (400, 2)))
    matrix.coords = (matrix.coords[0].copy(), matrix.coords[1])
    matrix.coords[0][0] = 10**6
    with pytest.raises(DataError, match="damaged"):
        bl.discover(matrix, 1)


def test_arrow_text_that_is_not_utf8():
    offsets = pa.py_buffer(np.array([0, 2], np.int32).tobytes())
    broken = pa.Array.from_buffers(pa.string(), 1, [None, offsets, pa.py_buffer(b"\xff\xfe")])
    texts = pa.concat_arrays([broken, pa.array(["x", "y"] * 200)])
    with pytest.raises(DataError, match="UTF-8"):
        bl.discover(pa.table({"a": texts, "t": np.arange(401) % 2}), "t")


@pytest.mark.filterwarnings("ignore::blankets.errors.BlanketsWarning")
def test_a_target_that_was_left_out_says_why():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 400)
    b = (a + (rng.random(400) < 0.2)) % 2
    found = bl.discover_all({"a": a, "b": b, "copy": a, "constant": np.ones(400, int)})
    assert {name: blanket.members for name, blanket in found.items()} == {"a": ("b",), "b": ("a",)}
    with pytest.raises(KeyError, match="the column was not searched, as it repeats 'a'"):
        found["copy"]
    with pytest.raises(KeyError, match="the column was not searched, as it has a single value"):
        found["constant"]


@pytest.mark.parametrize("seed", range(4))
def test_causes_are_not_told_from_effects_where_no_data_can(seed):
    # y -> t0, t1, t2: no edge of its equivalence class has a direction.
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 1000)
    blurred = [np.where(rng.random(1000) < share, y, rng.integers(0, 2, 1000)) for share in (0.5, 0.35, 0.25)]
    table = {f"t{i}": column for i, column in enumerate(blurred)}
    roles = bl.discover({**table, "y": y}, "y", algorithm="pcmb").roles
    assert set(roles.values()) == {"neighbor"}


@pytest.mark.compiled
@pytest.mark.parametrize("seed", range(3))
def test_a_set_that_separates_is_not_passed_over(seed):
    # x and y are independent given all of seven binary columns.
    rng = np.random.default_rng(49_000 + seed)
    z = rng.integers(0, 2, (700, 7))
    share = 0.5 + 0.36 * rng.choice([-1, 1], 128)[z @ (1 << np.arange(7))]
    codes = np.column_stack([rng.random(700) < share, rng.random(700) < share, z]).astype(int)
    tests = CalibratedTests(MemoryCounter(Frame.from_codes(codes.tolist())), level=0.01)
    whole = tests.test(1, 0, given=range(2, 9))
    separated = tests.separate([1], 0, range(2, 9), stop_at=0.01)[0]
    assert whole.log_p > math.log(0.01)
    assert separated.log_p > math.log(0.01)
