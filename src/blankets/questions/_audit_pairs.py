"""Columns that nearly repeat, or determine, another one: pairs that share most of their information."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from blankets.counting import MemoryCounter
from blankets.data import Frame
from blankets.results import Finding, joined, shown
from blankets.voice import option

NEAR = 0.85  # share of information that two columns share: for two even levels, about 2% of the rows differ
EXACT = 1.0 - 1e-9
FEW = 5  # rows per cell that are needed to say something about a pair
PAIRS = 20_000_000_000  # largest rows x columns x columns for which all pairs are counted
STRONGEST = 50  # in wider tables: near-duplicates are sought of this many columns only
CELLS = 1 << 24  # most cells in the table of a pair; larger tables are not made


@dataclass(eq=False)
class Pairs:
    """Compares pairs of columns."""

    frame: Frame  # the table
    features: NDArray[np.int64]  # (n,): the columns to compare
    tied: NDArray[np.float64] | None  # (n,): the information of each about the target, where there is one
    n_jobs: int  # threads for counting
    tell: Callable[[str], None]  # called with a sentence on the progress
    notes: list[str] = field(default_factory=list)  # what was not checked

    def findings(self) -> Iterator[Finding]:
        """Yield columns that nearly repeat, or determine, another one."""
        firsts = self._compared()
        counter = MemoryCounter(self.frame, self.n_jobs)
        near: dict[str, dict[str, float]] = {}
        told: dict[str, str] = {}
        repeated: set[int] = set()
        everywhere = len(firsts) == len(self.features)
        for k, y in enumerate(firsts.tolist()):
            others = self.features[self.features != y] if not everywhere else firsts[k + 1 :]
            others = self._small_enough(others[~np.isin(others, list(repeated))], y)
            if y in repeated or not len(others):
                continue
            if k % 64 == 0:
                self.tell(f"columns that repeat others: {k} of {len(firsts)}")
            shared, of_x, of_y = counter.summarize(entropies, others, y)
            share = shared / np.maximum(np.maximum(of_x, of_y), 1e-300)
            for i in np.flatnonzero(share >= NEAR).tolist():
                if not self._beyond_chance(int(others[i]), y, float(shared[i]), float(max(of_x[i], of_y[i]))):
                    continue
                near.setdefault(self.frame.names[y], {})[self.frame.names[others[i]]] = float(share[i])
                repeated.add(int(others[i]))
            self._note_determined(told, y, others, shared, of_x, of_y, share)
        for name, copies in near.items():
            yield _nearly(name, copies)
        if told:
            pairs = joined([f"{x} by {y}" for x, y in told.items()], width=80)
            yield Finding(
                kind="determined",
                columns=tuple(told),
                what=f"Are determined exactly by another column: {pairs}.",
                next_step=f"Keep one of each pair, or search with {option(algorithm='iamb')}: no test tells such "
                f"columns apart.",
                weight="act",
            )

    def _compared(self) -> NDArray[np.int64]:
        """Return the columns that are compared with all others."""
        if self.frame.n_rows * len(self.features) ** 2 <= PAIRS or len(self.features) <= STRONGEST:
            return self.features
        order = np.argsort(-self.tied, kind="stable") if self.tied is not None else np.arange(len(self.features))
        which = "most strongly tied to the target" if self.tied is not None else "first in the table"
        self.notes.append(
            f"near-duplicates were looked for among the {STRONGEST} columns {which} only: all pairs of "
            f"{len(self.features):,} columns would take too long"
        )
        return self.features[order[:STRONGEST]]

    def _small_enough(self, others: NDArray[np.int64], y: int) -> NDArray[np.int64]:
        """Return the columns whose table with ``y`` can be made."""
        small = self.frame.arities[others] * self.frame.arities[y] <= CELLS
        if not small.all():
            names = [self.frame.names[x] for x in others[~small].tolist()]
            self.notes.append(f"{shown(self.frame.names[y])} was not compared with {joined(names)}: too many levels")
        kept: NDArray[np.int64] = others[small]
        return kept

    def _beyond_chance(self, x: int, y: int, shared: float, most: float) -> bool:
        """Tell whether two columns share more information than chance gives (much, if cells outnumber rows)."""
        arities = self.frame.arities
        if FEW * int(arities[x] - 1) * int(arities[y] - 1) <= self.frame.n_rows:
            return True
        shuffled = np.random.default_rng(0).permutation(self.frame.column(x))
        levels, holes = self.frame.levels[x], x in self.frame.holes
        pair = self.frame.select([y]).with_column(self.frame.names[x], shuffled, levels, holes=holes)
        by_chance = float(MemoryCounter(pair, 1).summarize(entropies, np.array([1]), 0)[0][0])
        return shared - by_chance >= NEAR * (most - by_chance) > 0

    def _note_determined(
        self,
        told: dict[str, str],
        y: int,
        others: NDArray[np.int64],
        shared: NDArray[np.float64],
        of_x: NDArray[np.float64],
        of_y: NDArray[np.float64],
        share: NDArray[np.float64],
    ) -> None:
        """Note if one of two columns determines the other, and there are enough rows to say so."""
        arities = self.frame.arities
        enough = FEW * (arities[others] - 1) * (arities[y] - 1) <= self.frame.n_rows
        for i in np.flatnonzero(enough & (share < NEAR)).tolist():
            x, names = int(others[i]), self.frame.names
            if shared[i] >= EXACT * of_x[i] > 0:
                told.setdefault(names[x], names[y])
            elif shared[i] >= EXACT * of_y[i] > 0:
                told.setdefault(names[y], names[x])


def _nearly(name: str, copies: Mapping[str, float]) -> Finding:
    """Say which columns nearly repeat a given column."""
    exact = [copy for copy, share in copies.items() if share >= EXACT]
    nearly = [f"{copy} ({share:.0%} in common)" for copy, share in copies.items() if share < EXACT]
    same = f"repeated by {joined(exact)}, under other names of the levels" if exact else ""
    like = f"nearly repeated by {joined(nearly, width=80)}" if nearly else ""
    return Finding(
        kind="near-duplicate",
        columns=(name, *copies),
        what=f"{shown(name)} is {' and '.join(filter(None, [same, like]))}.",
        next_step="Each may take the other's place in a blanket. Keep one:",
        fix={"exclude": list(copies)},
        weight="act",
        figures=dict(copies),
    )


def entropies(counts: NDArray[np.int32]) -> tuple[NDArray[np.float64], ...]:
    """Return I(X;Y), H(X) and H(Y) in nats of tables of shape (k, levels of x, levels of y, strata)."""
    table = counts.sum(axis=3, dtype=np.float64)
    n = np.maximum(table.sum(axis=(1, 2)), 1.0)

    def entropy(cells: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.log(n) - xlogy(cells, cells).reshape(len(cells), -1).sum(axis=1) / n)

    of_x, of_y = entropy(table.sum(axis=2)), entropy(table.sum(axis=1))
    return np.maximum(of_x + of_y - entropy(table), 0.0), of_x, of_y
