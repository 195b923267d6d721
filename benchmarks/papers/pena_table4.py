"""Peña et al. 2005 Table 4: inter-IAMB and PCMB on Alarm and Pigs, all nodes as targets.

p-values from adjusted degrees of freedom, tests performed if there are five rows for each nominal one. A target
with an empty answer has no precision: it is left out of precision and distance, and counts with recall 0, which is
what reproduces the printed values. Where they differ from ours, on Alarm with few rows, "alarm1" is a second opinion:
ten public samples of the same graph, drawn by others from other tables. And degrees
of freedom and the number of rows that a test must have for each are varied there, since Peña et al. 2005 leaves room
for both.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
from benchmarks.papers._harness import Cell, Experiment, Finding, mean_and_error, near, ordered, plus_minus
from benchmarks.papers._pena import ALGORITHMS, ALPHA, MEASURES, PRINTED, network_of, public, scores

PUBLIC = {("alarm1", 500), ("alarm1", 1000), ("alarm1", 5000)}
MAIN = ("adjusted", 5.0)  # degrees of freedom of p-values, and rows wanted for each nominal one
OTHERS = (("nominal", 5.0), ("adjusted", 2.0), ("adjusted", 0.0))
VARIED = (100, 200, 500, 1000)  # rows of Alarm


def cells(quick: bool) -> Sequence[Cell]:
    """List one database each: network, rows, seed."""
    sizes = list(dict.fromkeys((name, rows) for name, rows, _ in PRINTED))
    sizes = [case for case in sizes if not quick or case in {("alarm", 500), ("alarm", 5000), ("pigs", 500)}]
    sizes += sorted(PUBLIC)
    databases = range(3 if quick else 10)
    found = [
        {"network": name, "rows": rows, "database": k, "dof": MAIN[0], "reliability": MAIN[1]}
        for name, rows in sizes
        for k in databases
    ]
    return found + [
        {"network": "alarm", "rows": rows, "database": k, "dof": dof, "reliability": reliability}
        for dof, reliability in OTHERS
        for rows in VARIED
        if ("alarm", rows) in sizes
        for k in databases
    ]


def run(
    data: Path | None, network: str, rows: int, database: int, dof: str, reliability: float
) -> list[dict[str, Any]]:
    """Find all blankets of one database with both algorithms."""
    if network == "alarm1":
        samples = public(data, rows)
        chosen = samples.replicate == sorted(samples.replicate.unique())[database]
        return scores(samples[chosen].drop(columns="replicate"), _public_blankets(data), dof, reliability)
    truth = network_of(data, network)
    frame = truth.sample(rows, np.random.default_rng([2005, database]))
    return scores(frame, {name: truth.blanket(name) for name in truth.names}, dof, reliability)


@cache
def _public_blankets(data: Path | None) -> dict[str, set[str]]:
    edges = pd.read_csv((data or Path()) / "mmhc_samples" / "alarm1_edges.csv.gz")
    graph = nx.DiGraph(list(edges.itertuples(index=False, name=None)))
    return {
        node: (
            {*graph.predecessors(node), *graph.successors(node)}
            | {parent for child in graph.successors(node) for parent in graph.predecessors(child)}
        )
        - {node}
        for node in graph
    }


def compare_with_print(rows: pd.DataFrame) -> list[Finding]:
    """Compare each printed triple, and which of the two algorithms comes nearer to the truth."""
    findings = []
    for (name, size), group in chosen(rows, MAIN).groupby(["network", "rows"], sort=False):
        printed_as = "alarm" if name == "alarm1" else name
        printed_gain = PRINTED[printed_as, size, "inter-iamb"][2][0] - PRINTED[printed_as, size, "pcmb"][2][0]
        mean, error = mean_and_error(nearer(group) * np.sign(printed_gain))
        order = ordered(mean, 2 * error, holds="same ordering")
        for algorithm in ALGORITHMS:
            ours = group[group.algorithm == algorithm]
            printed = dict(zip(MEASURES, PRINTED[printed_as, size, algorithm], strict=True))
            same = all(near(v, ours[m], printed_error=sd / np.sqrt(10)) for m, (v, sd) in printed.items())
            findings.append(
                Finding(
                    f"{name} {size} {algorithm}, precision / recall / distance",
                    " / ".join(f"{value:.2f}" for value, _ in printed.values()),
                    " / ".join(plus_minus(ours[measure]) for measure in MEASURES),
                    "agrees" if same else order,
                    "" if same or order == "same ordering" else why(rows, int(size), algorithm, nearer(group)),
                )
            )
    return findings


def chosen(rows: pd.DataFrame, convention: tuple[str, float]) -> pd.DataFrame:
    """Return the rows of one convention of degrees of freedom and reliability."""
    return rows[(rows.dof == convention[0]) & (rows.reliability == convention[1])]


def nearer(group: pd.DataFrame) -> pd.Series:
    """Return by how much PCMB comes nearer to the truth than inter-IAMB, in distance on the same databases."""
    distances = group.pivot(index="database", columns="algorithm", values="distance")
    return distances["inter-iamb"] - distances["pcmb"]


def why(rows: pd.DataFrame, size: int, algorithm: str, lead: pd.Series) -> str:
    """Compare with the other tables of Alarm, and with other conventions."""
    here = rows[(rows.rows == size) & (rows.algorithm == algorithm) & (rows.network != "pigs")]
    main = chosen(here, MAIN)
    told = [f"{name} {triple(group)}" for name, group in main.groupby("network", sort=False)]
    for dof, reliability in OTHERS:
        group = chosen(here, (dof, reliability))
        if len(group):
            told.append(f"{dof} degrees of freedom, {reliability:g} rows for each: {triple(group)}")
    text = "; ".join(filter(None, told))
    return f"PCMB is {plus_minus(lead)} nearer to the truth than inter-IAMB; {algorithm} with {text}"


def triple(group: pd.DataFrame) -> str:
    """Write means of precision, recall and distance."""
    return " / ".join(f"{group[measure].mean():.2f}" for measure in MEASURES)


EXPERIMENTS = (
    Experiment(
        name="pena-table4",
        title="inter-IAMB and PCMB on Alarm and Pigs",
        source="Peña et al. 2005 Table 4",
        minutes=(4, 1),
        cells=cells,
        run=run,
        compare=compare_with_print,
        needs=("mmhc_samples/alarm1_edges.csv.gz",),
        remark=(
            "Pigs comes out to two digits in all six rows. On Alarm the differences shrink as rows grow and lie within "
            "what another public version of the network (ten samples called Alarm1, rows “alarm1”) makes of the same "
            "table: inter-IAMB's distances at 500 and 1000 rows are those printed, at 5000 rows lower. Taking the "
            "levels seen for those declared changes nothing by more than 0.01 (tried apart). Errata A3 (adjusted dof, "
            "reliability by the nominal ones) and F11 (empty answers) are confirmed."
        ),
        protocol=lambda quick: (
            f"All nodes as targets, {3 if quick else 10} databases, α = {ALPHA}, adjusted degrees of freedom, five "
            "rows for each nominal one; other conventions on Alarm with few rows"
        ),
    ),
)
