"""Random tables through `discover` with random options: an answer, our own error, or a warning of ours."""

import sys
import warnings
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import blankets as bl
from blankets.errors import BlanketsError, BlanketsWarning, InternalError

TAME = ("code", "copy", "number", "whole", "constant", "id", "text", "truth", "category")
KINDS = (*TAME, "empty", "infinite", "mixed", "dates", "written", "scale")
NAMES = st.text(max_size=5) | st.sampled_from(['"; DROP TABLE x', "<b>", "x y", "=1+1", "名前", "t"])

TESTING = st.fixed_dictionaries(
    {"kind": st.sampled_from(["auto", "g", "x2", "fisher-z"])},
    optional={
        "dof": st.sampled_from(["adjusted", "nominal"]),
        "reliability": st.sampled_from([0, 0.5, 5, 1e9]),
        "strength": st.sampled_from(["p-value", "information"]),
    },
)
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "algorithm": st.sampled_from(["auto", *(entry.name for entry in bl.algorithms())]),
        "alpha": st.sampled_from([1e-300, 0.01, 0.5, 0.999]),
        "test": TESTING,
        "roles": st.booleans(),
        "labels": st.sampled_from(["auto", "supervised", "pu", "mcar", "mar-f", "mar-c"]),
        "prior": st.sampled_from([None, 0.2, "<0.4", (0.1, 0.5)]),
        "discretize": st.sampled_from(["sturges", "equal-width", "equal-frequency", "supervised", "none"]),
        "missing": st.sampled_from(["testwise", "weighted", "error", "level", "drop"]),
    },
)


@st.composite
def columns(draw, n_rows, target, kinds):
    """Draw a column of some kind, tied to the target or not, perhaps with gaps."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(kinds))
    codes = rng.integers(0, draw(st.integers(1, 6)), n_rows)
    tied = np.where(rng.random(n_rows) < draw(st.floats(0, 1)), target, codes)
    made = {
        "code": lambda: tied,
        "copy": lambda: target,
        "number": lambda: tied + rng.normal(size=n_rows) * draw(st.sampled_from([1e-300, 0.1, 1, 1e300])),
        "whole": lambda: rng.integers(-(2**62), 2**62, n_rows),
        "constant": lambda: np.zeros(n_rows, int),
        "id": lambda: rng.permutation(n_rows),
        "text": lambda: np.array(["a", "ß", "", "nan", "x\0y", " "])[tied % 6],
        "truth": lambda: tied > 0,
        "category": lambda: pd.Categorical.from_codes(tied % 3, categories=["u", "v", "w", "unused"]),
        "empty": lambda: np.full(n_rows, np.nan),
        "infinite": lambda: np.where(tied > 0, np.inf, 0.0),
        "mixed": lambda: np.array([1, "a", 2.5, None], object)[tied % 4],
        "dates": lambda: np.datetime64("2020-01-01") + tied * np.timedelta64(draw(st.integers(1, 10**6)), "s"),
        "written": lambda: np.array(["1,5 €", "2.000,5 €", "?", "-", "(3)", "1/2/2020"], object)[
            tied % draw(st.integers(1, 6))
        ],
        "scale": lambda: 1 + tied % 5,
    }[kind]()
    column = pd.Series(made)
    gaps = rng.random(n_rows) < draw(st.sampled_from([0, 0, 0, 0.1, 0.9]))
    return column.mask(gaps) if gaps.any() else column


@st.composite
def wild(draw):
    """Draw a table, the name of its target, which may be missing from it, and options; most are refused."""
    n_rows = draw(st.integers(0, 120))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    target = rng.integers(0, draw(st.integers(1, 4)), n_rows)
    names = draw(st.lists(NAMES, max_size=6, unique=True))
    made = {name: draw(columns(n_rows, target, KINDS)) for name in names}
    called = draw(st.sampled_from([*names, "the target"]))
    if called not in made and draw(st.booleans()):
        made[called] = pd.Series(target)
    return pd.DataFrame(made), called, draw(OPTIONS)


@st.composite
def tame(draw):
    """Draw a table that can be read, with labels that fit their regime, and options; most are answered."""
    n_rows = draw(st.integers(20, 200))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    options = {"missing": draw(st.sampled_from(["testwise", "weighted", "level", "drop"])), **draw(OPTIONS)}
    regime = options.pop("labels", "auto")
    n_classes = 2 if regime in ("pu", "mar-c") else draw(st.integers(2, 4))
    target = rng.permutation(np.arange(n_rows) % n_classes)
    names = draw(st.lists(NAMES, min_size=1, max_size=6, unique=True))
    made = {name: draw(columns(n_rows, target, TAME)) for name in names}
    labels = pd.Series(target)
    if regime in ("pu", "mcar", "mar-f", "mar-c"):
        options["labels"] = regime
        hidden = rng.random(n_rows) < draw(st.sampled_from([0.1, 0.5, 0.8]))
        labels = labels.mask(hidden | (target == 0) if regime == "pu" else hidden)
    else:
        options.pop("prior", None)
    return pd.DataFrame({**made, "the target": labels}), "the target", options


CONTAINERS = {
    "pandas": lambda table: table,
    "dict": lambda table: {name: table[name].to_numpy() for name in table},
    "polars": lambda table: pl.DataFrame({name: pl.Series(name, table[name].tolist(), strict=False) for name in table}),
}


def goes_well(table, target, options):
    """Return what came, having looked at the answer; all but our own errors and warnings goes through to the test."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", BlanketsWarning)
        try:
            if "test" in options:
                options = {**options, "test": bl.Testing(**options["test"])}
            blanket = bl.discover(table, target, n_jobs=1, **options)
        except InternalError:
            raise
        except BlanketsError as error:
            return type(error).__name__
    assert set(blanket.members) < set(blanket.columns)
    assert target not in blanket.members
    p_values = [row["p"] for row in blanket.table() if row["reliable"]]
    assert all(0 <= p <= 1 for p in p_values)
    assert bl.Blanket.from_json(blanket.to_json()).members == blanket.members
    assert str(blanket)
    for name in blanket.columns:
        if name != blanket.target:
            assert str(blanket.explain(name))
    return "answered"


def outcome(case, container):
    """Return what became of a table: "answered" or the name of our error."""
    table, target, options = case
    try:
        given_table = CONTAINERS[container](table)
    except (TypeError, OverflowError, pl.exceptions.PolarsError):
        given_table = table  # polars itself will not have it
    return goes_well(given_table, target, options)


CASES = tame() | tame() | wild()
CONTAINER = st.sampled_from(sorted(CONTAINERS))


@settings(max_examples=200, deadline=None)
@given(case=CASES, container=CONTAINER)
def test_random_tables(case, container):
    assert outcome(case, container)


@pytest.mark.slow
def test_many_random_tables(capsys):
    """10,000 tables; says how many were answered, and how many refused with which error."""
    became = Counter()

    @settings(max_examples=10_000, deadline=None)
    @given(case=CASES, container=CONTAINER)
    def one(case, container):
        became[outcome(case, container)] += 1

    one()
    with capsys.disabled():
        sys.stdout.write(f"\n{became.total():,} tables: {dict(became.most_common())}\n")
    assert became.total() >= 10_000
    assert became["answered"] >= 3_000  # what is refused tests little
