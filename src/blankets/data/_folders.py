"""The folder of a store: its files; it is locked while written or read, put in place whole, and swept away."""

from __future__ import annotations

import glob
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

NARROW_FILE, WIDE_FILE, NUMBER_FILE = "codes.u8", "codes.i32", "numbers.f64"
MISSING_FILE, GROUP_FILE, SURVEY_FILE, META = "unlabeled.u8", "groups.i64", "survey.f64", "meta.json"
OURS = frozenset({NARROW_FILE, WIDE_FILE, NUMBER_FILE, MISSING_FILE, GROUP_FILE, SURVEY_FILE, META})


def private(path: str, flags: int) -> int:
    """Open a file that only its owner may read."""
    return os.open(path, flags, 0o600)


@contextmanager
def locked(folder: Path, *, shared: bool = False) -> Iterator[None]:
    """Lock a folder against other threads and processes: alone to replace a store, shared to read."""
    held = hold(folder, "LOCK_SH" if shared else "LOCK_EX")
    try:
        yield
    finally:
        if held is not None:
            os.close(held)


def hold(folder: Path, *kinds: str) -> int | None:
    """Lock a folder; return the file to close afterwards, or None if it is locked or locks are not available."""
    held = None
    try:
        import fcntl

        held = os.open(folder, os.O_RDONLY)
        fcntl.flock(held, sum(getattr(fcntl, kind) for kind in kinds))
    except (ImportError, OSError, ValueError):
        if held is not None:
            os.close(held)
        return None
    return held


def put_in_place(path: Path, made: Path) -> None:
    """Replace a store by a folder; if this is interrupted, either the old or the new one is left."""
    old = None
    if path.exists() and any(path.iterdir()):
        if _exchanged(path, made):
            return remove(made)
        old = Path(tempfile.mkdtemp(".old", f".{path.name[:100]}.", path.parent))
        path.rename(old)
    made.rename(path)
    if old is not None:
        remove(old)


def _exchanged(one: Path, other: Path) -> bool:
    """Exchange the names of two folders in one step, if the system can (Linux): there is always a store."""
    import ctypes

    try:
        exchange = ctypes.CDLL(None).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    here, both_ways = -100, ctypes.c_uint(2)  # AT_FDCWD, RENAME_EXCHANGE
    return bool(exchange(here, os.fsencode(one), here, os.fsencode(other), both_ways) == 0)


def sweep(path: Path) -> None:
    """Remove what stopped writers have left, and restore a store that was about to be replaced."""
    for kind in (".old", ".part"):
        for left in path.parent.glob(f".{glob.escape(path.name[:100])}.*{kind}"):
            if kind == ".old" and not path.exists() and (left / META).is_file():
                left.rename(path)
            elif (held := hold(left, "LOCK_EX", "LOCK_NB")) is not None:
                os.close(held)
                remove(left)


def remove(folder: Path) -> None:
    """Delete a store's files, and the folder if nothing else is in it."""
    with suppress(OSError):
        for name in OURS:
            (folder / name).unlink(missing_ok=True)
        folder.rmdir()
