"""Counts that outlive the process: every answer goes to a file, and a run that starts again finds it there.

The file has a line for each answer, after a first line that says of which data and settings. A search is
a function of its answers, so a run that was killed replays what it had and goes on from there. A last line
that was cut off is dropped.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blankets.counting._contract import Columns, Counter, TableBlock
from blankets.errors import DataError, ParameterError

__all__ = ["Checkpoint", "RememberingCounter"]

Arrays = tuple[NDArray[np.float64], ...]
FORMAT = 1


class Checkpoint:
    """A file of answers.

    Parameters
    ----------
    path : str or Path
        The file; it is made if it is not there.
    about : mapping
        Version, data and settings. A file about others is refused.

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
            kept = self._read() if self.path.exists() else 0
            with self.path.open("ab") as file:
                file.truncate(kept)
        except OSError as error:
            raise DataError(f"the checkpoint {str(path)!r} cannot be used: {error}") from error
        if not kept:
            self._append({"about": self.about})

    def __len__(self) -> int:
        return len(self._known)

    def _read(self) -> int:
        """Read the answers; return the length of what is whole."""
        content = self.path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if not whole:
            return 0
        first, *lines = whole.splitlines()
        try:
            about = json.loads(first)["about"]
        except (ValueError, KeyError, TypeError):
            raise DataError(f"{str(self.path)!r} is not a checkpoint; give another path") from None
        self._compare(about)
        length = len(first) + 1
        for line in lines:
            try:
                key, arrays = json.loads(line)
            except ValueError:
                break
            self._known[key] = arrays
            length += len(line) + 1
        return length

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
        """Return an answer that is known."""
        known = self._known.get(key)
        return None if known is None else tuple(np.frombuffer(base64.b64decode(text)).copy() for text in known)

    def put(self, key: str, arrays: Arrays) -> None:
        """Keep an answer."""
        texts = [base64.b64encode(np.asarray(array, np.float64).tobytes()).decode() for array in arrays]
        with self._lock:
            self._known[key] = texts
            self._append([key, texts])

    def _append(self, content: Any) -> None:
        try:
            # Opened anew for every line: what is written is out of our hands, and nothing is left to close.
            with self.path.open("ab") as file:
                file.write(json.dumps(content).encode() + b"\n")
        except OSError as error:
            raise DataError(f"cannot write the checkpoint {str(self.path)!r}: {error}") from error


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 24 else f"{text[:20]}...{text[-1]}"


class RememberingCounter(Counter):
    """A counter whose answers are kept in a checkpoint.

    Parameters
    ----------
    counter : Counter
        Who counts.
    checkpoint : Checkpoint
        Where answers are kept.
    part : str
        What tells this counter's answers from those of others in the same file.
    """

    def __init__(self, counter: Counter, checkpoint: Checkpoint, part: str = "") -> None:
        self.names, self.arities, self.n_rows = counter.names, counter.arities, counter.n_rows
        self.counter, self.checkpoint, self.part = counter, checkpoint, part

    def tables(self, xs: Columns, y: int, given: Columns = ()) -> Iterator[TableBlock]:
        """Yield tables; these are not kept."""
        return self.counter.tables(xs, y, given)

    def summarize(
        self, summary: Callable[[NDArray[np.int32]], Arrays], xs: Columns, y: int, given: Columns = ()
    ) -> Arrays:
        """Return what is known from before, or count and keep it."""
        columns = np.asarray(xs, np.int64)
        called = getattr(summary, "__qualname__", type(summary).__name__)
        asked = repr((self.part, called, int(y), sorted(int(z) for z in given))).encode()
        key = hashlib.blake2b(asked + columns.tobytes(), digest_size=12).hexdigest()
        known = self.checkpoint.get(key)
        if known is None:
            known = self.counter.summarize(summary, columns, y, given)
            self.checkpoint.put(key, known)
        return known
