"""Where rows are counted: in memory, from a store on disk, on a cluster, in a database; and `pack`."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from blankets.arguments import one_of, path_of
from blankets.counting import (
    Checkpoint,
    Counter,
    DaskCounter,
    MemoryCounter,
    RememberingCounter,
    SlicedCounter,
    SqlCounter,
    connect,
)
from blankets.data import (
    Chunks,
    Frame,
    SqlTable,
    Store,
    free_memory,
    ingest,
    is_store,
    open_chunks,
    pack_chunks,
    pack_ingested,
)
from blankets.errors import DataError, ParameterError
from blankets.progress import told

__all__ = ["ENGINES", "Engine", "at_hand", "pack"]

ENGINES = ("auto", "memory", "dask", "sql")
SHARE = 0.5  # of the memory that is free, for a table and what is made of it
# Rows of a store beyond which it is counted slice by slice. Measured on 20,000,000 x 50: a round takes 0.4 to 0.8 s of
# CPU time either way, but 0.4 GB less memory; below, bit planes and kept strata are worth their memory.
TALL = 10_000_000
UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}

Tell = Callable[[str], None]


def pack(
    source: Any,
    path: str | Path,
    *,
    target: str | None = None,
    discretize: str | Mapping[str, Any] = "sturges",
    bins: int | None = None,
    missing: str = "error",
    keep: Iterable[str] = (),
    columns: Iterable[str] | None = None,
    exclude: Iterable[str] = (),
    n_jobs: int | None = None,
    progress: bool | Tell = False,
) -> Store:
    """Write a table as packed codes to a folder, from which `discover` and the others count without loading it.

    Files are read in chunks, once to learn the levels and once to write the codes, so they may be larger than
    memory. The answers are those that the table itself would give.

    Parameters
    ----------
    source : path, folder, glob, list of paths, SqlTable, or any table
        CSV or Parquet files with the same columns; each may have levels that others have not.
    path : str or Path
        The folder to make. If it is there already, made of the same files (paths, sizes, times of change) in the
        same way, it is used as it is; a store of something else is replaced.
    target : str, optional
        A column in which values may be missing, because they are labels.
    discretize, bins, missing, keep, columns, exclude
        How the table is read: see `blankets.data.ingest`.
    n_jobs : int, optional
        Threads for coding; default all processors.
    progress : bool or callable
        Show the rows read so far, or call this with a sentence.

    Returns
    -------
    Store
        To be given to `discover` in place of the table; so can its path.

    Notes
    -----
    Memory holds one chunk of all columns, and now and then one column whole: the target, columns cut by
    quantiles or by the target, and numbers that may be identifiers. Columns of text with more than 100,000
    levels are left out as identifiers.

    Examples
    --------
    >>> import blankets as bl
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     store = bl.pack({"dose": ["low", "high"] * 50, "cured": [0, 0, 1, 1] * 25}, f"{folder}/trial")
    ...     store.frame.n_rows, store.frame.names
    (100, ('dose', 'cured'))
    """
    reading: dict[str, Any] = {
        "discretize": discretize,
        "bins": bins,
        "missing": missing,
        "keep": keep,
        "exclude": exclude,
    }
    path = path_of("path", path)
    with told("reading the data", quiet=progress is not True) as shown:
        tell = progress if callable(progress) else shown
        if isinstance(source, Chunks) or _is_files(source):
            chunks = source if isinstance(source, Chunks) else open_chunks(source)
            return pack_chunks(chunks, path, target, columns=columns, tell=tell, n_jobs=n_jobs, **reading)
        return pack_ingested(ingest(source, target, columns=columns, **reading), path)


def _is_files(source: Any) -> bool:
    """Tell whether these are paths of data, not a store and not a table."""
    if isinstance(source, str | Path):
        return not is_store(source)
    return isinstance(source, list | tuple) and bool(source) and all(isinstance(each, str | Path) for each in source)


@dataclass(eq=False)
class Engine:
    """Makes counters.

    Attributes
    ----------
    n_jobs : int
        Threads for counting here.
    client : distributed.Client or None
        A cluster to count on.
    store : Store or None
        Where the rows are, if they are on disk.
    folder : Path or None
        For stores that are made on the way.
    checkpoint : str, Path or None
        A file to keep answers in.
    about : mapping
        The settings that answers belong to.
    """

    n_jobs: int
    client: Any = None
    store: Store | None = None
    folder: Path | None = None
    checkpoint: str | Path | None = None
    about: Mapping[str, Any] = field(default_factory=dict)
    _kept: Checkpoint | None = None
    _made: int = 0

    def counter(self, frame: Frame) -> Counter:
        """Return what counts the rows of a frame."""
        counter: Counter
        if self.client is not None:
            counter = self._on_cluster(frame)
        elif self.store is not None and frame.n_rows > TALL:
            counter = SlicedCounter(frame, self.n_jobs)
        else:
            counter = MemoryCounter(frame, self.n_jobs)
        return counter if self.checkpoint is None else self.remembered(counter, frame.fingerprint())

    def remembered(self, counter: Counter, data: str) -> Counter:
        """Return a counter that keeps its answers, if that was asked for; ``data`` is a fingerprint."""
        if self.checkpoint is None:
            return counter
        if self._kept is None:
            self._kept = Checkpoint(self.checkpoint, {**self.about, "data": data})
        return RememberingCounter(counter, self._kept, data)

    def _on_cluster(self, frame: Frame) -> DaskCounter:
        """Let the workers load the frame from the store that it comes from, or from one that is made for it."""
        store = self.store
        if store is not None and frame.blocks == store.frame.blocks:
            places = zip(store.frame.block_of.tolist(), store.frame.position.tolist(), strict=True)
            number = {place: j for j, place in enumerate(places)}
            columns = [number[place] for place in zip(frame.block_of.tolist(), frame.position.tolist(), strict=True)]
            return DaskCounter(self.client, store, columns)
        if self.folder is None:
            raise ParameterError("a cluster needs a folder for the rows; give the table as a store")
        self._made += 1
        return DaskCounter(self.client, pack_ingested(ingest(frame), self.folder / f"frame{self._made}"))


@contextmanager
def at_hand(
    data: Any,
    target: str | int | None,
    *,
    engine: str,
    address: str | None,
    memory_limit: int | str | None,
    checkpoint: str | Path | None,
    n_jobs: int,
    reading: Mapping[str, Any],
    about: Mapping[str, Any],
    tell: Tell | None,
) -> Iterator[tuple[Any, Engine]]:
    """Yield the data, as a store if they would not fit into memory, and the engine; clean up afterwards."""
    _check(engine, address, checkpoint, data)
    limit = bytes_from(memory_limit)
    from blankets import __version__

    made = Engine(n_jobs, checkpoint=checkpoint, about={"version": __version__, **about})
    if engine == "sql":
        yield SqlCounter(data, target if isinstance(target, str) else None, **reading), made
        return
    with ExitStack() as afterwards:
        if engine == "dask" or _too_large(data, limit, engine):
            made.folder = Path(tempfile.mkdtemp(prefix="blankets-"))
            afterwards.callback(shutil.rmtree, made.folder, ignore_errors=True)
            if isinstance(data, Chunks) or _is_files(data):
                chunks = data if isinstance(data, Chunks) else open_chunks(data)
                named = target if isinstance(target, str) else None
                data = pack_chunks(chunks, made.folder / "table", named, tell=tell, n_jobs=n_jobs, **reading)
        if is_store(data):
            data = Store.open(data)
        made.store = data if isinstance(data, Store) else None
        if engine == "dask":
            made.client = afterwards.enter_context(connect(address))
        yield data, made


def _check(engine: str, address: str | None, checkpoint: str | Path | None, data: Any) -> None:
    one_of("engine", engine, ENGINES)
    if address is not None and engine != "dask":
        raise ParameterError(f"'address' is that of a Dask cluster, but engine={engine!r}; say engine='dask'")
    if checkpoint is not None and not isinstance(checkpoint, str | Path):
        raise ParameterError.out_of_range("checkpoint", checkpoint, "the path of a file")
    if engine == "sql" and not isinstance(data, SqlTable):
        raise ParameterError("engine='sql' counts within a database; give the data as bl.SqlTable(query, database)")


def _too_large(data: Any, limit: int | None, engine: str) -> bool:
    """Tell whether files have to be packed: several, or larger than what memory has room for."""
    if isinstance(data, Chunks):
        return True
    if not _is_files(data):
        return False
    if not isinstance(data, str | Path) or not Path(data).is_file():
        return not isinstance(data, str | Path) or Path(data).is_dir() or any(c in str(data) for c in "*?[")
    if engine == "memory":
        return False
    room = SHARE * free_memory() if limit is None else limit
    if Path(data).stat().st_size * 3 < room / 64:  # no format is so dense: spare a look inside
        return False
    try:
        return open_chunks(data).bytes_needed() > room
    except DataError:
        return False  # whoever reads it says what is wrong


def bytes_from(limit: int | str | None) -> int | None:
    """Return a size such as "2 GB" as a number.

    >>> bytes_from("1.5 GB")
    1500000000
    """
    if limit is None:
        return None
    text = str(limit).strip().upper()
    number = text.rstrip("KMGTB ")
    try:
        size = int(float(number) * UNITS[text[len(number) :].strip()])
    except (ValueError, KeyError, OverflowError):
        size = 0
    if size <= 0:
        raise ParameterError.out_of_range("memory_limit", limit, "a number of bytes, or a text such as '2 GB'")
    return size


def fingerprint_of(counter: SqlCounter) -> str:
    """Return what tells one query's rows from another's."""
    about = counter.table.query, str(counter.table.database), counter.n_rows, counter.names, counter.levels
    return hashlib.sha256(repr(about).encode()).hexdigest()
