"""`Engine`: the user's choice where rows are counted; `Place`: where the rows are, ready to be counted."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from blankets.arguments import one_of, path_of
from blankets.counting import Checkpoint, Counter, MemoryCounter, RememberingCounter, SlicedCounter, SqlCounter
from blankets.data import (
    Chunks,
    Frame,
    Reading,
    SqlTable,
    Store,
    free_memory,
    is_store,
    open_chunks,
    pack_chunks,
)
from blankets.errors import DataError, ParameterError, guarded, listed
from blankets.records import named
from blankets.voice import option

if TYPE_CHECKING:
    from blankets.counting import DaskTable

ENGINES = ("auto", "memory", "dask", "sql")
SHARE = 0.5  # share of the free memory for a table and what is computed from it
# Rows of a store beyond which it is counted slice by slice. Measured on 20,000,000 x 50: a round takes 0.4 to 0.8 s of
# CPU time either way, but 0.4 GB less memory; below, bit planes and kept strata are worth their memory.
TALL = 10_000_000
UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}

Tell = Callable[[str], None]


@guarded
@named
@dataclass(frozen=True, slots=True)
class Engine:
    """Where rows are counted; the answer does not depend on it.

    Parameters
    ----------
    kind : {"auto", "memory", "dask", "sql"}
        "auto": in memory, or from packed codes on disk if files will not fit. "memory": always in memory. "dask": on
        a cluster, which reads packed codes from the folder for temporary files or from the store given as ``data``.
        "sql": within the database of a `SqlTable`.
    address : str, optional
        The scheduler of a Dask cluster; default: a new one on this machine.
    memory_limit : int or str, optional
        Memory that reading may take, in bytes or as "2 GB"; default: half of the free memory.
    checkpoint : str or Path, optional
        A file that stores the answers of all tests: a run that was stopped continues from there.

    Examples
    --------
    >>> from blankets import Engine
    >>> Engine(memory_limit="1.5 GB").limit
    1500000000
    """

    kind: str = "auto"
    address: str | None = None
    memory_limit: int | str | None = None
    checkpoint: str | Path | None = None

    def __post_init__(self) -> None:
        one_of("engine", self.kind, ENGINES)
        if self.address is not None and self.kind != "dask":
            raise ParameterError(
                f"'address' is that of a Dask cluster, but the engine is {self.kind!r}; use {option(engine='dask')}"
            )
        if self.checkpoint is not None:
            path_of("checkpoint", self.checkpoint)
        self.limit  # noqa: B018  # raises an error if it is wrong

    @classmethod
    def of(cls, value: Engine | str) -> Engine:
        """Return the engine for a string, or the given engine."""
        return value if isinstance(value, Engine) else cls(value)

    @property
    def is_plain(self) -> bool:
        """Whether rows are counted in memory, and nothing is kept on disk."""
        return self.kind in ("auto", "memory") and self.checkpoint is None

    @property
    def limit(self) -> int | None:
        """The memory that reading may take, in bytes."""
        if self.memory_limit is None:
            return None
        text = str(self.memory_limit).strip().upper()
        digits = text.rstrip("KMGTB ")
        try:
            size = int(float(digits) * UNITS[text[len(digits) :].strip()])
        except (ValueError, KeyError, OverflowError):
            size = 0
        if size <= 0:
            raise ParameterError.out_of_range(
                "memory_limit", self.memory_limit, "a number of bytes, or a text such as '2 GB'"
            )
        return size

    @contextmanager
    def opened(
        self,
        data: Any,
        target: str | int | None,
        reading: Reading,
        *,
        n_jobs: int,
        about: Mapping[str, object],
        tell: Tell | None = None,
    ) -> Iterator[tuple[Any, Place]]:
        """Yield the data, as a store if they would not fit into memory, and their place; clean up afterwards.

        ``about``: what identifies the answers in a checkpoint, besides the data and how they are read.
        """
        if self.kind == "sql" and not isinstance(data, SqlTable):
            raise ParameterError(
                f"{option(engine='sql')} counts within a database; give the data as bl.SqlTable(query, database)"
            )
        place = Place(n_jobs, checkpoint=self.checkpoint, about=about)
        named = target if isinstance(target, str) else None
        if self.kind == "sql":
            yield SqlCounter(data, named, reading=reading), place
            return
        with ExitStack() as afterwards:
            if self.kind == "dask" or self._must_pack(data, reading):
                folder = Path(tempfile.mkdtemp(prefix="blankets-"))
                afterwards.callback(shutil.rmtree, folder, ignore_errors=True)
                if isinstance(data, Chunks) or is_files(data):
                    chunks = data if isinstance(data, Chunks) else open_chunks(data, reading)
                    data = pack_chunks(chunks, folder / "table", named, tell=tell, n_jobs=n_jobs, reading=reading)
                    place.read_from = chunks
            if is_store(data):
                data = Store.open(data)
            place.store = data if isinstance(data, Store) else None
            if self.kind == "dask":
                from blankets.counting import DaskTable, connect

                client = afterwards.enter_context(connect(self.address))
                place.cluster = DaskTable(client, folder, place.store)
            yield data, place

    def _must_pack(self, data: Any, reading: Reading) -> bool:
        """Tell whether files have to be packed: several files, or too large for the memory."""
        if isinstance(data, Chunks):
            return True
        if not is_files(data):
            return False
        if not isinstance(data, str | Path) or not os.path.isfile(data):
            return not isinstance(data, str | Path) or os.path.isdir(data) or any(c in str(data) for c in "*?[")
        if self.kind == "memory":
            return False
        room = SHARE * free_memory() if self.limit is None else self.limit
        if Path(data).stat().st_size * 3 < room / 64:  # small enough in any format: no need to look inside
            return False
        try:
            return open_chunks(data, reading).bytes_needed() > room
        except DataError:
            return False  # reading it will raise the error


@dataclass(eq=False)
class Place:
    """Where the rows are; makes their counters."""

    n_jobs: int = 1  # threads for counting on this machine
    cluster: DaskTable | None = None  # a cluster to count on
    store: Store | None = None  # where the rows are, if they are on disk
    read_from: Chunks | None = None  # what the store was packed from for this question: options of reading are done
    checkpoint: str | Path | None = None  # a file that stores answers
    about: Mapping[str, object] = field(default_factory=dict)  # what identifies these answers
    _kept: Checkpoint | None = None

    def counter(self, frame: Frame, rows: NDArray[np.bool_] | None = None) -> Counter:
        """Return a counter for the rows of a frame, or for some of them."""
        if frame.numbers:
            columns = listed(frame.names[j] for j in sorted(frame.numbers))
            raise ParameterError(f"this question counts levels, but {columns} are numbers; cut them with {cut_them()}")
        counter: Counter
        if self.cluster is not None:
            counter = self.cluster.counter(frame, rows)
            if self.checkpoint is None:
                return counter
            mark = "" if rows is None else hashlib.sha256(rows.tobytes()).hexdigest()
            return self.remembered(counter, frame.fingerprint() + mark)
        frame = frame if rows is None else frame.take(rows)
        if self.store is not None and frame.n_rows > TALL:
            counter = SlicedCounter(frame, self.n_jobs)
        else:
            counter = MemoryCounter(frame, self.n_jobs)
        return counter if self.checkpoint is None else self.remembered(counter, frame.fingerprint())

    def remembered(self, counter: Counter, data: str) -> Counter:
        """Return a counter that stores its answers, if a checkpoint was given; ``data`` is a fingerprint."""
        if self.checkpoint is None:
            return counter
        if self._kept is None:
            self._kept = Checkpoint(self.checkpoint, {**self.about, "data": data})
        return RememberingCounter(counter, self._kept, data)


def is_files(source: Any) -> bool:
    """Tell whether the data are paths of files, not a store and not a table."""
    if isinstance(source, str | Path):
        return not is_store(source)
    return isinstance(source, list | tuple) and bool(source) and all(isinstance(each, str | Path) for each in source)


def cut_them() -> str:
    """Name a rule for cutting."""
    return f"{option(discretize='sturges')} or another rule"
