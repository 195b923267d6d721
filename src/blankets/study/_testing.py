"""`Testing`: how a test of independence is made; `Standing`: what the rows stand for that it is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blankets.arguments import number, one_of
from blankets.counting import Counter
from blankets.data import Frame
from blankets.errors import ParameterError, guarded
from blankets.independence import (
    ClusteredTests,
    DeterminedTests,
    IndependenceTest,
    MixedTests,
    NumberTests,
    SeenModel,
    SeenQuick,
    SurveyTests,
    TableTests,
    Units,
    WeightedHoles,
    relations_of,
    table_tests,
)
from blankets.records import named
from blankets.study._engine import Place
from blankets.voice import option

KINDS = ("auto", "g", "x2", "fisher-z")
MOST_ROWS = 100_000  # rows that tests of numbers look at: a correlation of 0.016 is found in so many (power 0.95)


@guarded
@named
@dataclass(frozen=True, slots=True)
class Testing:
    """How a test of independence is made.

    Parameters
    ----------
    kind : {"auto", "g", "x2", "fisher-z"}
        "auto": chosen question by question. Of categories alone, the likelihood-ratio test of count tables, with
        p-values that hold in sparse tables too (chi-square where that can be trusted, otherwise by the moments of the
        statistic, exact, or by permutation). Where a number or an ordered category is involved, tests of functions of
        the columns, without cutting. Each p-value says how it was found. "g" and "x2": the likelihood-ratio or
        Pearson's test by the chi-square formula; numbers are cut. "fisher-z": partial correlation of numbers.
    dof : {"adjusted", "nominal"}
        Degrees of freedom for the formula of "g" and "x2". "adjusted": from the levels seen in each stratum (each
        combination of the conditioning values). "nominal": from all levels, seen or not.
    reliability : float
        A test is made if there are this many rows for each nominal degree of freedom (0: always).
    strength : {"p-value", "information"}
        How candidates are compared.

    Examples
    --------
    >>> from blankets import Testing
    >>> Testing("g", dof="nominal")
    Testing(kind='g', dof='nominal', reliability=5.0, strength='p-value')
    """

    kind: str = "auto"
    dof: str = "adjusted"
    reliability: float = 5.0
    strength: str = "p-value"

    def __post_init__(self) -> None:
        one_of("test", self.kind, KINDS)
        one_of("dof", self.dof, ("adjusted", "nominal"))
        one_of("strength", self.strength, ("p-value", "information"))
        number("reliability", self.reliability, "a number of rows for each degree of freedom, >= 0", least=0.0)
        if self.dof != "adjusted" and self.kind not in ("g", "x2"):
            raise ParameterError(
                f"{option(dof=self.dof)} is for the formulas of 'g' and 'x2', but the test is {self.kind!r}; "
                f"use Testing('g', {option(dof=self.dof)})"
            )

    @classmethod
    def of(cls, value: Testing | IndependenceTest | str) -> Testing:
        """Return the testing for a string, or the given testing."""
        return value if isinstance(value, Testing) else cls(value)  # type: ignore[arg-type]

    @property
    def of_numbers(self) -> bool:
        """Whether numbers are tested as they are, not as levels."""
        return self.kind == "fisher-z"

    def surveyed(self, counter: Counter, units: Units) -> TableTests:
        """Return the tests of tables of rows that have weights."""
        if self.kind != "auto":
            raise ParameterError(
                f"{option(test=self.kind)} counts every row alike; for {option('survey_weight')} and "
                f"{option(missing='weighted')} use {option(test='auto')}"
            )
        return SurveyTests(
            counter,
            units.weights,
            units.groups,
            model=units.model,
            reliability=self.reliability,
            strength=self.strength,
        )

    @property
    def takes_numbers(self) -> bool:
        """Whether numbers may stay numbers beside categories."""
        return self.kind == "auto"

    def mixed(
        self,
        frame: Frame,
        tables: TableTests,
        *,
        level: float | None = None,
        blocks: Sequence[int] = (),
        units: Units | None = None,
    ) -> IndependenceTest:
        """Return the tests of a frame: those of its count tables, and of functions of columns where it has numbers.

        ``blocks``: other columns whose tests are those of functions of columns too. ``units``: what rows stand for,
        if they are not equal and independent draws.
        """
        measured = np.zeros(frame.n_columns, bool)
        measured[[*frame.numbers, *frame.ordered, *blocks]] = True
        if not self.takes_numbers or not measured.any():
            return tables
        if units is not None:
            if (drawn := _rows_looked_at(frame)) is not None:
                frame = frame.take(drawn)
                units = units.take(drawn, frame)
            weighted = NumberTests(
                frame, units=units, reliability=self.reliability, strength=self.strength, level=level
            )
            return MixedTests(tables, weighted, measured)
        frame = at_most_rows(frame)
        seen = SeenQuick(frame, reliability=self.reliability, strength=self.strength, shared=True)
        quick = seen if frame.holes else seen.of_all
        numbers = NumberTests(frame, quick=quick, reliability=self.reliability, strength=self.strength, level=level)
        tests = MixedTests(tables, numbers, measured)
        relations = relations_of(frame)
        return tests if relations is None else DeterminedTests(tests, relations, frame.n_rows)

    def tables(
        self, counter: Counter, *, level: float | None = None, seed: int = 0, grouped: bool = False
    ) -> TableTests:
        """Return the tests of count tables; ``level`` and ``seed`` are for calibrated p-values.

        ``grouped``: rows come in groups, which are the last column of the counter.
        """
        if grouped:
            if self.kind != "auto":
                raise ParameterError(
                    f"{option(test=self.kind)} takes rows for independent draws; with {option('groups')} use "
                    f"{option(test='auto')}"
                )
            return ClusteredTests(counter, reliability=self.reliability, strength=self.strength)
        return table_tests(
            counter,
            statistic=self.kind,
            dof=self.dof,
            reliability=self.reliability,
            strength=self.strength,
            level=level,
            seed=seed,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """What rows stand for that are not equal and independent draws (groups, weights), and how they are tested."""

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


def at_most_rows(frame: Frame) -> Frame:
    """Return the frame, or 100,000 of its rows, drawn at random."""
    drawn = _rows_looked_at(frame)
    return frame if drawn is None else frame.take(drawn)


def _rows_looked_at(frame: Frame) -> NDArray[np.int64] | None:
    """Return which rows are looked at, drawn at random; None: all."""
    if frame.n_rows <= MOST_ROWS:
        return None
    return np.sort(np.random.default_rng(0).choice(frame.n_rows, MOST_ROWS, replace=False))
