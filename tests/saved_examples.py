"""A result of every kind that is written as JSON, in every regime that has fields of its own."""

import copy
from functools import cache

import numpy as np
import pandas as pd

import blankets as bl
from blankets.results import (
    Advice,
    Assumptions,
    Blankets,
    DataAudit,
    Estimate,
    Ranking,
    Refutation,
    Selection,
    Sensitivity,
    Stability,
    TestResult,
)


def table(n=600):
    """Return a target, two features that tell of it, one that does not, and a three-level one."""
    rng = np.random.default_rng(11)
    ill = rng.integers(0, 2, n)
    return pd.DataFrame(
        {
            "ill": ill.astype(float),
            "cough": (ill + (rng.random(n) < 0.2)) % 2,
            "smoker": (ill + (rng.random(n) < 0.4)) % 2,
            "moon": rng.integers(0, 2, n),
            "town": np.array(["a", "b", "c"])[rng.integers(0, 3, n)],
        }
    )


def positives_only():
    """Return the table with a third of the positives labelled and nothing else."""
    found = table()
    found["ill"] = found.ill.where((found.ill == 1) & (np.arange(len(found)) % 3 == 0))
    return found


def some_labels():
    """Return the table with every second label."""
    found = table()
    found["ill"] = found.ill.where(np.arange(len(found)) % 2 == 0)
    return found


PU = {"labels": "pu", "prior": 0.45}
EXAMPLES = {
    "blanket": (bl.Blanket, lambda: bl.discover(table(), "ill", algorithm="iamb")),
    "blankets": (Blankets, lambda: bl.discover_all(table(), ["ill", "cough"], algorithm="iamb")),
    "selection": (Selection, lambda: bl.select(table(), "ill", k=2)),
    "stability": (Stability, lambda: bl.stability(table(), "ill", n_draws=4, algorithm="iamb", rng=1)),
    "audit": (DataAudit, lambda: bl.audit(table(), "ill")),
    "refutation": (Refutation, lambda: bl.refute(bl.discover(table(), "ill"), table(), n_draws=2, rng=1)),
    "test": (TestResult, lambda: bl.test(table(), "cough", "ill", given=["town"])),
    "test by formula": (TestResult, lambda: bl.test(table(), "moon", "ill", test="x2")),
    "test of too few rows": (TestResult, lambda: bl.test(table(30), "cough", "ill", given=["town", "moon"], test="g")),
    "test, positives only": (TestResult, lambda: bl.test(positives_only(), "cough", "ill", **PU)),
    "test, prior not known": (TestResult, lambda: bl.test(positives_only(), "cough", "ill", labels="pu")),
    "test, some labels": (TestResult, lambda: bl.test(some_labels(), "cough", "ill", labels="mcar")),
    "test, by class": (TestResult, lambda: bl.test(some_labels(), "cough", "ill", labels="mar-c", prior="<0.6")),
    "estimate": (Estimate, lambda: bl.mutual_information(table(), "cough", "ill", given=["town"])),
    "estimate less its bias": (
        Estimate,
        lambda: bl.mutual_information(table(), "moon", "ill", estimator="miller-madow"),
    ),
    "estimate, positives only": (Estimate, lambda: bl.mutual_information(positives_only(), "cough", "ill", **PU)),
    "estimate, some labels": (
        Estimate,
        lambda: bl.mutual_information(some_labels(), "smoker", "ill", labels="mar-f"),
    ),
    "ranking": (Ranking, lambda: bl.rank(table(), "ill")),
    "ranking, positives only": (Ranking, lambda: bl.rank(positives_only(), "ill", **PU)),
    "ranking, prior not known": (Ranking, lambda: bl.rank(positives_only(), "ill", labels="pu", loss="squared")),
    "ranking, some labels": (Ranking, lambda: bl.rank(some_labels(), "ill", labels="mcar")),
    "advice": (Advice, lambda: bl.advise(table(), "ill")),
    "advice, prior not known": (Advice, lambda: bl.advise(positives_only(), "ill", labels="pu")),
    "advice, prior uncertain": (
        Advice,
        lambda: bl.advise(positives_only(), "ill", labels="pu", prior=(0.4, 0.6), rng=1),
    ),
    "sensitivity": (
        Sensitivity,
        lambda: bl.sensitivity(some_labels(), "ill", labels="mar-c", algorithm="iamb", rng=1),
    ),
    "assumptions": (Assumptions, lambda: bl.discover(positives_only(), "ill", **PU).check_assumptions()),
}


@cache
def example(name):
    """Return one of them, made once."""
    return EXAMPLES[name][1]()


def edited(content, path, value):
    """Return a document with another value in one place; with ``...`` without it."""
    if not path:
        return value
    content = copy.deepcopy(content)
    *way, last = path
    place = content
    for key in way:
        place = place[key]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return content
