"""A property that is computed once, without a lock."""

from __future__ import annotations

import functools
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
