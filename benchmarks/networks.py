"""Distance of blankets from the true ones, of every algorithm as published and closed, over networks.

The table behind the choice of the default (docs/explanation/algorithms.md). Distance is
sqrt((1 - precision)^2 + (1 - recall)^2), the mean over targets; smaller is better.

    python benchmarks/networks.py --networks DIR

DIR holds NAME.bif or NAME.bif.gz; by default the example networks that come with pgmpy.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from pathlib import Path

import numpy as np

import blankets as bl
from _data import network
from blankets.errors import BlanketsError, BlanketsWarning
from blankets.simulate.measures import compare

NETWORKS = ("alarm", "insurance", "hailfinder", "water", "barley", "mildew", "munin1", "pigs")
SEARCHES = (("auto", True), ("iamb", False), ("iamb", True), ("pcmb", False), ("pcmb", True), ("mmmb", False),
            ("mmmb", True), ("eemb", False), ("eemb", True), ("fbed", False), ("iamb-fdr", False))  # fmt: skip


def measured(name: str, n_rows: int, options: argparse.Namespace) -> dict[str, tuple[float, float]]:
    """Return mean distance and seconds of each search, over some targets of one draw."""
    net = network(options.networks, name)
    rng = np.random.default_rng([options.seed, n_rows])
    frame, names = net.sample(n_rows, rng), list(net.names)
    n = min(options.targets, len(names))
    targets = [names[i] for i in sorted(rng.choice(len(names), n, replace=False))]
    found = {}
    for algorithm, close in SEARCHES:
        if algorithm in options.skip.get(name, ()) or (options.searches and algorithm not in options.searches):
            continue
        began, distances = time.perf_counter(), []
        for target in targets:
            try:
                members = bl.discover(frame, target, algorithm=algorithm, close=close, n_jobs=1).members
            except BlanketsError:  # a constant target
                members = ()
            distances.append(compare(members, net.blanket(target)).distance)
        label = algorithm if algorithm == "auto" or not close else f"{algorithm}, closed"
        found[label] = float(np.mean(distances)), (time.perf_counter() - began) / n
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--networks", type=Path, help="folder with BIF files")
    parser.add_argument("--only", nargs="*", default=NETWORKS, help="names of networks")
    parser.add_argument("--searches", nargs="*", help="names of algorithms; default all")
    parser.add_argument("--rows", type=int, nargs="*", default=[500, 5000])
    parser.add_argument("--targets", type=int, default=20, help="targets drawn from each network")
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--skip", nargs="*", default=["munin1:pcmb,mmmb,eemb", "pigs:eemb", "mildew:eemb"],
                        help="NETWORK:ALGORITHM,... that take too long")  # fmt: skip
    options = parser.parse_args()
    options.skip = {name: tuple(which.split(",")) for name, _, which in (s.partition(":") for s in options.skip)}
    labels = [a if a == "auto" or not close else f"{a}, closed" for a, close in SEARCHES]
    print(f"| network, rows | {' | '.join(labels)} |\n|{' --- |' * (len(labels) + 1)}")
    cells: dict[str, list[float]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BlanketsWarning)
        for name in options.only:
            for n_rows in options.rows:
                found = measured(name, n_rows, options)
                words = [f"{found[a][0]:.3f} ({1000 * found[a][1]:.0f} ms)" if a in found else "-" for a in labels]
                print(f"| {name} {n_rows:,} | {' | '.join(words)} |", flush=True)
                for a, (distance, _) in found.items():
                    cells.setdefault(a, []).append(distance)
    means = [f"{np.mean(cells[a]):.3f} ({len(cells[a])})" if a in cells else "-" for a in labels]
    print(f"| mean (cells) | {' | '.join(means)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
