"""Commands say on standard error that kernels are compiled; whether they are here depends on what ran before."""

from contextlib import nullcontext

import pytest


@pytest.fixture(autouse=True)
def _nothing_said_of_compiling(monkeypatch):
    monkeypatch.setattr("blankets.compiling.told_of_compiling", lambda tell: nullcontext())
