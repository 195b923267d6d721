"""Tests of rows that are not equal and independent draws: groups, weights of a survey, weights for missing values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blankets.data import Frame
from blankets.independence import IndependenceTest, SeenModel, TableTests, Units, WeightedHoles
from blankets.study._engine import Place
from blankets.study._testing import Testing


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """What rows stand for, and how they are tested."""

    testing: Testing
    place: Place
    weighs_holes: bool  # whether rows with a value stand for those without
    survey: NDArray[np.float64] | None  # (rows,): weights of a survey
    groups: NDArray[np.int64] | None  # (rows,): the group of each row
    blocks: Sequence[int] = ()  # columns that are tested by functions although they are categories

    def take(self, rows: NDArray[np.bool_] | None) -> Standing:
        """Return the same of some rows; None: of all."""
        if rows is None:
            return self
        survey = None if self.survey is None else self.survey[rows]
        groups = None if self.groups is None else self.groups[rows]
        return Standing(self.testing, self.place, self.weighs_holes, survey, groups, self.blocks)

    def tests(self, frame: Frame, tables: TableTests, level: float | None) -> IndependenceTest:
        """Return the tests of the rows of ``frame``, of which ``tables`` are those of categories."""
        units = None if self.groups is None else Units(frame, None, self.groups)
        plain = self.testing.mixed(frame, tables, level=level, blocks=self.blocks, units=units)
        if not self.weighs_holes or not frame.holes:
            return plain
        model = SeenModel(frame)
        return WeightedHoles(plain, self._weighted(frame, model), model)

    def surveyed(self, frame: Frame) -> IndependenceTest:
        """Return the tests of the rows of ``frame``, which have the weights of a survey."""
        return self._weighted(frame, SeenModel(frame) if self.weighs_holes and frame.holes else None)

    def _weighted(self, frame: Frame, model: SeenModel | None) -> IndependenceTest:
        units = Units(frame, self.survey, self.groups, model)
        tables = self.testing.surveyed(self.place.counter(frame.without_numbers()), units)
        return self.testing.mixed(frame, tables, blocks=self.blocks, units=units)
