"""Results on disk: dataclasses are read and written by their annotations, with the call that made them."""

from blankets.records._call import Call
from blankets.records._kinds import as_data, built, is_kept, named, not_kept
from blankets.records._reading import (
    Bounds,
    Count,
    Known,
    LogProbability,
    NonNegative,
    Probability,
    Unsigned,
    read,
    refuse,
    short,
)
from blankets.records._saved import Saved
from blankets.records._writing import plain, write_whole

__all__ = [
    "Bounds",
    "Call",
    "Count",
    "Known",
    "LogProbability",
    "NonNegative",
    "Probability",
    "Saved",
    "Unsigned",
    "as_data",
    "built",
    "is_kept",
    "named",
    "not_kept",
    "plain",
    "read",
    "refuse",
    "short",
    "write_whole",
]
