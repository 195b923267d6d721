"""Data at the door: any table becomes a `Frame` of small integer codes."""

from blankets.data._frame import DenseColumns, Frame, SparseColumns

__all__ = ["DenseColumns", "Frame", "SparseColumns"]
