"""What all speed benchmarks share: clocks, a limit on patience, aligned tables, results as JSON."""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

BUSY = 0.5  # a load average above this many processes a core disturbs wall times


@dataclass(frozen=True)
class Timing:
    """Medians over some runs, in seconds; ``cpu`` counts all threads of the process, and processes that it ended."""

    wall: float
    cpu: float
    runs: int
    result: Any = None

    @classmethod
    def median(cls, timings: Sequence[Timing]) -> Timing:
        """Return the medians of several."""
        walls, cpus = [timing.wall for timing in timings], [timing.cpu for timing in timings]
        return cls(statistics.median(walls), statistics.median(cpus), len(timings))


def cpu_time() -> float:
    """Return the CPU seconds of this process and of those that it began and that have ended."""
    if resource is None:
        return time.process_time()
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


class TooLong(BaseException):
    """Raised by `limited` when its time is up; not an Exception, so that nothing swallows it."""


def measure(work: Callable[[], Any], *, repeats: int = 5, patience: float = 30.0) -> Timing:
    """Run once to warm up, then ``repeats`` times or until ``patience`` seconds have gone; return medians.

    A warm-up that alone takes longer than ``patience`` is the measurement.
    """
    began = time.perf_counter()
    walls, cpus, result = [], [], None
    for k in range(repeats + 1):
        wall, cpu = time.perf_counter(), cpu_time()
        result = work()
        spent = time.perf_counter() - wall, cpu_time() - cpu
        late = time.perf_counter() - began > patience
        if k or late:
            walls.append(spent[0])
            cpus.append(spent[1])
        if walls and late:
            break
    return Timing(statistics.median(walls), statistics.median(cpus), len(walls), result)


def fastest(work: Callable[[], Any], *, repeats: int = 7) -> Timing:
    """Run once to warm up, then return the shortest of ``repeats``: for kernels, whose noise only adds."""
    work()
    walls, cpus = [], []
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), cpu_time()
        work()
        walls.append(time.perf_counter() - wall)
        cpus.append(cpu_time() - cpu)
    return Timing(min(walls), min(cpus), repeats)


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise `TooLong` in the block when it has run for ``seconds`` (where the system has alarms)."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def ring(_number: int, _frame: FrameType | None) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def machine() -> dict[str, Any]:
    """Return what a reader of the numbers must know about where they come from."""
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "time": time.strftime("%Y-%m-%d %H:%M"),
    }


def announce(title: str) -> dict[str, Any]:
    """Print title and machine, warn if others are using it, and return the description for the JSON file."""
    here = machine()
    print(title)
    print(f"Python {here['python']}, {here['system']}, {here['cores']} cores, load average {here['load']}")
    if here["load"] is not None and here["load"] > BUSY * (here["cores"] or 1):
        print("The machine is busy with other work: read CPU times, and take wall times as upper bounds.")
    print(flush=True)
    return here


def seconds(value: float | None) -> str:
    """Write a time with a unit that suits it.

    >>> seconds(0.0123), seconds(3.2), seconds(4e-7), seconds(None)
    ('12.3 ms', '3.20 s', '0.4 µs', '-')
    """
    if value is None:
        return "-"
    if value >= 1:
        return f"{value:.2f} s" if value < 100 else f"{value:.0f} s"
    return f"{value * 1e3:.1f} ms" if value >= 1e-3 else f"{value * 1e6:.1f} µs"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return an aligned table: first column to the left, the others to the right."""
    widths = [max(len(str(row[k])) for row in (heads, *rows)) for k in range(len(heads))]

    def line(cells: Sequence[str]) -> str:
        first, *others = (str(cell) for cell in cells)
        return "  ".join([first.ljust(widths[0]), *(c.rjust(w) for c, w in zip(others, widths[1:], strict=True))])

    return "\n".join([line(heads), "  ".join("-" * width for width in widths), *(line(row) for row in rows)])


def markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table, for the README.

    >>> print(markdown(["case", "wall"], [["a", "1 s"]]))
    | case | wall |
    |---|---|
    | a | 1 s |
    """
    lines = [f"| {' | '.join(cells)} |" for cells in (heads, *rows)]
    return "\n".join([lines[0], f"|{'---|' * len(heads)}", *lines[1:]])


def parser(description: str | None) -> argparse.ArgumentParser:
    """Return a parser with the options that all benchmarks have."""
    made = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    made.add_argument("--json", type=Path, metavar="FILE", help="also write the results to this file")
    return made


def write_json(path: Path | None, content: dict[str, Any]) -> None:
    """Write the results, if a file was asked for."""
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
