"""`Measured`: a table of numbers and a target, whose rows can be drawn again; the twin of `Study` for correlations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from blankets.arguments import threads_from
from blankets.data import NumericTable, ingest_numeric
from blankets.errors import TargetError
from blankets.records import Call
from blankets.study._study import check_complete

__all__ = ["Measured", "check_numbers", "read_measured"]

MOST_CLASSES = 20  # distinct values of the target that are classes; more are a measurement


@dataclass(frozen=True, eq=False)
class Measured:
    """A table of numbers with a target.

    Attributes
    ----------
    table : NumericTable
        The numbers.
    target : int
        Column of the target.
    n_jobs : int
        Threads for several searches at a time.
    drawn : bool
        Whether the rows are a draw of those of another table, which nobody needs to recognize.
    """

    table: NumericTable
    target: int
    n_jobs: int
    drawn: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """All columns."""
        return self.table.names

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return len(self.table.values)

    @property
    def features(self) -> list[int]:
        """All columns but the target."""
        return [x for x in range(len(self.names)) if x != self.target]

    @cached_property
    def strata(self) -> NDArray[np.int64]:
        """What rows are drawn by: the values of the target, where these are few, and nothing otherwise."""
        values, codes = np.unique(self.table.values[:, self.target], return_inverse=True)
        return codes.astype(np.int64) if len(values) <= MOST_CLASSES else np.zeros(self.n_rows, np.int64)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the table."""
        return "" if self.drawn else self.table.fingerprint()

    def call(self, call: str, arguments: Mapping[str, Any]) -> Call:
        """Return what an answer about this table was made with."""
        return Call.of(call, arguments, self.fingerprint)

    def take(self, rows: NDArray[np.int64]) -> Measured:
        """Return the table of some rows only, without the features that do not vary in them."""
        values = np.asfortranarray(self.table.values[rows])
        varied = np.ptp(values, axis=0) > 0
        varied[self.target] = True
        names = tuple(name for name, varies in zip(self.names, varied, strict=True) if varies)
        return self._drawn(names, values[:, varied], int(np.count_nonzero(varied[: self.target])))

    def permuted(self, order: NDArray[np.int64]) -> Measured:
        """Return the table with its target in another order of the rows."""
        values = self.table.values.copy(order="F")
        values[:, self.target] = values[order, self.target]
        return self._drawn(self.names, values, self.target)

    def with_noise(self, columns: Mapping[str, int], rng: np.random.Generator) -> Measured:
        """Return the table with shuffled copies of some columns, under new names."""
        noise = [rng.permutation(self.table.values[:, x]) for x in columns.values()]
        return self._drawn((*self.names, *columns), np.column_stack([self.table.values, *noise]), self.target)

    def _drawn(self, names: tuple[str, ...], values: NDArray[np.float64], target: int) -> Measured:
        table = replace(self.table, names=names, values=values, target=target)
        return Measured(table, target, n_jobs=1, drawn=True)


def read_measured(
    data: Any,
    target: str | int | None,
    y: ArrayLike | None,
    *,
    n_jobs: int | None,
    about_labels: Mapping[str, Any],
    reading: Mapping[str, Any],
) -> Measured:
    """Read a table of numbers; of ``reading`` only ``missing`` and ``exclude`` concern it."""
    check_numbers(about_labels)
    wanted = {name: reading[name] for name in ("missing", "exclude") if name in reading}
    table = ingest_numeric(data, target, y=y, **wanted)
    if table.target is None:
        raise TargetError("no target was named; give its column name as 'target', or its values as 'y'")
    return Measured(table, table.target, threads_from(n_jobs))


def check_numbers(about_labels: Mapping[str, Any]) -> None:
    """Refuse what is said of labels where the target is a number in every row."""
    check_complete("test='fisher-z'", "take test='auto', 'g' or 'x2'", **about_labels)
