"""Counting rows: one interface, several interchangeable backends."""

from typing import TYPE_CHECKING

from blankets.caching import loaded_late
from blankets.counting._checkpoint import Checkpoint, RememberingCounter
from blankets.counting._contract import Counter, TableBlock
from blankets.counting._cores import on_one_core
from blankets.counting._dense import dense_table
from blankets.counting._functions import (
    GIVEN,
    TESTED,
    Functions,
    functions_of_levels,
    functions_of_number,
    is_heavy,
    merged,
    ranks,
    reweighted,
    standardized,
)
from blankets.counting._memory import COUNTING, MemoryCounter, count_alone
from blankets.counting._moments import MemoryMoments, Moments, can_be_whole, functions_of_column
from blankets.counting._part_moments import GappyFunctions
from blankets.counting._partition import SlicedCounter
from blankets.counting._scores import Scores
from blankets.counting._sql import SqlCounter

if TYPE_CHECKING:
    from blankets.counting._dask import DaskCounter, DaskTable, connect

__all__ = [
    "COUNTING",
    "Checkpoint",
    "Counter",
    "DaskCounter",
    "DaskTable",
    "Functions",
    "GIVEN",
    "GappyFunctions",
    "MemoryCounter",
    "MemoryMoments",
    "Moments",
    "RememberingCounter",
    "Scores",
    "SlicedCounter",
    "SqlCounter",
    "TESTED",
    "TableBlock",
    "can_be_whole",
    "connect",
    "count_alone",
    "dense_table",
    "functions_of_column",
    "functions_of_levels",
    "functions_of_number",
    "is_heavy",
    "merged",
    "on_one_core",
    "ranks",
    "reweighted",
    "standardized",
]

__getattr__ = loaded_late(__name__, {"._dask": "DaskCounter DaskTable connect"})
