"""Distinct rows with weights: the form of the data for structure learning and EM.

Rows that are equal in the columns used become one row with a weight. A blanket of six binary columns and
its target has at most 128 different rows, for any number of patients.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blankets.data import Frame
from blankets.kernels import refine

Codes = NDArray[np.int32]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Weighted rows of categorical codes."""

    codes: NDArray[np.int32]  # (columns, rows): the codes of each column are contiguous
    arities: NDArray[np.int64]  # (columns,): number of declared levels of each column
    weights: NDArray[np.float64]  # (rows,): number of rows of the data for each row; need not be whole numbers

    def __post_init__(self) -> None:
        for name in ("codes", "arities", "weights"):  # kernels need contiguous arrays
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name)))

    @property
    def total(self) -> float:
        """Sum of the weights: the number of rows of the data."""
        return float(self.weights.sum())


def distinct_rows(
    frame: Frame, columns: Sequence[int], weights: NDArray[np.float64] | None = None
) -> tuple[Rows, NDArray[np.int64]]:
    """Return the distinct rows of some columns, and for each row of the frame its number among them.

    Examples
    --------
    >>> frame = Frame.from_codes([[0, 1], [1, 1], [0, 1]])
    >>> rows, which = distinct_rows(frame, [0, 1])
    >>> rows.codes.tolist(), rows.weights.tolist(), which.tolist()
    ([[0, 1], [1, 1]], [2.0, 1.0], [0, 1, 0])
    """
    arities = frame.arities[list(columns)]
    groups = np.zeros((2, frame.n_rows), np.int64)
    n_groups = min(1, frame.n_rows)
    for j in columns:
        n_groups = refine(groups, n_groups, frame.column(j).astype(np.int32).reshape(1, -1), frame.arities[j])
        groups[0] = groups[1]
    ids = groups[0]
    first = np.full(n_groups, frame.n_rows, np.int64)
    np.minimum.at(first, ids, np.arange(frame.n_rows))
    codes = np.array([frame.column(j)[first] for j in columns], np.int32).reshape(len(columns), n_groups)
    return Rows(codes, arities, np.bincount(ids, weights, minlength=n_groups).astype(np.float64)), ids
