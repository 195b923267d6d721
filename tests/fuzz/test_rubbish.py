"""Anything at all for each argument of each public function: an answer or our own error, never one from inside."""

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest

import blankets as bl
from blankets.data import ReadingOptions
from blankets.errors import BlanketsError, BlanketsWarning

RNG = np.random.default_rng(0)
N = 80
T = RNG.integers(0, 2, N)
TABLE = pd.DataFrame({"t": T, "a": T ^ (RNG.random(N) < 0.2), "z": RNG.integers(0, 3, N), "w": RNG.normal(size=N)})
SOME = TABLE.assign(t=TABLE["t"].where((T == 1) & (RNG.random(N) < 0.5)))
BLANKET = bl.discover(TABLE, "t")
NUMBERS = TABLE[["a", "z", "w"]]

RUBBISH = (
    *(None, 0, -1, 2, 1.5, -0.5, float("nan"), float("inf"), 10**30, True, 1j, pd.NA, np.datetime64("2020")),
    *("", "x", "t", b"x", [], ["a"], ["zz"], [None], [1, "a"], (0.9, 0.1), {}, {"a": 1}, {"zz": "sturges"}),
    *(object(), np.array([1, 2]), pd.Series([1.0, 2.0]), TABLE),
)

CALLS = {
    "discover": (bl.discover, {"data": TABLE, "target": "t"}),
    "discover, numbers": (bl.discover, {"data": NUMBERS, "target": "w", "test": "fisher-z"}),
    "discover_all": (bl.discover_all, {"data": TABLE}),
    "rank": (bl.rank, {"data": TABLE, "target": "t"}),
    "select": (bl.select, {"data": TABLE, "target": "t", "k": 1}),
    "test": (bl.test, {"data": TABLE, "x": "a", "target": "t"}),
    "mutual_information": (bl.mutual_information, {"data": TABLE, "x": "a", "target": "t"}),
    "audit": (bl.audit, {"data": TABLE, "target": "t"}),
    "advise": (bl.advise, {"data": SOME, "target": "t", "labels": "pu", "prior": 0.5, "n_draws": 10}),
    "sensitivity": (bl.sensitivity, {"data": SOME, "target": "t", "labels": "pu"}),
    "stability": (bl.stability, {"data": TABLE, "target": "t", "n_resamples": 2}),
    "refute": (bl.refute, {"blanket": BLANKET, "data": TABLE, "n_resamples": 2}),
    "estimate_prior": (bl.estimate_prior, {"data": SOME, "target": "t", "n_resamples": 2}),
    "discover_latent": (bl.discover_latent, {"data": TABLE[["t", "a", "z"]], "target": "t", "n_restarts": 1}),
    "best_dag": (bl.best_dag, {"data": TABLE}),
    "plan": (bl.plan, {"effect": 0.1, "power": 0.9}),
    "plan, labels": (bl.plan, {"effect": 0.1, "power": 0.9, "labels": "pu", "prior": 0.3, "rows": 1000}),
    "plan_blanket": (bl.plan_blanket, {"effects": [0.1, 0.2], "power": 0.9}),
    "planning_table": (bl.planning_table, {"effect": [0.1, 0.2], "power": 0.9}),
    "kappa": (bl.kappa, {"labels": "pu", "prior": 0.3, "labeled": 0.1, "rows": 1000}),
    "Beta": (bl.Beta, {"mode": 0.2}),
    "between": (bl.between, {"low": 0.1, "high": 0.2}),
    "less_than": (bl.less_than, {}),
    "greater_than": (bl.greater_than, {}),
    "Testing": (bl.Testing, {}),
    "Engine": (bl.Engine, {}),
    "Reading": (bl.Reading, {}),
    "PositiveUnlabeled": (bl.PositiveUnlabeled, {}),
    "SemiSupervised": (bl.SemiSupervised, {"mechanism": "mcar"}),
    "explain": (BLANKET.explain, {}),
    "from_json": (bl.Blanket.from_json, {}),
    "load": (bl.Blanket.load, {}),
}


def outcome(call, arguments):
    """Return "answered" or the name of our error; all else goes through to the test."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", BlanketsWarning)
        try:
            return "answered" if str(call(**arguments)) else "nothing"
        except BlanketsError as error:
            assert str(error)  # noqa: PT017 - whatever the error, it has a message
            return type(error).__name__


@pytest.mark.parametrize("name", sorted(CALLS))
def test_rubbish_in_each_argument(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some rubbish is a good name for a file
    call, usual = CALLS[name]
    parameters = inspect.signature(call).parameters
    names = [name for name, p in parameters.items() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    if "reading" in parameters:
        names += ReadingOptions.__annotations__
    became = [outcome(call, {**usual, argument: value}) for argument in names for value in RUBBISH]
    assert any(what != "answered" for what in became)
