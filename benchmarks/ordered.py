"""Columns with ordered levels in small tables: level of their tests given each other, and blankets of networks.

    python benchmarks/ordered.py size --draws 2000       # 12 designs: about a minute
    python benchmarks/ordered.py networks --networks 8   # 150 to 1,500 rows: about a minute

*size*: x and y have seven levels and depend on each other through columns of seven levels alone, linearly, by squares,
or with variances that move. *networks*: 20 columns, nine in ten of them with 5, 7 or 10 ordered levels; effects of a
column on the next are linear, bent or a step. Mean F1 of all blankets, and how many columns were undecided.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings

import numpy as np
import pandas as pd

import blankets as bl
from blankets.counting import MemoryMoments
from blankets.data._builder import FrameBuilder
from blankets.independence import BlockTests
from numbers_networks import f1
from numbers_size import FORMS, LEVELS, TOGETHER, index_of, told

SIZES = ((100, 1), (100, 3), (150, 3), (300, 8))
ROWS = (150, 300, 600, 1500)
SEVEN = 7


def in_levels(values, levels, width):
    """Return so many levels of equal width, the outer ones open."""
    return np.clip(np.floor((values + width / 2) / width * levels), 0, levels - 1)


def standardized(values):
    """Return the values with mean 0 and deviation 1."""
    return (values - values.mean()) / values.std()


def shares(form, n, m, draws, rng):
    """Return how often the test rejected at each level, and out of how many tests that were performed."""
    rejected, performed = np.zeros(len(LEVELS)), 0
    for _ in range(draws // TOGETHER):
        drawn = (rng.normal(size=(m, n)) + 0.5 * rng.normal(size=n)) / math.sqrt(1.25)
        z = [in_levels(v, SEVEN, 4.4) for v in drawn]
        numbers = [standardized(v) for v in z]
        scale = np.exp(0.5 * np.clip(numbers[0], -2.5, 2.5)) if form == "hetero" else 1.0
        of_y, of_x = index_of(numbers, form, rng), index_of(numbers, form, rng)
        others = [index + 0.8 * scale * rng.normal(size=n) for index in [of_y] + [of_x] * TOGETHER]
        builder = FrameBuilder(n, m + 1 + TOGETHER)
        for j, codes in enumerate([*z, *(in_levels(v, SEVEN, 5.0) for v in others)]):
            builder.add(f"v{j}", codes.astype(np.int64), tuple(range(SEVEN)), ordered=True)
        moments = MemoryMoments(builder.frame())
        for k, level in enumerate(LEVELS):
            batch = BlockTests(moments, level=level).scan(range(m + 1, m + 1 + TOGETHER), m, range(m))
            rejected[k] += np.count_nonzero(batch.dependent(level))
        performed += int(batch.reliable.sum())
    return rejected, performed


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
    """Print a line for each design, or for each number of rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("size", "networks"))
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--networks", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    if asked.what == "size":
        for n, m in SIZES:
            for form in FORMS:
                rng = np.random.default_rng([asked.seed, n, m, FORMS.index(form)])
                rejected, performed = shares(form, n, m, asked.draws, rng)
                print(f"{n:5} rows  |z| {m}  {form:7} {told(rejected, performed)}  {performed} tests", flush=True)
        return
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
