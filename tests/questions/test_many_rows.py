"""Numbers of very many rows: tests look at some of them, and the result says so."""

import numpy as np

import blankets as bl
from blankets.study import _about, _testing


def test_numbers_of_very_many_rows_are_tested_in_some(monkeypatch):
    for module in (_testing, _about):
        monkeypatch.setattr(module, "MOST_ROWS", 400)
    rng = np.random.default_rng(5)
    cause, noise = rng.normal(size=(2, 1000))
    table = {"cause": cause, "noise": noise, "y": cause + rng.normal(size=1000), "group": rng.integers(0, 2, 1000)}
    blanket = bl.discover(table, "y")
    assert blanket.members == ("cause",)
    assert blanket.strengths["cause"].n_rows == 400
    assert "Tests of numbers looked at 400 of the 1,000 rows, drawn at random." in " ".join(repr(blanket).split())
    told = bl.test(table, "cause", "y")
    assert told.n_rows == 400
    assert any("400 of the 1,000 rows" in note for note in told.notes)
    categories = bl.test(table, "group", "y", discretize="sturges")
    assert categories.n_rows == 1000
    assert not categories.notes
