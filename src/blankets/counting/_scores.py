"""`Scores`: moments in which levels with an order are numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from blankets.counting._functions import TESTED
from blankets.counting._moments import Floats, Moments, Places


class Scores(Moments):
    """The same moments, in which only the scores of ordered levels are tested, for tests with few rows.

    Examples
    --------
    >>> from blankets.counting import MemoryMoments
    >>> from blankets.data import ingest
    >>> import pandas as pd
    >>> grade = pd.Categorical([1, 2, 3, 4] * 10, ordered=True)
    >>> moments = MemoryMoments(ingest(pd.DataFrame({"grade": grade, "y": range(40)}), numbers=True).frame)
    >>> moments.start.tolist(), Scores(moments).start.tolist()
    ([0, 3, 5], [0, 2, 4])
    """

    def __init__(self, moments: Moments) -> None:
        self._moments, self.names, self.n_rows = moments, moments.names, moments.n_rows
        self._scored, self.ordered = moments.ordered, np.zeros_like(moments.ordered)
        tested = np.where(self._scored, np.minimum(np.diff(moments.start), TESTED), np.diff(moments.start))
        self.start = np.concatenate([[0], np.cumsum(tested)])
        self.first = np.minimum(moments.first, tested)
        self._at = np.arange(self.start[-1]) + np.repeat(moments.start[:-1] - self.start[:-1], tested)

    def widths(self, given: Sequence[int], degree: int) -> list[int]:
        """Return how many functions of each given column there are up to a degree."""
        return self._moments.widths(given, degree)

    def among(self, given: Sequence[int], widths: Sequence[int]) -> Floats:
        """Return the inner products of the first functions of the given columns with each other."""
        return self._moments.among(given, widths)

    def across(self, z: int, width: int, at: Places | None = None) -> Floats:
        """Return those of the first functions of ``z`` with the tested functions of all columns, or ``at`` places."""
        return self._moments.across(z, width, self._at if at is None else self._at[at])

    def rows(self, x: int, width: int) -> Floats:
        """Return the first functions of a column, shape (functions, rows)."""
        return self._moments.rows(x, width)

    def codes(self, x: int) -> NDArray[np.int64] | None:
        """Return the levels of a category without order."""
        return None if self._scored[x] else self._moments.codes(x)

    def fewest(self, x: int) -> float:
        """Return how many rows have the rarest level of a category; see `Moments.fewest` for a number."""
        if not self._scored[x]:
            return self._moments.fewest(x)
        rows = self.rows(x, self.tested(x))
        cubes = float((np.einsum("ij,ij,ij->i", rows, rows, rows) ** 2).max())
        return 1.0 / max(cubes, 1.0 / self.n_rows)
