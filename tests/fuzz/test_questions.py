"""Every question under every label regime, about random tables with holes: an answer or our own error."""

import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import blankets as bl
from blankets.errors import BlanketsError, BlanketsWarning, InternalError

LEVELS = np.array([*"abcdefgh"])
KINDS = {
    "number": lambda rng, tied: tied + rng.normal(size=len(tied)) * rng.choice([0.05, 1, 5]),
    "heavy": lambda rng, tied: tied + rng.standard_t(1.5, len(tied)),
    "count": lambda rng, tied: rng.poisson(1 + tied),
    "zeros": lambda rng, tied: np.where(rng.random(len(tied)) < 0.7, 0.0, rng.gamma(2, size=len(tied))),
    "category": lambda rng, tied: LEVELS[tied],
    "many": lambda rng, tied: np.array([f"l{k}" for k in rng.integers(0, max(2, len(tied) // 4), len(tied))]),
    "truth": lambda rng, tied: tied > 0,
    "ordered": lambda rng, tied: pd.Categorical.from_codes(tied % 3, categories=["low", "mid", "high"], ordered=True),
    "rare": lambda rng, tied: np.where(rng.random(len(tied)) < 0.03, "yes", "no"),
    "constant": lambda rng, tied: np.zeros(len(tied)),
    "date": lambda rng, tied: pd.Timestamp("2020-01-01") + pd.to_timedelta(tied * 30, unit="D"),
}


def column(rng, target):
    """Draw a column of some kind, tied to the target or not, with gaps anywhere or in one half of the rows."""
    n = len(target)
    tied = np.where(rng.random(n) < rng.random(), target, rng.integers(0, rng.integers(2, 7), n))
    made = pd.Series(KINDS[rng.choice([*KINDS])](rng, tied)).astype(object)
    gone = rng.random(n) < rng.choice([0, 0, 0.1, 0.9])
    half = np.arange(n) < n / 2
    return made.mask([gone, gone, half, ~half][rng.integers(4)]).infer_objects()


def some(rng, values, share):
    """Return labels of which a share is seen."""
    return pd.Series(values, dtype=float).mask(rng.random(len(values)) >= share)


def labeled(rng, truth, table):
    """Draw a regime; return the target as it is seen and the options that say so. A machine's labels join the table."""
    kind = rng.choice(["known", "number", "pu", "case-control", "drivers", "propensity", "mcar", "mar-f", "mar-c",
                       "noisy", "noisy mcar", "predicted"])  # fmt: skip
    wrong = np.where(rng.random(len(truth)) < 0.15, 1 - truth, truth)
    if kind == "known":
        return pd.Series(truth), {}
    if kind == "number":
        return pd.Series(truth + rng.normal(size=len(truth))), {}
    if kind in ("mcar", "mar-f"):
        return some(rng, truth, 0.5), {"labels": kind}
    if kind == "mar-c":
        return some(rng, truth, np.where(truth == 1, 0.3, 0.6)), {"labels": kind, "prior": 0.4}
    if kind == "noisy":
        return pd.Series(wrong), {"labels": bl.Noisy((0.1, 0.2), 0.15)}
    if kind == "noisy mcar":
        return some(rng, wrong, 0.6), {"labels": bl.Noisy(0.15, 0.15, missing="mcar")}
    if kind == "predicted":
        table["machine"] = wrong * 0.7 + 0.15 if rng.random() < 0.5 else wrong
        return some(rng, truth, 0.4), {"labels": bl.Predicted("machine", gold="y")}
    labels = {
        "pu": lambda: bl.PositiveUnlabeled(0.4),
        "case-control": lambda: bl.PositiveUnlabeled(0.4, "case-control"),
        "drivers": lambda: bl.PositiveUnlabeled(0.4, drivers=["x0"]),
        "propensity": lambda: bl.PositiveUnlabeled(propensity=np.clip(rng.normal(0.4, 0.05, len(truth)), 0.1, 0.9)),
    }[kind]()
    return some(rng, truth, 0.4).where(truth == 1), {"labels": labels}


def discovered(table, rng, how):
    """Discover a blanket by any algorithm, and look at it from all sides."""
    names = [entry.name for entry in bl.algorithms()]
    blanket = bl.discover(table, "y", algorithm=rng.choice(["auto", *names]), n_jobs=1, rng=1, **how)
    assert bl.Blanket.from_json(blanket.to_json()).members == blanket.members
    for name in blanket.columns:
        str(blanket.explain(name) if name != "y" else blanket)
    return blanket


def reported(table, rng, how):
    with tempfile.TemporaryDirectory() as folder:
        return discovered(table, rng, how).report(Path(folder) / "report.html")


def one_test(table, rng, how):
    x, *given = rng.permutation([name for name in table if name not in ("y", "machine")])
    return bl.test(table, str(x), "y", given=[str(z) for z in given[: rng.integers(4)]], n_jobs=1, rng=1, **how)


def information(table, rng, how):
    x, *given = rng.permutation([name for name in table if name not in ("y", "machine")])
    return bl.mutual_information(table, str(x), "y", given=[str(z) for z in given[: rng.integers(3)]], **how)


QUESTIONS = {
    "discover": discovered,
    "test": one_test,
    "mutual_information": information,
    "report": reported,
    "assumptions": lambda table, rng, how: discovered(table, rng, how).check_assumptions(),
    "refute": lambda table, rng, how: bl.refute(discovered(table, rng, how), table, n_resamples=2, n_jobs=1, rng=1),
    "rank": lambda table, rng, how: bl.rank(table, "y", n_jobs=1, **how),
    "select": lambda table, rng, how: bl.select(table, "y", k=2, criterion=rng.choice(["jmi", "mrmr"]), **how),
    "stability": lambda table, rng, how: bl.stability(table, "y", n_resamples=2, n_jobs=1, rng=1, **how),
    "sensitivity": lambda table, rng, how: bl.sensitivity(table, "y", n_jobs=1, rng=1, **how),
    "audit": lambda table, rng, how: bl.audit(table, "y", n_jobs=1, **how),
    "advise": lambda table, rng, how: bl.advise(table, "y", n_draws=20, n_jobs=1, rng=1, **how),
    "discover_all": lambda table, rng, how: bl.discover_all(table, n_jobs=1, rng=1, **({} if "labels" in how else how)),
    "selector": lambda table, rng, how: bl.MarkovBlanketSelector(n_jobs=1, **how).fit(
        table.drop(columns="y"), table["y"]
    ),
}


def outcome(seed, question):
    """Return what became of a question about a random table: "answered" or the name of our error."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([5, 20, 60, 150, 300]))
    truth = (rng.random(n) < 0.4).astype(int)
    table = pd.DataFrame({f"x{k}": column(rng, truth) for k in range(rng.integers(1, 7))})
    seen, how = labeled(rng, truth, table)
    how |= {"missing": str(rng.choice(["level", "drop", "weighted"]))} if rng.random() < 0.2 else {}
    if rng.random() < 0.1 and question != "selector":
        how["groups"] = rng.integers(0, max(2, n // 5), n)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", BlanketsWarning)
        try:
            assert str(QUESTIONS[question](table.assign(y=seen), rng, how))
        except InternalError:
            raise
        except BlanketsError as error:
            return type(error).__name__
    return "answered"


@pytest.mark.parametrize("question", QUESTIONS)
def test_questions_about_random_tables(question):
    became = Counter(outcome((k, len(question)), question) for k in range(24))
    assert became["answered"] >= 4, became  # what is refused tests little


@pytest.mark.slow
@pytest.mark.parametrize("question", QUESTIONS)
def test_many_questions_about_random_tables(question):
    became = Counter(outcome((k, len(question), 1), question) for k in range(1_000))
    assert became["answered"] >= 160, became
