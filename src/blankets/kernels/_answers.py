"""Answers to questions: statistics, degrees of freedom, log p-values, methods, and what they rest on."""

from __future__ import annotations

from typing import Any

import numpy as np

from blankets.kernels._formula import Formula
from blankets.kernels._moments import judged
from blankets.kernels._room import Room, given_back
from blankets.kernels._statistics import are_counts, share_strata, statistic_of
from blankets.kernels._types import *


@inner
class Answers:
    """Room for the answers to ``n`` questions; all numbers are NaN at first.

    Attributes
    ----------
    statistic, dof, log_p, method
        Of each test; log p-value and method only where the formula judges.
    rows
        That the test had, where columns have holes.
    reliable
        Whether it was performed.
    """

    statistic: NewReals
    dof: NewReals
    log_p: NewReals
    method: NewReals
    rows: NewReals
    reliable: NewBytes
    numbers: object
    marks: object

    def __init__(self, n: int64) -> None:
        numbers, marks = np.empty((5, n)), np.zeros(n, np.bool_)
        each: NewReals = view(numbers.ravel())
        for i in range(5 * n):
            each[i] = NAN
        self.statistic, self.dof, self.log_p = each[:n], each[n : 2 * n], each[2 * n : 3 * n]
        self.method, self.rows = each[3 * n : 4 * n], each[4 * n :]
        self.reliable, self.numbers, self.marks = view(marks.view(np.uint8)), numbers, marks

    def as_arrays(self) -> tuple[Any, Any, Any, Any, Any, Any]:
        """Return statistics, degrees of freedom, log p-values, methods, which tests were performed, and their rows."""
        found: Any = self.numbers
        return found[0], found[1], found[2], found[3], self.marks, found[4]


@inner
class Evidence(Answers):
    """Answers to ``n`` questions, each given a set of its own, of at most ``largest`` columns: at first the empty one.

    Attributes
    ----------
    size, places
        Of each set: how many columns it has, and which, as places in a list of columns.
    """

    size: NewInts
    places: NewInts2
    sets: tuple  # type: ignore[type-arg]  # both as arrays

    def __init__(self, n: int64, largest: int64) -> None:
        super().__init__(n)
        sizes, places = np.zeros(n, np.int64), np.zeros((n, largest), np.int64)
        self.size, self.places, self.sets = view(sizes), view(places), (sizes, places)


@inner
def copy_answer(answers: Answers, i: int64, to: Answers, o: int64) -> void:
    """Copy an answer."""
    to.statistic[o] = answers.statistic[i]
    to.dof[o] = answers.dof[i]
    to.log_p[o] = answers.log_p[i]
    to.method[o] = answers.method[i]
    to.rows[o] = answers.rows[i]
    to.reliable[o] = answers.reliable[i]


@inner
def measure_table(
    tables: Counts2,
    i: int64,
    k: int64,
    n_x: int64,
    n_y: int64,
    n_z: int64,
    formula: Formula,
    room: Room,
    answers: Answers,
) -> void:
    """Fill in statistic and degrees of freedom of question ``i``, whose table is number ``k``.

    Remember whether any of those that share their strata is far below the level, by any law.
    """
    g: float64 = statistic_of(tables, k, n_x, n_y, n_z, formula, room)
    answers.statistic[i] = g
    if not formula.nominal:
        answers.dof[i] = room.free
    if formula.judges and formula.screens and 0 < room.free < formula.law.limits.shape[0]:
        room.strong = room.strong or g > formula.law.limits[room.free, 3]


@inner
def judge_table(
    tables: Counts2,
    i: int64,
    k: int64,
    n_x: int64,
    n_y: int64,
    n_z: int64,
    formula: Formula,
    room: Room,
    answers: Answers,
) -> void:
    """Fill in log p-value and method, as far as they are needed."""
    room.free = whole(answers.dof[i])
    answers.method[i] = judged(tables, k, n_x, n_y, n_z, answers.statistic[i], formula, room)
    answers.log_p[i] = room.log_p


@inner
def answer(
    i: int64, k: int64, n_x: int64, n_y: int64, n_z: int64, formula: Formula, room: Room, answers: Answers
) -> void:
    """Fill in the answer to question ``i``, whose table is number ``k`` of the room."""
    measure_table(room.tables, i, k, n_x, n_y, n_z, formula, room, answers)
    if formula.judges:
        judge_table(room.tables, i, k, n_x, n_y, n_z, formula, room, answers)


@door
def block_statistics(
    tables: Counts2, n_x: int64, n_y: int64, n_z: int64, formula: Formula, apart: bint = False
) -> tuple[Any, ...]:
    """Return statistics, adjusted degrees of freedom, log p-values and methods of flat tables.

    The tables share their y and their strata, unless they are ``apart``: of different rows. The last two are NaN unless
    the formula judges.
    """
    n: int64 = tables.shape[0]
    if not are_counts(tables, n_x, n_y, n_z):
        raise ValueError("the tables do not have this shape, or a count is negative")
    answers: Answers = Answers(n)
    room: Room = formula.rooms.pop() if formula.rooms else Room()
    room.grow(0, 0, 0, n_z, n_x, n_y)
    with nogil:
        for i in range(n):
            if i == 0 or apart:
                share_strata(tables, i, n_x, n_y, n_z, formula, room)
            measure_table(tables, i, i, n_x, n_y, n_z, formula, room, answers)
            answers.dof[i] = room.free
            if formula.judges and apart:
                judge_table(tables, i, i, n_x, n_y, n_z, formula, room, answers)
        for i in range(0 if apart or not formula.judges else n):
            judge_table(tables, i, i, n_x, n_y, n_z, formula, room, answers)
    given_back(formula, room)
    return answers.as_arrays()[:4]
