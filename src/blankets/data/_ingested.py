"""What reading a table gives: the frame with all that is known of it, and the target's column on the way there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blankets.caching import cached_property
from blankets.data._blocks import NumberColumn, code_type, digest
from blankets.data._builder import FrameBuilder
from blankets.data._coding import Coding, code, decide_target
from blankets.data._columns import Categories, Column, Mask, Numbers, Refused
from blankets.data._data_report import DataReport
from blankets.data._encoder import Encoder
from blankets.data._findings import Findings
from blankets.data._frame import Frame
from blankets.data._reading import Reading
from blankets.data._summary import Summary
from blankets.data._units import Units


@dataclass(frozen=True, eq=False)
class Ingested:
    """A table that was read."""

    frame: Frame  # the codes
    target: int | None  # number of the target's column in the frame
    encoder: Encoder  # codes new rows in the same way
    report: DataReport  # what was done
    # (rows,): rows whose target is missing; there the target's code is 0, without a meaning. None if every row has
    # a label, or there is no target.
    unlabeled: Mask | None = None
    units: Units = field(default_factory=Units)  # what its rows stand for


@dataclass(frozen=True, eq=False)
class Target:
    """A target, all rows of which were read."""

    name: str
    coding: Coding
    codes: NDArray[np.integer[Any]]
    unlabeled: Mask | None
    values: NDArray[np.float64] | None = None  # of a target that is a number

    @classmethod
    def read(
        cls, name: str, column: Column, reading: Reading, findings: Findings, *, numbers: bool = False
    ) -> Target | None:
        """Decide how a target is coded; None if it cannot be used (the reasons are noted)."""
        summary = Summary.asked(name, reading)
        settled = summary.add(column)
        try:
            coding = decide_target(name, summary, reading, lambda: column, numbers=numbers)
        except Refused as reason:
            findings.target.append(f"the target {name!r} {reason}")
            return None
        done, codes = code(coding, column, settled)
        used = findings.use_target(name, done, summary)
        if used is None:
            return None
        if used.is_number and isinstance(column, Numbers):
            return cls(name, used, codes, column.missing, column.floats())
        return cls(name, used, codes.astype(code_type(len(used.levels)), copy=False), column.missing)

    @property
    def classes(self) -> Categories:
        """Its codes as a column, for supervised binning."""
        return Categories(self.codes, self.coding.levels, self.unlabeled)

    @cached_property
    def digest(self) -> bytes | None:
        """The hash that a copy of the target would have; None if some labels are missing."""
        if self.values is not None:
            return digest(self.values)
        return None if self.unlabeled is not None else digest(self.codes)

    def add_to(self, builder: FrameBuilder) -> None:
        """Add it to a frame."""
        if self.values is not None:
            builder.add_number(self.name, NumberColumn(self.values), holes=self.unlabeled is not None)
        else:
            builder.add(self.name, self.codes, self.coding.levels, ordered=self.coding.kind == "ordered")
