"""Linear algebra on one core, and as it was afterwards."""

import threading

from threadpoolctl import threadpool_info

from blankets.counting import on_one_core


def cores():
    """Threads of the library that NumPy multiplies matrices with; others may be loaded later, by SciPy."""
    return {library["num_threads"] for library in threadpool_info() if "numpy" in library["filepath"]}


def test_cores_are_given_back_by_the_last_thread_that_leaves():
    before, inside, leave = cores(), threading.Event(), threading.Event()

    @on_one_core
    def waiting():
        inside.set()
        leave.wait(10)
        return cores()

    @on_one_core
    def short():
        return cores()

    first = threading.Thread(target=waiting)
    first.start()
    assert inside.wait(10)
    assert short() == {1}
    assert cores() == {1}  # the other one is still inside
    leave.set()
    first.join()
    assert cores() == before
