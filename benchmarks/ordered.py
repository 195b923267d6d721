"""Columns with ordered levels in small tables: blankets of networks.

    python benchmarks/ordered.py --networks 8   # 150 to 1,500 rows

20 columns, nine in ten of them with 5, 7 or 10 ordered levels; effects of a column on the next are linear, bent or a
step. Mean F1 of all blankets, and how many columns were undecided. The level of their tests: number_tests.py size.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
import pandas as pd

import blankets as bl
from _number_networks import f1

ROWS = (150, 300, 600, 1500)


def in_levels(values, levels, width):
    """Return so many levels of equal width, the outer ones open."""
    return np.clip(np.floor((values + width / 2) / width * levels), 0, levels - 1)


def standardized(values):
    """Return the values with mean 0 and deviation 1."""
    return (values - values.mean()) / values.std()


def network(n, rng, nodes=20, edges=30):
    """Return rows of a random network, and the blanket of each column."""
    parents = {x: [] for x in range(nodes)}
    while sum(map(len, parents.values())) < edges:
        a, b = sorted(rng.choice(nodes, 2, replace=False).tolist())
        if a not in parents[b] and len(parents[b]) < 4:
            parents[b].append(a)
    table, drawn = {}, {}
    for x, causes in parents.items():
        index = 0.8 * rng.normal(size=n)
        for cause in causes:
            v, form = standardized(drawn[cause]), rng.integers(0, 3)
            bent = np.where(v > 0, np.expm1(np.minimum(v, 2.0)) / 1.3, 0.4 * v)
            index = index + rng.uniform(0.5, 1.0) * rng.choice([-1, 1]) * (v, bent, np.sign(v - 0.3))[form]
        levels = int(rng.choice([5, 7, 10])) if rng.random() < 0.9 else 0
        drawn[x] = in_levels(standardized(index), levels, 4.0) if levels else standardized(index)
        table[f"v{x}"] = pd.Categorical(drawn[x].astype(int), ordered=True) if levels else drawn[x]
    children = {x: [c for c in parents if x in parents[c]] for x in parents}
    blankets = {
        f"v{x}": {f"v{z}" for z in {*parents[x], *children[x], *(p for c in children[x] for p in parents[c])} - {x}}
        for x in parents
    }
    return pd.DataFrame(table), blankets


def main() -> None:
    """Print a line for each number of rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    for n in ROWS:
        scores, undecided, began = [], [], time.process_time()
        for k in range(asked.networks):
            table, blankets = network(n, np.random.default_rng([asked.seed, k]))
            found = bl.discover_all(table, n_jobs=1)
            scores += [f1(set(found[x].members), blankets[x]) for x in blankets if x in found]
            undecided += [len(found[x].undecided) for x in blankets if x in found]
        print(
            f"{n:5} rows  F1 {np.mean(scores):.3f}  undecided {np.mean(undecided):.2f} a target  "
            f"{time.process_time() - began:.1f} s of CPU time",
            flush=True,
        )


if __name__ == "__main__":
    main()
