"""What a cluster that fails is said to have done; `tests/test_engines.py` has clusters that work, and lose workers."""

from concurrent.futures import CancelledError

import pytest

from blankets.counting._dask import DaskCounter
from blankets.errors import EngineError

distributed = pytest.importorskip("distributed")


class Future:
    def __init__(self, error):
        self.error = error

    def result(self, timeout):
        raise self.error


class Killed(distributed.KilledWorker):
    def __init__(self):  # versions differ in what they take
        pass

    def __str__(self):
        return "tried four times"


class Client:
    def nthreads(self):
        raise OSError("Connection refused")


def failing(client=None):
    counter = DaskCounter.__new__(DaskCounter)
    counter.client = client
    return counter


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (Killed(), "workers fail at the task: tried four times; give them more memory"),
        (CancelledError(), "the cluster has cancelled the work; its scheduler may have stopped"),
    ],
)
def test_work_that_ends_without_an_answer(error, said):
    with pytest.raises(EngineError, match=said):
        failing()._result(Future(error))


def test_a_scheduler_that_is_gone():
    with pytest.raises(EngineError, match="connection to the Dask scheduler is lost: Connection refused"):
        failing(Client())._result(Future(TimeoutError()))
