"""Run many tasks on one or several threads, show the remaining time, and keep what is done if the user stops."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Lock
from typing import TypeVar

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
        self.words = f"0 of {total:,} {what}"
        self._began, self._lock = time.perf_counter(), Lock()

    def one_more(self) -> None:
        """Count a finished piece, and report it."""
        with self._lock:
            self.done += 1
            left = (time.perf_counter() - self._began) / self.done * (self.total - self.done)
            rest = f", about {format_seconds(left)} left" if self.done < self.total else ""
            self.words = f"{self.done:,} of {self.total:,} {self.what}{rest}"
            if self.tell is not None:
                self.tell(self.words)


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
