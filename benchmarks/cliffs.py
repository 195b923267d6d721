"""Shapes on which the default search takes long: its CPU time over that of inter-IAMB with the same test.

    python benchmarks/cliffs.py                       # 40 random shapes
    python benchmarks/cliffs.py --networks NETWORKS   # and the named ones: questionnaires, networks, many targets

A shape is drawn from eight kinds (correlated items, common factors, many levels, near copies, determined columns, 200
members, 1,000 levels, 50,000 columns), with rows, columns and strengths at random. Both searches run once to warm up,
and then once. A search that takes longer than ``--limit`` seconds is given up: its ratio is at least what is printed.
The worst ten are printed; ``--check`` makes the exit code say whether all are at most 10 (times below 20 ms count as 20
ms: nobody waits for these).
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import blankets as bl
from _data import frame_of, sample
from _timing import TooLong, announce, limited, parser, seconds, table, write_json
from blankets.data import Frame
from blankets.errors import BlanketsWarning

MOST = 10.0  # times inter-IAMB
SHORT = 0.02  # seconds below which nobody waits
NETWORKS = ("pathfinder", "diabetes", "mildew", "munin1", "munin", "alarm", "pigs")

Codes = NDArray[np.uint8]
Draw = Callable[[np.random.Generator, int, int], Codes]


def items(rng: np.random.Generator, rows: int, columns: int) -> Codes:
    """Return answers to a questionnaire: one common trait, and noise."""
    trait, noise = rng.normal(size=rows), rng.uniform(0.5, 2.0)
    return np.stack([trait + noise * rng.normal(size=rows) > 0 for _ in range(columns)]).astype(np.uint8)


def factors(rng: np.random.Generator, rows: int, columns: int) -> Codes:
    """Return columns that lean on eight common factors, in three levels."""
    common, noise = rng.normal(size=(8, rows)), rng.uniform(0.3, 1.5)
    each = [common[rng.integers(8)] + noise * rng.normal(size=rows) for _ in range(columns)]
    return np.stack([np.digitize(values, [-0.5, 0.5]) for values in each]).astype(np.uint8)


def levels(rng: np.random.Generator, rows: int, columns: int, most: int = 30) -> Codes:
    """Return a chain of columns with many levels."""
    codes = np.empty((columns, rows), np.uint8)
    codes[0] = rng.integers(0, most, rows)
    for j in range(1, columns):
        codes[j] = np.where(rng.random(rows) < 0.5, codes[j - 1], rng.integers(0, most, rows))
    return codes


def copies(rng: np.random.Generator, rows: int, columns: int) -> Codes:
    """Return near copies of a few columns."""
    first, error = rng.integers(0, 2, (4, rows)), 10.0 ** rng.uniform(-4, -1)
    each = [first[rng.integers(4)] ^ (rng.random(rows) < error) for _ in range(columns)]
    return np.stack(each).astype(np.uint8)


def determined(rng: np.random.Generator, rows: int, columns: int) -> Codes:
    """Return columns of which half are functions of two others."""
    codes = rng.integers(0, 3, (columns, rows)).astype(np.uint8)
    for j in range(columns // 2, columns):
        a, b = rng.choice(j, 2, replace=False)
        codes[j] = (codes[a] + codes[b]) % 3
    return codes


def members(rng: np.random.Generator, rows: int, columns: int) -> Codes:
    """Return a target that many columns move a little."""
    codes = rng.integers(0, 2, (max(columns, 201), rows)).astype(np.uint8)
    score = codes[1:201].sum(axis=0, dtype=float) - 100.0
    codes[0] = score + rng.normal(size=rows) > 0
    return codes


def thousand(rng: np.random.Generator, rows: int, columns: int) -> Codes:
    """Return a target of 250 levels among columns of as many and of two."""
    codes = levels(rng, rows, columns, 250)
    for j in range(2, columns, 2):
        codes[j] = codes[j - 1] % 2 ^ (rng.random(rows) < 0.1)
    return codes


def wide(rng: np.random.Generator, rows: int, columns: int) -> Codes:
    """Return 50,000 columns, the first of which go together."""
    codes = rng.integers(0, 3, (50_000, min(rows, 2_000)), np.uint8)
    codes[:50] = factors(rng, codes.shape[1], 50)
    return codes


KINDS: tuple[Draw, ...] = (items, factors, levels, copies, determined, members, thousand, wide)


def coded(codes: Codes) -> Frame:
    """Return a frame of codes, renumbered to those that occur."""
    each = [np.unique(column, return_inverse=True) for column in codes]
    return frame_of(np.stack([c for _, c in each]).astype(np.uint8), [len(found) for found, _ in each])


def shapes(n: int, seed: int) -> Iterator[tuple[str, Frame]]:
    """Yield ``n`` random shapes with their names."""
    for k in range(n):
        rng, kind = np.random.default_rng([seed, k]), KINDS[k % len(KINDS)]
        rows, columns = (int(10 ** rng.uniform(*span)) for span in ((2.5, 4.5), (1.0, 2.3)))
        frame = coded(kind(rng, rows, columns))
        yield f"{kind.__name__} {frame.n_rows:,} x {frame.n_columns:,} (seed {k})", frame


def named(networks: Path) -> Iterator[tuple[str, Frame, bool]]:
    """Yield the shapes with names, and whether 20 columns are targets."""
    for n in (31, 100):
        yield f"questionnaire of {n} items", coded(items(np.random.default_rng(n), 20_000, n)), False
    for name in NETWORKS:
        frame = sample(networks, name, 2_000)
        yield f"{name} 2,000 x {frame.n_columns:,}, its first 20 targets", frame, True
    yield "1,000 targets with 8 factors", coded(factors(np.random.default_rng(8), 1_000, 1_000)), True


def spent(frame: Frame, limit: float, *, some: bool, **how: Any) -> tuple[float, bool]:
    """Return the CPU time of the second run, or of the first if it was long, and whether it came to its end."""
    targets = list(frame.names[: 20 if some else 1])
    began = time.process_time()
    try:
        with limited(limit):
            bl.discover_all(frame, targets, n_jobs=1, **how)
            if time.process_time() - began < 1.0:
                began = time.process_time()
                bl.discover_all(frame, targets, n_jobs=1, **how)
    except TooLong:
        return time.process_time() - began, False
    return time.process_time() - began, True


def main() -> int:
    options_of = parser(__doc__)
    options_of.add_argument("--networks", type=Path, help="folder with networks: also the shapes with names")
    options_of.add_argument("--shapes", type=int, default=40, help="random shapes")
    options_of.add_argument("--seed", type=int, default=0)
    options_of.add_argument("--limit", type=float, default=60.0, help="seconds after which a search is given up")
    options_of.add_argument("--check", action="store_true", help="fail if a default search takes more than 10 times")
    options = options_of.parse_args()
    here = announce("The default search over inter-IAMB, CPU time, one thread")
    every = [(name, frame, False) for name, frame in shapes(options.shapes, options.seed)]
    rows: list[dict[str, Any]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BlanketsWarning)
        for name, frame, some in (*every, *(named(options.networks) if options.networks else ())):
            plain, _ = spent(frame, options.limit, some=some, algorithm="inter-iamb", close=False)
            default, ended = spent(frame, options.limit, some=some)
            ratio = max(default, SHORT) / max(plain, SHORT)
            rows.append({"shape": name, "inter-iamb": plain, "default": default, "ended": ended, "ratio": ratio})
            more = "" if ended else "more than "
            print(f"  {name}: {seconds(plain)}, {more}{seconds(default)}, {ratio:.1f}", flush=True)
    worst = sorted(rows, key=lambda row: -row["ratio"])[:10]
    heads = ["shape", "inter-IAMB", "default", "ratio", ""]
    cells = [
        [
            r["shape"],
            seconds(r["inter-iamb"]),
            seconds(r["default"]),
            f"{r['ratio']:.1f}",
            "" if r["ended"] else "given up",
        ]
        for r in worst
    ]
    print("\nThe worst ten\n" + table(heads, cells))
    write_json(options.json, {"benchmark": "cliffs", "machine": here, "results": rows})
    return int(options.check and worst[0]["ratio"] > MOST)


if __name__ == "__main__":
    sys.exit(main())
