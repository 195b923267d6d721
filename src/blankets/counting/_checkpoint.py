"""Store every answer in a file, so that a run that was stopped can continue.

The file has a line for each answer, after a first line that names the data and settings. A search depends only
on its answers, so a run that was stopped repeats them from the file and continues. Each line begins with its
checksum: a last line that was cut off is dropped; a file that was changed in another way, or is not a checkpoint,
is refused. Only its owner may read it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blankets.counting._contract import Columns, Counter, TableBlock
from blankets.errors import BlanketsWarning, DataError, EngineError, ParameterError, warn

Arrays = tuple[NDArray[np.float64], ...]
FORMAT = "blankets checkpoint 2"


class Checkpoint:
    """A file of answers.

    ``path``: the file; it is made if it does not exist. ``about``: version, data and settings. A file for other data or
    settings is refused.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     Checkpoint(f"{folder}/run.jsonl", {"data": "abc"}).put("question", (np.array([1.5, 2.5]),))
    ...     Checkpoint(f"{folder}/run.jsonl", {"data": "abc"}).get("question")[0].tolist()
    [1.5, 2.5]
    """

    def __init__(self, path: str | Path, about: Mapping[str, Any]) -> None:
        self.path = Path(path)
        self.about = json.loads(json.dumps({"format": FORMAT, **about}, default=str))
        self._known: dict[str, list[str]] = {}
        self._lock = Lock()
        try:
            there = self.path.exists()
            if there and not self.path.is_file():
                raise DataError(f"the checkpoint {str(path)!r} is not a file; give another path")
            kept = self._read(self.path.read_bytes()) if there else 0
            if there:
                os.truncate(self.path, kept)
        except (OSError, ValueError) as error:
            if isinstance(error, DataError | EngineError | ParameterError):
                raise
            raise DataError(f"the checkpoint {str(path)!r} cannot be used: {error}") from error
        if not kept:
            self._append({"about": self.about}, "the checkpoint {} cannot be used: {}")

    def __len__(self) -> int:
        return len(self._known)

    def _read(self, content: bytes) -> int:
        """Read the answers; return the length of the complete part."""
        if b"\n" not in content and _line({"about": self.about}).startswith(content):
            return 0  # empty, or stopped while the first line was written
        first, *lines = content.split(b"\n")
        found = _content(first)
        about = found.get("about") if isinstance(found, dict) else None
        if not isinstance(about, dict) or not str(about.get("format")).startswith("blankets checkpoint"):
            raise DataError(f"{str(self.path)!r} is not a checkpoint; give another path")
        self._compare(about)
        cut_off = bool(lines.pop())
        answers = [_content(line) for line in lines]
        if answers and answers[-1] is None:
            cut_off = True
            answers.pop()
        if None in answers:
            raise EngineError(
                f"the checkpoint {str(self.path)!r} is damaged in line {answers.index(None) + 2}; delete it or give "
                f"another path"
            )
        if cut_off:
            warn(
                f"the last line of the checkpoint {str(self.path)!r} was cut off; that answer is counted again",
                BlanketsWarning,
            )
        self._known.update(answers)
        return len(first) + 1 + sum(len(line) + 1 for line in lines[: len(answers)])

    def _compare(self, about: Mapping[str, Any]) -> None:
        """Refuse a checkpoint of other data or settings."""
        names = sorted({*about, *self.about})
        other = [name for name in names if about.get(name) != self.about.get(name)]
        if other:
            differences = "; ".join(
                f"{name}: {_short(about.get(name))} then, {_short(self.about.get(name))} now" for name in other
            )
            raise ParameterError(
                f"the checkpoint {str(self.path)!r} belongs to another run ({differences}); delete it or give "
                f"another path"
            )

    def get(self, key: str) -> Arrays | None:
        """Return a stored answer."""
        known = self._known.get(key)
        return None if known is None else tuple(np.frombuffer(base64.b64decode(text)).copy() for text in known)

    def put(self, key: str, arrays: Arrays) -> None:
        """Store an answer."""
        texts = [base64.b64encode(np.asarray(array, np.float64).tobytes()).decode() for array in arrays]
        with self._lock:
            self._known[key] = texts
            self._append([key, texts])

    def _append(self, content: Any, says: str = "cannot write the checkpoint {}: {}") -> None:
        try:
            # Opened again for every line: what was written is safe, and no file has to be closed later.
            with open(self.path, "ab", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
                file.write(_line(content))
        except OSError as error:
            raise DataError(says.format(repr(str(self.path)), error)) from error


def _line(content: Any) -> bytes:
    """Return a line: a checksum, and the content."""
    text = json.dumps(content).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _content(line: bytes) -> Any:
    """Return the content of a line, or None if it was damaged."""
    checksum, _, text = line.partition(b" ")
    if checksum != b"%08x" % zlib.crc32(text):
        return None
    try:
        return json.loads(text)
    except ValueError:
        return None


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 24 else f"{text[:20]}...{text[-1]}"


class RememberingCounter(Counter):
    """A counter whose answers are stored in a checkpoint.

    ``counter``: counts the rows. ``checkpoint``: stores the answers. ``part``: a name for this counter's answers, if
    several counters use the same file.
    """

    def __init__(self, counter: Counter, checkpoint: Checkpoint, part: str = "") -> None:
        self.names, self.arities, self.n_rows = counter.names, counter.arities, counter.n_rows
        self.holes = counter.holes
        self.counter, self.checkpoint, self.part = counter, checkpoint, part

    def tables(self, xs: Columns, y: int, given: Columns = ()) -> Iterator[TableBlock]:
        """Yield tables; these are not stored."""
        return self.counter.tables(xs, y, given)

    def summarize(
        self, summary: Callable[[NDArray[np.int32]], Arrays], xs: Columns, y: int, given: Columns = ()
    ) -> Arrays:
        """Return a stored answer, or count and store it."""
        columns = np.asarray(xs, np.int64)
        called = getattr(summary, "__qualname__", type(summary).__name__)
        asked = repr((self.part, called, int(y), sorted(int(z) for z in given))).encode()
        key = hashlib.blake2b(asked + columns.tobytes(), digest_size=12).hexdigest()
        known = self.checkpoint.get(key)
        if known is None:
            known = self.counter.summarize(summary, columns, y, given)
            self.checkpoint.put(key, known)
        return known
