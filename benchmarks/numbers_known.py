"""Accuracy on known networks of numbers: mean F1 of the blankets of all nodes, by the default call.

    python benchmarks/numbers_known.py DIR ecoli70 --rows 200 1000 5000   # DIR holds ecoli70.json
    python benchmarks/numbers_known.py DIR magic-irri sangiovese --rows 1000 --draws 1

Two forms of JSON are read: pgmpy's linear Gaussian networks ("cpds": coefficients and variance of each node), and a
short form of conditional linear Gaussian networks ("nodes": "levels" with "p" or "cpt", or "b0", "b" and "sd" for each
configuration of the categories "d", of which the first varies fastest, with numbers "g").
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Mapping
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import blankets as bl
from numbers_networks import f1

Drawn = dict[str, NDArray[Any]]
Mechanism = Callable[[Drawn, int, np.random.Generator], NDArray[Any]]


class Known:
    """A network from a file."""

    def __init__(self, path: Path) -> None:
        told = json.loads(path.read_text())
        self.levels: dict[str, int] = {}
        if "cpds" in told:
            nodes = {x: _linear(cpd) for x, cpd in told["cpds"].items()}
        else:
            nodes = told["nodes"]
            self.levels = {x: node["levels"] for x, node in nodes.items() if "levels" in node}
        parents = {x: [*node.get("d", []), *node.get("g", [])] for x, node in nodes.items()}
        self.parents = {x: parents[x] for x in TopologicalSorter(parents).static_order()}
        self.draw = {x: self._mechanism(nodes[x]) for x in self.parents}

    def blanket(self, target: str) -> set[str]:
        """Return parents, children and their other parents."""
        children = [c for c, ps in self.parents.items() if target in ps]
        return ({*self.parents[target], *children} | {p for c in children for p in self.parents[c]}) - {target}

    def table(self, n: int, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        """Return rows: numbers as they are, levels as texts."""
        drawn: Drawn = {}
        for x, draw in self.draw.items():
            drawn[x] = draw(drawn, n, rng)
        return {x: np.array([f"level {k}" for k in v]) if x in self.levels else v for x, v in drawn.items()}

    def _mechanism(self, node: Mapping[str, Any]) -> Mechanism:
        def draw(drawn: Drawn, n: int, rng: np.random.Generator) -> NDArray[Any]:
            row, step = np.zeros(n, int), 1
            for p in node.get("d", []):
                row, step = row + step * drawn[p].astype(int), step * self.levels[p]
            if "sd" in node:
                pairs = zip(node.get("g", []), node.get("b", []), strict=True)
                mean = np.asarray(node["b0"])[row] + sum(np.asarray(b)[row] * drawn[p] for p, b in pairs)
                return np.asarray(mean + np.asarray(node["sd"])[row] * rng.normal(size=n))
            cpt = np.atleast_2d(node.get("cpt", node.get("p")))
            cumulative = (cpt / cpt.sum(axis=1, keepdims=True)).cumsum(axis=1)
            return np.asarray((rng.random((n, 1)) > cumulative[row][:, :-1]).sum(axis=1))

        return draw


def _linear(cpd: Mapping[str, Any]) -> dict[str, Any]:
    """Return a linear Gaussian node in the short form."""
    slopes = {p: b[0] for p, b in cpd["coefficients"].items()}
    start = slopes.pop("(Intercept)")
    return {"g": [*slopes], "b0": [start], "b": [[b] for b in slopes.values()], "sd": [cpd["variance"][0] ** 0.5]}


def main() -> None:
    """Print a line for each network and number of rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--rows", type=int, nargs="+", default=[200, 1000, 5000])
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--algorithm", default="auto")
    asked = parser.parse_args()
    for name in asked.names:
        net = Known(asked.folder / f"{name}.json")
        for n in asked.rows:
            scores, began = [], time.process_time()
            for seed in range(asked.first, asked.first + asked.draws):
                table = net.table(n, np.random.default_rng([seed, n]))
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found = bl.discover_all(table, algorithm=asked.algorithm, n_jobs=1)
                scores.append(np.mean([f1(set(found[x].members), net.blanket(x)) for x in net.parents if x in found]))
            seconds = (time.process_time() - began) / asked.draws
            print(f"{name:12} {n:6} rows  F1 {np.mean(scores):.3f}, {seconds:.1f} s of CPU time a draw", flush=True)


if __name__ == "__main__":
    main()
