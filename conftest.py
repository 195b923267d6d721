"""All tests run on all cores, a few named ones in this process: starting workers takes longer than they do."""

from __future__ import annotations

import pytest


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Answer ``-n auto``: no workers if files were named, else as many as xdist would start."""
    return 0 if config.args_source is pytest.Config.ArgsSource.ARGS else None
