"""A GPU for tests: the one that is there, or Numba's simulation of one with few threads, each of which is Python's."""

import contextlib
import sys

import numba

from blankets.counting import _gpu

SIMULATED = bool(numba.config.ENABLE_CUDASIM)
FEW = {"THREADS": 4, "LANES": 2, "FEWEST_BLOCKS": 1, "MOST_BLOCKS": 2, "FEWEST_WORDS": 1, "FEWEST_ROWS": 64}


@contextlib.contextmanager
def small_gpu(monkeypatch):
    """Have kernels work in several blocks of several threads also on few rows."""
    if not SIMULATED:
        yield
        return
    for name, value in {**FEW, "BITS_WIN_BELOW": 24}.items():
        monkeypatch.setattr(_gpu, name, value)
    before = sys.getswitchinterval()
    sys.setswitchinterval(5e-4)  # threads that wait for each other do so by asking again and again
    try:
        yield
    finally:
        sys.setswitchinterval(before)
