"""Small matrices on one core: where they are shared among several, these mostly wait for each other."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any, TypeVar

Call = TypeVar("Call", bound=Callable[..., Any])


@cache
def _libraries() -> Any:
    """Return the libraries of linear algebra that are loaded; scikit-learn needs the package, so that it is there."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def on_one_core(function: Call) -> Call:
    """Let products of matrices within a function use one core; it may itself begin threads for large ones.

    Products of a few dozen functions take well below a millisecond. On two cores that other programs use too they took
    three times as long, and thirty times the work.

    >>> on_one_core(max)(1, 2)
    2
    """

    @wraps(function)
    def called(*arguments: Any, **named: Any) -> Any:
        with _libraries().limit(limits=1, user_api="blas"):
            return function(*arguments, **named)

    return called  # type: ignore[return-value]
