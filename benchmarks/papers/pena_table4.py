"""[P] Table 4: inter-IAMB and PCMB on Alarm and Pigs, all nodes as targets.

p-values from adjusted degrees of freedom, tests performed if there are five rows for each nominal one. A target
with an empty answer has no precision: it is left out of precision and distance, and counts with recall 0, which is
what reproduces the printed values. Where they differ from ours, on Alarm with few rows, "alarm1" is a second opinion:
ten public samples of the same graph, drawn by others from other tables.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import networkx as nx
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

# (network, rows, algorithm): mean and standard deviation over ten databases of the measures, as printed
PRINTED = {
    ("alarm", 100, "inter-iamb"): ((0.85, 0.06), (0.46, 0.03), (0.54, 0.06)),
    ("alarm", 100, "pcmb"): ((0.79, 0.04), (0.49, 0.05), (0.51, 0.04)),
    ("alarm", 200, "inter-iamb"): ((0.87, 0.04), (0.59, 0.04), (0.42, 0.04)),
    ("alarm", 200, "pcmb"): ((0.94, 0.03), (0.56, 0.05), (0.38, 0.06)),
    ("alarm", 500, "inter-iamb"): ((0.91, 0.03), (0.73, 0.03), (0.30, 0.04)),
    ("alarm", 500, "pcmb"): ((0.94, 0.01), (0.72, 0.04), (0.25, 0.04)),
    ("alarm", 1000, "inter-iamb"): ((0.93, 0.03), (0.80, 0.01), (0.22, 0.02)),
    ("alarm", 1000, "pcmb"): ((0.99, 0.01), (0.79, 0.01), (0.17, 0.02)),
    ("alarm", 2000, "inter-iamb"): ((0.92, 0.04), (0.83, 0.01), (0.21, 0.04)),
    ("alarm", 2000, "pcmb"): ((1.00, 0.00), (0.83, 0.02), (0.14, 0.02)),
    ("alarm", 5000, "inter-iamb"): ((0.92, 0.02), (0.86, 0.01), (0.18, 0.02)),
    ("alarm", 5000, "pcmb"): ((1.00, 0.00), (0.86, 0.02), (0.11, 0.02)),
    ("alarm", 10000, "inter-iamb"): ((0.92, 0.04), (0.90, 0.01), (0.14, 0.03)),
    ("alarm", 10000, "pcmb"): ((1.00, 0.00), (0.91, 0.02), (0.07, 0.02)),
    ("alarm", 20000, "inter-iamb"): ((0.94, 0.00), (0.92, 0.00), (0.10, 0.00)),
    ("alarm", 20000, "pcmb"): ((1.00, 0.00), (0.92, 0.00), (0.05, 0.00)),
    ("pigs", 100, "inter-iamb"): ((0.82, 0.01), (0.59, 0.01), (0.48, 0.02)),
    ("pigs", 100, "pcmb"): ((0.83, 0.01), (0.81, 0.02), (0.29, 0.02)),
    ("pigs", 200, "inter-iamb"): ((0.80, 0.00), (0.82, 0.00), (0.37, 0.00)),
    ("pigs", 200, "pcmb"): ((0.97, 0.01), (0.96, 0.01), (0.07, 0.01)),
    ("pigs", 500, "inter-iamb"): ((0.82, 0.00), (0.84, 0.00), (0.34, 0.00)),
    ("pigs", 500, "pcmb"): ((0.98, 0.00), (1.00, 0.00), (0.02, 0.00)),
}
ALGORITHMS = ("inter-iamb", "pcmb")
SMALL = "the tables of Alarm are not in [P]: another public version of them moves the numbers as much"
PUBLIC = {("alarm1", 500), ("alarm1", 1000), ("alarm1", 5000)}


def cells(quick: bool) -> Sequence[Cell]:
    """List one database each: network, rows, seed."""
    sizes = list(dict.fromkeys((name, rows) for name, rows, _ in PRINTED))
    sizes = [case for case in sizes if not quick or case in {("alarm", 500), ("alarm", 5000), ("pigs", 500)}]
    sizes += sorted(PUBLIC)
    return [{"network": name, "rows": rows, "database": k} for name, rows in sizes for k in range(3 if quick else 10)]


@cache
def _network(data: Path | None, name: str) -> Network:
    return network(data / "networks" if data else None, name)


def run(data: Path | None, network: str, rows: int, database: int) -> list[dict[str, Any]]:
    """Find all blankets of one database with both algorithms."""
    if network == "alarm1":
        blankets, frame = _public(data, rows, database)
    else:
        truth = _network(data, network)
        blankets = {name: truth.blanket(name) for name in truth.names}
        frame = truth.sample(rows, np.random.default_rng([2005, database]))
    found = []
    for algorithm in ALGORITHMS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BlanketsWarning)  # constant columns and too few rows: part of the protocol
            answers = bl.discover_all(frame, algorithm=algorithm, alpha=ALPHA, test="g", dof="adjusted").blankets
        mean = average(
            compare(answers[name].members if name in answers else (), blanket) for name, blanket in blankets.items()
        )
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


def _public(data: Path | None, rows: int, database: int) -> tuple[dict[str, set[str]], pd.DataFrame]:
    """Return the true blankets and one public sample of Alarm."""
    folder = (data or Path()) / "mmhc_samples"
    graph = nx.DiGraph(list(pd.read_csv(folder / "alarm1_edges.csv.gz").itertuples(index=False, name=None)))
    samples = pd.read_csv(folder / f"alarm1_s{rows}.csv.gz", dtype=str)
    replicates = [group.drop(columns="replicate") for _, group in samples.groupby("replicate")]
    blankets = {
        node: (
            {*graph.predecessors(node), *graph.successors(node)}
            | {parent for child in graph.successors(node) for parent in graph.predecessors(child)}
        )
        - {node}
        for node in graph
    }
    return blankets, replicates[database]


def compare_with_print(rows: pd.DataFrame) -> list[Finding]:
    """Compare each printed triple, and which of the two algorithms comes nearer to the truth."""
    findings = []
    for (name, size), group in rows.groupby(["network", "rows"], sort=False):
        printed_as = "alarm" if name == "alarm1" else name
        printed_gain = PRINTED[printed_as, size, "inter-iamb"][2][0] - PRINTED[printed_as, size, "pcmb"][2][0]
        ordered = np.sign(nearer(group)) == np.sign(printed_gain)
        for algorithm in ALGORITHMS:
            ours = group[group.algorithm == algorithm]
            printed = dict(zip(MEASURES, PRINTED[printed_as, size, algorithm], strict=True))
            same = all(near(v, ours[m], printed_error=sd / np.sqrt(10)) for m, (v, sd) in printed.items())
            findings.append(
                Finding(
                    f"{name} {size} {algorithm}, precision / recall / distance",
                    " / ".join(f"{value:.2f}" for value, _ in printed.values()),
                    " / ".join(plus_minus(ours[measure]) for measure in MEASURES),
                    "agrees" if same else "same ordering" if ordered else "differs",
                    "" if same or ordered else SMALL,
                )
            )
    return findings


def nearer(group: pd.DataFrame) -> float:
    """Return by how much PCMB comes nearer to the truth than inter-IAMB, in mean distance on the same databases."""
    means = group.groupby("algorithm").distance.mean()
    return float(means["inter-iamb"] - means["pcmb"])


def draw(rows: pd.DataFrame, figure: Figure) -> None:
    """Draw distance over rows, printed and ours."""
    axes = figure.subplots(1, 2, sharey=True)
    for ax, name in zip(axes, ("alarm", "pigs"), strict=True):
        for k, algorithm in enumerate(ALGORITHMS):
            if name == "alarm":
                other = rows[(rows.network == "alarm1") & (rows.algorithm == algorithm)].groupby("rows").distance.mean()
                ax.plot(other.index, other, "s", mfc="none", color=f"C{k}", label=f"{algorithm}, public samples")
            ours = rows[(rows.network == name) & (rows.algorithm == algorithm)].groupby("rows").distance
            ax.errorbar(ours.mean().index, ours.mean(), 2 * ours.sem(), marker="o", color=f"C{k}", label=algorithm)
            printed = {
                size: values[2][0] for (case, size, a), values in PRINTED.items() if (case, a) == (name, algorithm)
            }
            ax.plot(list(printed), list(printed.values()), "x--", color=f"C{k}", label=f"{algorithm}, printed")
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
        needs=("mmhc_samples/alarm1_edges.csv.gz",),
        remark=(
            "Pigs comes out to two digits in all six rows. On Alarm the differences shrink as rows grow and lie within "
            "what another public version of the network (ten samples called Alarm1, rows “alarm1”) makes of the same "
            "table: inter-IAMB's distances at 500 and 1000 rows are those printed, at 5000 rows lower. Taking the "
            "levels seen for those declared changes nothing by more than 0.01 (tried apart). ERRATA A3 (adjusted dof, "
            "reliability by the nominal ones) and F11 (empty answers) are confirmed."
        ),
        protocol=lambda quick: f"All nodes as targets, {3 if quick else 10} databases, α = {ALPHA}",
    ),
)
