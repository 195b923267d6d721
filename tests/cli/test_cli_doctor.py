"""`blankets doctor`: what is installed, what is missing, what is wrong, and what to do about it."""

import json
import os

import numpy as np
import pytest

import blankets
from blankets.cli import _doctor
from blankets.cli._main import run


def findings(capsys, code=0):
    assert run(["doctor", "--json"]) == code
    return {finding["name"]: finding for finding in json.loads(capsys.readouterr().out)}


def test_a_healthy_installation(monkeypatch, capsys):
    monkeypatch.setattr(_doctor, "kernels_in_use", lambda: True)
    found = findings(capsys)
    assert found["blankets"]["found"].startswith(f"{blankets.__version__}, Python 3.")
    assert found["numpy"] == {"state": "ok", "name": "numpy", "found": np.__version__, "advice": ""}
    assert {finding["state"] for finding in found.values()} <= {"ok", "missing"}
    assert {"scipy", "pyarrow", "matplotlib", "kernels", "answers", "threads", "GPU", "cache"} <= set(found)
    assert "pytest" not in found  # for developers
    assert run(["doctor"]) == 0
    assert capsys.readouterr().out.endswith("\nNothing is wrong.\n")


def test_optional_packages_are_no_fault(monkeypatch, capsys):
    monkeypatch.setattr(_doctor, "version_of", lambda package: None if package == "matplotlib" else "3000.1")
    monkeypatch.setattr(_doctor, "kernels_in_use", lambda: True)
    assert findings(capsys)["matplotlib"] == {
        "state": "missing",
        "name": "matplotlib",
        "found": "not installed; only needed for: plot",
        "advice": "if you want that, install it with: pip install 'blankets[plot]'",
    }


@pytest.mark.parametrize(("version", "said"), [(None, "not installed"), ("1.26.4", "1.26.4 is too old")])
def test_needed_packages_are(monkeypatch, capsys, version, said):
    real = _doctor.version_of
    monkeypatch.setattr(_doctor, "version_of", lambda package: version if package == "numpy" else real(package))
    found = findings(capsys, code=1)
    assert (found["numpy"]["state"], found["numpy"]["found"]) == ("wrong", said)
    assert found["numpy"]["advice"].endswith(" with: pip install 'numpy>=2.0'")
    assert "answers" not in found  # nothing would work
    assert run(["doctor"]) == 1
    assert "\n1 of these lines need your attention.\n" in capsys.readouterr().out


@pytest.mark.parametrize("by_wish", [False, True])
def test_kernels_that_are_not_compiled(monkeypatch, capsys, by_wish):
    monkeypatch.setattr(_doctor, "kernels_in_use", lambda: False)
    monkeypatch.setenv("BLANKETS_UNCOMPILED", "1" if by_wish else "")
    found = findings(capsys, code=1)["kernels"]
    assert found["state"] == "wrong"
    assert found["advice"] == "remove that variable" if by_wish else "ziglang" in found["advice"]


def test_an_answer_that_is_wrong(monkeypatch, capsys):
    monkeypatch.setattr(_doctor, "kernels_in_use", lambda: True)
    monkeypatch.setattr(blankets, "test", lambda *_, **__: type("Wrong", (), {"statistic": 1.0}))
    found = findings(capsys, code=1)["answers"]
    # 2 * (30 log(30 * 80 / (40 * 45)) + 10 log(10 * 80 / (40 * 35)) + 15 log(15 * 80 / ...) + 25 log(...)), by hand
    assert "its answer is wrong: G is 1 in place of 11.7" in found["found"]


def test_fewer_cores_than_the_machine_has(monkeypatch, capsys):
    monkeypatch.setattr(_doctor, "kernels_in_use", lambda: True)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2}, raising=False)
    assert findings(capsys)["threads"]["found"] == "64, but this process may use 3 cores"
