"""Every public entry raises errors of this package only, with their cause; and waits for no lock that a fork copied."""

import inspect
import os
import signal
import subprocess
import sys
import threading
import time
from importlib import import_module

import pytest

import blankets as bl
from blankets.caching import cached_property
from blankets.errors import BlanketsError, EngineError, InternalError, Interrupted, own_errors

HOMES = ("blankets", "blankets.plots", "blankets.report", "blankets.simulate", "blankets.simulate.measures")
UNGUARDED = {  # why
    "IndependenceTest": "contract of the waist: each of these asks 'scan', which is guarded",
    "Chunks": "contract of the road, for questions, which are guarded",
}
QUESTIONS = ("advise", "audit", "discover", "discover_all", "discover_latent", "estimate_prior", "mutual_information")
QUESTIONS += ("pack", "rank", "select", "sensitivity", "stability", "test", "best_dag")


def public_entries():
    """Yield every function that users are offered, and every method of a class, with its name and its owner."""
    for home in HOMES:
        module = import_module(home)
        for name in module.__all__:
            thing = getattr(module, name)
            if not inspect.isclass(thing):
                yield f"{home}.{name}", thing, ""
                continue
            for key in dir(thing):
                static = inspect.getattr_static(thing, key)
                owner = next((kind for kind in thing.__mro__ if key in vars(kind)), object)
                method = getattr(static, "__func__", static)
                unchecked = hasattr(thing, "__dataclass_fields__") and "__post_init__" not in dir(thing)
                making = {"__post_init__", "__call__"} | (set() if unchecked else {"__init__"})
                said = not key.startswith("_") or key in making
                if said and inspect.isfunction(method) and owner.__module__.startswith("blankets"):
                    yield f"{name}.{key}", method, owner.__name__


def test_every_public_entry_is_guarded():
    entries = {name: (entry, owner) for name, entry, owner in public_entries() if callable(entry)}
    assert len(entries) > 150
    bare = {name: owner for name, (entry, owner) in entries.items() if not hasattr(entry, "is_guarded")}
    assert {name for name, owner in bare.items() if owner not in UNGUARDED} == set()
    assert set(bare.values()) == set(UNGUARDED)  # none is excused in vain


class Bomb:
    """An argument that fails whatever is asked of it."""

    def __getattr__(self, name):
        raise ZeroDivisionError(name)

    def __bool__(self):
        raise ZeroDivisionError

    __iter__ = __len__ = __float__ = __index__ = __int__ = __getitem__ = __array__ = __fspath__ = __bool__


def test_arguments_that_fail_whatever_is_asked_of_them():
    functions = {name: entry for name, entry, owner in public_entries() if not owner and callable(entry)}
    for name, function in functions.items():
        parameters = [p for p in inspect.signature(function).parameters.values() if p.kind is not p.VAR_KEYWORD]
        needed = {p.name: Bomb() for p in parameters if p.default is p.empty}
        if needed:
            with pytest.raises((BlanketsError, TypeError)) as caught:  # scikit-learn's checks have a note
                function(**needed)
            assert isinstance(caught.value, BlanketsError) or hasattr(caught.value, "__notes__"), name


class Trap(dict):
    """A table whose reading fails in a way that nobody foresaw."""

    def __init__(self, error):
        super().__init__(a=[0, 1], t=[0, 1])
        self.error = error

    def __iter__(self):
        raise self.error

    keys = values = items = __len__ = __iter__


def arguments_of(name, folder):
    """Return arguments after the table, as many as the function must have."""
    found = {"path": str(folder / "store"), "x": "a", "y": "t", "target": "t", "columns": ["a"], "members": ["a"]}
    parameters = list(inspect.signature(getattr(bl, name)).parameters.values())[1:]
    return {p.name: found[p.name] for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD}


@pytest.mark.parametrize("name", QUESTIONS)
def test_an_unforeseen_error_becomes_ours(name, tmp_path):
    trap = Trap(ZeroDivisionError("the sky fell"))
    with pytest.raises(InternalError, match=r"ZeroDivisionError: the sky fell; if .*, please report") as caught:
        getattr(bl, name)(trap, **arguments_of(name, tmp_path))
    assert caught.value.__cause__ is trap.error
    assert isinstance(caught.value, bl.errors.BlanketsError)


@pytest.mark.parametrize(
    ("raised", "kind", "words"),
    [
        (MemoryError("Unable to allocate 7 GiB"), EngineError, r"memory ran out \(Unable to .*\); take fewer columns"),
        (MemoryError(), EngineError, "memory ran out; .* bl.pack"),
        (OSError(28, "No space left on device"), EngineError, "the system refused the work: OSError: .*No space left"),
        (RecursionError("deep"), InternalError, "RecursionError: deep"),
        (KeyboardInterrupt(), Interrupted, "stopped; nothing was found yet"),
    ],
)
def test_what_errors_become(raised, kind, words, tmp_path):
    with pytest.raises(kind, match=words):
        bl.discover(Trap(raised), "t")
    with pytest.raises(kind, match=words):
        bl.pack(Trap(raised), tmp_path / "store")


@pytest.mark.parametrize("error", [SystemExit(3), UserWarning("read this"), bl.errors.DataError("ours")])
def test_what_passes_as_it_is(error):
    with pytest.raises(type(error)) as caught:
        bl.discover(Trap(error), "t")
    assert caught.value is error


def test_an_error_of_the_users_own_function_is_the_users():
    def angry(sentence):
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        bl.discover({"a": [0, 1] * 50, "t": [0, 0, 1, 1] * 25}, "t", progress=angry)


def test_calls_that_do_not_fit_are_type_errors():
    for call in (lambda: bl.discover(), lambda: bl.pack(), lambda: bl.plan(1, 2, 3), lambda: bl.best_dag({}, 1)):
        with pytest.raises(TypeError):
            call()


def test_long_messages_are_cut():
    with pytest.raises(InternalError) as caught, own_errors():
        raise ValueError("x" * 10_000)
    assert len(str(caught.value)) < 500


class TestForks:
    def test_a_cached_property_is_worked_out_beside_another_thread(self):
        began, go_on = threading.Event(), threading.Event()

        class Slow:
            @cached_property
            def value(self):
                if threading.current_thread().name == "waits":
                    began.set()
                    go_on.wait(20)
                return object()

        waiting, other = Slow(), Slow()
        thread = threading.Thread(target=lambda: waiting.value, name="waits")
        thread.start()
        assert began.wait(20)
        first = other.value  # with a lock for the class, this would wait
        mine = waiting.value
        go_on.set()
        thread.join()
        assert other.value is first
        assert waiting.value is mine  # the first one is kept

    def test_no_room_uses_the_one_with_a_lock(self):
        folder = os.path.dirname(bl.__file__)
        found = subprocess.run(["grep", "-rln", "--include=*.py", "from functools import.*cached_property", folder])
        assert found.returncode == 1

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
    def test_children_forked_while_threads_ask_answer(self):
        # In a process of its own: a tracer of lines has locks too, which a forked child would wait for.
        plain = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
        done = subprocess.run([sys.executable, "-c", FORKS], env=plain, capture_output=True, text=True, timeout=240)
        assert done.stdout.split() == ["0"] * 10, done.stderr


FORKS = """
import os, signal, threading, warnings
import numpy as np
import blankets as bl
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
a = rng.integers(0, 3, 1500)
data = {f"x{i}": np.where(rng.random(1500) < 0.1 * i, a, rng.integers(0, 3, 1500)) for i in range(6)}
data["t"] = ((a > 0) ^ (rng.random(1500) < 0.1)).astype(int)
expected, stop = bl.discover(data, "t", algorithm="iamb").members, threading.Event()

def ask():
    while not stop.is_set():
        bl.discover(data, "t", algorithm="iamb")

def ends():
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # a child that hangs is killed by it
        os._exit(0 if bl.discover(data, "t", algorithm="iamb").members == expected else 3)
    return os.waitpid(child, 0)[1]

threads = [threading.Thread(target=ask) for _ in range(3)]
for thread in threads:
    thread.start()
print(*[ends() for _ in range(10)])
stop.set()
"""

SCRIPT = """
import sys, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np
rng = np.random.default_rng(0)
import blankets as bl
from blankets.errors import Interrupted
table = {f"x{i}": rng.integers(0, 3, 3000) for i in range(40)}
try:
    print("ready", flush=True)
    while True:
        bl.discover_all(table, algorithm="iamb")
except BaseException as stopped:
    print("ended", type(stopped).__name__, flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("wait", [0.0, 0.1, 0.3, 1.0, 3.0])
def test_ctrl_c_at_any_moment_even_while_kernels_are_loaded(wait):
    with subprocess.Popen([sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout.readline() == b"ready\n"
        time.sleep(wait)
        child.send_signal(signal.SIGINT)
        try:
            out, err = child.communicate(timeout=60)
        finally:
            child.kill()
    # Between two calls it is Python's own.
    assert out in (b"ended Interrupted\n", b"ended KeyboardInterrupt\n"), (out, err)
