"""A result of every kind that is written as JSON, in every regime that has fields of its own."""

import copy
from functools import cache

import numpy as np
import pandas as pd
from scipy.stats import beta

import blankets as bl
from blankets.latent import LatentBlanket
from blankets.planning import Plan, plan_blanket
from blankets.regimes import EstimatedPrior
from blankets.results import (
    Adjustment,
    Advice,
    Assumptions,
    Blankets,
    Confirmation,
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
    """Return the table with a third of the positives labeled and nothing else."""
    found = table()
    found["ill"] = found.ill.where((found.ill == 1) & (np.arange(len(found)) % 3 == 0))
    return found


def some_labels():
    """Return the table with every second label."""
    found = table()
    found["ill"] = found.ill.where(np.arange(len(found)) % 2 == 0)
    return found


def hidden_cause():
    """Return four symptoms of a cause that is not in the table, one of them a number."""
    rng = np.random.default_rng(5)
    cause = rng.random(800) < 0.4
    seen = {name: np.where(rng.random(800) < 0.12, 1 - cause, cause).astype(int) for name in ("a", "b", "c")}
    t = np.where(rng.random(800) < 0.1, 1 - cause, cause).astype(int)
    return pd.DataFrame({**seen, "size": rng.normal(size=800) + 3 * cause, "flag": rng.random(800) < 0.5, "t": t})


PU = {"labels": "pu", "prior": 0.45}
EXAMPLES = {
    "blanket": (bl.Blanket, lambda: bl.discover(table(), "ill", algorithm="iamb")),
    "blankets": (Blankets, lambda: bl.discover_all(table(), ["ill", "cough"], algorithm="iamb")),
    "selection": (Selection, lambda: bl.select(table(), "ill", k=2)),
    "stability": (Stability, lambda: bl.stability(table(), "ill", n_resamples=4, algorithm="iamb", rng=1)),
    "audit": (DataAudit, lambda: bl.audit(table(), "ill")),
    "confirmation": (
        Confirmation,
        lambda: bl.discover(table(), "ill", algorithm="iamb", confirm=0.4, rng=1).confirmation,
    ),
    "adjustment": (Adjustment, lambda: bl.adjust(table(), "cough", "ill", before=["smoker", "moon"], rng=1)),
    "refutation": (Refutation, lambda: bl.refute(bl.discover(table(), "ill"), table(), n_resamples=2, rng=1)),
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
    "plan": (Plan, lambda: bl.plan(effect="medium", power=0.95)),
    "plan of power": (Plan, lambda: bl.plan(effect=0.02, rows=500, arity=3, target_arity=3)),
    "plan of an effect": (Plan, lambda: bl.plan(power=0.9, rows=500, arity=3)),
    "plan of a level": (Plan, lambda: bl.plan(effect="medium", power=0.9, rows=150, arity=2, alpha=None)),
    "plan of freedom": (Plan, lambda: bl.plan(effect="medium", power=0.9, rows=400)),
    "plan of a blanket": (Plan, lambda: plan_blanket(effects=[0.01, "medium"], power=0.9, decisions="worst-case")),
    "plan, labeled positives": (Plan, lambda: bl.plan(effect="medium", power=0.95, rows=3000, **PU)),
    "plan, out of reach": (Plan, lambda: bl.plan(effect=0.001, power=0.95, rows=300, **PU)),
    "plan, collected apart": (
        Plan,
        lambda: bl.plan(effect="medium", power=0.9, labeled=100, **PU, sampling="case-control"),
    ),
    "plan, below a bound": (Plan, lambda: bl.plan(effect="small", power=0.8, rows=4000, labels="pu", prior="<0.4")),
    "plan, some labels": (Plan, lambda: bl.plan(effect="medium", power=0.9, rows=900, labels="mcar", prior=0.3)),
    "plan, by class": (
        Plan,
        lambda: bl.plan(
            effect=0.02, rows=900, labels="mar-c", prior=0.3, labeled={"positives": 0.05, "negatives": 0.2}
        ),
    ),
    "plan, by stratum": (
        Plan,
        lambda: bl.plan(effect=0.03, power=0.9, rows=5000, labels="pu", prior=0.3, strata=2, strata_priors=[0.1, 0.5]),
    ),
    "plan, prior between": (
        Plan,
        lambda: bl.plan(effect="medium", power=0.9, rows=2000, labels="pu", prior=(0.1, 0.3), n_draws=50, rng=1),
    ),
    "plan, Beta prior": (
        Plan,
        lambda: bl.plan(
            effect="medium",
            power=0.9,
            labels="pu",
            labeled=0.03,
            prior=bl.Beta(mode=0.2, low=0.1, high=0.4),
            n_draws=50,
            rng=1,
            assurance=0.8,
        ),
    ),
    "plan, prior of SciPy": (
        Plan,
        lambda: bl.plan(effect="medium", power=0.9, rows=300, labels="pu", labeled=30, prior=beta(4, b=9), n_draws=50),
    ),
    "plan, prior estimated": (
        Plan,
        lambda: bl.plan(
            effect=0.02,
            rows=3000,
            labels="pu",
            labeled=60,
            n_draws=50,
            prior=EstimatedPrior(0.2, np.linspace(0.1, 0.31, 20), "tice"),
        ),
    ),
    "plan, prior cut": (
        Plan,
        lambda: bl.plan(effect=0.02, power=0.8, labels="pu", labeled=0.15, prior=(0.1, 0.3), n_draws=50),
    ),
    "plan, effect under an uncertain prior": (
        Plan,
        lambda: bl.plan(power=0.8, rows=600, arity=3, labels="pu", labeled=0.15, prior=(0.2, 0.3), n_draws=50),
    ),
    "plan, level under an uncertain prior": (
        Plan,
        lambda: bl.plan(
            effect="large",
            power=0.8,
            alpha=None,
            rows=600,
            arity=3,
            labels="mcar",
            surrogate="y1",
            labeled=0.15,
            prior=(0.2, 0.3),
            n_draws=50,
        ),
    ),
    "plan, both classes under an uncertain prior": (
        Plan,
        lambda: bl.plan(
            effect=0.02,
            power=0.8,
            labels="mar-c",
            prior=(0.2, 0.4),
            surrogate="listwise",
            n_draws=50,
            rng=3,
            labeled={"positives": 0.05, "negatives": 0.2},
        ),
    ),
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
    "latent": (LatentBlanket, lambda: bl.discover_latent(hidden_cause(), "t", n_restarts=2, rng=0)),
    "latent, anywhere": (
        LatentBlanket,
        lambda: bl.discover_latent(hidden_cause(), "t", method="sem", blanket=["a", "b"], n_restarts=1, rng=0),
    ),
    "latent, none": (LatentBlanket, lambda: bl.discover_latent(hidden_cause(), "flag", blanket=["a"], n_restarts=1)),
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
