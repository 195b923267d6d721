"""The joint codes of conditioning sets.

The code of a set is made by extending the code of a smaller set, which is kept; when there are more possible strata
(combinations of values) than rows, codes are renumbered to the strata that occur. So a set of 100 variables needs only
one number per row.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from blankets import kernels
from blankets.data import Frame

# Joint codes are renumbered to those that occur if there could be more than one per 16 rows.
RENUMBER_ABOVE = 1 / 16
MORE_CODES = 1 << 16  # beside four for each row: with more possible codes, those that occur are sorted
STRATA_KEPT_BYTES = 16 << 20


class Strata:
    """The joint codes of the latest conditioning sets of a frame; several threads may ask."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self._kept: OrderedDict[tuple[int, ...], tuple[NDArray[np.uint32], int]] = OrderedDict()
        self._lock = Lock()

    def that_occur(self, given: tuple[int, ...]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the positions of the strata that occur among all codes, and the codes of their columns."""
        codes, n_codes = self.of(given)
        some_row = np.full(n_codes + 1, -1, np.int64)
        some_row[codes] = np.arange(self.frame.n_rows)
        places = np.flatnonzero(some_row[:n_codes] >= 0)
        columns = [self.frame.column(z)[some_row[places]] for z in given]
        return places, np.array(columns, np.int32).reshape(len(given), -1).T

    def of(self, given: tuple[int, ...]) -> tuple[NDArray[np.uint32], int]:
        """Return the joint code of a conditioning set for each row, and the number of codes.

        Where columns have holes, a row without a value has a code beyond these.
        """
        if not given:
            return np.zeros(self.frame.n_rows, np.uint32), 1
        with self._lock:
            known = self._kept.get(given)
            if known is not None:
                self._kept.move_to_end(given)
                return known
        codes, n_codes = self.of(given[:-1])
        arity = int(self.frame.arities[given[-1]])
        column = self.frame.column(given[-1])
        n_joint = n_codes * arity
        if not self.frame.holes.isdisjoint(given):
            joint, n_joint = self._seen_strata(codes, n_codes, column, arity)
        elif n_joint <= max(RENUMBER_ABOVE * self.frame.n_rows, 1):
            joint = joined(codes, arity, column, 1, n_joint)
        elif n_joint <= 4 * self.frame.n_rows + MORE_CODES:
            joint = joined(codes, arity, column, 1, n_joint)
            n_joint = kernels.renumber(joint.reshape(1, -1), n_joint)
        else:
            # Too many possible codes for a look-up table: sort those that occur.
            seen, inverse = np.unique(codes.astype(np.int64) * arity + column, return_inverse=True)
            joint, n_joint = inverse.astype(np.uint32), len(seen)
        with self._lock:
            self._kept[given] = joint, n_joint
            while len(self._kept) * self.frame.n_rows * 4 > STRATA_KEPT_BYTES and len(self._kept) > 1:
                self._kept.popitem(last=False)
        return joint, n_joint

    def _seen_strata(
        self, codes: NDArray[np.uint32], n_codes: int, column: NDArray[np.integer], arity: int
    ) -> tuple[NDArray[np.uint32], int]:
        """Return the joint codes of strata and a column, and how many there are; rows without a value come last."""
        joint, n_joint = joined_seen(codes, n_codes, arity, column, arity, 1), n_codes * arity
        if n_joint <= max(RENUMBER_ABOVE * self.frame.n_rows, 1):
            return joint.astype(np.uint32), n_joint
        gone = joint == n_joint
        if gone.all():
            return np.ones(len(gone), np.uint32), 1  # no row is in the only stratum
        if n_joint <= 4 * self.frame.n_rows + MORE_CODES:
            short = joint.astype(np.uint32)
            n_joint = kernels.renumber(short.reshape(1, -1), n_joint + 1)
        else:
            seen, inverse = np.unique(joint, return_inverse=True)
            short, n_joint = inverse.astype(np.uint32), len(seen)
        return short, n_joint - bool(gone.any())


def joined(
    codes: NDArray[np.uint32], times: int, column: NDArray[np.integer], weight: int, n_codes: int
) -> NDArray[np.uint32]:
    """Return the joint codes ``codes * times + column * weight``, which are below ``n_codes``."""
    if column.dtype != np.uint8:
        return codes * np.uint32(times) + column.astype(np.uint32) * np.uint32(weight)
    joint: NDArray[np.uint32] = np.empty((1, len(codes)), np.uint32)
    kernels.join_codes(codes.reshape(1, -1), times, column.reshape(1, -1), weight, n_codes, joint)
    return joint.ravel()


def joined_seen(
    codes: NDArray[np.uint32], n_codes: int, times: int, column: NDArray[np.integer], arity: int, weight: int
) -> NDArray[np.int64]:
    """Return the same for rows that have a value of both, and ``n_codes * arity`` for all others."""
    joint = codes.astype(np.int64) * times + column.astype(np.int64) * weight
    joint[(codes == n_codes) | (column == arity)] = n_codes * arity
    return joint
