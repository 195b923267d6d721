"""Kernels, compiled or not.

A kernel takes up to four seconds to compile, once on a machine, and many a table is so small that all its questions are
answered sooner in plain Python. So kernels that are not compiled yet are interpreted, until that has taken two seconds
in all; from then on each is compiled when it is needed. The answers are the same, to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import CFUNCTYPE, c_double
from functools import cache
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np

__all__ = ["cheapest", "compile_all", "interpreted", "kernels_ready", "told_of_compiling"]

PATIENCE, AT_ONCE = 2e9, 2e8  # ns that kernels are interpreted for, in a process and in one call

_READY: set[Any] = set()  # a look into the folder takes as long as a small search
_ABSENT: set[Any] = set()
_ALL = "all"
_SPENT = [0.0]


def compile_all() -> None:
    """Have every kernel compiled when it is first needed from now on, also where data are too small for that to pay."""
    _READY.add(_ALL)


def kernels_ready(kernel: Any) -> bool:
    """Whether a kernel has been compiled on this machine before, or is to be."""
    if kernel not in _READY and _ALL not in _READY:
        if not hasattr(kernel, "_cache"):  # NUMBA_DISABLE_JIT: there is nothing to compile
            return True
        place, name = Path(kernel._cache.cache_path), kernel.py_func.__name__
        if not kernel.signatures and (kernel in _ABSENT or not any(place.glob(f"*.{name}-*.nbi"))):
            _ABSENT.add(kernel)
            return False
        _READY.add(kernel)
    return True


def cheapest(kernel: Any, ns: float, twin: Callable[..., Any] | None = None) -> Any:
    """Return what one call of a kernel is best left to: compiled code, or plain Python while that is sooner done.

    Parameters
    ----------
    kernel : function compiled by Numba
    ns : float
        About how long plain Python takes for this call.
    twin : callable, optional
        A function without a compiler that does the same; by default the kernel itself, interpreted.
    """
    if kernels_ready(kernel) or ns > AT_ONCE or _SPENT[0] + ns > PATIENCE:
        return kernel
    _SPENT[0] += ns
    return interpreted(kernel) if twin is None else twin


@cache
def interpreted(kernel: Any) -> Callable[..., Any]:
    """Return a kernel, with all kernels that it calls, as plain Python; like compiled code it does not warn."""
    silent: Callable[..., Any] = np.errstate(all="ignore")(_as_python(kernel))
    return silent


@cache
def _as_python(kernel: Any) -> Callable[..., Any]:
    if not hasattr(kernel, "py_func"):  # NUMBA_DISABLE_JIT: it is plain Python already
        return kernel  # type: ignore[no-any-return]
    function = kernel.py_func
    names = dict(function.__globals__)
    for name in function.__code__.co_names:
        if hasattr(names.get(name), "py_func"):
            names[name] = _as_python(names[name])
        elif names.get(name) is math:
            names[name] = _math_of_compiled_code()
    return FunctionType(function.__code__, names, function.__name__)


@cache
def _math_of_compiled_code() -> SimpleNamespace:
    """Return `math` with the lgamma of the C library, which compiled code calls: that of Python has other last bits."""
    from llvmlite.binding import address_of_symbol  # type: ignore[import-untyped]

    address = address_of_symbol("lgamma")
    lgamma = math.lgamma if address is None else CFUNCTYPE(c_double, c_double)(address)
    return SimpleNamespace(**{**vars(math), "lgamma": lgamma})


@contextmanager
def told_of_compiling(tell: Callable[[], None]) -> Iterator[None]:
    """Call a function before a kernel is compiled, the first time that one is."""
    from numba.core.event import Event, Listener, install_listener

    class Teller(Listener):
        told = False

        def on_start(self, event: Event) -> None:
            if not self.told:
                self.told = True
                tell()

        def on_end(self, event: Event) -> None:
            """Nothing ends that is of interest."""

    with install_listener("numba:compile", Teller()):
        yield
