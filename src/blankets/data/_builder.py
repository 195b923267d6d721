"""A frame filled column by column, without a second copy of the data and without repeated columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from blankets.data._frame import NARROW, DenseColumns, Frame, digest

__all__ = ["FrameBuilder"]


class FrameBuilder:
    """Takes dense columns one by one.

    ``capacity`` columns of one byte a row are set aside at once; memory that is never written to
    costs nothing.
    """

    def __init__(self, n_rows: int, capacity: int) -> None:
        self.n_rows = n_rows
        self._narrow = np.empty((capacity, n_rows), np.uint8)
        self._wide: list[NDArray[np.int32]] = []
        self._names: list[str] = []
        self._levels: list[tuple[object, ...]] = []
        self._is_wide: list[bool] = []
        self._digests: list[bytes | None] = []
        self._seen: dict[bytes, str] = {}
        self.last_digest = b""

    def add(
        self, name: str, codes: NDArray[np.integer[Any]], levels: tuple[object, ...], *, even_if_repeated: bool = False
    ) -> str | None:
        """Add a column; or leave it and return the name of the earlier one that it repeats, code by code."""
        wide = len(levels) > NARROW
        row: NDArray[Any] = codes.astype(np.int32) if wide else self._narrow[len(self._names) - len(self._wide)]
        if not wide:
            row[:] = codes
        self.last_digest = digest(row)
        earlier = self._seen.setdefault(self.last_digest, name)
        if earlier != name and not even_if_repeated:
            return earlier
        self._append(name, levels, row if wide else None, self.last_digest)
        return None

    def add_target(self, name: str, codes: NDArray[np.integer[Any]], levels: tuple[object, ...]) -> None:
        """Add the target, whose copies among the features are another matter than repeated features."""
        wide = len(levels) > NARROW
        if not wide:
            self._narrow[len(self._names) - len(self._wide)] = codes
        self._append(name, levels, codes.astype(np.int32) if wide else None)

    def _append(
        self, name: str, levels: tuple[object, ...], wide: NDArray[np.int32] | None, hashed: bytes | None = None
    ) -> None:
        """Enter a column, the narrow codes of which have been written."""
        if wide is not None:
            self._wide.append(wide)
        self._names.append(name)
        self._levels.append(levels)
        self._is_wide.append(wide is not None)
        self._digests.append(hashed)

    def frame(self) -> Frame:
        """Return the frame."""
        is_wide = np.array(self._is_wide, dtype=bool)
        blocks = [DenseColumns(self._narrow[: np.count_nonzero(~is_wide)])] if not is_wide.all() else []
        if self._wide:
            blocks.append(DenseColumns(np.stack(self._wide)))
        block_of = is_wide.astype(np.int64) if len(blocks) == 2 else np.zeros(len(is_wide), np.int64)
        position = np.where(is_wide, np.cumsum(is_wide), np.cumsum(~is_wide)).astype(np.int64) - 1
        places = zip(block_of.tolist(), position.tolist(), strict=True)
        digests = {place: made for place, made in zip(places, self._digests, strict=True) if made is not None}
        return Frame(tuple(self._names), tuple(self._levels), self.n_rows, tuple(blocks), block_of, position, digests)
