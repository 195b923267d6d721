"""Counting on a Dask cluster: rows stay with the workers as packed codes, tables come back.

Only futures are used. Blocks of rows are loaded by tasks from a store that all workers can read, so a
worker that is lost takes nothing with it: the scheduler has its blocks loaded elsewhere. A round is one
task a block and one tree of additions.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from blankets.counting._memory import MemoryCounter
from blankets.counting._partition import PartitionedCounter, Request, Tables, added, counted
from blankets.data import Store
from blankets.errors import BlanketsWarning, DataError, EngineError, MissingPackageError, warn

__all__ = ["DaskCounter", "StoredRows", "connect"]

BLOCKS_A_THREAD = 2  # a task costs 4 to 5 ms, and a lost block is to be small
FAN_IN = 8
PATIENCE = 30.0  # seconds without any worker until we give up
LOOK = 2.0  # seconds between looks at the workers while we wait


@dataclass(frozen=True, slots=True, eq=False)
class StoredRows:
    """Some rows of a store, described so that a worker can load them.

    Attributes
    ----------
    path : str
        The store, on a disk that the workers see.
    start, stop : int
        The rows.
    columns : tuple of int or None
        The columns, in order; None: all.
    """

    path: str
    start: int
    stop: int
    columns: tuple[int, ...] | None = None

    def load(self) -> MemoryCounter:
        """Read the rows into memory."""
        if not Path(self.path).is_dir():
            raise DataError(f"the worker sees no store {self.path!r}; keep stores on a disk that all workers share")
        rows = Store.open(self.path).rows(self.start, self.stop)
        return MemoryCounter(rows if self.columns is None else rows.select(self.columns), n_jobs=1)


@contextmanager
def connect(address: str | None = None, *, n_workers: int | None = None, timeout: float = 10.0) -> Iterator[Any]:
    """Yield a Dask client of the cluster at ``address``, or of a new one on this machine that lives as long.

    Parameters
    ----------
    address : str, optional
        Of the scheduler, for example "tcp://scheduler:8786".
    n_workers : int, optional
        Worker processes of a new cluster; default one a processor.
    timeout : float
        Seconds to wait for the scheduler.
    """
    client = _client(address, n_workers, timeout)
    try:
        yield client
    finally:
        with suppress(TimeoutError):  # a worker that ends slowly, as a restarted one may, does not take the answer away
            client.close()


def _client(address: str | None, n_workers: int | None, timeout: float) -> Any:
    try:
        from distributed import Client as client
    except ImportError:
        raise MissingPackageError.needed_for("counting on a cluster", "distributed", "dask") from None
    make: Any = client
    if address is None:
        here = "127.0.0.1:0"  # nobody else may ask this cluster how it is
        pages = {"dashboard_address": here, "worker_dashboard_address": here}
        return make(n_workers=n_workers, threads_per_worker=1, processes=True, **pages)
    try:
        return make(address, timeout=timeout)
    except (OSError, TimeoutError, ValueError) as error:
        raise EngineError(
            f"there is no Dask cluster at {address!r} ({type(error).__name__}); start one with 'dask scheduler' and "
            f"'dask worker', or leave the address out for one on this machine"
        ) from error


class DaskCounter(PartitionedCounter):
    """Counts the rows of a store on a Dask cluster.

    Parameters
    ----------
    client : distributed.Client
        The cluster; see `connect`.
    store : Store
        The rows, on a disk that all workers see.
    columns : sequence of int, optional
        The columns to count; default all.
    n_blocks : int, optional
        In how many blocks the rows are loaded; default two for each thread of the cluster.
    """

    def __init__(
        self, client: Any, store: Store, columns: Sequence[int] | None = None, n_blocks: int | None = None
    ) -> None:
        chosen = None if columns is None else tuple(int(j) for j in columns)
        frame = store.frame if chosen is None else store.frame.select(chosen)
        self.names, self.arities, self.n_rows = frame.names, frame.arities, frame.n_rows
        self.client = client
        self._workers = self._alive()
        threads = sum(self._workers.values())
        edges = np.linspace(0, self.n_rows, (n_blocks or max(1, BLOCKS_A_THREAD * threads)) + 1).astype(int).tolist()
        path = str(store.path.absolute())
        rows = [StoredRows(path, start, stop, chosen) for start, stop in pairwise(edges)]
        # Not pure: a store at the same path may have been packed anew.
        self._blocks = client.map(_loaded, rows, pure=False)

    def ask(self, requests: Sequence[Request]) -> list[Tables]:
        """Let every block be counted where it is, and add up in a tree."""
        arities = [self.arities[list(request.given)] for request in requests]
        parts = self.client.map(counted, self._blocks, requests=list(requests), pure=False)
        while len(parts) > 1:
            groups = [parts[k : k + FAN_IN] for k in range(0, len(parts), FAN_IN)]
            parts = [self.client.submit(added, group, arities, pure=False) for group in groups]
        answer = self._result(parts[0])
        self._warn_of_losses()
        return answer

    def _result(self, future: Any) -> list[Tables]:
        """Wait for an answer as long as there is somebody who may give it."""
        from distributed import KilledWorker

        alone_since: float | None = None
        while True:
            try:
                answer: list[Tables] = future.result(timeout=LOOK)
            except TimeoutError:
                alone_since = None if self._alive() else alone_since or time.monotonic()
                if alone_since is not None and time.monotonic() - alone_since > PATIENCE:
                    raise EngineError(f"the cluster has had no workers for {PATIENCE:.0f} seconds") from None
            except KilledWorker as error:
                raise EngineError(
                    f"workers die of the task: {error}; give them more memory, or smaller blocks"
                ) from error
            except CancelledError as error:
                raise EngineError("the cluster has cancelled the work; its scheduler may have stopped") from error
            else:
                return answer

    def _alive(self) -> dict[str, int]:
        """Return the threads of each worker."""
        try:
            threads: dict[str, int] = self.client.nthreads()
        except (OSError, RuntimeError, AttributeError) as error:
            raise EngineError(f"the connection to the Dask scheduler is lost: {error}") from error
        return threads

    def _warn_of_losses(self) -> None:
        """Say that workers are gone; their blocks have been loaded again by others."""
        now = self._alive()
        lost = sorted(set(self._workers) - set(now))
        self._workers = now
        if lost:
            warn(
                f"{len(lost)} Dask worker(s) were lost ({', '.join(lost)}); their rows were loaded again by others, "
                f"and the counts are complete",
                BlanketsWarning,
            )


def _loaded(rows: StoredRows) -> MemoryCounter:
    """Load a block; a function, so that a future of it can be made again when its worker is lost."""
    return rows.load()
