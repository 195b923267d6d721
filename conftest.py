"""All tests run on all cores, a few named ones in this process: starting workers takes longer than they do.

Where there is no GPU, Numba simulates one, which has to be said before it is imported.
"""

from __future__ import annotations

import ctypes
import os

import pytest


def has_gpu() -> bool:
    """Tell whether the driver of NVIDIA's GPUs is there, and finds one."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    n = ctypes.c_int(0)
    return driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(n)) == 0 and n.value > 0


if not has_gpu():
    os.environ.setdefault("NUMBA_ENABLE_CUDASIM", "1")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Answer ``-n auto``: no workers if files were named, else as many as xdist would start."""
    return 0 if config.args_source is pytest.Config.ArgsSource.ARGS else None
