"""Size of the tests of independence over a grid of sparse tables, and what it does to blankets.

    python benchmarks/calibration.py size                    # share of true hypotheses rejected, in units of alpha
    python benchmarks/calibration.py accuracy --networks DIR # precision, recall, distance on networks
    python benchmarks/calibration.py size --quick            # a few corners

Size: z has S equally likely levels; x and y have levels with probabilities 1, q, q², ... (turned round by z, so
that they depend on each other through z alone). Rows = expected count of a cell x cells. Per point of the grid
the share of p <= alpha among the draws is printed over alpha, with its standard error. Where it is below 0.8,
the bound is printed too: the size of the exact test that rejects for large G given the margins, which no test
of level alpha on this statistic can exceed.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import blankets as bl
from blankets.counting import MemoryCounter
from blankets.data import Frame
from blankets.errors import BlanketsWarning
from blankets.independence import CalibratedTests, TableTests
from blankets.simulate import Network
from blankets.simulate.measures import average, compare
from blankets.stats import permutations_of_block

ALPHAS = (0.05, 0.01, 0.001)
EXPECTED = (0.05, 0.2, 1.0, 5.0, 20.0)
STRATA = (1, 5, 50, 500)
ARITIES = ((2, 2), (2, 4), (8, 2), (4, 4), (8, 8))
SKEW = (1.0, 0.4, 0.15)
MOST_ROWS = 20_000
TOGETHER = 100  # columns x that share one draw of y and z

Point = tuple[float, int, tuple[int, int], float]


def null_frames(point: Point, n_draws: int, rng: np.random.Generator) -> Iterator[Frame]:
    """Yield frames of z, y and columns x that are independent of y given z."""
    _, n_strata, (arity_x, arity_y), skew = point
    n = rows_of(point)
    for _ in range(-(-n_draws // TOGETHER)):
        z = rng.integers(0, n_strata, n)
        y = (levels(arity_y, skew, n, rng) + z) % arity_y
        x = (levels(arity_x, skew, (TOGETHER, n), rng) + z) % arity_x
        codes = np.concatenate([z[np.newaxis], y[np.newaxis], x]).T
        yield Frame.from_codes(codes, arities=[n_strata, arity_y, *[arity_x] * TOGETHER])


def levels(arity: int, skew: float, size: int | tuple[int, int], rng: np.random.Generator) -> NDArray[np.int64]:
    p = skew ** np.arange(arity)
    return np.searchsorted(np.cumsum(p / p.sum())[:-1], rng.random(size), side="right")


def rows_of(point: Point) -> int:
    expected, n_strata, (arity_x, arity_y), _ = point
    return max(8, round(expected * n_strata * arity_x * arity_y))


def p_values(point: Point, n_draws: int, seed: list[int]) -> tuple[dict[str, NDArray[np.float64]], NDArray[np.int64]]:
    """Return p-values of each test, and how often each method was used."""
    found: dict[str, list[NDArray[np.float64]]] = {"auto": [], "adjusted": [], "nominal": []}
    methods = np.zeros(5, np.int64)
    xs = np.arange(2, 2 + TOGETHER)
    for frame in null_frames(point, n_draws, np.random.default_rng(seed)):
        counter = MemoryCounter(frame)
        batch = CalibratedTests(counter, reliability=0).scan(xs, 1, [0])
        methods += np.bincount(batch.method, minlength=5)
        found["auto"].append(batch.log_p)
        for dof in ("adjusted", "nominal"):
            found[dof].append(TableTests(counter, dof=dof, reliability=0).scan(xs, 1, [0]).log_p)
    return {name: np.exp(np.concatenate(parts)) for name, parts in found.items()}, methods


def exact_sizes(point: Point, n_draws: int, seed: list[int]) -> list[float]:
    """Return the size of the exact test of G given the margins (by 3999 permutations), over alpha."""
    p = []
    for frame in null_frames(point, n_draws, np.random.default_rng(seed)):
        permutations = permutations_of_block(frame.n_rows, 1, most=3999, enough=4000)
        reached, _, drawn = MemoryCounter(frame).summarise(permutations, np.arange(2, 2 + TOGETHER), 1, [0])
        p.append((reached + 1) / (drawn + 1))
    return [float((np.concatenate(p) <= alpha).mean() / alpha) for alpha in ALPHAS]


def size_of_point(point: Point, n_draws: int, seed: list[int]) -> tuple[str, list[str]]:
    p, methods = p_values(point, n_draws, seed)
    auto = [float((p["auto"] <= alpha).mean() / alpha) for alpha in ALPHAS]
    if max(auto[:2]) > 1.1:  # chance, or not? Ten times the draws tell.
        p, methods = p_values(point, 10 * n_draws, [*seed, 1])
        auto = [float((p["auto"] <= alpha).mean() / alpha) for alpha in ALPHAS]
    n = len(p["auto"])
    errors = [(max(size, 1.0) / alpha / n) ** 0.5 for size, alpha in zip(auto, ALPHAS, strict=True)]
    bound = exact_sizes(point, min(n_draws, 1000), seed) if min(auto[:2]) < 0.8 else []
    wrong = [
        f"{point}: size {size:.3f} ± {error:.3f} times {alpha}"
        for size, error, alpha in zip(auto[:2], errors[:2], ALPHAS[:2], strict=True)
        if size > 1.2 + 2 * error or not np.isfinite(p["auto"]).all() or p["auto"].max() > 1
    ]
    for k, reachable in enumerate(bound[:2]):
        if auto[k] < min(0.8, reachable) - 4 * errors[k]:
            wrong.append(f"{point}: size {auto[k]:.3f} of {ALPHAS[k]}, but {reachable:.3f} can be reached")
    shares = methods[2:] / methods.sum()  # the rest has nothing to test
    cells = [
        f"{point[0]:g} | {point[1]} | {point[2][0]} x {point[2][1]} | {point[3]:g} | {rows_of(point)}",
        *(f"{size:.2f} ± {error:.2f}" for size, error in zip(auto, errors, strict=True)),
        " / ".join(f"{size:.2f}" for size in bound) or "-",
        " / ".join(f"{share:.0%}" for share in shares),
        *(" / ".join(f"{(p[dof] <= alpha).mean() / alpha:.2f}" for alpha in ALPHAS) for dof in ("adjusted", "nominal")),
    ]
    return f"| {' | '.join(cells)} |", wrong


def size(options: argparse.Namespace) -> int:
    grid: list[Point] = [point for point in product(EXPECTED, STRATA, ARITIES, SKEW) if rows_of(point) <= MOST_ROWS]
    if options.quick:
        grid = [p for p in grid if p[0] in (0.2, 5.0) and p[1] in (1, 50) and p[2] in ((2, 2), (4, 4)) and p[3] != 0.4]
    heads = ["expected", "strata", "levels", "q", "rows", *(f"auto, {alpha}" for alpha in ALPHAS), "reachable"]
    heads += ["asymptotic / moments / permutation", "adjusted", "nominal"]
    print(f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
    wrong: list[str] = []
    began = time.perf_counter()
    seeds = [[options.seed, k] for k in range(len(grid))]
    with ProcessPoolExecutor(options.jobs) as pool:
        for line, more in pool.map(size_of_point, grid, [options.draws] * len(grid), seeds):
            print(line, flush=True)
            wrong += more
    print(f"\n{len(grid)} points, {time.perf_counter() - began:.0f} s; {len(wrong)} outside the bounds")
    print("\n".join(wrong))
    return int(bool(wrong))


def accuracy(options: argparse.Namespace) -> int:
    tests = [("adjusted", 5.0), ("nominal", 5.0), *(("auto", reliability) for reliability in options.reliability)]
    heads = ["network", "rows", "algorithm", "test", "precision", "recall", "distance", "false", "missed", "seconds"]
    print(f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
    names = ["alarm"] if options.quick else ["alarm", "insurance", "pigs"]
    cases = list(product(names, (500, 1000, 5000), ("iamb", "inter-iamb", "pcmb", "iamb-fdr"), tests))
    with ProcessPoolExecutor(options.jobs) as pool:
        for line in pool.map(accuracy_of, *zip(*cases, strict=True), [options] * len(cases)):
            print(line, flush=True)
    return 0


def accuracy_of(name: str, n_rows: int, algorithm: str, test: tuple[str, float], options: argparse.Namespace) -> str:
    """Average over databases and targets (at most ``options.targets``, evenly spread)."""
    network = Network.from_bif(next(options.networks.glob(f"{name}.bif*")))
    kind, reliability = test
    settings = {"test": "auto"} if kind == "auto" else {"test": "g", "dof": kind}
    targets = network.names[:: max(1, -(-len(network.names) // options.targets))]
    agreements, seconds = [], 0.0
    for k in range(options.databases):
        frame = network.sample(n_rows, np.random.default_rng([options.seed, k]))
        present = [target for target in targets if np.ptp(frame.column(frame.names.index(target))) > 0]
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BlanketsWarning)  # constant columns and too few rows
            found = bl.discover_all(
                frame,
                present,
                algorithm=algorithm,
                alpha=options.alpha,
                reliability=reliability,
                n_threads=1,
                **settings,
            )
        seconds += time.perf_counter() - began
        agreements += [
            compare(found[target].members if target in found else (), network.blanket(target)) for target in targets
        ]
    mean = average(agreements)
    measures = (mean.precision, mean.recall, mean.distance, mean.false_positives, mean.false_negatives)
    cells = [name, str(n_rows), algorithm, f"{kind}, reliability {reliability:g}", *(f"{v:.3f}" for v in measures)]
    return f"| {' | '.join(cells)} | {seconds:.1f} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=["size", "accuracy"])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--draws", type=int, default=4000, help="tables for each point of the grid")
    parser.add_argument("--networks", type=Path, help="folder with alarm.bif, insurance.bif, pigs.bif (or .bif.gz)")
    parser.add_argument("--databases", type=int, default=5)
    parser.add_argument("--targets", type=int, default=40, help="targets of each network")
    parser.add_argument("--alpha", type=float, default=0.01)
    parser.add_argument("--reliability", type=float, nargs="*", default=[5.0], help="of the calibrated test")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    options = parser.parse_args()
    if options.what == "accuracy" and options.networks is None:
        parser.error("say where the networks are with --networks DIR")
    return size(options) if options.what == "size" else accuracy(options)


if __name__ == "__main__":
    sys.exit(main())
