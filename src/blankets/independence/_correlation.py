"""Tests of independence between continuous columns: partial correlation with Fisher's z.

It has the same interface as tests on count tables, so that algorithms do not assume counts. It is valid for
multivariate normal data; otherwise it finds only linear dependence.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from blankets.arguments import number
from blankets.errors import DataError, listed
from blankets.independence._contract import Columns, CountedTests, Tally
from blankets.independence._evidence import EvidenceBatch

_DETERMINED = 1e-12  # if less of the variance is left, a column is a function of the given columns


class PartialCorrelation(CountedTests):
    """Fisher's z test of zero partial correlation.

    The statistic is (n - |given| - 3) atanh(r)², which has one degree of freedom; the effect is
    -½ ln(1 - r²), the information of normal variables with this r.

    ``values``, of shape (rows, columns): the data, without missing values. ``names``: names of the columns.
    ``reliability``: a test is performed if n - |given| - 3 is at least this.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> cause = rng.normal(size=200)
    >>> values = np.column_stack([cause, cause + rng.normal(size=200), cause + rng.normal(size=200)])
    >>> tests = PartialCorrelation(values, ["cause", "one", "other"])
    >>> tests.test(1, 2).dependent(0.01), tests.test(1, 2, given=[0]).dependent(0.01)
    (True, False)
    """

    def __init__(self, values: NDArray[np.float64], names: Sequence[str], *, reliability: float = 5.0) -> None:
        values = np.asarray(values, float)
        self.names = tuple(names)
        self.n_rows = len(values)
        self.reliability = number("reliability", reliability, "a number of rows to spare, >= 0", least=0.0)
        self.tally = Tally()
        self.memo = {}
        # Correlation does not depend on units; squares of very large or very small numbers would overflow.
        largest = np.abs(values).max(axis=0, initial=0.0)
        with np.errstate(invalid="ignore"):
            values = values / np.where(np.isfinite(largest) & (largest > 0), largest, 1.0)
            centered = values - values.mean(axis=0)
        scale = np.sqrt((centered**2).sum(axis=0))
        if not (np.isfinite(scale).all() and (scale > 0).all()):
            bad = [self.names[j] for j in np.flatnonzero(~(np.isfinite(scale) & (scale > 0)))]
            raise DataError(f"correlation needs finite values that vary; not so in {listed(bad)}")
        self._unit = np.asfortranarray(centered / scale)  # columns of length 1: inner products are correlations

    def scan(
        self, xs: Columns, y: int, given: Sequence[int] = (), *, even_if_unreliable: bool = False
    ) -> EvidenceBatch:
        """Test each of ``xs`` against ``y`` given one set."""
        columns, given = np.asarray(xs, np.int64), tuple(given)
        free = self.n_rows - len(given) - 3
        performed = free >= max(self.reliability, 1)
        r = self._partial(columns, y, given) if performed or even_if_unreliable else np.full(len(columns), np.nan)
        self.tally.add(len(columns) if performed else 0)
        # r = ±1 is possible in a sample (one column a multiple of another): keep the statistic finite.
        r = np.clip(r, -1 + 1e-15, 1 - 1e-15)
        return EvidenceBatch(
            columns,
            y,
            given,
            statistic=max(free, 0) * np.arctanh(r) ** 2,
            dof=np.ones(len(columns)),
            n_rows=self.n_rows,
            reliable=np.full(len(columns), performed),
            effect=-0.5 * np.log1p(-(r**2)),
        )

    def _partial(self, xs: NDArray[np.int64], y: int, given: tuple[int, ...]) -> NDArray[np.float64]:
        """Return the partial correlations: those of the residuals after regression on the given columns."""
        target, candidates = self._unit[:, y], self._unit[:, xs]
        xy = candidates.T @ target
        xx, yy = np.ones(len(xs)), 1.0
        if given:
            basis = np.linalg.qr(self._unit[:, list(given)])[0]
            x_part, y_part = basis.T @ candidates, basis.T @ target
            xy = xy - x_part.T @ y_part
            xx = xx - (x_part**2).sum(axis=0)
            yy = yy - float(y_part @ y_part)
        left = xx * yy
        determined = (xx < _DETERMINED) | (yy < _DETERMINED)
        return np.where(determined, 0.0, xy / np.sqrt(np.where(determined, 1.0, left)))
