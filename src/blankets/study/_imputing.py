"""Several completed tables as one: read below each other, so that all of them have the same levels."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from blankets.data import Reading, completed_tables, ingest, repeated, repeated_reading, stacked
from blankets.errors import BlanketsWarning, NotAnswerableError, ParameterError
from blankets.study._groups import warn_of_subjects
from blankets.voice import option


def as_one(
    data: Any, target: str | int | None, y: ArrayLike | None, reading: Reading, *, pools: bool, in_memory: bool
) -> tuple[Any, ArrayLike | None, Reading, int]:
    """Return what was given as one table, and how many completed tables it holds: 1 for any other table.

    ``pools``: whether the question can pool. ``in_memory``: whether rows are in memory, and tests are ours.
    """
    if (tables := completed_tables(data)) is None:
        return data, y, reading, 1
    if not pools:
        raise NotAnswerableError(
            "a list of completed tables is pooled by discover, discover_all, test, stability and refute; ask this "
            "question of each table by itself, and trust what all of them say"
        )
    if not in_memory:
        raise ParameterError(
            f"completed tables are pooled in memory, by tests of this library; leave out {option('engine')}"
        )
    copies = len(tables)
    reading = _without_identifiers(tables[0], target, y, reading)
    return stacked(tables), repeated(y, copies), repeated_reading(reading, copies), copies


def _without_identifiers(table: Any, target: str | int | None, y: ArrayLike | None, reading: Reading) -> Reading:
    """Leave out what identifies the rows of one table: below each other, completed tables have each of them again."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BlanketsWarning)
        read = ingest(table, target, y=y, reading=reading, numbers=True, number_target=True)
    if reading.groups is None:
        warn_of_subjects(read.frame, read.target)
    return replace(reading, exclude=(*reading.exclude, *read.report.id_like))
