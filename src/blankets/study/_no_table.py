"""`NoTable`: the columns of a test that is its own data, such as `DSeparation`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class NoTable:
    """The names of columns whose rows only a test knows."""

    names: tuple[str, ...]
    n_rows: int  # rows behind the test; 0 if it has none

    @property
    def arities(self) -> NDArray[np.int64]:
        """Two levels, the fewest, for every column."""
        return np.full(len(self.names), 2, np.int64)

    def fingerprint(self) -> str:
        """Return nothing: there are no rows to recognize."""
        return ""
