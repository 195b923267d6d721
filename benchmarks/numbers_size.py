"""Size of the tests without cutting: how often a true independence is rejected, by kinds of columns and confounding.

    python benchmarks/numbers_size.py                   # 216 points, 4,000 draws each: about ten minutes
    python benchmarks/numbers_size.py --draws 400       # the same points, a look
    python benchmarks/numbers_size.py --every 9 --draws 10000

x and y depend on z, and on each other through z alone. Of the columns of z every third is a category, every third is
skewed. Confounding is linear in z, curved (squares), or linear with variances of x and y that both move with the first
column of z. Each line is a point; the last lines pool points. A share is marked where it is outside 0.8 to 1.2 times
the level by more than two standard errors.

Two rare columns seldom have their rare levels in the same row, and the number of these rows is sufficient for the odds
ratio. Beside these points is the most that any test can reject that is valid given z and the rows of x, draws nothing,
and never rejects where the levels do not meet: the mean of min(level, P(they meet)), with the true probabilities. A
point at its bound is marked "=".
"""

from __future__ import annotations

import argparse
import math
import time
from itertools import combinations_with_replacement

import numpy as np

from blankets.counting import MemoryMoments
from blankets.data import NumberColumn
from blankets.data._builder import FrameBuilder
from blankets.independence import BlockTests

KINDS = ("normal", "heavy", "skewed", "count", "ordered", "two", "rare", "four")
FORMS = ("linear", "curved", "hetero")
SIZES = ((300, 1), (300, 3), (1000, 3), (300, 8), (1000, 8), (3000, 3))
LEVELS = (0.01, 0.05)
TOGETHER = 10  # columns x that share one draw of y and z


def drawn_z(n, m, rng):
    """Return the columns of z as numbers, and which of them are to be told as categories."""
    z = (rng.normal(size=(m, n)) + 0.5 * rng.normal(size=n)) / math.sqrt(1.25)
    return [np.digitize(v, [-0.5, 0.3]).astype(float) - 1 if j % 3 == 1 else v for j, v in enumerate(z)]


def index_of(z, form, rng):
    """Return what z adds to a column: a weighted sum, of squares where confounding is curved."""
    weights = rng.uniform(0.5, 1.0, len(z)) * rng.choice([-1, 1], len(z))
    parts = [(v**2 - 1) / 1.4 + 0.3 * v if form == "curved" else v for v in z]
    return weights @ np.array(parts) / math.sqrt(weights @ weights)


def column(kind, index, scale, rng):
    """Return a column of a kind: numbers as floats, categories as integers."""
    n = len(index)
    if kind == "normal":
        return index + scale * rng.normal(size=n)
    if kind == "heavy":
        return index + scale * rng.standard_t(2.5, n) / 1.5
    if kind == "skewed":
        return np.exp(0.8 * index + 0.8 * scale * rng.normal(size=n))
    if kind == "count":
        return rng.poisson(np.exp(1.2 + 0.5 * np.clip(index, -4, 3) + 0.3 * (scale - 1) * rng.normal(size=n))).astype(
            float
        )
    if kind == "four":
        utility = 0.8 * rng.gumbel(size=(n, 4)) + np.outer(index, [0, 1, -0.8, 0.5])
        return utility.argmax(axis=1)
    latent = index + 0.7 * scale * rng.logistic(size=n)
    if kind == "ordered":
        return np.digitize(latent, [-1.2, -0.3, 0.5, 1.4])
    return (latent > (0 if kind == "two" else np.quantile(latent, 0.98))).astype(np.int64)


def frame_of(z, y, xs, kinds):
    """Return all of them as one frame: z, then y, then x."""
    builder = FrameBuilder(len(y), len(z) + 1 + len(xs))
    for j, v in enumerate(z):
        if j % 3 == 1:
            builder.add(f"z{j}", v.astype(np.int64) + 1, (0, 1, 2))
        else:
            builder.add_number(f"z{j}", NumberColumn(np.exp(v) if j % 3 == 2 else v), holes=False)
    for j, values in enumerate([y, *xs]):
        if values.dtype.kind == "f":
            builder.add_number(f"x{j}", NumberColumn(values), holes=False)
        else:
            builder.add(f"x{j}", values, tuple(range(values.max() + 1)), ordered=kinds[j > 0] == "ordered")
    return builder.frame()


def meeting(of_y, scale, x):
    """Return the probability that a rare column y, with 2% positives, meets the rows of x, by the true chances."""
    low, high = -50.0, 50.0
    for _ in range(60):  # the threshold of y
        middle = (low + high) / 2
        chance = 1 / (1 + np.exp((middle - of_y) / (0.7 * scale)))
        low, high = (middle, high) if chance.mean() > 0.02 else (low, middle)
    return 1 - np.prod(1 - chance[x == 1])


def shares(kinds, form, n, m, draws, seed):
    """Return how often the test rejected at each level, of how many tests, and the bounds where these are discrete."""
    rng = np.random.default_rng([seed, n, m, FORMS.index(form), *(KINDS.index(kind) for kind in kinds)])
    rejected, performed, meet = np.zeros(len(LEVELS)), 0, []
    for _ in range(draws // TOGETHER):
        z = drawn_z(n, m, rng)
        scale = np.exp(0.5 * np.clip(z[0], -2.5, 2.5)) if form == "hetero" else np.ones(n)
        of_y, of_x = index_of(z, form, rng), index_of(z, form, rng)
        y = column(kinds[0], of_y, scale, rng)
        xs = [column(kinds[1], of_x, scale, rng) for _ in range(TOGETHER)]
        meet += [meeting(of_y, scale, x) for x in xs] if kinds == ("rare", "rare") else []
        moments = MemoryMoments(frame_of(z, y, xs, kinds))
        for k, level in enumerate(LEVELS):
            batch = BlockTests(moments, level=level).scan(range(m + 1, m + 1 + TOGETHER), m, range(m))
            rejected[k] += np.count_nonzero(batch.dependent(level))
        performed += int(batch.reliable.sum())
    return rejected, performed, [np.minimum(level, meet).mean() for level in LEVELS] if meet else LEVELS


def told(rejected, performed, bounds=LEVELS):
    """Return the shares as text, with a mark where they are off."""
    words = []
    for level, count, bound in zip(LEVELS, rejected, bounds, strict=True):
        share, error = count / max(performed, 1), math.sqrt(level * (1 - level) / max(performed, 1))
        off = "+" if share > 1.2 * level + 2 * error else "-" if share < 0.8 * level - 2 * error else " "
        off = "=" if off == "-" and share > bound - 2 * error else off
        words.append(f"{share:.4f}{off}" + (f" (at most {bound:.4f})" if bound < level else ""))
    return "  ".join(words)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=4000)
    parser.add_argument("--every", type=int, default=1, help="take every n-th point only")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    began, pools = time.process_time(), {}
    points = [
        (pair, form, *SIZES[(2 * k + i + 3 * turn) % len(SIZES)])
        for k, pair in enumerate(combinations_with_replacement(KINDS, 2))
        for i, form in enumerate(FORMS)
        for turn in (0, 1)
    ]
    print(f"{'y':8} {'x':8} {'form':7} {'rows':>5} {'|z|':>3}  at {LEVELS[0]}  at {LEVELS[1]}  tests")
    for pair, form, n, m in points[:: asked.every]:
        rejected, performed, bounds = shares(pair, form, n, m, asked.draws, asked.seed)
        words = told(rejected, performed, bounds)
        print(f"{pair[0]:8} {pair[1]:8} {form:7} {n:5} {m:3}  {words}  {performed}", flush=True)
        rare = "two rare" if pair == ("rare", "rare") else "one rare" if "rare" in pair else "others"
        for pool in (f"form {form}", f"rows {n}", f"|z| {m}", rare, f"{rare}, {n} rows", "all"):
            whole = pools.setdefault(pool, [np.zeros(len(LEVELS)), 0])
            whole[0], whole[1] = whole[0] + rejected, whole[1] + performed
    print("\npooled")
    for pool in sorted(pools):
        print(f"{pool:35} {told(*pools[pool])}  {pools[pool][1]}")
    print(f"{time.process_time() - began:.0f} s of CPU time")


if __name__ == "__main__":
    main()
