"""Read one column beside a table: by its name, or as values."""

from __future__ import annotations

from typing import Any

from blankets.data._columns import Column
from blankets.data._reading import DEFAULT, Reading
from blankets.data._store import Store, is_store
from blankets.data._tables import open_table
from blankets.data._units import column_for, numbers_of

__all__ = ["column_beside", "numbers_of"]


def column_beside(data: Any, option: str, value: object, reading: Reading = DEFAULT) -> Column:
    """Return the column that an option names, or whose values it holds; every row needs a value.

    ``reading``: how the file is read, if the table is one.

    Examples
    --------
    >>> column_beside({"x": [1, 2], "chance": [0.5, 0.25]}, "propensity", "chance").values.tolist()
    [0.5, 0.25]
    """
    store = data if isinstance(data, Store) else Store.open(data) if is_store(data) else None
    column, _ = column_for(open_table(data if store is None else store.frame, reading.of_files), option, value)
    return column
