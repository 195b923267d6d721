"""Check the free memory before allocating, and refuse tables that are too large, saying what would fit."""

from __future__ import annotations

from pathlib import Path

from blankets.errors import DataError
from blankets.voice import option

UNKNOWN = 1 << 33  # assumed free bytes if the system does not say


def free_memory() -> int:
    """Return the memory that this process may still use, by the limits of the machine or its container."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        free = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError):
        free = UNKNOWN
    try:
        most = int(Path("/sys/fs/cgroup/memory.max").read_text())
        return min(free, most - int(Path("/sys/fs/cgroup/memory.current").read_text()))
    except (OSError, ValueError):
        return free


def check_room(n_rows: int, n_columns: int, bytes_each: int = 1) -> None:
    """Refuse a table whose codes would not fit into memory, and say what would.

    ``n_rows``, ``n_columns``: size of the table. ``bytes_each``: bytes for each cell: 1 for codes, 8 for numbers.
    """
    needed, free = n_rows * n_columns * bytes_each, free_memory()
    if needed <= free:
        return
    columns, rows = free // max(n_rows * bytes_each, 1), free // max(n_columns * bytes_each, 1)
    raise DataError(
        f"{n_rows:,} rows and {n_columns:,} columns need {needed / 1e9:.2f} GB of memory, and {free / 1e9:.2f} GB are "
        f"free: {columns:,} columns would fit ({option(columns=...)}, {option(exclude=...)}), or {rows:,} "
        f"rows; or write "
        f"the table to "
        f"Parquet files, which discover and pack read piece by piece"
    )
