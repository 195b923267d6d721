"""Tests of independence between categorical columns whose rows come in groups."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from blankets import kernels
from blankets.caching import cached_property
from blankets.counting import Counter, MemoryCounter
from blankets.errors import ParameterError
from blankets.independence._evidence import EvidenceBatch
from blankets.independence._tables import TableTests
from blankets.stats import clustered_test, statistics_of_block, summed_cells
from blankets.voice import option

METHODS = (
    "not performed",
    "nothing to test: within each stratum one of the two has a single value",
    "scores summed up within groups, F distribution",
    "scores summed up within groups and over strata, F distribution: groups are few",
)

Ints = NDArray[np.int64]


class ClusteredTests(TableTests):
    """Score tests that allow for any dependence between the rows of a group.

    ``counter``: counts of the rows, whose last column is the group that a row belongs to; that is no column of the
    tests. ``reliability``: rows for each nominal degree of freedom, as for `TableTests`; groups must be five for each
    degree of freedom too (0: all tests that can be done are). ``strength``: what `EvidenceBatch.strongest` compares.

    Examples
    --------
    >>> from blankets.data import Frame
    >>> rng = np.random.default_rng(7)
    >>> group = np.repeat(np.arange(40), 10)
    >>> x, y = np.repeat(rng.integers(0, 2, (2, 40)), 10, axis=1)  # the same in all rows of a group
    >>> frame = Frame.from_codes(np.column_stack([x, y, group]), names=["x", "y", "group"])
    >>> tests = ClusteredTests(MemoryCounter(frame))
    >>> tests.names, round(tests.test(0, 1).p, 2), TableTests(MemoryCounter(frame)).test(0, 1).p < 0.001
    (('x', 'y'), 0.15, True)
    """

    def __init__(self, counter: Counter, *, reliability: float = 5.0, strength: str = "p-value") -> None:
        if not isinstance(counter, MemoryCounter):
            raise ParameterError(
                f"{option('groups')} needs the rows in memory: leave out {option('engine')} and the checkpoint"
            )
        super().__init__(counter, reliability=reliability, strength=strength)
        self.rows: MemoryCounter = counter
        self.group = len(counter.names) - 1
        self.names = counter.names[:-1]

    @cached_property
    def _table(self) -> kernels.Table | None:
        """No question is answered whole."""
        return None

    @cached_property
    def _table_of_subsets(self) -> kernels.Table | None:
        return None

    @cached_property
    def _widest(self) -> Ints:
        return np.array([np.argmax(self._free[:-1])])

    def _scan(self, xs: Ints, y: int, given: tuple[int, ...], *, even_if_unreliable: bool) -> EvidenceBatch:
        nominal = self._nominal(xs, y, given)
        statistic, log_p, effect = np.full((3, len(xs)), np.nan)
        dof, n_rows, method = np.zeros(len(xs)), np.zeros(len(xs), np.int64), np.zeros(len(xs), np.int8)
        always = even_if_unreliable or not self.reliability
        information = statistics_of_block(self.counter.n_rows)
        for i, counts, strata, groups in self._tables(xs, y, given):
            n_rows[i] = int(counts.sum())
            if n_rows[i] == 0 or (n_rows[i] < self.reliability * nominal[i] and not even_if_unreliable):
                continue
            found = clustered_test(counts, strata, groups, always=always)
            statistic[i], dof[i], log_p[i] = found.statistic, found.dof, found.log_p
            method[i] = 1 if found.dof == 0 else 3 if found.summed else 2
            effect[i] = float(information(summed_cells(counts, strata)[np.newaxis])[0][0]) / (2 * n_rows[i])
        reliable = ~np.isnan(statistic) & (n_rows >= self.reliability * nominal)
        method[~reliable] = 0
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

    def _tables(self, xs: Ints, y: int, given: tuple[int, ...]) -> Iterator[tuple[int, NDArray[np.int32], Ints, Ints]]:
        """Yield the place of each candidate, its counts by group and stratum, and which these are."""
        cells = tuple(sorted((*given, self.group)))
        arities = self.counter.arities[list(cells)]
        n_groups, full = int(arities[-1]), float(np.prod(arities.astype(float)))
        some: tuple[Ints, Ints, Ints] | None = None
        for block in self.rows.tables(xs, y, cells):
            if block.counts.shape[-1] == full:
                at = np.arange(block.counts.shape[-1])
                places, strata, groups = at, at // n_groups, at % n_groups
            else:
                some = some or self._strata(cells)
                places, strata, groups = some
            for i, counts in zip(block.at.tolist(), block.counts, strict=True):
                table = counts[..., places]
                there = table.any(axis=(0, 1))
                yield i, table[..., there], strata[there], groups[there]

    def _strata(self, cells: tuple[int, ...]) -> tuple[Ints, Ints, Ints]:
        """Return where the combinations that occur are in a table, their strata and their groups."""
        places, codes = self.rows.strata(cells)
        _, strata = np.unique(codes[:, :-1], axis=0, return_inverse=True)
        return places, strata.ravel().astype(np.int64), codes[:, -1].astype(np.int64)
