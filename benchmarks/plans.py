"""Power that plans promise, against simulation: G with its critical value simulated under independence.

    python benchmarks/plans.py [--draws 4000]

Rows: regime, levels, effect, rows planned for a power of 0.9 at level 0.01. Columns: power over shapes of the
dependence with that effect: smooth (log odds of the class vary normally over levels that are about equally frequent),
one level with more positives than the others, one with fewer.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, xlogy

import blankets as bl

Floats = NDArray[np.float64]
SHAPES, EFFECTS, LEVELS = ("smooth", "one more", "one fewer"), (0.005, 0.02, 0.05, 0.1), (2, 3, 5, 10)
REGIMES = {
    "supervised": (0.35, (1.0, 1.0), {}),
    "mcar": (0.35, (0.4, 0.4), {"labels": "mcar", "labeled": 0.4}),
    "pu": (0.15, (0.0, 0.3), {"labels": "pu", "prior": 0.15, "labeled": 0.045}),
    "pu, common": (0.4, (0.0, 0.5), {"labels": "pu", "prior": 0.4, "labeled": 0.2}),
}  # p(y=1), p(labeled|y), and what `plan` is told


def information(q: Floats) -> float:
    """Return the information of a joint distribution."""
    return float(xlogy(q, q / np.outer(q.sum(axis=1), q.sum(axis=0))).sum())


def joint(shape: str, n_levels: int, prior: float, effect: float, rng: np.random.Generator) -> Floats | None:
    """Return p(y, x) with this prior and effect; None where the shape cannot have it."""
    px = rng.dirichlet(np.full(n_levels, 20.0)) if shape == "smooth" else np.full(n_levels, 1.0 / n_levels)
    tilt = rng.normal(size=n_levels) if shape == "smooth" else np.eye(n_levels)[0] * (1 if shape == "one more" else -1)

    def tilted(strength: float) -> Floats:
        at = brentq(lambda b: px @ expit(b + strength * tilt) - prior, -60, 60)
        p1 = expit(at + strength * tilt)
        return np.stack([px * (1 - p1), px * p1])

    if information(tilted(12.0)) < effect:
        return None
    return tilted(brentq(lambda s: information(tilted(s)) - effect, 0.0, 12.0))


def g_of(tables: Floats) -> Floats:
    """Return G of tables of shape (n, y, x)."""
    e = tables.sum(axis=1, keepdims=True) * tables.sum(axis=2, keepdims=True) / tables.sum(axis=(1, 2), keepdims=True)
    return np.asarray(2.0 * xlogy(tables, tables / np.where(e > 0, e, 1.0)).sum(axis=(1, 2)))


def power(
    q: Floats, labeled: tuple[float, float], listwise: bool, n: int, draws: int, rng: np.random.Generator
) -> float:
    """Return the simulated power of G on what stands in for the target."""
    share = np.array(labeled)[:, None]
    if listwise:
        p, n = q * share / (q * share).sum(), round(n * (q * share).sum())
    else:  # unlabeled rows count as negatives
        p = np.stack([q[0] + q[1] * (1 - labeled[1]), q[1] * labeled[1]])
    null = np.outer(p.sum(axis=1), p.sum(axis=0))
    at = np.quantile(g_of(rng.multinomial(n, null.ravel(), 5 * draws).reshape(-1, *p.shape).astype(float)), 0.99)
    return float((g_of(rng.multinomial(n, p.ravel(), draws).reshape(-1, *p.shape).astype(float)) > at).mean())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=4000)
    options = parser.parse_args()
    rng = np.random.default_rng(1)
    print(f"| regime | levels | effect | rows | {' | '.join(SHAPES)} |\n|{' --- |' * (4 + len(SHAPES))}")
    for name, (prior, labeled, told) in REGIMES.items():
        for n_levels in LEVELS:
            for effect in EFFECTS:
                rows = int(bl.plan(effect=effect, power=0.9, arity=n_levels, **told).answer)
                found = [joint(shape, n_levels, prior, effect, rng) for shape in SHAPES]
                listwise = not name.startswith("pu")
                powers = [None if q is None else power(q, labeled, listwise, rows, options.draws, rng) for q in found]
                words = ["-" if p is None else f"{p:.3f}" for p in powers]
                print(f"| {name} | {n_levels} | {effect:g} | {rows:,} | {' | '.join(words)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
