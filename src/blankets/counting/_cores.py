"""Small matrices on one core: where they are shared among several, these mostly wait for each other."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any
from weakref import WeakSet


class _Call:
    """A call that is inside; if it is interrupted while it leaves, it is gone all the same."""

    __slots__ = ("__weakref__",)


class _OneCore:
    """Limits linear algebra to one core while any call is inside; the last one that leaves undoes it."""

    def __init__(self) -> None:
        self._libraries: Any = None
        self.anew()

    def anew(self) -> None:
        """Begin with nobody inside: in a forked process there is one thread, and a lock may have been another's."""
        self._lock, self._inside, self._before = Lock(), WeakSet[_Call](), None

    def enter(self, call: _Call) -> None:
        """Limit the libraries, unless they are."""
        with self._lock:
            self._inside.add(call)
            if self._before is None:
                if self._libraries is None:
                    from threadpoolctl import ThreadpoolController  # scikit-learn needs it, so that it is there

                    self._libraries = ThreadpoolController()
                self._before = self._libraries.limit(limits=1, user_api="blas")

    def leave(self, call: _Call) -> None:
        """Undo it, unless another call is inside."""
        with self._lock:
            self._inside.discard(call)
            if not self._inside and self._before is not None:
                self._before.restore_original_limits()
                self._before = None


_ONE_CORE = _OneCore()
if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_ONE_CORE.anew)


@contextmanager
def on_one_core() -> Iterator[None]:
    """Let products of matrices use one core; what is inside may itself begin threads for large ones. A decorator, too.

    Products of a few dozen functions take well below a millisecond. On two cores that other programs use too they took
    three times as long, and thirty times the work; a search with machine labels 81 seconds instead of one.

    >>> with on_one_core():
    ...     print(max(1, 2))
    2
    """
    call = _Call()
    try:
        _ONE_CORE.enter(call)
        yield
    finally:
        _ONE_CORE.leave(call)
