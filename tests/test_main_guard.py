"""engine="dask" in a script that has no main guard says what to do."""

import multiprocessing
import subprocess
import sys

import pytest

import blankets as bl
from blankets.errors import EngineError

pytest.importorskip("distributed")

SCRIPT = """
import blankets as bl
bl.discover({"a": [0, 1] * 50, "b": [0, 1, 1, 0, 1] * 20, "t": [0, 0, 1, 1] * 25}, "t", engine="dask")
"""


def test_a_worker_that_runs_such_a_script_starts_no_workers(monkeypatch):
    monkeypatch.setattr(multiprocessing.current_process(), "_inheriting", True, raising=False)
    with pytest.raises(EngineError, match="below a line 'if __name__ == \"__main__\":'"):
        bl.discover({"a": [0, 1] * 50, "t": [0, 0, 1, 1] * 25}, "t", engine="dask")


@pytest.mark.slow
def test_a_script_without_a_main_guard_is_told_so(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=200, cwd=tmp_path)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("blankets.errors.EngineError: the workers of a cluster on this machine did not start")
    assert "if __name__ ==" in last
