"""Sechidis 2015 Figures 7.3, 7.4, 7.10 and 7.11: false negatives of simulated tests cross 1% where the plans say.

The binary feature is the class with 60% of its values replaced by fair coin tosses, I(X;Y) = 0.053; features of ten
levels are drawn at random with I(X;Y) = 0.053. The printed crossings come from 10,000 repeats; so does each of our
runs, and their spread says how exactly such a figure can be read. κ being a limit of weak effects, the simulation with
5% labels and ten levels is done for a hundredth of the effect as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.papers._harness import Cell, Experiment, Finding, plus_minus
from benchmarks.papers._partly_labeled import (
    Floats,
    accepts,
    features,
    mar_c,
    population,
    sample,
    sample_exact,
    tables_of,
)
from scipy.optimize import brentq

import blankets as bl
from blankets.stats import attained_power, plug_in

PRIOR, ALPHA, REPEATS = 0.2, 0.01, 10_000
N_FEATURES = 1000
SUPERVISED, ROWS, LABELS = "fully labeled", "5% labeled", "labels of 1000 rows"

# figure: what varies, levels of x, predicted crossing (a plan), printed crossing if another, values simulated
FIGURES: dict[str, tuple[str, int, int, int | None, Sequence[int]]] = {
    "7.3a": (SUPERVISED, 2, 227, 225, range(190, 271, 10)),
    "7.3b": (ROWS, 2, 1077, 1080, range(900, 1301, 50)),
    "7.4": (LABELS, 2, 54, None, range(44, 69, 3)),
    "7.10a": (SUPERVISED, 10, 367, None, range(330, 411, 10)),
    "7.10b": (ROWS, 10, 1743, None, range(1500, 2001, 50)),
    "7.11": (LABELS, 10, 85, None, range(73, 110, 4)),
}
WEAK = "7.10b, weak"  # not in the thesis
FIGURES_AND_WEAK = FIGURES | {WEAK: (ROWS, 10, 0, None, range(160_000, 200_001, 5_000))}


def cells(quick: bool) -> Sequence[Cell]:
    """List one figure each, by coins and (where labels are missing) by exact numbers of labels, by G and by X²."""
    return [
        {"figure": figure, "labeling": labeling, "test": test, "runs": 5 if quick else 20, "values": list(values)}
        for figure, (case, _, _, _, values) in FIGURES_AND_WEAK.items()
        for labeling in (["coin"] if case == SUPERVISED or figure == WEAK else ["coin", "exact"])
        for test in ("g", "x2")
        if labeling == "coin" or test == "g"
    ]


def _positives(case: str, value: float) -> float:
    """Return labeled positives as a share of all rows."""
    return {SUPERVISED: PRIOR, ROWS: 0.05, LABELS: value / 1000}[case]


@cache
def _features(arity: int, effect: float) -> Floats:
    """Return p(x, y) of the features, as many as repeats."""
    if arity == 2:
        keeps = 0.4 + 0.6 / 2
        noisy = np.array([[keeps, 1 - keeps], [1 - keeps, keeps]]) * [[1 - PRIOR], [PRIOR]]
        return np.broadcast_to(noisy, (REPEATS, 2, 2))
    few = features(N_FEATURES, PRIOR, arity, effect, np.random.default_rng([2015, 7, arity]))
    return np.repeat(few, REPEATS // N_FEATURES, axis=0)


def run(
    data: Path | None, figure: str, labeling: str, test: str, runs: int, values: Sequence[int]
) -> list[dict[str, Any]]:
    """Return the false negative rate at each value, one a run."""
    case, arity, *_ = FIGURES_AND_WEAK[figure]
    joint = _features(arity, 0.00053 if figure == WEAK else 0.053)
    rng = np.random.default_rng([2015, *map(ord, figure + labeling)])
    found = []
    for run, value in ((run, value) for run in range(runs) for value in values):
        rows = 1000 if case == LABELS else value
        positives = _positives(case, value)
        if labeling == "exact":
            tables = sample_exact(joint, round(positives * rows), rows, rng)
        else:
            tables = sample(joint, mar_c(joint, negatives=0.0, positives=positives), rows, rng)
        kept = accepts(tables_of("Y0", *tables), ALPHA, "log" if test == "g" else "squared")
        found.append({"run": run, "value": value, "fnr": float(kept.mean())})
    return [{**row, "values": None} for row in found]


def _crossing(one: pd.DataFrame) -> float:
    """Return where the false negative rate of a run is 1%: its logarithm is nearly straight over these values."""
    curve = np.polyfit(np.log(np.maximum(one.fnr, 0.5 / REPEATS)), one.value, 2)
    return float(np.polyval(curve, np.log(0.01)))


def _reading(one: pd.DataFrame) -> float:
    """Return the same as it would be read off the figure of one run: the first crossing of the drawn line."""
    below = int(np.argmax(one.fnr < 0.01))
    first, second = one.iloc[max(below - 1, 0)], one.iloc[max(below, 1)]
    return float(np.interp(0.01, [second.fnr, first.fnr], [second.value, first.value]))


def crossings(rows: pd.DataFrame) -> dict[tuple[str, str, str], list[float]]:
    """Return the crossings of all runs, by figure, labeling and test."""
    groups = rows.groupby(["figure", "labeling", "test"], sort=False)
    return {name: [_crossing(one) for _, one in group.groupby("run")] for name, group in groups}


def _by_own_information(case: str, arity: int) -> float:
    """Return where the crossing is if λ is 2 N I(X;Ỹ0), feature by feature, rather than 2 N κ I(X;Y)."""
    joint = _features(arity, 0.053)[:: REPEATS // N_FEATURES]

    def excess(value: float) -> float:
        seen = population(joint, mar_c(joint, negatives=0.0, positives=_positives(case, value)))
        own = plug_in(tables_of("Y0", *seen)).value
        rows = 1000 if case == LABELS else value
        return float(0.99 - attained_power(2 * rows * own, arity - 1, ALPHA).mean())

    return float(brentq(excess, 20, 199) if case == LABELS else brentq(excess, 100, 5000))


def compare(rows: pd.DataFrame) -> list[Finding]:
    """Compare the printed crossing, or the plan that the figure is said to verify, with ours."""
    found = crossings(rows)
    findings = []
    for figure, (case, arity, predicted, read, _) in FIGURES.items():
        ways = {key[1:]: value for key, value in found.items() if key[0] == figure}
        ours = ways["coin", "g"]
        printed, rounding = (predicted, 0.5) if read is None else (read, 5.0)
        runs = rows[(rows.figure == figure) & (rows.labeling == "coin") & (rows.test == "g")].groupby("run")
        spread, reading = np.std(ours, ddof=1), np.std([_reading(one) for _, one in runs], ddof=1)
        within = abs(np.mean(ours) - printed) <= 2 * spread + rounding
        others = [
            f"{'X²' if test == 'x2' else 'exact numbers of labels'} {plus_minus(values, 1)}"
            for (labeling, test), values in ways.items()
            if (labeling, test) != ("coin", "g")
        ]
        said = f"≈ {read}, predicted {predicted}" if read else f"predicted {predicted}, “verified”"
        findings.append(
            Finding(
                f"Figure {figure}, {case}, |X| = {arity}: false negatives fall below 1% at",
                said,
                f"{plus_minus(ours, 1)} (one run: ± {spread:.1f}, read off its line ± {reading:.1f}); "
                f"{', '.join(others)}",
                "agrees" if within else "differs",
                "" if within else _why(case, arity, predicted, found),
            )
        )
    return findings


def _why(case: str, arity: int, predicted: int, found: dict[tuple[str, str, str], list[float]]) -> str:
    """Explain by what a hundredth of the effect gives, and by the information that the surrogate has."""
    weak, strong = np.mean(found[WEAK, "coin", "g"]), np.mean(found["7.10b", "coin", "g"])
    planned = bl.plan(
        effect=0.00053, power=0.99, alpha=ALPHA, arity=10, labels="pu", prior=PRIOR, labeled=0.05, shape="spread"
    ).answer
    own = _by_own_information(case, arity)
    off, off_strong = weak / planned - 1, strong / FIGURES["7.10b"][2] - 1
    if not (abs(off) < abs(off_strong) / 2 and own > predicted):
        return ""
    return (
        f"κ is the limit of weak effects; I(X;Ỹ0) itself predicts {own:.0f}, and with a hundredth of the effect the "
        f"crossing of Figure 7.10b is {off:+.1%} from its plan ({planned} rows) in place of {off_strong:+.1%}"
    )


EXPERIMENTS = (
    Experiment(
        name="thesis-ch7-verified",
        title="Plans against simulated tests",
        source="Sechidis 2015 Figures 7.3, 7.4, 7.10, 7.11",
        minutes=(3, 1),
        cells=cells,
        run=run,
        compare=compare,
        protocol=lambda quick: (
            f"{5 if quick else 20} runs of {REPEATS} repeats, α = {ALPHA}, power 0.99, p(y=1) = {PRIOR}; G-test, each "
            "positive labeled by its own coin, beside exact numbers of labels and the X²-test"
        ),
        remark=(
            "A crossing agrees if it lies within two standard deviations of a curve fitted to one run of 10,000 "
            "repeats, the length of the printed ones, and five rows where it is printed as “≈”. The printed 1080 of "
            "Figure 7.3b is just outside; what is read off the drawn line of one run scatters more, and 1080 is "
            "within that. Confirms errata B11 (by coins the crossing of Figure 7.3b is near 1100, by X² near 1080, "
            "by exact numbers of labels below 1077), and B2 for plans: with ten levels κ promises too much at I = "
            "0.053."
        ),
    ),
)
