"""[P] Table 4: inter-IAMB and PCMB on Alarm and Pigs, all nodes as targets.

p-values from adjusted degrees of freedom, tests performed if there are five rows for each nominal one. A target
with an empty answer has no precision: it is left out of precision and distance, and counts with recall 0, which is
what reproduces the printed values.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from benchmarks._data import network
from benchmarks.papers._experiment import Cell, Experiment, Finding, near, plus_minus
from matplotlib.figure import Figure

import blankets as bl
from blankets.errors import BlanketsWarning
from blankets.simulate import Network
from blankets.simulate.measures import average, compare

ALPHA = 0.01
MEASURES = ("precision", "recall", "distance")

# (network, rows): precision, recall and distance of inter-IAMB, then of PCMB ("AlgorithmMB"), as printed
PRINTED = {
    ("alarm", 100): ((0.85, 0.46, 0.54), (0.79, 0.49, 0.51)),
    ("alarm", 200): ((0.87, 0.59, 0.42), (0.94, 0.56, 0.38)),
    ("alarm", 500): ((0.91, 0.73, 0.30), (0.94, 0.72, 0.25)),
    ("alarm", 1000): ((0.93, 0.80, 0.22), (0.99, 0.79, 0.17)),
    ("alarm", 2000): ((0.92, 0.83, 0.21), (1.00, 0.83, 0.14)),
    ("alarm", 5000): ((0.92, 0.86, 0.18), (1.00, 0.86, 0.11)),
    ("alarm", 10000): ((0.92, 0.90, 0.14), (1.00, 0.91, 0.07)),
    ("alarm", 20000): ((0.94, 0.92, 0.10), (1.00, 0.92, 0.05)),
    ("pigs", 100): ((0.82, 0.59, 0.48), (0.83, 0.81, 0.29)),
    ("pigs", 200): ((0.80, 0.82, 0.37), (0.97, 0.96, 0.07)),
    ("pigs", 500): ((0.82, 0.84, 0.34), (0.98, 1.00, 0.02)),
}
ALGORITHMS = ("inter-iamb", "pcmb")


def cells(quick: bool) -> Sequence[Cell]:
    """List one database each: network, rows, seed."""
    sizes = [case for case in PRINTED if not quick or case in {("alarm", 500), ("alarm", 5000), ("pigs", 500)}]
    return [{"network": name, "rows": rows, "database": k} for name, rows in sizes for k in range(3 if quick else 10)]


@cache
def _network(data: Path | None, name: str) -> Network:
    return network(data / "networks" if data else None, name)


def run(data: Path | None, network: str, rows: int, database: int) -> list[dict[str, Any]]:
    """Find all blankets of one database with both algorithms."""
    truth = _network(data, network)
    frame = truth.sample(rows, np.random.default_rng([2005, database]))
    found = []
    for algorithm in ALGORITHMS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BlanketsWarning)  # constant columns and too few rows: part of the protocol
            answers = bl.discover_all(frame, algorithm=algorithm, alpha=ALPHA, test="g", dof="adjusted").blankets
        members = {name: answers[name].members if name in answers else () for name in truth.names}
        mean = average(compare(members[name], truth.blanket(name)) for name in truth.names)
        found.append(
            {
                "algorithm": algorithm,
                "precision": mean.precision_non_empty,
                "recall": mean.recall,
                "distance": mean.distance_non_empty,
                "empty": mean.n_empty,
            }
        )
    return found


def compare_with_print(rows: pd.DataFrame) -> list[Finding]:
    """Compare each printed triple; one better than printed in all three is said to be so."""
    findings = []
    for (name, size), group in rows.groupby(["network", "rows"], sort=False):
        for k, algorithm in enumerate(ALGORITHMS):
            ours = group[group.algorithm == algorithm]
            printed = dict(zip(MEASURES, PRINTED[name, size][k], strict=True))
            same = all(near(printed[measure], ours[measure]) for measure in MEASURES)
            findings.append(
                Finding(
                    f"{name} {size} {algorithm}, precision / recall / distance",
                    " / ".join(f"{value:.2f}" for value in printed.values()),
                    " / ".join(plus_minus(ours[measure]) for measure in MEASURES),
                    "agrees" if same else "same ordering",
                )
            )
    return findings


def draw(rows: pd.DataFrame, figure: Figure) -> None:
    """Draw distance over rows, printed and ours."""
    axes = figure.subplots(1, 2, sharey=True)
    for ax, name in zip(axes, ("alarm", "pigs"), strict=True):
        for k, algorithm in enumerate(ALGORITHMS):
            ours = rows[(rows.network == name) & (rows.algorithm == algorithm)].groupby("rows").distance
            ax.errorbar(ours.mean().index, ours.mean(), 2 * ours.sem(), marker="o", color=f"C{k}", label=algorithm)
            sizes = [size for case, size in PRINTED if case == name]
            printed = [PRINTED[name, size][k][2] for size in sizes]
            ax.plot(sizes, printed, "x--", color=f"C{k}", label=f"{algorithm}, printed")
        ax.set(xscale="log", xlabel="rows", title=name)
    axes[0].set_ylabel("distance from perfect precision and recall")
    axes[0].legend()


EXPERIMENTS = (
    Experiment(
        name="pena-table4",
        title="inter-IAMB and PCMB on Alarm and Pigs",
        source="[P] Table 4",
        minutes=(4, 1),
        cells=cells,
        run=run,
        compare=compare_with_print,
        draw=draw,
        protocol=lambda quick: f"All nodes as targets, {3 if quick else 10} databases, α = {ALPHA}",
    ),
)
