"""How cost grows: fitted exponents over rows and features, cost over levels and strata, gain from a second thread.

    python benchmarks/scaling.py

Scans given an empty set (and strata where said) of dense codes (3 and 9 levels: packed bits and bytes) and sparse
columns (1% ones), and a whole inter-IAMB search. Two decades each; the exponent is the slope of log time over log
size, wanted between 0.95 and 1.05, from wall time and from CPU time. Shortest of several runs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import blankets as bl
from _data import TARGET, frame_of, noise, planted, sparse
from _timing import Timing, announce, fastest, parser, seconds, table, write_json
from blankets.counting import MemoryCounter
from blankets.data import Frame
from blankets.independence import TableTests

Rows = list[dict[str, Any]]
Work = Callable[[], object]
DECADES = (1.0, 3.0, 10.0, 30.0, 100.0)
STRICT = 1e-9


def scan_of(frame: Frame, y: int, given: tuple[int, ...] = (), threads: int = 1) -> Work:
    """Return a scan of all other columns, with the p-values that decide, which is not answered from memory."""
    tests = TableTests(MemoryCounter(frame, threads))
    xs = np.array([j for j in range(frame.n_columns) if j != y and j not in given])
    return lambda: tests.scan(xs, y, given, even_if_unreliable=True).strongest(0.01)


def dense_scan(levels: int, n_rows: int, n_features: int) -> Work:
    return scan_of(frame_of(noise(n_rows, (levels,) * (n_features + 1)), (levels,) * (n_features + 1)), 0)


def sparse_scan(n_rows: int, n_features: int) -> Work:
    frame = sparse(n_rows, n_features, 0.004)  # so few ones that they have no bit planes
    return scan_of(frame, frame.index(TARGET))


def search(n_rows: int, n_features: int) -> Work:
    """Return a search at a level so strict that at any size the planted blanket comes out, of as many tests."""
    frame = planted(n_rows, n_features, (3,))
    return lambda: bl.discover(frame, TARGET, algorithm="inter-iamb", alpha=STRICT, test="g", n_jobs=1)


def exponents(repeats: int, factor: float) -> Rows:
    """Measure over two decades of rows, then of features, and fit."""
    # The smallest sizes are such that what a scan costs once, some 30 µs, does not count.
    by_rows: dict[str, tuple[int, Callable[[int], Work]]] = {
        "scan, 3 levels (bits)": (200_000, lambda n: dense_scan(3, n, 100)),
        "scan, 9 levels (bytes)": (100_000, lambda n: dense_scan(9, n, 30)),
        "scan, sparse": (100_000, lambda n: sparse_scan(n, 300)),
        "inter-IAMB, 50 features": (100_000, lambda n: search(n, 50)),
    }
    by_features: dict[str, tuple[int, Callable[[int], Work]]] = {
        "scan, 3 levels (bits)": (5_000, lambda n: dense_scan(3, 1_000, n)),
        "scan, 9 levels (bytes)": (500, lambda n: dense_scan(9, 5_000, n)),
        "scan, sparse": (3_000, lambda n: sparse_scan(5_000, n)),
        "inter-IAMB, 5,000 rows": (1_000, lambda n: search(5_000, n)),
    }
    rows: Rows = []
    for over, cases in (("rows", by_rows), ("features", by_features)):
        for name, (smallest, made) in cases.items():
            sizes = [int(smallest * decade * factor) for decade in DECADES]
            times = [fastest(made(size), repeats=repeats) for size in sizes]
            rows.append({"case": name, "over": over, "sizes": sizes, **fitted(sizes, times)})
    return rows


def fitted(sizes: list[int], times: list[Timing]) -> dict[str, Any]:
    """Return the slopes of log time over log size."""
    walls, cpus = [t.wall for t in times], [t.cpu for t in times]
    slopes = [float(np.polyfit(np.log(sizes), np.log(values), 1)[0]) for values in (walls, cpus)]
    return {"wall": walls, "cpu": cpus, "exponent": slopes[0], "cpu_exponent": slopes[1]}


def strata_and_levels(repeats: int) -> Rows:
    """Measure the cost of one table over the strata of the conditioning set and the levels of x."""
    rows: Rows = []
    n_rows, n_features = 5_000, 500
    for levels in (2, 3, 5, 9, 30):
        for depth in (0, 2, 4, 6, 8):
            arities = [2] * (depth + 1) + [levels] * n_features
            frame = frame_of(noise(n_rows, arities), arities)
            timing = fastest(scan_of(frame, 0, tuple(range(1, depth + 1))), repeats=repeats)
            rows.append({"levels": levels, "strata": 2**depth, "ns": timing.cpu * 1e9 / n_rows / n_features})
    return rows


def thread_gains(repeats: int, factor: float) -> Rows:
    """Compare one thread with two on large scans."""
    n_rows, n_features = int(200_000 * factor), 200
    wide = int(20_000 * factor)
    nine: NDArray[np.uint8] = noise(n_rows, (9,) * n_features)
    frames: dict[str, tuple[Frame, tuple[int, ...]]] = {
        f"{n_rows:,} x {n_features}, 9 levels": (frame_of(nine, (9,) * n_features), ()),
        f"{n_rows:,} x {n_features}, 9 levels, 81 strata": (frame_of(nine, (9,) * n_features), (1, 2)),
        f"5,000 x {wide:,}, 3 levels": (frame_of(noise(5_000, (3,) * wide), (3,) * wide), ()),
        f"5,000 x {wide:,}, 3 levels, 27 strata": (frame_of(noise(5_000, (3,) * wide), (3,) * wide), (1, 2, 3)),
    }
    rows: Rows = []
    for name, (frame, given) in frames.items():
        one, two = (fastest(scan_of(frame, 0, given, threads), repeats=repeats) for threads in (1, 2))
        rows.append({"case": name, "one": one.wall, "two": two.wall, "gain": one.wall / two.wall})
    return rows


def main() -> int:
    options_of = parser(__doc__)
    options_of.add_argument("--repeats", type=int, default=5)
    options_of.add_argument("--small", action="store_true", help="a tenth of the data: to see that it works")
    options = options_of.parse_args()
    factor = 0.1 if options.small else 1.0

    here = announce("Scaling")
    growth = exponents(options.repeats, factor)
    heads = ["growth of", "over", "from", "to", "smallest", "largest", "exponent", "of CPU", "wanted"]
    cells = [
        [
            r["case"],
            r["over"],
            f"{r['sizes'][0]:,}",
            f"{r['sizes'][-1]:,}",
            seconds(r["wall"][0]),
            seconds(r["wall"][-1]),
        ]
        for r in growth
    ]
    for line, r in zip(cells, growth, strict=True):
        line += [f"{r['exponent']:.2f}", f"{r['cpu_exponent']:.2f}", "0.95 to 1.05"]
    print(table(heads, cells) + "\n")

    tables = strata_and_levels(options.repeats)
    print("ns of CPU per row x feature, 5,000 rows x 500 features")
    strata = sorted({r["strata"] for r in tables})
    by = {(r["levels"], r["strata"]): f"{r['ns']:.3f}" for r in tables}
    levels = sorted({r["levels"] for r in tables})
    print(
        table(
            ["levels of x", *(f"{n} strata" for n in strata)], [[str(k), *(by[k, n] for n in strata)] for k in levels]
        )
    )

    gains = thread_gains(options.repeats, factor)
    heads = ["threads", "one", "two", "gain", "wanted"]
    cells = [[r["case"], seconds(r["one"]), seconds(r["two"]), f"{r['gain']:.2f}", "1.70"] for r in gains]
    print("\n" + table(heads, cells))
    content = {"benchmark": "scaling", "machine": here, "growth": growth, "tables": tables, "threads": gains}
    write_json(options.json, content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
