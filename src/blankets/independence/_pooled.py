"""`PooledTests`: one answer from several completed tables, in which missing values were imputed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from blankets.independence._contract import Columns, IndependenceTest
from blankets.independence._evidence import EvidenceBatch
from blankets.independence._layer import Asking
from blankets.stats import chi2_isf, pooled_d2, pooled_d3

METHODS = (
    "not performed",
    "nothing to test in the completed tables",
    "likelihood ratios of the completed tables, pooled (D3)",
    "statistics of the completed tables, pooled (D2)",
)
_SMALL = -600.0  # log p-values below this have no p-value to invert: there the statistic itself is used

Floats = NDArray[np.float64]


class PooledTests(Asking):
    """The same questions to the tests of each completed table, pooled.

    ``each``: tests of the completed tables. ``together``: tests of count tables of all of them as one, for likelihood
    ratios. ``measured``, of shape (columns,): columns about which ``together`` has nothing to say.

    Examples
    --------
    >>> from blankets.counting import MemoryCounter
    >>> from blankets.data import Frame
    >>> from blankets.independence import TableTests
    >>> one, other = (np.array([[0, 0], [0, 0], [0, 1], [1, 0], [1, 1], [1, k]] * 20) for k in (0, 1))
    >>> each = [TableTests(MemoryCounter(Frame.from_codes(codes))) for codes in (one, other)]
    >>> together = TableTests(MemoryCounter(Frame.from_codes(np.vstack([one, other]))))
    >>> tests = PooledTests(each, together, np.zeros(2, bool))
    >>> [round(t.test(0, 1).p, 4) for t in (*each, tests)]
    [1.0, 0.0002, 0.6621]
    """

    def __init__(
        self, each: Sequence[IndependenceTest], together: IndependenceTest, measured: NDArray[np.bool_]
    ) -> None:
        super().__init__(each[0])  # each test counts once for all tables
        self.each, self.together, self.measured, self.looked_at = tuple(each), together, measured, each[0].looked_at

    def changed(self, change: Callable[[IndependenceTest], IndependenceTest]) -> PooledTests:
        """Return the same around changed tests."""
        return PooledTests([change(tests) for tests in self.each], self.together, self.measured)

    def scan(
        self, xs: Columns, y: int, given: Sequence[int] = (), *, even_if_unreliable: bool = False
    ) -> EvidenceBatch:
        """Test each of ``xs`` against ``y`` given one set in each table, and pool."""
        columns, given = np.asarray(xs, np.int64), tuple(given)
        batches = [tests.scan(columns, y, given, even_if_unreliable=even_if_unreliable) for tests in self.each]
        reliable = np.logical_and.reduce([batch.reliable for batch in batches])
        dof: Floats = np.array([batch.dof for batch in batches]).max(axis=0)
        log_p = np.array([batch.log_p for batch in batches])
        values = np.array([batch.statistic for batch in batches])
        counted = ~(self.measured[columns] | self.measured[[y, *given]].any())
        whole, free = np.full(len(columns), np.nan), np.zeros(len(columns))
        if counted.any():
            stacked = self.together.scan(columns[counted], y, given, even_if_unreliable=True)
            whole[counted], free[counted] = stacked.statistic / len(self.each), stacked.dof
        pooled_p, statistic, method = np.full(len(columns), np.nan), np.full(len(columns), np.nan), reliable.astype(int)
        for i in np.flatnonzero(~np.isnan(log_p).any(axis=0)):
            pooled_p[i], statistic[i] = 0.0, 0.0
            if dof[i] > 0:
                by_ratio = bool(free[i] > 0)
                pooled_p[i], statistic[i] = _pooled(log_p[:, i], values[:, i], dof[i], whole[i], free[i])
                method[i] *= 2 if by_ratio else 3
        return EvidenceBatch(
            columns,
            y,
            given,
            statistic=statistic,
            dof=dof,
            n_rows=batches[0].n_rows,
            reliable=reliable,
            log_p=pooled_p,
            effect=np.mean([batch.effect for batch in batches], axis=0),
            by_effect=batches[0].by_effect,
            method=method.astype(np.int8),
            methods=METHODS,
        )

    def deepest(self, xs: Columns, y: int, among: Sequence[int]) -> int:
        """Return the bound of the first table; the others have as many rows."""
        return self.each[0].deepest(xs, y, among)

    def rows_for(self, x: int, y: int, given: Sequence[int] = ()) -> float:
        """Return how many rows a test needs."""
        return self.each[0].rows_for(x, y, given)


def _pooled(log_p: Floats, values: Floats, dof: float, whole: float, free: float) -> tuple[float, float]:
    """Return the pooled log p-value and statistic of one question.

    p-values may be better than the chi-square formula; so the statistics are those that the formula would have needed.
    """
    needed = np.where(log_p > _SMALL, chi2_isf(np.exp(np.maximum(log_p, _SMALL)), np.full(len(log_p), dof)), values)
    if not free > 0:
        return pooled_d2(needed, dof)[:2]
    scale = float(needed.mean() / values.mean()) if values.mean() > 0 else 1.0
    return pooled_d3(needed, whole * scale, dof)[:2]
