"""Throw away compiled kernels when a source that they were compiled from has changed.

Numba keeps compiled code next to a source file and forgets it when that file changes, but not when another file
changes whose functions were compiled into it: after an upgrade an old kernel could go on working inside a new one.
"""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path

__all__ = ["forget_stale_kernels"]

ROOMS = ("stats", "counting", "independence", "latent")  # with kernels


def forget_stale_kernels(package: Path) -> bool:
    """Delete compiled kernels unless all sources are those of the last time; return whether they were.

    Where nothing can be written (a package installed for all users), nothing is kept there either.
    """
    sources = sorted(path for room in ROOMS for path in (package / room).glob("*.py"))
    seen = [(path.name, (found := path.stat()).st_size, found.st_mtime_ns) for path in sources]
    stamp = hashlib.sha256(repr(seen).encode()).hexdigest()
    kept = package / "__pycache__" / "kernels.stamp"
    with contextlib.suppress(OSError):
        if kept.read_text("ascii") == stamp:
            return True
    with contextlib.suppress(OSError):
        kept.parent.mkdir(exist_ok=True)
        for room in ROOMS:
            for compiled in (package / room / "__pycache__").glob("*.nb[ic]"):
                compiled.unlink(missing_ok=True)
        kept.write_text(stamp, "ascii")
    return False
