"""What was broken once and has no other place."""

import math
import subprocess
import sys
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
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
    roles = bl.discover({**table, "y": y}, "y", algorithm="pcmb", roles=True).roles
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


def _clinic(n=600):
    """Return numbers and a class of two levels, and a group without any positive."""
    rng = np.random.default_rng(8)
    age, group = rng.normal(size=n), rng.integers(0, 2, n)
    ill = (rng.random(n) < np.where(group == 1, 0.0, 0.6)).astype(float)
    return rng, {"age": age, "group": group, "ill": ill}


def test_complete_rows_are_counted_among_all_rows():
    rng, table = _clinic()
    table["age"][rng.random(600) < 0.1] = np.nan
    complete = int(np.isfinite(table["age"]).sum())
    labels = np.where(rng.random(600) < 0.4, table["ill"], np.nan)
    found = bl.discover(table | {"ill": labels}, "ill", labels="mcar")
    for text in (str(found), str(found.check_assumptions())):
        assert f"{complete} of 600 rows" in " ".join(text.split())


def test_a_group_without_labeled_positives_limits_the_risk_ratio():
    rng, table = _clinic()
    labeled = (table["ill"] == 1) & (rng.random(600) < 0.5)
    found = bl.discover(table | {"ill": labeled.astype(int)}, "ill", labels="pu")
    assert found.members == ("group",)
    n0, n1, k = int((table["group"] == 0).sum()), int((table["group"] == 1).sum()), int(labeled.sum())
    limit = math.expm1(3.841459 / (2 * k)) * n0 / n1  # 2k ln(1 + n1 r / n0) is chi-square at the limit r
    assert found.to_frame().loc[0, "high_95"] == pytest.approx(limit, rel=0.01)
    assert "no limit" not in str(found)


def test_no_stable_feature_has_no_expected_errors():
    table = {f"x{i}": column for i, column in enumerate(np.random.default_rng(3).normal(size=(4, 200)))}
    text = " ".join(str(bl.stability(table, "x0", n_resamples=6, rng=0)).split())
    assert "In at least 90% of the draws: no feature." in text
    assert "Of these" not in text


@pytest.mark.filterwarnings("ignore::blankets.errors.BlanketsWarning")
@pytest.mark.parametrize("values", [np.full(80, np.nan), np.array([None] * 80, dtype=object)])
@pytest.mark.parametrize("missing", ["testwise", "weighted", "drop", "level"])
def test_a_kept_column_without_any_value(values, missing):
    """It has no level that could be counted; with missing="level" it is a constant."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.integers(0, 2, 80), "e": values, "t": rng.integers(0, 2, 80)})
    how = {"keep": ["e"], "missing": missing}
    assert "e" not in bl.discover_all(table, **how)["t"].members
    assert "e" not in bl.stability(table, "t", n_resamples=2, rng=0, **how).members
    if missing == "level":
        assert bl.test(table, "e", "t", **how).dof == 0
    else:
        with pytest.raises(bl.errors.DataError, match=r"column 'e' was left out: it has a single value, or none$"):
            bl.test(table, "e", "t", **how)


@pytest.mark.filterwarnings("ignore::blankets.errors.BlanketsWarning")
def test_the_prior_of_poor_tables():
    table = {"same": [1] * 30, "y": [1.0] * 5 + [np.nan] * 25}
    with pytest.raises(bl.errors.DataError, match="no column but the target can be used, and it alone does not tell"):
        bl.estimate_prior(table, "y")
    with pytest.raises(bl.errors.ParameterError, match="'n_resamples' must be a whole number, at least 2, but it is 0"):
        bl.estimate_prior({**table, "same": [0, 1] * 15}, "y", n_resamples=0)
    few = {"a": [0, 1, 0], "y": [1.0, np.nan, np.nan]}
    assert 0 < bl.estimate_prior(few, "y", method="tice", n_resamples=20, rng=0).value < 1


@pytest.mark.parametrize("odd", [Decimal("sNaN"), Decimal("1e99999999"), Decimal("-1e99999999"), Decimal("0e99999999")])
def test_odd_decimals_are_read_or_left_out(odd):
    """A signaling NaN is a missing value; a whole number of 100 million digits is never written out."""
    rng = np.random.default_rng(0)
    column = [odd, *(Decimal(int(k)) / 7 for k in rng.integers(0, 900, 79))]
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        found = bl.discover({"b": column, "a": rng.integers(0, 2, 80), "t": rng.integers(0, 2, 80)}, "t")
    assert ("b" in found.excluded) == (odd.is_finite() and odd.copy_abs() > 10)


def test_long_doubles_do_not_become_infinite_unseen():
    rng = np.random.default_rng(0)
    values = np.array([np.longdouble("1e400"), *rng.normal(size=79)])
    table = {"b": values, "a": rng.integers(0, 2, 80), "t": rng.integers(0, 2, 80)}
    if np.isinf(values[0]):  # this machine has no longer ones
        values[0] = np.longdouble(0)
    with pytest.raises(DataError, match=r"column 'b' holds numbers beyond 1\.8e\+308|infinite"):
        bl.discover({**table, "b": values * np.longdouble("1e10") ** 40}, "t", columns=["a", "b"])


def test_one_labeled_row_is_not_taken_for_positive_unlabeled_data():
    target = [None] * 5 + ["x"] + [None] * 294
    table = {"a": np.arange(300) % 2, "b": np.arange(300) % 3, "t": np.array(target, dtype=object)}
    with pytest.raises(bl.errors.LabelError, match="one row alone tells nothing of the others; pass labels='pu' if"):
        bl.discover(table, "t")


def test_values_in_the_names_of_folders_are_not_lost_silently(tmp_path):
    for value in (0, 1):
        (tmp_path / f"t={value}").mkdir()
        (tmp_path / f"t={value}" / "part.csv").write_text("a\n" + "0\n1\n" * 20)
    with pytest.raises(DataError, match="hold values of 't' in their names, not read here; write such columns into"):
        bl.discover(str(tmp_path), "t")


def test_the_password_of_a_database_is_not_repeated():
    with pytest.raises(DataError, match=r"@host/patients' is an address, not a file; download") as error:
        bl.SqlTable("SELECT 1", "postgres://me:SECRET@host/patients")
    assert "SECRET" not in str(error.value)


def test_the_names_of_groups_decide_nothing():
    """Sums over groups are in the order of the rows, whatever groups are called."""
    rng = np.random.default_rng(2)
    groups = np.repeat(np.arange(60), 5)
    effect = rng.normal(size=60)[groups]
    table = {name: (rng.normal(size=300) + effect > 0).astype(int) for name in "abcdt"}
    answers = [
        bl.discover(table, "t", algorithm="hiton-mb", groups=names, rng=0)
        for names in (groups, rng.permutation(60)[groups], np.array([f"g{k}" for k in rng.permutation(60)])[groups])
    ]
    said = {repr([(d.action, d.evidence.log_p) for d in found.decisions]) for found in answers}
    assert len(said) == 1


@pytest.mark.parametrize(
    "prior", [0.2, "<0.4", ">0.1", (0.1, 0.3), bl.Beta(mode=0.2), bl.less_than(0.4), bl.between(0.1, 0.4)]
)
def test_a_regime_is_written_as_it_is_made(prior):
    regime = bl.PositiveUnlabeled(prior=prior)
    again = eval(repr(regime), vars(bl).copy())
    assert repr(again) == repr(regime)
    assert again.prior.support == regime.prior.support


def test_a_full_disk_behind_the_answer_is_a_sentence(tmp_path):
    (tmp_path / "t.csv").write_text("a,t\n" + "0,0\n1,1\n0,1\n1,0\n" * 20)
    words = [sys.executable, "-m", "blankets", "rank", str(tmp_path / "t.csv"), "-t", "t"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 3
    assert done.stderr == "blankets: the answer cannot be written: No space left on device\n"


def test_more_rows_than_memory_holds_are_refused_at_once(monkeypatch):
    monkeypatch.setattr("blankets.data._room.free_memory", lambda: 10**9)
    weights = [2**31 - 3, 1, 1]
    with pytest.raises(DataError, match=r"need 34\.36 GB of memory"):
        bl.test({"a": [0, 1, 0], "t": [0, 1, 1]}, "a", "t", sample_weight=weights)


def test_memory_that_runs_out_within_scikit_learn_is_an_error_of_ours(monkeypatch):
    def full(*_, **__):
        raise MemoryError("no room")

    monkeypatch.setattr("blankets.estimators._checks.validate_data", full)
    with pytest.raises(bl.errors.EngineError, match=r"memory ran out \(no room\); take fewer columns"):
        bl.MarkovBlanketSelector().fit(np.zeros((10, 2)), [0, 1] * 5)
