"""Linear algebra on one core, and as it was afterwards."""

from threadpoolctl import threadpool_info

from blankets.counting import on_one_core
from blankets.counting._cores import _Call, _OneCore


def cores():
    """Threads of the library that NumPy multiplies matrices with; others may be loaded later, by SciPy."""
    return {library["num_threads"] for library in threadpool_info() if "numpy" in library["filepath"]}


def test_cores_are_given_back_by_the_last_call_that_leaves():
    before, one_core, first, second = cores(), _OneCore(), _Call(), _Call()
    one_core.enter(first)
    one_core.enter(second)
    one_core.leave(first)
    assert cores() == {1}  # the other one is still inside
    one_core.leave(second)
    assert cores() == before


def test_a_call_that_is_gone_is_not_inside():
    before, one_core, last = cores(), _OneCore(), _Call()
    one_core.enter(_Call())  # interrupted before it left
    one_core.enter(last)
    one_core.leave(last)
    assert cores() == before


def test_an_error_gives_cores_back():
    before = cores()
    try:
        on_one_core(int)("no number")
    except ValueError:
        pass
    assert cores() == before
