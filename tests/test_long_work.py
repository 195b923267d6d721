"""Work that takes long: how much is left, what is kept when the user stops it, and what does not fit is refused."""

import os
import pickle
import re
import signal
import time
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

import numpy as np
import pandas as pd
import pytest

import blankets as bl
from blankets.cli._main import run
from blankets.data import _room
from blankets.errors import DataError, Interrupted, ParameterError
from blankets.study._work import Countdown, can_fork, carried_out, forked


def table(n=300, columns=6):
    rng = np.random.default_rng(0)
    data = {"x0": rng.integers(0, 2, n)}
    for j in range(1, columns):
        data[f"x{j}"] = np.where(rng.random(n) < 0.15, 1 - data[f"x{j - 1}"], data[f"x{j - 1}"])
    return pd.DataFrame(data)


def members(found):
    return {target: blanket.members for target, blanket in found.items()}


class Stopper:
    """Listens to progress, and stops the work when it hears a word."""

    def __init__(self, word, how):
        self.word, self.how, self.said = word, how, []

    def __call__(self, sentence):
        self.said.append(sentence)
        if re.search(self.word, sentence) and self.how is not None:
            how, self.how = self.how, None
            how()


def interrupt():
    raise KeyboardInterrupt


@pytest.fixture
def ctrl_c():
    """Have Ctrl-C heard, also where the tests run in the background of a shell, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class TestManyTargets:
    def test_what_is_left_is_told(self):
        said = []
        bl.discover_all(table(), algorithm="iamb", progress=said.append)
        counts = [sentence for sentence in said if " of 6 targets" in sentence]
        assert any(re.fullmatch(r"2 of 6 targets, about .* left", sentence) for sentence in counts)
        assert any(re.fullmatch(r"2 of 6 targets, about .* left; iamb on 'x2': growing", s) for s in said)
        assert counts[-1] == "6 of 6 targets"

    @pytest.mark.parametrize("word", ["^2 of 6 targets, about [^;]*$", "on 'x2': growing"])
    def test_blankets_that_are_finished_are_kept(self, word):
        with pytest.raises(Interrupted, match="2 of 6 targets are done, and in the attribute 'found'") as caught:
            bl.discover_all(table(), algorithm="iamb", progress=Stopper(word, interrupt))
        found = caught.value.found
        assert isinstance(found, bl.Blankets)
        assert list(found) == ["x0", "x1"]
        assert caught.value.target == "x2"
        whole = members(bl.discover_all(table(), algorithm="iamb"))
        assert members(found).items() <= whole.items()

    def test_the_rest_can_be_asked_for(self):
        with pytest.raises(Interrupted) as caught:
            bl.discover_all(table(), algorithm="iamb", progress=Stopper("^3 of", interrupt))
        found = caught.value.found
        rest = bl.discover_all(table(), [x for x in table().columns if x not in found], algorithm="iamb")
        assert {**members(found), **members(rest)} == members(bl.discover_all(table(), algorithm="iamb"))

    def test_ctrl_c_reaches_the_threads(self, monkeypatch, ctrl_c):
        monkeypatch.setattr("blankets.questions.discover.THREADS_WIN_ABOVE", 0)
        pressed = []

        def press():
            pressed.append(os.kill(os.getpid(), signal.SIGINT))  # to the process, as a terminal does

        stopper = Stopper("^4 of 40", press)

        def progress(sentence):
            stopper(sentence)
            if pressed:
                time.sleep(0.02)  # the threads must not be done before it is heard

        with pytest.raises(Interrupted) as caught:
            bl.discover_all(table(2000, 40), algorithm="iamb", n_jobs=2, progress=progress)
        assert 4 <= len(caught.value.found) < 40
        whole = members(bl.discover_all(table(2000, 40), algorithm="iamb"))
        assert members(caught.value.found).items() <= whole.items()

    def test_a_stopped_run_continues_from_its_checkpoint(self, tmp_path):
        about = {"algorithm": "iamb", "engine": bl.Engine(checkpoint=tmp_path / "run.jsonl")}
        with pytest.raises(Interrupted):
            bl.discover_all(table(), **about, progress=Stopper("^3 of", interrupt))
        size = (tmp_path / "run.jsonl").stat().st_size
        assert size > 0
        again = bl.discover_all(table(), **about)
        assert members(again) == members(bl.discover_all(table(), algorithm="iamb"))
        assert (tmp_path / "run.jsonl").read_bytes()[:size].count(b"\n") > 3

    def test_threads_and_one_thread_give_the_same(self, monkeypatch):
        one = bl.discover_all(table(), algorithm="pcmb", n_jobs=1)
        monkeypatch.setattr("blankets.questions.discover.THREADS_WIN_ABOVE", 0)
        assert members(bl.discover_all(table(), algorithm="pcmb", n_jobs=3)) == members(one)

    def test_an_error_in_one_target_is_the_error_of_all(self, monkeypatch):
        monkeypatch.setattr("blankets.questions.discover.THREADS_WIN_ABOVE", 0)
        with pytest.raises(ParameterError, match="'k' must be"):
            bl.discover_all(table(), algorithm="fbed", n_jobs=2, options={"k": -1})


class TestDraws:
    def test_what_is_left_is_told(self):
        said = []
        bl.stability(table(), "x1", algorithm="iamb", n_resamples=4, rng=0, n_jobs=1, progress=said.append)
        assert re.fullmatch(r"1 of 4 draws, about .* left", said[0])
        assert said[-1] == "4 of 4 draws"

    def test_draws_that_are_done_are_kept(self):
        with pytest.raises(Interrupted, match="3 of 8 draws are done") as caught:
            bl.stability(
                table(), "x1", algorithm="iamb", n_resamples=8, rng=0, n_jobs=1, progress=Stopper("^3 of", interrupt)
            )
        kept = caught.value.found
        assert (type(kept), kept.n_resamples) == (bl.Stability, 3)
        assert kept.frequency["x0"] == kept.frequency["x2"] == 1.0

    def test_nothing_done_is_nothing_kept(self, monkeypatch):
        monkeypatch.setattr("blankets.questions.stability.rows_drawn", lambda *a: [np.arange(300)])
        monkeypatch.setattr("blankets.study.Study.take", lambda self, rows: interrupt())
        with pytest.raises(Interrupted) as caught:
            bl.stability(table(), "x1", algorithm="iamb", n_resamples=1, n_jobs=1)
        assert not caught.value.found

    def test_at_a_terminal(self, tmp_path, capsys, monkeypatch):
        table().to_csv(tmp_path / "t.csv", index=False)
        kept = bl.stability(table(), "x1", algorithm="iamb", n_resamples=3, rng=0)

        def stopped(*args, **choices):
            raise Interrupted("x1", found=kept, done="3 of 100 draws are done")

        monkeypatch.setattr("blankets.stability", stopped, raising=False)
        assert run(["stability", str(tmp_path / "t.csv"), "-t", "x1"]) == 130
        out, err = capsys.readouterr()
        assert out.startswith("Stability of the Markov blanket of x1 over 3 subsamples")
        assert "3 of 100 draws are done" in err


def test_an_interruption_survives_pickling():
    kept = bl.discover_all(table(), ["x0"], algorithm="iamb")
    again = pickle.loads(pickle.dumps(Interrupted("x1", ["x0"], "growing", kept, "1 of 2 targets are done")))
    assert (again.target, again.members, again.phase, again.done) == (
        "x1",
        ("x0",),
        "growing",
        "1 of 2 targets are done",
    )
    assert members(again.found) == members(kept)


def test_pieces_that_have_not_begun_are_left():
    done, stop = {}, Event()

    def task(number):
        if number == 2:
            raise KeyboardInterrupt
        return number

    tasks = [lambda n=n: task(n) for n in range(50)]
    with pytest.raises(KeyboardInterrupt):
        carried_out(tasks, done, 1, count=Countdown(50, "pieces", None), stop=stop)
    assert done == {0: 0, 1: 1}
    with pytest.raises(KeyboardInterrupt):
        carried_out(tasks, done, 2, count=Countdown(50, "pieces", None), stop=stop)
    assert stop.is_set()
    before = dict(done)
    carried_out(tasks[3:], done, 2, count=Countdown(47, "pieces", None), stop=stop)
    assert done == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no such processes here")
class TestProcesses:
    here = os.getpid()

    def done_by(self, task, n=7, n_jobs=3):
        done, said = {}, []
        forked([lambda k=k: task(k) for k in range(n)], done, n_jobs, count=Countdown(n, "pieces", said.append))
        assert len(said) == n
        return done

    def test_bring_back_what_tasks_return(self):
        done = self.done_by(lambda k: (k * k, "é" * 100_000, os.getpid()))
        assert {k: v[0] for k, v in done.items()} == {k: k * k for k in range(7)}
        assert {len(v[1]) for v in done.values()} == {100_000}
        assert {done[k][2] for k in (0, 3, 6)} == {self.here}  # this one is one of them, and may help the others

    def test_what_one_does_not_bring_to_an_end_is_done_here(self):
        def task(k):
            if k == 4 and os.getpid() != self.here:
                os.kill(os.getpid(), signal.SIGKILL)
            return os.getpid() == self.here

        done = self.done_by(task)
        assert sorted(done) == list(range(7))
        assert done[4]

    def test_nobody_waits_for_a_process_that_gets_no_time(self):
        def task(k):
            time.sleep(5.0 if k == 1 and os.getpid() != self.here else 0.001)
            return os.getpid() == self.here

        began = time.perf_counter()
        done = {}
        with suppress(KeyboardInterrupt):
            forked([lambda k=k: task(k) for k in range(9)], done, 2, count=Countdown(9, "pieces", self.stop_after(8)))
        assert done == {k: True for k in range(9) if k != 1}  # all that it had not begun
        assert time.perf_counter() - began < 4.0

    @staticmethod
    def stop_after(n):
        def said(sentence):
            if sentence.startswith(f"{n} of"):
                raise KeyboardInterrupt

        return said

    def test_an_error_is_raised_here_and_no_process_is_left(self, monkeypatch):
        children, fork = [], os.fork
        monkeypatch.setattr(os, "fork", lambda: children.append(fork()) or children[-1])
        with pytest.raises(ZeroDivisionError):
            self.done_by(lambda k: 1 // (4 - k))
        assert len(children) == 2
        for child in children:
            with pytest.raises(ChildProcessError):
                os.waitpid(child, os.WNOHANG)

    def test_none_is_begun_for_little_work(self, monkeypatch):
        monkeypatch.setattr(os, "fork", lambda: pytest.fail("a process was begun"))
        done, count = {}, Countdown(7, "pieces", None)
        forked([lambda k=k: k for k in range(7)], done, 3, count=count, least=10.0)
        assert done == {k: k for k in range(7)}

    def test_the_first_piece_tells_how_much_work_there_is(self):
        done, count = {}, Countdown(3, "pieces", None)
        forked([lambda: time.sleep(0.02) or os.getpid()] * 3, done, 2, count=count, least=0.03)
        assert [done[k] == self.here for k in range(3)] == [True, True, False]

    def test_a_stopped_user_gets_what_is_done(self):
        done = {}

        def stop(sentence):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            forked([lambda: 1, lambda: time.sleep(60)], done, 2, count=Countdown(2, "pieces", stop))
        assert done == {0: 1}

    def test_draws_are_the_same(self, monkeypatch):
        used = []
        monkeypatch.setattr("blankets.study._resampling.can_fork", lambda: used.append(1) or True)
        alone, together = (bl.stability(table(), "x2", n_resamples=6, rng=3, n_jobs=n) for n in (1, 2))
        assert used
        assert (alone.frequency, alone.mean_size) == (together.frequency, together.mean_size)

    def test_not_beside_other_threads(self):
        stop = Event()
        other = Thread(target=stop.wait)
        other.start()
        assert not can_fork()
        stop.set()
        other.join()


class TestRoom:
    def test_what_does_not_fit_is_refused_with_what_would(self, monkeypatch):
        monkeypatch.setattr(_room, "free_memory", lambda: 1200)
        message = (
            r"300 rows and 7 columns need 0\.00 GB of memory, and 0\.00 GB are free: 4 columns would fit "
            r"\(columns=.*\), or 171 rows; or write the table to Parquet files"
        )
        with pytest.raises(DataError, match=message):
            bl.discover(table(), "x1")
        with pytest.raises(DataError, match=r"0 columns would fit .*, or 25 rows"):
            bl.discover(table(), "x1", test="fisher-z")

    def test_what_fits_is_read(self, monkeypatch):
        monkeypatch.setattr(_room, "free_memory", lambda: 300 * 7)
        assert bl.discover(table(), "x1", algorithm="iamb").members == ("x0", "x2")

    def test_systems_that_do_not_say_are_trusted(self, monkeypatch):
        monkeypatch.setattr(_room, "Path", lambda name: Path("/no such folder") / "file")
        assert _room.free_memory() == _room.UNKNOWN


@pytest.mark.parametrize("checkpoint", [5, 0.5, ["a"], True])
def test_a_checkpoint_is_a_path(checkpoint):
    with pytest.raises(ParameterError, match="'checkpoint' must be the path of a file, but it is"):
        bl.discover(table(), "x1", engine=bl.Engine(checkpoint=checkpoint))


def test_tests_are_counted_for_the_target_that_asked(monkeypatch):
    """With four threads, every test is counted once, and for one target."""
    monkeypatch.setattr("blankets.questions.discover.THREADS_WIN_ABOVE", 0)
    for algorithm in ("iamb", "pcmb"):
        found = bl.discover_all(table(800, 12), algorithm=algorithm, n_jobs=4)
        assert sum(blanket.n_tests for blanket in found.values()) == found.n_tests
    alone = {x: bl.discover(table(800, 12), x, algorithm="iamb", test="g").n_tests for x in ("x0", "x5")}
    many = bl.discover_all(table(800, 12), algorithm="iamb", test="g", n_jobs=4)
    assert all(many[x].n_tests <= alone[x] for x in alone)  # what another target has asked is known
