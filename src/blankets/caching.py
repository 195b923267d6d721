"""A property that is worked out once, without a lock."""

from __future__ import annotations

import functools
from typing import Any, Self, TypeVar, overload

T = TypeVar("T")


class cached_property(functools.cached_property[T]):  # as the one that it stands for
    """``functools.cached_property`` as it is from Python 3.12 on.

    That of Python 3.11 holds one lock for all objects of a class while it works: threads wait for each other, and a
    process that is forked meanwhile waits for ever. Here two threads may both work a value out; the first one is kept.

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
        """Return the value; found here only where it has not been worked out."""
        if instance is None:
            return self
        kept: dict[str, T] = vars(instance)
        name = str(self.attrname)
        return kept[name] if name in kept else kept.setdefault(name, self.func(instance))
