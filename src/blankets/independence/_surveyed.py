"""Tests of independence between categorical columns of a survey, whose rows have weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from blankets import kernels
from blankets.caching import cached_property
from blankets.counting import Counter, MemoryCounter
from blankets.errors import ParameterError
from blankets.independence._evidence import EvidenceBatch
from blankets.independence._tables import TableTests
from blankets.independence._weighting import REFUSED, SeenModel, Units, strata_of_rows
from blankets.stats import survey_test
from blankets.voice import option

METHODS = (
    "not performed",
    "nothing to test: within each stratum one of the two has a single value",
    "weighted table, X² corrected for the weights (Rao and Scott, second order)",
    REFUSED,
)

Ints = NDArray[np.int64]


class SurveyTests(TableTests):
    """Tests of weighted tables, by the corrections of Rao and Scott.

    ``counter``: the rows, in memory. ``weights``, of shape (rows,): how many of the population a row stands for, above
    0. ``groups``, of shape (rows,): rows that were drawn together; by default each row was drawn by itself. ``model``:
    why values are missing, if rows that have one stand for those that have none.
    ``reliability``: rows for each nominal degree of freedom, where rows are counted by what they are worth:
    (Σ w)² / Σ w². ``strength``: what `EvidenceBatch.strongest` compares.

    Examples
    --------
    >>> from blankets.data import Frame
    >>> frame = Frame.from_codes([[0, 0], [0, 0], [0, 1], [1, 0], [1, 1], [1, 1]] * 20)
    >>> tests = SurveyTests(MemoryCounter(frame), np.tile([1.0, 2.0, 1.0, 1.0, 3.0, 1.0], 20))
    >>> tests.test(0, 1).dependent(0.01)
    True
    """

    def __init__(
        self,
        counter: Counter,
        weights: NDArray[np.float64] | None = None,
        groups: Ints | None = None,
        *,
        model: SeenModel | None = None,
        reliability: float = 5.0,
        strength: str = "p-value",
    ) -> None:
        if not isinstance(counter, MemoryCounter):
            raise ParameterError(
                f"{option('survey_weight')} needs the rows in memory: leave out {option('engine')} and the checkpoint"
            )
        super().__init__(counter, reliability=reliability, strength=strength)
        self.frame, self.units = counter.frame, Units(counter.frame, weights, groups, model)

    @cached_property
    def _table(self) -> kernels.Table | None:
        """No question is answered whole."""
        return None

    @cached_property
    def _table_of_subsets(self) -> kernels.Table | None:
        return None

    def _scan(self, xs: Ints, y: int, given: tuple[int, ...], *, even_if_unreliable: bool) -> EvidenceBatch:
        nominal = self._nominal(xs, y, given)
        statistic, log_p, effect = np.full((3, len(xs)), np.nan)
        dof, n_rows, method = np.zeros(len(xs)), np.zeros(len(xs), np.int64), np.zeros(len(xs), np.int8)
        enough, refused = np.zeros((2, len(xs)), np.bool_)
        strata = strata_of_rows(map(self.frame.column, given), self.frame.n_rows)
        for i, x in enumerate(xs.tolist()):
            rows, weights, trusted = self.units.of(x, y, given)
            weights, n_rows[i] = weights[rows], int(np.count_nonzero(rows))
            worth = weights.sum() ** 2 / max(float((weights**2).sum()), 1e-300)
            enough[i] = n_rows[i] > 1 and worth >= self.reliability * nominal[i]
            refused[i] = enough[i] and not trusted
            enough[i] &= trusted
            if n_rows[i] < 2 or not (enough[i] or even_if_unreliable):
                continue
            one, other = (self.frame.column(j)[rows].astype(np.int64) for j in (x, y))
            groups = None if self.units.groups is None else self.units.groups[rows]
            found = survey_test(one, other, strata_of_rows([strata[rows]], n_rows[i]), weights, groups)
            statistic[i], dof[i], log_p[i] = found.statistic, found.dof, found.log_p
            method[i], effect[i] = 2 if found.dof else 1, found.information
        reliable = enough & ~np.isnan(statistic)
        method[~reliable] = np.where(refused[~reliable], METHODS.index(REFUSED), 0)
        self.tally.add(int(np.count_nonzero(reliable)))
        return EvidenceBatch(
            xs,
            y,
            given,
            statistic=statistic,
            dof=dof,
            n_rows=n_rows,
            reliable=reliable,
            log_p=log_p,
            effect=effect,
            by_effect=self.by_effect,
            method=method,
            methods=METHODS,
        )
