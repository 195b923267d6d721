"""Blankets whose reasons are worked out when they are asked for are the same as those told at once."""

import copy
import pickle

import numpy as np
import pytest

import blankets as bl
from blankets.study import _searching

LATER = ("strengths", "decisions", "passed_over", "false_members", "separators")


@pytest.fixture
def data():
    rng = np.random.default_rng(4)
    a, b = rng.integers(0, 2, (2, 600))
    noise = rng.random((3, 600)) < 0.2
    return {"a": a, "b": b, "c": (a + noise[0]) % 2, "d": (a & b) ^ noise[1], "e": rng.integers(0, 3, 600)}


@pytest.mark.parametrize("algorithm", ["iamb", "pcmb"])
def test_what_is_told_later_is_what_is_told_at_once(data, algorithm, monkeypatch):
    later = bl.discover_all(data, algorithm=algorithm, n_jobs=1)
    assert all(name not in vars(later["a"]) for name in LATER)
    monkeypatch.setattr(_searching, "FEW_CELLS", 0)
    at_once = bl.discover_all(data, algorithm=algorithm, n_jobs=1)
    assert all(name in vars(at_once["a"]) for name in LATER)
    for target in data:
        one, other = later[target].to_dict(), at_once[target].to_dict()
        for record in (one, other):
            del record["seconds"]
        assert one == other


def test_it_travels(data):
    blanket = bl.discover_all(data, algorithm="iamb", n_jobs=1)["a"]
    copies = [pickle.loads(pickle.dumps(blanket)), copy.copy(blanket), copy.deepcopy(blanket)]
    assert all(made == blanket for made in copies)
    assert blanket.tell() is blanket
    assert "_later" not in vars(blanket)


def test_no_other_attribute_is_made_up(data):
    blanket = bl.discover_all(data, algorithm="iamb", n_jobs=1)["a"]
    with pytest.raises(AttributeError, match="'Blanket' object has no attribute 'strenghts'"):
        blanket.strenghts  # noqa: B018


def test_columns_that_tell_each_other_are_still_named(data):
    data["copy"] = 1 - data["c"]
    with pytest.warns(bl.errors.DuplicateColumnWarning):
        found = bl.discover_all(data, ["a"], algorithm="pcmb", n_jobs=1, close=False)
    assert any("may lack members" in sentence for sentence in found["a"].warnings)
