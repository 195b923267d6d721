"""What is made when it is first used: a property, without a lock, and names whose modules are loaded late."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Self, TypeVar, overload

T = TypeVar("T")


class cached_property(functools.cached_property[T]):  # same name as the original
    """``functools.cached_property`` as in Python 3.12 and later.

    In Python 3.11 it holds one lock for all objects of a class while it computes: threads wait for each other, and a
    process that is forked meanwhile waits forever. Here two threads may both compute a value; the first one is kept.

    Examples
    --------
    >>> class Table:
    ...     @cached_property
    ...     def total(self):
    ...         return sum(range(5))
    >>> table = Table()
    >>> table.total, vars(table)
    (10, {'total': 10})
    """

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> T: ...
    def __get__(self, instance: object | None, owner: type[Any] | None = None) -> Self | T:
        """Return the value; called only if it was not computed yet."""
        if instance is None:
            return self
        kept: dict[str, T] = vars(instance)
        name = str(self.attrname)
        return kept[name] if name in kept else kept.setdefault(name, self.func(instance))


def loaded_late(room: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a ``__getattr__`` of a package that imports the module of a name when the name is first used.

    ``homes``: for each module, relative to the package, its names, separated by spaces.

    Examples
    --------
    >>> late = loaded_late("blankets", {".errors": "DataError"})
    >>> late("DataError").__name__
    'DataError'
    >>> late("Error")
    Traceback (most recent call last):
        ...
    AttributeError: module 'blankets' has no attribute 'Error'
    """
    home_of = {name: home for home, names in homes.items() for name in names.split()}

    def late(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        value = getattr(import_module(home_of[name], room), name)
        vars(sys.modules[room])[name] = value  # so that this function is not called again for the name
        return value

    return late
