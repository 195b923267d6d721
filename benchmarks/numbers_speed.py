"""Speed with numbers: reading and moments, one scan, all targets, many rows, many columns. CPU and wall time, memory.

    python benchmarks/numbers_speed.py                # about a minute
    python benchmarks/numbers_speed.py --only scan pcmb

Limits are those of the project for two free cores: 10,000 x 100 mixed: read and moments 1 s, a scan 2 ms; PCMB for all
of 37 targets at 5,000 rows 1 s; 1,000,000 x 50 5 s; 5,000 x 20,000 numbers, one target, inter-IAMB 5 s and memory of
1.5 times the data and 500 MB; its level is 1e-6, as 20,000 candidates ask for. Networks are those of
numbers_networks.py ("mixture"), of 37, 50 and 100 nodes.
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings
from collections.abc import Callable
from typing import TypeVar

import numpy as np

import blankets as bl
from blankets.counting import MemoryMoments
from blankets.data import ingest
from blankets.independence import BlockTests
from numbers_networks import Net

T = TypeVar("T")


def timed(what: str, work: Callable[[], T], limit: str) -> T:
    """Print how long it takes."""
    cpu, wall = time.process_time(), time.perf_counter()
    result = work()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    print(f"{what:58} CPU {cpu * 1e3:9.1f} ms, wall {wall * 1e3:9.1f} ms; limit {limit}", flush=True)
    return result


def scan() -> None:
    """Read a mixed table, and scan all columns given 0 to 4 of them."""
    net = Net("mixture", 1, n_nodes=100)
    table = net.table(10_000, np.random.default_rng(1))
    frame = timed("10,000 x 100 mixed: read", lambda: ingest(table, numbers=True).frame, "1 s with moments")
    moments = timed("10,000 x 100 mixed: moments", lambda: MemoryMoments(frame), "1 s with reading")
    for size in range(5):
        cpu, wall, judged, scans = 0.0, 0.0, 0, 0
        for y in range(0, 100, 5):
            tests = BlockTests(moments, level=0.01)
            given = [net.names.index(x) for x in sorted(net.blanket(net.names[y]))][:size]
            if len(given) < size:
                continue
            xs = [x for x in range(100) if x != y and x not in given]
            began = time.process_time(), time.perf_counter()
            batch = tests.scan(xs, y, given)
            cpu, wall, scans = cpu + time.process_time() - began[0], wall + time.perf_counter() - began[1], scans + 1
            judged += int(np.count_nonzero(batch.method >= 3))
        times = f"CPU {cpu / scans * 1e3:9.1f} ms, wall {wall / scans * 1e3:9.1f} ms"
        print(f"{'a scan of all columns given ' + str(size):58} {times}; limit 2 ms; {judged / scans:.1f} by rows")


def pcmb() -> None:
    """Search the blankets of all nodes."""
    net = Net("mixture", 1, n_nodes=37)
    bl.discover_all(net.table(300, np.random.default_rng(0)), algorithm="pcmb", n_jobs=1)  # loads what is loaded late
    table = net.table(5000, np.random.default_rng(1))
    timed("5,000 x 37 mixed, PCMB, all targets", lambda: bl.discover_all(table, algorithm="pcmb", n_jobs=1), "1 s")


def tall() -> None:
    """Search one blanket in many rows."""
    net = Net("mixture", 1, n_nodes=50)
    table = net.table(1_000_000, np.random.default_rng(1))
    timed("1,000,000 x 50 mixed, one target", lambda: bl.discover(table, net.names[20]), "5 s")


def wide() -> None:
    """Search one blanket in many columns."""
    rng = np.random.default_rng(1)
    values = rng.normal(size=(5000, 20_000))
    values[:, 0] += values[:, 1] - values[:, 2] + 0.5 * values[:, 3] ** 2
    values[:, 4] += values[:, 0]
    bl.discover(values[:300, :5], 0, algorithm="inter-iamb")  # loads what is loaded late
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = timed(
        "5,000 x 20,000 numbers, inter-IAMB, one target",
        lambda: bl.discover(values, 0, algorithm="inter-iamb", alpha=1e-6),
        "5 s",
    )
    more, limit = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, 0.5 * values.nbytes / 1e6 + 500
    print(f"{'':58} {more / 1e3:.0f} MB beside the data; limit {limit:.0f} MB; members {found.members}")


def main() -> None:
    """Print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = {part.__name__: part for part in (scan, pcmb, tall, wide)}
    parser.add_argument("--only", nargs="+", default=parts, choices=parts)
    warnings.simplefilter("ignore")
    for name in parser.parse_args().only:
        parts[name]()


if __name__ == "__main__":
    main()
