"""Numbers: size, power, whole searches, networks, effects and speed, in pieces that can be run side by side.

    python benchmarks/number_tests.py size --rows 1000 --reps 40 --part 1/4 >> size.csv     # a quarter of the designs
    python benchmarks/number_tests.py pool size.csv                                         # the table of all pieces
    python benchmarks/number_tests.py power|search|networks|effects|speed

*size*: x and y depend on z, and on each other through z alone: sums, products, cells, curves, seasons, long tails of
levels, heavy tails, groups and weights, and a grid of eight kinds of columns under three kinds of confounding. A line
has the design, rows, tests, how many were rejected at .01 and at .05, in how many z could not be held fixed, and CPU
seconds. Four columns x share a draw of y and z. *power*: beside Fisher's z of what least squares leave. *search*: a
target, what it depends on, a column confounded with it, and five that tell nothing: false members, false undecided
columns, and what answers expect. *networks*: F1 over all nodes of random networks of numbers and categories; with
``--data DIR`` those of its JSON files, too. *effects*: how often a printed 95% interval covers. *speed*: with limits.
"""

from __future__ import annotations

import argparse
import csv
import math
import resource
import time
import warnings
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

import blankets as bl
from _number_designs import Column, Design, Drawn, Rng, linear, logistic, points
from _number_networks import FAMILIES, KnownNet, Net, RandomNet, f1
from blankets.data import Frame, NumberColumn
from blankets.data._builder import FrameBuilder
from blankets.independence import NumberTests, Units

LEVELS = (0.01, 0.05)
TOGETHER = 4  # columns x that share a draw of y and z


def frame_of(columns: list[Column]) -> Frame:
    """Return columns as a frame."""
    builder = FrameBuilder(len(columns[0]), len(columns))
    for j, values in enumerate(columns):
        if values.dtype.kind == "f":
            builder.add_number(f"v{j}", NumberColumn(values), holes=False)
        else:
            there, codes = np.unique(values, return_inverse=True)
            builder.add(f"v{j}", codes.astype(np.int64), tuple(range(len(there))), ordered=values.dtype.kind == "u")
    return builder.frame()


def rng_of(seed: int, *about: object) -> Rng:
    """Return a generator for a point."""
    return np.random.default_rng([seed, zlib.crc32(repr(about).encode())])


def size(asked: argparse.Namespace) -> None:
    """Print how often a true independence is rejected."""
    out = csv.writer(asked.out)
    for family, name, n, design in chosen(points(asked.rows), asked):
        rng, began = rng_of(asked.seed, name, n), time.process_time()
        counts = np.zeros(4, int)
        for _ in range(max(asked.reps, 1)):
            drawn = design(n, rng)
            k = len(drawn.z)
            xs = [drawn.x() for _ in range(TOGETHER if drawn.weights is None else 1)]
            frame = frame_of([*drawn.z, drawn.y(), *xs])
            units = None if drawn.weights is drawn.groups is None else Units(frame, drawn.weights, drawn.groups)
            batch = NumberTests(frame, units=units, level=LEVELS[-1]).scan(range(k + 1, frame.n_columns), k, range(k))
            evidence = list(batch)
            counts += (
                sum(e.reliable or not e.held for e in evidence),
                *(sum(e.dependent(level) for e in evidence) for level in LEVELS),
                sum(not e.held for e in evidence),
            )
        out.writerow([family, name, n, *counts.tolist(), round(time.process_time() - began, 2)])
        asked.out.flush()


def pool(asked: argparse.Namespace) -> None:
    """Print a table of pieces of *size*: shares by family and rows, and the points that are furthest off."""
    known: dict[tuple[str, str, int], NDArray[np.int64]] = {}
    for path in asked.files:
        for family, name, n, *counts in csv.reader(path.open()):
            key = family, name, int(n)
            known[key] = known.get(key, np.zeros(4, int)) + np.array([int(c) for c in counts[:4]])
    sums: dict[tuple[str, str], NDArray[np.int64]] = {}
    for (family, _, n), counts in known.items():
        for one in ((family, "all"), ("all", f"{n:,}"), ("all", "all")):
            sums[one] = sums.get(one, np.zeros(4, int)) + counts
    print("| | rows | tests | .01 | .05 | not held fixed |\n|---|---|---|---|---|---|")
    for (family, rows), (tests, one, five, unheld) in sums.items():
        shares = f"{one / tests:.4f} | {five / tests:.3f} | {unheld / tests:.3f}"
        print(f"| {family} | {rows} | {tests:,} | {shares} |")
    off = []
    for (family, name, n), (tests, *rejected, unheld) in known.items():
        pairs = zip(rejected, LEVELS, strict=True)
        worst = max((r - 1.2 * level * tests) / math.sqrt(max(level * tests, 0.5)) for r, level in pairs)
        words = " and ".join(f"{r / tests:.3f}" for r in rejected)
        about = f"{family}: {name}, {n:,} rows: {words} of {tests}, not held fixed {unheld / tests:.2f}"
        off.append((worst, about))
    print(f"\n{len(known)} points; furthest above 1.2 of a level, in standard errors:")
    for worst, about in sorted(off, reverse=True)[: asked.most]:
        print(f"{worst:5.1f}  {about}")


def dependent_designs() -> dict[str, Design]:
    """Return designs in which x and y depend on each other given z."""

    def of(k: int, more: Callable[[Column, Column], Column], r2: float = 0.5, *, is_class: bool = False) -> Design:
        def design(n: int, rng: Rng) -> Drawn:
            z, m = linear(k, r2)(n, rng)
            own = rng.normal(size=n)
            told = m + more(own, np.array(z))
            y = (rng.random(n) < logistic(told)).astype(int) if is_class else told + rng.normal(size=n)
            return Drawn(z, lambda: m + own, lambda: y)

        return design

    made = {f"line, {k} given": of(k, lambda e, z: 0.12 * e) for k in (1, 3, 8)}
    return made | {
        "line, 3 given, R² .9": of(3, lambda e, z: 0.12 * e, 0.9),
        "line, 3 given, two classes": of(3, lambda e, z: 0.25 * e, is_class=True),
        "square, 1 given": of(1, lambda e, z: 0.1 * (e**2 - 1)),
        "square, 3 given": of(3, lambda e, z: 0.1 * (e**2 - 1)),
        "square of x, 3 given": of(3, lambda e, z: 0.1 * ((z.sum(axis=0) / math.sqrt(3) + e) ** 2 - 1)),
        "opposite signs in two parts": of(2, lambda e, z: 0.25 * e * np.sign(z[0])),
        "slope in a fifth of the rows": of(2, lambda e, z: 0.5 * e * (z[0] > 0.84)),
        "spread, 1 given": lambda n, rng: _spread_of_x(n, rng),
    }


def _spread_of_x(n: int, rng: Rng) -> Drawn:
    z, own = rng.normal(size=(2, n))
    return Drawn([z], lambda: z + own, lambda: z + np.exp(0.12 * own) * rng.normal(size=n))


def fisher(x: Column, y: Column, z: list[Column]) -> float:
    """Return the p-value of Fisher's z of what least squares on z leave."""
    basis = np.linalg.qr(np.column_stack([np.ones(len(x)), *z]))[0]
    a, b = (v - basis @ (basis.T @ v) for v in (x * 1.0, y * 1.0))
    r = a @ b / math.sqrt(a @ a * (b @ b))
    return float(2 * stats.norm.sf(abs(math.atanh(r)) * math.sqrt(len(x) - len(z) - 3)))


def power(asked: argparse.Namespace) -> None:
    """Print how often dependence is found at .01."""
    for name, n, design in chosen(((name, n, d) for n in asked.rows for name, d in dependent_designs().items()), asked):
        rng, found = rng_of(asked.seed, name, n), []
        for _ in range(asked.reps):
            drawn = design(n, rng)
            x, y, k = drawn.x(), drawn.y(), len(drawn.z)
            evidence = NumberTests(frame_of([*drawn.z, y, x]), level=0.01).test(k + 1, k, range(k))
            found.append((evidence.dependent(0.01), fisher(x, y, drawn.z) <= 0.01, not evidence.held))
        ours, theirs, unheld = np.mean(found, axis=0)
        print(f"{name:30} {n:6} rows  {ours:.3f}  Fisher's z {theirs:.3f}  not held fixed {unheld:.3f}", flush=True)


def search(asked: argparse.Namespace) -> None:
    """Print what is false in whole answers."""
    sums = np.zeros(4)
    some = ((f, name, n, d) for f, name, n, d in points(asked.rows) if not f.startswith(("grid", "groups")))
    for family, name, n, design in chosen(some, asked):
        rng, found = rng_of(asked.seed, "search", name, n), []
        for _ in range(asked.reps):
            drawn = design(n, rng)
            columns = {f"z{j}": v for j, v in enumerate(drawn.z)} | {"x": drawn.x(), "y": drawn.y()}
            columns |= {f"n{j}": rng.normal(size=n) if j % 2 else rng.integers(0, 3, n) for j in range(5)}
            answer = bl.discover({c: told(v) for c, v in columns.items()}, "y", n_jobs=1, audit=False)
            false = {"x", *(f"n{j}" for j in range(5))}
            expected = 0.0 if answer.false_members is None else answer.false_members.expected
            members, more = false & {*answer.members}, false & {*answer.undecided}
            found.append((bool(members), bool(more), len(members), expected))
        sums += np.sum(found, axis=0)
        member, undecided, n_false, expected = np.mean(found, axis=0)
        print(
            f"{family}: {name}, {n} rows: a false member in {member:.2f}, a false undecided column in {undecided:.2f}; "
            f"{n_false:.3f} false members, expected {expected:.3f}; {asked.reps} answers",
            flush=True,
        )
    print(f"sums over all: {sums.round(2).tolist()}")


def told(values: Column) -> Column:
    """Return levels as texts."""
    return values if values.dtype.kind == "f" else np.array([f"level {k}" for k in values])


def effects(asked: argparse.Namespace) -> None:
    """Print how often the interval of x covers, where another member confounds it."""
    shapes: dict[str, Callable[[Column, Column], Column]] = {
        "line": lambda z, _: z,
        "U-shape": lambda z, _: 0.7 * (z**2 - 1),
        "mild U-shape": lambda z, _: 0.6 * z + 0.35 * (z**2 - 1),
        "plateau": lambda z, _: np.clip(1.5 * z, -9, 0.5),
        "product": lambda z, other: z * other,
    }
    for (name, shape), n in chosen(((s, n) for n in asked.rows for s in shapes.items()), asked):
        rng, found = rng_of(asked.seed, name, n), []
        for _ in range(asked.reps):
            z, other = rng.normal(size=(2, n))
            m = shape(z, other)
            x = m + rng.normal(size=n)
            table = {"z": z, "other": other, "x": x, "y": m + 0.3 * x + rng.normal(size=n)}
            for row in bl.discover(table, "y", n_jobs=1, audit=False).table():
                if row["member"] == "x" and row["estimate"] is not None and str(row["compared"]).startswith("per"):
                    true = 0.3 * x.std()
                    found.append((row["low_95"] <= true <= row["high_95"], row["estimate"] / true))
        covered, ratio = np.mean(found, axis=0) if found else (math.nan, math.nan)
        words = f"printed in {len(found)} of {asked.reps}, covers {covered:.3f}, {ratio:.2f} of the truth"
        print(f"{name:14} {n:6} rows  {words}", flush=True)


def networks(asked: argparse.Namespace) -> None:
    """Print mean F1 over all nodes, of members alone and with the undecided columns, and precision."""
    nets: list[tuple[str, Callable[[int], Net]]] = [(family, partial(RandomNet, family)) for family in FAMILIES]
    files = sorted(asked.data.glob("*.json")) if asked.data else []
    nets += [(path.stem, lambda _, path=path: KnownNet(path)) for path in files]
    sums: dict[int, list[list[float]]] = {}
    for n, (name, make) in chosen(((n, net) for n in asked.rows for net in nets), asked):
        found, began = [], time.process_time()
        for k in range(asked.seed, asked.seed + asked.reps):
            net = make(k)
            answers = bl.discover_all(net.table(n, np.random.default_rng([k, n])), n_jobs=1)
            for x in (x for x in net.names if x in answers):
                members, more, true = {*answers[x].members}, {*answers[x].undecided}, net.blanket(x)
                hits = [len(members & true), len(members), len(true), len(more), len(more & true)]
                found.append([f1(members, true), f1(members | more, true), *map(float, hits)])
        sums[n] = sums.get(n, []) + found
        seconds = (time.process_time() - began) / asked.reps
        print(f"{n:6} rows  {name:12} {_scored(found)}; {seconds:.1f} s a network", flush=True)
    for n, found in sums.items():
        print(f"{n:6} rows  {'all':12} {_scored(found)}")


def _scored(found: list[list[float]]) -> str:
    one, more, hits, members, true, undecided, right = np.mean(found, axis=0)
    return (
        f"F1 {one:.3f}, with undecided {more:.3f}, precision {hits / max(members, 1e-9):.3f}, "
        f"recall {hits / true:.3f}, {undecided:.2f} undecided, of which {right / max(undecided, 1e-9):.2f} true"
    )


def speed(asked: argparse.Namespace) -> None:
    """Print CPU and wall time, against limits."""

    def one(n_nodes: int, n: int) -> tuple[dict[str, Any], str]:
        net = RandomNet("mixture", 1, n_nodes=n_nodes)
        return net.table(n, np.random.default_rng(1)), net.names[20]

    bl.discover(*one(30, 300), n_jobs=1)  # loads what is loaded late
    small, larger, tall = one(30, 1000), one(100, 10_000), one(50, 1_000_000)
    wide = np.random.default_rng(1).normal(size=(5000, 5000))
    wide[:, 0] += wide[:, 1] - wide[:, 2] + 0.5 * wide[:, 3] ** 2
    everything: list[tuple[str, Callable[[], Any], str]] = [
        ("1,000 × 30 mixed, one target", lambda: bl.discover(*small), "0.3 s"),
        ("1,000 × 30 mixed, all targets", lambda: bl.discover_all(small[0], n_jobs=1), "9 s"),
        ("10,000 × 100 mixed, one target", lambda: bl.discover(*larger), "10 s"),
        ("1,000,000 × 50 mixed, one target", lambda: bl.discover(*tall), "15 s"),
        ("5,000 × 5,000 numbers, inter-IAMB", lambda: bl.discover(wide, 0, algorithm="inter-iamb", alpha=1e-6), "5 s"),
    ]
    for what, work, limit in chosen(iter(everything), asked):
        cpu, wall = time.process_time(), time.perf_counter()
        work()
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        print(f"{what:40} CPU {cpu:6.2f} s, wall {wall:6.2f} s, limit {limit}; {most:.0f} MB so far", flush=True)


def chosen(items: Any, asked: argparse.Namespace) -> Iterator[Any]:
    """Yield every n-th item, from the k-th on, whose text has a word."""
    k, n = (int(v) for v in asked.part.split("/"))
    some = [item for item in items if not asked.only or any(word in repr(item) for word in asked.only)]
    yield from some[k - 1 :: n]


def main() -> None:
    """Run one of the parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = {part.__name__: part for part in (size, power, search, networks, effects, speed, pool)}
    parser.add_argument("what", choices=parts)
    parser.add_argument("files", nargs="*", type=Path, help="of pool: what size printed")
    parser.add_argument("--rows", type=int, nargs="+", default=[300, 1000, 3000, 10_000])
    parser.add_argument("--reps", type=int, default=20, help="draws for each point")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", default="1/1", help="k/n: every n-th point, from the k-th on")
    parser.add_argument("--only", nargs="+", help="points with one of these words")
    parser.add_argument("--data", type=Path, help="of networks: a folder with JSON files")
    parser.add_argument("--out", type=argparse.FileType("a"), default="-")
    parser.add_argument("--most", type=int, default=25, help="of pool: how many points to name")
    warnings.simplefilter("ignore")
    asked = parser.parse_args()
    parts[asked.what](asked)


if __name__ == "__main__":
    main()
