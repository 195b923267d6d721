"""Run many tasks at once, show the remaining time, and keep what is done if the user stops.

Tasks that are mostly Python wait for each other on threads. Processes do not; where they can be forked safely, each
begins with all that this one has in memory, and only results travel.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import struct
import sys
import threading
import time
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from selectors import EVENT_READ, DefaultSelector
from threading import Event, Lock
from typing import Any, Self, TypeVar

from blankets.counting import COUNTING
from blankets.results import format_seconds

T = TypeVar("T")


class Countdown:
    """Reports how many pieces of work are done, and how long the rest will take.

    ``total``: number of pieces. ``what``: their name, in the plural. ``tell``: called with a sentence after each
    piece; may be None.

    ``words``: The last sentence.

    Examples
    --------
    >>> said = []
    >>> count = Countdown(2, "targets", said.append)
    >>> count.one_more()
    >>> said[0].startswith("1 of 2 targets, about "), said[0].endswith(" left")
    (True, True)
    """

    def __init__(self, total: int, what: str, tell: Callable[[str], None] | None) -> None:
        self.total, self.what, self.tell, self.done = total, what, tell, 0
        self._began, self._lock = time.perf_counter(), Lock()

    def one_more(self) -> None:
        """Count a finished piece, and report it."""
        with self._lock:
            self.done += 1
            if self.tell is not None:
                self.tell(self.words)

    @property
    def words(self) -> str:
        """How many pieces are done, and how long the others may take."""
        left = (time.perf_counter() - self._began) / max(self.done, 1) * (self.total - self.done)
        rest = f", about {format_seconds(left)} left" if 0 < self.done < self.total else ""
        return f"{self.done:,} of {self.total:,} {self.what}{rest}"


def carried_out(
    tasks: Sequence[Callable[[], T]],
    done: dict[int, T],
    n_jobs: int,
    *,
    count: Countdown,
    stop: Event,
    initializer: Callable[[], None] | None = None,
) -> None:
    """Do all tasks and put their results into ``done`` under their numbers.

    If a task fails, or the user presses Ctrl-C, tasks that have not begun are dropped, ``stop`` is set for running
    ones, and finished results stay in ``done``.
    """

    def one(number: int) -> None:
        if not stop.is_set():
            done[number] = tasks[number]()
            count.one_more()

    if n_jobs == 1:
        for number in range(len(tasks)):
            one(number)
        return
    with ThreadPoolExecutor(n_jobs, initializer=initializer) as pool:
        futures = [pool.submit(one, number) for number in range(len(tasks))]
        try:
            for future in futures:
                future.result()
        except BaseException:
            stop.set()
            for future in futures:
                future.cancel()
            raise


def can_fork() -> bool:
    """Tell whether a copy of this process would be whole: there are no other threads, which might hold a lock.

    Those that count rows wait for work, and a process of its own does not ask them.
    """
    here = threading.current_thread()
    others = [each for each in threading.enumerate() if each is not here and not each.name.startswith(COUNTING)]
    return sys.platform == "linux" and not others


def forked(
    tasks: Sequence[Callable[[], T]], done: dict[int, T], n_jobs: int, *, count: Countdown, least: float = 0.0
) -> None:
    """Do all tasks in ``n_jobs`` processes, of which this is one; put their results into ``done`` under their numbers.

    What another process does not bring to an end, because a task fails there or the system ends it, is done in this
    one. So errors are raised here. If the user presses Ctrl-C, the others are ended, and results that came stay in
    ``done``. ``least``: seconds that the tasks after the first must take, by that one, for others to be begun.
    """

    def here(number: int) -> None:
        done[number] = tasks[number]()
        count.one_more()

    if least > 0.0:
        began = time.perf_counter()
        here(0)
        n_jobs = n_jobs if (time.perf_counter() - began) * (len(tasks) - 1) >= least else 1
    left = [number for number in range(len(tasks)) if number not in done]
    shares = [left[first::n_jobs] for first in range(min(n_jobs, len(left)))]
    children: dict[int, int] = {}  # the process behind each pipe
    try:
        for share in shares[1:]:
            if (begun := _begun(tasks, share)) is not None:
                children[begun[0]] = begun[1]
        with _Pipes(children, done, count) as pipes:
            for own in left[::n_jobs]:
                here(own)
                pipes.take(0.0)
            while pipes.open and len(done) < len(tasks):
                other = _not_begun(shares[1:], done)
                if other is not None:
                    here(other)
                pipes.take(None if other is None else 0.0)
    finally:
        for pipe, child in children.items():
            os.close(pipe)
            with suppress(ProcessLookupError, ChildProcessError):  # who ignores SIGCHLD never sees them end
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
    for missing in [number for number in left if number not in done]:
        here(missing)


def _not_begun(shares: Sequence[Sequence[int]], done: Collection[int]) -> int | None:
    """Return the last task of the process that has the most left, None if it has begun it.

    So nobody waits for a process that got less time than others.
    """
    rest = max(([number for number in share if number not in done] for share in shares), key=len, default=[])
    return rest[-1] if len(rest) > 1 else None


def _begun(tasks: Sequence[Callable[[], T]], numbers: Sequence[int]) -> tuple[int, int] | None:
    """Begin a process for some of the tasks; return a pipe from it and its number, None if there can be none."""
    reading, writing = os.pipe()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", DeprecationWarning
            )  # threads of a linear algebra library stop by themselves
            child = os.fork()
    except OSError:
        os.close(reading)
        os.close(writing)
        return None
    if child:
        os.close(writing)
        return reading, child
    try:  # in the new process
        gc.freeze()  # what the first one has is not looked through for garbage, and so not copied
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        with os.fdopen(writing, "wb") as pipe:
            for number in numbers:
                text = pickle.dumps((number, tasks[number]()))
                pipe.write(struct.pack("q", len(text)) + text)
                pipe.flush()
    finally:
        os._exit(0)  # nothing of the first process is to be ended twice


class _Pipes:
    """Takes the results of other processes from pipes."""

    def __init__(self, children: Mapping[int, int], done: dict[int, Any], count: Countdown) -> None:
        self._done, self._count, self._ready = done, count, DefaultSelector()
        self._read = dict.fromkeys(children, b"")

    def __enter__(self) -> Self:
        for pipe in self._read:
            self._ready.register(pipe, EVENT_READ)
        return self

    def __exit__(self, *raised: object) -> None:
        self._ready.close()

    @property
    def open(self) -> bool:
        """Whether more may come."""
        return bool(self._ready.get_map())

    def take(self, seconds: float | None) -> None:
        """Take what has come, or comes within some seconds; None: wait for it."""
        for key, _ in self._ready.select(seconds) if self.open else ():
            more = os.read(key.fd, 1 << 16)
            if not more:
                self._ready.unregister(key.fd)
            self._read[key.fd] += more
            while len(text := self._read[key.fd]) >= 8:
                (size,) = struct.unpack_from("q", text)
                if len(text) < 8 + size:
                    break
                number, result = pickle.loads(text[8 : 8 + size])
                self._read[key.fd] = text[8 + size :]
                if number not in self._done:
                    self._done[number] = result
                    self._count.one_more()
