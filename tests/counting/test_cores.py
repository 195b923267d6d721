"""Linear algebra on one core, and as it was afterwards."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from blankets.counting import on_one_core
from blankets.counting._cores import _Call, _OneCore
from blankets.study import open_study


@pytest.fixture(autouse=True)
def two():
    """Two cores before; other tests have one."""
    with threadpool_limits(2, user_api="blas"):
        assert cores() == {2}
        yield


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
    with pytest.raises(ValueError, match="invalid literal"):
        on_one_core()(int)("no number")
    assert cores() == before


def test_a_question_about_numbers_is_answered_on_one_core():
    # Beside another program, a search with machine labels took 81 seconds and not one.
    rng = np.random.default_rng(0)
    table = {"a": rng.normal(size=300), "b": rng.normal(size=300)}
    for test in ("auto", "fisher-z"):
        with open_study(table, "b", test=test, numbers=True):
            assert cores() == {1}
        assert cores() == {2}
    with open_study({"a": np.arange(300) % 2, "b": np.arange(300) // 2 % 2}, "b", numbers=True):
        assert cores() == {2}
