"""Small matrices on one core: where they are shared among several, these mostly wait for each other."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import Any, TypeVar

Call = TypeVar("Call", bound=Callable[..., Any])


class _OneCore:
    """Limits linear algebra to one core while any thread is inside; the last one that leaves undoes it."""

    def __init__(self) -> None:
        self._libraries: Any = None
        self.anew()

    def anew(self) -> None:
        """Begin with nobody inside: in a forked process there is one thread, and a lock may have been another's."""
        self._lock, self._inside, self._before = Lock(), 0, None

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                if self._libraries is None:
                    from threadpoolctl import ThreadpoolController  # scikit-learn needs it, so that it is there

                    self._libraries = ThreadpoolController()
                self._before = self._libraries.limit(limits=1, user_api="blas")

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0 and self._before is not None:
                self._before.restore_original_limits()


_ONE_CORE = _OneCore()
os.register_at_fork(after_in_child=_ONE_CORE.anew)


def on_one_core(function: Call) -> Call:
    """Let products of matrices within a function use one core; it may itself begin threads for large ones.

    Products of a few dozen functions take well below a millisecond. On two cores that other programs use too they took
    three times as long, and thirty times the work.

    >>> on_one_core(max)(1, 2)
    2
    """

    @wraps(function)
    def called(*arguments: Any, **named: Any) -> Any:
        with _ONE_CORE:
            return function(*arguments, **named)

    return called  # type: ignore[return-value]
