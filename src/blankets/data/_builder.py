"""Fill a frame column by column, without a second copy of the data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blankets.data._frame import NARROW, DenseColumns, Frame, digest


class FrameBuilder:
    """Takes dense columns one by one.

    Memory for ``capacity`` columns of one byte per row is reserved at once; reserved memory that is
    never written to costs nothing.
    """

    def __init__(self, n_rows: int, capacity: int) -> None:
        self.n_rows = n_rows
        self._narrow = np.empty((capacity, n_rows), np.uint8)
        self._wide: list[NDArray[np.int32]] = []
        self._names: list[str] = []
        self._levels: list[tuple[object, ...]] = []
        self._is_wide: list[bool] = []
        self._digests: list[bytes] = []
        self._holes: set[int] = set()

    def add(
        self,
        name: str,
        codes: NDArray[np.integer[Any]],
        levels: tuple[object, ...],
        wanted: Callable[[str, bytes], bool] | None = None,
        *,
        holes: bool = False,
    ) -> bool:
        """Add a column unless ``wanted`` refuses its name and hash of codes; return whether it was added."""
        wide = len(levels) + holes > NARROW
        row: NDArray[Any] = codes.astype(np.int32) if wide else self._narrow[len(self._names) - len(self._wide)]
        if not wide:
            row[:] = codes
        made = digest(row)
        if wanted is not None and not wanted(name, made):
            return False
        if wide:
            self._wide.append(row)
        if holes:
            self._holes.add(len(self._names))
        self._names.append(name)
        self._levels.append(levels)
        self._is_wide.append(wide)
        self._digests.append(made)
        return True

    def frame(self) -> Frame:
        """Return the frame."""
        is_wide = np.array(self._is_wide, dtype=bool)
        blocks = [DenseColumns(self._narrow[: np.count_nonzero(~is_wide)])] if not is_wide.all() else []
        if self._wide:
            blocks.append(DenseColumns(np.stack(self._wide)))
        block_of = is_wide.astype(np.int64) if len(blocks) == 2 else np.zeros(len(is_wide), np.int64)
        position = np.where(is_wide, np.cumsum(is_wide), np.cumsum(~is_wide)).astype(np.int64) - 1
        digests = dict(zip(zip(block_of.tolist(), position.tolist(), strict=True), self._digests, strict=True))
        names, levels, holes = tuple(self._names), tuple(self._levels), frozenset(self._holes)
        return Frame(names, levels, self.n_rows, tuple(blocks), block_of, position, digests, holes)
