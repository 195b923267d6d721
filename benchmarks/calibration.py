"""Size of the tests of independence over a grid of sparse tables, and what it does to blankets.

    python benchmarks/calibration.py size                    # share of true hypotheses rejected, in units of alpha
    python benchmarks/calibration.py size --quick            # a few corners
    python benchmarks/calibration.py accuracy --networks DIR # precision, recall, distance on networks

Size: z has S equally likely levels; x and y have levels with probabilities 1, q, q², ... (turned round by z, so
that they depend on each other through z alone). Rows = expected count of a cell x cells. Per point of the grid
the share of p <= alpha among the draws is printed over alpha, with its standard error; where that of the calibrated
test is above 1.2, ten times the draws are taken. *Reachable* is the bound: the size of the exact test that rejects for
large G given the margins, without randomizing, which is what a test of level alpha on these tables can use up.
Checked, each within the error of the draws (three standard errors): the calibrated test rejects at most 1.2 alpha at
0.01 and 0.05, and at least 0.8 alpha or what is reachable; every p-value is between 0 and 1. With ``--keep FILE``
finished points are kept there, and a run that was stopped continues; ``--figure FILE`` draws them.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import blankets as bl
from blankets import kernels
from blankets.errors import BlanketsWarning
from blankets.kernels import FAR, NOTHING
from blankets.simulate import Network
from blankets.simulate.measures import average, compare
from blankets.stats import METHODS, calibrated_of_block, formula_of, log_chi2_sf, statistics_of_block
from blankets.stats._calibrated_block import law_at
from blankets.stats._contingency import flat_tables

ALPHAS = (0.05, 0.01, 0.001)
EXPECTED = (0.05, 0.2, 1.0, 5.0, 20.0)
STRATA = (1, 5, 50, 500)
ARITIES = ((2, 2), (2, 4), (8, 2), (4, 4), (8, 8))
SKEW = (1.0, 0.4, 0.15)
MOST_ROWS = 20_000
TOGETHER = 100  # columns x that share one draw of y and z
TESTS = ("auto", "adjusted", "nominal", "x2")

Point = tuple[float, int, tuple[int, int], float]


def rows_of(point: Point) -> int:
    expected, n_strata, (arity_x, arity_y), _ = point
    return max(8, round(expected * n_strata * arity_x * arity_y))


def null_tables(point: Point, n_draws: int, rng: np.random.Generator) -> Iterator[NDArray[np.int32]]:
    """Yield blocks of tables of x and y, which are independent in every stratum, shape (100, x, y, strata)."""
    _, n_strata, (arity_x, arity_y), skew = point
    p_x, p_y = (skew ** np.arange(arity) for arity in (arity_x, arity_y))
    turn_x = (np.arange(arity_x)[:, np.newaxis] - np.arange(n_strata)) % arity_x  # level of x in a stratum: which p
    turn_y = (np.arange(arity_y)[:, np.newaxis] - np.arange(n_strata)) % arity_y
    for _ in range(-(-n_draws // TOGETHER)):
        sizes = rng.multinomial(rows_of(point), np.full(n_strata, 1 / n_strata))
        of_y = np.take_along_axis(rng.multinomial(sizes, p_y / p_y.sum()).T, turn_y, 0)  # (y, strata)
        drawn = rng.multinomial(np.broadcast_to(of_y, (TOGETHER, *of_y.shape)), p_x / p_x.sum())  # (..., y, strata, x)
        drawn = np.moveaxis(drawn, -1, 1)
        yield np.take_along_axis(drawn, turn_x[np.newaxis, :, np.newaxis], 1).astype(np.int32)


def rejected(point: Point, n_draws: int, seed: list[int]) -> tuple[dict[str, list[float]], list[int], bool]:
    """Return the share of p <= alpha of each test over alpha, how often each method was used, and if all p are p."""
    n = rows_of(point)
    hits = {test: np.zeros(len(ALPHAS)) for test in TESTS}
    methods, sound, drawn = np.zeros(len(METHODS), np.int64), True, 0
    g_of, x2_of = statistics_of_block(n), statistics_of_block(n, "x2")
    calibrated = [calibrated_of_block(n, level=alpha) for alpha in ALPHAS]
    _, n_strata, (arity_x, arity_y), _ = point
    nominal = float((arity_x - 1) * (arity_y - 1) * n_strata)
    for counts in null_tables(point, n_draws, np.random.default_rng(seed)):
        (g, free), (x2, _) = g_of(counts), x2_of(counts)
        by_formula = log_chi2_sf(g, free)
        log_p = {"adjusted": by_formula, "nominal": log_chi2_sf(g, nominal), "x2": log_chi2_sf(x2, free)}
        for k, alpha in enumerate(ALPHAS):
            log_p["auto"], method = by_formula.copy(), np.full(len(g), FAR)
            at = kernels.doubtful_of(g, free, law_at(alpha))
            if len(at):
                better, method[at] = calibrated[k](counts[at])
                log_p["auto"][at] = np.where(np.isnan(better), by_formula[at], better)
            method[free == 0] = NOTHING
            sound &= bool(np.all((log_p["auto"] <= 0) & np.isfinite(log_p["auto"])))
            methods += np.bincount(method, minlength=len(METHODS)) if alpha == 0.01 else 0
            for test in TESTS:
                hits[test][k] += np.count_nonzero(log_p[test] <= np.log(alpha))
        drawn += len(counts)
    return {test: (hits[test] / drawn / ALPHAS).tolist() for test in TESTS}, methods.tolist(), sound


def reachable(point: Point, n_draws: int, seed: list[int]) -> list[float]:
    """Return the size of the exact test of G given the margins (by 1999 permutations), over alpha."""
    formula = formula_of(rows_of(point), seed=1)
    outcomes = [
        kernels.permute(*flat_tables(counts), formula, 1999, 2000, 0.0)
        for counts in null_tables(point, n_draws, np.random.default_rng(seed))
    ]
    p = np.concatenate([(hits + 1) / (drawn + 1) for hits, _, drawn in outcomes])
    return [float((p <= alpha).mean() / alpha) for alpha in ALPHAS]


def size_of_point(point: Point, n_draws: int, seed: list[int]) -> dict[str, Any]:
    """Return the sizes of all tests at one point of the grid, and what is wrong with them."""
    n_cells = point[1] * point[2][0] * point[2][1]
    n_draws = TOGETHER * -(-max(500, min(n_draws, 8_000_000 // n_cells)) // TOGETHER)  # large tables take longer
    sizes, methods, sound = rejected(point, n_draws, seed)
    if max(sizes["auto"][:2]) > 1.2:  # chance, or not? Ten times the draws tell.
        n_draws *= 10
        sizes, methods, sound = rejected(point, n_draws, [*seed, 1])
    errors = [(max(size, 1.0) / alpha / n_draws) ** 0.5 for size, alpha in zip(sizes["auto"], ALPHAS, strict=True)]
    few = TOGETHER * max(1, min(n_draws // TOGETHER, 10, 500 // rows_of(point)))
    low = any(sizes["auto"][k] < 0.8 + 2 * errors[k] for k in range(2)) and rows_of(point) <= 1000
    bound = reachable(point, few, seed) if low else []
    wrong = [] if sound else ["some p is not between 0 and 1"]
    for k, alpha in enumerate(ALPHAS[:2]):
        size, error = sizes["auto"][k], errors[k]
        if size > 1.2 + 3 * error:
            wrong.append(f"size {size:.3f} ± {error:.3f} times {alpha}")
        wanted = min(0.8, bound[k] - 3 * (max(bound[k], 1.0) / alpha / few) ** 0.5) if bound else 0.8
        if size < wanted - 3 * error:
            wrong.append(f"size {size:.3f} ± {error:.3f} times {alpha}, but {bound} can be reached")
    found = {"point": [*point[:2], *point[2], point[3]], "rows": rows_of(point), "draws": n_draws, "sizes": sizes}
    return {**found, "errors": errors, "reachable": bound, "methods": methods, "wrong": wrong}


def line_of(found: dict[str, Any]) -> str:
    expected, strata, x, y, q = found["point"]
    shares = np.array(found["methods"][2:]) / sum(found["methods"])  # the rest has nothing to test
    asymptotic, moments, drawn = shares[0] + shares[1], shares[2], shares[3] + shares[4]
    cells = [
        f"{expected:g} | {strata} | {x} x {y} | {q:g} | {found['rows']}",
        *(f"{s:.2f} ± {e:.2f}" for s, e in zip(found["sizes"]["auto"], found["errors"], strict=True)),
        " / ".join(f"{size:.2f}" for size in found["reachable"]) or "-",
        f"{asymptotic:.0%} / {moments:.0%} / {drawn:.1%}",
        *(" / ".join(f"{size:.2f}" for size in found["sizes"][test]) for test in TESTS[1:]),
    ]
    return f"| {' | '.join(cells)} |"


def size(options: argparse.Namespace) -> int:
    """Run the grid, print it, and say what is outside the bounds."""
    grid: list[Point] = [point for point in product(EXPECTED, STRATA, ARITIES, SKEW) if rows_of(point) <= MOST_ROWS]
    if options.quick:
        grid = [p for p in grid if p[0] in (0.2, 5.0) and p[1] in (1, 50) and p[2] in ((2, 2), (4, 4)) and p[3] != 0.4]
    heads = ["expected", "strata", "levels", "q", "rows", *(f"auto, {alpha}" for alpha in ALPHAS), "reachable"]
    heads += ["asymptotic / moments / exact or permuted", *TESTS[1:]]
    print(f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
    kept = dict(kept_points(options.keep))
    found, began = [], time.perf_counter()
    todo = [(point, options.draws, [options.seed, k]) for k, point in enumerate(grid) if key_of(point) not in kept]
    with ProcessPoolExecutor(options.jobs) as pool:
        new = iter(pool.map(size_of_point, *zip(*todo, strict=True))) if todo else iter(())
        for point in grid:
            if key_of(point) not in kept:
                kept[key_of(point)] = next(new)
                if options.keep:
                    with options.keep.open("a", encoding="utf-8") as lines:
                        lines.write(json.dumps(kept[key_of(point)]) + "\n")
            found.append(kept[key_of(point)])
            print(line_of(found[-1]), flush=True)
    print("\n" + summary(found) + f"\n{time.perf_counter() - began:.0f} s")
    if options.figure:
        draw(found, options.figure)
    wrong = [f"{each['point']}: {sentence}" for each in found for sentence in each["wrong"]]
    print(f"{len(wrong)} outside the bounds", *wrong, sep="\n")
    return int(bool(wrong))


def key_of(point: Any) -> str:
    expected, strata, arities, q = point
    return json.dumps([expected, strata, *arities, q])


def kept_points(path: Path | None) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what a run that was stopped had finished."""
    for line in path.read_text(encoding="utf-8").splitlines() if path and path.exists() else ():
        found = json.loads(line)
        yield json.dumps(found["point"]), found


def summary(found: list[dict[str, Any]]) -> str:
    """Return a small table: the range of sizes of each test, by the expected count of a cell."""
    heads = ["expected count", "rows", *(f"{test}, {alpha}" for alpha in ALPHAS[:2] for test in TESTS), "reached"]
    lines = [f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}"]
    for expected in sorted({each["point"][0] for each in found}):
        some = [each for each in found if each["point"][0] == expected]
        rows = [each["rows"] for each in some]
        cells = [f"{expected:g}", f"{min(rows):,} to {max(rows):,}"]
        for k in range(2):
            for test in TESTS:
                sizes = [each["sizes"][test][k] for each in some]
                cells.append(f"{min(sizes):.2f} to {max(sizes):.2f}")
        full = [each for each in some if not each["reachable"] or min(each["reachable"][:2]) >= 0.8]
        cells.append(f"{len(full)} of {len(some)}")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def draw(found: list[dict[str, Any]], path: Path) -> None:
    """Draw the sizes of all tests over the expected count of a cell, a point for each point of the grid."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(TESTS), figsize=(11, 3.2), sharey=True, layout="constrained")
    names = {"auto": 'test="auto"', "adjusted": 'test="g"', "nominal": 'test="g", dof="nominal"', "x2": 'test="x2"'}
    jitter = np.random.default_rng(0).uniform(-0.14, 0.14, len(found))
    where = {expected: k for k, expected in enumerate(EXPECTED)}
    for ax, test in zip(axes, TESTS, strict=True):
        x = np.array([where[each["point"][0]] for each in found]) + jitter
        y = np.maximum([each["sizes"][test][1] for each in found], 0.03)
        coarse = np.array([bool(each["reachable"]) and each["reachable"][1] < 0.8 for each in found])
        ax.axhspan(0.8, 1.2, color="#0072b2", alpha=0.15, lw=0)
        ax.scatter(x[~coarse], y[~coarse], s=9, color="#0072b2", label="the level can be used up")
        ax.scatter(x[coarse], y[coarse], s=9, facecolors="none", edgecolors="#999999", label="too coarse for that")
        ax.set(yscale="log", title=names[test], xlabel="expected count of a cell")
        ax.set_xticks(range(len(EXPECTED)), [f"{e:g}" for e in EXPECTED])
        ax.set_yticks([0.03, 0.1, 0.3, 1, 3, 10, 30, 100], ["0", "0.1", "0.3", "1", "3", "10", "30", "100"])
    axes[0].set_ylabel("size / level, at 0.01")
    axes[0].legend(loc="upper left", fontsize=7, frameon=False)
    figure.savefig(path, dpi=110)


def accuracy(options: argparse.Namespace) -> int:
    tests = [("auto", 5.0), ("adjusted", 5.0), ("nominal", 5.0)]
    heads = [
        "network",
        "rows",
        "algorithm",
        "test",
        "precision",
        "recall",
        "distance",
        "false",
        "missed",
        "CPU seconds",
    ]
    print(f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
    names = ["alarm"] if options.quick else ["alarm", "insurance", "hailfinder", "child", "pigs", "barley"]
    cases = list(product(names, (500, 5000), ("inter-iamb", "iamb", "pcmb", "hiton-mb", "mmmb"), tests))
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
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BlanketsWarning)  # constant columns and too few rows
            found = bl.discover_all(
                frame,
                present,
                algorithm=algorithm,
                alpha=options.alpha,
                n_jobs=1,
                test=bl.Testing(reliability=reliability),
                **settings,
            )
        seconds += time.process_time() - began
        agreements += [
            compare(found[target].members if target in found else (), network.blanket(target)) for target in targets
        ]
    mean = average(agreements)
    measures = (mean.precision, mean.recall, mean.distance, mean.false_positives, mean.false_negatives)
    cells = [name, str(n_rows), algorithm, kind, *(f"{v:.3f}" for v in measures)]
    return f"| {' | '.join(cells)} | {seconds:.1f} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=["size", "accuracy"])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--draws", type=int, default=6000, help="tables for each point of the grid (fewer where they are large)"
    )
    parser.add_argument("--networks", type=Path, help="folder with alarm.bif, ... (or .bif.gz)")
    parser.add_argument("--databases", type=int, default=5)
    parser.add_argument("--targets", type=int, default=40, help="targets of each network")
    parser.add_argument("--alpha", type=float, default=0.01)
    parser.add_argument("--keep", type=Path, help="file that keeps the finished points of the grid")
    parser.add_argument("--figure", type=Path, help="picture to draw of the grid")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    options = parser.parse_args()
    if options.what == "accuracy" and options.networks is None:
        parser.error("say where the networks are with --networks DIR")
    return size(options) if options.what == "size" else accuracy(options)


if __name__ == "__main__":
    sys.exit(main())
