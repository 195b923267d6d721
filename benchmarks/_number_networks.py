"""Networks of numbers and categories: random ones, and those of JSON files."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rng = np.random.Generator
FAMILIES = ("linear", "monotone", "quadratic", "hetero", "heavy", "interaction", "mixture")
Values = dict[str, NDArray[Any]]
Mechanism = Callable[[Values, int, Rng], NDArray[Any]]


class Net:
    """A network: nodes in an order of causes before effects, and how each is drawn."""

    parents: dict[str, list[str]]
    levels: dict[str, int]
    mechanisms: dict[str, Mechanism]

    @property
    def names(self) -> list[str]:
        """The nodes."""
        return [*self.parents]

    def blanket(self, target: str) -> set[str]:
        """Return parents, children and their other parents."""
        children = [c for c, ps in self.parents.items() if target in ps]
        return ({*self.parents[target], *children} | {p for c in children for p in self.parents[c]}) - {target}

    def table(self, n: int, rng: Rng) -> Values:
        """Return rows: numbers as they are, levels as texts."""
        drawn: Values = {}
        for x, draw in self.mechanisms.items():
            drawn[x] = draw(drawn, n, rng)
        return {
            x: np.array([f"level {k}" for k in v.astype(int)]) if self.levels.get(x) else v for x, v in drawn.items()
        }


class RandomNet(Net):
    """Half of the nodes have 2 to 4 levels; numbers follow a family of mechanisms and have mean 0 and deviation 1."""

    def __init__(self, family: str, seed: int, n_nodes: int = 30, degree: int = 3, most: int = 4) -> None:
        rng = np.random.default_rng([seed, FAMILIES.index(family)])
        names = [f"v{i}" for i in range(n_nodes)]
        self.parents = {x: [] for x in names}
        edges = 0
        while edges < n_nodes * degree // 2:
            a, b = sorted(rng.choice(n_nodes, 2, replace=False))
            if names[a] not in self.parents[names[b]] and len(self.parents[names[b]]) < most:
                self.parents[names[b]].append(names[a])
                edges += 1
        self.levels = {x: int(rng.integers(2, 5)) if rng.random() < 0.5 else 0 for x in names}
        self.mechanisms = {}
        drawn: Values = {}
        large = np.random.default_rng(seed)
        for x in names:
            kind = family if family != "mixture" else FAMILIES[int(rng.integers(0, 6))]
            inner = self._mechanism(x, kind, rng)
            values = inner(drawn, 20_000, large)
            mean, sd = 0.0, 1.0
            if not self.levels[x]:
                held = np.clip(values, *np.quantile(values, [0.001, 0.999]))
                mean, sd = float(held.mean()), float(held.std())
            drawn[x] = (values - mean) / sd
            self.mechanisms[x] = lambda d, n, r, f=inner, m=mean, s=sd: (f(d, n, r) - m) / s  # type: ignore[misc]

    def _mechanism(self, x: str, kind: str, rng: Rng) -> Mechanism:
        parents, k = self.parents[x], self.levels[x]
        outs = max(k - 1, 1)
        weights = {p: rng.uniform(0.5, 1.0, outs) * rng.choice([-1, 1], outs) * (1.6 if k else 1.0) for p in parents}
        steps = {p: rng.normal(size=(self.levels[p], outs)) for p in parents if self.levels[p]}
        steps = {p: (s - s.mean(axis=0)) / s.std(axis=0) for p, s in steps.items()}
        spread = [p for p in parents if not self.levels[p]][:1] if kind == "hetero" else []
        pair = tuple(parents[:2]) if kind == "interaction" and len(parents) > 1 else ()

        def part(p: str, drawn: Values) -> NDArray[np.float64]:
            if p in steps:
                return np.asarray(steps[p][drawn[p].astype(int)])
            v = np.clip(drawn[p], -4, 4)
            if kind == "monotone":
                v = np.where(v > 0, np.expm1(np.clip(v, None, 3)) / 1.3, 0.4 * v)
            return np.asarray((v**2 - 1) / 1.2 if kind == "quadratic" else v)[:, None]

        def draw(drawn: Values, n: int, r: Rng) -> NDArray[np.float64]:
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


class KnownNet(Net):
    """A network from a file: pgmpy's linear Gaussian "cpds", or "nodes" of conditional linear Gaussian networks.

    Of the second: "levels" with "p" or "cpt", or "b0", "b" and "sd" for each configuration of the categories "d", of
    which the first varies fastest, with numbers "g".
    """

    def __init__(self, path: Path) -> None:
        told = json.loads(path.read_text())
        nodes = {x: _linear(cpd) for x, cpd in told["cpds"].items()} if "cpds" in told else told["nodes"]
        self.levels = {x: node["levels"] for x, node in nodes.items() if "levels" in node}
        parents = {x: [*node.get("d", []), *node.get("g", [])] for x, node in nodes.items()}
        self.parents = {x: parents[x] for x in TopologicalSorter(parents).static_order()}
        self.mechanisms = {x: self._drawn_as(nodes[x]) for x in self.parents}

    def _drawn_as(self, node: Mapping[str, Any]) -> Mechanism:
        def draw(drawn: Values, n: int, rng: Rng) -> NDArray[Any]:
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


def f1(found: set[str], true: set[str]) -> float:
    """Return the harmonic mean of precision and recall; 1 if both are empty."""
    return 2 * len(found & true) / (len(found) + len(true)) if found or true else 1.0
