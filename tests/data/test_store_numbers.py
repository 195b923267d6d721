"""Numbers of a packed table: the same answers as in memory, from values that are kept beside the codes."""

import json
import warnings

import numpy as np
import pytest

import blankets as bl
from blankets.data import ingest
from blankets.data._folders import META, NUMBER_FILE
from blankets.data._store import Store, signed
from blankets.errors import CutNumbersWarning, EngineError

N = 600


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    dose, noise = rng.normal(size=(2, N))
    site = rng.integers(0, 3, N)
    gap = rng.normal(size=N)
    gap[::7] = np.nan
    pain = 0.8 * dose + 0.3 * site + rng.normal(size=N)
    return {"dose": dose, "noise": noise, "site": np.array(list("abc"))[site], "gap": gap + dose, "pain": pain}


@pytest.fixture(scope="module")
def csv(table, tmp_path_factory):
    path = tmp_path_factory.mktemp("csv") / "table.csv"
    rows = zip(*table.values(), strict=True)
    cell = lambda v: "" if isinstance(v, float) and np.isnan(v) else v if isinstance(v, str) else repr(float(v))  # noqa: E731
    path.write_text("\n".join([",".join(table), *(",".join(cell(v) for v in row) for row in rows)]) + "\n")
    return path


@pytest.fixture(params=["memory", "file"])
def store(request, table, csv, tmp_path):
    return bl.pack(table if request.param == "memory" else csv, tmp_path / "packed")


def test_answers_are_those_of_the_table_in_memory(table, store):
    with warnings.catch_warnings():
        warnings.simplefilter("error", CutNumbersWarning)
        packed, memory = bl.discover(store, "pain"), bl.discover(table, "pain")
        assert packed.members == memory.members
        for name in memory.members:
            assert packed.strengths[name].log_p == memory.strengths[name].log_p
        for given in ([], ["dose"], ["site", "gap"]):
            mine, theirs = bl.test(store, "noise", "pain", given), bl.test(table, "noise", "pain", given)
            assert (mine.log_p, mine.n_rows) == (theirs.log_p, theirs.n_rows)
    frame, other = store.verify().measured(), ingest(table, numbers=True).frame
    assert {frame.names[j] for j in frame.numbers} == {"dose", "noise", "gap", "pain"}
    for name in ("dose", "gap", "pain"):
        np.testing.assert_array_equal(frame.numbers[frame.index(name)].values, other.numbers[other.index(name)].values)
    assert store.report.binned.keys() == {"dose", "noise", "gap", "pain"}  # for questions that count


def test_questions_that_count_use_the_codes(table, store):
    assert bl.test(store, "noise", "pain", test="g").log_p == bl.test(table, "noise", "pain", test="g").log_p
    cut = bl.discover(store, "site", discretize="sturges")
    assert cut.members == bl.discover(table, "site", discretize="sturges").members


def test_numbers_that_the_user_cuts_have_no_values(table, tmp_path):
    store = bl.pack(table, tmp_path / "packed", discretize={"dose": "sturges"})
    assert {store.layout.names[j] for j in store.numbers} == {"noise", "gap", "pain"}
    assert not bl.pack(table, tmp_path / "cut", discretize="sturges").numbers


def test_a_store_without_values_is_counted_and_the_user_is_told(table, tmp_path):
    store = bl.pack(table, tmp_path / "packed")
    meta = json.loads((store.path / META).read_bytes())
    for key in ("hash", "numbers", "n_numbers", "ordered"):
        del meta[key]
    (store.path / META).write_bytes(signed(json.dumps(meta).encode()))
    (store.path / NUMBER_FILE).unlink()
    with pytest.warns(CutNumbersWarning, match="packed without the values of its numbers"):
        found = bl.discover(Store.open(store.path), "pain")
    assert found.members == bl.discover(table, "pain", discretize="sturges").members


def test_changed_values_are_found(table, tmp_path):
    store = bl.pack(table, tmp_path / "packed")
    values = np.memmap(store.path / NUMBER_FILE, np.float64, "r+")
    values[5] += 1.0
    values.flush()
    with pytest.raises(EngineError, match="the codes of 'dose' are not those that were packed"):
        bl.discover(Store.open(store.path), "pain")


@pytest.mark.parametrize("wrong", [{"name": "dose"}, {"name": "other", "at": 0, "digest": "00", "sum": 0}])
def test_a_wrong_description_is_refused(table, tmp_path, wrong):
    store = bl.pack(table, tmp_path / "packed")
    meta = json.loads((store.path / META).read_bytes())
    del meta["hash"]
    (store.path / META).write_bytes(signed(json.dumps({**meta, "numbers": [wrong]}).encode()))
    with pytest.raises(EngineError, match=r"a number is described by|the number 'other' is no column"):
        Store.open(store.path)
