"""Counting on a Dask cluster: rows stay with the workers as packed codes, and only tables are sent back.

Only futures are used. Tasks load blocks of rows from a store that all workers can read. So if a worker is lost,
the scheduler loads its blocks elsewhere, and nothing is lost. A round is one task per block and one tree of
additions.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from multiprocessing import current_process
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blankets.counting._memory import MemoryCounter
from blankets.counting._partition import PartitionedCounter, Request, Tables, added, counted
from blankets.data import Frame, Store, ingest, pack_ingested
from blankets.errors import BlanketsWarning, DataError, EngineError, MissingPackageError, warn
from blankets.voice import option

BLOCKS_A_THREAD = 2  # a task costs 4 to 5 ms, and a lost block should be small
FAN_IN = 8
PATIENCE = 30.0  # seconds to wait without any worker
LOOK = 2.0  # seconds between checks of the workers while waiting
MOST_SENT = 8  # most new columns that are sent to the workers; with more, the rows are packed again

Codes = NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class StoredRows:
    """Some rows of a store, described so that a worker can load them."""

    path: str  # the store, on a disk that the workers can read
    # start, stop: the rows
    start: int
    stop: int
    columns: tuple[int, ...] | None = None  # the columns, in order; None: all
    # columns that are not in the store, by their positions: number of levels, whether they have holes, and codes
    sent: Mapping[int, tuple[int, bool, Codes]] = field(default_factory=dict)
    taken: NDArray[np.bool_] | None = None  # which of the rows count; None: all

    def load(self) -> MemoryCounter:
        """Read the rows into memory."""
        if not Path(self.path).is_dir():
            raise DataError(
                f"the worker cannot find the store {self.path!r}; keep stores on a disk that all workers share"
            )
        frame = Store.open(self.path).rows(self.start, self.stop, self.columns)
        for j, (n_levels, holes, codes) in self.sent.items():
            frame = frame.replaced(j, codes, tuple(range(n_levels)), holes=holes)
        return MemoryCounter(frame if self.taken is None else frame.take(self.taken), n_jobs=1)


@contextmanager
def connect(address: str | None = None, *, n_workers: int | None = None, timeout: float = 10.0) -> Iterator[Any]:
    """Yield a Dask client of the cluster at ``address``, or of a temporary new cluster on this machine.

    ``address``: address of the scheduler, for example "tcp://scheduler:8786". ``n_workers``: worker processes of a new
    cluster; default: one per processor. ``timeout``: seconds to wait for the scheduler.
    """
    client = _client(address, n_workers, timeout)
    try:
        yield client
    finally:
        with suppress(TimeoutError):  # a worker that ends slowly (a restarted one may) must not lose the answer
            client.close()


def _client(address: str | None, n_workers: int | None, timeout: float) -> Any:
    try:
        from distributed import Client as client
    except ImportError:
        raise MissingPackageError.needed_for("counting on a cluster", "distributed", "dask") from None
    make: Any = client
    if address is None:
        here = "127.0.0.1:0"  # only this machine may ask for the state of the cluster
        pages = {"dashboard_address": here, "worker_dashboard_address": here}
        if getattr(current_process(), "_inheriting", False):  # a worker that runs the script first, as all do
            raise EngineError(_no_guard())
        try:
            return make(n_workers=n_workers, threads_per_worker=1, processes=True, **pages)
        except RuntimeError as error:
            raise EngineError(_no_guard()) from error
    try:
        return make(address, timeout=timeout)
    except (OSError, TimeoutError, ValueError) as error:
        raise EngineError(
            f"there is no Dask cluster at {address!r} ({type(error).__name__}); start one with 'dask scheduler' and "
            f"'dask worker', or leave the address out for one on this machine"
        ) from error


class DaskCounter(PartitionedCounter):
    """Counts the rows of a store on a Dask cluster.

    ``client``: the cluster; see `connect`. ``store``: the rows, on a disk that all workers can read. ``columns``: the
    columns to count; default: all. ``n_blocks``: number of blocks of rows; default: two for each thread of the cluster.
    ``frame``: names and levels of these columns, and the codes of new ones; default: as in the store. ``new``: columns
    of the frame whose codes are sent to the workers. ``taken``, of shape (rows,): the rows to count; default: all.
    """

    def __init__(
        self,
        client: Any,
        store: Store,
        columns: Sequence[int] | None = None,
        n_blocks: int | None = None,
        *,
        frame: Frame | None = None,
        new: Sequence[int] = (),
        taken: NDArray[np.bool_] | None = None,
    ) -> None:
        chosen = None if columns is None else tuple(int(j) for j in columns)
        frame = frame or (store.layout if chosen is None else store.layout.select(chosen))
        self.names, self.arities, self.holes = frame.names, frame.arities, frame.holes
        self.n_rows = frame.n_rows if taken is None else int(np.count_nonzero(taken))
        self.client = client
        self._workers = self._alive()
        threads = sum(self._workers.values())
        edges = np.linspace(0, frame.n_rows, (n_blocks or max(1, BLOCKS_A_THREAD * threads)) + 1).astype(int).tolist()
        path, sent = (
            str(store.path.absolute()),
            {j: (int(frame.arities[j]), j in frame.holes, frame.column(j)) for j in new},
        )
        rows = [
            StoredRows(
                path,
                start,
                stop,
                chosen,
                {j: (n, holes, codes[start:stop]) for j, (n, holes, codes) in sent.items()},
                None if taken is None else taken[start:stop],
            )
            for start, stop in pairwise(edges)
        ]
        # Not pure: a store at the same path may have been packed again. Not scattered: the scheduler keeps the
        # arguments of tasks, so that a block can be loaded again when its worker is lost.
        self._blocks = [client.submit(_loaded, block, pure=False) for block in rows]

    def ask(self, requests: Sequence[Request]) -> list[Tables]:
        """Count every block on its worker, and add the counts in a tree."""
        arities = [self.arities[list(request.given)] for request in requests]
        parts = self.client.map(counted, self._blocks, requests=list(requests), pure=False)
        while len(parts) > 1:
            groups = [parts[k : k + FAN_IN] for k in range(0, len(parts), FAN_IN)]
            parts = [self.client.submit(added, group, arities, pure=False) for group in groups]
        answer = self._result(parts[0])
        self._warn_of_losses()
        return answer

    def _result(self, future: Any) -> list[Tables]:
        """Wait for an answer as long as there are workers."""
        from distributed import KilledWorker

        alone_since: float | None = None
        while True:
            try:
                answer: list[Tables] = future.result(timeout=LOOK)
            except TimeoutError:
                alone_since = None if self._alive() else alone_since or time.monotonic()
                if alone_since is not None and time.monotonic() - alone_since > PATIENCE:
                    raise EngineError(
                        f"the cluster has had no workers for {PATIENCE:.0f} seconds; start some with 'dask worker', "
                        f"and ask again"
                    ) from None
            except KilledWorker as error:
                raise EngineError(
                    f"workers fail at the task: {error}; give them more memory, or smaller blocks"
                ) from error
            except CancelledError as error:
                raise EngineError(
                    "the cluster has cancelled the work; its scheduler may have stopped: start it and ask again"
                ) from error
            else:
                return answer

    def _alive(self) -> dict[str, int]:
        """Return the threads of each worker."""
        try:
            threads: dict[str, int] = self.client.nthreads()
        except (OSError, RuntimeError, AttributeError) as error:
            raise EngineError(
                f"the connection to the Dask scheduler is lost: {error}; see whether it still runs, and ask again"
            ) from error
        return threads

    def _warn_of_losses(self) -> None:
        """Warn that workers were lost; others have loaded their blocks again."""
        now = self._alive()
        lost = sorted(set(self._workers) - set(now))
        self._workers = now
        if lost:
            warn(
                f"{len(lost)} Dask worker(s) were lost ({', '.join(lost)}); their rows were loaded again by others, "
                f"and the counts are complete",
                BlanketsWarning,
            )


class DaskTable:
    """A table that a cluster counts: packed once, even if columns are replaced or rows left out.

    ``client``: the cluster. ``folder``: where tables in memory are packed; all workers can read it. ``store``: the
    table, if it is packed already.
    """

    def __init__(self, client: Any, folder: Path, store: Store | None = None) -> None:
        self.client, self.folder = client, folder
        # Frames are kept with their stores, so that no other block gets the same id in memory.
        self._packed: list[tuple[Store, Frame]] = [] if store is None else [(store, store.layout)]

    def counter(self, frame: Frame, rows: NDArray[np.bool_] | None = None) -> DaskCounter:
        """Return a counter for a frame, or some of its rows: workers load stored columns; new ones are sent to them."""
        places = _places(frame)
        for store, packed in reversed(self._packed):
            known = {place: j for j, place in enumerate(_places(packed))}
            # Columns of one level are numbers (`Frame.without_numbers`), which nobody counts.
            new = [j for j, place in enumerate(places) if place not in known and frame.arities[j] > 1]
            if packed.n_rows == frame.n_rows and len(new) <= MOST_SENT:
                columns = [known.get(place, 0) for place in places]
                return DaskCounter(self.client, store, columns, frame=frame, new=new, taken=rows)
        store = pack_ingested(ingest(frame), self.folder / f"table{len(self._packed)}")
        self._packed.append((store, frame))
        return DaskCounter(self.client, store, taken=rows)


def _places(frame: Frame) -> list[tuple[int, int]]:
    """Return what identifies each column of a frame: its block, and its position there."""
    blocks = [id(block) for block in frame.blocks]
    return [(blocks[b], p) for b, p in zip(frame.block_of.tolist(), frame.position.tolist(), strict=True)]


def _loaded(rows: StoredRows) -> MemoryCounter:
    """Load a block; a function, so that its future can be computed again when its worker is lost."""
    return rows.load()


def _no_guard() -> str:
    """Say what a script needs around its work."""
    return (
        f"the workers of a cluster on this machine did not start; a script that uses {option(engine='dask')} must do "
        f"its work below a "
        "line 'if __name__ == \"__main__\":', as each worker runs the script first"
    )
