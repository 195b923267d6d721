"""Progress where somebody watches, and logging where somebody listens."""

import logging
import sys
import types

import numpy as np
import pytest

import blankets as bl
from blankets.study import status_line


def table():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 300)
    return {"a": a, "b": (a + (rng.random(300) < 0.1)) % 2, "c": rng.integers(0, 2, 300)}


def test_nobody_watches_a_log_file(capsys):
    with status_line("working", quiet=False) as tell:
        assert tell is None
    assert capsys.readouterr().err == ""


@pytest.fixture
def cell(monkeypatch):
    """A notebook's cell that keeps what it was shown, one text after the other."""
    shown = []

    class ZMQInteractiveShell:
        pass

    def display(text, *, display_id):
        assert display_id
        shown.append(text)
        return types.SimpleNamespace(update=shown.append)

    ipython = types.ModuleType("IPython")
    ipython.get_ipython = ZMQInteractiveShell
    ipython.display = types.ModuleType("IPython.display")
    ipython.display.HTML, ipython.display.display = str, display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", ipython.display)
    return shown


def test_a_notebook_is_told_under_its_cell(cell, monkeypatch):
    monkeypatch.setattr("blankets.study._progress._BETWEEN_LINES", 0.0)
    bl.discover(table(), "a", algorithm="iamb", progress=True)
    assert cell[0] == "<small>reading the data (0 s)</small>"
    assert any("iamb on &#x27;a&#x27;: growing" in text for text in cell)
    assert cell[-1] == ""  # the line is gone afterwards


def test_a_notebook_is_not_flooded_and_cleared_whatever_happens(cell):
    def work():
        with status_line("working", quiet=False) as tell:
            for _ in range(1000):
                tell("still working")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    assert len(cell) < 10
    assert cell[-1] == ""


def test_quiet_is_quiet_in_a_notebook_too(cell):
    with status_line("working", quiet=True) as tell:
        assert tell is None
    assert cell == []


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
