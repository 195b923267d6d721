"""Progress where somebody watches, and logging where somebody listens."""

import logging
import sys
import types

import numpy as np

import blankets as bl
from blankets._progress import told


def table():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 300)
    return {"a": a, "b": (a + (rng.random(300) < 0.1)) % 2, "c": rng.integers(0, 2, 300)}


def test_nobody_watches_a_log_file(capsys):
    with told("working", quiet=False) as tell:
        assert tell is None
    assert capsys.readouterr().err == ""


def test_a_notebook_is_watched(monkeypatch):
    class ZMQInteractiveShell:
        pass

    ipython = types.SimpleNamespace(get_ipython=ZMQInteractiveShell)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    with told("working", quiet=False) as tell:
        assert callable(tell)
        tell("still working")
    with told("working", quiet=True) as tell:
        assert tell is None


def test_answers_and_decisions_are_logged(caplog):
    with caplog.at_level(logging.DEBUG, logger="blankets"):
        bl.discover(table(), "a", algorithm="iamb")
    messages = [record.getMessage() for record in caplog.records]
    assert any(m.startswith("a: ('b',) by iamb") for m in messages)
    assert any(m.startswith("growing: b admitted") for m in messages)


def test_the_library_is_silent_by_default(capsys):
    bl.discover(table(), "a", algorithm="iamb")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")
