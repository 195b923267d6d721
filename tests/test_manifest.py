"""What a result was made with: the call, versions, the seed, and a fingerprint that knows the data again."""

import json
import math
import platform
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import blankets as bl
from blankets.data import Frame, Manifest, ingest, manifest_of
from blankets.errors import DataError
from blankets.results import Selection, Stability

STORED = Path(__file__).parent / "stored"


def columns(n=300):
    rng = np.random.default_rng(5)
    a = rng.integers(0, 2, n)
    return {
        "a": a,
        "b": np.where(rng.random(n) < 0.1, 1 - a, a),
        "c": np.array(["low", "mid", "high"])[rng.integers(0, 3, n)],
    }


def fingerprint(data, **more):
    return bl.discover(data, "a", algorithm="iamb", **more).manifest.fingerprint


def test_the_same_table_in_other_containers_has_the_same_fingerprint(tmp_path):
    table = pd.DataFrame(columns())
    table.to_csv(tmp_path / "t.csv", index=False)
    table.to_parquet(tmp_path / "t.parquet")
    bl.pack(table, tmp_path / "packed", target="a")
    bl.pack(tmp_path / "t.csv", tmp_path / "packed too", target="a")
    same = [
        columns(),
        table,
        table.astype({"a": "float64", "b": "int8"}),
        pl.from_pandas(table),
        tmp_path / "t.csv",
        tmp_path / "t.parquet",
        tmp_path / "packed",
        tmp_path / "packed too",
        ingest(table, "a").frame,
    ]
    assert len({fingerprint(data) for data in same}) == 1
    assert len(fingerprint(table)) == 64


def test_another_table_has_another_fingerprint():
    table = pd.DataFrame(columns())
    one_cell = table.assign(b=np.where(table.index == 7, 1 - table.b, table.b))
    renamed, other_level = table.rename(columns={"b": "d"}), table.assign(c=table.c.str.replace("mid", "middle"))
    different = [table, one_cell, renamed, other_level, table[["c", "b", "a"]], table.iloc[::-1], table.iloc[:-1]]
    assert len({fingerprint(data) for data in different}) == len(different)


def test_which_labels_are_missing_belongs_to_the_data():
    table = pd.DataFrame(columns()).astype({"a": float})
    gone = [table.assign(a=table.a.where(np.arange(300) % k > 0)) for k in (3, 4)]
    found = {fingerprint(data, labels="mcar") for data in gone}
    assert len(found | {fingerprint(table)}) == 3


@pytest.mark.filterwarnings("ignore::blankets.errors.DuplicateColumnWarning")
def test_sparse_matrices_have_the_same_fingerprint_in_any_format():
    from scipy.sparse import coo_array, csc_array, csr_matrix

    codes = (np.random.default_rng(1).random((50, 5)) < 0.2).astype(np.int64)
    codes[:, 4] = codes[:, 1]  # left out as a repetition
    frames = [ingest(kind(codes)).frame for kind in (csc_array, csr_matrix, coo_array)]
    wide = csc_array(codes)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    frames.append(ingest(wide).frame)
    frames.append(ingest(csc_array(codes[:, :4]), keep=()).frame)
    assert len({frame.fingerprint() for frame in frames}) == 1
    fresh = frames[0].take(np.arange(50))  # whose hashes are not known from reading
    assert fresh.fingerprint() == frames[0].fingerprint()
    assert ingest(csc_array(1 - codes)).frame.fingerprint() != frames[0].fingerprint()


def test_digests_follow_their_columns():
    frame = Frame.from_codes(np.random.default_rng(0).integers(0, 2, (30, 3)), names=["a", "b", "c"])
    frame.fingerprint()
    changed = frame.with_column("b", 1 - frame.column(1), (0, 1))
    fresh = np.stack([frame.column(0), 1 - frame.column(1), frame.column(2)], axis=1)
    assert changed.fingerprint() == Frame.from_codes(fresh, names=["a", "b", "c"]).fingerprint()
    added = frame.with_column("d", frame.column(0), (0, 1))
    assert added.fingerprint() != frame.with_column("d", frame.column(1), (0, 1)).fingerprint()
    part = frame.select([2, 0])
    assert part.fingerprint() == Frame.from_codes(fresh[:, [2, 0]], names=["c", "a"]).fingerprint()
    assert (
        frame.take(np.arange(20)).fingerprint()
        == Frame.from_codes(
            np.stack([frame.column(j)[:20] for j in range(3)], axis=1), names=["a", "b", "c"], arities=[2, 2, 2]
        ).fingerprint()
    )


def test_numbers_that_are_not_binned_have_one_too():
    rng = np.random.default_rng(0)
    numbers = pd.DataFrame(rng.normal(size=(80, 3)), columns=list("abc"))
    prints = {fingerprint(data, test="fisher-z") for data in (numbers, pl.from_pandas(numbers), numbers + 1e-9)}
    assert len(prints) == 2


def test_a_manifest_tells_call_versions_and_seed():
    made = bl.discover(columns(), "a", algorithm="kiamb", alpha=0.05, k=0.5, rng=11).manifest
    assert (made.call, made.seed) == ("discover", 11)
    assert (made.arguments["alpha"], made.arguments["k"], made.arguments["missing"]) == (0.05, 0.5, "error")
    assert made.versions["python"] == platform.python_version()
    assert (made.versions["numpy"], made.versions["blankets"]) == (np.__version__, bl.__version__)
    assert {"scipy", "numpy"} <= set(made.versions)
    assert not {"data", "y", "progress", "rng"} & set(made.arguments)


def test_seeds_that_cannot_be_written_down_are_named():
    assert manifest_of("discover", {"rng": np.random.default_rng(0)}, "").seed == "a generator"
    assert manifest_of("discover", {"rng": None}, "").seed is None
    odd = {"alpha": np.float64(0.1), "prior": float("nan"), "labels": bl.PositiveUnlabeled(0.2), "keep": ("a",)}
    said = manifest_of("discover", odd, "").arguments
    assert (said["alpha"], said["prior"], said["keep"]) == (0.1, "nan", ["a"])
    assert json.loads(json.dumps(said)) == said


@pytest.mark.parametrize(
    ("call", "ask"),
    [
        ("discover_all", lambda t: bl.discover_all(t, ["a"], algorithm="iamb")["a"]),
        ("test", lambda t: bl.test(t, "b", "a")),
        ("mutual_information", lambda t: bl.mutual_information(t, "b", "a")),
        ("rank", lambda t: bl.rank(t, "a")),
        ("select", lambda t: bl.select(t, "a", k=1)),
        ("stability", lambda t: bl.stability(t, "a", n_draws=2, rng=0)),
        ("advise", lambda t: bl.advise(t, "a")),
        ("discover_latent", lambda t: bl.discover_latent(t, "a", blanket=["b"], n_restarts=1)),
    ],
)
def test_every_result_has_one(call, ask):
    result = ask(columns())
    assert (result.manifest.call, result.manifest.fingerprint) == (call, fingerprint(columns()))
    assert result.to_dict()["manifest"] == result.manifest.to_dict()


def test_sensitivity_has_one():
    table = pd.DataFrame(columns())
    table["a"] = table.a.where((np.arange(300) % 3 > 0) | (table.a == 1)).astype(float)
    found = bl.sensitivity(table, "a", labels="mar-c", algorithm="iamb", rng=1)
    assert (found.manifest.call, found.manifest.seed) == ("sensitivity", 1)
    assert found.to_dict()["manifest"]["arguments"]["algorithm"] == "iamb"


def holds(new, old):
    """Say whether a later version's words hold all that an earlier version's did."""
    if isinstance(old, dict):
        return all(key in new and holds(new[key], value) for key, value in old.items())
    if isinstance(old, list):
        return len(new) == len(old) and all(map(holds, new, old))
    if isinstance(old, float):  # powers are worked out anew, by another SciPy perhaps
        return math.isclose(new, old, rel_tol=1e-9)
    return new == old


def test_results_of_today_and_of_the_first_version_are_read():
    """The files were written by the version that they are named after, and are never written again."""
    for version in (1, 2):
        content = json.loads((STORED / f"blanket-{version}.json").read_text("utf-8"))
        blanket = bl.Blanket.load(STORED / f"blanket-{version}.json")
        assert content["schema_version"] == version
        assert (blanket.target, blanket.members, blanket.n_rows) == ("c", ("a", "e"), 400)
        assert (blanket.manifest is None) == (blanket.false_members is None) == (version == 1)
        again = blanket.to_dict()
        assert again["schema_version"] == 2
        assert holds(again, {**content, "schema_version": 2})
        assert bl.Blanket.from_dict(again) == blanket
        every = bl.Blankets.from_json((STORED / f"blankets-{version}.json").read_text("utf-8"))
        assert {target: one.members for target, one in every.items()} == {"a": ("c",), "c": ("a", "e")}
        draws = Stability.from_json((STORED / f"stability-{version}.json").read_text("utf-8"))
        assert (draws["a"], draws.n_draws) == (1.0, 4)
        assert len(Selection.load(STORED / f"selection-{version}.json")) == 2


def test_a_page_of_an_old_result(tmp_path):
    page = bl.Blanket.load(STORED / "blanket-1.json").report(tmp_path / "old.html").read_text("utf-8")
    assert "kept no manifest" in page
    page = bl.Blanket.load(STORED / "blanket-2.json").report(tmp_path / "new.html").read_text("utf-8")
    assert "Fingerprint of the data" in page
    assert "False members expected" in page


@pytest.mark.parametrize("spoil", [{"seed": 1.5}, {"versions": {"numpy": 2}}, {"call": None}, {"fingerprint": 3}])
def test_odd_manifests_are_refused(spoil):
    good = manifest_of("discover", {"rng": 1}, "ab").to_dict()
    with pytest.raises(DataError, match=r"in 'manifest' is missing or odd"):
        Manifest.from_dict({**good, **spoil})
