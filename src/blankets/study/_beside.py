"""What effects are given beside the columns of the other members, where numbers are involved (methods, section 17)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from blankets.data import Frame
from blankets.independence import values_of
from blankets.stats import Draws, GivenFunctions, held_beside
from blankets.study._effect_columns import Member, Outcome
from blankets.study._study import Study

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Beside:
    """Members as functions over the rows of an outcome.

    ``target``, of shape (functions, rows). ``columns``: of the members, by name. ``tables``: of each completed table
    the rows, as places in the outcome, and the functions.
    """

    target: Floats
    columns: dict[str, int]
    tables: Sequence[tuple[Ints, GivenFunctions]]

    @classmethod
    def of_study(cls, study: Study, outcome: Outcome, members: Sequence[Member]) -> Self | None:
        """Return them; None where no number or order is involved, or members are held fixed by lines alone."""
        if not isinstance(study.table, Frame):
            return None
        frame, columns = study.frame, {one.name: study.names.index(one.name) for one in members}
        measured = {*frame.numbers, *frame.ordered}
        if outcome.classes and measured.isdisjoint(columns.values()):
            return None
        y = np.asarray(outcome.values, np.float64)[np.newaxis]
        if outcome.classes:
            y = np.equal.outer(np.arange(1, len(outcome.classes)), outcome.values).astype(np.float64)
        if outcome.scores is not None:
            y = outcome.scores[np.newaxis]
        weights, tables = study.weights_of(columns), []
        for number in range(study.copies):
            there = outcome.rows // study.n_rows == number if study.copies > 1 else np.ones(len(outcome.rows), bool)
            at = np.flatnonzero(there if weights is None else there & (weights[outcome.rows] > 0.0))
            rows = outcome.rows[at]
            root = None if weights is None else np.sqrt(weights[rows] / weights[rows].mean())
            groups = None if study.groups is None else np.unique(study.groups[rows], return_inverse=True)[1]
            some = frame.take(rows)
            values = {j: values_of(some, j) for j in columns.values()}
            tables.append((at, GivenFunctions(values.__getitem__, Draws(len(rows), root, groups))))
        return cls(y, columns, tables)

    def of(self, one: Member, members: Sequence[Member]) -> Member:
        """Return a member with what its effect must be given beside the columns of the other members."""
        others = [other for other in members if other.name != one.name]
        within = [] if one.within is None else [one.within[:, 1:]]
        if not others:
            return one
        given = np.hstack([*(other.design() for other in others), *within]).T
        tested = np.vstack([one.design().T, self.target])
        beside, taken = np.zeros(tested.T.shape), np.zeros(tested.shape[1])
        for at, functions in self.tables:
            columns = [self.columns[other.name] for other in others]
            held = held_beside(functions, columns, given[:, at], tested[:, at])
            if held is not None:
                beside[at], taken[at] = held.predicted.T, held.taken
        if not taken.any():
            return replace(one, beside=None, taken=None)
        return replace(one, beside=beside, taken=taken)
