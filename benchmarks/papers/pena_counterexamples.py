"""Peña et al. 2005 section 3: MMPC and MMMB return variables outside the blanket, PCMB does not.

The two graphs of Peña et al. 2005 Table 2; of the second, whose figure is damaged, the one with five arrows that fits
the text (Q → T in place of Q → S). Under d-separation an answer is right or wrong; on sampled data, from random tables
of which each arrow carries some information, we count how often the false member that Peña et al. 2005 name comes out.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
from benchmarks.papers._harness import Cell, Experiment, Finding

import blankets as bl
from blankets.independence import DSeparation
from blankets.search import ALGORITHMS, Trace
from blankets.simulate import random_network

TARGET = "T"
GRAPHS = {
    "a": nx.DiGraph([("T", "Q"), ("P", "Q"), ("P", "R"), ("R", "S"), ("Q", "S")]),
    "b": nx.DiGraph([("P", "Q"), ("Q", "T"), ("T", "S"), ("P", "R"), ("R", "S")]),
}
# graph, algorithm, the false member that Peña et al. 2005 name (or none)
CASES = (
    ("a", "mmpc", "S"),
    ("a", "mmmb", "S"),
    ("b", "mmmb", "P"),
    ("a", "pcmb", None),
    ("b", "pcmb", None),
)
# beyond Peña et al. 2005: HITON shares the flaw, and asking both ends cures MMPC, MMMB and HITON
MORE = (
    ("a", "hiton-pc", "S"),
    ("a", "mmpc, symmetric", None),
    ("a", "mmmb, symmetric", None),
    ("b", "mmmb, symmetric", None),
    ("a", "hiton-pc, symmetric", None),
)
NAMED = {"a": "S", "b": "P"}  # watched on sampled data
ALPHA = 0.01
ROWS = 20_000


def cells(quick: bool) -> Sequence[Cell]:
    """List the oracle, then random networks of each graph, ten a cell."""
    parts = 3 if quick else 20
    sampled = [{"data": "sampled", "graph": graph, "part": part} for graph in GRAPHS for part in range(parts)]
    return [{"data": "d-separation", "graph": graph, "part": 0} for graph in GRAPHS] + sampled


def run(_: Path | None, data: str, graph: str, part: int) -> list[dict[str, Any]]:
    """Return members for each algorithm of a graph."""
    chosen = [algorithm for case, algorithm, _ in (*CASES, *MORE) if case == graph]
    if data == "d-separation":
        return [{"algorithm": name, "members": " ".join(sorted(_by_oracle(graph, name)))} for name in chosen]
    rows = []
    for k in range(10):
        rng = np.random.default_rng([2005, part, k])
        frame = random_network(GRAPHS[graph], arities=2, strength=0.02, rng=rng).sample(ROWS, rng)
        for name in chosen:
            base, _, symmetric = name.partition(", ")
            options = {"symmetric": True} if symmetric else {}
            found = bl.discover(
                frame, TARGET, algorithm=base, alpha=ALPHA, test=bl.Testing("g", dof="adjusted"), close=False, **options
            )
            rows.append({"algorithm": name, "members": " ".join(sorted(found.members)), "network": k})
    return rows


def _by_oracle(graph: str, name: str) -> set[str]:
    base, _, symmetric = name.partition(", ")
    tests = DSeparation(GRAPHS[graph])
    target = tests.names.index(TARGET)
    candidates = [x for x in range(len(tests.names)) if x != target]
    options = {"symmetric": True} if symmetric else {}
    found = ALGORITHMS[base].run(tests, target, candidates, alpha=ALPHA, trace=Trace(), **options)
    return {tests.names[x] for x in found.members}


def _share(rows: pd.DataFrame, graph: str, algorithm: str) -> tuple[float, int]:
    """Return how often the named false member came out, and of how many networks."""
    chosen = rows[(rows.data == "sampled") & (rows.graph == graph) & (rows.algorithm == algorithm)]
    return float(np.mean([NAMED[graph] in members.split() for members in chosen.members])), len(chosen)


def compare(rows: pd.DataFrame) -> list[Finding]:
    """Compare the oracle's answers one by one, and the shares of false members on data."""
    oracle = rows[rows.data == "d-separation"].set_index(["graph", "algorithm"]).members
    findings = []
    for graph, algorithm, false in (*CASES, *MORE):
        ours = oracle[graph, algorithm].split()
        claim = f"takes {false} in" if false else "exact"
        right = set(ours) == _truth(graph, algorithm)
        holds = false in ours if false else right
        share, n = _share(rows, graph, algorithm)
        printed = claim if (graph, algorithm, false) in CASES else f"(not in Peña et al. 2005) {claim}"
        findings.append(
            Finding(
                f"graph ({graph}), {algorithm}",
                printed,
                f"{{{', '.join(ours)}}} under d-separation; on data {NAMED[graph]} in {share:.0%} of {n} networks",
                "agrees" if holds else "differs",
                "" if holds else "see the tests of the two-phase family, which hold the answers of every order",
            )
        )
    for graph, wrong in (("a", "mmpc"), ("a", "mmmb"), ("b", "mmmb")):
        sound = "mmpc, symmetric" if wrong == "mmpc" else "pcmb"
        often, seldom = _share(rows, graph, wrong)[0], _share(rows, graph, sound)[0]
        findings.append(
            Finding(
                f"graph ({graph}), sampled data: {NAMED[graph]} false more often with {wrong} than with {sound}",
                "implied",
                f"{often:.0%} against {seldom:.0%}",
                "agrees" if often > seldom else "differs",
                "" if often > seldom else f"at {ROWS} rows the extra tests of {sound} have too little power to show it",
            )
        )
    return findings


def _truth(graph: str, algorithm: str) -> set[str]:
    dag = GRAPHS[graph]
    neighbors = set(dag.predecessors(TARGET)) | set(dag.successors(TARGET))
    spouses = {parent for child in dag.successors(TARGET) for parent in dag.predecessors(child)} - {TARGET}
    return neighbors if ALGORITHMS[algorithm.partition(",")[0]].finds == "neighbors" else neighbors | spouses


EXPERIMENTS = (
    Experiment(
        name="pena-counterexamples",
        title="MMPC and MMMB err, PCMB does not",
        source="Peña et al. 2005 Table 2 and section 3",
        minutes=(3, 1),
        cells=cells,
        run=run,
        compare=compare,
        words=("members",),
        protocol=lambda quick: (
            f"Both graphs under d-separation, and {30 if quick else 200} random binary networks of each with "
            f"{ROWS} rows, every arrow of at least 0.02 nats, α = {ALPHA}"
        ),
    ),
)
