"""All tests run on all cores, a few named ones in this process: starting workers takes longer than they do."""

from __future__ import annotations

import os

import pytest

# The workers use all cores already: threads of linear algebra beside them wait for each other (twice the CPU time).
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Answer ``-n auto``: no workers if files were named, else as many as xdist would start."""
    return 0 if config.args_source is pytest.Config.ArgsSource.ARGS else None
