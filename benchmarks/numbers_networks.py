"""Accuracy on random networks of numbers and categories: mean F1 of the blankets of all nodes, by the default call.

    python benchmarks/numbers_networks.py                       # 7 families, 4 networks each, 500, 1,000 and 5,000 rows
    python benchmarks/numbers_networks.py --seeds 1 --rows 500  # a look
    python benchmarks/numbers_networks.py --cut                 # with numbers cut, for comparison

Half of the 30 nodes have 2 to 4 levels; the others are numbers, which follow the mechanisms of a family: linear,
monotone, quadratic, with variances that move, heavy-tailed, interacting, or each node one of these. Numbers are brought
to mean 0 and deviation 1, so that signals do not die out along a path.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import blankets as bl

FAMILIES = ("linear", "monotone", "quadratic", "hetero", "heavy", "interaction", "mixture")
Drawn = dict[str, NDArray[np.float64]]
Mechanism = Callable[[Drawn, int, np.random.Generator], NDArray[np.float64]]


class Net:
    """A random network: nodes in an order of causes before effects."""

    def __init__(self, family: str, seed: int, n_nodes: int = 30, degree: int = 3, most: int = 4) -> None:
        rng = np.random.default_rng([seed, FAMILIES.index(family)])
        self.names = [f"v{i}" for i in range(n_nodes)]
        self.parents: dict[str, list[str]] = {x: [] for x in self.names}
        edges = 0
        while edges < n_nodes * degree // 2:
            a, b = sorted(rng.choice(n_nodes, 2, replace=False))
            if self.names[a] not in self.parents[self.names[b]] and len(self.parents[self.names[b]]) < most:
                self.parents[self.names[b]].append(self.names[a])
                edges += 1
        self.levels = {x: int(rng.integers(2, 5)) if rng.random() < 0.5 else 0 for x in self.names}
        self.mechanisms: dict[str, Mechanism] = {}
        drawn, large = {}, np.random.default_rng(seed)
        for x in self.names:
            kind = family if family != "mixture" else FAMILIES[int(rng.integers(0, 6))]
            inner = self._mechanism(x, kind, rng)
            values = inner(drawn, 20_000, large)
            mean, sd = 0.0, 1.0
            if not self.levels[x]:
                held = np.clip(values, *np.quantile(values, [0.001, 0.999]))
                mean, sd = float(held.mean()), float(held.std())
            drawn[x] = (values - mean) / sd
            self.mechanisms[x] = lambda d, n, r, f=inner, m=mean, s=sd: (f(d, n, r) - m) / s

    def blanket(self, target: str) -> set[str]:
        """Return parents, children and their other parents."""
        children = [c for c, ps in self.parents.items() if target in ps]
        return ({*self.parents[target], *children} | {p for c in children for p in self.parents[c]}) - {target}

    def table(self, n: int, rng: np.random.Generator) -> dict[str, NDArray[np.generic]]:
        """Return rows: numbers as they are, levels as texts."""
        drawn: Drawn = {}
        for x in self.names:
            drawn[x] = self.mechanisms[x](drawn, n, rng)
        return {x: v if not self.levels[x] else np.array([f"level {int(k)}" for k in v]) for x, v in drawn.items()}

    def _mechanism(self, x: str, kind: str, rng: np.random.Generator) -> Mechanism:
        parents, k = self.parents[x], self.levels[x]
        outs = max(k - 1, 1)
        weights = {p: rng.uniform(0.5, 1.0, outs) * rng.choice([-1, 1], outs) * (1.6 if k else 1.0) for p in parents}
        steps = {p: rng.normal(size=(self.levels[p], outs)) for p in parents if self.levels[p]}
        steps = {p: (s - s.mean(axis=0)) / s.std(axis=0) for p, s in steps.items()}
        spread = [p for p in parents if not self.levels[p]][:1] if kind == "hetero" else []
        pair = tuple(parents[:2]) if kind == "interaction" and len(parents) > 1 else ()

        def part(p: str, drawn: Drawn) -> NDArray[np.float64]:
            if p in steps:
                return np.asarray(steps[p][drawn[p].astype(int)])
            return curved(np.clip(drawn[p], -4, 4), kind)[:, None]

        def draw(drawn: Drawn, n: int, r: np.random.Generator) -> NDArray[np.float64]:
            eta = np.zeros((n, outs))
            for p in parents:
                if p not in pair:
                    eta = eta + weights[p] * part(p, drawn)
            if pair:  # the product, and a little of each alone
                a, b = part(pair[0], drawn), part(pair[1], drawn)
                eta = eta + weights[pair[0]] * (a * b + 0.3 * a + 0.3 * b)
            if k:
                return (np.column_stack([np.zeros(n), eta]) + r.gumbel(size=(n, k))).argmax(axis=1).astype(float)
            noise = r.standard_t(2.5, n) / 1.5 if kind == "heavy" else r.normal(size=n)
            scale = np.exp(0.6 * np.clip(drawn[spread[0]], -3, 3)) if spread else 1.0
            return np.asarray(eta[:, 0] * (0.3 if spread else 1.0) + 0.8 * scale * noise)

        return draw


def curved(v: NDArray[np.float64], kind: str) -> NDArray[np.float64]:
    """Return what a number adds, by its family."""
    if kind == "monotone":
        return np.where(v > 0, np.expm1(np.clip(v, None, 3)) / 1.3, 0.4 * v)
    return (v**2 - 1) / 1.2 if kind == "quadratic" else v


def f1(found: set[str], true: set[str]) -> float:
    """Return the harmonic mean of precision and recall; 1 if both are empty."""
    return 2 * len(found & true) / (len(found) + len(true)) if found or true else 1.0


def main() -> None:
    """Print a line for each family and number of rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[500, 1000, 5000])
    parser.add_argument("--seeds", type=int, default=4, help="networks of each family")
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--families", nargs="+", default=FAMILIES, choices=FAMILIES)
    parser.add_argument("--algorithm", default="auto")
    parser.add_argument("--cut", action="store_true")
    asked = parser.parse_args()
    options = {"algorithm": asked.algorithm, "n_jobs": 1} | ({"discretize": "sturges"} if asked.cut else {})
    for n in asked.rows:
        means, seconds = [], 0.0
        for family in asked.families:
            scores = []
            for seed in range(asked.first, asked.first + asked.seeds):
                net = Net(family, seed)
                table = net.table(n, np.random.default_rng([seed, n]))
                began = time.process_time()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found = bl.discover_all(table, **options)
                seconds += time.process_time() - began
                scores.append(np.mean([f1(set(found[x].members), net.blanket(x)) for x in net.names if x in found]))
            means.append(np.mean(scores))
            print(f"{n:6} rows  {family:12} F1 {means[-1]:.3f}", flush=True)
        per_net = seconds / (len(asked.families) * asked.seeds)
        print(f"{n:6} rows  {'mean':12} F1 {np.mean(means):.3f}, {per_net:.1f} s of CPU time a network", flush=True)


if __name__ == "__main__":
    main()
