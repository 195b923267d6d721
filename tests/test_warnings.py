"""Warnings point at the line of the user's program."""

import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest

import blankets as bl
from blankets.errors import (
    ConstantColumnWarning,
    DuplicateColumnWarning,
    IdLikeColumnWarning,
    RegimeWarning,
    TooFewRowsWarning,
)


def table():
    rng = np.random.default_rng(0)
    ill = rng.integers(0, 2, 200)
    return pd.DataFrame({"cough": np.where(rng.random(200) < 0.1, 1 - ill, ill), "ill": ill})


def positives():
    return table().assign(ill=lambda t: np.where((t.ill == 1) & (np.arange(200) % 2 == 0), 1.0, np.nan))


@pytest.mark.parametrize(
    ("category", "ask"),
    [
        (ConstantColumnWarning, lambda: bl.discover(table().assign(site="Leeds"), "ill")),
        (IdLikeColumnWarning, lambda: bl.rank(table().assign(key=[f"p{i}" for i in range(200)]), "ill")),
        (DuplicateColumnWarning, lambda: bl.discover_all(table().assign(again=lambda t: t.cough))),
        (RegimeWarning, lambda: bl.test(positives(), "cough", "ill")),
        (RegimeWarning, lambda: bl.stability(positives(), "ill", n_resamples=2, rng=0)),
        (TooFewRowsWarning, lambda: bl.discover(table().assign(l=[f"l{i % 49}" for i in range(200)]), "ill")),
        (ConstantColumnWarning, lambda: bl.select(table().assign(site="Leeds"), "ill", k=1)),
    ],
)
def test_warnings_name_the_users_file(category, ask):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ask()
    lines = {warning.filename for warning in caught if issubclass(warning.category, category)}
    assert lines == {__file__}


def test_estimators_too():
    data = table().assign(site="Leeds")
    with pytest.warns(ConstantColumnWarning) as caught:
        bl.MarkovBlanketSelector(algorithm="iamb").fit(data.drop(columns="ill"), data.ill)
    assert {warning.filename for warning in caught} == {__file__}


def test_the_line_is_right():
    here = sys._getframe().f_lineno
    with pytest.warns(ConstantColumnWarning) as caught:
        bl.discover(table().assign(site="Leeds"), "ill")
    assert [warning.lineno for warning in caught] == [here + 2]


def test_the_outermost_line_of_a_script_is_the_users(tmp_path):
    script = tmp_path / "asks.py"
    table = "{'t': [0, 1] * 50, 'a': [0, 0, 1, 1] * 25, 'c': [1] * 100}"
    script.write_text(f"import blankets as bl\nbl.discover({table}, 't')\n")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert f"{script}:2: ConstantColumnWarning: left out" in done.stderr
