"""Cost of the counting kernels: ns per row x feature, GB/s, and the share of what a plain read of memory reaches.

    python benchmarks/kernels.py
    python benchmarks/kernels.py --only crossover

- ``cells``: dense codes, packed bits and sparse columns over the number of cells (levels of y times strata) and
  levels of x, on one and two threads. GB/s are bytes of the counted columns alone.
- ``scan``: a whole scan of all features given an empty set, packed bits, from counts to the strongest p-value,
  against a streaming read of as many bytes in the same run. At least half of its bandwidth is wanted.
- ``crossover``: where bits and dense codes cost the same, where two threads begin to pay, and below which share of
  ones sparse columns win, next to the constants of the rule.

Shortest of several runs: noise only adds to the time of a kernel. On one thread CPU time is taken, which other work
on the machine hardly changes; on two threads wall time, which is worth nothing on a busy machine.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from _data import frame_of, noise
from _timing import Timing, announce, fastest, parser, seconds, table, write_json
from blankets import kernels
from blankets.counting import MemoryCounter, _memory
from blankets.counting._planes import first_planes, planes_of
from blankets.independence import TableTests
from blankets.stats import statistics_of_block

Rows = list[dict[str, Any]]
Count = Callable[[NDArray[np.int64], NDArray[np.int32]], None]
CELLS = (2, 4, 16, 64, 256, 1024)
LEVELS = (2, 3, 5)
READ_MB = 400  # of the streaming read: far more than caches hold


def read_words(words: NDArray[np.uint64]) -> np.uint64:
    """Return the largest of an array: the cheapest thing that has to read all of it, without Python's lock."""
    return words.max()


def cost(timing: Timing, threads: int) -> float:
    """Return CPU time for one thread and wall time for more."""
    return timing.cpu if threads == 1 else timing.wall


def on_threads(work: Callable[[NDArray[np.int64]], object], n: int, threads: int) -> float:
    """Return the seconds that ``work`` takes on the numbers below ``n``, in one part a thread."""
    parts = np.array_split(np.arange(n), threads)
    if threads == 1:
        return cost(fastest(lambda: work(parts[0])), 1)
    with ThreadPoolExecutor(threads) as pool:
        return cost(fastest(lambda: list(pool.map(work, parts))), threads)


def streaming_read(megabytes: int, threads: int) -> float:
    """Return the bandwidth of a plain read from memory, in bytes a second."""
    words = np.ones(megabytes * 1_000_000 // 8, np.uint64)
    blocks = np.array_split(words, 64)

    def read(numbers: NDArray[np.int64]) -> None:
        for k in numbers:
            read_words(blocks[k])

    return words.nbytes / on_threads(read, len(blocks), threads)


def dense_counts(codes: NDArray[np.uint8], n_cells: int) -> Count:
    cells: Any = np.random.default_rng(1).integers(0, n_cells, (1, codes.shape[1])).astype(np.uint32)
    return lambda xs, counts: kernels.count_dense(codes, xs, cells, n_cells, counts)


def bit_counts(codes: NDArray[np.uint8], levels: int, n_cells: int) -> Count:
    """Return what counts bit planes in the cells of two-level variables."""
    depth = int(np.log2(n_cells))
    conditioning = noise(codes.shape[1], (2,) * depth, 2)
    both = np.concatenate([codes, conditioning])
    arities = np.array([levels] * len(codes) + [2] * depth)
    frame = frame_of(both, arities.tolist())
    (planes, totals), first = planes_of(frame), first_planes(frame)
    cell_first, cell_arity = first[len(codes) :], arities[len(codes) :]
    n_rows = codes.shape[1]

    def count(xs: NDArray[np.int64], counts: NDArray[np.int32]) -> None:
        kernels.count_bits(planes, totals, n_rows, cell_first, cell_arity, first[xs], arities[xs], counts)

    return count


def sparse_counts(n_rows: int, n_features: int, density: float, n_cells: int) -> tuple[Count, int]:
    """Return what counts sparse columns of ones, and how many are stored."""
    rng = np.random.default_rng(3)
    each = max(1, round(n_rows * density))
    indices = np.concatenate(
        [np.sort(rng.choice(n_rows, each, replace=False, shuffle=False)) for _ in range(n_features)]
    )
    indptr = np.arange(0, n_features * each + 1, each, dtype=np.int64)
    stored = indptr, indices.astype(np.int32), np.ones(n_features * each, np.uint8)
    cells = rng.integers(0, n_cells, (1, n_rows)).astype(np.uint32)
    totals = np.bincount(cells[0], minlength=n_cells).astype(np.int32)
    return lambda xs, counts: kernels.count_sparse(*stored, xs, cells, totals, counts), n_features * each


def time_of(count: Count, n_features: int, width: int, threads: int) -> float:
    """Time the counting of all features, in blocks of tables that fit the cache, as `MemoryCounter` does."""
    block = max(1, min(n_features, _memory.BLOCK_COUNTS // width))

    def work(xs: NDArray[np.int64]) -> None:
        counts = np.empty((min(block, len(xs)), width), np.int32)
        for start in range(0, len(xs), block):
            part = xs[start : start + block]
            count(part, counts[: len(part)])

    return on_threads(work, n_features, threads)


def by_cells(n_rows: int, n_features: int, bandwidth: dict[int, float]) -> Rows:
    """Measure the three kernels over cells and levels."""
    rows: Rows = []
    for levels in LEVELS:
        codes = noise(n_rows, (levels,) * n_features)
        planes = (levels - 1) * -(-n_rows // 64) * 8
        for n_cells in CELLS:
            counted = {"dense": (dense_counts(codes, n_cells), n_rows)}
            if n_cells * (levels - 1) <= 8 * _memory.BITS_WIN_BELOW:
                counted["bits"] = bit_counts(codes, levels, n_cells), planes
            if levels == 2:
                sparse, stored = sparse_counts(n_rows, n_features, 0.007, n_cells)
                counted["sparse 0.7%"] = sparse, 5 * stored // n_features
            for name, (count, size) in counted.items():
                for threads in (1, 2):
                    taken = time_of(count, n_features, levels * n_cells, threads)
                    rate = size * n_features / taken
                    share = rate / bandwidth[threads]
                    rows.append(
                        {"kernel": name, "levels": levels, "cells": n_cells, "threads": threads}
                        | {"ns": taken * 1e9 / n_rows / n_features, "gb_s": rate / 1e9, "share": share}
                    )
    return rows


def print_by_cells(rows: Rows) -> None:
    heads = ["kernel", "levels", "cells", "ns, 1 thread", "ns, 2 threads", "GB/s, 1", "GB/s, 2", "share, 1", "share, 2"]
    cells = []
    for one, two in zip(rows[::2], rows[1::2], strict=True):
        pair = [f"{r['ns']:.4f}" for r in (one, two)] + [f"{r['gb_s']:.2f}" for r in (one, two)]
        cells.append(
            [one["kernel"], str(one["levels"]), str(one["cells"]), *pair, *(f"{r['share']:.0%}" for r in (one, two))]
        )
    print(table(heads, cells) + "\n")


def whole_scans(total_bits: int, bandwidth: dict[int, float]) -> Rows:
    """Scan binary tables of the same size and different shape, given an empty set; and its parts."""
    rows: Rows = []
    for n_rows in (2_000, 20_000, 200_000):
        n_features = total_bits // n_rows
        frame = frame_of(noise(n_rows, (2,) * n_features), (2,) * n_features)
        xs = np.arange(1, n_features)
        for threads in (1, 2):
            counter = MemoryCounter(frame, threads)
            tests = TableTests(counter)

            def scan(tests: TableTests = tests, xs: NDArray[np.int64] = xs) -> object:
                return tests.scan(xs, 0, even_if_unreliable=True).strongest(0.01)  # such scans are not kept

            whole, statistics = (cost(fastest(work), threads) for work in (scan, partial(tests._summarized, xs, 0, ())))
            rate = total_bits / 8 / whole
            rows.append(
                {"n_rows": n_rows, "n_features": n_features, "threads": threads, "time": whole}
                | {"statistics": statistics, "strongest": whole - statistics}
                | {"gb_s": rate / 1e9, "share": rate / bandwidth[threads]}
            )
        del frame
    return rows


def print_whole_scans(rows: Rows) -> None:
    heads = ["scan of binary features, packed bits", "threads", "time", "bits to statistics", "the strongest of them"]
    cells = []
    for r in rows:
        times = [seconds(max(r[key], 0.0)) for key in ("time", "statistics", "strongest")]
        shape = f"{r['n_rows']:,} x {r['n_features']:,}"
        cells.append([shape, str(r["threads"]), *times, f"{r['gb_s']:.2f}", f"{r['share']:.0%}", "50%"])
    print(table([*heads, "GB/s", "share", "wanted"], cells) + "\n")


def crossovers(n_rows: int, n_features: int) -> dict[str, float | None]:
    """Find where one way of counting begins to beat another, next to the constants of the rule."""
    print("bits against dense codes: time ratio by cells x (levels - 1)")
    ratios: list[tuple[int, float]] = []
    cells = []
    for levels in LEVELS:
        codes = noise(n_rows, (levels,) * n_features)
        for n_cells in (8, 16, 32, 64, 128, 256):
            bits = time_of(bit_counts(codes, levels, n_cells), n_features, levels * n_cells, 1)
            dense = time_of(dense_counts(codes, n_cells), n_features, levels * n_cells, 1)
            ratios.append((n_cells * (levels - 1), bits / dense))
            times = [f"{t * 1e9 / n_rows / n_features:.3f}" for t in (bits, dense)]
            cells.append([str(n_cells * (levels - 1)), str(levels), str(n_cells), *times, f"{bits / dense:.2f}"])
    print(table(["product", "levels", "cells", "bits, ns", "dense, ns", "bits / dense"], cells) + "\n")
    found: dict[str, float | None] = {"bits = dense at": meeting(ratios), "BITS_WIN_BELOW": _memory.BITS_WIN_BELOW}
    found |= {"two threads win above, ns": threads_pay(n_rows)}
    found["THREADS_WIN_ABOVE, ns"] = _memory.THREADS_WIN_ABOVE
    for n_cells in (4, 16, 64):
        found[f"sparse = best other at, {n_cells} cells"] = sparse_density(n_rows, n_features, n_cells)
    return found


def meeting(ratios: list[tuple[int, float]]) -> float | None:
    """Return where a log-log line through (size, ratio) crosses 1; None if it does not rise."""
    size, ratio = np.log(np.array(ratios)).T
    slope, start = np.polyfit(size, ratio, 1)
    return float(np.exp(-start / slope)) if slope > 0 else None


def threads_pay(n_rows: int) -> float | None:
    """Return how long the shortest scan that gains from a second thread takes on one, in ns."""
    frame = frame_of(noise(n_rows, (3,) * 4_001), (3,) * 4_001)
    alone, both = MemoryCounter(frame, 1), MemoryCounter(frame, 2)
    both.threads_for = lambda ns: 2  # type: ignore[method-assign]
    summary = statistics_of_block(n_rows)
    for n in (50, 100, 200, 400, 800, 1600, 4000):
        xs = np.arange(1, n + 1)
        one, two = (fastest(partial(counter.summarize, summary, xs, 0)).wall for counter in (alone, both))
        if two < one:
            return one * 1e9
    return None


def sparse_density(n_rows: int, n_features: int, n_cells: int) -> float | None:
    """Return the share of ones below which sparse columns beat bits and dense codes."""
    codes = noise(n_rows, (2,) * n_features)
    width = 2 * n_cells
    others = (bit_counts(codes, 2, n_cells), dense_counts(codes, n_cells))
    best = min(time_of(count, n_features, width, 1) for count in others)
    ratios = []
    for density in (0.001, 0.003, 0.01, 0.03, 0.1):
        sparse = time_of(sparse_counts(n_rows, n_features, density, n_cells)[0], n_features, width, 1)
        ratios.append((density, sparse / best))
    below = [density for density, ratio in ratios if ratio < 1]
    return max(below) if below else None


def main() -> int:
    options_of = parser(__doc__)
    options_of.add_argument("--rows", type=int, default=5_000)
    options_of.add_argument("--features", type=int, default=2_000)
    options_of.add_argument("--megabytes", type=int, default=64, help="size of the scans in packed bits")
    options_of.add_argument("--only", choices=("cells", "scan", "crossover"))
    options = options_of.parse_args()
    here = announce(f"Counting kernels, {options.rows:,} rows x {options.features:,} features")
    # Twice: the first read of new memory also maps it, and the better one is what memory can do.
    bandwidth = {t: max(streaming_read(READ_MB, t) for _ in range(2)) for t in (1, 2)}
    print(f"streaming read: {bandwidth[1] / 1e9:.1f} GB/s on one thread, {bandwidth[2] / 1e9:.1f} GB/s on two\n")
    content: dict[str, Any] = {"benchmark": "kernels", "machine": here, "bandwidth": bandwidth}
    if options.only in (None, "cells"):
        content["cells"] = by_cells(options.rows, options.features, bandwidth)
        print_by_cells(content["cells"])
    if options.only in (None, "scan"):
        content["scan"] = whole_scans(options.megabytes * 8_000_000, bandwidth)
        print_whole_scans(content["scan"])
    if options.only in (None, "crossover"):
        content["crossover"] = crossovers(options.rows, options.features)
        values = {k: "-" if v is None else f"{v:,.4g}" for k, v in content["crossover"].items()}
        print(table(["crossover or constant", "value"], [[k, v] for k, v in values.items()]))
    write_json(options.json, content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
