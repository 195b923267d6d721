"""Directions that are printed: how many runs have a wrong one, and how many of them are right.

    python benchmarks/roles.py [--networks DIR]

First graphs without any edge that data can direct: a class with three effects (naive Bayes) and chains; a run that
prints a parent or a child is wrong. Then networks: the share of printed parents and children that are so in the
network, and the share of all parents and children that are printed.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import blankets as bl
from _data import network
from blankets.errors import BlanketsError, BlanketsWarning

ALGORITHMS = ("auto", "pcmb")


def naive_bayes(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return a class, y, with three effects of different strength."""
    y = rng.integers(0, 2, n)
    effects = {f"t{i}": np.where(rng.random(n) < p, y, rng.integers(0, 2, n)) for i, p in enumerate((0.5, 0.35, 0.25))}
    return pd.DataFrame({**effects, "y": y})


def chain(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return a chain of five columns; y is in the middle."""
    columns = [rng.integers(0, 2, n)]
    for p in (0.6, 0.4, 0.5, 0.35):
        columns.append(np.where(rng.random(n) < p, columns[-1], rng.integers(0, 2, n)))
    return pd.DataFrame(dict(zip(("a", "b", "y", "c", "d"), columns, strict=True)))


def directed(blanket: bl.Blanket) -> dict[str, str]:
    """Return the parents and children that a blanket prints."""
    return {x: role for x, role in blanket.roles.items() if role in ("parent", "child")}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--networks", type=Path, help="folder with BIF files")
    parser.add_argument("--only", nargs="*", default=["alarm", "insurance", "hailfinder"])
    parser.add_argument("--runs", type=int, default=40)
    options = parser.parse_args()
    warnings.simplefilter("ignore", BlanketsWarning)
    print("| graph | rows | algorithm | runs with a direction |\n| --- | --- | --- | --- |")
    for draw in (naive_bayes, chain):
        for n in (200, 1000, 5000, 20000):
            rng = np.random.default_rng([n, 12])
            tables = [draw(n, rng) for _ in range(options.runs)]
            for algorithm in ALGORITHMS:
                wrong = sum(bool(directed(bl.discover(t, "y", algorithm=algorithm, roles=True))) for t in tables)
                print(f"| {draw.__name__} | {n:,} | {algorithm} | {wrong} of {options.runs} |", flush=True)
    print("\n| network | rows | printed | right | of all |\n| --- | --- | --- | --- | --- |")
    for name in options.only:
        net = network(options.networks, name)
        for n in (1000, 5000):
            frame, printed, right, edges = net.sample(n, np.random.default_rng([n, 1])), 0, 0, 0
            for target in net.names:
                try:
                    found = directed(bl.discover(frame, target, roles=True))
                except BlanketsError:  # a constant target
                    continue
                truth = dict.fromkeys(net.graph.predecessors(target), "parent")
                truth |= dict.fromkeys(net.graph.successors(target), "child")
                printed, edges = printed + len(found), edges + len(truth)
                right += sum(truth.get(x) == role for x, role in found.items())
            share = f"{right / printed:.2f}" if printed else "-"
            print(f"| {name} | {n:,} | {printed} | {share} | {right / edges:.2f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
