"""Sechidis 2015 Figures 7.5 to 7.7 and 7.12 to 7.14: what an uncertain p(y=1) does to the number of rows or labels.

The priors are generalized Beta distributions on an interval; which ones is not said, so a symmetric one about the
true value 0.2 is taken, and the same moved down and up by 0.05 for Figures 7.7 and 7.14.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.papers._harness import Cell, Experiment, Finding
from scipy.stats import beta, kstest

import blankets as bl

N_DRAWS = 10_000
TRUE = 0.2
LEVELS = [round(0.01 * k, 2) for k in range(1, 100)]
SHIFTS = {"right": 0.0, "too low": -0.05, "too high": 0.05}
# what is asked, levels of x: the answer with the true p(y=1), and the figures
CASES: dict[tuple[str, int], tuple[int, str, str]] = {
    ("rows", 2): (1077, "7.5", "7.7"),
    ("labeled", 2): (54, "7.6", "7.7"),
    ("rows", 10): (1743, "7.12", "7.14"),
    ("labeled", 10): (85, "7.13", "7.14"),
}


def cells(quick: bool) -> Sequence[Cell]:
    """List one panel each; the reduced protocol is the full one."""
    return [
        {"asked": asked, "arity": arity, "prior": prior, "draws": N_DRAWS}
        for (asked, arity), prior in product(CASES, SHIFTS)
    ]


def run(data: Path | None, asked: str, arity: int, prior: str, draws: int) -> list[dict[str, Any]]:
    """Return quantiles of the prior and of the answer, and how well a generalized Beta fits the latter."""
    shift = SHIFTS[prior]
    belief = bl.Beta(mean=TRUE + shift, low=0.1 + shift, high=0.3 + shift, concentration=8)
    fixed = {"labeled": 0.05} if asked == "rows" else {"rows": 1000}
    question = {
        "effect": 0.053,
        "power": 0.99,
        "alpha": 0.01,
        "arity": arity,
        "labels": "pu",
        "shape": "spread",
        **fixed,
    }
    found = bl.plan(**question, prior=belief, n_draws=draws, rng=2015)
    exact = bl.plan(**question, prior=TRUE)
    about = {
        "exact": exact.answer,
        "below": float((found.draws < exact.answer).mean()),
        "distance": _distance_from_beta(found.draws),
        "correlation": float(np.corrcoef(found.prior_draws, found.draws)[0, 1]),
    }
    quantiles = zip(LEVELS, np.quantile(found.prior_draws, LEVELS), found.quantile(LEVELS), strict=True)
    return [{**about, "level": level, "p": float(p), "answer": float(answer)} for level, p, answer in quantiles]


def _distance_from_beta(values: Any) -> float:
    """Return the largest distance between the distribution of the answers and the Beta fitted to it on its range."""
    low, high = values.min() - 1, values.max() + 1
    spread = (values - low) / (high - low)
    mean, variance = spread.mean(), spread.var()
    weight = mean * (1 - mean) / variance - 1
    smooth = spread + (np.random.default_rng(0).random(len(spread)) - 0.5) / (high - low)  # whole numbers have ties
    return float(kstest(smooth, beta(mean * weight, (1 - mean) * weight).cdf).statistic)


def compare(rows: pd.DataFrame) -> list[Finding]:
    """Check the answers without uncertainty, the form of the uncertainty, and the side of wrong priors."""
    findings = []
    for (asked, arity), (printed, figure, wrong) in CASES.items():
        ours = rows[(rows.asked == asked) & (rows.arity == arity)].groupby("prior").first()
        right, low, high = (ours.loc[name] for name in SHIFTS)
        unit = "rows" if asked == "rows" else "labels of 1000 rows"
        findings += [
            Finding(
                f"Figure {figure}, {unit}, |X| = {arity}: dashed line, no uncertainty",
                str(printed),
                f"{right.exact:.0f}",
                "agrees" if right.exact == printed else "differs",
            ),
            Finding(
                f"Figure {figure}, {unit}: uncertainty of the prior becomes one “of a similar form”",
                "a generalized Beta fits",
                f"correlation {right.correlation:.4f} with p(y=1); distribution within {right.distance:.3f} of a Beta",
                "agrees" if right.correlation > 0.99 and right.distance < 0.02 else "differs",
            ),
            Finding(
                f"Figure {wrong}, {unit}, |X| = {arity}: share of answers below the dashed line, p(y=1) believed too "
                "low / right / too high",
                "falls",
                f"{low.below:.2f} / {right.below:.2f} / {high.below:.2f}",
                "same ordering" if low.below > 0.5 + abs(right.below - 0.5) and high.below < right.below else "differs",
            ),
        ]
    return findings


EXPERIMENTS = (
    Experiment(
        name="thesis-ch7-prior",
        title="Plans under an uncertain class prior",
        source="Sechidis 2015 Figures 7.5 to 7.7, 7.12 to 7.14",
        minutes=(0.2, 0.2),
        cells=cells,
        run=run,
        compare=compare,
        protocol=lambda quick: (
            f"`bl.plan` with {N_DRAWS} draws of p(y=1) from Beta(4, 4) on 0.1 to 0.3 (moved by 0.05 down or up), "
            "I(X;Y) = 0.053, power 0.99, α = 0.01"
        ),
        remark="The parameters of the printed priors are not in the text at hand.",
    ),
)
