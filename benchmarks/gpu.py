"""Counting on a GPU next to counting in memory, on the same machine in the same run.

    python benchmarks/gpu.py

- ``scan``: a test of all features, given 0, 1 and 3 columns, from counts to statistics, by ``engine="gpu"`` and by
  ``engine="memory"`` on all cores; what the GPU's part takes of it (counting and copying; counting alone, by the clock
  of the device): ns per row x feature, GB/s of the counted columns' bits, and the share of a plain read on the device.
- ``search``: whole searches, with the time to copy the data, and whether the blankets are the same.

Shortest of several runs; wall time. Needs a GPU, and the extra ``gpu``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import cuda

import blankets
from _data import TARGET, planted, sparse
from _timing import announce, fastest, parser, seconds, table, write_json
from blankets.counting import GpuCounter, MemoryCounter
from blankets.data import Frame
from blankets.independence import TableTests

SHAPES: dict[str, Callable[[], Frame]] = {
    "5,000 x 50,000, 3 levels": lambda: planted(5_000, 50_000, (3,)),
    "2,000,000 x 50, 3 levels": lambda: planted(2_000_000, 50, (3,)),
    "1,909 x 139,351, sparse": lambda: sparse(1_909, 139_351, 0.0068),
}
GIVEN = (0, 1, 3)
READ_WORDS = 1 << 29  # of the plain read: 4 GiB


@cuda.jit
def read_words(words, sums):
    """Add up an array: the cheapest thing that has to read all of it."""
    total = np.uint64(0)
    for w in range(cuda.grid(1), len(words), cuda.gridsize(1)):
        total += words[w]
    sums[cuda.grid(1)] = total


class Reader:
    """A plain read of the device's memory."""

    def __init__(self) -> None:
        self.words = cuda.to_device(np.arange(READ_WORDS, dtype=np.uint64))
        self.sums = cuda.device_array(2048 * 256, np.uint64)

    def read(self, stream: Any) -> None:
        read_words[2048, 256, stream](self.words, self.sums)

    def bandwidth(self) -> float:
        return self.words.nbytes / min(on_device(self, cuda.stream(), self.read) for _ in range(7))


def on_device(reader: Reader, stream: Any, work: Callable[[Any], None]) -> float:
    """Return the seconds that the device needs, which waits for nobody: a read keeps it busy until all is said."""
    before, after = cuda.event(), cuda.event()
    reader.read(stream)
    before.record(stream)
    work(stream)
    after.record(stream)
    after.synchronize()
    return cuda.event_elapsed_time(before, after) / 1e3


def nothing(counts):
    """Stand in for statistics that cost nothing."""
    return (np.zeros(len(counts)),)


def scan_time(tests: TableTests, xs: Any, y: int, given: tuple[int, ...]) -> float:
    def scan() -> None:
        tests._kept.clear()  # so that it is counted again
        tests.scan(xs, y, given)

    return fastest(scan).wall


def counting_time(counter: GpuCounter, reader: Reader, xs: Any, y: int, given: tuple[int, ...]) -> float:
    """Return the seconds that the device counts, without preparations and copies."""
    request, total = counter._prepared(xs, y, given), 0.0
    for part in counter._parts(request):
        width = counter._width(request, part)
        slot = counter._slot(0, (part.stop - part.start) * width * request.n_cells)

        def work(_stream: Any, part: slice = part, width: int = width, slot: Any = slot) -> None:
            counter._count(request, part, width, slot)

        total += min(on_device(reader, slot.stream, work) for _ in range(5))
    return total


def scans(name: str, frame: Frame, reader: Reader, bandwidth: float) -> list[dict[str, Any]]:
    gpu, memory = GpuCounter(frame), MemoryCounter(frame)
    on_gpu, in_memory = TableTests(gpu), TableTests(memory)
    always = GpuCounter(frame, latency=0)
    y, rows = frame.index(TARGET), []
    others = [x for x in range(frame.n_columns) if x != y]
    for n_given in GIVEN:
        given, xs = tuple(others[-n_given:] if n_given else []), np.array(others[: len(others) - n_given])
        bits = int(gpu._depth[xs].sum()) * frame.n_rows / 8
        device = counting_time(always, reader, xs, y, given)
        rows.append(
            {"shape": name, "given": n_given, "cells": int(np.prod(frame.arities[[y, *given]]))}
            | {"gpu": scan_time(on_gpu, xs, y, given), "memory": scan_time(in_memory, xs, y, given)}
            | {"copied": fastest(lambda xs=xs, given=given: always.summarize(nothing, xs, y, given)).wall}
            | {"counted": device, "ns": device * 1e9 / frame.n_rows / len(xs)}
            | {"gb_s": bits / device / 1e9, "share": bits / device / bandwidth, "on_gpu": not gpu._small(xs, y, given)}
        )
    one = np.array(others[:1])
    rows[0] |= {"one": fastest(lambda: always.summarize(nothing, one, y, (others[1],))).wall}
    return rows


def search(name: str, frame: Frame, test: str) -> dict[str, Any]:
    return compared(
        name,
        test,
        lambda engine: [blankets.discover(frame, TARGET, algorithm="inter-iamb", test=test, engine=engine)],
    )


def search_all(name: str, frame: Frame, test: str) -> dict[str, Any]:
    return compared(
        f"{name}, all targets",
        test,
        lambda engine: list(blankets.discover_all(frame, algorithm="inter-iamb", test=test, engine=engine).values()),
    )


def compared(name: str, test: str, run: Callable[[str], list[Any]]) -> dict[str, Any]:
    """Run a search by both engines, three times each, and compare what is found."""
    times, found = {}, {}
    for engine in ("memory", "gpu"):
        walls = []
        for _ in range(3):
            began = time.perf_counter()
            blankets_ = run(engine)
            walls.append(time.perf_counter() - began)
        times[engine], found[engine] = min(walls), [(b.members, b.strengths) for b in blankets_]
    members = sum(len(members) for members, _ in found["gpu"])
    return {"shape": name, "test": test, **times, "members": members, "same": found["gpu"] == found["memory"]}


def main() -> None:
    arguments = parser(__doc__).parse_args()
    here = announce("Counting on a GPU and in memory")
    device = cuda.get_current_device().name
    reader = Reader()
    bandwidth = reader.bandwidth()
    name = device.decode() if isinstance(device, bytes) else device
    print(f"{name}; a plain read on the device: {bandwidth / 1e9:,.0f} GB/s\n", flush=True)
    rows, searches, packed = [], [], {}
    for shape, make in SHAPES.items():
        frame = make()
        packed[shape] = fastest(lambda frame=frame: GpuCounter(frame), repeats=3).wall
        rows += scans(shape, frame, reader, bandwidth)
        searches += [search(shape, frame, test) for test in ("g", "auto")]
        if frame.n_columns < 100:
            searches += [search_all(shape, frame, test) for test in ("g", "auto")]
    heads = ["scan of", "given", "memory", "GPU", "gain", "counted, copied", "counted", "ns", "GB/s", "share"]
    cells = [
        [
            r["shape"],
            str(r["given"]),
            seconds(r["memory"]),
            seconds(r["gpu"]) + ("" if r["on_gpu"] else " (here)"),
            f"{r['memory'] / r['gpu']:.1f}",
            seconds(r["copied"]),
            seconds(r["counted"]),
            f"{r['ns']:.5f}",
            f"{r['gb_s']:,.0f}",
            f"{r['share']:.0%}",
        ]
        for r in rows
    ]
    print(table(heads, cells) + "\n")
    for shape in SHAPES:
        one = next(r["one"] for r in rows if r["shape"] == shape)
        print(f"{shape}: copied and packed in {seconds(packed[shape])}; a request takes at least {seconds(one)}")
    heads = ["search of (inter-IAMB)", "test", "memory", "GPU", "members", "same"]
    cells = [
        [s["shape"], s["test"], seconds(s["memory"]), seconds(s["gpu"]), str(s["members"]), str(s["same"])]
        for s in searches
    ]
    print("\n" + table(heads, cells))
    write_json(
        arguments.json, {"machine": here, "device": name, "read": bandwidth, "scans": rows, "searches": searches}
    )


if __name__ == "__main__":
    main()
