"""Fill a frame column by column, without a second copy of the data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blankets.data._blocks import NARROW, DenseColumns, NumberColumn, digest
from blankets.data._frame import Frame

NARROW_CODES, WIDE, NUMBERS = range(3)  # how columns are stored


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
        self._kinds: list[int] = []
        self._digests: list[bytes | None] = []
        self._numbers: dict[int, NumberColumn] = {}
        self._ordered: list[int] = []
        self._holes: set[int] = set()

    def add(
        self,
        name: str,
        codes: NDArray[np.integer[Any]],
        levels: tuple[object, ...],
        wanted: Callable[[str, bytes], bool] | None = None,
        *,
        holes: bool = False,
        ordered: bool = False,
    ) -> bool:
        """Add a column unless ``wanted`` refuses its name and hash of codes; return whether it was added."""
        wide = len(levels) + holes > NARROW
        at = len(self._names) - len(self._wide) - len(self._numbers)
        row: NDArray[Any] = codes.astype(np.int32) if wide else self._narrow[at]
        if not wide:
            row[:] = codes
        made = digest(row)
        if wanted is not None and not wanted(name, made):
            return False
        if wide:
            self._wide.append(row)
        if ordered:
            self._ordered.append(len(self._names))
        self._added(name, levels, WIDE if wide else NARROW_CODES, made, holes=holes)
        return True

    def add_number(
        self, name: str, column: NumberColumn, wanted: Callable[[str, bytes], bool] | None = None, *, holes: bool
    ) -> bool:
        """Add a column of numbers in the same way; those that are missing are NaN."""
        if wanted is not None and not wanted(name, column.digest()):
            return False
        self._numbers[len(self._names)] = column
        self._added(name, (), NUMBERS, None, holes=holes)
        return True

    def _added(self, name: str, levels: tuple[object, ...], kind: int, made: bytes | None, *, holes: bool) -> None:
        if holes:
            self._holes.add(len(self._names))
        self._names.append(name)
        self._levels.append(levels)
        self._kinds.append(kind)
        self._digests.append(made)

    def frame(self) -> Frame:
        """Return the frame."""
        kinds = np.array(self._kinds, dtype=np.int64)
        blocks: list[DenseColumns] = []
        block_of, position = np.zeros(len(kinds), np.int64), np.zeros(len(kinds), np.int64)
        for kind in sorted(set(self._kinds)):
            here = np.flatnonzero(kinds == kind)
            block_of[here], position[here] = len(blocks), np.arange(len(here)) if kind != NUMBERS else 0
            blocks.append(self._block(kind, len(here)))
        places = zip(block_of.tolist(), position.tolist(), strict=True)
        digests = {place: made for place, made in zip(places, self._digests, strict=True) if made is not None}
        names, levels = tuple(self._names), tuple(self._levels)
        kept = digests, frozenset(self._holes), self._numbers, frozenset(self._ordered)
        return Frame(names, levels, self.n_rows, tuple(blocks), block_of, position, *kept)

    def _block(self, kind: int, n: int) -> DenseColumns:
        """Return the codes of columns of one kind; numbers share a column of zeros."""
        if kind == NUMBERS:
            return DenseColumns(np.zeros((1, self.n_rows), np.uint8))
        return DenseColumns(np.stack(self._wide) if kind == WIDE else self._narrow[:n])
