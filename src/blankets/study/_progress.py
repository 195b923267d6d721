"""A progress line on standard error; it is removed at the end."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from html import escape

from blankets.errors import errors_of

_BETWEEN_LINES = 0.1  # seconds: a page cannot follow faster, and each line is a message to the browser

Progress = bool | Callable[[str], None]


def watched(progress: Progress) -> AbstractContextManager[Callable[[str], None] | None]:
    """Return a context that reports steps, if wanted: by a progress line, or to the user's function."""
    if callable(progress):
        return nullcontext(_heard(progress))
    from blankets.arguments import flag  # late: NumPy would double the time of --help

    return status_line("reading the data", quiet=progress is None or not flag("progress", progress))


def _heard(listener: Callable[[str], None]) -> Callable[[str], None]:
    """Return the user's function, wrapped so that its errors are reported as the user's own."""

    def tell(sentence: str) -> None:
        with errors_of("the function given as 'progress'"):
            listener(sentence)

    return tell


@contextmanager
def status_line(first: str, *, quiet: bool) -> Iterator[Callable[[str], None] | None]:
    """Yield a function that shows a sentence and the elapsed time, or None if nobody would see it.

    Nobody would see it if ``quiet`` is set, or if standard error is neither a terminal nor a notebook (a log
    file, for example).
    """
    if quiet or not (sys.stderr.isatty() or _in_notebook()):
        yield None
        return
    with _in_a_cell(first) if _in_notebook() else _on_a_terminal(first) as tell:
        yield tell


@contextmanager
def _on_a_terminal(first: str) -> Iterator[Callable[[str], None]]:
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    # Transient: however the work ends (also by Ctrl-C), the line is removed and the cursor is shown again.
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(first, total=None)
        last = first

        def tell(sentence: str) -> None:
            nonlocal last
            if sentence != last:  # a search reports thousands of steps per second, most with the same sentence
                last = sentence
                progress.update(task, description=sentence)

        yield tell


@contextmanager
def _in_a_cell(first: str) -> Iterator[Callable[[str], None]]:
    """Show a line under a cell of a notebook; needs only IPython, which every notebook has."""
    from IPython.display import HTML, display  # type: ignore[import-not-found]

    def line(sentence: str) -> object:
        return HTML(f"<small>{escape(sentence)} ({time.monotonic() - began:.0f} s)</small>")

    began = last = time.monotonic()
    place = display(line(first), display_id=True)

    def tell(sentence: str) -> None:
        nonlocal last
        if time.monotonic() - last >= _BETWEEN_LINES:
            last = time.monotonic()
            place.update(line(sentence))

    try:
        yield tell
    finally:
        place.update(HTML(""))


def _in_notebook() -> bool:
    """Whether the code runs in a Jupyter kernel, without importing IPython."""
    shell = sys.modules.get("IPython")
    return shell is not None and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"
