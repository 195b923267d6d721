"""What a result says of its data and settings. Texts and pages are made from it, so saved values are checked.

Keys that are not listed here are accepted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypedDict

from blankets.data import Binning
from blankets.records import Bounds, Count, Known, Probability

Level = str | bool | int | float | None
_Rows = Annotated[float, Bounds(0.0, 2.0**63)]


class _Data(TypedDict, total=False):
    n_rows: Count
    n_columns: Count
    n_rows_given: Count
    n_columns_given: Count
    dropped_rows: Count
    unlabeled: Count
    constant: list[str]
    without_cut: list[str]
    id_like: list[str]
    copies_of_target: list[str]
    many_levels: dict[str, Count]
    missing: dict[str, Count]
    duplicates: dict[str, list[str]]
    binned: dict[str, Binning]
    numbers: list[str]
    ordered: list[str]
    missing_policy: str
    complete_rows: Count | None
    unlabeled_left_out: bool
    unused_levels: dict[str, list[Level]]
    unusable: dict[str, str]
    notes: list[str]


class _Settings(TypedDict, total=False):
    keep: list[Level]
    exclude: list[Level]
    test: str | None
    dof: str | None
    strength: str | None
    labels: str | None
    surrogate: str | None
    missing: str | None
    alpha: Probability | None
    kappa: Probability | None
    reliability: Known | None
    effective_rows: _Rows | None
    groups: str | None
    n_groups: Count | None


DataRecord = Annotated[Mapping[str, Any], _Data]
"""What was done to the data when they were read."""
SettingsRecord = Annotated[Mapping[str, Any], _Settings]
"""The settings of the search."""
