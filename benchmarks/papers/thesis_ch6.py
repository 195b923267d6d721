"""Sechidis 2015 Figures 6.1 to 6.3: Spearman's ρ between the ranking of features and that of the population.

100 features of 2, 5, 10 or 20 levels with I(X;Y) = 0.0351, 0.0352, ..., 0.0450 and p(y=1) = 0.2 (Table 6.1). How
p(x|y) is drawn is not said: each row of it uniformly here, anew for each of the data sets. Features are independent
given the class, so counts are drawn in place of rows: those of each feature given the class, and which of them are
labeled given how many rows of the class are (under MAR-F: given x, a labeled set for each feature, as printed).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.papers._harness import Cell, Experiment, Finding, mean_and_error, plus_minus
from benchmarks.papers._partly_labeled import NAMES, Floats, features, mar_c, mar_f, mcar, population, tables_of
from scipy.stats import rankdata

from blankets.stats import (
    mar_f_information,
    mcar_information,
    neg_information,
    plug_in,
    pos_information,
    ss_information,
)

PRIOR = 0.2
EFFECTS = [0.0351 + 0.0001 * k for k in range(100)]
MOST_LEVELS = 20
FIGURES = {"mcar": "6.1", "mar-f": "6.2", "mar-c": "6.3"}
RATES = {
    "mcar": lambda joint: mcar(joint, 0.25),
    "mar-f": lambda joint: mar_f(joint, 0.25),
    "mar-c": lambda joint: mar_c(joint, negatives=0.125, positives=0.125),
}
ESTIMATORS = {
    "mcar": {"MCAR (5.5)": mcar_information},
    "mar-f": {"MAR-F (5.6)": mar_f_information},
    "mar-c": {
        "SS (5.7)": lambda labels: ss_information(labels, PRIOR),
        "Pos (5.8)": lambda labels: pos_information(labels, PRIOR),
        "Neg (5.9)": lambda labels: neg_information(labels, PRIOR),
    },
}
SQUARED = "Ỹ0 by I₂, against I₂(X;Y)"


def cells(quick: bool) -> Sequence[Cell]:
    """List one data set each; 0 rows stands for the population itself."""
    sizes = (
        [2500, 10_000, 50_000, 500_000, 0]
        if quick
        else [2500, 5000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 0]
    )
    return [
        {"mechanism": mechanism, "rows": rows, "dataset": k, "versions": 30}
        for mechanism, k, rows in product(FIGURES, range(10), sizes)
    ]


@cache
def _features(dataset: int, uniform: bool) -> tuple[Floats, Floats]:
    """Return p(x, y) of the features of a data set, padded to the same number of levels, and their levels."""
    rng = np.random.default_rng([2015, 6, dataset])
    joint, levels = np.zeros((len(EFFECTS), 2, MOST_LEVELS)), np.zeros(len(EFFECTS), int)
    for k, effect in enumerate(EFFECTS):
        levels[k] = rng.choice([2, 5, 10, 20])
        least = 0.25 / levels[k] if uniform else 0.0  # otherwise no labeling makes x uniform
        joint[k, :, : levels[k]] = features(1, PRIOR, levels[k], effect, rng, least)[0]
    return joint, levels


def _rates(mechanism: str, joint: Floats, levels: Floats) -> Floats:
    """Return p(s=1|x,y), feature by feature."""
    rate = np.zeros(joint.shape)
    for k, n in enumerate(levels):
        rate[k, :, :n] = RATES[mechanism](joint[k : k + 1, :, :n])[0]
    return rate


def _labeled(counts: Floats, mechanism: str, rate: Floats, versions: int, rng: np.random.Generator) -> Floats:
    """Draw how many rows of each cell are labeled, shape (versions, features, 2, levels)."""
    shape = (versions, *counts.shape)
    if mechanism == "mar-f":
        return rng.binomial(counts, rate, size=shape)
    in_class = counts[0].sum(axis=-1)
    left = np.broadcast_to(rng.binomial(in_class, rate[0, :, 0], size=(versions, 2))[:, None], shape[:-1]).copy()
    drawn, rest = np.zeros(shape, np.int64), np.broadcast_to(in_class, shape[:-1]).copy()
    for x in range(counts.shape[-1]):  # without replacement, level after level
        rest -= counts[..., x]
        drawn[..., x] = rng.hypergeometric(counts[..., x], rest, left)
        left -= drawn[..., x]
    return drawn


def _rho(scores: Floats, truth: Floats) -> float:
    """Return Spearman's ρ with the truth, averaged over versions."""
    ranks = rankdata(scores.reshape(-1, len(truth)), axis=-1)
    return float(np.mean([np.corrcoef(one, rankdata(truth))[0, 1] for one in ranks]))


def run(data: Path | None, mechanism: str, rows: int, dataset: int, versions: int) -> list[dict[str, Any]]:
    """Return ρ of each way of ranking."""
    joint, levels = _features(dataset, mechanism == "mar-f")
    rate = _rates(mechanism, joint, levels)
    everything, seen = population(joint, rate)
    if rows == 0:
        full, labels = everything, seen
    else:
        rng = np.random.default_rng([2015, 66, dataset, rows, *map(ord, mechanism)])
        positives = rng.binomial(rows, PRIOR)
        given_y = joint / joint.sum(axis=-1, keepdims=True)
        counts = rng.multinomial(np.array([rows - positives, positives]), given_y)
        visible = _labeled(counts, mechanism, rate, versions, rng)
        hidden = (counts - visible).sum(axis=-2, keepdims=True)
        full, labels = (
            counts[:, None].astype(float),
            np.concatenate([visible, hidden], axis=-2)[:, :, None].astype(float),
        )
    scores = {NAMES[name]: plug_in(tables_of(name, full, labels)).value for name in NAMES}
    scores |= {name: estimate(labels).value for name, estimate in ESTIMATORS[mechanism].items()}
    found = {name: _rho(score, np.array(EFFECTS)) for name, score in scores.items()}
    if mechanism != "mar-f":
        squared = plug_in(tables_of("Y0", full, labels), loss="squared").value
        found[SQUARED] = _rho(squared, plug_in(everything, loss="squared").value)
    return [{"ranked_by": name, "rho": value} for name, value in found.items()]


def _table(rows: pd.DataFrame, mechanism: str) -> pd.DataFrame:
    """Return ρ with data sets down, and (ranked by, rows) across."""
    return rows[rows.mechanism == mechanism].pivot(index="dataset", columns=["ranked_by", "rows"], values="rho")


def _first(table: pd.DataFrame, best: Sequence[str], others: Sequence[str]) -> bool:
    """Say whether each of ``best`` ranks better than the others on average over N, and never worse at any."""
    sizes = [size for size in table.columns.unique("rows") if size]
    for one, other in product(best, others):
        gain = table[one][sizes] - table[other][sizes]
        mean, error = mean_and_error(gain.mean(axis=1))
        if mean < 2 * error or any(m < -2 * e for m, e in map(mean_and_error, gain.to_numpy().T)):
            return False
    return True


def _order(table: pd.DataFrame, figure: str, said: str, best: Sequence[str], others: Sequence[str]) -> Finding:
    sizes = sorted(size for size in table.columns.unique("rows") if size)
    few, many = sizes[0], sizes[len(sizes) // 2]
    ours = ", ".join(
        f"{name} {table[name, few].mean():.3f} / {table[name, many].mean():.3f}" for name in [*best, *others]
    )
    holds = _first(table, best, others)
    where = f"(N = {few} / {many})"
    return Finding(f"Figure {figure}, {said}", "yes", f"{ours} {where}", "same ordering" if holds else "differs")


def _limit(table: pd.DataFrame, figure: str, name: str, converges: bool, why: str = "") -> Finding:
    """Say where a ranking goes: ρ in the population is 1, or it is not."""
    largest, limit = max(table.columns.unique("rows")), table[name, 0]
    same = (limit.min() > 1 - 1e-9) == converges
    ours = f"{plus_minus(table[name, largest], 3)} at N = {largest}; population {limit.min():.2f} to {limit.max():.2f}"
    printed = "converges to the population's ranking" if converges else "does not converge"
    verdict = "agrees" if same else "differs"
    return Finding(f"Figure {figure}, ranking by {name}", printed, ours, verdict, "" if same else why)


def compare(rows: pd.DataFrame) -> list[Finding]:
    """Check who is first, and where each ranking goes."""
    mcar_, mar_f_, mar_c_ = (_table(rows, mechanism) for mechanism in FIGURES)
    listwise, ym, y0, y1 = (NAMES[name] for name in ("labeled", "Ym", "Y0", "Y1"))
    reason = {
        mechanism: f"I(X;Ỹ) is κ I(X;Y) for weak effects only, so that the population itself is ranked differently; "
        f"I₂(X;Ỹ0) = κ I₂(X;Y) is exact, and ranking by it has ρ = {table[SQUARED, 0].min():.4f} there"
        for mechanism, table in (("mcar", mcar_), ("mar-c", mar_c_))
        if table[SQUARED, 0].min() > 1 - 1e-9
    }
    return [
        _order(
            mcar_, "6.1", "the MCAR estimator is best, above all with few rows", ["MCAR (5.5)"], [listwise, ym, y0, y1]
        ),
        _order(mcar_, "6.1", "Ỹ1, not drawn, is the worst surrogate", [listwise, ym, y0], [y1]),
        *(_limit(mcar_, "6.1", name, True) for name in ("MCAR (5.5)", listwise, ym)),
        *(_limit(mcar_, "6.1", name, True, reason.get("mcar", "")) for name in (y0, y1)),
        _order(mar_f_, "6.2", "the MAR-F estimator is best", ["MAR-F (5.6)"], [listwise, ym, y0, y1]),
        _limit(mar_f_, "6.2", "MAR-F (5.6)", True),
        *(_limit(mar_f_, "6.2", name, False) for name in (listwise, ym, y0, y1)),
        _order(mar_c_, "6.3", "Ỹ0 is better than Ỹ1", [y0], [y1]),
        _order(mar_c_, "6.3", "Pos is better than Neg", ["Pos (5.8)"], ["Neg (5.9)"]),
        *(_limit(mar_c_, "6.3", name, True) for name in ESTIMATORS["mar-c"]),
        *(_limit(mar_c_, "6.3", name, True, reason.get("mar-c", "")) for name in (y0, y1)),
        _limit(mar_c_, "6.3", listwise, False),
    ]


EXPERIMENTS = (
    Experiment(
        name="thesis-ch6",
        title="Rankings of features",
        source="Sechidis 2015 Figures 6.1 to 6.3",
        minutes=(1, 0.5),
        cells=cells,
        run=run,
        compare=compare,
        protocol=lambda quick: (
            f"10 data sets of {'four' if quick else 'eight'} sizes with 30 labeled versions each, 100 features, "
            "p(s=1) = 0.25; triangles: the population itself"
        ),
        remark=(
            "Confirms errata E1: I(X;Ỹ0) and I(X;Ỹ1) have their own order of features, also in the population: what "
            "they rank by does not converge, whatever N. With few rows even consistent estimators may rank worse "
            "than labeled rows alone: SS (5.7) does under MAR-C."
        ),
    ),
)
