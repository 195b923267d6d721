"""Every frame that `fit` takes, `transform` and `predict` take too, also after cloning and pickling.

The frames are generated: a column of each kind beside a column of each other kind.
"""

import pickle
import warnings
from itertools import combinations_with_replacement

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import make_pipeline

import blankets as bl

N = 80
RNG = np.random.default_rng(7)
Y = RNG.integers(0, 2, N)
NOISY = [np.where(RNG.random(N) < 0.15, 1 - Y, Y) for _ in range(2)]  # both tell the target
TEXTS = np.array(["no", "yes"])
HOURS = pd.Timestamp("2024-01-01") + pd.to_timedelta(RNG.permutation(N), unit="h")

KINDS = {
    "bool": lambda v: pd.Series(v > 0),
    "boolean": lambda v: pd.Series(v > 0, dtype="boolean"),
    "int8": lambda v: pd.Series(v, dtype="int8"),
    "Int64": lambda v: pd.Series(v, dtype="Int64"),
    "Int64 with gaps": lambda v: pd.Series(v, dtype="Int64").mask(np.arange(N) % 9 == 0),
    "float": lambda v: pd.Series(v + RNG.normal(size=N) / 3),
    "float with gaps": lambda v: pd.Series(np.where(np.arange(N) % 9 == 0, np.nan, v * 1.5)),
    "Float64": lambda v: pd.Series(v / 4, dtype="Float64"),
    "object": lambda v: pd.Series(TEXTS[v], dtype=object),
    "str": lambda v: pd.Series(TEXTS[v], dtype="str"),
    "text category": lambda v: pd.Series(pd.Categorical(TEXTS[v], categories=["yes", "no", "never"])),
    "number category": lambda v: pd.Series(pd.Categorical(v + 3, ordered=True)),
    "date": lambda v: pd.Series(HOURS + pd.to_timedelta(100 * v, unit="D")),
    "duration": lambda v: pd.Series(pd.to_timedelta(v * 5 + 1, unit="D")),
}
PAIRS = list(combinations_with_replacement(KINDS, 2))
TARGETS = {"texts": TEXTS[Y], "numbers": Y, "series": pd.Series(TEXTS[Y], name="ill"), "bool": Y > 0}
OUTPUTS = ("default", "pandas", "polars")

SELECTORS = {
    "blanket": bl.MarkovBlanketSelector(),
    "information": bl.InformationSelector(k=1, discretize="sturges"),
    "wrapper": bl.HitonWrapper(DummyClassifier(), selector=bl.MarkovBlanketSelector(extra=0), cv=2),
}


def frame_of(one, other):
    return pd.DataFrame({"first": KINDS[one](NOISY[0]), "second": KINDS[other](NOISY[1])})


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def rows_of(made):
    """Return a transformed table as rows of texts, whatever holds it."""
    rows = made.rows() if isinstance(made, pl.DataFrame) else np.asarray(made, dtype=object).tolist()
    return [[_plain(value) for value in row] for row in rows]


def _plain(value):
    if value is None or value is pd.NA or value is pd.NaT or value != value:
        return "missing"
    if isinstance(value, bool | int | float | np.number):
        return float(value)
    if hasattr(value, "total_seconds"):
        return value.total_seconds()
    return str(pd.Timestamp(value)) if hasattr(value, "year") else str(value)


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_what_fit_takes_transform_takes(one, other):
    table = frame_of(one, other)
    turn = PAIRS.index((one, other))
    name = list(SELECTORS)[turn % len(SELECTORS)]
    target = TARGETS[list(TARGETS)[turn // len(SELECTORS) % len(TARGETS)]]
    fitted = clone(SELECTORS[name]).fit(table, target)
    chosen = table.loc[:, fitted.get_support()]
    assert fitted.get_feature_names_out().tolist() == list(chosen.columns)
    for output in OUTPUTS:
        again = pickle.loads(pickle.dumps(fitted)).set_output(transform=output)
        made = again.transform(table)
        assert made.shape == chosen.shape
        if output != "polars" or not any("category" in kind or kind == "duration" for kind in (one, other)):
            assert rows_of(made) == rows_of(chosen), (name, output)
    assert clone(fitted).fit_transform(table, target).shape == chosen.shape
    assert fitted.transform(table[:5]).shape == (5, chosen.shape[1])


@pytest.mark.parametrize("name", SELECTORS)
def test_frames_of_polars(name):
    columns = {"text": TEXTS[NOISY[0]], "flag": NOISY[1] > 0, "dose": NOISY[0] + RNG.normal(size=N) / 3}
    table = pl.DataFrame(columns)
    fitted = clone(SELECTORS[name]).fit(table, Y)
    names = fitted.get_feature_names_out().tolist()
    assert rows_of(fitted.transform(table)) == rows_of(table.select(names))
    assert fitted.set_output(transform="polars").transform(table).columns == names


@pytest.mark.parametrize(("one", "other"), PAIRS[::3])
def test_what_latents_are_fitted_to_they_predict(one, other):
    table = frame_of(one, other)
    made = bl.LatentBlanketTransformer(n_subspaces=1, n_restarts=1, missing="level", random_state=0).fit(table, Y)
    expected = made.transform(table)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(made)).transform(table), expected)
    assert made.set_output(transform="pandas").transform(table).shape == expected.shape
    told = bl.LatentBlanketClassifier(n_subspaces=1, n_restarts=1, missing="level", random_state=0).fit(table, TEXTS[Y])
    assert set(told.predict(table)) <= set(TEXTS)
    np.testing.assert_array_equal(clone(told).fit(table, TEXTS[Y]).predict(table), told.predict(table))


def test_a_pipeline_takes_a_text_category_beside_a_flag():
    table = frame_of("text category", "bool")
    model = make_pipeline(bl.MarkovBlanketSelector().set_output(transform="pandas"), DummyClassifier())
    assert model.fit(table, Y).predict(table[:3]).shape == (3,)
