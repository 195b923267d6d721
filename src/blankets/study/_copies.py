"""Features that copy a partly known label column, missing values included: a label left among the features."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blankets.data import DenseColumns, Frame
from blankets.errors import DuplicateColumnWarning, listed, warn
from blankets.regimes import Labels
from blankets.voice import option

_FEW = 32  # rows of each kind that are compared first


def warn_of_copies(frame: Frame, target: int, labels: Labels) -> None:
    """Warn of features that show the label of every row, and which rows have none."""
    copies = copies_of_labels(frame, target, labels)
    if copies:
        warn(
            f"equal to the labels of {frame.names[target]!r} in all rows, gaps included: {listed(copies)}; a test of "
            f"such a column tells about labeling, so leave it out with {option(exclude=...)}",
            DuplicateColumnWarning,
        )


def copies_of_labels(frame: Frame, target: int, labels: Labels) -> list[str]:
    """Return the features with one value for each class, and another value for unlabeled rows.

    Examples
    --------
    >>> from blankets.regimes import read_labels
    >>> labels = read_labels([1, None, None, 1])
    >>> frame = Frame.from_codes([[1, 0, 0], [0, 1, 0], [0, 1, 0], [1, 0, 0]], names=["known", "not", "x"])
    >>> copies_of_labels(frame, 2, labels)
    ['known', 'not']
    """
    kinds = [np.flatnonzero(labels.codes == k) for k in np.unique(labels.codes)]
    few = [rows[np.linspace(0, len(rows) - 1, _FEW).astype(np.int64)] for rows in kinds]
    suspects = np.zeros(frame.n_columns, bool)
    for b, block in enumerate(frame.blocks):
        columns = np.flatnonzero(frame.block_of == b)
        at = frame.position[columns]
        if isinstance(block, DenseColumns):
            suspects[columns] = _told_apart([block.codes[:, rows] for rows in few])[at]
        else:  # the kind that has the value 0 is not stored
            stored = np.diff(block.indptr)[at]
            suspects[columns] = np.isin(stored, [frame.n_rows - len(rows) for rows in kinds])
    suspects[target] = False
    found = []
    for x in np.flatnonzero(suspects).tolist():
        column = frame.column(x)
        if _told_apart([column[np.newaxis, rows] for rows in kinds])[0]:
            found.append(frame.names[x])
    return found


def _told_apart(parts: list[NDArray[Any]]) -> NDArray[np.bool_]:
    """Tell for which columns each part has a single value, different from the other parts (parts: (columns, rows))."""
    constant = np.logical_and.reduce([(part == part[:, :1]).all(axis=1) for part in parts])
    apart = [one[:, 0] != other[:, 0] for one, other in combinations(parts, 2)]
    return np.asarray(constant & np.logical_and.reduce(apart))
