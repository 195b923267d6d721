"""Distance of blankets from the true ones, of every algorithm as published and closed, over networks.

The table behind the choice of the default (docs/explanation/measured.md). Distance is
sqrt((1 - precision)^2 + (1 - recall)^2), the mean over targets; smaller is better.

    python benchmarks/networks.py --networks DIR
    python benchmarks/networks.py --networks DIR --targets 60 --draws 3 --seconds 20   # means of all targets, 3 draws

DIR holds NAME.bif or NAME.bif.gz; by default the example networks that come with pgmpy. A search that takes more than
``--seconds`` of CPU time for the targets of a draw is not measured in that cell ("-"). The last line says how many
members of the default are weak (p above alpha given the others) and how many of these are true; "weak leave" is the
distance without them.
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
from blankets.data import Frame
from blankets.errors import BlanketsError, BlanketsWarning
from blankets.simulate.measures import compare

NETWORKS = ("alarm", "insurance", "hailfinder", "water", "barley", "mildew", "munin1", "pigs")
SEARCHES = (("auto", True), ("iamb", False), ("iamb", True), ("pcmb", False), ("pcmb", True), ("mmmb", False),
            ("mmmb", True), ("eemb", False), ("eemb", True), ("fbed", False), ("iamb-fdr", False))  # fmt: skip


def without_weak(frame: Frame, blanket: bl.Blanket) -> list[str]:
    """Return the members if those that are irrelevant given the others leave, the weakest first."""
    members, alpha = list(blanket.members), blanket.settings["alpha"]
    evidence = dict(blanket.strengths)
    while weak := {x: e.p for x, e in evidence.items() if e.reliable and e.p > alpha and x not in blanket.unchecked}:
        members.remove(max(weak, key=weak.__getitem__))
        evidence = {x: bl.test(frame, x, blanket.target, given=[z for z in members if z != x]) for x in members}
    return members


def measured(
    name: str, n_rows: int, options: argparse.Namespace, weak: list[bool], draw: int
) -> dict[str, tuple[float, float]]:
    """Return mean distance and seconds of each search, over some targets of one draw; tell of weak members."""
    net = network(options.networks, name)
    rng = np.random.default_rng([options.seed + draw, n_rows])
    frame, names = net.sample(n_rows, rng), list(net.names)
    n = min(options.targets, len(names))
    targets = [names[i] for i in sorted(rng.choice(len(names), n, replace=False))]
    found = {}
    for algorithm, close in SEARCHES:
        if algorithm in options.skip.get(name, ()) or (options.searches and algorithm not in options.searches):
            continue
        began, distances, leaner = time.process_time(), [], []
        for target in targets:
            if time.process_time() - began > options.seconds:
                break
            try:
                blanket = bl.discover(frame, target, algorithm=algorithm, close=close, n_jobs=1)
            except BlanketsError:  # a constant target
                distances.append(compare((), net.blanket(target)).distance)
                leaner.append(distances[-1])
                continue
            distances.append(compare(blanket.members, net.blanket(target)).distance)
            if algorithm == "auto":
                weak += [x in net.blanket(target) for x in blanket.weak]
                leaner.append(compare(without_weak(frame, blanket), net.blanket(target)).distance)
        if len(distances) < n:
            continue
        label = algorithm if algorithm == "auto" or not close else f"{algorithm}, closed"
        found[label] = float(np.mean(distances)), (time.process_time() - began) / n
        if algorithm == "auto":
            found["weak leave"] = float(np.mean(leaner)), 0.0
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--networks", type=Path, help="folder with BIF files")
    parser.add_argument("--only", nargs="*", default=NETWORKS, help="names of networks")
    parser.add_argument("--searches", nargs="*", help="names of algorithms; default all")
    parser.add_argument("--rows", type=int, nargs="*", default=[500, 5000])
    parser.add_argument("--targets", type=int, default=20, help="targets drawn from each network")
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument(
        "--draws", type=int, default=1, help="tables drawn from each network, with seeds from --seed on"
    )
    parser.add_argument("--seconds", type=float, default=600.0, help="of CPU time, for a search in one draw")
    parser.add_argument("--skip", nargs="*", default=["munin1:pcmb,mmmb,eemb", "pigs:eemb", "mildew:eemb"],
                        help="NETWORK:ALGORITHM,... that take too long")  # fmt: skip
    options = parser.parse_args()
    options.skip = {name: tuple(which.split(",")) for name, _, which in (s.partition(":") for s in options.skip)}
    labels = [a if a == "auto" or not close else f"{a}, closed" for a, close in SEARCHES]
    print(f"| network, rows | {' | '.join(labels)} |\n|{' --- |' * (len(labels) + 1)}")
    cells: dict[str, list[float]] = {}
    weak: list[bool] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BlanketsWarning)
        for name in options.only:
            for n_rows in options.rows:
                draws = [measured(name, n_rows, options, weak, draw) for draw in range(options.draws)]
                whole = [a for a in draws[0] if all(a in found for found in draws)]
                found = {a: tuple(np.mean([one[a] for one in draws], axis=0)) for a in whole}
                words = [f"{found[a][0]:.3f} ({1000 * found[a][1]:.0f} ms)" if a in found else "-" for a in labels]
                print(f"| {name} {n_rows:,} | {' | '.join(words)} |", flush=True)
                for a, (distance, _) in found.items():
                    cells.setdefault(a, []).append(distance)
    means = [f"{np.mean(cells[a]):.3f} ({len(cells[a])})" if a in cells else "-" for a in labels]
    print(f"| mean (cells) | {' | '.join(means)} |")
    if "weak leave" in cells:
        without = np.mean(cells["weak leave"])
        print(f"weak members: {len(weak)}, true: {sum(weak)}; mean distance without them {without:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
